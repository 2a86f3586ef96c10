//! What the rooms of a scene have made, read at once.

use crate::anchor::{self, Anchor, AnchorSummary};
use crate::detect::{self, SceneDetections};
use crate::entity::{self, Entities, Material};
use crate::ingest::{self, Scene, scene_seconds};
use crate::pose;
use crate::pose::posed::{PosedScene, SparsePoint};
use crate::scene::{SceneError, SceneFolder};

/// A scene up to its anchors.
pub(super) struct Stored {
    pub(super) scene: Scene,
    pub(super) posed: PosedScene,
    pub(super) points: Vec<SparsePoint>,
    pub(super) detections: SceneDetections,
    pub(super) anchored: AnchorSummary,
    pub(super) anchors: Vec<Anchor>,
    seconds: Vec<Option<f64>>,
}

impl Stored {
    pub(super) fn read(folder: &SceneFolder) -> Result<Self, SceneError> {
        let ingested = folder.required(ingest::ROOM, "ingest")?;
        let scene: Scene = ingested.read_json(ingest::SCENE_FILE)?;
        let (_, posed, points) = pose::current(folder)?;
        let (_, detections) = detect::current(folder)?;
        let (_, anchored, anchors) = anchor::current(folder)?;
        Ok(Self {
            seconds: scene_seconds(&scene),
            scene,
            posed,
            points,
            detections,
            anchored,
            anchors,
        })
    }

    pub(super) fn material(&self) -> Material<'_> {
        Material {
            anchors: &self.anchors,
            detections: &self.detections,
            posed: &self.posed,
            points: &self.points,
            obstacles_m: &self.anchored.obstacles_m,
            seconds: &self.seconds,
        }
    }

    /// The vehicles as they were found.
    pub(super) fn entities(folder: &SceneFolder) -> Result<Entities, SceneError> {
        Ok(entity::current(folder)?.1)
    }
}
