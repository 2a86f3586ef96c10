//! Anchors, clustering and merges of 10,000 and of 100,000 detections: seconds, and how they grow.

use calibration::frames::{Camera, Enu};
use calibration::{CameraModel, Pixel, Point, Radians, Rigid, Rotation};
use detector::{Detection, EngineReport, OrientedBox, VehicleClass};
use groundstation::anchor::{AnchorConfig, place_all};
use groundstation::detect::{DetectSummary, PhotoDetections, SceneDetections};
use groundstation::entity::{EntityConfig, Material, join};
use groundstation::pose::posed::PosedScene;
use groundstation::seeded;
use nalgebra::{Matrix3, Vector3};
use serde_json::json;
use std::time::Instant;

fn main() {
    // `cargo test --benches` runs this with `--test`: nothing to check there.
    if std::env::args().any(|argument| argument == "--test") {
        return;
    }
    let mut before: Option<(usize, f64)> = None;
    for (n_vehicles, n_photos, limit_s) in [(150, 150, 2.0), (1000, 600, 30.0)] {
        let (posed, detections) = world(n_vehicles, n_photos);
        let n = detections.summary.n_detections;
        let started = Instant::now();
        let (anchored, anchors) = place_all(&posed, &[], &detections, &AnchorConfig::default());
        let anchored_s = started.elapsed().as_secs_f64();
        let seconds: Vec<Option<f64>> = (0..n_photos).map(|at| Some(6.0 * at as f64)).collect();
        let material = Material {
            anchors: &anchors,
            detections: &detections,
            posed: &posed,
            points: &[],
            obstacles_m: &anchored.obstacles_m,
            seconds: &seconds,
        };
        let (entities, _) = join(&material, &EntityConfig::default(), None);
        let all_s = started.elapsed().as_secs_f64();
        let growth = before.map_or(String::new(), |(known, known_s)| {
            let exponent = (all_s / known_s).ln() / (n as f64 / known as f64).ln();
            format!("; grows with the {exponent:.2}th power")
        });
        println!(
            "{n} detections of {n_vehicles} vehicles in {n_photos} photos: {all_s:.2} s (anchors \
             {anchored_s:.2} s), {} entities{growth}",
            entities.entities.len()
        );
        assert!(
            all_s < limit_s,
            "{all_s:.1} s, at most {limit_s} s are allowed"
        );
        before = Some((n, all_s));
    }
}

/// Rows of cars 2.5 m apart, and photos from 60 m all over them, half of them at a slant.
fn world(n_vehicles: usize, n_photos: usize) -> (PosedScene, SceneDetections) {
    let camera = CameraModel::pinhole(4000, 3000, 2900.0);
    let mut rng = seeded::rng(1, "bench", "world");
    let columns = (n_vehicles as f64).sqrt().ceil() as usize;
    let places: Vec<Vector3<f64>> = (0..n_vehicles)
        .map(|idx| {
            Vector3::new(
                2.5 * (idx % columns) as f64,
                6.0 * (idx / columns) as f64,
                0.75,
            )
        })
        .collect();
    let reach = Vector3::new(2.5 * columns as f64, 6.0 * columns as f64, 0.0);
    let (mut poses, mut photos) = (Vec::new(), Vec::new());
    for idx in 0..n_photos {
        let pitch = if idx % 2 == 0 { -90.0 } else { -60.0_f64 };
        let yaw = Radians::from_degrees(360.0 * seeded::unit(&mut rng));
        let over = Vector3::new(
            reach.x * seeded::unit(&mut rng),
            reach.y * seeded::unit(&mut rng),
            60.0,
        );
        let rotation = looking(yaw.get(), pitch.to_radians());
        let pose = Rigid::from_centre(rotation, Point::from_vector(over));
        let mut detections: Vec<Detection> = places
            .iter()
            .filter_map(|place| {
                let pixel = camera.pixel_from_camera(pose * Point::from_vector(*place))?;
                let seen = camera.contains(pixel) && seeded::unit(&mut rng) < 0.85;
                let off = |rng: &mut _| 2.0 * seeded::normal(rng);
                let centre = Pixel::new(pixel.x + off(&mut rng), pixel.y + off(&mut rng));
                let oriented_box = OrientedBox::new(centre, 210.0, 90.0, yaw)?;
                seen.then(|| Detection {
                    oriented_box,
                    horizontal_box: oriented_box.hull(),
                    class: VehicleClass::Vehicle,
                    score: 0.3 + 0.7 * seeded::unit(&mut rng),
                    truncated: false,
                    corner_sigma_px: None,
                })
            })
            .collect();
        detections.sort_by(|a, b| b.score.total_cmp(&a.score));
        let photo_id = serde_json::from_value(json!(format!("{idx:064x}"))).expect("an id");
        poses.push(pose);
        photos.push(PhotoDetections {
            photo_id,
            width_px: 4000,
            height_px: 3000,
            detections,
            warnings: Vec::new(),
        });
    }
    let n_detections = photos.iter().map(|photo| photo.detections.len()).sum();
    let posed = posed(&camera, &poses);
    let engine: EngineReport = serde_json::from_value(
        json!({"name": "bench", "version": "1", "provider": "cpu", "passed_over": []}),
    )
    .expect("a report");
    let summary = DetectSummary {
        schema: groundstation::detect::DetectSchema,
        model_sha256: "0".repeat(64),
        engine,
        n_detections,
        failed: Vec::new(),
        n_without_scale: 0,
    };
    (posed, SceneDetections { summary, photos })
}

/// A camera with this yaw (clockwise from north) and pitch (nadir is -90 degrees), level.
fn looking(yaw: f64, pitch: f64) -> Rotation<Camera, Enu> {
    let right = Vector3::new(yaw.cos(), -yaw.sin(), 0.0);
    let forward = Vector3::new(
        yaw.sin() * pitch.cos(),
        yaw.cos() * pitch.cos(),
        pitch.sin(),
    );
    let down = forward.cross(&right);
    let rows = [right.transpose(), down.transpose(), forward.transpose()];
    Rotation::from_matrix(&Matrix3::from_rows(&rows))
}

/// As the pose room writes it.
fn posed(camera: &CameraModel, poses: &[Rigid<Camera, Enu>]) -> PosedScene {
    let sigma =
        json!({"horizontal_m": 0.03, "vertical_m": 0.03, "yaw_deg": 0.03, "tilt_deg": 0.03});
    let photos: Vec<_> = poses
        .iter()
        .enumerate()
        .map(|(idx, pose)| {
            json!({
                "photo_id": format!("{idx:064x}"),
                "pose": {
                    "camera_from_enu": pose, "source": "solved", "component": 0, "sigma": sigma,
                },
                "reason": null, "horizontal_residual_m": null, "vertical_residual_m": null,
                "is_inlier": true, "gimbal_yaw_offset_deg": null, "gimbal_pitch_offset_deg": null,
                "features": null, "verified_pairs": null, "camera": 0,
            })
        })
        .collect();
    let scene = json!({
        "schema": "posed-scene/1", "origin": null, "datum": "take_off", "heights": "above_take_off",
        "made_by": {"kind": "solver", "engine": {"name": "bench", "version": "1"}},
        "photos": photos,
        "cameras": [{"prior": camera, "solved": camera, "focal_change": null}],
        "alignment": null,
        "verdict": {"level": "good", "summary": "", "gates": []},
        "stages": [], "remarks": [],
    });
    serde_json::from_value(scene).expect("a posed scene")
}
