//! The pose room at its edge: engine found, photos handed over, result chosen and stored.

use super::assemble::{self, ASSUMED_HEIGHT_M, Assembled, Context};
use super::pairs::{self, PairLimits, PairPrior};
use super::posed::{Level, MadeBy, PoseSource, PosedScene, SparsePoint};
use super::priors::{self, ScenePriors, VerticalDatum};
use super::solver::{
    CameraGroup, Colmap, ColmapProgram, PoseEngine, Refine, SolveError, SolveJob, SolvePhoto,
    SolveSettings, Solved, Stage, find,
};
use crate::ingest::{self, Scene, ScenePhoto};
use crate::opencv;
use crate::scene::{MadeFrom, Publishing, RoomOutput, RoomState, SceneError, SceneFolder, files};
use calibration::ground::{Footprint, GroundView, ViewLimits};
use calibration::{LocalOrigin, Metres};
use console::{Cancel, Interrupted, Progress};
use record::write_durably;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// The room's name.
pub const ROOM: &str = "pose";
/// The room's main file.
pub const POSE_FILE: &str = "pose.json";
/// The sparse points.
pub const POINTS_FILE: &str = "points.jsonl";
/// Raised when the room itself changes what it makes of the same inputs.
const REVISION: u32 = 1;
/// Where the scene keeps its origin, fixed at the first pose run.
const ORIGIN_FILE: &str = "origin.json";

/// Focal lengths further from the prior than this are doubted.
const MAX_FOCAL_CHANGE: f64 = 0.05;
/// Heights above ground further from the heights above take-off than this are doubted.
const MAX_HEIGHT_RATIO_OFF: f64 = 0.15;
/// Fewer photos cannot be reconstructed.
const MIN_PHOTOS: usize = 3;
/// A gimbal yaw off by more than this has misled the choice of pairs.
const MISLEADING_YAW_DEG: f64 = 10.0;

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
            Self::EngineMissing { .. } | Self::Setting { .. } => true,
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

struct Run<'a> {
    folder: &'a SceneFolder,
    scene: &'a Scene,
    priors: &'a ScenePriors,
    config: &'a PoseConfig,
    digest: &'a str,
    quiet: bool,
    cancel: &'a Cancel,
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
            None => match self.solve(engine, &publishing) {
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
            posed: assemble::from_priors(self.scene, self.priors, because),
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
    fn solve(
        &self,
        engine: &Colmap,
        publishing: &Publishing<'_>,
    ) -> Result<Result<Assembled, String>, PoseError> {
        let work = publishing.cache_path("solver");
        files::create_dirs(self.folder.storage(), &work).map_err(SceneError::from)?;
        let (mut job, order, names) = self.job(&work)?;
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

    /// The job, the scene's photo index per photo of the job, and the solver's name per photo of
    /// the scene.
    fn job(&self, work: &Path) -> Result<(SolveJob, Vec<usize>, Vec<String>), PoseError> {
        let mut groups: Vec<CameraGroup> = Vec::new();
        let mut order = Vec::new();
        let mut names = vec![String::new(); self.scene.photos.len()];
        for (camera_idx, camera) in self.scene.cameras.iter().enumerate() {
            let members: Vec<usize> = (0..self.scene.photos.len())
                .filter(|&idx| self.scene.photos[idx].camera == camera_idx)
                .collect();
            let mut photos = Vec::new();
            for &idx in &members {
                let photo = &self.scene.photos[idx];
                names[idx] = format!("c{camera_idx:02}_{idx:05}.jpg");
                photos.push(SolvePhoto {
                    name: names[idx].clone(),
                    file: self.upright_file(photo)?,
                    mask: self.mask_of(photo),
                });
            }
            groups.push(CameraGroup {
                prior: camera.prior,
                refine: self.refine(&members),
                photos,
            });
            order.extend(members);
        }
        let pair_priors: Vec<PairPrior> = order.iter().map(|&idx| self.pair_prior(idx)).collect();
        let pairs = if self.config.exhaustive {
            (0..order.len())
                .flat_map(|a| (a + 1..order.len()).map(move |b| (a, b)))
                .collect()
        } else {
            pairs::choose(&pair_priors, self.pair_limits())
        };
        let settings = self.config.settings.clone();
        Ok((
            SolveJob {
                work: work.to_owned(),
                groups,
                pairs,
                settings,
            },
            order,
            names,
        ))
    }

    fn pair_limits(&self) -> PairLimits {
        PairLimits {
            partners_per_photo: self.config.settings.partners_per_photo,
            ..PairLimits::default()
        }
    }

    /// What self-calibration can find out from these photos.
    fn refine(&self, members: &[usize]) -> Refine {
        let pitches: Vec<f64> = members
            .iter()
            .filter_map(|&idx| self.priors.photos[idx].rotation)
            .map(|rotation| {
                let axis = rotation.inverse().quaternion * nalgebra::Vector3::z();
                axis.z.clamp(-1.0, 1.0).asin().to_degrees()
            })
            .collect();
        let n = pitches.len() as f64;
        if members.len() < MIN_PHOTOS_FOR_FULL || n < 2.0 {
            return Refine::FocalAndRadial;
        }
        let mean = pitches.iter().sum::<f64>() / n;
        let spread = (pitches.iter().map(|p| (p - mean).powi(2)).sum::<f64>() / n).sqrt();
        if spread > PITCH_SPREAD_FOR_FULL_DEG {
            Refine::Full
        } else {
            Refine::FocalAndRadial
        }
    }

    /// The photo's pixels upright: the original where it is stored so.
    fn upright_file(&self, photo: &ScenePhoto) -> Result<PathBuf, PoseError> {
        let original = self.folder.photo_path(&photo.photo_id);
        let orientation = ingest::orientation_of(&photo.capture);
        if orientation.exif_value() == 1 {
            return Ok(original);
        }
        let upright = self.folder.cache_path().join("upright");
        let path = upright.join(format!("{}.jpg", photo.photo_id.as_str()));
        if !path.exists() {
            files::create_dirs(self.folder.storage(), &upright).map_err(SceneError::from)?;
            let bytes = fs::read(&original).map_err(|source| SceneError::Read {
                path: original.clone(),
                source,
            })?;
            match opencv::upright_jpeg(&bytes, orientation) {
                Ok(turned) => write_durably(self.folder.storage(), &path, &turned)
                    .map_err(SceneError::from)?,
                // The solver will say that it cannot read it either, and go on without it.
                Err(error) => {
                    tracing::warn!("cannot turn {} upright: {error}", photo.name());
                    return Ok(original);
                }
            }
        }
        Ok(path)
    }

    fn mask_of(&self, photo: &ScenePhoto) -> Option<PathBuf> {
        let masks = self.config.masks.as_ref()?;
        photo
            .names
            .iter()
            .map(|name| masks.join(format!("{name}.png")))
            .find(|path| path.is_file())
    }

    /// Which photo has which mask; `None` when no masks are used.
    fn digest_of_masks(&self) -> Result<Option<String>, SceneError> {
        if self.config.masks.is_none() {
            return Ok(None);
        }
        let mut text = String::new();
        for photo in &self.scene.photos {
            if let Some(mask) = self.mask_of(photo) {
                let digest = files::sha256_of_file(&mask)?;
                text.push_str(&format!("{} {digest}\n", photo.photo_id.as_str()));
            }
        }
        Ok(Some(files::sha256(text.as_bytes())))
    }

    fn pair_prior(&self, idx: usize) -> PairPrior {
        let prior = &self.priors.photos[idx];
        let with_heights = self.priors.heights.datum() == VerticalDatum::TakeOff;
        let mut placed = prior.clone();
        if !with_heights {
            placed.height = None;
        }
        let pose = placed.pose((!with_heights).then_some(ASSUMED_HEIGHT_M));
        let camera = self.scene.cameras[self.scene.photos[idx].camera].prior;
        PairPrior {
            footprint: pose.and_then(|pose| footprint(camera, pose)),
            position: prior.horizontal.map(|h| [h.east_m, h.north_m]),
            time_s: prior.time_s,
        }
    }

    /// Pairs chosen once more from the poses that came out, where the priors have misled the first
    /// choice; `None` when nothing would be added.
    fn pairs_seen_afterwards(
        &self,
        job: &SolveJob,
        order: &[usize],
        found: Option<&Assembled>,
    ) -> Option<Vec<(usize, usize)>> {
        let posed = &found?.posed;
        let all_posed = posed.n_solved() == posed.photos.len();
        let yaw_misled = posed
            .alignment
            .as_ref()
            .and_then(|alignment| alignment.gimbal_yaw_offset_deg)
            .is_some_and(|yaw| yaw.median_deg.abs() > MISLEADING_YAW_DEG);
        let in_one_piece = posed
            .alignment
            .as_ref()
            .is_some_and(|a| a.components.len() == 1);
        if self.config.exhaustive || (all_posed && in_one_piece && !yaw_misled) {
            return None;
        }
        let seen: Vec<PairPrior> = order
            .iter()
            .map(|&idx| {
                let photo = &posed.photos[idx];
                let pose = photo.pose.as_ref();
                let solved = pose.filter(|pose| pose.source == PoseSource::Solved);
                match solved {
                    Some(pose) => PairPrior {
                        footprint: footprint(*posed.camera_of(photo), pose.camera_from_enu),
                        ..self.pair_prior(idx)
                    },
                    // What could not be posed is matched widely.
                    None => PairPrior {
                        footprint: None,
                        ..self.pair_prior(idx)
                    },
                }
            })
            .collect();
        let mut union: BTreeSet<(usize, usize)> = job.pairs.iter().copied().collect();
        union.extend(pairs::choose(&seen, self.pair_limits()));
        (union.len() > job.pairs.len()).then(|| union.into_iter().collect())
    }
}

/// Photos of one camera needed to solve for tangential distortion and two focal lengths.
const MIN_PHOTOS_FOR_FULL: usize = 20;
/// And how much their pitches must differ.
const PITCH_SPREAD_FOR_FULL_DEG: f64 = 8.0;

fn footprint(
    camera: calibration::CameraModel,
    pose: calibration::Rigid<calibration::frames::Camera, calibration::frames::Enu>,
) -> Option<Footprint> {
    let view = GroundView::new(camera, pose, Metres(0.0));
    view.footprint(&ViewLimits::for_pairs(view.height_above_ground()))
}

/// Whether focal length or height says that self-calibration went astray.
fn focal_is_doubtful(posed: &PosedScene) -> bool {
    let focal = posed
        .cameras
        .iter()
        .filter_map(|camera| camera.focal_change)
        .any(|change| change.abs() > MAX_FOCAL_CHANGE);
    let height = posed
        .alignment
        .as_ref()
        .and_then(|alignment| alignment.height_ratio)
        .is_some_and(|ratio| (ratio - 1.0).abs() > MAX_HEIGHT_RATIO_OFF);
    focal || height
}

/// The better of a first result and of what a second run made; `solved` becomes the second run's,
/// with the stages of both. A second run that fails takes nothing from the first.
fn second(
    mut first: Result<Assembled, String>,
    solved: &mut Solved,
    again: Result<Solved, SolveError>,
    what: &str,
    assemble: impl Fn(&Solved) -> Result<Assembled, String>,
) -> Result<Result<Assembled, String>, PoseError> {
    match again {
        Ok(mut again) => {
            again
                .stages
                .splice(0..0, std::mem::take(&mut solved.stages));
            *solved = again;
            Ok(better(first, assemble(solved), what))
        }
        Err(SolveError::Interrupted(interrupted)) => Err(interrupted.into()),
        Err(error) => match &mut first {
            Ok(kept) => {
                let remark = format!("a second run, {what}, failed: {error}");
                kept.posed.remarks.push(remark);
                Ok(first)
            }
            Err(_) => Err(error.into()),
        },
    }
}

/// The better of two results by what the gates say; the other is reported.
fn better(
    first: Result<Assembled, String>,
    second: Result<Assembled, String>,
    what: &str,
) -> Result<Assembled, String> {
    match (first, second) {
        (Ok(mut first), Ok(mut second)) => {
            let (a, b) = (rank(&first.posed), rank(&second.posed));
            let other = if b < a { &first.posed } else { &second.posed };
            let remark = format!(
                "solved twice, the second time {what}: {} kept; the other had {}",
                if b < a { "the second" } else { "the first" },
                in_short(other)
            );
            let kept = if b < a { &mut second } else { &mut first };
            kept.posed.remarks.push(remark);
            Ok(if b < a { second } else { first })
        }
        (Ok(mut kept), Err(refusal)) => {
            let remark = format!("solved a second time {what}; that was refused: {refusal}");
            kept.posed.remarks.push(remark);
            Ok(kept)
        }
        (Err(refusal), Ok(mut kept)) => {
            let remark = format!("the first solution was refused ({refusal}); solved again {what}");
            kept.posed.remarks.push(remark);
            Ok(kept)
        }
        (Err(first), Err(_)) => Err(first),
    }
}

/// Smaller is better: the verdict, then photos left out, then doubts about focal length and height.
fn rank(posed: &PosedScene) -> (Level, usize, u64) {
    let left_out = posed.photos.len() - posed.n_solved();
    let focal = posed
        .cameras
        .iter()
        .filter_map(|c| c.focal_change)
        .map(f64::abs)
        .sum::<f64>();
    let height = posed
        .alignment
        .as_ref()
        .and_then(|a| a.height_ratio)
        .map_or(0.0, |ratio| (ratio - 1.0).abs());
    (
        posed.verdict.level,
        left_out,
        (1e6 * (focal + height)) as u64,
    )
}

fn in_short(posed: &PosedScene) -> String {
    let focal: Vec<String> = posed
        .cameras
        .iter()
        .filter_map(|c| c.focal_change)
        .map(|change| format!("{:+.1} %", 100.0 * change))
        .collect();
    let ratio = posed
        .alignment
        .as_ref()
        .and_then(|a| a.height_ratio)
        .map_or_else(|| "unknown".to_owned(), |ratio| format!("{ratio:.3}"));
    format!(
        "{} of {} photos, focal length {}, height ratio {ratio}",
        posed.n_solved(),
        posed.photos.len(),
        focal.join(" and ")
    )
}

#[derive(Serialize, Deserialize)]
struct OriginFile {
    schema: String,
    origin: LocalOrigin,
}

fn stored_origin(folder: &SceneFolder) -> Result<Option<LocalOrigin>, SceneError> {
    let path = folder.root().join(ORIGIN_FILE);
    match fs::read_to_string(&path) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
        Err(source) => Err(SceneError::Read { path, source }),
        Ok(text) => serde_json::from_str::<OriginFile>(&text)
            .map(|file| Some(file.origin))
            .map_err(|error| SceneError::Damaged {
                path,
                what: error.to_string(),
            }),
    }
}

/// Fixes the scene's origin once and for all.
fn store_origin(folder: &SceneFolder, origin: &LocalOrigin) -> Result<(), SceneError> {
    let path = folder.root().join(ORIGIN_FILE);
    if path.exists() {
        return Ok(());
    }
    let file = OriginFile {
        schema: "scene-origin/1".to_owned(),
        origin: *origin,
    };
    let text = console::canonical_json(&file).expect("a plain struct");
    write_durably(folder.storage(), &path, format!("{text}\n").as_bytes())?;
    Ok(())
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
