//! The truth file: its form, its boxes against independent geometry, its independence of threads.

use crate::fixture::{render, small, small_spec};
use nalgebra::{Vector2, Vector3};
use sha2::{Digest, Sha256};
use simulator::Picture;
use simulator::dataset::TRUTH_FILE;
use simulator::truth::{PhotoTruth, TRUTH_SCHEMA, Truth, VehicleTruth, ViewTruth};
use std::collections::BTreeMap;
use std::path::Path;

fn contents(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    std::fs::read_dir(folder)
        .expect("a folder")
        .map(|entry| {
            let entry = entry.expect("an entry");
            let name = entry.file_name().to_string_lossy().into_owned();
            (name, std::fs::read(entry.path()).expect("a file"))
        })
        .collect()
}

#[test]
fn threads_do_not_change_a_byte() {
    let mut spec = small_spec();
    spec.n_photos = 4;
    spec.size_px = [240, 180];
    let [one, two] = [1, 2].map(|threads| {
        spec.threads = threads;
        let rendered = render(&spec);
        contents(rendered.folder.path())
    });
    assert_eq!(
        one.keys().collect::<Vec<_>>(),
        two.keys().collect::<Vec<_>>()
    );
    for (name, bytes) in &one {
        assert!(bytes == &two[name], "{name} differs");
    }
}

#[test]
fn reads_back_as_written() {
    let rendered = small();
    let file = rendered.folder.path().join(TRUTH_FILE);
    let text = std::fs::read_to_string(&file).expect("the truth file");
    let truth = Truth::read(&file).expect("our own file");
    assert!(
        truth.to_json() == text,
        "reading and writing changes the file"
    );
    assert_eq!(truth.schema, TRUTH_SCHEMA);
    for photo in &truth.photos {
        let bytes = std::fs::read(rendered.folder.path().join(&photo.file)).expect("a photo");
        let digest: String = Sha256::digest(&bytes)
            .iter()
            .map(|b| format!("{b:02x}"))
            .collect();
        assert_eq!(digest, photo.sha256);
        let picture = image::load_from_memory(&bytes).expect("a JPEG");
        assert_eq!(picture.width(), photo.intrinsics.width_px);
        assert_eq!(picture.height(), photo.intrinsics.height_px);
        let norm: f64 = photo
            .camera_from_enu
            .rotation_wxyz
            .iter()
            .map(|v| v * v)
            .sum();
        assert!((norm - 1.0).abs() < 1e-12);
        let center = photo.camera().camera_from_enu.center_in_enu();
        assert!((center - Vector3::from(photo.center_in_enu_m)).norm() < 1e-9);
    }
}

#[test]
fn another_schema_is_refused_by_name() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let file = folder.path().join(TRUTH_FILE);
    std::fs::write(&file, r#"{"schema": "truth/2"}"#).expect("a writable folder");
    let error = Truth::read(&file).expect_err("a newer schema");
    assert!(error.to_string().contains("truth/2") && error.to_string().contains("truth/1"));
    assert!(error.input_at_fault());
}

fn pixel(
    photo: &PhotoTruth,
    vehicle: &VehicleTruth,
    along: f64,
    left: f64,
    up: f64,
) -> Vector2<f64> {
    let (sin, cos) = vehicle.front_azimuth_deg.to_radians().sin_cos();
    let [east, north, ground] = vehicle.center_in_enu_m;
    let point = Vector3::new(
        east + along * sin - left * cos,
        north + along * cos + left * sin,
        ground + up,
    );
    photo
        .camera()
        .pixel_from_enu(&point)
        .expect("in front of the camera")
}

/// Place in the oriented box: along its long side and across, both relative to half the side.
fn inside(view: &ViewTruth, p: &Vector2<f64>) -> (f64, f64) {
    let [cx, cy, long, short, angle] = view.oriented_box;
    let (sin, cos) = angle.to_radians().sin_cos();
    let d = p - Vector2::new(cx, cy);
    (
        (d.x * cos + d.y * sin).abs() / (long / 2.0),
        (d.y * cos - d.x * sin).abs() / (short / 2.0),
    )
}

/// Least area of a rectangle around points, over 720 directions.
fn least_rectangle(points: &[Vector2<f64>]) -> f64 {
    (0..720)
        .map(|k| {
            let (sin, cos) = (f64::from(k) * 0.125).to_radians().sin_cos();
            let span = |f: &dyn Fn(&Vector2<f64>) -> f64| {
                let values: Vec<f64> = points.iter().map(f).collect();
                values.iter().copied().fold(f64::MIN, f64::max)
                    - values.iter().copied().fold(f64::MAX, f64::min)
            };
            span(&|p| p.x * cos + p.y * sin) * span(&|p| p.y * cos - p.x * sin)
        })
        .fold(f64::MAX, f64::min)
}

/// Points on every body lie in its box; the box is no larger than that of the cuboid around the
/// vehicle and not much smaller.
#[test]
fn boxes_hold_the_vehicle_and_little_else() {
    let truth = &small().truth;
    let photos: BTreeMap<_, _> = truth.photos.iter().map(|p| (&p.file, p)).collect();
    let vehicles: BTreeMap<_, _> = truth.vehicles.iter().map(|v| (&v.id, v)).collect();
    assert!(truth.views.len() > 100);
    for view in &truth.views {
        let (photo, vehicle) = (photos[&view.photo], vehicles[&view.vehicle]);
        let [l, w, h] =
            [vehicle.length_mm, vehicle.width_mm, vehicle.height_mm].map(|v| f64::from(v) / 1000.0);
        for (along, left, up) in [
            (l / 2.0, 0.0, 0.33 * h),
            (-l / 2.0, 0.0, 0.30 * h),
            (0.0, w / 2.0, 0.35 * h),
            (0.0, -w / 2.0, 0.35 * h),
            (0.0, 0.0, 0.9 * h),
        ] {
            let p = pixel(photo, vehicle, along, left, up);
            let (u, v) = inside(view, &p);
            let slack = 1.0 / view.oriented_box[3].max(1.0) + 0.04;
            assert!(
                u < 1.0 + slack && v < 1.0 + slack,
                "{view:?} {along} {left} {up}: {u} {v}"
            );
        }
        let mut cuboid = Vec::new();
        for along in [-0.5, 0.5] {
            for left in [-0.5, 0.5] {
                for up in [0.0, 1.0] {
                    cuboid.push(pixel(photo, vehicle, along * l, left * w, up * h));
                }
            }
        }
        let [_, _, long, short, angle] = view.oriented_box;
        let ratio = long * short / least_rectangle(&cuboid);
        assert!((0.60..1.002).contains(&ratio), "{view:?}: {ratio}");
        assert!(long >= short && (-90.0..90.0).contains(&angle));
        check_horizontal(view, photo, vehicle, [l, w, h]);
    }
}

fn check_horizontal(
    view: &ViewTruth,
    photo: &PhotoTruth,
    vehicle: &VehicleTruth,
    [l, w, h]: [f64; 3],
) {
    let Some([x1, y1, x2, y2]) = view.horizontal_box else {
        assert_eq!(view.visible_fraction, 0.0);
        return;
    };
    let lens = &photo.intrinsics;
    assert!(x1 < x2 && y1 < y2 && x1 >= 0.0 && y1 >= 0.0);
    assert!(x2 <= f64::from(lens.width_px) && y2 <= f64::from(lens.height_px));
    // Mirrors reach 0.17 m beyond the sides, a roof box 0.2 m above the roof.
    let mut bounds = [f64::MAX, f64::MAX, f64::MIN, f64::MIN];
    for along in [-0.5, 0.5] {
        for left in [-0.5, 0.5] {
            for up in [0.0, 1.0] {
                let p = pixel(photo, vehicle, along * l, left * (w + 0.36), up * (h + 0.2));
                bounds = [
                    bounds[0].min(p.x),
                    bounds[1].min(p.y),
                    bounds[2].max(p.x),
                    bounds[3].max(p.y),
                ];
            }
        }
    }
    assert!(
        x1 >= bounds[0] - 0.6 && y1 >= bounds[1] - 0.6,
        "{view:?} {bounds:?}"
    );
    assert!(
        x2 <= bounds[2] + 0.6 && y2 <= bounds[3] + 0.6,
        "{view:?} {bounds:?}"
    );
    let whole = view.visible_fraction > 0.999 && !view.truncated;
    if whole {
        // A body fills most of its cuboid's bounds.
        let share = (x2 - x1) * (y2 - y1) / ((bounds[2] - bounds[0]) * (bounds[3] - bounds[1]));
        assert!((0.45..=1.05).contains(&share), "{view:?} {share}");
    }
}

/// Every photo sees something, something is hidden, something is cut.
#[test]
fn visibility_spans_its_range() {
    let truth = &small().truth;
    assert!(
        truth
            .views
            .iter()
            .any(|v| v.visible_fraction > 0.98 && !v.truncated)
    );
    assert!(truth.views.iter().any(|v| v.visible_fraction < 0.9));
    assert!(truth.views.iter().any(|v| v.truncated));
    for view in &truth.views {
        assert!((0.0..=1.0).contains(&view.visible_fraction));
        assert!((0.0..360.0).contains(&view.front_direction_deg));
        assert!(
            !(view.truncated && view.visible_fraction > 0.99999),
            "{view:?}"
        );
    }
}

/// The picture itself is where the truth says: inside the boxes of white vehicles it is brighter
/// than in a ring around them, for most of them.
#[test]
fn pictures_agree_with_their_boxes() {
    let rendered = small();
    let white: Vec<&str> = rendered
        .truth
        .vehicles
        .iter()
        .filter(|v| v.color == "white")
        .map(|v| v.id.as_str())
        .collect();
    let (mut n, mut brighter) = (0, 0);
    for photo in &rendered.truth.photos {
        let bytes = std::fs::read(rendered.folder.path().join(&photo.file)).expect("a photo");
        let decoded = image::load_from_memory(&bytes).expect("a JPEG").to_rgb8();
        let picture = Picture {
            width: decoded.width() as usize,
            height: decoded.height() as usize,
            rgb: decoded.into_raw(),
        };
        let views = rendered.truth.views.iter().filter(|v| {
            v.photo == photo.file
                && white.contains(&v.vehicle.as_str())
                && v.visible_fraction > 0.95
                && v.oriented_box[3] > 7.0
        });
        for view in views {
            let (inner, outer) = mean_brightness(&picture, view);
            n += 1;
            brighter += usize::from(inner > outer + 10.0);
        }
    }
    assert!(n >= 5, "{n} white vehicles seen");
    assert!(brighter * 10 >= n * 8, "{brighter} of {n}");
}

/// Mean in the middle of the oriented box, and in a ring around it.
fn mean_brightness(picture: &Picture, view: &ViewTruth) -> (f64, f64) {
    let (mut sums, mut counts) = ([0.0; 2], [0.0_f64; 2]);
    for y in 0..picture.height {
        for x in 0..picture.width {
            let p = Vector2::new(x as f64 + 0.5, y as f64 + 0.5);
            let (u, v) = inside(view, &p);
            let ring = if u < 0.7 && v < 0.7 {
                0
            } else if (1.1..1.6).contains(&u.max(v)) {
                1
            } else {
                continue;
            };
            let at = (y * picture.width + x) * 3;
            sums[ring] += picture.rgb[at..at + 3]
                .iter()
                .map(|c| f64::from(*c))
                .sum::<f64>()
                / 3.0;
            counts[ring] += 1.0;
        }
    }
    (sums[0] / counts[0].max(1.0), sums[1] / counts[1].max(1.0))
}
