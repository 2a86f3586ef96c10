//! Detections: the true boxes with errors, some missed, some of nothing.

use super::ingest::StoredPhoto;
use super::rooms::{RoomOutput, line, sha256};
use super::sightings::Sightings;
use super::{NoiseSpec, ProcessedSpec};
use crate::camera::{Camera, Intrinsics};
use crate::dataset::Outing;
use crate::dice::Dice;
use crate::error::SimulatorError;
use crate::vehicles::Vehicle;
use crate::views::{Sight, hull, smallest_rectangle};
use nalgebra::{Vector2, Vector3};
use serde_json::{Value, json};
use std::path::Path;

/// Shares of a vehicle that are seen, and pixels of its box's shorter side, from where none is
/// found to where all are that are not missed by chance.
const FOUND_VISIBLE: [f64; 2] = [0.25, 0.5];
const FOUND_SHORT_PX: [f64; 2] = [8.0, 12.0];
/// Boxes thinner than this inside the frame are none, pixels.
const MIN_SIDE_PX: f64 = 2.0;
/// False alarms: the size of a car, no nearer to a vehicle than this, not near the horizon.
const FALSE_SIZE_M: [f64; 3] = [4.4, 1.8, 1.5];
const FALSE_APART_M: f64 = 4.0;
const FALSE_MAX_HEIGHTS: f64 = 4.0;
const FALSE_TRIES: usize = 30;

/// A box that was found.
pub(super) struct Found {
    /// Centre x, centre y, long side, short side, angle in degrees.
    oriented_box: [f64; 5],
    /// Around the oriented box, inside the frame.
    horizontal_box: [f64; 4],
    score: f64,
    truncated: bool,
    /// `None` for a false alarm.
    pub(super) vehicle: Option<String>,
}

/// 0 at the first value, 1 at the second.
fn ramp([none, all]: [f64; 2], value: f64) -> f64 {
    ((value - none) / (all - none)).clamp(0.0, 1.0)
}

/// Per photo what is found, in descending score.
pub(super) fn detect(
    seed: u64,
    noise: &NoiseSpec,
    outing: &Outing,
    sightings: &[Sightings],
) -> Vec<Vec<Found>> {
    let look = |(job, sightings): (&crate::dataset::Job, &Sightings)| {
        let camera = Camera {
            intrinsics: outing.intrinsics,
            camera_from_enu: job.photo.camera_from_enu,
        };
        let vehicles = &outing.world.vehicles;
        let mut found: Vec<Found> = Vec::new();
        for sight in &sightings.sights {
            let vehicle = &vehicles[sight.vehicle];
            let item = format!("{} {}", job.name, vehicle.id);
            let mut dice = Dice::new(seed, "detection", &item);
            found.extend(find(sight, vehicle, noise, &outing.intrinsics, &mut dice));
        }
        let mut dice = Dice::new(seed, "false alarms", &job.name);
        // Of a rate above one the whole part is certain.
        for _ in 0..found.len() {
            let whole = noise.false_alarms.floor();
            let n = whole as usize + usize::from(dice.chance(noise.false_alarms - whole));
            for _ in 0..n {
                found.extend(false_alarm(&camera, vehicles, &mut dice));
            }
        }
        found.sort_by(|a, b| {
            let place = |f: &Found, axis: usize| f.oriented_box[axis];
            b.score
                .total_cmp(&a.score)
                .then(place(a, 0).total_cmp(&place(b, 0)))
                .then(place(a, 1).total_cmp(&place(b, 1)))
        });
        found
    };
    outing.jobs.iter().zip(sightings).map(look).collect()
}

fn find(
    sight: &Sight,
    vehicle: &Vehicle,
    noise: &NoiseSpec,
    lens: &Intrinsics,
    dice: &mut Dice,
) -> Option<Found> {
    let [x, y, long, short, angle] = sight.oriented_box;
    let (visible, wide) = (sight.visible_fraction, short);
    let possible = ramp(FOUND_VISIBLE, visible) * ramp(FOUND_SHORT_PX, wide);
    // Everything is drawn whatever comes of it, so that one error leaves the others as they are.
    let (luck, chance) = (dice.unit(), dice.unit());
    let mut normal = |sigma: f64| dice.normal(sigma);
    let oriented_box = canonical([
        x + normal(noise.centre),
        y + normal(noise.centre),
        long * (1.0 + normal(noise.size)).max(0.1),
        short * (1.0 + normal(noise.size)).max(0.1),
        angle + normal(noise.axis),
    ]);
    let score =
        0.95 - 0.35 * (1.0 - ramp([0.25, 0.9], visible)) - 0.25 * (1.0 - ramp([8.0, 40.0], wide));
    let score = (score + normal(noise.score)).clamp(0.25, 0.99);
    if luck >= possible || chance < noise.miss {
        return None;
    }
    Some(Found {
        oriented_box,
        horizontal_box: clipped_hull(&oriented_box, lens)?,
        score,
        truncated: sight.truncated,
        vehicle: Some(vehicle.id.clone()),
    })
}

/// The longer side first, its angle in [-90, 90).
fn canonical([x, y, a, b, angle]: [f64; 5]) -> [f64; 5] {
    let (long, short, angle) = if a >= b {
        (a, b, angle)
    } else {
        (b, a, angle + 90.0)
    };
    [x, y, long, short, (angle + 90.0).rem_euclid(180.0) - 90.0]
}

/// The upright box around an oriented one, clipped to the frame; `None` where little is left.
fn clipped_hull(oriented: &[f64; 5], lens: &Intrinsics) -> Option<[f64; 4]> {
    let [x, y, long, short, angle] = *oriented;
    let (sin, cos) = angle.to_radians().sin_cos();
    let half_x = (cos.abs() * long + sin.abs() * short) / 2.0;
    let half_y = (sin.abs() * long + cos.abs() * short) / 2.0;
    let (width, height) = (f64::from(lens.width_px), f64::from(lens.height_px));
    let hull = [
        (x - half_x).clamp(0.0, width),
        (y - half_y).clamp(0.0, height),
        (x + half_x).clamp(0.0, width),
        (y + half_y).clamp(0.0, height),
    ];
    let thin = (hull[2] - hull[0]).min(hull[3] - hull[1]);
    (thin >= MIN_SIDE_PX).then_some(hull)
}

/// A box of a car's size where there is none; `None` where no place was found for it.
fn false_alarm(camera: &Camera, vehicles: &[Vehicle], dice: &mut Dice) -> Option<Found> {
    let lens = &camera.intrinsics;
    let center = camera.camera_from_enu.center_in_enu();
    for _ in 0..FALSE_TRIES {
        let pixel = Vector2::new(
            dice.range(0.0, f64::from(lens.width_px)),
            dice.range(0.0, f64::from(lens.height_px)),
        );
        let heading = dice.range(0.0, std::f64::consts::PI);
        let score = dice.range(0.25, 0.6);
        let Some(place) = camera.ground_from_pixel(&pixel) else {
            continue;
        };
        let taken = vehicles.iter().any(|vehicle| {
            let apart = place - Vector2::from(vehicle.center_in_enu);
            apart.norm() < FALSE_APART_M + vehicle.size_m()[0] / 2.0
        });
        if taken || (place - center.xy()).norm() > FALSE_MAX_HEIGHTS * center.z {
            continue;
        }
        let Some(corners) = cuboid(camera, &place, heading) else {
            continue;
        };
        let oriented_box = smallest_rectangle(&hull(&corners));
        let truncated = corners.iter().any(|corner| !lens.contains(corner));
        if oriented_box[3] < FOUND_SHORT_PX[0] {
            continue;
        }
        return Some(Found {
            oriented_box,
            horizontal_box: clipped_hull(&oriented_box, lens)?,
            score,
            truncated,
            vehicle: None,
        });
    }
    None
}

/// Where the corners of a car's cuboid are seen.
fn cuboid(camera: &Camera, place: &Vector2<f64>, heading: f64) -> Option<Vec<Vector2<f64>>> {
    let [length, width, height] = FALSE_SIZE_M;
    let (sin, cos) = heading.sin_cos();
    let mut corners = Vec::new();
    for (along, across) in [(-0.5, -0.5), (0.5, -0.5), (0.5, 0.5), (-0.5, 0.5)] {
        let (u, v) = (along * length, across * width);
        for up in [0.0, height] {
            let offset = Vector3::new(u * cos - v * sin, u * sin + v * cos, up);
            let point = Vector3::new(place.x, place.y, 0.0) + offset;
            corners.push(camera.pixel_from_enu(&point)?);
        }
    }
    Some(corners)
}

fn detection(found: &Found) -> Value {
    let [x, y, long, short, angle] = found.oriented_box;
    let [x1, y1, x2, y2] = found.horizontal_box;
    json!({
        "oriented_box": {
            "centre_x_px": x, "centre_y_px": y, "long_side_px": long, "short_side_px": short,
            "angle_deg": angle,
        },
        "horizontal_box": {"x1_px": x1, "y1_px": y1, "x2_px": x2, "y2_px": y2},
        // As a model says that knows one kind only.
        "class": "vehicle",
        "score": found.score,
        "truncated": found.truncated,
    })
}

/// Writes the room's output.
pub(super) fn write(
    spec: &ProcessedSpec,
    photos: &[StoredPhoto],
    detected: &[Vec<Found>],
    folder: &Path,
    scene_digest: &str,
) -> Result<(), SimulatorError> {
    let config = json!({"seed": spec.dataset.site.seed, "noise": spec.noise});
    // Stands for the model: it names the detections.
    let model_sha256 = sha256(config.to_string().as_bytes());
    let lines: String = photos
        .iter()
        .zip(detected)
        .map(|(photo, found)| {
            line(&json!({
                "photo_id": photo.truth.sha256,
                "width_px": photo.truth.intrinsics.width_px,
                "height_px": photo.truth.intrinsics.height_px,
                "detections": found.iter().map(detection).collect::<Vec<_>>(),
                "warnings": [],
            }))
        })
        .collect();
    let summary = json!({
        "schema": "scene-detections/1",
        "model_sha256": model_sha256,
        "engine": {
            "name": "simulator", "version": env!("CARGO_PKG_VERSION"), "provider": "truth",
            "passed_over": [],
        },
        "n_detections": detected.iter().map(Vec::len).sum::<usize>(),
        "failed": [],
        "n_without_scale": 0,
    });
    RoomOutput {
        room: "detect",
        inputs: json!({"scene": scene_digest, "detections": sha256(lines.as_bytes())}),
        config,
        files: vec![("detect.json", line(&summary)), ("detections.jsonl", lines)],
    }
    .write(folder)
}
