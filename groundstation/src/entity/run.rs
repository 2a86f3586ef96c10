//! The entity room at its edge.

use super::build::{Material, join};
use super::cluster::ClusterOptions;
use super::{ENTITIES_FILE, Entities, EntityVisibility, ROOM, VISIBILITY_FILE};
use crate::anchor;
use crate::detect;
use crate::ingest::{self, Scene, scene_seconds};
use crate::merges::MergeModel;
use crate::pose;
use crate::scene::{MadeFrom, RoomOutput, RoomState, SceneError, SceneFolder};
use serde::Serialize;

/// Raised when the room itself changes what it makes of the same inputs.
const REVISION: u32 = 5;
/// How to cluster.
#[derive(Clone, Debug, Serialize)]
pub struct EntityConfig {
    /// How detections are grouped.
    pub cluster: ClusterOptions,
    /// What says how probable it is that two groups are one vehicle.
    pub merge_model: MergeModel,
    /// Groups are joined from this probability on.
    pub merge_from: f64,
    /// And shown to be decided from this one on.
    pub review_from: f64,
}

impl Default for EntityConfig {
    fn default() -> Self {
        Self {
            cluster: ClusterOptions::default(),
            merge_model: MergeModel::shipped(),
            merge_from: 0.9,
            review_from: 0.1,
        }
    }
}

/// Why there are no entities.
#[derive(Debug, thiserror::Error)]
pub enum EntityError {
    /// The scene.
    #[error(transparent)]
    Scene(#[from] SceneError),
    /// The threshold makes no sense.
    #[error("--epsilon {found}: expected a distance in metres, above 0 and at most 50")]
    Epsilon {
        /// What was given.
        found: f64,
    },
}

impl EntityError {
    /// Whether the input (rather than this program or the machine) is at fault.
    #[must_use]
    pub fn is_input_fault(&self) -> bool {
        match self {
            Self::Scene(error) => error.is_input_fault(),
            Self::Epsilon { .. } => true,
        }
    }
}

/// Joins a scene's detections into vehicles.
///
/// # Errors
/// [`EntityError`].
pub fn cluster_scene(
    folder: &SceneFolder,
    config: &EntityConfig,
) -> Result<(RoomOutput, Entities), EntityError> {
    if let Some(found) = config.cluster.epsilon_m
        && !(found > 0.0 && found <= 50.0)
    {
        return Err(EntityError::Epsilon { found });
    }
    let (posed_output, posed, points) = pose::current(folder)?;
    let (detected_output, detections) = detect::current(folder)?;
    let (anchored_output, anchored, anchors) = anchor::current(folder)?;
    let ingested = folder.required(ingest::ROOM, "ingest")?;
    let made_from = MadeFrom::new(ROOM, REVISION, config)
        .input("poses", posed_output.file_digest(pose::POSE_FILE)?)
        .input(
            "anchors",
            anchored_output.file_digest(anchor::ANCHORS_FILE)?,
        )
        .input("points", posed_output.file_digest(pose::POINTS_FILE)?)
        .input(
            "surroundings",
            anchored_output.file_digest(anchor::SUMMARY_FILE)?,
        )
        .input(
            "detections",
            detected_output.file_digest(detect::DETECTIONS_FILE)?,
        );
    match folder.room(made_from)? {
        RoomState::Done(output) => {
            let entities: Entities = output.read_json(ENTITIES_FILE)?;
            index(folder, &output, &entities)?;
            Ok((output, entities))
        }
        RoomState::Needed(mut publishing) => {
            let before: Option<Entities> = match folder.current(ROOM)? {
                Some(output) => Some(output.read_json(ENTITIES_FILE)?),
                None => None,
            };
            let scene: Scene = ingested.read_json(ingest::SCENE_FILE)?;
            let material = Material {
                anchors: &anchors,
                detections: &detections,
                posed: &posed,
                points: &points,
                obstacles_m: &anchored.obstacles_m,
                seconds: &scene_seconds(&scene),
            };
            let (entities, visibility) = join(&material, config, before.as_ref());
            publishing.write_json(ENTITIES_FILE, &entities)?;
            publishing.write_json_lines(VISIBILITY_FILE, &visibility)?;
            let output = publishing.publish()?;
            index(folder, &output, &entities)?;
            Ok((output, entities))
        }
    }
}

/// The current vehicles of a scene.
///
/// # Errors
/// [`SceneError::Missing`] when the room has not run.
pub fn current(folder: &SceneFolder) -> Result<(RoomOutput, Entities), SceneError> {
    let output = folder.required(ROOM, "cluster")?;
    let entities = output.read_json(ENTITIES_FILE)?;
    Ok((output, entities))
}

/// In which photos the current vehicles should be seen, in their order.
///
/// # Errors
/// [`SceneError::Missing`] when the room has not run.
pub fn visibility(folder: &SceneFolder) -> Result<Vec<EntityVisibility>, SceneError> {
    folder
        .required(ROOM, "cluster")?
        .read_json_lines(VISIBILITY_FILE)
}

fn index(folder: &SceneFolder, output: &RoomOutput, entities: &Entities) -> Result<(), SceneError> {
    let tables = ["entity", "entity_member"];
    folder.update_index(ROOM, &output.made_from_digest(), &tables, |transaction| {
        for entity in &entities.entities {
            transaction.execute(
                "INSERT INTO entity VALUES (?1,?2,?3,?4,?5,?6)",
                rusqlite::params![
                    entity.entity_id.as_str(),
                    entity.point.x(),
                    entity.point.y(),
                    entity.point.z(),
                    entity.members.len() as i64,
                    entity.is_confirmed,
                ],
            )?;
            for member in &entity.members {
                transaction.execute(
                    "INSERT INTO entity_member VALUES (?1, ?2)",
                    [entity.entity_id.as_str(), member.detection_id.as_str()],
                )?;
            }
        }
        Ok(())
    })
}
