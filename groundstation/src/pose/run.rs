//! The pose room at its edge: engine found, photos handed over, result chosen and stored.

use super::assemble::{self, Assembled, Context};
use super::origin::{store_origin, stored_origin};
use super::posed::{MadeBy, PoseSource, PosedScene, SparsePoint};
use super::priors::{self, ScenePriors};
use super::second_run::{focal_is_doubtful, second};
use super::solver::{
    Colmap, ColmapProgram, EngineIdentity, PoseEngine, Refine, SolveError, SolveJob, SolveSettings,
    Solved, Stage, find,
};
use super::unsolved;
use crate::ingest::{self, Scene};
use crate::scene::{MadeFrom, Publishing, RoomOutput, RoomState, SceneError, SceneFolder, files};
use calibration::CameraModel;
use console::{Cancel, Interrupted, Progress, canonical_json};
use serde::Serialize;
use std::path::PathBuf;

/// The room's name.
pub const ROOM: &str = "pose";
/// The room's main file.
pub const POSE_FILE: &str = "pose.json";
/// The sparse points.
pub const POINTS_FILE: &str = "points.jsonl";
/// Raised when the room itself changes what it makes of the same inputs.
const REVISION: u32 = 1;

/// Fewer photos cannot be reconstructed.
const MIN_PHOTOS: usize = 3;

/// The interpreter that is asked for pycolmap where none is named.
const PYTHON: &str = "python3";

/// Which engine.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum EngineChoice {
    /// COLMAP on the search path, else pycolmap, else priors.
    #[default]
    Auto,
    /// COLMAP, at a path or on the search path.
    Colmap(Option<PathBuf>),
    /// pycolmap in a Python interpreter.
    Pycolmap(Option<PathBuf>),
    /// GPS and gimbal only.
    Priors,
}

/// How to pose.
#[derive(Clone, Debug, Default)]
pub struct PoseConfig {
    /// Which engine.
    pub engine: EngineChoice,
    /// Seed of the alignment.
    pub seed: u64,
    /// A folder with masks: `NAME.png` beside each photo's original name, black where features
    /// must not be taken.
    pub masks: Option<PathBuf>,
    /// The solver's settings.
    pub settings: SolveSettings,
    /// Match every photo with every other instead of by footprint.
    pub exhaustive: bool,
}

/// Why there are no poses.
#[derive(Debug, thiserror::Error)]
pub enum PoseError {
    /// The scene.
    #[error(transparent)]
    Scene(#[from] SceneError),
    /// The engine that was asked for by name is not there.
    #[error("{sentence}; install it, name another with --engine, or use --engine priors")]
    EngineMissing {
        /// What was found.
        sentence: String,
    },
    /// The engine that was asked for by name failed.
    #[error(transparent)]
    Solve(SolveError),
    /// A setting that no run can have.
    #[error("{name} is {found}; it must be {expected}")]
    Setting {
        /// Which.
        name: &'static str,
        /// Its value.
        found: String,
        /// What it may be.
        expected: &'static str,
    },
    /// A mask that does not fit.
    #[error("the mask {} is {found}; {photo} needs a PNG of {width_px} x {height_px}", path.display())]
    Mask {
        /// The file.
        path: PathBuf,
        /// What it is.
        found: String,
        /// Its photo.
        photo: String,
        /// The photo's width when upright.
        width_px: u32,
        /// And height.
        height_px: u32,
    },
    /// No mask is a photo's.
    #[error(
        "no file in {} is named like a photo's mask; expected names such as {example}",
        folder.display()
    )]
    NoMask {
        /// The folder.
        folder: PathBuf,
        /// What a mask would be called.
        example: String,
    },
    /// The user stopped it.
    #[error(transparent)]
    Interrupted(#[from] Interrupted),
}

impl PoseError {
    /// Whether the input (rather than this program or the machine) is at fault.
    #[must_use]
    pub fn is_input_fault(&self) -> bool {
        match self {
            Self::Scene(error) => error.is_input_fault(),
            Self::EngineMissing { .. }
            | Self::Setting { .. }
            | Self::Mask { .. }
            | Self::NoMask { .. } => true,
            Self::Solve(_) | Self::Interrupted(_) => false,
        }
    }
}

impl From<SolveError> for PoseError {
    fn from(error: SolveError) -> Self {
        match error {
            SolveError::Interrupted(interrupted) => Self::Interrupted(interrupted),
            other => Self::Solve(other),
        }
    }
}

/// What decides the output, beside the scene.
#[derive(Serialize)]
struct StoredConfig<'a> {
    engine: String,
    because: Option<&'a str>,
    seed: u64,
    max_image_size_px: u32,
    max_features: u32,
    min_model_size: u32,
    partners_per_photo: usize,
    exhaustive: bool,
    masks: Option<String>,
}

/// What a solver's features and matches follow from.
#[derive(Serialize)]
struct SolverKey<'a> {
    engine: EngineIdentity,
    /// In the job's order.
    photo_ids: Vec<&'a str>,
    /// What is known of each camera, what may change of it, and its number of photos.
    cameras: Vec<(&'a CameraModel, Refine, usize)>,
    pairs: &'a [(usize, usize)],
    max_image_size_px: u32,
    max_features: u32,
    masks: Option<String>,
}

/// Poses a scene's photos.
///
/// # Errors
/// [`PoseError`]. An engine that is missing or fails is an error only when it was asked for by
/// name; else the poses come from the priors, marked as such.
pub fn pose(
    folder: &SceneFolder,
    config: &PoseConfig,
    quiet: bool,
    cancel: &Cancel,
) -> Result<(RoomOutput, PosedScene), PoseError> {
    check_settings(config)?;
    let ingested = folder.required(ingest::ROOM, "ingest")?;
    let scene: Scene = ingested.read_json(ingest::SCENE_FILE)?;
    let digest = ingested.file_digest(ingest::SCENE_FILE)?.to_owned();
    let priors = priors::gather(&scene, stored_origin(folder)?);
    let run = Run {
        folder,
        scene: &scene,
        priors: &priors,
        config,
        digest: &digest,
        quiet,
        cancel,
    };
    run.check_masks()?;
    let because = match run.engine()? {
        Ok(engine) => match run.with_engine(&engine) {
            Ok(done) => return Ok(done),
            Err(Setback::Fatal(error)) => return Err(error),
            Err(Setback::NoPoses(because)) => because,
        },
        Err(because) => because,
    };
    match run.solved_before()? {
        Some(kept) => {
            tracing::warn!("{because}; the poses that an engine found earlier are kept");
            Ok(kept)
        }
        None => run.with_priors(&because),
    }
}

fn check_settings(config: &PoseConfig) -> Result<(), PoseError> {
    let settings = &config.settings;
    let positive = [
        (
            "the size of pictures",
            u64::from(settings.max_image_size_px),
        ),
        ("the number of features", u64::from(settings.max_features)),
        ("the number of threads", settings.threads as u64),
        (
            "the number of partners per photo",
            settings.partners_per_photo as u64,
        ),
    ];
    for (name, value) in positive {
        if value == 0 {
            return Err(PoseError::Setting {
                name,
                found: value.to_string(),
                expected: "1 or more",
            });
        }
    }
    if !(settings.patience.is_finite() && settings.patience > 0.0) {
        return Err(PoseError::Setting {
            name: "the patience",
            found: settings.patience.to_string(),
            expected: "a positive number",
        });
    }
    if let Some(masks) = config.masks.as_ref().filter(|masks| !masks.is_dir()) {
        return Err(PoseError::Setting {
            name: "the folder of masks",
            found: masks.display().to_string(),
            expected: "a folder that exists",
        });
    }
    Ok(())
}

/// Why an engine gave no poses.
enum Setback {
    /// Nothing can go on.
    Fatal(PoseError),
    /// The priors can.
    NoPoses(String),
}

impl From<SceneError> for Setback {
    fn from(error: SceneError) -> Self {
        Self::Fatal(error.into())
    }
}

impl From<PoseError> for Setback {
    fn from(error: PoseError) -> Self {
        Self::Fatal(error)
    }
}

/// A run of the room.
pub(super) struct Run<'a> {
    pub(super) folder: &'a SceneFolder,
    pub(super) scene: &'a Scene,
    pub(super) priors: &'a ScenePriors,
    pub(super) config: &'a PoseConfig,
    pub(super) digest: &'a str,
    pub(super) quiet: bool,
    pub(super) cancel: &'a Cancel,
}

impl Run<'_> {
    /// The engine to use; the inner error says why there is none.
    fn engine(&self) -> Result<Result<Colmap, String>, PoseError> {
        match &self.config.engine {
            EngineChoice::Priors => Ok(Err("asked for".to_owned())),
            EngineChoice::Colmap(Some(path)) => {
                self.named(self.probe(ColmapProgram::Binary(path.clone()))?)
            }
            EngineChoice::Colmap(None) => match find() {
                Some(program) => self.named(self.probe(program)?),
                None => self.named(Err("there is no colmap on the search path".to_owned())),
            },
            EngineChoice::Pycolmap(named) => {
                let python = named.clone().unwrap_or_else(|| PYTHON.into());
                self.named(self.probe(ColmapProgram::Pycolmap { python })?)
            }
            EngineChoice::Auto => {
                let mut because = "COLMAP is not installed".to_owned();
                if let Some(program) = find() {
                    match self.probe(program)? {
                        Ok(engine) => return Ok(Ok(engine)),
                        Err(sentence) => because = sentence,
                    }
                }
                let python = PYTHON.into();
                let pycolmap = self.probe(ColmapProgram::Pycolmap { python })?;
                Ok(pycolmap.map_err(|_| because))
            }
        }
    }

    /// Asks a program whether it is COLMAP; the inner error says why it is not.
    fn probe(&self, program: ColmapProgram) -> Result<Result<Colmap, String>, PoseError> {
        let found = Colmap::probe(program, self.config.settings.patience, self.cancel);
        // A question that the user interrupted says nothing about the program.
        self.cancel.check()?;
        Ok(found)
    }

    /// An engine that was asked for by name must be there.
    fn named(&self, found: Result<Colmap, String>) -> Result<Result<Colmap, String>, PoseError> {
        match found {
            Ok(engine) => Ok(Ok(engine)),
            Err(sentence) => Err(PoseError::EngineMissing { sentence }),
        }
    }

    fn made_from(&self, engine: &str, because: Option<&str>) -> Result<MadeFrom, SceneError> {
        let settings = &self.config.settings;
        let masks = self.digest_of_masks()?;
        let stored = StoredConfig {
            engine: engine.to_owned(),
            because,
            seed: self.config.seed,
            max_image_size_px: settings.max_image_size_px,
            max_features: settings.max_features,
            min_model_size: settings.min_model_size,
            partners_per_photo: settings.partners_per_photo,
            exhaustive: self.config.exhaustive,
            masks,
        };
        Ok(MadeFrom::new(ROOM, REVISION, &stored).input("scene", self.digest))
    }

    fn with_engine(&self, engine: &Colmap) -> Result<(RoomOutput, PosedScene), Setback> {
        let identity = engine.identity();
        let name = format!("{} {}", identity.name, identity.version);
        let publishing = match self.folder.room(self.made_from(&name, None)?)? {
            RoomState::Done(output) => return Ok(self.stored(output)?),
            RoomState::Needed(publishing) => publishing,
        };
        let assembled = match self.why_not_to_solve() {
            Some(reason) => Err(reason),
            None => match self.solve(engine) {
                Ok(outcome) => outcome.map_err(|why| format!("the solution was refused: {why}")),
                // The next run may find the machine or the solver in a better state.
                Err(PoseError::Solve(error)) if !self.is_engine_named() => {
                    return Err(Setback::NoPoses(error.to_string()));
                }
                Err(error) => return Err(error.into()),
            },
        };
        // A refusal follows from the photos: the same run would only find it again.
        let assembled = assembled.unwrap_or_else(|because| self.priors_alone(&because));
        Ok(self.publish(publishing, &assembled)?)
    }

    fn is_engine_named(&self) -> bool {
        matches!(
            self.config.engine,
            EngineChoice::Colmap(_) | EngineChoice::Pycolmap(_)
        )
    }

    fn why_not_to_solve(&self) -> Option<String> {
        if self.priors.origin.is_none() {
            return Some(
                "no photo carries a usable GPS position, so there is no metric frame".to_owned(),
            );
        }
        let n_photos = self.scene.photos.len();
        (n_photos < MIN_PHOTOS).then(|| format!("{n_photos} photos are too few to reconstruct"))
    }

    fn priors_alone(&self, because: &str) -> Assembled {
        Assembled {
            posed: unsolved::from_priors(self.scene, self.priors, because),
            points: Vec::new(),
        }
    }

    /// The current poses, if an engine made them from these very photos: better than priors, when
    /// the engine is not to be had this time.
    fn solved_before(&self) -> Result<Option<(RoomOutput, PosedScene)>, SceneError> {
        if self.config.engine != EngineChoice::Auto {
            return Ok(None);
        }
        let Some(output) = self.folder.current(ROOM)? else {
            return Ok(None);
        };
        let of_these = output.made_from.inputs.get("scene").map(String::as_str);
        if of_these != Some(self.digest) {
            return Ok(None);
        }
        let (output, posed) = self.stored(output)?;
        let is_solved = matches!(posed.made_by, MadeBy::Solver { .. });
        Ok(is_solved.then_some((output, posed)))
    }

    fn with_priors(&self, because: &str) -> Result<(RoomOutput, PosedScene), PoseError> {
        let made_from = self.made_from("priors", Some(because))?;
        match self.folder.room(made_from)? {
            RoomState::Done(output) => Ok(self.stored(output)?),
            RoomState::Needed(publishing) => {
                Ok(self.publish(publishing, &self.priors_alone(because))?)
            }
        }
    }

    fn stored(&self, output: RoomOutput) -> Result<(RoomOutput, PosedScene), SceneError> {
        let posed: PosedScene = output.read_json(POSE_FILE)?;
        index(self.folder, &output, &posed)?;
        Ok((output, posed))
    }

    fn publish(
        &self,
        mut publishing: Publishing<'_>,
        assembled: &Assembled,
    ) -> Result<(RoomOutput, PosedScene), SceneError> {
        if let Some(origin) = &assembled.posed.origin {
            store_origin(self.folder, origin)?;
        }
        publishing.write_json(POSE_FILE, &assembled.posed)?;
        publishing.write_json_lines(POINTS_FILE, &assembled.points)?;
        let output = publishing.publish()?;
        index(self.folder, &output, &assembled.posed)?;
        Ok((output, assembled.posed.clone()))
    }

    /// Solves, looks at what came out, and tries once more where that can help. The inner error
    /// says why nothing that came out can be used.
    fn solve(&self, engine: &Colmap) -> Result<Result<Assembled, String>, PoseError> {
        let (mut job, order, names) = self.job()?;
        job.work = self.work_folder(engine, &job, &order)?;
        let context = Context {
            scene: self.scene,
            priors: self.priors,
            names: &names,
            seed: self.config.seed,
        };
        let assemble = |solved: &Solved| {
            let identity = engine.identity();
            assemble::from_models(&context, solved, &identity)
        };
        let mut solved = self.run_stages(|on| engine.solve(&job, on, self.cancel))?;
        let mut best = assemble(&solved);
        if let Some(more) = self.pairs_seen_afterwards(&job, &order, best.as_ref().ok()) {
            let what = format!("after matching {} more pairs", more.len() - job.pairs.len());
            job.pairs = more;
            let again = self.run_stages(|on| engine.solve(&job, on, self.cancel));
            best = second(best, &mut solved, again, &what, assemble)?;
        }
        if best
            .as_ref()
            .is_ok_and(|found| focal_is_doubtful(&found.posed))
        {
            let fixed = self.run_stages(|on| engine.solve_with_fixed_focal(&job, on, self.cancel));
            let what = "with the focal length held at what is known";
            best = second(best, &mut solved, fixed, what, assemble)?;
        }
        Ok(best)
    }

    /// The solver's own folder, named by what its features and matches follow from: what the scene
    /// says besides (its zone, say) may change without finding them again.
    fn work_folder(
        &self,
        engine: &Colmap,
        job: &SolveJob,
        order: &[usize],
    ) -> Result<PathBuf, PoseError> {
        let photo_ids: Vec<&str> = order
            .iter()
            .map(|&idx| self.scene.photos[idx].photo_id.as_str())
            .collect();
        let cameras: Vec<(&CameraModel, Refine, usize)> = job
            .groups
            .iter()
            .map(|group| (&group.prior, group.refine, group.photos.len()))
            .collect();
        let text = canonical_json(&SolverKey {
            engine: engine.identity(),
            photo_ids,
            cameras,
            pairs: &job.pairs,
            max_image_size_px: job.settings.max_image_size_px,
            max_features: job.settings.max_features,
            masks: self.digest_of_masks()?,
        })
        .expect("a plain struct");
        let digest = files::sha256(text.as_bytes());
        let work = self.folder.cache_path().join("solver").join(&digest[..16]);
        files::create_dirs(self.folder.storage(), &work).map_err(SceneError::from)?;
        Ok(work)
    }

    fn run_stages(
        &self,
        solve: impl FnOnce(&mut super::solver::OnProgress<'_>) -> Result<Solved, SolveError>,
    ) -> Result<Solved, SolveError> {
        let mut shown: Option<(Stage, Progress)> = None;
        let mut on_progress = |stage: Stage, done: u64, total: u64| {
            if shown.as_ref().is_none_or(|(current, _)| *current != stage) {
                let progress = if self.quiet {
                    Progress::silent(stage.title(), total)
                } else {
                    Progress::new(stage.title(), total)
                };
                if let Some((_, before)) = shown.replace((stage, progress)) {
                    before.finish("done");
                }
            }
            if let Some((_, progress)) = &shown {
                progress.set_total(total);
                progress.set(done);
            }
        };
        let outcome = solve(&mut on_progress);
        if let Some((_, progress)) = shown {
            progress.finish(if outcome.is_ok() { "done" } else { "stopped" });
        }
        outcome
    }
}

fn index(folder: &SceneFolder, output: &RoomOutput, posed: &PosedScene) -> Result<(), SceneError> {
    folder.update_index(ROOM, &output.made_from_digest(), &["pose"], |transaction| {
        for photo in &posed.photos {
            let centre = photo
                .pose
                .as_ref()
                .map(|pose| pose.camera_from_enu.centre());
            let source = match photo.pose.as_ref().map(|pose| pose.source) {
                Some(PoseSource::Solved) => "solved",
                Some(PoseSource::Priors) => "priors",
                None => "none",
            };
            transaction.execute(
                "INSERT INTO pose VALUES (?1,?2,?3,?4,?5,?6,?7,?8)",
                rusqlite::params![
                    photo.photo_id.as_str(),
                    source,
                    centre.map(|c| c.x()),
                    centre.map(|c| c.y()),
                    centre.map(|c| c.z()),
                    photo.horizontal_residual_m.map(|[e, n]| e.hypot(n)),
                    photo.vertical_residual_m,
                    photo.reason,
                ],
            )?;
        }
        Ok(())
    })
}

/// The current poses of a scene and their sparse points.
///
/// # Errors
/// [`SceneError::Missing`] when the room has not run.
pub fn current(
    folder: &SceneFolder,
) -> Result<(RoomOutput, PosedScene, Vec<SparsePoint>), SceneError> {
    let output = folder.required(ROOM, "pose")?;
    let posed = output.read_json(POSE_FILE)?;
    let points = output.read_json_lines(POINTS_FILE)?;
    Ok((output, posed, points))
}
