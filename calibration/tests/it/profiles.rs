//! Camera profiles: the shipped ones, finding one, and what is refused.

use calibration::profiles::{self, CameraProfile, IntrinsicsSource, PhotoCamera};
use calibration::{CalibrationError, Lens, Metres};
use std::path::Path;

const PLAIN: &str = r#"
schema = "camera-profile/1"
id = "test"
description = "a camera"
makes = ["Maker"]
models = ["One", "Two"]
measured_by = "the test"
how = "made up"

[image]
width_px = 4000
height_px = 3000

[optics]
sensor_width_mm = 8.0
sensor_height_mm = 6.0
focal_length_mm = 5.0
"#;

fn parse(text: &str) -> Result<CameraProfile, CalibrationError> {
    CameraProfile::parse(text, Path::new("test.toml"))
}

fn photo<'a>(make: &'a str, model: &'a str, size: (u32, u32), mm: Option<f64>) -> PhotoCamera<'a> {
    PhotoCamera {
        make,
        model,
        width: size.0,
        height: size.1,
        focal_length: mm.map(|mm| Metres(mm / 1000.0)),
    }
}

#[test]
fn every_profile_in_the_folder_is_shipped_and_says_where_it_comes_from() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("profiles");
    let mut stems = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let profile = CameraProfile::load(&path).unwrap();
        let stem = path.file_stem().unwrap().to_str().unwrap().to_owned();
        assert_eq!(profile.id, stem);
        assert_eq!(profiles::by_id(&stem), Some(&profile));
        assert!(profile.how.len() > 100, "{stem}: {}", profile.how);
        // The principal point lies within 3 % of the middle.
        let off_x = profile.camera.cx / f64::from(profile.camera.width) - 0.5;
        let off_y = profile.camera.cy / f64::from(profile.camera.height) - 0.5;
        assert!(off_x.abs() < 0.03 && off_y.abs() < 0.03, "{stem}");
        let sigma = profile.focal_sigma_px.unwrap() / profile.camera.fx;
        assert!((0.001..0.06).contains(&sigma), "{stem}: {sigma}");
        stems.push(stem);
    }
    assert_eq!(stems.len(), profiles::shipped().len());
}

#[test]
fn nominal_intrinsics_follow_from_millimetres() {
    let profile = parse(PLAIN).unwrap();
    assert_eq!(profile.intrinsics, IntrinsicsSource::Nominal);
    assert!((profile.camera.fx - 2500.0).abs() < 1e-9);
    assert_eq!(profile.camera.fy, profile.camera.fx);
    assert_eq!((profile.camera.cx, profile.camera.cy), (2000.0, 1500.0));
    assert_eq!(profile.camera.lens, Lens::PINHOLE);
    assert_eq!(profile.focal_sigma_px, None);
    assert_eq!(profile.min_shutter_interval, None);
    assert_eq!(profile.gimbal, None);
    let m3e = profiles::by_id("dji-m3e").unwrap();
    assert!((m3e.camera.fx - 3750.94).abs() < 0.01);
    assert_eq!(m3e.min_shutter_interval.unwrap().get(), 0.7);
    let gimbal = m3e.gimbal.unwrap();
    assert!((gimbal.pitch_min.to_degrees() + 90.0).abs() < 1e-12);
    assert!((gimbal.pitch_max.to_degrees() - 35.0).abs() < 1e-12);
    let readout = profiles::by_id("dji-fc300s")
        .unwrap()
        .rolling_shutter_readout;
    assert!((readout.unwrap().get() - 0.033).abs() < 1e-12);
}

#[test]
fn finds_the_profile_of_a_photo_and_scales_it() {
    let found = profiles::find(&photo("DJI", "FC300S", (800, 600), Some(3.61))).unwrap();
    assert_eq!(found.profile.id, "dji-fc300s");
    assert!(
        (found.camera.fx - 475.484).abs() < 0.001,
        "{}",
        found.camera.fx
    );
    assert_eq!((found.camera.cx, found.camera.cy), (400.0, 300.0));
    assert!((found.focal_sigma_px.unwrap() - 2.3).abs() < 1e-9);
    // A crop, and a crop resampled.
    let crop = profiles::find(&photo("DJI ", "fc6310", (4864, 3648), None)).unwrap();
    assert_eq!(crop.camera.cx, 2432.0);
    assert!((crop.camera.fx - 3648.0).abs() < 1e-9);
    let small = profiles::find(&photo("DJI", "FC6310", (40, 30), Some(8.8))).unwrap();
    assert!((small.camera.fx - 30.0).abs() < 1e-9, "{}", small.camera.fx);
    assert!((small.camera.cx - 20.0).abs() < 1e-9);
    let wide = profiles::find(&photo("DJI", "FC300S", (1920, 1080), Some(3.6))).unwrap();
    assert!((wide.camera.cy - 540.0).abs() < 1e-9);
    assert!((wide.camera.fx - 2377.42 * 0.48).abs() < 1e-9);
}

#[test]
fn other_lenses_and_shapes_of_the_same_model_are_not_taken_for_it() {
    let none = |make, model, size, mm| {
        let photo = photo(make, model, size, mm);
        assert_eq!(profiles::find(&photo), None, "{photo:?}");
    };
    none("DJI", "FC300X", (4000, 3000), Some(3.61));
    none("Canon", "FC300S", (4000, 3000), Some(3.61));
    // The telephoto camera of the M3E has 4000x3000, 0.1 % from the wide one's aspect.
    none("DJI", "M3E", (4000, 3000), Some(29.9));
    none("DJI", "M3E", (4000, 3000), None);
    assert!(profiles::find(&photo("DJI", "M3E", (5280, 3956), None)).is_some());
    assert!(profiles::find(&photo("DJI", "M3E", (1320, 989), Some(12.29))).is_some());
    // The thermal camera of the M3T.
    none("DJI", "M3T", (640, 512), Some(9.1));
    // Turned by 90 degrees.
    none("DJI", "FC300S", (600, 800), Some(3.61));
    none("DJI", "FC300S", (0, 0), Some(3.61));
}

fn refused(text: &str, parts: &[&str]) {
    let error = parse(text).unwrap_err();
    let message = error.to_string();
    for part in parts {
        assert!(message.contains(part), "{message:?} lacks {part:?}");
    }
    assert!(message.contains("test.toml"), "{message:?}");
    assert_eq!(error.exit_code(), 1);
}

#[test]
fn unknown_keys_are_named() {
    refused(
        &PLAIN.replace("focal_length_mm", "focal_lenght_mm"),
        &["focal_lenght_mm"],
    );
    refused(&format!("colour = true\n{PLAIN}"), &["colour"]);
    refused(&format!("{PLAIN}\n[gimball]\n"), &["gimball"]);
    let lens = "[intrinsics]\nfocal_x_px = 2500.0\nfocal_y_px = 2500.0\nprincipal_x_px = 2000.0\n\
                principal_y_px = 1500.0\n[intrinsics.lens]\nmodel = \"brown_conrady\"\n\
                k1 = 0.0\nk2 = 0.0\np1 = 0.0\np2 = 0.0\nk3 = 0.0\n";
    assert!(parse(&format!("{PLAIN}{lens}")).is_ok());
    refused(&format!("{PLAIN}{lens}k4 = 0.0\n"), &["k4"]);
    refused(
        &format!("{PLAIN}{}", lens.replace("k3 = 0.0\n", "")),
        &["k3"],
    );
}

#[test]
fn contradictions_are_errors_with_both_values() {
    let stated = |fx: f64, fy: f64| {
        format!(
            "{PLAIN}\n[intrinsics]\nfocal_x_px = {fx:?}\nfocal_y_px = {fy:?}\n\
             principal_x_px = 2000.0\nprincipal_y_px = 1500.0\n\
             lens = {{ model = \"fisheye\", k1 = 0.0, k2 = 0.0, k3 = 0.0, k4 = 0.0 }}\n"
        )
    };
    // 5 mm over 8 mm and 4000 px is 2500 px.
    assert!(parse(&stated(2500.0, 2500.0)).is_ok());
    assert!(parse(&stated(2620.0, 2380.0)).is_ok());
    refused(&stated(2630.0, 2500.0), &["2630.0 px along x", "2500.0 px"]);
    refused(&stated(2500.0, 2370.0), &["2370.0 px along y", "2500.0 px"]);
    let error = parse(&stated(5000.0, 2500.0)).unwrap_err();
    let CalibrationError::InProfile { source, .. } = error else {
        panic!("{error:?}");
    };
    assert!(matches!(
        *source,
        CalibrationError::FocalContradiction { axis: "x", .. }
    ));
}

#[test]
fn impossible_values_and_other_schemas_are_refused() {
    let schema = |text: &str| PLAIN.replace("camera-profile/1", text);
    refused(
        &schema("camera-profile/2"),
        &["camera-profile/2", "camera-profile/1"],
    );
    refused(&schema("flight-plan/1"), &["flight-plan/1"]);
    // A later version may have other keys: the schema is what is wrong with it.
    let later = format!("novelty = 1\n{}", schema("camera-profile/2"));
    refused(&later, &["camera-profile/2"]);
    refused("id = \"x\"", &["schema"]);
    refused("not toml", &["not a camera profile"]);
    let with = |from: &str, to: &str| PLAIN.replace(from, to);
    refused(&with("= 8.0", "= -8.0"), &["sensor_width_mm", "-8"]);
    refused(&with("= 5.0", "= nan"), &["focal_length_mm", "NaN"]);
    refused(&with("width_px = 4000", "width_px = 0"), &["width", "0"]);
    refused(&with("\"made up\"", "\" \""), &["how"]);
    refused(&with("[\"Maker\"]", "[]"), &["makes"]);
    refused(&with("focal_length_mm = 5.0", ""), &["focal_length_mm"]);
    let and = |more: &str| format!("{PLAIN}{more}");
    let crop = |left: u32| {
        let size = "width_px = 4000\nheight_px = 2000\ntop_px = 0";
        format!("[[crop]]\n{size}\nleft_px = {left}\n")
    };
    assert!(parse(&and(&crop(0))).is_ok());
    refused(&and(&crop(1)), &["crop", "4000x2000"]);
    refused(&and(&crop(u32::MAX)), &["crop"]);
    let gimbal = |min: &str, max: &str| {
        and(&format!(
            "[gimbal]\npitch_min_deg = {min}\npitch_max_deg = {max}\n"
        ))
    };
    assert!(parse(&gimbal("-120.0", "30.0")).is_ok());
    refused(&gimbal("30.0", "-90.0"), &["gimbal", "30..-90"]);
    refused(&gimbal("nan", "0.0"), &["gimbal"]);
    refused(
        &and("[shutter]\nmin_interval_s = 0.0\n"),
        &["min_interval_s"],
    );
}

#[test]
fn a_missing_file_is_named() {
    let error = CameraProfile::load(Path::new("no/such/profile.toml")).unwrap_err();
    assert!(
        error.to_string().contains("no/such/profile.toml"),
        "{error}"
    );
}
