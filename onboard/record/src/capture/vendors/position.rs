//! Where the photo was taken, from EXIF or the vendor's XMP, with its uncertainty.

use super::{RTK_FLOOR_M, RTK_STD_FACTOR, Tags};
use crate::capture::exif::ExifTags;
use crate::capture::number::parse_coordinate;
use crate::capture::remark::Remark;
use crate::capture::values::{Block, Position, Rtk, RtkState, Source};
use crate::capture::xmp::{Namespace, Xmp};
use calibration::{Geodetic, LocalOrigin, Metres, Radians};
use exif::Tag;

/// GPS without corrections, horizontally (OpenDroneMap's `--gps-accuracy` default).
const GPS_SIGMA_M: f64 = 3.0;
/// A position the receiver itself marked as void.
const VOID_GPS_SIGMA_M: f64 = 50.0;
/// RTK solutions whose deviations are not stated ("centimetre" and "decimetre to metre level" in
/// DJI's manuals).
const FIXED_SIGMA_M: f64 = 0.1;
const FLOAT_SIGMA_M: f64 = 1.0;
/// Two positions of one photo further apart than this disagree.
const MAX_POSITION_GAP_M: f64 = 10.0;

/// The horizontal position with its uncertainty.
pub(in crate::capture) fn position(
    tags: &Tags,
    rtk: Option<&Rtk>,
    remarks: &mut Vec<Remark>,
) -> Option<Position> {
    let from_exif = exif_position(tags.exif, remarks);
    let from_dji = xmp_position(
        tags.xmp,
        Namespace::Dji,
        &["GpsLatitude", "Latitude"],
        // Sic: old firmware misspells the longitude.
        &["GpsLongitude", "GpsLongtitude", "Longitude"],
        remarks,
    );
    if let (Some(a), Some(b)) = (&from_exif, &from_dji) {
        let distance_m = distance_m(a, b);
        if distance_m > MAX_POSITION_GAP_M {
            remarks.push(Remark::PositionsDisagree { distance_m });
        }
    }
    // DJI's XMP has more digits than its EXIF; others' EXIF has more than their XMP.
    let (latitude_deg, longitude_deg, source) = from_dji.or(from_exif).or_else(|| {
        let names = [
            (Namespace::Skydio, "Latitude", "Longitude"),
            (Namespace::Exif, "GPSLatitude", "GPSLongitude"),
        ];
        names
            .into_iter()
            .find_map(|(namespace, latitude, longitude)| {
                xmp_position(tags.xmp, namespace, &[latitude], &[longitude], remarks)
            })
    })?;
    if let Some(datum) = tags.exif.text(Tag::GPSMapDatum)
        && !is_wgs84(&datum)
    {
        remarks.push(Remark::OtherDatum { datum });
    }
    Some(Position {
        latitude: Radians::from_degrees(latitude_deg),
        longitude: Radians::from_degrees(longitude_deg),
        sigma: Metres(horizontal_sigma_m(tags, rtk, remarks)),
        source,
    })
}

fn is_wgs84(datum: &str) -> bool {
    let letters: String = datum.chars().filter(char::is_ascii_alphanumeric).collect();
    letters.is_empty() || letters.eq_ignore_ascii_case("WGS84")
}

fn horizontal_sigma_m(tags: &Tags, rtk: Option<&Rtk>, remarks: &mut Vec<Remark>) -> f64 {
    if let Some(rtk) = rtk
        && matches!(rtk.state, RtkState::Fixed | RtkState::Float)
    {
        return match (rtk.std_longitude, rtk.std_latitude) {
            (Some(lon), Some(lat)) => (RTK_STD_FACTOR * lon.get().max(lat.get())).max(RTK_FLOOR_M),
            _ if rtk.state == RtkState::Fixed => FIXED_SIGMA_M,
            _ => FLOAT_SIGMA_M,
        };
    }
    if tags
        .exif
        .text(Tag::GPSStatus)
        .is_some_and(|status| status == "V")
    {
        remarks.push(Remark::PositionVoid);
        return VOID_GPS_SIGMA_M;
    }
    let stated = tags
        .exif
        .number(Tag::GPSHPositioningError)
        .or_else(|| Some(tags.xmp.number(Namespace::Camera, &["GPSXYAccuracy"])?.0));
    stated
        .filter(|sigma| (RTK_FLOOR_M..1000.0).contains(sigma))
        .unwrap_or(GPS_SIGMA_M)
}

type PlaceDeg = (f64, f64, Source);

fn exif_position(exif: &ExifTags, remarks: &mut Vec<Remark>) -> Option<PlaceDeg> {
    let mut axis = |tag, reference, negative| -> Option<f64> {
        let parts = exif.numbers(tag)?;
        let mut degrees = 0.0;
        for (part, per_degree) in parts.iter().zip([1.0, 60.0, 3600.0]) {
            // A fraction 0/0 in minutes or seconds means none.
            degrees += match part {
                Some(part) => part / per_degree,
                None if per_degree > 1.0 => 0.0,
                None => return None,
            };
        }
        let Some(reference) = exif.text(reference) else {
            if degrees != 0.0 {
                remarks.push(Remark::HemisphereMissing);
            }
            return Some(degrees);
        };
        Some(if reference.starts_with(negative) {
            -degrees
        } else {
            degrees
        })
    };
    let latitude = axis(Tag::GPSLatitude, Tag::GPSLatitudeRef, ['S', 's'])?;
    let longitude = axis(Tag::GPSLongitude, Tag::GPSLongitudeRef, ['W', 'w'])?;
    possible_place(
        latitude,
        longitude,
        Source::exif("GPSLatitude, GPSLongitude"),
        remarks,
    )
}

fn xmp_position(
    xmp: &Xmp,
    namespace: Namespace,
    latitude_names: &[&str],
    longitude_names: &[&str],
    remarks: &mut Vec<Remark>,
) -> Option<PlaceDeg> {
    let (latitude, latitude_source) = xmp.text(namespace, latitude_names)?;
    let (longitude, longitude_source) = xmp.text(namespace, longitude_names)?;
    let key = format!("{}, {}", latitude_source.key, longitude_source.key);
    match (parse_coordinate(latitude), parse_coordinate(longitude)) {
        (Some(latitude), Some(longitude)) => {
            possible_place(latitude, longitude, Source::new(Block::Xmp, key), remarks)
        }
        _ => {
            remarks.push(Remark::PositionInvalid {
                problem: format!("{key} are {latitude:?}, {longitude:?}"),
            });
            None
        }
    }
}

/// Refuses (0, 0), which receivers without a fix write, and what is not on the globe.
fn possible_place(
    latitude: f64,
    longitude: f64,
    source: Source,
    remarks: &mut Vec<Remark>,
) -> Option<PlaceDeg> {
    let is_zero = latitude.abs() < 1e-6 && longitude.abs() < 1e-6;
    if is_zero || Geodetic::from_degrees(latitude, longitude, Metres(0.0)).is_none() {
        remarks.push(Remark::PositionInvalid {
            problem: format!("{source} are {latitude}, {longitude}"),
        });
        return None;
    }
    Some((latitude, longitude, source))
}

fn distance_m(a: &PlaceDeg, b: &PlaceDeg) -> f64 {
    let place = |p: &PlaceDeg| Geodetic::from_degrees(p.0, p.1, Metres(0.0));
    match (place(a), place(b)) {
        (Some(a), Some(b)) => {
            let there = LocalOrigin::new(a).enu_from_geodetic(b);
            there.x().hypot(there.y())
        }
        _ => 0.0,
    }
}
