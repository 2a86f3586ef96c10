//! What is done in a scene, from what, and what is next.

use crate::scene::{RoomOutput, SceneError, SceneFolder};
use crate::{anchor, detect, entity, ingest, pose};
use serde::Serialize;

/// The state of a scene.
#[derive(Clone, Debug, Serialize)]
pub struct Status {
    /// `scene-status/1`.
    pub schema: &'static str,
    /// The rooms in their order.
    pub rooms: Vec<RoomStatus>,
    /// The command that comes next; `None` when all is done.
    pub next: Option<&'static str>,
    /// Photos.
    pub ingest: Option<IngestStatus>,
    /// Poses.
    pub pose: Option<PoseStatus>,
    /// Detections.
    pub detect: Option<DetectStatus>,
    /// Anchors.
    pub anchor: Option<AnchorStatus>,
    /// Vehicles.
    pub entity: Option<EntityStatus>,
}

/// One room.
#[derive(Clone, Debug, Serialize)]
pub struct RoomStatus {
    /// Its name.
    pub room: &'static str,
    /// The command that runs it.
    pub command: &'static str,
    /// How it stands.
    pub state: State,
    /// Digest of what it was made from; names its folder.
    pub made_from: Option<String>,
}

/// How a room stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum State {
    /// Made from what is current.
    Done,
    /// Made from something that has changed since.
    Stale,
    /// Not made.
    Missing,
}

/// What ingest made.
#[derive(Clone, Debug, Serialize)]
pub struct IngestStatus {
    /// Photos.
    pub photos: usize,
    /// Flights.
    pub flights: usize,
    /// Cameras.
    pub cameras: usize,
    /// Files not taken.
    pub set_aside: usize,
    /// IANA zone.
    pub zone: Option<String>,
}

/// What pose made.
#[derive(Clone, Debug, Serialize)]
pub struct PoseStatus {
    /// Photos of the scene.
    pub photos: usize,
    /// Photos posed from the images.
    pub registered: usize,
    /// Photos that have no pose at all.
    pub without_pose: usize,
    /// Engine and version, or `priors`.
    pub made_by: String,
    /// Residual of positions to GPS, metres.
    pub horizontal_rms_m: Option<f64>,
    /// Residual of heights within flights, metres.
    pub vertical_rms_m: Option<f64>,
    /// `good`, `doubtful` or `bad`.
    pub verdict: pose::posed::Level,
    /// The verdict in words.
    pub summary: String,
}

/// What detect made.
#[derive(Clone, Debug, Serialize)]
pub struct DetectStatus {
    /// Detections in all.
    pub detections: usize,
    /// Photos that could not be searched.
    pub failed_photos: usize,
}

/// What anchor made.
#[derive(Clone, Debug, Serialize)]
pub struct AnchorStatus {
    /// Detections with a place.
    pub placed: usize,
    /// Detections without.
    pub without: usize,
}

/// What cluster made.
#[derive(Clone, Debug, Serialize)]
pub struct EntityStatus {
    /// Vehicles seen in enough photos.
    pub confirmed: usize,
    /// Others.
    pub unconfirmed: usize,
    /// The distance within which detections were joined, metres.
    pub epsilon_m: f64,
    /// Pairs that a person has to decide.
    pub pairs_to_review: usize,
    /// What looks unusual.
    pub suggestions: usize,
}

/// A room, its command, and the files of earlier rooms it reads, by the names of its inputs.
struct Room {
    room: &'static str,
    command: &'static str,
    reads: &'static [(&'static str, &'static str, &'static str)],
}

const ROOMS: [Room; 5] = [
    Room {
        room: ingest::ROOM,
        command: "ingest",
        reads: &[],
    },
    Room {
        room: pose::ROOM,
        command: "pose",
        reads: &[("scene", ingest::ROOM, ingest::SCENE_FILE)],
    },
    Room {
        room: detect::ROOM,
        command: "detect",
        reads: &[("scene", ingest::ROOM, ingest::SCENE_FILE)],
    },
    Room {
        room: anchor::ROOM,
        command: "anchor",
        reads: &[
            ("poses", pose::ROOM, pose::POSE_FILE),
            ("points", pose::ROOM, pose::POINTS_FILE),
            ("detections", detect::ROOM, detect::DETECTIONS_FILE),
        ],
    },
    Room {
        room: entity::ROOM,
        command: "cluster",
        reads: &[
            ("poses", pose::ROOM, pose::POSE_FILE),
            ("points", pose::ROOM, pose::POINTS_FILE),
            ("surroundings", anchor::ROOM, anchor::SUMMARY_FILE),
            ("anchors", anchor::ROOM, anchor::ANCHORS_FILE),
            ("detections", detect::ROOM, detect::DETECTIONS_FILE),
        ],
    },
];

/// Looks at a scene.
///
/// # Errors
/// [`SceneError`] when a stored output is damaged.
pub fn status(folder: &SceneFolder) -> Result<Status, SceneError> {
    let mut rooms: Vec<RoomStatus> = Vec::new();
    for room in &ROOMS {
        let output = folder.current(room.room)?;
        let reads_done = room.reads.iter().all(|(_, from, _)| {
            rooms
                .iter()
                .any(|known| known.room == *from && known.state == State::Done)
        });
        let state = match &output {
            None => State::Missing,
            Some(output) if reads_done && is_current(folder, room, output)? => State::Done,
            Some(_) => State::Stale,
        };
        rooms.push(RoomStatus {
            room: room.room,
            command: room.command,
            state,
            made_from: output.map(|output| output.made_from_digest()),
        });
    }
    let next = rooms
        .iter()
        .find(|room| room.state != State::Done)
        .map(|room| room.command);
    Ok(Status {
        schema: "scene-status/1",
        next,
        rooms,
        ingest: ingest_status(folder)?,
        pose: pose_status(folder)?,
        detect: detect_status(folder)?,
        anchor: anchor_status(folder)?,
        entity: entity_status(folder)?,
    })
}

/// Whether an output was made from the current files of the rooms before it.
fn is_current(folder: &SceneFolder, room: &Room, output: &RoomOutput) -> Result<bool, SceneError> {
    for (input, from, file) in room.reads {
        let Some(source) = folder.current(from)? else {
            return Ok(false);
        };
        let now = source.file_digest(file)?;
        if output.made_from.inputs.get(*input).map(String::as_str) != Some(now) {
            return Ok(false);
        }
    }
    // Detections depend on how large cars are in each photo, which poses tell (imported ones do
    // not).
    if room.room == detect::ROOM
        && let Some(views) = output.made_from.inputs.get("views")
        && let Some(ingested) = folder.current(ingest::ROOM)?
    {
        let scene: ingest::Scene = ingested.read_json(ingest::SCENE_FILE)?;
        return Ok(detect::views_digest(folder, &scene)? == *views);
    }
    Ok(true)
}

fn ingest_status(folder: &SceneFolder) -> Result<Option<IngestStatus>, SceneError> {
    let Some(output) = folder.current(ingest::ROOM)? else {
        return Ok(None);
    };
    let scene: ingest::Scene = output.read_json(ingest::SCENE_FILE)?;
    let set_aside: Vec<ingest::SetAside> = output.read_json(ingest::SET_ASIDE_FILE)?;
    Ok(Some(IngestStatus {
        photos: scene.photos.len(),
        flights: scene.flights.len(),
        cameras: scene.cameras.len(),
        set_aside: set_aside.len(),
        zone: scene.zone,
    }))
}

fn pose_status(folder: &SceneFolder) -> Result<Option<PoseStatus>, SceneError> {
    let Some(output) = folder.current(pose::ROOM)? else {
        return Ok(None);
    };
    let posed: pose::posed::PosedScene = output.read_json(pose::POSE_FILE)?;
    let alignment = posed.alignment.as_ref();
    Ok(Some(PoseStatus {
        photos: posed.photos.len(),
        registered: posed.n_solved(),
        without_pose: posed.photos.iter().filter(|p| p.pose.is_none()).count(),
        made_by: match &posed.made_by {
            pose::posed::MadeBy::Solver { engine } => {
                format!("{} {}", engine.name, engine.version)
            }
            pose::posed::MadeBy::Priors { .. } => "priors".to_owned(),
        },
        horizontal_rms_m: alignment
            .and_then(|a| a.horizontal)
            .map(|stats| stats.rms_m),
        vertical_rms_m: alignment.and_then(|a| a.vertical).map(|stats| stats.rms_m),
        verdict: posed.verdict.level,
        summary: posed.verdict.summary,
    }))
}

fn detect_status(folder: &SceneFolder) -> Result<Option<DetectStatus>, SceneError> {
    let Some(output) = folder.current(detect::ROOM)? else {
        return Ok(None);
    };
    let summary: detect::DetectSummary = output.read_json(detect::SUMMARY_FILE)?;
    Ok(Some(DetectStatus {
        detections: summary.n_detections,
        failed_photos: summary.failed.len(),
    }))
}

fn anchor_status(folder: &SceneFolder) -> Result<Option<AnchorStatus>, SceneError> {
    let Some(output) = folder.current(anchor::ROOM)? else {
        return Ok(None);
    };
    let summary: anchor::AnchorSummary = output.read_json(anchor::SUMMARY_FILE)?;
    Ok(Some(AnchorStatus {
        placed: summary.n_sparse_points + summary.n_surface + summary.n_plane,
        without: summary.n_none,
    }))
}

fn entity_status(folder: &SceneFolder) -> Result<Option<EntityStatus>, SceneError> {
    let Some(output) = folder.current(entity::ROOM)? else {
        return Ok(None);
    };
    let entities: entity::Entities = output.read_json(entity::ENTITIES_FILE)?;
    let confirmed = entities
        .entities
        .iter()
        .filter(|entity| entity.is_confirmed)
        .count();
    Ok(Some(EntityStatus {
        confirmed,
        unconfirmed: entities.entities.len() - confirmed,
        epsilon_m: entities.threshold.epsilon_m,
        pairs_to_review: entities.reviews.len(),
        suggestions: entities.suggestions.len(),
    }))
}
