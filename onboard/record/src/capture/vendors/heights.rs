//! Every height a photo states, each above its own datum.

use super::{RTK_FLOOR_M, RTK_STD_FACTOR, Tags};
use crate::capture::remark::Remark;
use crate::capture::values::{Height, Rtk, RtkState, Source};
use crate::capture::xmp::Namespace;
use calibration::Metres;
use exif::Tag;

/// Barometric height above take-off within a flight.
const RELATIVE_SIGMA_M: f64 = 1.0;
/// DJI's absolute altitude without RTK: a standard atmosphere, 200 m off with the weather.
const BAROMETRIC_SIGMA_M: f64 = 100.0;
/// GPS height where the vendor leaves open whether the geoid was added.
const FUSED_SIGMA_M: f64 = 50.0;
/// GPS height above a documented datum.
const GPS_HEIGHT_SIGMA_M: f64 = 10.0;
/// EXIF GPSAltitude: any datum, any source.
const EXIF_HEIGHT_SIGMA_M: f64 = 100.0;
/// Heights beyond these are wrong numbers: below the Dead Sea, above any drone.
const POSSIBLE_HEIGHT_M: std::ops::RangeInclusive<f64> = -1000.0..=20_000.0;

/// Every height a photo states, each above its own datum.
#[derive(Debug, Default)]
pub(in crate::capture) struct Heights {
    pub(in crate::capture) above_takeoff: Option<Height>,
    pub(in crate::capture) above_ground: Option<Height>,
    pub(in crate::capture) above_sea_level: Option<Height>,
    pub(in crate::capture) above_ellipsoid: Option<Height>,
    pub(in crate::capture) exif_gps: Option<Height>,
}

/// Reads the heights.
pub(in crate::capture) fn heights(
    tags: &Tags,
    rtk: Option<&Rtk>,
    remarks: &mut Vec<Remark>,
) -> Heights {
    let mut heights = Heights {
        above_takeoff: height(
            tags.xmp.number(Namespace::Dji, &["RelativeAltitude"]),
            RELATIVE_SIGMA_M,
            remarks,
        ),
        above_ground: height(
            tags.xmp.number(Namespace::Camera, &["AboveGroundAltitude"]),
            GPS_HEIGHT_SIGMA_M,
            remarks,
        ),
        exif_gps: exif_height(tags, remarks),
        ..Heights::default()
    };
    absolute_height(tags, rtk, &mut heights, remarks);
    heights
}

fn height(
    stated: Option<(f64, Source)>,
    sigma_m: f64,
    remarks: &mut Vec<Remark>,
) -> Option<Height> {
    let (value, source) = stated?;
    if !POSSIBLE_HEIGHT_M.contains(&value) {
        remarks.push(Remark::HeightInvalid {
            problem: format!("{source} is {value}"),
        });
        return None;
    }
    Some(Height {
        height: Metres(value),
        sigma: Metres(sigma_m),
        source,
    })
}

fn exif_height(tags: &Tags, remarks: &mut Vec<Remark>) -> Option<Height> {
    let value = tags.exif.number(Tag::GPSAltitude)?;
    let is_below = match tags.exif.uint(Tag::GPSAltitudeRef) {
        Some(1 | 3) => true,
        Some(_) => false,
        // Written as text by some tools.
        None => tags
            .exif
            .text(Tag::GPSAltitudeRef)
            .is_some_and(|text| text == "1"),
    };
    let value = if is_below { -value } else { value };
    height(
        Some((value, Source::exif("GPSAltitude, GPSAltitudeRef"))),
        EXIF_HEIGHT_SIGMA_M,
        remarks,
    )
}

/// The absolute height where the vendor says above what.
fn absolute_height(
    tags: &Tags,
    rtk: Option<&Rtk>,
    heights: &mut Heights,
    remarks: &mut Vec<Remark>,
) {
    if let Some(stated) = tags.xmp.number(Namespace::Dji, &["AbsoluteAltitude"]) {
        let altitude_type = tags.xmp.text(Namespace::Dji, &["AltitudeType"]);
        let is_rtk = altitude_type
            .as_ref()
            .is_some_and(|(text, _)| *text == "RtkAlt")
            || rtk.is_some_and(|rtk| matches!(rtk.state, RtkState::Fixed | RtkState::Float));
        if is_rtk {
            // "Geodetic height" in the manuals of RTK models: above the ellipsoid.
            let sigma_m = rtk
                .and_then(|rtk| rtk.std_height)
                .map_or(FUSED_SIGMA_M, |std| {
                    (RTK_STD_FACTOR * std.get()).max(RTK_FLOOR_M)
                });
            heights.above_ellipsoid = height(Some(stated), sigma_m, remarks);
        } else {
            let sigma_m = if altitude_type.is_some_and(|(text, _)| text == "GpsFusionAlt") {
                FUSED_SIGMA_M
            } else {
                BAROMETRIC_SIGMA_M
            };
            heights.above_sea_level = height(Some(stated), sigma_m, remarks);
        }
        return;
    }
    // Skydio writes heights above the EGM96 geoid (OpenAthena).
    if let Some(stated) = tags.xmp.number(Namespace::Skydio, &["AbsoluteAltitude"]) {
        heights.above_sea_level = height(Some(stated), GPS_HEIGHT_SIGMA_M, remarks);
        return;
    }
    let Some(exif) = &heights.exif_gps else {
        return;
    };
    // developer.parrot.com photo-metadata: ANAFI 4K, Thermal and USA above the EGM96 geoid,
    // ANAFI Ai above the ellipsoid.
    if tags.make == "parrot" && tags.model.starts_with("anafi") {
        let sigma_m = tags
            .xmp
            .number(Namespace::Camera, &["GPSZAccuracy"])
            .map_or(GPS_HEIGHT_SIGMA_M, |(sigma, _)| {
                sigma.clamp(RTK_FLOOR_M, 100.0)
            });
        let documented = Height {
            sigma: Metres(sigma_m),
            ..exif.clone()
        };
        if tags.model.starts_with("anafiai") {
            heights.above_ellipsoid = Some(documented);
        } else {
            heights.above_sea_level = Some(documented);
        }
    }
}
