//! Photos into a scene: found, read, checked, told apart, and stored under their own digest.

mod bodies;
mod cameras;
mod clock;
mod describe;
mod duplicates;
mod flights;
mod site;
mod sources;
mod store;
mod take;

pub(crate) use cameras::orientation_of;
pub use cameras::{CameraGroup, PriorSource};
pub(crate) use clock::scene_seconds;
pub use flights::{Flight, Intervals};
pub use site::SiteError;
pub use sources::SourceError;
pub use store::{IngestConfig, IngestError, ingest};

use crate::scene::PhotoId;
use crate::schema::schema_tag;
use jiff::tz::TimeZone;
use record::Capture;
use serde::{Deserialize, Serialize};

schema_tag!(
    /// Marks a scene's list of photos.
    SceneSchema,
    "scene/1"
);

/// The room's name.
pub const ROOM: &str = "ingest";
/// The room's main file, which the rooms that follow read.
pub const SCENE_FILE: &str = "scene.json";
/// What was not taken: for people, not for the rooms that follow.
pub const SET_ASIDE_FILE: &str = "set_aside.json";

/// What a scene is made of.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Scene {
    /// `scene/1`.
    pub schema: SceneSchema,
    /// The site's IANA time zone, if it was given.
    pub zone: Option<String>,
    /// Photos, by flight, time and name.
    pub photos: Vec<ScenePhoto>,
    /// Cameras: photos that share intrinsics.
    pub cameras: Vec<CameraGroup>,
    /// Flights.
    pub flights: Vec<Flight>,
    /// The time between photos, where times are known.
    pub intervals: Option<Intervals>,
    /// Bundles that photos came from.
    pub bundles: Vec<SourceBundle>,
}

/// A photo of a scene.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ScenePhoto {
    /// Digest of the original.
    pub photo_id: PhotoId,
    /// Names it was found under, relative to what was ingested, sorted.
    pub names: Vec<String>,
    /// Size of the original, bytes.
    pub bytes: u64,
    /// Width when upright, pixels.
    pub width_px: u32,
    /// Height when upright, pixels.
    pub height_px: u32,
    /// Index into [`Scene::cameras`].
    pub camera: usize,
    /// Index into [`Scene::flights`].
    pub flight: usize,
    /// What it says about itself.
    pub capture: Capture,
}

impl ScenePhoto {
    /// The name people know it by.
    #[must_use]
    pub fn name(&self) -> &str {
        self.names.first().map_or("", String::as_str)
    }
}

/// Something that was found and not taken.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct SetAside {
    /// Its name, relative to what was ingested.
    pub name: String,
    /// The kind of reason.
    pub code: SetAsideCode,
    /// The reason in words.
    pub reason: String,
}

/// Why something was set aside.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SetAsideCode {
    /// Byte for byte, or picture for picture, a photo that is already there.
    Duplicate,
    /// A damaged photo.
    Unreadable,
    /// Not a photo: notes, videos, other formats.
    Foreign,
    /// A thermal picture: the twin of a photo, or alone of its kind.
    Thermal,
    /// A stitched panorama.
    Panorama,
    /// What a simulator knows: never read.
    Truth,
}

impl SetAsideCode {
    /// For tables and the index.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Duplicate => "duplicate",
            Self::Unreadable => "unreadable",
            Self::Foreign => "foreign",
            Self::Thermal => "thermal",
            Self::Panorama => "panorama",
            Self::Truth => "truth",
        }
    }
}

/// A bundle that photos came from.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SourceBundle {
    /// Its folder's name.
    pub name: String,
    /// Whether it carries a seal.
    pub is_sealed: bool,
    /// SHA-256 of its tag manifest, which covers every file.
    pub root_hash: Option<String>,
}

impl Scene {
    /// The site's zone; `None` when unknown.
    #[must_use]
    pub fn time_zone(&self) -> Option<TimeZone> {
        self.zone
            .as_deref()
            .and_then(|name| TimeZone::get(name).ok())
    }

    /// A photo's index by its id.
    #[must_use]
    pub fn photo_index(&self, photo_id: &PhotoId) -> Option<usize> {
        self.photos
            .iter()
            .position(|photo| photo.photo_id == *photo_id)
    }
}
