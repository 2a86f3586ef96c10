//! A scene as the ground station stores it after ingest, pose and detect, written straight from
//! the truth with stated errors: nothing is rendered, detected or solved.
//!
//! ```text
//! SCENE/photos/<sha256>.jpg            grey pictures with the EXIF and XMP of the rendered ones
//! SCENE/cache/thumbnails/<sha256>.jpg  grey, too
//! SCENE/origin.json                    the origin of the truth's frame, height 0
//! SCENE/rooms/ingest/<made from>/      scene.json, set_aside.json, made_from.json
//! SCENE/rooms/pose/<made from>/        pose.json, points.jsonl, made_from.json
//! SCENE/rooms/detect/<made from>/      detect.json, detections.jsonl, made_from.json
//! SCENE/truth.json                     schema truth/1, with `processed`
//! ```
//!
//! World, camera, plan, sensors' errors, names and times are those of `render` with the same seed
//! and options. The index `scene.sqlite` is left to the ground station, which makes it.
//!
//! # Frames
//! The scene's frame is the truth's, turned about the vertical through its origin and then moved:
//! the errors that a whole solution has. With neither, places in both are the same.
//!
//! # What differs from rendering
//! What is visible is counted on drawings of at most [`DRAWN_SIDE_PX`] pixels a side: fractions
//! are good to some hundredths, horizontal boxes of partly hidden vehicles to some pixels.

mod capture;
mod detections;
mod ingest;
mod noise;
mod points;
mod rooms;
mod sightings;
mod solution;

pub use noise::{NOISE_KEYS, NoiseError, NoiseKey, NoiseSpec, noise_help};

use crate::dataset::{
    DatasetSpec, Outing, TRUTH_FILE, assemble, photo_truth, pool, prepare_folder,
};
use crate::dice::Dice;
use crate::error::SimulatorError;
use crate::photo::metadata::{Shot, placeholder_file};
use crate::render::Film;
use crate::scene::build;
use crate::scene::foliage::leaf_masks;
use crate::truth::{PhotoTruth, ProcessedTruth, Truth};
use ingest::StoredPhoto;
use nalgebra::{Rotation3, Vector3};
use rayon::prelude::*;
use rooms::write_file;
use sightings::{Sightings, Viewer};
use std::path::Path;

/// The longer side of the drawings on which what is visible is counted, pixels; each has two
/// samples a side.
pub const DRAWN_SIDE_PX: u32 = 320;
const THUMBNAIL_SIDE_PX: usize = 320;

/// What to write.
#[derive(Clone, Debug, PartialEq)]
pub struct ProcessedSpec {
    /// As for rendering; all photos carry XMP and a position, and `quality` means nothing.
    pub dataset: DatasetSpec,
    /// How wrong the poses, points and detections are.
    pub noise: NoiseSpec,
}

/// The scene's frame from the truth's.
struct Frame {
    turn_deg: f64,
    turn: Rotation3<f64>,
    shift: Vector3<f64>,
}

impl Frame {
    fn draw(seed: u64, noise: &NoiseSpec) -> Self {
        let mut dice = Dice::new(seed, "frame", "");
        let shift = Vector3::new(
            dice.normal(noise.shift),
            dice.normal(noise.shift),
            dice.normal(noise.lift),
        );
        let turn_deg = dice.normal(noise.turn);
        Self {
            turn_deg,
            turn: Rotation3::from_axis_angle(&Vector3::z_axis(), turn_deg.to_radians()),
            shift,
        }
    }

    fn scene_from_truth(&self, point_in_enu: &Vector3<f64>) -> Vector3<f64> {
        self.turn * point_in_enu + self.shift
    }
}

/// What may lie in a scene that was written here and worked on since.
fn is_ours(name: &str) -> bool {
    [
        "photos",
        "rooms",
        "cache",
        "log",
        "lock",
        "origin.json",
        "report.html",
        "review.jsonl",
        "scene.sqlite",
        "scene.sqlite-shm",
        "scene.sqlite-wal",
    ]
    .contains(&name)
        || crate::facts::FILES.contains(&name)
}

/// Writes a processed scene into a folder that is new, empty or an earlier output.
///
/// The same spec gives the same bytes, whatever the number of threads.
///
/// # Errors
/// Wishes out of range, a folder with foreign files, a disk that refuses.
pub fn write_scene(spec: &ProcessedSpec, folder: &Path) -> Result<Truth, SimulatorError> {
    let outing = Outing::plan(&spec.dataset)?;
    prepare_folder(
        folder,
        is_ours,
        "Written by `simulator scene`; writing here again replaces it.\n",
    )?;
    let seed = spec.dataset.site.seed;
    let frame = Frame::draw(seed, &spec.noise);
    let pool = pool(spec.dataset.threads)?;
    let (photos, sightings, candidates) = pool.install(|| {
        let photos = store_photos(&outing, folder)?;
        let scene = build(&outing.world);
        let candidates = points::candidates(seed, &scene);
        let viewer = Viewer {
            scene: &scene,
            masks: &leaf_masks(),
            vehicles: &outing.world.vehicles,
            intrinsics: &outing.intrinsics,
            candidates: &candidates,
        };
        let sightings: Vec<Sightings> = outing
            .jobs
            .par_iter()
            .map(|job| viewer.look(&job.photo.camera_from_enu))
            .collect();
        Ok((photos, sightings, candidates))
    })?;
    let detected = detections::detect(seed, &spec.noise, &outing, &sightings);
    let cloud = points::triangulate(seed, &spec.noise, &frame, &candidates, &sightings, &outing);
    let scene_digest = ingest::write(&outing, &photos, folder)?;
    solution::write(
        spec,
        &frame,
        &outing,
        &photos,
        &cloud,
        folder,
        &scene_digest,
    )?;
    detections::write(spec, &photos, &detected, folder, &scene_digest)?;
    let taken = photos
        .into_iter()
        .zip(sightings)
        .map(|(photo, sightings)| (photo.truth, sightings.sights))
        .collect();
    let mut truth = assemble(&spec.dataset.errors, &outing, taken);
    truth.processed = Some(ProcessedTruth {
        noise: spec.noise,
        shift_m: frame.shift.into(),
        turn_deg: frame.turn_deg,
        detections: detected
            .iter()
            .map(|photo| photo.iter().map(|found| found.vehicle.clone()).collect())
            .collect(),
    });
    write_file(&folder.join(TRUTH_FILE), truth.to_json().as_bytes())?;
    Ok(truth)
}

/// Writes the placeholders and their thumbnails.
fn store_photos(outing: &Outing, folder: &Path) -> Result<Vec<StoredPhoto>, SimulatorError> {
    let lens = &outing.intrinsics;
    let size = [lens.width_px, lens.height_px].map(|side| side as usize);
    let longer = size[0].max(size[1]).max(THUMBNAIL_SIDE_PX);
    let thumbnail = size.map(|side| (side * THUMBNAIL_SIDE_PX / longer).max(1));
    let thumbnail = crate::photo::jpeg::encode_grey(thumbnail, 80, &[]);
    outing
        .jobs
        .par_iter()
        .map(|job| {
            let shot = Shot {
                world: &outing.world,
                serial: &outing.serial,
                utc: job.utc,
                reading: &job.reading,
                carries: job.carries,
                film: &Film::draw(outing.world.seed, &job.name),
            };
            let bytes = placeholder_file(&shot, size);
            let truth: PhotoTruth = photo_truth(job, lens, &bytes);
            let name = format!("{}.jpg", truth.sha256);
            write_file(&folder.join("photos").join(&name), &bytes)?;
            let thumbnails = folder.join("cache").join("thumbnails");
            write_file(&thumbnails.join(&name), &thumbnail)?;
            Ok(StoredPhoto {
                n_bytes: bytes.len(),
                capture: capture::capture(&shot, lens),
                truth,
            })
        })
        .collect()
}
