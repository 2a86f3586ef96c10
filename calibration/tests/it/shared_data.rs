//! The shipped profiles against what real photos and a reference solution say.

use calibration::camera::{CameraModel, Pixel};
use calibration::profiles::{self, PhotoCamera, ProfileMatch};
use calibration::{Lens, Metres};
use serde_json::Value;
use std::path::{Path, PathBuf};

/// The folder of real photos; `None`, said plainly, where it is absent.
fn data() -> Option<PathBuf> {
    let shared = std::env::var_os("OVERLOOK_SHARED").map_or_else(
        || Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared"),
        PathBuf::from,
    );
    let data = shared.join("data");
    if !data.is_dir() {
        eprintln!("skipped: shared/data absent");
        return None;
    }
    Some(data)
}

fn exiftool(path: &Path) -> Vec<Value> {
    let text = std::fs::read_to_string(path).unwrap();
    serde_json::from_str(&text).unwrap()
}

fn text<'a>(photo: &'a Value, key: &str) -> &'a str {
    photo[key]
        .as_str()
        .unwrap_or_else(|| panic!("{key}: {photo}"))
}

fn number(photo: &Value, key: &str) -> f64 {
    photo[key]
        .as_f64()
        .unwrap_or_else(|| panic!("{key}: {photo}"))
}

fn found(photo: &Value) -> ProfileMatch<'static> {
    profiles::find(&PhotoCamera {
        make: text(photo, "IFD0:Make"),
        model: text(photo, "IFD0:Model"),
        width: number(photo, "File:ImageWidth") as u32,
        height: number(photo, "File:ImageHeight") as u32,
        focal_length: Some(Metres(number(photo, "ExifIFD:FocalLength") / 1000.0)),
    })
    .unwrap_or_else(|| panic!("no profile: {photo}"))
}

#[test]
fn the_phantom_3_profile_is_the_reference_solution_s() {
    let Some(data) = data() else { return };
    let cameras = std::fs::read_to_string(data.join("sheffield/reference/cameras.txt")).unwrap();
    let line = cameras.lines().find(|line| !line.starts_with('#')).unwrap();
    let fields: Vec<&str> = line.split_whitespace().collect();
    assert_eq!(fields[1], "SIMPLE_RADIAL");
    let numbers: Vec<f64> = fields[2..]
        .iter()
        .map(|field| field.parse().unwrap())
        .collect();
    let [width, height, focal, cx, cy, k] = numbers[..] else {
        panic!("{line}");
    };
    let photos = exiftool(&data.join("sheffield/exiftool.json"));
    assert_eq!(photos.len(), 86);
    for photo in &photos {
        let ProfileMatch { camera, .. } = found(photo);
        assert_eq!(
            (f64::from(camera.width), f64::from(camera.height)),
            (width, height)
        );
        assert!((camera.fx - focal).abs() < 0.001 && camera.fy == camera.fx);
        assert_eq!((camera.cx, camera.cy), (cx, cy));
        let Lens::BrownConrady { k1, .. } = camera.lens else {
            panic!("{camera:?}");
        };
        assert!((k1 - k).abs() < 1e-8);
    }
}

#[test]
fn the_multispectral_profile_is_what_its_photos_say() {
    let Some(data) = data() else { return };
    let photos = exiftool(&data.join("mirafiori/exiftool.json"));
    assert_eq!(photos.len(), 20);
    for photo in &photos {
        let ProfileMatch {
            profile, camera, ..
        } = found(photo);
        assert_eq!(profile.id, "dji-fc6360");
        let dewarp = text(photo, "XMP-drone-dji:DewarpData");
        let (date, values) = dewarp.split_once(';').unwrap();
        assert!(profile.measured_by.contains(date));
        let values: Vec<f64> = values
            .split(',')
            .map(|value| value.parse().unwrap())
            .collect();
        let [fx, fy, cx, cy, k1, k2, p1, p2, k3] = values[..] else {
            panic!("{dewarp}");
        };
        let own = CameraModel {
            width: 1600,
            height: 1300,
            fx,
            fy,
            cx: 800.0 + cx,
            cy: 650.0 + cy,
            lens: Lens::BrownConrady { k1, k2, p1, p2, k3 },
        };
        let off = [
            own.fx - camera.fx,
            own.fy - camera.fy,
            own.cx - camera.cx,
            own.cy - camera.cy,
        ];
        assert!(off.iter().all(|off| off.abs() < 1e-6), "{off:?}");
        assert_eq!(own.lens, camera.lens);
        // The design focal length over the sensor that the profile states.
        let design = number(photo, "XMP-drone-dji:CalibratedFocalLength");
        let pitch = profile.sensor_width.unwrap().get() / 1600.0;
        let nominal = profile.focal_length.unwrap().get() / pitch;
        assert!((nominal - design).abs() < 0.01, "{nominal} {design}");
        // The whole picture lies inside the field of this strong lens.
        for (x, y) in [(0.0, 0.0), (1600.0, 0.0), (0.0, 1300.0), (1600.0, 1300.0)] {
            assert!(camera.ray_from_pixel(Pixel::new(x, y)).is_some());
        }
    }
}

#[test]
fn tiny_phantom_4_pro_photos_find_the_4_to_3_crop() {
    let Some(data) = data() else { return };
    let photos = exiftool(&data.join("skylark_tiny/exiftool.json"));
    let with_camera = photos
        .iter()
        .filter(|photo| photo["IFD0:Model"].is_string());
    assert_eq!(with_camera.clone().count(), 99);
    for photo in with_camera {
        let ProfileMatch {
            profile, camera, ..
        } = found(photo);
        assert_eq!(profile.id, "dji-fc6310");
        // 24 mm equivalent over 36 mm and 40 px is 26.7 px for 3:2; the 4:3 crop is longer.
        assert!((camera.fx - 30.0).abs() < 1e-9);
    }
}
