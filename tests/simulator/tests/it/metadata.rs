//! Metadata against exiftool, and its errors against the truth.

use crate::fixture::{exiftool, render, small, small_spec};
use jiff::Timestamp;
use nalgebra::Vector3;
use serde_json::Value;
use simulator::geodesy::place_from_enu;
use simulator::sensors::ErrorSpec;
use simulator::truth::PhotoTruth;

fn number(tags: &Value, key: &str) -> f64 {
    let value = &tags[key];
    let parsed = value
        .as_f64()
        .or_else(|| value.as_str().and_then(|text| text.parse().ok()));
    parsed.unwrap_or_else(|| panic!("{key} is {value}"))
}

/// The offset at the end of `2026:05:12 10:00:00` as exiftool prints local times.
fn utc_from_exif(tags: &Value) -> Timestamp {
    let stamp = tags["ExifIFD:DateTimeOriginal"].as_str().expect("a time");
    let offset = tags["ExifIFD:OffsetTimeOriginal"]
        .as_str()
        .expect("an offset");
    let millis = &tags["ExifIFD:SubSecTimeOriginal"];
    let millis = millis
        .as_u64()
        .or_else(|| millis.as_str()?.parse().ok())
        .expect("milliseconds");
    let (day, time) = stamp.split_once(' ').expect("day and time");
    format!("{}T{time}.{millis:03}{offset}", day.replace(':', "-"))
        .parse()
        .expect("a time")
}

fn check_exact(photo: &PhotoTruth, tags: &Value, origin: &simulator::geodesy::Place) {
    let truth = place_from_enu(origin, &Vector3::from(photo.center_in_enu_m));
    let near = |key: &str, expected: f64, tolerance: f64| {
        let found = number(tags, key);
        assert!(
            (found - expected).abs() <= tolerance,
            "{} {key}: {found} {expected}",
            photo.file
        );
    };
    // EXIF degrees come in 1/10000 second, XMP in 1e-7 degrees.
    near("Composite:GPSLatitude", truth.latitude_deg, 2e-8);
    near("Composite:GPSLongitude", truth.longitude_deg, 2e-8);
    near("XMP-drone-dji:GPSLatitude", truth.latitude_deg, 5.1e-8);
    near("XMP-drone-dji:GPSLongitude", truth.longitude_deg, 5.1e-8);
    near(
        "XMP-drone-dji:RelativeAltitude",
        photo.center_in_enu_m[2],
        6e-4,
    );
    near("XMP-drone-dji:GimbalPitchDegree", photo.pitch_deg, 6e-3);
    near("XMP-drone-dji:GimbalRollDegree", photo.roll_deg, 6e-3);
    let yaw = number(tags, "XMP-drone-dji:GimbalYawDegree");
    let wrapped = (yaw - photo.yaw_deg + 180.0).rem_euclid(360.0) - 180.0;
    assert!(
        wrapped.abs() <= 6e-3,
        "{}: yaw {yaw} {}",
        photo.file,
        photo.yaw_deg
    );
    let utc: Timestamp = photo.utc.parse().expect("the truth's time");
    assert_eq!(utc_from_exif(tags), utc, "{}", photo.file);
}

/// Without errors every value in the file equals the truth, to the digits written.
#[test]
fn without_errors_the_metadata_is_the_truth() {
    let mut spec = small_spec();
    spec.errors = ErrorSpec::NONE;
    spec.n_photos = 5;
    spec.size_px = [160, 120];
    (spec.share_without_gps, spec.share_without_xmp) = (0.0, 0.0);
    let rendered = render(&spec);
    for photo in &rendered.truth.photos {
        let Some(tags) = exiftool(&rendered.folder.path().join(&photo.file)) else {
            return;
        };
        assert!(
            tags.get("ExifTool:Warning").is_none(),
            "{}",
            tags["ExifTool:Warning"]
        );
        check_exact(photo, &tags, &rendered.truth.site.origin);
        let lens = &photo.intrinsics;
        let sensor_px = number(&tags, "ExifIFD:FocalLength") / 10.0
            * number(&tags, "ExifIFD:FocalPlaneXResolution");
        assert!(
            (sensor_px / lens.fx_px - 1.0).abs() < 0.016,
            "{sensor_px} {}",
            lens.fx_px
        );
        assert_eq!(
            number(&tags, "ExifIFD:ExifImageWidth"),
            f64::from(lens.width_px)
        );
        assert_eq!(tags["IFD0:Make"], rendered.truth.camera.make.as_str());
        assert_eq!(
            tags["ExifIFD:SerialNumber"],
            rendered.truth.camera.serial.as_str()
        );
        let stamp = tags["GPS:GPSTimeStamp"].as_str().expect("a time");
        let exposed = tags["XMP-drone-dji:UTCAtExposure"]
            .as_str()
            .expect("a time");
        assert!(exposed.contains(&stamp[..8]), "{exposed} {stamp}");
    }
}

/// Signs are explicit as DJI writes them.
#[test]
fn angles_and_heights_carry_their_sign() {
    let rendered = small();
    for photo in rendered.truth.photos.iter().filter(|photo| photo.has_xmp) {
        let bytes = std::fs::read(rendered.folder.path().join(&photo.file)).expect("a photo");
        let text = String::from_utf8_lossy(&bytes);
        for key in [
            "GimbalYawDegree",
            "GimbalPitchDegree",
            "RelativeAltitude",
            "FlightYawDegree",
        ] {
            let start =
                text.find(&format!("drone-dji:{key}=\"")).expect("the key") + key.len() + 12;
            assert!(matches!(text.as_bytes()[start], b'+' | b'-'), "{key}");
        }
    }
}

/// With errors the metadata is off, but not by more than the stated sizes allow.
#[test]
fn errors_are_there_and_bounded() {
    let rendered = small();
    let (mut worst, mut any_gps, mut any_bare) = (0.0_f64, false, false);
    for photo in &rendered.truth.photos {
        let Some(tags) = exiftool(&rendered.folder.path().join(&photo.file)) else {
            return;
        };
        assert_eq!(
            tags.get("XMP-drone-dji:GimbalYawDegree").is_some(),
            photo.has_xmp
        );
        assert_eq!(tags.get("GPS:GPSLatitude").is_some(), photo.has_gps);
        any_bare |= !photo.has_gps || !photo.has_xmp;
        if photo.has_gps {
            any_gps = true;
            let center = Vector3::from(photo.center_in_enu_m);
            let truth = place_from_enu(&rendered.truth.site.origin, &center);
            let north = (number(&tags, "Composite:GPSLatitude") - truth.latitude_deg) * 111_000.0;
            worst = worst.max(north.abs());
        }
    }
    assert!(any_gps && any_bare);
    assert!((0.05..7.5).contains(&worst), "{worst} m");
}
