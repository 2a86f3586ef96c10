//! The values of a capture: each carries where it was read and how far off it may be.

use calibration::{Attitude, Metres, Radians};
use serde::{Deserialize, Serialize};
use std::borrow::Cow;

/// Which part of the file, or which knowledge outside it, a value comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Block {
    /// The JPEG frame header or segment layout.
    Jpeg,
    /// EXIF tags.
    Exif,
    /// The vendor's notes inside EXIF.
    MakerNote,
    /// The XMP packet.
    Xmp,
    /// The table of known cameras in this crate.
    CameraTable,
    /// The file's name.
    FileName,
    /// The caller, such as a site's time zone.
    Caller,
    /// Nothing: a typical value.
    Assumption,
}

/// Where a value was read: the block and the key in it, such as XMP `drone-dji:RtkFlag`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Source {
    /// The part of the file.
    pub block: Block,
    /// The key or keys in it, as the file or the standard spells them.
    pub key: Cow<'static, str>,
}

impl Source {
    pub(super) fn exif(key: &'static str) -> Self {
        Self::new(Block::Exif, key)
    }

    pub(super) fn new(block: Block, key: impl Into<Cow<'static, str>>) -> Self {
        Self {
            block,
            key: key.into(),
        }
    }
}

impl std::fmt::Display for Source {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let block = match self.block {
            Block::Jpeg => "JPEG",
            Block::Exif => "EXIF",
            Block::MakerNote => "maker note",
            Block::Xmp => "XMP",
            Block::CameraTable => "camera table",
            Block::FileName => "file name",
            Block::Caller => "given",
            Block::Assumption => "assumed",
        };
        if self.key.is_empty() {
            f.write_str(block)
        } else {
            write!(f, "{block} {}", self.key)
        }
    }
}

/// A fact without an uncertainty of its own, such as a serial number.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Stated<T> {
    /// What the photo says.
    pub value: T,
    /// Where it says so.
    pub source: Source,
}

impl<T> Stated<T> {
    pub(super) fn new(value: T, source: Source) -> Self {
        Self { value, source }
    }
}

/// How stored pixels must be turned to stand upright: the EXIF orientation, 1 to 8.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "u32", into = "u32")]
pub struct Orientation(u8);

impl Orientation {
    /// Stored as it should be shown.
    pub const UPRIGHT: Orientation = Orientation(1);

    /// The EXIF number, 1 to 8.
    #[must_use]
    pub fn exif_value(self) -> u8 {
        self.0
    }

    /// Quarter turns clockwise that make the stored picture upright. Mirrored orientations (2, 4,
    /// 5, 7), which no camera writes, count as the turn they contain.
    #[must_use]
    pub fn quarter_turns(self) -> u8 {
        match self.0 {
            3 | 4 => 2,
            5 | 6 => 1,
            7 | 8 => 3,
            _ => 0,
        }
    }

    /// Whether showing the picture upright exchanges width and height.
    #[must_use]
    pub fn swaps_sides(self) -> bool {
        self.0 >= 5
    }
}

impl TryFrom<u32> for Orientation {
    type Error = String;
    fn try_from(value: u32) -> Result<Self, String> {
        match u8::try_from(value) {
            Ok(small @ 1..=8) => Ok(Self(small)),
            _ => Err(format!("EXIF orientation {value} is not 1 to 8")),
        }
    }
}

impl From<Orientation> for u32 {
    fn from(orientation: Orientation) -> u32 {
        u32::from(orientation.0)
    }
}

/// Where the photo was taken, in WGS84 unless a remark names another datum.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Position {
    /// Geodetic latitude, north positive.
    #[serde(rename = "latitude_deg", with = "degrees")]
    pub latitude: Radians,
    /// Longitude, east positive.
    #[serde(rename = "longitude_deg", with = "degrees")]
    pub longitude: Radians,
    /// One sigma of the horizontal error in each direction.
    #[serde(rename = "sigma_m")]
    pub sigma: Metres,
    /// Where it was read.
    pub source: Source,
}

/// A height; the field that holds it says above what.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Height {
    /// The height, up positive.
    #[serde(rename = "height_m")]
    pub height: Metres,
    /// One sigma of its error.
    #[serde(rename = "sigma_m")]
    pub sigma: Metres,
    /// Where it was read.
    pub source: Source,
}

/// The orientation of the gimbal's camera or of the airframe, normalised to the conventions of
/// [`Attitude`]: NED, yaw clockwise from north, pitch -90 degrees at nadir.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(from = "AttitudeFile", into = "AttitudeFile")]
pub struct AttitudeReading {
    /// The orientation. Near nadir yaw and roll turn about almost the same axis: take the
    /// direction of the image's top from [`Self::heading`], not from the yaw.
    pub attitude: Attitude,
    /// One sigma of the yaw (compass) error.
    pub yaw_sigma: Radians,
    /// One sigma of the pitch and of the roll error.
    pub tilt_sigma: Radians,
    /// Where it was read.
    pub source: Source,
}

impl AttitudeReading {
    /// Azimuth of the image's top, clockwise from true north, in [0, 2 pi); well defined at nadir
    /// and for a gimbal rolled over past it.
    #[must_use]
    pub fn heading(&self) -> Radians {
        calibration::attitude::heading(&self.attitude.camera_from_enu())
    }
}

#[derive(Serialize, Deserialize)]
struct AttitudeFile {
    #[serde(with = "degrees")]
    yaw_deg: Radians,
    #[serde(with = "degrees")]
    pitch_deg: Radians,
    #[serde(with = "degrees")]
    roll_deg: Radians,
    #[serde(with = "degrees")]
    yaw_sigma_deg: Radians,
    #[serde(with = "degrees")]
    tilt_sigma_deg: Radians,
    source: Source,
}

impl From<AttitudeFile> for AttitudeReading {
    fn from(file: AttitudeFile) -> Self {
        Self {
            attitude: Attitude {
                yaw: file.yaw_deg,
                pitch: file.pitch_deg,
                roll: file.roll_deg,
            },
            yaw_sigma: file.yaw_sigma_deg,
            tilt_sigma: file.tilt_sigma_deg,
            source: file.source,
        }
    }
}

impl From<AttitudeReading> for AttitudeFile {
    fn from(reading: AttitudeReading) -> Self {
        Self {
            yaw_deg: reading.attitude.yaw,
            pitch_deg: reading.attitude.pitch,
            roll_deg: reading.attitude.roll,
            yaw_sigma_deg: reading.yaw_sigma,
            tilt_sigma_deg: reading.tilt_sigma,
            source: reading.source,
        }
    }
}

/// How the position was fixed, from DJI's `RtkFlag` (P1, M3E/M3M and Matrice 4 manuals).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RtkState {
    /// 0: no position.
    None,
    /// 16: single point, metres.
    Single,
    /// 32 to 49: float solution, decimetres to metres.
    Float,
    /// 50: fixed solution, centimetres.
    Fixed,
    /// Any other number.
    Unknown,
}

impl RtkState {
    pub(super) fn from_flag(flag: u32) -> Self {
        match flag {
            0 => RtkState::None,
            16 => RtkState::Single,
            32..=49 => RtkState::Float,
            50 => RtkState::Fixed,
            _ => RtkState::Unknown,
        }
    }
}

/// What the receiver said of its solution.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Rtk {
    /// The kind of solution.
    pub state: RtkState,
    /// The flag as written.
    pub flag: u32,
    /// Standard deviation along the parallel, as written (optimistic; users double it).
    #[serde(rename = "std_longitude_m")]
    pub std_longitude: Option<Metres>,
    /// Standard deviation along the meridian, as written.
    #[serde(rename = "std_latitude_m")]
    pub std_latitude: Option<Metres>,
    /// Standard deviation of the height, as written.
    #[serde(rename = "std_height_m")]
    pub std_height: Option<Metres>,
    /// Where it was read.
    pub source: Source,
}

/// What kind of picture it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PhotoKind {
    /// An ordinary photo.
    Photo,
    /// A thermal picture, often the twin of a photo.
    Thermal,
    /// A stitched panorama: no single viewpoint in the sense of a pinhole camera.
    Panorama,
}

/// Which camera on which drone.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct CameraIdentity {
    /// Maker, such as `DJI`.
    pub make: Option<Stated<String>>,
    /// Model, such as `FC6310`.
    pub model: Option<Stated<String>>,
    /// Lens model.
    pub lens: Option<Stated<String>>,
    /// Serial number of the camera.
    pub camera_serial: Option<Stated<String>>,
    /// Serial number of the body (EXIF BodySerialNumber).
    pub body_serial: Option<Stated<String>>,
    /// Model of the aircraft.
    pub drone_model: Option<Stated<String>>,
    /// Serial number of the aircraft.
    pub drone_serial: Option<Stated<String>>,
}

/// Angles in files are degrees, rounded to 1e-9 (0.1 mm on the ground) so that they print short.
pub(super) mod degrees {
    use calibration::Radians;
    use serde::{Deserialize, Deserializer, Serializer};

    pub(in crate::capture) fn serialize<S: Serializer>(
        angle: &Radians,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        serializer.serialize_f64((angle.to_degrees() * 1e9).round() / 1e9)
    }

    pub(in crate::capture) fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<Radians, D::Error> {
        f64::deserialize(deserializer).map(Radians::from_degrees)
    }
}
