//! What ingest makes of the photos: schema `scene/1`.

use super::capture::best_focal;
use super::rooms::{RoomOutput, line, sha256};
use crate::camera::Intrinsics;
use crate::dataset::{Job, Outing};
use crate::error::SimulatorError;
use crate::photo::metadata::{CAMERA_MAKE, CAMERA_MODEL, FOCAL_MM};
use crate::truth::PhotoTruth;
use serde_json::{Value, json};
use std::path::Path;

/// A photo on disk.
pub(super) struct StoredPhoto {
    pub(super) truth: PhotoTruth,
    pub(super) n_bytes: usize,
    pub(super) capture: Value,
}

/// The camera as it is known before any photo is matched.
pub(super) fn prior_model(lens: &Intrinsics) -> Value {
    let (focal_px, _, _) = best_focal(lens);
    model(&Intrinsics {
        fx_px: focal_px,
        fy_px: focal_px,
        cx_px: f64::from(lens.width_px) / 2.0,
        cy_px: f64::from(lens.height_px) / 2.0,
        k1: 0.0,
        k2: 0.0,
        p1: 0.0,
        p2: 0.0,
        ..*lens
    })
}

/// Intrinsics in the form of the scene's files.
pub(super) fn model(lens: &Intrinsics) -> Value {
    json!({
        "width": lens.width_px, "height": lens.height_px,
        "fx": lens.fx_px, "fy": lens.fy_px, "cx": lens.cx_px, "cy": lens.cy_px,
        "lens": {
            "model": "brown_conrady",
            "k1": lens.k1, "k2": lens.k2, "p1": lens.p1, "p2": lens.p2, "k3": 0.0,
        },
    })
}

fn seconds(job: &Job) -> f64 {
    job.utc.as_duration().as_secs_f64()
}

/// Photos of each flight, in their order.
fn by_flight(jobs: &[Job]) -> Vec<&[Job]> {
    jobs.chunk_by(|a, b| a.photo.flight == b.photo.flight)
        .collect()
}

fn flights(outing: &Outing) -> Vec<Value> {
    let flights = by_flight(&outing.jobs);
    flights
        .iter()
        .enumerate()
        .map(|(idx, jobs)| {
            let (first, last) = (&jobs[0], &jobs[jobs.len() - 1]);
            let before = idx.checked_sub(1).and_then(|before| flights[before].last());
            let began_with = before.map_or_else(
                || "first photo".to_owned(),
                |before| {
                    let pause_s = seconds(first) - seconds(before);
                    format!("a pause of {:.0} minutes", pause_s / 60.0)
                },
            );
            json!({
                "n_photos": jobs.len(),
                "first_utc": first.utc.to_string(),
                "last_utc": last.utc.to_string(),
                "serial": outing.serial,
                "began_with": began_with,
            })
        })
        .collect()
}

/// Statistics of the time between the photos of a flight; null without two of one.
fn intervals(jobs: &[Job]) -> Value {
    let mut gaps: Vec<f64> = by_flight(jobs)
        .iter()
        .flat_map(|jobs| jobs.windows(2))
        .map(|pair| seconds(&pair[1]) - seconds(&pair[0]))
        .collect();
    gaps.sort_by(f64::total_cmp);
    let (Some(min_s), Some(max_s)) = (gaps.first(), gaps.last()) else {
        return Value::Null;
    };
    json!({
        "capture_minutes": (seconds(&jobs[jobs.len() - 1]) - seconds(&jobs[0])) / 60.0,
        "median_s": median(&gaps),
        "min_s": min_s,
        "max_s": max_s,
    })
}

/// The middle of sorted values, of an even number the mean of the two; there must be one.
pub(super) fn median(sorted: &[f64]) -> f64 {
    let n = sorted.len();
    f64::midpoint(sorted[(n - 1) / 2], sorted[n / 2])
}

fn scene(outing: &Outing, photos: &[StoredPhoto]) -> Value {
    let lens = &outing.intrinsics;
    let (_, focal_sigma_px, focal_key) = best_focal(lens);
    let listed: Vec<Value> = photos
        .iter()
        .map(|photo| {
            json!({
                "photo_id": photo.truth.sha256,
                "names": [photo.truth.file],
                "bytes": photo.n_bytes,
                "width_px": lens.width_px,
                "height_px": lens.height_px,
                "camera": 0,
                "flight": photo.truth.flight - 1,
                "capture": photo.capture,
            })
        })
        .collect();
    json!({
        "schema": "scene/1",
        "zone": outing.world.zone,
        "photos": listed,
        "cameras": [{
            "make": CAMERA_MAKE,
            "model": CAMERA_MODEL,
            "serial": outing.serial,
            "focal_length_mm": FOCAL_MM,
            "digital_zoom": null,
            "prior": prior_model(lens),
            "focal_sigma_px": focal_sigma_px,
            "source": {"kind": "photo", "source": format!("EXIF {focal_key}")},
            "n_photos": photos.len(),
        }],
        "flights": flights(outing),
        "intervals": intervals(&outing.jobs),
        "bundles": [],
    })
}

/// Writes the room's output; returns the digest of its list of photos.
pub(super) fn write(
    outing: &Outing,
    photos: &[StoredPhoto],
    folder: &Path,
) -> Result<String, SimulatorError> {
    let listed: Vec<String> = photos
        .iter()
        .map(|photo| format!("{} {}", photo.truth.sha256, photo.truth.file))
        .collect();
    let scene = line(&scene(outing, photos));
    let digest = sha256(scene.as_bytes());
    let nothing = sha256(b"");
    RoomOutput {
        room: "ingest",
        inputs: json!({
            "photos": sha256(listed.join("\n").as_bytes()),
            "set_aside": nothing,
            "bundles": nothing,
        }),
        config: json!({"zone": outing.world.zone}),
        files: vec![("scene.json", scene), ("set_aside.json", "[]\n".to_owned())],
    }
    .write(folder)?;
    Ok(digest)
}
