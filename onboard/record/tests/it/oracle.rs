//! Every real photo agrees with what exiftool reads from it, in every value that is used.
//!
//! The oracle beside each folder holds exiftool's tags under `group:name`; [`compare`] lists, per
//! value of a capture, the tag it must equal.

use crate::shared;
use record::capture::{Capture, FocalBasis, FocalHint, PhotoKind, RtkState, Stated, TimeBasis};
use record::{PhotoError, read_capture, read_capture_file};
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

type Tags = serde_json::Map<String, Value>;

/// Counts comparisons per key and keeps what failed.
#[derive(Default)]
struct Ledger {
    n_compared: BTreeMap<String, usize>,
    failures: Vec<String>,
}

impl Ledger {
    fn count(&mut self, key: &str) {
        *self.n_compared.entry(key.to_owned()).or_default() += 1;
    }

    /// A number must equal the oracle's, and be missing where the oracle's is.
    fn number(&mut self, file: &str, tags: &Tags, key: &str, found: Option<f64>, tolerance: f64) {
        let expected = tags.get(key).and_then(as_number);
        if expected.is_none() && found.is_none() {
            return;
        }
        self.count(key);
        let agree = matches!((expected, found), (Some(e), Some(f)) if (e - f).abs() <= tolerance);
        if !agree {
            self.failures.push(format!(
                "{file} {key}: exiftool {expected:?}, here {found:?}"
            ));
        }
    }

    fn text(&mut self, file: &str, tags: &Tags, key: &str, found: Option<&Stated<String>>) {
        let expected = tags.get(key).map(as_text).filter(|text| !text.is_empty());
        let found = found.map(|stated| stated.value.clone());
        if expected.is_none() && found.is_none() {
            return;
        }
        self.count(key);
        if expected != found {
            self.failures.push(format!(
                "{file} {key}: exiftool {expected:?}, here {found:?}"
            ));
        }
    }
}

fn as_number(value: &Value) -> Option<f64> {
    match value {
        Value::Number(number) => number.as_f64(),
        Value::String(text) => text.parse().ok(),
        _ => None,
    }
}

fn as_text(value: &Value) -> String {
    match value {
        Value::String(text) => text.trim().to_owned(),
        other => other.to_string(),
    }
}

/// The first of several keys that the oracle has.
fn first<'a>(tags: &Tags, keys: &[&'a str]) -> &'a str {
    keys.iter()
        .find(|key| tags.contains_key(**key))
        .unwrap_or(&keys[0])
}

/// Compares one capture with its oracle.
fn compare(ledger: &mut Ledger, file: &str, tags: &Tags, capture: &Capture) {
    let mut number = |key: &str, found: Option<f64>, tolerance: f64| {
        ledger.number(file, tags, key, found, tolerance);
    };
    number("File:ImageWidth", Some(f64::from(capture.width_px)), 0.0);
    number("File:ImageHeight", Some(f64::from(capture.height_px)), 0.0);
    let orientation = capture.orientation.map(|o| f64::from(o.exif_value()));
    if tags.get("IFD0:Orientation").and_then(as_number) != Some(0.0) {
        number("IFD0:Orientation", orientation, 0.0);
    }
    number(
        "ExifIFD:FocalLength",
        capture.focal_length_mm.as_ref().map(|f| f.value),
        1e-6,
    );
    // A ratio of 0 is the standard's "no digital zoom".
    if tags.get("ExifIFD:DigitalZoomRatio").and_then(as_number) != Some(0.0) {
        number(
            "ExifIFD:DigitalZoomRatio",
            capture.digital_zoom.as_ref().map(|z| z.value),
            1e-6,
        );
    }
    let rtk = capture.rtk.as_ref();
    let rtk_key = first(tags, &["XMP-drone-dji:RtkFlag", "XMP-DJI:RtkFlag"]);
    number(rtk_key, rtk.map(|rtk| f64::from(rtk.flag)), 0.0);
    let metres = |value: Option<calibration::Metres>| value.map(calibration::Metres::get);
    number(
        "XMP-drone-dji:RtkStdLon",
        metres(rtk.and_then(|r| r.std_longitude)),
        1e-9,
    );
    number(
        "XMP-drone-dji:RtkStdLat",
        metres(rtk.and_then(|r| r.std_latitude)),
        1e-9,
    );
    number(
        "XMP-drone-dji:RtkStdHgt",
        metres(rtk.and_then(|r| r.std_height)),
        1e-9,
    );
    compare_place(ledger, file, tags, capture);
    compare_angles(ledger, file, tags, capture);
    compare_pix4d(ledger, file, tags, capture);
    compare_texts(ledger, file, tags, capture);
    compare_optics(ledger, file, tags, capture);
    compare_times(ledger, file, tags, capture);
}

fn compare_place(ledger: &mut Ledger, file: &str, tags: &Tags, capture: &Capture) {
    // DJI's XMP position is used where it is there, else EXIF's; exiftool gives EXIF's sign apart.
    let (latitude_key, longitude_key) = if tags.contains_key("XMP-drone-dji:GPSLatitude") {
        ("XMP-drone-dji:GPSLatitude", "XMP-drone-dji:GPSLongitude")
    } else {
        ("Composite:GPSLatitude", "Composite:GPSLongitude")
    };
    let position = capture.position.as_ref();
    // Half a thousandth of a millimetre: rounding of fractions in two programs.
    ledger.number(
        file,
        tags,
        latitude_key,
        position.map(|p| p.latitude.to_degrees()),
        1e-11,
    );
    ledger.number(
        file,
        tags,
        longitude_key,
        position.map(|p| p.longitude.to_degrees()),
        1e-11,
    );
    let metres = |height: &Option<record::capture::Height>| height.as_ref().map(|h| h.height.get());
    ledger.number(
        file,
        tags,
        "Composite:GPSAltitude",
        metres(&capture.exif_gps_height),
        1e-6,
    );
    let relative = first(
        tags,
        &["XMP-drone-dji:RelativeAltitude", "XMP-DJI:RelativeAltitude"],
    );
    ledger.number(
        file,
        tags,
        relative,
        metres(&capture.height_above_takeoff),
        1e-9,
    );
    let absolute = first(
        tags,
        &[
            "XMP-drone-dji:AbsoluteAltitude",
            "XMP-DJI:AbsoluteAltitude",
            "XMP-drone-skydio:AbsoluteAltitude",
        ],
    );
    let found = metres(&capture.height_above_ellipsoid).or(metres(&capture.height_above_sea_level));
    ledger.number(file, tags, absolute, found, 1e-9);
    ledger.number(
        file,
        tags,
        "XMP-Camera:AboveGroundAltitude",
        metres(&capture.height_above_ground),
        1e-9,
    );
}

/// Groups of exiftool with yaw, pitch and roll in NED, and whether they are the gimbal's, in the
/// order in which a capture takes them.
const NED_ANGLES: [(&str, bool, [&str; 3]); 8] = [
    (
        "XMP-drone-dji",
        true,
        ["GimbalYawDegree", "GimbalPitchDegree", "GimbalRollDegree"],
    ),
    (
        "XMP-DJI",
        true,
        ["GimbalYawDegree", "GimbalPitchDegree", "GimbalRollDegree"],
    ),
    (
        "XMP-drone-skydio",
        true,
        [
            "CameraOrientationNEDYaw",
            "CameraOrientationNEDPitch",
            "CameraOrientationNEDRoll",
        ],
    ),
    ("DJI", true, ["CameraYaw", "CameraPitch", "CameraRoll"]),
    (
        "XMP-drone-dji",
        false,
        ["FlightYawDegree", "FlightPitchDegree", "FlightRollDegree"],
    ),
    (
        "XMP-DJI",
        false,
        ["FlightYawDegree", "FlightPitchDegree", "FlightRollDegree"],
    ),
    (
        "XMP-drone-skydio",
        false,
        [
            "VehicleOrientationNEDYaw",
            "VehicleOrientationNEDPitch",
            "VehicleOrientationNEDRoll",
        ],
    ),
    ("DJI", false, ["Yaw", "Pitch", "Roll"]),
];

fn compare_angles(ledger: &mut Ledger, file: &str, tags: &Tags, capture: &Capture) {
    for (reading, is_gimbal) in [(&capture.gimbal, true), (&capture.aircraft, false)] {
        let stated = NED_ANGLES.iter().find(|(group, of_gimbal, names)| {
            *of_gimbal == is_gimbal && tags.contains_key(&format!("{group}:{}", names[1]))
        });
        let Some((group, _, names)) = stated else {
            continue;
        };
        let attitude = reading.as_ref().map(|reading| reading.attitude);
        let parts = [
            attitude.map(|a| a.yaw),
            attitude.map(|a| a.pitch),
            attitude.map(|a| a.roll),
        ];
        for (name, part) in names.iter().zip(parts) {
            let key = format!("{group}:{name}");
            let mut expected = Tags::new();
            if let Some(degrees) = tags.get(&key).and_then(as_number) {
                let wrapped = calibration::Radians::from_degrees(degrees).wrapped();
                expected.insert(key.clone(), Value::from(wrapped.to_degrees()));
            }
            // Yaw is wrapped here; floats of maker notes are read as the decimal they stand for.
            let found = part.map(calibration::Radians::to_degrees);
            ledger.number(file, &expected, &key, found, 2e-5);
        }
    }
}

/// Pix4D's angles: the optical axis is the body's down axis, turned by yaw, pitch and roll about
/// down, right and forward.
fn compare_pix4d(ledger: &mut Ledger, file: &str, tags: &Tags, capture: &Capture) {
    let angle = |name: &str| tags.get(&format!("XMP-Camera:{name}")).and_then(as_number);
    let (Some(yaw), Some(pitch), Some(roll)) = (angle("Yaw"), angle("Pitch"), angle("Roll")) else {
        return;
    };
    let [(sy, cy), (sp, cp), (sr, cr)] = [yaw, pitch, roll].map(|a| a.to_radians().sin_cos());
    // Third column of Rz(yaw) Ry(pitch) Rx(roll), north, east, down.
    let axis_in_ned = [cy * sp * cr + sy * sr, sy * sp * cr - cy * sr, cp * cr];
    let attitude = capture
        .gimbal
        .as_ref()
        .expect("the angles are used")
        .attitude;
    let found = attitude.ned_from_body() * calibration::Direction::new(1.0, 0.0, 0.0);
    for (key, (here, exiftool)) in ["Yaw", "Pitch", "Roll"]
        .iter()
        .zip(found.vector.iter().zip(axis_in_ned))
    {
        ledger.count(&format!("XMP-Camera:{key}"));
        assert!(
            (here - exiftool).abs() < 1e-9,
            "{file}: {found:?} {axis_in_ned:?}"
        );
    }
}

fn compare_texts(ledger: &mut Ledger, file: &str, tags: &Tags, capture: &Capture) {
    let camera = &capture.camera;
    let mut text = |key: &str, found: Option<&Stated<String>>| {
        ledger.text(file, tags, key, found);
    };
    let make = first(tags, &["IFD0:Make", "XMP-tiff:Make"]);
    let model = first(tags, &["IFD0:Model", "XMP-tiff:Model"]);
    text(make, camera.make.as_ref());
    text(model, camera.model.as_ref());
    text("IFD0:Software", capture.software.as_ref());
    text("IFD0:ImageDescription", capture.image_description.as_ref());
    text(
        "ExifIFD:LensModel",
        camera.lens.as_ref().filter(|s| s.source.key == "LensModel"),
    );
    if tags.get("ExifIFD:SerialNumber").map(as_text).as_deref() != Some("0") {
        let from_exif = camera.body_serial.as_ref();
        let from_exif = from_exif.filter(|s| s.source.key == "BodySerialNumber");
        text("ExifIFD:SerialNumber", from_exif);
    }
    let camera_serial = first(
        tags,
        &[
            "XMP-drone-dji:CameraSerialNumber",
            "IFD0:CameraSerialNumber",
        ],
    );
    text(camera_serial, camera.camera_serial.as_ref());
    let drone_serial = first(
        tags,
        &[
            "XMP-drone-dji:DroneSerialNumber",
            "XMP-drone-dji:DroneID",
            "XMP-drone-skydio:VehicleId",
        ],
    );
    text(drone_serial, camera.drone_serial.as_ref());
    text("XMP-drone-dji:DroneModel", camera.drone_model.as_ref());
}

fn hint(capture: &Capture, basis: FocalBasis) -> Option<&FocalHint> {
    capture.focal_hints.iter().find(|hint| hint.basis == basis)
}

fn compare_optics(ledger: &mut Ledger, file: &str, tags: &Tags, capture: &Capture) {
    if tags.contains_key("XMP-drone-dji:CalibratedFocalLength") {
        let found = hint(capture, FocalBasis::CalibratedFocalLength);
        let key = "XMP-drone-dji:CalibratedFocalLength";
        ledger.number(file, tags, key, found.map(|hint| hint.focal_px), 1e-9);
        let centre = found.and_then(|hint| hint.principal_point_px);
        let key = "XMP-drone-dji:CalibratedOpticalCenterX";
        ledger.number(file, tags, key, centre.map(|centre| centre[0]), 1e-9);
        let key = "XMP-drone-dji:CalibratedOpticalCenterY";
        ledger.number(file, tags, key, centre.map(|centre| centre[1]), 1e-9);
    }
    if let Some(text) = tags.get("XMP-drone-dji:DewarpData").map(as_text) {
        let numbers: Vec<f64> = text
            .rsplit(';')
            .next()
            .unwrap()
            .split(',')
            .map(|number| number.parse().unwrap())
            .collect();
        let found = hint(capture, FocalBasis::DewarpData).expect("DewarpData is used");
        let middle = [capture.width_px, capture.height_px].map(|side| f64::from(side) / 2.0);
        let centre = found.principal_point_px.unwrap();
        let distortion = found.distortion.unwrap();
        let pairs = [
            (found.focal_px, (numbers[0] + numbers[1]) / 2.0),
            (centre[0], middle[0] + numbers[2]),
            (centre[1], middle[1] + numbers[3]),
            (distortion.k1, numbers[4]),
            (distortion.k3, numbers[8]),
        ];
        for (here, exiftool) in pairs {
            ledger.count("XMP-drone-dji:DewarpData");
            assert!((here - exiftool).abs() < 1e-9, "{file}: {here} {exiftool}");
        }
    }
}

fn compare_times(ledger: &mut Ledger, file: &str, tags: &Tags, capture: &Capture) {
    // The camera's clock to the second; the fraction is in another tag.
    let key = first(
        tags,
        &[
            "ExifIFD:DateTimeOriginal",
            "ExifIFD:CreateDate",
            "IFD0:ModifyDate",
        ],
    );
    let expected = tags
        .get(key)
        .map(as_text)
        .filter(|text| !text.starts_with("0000"));
    let local = capture.local_time.as_ref();
    if expected.is_some() || local.is_some() {
        ledger.count(key);
        let found = local.map(|local| local.shown.strftime("%Y:%m:%d %H:%M:%S").to_string());
        if found != expected {
            ledger.failures.push(format!(
                "{file} {key}: exiftool {expected:?}, here {found:?}"
            ));
        }
    }
    let (date, time) = (tags.get("GPS:GPSDateStamp"), tags.get("GPS:GPSTimeStamp"));
    if let (Some(date), Some(time)) = (date, time) {
        ledger.count("GPS:GPSTimeStamp");
        let expected: jiff::Timestamp =
            format!("{}T{}Z", as_text(date).replace(':', "-"), as_text(time))
                .parse()
                .unwrap();
        let found = capture
            .times
            .iter()
            .find(|time| time.basis == TimeBasis::Gps)
            .map(|time| time.utc);
        let agree = found.is_some_and(|found| {
            found.duration_since(expected).abs() < jiff::SignedDuration::from_millis(1)
        });
        if !agree {
            ledger.failures.push(format!(
                "{file} GPS time: exiftool {expected}, here {found:?}"
            ));
        }
    }
}

/// Every file below `folder` by its name.
fn files_by_name(folder: &Path) -> BTreeMap<String, PathBuf> {
    let mut found = BTreeMap::new();
    let mut open = vec![folder.to_owned()];
    while let Some(folder) = open.pop() {
        for entry in std::fs::read_dir(&folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                open.push(path);
            } else {
                let name = path.file_name().unwrap().to_str().unwrap().to_owned();
                found.insert(name, path);
            }
        }
    }
    found
}

/// Reads and compares every photo of an oracle file; at least `n_expected` comparisons must be made.
fn check_folder(photos: &str, oracle: &str, n_expected: usize) {
    let (Some(photos), Some(oracle)) = (shared::data(photos), shared::data(oracle)) else {
        return;
    };
    let oracle: Vec<Tags> = serde_json::from_slice(&std::fs::read(oracle).unwrap()).unwrap();
    let files = files_by_name(&photos);
    let mut ledger = Ledger::default();
    let mut n_photos = 0;
    for tags in &oracle {
        let file = as_text(&tags["SourceFile"]);
        let path = &files[&file];
        match read_capture_file(path) {
            Ok(capture) => {
                let whole = read_capture(&std::fs::read(path).unwrap()).unwrap();
                assert_eq!(capture, whole.with_file_name(path), "{file}");
                compare(&mut ledger, &file, tags, &capture);
                n_photos += 1;
            }
            Err(PhotoError::NotJpeg { found }) => {
                ledger.count("File:FileType");
                let file_type = tags.get("File:FileType").map(as_text).unwrap_or_default();
                assert_ne!(file_type, "JPEG", "{file}: {found}");
            }
            Err(error) => panic!("{file}: {error}"),
        }
    }
    let n_compared: usize = ledger.n_compared.values().sum();
    println!(
        "{}: {n_photos} photos, {n_compared} comparisons {:?}",
        photos.display(),
        ledger.n_compared
    );
    assert!(
        ledger.failures.is_empty(),
        "{} of {n_compared} differ:\n{}",
        ledger.failures.len(),
        ledger.failures.join("\n")
    );
    assert!(
        n_compared >= n_expected,
        "only {n_compared} comparisons, {n_expected} expected"
    );
}

#[test]
fn sheffield_agrees_with_exiftool() {
    check_folder("sheffield", "sheffield/exiftool.json", 1548);
}

#[test]
fn mirafiori_agrees_with_exiftool() {
    check_folder("mirafiori", "mirafiori/exiftool.json", 680);
}

#[test]
fn skylark_agrees_with_exiftool() {
    check_folder("skylark_tiny/images", "skylark_tiny/exiftool.json", 1883);
}

#[test]
fn thermal_cameras_agree_with_exiftool() {
    let oracle = "metadata/dji_thermal.exiftool.json";
    check_folder("metadata/dji_thermal", oracle, 152);
}

#[test]
fn other_drones_agree_with_exiftool() {
    let oracle = "metadata/other_drones.exiftool.json";
    check_folder("metadata/other_drones", oracle, 72);
}

#[test]
fn orientations_agree_with_exiftool() {
    let oracle = "metadata/exif_orientation.exiftool.json";
    check_folder("metadata/exif_orientation", oracle, 26);
}

#[test]
fn sample_files_agree_with_exiftool() {
    let oracle = "metadata/exif_samples.exiftool.json";
    check_folder("metadata/exif_samples", oracle, 201);
}

/// The photos of a folder, by name.
fn captures(folder: &str) -> Option<Vec<(String, Capture)>> {
    let folder = shared::data(folder)?;
    let photos: Vec<_> = files_by_name(&folder)
        .into_iter()
        .filter(|(name, _)| name.to_lowercase().ends_with(".jpg"))
        .map(|(name, path)| {
            let capture = read_capture_file(&path).unwrap_or_else(|error| panic!("{error}"));
            (name, capture)
        })
        .collect();
    assert!(!photos.is_empty());
    Some(photos)
}

#[test]
fn sheffield_says_what_a_scene_without_xmp_can() {
    for (name, capture) in captures("sheffield").unwrap_or_default() {
        let pitch_deg = capture.gimbal.as_ref().unwrap().attitude.pitch.to_degrees();
        assert!((-76.0..-74.0).contains(&pitch_deg), "{name}: {pitch_deg}");
        let focal = capture.focal().unwrap();
        assert_eq!(focal.basis, FocalBasis::KnownSensor, "{name}");
        // Structure from motion found 474.7 px on twice these photos.
        let off_px = (focal.focal_px - 474.7).abs();
        assert!(off_px > 1.0 && off_px < focal.sigma_px, "{name}: {focal:?}");
        assert!(capture.height_above_takeoff.is_none(), "{name}");
        assert!(
            capture.exif_gps_height.as_ref().unwrap().height.get() < 0.0,
            "{name}"
        );
        assert_eq!(
            capture.time().unwrap().basis,
            TimeBasis::UnknownZone,
            "{name}"
        );
    }
}

#[test]
fn mirafiori_says_what_an_rtk_drone_can() {
    for (name, capture) in captures("mirafiori").unwrap_or_default() {
        assert_eq!(
            capture.rtk.as_ref().unwrap().state,
            RtkState::Fixed,
            "{name}"
        );
        let sigma_m = capture.position.as_ref().unwrap().sigma.get();
        assert!((0.02..0.1).contains(&sigma_m), "{name}: {sigma_m}");
        let relative_m = capture.height_above_takeoff.as_ref().unwrap().height.get();
        assert!((relative_m - 44.5).abs() < 0.3, "{name}: {relative_m}");
        assert!(capture.height_above_ellipsoid.is_some(), "{name}");
        assert_eq!(
            capture.focal().unwrap().basis,
            FocalBasis::DewarpData,
            "{name}"
        );
    }
}

#[test]
fn thermal_twins_are_recognised_and_photos_are_not() {
    let kinds = |folder| {
        let photos = captures(folder).unwrap_or_default();
        photos
            .into_iter()
            .map(|(name, capture)| (name, capture.kind.value))
    };
    for (name, kind) in kinds("metadata/dji_thermal") {
        assert_eq!(kind, PhotoKind::Thermal, "{name}");
    }
    for (name, kind) in kinds("metadata/other_drones") {
        let is_thermal = name == "S1008521.JPG";
        assert_eq!(kind == PhotoKind::Thermal, is_thermal, "{name}");
    }
    for folder in ["sheffield", "mirafiori", "skylark_tiny/images", "vehicles"] {
        for (name, kind) in kinds(folder) {
            assert_eq!(kind, PhotoKind::Photo, "{name}");
        }
    }
}
