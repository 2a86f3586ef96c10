//! Angles, heights, positions and RTK state, each vendor's convention turned into one.

mod attitude;
mod heights;
mod position;

pub(super) use attitude::{aircraft, gimbal};
pub(super) use heights::heights;
pub(super) use position::position;

use super::exif::ExifTags;
use super::makernote::DjiNote;
use super::values::{Rtk, RtkState};
use super::xmp::{Namespace, Xmp};
use calibration::Metres;

/// Receivers understate their RTK deviations; OpenDroneMap doubles them.
const RTK_STD_FACTOR: f64 = 2.0;
/// No RTK height or position is better than this.
const RTK_FLOOR_M: f64 = 0.02;

/// What the vendor functions read from.
pub(super) struct Tags<'a> {
    pub(super) exif: &'a ExifTags,
    pub(super) xmp: &'a Xmp,
    pub(super) dji_note: Option<DjiNote>,
    /// EXIF Make in lower case.
    pub(super) make: String,
    /// EXIF Model in lower case without blanks.
    pub(super) model: String,
}

/// RTK state, from DJI's tags.
pub(super) fn rtk(tags: &Tags) -> Option<Rtk> {
    let (flag, source) = tags.xmp.number(Namespace::Dji, &["RtkFlag"])?;
    if !(0.0..1000.0).contains(&flag) || flag.fract() != 0.0 {
        return None;
    }
    let std = |name| {
        tags.xmp
            .number(Namespace::Dji, &[name])
            .map(|(value, _)| Metres(value))
            .filter(|value| value.get() > 0.0)
    };
    // Whole and small as checked above.
    let flag = flag as u32;
    Some(Rtk {
        state: RtkState::from_flag(flag),
        flag,
        std_longitude: std("RtkStdLon"),
        std_latitude: std("RtkStdLat"),
        std_height: std("RtkStdHgt"),
        source,
    })
}
