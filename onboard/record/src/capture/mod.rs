//! What one drone photo says about itself.

mod cameras;
mod container;
mod exif;
mod identity;
mod intrinsics;
mod known_intrinsics;
mod makernote;
mod number;
mod remark;
mod rows;
#[cfg(test)]
mod tests;
mod time;
mod values;
mod vendors;
mod xmp;

pub use container::FileFormat;
pub use intrinsics::{BrownDistortion, FocalBasis, FocalHint};
pub use known_intrinsics::{KnownFrom, KnownIntrinsics};
pub use remark::Remark;
pub use rows::Row;
pub use time::{CaptureTime, LocalTime, TimeBasis};
pub use values::{
    AttitudeReading, Block, CameraIdentity, Height, Orientation, PhotoKind, Position, Rtk,
    RtkState, Source, Stated,
};

use self::container::{Header, ScanError};
use self::exif::ExifTags;
use self::intrinsics::Picture;
use self::vendors::Tags;
use self::xmp::Xmp;
use crate::error::PhotoError;
use crate::schema::CaptureSchema;
use ::exif::Tag;
use jiff::tz::TimeZone;
use serde::{Deserialize, Serialize};
use std::fs::File;
use std::io::{BufReader, Cursor};
use std::path::Path;

/// What one photo says about itself: every value with its source and its uncertainty. What is not
/// stated, or cannot be true, is `None`, and the remarks say why.
///
/// Metres, radians, seconds and pixels inside; as JSON (`schema` "capture/1") degrees, metres,
/// seconds and pixels, with the unit in the key.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Capture {
    schema: CaptureSchema,
    /// Width of the stored picture, before any EXIF orientation.
    pub width_px: u32,
    /// Height of the stored picture, before any EXIF orientation.
    pub height_px: u32,
    /// Width and height the metadata was written for, where stated (EXIF PixelXDimension).
    pub recorded_px: Option<[u32; 2]>,
    /// How to turn the stored picture upright.
    pub orientation: Option<Orientation>,
    /// Photo, thermal picture or panorama, and what says so.
    pub kind: Stated<PhotoKind>,
    /// Which camera on which drone.
    pub camera: CameraIdentity,
    /// The program or firmware that saved the file.
    pub software: Option<Stated<String>>,
    /// EXIF ImageDescription.
    pub image_description: Option<Stated<String>>,
    /// What the camera's clock showed, in an unknown zone.
    pub local_time: Option<LocalTime>,
    /// When it was taken; the best reading first.
    pub times: Vec<CaptureTime>,
    /// Where it was taken.
    pub position: Option<Position>,
    /// Height above the take-off point.
    pub height_above_takeoff: Option<Height>,
    /// Height above the ground below, as the vendor estimates it.
    pub height_above_ground: Option<Height>,
    /// Height above mean sea level, or what the vendor calls so.
    pub height_above_sea_level: Option<Height>,
    /// Height above the WGS84 ellipsoid.
    pub height_above_ellipsoid: Option<Height>,
    /// EXIF GPSAltitude with its reference applied: of any datum, often wrong by tens of metres.
    pub exif_gps_height: Option<Height>,
    /// Where the camera looks.
    pub gimbal: Option<AttitudeReading>,
    /// How the airframe is turned.
    pub aircraft: Option<AttitudeReading>,
    /// The receiver's state.
    pub rtk: Option<Rtk>,
    /// Focal length of the lens in millimetres, as stated.
    pub focal_length_mm: Option<Stated<f64>>,
    /// Digital zoom ratio; 1 is none.
    pub digital_zoom: Option<Stated<f64>>,
    /// Every hint at the intrinsics; the best first.
    pub focal_hints: Vec<FocalHint>,
    /// What was odd, missing or mended.
    pub remarks: Vec<Remark>,
}

/// Reads what the photo in `bytes` says about itself.
///
/// # Errors
/// When it is no JPEG or has no picture. Damaged metadata is no error: what can be read is read,
/// and a remark says what could not.
pub fn read_capture(bytes: &[u8]) -> Result<Capture, PhotoError> {
    match container::read_header(&mut Cursor::new(bytes)) {
        Ok(header) => Ok(capture(header)),
        Err(ScanError::Photo(error)) => Err(error),
        Err(ScanError::Io(source)) => Err(PhotoError::Read {
            path: "memory".into(),
            source,
        }),
    }
}

/// Reads what the photo at `path` says about itself. Only the file's header is read, not its
/// picture data; the file's name counts where the metadata does not tell the kind of picture.
///
/// # Errors
/// As [`read_capture`], and when the file cannot be read.
pub fn read_capture_file(path: &Path) -> Result<Capture, PhotoError> {
    let read_error = |source| PhotoError::Read {
        path: path.to_owned(),
        source,
    };
    let file = File::open(path).map_err(read_error)?;
    match container::read_header(&mut BufReader::new(file)) {
        Ok(header) => Ok(capture(header).with_file_name(path)),
        Err(ScanError::Photo(error)) => Err(error),
        Err(ScanError::Io(source)) => Err(read_error(source)),
    }
}

impl Capture {
    /// The best reading of the time.
    #[must_use]
    pub fn time(&self) -> Option<&CaptureTime> {
        self.times.first()
    }

    /// The best hint at the intrinsics.
    #[must_use]
    pub fn focal(&self) -> Option<&FocalHint> {
        self.focal_hints.first()
    }

    /// Adds what the camera's clock means in the site's time zone. Readings that know their offset
    /// stay ahead of it.
    #[must_use]
    pub fn with_zone(mut self, zone: &TimeZone) -> Self {
        time::add_zone(
            self.local_time.as_ref(),
            &mut self.times,
            zone,
            &mut self.remarks,
        );
        self
    }

    /// Lets the file's name tell a thermal twin or a panorama where the metadata does not.
    #[must_use]
    pub fn with_file_name(mut self, path: &Path) -> Self {
        if self.kind.value == PhotoKind::Photo
            && let Some(kind) = identity::kind_by_name(path)
        {
            self.kind = Stated::new(kind, Source::new(Block::FileName, ""));
        }
        self
    }
}

/// Puts a header's values together.
fn capture(mut header: Header) -> Capture {
    let mut remarks = std::mem::take(&mut header.remarks);
    let (exif, xmp) = metadata(&mut header, &mut remarks);
    let text = |tag, key| {
        exif.text(tag)
            .map(|text| Stated::new(text, Source::exif(key)))
    };
    let camera = identity::camera(&exif, &xmp);
    let tags = tags(&exif, &xmp, &camera);
    let rtk = vendors::rtk(&tags);
    let position = vendors::position(&tags, rtk.as_ref(), &mut remarks);
    let heights = vendors::heights(&tags, rtk.as_ref(), &mut remarks);
    let gimbal = vendors::gimbal(&tags, &mut remarks);
    let aircraft = vendors::aircraft(&tags, &mut remarks);
    let longitude_deg = position.as_ref().map(|p| p.longitude.to_degrees());
    let (local_time, times) = time::read(&exif, &xmp, longitude_deg, &mut remarks);
    let optics = optics(&tags, [header.width_px, header.height_px], &mut remarks);
    let software = text(Tag::Software, "Software");
    if let Some(software) = software.as_ref().filter(|s| identity::is_editor(&s.value)) {
        remarks.push(Remark::Edited {
            software: software.value.clone(),
        });
    }
    let image_description = text(Tag::ImageDescription, "ImageDescription");
    let description = image_description.as_ref().map(|text| text.value.as_str());
    Capture {
        schema: CaptureSchema,
        width_px: header.width_px,
        height_px: header.height_px,
        recorded_px: optics.recorded_px,
        orientation: orientation(&exif, &mut remarks),
        kind: identity::kind(
            &header,
            &xmp,
            description,
            &tags.make,
            optics.is_known_thermal,
        ),
        camera,
        software,
        image_description,
        local_time,
        times,
        position,
        height_above_takeoff: heights.above_takeoff,
        height_above_ground: heights.above_ground,
        height_above_sea_level: heights.above_sea_level,
        height_above_ellipsoid: heights.above_ellipsoid,
        exif_gps_height: heights.exif_gps,
        gimbal,
        aircraft,
        rtk,
        focal_length_mm: optics.focal_length_mm,
        digital_zoom: optics.digital_zoom,
        focal_hints: optics.hints,
        remarks,
    }
}

/// The parsed metadata blocks of a header.
fn metadata(header: &mut Header, remarks: &mut Vec<Remark>) -> (ExifTags, Xmp) {
    let exif = match header.exif.take() {
        Some(block) => ExifTags::parse(block, remarks),
        None => ExifTags::default(),
    };
    let mut xmp = Xmp::default();
    for packet in header.xmp.iter().chain(&header.extended_xmp) {
        xmp.add_packet(packet, remarks);
    }
    (exif, xmp)
}

/// What the vendors' conventions are told by.
fn tags<'a>(exif: &'a ExifTags, xmp: &'a Xmp, camera: &CameraIdentity) -> Tags<'a> {
    let name = |stated: &Option<Stated<String>>| {
        stated
            .as_ref()
            .map_or_else(String::new, |stated| stated.value.to_lowercase())
    };
    let make = name(&camera.make);
    let dji_note = (make == "dji")
        .then(|| makernote::parse_dji(exif.maker_note()?))
        .flatten();
    Tags {
        exif,
        xmp,
        dji_note,
        make,
        model: name(&camera.model).replace(' ', ""),
    }
}

/// What is known of the lens and the picture's size.
struct Optics {
    focal_length_mm: Option<Stated<f64>>,
    digital_zoom: Option<Stated<f64>>,
    recorded_px: Option<[u32; 2]>,
    hints: Vec<FocalHint>,
    is_known_thermal: bool,
}

fn optics(tags: &Tags, size_px: [u32; 2], remarks: &mut Vec<Remark>) -> Optics {
    let (exif, xmp) = (tags.exif, tags.xmp);
    let focal_length_mm = number(exif, Tag::FocalLength, "FocalLength");
    let digital_zoom = number(exif, Tag::DigitalZoomRatio, "DigitalZoomRatio");
    let recorded_px = recorded_size(exif, size_px, remarks);
    if let Some(zoom) = digital_zoom.as_ref().filter(|zoom| zoom.value > 1.0) {
        remarks.push(Remark::DigitalZoom { ratio: zoom.value });
    }
    let focal_mm = focal_length_mm.as_ref().map(|focal| focal.value);
    let known = cameras::known_camera(&tags.make, &tags.model, focal_mm);
    let picture = Picture {
        size_px,
        recorded_px: recorded_px.unwrap_or(size_px),
        focal_mm,
        zoom: digital_zoom.as_ref().map(|zoom| zoom.value),
        known,
        exif,
        xmp,
    };
    Optics {
        hints: intrinsics::hints(&picture, remarks),
        focal_length_mm,
        digital_zoom,
        recorded_px,
        is_known_thermal: known.is_some_and(|row| row.thermal),
    }
}

/// A positive number; zero stands for "unknown" in these tags.
fn number(exif: &ExifTags, tag: Tag, key: &'static str) -> Option<Stated<f64>> {
    let value = exif.number(tag).filter(|value| *value > 0.0)?;
    Some(Stated::new(value, Source::exif(key)))
}

fn orientation(exif: &ExifTags, remarks: &mut Vec<Remark>) -> Option<Orientation> {
    let found = exif.uint(Tag::Orientation)?;
    let orientation = Orientation::try_from(found).ok();
    if orientation.is_none() {
        remarks.push(Remark::OrientationInvalid { found });
    }
    orientation
}

/// The size the metadata was written for; only one of the same shape (either way up) is believed.
fn recorded_size(
    exif: &ExifTags,
    [width, height]: [u32; 2],
    remarks: &mut Vec<Remark>,
) -> Option<[u32; 2]> {
    const MAX_SHAPE_DIFFERENCE: f64 = 0.02;
    let recorded_px = [
        exif.uint(Tag::PixelXDimension)?,
        exif.uint(Tag::PixelYDimension)?,
    ];
    if recorded_px.contains(&0) {
        return None;
    }
    let shape = |w: u32, h: u32| f64::from(w) / f64::from(h);
    let recorded = shape(recorded_px[0], recorded_px[1]);
    let same = |other: f64| (recorded / other - 1.0).abs() <= MAX_SHAPE_DIFFERENCE;
    let is_turned = !same(shape(width, height)) && same(shape(height, width));
    if is_turned {
        remarks.push(Remark::SidesExchanged { recorded_px });
    } else if recorded_px != [width, height] {
        remarks.push(Remark::Resized { recorded_px });
    }
    (is_turned || same(shape(width, height))).then_some(recorded_px)
}
