//! Vehicles in every photo: our own detector, or what a detector found elsewhere.

mod import;
mod run;

pub use import::ImportError;
pub(crate) use run::views_digest;
pub use run::{DetectConfig, DetectError, detect};

use crate::ingest::Scene;
use crate::scene::{PhotoId, RoomOutput, SceneError, SceneFolder};
use crate::schema::schema_tag;
use detector::{Detection, EngineReport, Warning};
use serde::{Deserialize, Serialize};

schema_tag!(
    /// Marks the summary of a scene's detections.
    DetectSchema,
    "scene-detections/1"
);

/// The room's name.
pub const ROOM: &str = "detect";
/// The summary.
pub const SUMMARY_FILE: &str = "detect.json";
/// One line per photo.
pub const DETECTIONS_FILE: &str = "detections.jsonl";

/// How a scene's detections were made.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct DetectSummary {
    /// `scene-detections/1`.
    pub schema: DetectSchema,
    /// SHA-256 of the model.
    pub model_sha256: String,
    /// What ran it.
    pub engine: EngineReport,
    /// Detections in all.
    pub n_detections: usize,
    /// Photos whose search went wrong, with the reason.
    pub failed: Vec<FailedPhoto>,
    /// Photos searched at several sizes because height or attitude are unknown.
    pub n_without_scale: usize,
}

/// A photo that could not be searched.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FailedPhoto {
    /// Its name.
    pub name: String,
    /// Why.
    pub reason: String,
}

/// What was found in one photo.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PhotoDetections {
    /// Which photo.
    pub photo_id: PhotoId,
    /// Size of the upright picture that boxes refer to.
    pub width_px: u32,
    /// Its height.
    pub height_px: u32,
    /// In descending score; ties by x, then y.
    pub detections: Vec<Detection>,
    /// What to know about the search.
    pub warnings: Vec<Warning>,
}

/// A detection's name: its photo, the model, and its place in the order of scores.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct DetectionId(String);

impl DetectionId {
    /// For the detection at `index` of a photo.
    #[must_use]
    pub fn new(photo_id: &PhotoId, model_sha256: &str, index: usize) -> Self {
        let model = model_sha256.get(..8).unwrap_or(model_sha256);
        Self(format!("{}-{model}-{index:04}", photo_id.short()))
    }

    /// As text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// The detections of a scene: summary, and per photo in the scene's order.
#[derive(Clone, Debug)]
pub struct SceneDetections {
    /// How they were made.
    pub summary: DetectSummary,
    /// One per photo of the scene.
    pub photos: Vec<PhotoDetections>,
}

/// The current detections of a scene.
///
/// # Errors
/// [`SceneError::Missing`] when the room has not run.
pub fn current(folder: &SceneFolder) -> Result<(RoomOutput, SceneDetections), SceneError> {
    let output = folder.required(ROOM, "detect")?;
    let detections = read(&output)?;
    Ok((output, detections))
}

fn read(output: &RoomOutput) -> Result<SceneDetections, SceneError> {
    Ok(SceneDetections {
        summary: output.read_json(SUMMARY_FILE)?,
        photos: output.read_json_lines(DETECTIONS_FILE)?,
    })
}

/// The photos in the order of the scene, where every one is there and has the scene's size.
pub(crate) fn fits(scene: &Scene, detections: &SceneDetections) -> bool {
    scene.photos.len() == detections.photos.len()
        && scene
            .photos
            .iter()
            .zip(&detections.photos)
            .all(|(photo, found)| {
                photo.photo_id == found.photo_id
                    && (photo.width_px, photo.height_px) == (found.width_px, found.height_px)
            })
}
