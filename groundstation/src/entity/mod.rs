//! Physical vehicles: detections of one place joined across photos, never two of one photo.

mod cluster;
mod run;
#[cfg(test)]
mod tests;

pub use cluster::{Clusters, Item, Threshold, ThresholdBasis, cluster};
pub use run::{EntityConfig, EntityError, cluster_scene, current};

use crate::detect::DetectionId;
use crate::schema::schema_tag;
use calibration::Point;
use calibration::frames::Enu;
use serde::{Deserialize, Serialize};

schema_tag!(
    /// Marks a scene's vehicles.
    EntitiesSchema,
    "scene-entities/1"
);

/// The room's name.
pub const ROOM: &str = "entity";
/// The room's file.
pub const ENTITIES_FILE: &str = "entities.json";

/// The vehicles of a scene.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Entities {
    /// `scene-entities/1`.
    pub schema: EntitiesSchema,
    /// How near a detection must be to a vehicle to be taken for it.
    pub threshold: Threshold,
    /// Photos a vehicle must be seen in to be confirmed.
    pub confirmed_from_photos: usize,
    /// By confirmed first, then number of photos, then id.
    pub entities: Vec<Entity>,
    /// Detections without an anchor.
    pub n_without_anchor: usize,
    /// What to know, in words.
    pub warnings: Vec<String>,
}

/// A vehicle's id: made once, kept as long as members remain.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct EntityId(String);

impl EntityId {
    /// From the detection that founded it.
    #[must_use]
    pub fn founded_by(detection_id: &DetectionId) -> Self {
        Self(crate::scene::files::sha256(detection_id.as_str().as_bytes())[..12].to_owned())
    }

    /// As text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// A vehicle.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Entity {
    /// Its id.
    pub entity_id: EntityId,
    /// Its middle.
    #[serde(rename = "enu_m")]
    pub point: Point<Enu>,
    /// One sigma along the longer axis of the position's error ellipse, relative to the scene,
    /// metres.
    pub sigma_m: f64,
    /// Whether enough photos show it, in number and as a share of those that could.
    pub is_confirmed: bool,
    /// Photos whose picture holds its place, near enough to tell a vehicle; 0 where it was not
    /// counted (scenes made before it was).
    #[serde(default)]
    pub n_in_view: usize,
    /// The detections, by photo; at most one per photo.
    pub members: Vec<Member>,
}

/// A detection of a vehicle.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Member {
    /// Which detection.
    pub detection_id: DetectionId,
    /// Index of its photo in the scene.
    pub photo: usize,
    /// Index among the photo's detections.
    pub detection: usize,
    /// From the vehicle's middle to the detection's anchor, metres.
    pub distance_m: f64,
}
