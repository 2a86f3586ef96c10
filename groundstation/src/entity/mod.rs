//! Physical vehicles: detections of one place joined across photos, never two of one photo.

mod build;
mod cluster;
mod footprint;
mod ids;
mod place;
mod run;
mod suggest;
#[cfg(test)]
mod tests;
mod threshold;
mod visibility;

pub use build::{Grouped, Material, Regrouped, group, join, regroup};
pub use cluster::{ClusterOptions, Clusters, Item, Order, REFINE_ROUNDS, cluster};
pub use run::{EntityConfig, EntityError, cluster_scene, current, visibility};
pub use suggest::{Suggestion, SuggestionKind};
pub use threshold::{Threshold, ThresholdBasis};
pub use visibility::Sight;

use crate::detect::DetectionId;
use crate::merges::Features;
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
/// In which photos each vehicle should be seen, one line per vehicle.
pub const VISIBILITY_FILE: &str = "visibility.jsonl";

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
    /// Share of the photos that should show a vehicle in which it is detected.
    #[serde(default)]
    pub recall: f64,
    /// Groups that were joined, the surest first; both names are those of the vehicle they became.
    #[serde(default)]
    pub joined: Vec<MergeReview>,
    /// Pairs to be decided by a person, the most probable first.
    #[serde(default)]
    pub reviews: Vec<MergeReview>,
    /// What looks unusual; nothing of it has been acted upon.
    #[serde(default)]
    pub suggestions: Vec<Suggestion>,
}

/// Two vehicles that may be one.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct MergeReview {
    /// The one.
    pub a: EntityId,
    /// The other.
    pub b: EntityId,
    /// The probability that they are one.
    pub probability: f64,
    /// What it follows from.
    pub features: Features,
}

/// Where a vehicle should be seen.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct EntityVisibility {
    /// Which vehicle.
    pub entity_id: EntityId,
    /// Photos whose picture holds its place, near enough to tell it.
    pub photos: Vec<Sight>,
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
    /// Covariance of east and north: xx, xy, yy in square metres, relative to the scene.
    #[serde(default)]
    pub covariance_m2: [f64; 3],
    /// Its outline on the ground; `None` where no photo shows it well enough.
    #[serde(default)]
    pub footprint: Option<Footprint>,
    /// Ids of earlier vehicles that have become part of this one.
    #[serde(default)]
    pub aliases: Vec<EntityId>,
    /// Whether enough photos show it, in number and as a share of those that could.
    pub is_confirmed: bool,
    /// Photos whose picture holds its place, near enough to tell a vehicle; 0 where it was not
    /// counted (scenes made before it was).
    #[serde(default)]
    pub n_in_view: usize,
    /// Photos that should show at least half of it, large enough, by geometry and what stands
    /// before it.
    #[serde(default)]
    pub n_expected: usize,
    /// The detections, by photo; at most one per photo.
    pub members: Vec<Member>,
}

/// A vehicle's outline on the ground, from its boxes in all photos.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Footprint {
    /// Length, metres.
    pub length_m: f64,
    /// One sigma of it.
    pub length_sigma_m: f64,
    /// Width, metres.
    pub width_m: f64,
    /// One sigma of it.
    pub width_sigma_m: f64,
    /// Direction of its length, clockwise from north, in [0, 180) degrees: front and rear are not
    /// told apart.
    pub axis_deg: f64,
    /// One sigma of it.
    pub axis_sigma_deg: f64,
    /// Boxes it rests on.
    pub n_boxes: usize,
    /// Where its front may be, with the evidence.
    #[serde(default)]
    pub front: Option<FrontSuggestion>,
}

/// A suggestion of where a vehicle's front is.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FrontSuggestion {
    /// Where it points, clockwise from north, in [0, 360) degrees.
    pub azimuth_deg: f64,
    /// Why, in words.
    pub evidence: String,
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
