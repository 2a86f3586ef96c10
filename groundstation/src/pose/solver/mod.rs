//! Structure-from-motion engines behind one trait.

mod colmap;
mod database;
mod probe;
mod process;

pub use database::{DatabaseStats, PhotoStats};
pub use probe::{Colmap, ColmapProgram, find};

use super::model::{Model, ModelError};
use calibration::CameraModel;
use console::Cancel;
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};

/// What a solver is asked to do.
#[derive(Clone, Debug)]
pub struct SolveJob {
    /// A folder for the solver's own files. What is found there from an interrupted run of the
    /// same job is used again.
    pub work: PathBuf,
    /// One per camera: photos that share intrinsics.
    pub groups: Vec<CameraGroup>,
    /// Pairs of photos to match, by index into [`SolveJob::photos`] order (groups flattened).
    pub pairs: Vec<(usize, usize)>,
    /// Settings.
    pub settings: SolveSettings,
}

/// Photos that share intrinsics.
#[derive(Clone, Debug)]
pub struct CameraGroup {
    /// What is known of the intrinsics beforehand, at the photos' size.
    pub prior: CameraModel,
    /// What the solver may change.
    pub refine: Refine,
    /// The photos.
    pub photos: Vec<SolvePhoto>,
}

/// A photo handed to a solver.
#[derive(Clone, Debug)]
pub struct SolvePhoto {
    /// A safe, unique ASCII name that the solver sees.
    pub name: String,
    /// The pixels, upright (EXIF orientation applied).
    pub file: PathBuf,
    /// Black where features must not be taken, if there is such a mask.
    pub mask: Option<PathBuf>,
}

/// What self-calibration may change.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Refine {
    /// Nothing: a measured profile is believed.
    Nothing,
    /// One radial coefficient: geometry too weak for the focal length (nadir at one height).
    RadialOnly,
    /// Focal length and one radial coefficient.
    FocalAndRadial,
    /// Focal lengths, two radial and two tangential coefficients: many views of different pitch.
    Full,
}

/// How much work a solver may put in.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct SolveSettings {
    /// Longer side of the pictures that features are taken from, pixels.
    pub max_image_size_px: u32,
    /// Features per photo, before orientations double some.
    pub max_features: u32,
    /// Threads.
    pub threads: usize,
    /// Smallest sub-model kept.
    pub min_model_size: u32,
    /// Partners that each photo is matched with, chosen by footprint; it may end with more, being
    /// another's partner.
    pub partners_per_photo: usize,
    /// Multiplies every stage's time limit; limits are six times the expected duration.
    pub patience: f64,
}

impl Default for SolveSettings {
    fn default() -> Self {
        Self {
            max_image_size_px: 1600,
            max_features: 2048,
            threads: std::thread::available_parallelism().map_or(2, usize::from),
            min_model_size: 5,
            partners_per_photo: 12,
            patience: 1.0,
        }
    }
}

/// What a solver says of itself.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct EngineIdentity {
    /// Such as `colmap`.
    pub name: String,
    /// Such as `3.8`.
    pub version: String,
}

/// A stage of solving, for progress and the report.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Stage {
    /// Finding features.
    Features,
    /// Matching pairs.
    Matching,
    /// Posing photos and triangulating.
    Mapping,
}

impl Stage {
    /// For people.
    #[must_use]
    pub fn title(self) -> &'static str {
        match self {
            Self::Features => "pose: features",
            Self::Matching => "pose: matching",
            Self::Mapping => "pose: mapping",
        }
    }
}

/// How long a stage took.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct StageTime {
    /// Which.
    pub stage: Stage,
    /// Wall time, seconds.
    pub seconds: f64,
}

/// What a solver made.
#[derive(Clone, Debug)]
pub struct Solved {
    /// Every sub-model, the largest first. May be empty.
    pub models: Vec<Model>,
    /// Wall time per stage.
    pub stages: Vec<StageTime>,
    /// Features and verified pairs per photo.
    pub stats: DatabaseStats,
    /// What went wrong on the way and was got over, in words.
    pub remarks: Vec<String>,
}

/// Receives progress: stage, steps done, steps in all (0 when unknown).
pub type OnProgress<'a> = dyn FnMut(Stage, u64, u64) + 'a;

/// A structure-from-motion engine.
pub trait PoseEngine {
    /// Name and version.
    fn identity(&self) -> EngineIdentity;

    /// Solves.
    ///
    /// # Errors
    /// [`SolveError`]; ordinary imperfection (photos left out, several models, none) is not an
    /// error.
    fn solve(
        &self,
        job: &SolveJob,
        on_progress: &mut OnProgress<'_>,
        cancel: &Cancel,
    ) -> Result<Solved, SolveError>;

    /// Poses the photos once more with the focal lengths held at their priors, from the features
    /// and matches of the last [`PoseEngine::solve`] of the same job.
    ///
    /// # Errors
    /// As [`PoseEngine::solve`].
    fn solve_with_fixed_focal(
        &self,
        job: &SolveJob,
        on_progress: &mut OnProgress<'_>,
        cancel: &Cancel,
    ) -> Result<Solved, SolveError>;
}

/// Why a solver gave nothing.
#[derive(Debug, thiserror::Error)]
pub enum SolveError {
    /// The program did not start.
    #[error("cannot start the solver {}: {source}", program.display())]
    Start {
        /// The program.
        program: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
    /// It ended with a code or a signal.
    #[error("the solver failed while {}: {how}{}; its log is {}", doing(*stage), quoted(last_line), log.display())]
    Failed {
        /// During which stage.
        stage: Stage,
        /// Code or signal.
        how: String,
        /// What it printed last.
        last_line: Option<String>,
        /// Where all of its output is.
        log: PathBuf,
    },
    /// It took far longer than such a stage takes.
    #[error(
        "the solver was stopped while {} after {limit_s:.0} s without an end; its log is {}; \
         --patience raises the limit", doing(*stage), log.display()
    )]
    TimedOut {
        /// During which stage.
        stage: Stage,
        /// The limit, seconds.
        limit_s: f64,
        /// Where all of its output is.
        log: PathBuf,
    },
    /// The user stopped it.
    #[error(transparent)]
    Interrupted(#[from] console::Interrupted),
    /// Its model cannot be read.
    #[error(transparent)]
    Model(#[from] ModelError),
    /// Its database cannot be read.
    #[error("cannot read the solver's database {}: {source}", path.display())]
    Database {
        /// The file.
        path: PathBuf,
        /// What SQLite said.
        source: rusqlite::Error,
    },
    /// A file of ours for it cannot be written.
    #[error("cannot write {} for the solver: {source}", path.display())]
    Prepare {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
}

fn doing(stage: Stage) -> &'static str {
    match stage {
        Stage::Features => "finding features",
        Stage::Matching => "matching photos",
        Stage::Mapping => "posing photos",
    }
}

fn quoted(line: &Option<String>) -> String {
    line.as_ref()
        .map(|line| format!(" (\"{line}\")"))
        .unwrap_or_default()
}

impl SolveJob {
    /// All photos, group after group.
    pub fn photos(&self) -> impl Iterator<Item = &SolvePhoto> {
        self.groups.iter().flat_map(|group| &group.photos)
    }

    fn n_photos(&self) -> usize {
        self.groups.iter().map(|group| group.photos.len()).sum()
    }
}

fn prepare_error(path: &Path) -> impl FnOnce(std::io::Error) -> SolveError + '_ {
    |source| SolveError::Prepare {
        path: path.to_owned(),
        source,
    }
}
