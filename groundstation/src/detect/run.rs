//! The detect room at its edge.

use super::import::{self, ImportError};
use super::{
    DETECTIONS_FILE, DetectSchema, DetectSummary, DetectionId, FailedPhoto, PhotoDetections, ROOM,
    SUMMARY_FILE, SceneDetections,
};
use crate::ingest::{self, Scene, ScenePhoto};
use crate::pose;
use crate::pose::posed::{PoseSource, PosedScene};
use crate::pose::priors::{self, ScenePriors, VerticalDatum};
use crate::scene::{MadeFrom, PhotoId, RoomOutput, RoomState, SceneError, SceneFolder, files};
use calibration::{Metres, Pixel};
use console::{Cancel, Interrupted, Progress, canonical_json};
use detector::{
    DetectOptions, Detector, DetectorError, EngineOptions, EngineReport, ModelOverrides,
    ViewGeometry, Warning,
};
use rayon::prelude::*;
use serde::Serialize;
use std::fmt::Write as _;
use std::fs;
use std::path::PathBuf;
use std::sync::Mutex;

/// Raised when the room itself changes what it makes of the same inputs.
const REVISION: u32 = 1;

/// How to detect.
#[derive(Clone, Debug, Default)]
pub struct DetectConfig {
    /// A model of the user's; our own by default.
    pub model: Option<PathBuf>,
    /// Which engine and where.
    pub engine: EngineOptions,
    /// How to search.
    pub options: DetectOptions,
    /// Detections made elsewhere, as JSON lines, instead of running a model.
    pub detections: Option<PathBuf>,
}

/// Why there are no detections.
#[derive(Debug, thiserror::Error)]
pub enum DetectError {
    /// The scene.
    #[error(transparent)]
    Scene(#[from] SceneError),
    /// The model or its engine.
    #[error(transparent)]
    Detector(#[from] DetectorError),
    /// The file of detections.
    #[error(transparent)]
    Import(#[from] ImportError),
    /// The user stopped it.
    #[error(transparent)]
    Interrupted(#[from] Interrupted),
}

impl DetectError {
    /// Whether the input (rather than this program or the machine) is at fault.
    #[must_use]
    pub fn is_input_fault(&self) -> bool {
        match self {
            Self::Scene(error) => error.is_input_fault(),
            Self::Detector(error) => error.is_input_fault(),
            Self::Import(_) => true,
            Self::Interrupted(_) => false,
        }
    }
}

#[derive(Serialize)]
struct StoredConfig<'a> {
    model_sha256: &'a str,
    engine: &'a str,
    options: &'a DetectOptions,
}

/// Finds the vehicles in every photo of a scene.
///
/// # Errors
/// [`DetectError`]; a photo that cannot be searched is reported in the summary, not an error.
pub fn detect(
    folder: &SceneFolder,
    config: &DetectConfig,
    quiet: bool,
    cancel: &Cancel,
) -> Result<(RoomOutput, SceneDetections), DetectError> {
    let ingested = folder.required(ingest::ROOM, "ingest")?;
    let scene: Scene = ingested.read_json(ingest::SCENE_FILE)?;
    let scene_digest = ingested.file_digest(ingest::SCENE_FILE)?;
    if let Some(file) = &config.detections {
        return from_file(folder, &scene, scene_digest, file);
    }
    let views = views(folder, &scene)?;
    let mut searchers = searchers(config)?;
    let info = searchers[0].info().clone();
    let engine = format!(
        "{} {} {}",
        info.engine.name, info.engine.version, info.engine.provider
    );
    let stored = StoredConfig {
        model_sha256: &info.sha256,
        engine: &engine,
        options: &config.options,
    };
    let made_from = MadeFrom::new(ROOM, REVISION, &stored)
        .input("scene", scene_digest)
        .input("views", &digest_of(&views));
    let mut publishing = match folder.room(made_from)? {
        RoomState::Done(output) => return stored_output(folder, output),
        RoomState::Needed(publishing) => publishing,
    };
    let progress = progress(quiet, scene.photos.len());
    let pool = Mutex::new(std::mem::take(&mut searchers));
    let kept = Kept::open(folder, &publishing.made_from_digest())?;
    let outcomes: Vec<(PhotoDetections, Option<FailedPhoto>)> = scene
        .photos
        .par_iter()
        .zip(&views)
        .map(|(photo, view)| {
            cancel.check()?;
            let found = match kept.of(photo) {
                Some(found) => (found, None),
                None => search(folder, photo, view.as_ref(), &config.options, &pool)?,
            };
            if let (found, None) = &found {
                kept.keep(found)?;
            }
            progress.step();
            Ok(found)
        })
        .collect::<Result<_, DetectError>>()?;
    let (photos, failed): (Vec<_>, Vec<_>) = outcomes.into_iter().unzip();
    let result = summarise(
        photos,
        failed.into_iter().flatten().collect(),
        &info.sha256,
        info.engine,
    );
    progress.finish(&in_words(&result));
    publishing.write_json(SUMMARY_FILE, &result.summary)?;
    publishing.write_json_lines(DETECTIONS_FILE, &result.photos)?;
    let output = publishing.publish()?;
    kept.forget();
    index(folder, &output, &result)?;
    Ok((output, result))
}

/// What was found in single photos, kept for a run that is interrupted.
struct Kept<'a> {
    scene: &'a SceneFolder,
    folder: PathBuf,
}

impl<'a> Kept<'a> {
    /// For a run that makes the output of this digest.
    fn open(scene: &'a SceneFolder, digest: &str) -> Result<Self, SceneError> {
        let folder = scene.cache_path().join("detect").join(digest);
        files::create_dirs(scene.storage(), &folder)?;
        Ok(Self { scene, folder })
    }

    fn path(&self, photo_id: &PhotoId) -> PathBuf {
        self.folder.join(format!("{}.json", photo_id.as_str()))
    }

    fn of(&self, photo: &ScenePhoto) -> Option<PhotoDetections> {
        let text = fs::read_to_string(self.path(&photo.photo_id)).ok()?;
        // A damaged one is searched again.
        serde_json::from_str(&text).ok()
    }

    /// Whole or not at all, but not worth a wait for the disk: it can be found again.
    fn keep(&self, found: &PhotoDetections) -> Result<(), SceneError> {
        let path = self.path(&found.photo_id);
        if path.exists() {
            return Ok(());
        }
        let text = canonical_json(found).expect("plain numbers and text");
        let part = path.with_extension("part");
        // Left by an interrupted run.
        let _ = fs::remove_file(&part);
        let storage = self.scene.storage();
        storage.create_new(&part)?.write_all(text.as_bytes())?;
        storage.rename(&part, &path)?;
        Ok(())
    }

    /// It is in the output now.
    fn forget(&self) {
        // It may be deleted at any time, later as well.
        let _ = fs::remove_dir_all(&self.folder);
    }
}

fn progress(quiet: bool, n_photos: usize) -> Progress {
    let total = n_photos as u64;
    if quiet {
        Progress::silent("detect", total)
    } else {
        Progress::new("detect", total)
    }
}

fn in_words(result: &SceneDetections) -> String {
    let summary = &result.summary;
    let failed = if summary.failed.is_empty() {
        String::new()
    } else {
        format!(", {} photos could not be searched", summary.failed.len())
    };
    format!(
        "{} detections in {} photos with {} {}{failed}",
        summary.n_detections,
        result.photos.len(),
        summary.engine.name,
        summary.engine.version
    )
}

fn stored_output(
    folder: &SceneFolder,
    output: RoomOutput,
) -> Result<(RoomOutput, SceneDetections), DetectError> {
    let result = super::read(&output)?;
    index(folder, &output, &result)?;
    Ok((output, result))
}

fn from_file(
    folder: &SceneFolder,
    scene: &Scene,
    scene_digest: &str,
    file: &std::path::Path,
) -> Result<(RoomOutput, SceneDetections), DetectError> {
    let imported = import::read(file, scene)?;
    let digest = files::sha256_of_file(file)?;
    let made_from = MadeFrom::new(ROOM, REVISION, &"imported")
        .input("scene", scene_digest)
        .input("detections", &digest);
    match folder.room(made_from)? {
        RoomState::Done(output) => stored_output(folder, output),
        RoomState::Needed(mut publishing) => {
            let model = imported.model_sha256;
            let result = summarise(imported.photos, Vec::new(), &model, imported.engine);
            publishing.write_json(SUMMARY_FILE, &result.summary)?;
            publishing.write_json_lines(DETECTIONS_FILE, &result.photos)?;
            let output = publishing.publish()?;
            index(folder, &output, &result)?;
            Ok((output, result))
        }
    }
}

/// One detector per processor, each with one thread: photos are worked on side by side.
fn searchers(config: &DetectConfig) -> Result<Vec<Detector>, DetectorError> {
    let n = rayon::current_num_threads().max(1);
    let engine = EngineOptions {
        threads: Some(1),
        ..config.engine.clone()
    };
    (0..n)
        .map(|_| match &config.model {
            Some(path) => Detector::load(path, &ModelOverrides::default(), &engine),
            None => Detector::built_in(&engine),
        })
        .collect()
}

fn search(
    folder: &SceneFolder,
    photo: &ScenePhoto,
    view: Option<&ViewGeometry>,
    options: &DetectOptions,
    pool: &Mutex<Vec<Detector>>,
) -> Result<(PhotoDetections, Option<FailedPhoto>), DetectError> {
    let path = folder.photo_path(&photo.photo_id);
    let bytes = fs::read(&path).map_err(|source| SceneError::Read { path, source })?;
    let take = || {
        pool.lock()
            .unwrap_or_else(std::sync::PoisonError::into_inner)
            .pop()
    };
    let give = |detector| {
        pool.lock()
            .unwrap_or_else(std::sync::PoisonError::into_inner)
            .push(detector);
    };
    let mut detector = take().expect("there are as many detectors as threads");
    let outcome = detector.detect_encoded(&bytes, view, options);
    give(detector);
    let empty = |warnings| PhotoDetections {
        photo_id: photo.photo_id.clone(),
        width_px: photo.width_px,
        height_px: photo.height_px,
        detections: Vec::new(),
        warnings,
    };
    Ok(match outcome {
        Ok(found) => (
            PhotoDetections {
                detections: found.detections,
                ..empty(found.warnings)
            },
            None,
        ),
        Err(error) => {
            let failed = FailedPhoto {
                name: photo.name().to_owned(),
                reason: error.to_string(),
            };
            (empty(Vec::new()), Some(failed))
        }
    })
}

fn summarise(
    photos: Vec<PhotoDetections>,
    failed: Vec<FailedPhoto>,
    model_sha256: &str,
    engine: EngineReport,
) -> SceneDetections {
    let n_without_scale = photos
        .iter()
        .filter(|photo| photo.warnings.contains(&Warning::NoView))
        .count();
    let summary = DetectSummary {
        schema: DetectSchema,
        model_sha256: model_sha256.to_owned(),
        // Where the library lies is the machine's business, not the scene's.
        engine: EngineReport {
            library: None,
            passed_over: Vec::new(),
            ..engine
        },
        n_detections: photos.iter().map(|photo| photo.detections.len()).sum(),
        failed,
        n_without_scale,
    };
    SceneDetections { summary, photos }
}

/// Where each photo was taken from, as well as it is known now: a solved pose, else the photo's
/// own account.
fn views(folder: &SceneFolder, scene: &Scene) -> Result<Vec<Option<ViewGeometry>>, SceneError> {
    let posed: Option<PosedScene> = match folder.current(pose::ROOM)? {
        Some(output) => Some(output.read_json(pose::POSE_FILE)?),
        None => None,
    };
    let priors = priors::gather(scene, None);
    Ok(scene
        .photos
        .iter()
        .enumerate()
        .map(|(idx, photo)| {
            let solved = posed.as_ref().and_then(|posed| solved_view(posed, photo));
            solved.or_else(|| prior_view(scene, &priors, idx))
        })
        .collect())
}

fn solved_view(posed: &PosedScene, photo: &ScenePhoto) -> Option<ViewGeometry> {
    let found = posed.photos.iter().find(|p| p.photo_id == photo.photo_id)?;
    let pose = found
        .pose
        .as_ref()
        .filter(|pose| pose.source == PoseSource::Solved)?;
    let above_ground = posed.alignment.as_ref()?.height_above_ground_m?;
    let centres: Vec<f64> = posed
        .photos
        .iter()
        .filter_map(|p| {
            p.pose
                .as_ref()
                .filter(|pose| pose.source == PoseSource::Solved)
        })
        .map(|pose| pose.camera_from_enu.centre().z())
        .collect();
    let mut sorted = centres.clone();
    // The ground lies below the cameras' median height by the median height above ground.
    let ground = crate::statistics::median(&mut sorted)? - above_ground;
    usable(ViewGeometry {
        camera: *posed.camera_of(found),
        camera_from_enu: pose.camera_from_enu.rotation,
        height_above_ground: Metres(pose.camera_from_enu.centre().z() - ground),
    })
}

fn prior_view(scene: &Scene, priors: &ScenePriors, idx: usize) -> Option<ViewGeometry> {
    if priors.heights.datum() != VerticalDatum::TakeOff {
        return None;
    }
    let prior = &priors.photos[idx];
    usable(ViewGeometry {
        camera: scene.cameras[scene.photos[idx].camera].prior,
        camera_from_enu: prior.rotation?,
        height_above_ground: Metres(prior.height?.height_m),
    })
}

/// A view must be above the ground.
fn usable(view: ViewGeometry) -> Option<ViewGeometry> {
    (view.height_above_ground.get() > 1.0).then_some(view)
}

/// The digest of what is known now about the photos' scales, which a detection run depends on.
pub(crate) fn views_digest(folder: &SceneFolder, scene: &Scene) -> Result<String, SceneError> {
    Ok(digest_of(&views(folder, scene)?))
}

/// A digest of the sizes cars are expected at, so coarse that poses solved again do not change it.
fn digest_of(views: &[Option<ViewGeometry>]) -> String {
    let mut text = String::new();
    for view in views {
        let Some(view) = view else {
            text.push_str("none\n");
            continue;
        };
        let (width, height) = (f64::from(view.camera.width), f64::from(view.camera.height));
        for (x, y) in [(0.5, 0.5), (0.1, 0.1), (0.9, 0.9)] {
            let size = view.car_px(Pixel::new(x * width, y * height));
            // Steps of an eighth: resampling is not finer than that either.
            let step = size.map_or(-1, |px| (8.0 * px.max(1.0).log2()).round() as i64);
            write!(text, "{step} ").expect("writing to a String does not fail");
        }
        text.push('\n');
    }
    files::sha256(text.as_bytes())
}

fn index(
    folder: &SceneFolder,
    output: &RoomOutput,
    result: &SceneDetections,
) -> Result<(), SceneError> {
    folder.update_index(
        ROOM,
        &output.made_from_digest(),
        &["detection"],
        |transaction| {
            let mut insert = transaction
                .prepare("INSERT INTO detection VALUES (?1,?2,?3,?4,?5,?6,?7,?8,?9,?10)")?;
            for photo in &result.photos {
                for (idx, detection) in photo.detections.iter().enumerate() {
                    let id = DetectionId::new(&photo.photo_id, &result.summary.model_sha256, idx);
                    let oriented = &detection.oriented_box;
                    insert.execute(rusqlite::params![
                        id.as_str(),
                        photo.photo_id.as_str(),
                        serde_json::to_value(detection.class)
                            .ok()
                            .and_then(|v| v.as_str().map(str::to_owned)),
                        detection.score,
                        oriented.centre().x,
                        oriented.centre().y,
                        oriented.long_side_px(),
                        oriented.short_side_px(),
                        oriented.angle().to_degrees(),
                        detection.truncated,
                    ])?;
                }
            }
            Ok(())
        },
    )
}
