//! What a reader of a capture should know beyond its values: what was odd, missing or mended.

use serde::{Deserialize, Serialize};

/// Something odd about a photo's metadata. None of these keeps the photo from being used.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "code", rename_all = "snake_case")]
pub enum Remark {
    /// Bytes between JPEG segments that belong to none.
    JunkBetweenSegments {
        /// How many.
        n_bytes: u64,
    },
    /// The header ends in the middle of a segment, or has more segments than are read.
    HeaderCutShort,
    /// There is an EXIF block, but not even its first directory can be read.
    ExifUnreadable {
        /// What the parser said.
        problem: String,
    },
    /// Parts of the EXIF block are damaged; the rest was read.
    ExifDamaged {
        /// How many errors were met.
        n_errors: usize,
        /// The first of them.
        first: String,
    },
    /// The XMP is not well-formed XML; it was read as far as it could be.
    XmpMalformed {
        /// The first thing wrong with it.
        problem: String,
    },
    /// An XMP prefix of a known vendor stands for an unknown namespace; it was read all the same.
    XmpUnknownNamespace {
        /// The prefix.
        prefix: String,
        /// What it is bound to.
        uri: String,
    },
    /// Extended XMP is announced but incomplete.
    ExtendedXmpIncomplete,
    /// The EXIF orientation is not 1 to 8; the pixels are taken as upright.
    OrientationInvalid {
        /// What it says.
        found: u32,
    },
    /// The picture has another size than its metadata was written for.
    Resized {
        /// Width and height the metadata speaks of.
        recorded_px: [u32; 2],
    },
    /// Width and height are exchanged against the metadata: the pixels were turned after capture.
    SidesExchanged {
        /// Width and height the metadata speaks of.
        recorded_px: [u32; 2],
    },
    /// A program that edits or turns pictures has saved this photo; angles and size may be those
    /// from before.
    Edited {
        /// The program's name.
        software: String,
    },
    /// The position is missing because what is written cannot be one.
    PositionInvalid {
        /// Why.
        problem: String,
    },
    /// Two places in the file state different positions.
    PositionsDisagree {
        /// How far they lie apart.
        distance_m: f64,
    },
    /// The receiver marked the position as void; its uncertainty was raised.
    PositionVoid,
    /// The position has another datum than WGS84.
    OtherDatum {
        /// Its name.
        datum: String,
    },
    /// A hemisphere reference is missing: north and east were assumed.
    HemisphereMissing,
    /// A height is missing because what is written cannot be one.
    HeightInvalid {
        /// Which and why.
        problem: String,
    },
    /// All angles are exactly zero, as firmware writes when it has none; they count as missing.
    AnglesAllZero {
        /// The keys.
        key: String,
    },
    /// An angle is impossible; the angles count as missing.
    AngleInvalid {
        /// Which and why.
        problem: String,
    },
    /// The pitch says straight up, which no gimbal can do; its sign was turned.
    PitchSignTurned {
        /// What is written.
        found_deg: f64,
    },
    /// The gimbal went past nadir (roll near 180 degrees): the image's top is on the other side
    /// than the yaw says; take it from the full rotation.
    RolledOver {
        /// The roll as written.
        roll_deg: f64,
    },
    /// The camera or gimbal is mounted upside down.
    MountedUpsideDown,
    /// The photo was taken with digital zoom.
    DigitalZoom {
        /// The zoom ratio.
        ratio: f64,
    },
    /// A calibration in the file is for another picture size and cannot be carried over.
    CalibrationForOtherSize {
        /// The key.
        key: String,
    },
    /// A date or time cannot be one.
    TimeInvalid {
        /// The key and the text.
        problem: String,
    },
    /// The camera's clock was never set (it shows a year long past).
    ClockNotSet {
        /// The date it shows.
        found: String,
    },
    /// GPS time and the camera's clock do not differ by a time zone.
    ClocksDisagree {
        /// What remains after the nearest whole quarter of an hour.
        seconds: f64,
    },
    /// The stated offset from UTC does not fit the longitude.
    OffsetImplausible {
        /// The offset.
        offset_h: f64,
        /// Hours from UTC by longitude alone.
        solar_h: f64,
    },
    /// The site's zone and the photo's own offset differ.
    ZoneDisagrees {
        /// By how much.
        seconds: f64,
    },
    /// The local time exists twice or not at all in the given zone (change of summer time).
    ZoneAmbiguous,
    /// The only time is that of the file's last change.
    OnlyModifyDate,
}

impl std::fmt::Display for Remark {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Remark::JunkBetweenSegments { n_bytes } => {
                write!(f, "{n_bytes} stray bytes between JPEG segments")
            }
            Remark::HeaderCutShort => f.write_str("the JPEG header is cut short"),
            Remark::ExifUnreadable { problem } => write!(f, "EXIF cannot be read: {problem}"),
            Remark::ExifDamaged { n_errors, first } => {
                write!(f, "EXIF is damaged in {n_errors} places, first: {first}")
            }
            Remark::XmpMalformed { problem } => {
                write!(f, "XMP is malformed ({problem}); read as far as possible")
            }
            Remark::XmpUnknownNamespace { prefix, uri } => {
                write!(
                    f,
                    "XMP prefix {prefix} stands for an unknown namespace {uri:?}"
                )
            }
            Remark::ExtendedXmpIncomplete => f.write_str("extended XMP is incomplete"),
            Remark::OrientationInvalid { found } => {
                write!(
                    f,
                    "EXIF orientation {found} is not 1 to 8; taken as upright"
                )
            }
            Remark::Resized {
                recorded_px: [width, height],
            } => write!(f, "resized after capture: recorded as {width} x {height}"),
            Remark::SidesExchanged {
                recorded_px: [width, height],
            } => write!(f, "turned after capture: recorded as {width} x {height}"),
            Remark::Edited { software } => {
                write!(f, "saved by {software}: pixels may be turned or resized")
            }
            Remark::PositionInvalid { problem } => write!(f, "no usable position: {problem}"),
            Remark::PositionsDisagree { distance_m } => {
                write!(f, "two positions {distance_m:.1} m apart in one file")
            }
            Remark::PositionVoid => f.write_str("the receiver marked the position as void"),
            Remark::OtherDatum { datum } => write!(f, "position in datum {datum}, not WGS84"),
            Remark::HemisphereMissing => {
                f.write_str("hemisphere not stated: north and east assumed")
            }
            Remark::HeightInvalid { problem } => write!(f, "a height is unusable: {problem}"),
            Remark::AnglesAllZero { key } => {
                write!(f, "{key}: all angles exactly zero, taken as missing")
            }
            Remark::AngleInvalid { problem } => write!(f, "angles unusable: {problem}"),
            Remark::PitchSignTurned { found_deg } => write!(
                f,
                "pitch {found_deg} degrees points straight up; taken as {}",
                -found_deg
            ),
            Remark::RolledOver { roll_deg } => write!(
                f,
                "gimbal past nadir (roll {roll_deg} degrees): image top opposite to the yaw"
            ),
            Remark::MountedUpsideDown => f.write_str("camera or gimbal mounted upside down"),
            Remark::DigitalZoom { ratio } => write!(f, "digital zoom {ratio}"),
            Remark::CalibrationForOtherSize { key } => {
                write!(f, "{key} is for another picture size; not used")
            }
            Remark::TimeInvalid { problem } => write!(f, "no usable time: {problem}"),
            Remark::ClockNotSet { found } => write!(f, "camera clock not set ({found})"),
            Remark::ClocksDisagree { seconds } => write!(
                f,
                "GPS time and camera clock differ by {seconds:.1} s beyond a time zone"
            ),
            Remark::OffsetImplausible { offset_h, solar_h } => write!(
                f,
                "UTC offset {offset_h:+} h does not fit the longitude ({solar_h:+.1} h)"
            ),
            Remark::ZoneDisagrees { seconds } => {
                write!(
                    f,
                    "site zone and the photo's offset differ by {seconds:.0} s"
                )
            }
            Remark::ZoneAmbiguous => {
                f.write_str("the local time is ambiguous in the zone (summer time change)")
            }
            Remark::OnlyModifyDate => f.write_str("only the time of the last change is known"),
        }
    }
}
