//! What a photo of ours says about itself, in the form of schema `capture/1`: the same as is read
//! from its file.

use crate::camera::Intrinsics;
use crate::photo::metadata::{
    CAMERA_MAKE, CAMERA_MODEL, EQUIVALENT_MM, FIRMWARE, FOCAL_MM, SENSOR_WIDTH_MM, Shot, hundredths,
};
use crate::sensors::wrapped_deg;
use jiff::tz::TimeZone;
use jiff::{Timestamp, Unit};
use serde_json::{Value, json};

/// Uncertainties as the reader states them for such a camera.
const GPS_SIGMA_M: f64 = 3.0;
const TAKEOFF_SIGMA_M: f64 = 1.0;
const FUSED_SIGMA_M: f64 = 50.0;
const EXIF_HEIGHT_SIGMA_M: f64 = 100.0;
const YAW_SIGMA_DEG: f64 = 5.0;
const GIMBAL_TILT_SIGMA_DEG: f64 = 1.0;
const AIRFRAME_TILT_SIGMA_DEG: f64 = 3.0;
const FOCAL_PLANE_SIGMA: f64 = 0.025;
/// Rounded to whole millimetres, and meant by width or by diagonal.
const EQUIVALENT_SIGMA: f64 = 0.07;
const EQUIVALENT_ROUNDING_MM: f64 = 0.29;
const FULL_FRAME_DIAGONAL_MM: f64 = 43.266_615;
const ASSUMED_FOCAL_PER_SIDE: f64 = 0.72;
const ASSUMED_SIGMA: f64 = 0.3;
const CLOCK_S: f64 = 30.0;

fn source(block: &str, key: &str) -> Value {
    json!({"block": block, "key": key})
}

fn stated(value: impl Into<Value>, block: &str, key: &str) -> Value {
    json!({"value": value.into(), "source": source(block, key)})
}

fn exif(value: impl Into<Value>, key: &str) -> Value {
    stated(value, "exif", key)
}

fn xmp(value: impl Into<Value>, key: &str) -> Value {
    stated(value, "xmp", &format!("drone-dji:{key}"))
}

/// A number after it was written with so many decimals.
fn as_written(value: f64, decimals: usize) -> f64 {
    format!("{value:.decimals$}")
        .parse()
        .expect("a printed number is a number")
}

/// Focal length in pixels by the sensor's resolution as the file holds it.
fn focal_plane_px(lens: &Intrinsics) -> f64 {
    let per_cm = f64::from(lens.width_px) / (SENSOR_WIDTH_MM / 10.0);
    FOCAL_MM * ((per_cm * 1000.0).round() / 1000.0 / 10.0)
}

/// The best hint: focal length, its sigma and where they are from.
pub(super) fn best_focal(lens: &Intrinsics) -> (f64, f64, &'static str) {
    let focal_px = focal_plane_px(lens);
    (
        focal_px,
        focal_px * FOCAL_PLANE_SIGMA,
        "FocalLength, FocalPlaneXResolution",
    )
}

fn focal_hints(lens: &Intrinsics) -> Value {
    let hint = |basis: &str, focal_px: f64, sigma_px: f64, source: Value| {
        json!({
            "basis": basis, "focal_px": focal_px, "sigma_px": sigma_px,
            "principal_point_px": null, "distortion": null, "source": source,
        })
    };
    let [width, height] = [lens.width_px, lens.height_px].map(f64::from);
    let (plane, plane_sigma, plane_key) = best_focal(lens);
    let nominal_mm = f64::from(EQUIVALENT_MM);
    let equivalent = nominal_mm * width.hypot(height) / FULL_FRAME_DIAGONAL_MM;
    let equivalent_sigma = EQUIVALENT_SIGMA.hypot(EQUIVALENT_ROUNDING_MM / nominal_mm);
    let assumed = ASSUMED_FOCAL_PER_SIDE * width.max(height);
    json!([
        hint("focal_plane", plane, plane_sigma, source("exif", plane_key)),
        hint(
            "equivalent35mm",
            equivalent,
            equivalent * equivalent_sigma,
            source("exif", "FocalLengthIn35mmFilm"),
        ),
        hint(
            "assumed",
            assumed,
            assumed * ASSUMED_SIGMA,
            source("assumption", ""),
        ),
    ])
}

/// Yaw, pitch and roll as written. Straight down yaw and roll turn about one axis: yaw has both.
fn attitude(angles_deg: [f64; 3], tilt_sigma_deg: f64, which: &str) -> Value {
    let [mut yaw, pitch, mut roll] = angles_deg.map(hundredths);
    if pitch == -90.0 {
        (yaw, roll) = (wrapped_deg(yaw + roll), 0.0);
    }
    let key = ["Yaw", "Pitch", "Roll"].map(|angle| format!("drone-dji:{which}{angle}Degree"));
    json!({
        "yaw_deg": yaw, "pitch_deg": pitch, "roll_deg": roll,
        "yaw_sigma_deg": YAW_SIGMA_DEG, "tilt_sigma_deg": tilt_sigma_deg,
        "source": source("xmp", &key.join(", ")),
    })
}

fn height(height_m: f64, sigma_m: f64, source: Value) -> Value {
    json!({"height_m": height_m, "sigma_m": sigma_m, "source": source})
}

/// Down to a unit of time.
fn floor(time: Timestamp, unit: Unit) -> Timestamp {
    let round = jiff::TimestampRound::new()
        .smallest(unit)
        .mode(jiff::RoundMode::Floor);
    time.round(round)
        .expect("times of this century can be rounded")
}

/// Every reading of the time, the surest first.
fn times(shot: &Shot) -> Value {
    let shown = floor(shot.camera_time(), Unit::Millisecond);
    let local = shown.to_zoned(shot.zone()).datetime();
    let as_utc = local
        .to_zoned(TimeZone::UTC)
        .expect("every time exists in UTC");
    let time = |utc: Timestamp, plus_minus_s: f64, basis: &str, source: Value| {
        json!({
            "utc": utc.to_string(), "plus_minus_s": plus_minus_s, "basis": basis, "source": source,
        })
    };
    json!([
        time(
            shot.utc,
            0.01,
            "utc_at_exposure",
            source("xmp", "drone-dji:UTCAtExposure")
        ),
        time(
            shot.utc,
            gps_plus_minus_s(shot.utc, as_utc.timestamp()),
            "gps",
            source("exif", "GPSDateStamp, GPSTimeStamp")
        ),
        time(
            shown,
            CLOCK_S,
            "offset_tag",
            source("exif", "OffsetTimeOriginal")
        ),
        time(
            floor(shown, Unit::Second),
            CLOCK_S,
            "xmp_zone",
            source("xmp", "xmp:CreateDate")
        ),
        time(
            shown,
            CLOCK_S,
            "site_zone",
            source("caller", &shot.world.zone)
        ),
        time(
            as_utc.timestamp(),
            14.0 * 3600.0,
            "unknown_zone",
            source("exif", "DateTimeOriginal")
        ),
    ])
}

/// How far GPS time may be off: a time without a fraction is good to its second only, and what is
/// left beside a clock that follows GPS closely is the age of the fix.
fn gps_plus_minus_s(gps: Timestamp, shown: Timestamp) -> f64 {
    const QUARTER_S: f64 = 900.0;
    let written_s = if gps.subsec_nanosecond() == 0 {
        1.0
    } else {
        0.5
    };
    let apart_s = shown.duration_since(gps).as_secs_f64();
    let rest_s = (apart_s - (apart_s / QUARTER_S).round() * QUARTER_S).abs();
    if rest_s <= 2.0 {
        rest_s.max(written_s)
    } else {
        written_s
    }
}

/// Which camera on which drone.
fn identity(shot: &Shot) -> Value {
    json!({
        "make": exif(CAMERA_MAKE, "Make"),
        "model": exif(CAMERA_MODEL, "Model"),
        "lens": null,
        "body_serial": exif(shot.serial, "BodySerialNumber"),
        "camera_serial": xmp(shot.serial, "CameraSerialNumber"),
        "drone_model": xmp(CAMERA_MODEL, "DroneModel"),
        "drone_serial": xmp(format!("D{}", shot.serial), "DroneSerialNumber"),
    })
}

/// The capture record of a photo.
pub(super) fn capture(shot: &Shot, lens: &Intrinsics) -> Value {
    let reading = shot.reading;
    let place = shot.place();
    let above_sea_m = shot.absolute_height_m();
    let shown = floor(shot.camera_time(), Unit::Millisecond).to_zoned(shot.zone());
    json!({
        "schema": "capture/1",
        "width_px": lens.width_px,
        "height_px": lens.height_px,
        "recorded_px": [lens.width_px, lens.height_px],
        "orientation": 1,
        "kind": stated("photo", "assumption", ""),
        "camera": identity(shot),
        "software": exif(FIRMWARE, "Software"),
        "image_description": exif("default", "ImageDescription"),
        "local_time": {
            "shown": shown.datetime().to_string(),
            "source": source("exif", "DateTimeOriginal"),
        },
        "times": times(shot),
        "position": {
            "latitude_deg": as_written(place.latitude_deg, 7),
            "longitude_deg": as_written(place.longitude_deg, 7),
            "sigma_m": GPS_SIGMA_M,
            "source": source("xmp", "drone-dji:GpsLatitude, drone-dji:GpsLongitude"),
        },
        "height_above_takeoff": height(
            as_written(reading.height_above_takeoff_m, 3),
            TAKEOFF_SIGMA_M,
            source("xmp", "drone-dji:RelativeAltitude"),
        ),
        "height_above_ground": null,
        "height_above_sea_level": height(
            as_written(above_sea_m, 3),
            FUSED_SIGMA_M,
            source("xmp", "drone-dji:AbsoluteAltitude"),
        ),
        "height_above_ellipsoid": null,
        "exif_gps_height": height(
            (above_sea_m * 1000.0).round() / 1000.0,
            EXIF_HEIGHT_SIGMA_M,
            source("exif", "GPSAltitude, GPSAltitudeRef"),
        ),
        "gimbal": attitude(
            [reading.gimbal_yaw_deg, reading.gimbal_pitch_deg, reading.gimbal_roll_deg],
            GIMBAL_TILT_SIGMA_DEG,
            "Gimbal",
        ),
        "aircraft": attitude(
            [reading.flight_yaw_deg, reading.flight_pitch_deg, reading.flight_roll_deg],
            AIRFRAME_TILT_SIGMA_DEG,
            "Flight",
        ),
        "rtk": null,
        "focal_length_mm": exif(FOCAL_MM, "FocalLength"),
        "digital_zoom": exif(1.0, "DigitalZoomRatio"),
        "focal_hints": focal_hints(lens),
        "remarks": [],
    })
}
