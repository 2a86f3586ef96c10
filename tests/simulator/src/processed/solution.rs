//! Poses and sparse points as a solver and the alignment leave them: schema `posed-scene/1`.

use super::ingest::{StoredPhoto, median, model, prior_model};
use super::points::SparsePoint;
use super::rooms::{RoomOutput, line, write_file};
use super::{Frame, ProcessedSpec};
use crate::camera::{CameraFromEnu, Intrinsics};
use crate::dataset::{Job, Outing, rounded};
use crate::dice::Dice;
use crate::error::SimulatorError;
use crate::sensors::wrapped_deg;
use nalgebra::{UnitQuaternion, Vector3};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::path::Path;

/// Two photos with so many points in common count as matched.
const MIN_COMMON_POINTS: usize = 15;

/// One photo's pose with its errors, beside what its sensors say.
struct Posed {
    camera_from_enu: CameraFromEnu,
    /// Measured minus posed, metres east and north.
    horizontal_m: [f64; 2],
    /// The same upwards, the flight's mean taken off.
    vertical_m: f64,
    /// Posed minus measured, degrees.
    yaw_off_deg: f64,
    pitch_off_deg: f64,
}

/// All photos, and each flight's mean of measured minus posed height.
struct Solution {
    photos: Vec<Posed>,
    flight_offsets_m: Vec<f64>,
}

impl Solution {
    fn draw(spec: &ProcessedSpec, frame: &Frame, outing: &Outing) -> Self {
        let mut photos: Vec<Posed> = outing
            .jobs
            .iter()
            .map(|job| posed(spec, frame, job))
            .collect();
        let mut flight_offsets_m = Vec::new();
        for flight in 1..=outing.jobs.last().map_or(0, |job| job.photo.flight) {
            let of_flight = |(idx, job): (usize, &Job)| (job.photo.flight == flight).then_some(idx);
            let members: Vec<usize> = outing
                .jobs
                .iter()
                .enumerate()
                .filter_map(of_flight)
                .collect();
            let sum: f64 = members.iter().map(|&idx| photos[idx].vertical_m).sum();
            let mean = sum / members.len().max(1) as f64;
            for idx in members {
                photos[idx].vertical_m -= mean;
            }
            flight_offsets_m.push(mean);
        }
        Self {
            photos,
            flight_offsets_m,
        }
    }
}

fn posed(spec: &ProcessedSpec, frame: &Frame, job: &Job) -> Posed {
    let noise = &spec.noise;
    let mut dice = Dice::new(spec.dataset.site.seed, "pose", &job.name);
    let mut normal = |sigma: f64| dice.normal(sigma);
    let truth = &job.photo.camera_from_enu;
    let center = frame.scene_from_truth(&truth.center_in_enu())
        + Vector3::from_fn(|_, _| normal(noise.pose));
    let turned = truth.rotation * UnitQuaternion::from_rotation_matrix(&frame.turn.inverse());
    let off = Vector3::from_fn(|_, _| normal(noise.angle.to_radians()));
    let rotation = UnitQuaternion::from_scaled_axis(off) * turned;
    let camera_from_enu = CameraFromEnu {
        rotation,
        translation_m: -(rotation * center),
    };
    let reading = &job.reading;
    let pitch_deg = camera_from_enu
        .axis_in_enu()
        .z
        .clamp(-1.0, 1.0)
        .asin()
        .to_degrees();
    Posed {
        camera_from_enu,
        horizontal_m: [
            reading.position_in_enu.x - center.x,
            reading.position_in_enu.y - center.y,
        ],
        vertical_m: reading.height_above_takeoff_m - center.z,
        // Yaw counts clockwise, the frame's turn the other way; the photo's own error hardly shows.
        yaw_off_deg: wrapped_deg(job.photo.yaw_deg - frame.turn_deg - reading.gimbal_yaw_deg),
        pitch_off_deg: pitch_deg - reading.gimbal_pitch_deg,
    }
}

/// Median, rms and largest of absolute values.
fn residuals(values: impl Iterator<Item = f64>) -> Value {
    let mut values: Vec<f64> = values.map(f64::abs).collect();
    values.sort_by(f64::total_cmp);
    let Some(max_m) = values.last() else {
        return Value::Null;
    };
    let squares: f64 = values.iter().map(|value| value * value).sum();
    json!({
        "median_m": median(&values),
        "rms_m": (squares / values.len() as f64).sqrt(),
        "max_m": max_m,
    })
}

/// Median of angles that lie close together, and the standard deviation.
fn offsets(values: impl Iterator<Item = f64>) -> Value {
    let mut values: Vec<f64> = values.collect();
    if values.is_empty() {
        return Value::Null;
    }
    values.sort_by(f64::total_cmp);
    let n = values.len() as f64;
    let mean = values.iter().sum::<f64>() / n;
    let variance = values.iter().map(|v| (v - mean).powi(2)).sum::<f64>() / n;
    json!({"median_deg": median(&values), "spread_deg": variance.sqrt()})
}

fn alignment(
    spec: &ProcessedSpec,
    solution: &Solution,
    outing: &Outing,
    cloud: &[SparsePoint],
) -> Value {
    let noise = &spec.noise;
    let photos = &solution.photos;
    let sorted = |values: &mut dyn Iterator<Item = f64>| {
        let mut values: Vec<f64> = values.collect();
        values.sort_by(f64::total_cmp);
        values
    };
    // The ground's height in the scene is what the frame was lifted by: 0 in the truth.
    let above_ground = median(&sorted(
        &mut (outing.jobs.iter()).map(|job| job.photo.camera_from_enu.center_in_enu().z),
    ));
    let stated = median(&sorted(
        &mut (outing.jobs.iter()).map(|job| job.reading.height_above_takeoff_m),
    ));
    let n_seen: usize = cloud.iter().map(|point| point.track.len()).sum();
    let mean = |sum: f64| (!cloud.is_empty()).then(|| sum / cloud.len() as f64);
    json!({
        "horizontal": residuals(photos.iter().map(|p| p.horizontal_m[0].hypot(p.horizontal_m[1]))),
        "vertical": residuals(photos.iter().map(|p| p.vertical_m)),
        "n_inliers": photos.len(),
        "n_positions": photos.len(),
        "flight_offsets_m": solution.flight_offsets_m.iter().map(|up| [0.0, 0.0, *up]).collect::<Vec<_>>(),
        "sigma": {
            "shift_horizontal_m": noise.shift,
            "shift_vertical_m": noise.lift,
            "scale": 0.0,
            "yaw_deg": noise.turn,
            "tilt_deg": 0.0,
        },
        "gimbal_yaw_offset_deg": offsets(photos.iter().map(|p| p.yaw_off_deg)),
        "gimbal_pitch_offset_deg": offsets(photos.iter().map(|p| p.pitch_off_deg)),
        "gravity_disagreement_deg": null,
        "tilt_from_gimbal": false,
        "yaw_from_gimbal": false,
        "height_above_ground_m": above_ground,
        "height_ratio": (stated > 1.0).then(|| above_ground / stated),
        "reprojection_px": mean(cloud.iter().map(|point| point.error_px).sum()),
        "n_points": cloud.len(),
        "mean_track_length": mean(n_seen as f64),
        "components": [photos.len()],
    })
}

/// Observations, and photos with enough points in common, per photo.
fn matches(n_photos: usize, cloud: &[SparsePoint]) -> (Vec<usize>, Vec<usize>) {
    let mut features = vec![0; n_photos];
    let mut common: BTreeMap<(usize, usize), usize> = BTreeMap::new();
    for point in cloud {
        for (at, &(a, _)) in point.track.iter().enumerate() {
            features[a] += 1;
            for &(b, _) in &point.track[at + 1..] {
                *common.entry((a, b)).or_default() += 1;
            }
        }
    }
    let mut pairs = vec![0; n_photos];
    for ((a, b), n) in common {
        if n >= MIN_COMMON_POINTS {
            pairs[a] += 1;
            pairs[b] += 1;
        }
    }
    (features, pairs)
}

fn photo_line(
    spec: &ProcessedSpec,
    posed: &Posed,
    photo_id: &str,
    features: usize,
    pairs: usize,
) -> Value {
    let q = posed.camera_from_enu.rotation;
    let t = posed.camera_from_enu.translation_m;
    let noise = &spec.noise;
    json!({
        "photo_id": photo_id,
        "pose": {
            "camera_from_enu": {
                "quaternion_wxyz": [q.w, q.i, q.j, q.k],
                "translation_m": [t.x, t.y, t.z],
            },
            "source": "solved",
            "component": 0,
            "sigma": {
                "horizontal_m": noise.pose, "vertical_m": noise.pose,
                "yaw_deg": noise.angle, "tilt_deg": noise.angle,
            },
        },
        "reason": null,
        "horizontal_residual_m": posed.horizontal_m,
        "vertical_residual_m": posed.vertical_m,
        "is_inlier": true,
        "gimbal_yaw_offset_deg": posed.yaw_off_deg,
        "gimbal_pitch_offset_deg": posed.pitch_off_deg,
        "features": features,
        "verified_pairs": pairs,
        "camera": 0,
    })
}

fn camera(lens: &Intrinsics) -> Value {
    let prior = prior_model(lens);
    let before = prior["fx"].as_f64().expect("a focal length is a number");
    json!({
        "prior": prior,
        "solved": model(lens),
        "focal_change": f64::midpoint(lens.fx_px, lens.fy_px) / before - 1.0,
    })
}

fn verdict(spec: &ProcessedSpec) -> Value {
    let noise = &spec.noise;
    json!({
        "level": "good",
        "summary": "The poses are the simulator's: true, but for errors of stated size.",
        "gates": [{
            "name": "errors of the poses",
            "found": format!(
                "{} m and {} degrees; {} m and {} degrees in common",
                noise.pose, noise.angle, noise.shift, noise.turn
            ),
            "good": "as asked for",
            "level": "good",
            "advice": "",
        }],
    })
}

fn point_line(point: &SparsePoint) -> String {
    let track: Vec<Value> = point
        .track
        .iter()
        .map(|(photo, pixel)| json!([photo, rounded(pixel.x, 3), rounded(pixel.y, 3)]))
        .collect();
    let place: [f64; 3] = point.point.into();
    line(&json!({
        "enu_m": place.map(|v| rounded(v, 5)),
        "error_px": rounded(point.error_px, 5),
        "component": 0,
        "track": track,
    }))
}

/// Writes the room's output and the scene's origin.
pub(super) fn write(
    spec: &ProcessedSpec,
    frame: &Frame,
    outing: &Outing,
    photos: &[StoredPhoto],
    cloud: &[SparsePoint],
    folder: &Path,
    scene_digest: &str,
) -> Result<(), SimulatorError> {
    let solution = Solution::draw(spec, frame, outing);
    let (features, pairs) = matches(photos.len(), cloud);
    // Heights count from the take-off point, which lies on the ground.
    let origin = json!({
        "latitude_deg": outing.world.origin.latitude_deg,
        "longitude_deg": outing.world.origin.longitude_deg,
        "height_above_ellipsoid_m": 0.0,
    });
    let listed: Vec<Value> = solution
        .photos
        .iter()
        .zip(photos)
        .enumerate()
        .map(|(idx, (posed, photo))| {
            photo_line(spec, posed, &photo.truth.sha256, features[idx], pairs[idx])
        })
        .collect();
    let posed = json!({
        "schema": "posed-scene/1",
        "origin": origin,
        "datum": "take_off",
        "heights": "above_take_off",
        "made_by": {
            "kind": "solver",
            "engine": {"name": "simulator", "version": env!("CARGO_PKG_VERSION")},
        },
        "photos": listed,
        "cameras": [camera(&outing.intrinsics)],
        "alignment": alignment(spec, &solution, outing, cloud),
        "verdict": verdict(spec),
        "stages": [],
        "remarks": [],
    });
    let stored_origin = line(&json!({"schema": "scene-origin/1", "origin": origin}));
    write_file(&folder.join("origin.json"), stored_origin.as_bytes())?;
    RoomOutput {
        room: "pose",
        inputs: json!({"scene": scene_digest}),
        config: json!({"seed": spec.dataset.site.seed, "noise": spec.noise}),
        files: vec![
            ("pose.json", line(&posed)),
            ("points.jsonl", cloud.iter().map(point_line).collect()),
        ],
    }
    .write(folder)
}
