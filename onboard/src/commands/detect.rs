//! `onboard detect`: photos in, vehicles out.

use super::model::doubt_in_words;
use super::photos::{self, PhotoFile};
use super::{EngineArgs, load};
use crate::output::{ListedFile, OutputError, OutputFolder};
use crate::view;
use calibration::Metres;
use clap::{Args, ValueEnum};
use console::{Cancel, ExitStatus, InputError, Progress, print_json};
use detector::{
    DetectOptions, Detections, Detector, DetectorError, EngineReport, ModelInfo, Photo, ScaleBasis,
    ScaleChoice, SelfTest, ViewGeometry, Warning, coco, dota, draw_overlay, encode_jpeg, json_line,
    yolo_class_names, yolo_obb,
};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

/// Name of the summary's schema, and its version.
const SCHEMA_NAME: &str = "onboard-detect";
const SCHEMA: &str = "onboard-detect/1";

/// Arguments of `detect`.
#[derive(Debug, Args)]
pub struct DetectArgs {
    /// Photos, or folders of them.
    #[arg(required = true, value_name = "PHOTO")]
    photos: Vec<PathBuf>,
    /// Folder for the results: new, empty, or an earlier result, which is replaced.
    #[arg(long, value_name = "DIR")]
    out: PathBuf,
    /// An ONNX model of your own; ours is built in.
    #[arg(long, value_name = "FILE")]
    model: Option<PathBuf>,
    /// Also write each photo with the boxes drawn into it.
    #[arg(long)]
    overlay: bool,
    /// Files to write, separated by commas.
    #[arg(long, value_enum, value_delimiter = ',', default_value = "jsonl")]
    format: Vec<Format>,
    /// Drop boxes that score less; by default what the model's file says.
    #[arg(long, value_name = "0..1")]
    min_score: Option<f64>,
    /// Height above the ground, where the photos do not say it or say it wrongly.
    #[arg(long, value_name = "METRES")]
    height_above_ground: Option<f64>,
    /// Search the photos scaled by this factor, whatever they say about their height.
    #[arg(long, value_name = "FACTOR", conflicts_with = "height_above_ground")]
    scale: Option<f64>,
    #[command(flatten)]
    engine: EngineArgs,
    /// Print the summary as one JSON object.
    #[arg(long)]
    json: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Format {
    /// detections.jsonl: a line per photo, which the ground station reads.
    Jsonl,
    /// coco.json.
    Coco,
    /// yolo-obb/: a text file per photo, and the class names.
    YoloObb,
    /// dota/: a text file per photo.
    Dota,
}

/// What is known after a run; summary.json holds it, and `--json` prints it.
#[derive(Serialize)]
struct Summary<'a> {
    schema: &'static str,
    model_sha256: &'a str,
    engine: &'a EngineReport,
    min_score: f64,
    n_vehicles: usize,
    photos: Vec<PhotoSummary<'a>>,
    failed: Vec<FailedPhoto<'a>>,
    files: Vec<ListedFile>,
}

#[derive(Serialize)]
struct PhotoSummary<'a> {
    photo: &'a str,
    n_vehicles: usize,
    scale: ScaleBasis,
    /// Lengths of a car that were expected in the photo, where its scale was known.
    expected_car_px: Option<(f64, f64)>,
    warnings: Vec<String>,
}

#[derive(Serialize)]
struct FailedPhoto<'a> {
    photo: &'a str,
    reason: String,
}

/// A photo's result, and why its scale is unknown where it is.
#[derive(Serialize, Deserialize)]
struct Searched {
    found: Detections,
    no_view: Option<String>,
}

type Outcome = Result<Searched, PhotoError>;

/// Why one photo has no result; the others go on.
#[derive(Debug, thiserror::Error)]
enum PhotoError {
    #[error("cannot read it: {0}")]
    Read(#[from] std::io::Error),
    #[error(transparent)]
    Detector(#[from] DetectorError),
}

impl PhotoError {
    fn is_input_fault(&self) -> bool {
        match self {
            Self::Read(_) => true,
            Self::Detector(error) => error.is_input_fault(),
        }
    }
}

pub(super) fn run(args: &DetectArgs, quiet: bool, cancel: &Cancel) -> anyhow::Result<ExitStatus> {
    let options = options(args)?;
    let files = photos::collect(&args.photos)?;
    let pool = Pool::start(args, files.len())?;
    let model = pool.model.clone();
    if args.model.is_some() {
        warn_of_doubts(pool.with(Detector::self_test)?);
    }
    let folder = OutputFolder::begin(&args.out, SCHEMA_NAME)?;
    let progress = progress(quiet, files.len());
    let run = Run {
        args,
        options: &options,
        conditions: conditions(args, &options, &model),
        folder: &folder,
    };
    let search = |file: &PhotoFile| -> Result<Option<Outcome>, OutputError> {
        if cancel.is_requested() {
            return Ok(None);
        }
        let outcome = pool.with(|detector| run.search(file, detector));
        progress.step();
        outcome.map(Some)
    };
    let outcomes: Vec<Option<Outcome>> = pool
        .threads
        .install(|| files.par_iter().map(search).collect::<Result<_, _>>())?;
    let Some(outcomes) = outcomes.into_iter().collect::<Option<Vec<Outcome>>>() else {
        eprintln!(
            "interrupted; {} was not written. Run the same command again: photos that were \
             searched are not searched again",
            args.out.display()
        );
        return Ok(ExitStatus::Interrupted);
    };
    write_formats(args, &files, &outcomes, &model, &folder)?;
    let summary = summarise(&files, &outcomes, &model, &options, folder.files());
    progress.finish(&format!("{} photos", files.len()));
    folder.publish(&summary)?;
    show(args, &summary)?;
    Ok(status_of(&outcomes))
}

fn options(args: &DetectArgs) -> anyhow::Result<DetectOptions> {
    if let Some(score) = args.min_score.filter(|score| !(0.0..=1.0).contains(score)) {
        return Err(InputError(format!("--min-score {score}: expected 0 to 1")).into());
    }
    if let Some(height) = args
        .height_above_ground
        .filter(|h| !(1.0..=5000.0).contains(h))
    {
        let expected = "expected 1 to 5000 metres";
        return Err(InputError(format!("--height-above-ground {height}: {expected}")).into());
    }
    if let Some(factor) = args.scale.filter(|f| !(0.001..=16.0).contains(f)) {
        return Err(InputError(format!("--scale {factor}: expected 0.001 to 16")).into());
    }
    Ok(DetectOptions {
        score_threshold: args.min_score,
        scale: args.scale.map_or(ScaleChoice::Auto, ScaleChoice::Factor),
        ..DetectOptions::default()
    })
}

/// Detectors that photos take and give back, so that each is loaded once.
struct Pool {
    model: ModelInfo,
    detectors: Mutex<Vec<Detector>>,
    threads: rayon::ThreadPool,
}

impl Pool {
    /// Several photos are searched side by side with one thread each, a single one with all.
    fn start(args: &DetectArgs, n_photos: usize) -> anyhow::Result<Self> {
        let n_threads = args.engine.n_threads();
        let n_side_by_side = n_threads.min(n_photos).max(1);
        let engine = args.engine.options(n_threads / n_side_by_side);
        let detectors: Vec<Detector> = (0..n_side_by_side)
            .map(|_| load(args.model.as_ref(), &engine))
            .collect::<Result<_, _>>()?;
        let threads = rayon::ThreadPoolBuilder::new()
            .num_threads(n_side_by_side)
            .build()?;
        Ok(Self {
            model: detectors[0].info().clone(),
            detectors: Mutex::new(detectors),
            threads,
        })
    }

    fn with<T>(&self, work: impl FnOnce(&mut Detector) -> T) -> T {
        let lock = || {
            self.detectors
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
        };
        let mut detector = lock().pop().expect("there are as many as threads");
        let done = work(&mut detector);
        lock().push(detector);
        done
    }
}

fn progress(quiet: bool, n_photos: usize) -> Progress {
    let (title, total) = ("detect", n_photos as u64);
    if quiet {
        Progress::silent(title, total)
    } else {
        Progress::new(title, total)
    }
}

fn warn_of_doubts(tested: SelfTest) {
    if tested.is_doubtful() {
        eprintln!("{}", doubt_in_words(&tested));
    }
}

/// What decides, beside the photo itself, what is found in it.
fn conditions(args: &DetectArgs, options: &DetectOptions, model: &ModelInfo) -> String {
    let engine = &model.engine;
    let of_photos = (args.height_above_ground, args.scale);
    let of_model = (
        &model.sha256,
        &engine.name,
        &engine.version,
        &engine.provider,
    );
    serde_json::to_string(&(of_model, options, of_photos)).expect("plain numbers and text")
}

/// What all photos of a run share.
struct Run<'a> {
    args: &'a DetectArgs,
    options: &'a DetectOptions,
    conditions: String,
    folder: &'a OutputFolder,
}

impl Run<'_> {
    /// One photo: errors of its own are its outcome, those of the output folder stop the run.
    fn search(&self, file: &PhotoFile, detector: &mut Detector) -> Result<Outcome, OutputError> {
        let bytes = match std::fs::read(&file.path) {
            Ok(bytes) => bytes,
            Err(error) => return Ok(Err(error.into())),
        };
        let key = self.key(file, &bytes);
        let kept = self.folder.kept(&key);
        // A damaged one is searched again.
        let searched = match kept.and_then(|text| serde_json::from_str(&text).ok()) {
            Some(searched) => searched,
            None => match search(file, &bytes, self.args, self.options, detector) {
                Ok(searched) => {
                    let text = serde_json::to_string(&searched)?;
                    self.folder.keep(&key, &text)?;
                    searched
                }
                Err(error) => return Ok(Err(error.into())),
            },
        };
        if self.args.overlay {
            let drawn = match drawn(&bytes, &searched.found) {
                Ok(drawn) => drawn,
                Err(error) => return Ok(Err(error.into())),
            };
            self.folder
                .write(&format!("overlay/{}.jpg", file.stem), &drawn)?;
        }
        Ok(Ok(searched))
    }

    /// The name of what is kept: another photo, model or option has another one. The photo's own
    /// name counts, too: some drones write the height into it.
    fn key(&self, file: &PhotoFile, bytes: &[u8]) -> String {
        let mut digest = Sha256::new();
        for part in [self.conditions.as_bytes(), file.name.as_bytes(), bytes] {
            digest.update((part.len() as u64).to_le_bytes());
            digest.update(part);
        }
        format!("{:x}.json", digest.finalize())
    }
}

fn search(
    file: &PhotoFile,
    bytes: &[u8],
    args: &DetectArgs,
    options: &DetectOptions,
    detector: &mut Detector,
) -> Result<Searched, DetectorError> {
    let (view, no_view) = view_of(bytes, &file.path, args);
    let found = detector.detect_encoded(bytes, view.as_ref(), options)?;
    Ok(Searched { found, no_view })
}

fn view_of(bytes: &[u8], path: &Path, args: &DetectArgs) -> (Option<ViewGeometry>, Option<String>) {
    if args.scale.is_some() {
        return (None, None);
    }
    let capture = match record::read_capture(bytes) {
        Ok(capture) => capture.with_file_name(path),
        Err(error) => return (None, Some(error.to_string())),
    };
    match view::of_capture(&capture, args.height_above_ground.map(Metres)) {
        Ok(view) => (Some(view), None),
        Err(reason) => (None, Some(reason.to_string())),
    }
}

fn drawn(bytes: &[u8], found: &Detections) -> Result<Vec<u8>, DetectorError> {
    let photo = Photo::decode(bytes)?;
    encode_jpeg(&draw_overlay(&photo.image, 1.0, &found.detections))
}

fn write_formats(
    args: &DetectArgs,
    files: &[PhotoFile],
    outcomes: &[Outcome],
    model: &ModelInfo,
    folder: &OutputFolder,
) -> Result<(), OutputError> {
    let searched = || {
        files
            .iter()
            .zip(outcomes)
            .filter_map(|(file, outcome)| Some((file, &outcome.as_ref().ok()?.found)))
    };
    let has = |format| args.format.contains(&format);
    if has(Format::Jsonl) {
        let lines = searched().map(|(file, found)| json_line(&file.name, model, found) + "\n");
        folder.write("detections.jsonl", lines.collect::<String>().as_bytes())?;
    }
    if has(Format::Coco) {
        let photos: Vec<_> = searched()
            .map(|(f, found)| (f.name.as_str(), found))
            .collect();
        folder.write("coco.json", coco(&photos).to_string().as_bytes())?;
    }
    if has(Format::YoloObb) {
        let names = yolo_class_names().join("\n") + "\n";
        folder.write("yolo-obb/classes.txt", names.as_bytes())?;
        for (file, found) in searched() {
            let name = format!("yolo-obb/labels/{}.txt", file.stem);
            folder.write(&name, yolo_obb(found).as_bytes())?;
        }
    }
    if has(Format::Dota) {
        for (file, found) in searched() {
            folder.write(&format!("dota/{}.txt", file.stem), dota(found).as_bytes())?;
        }
    }
    Ok(())
}

fn summarise<'a>(
    files: &'a [PhotoFile],
    outcomes: &'a [Outcome],
    model: &'a ModelInfo,
    options: &DetectOptions,
    written: Vec<ListedFile>,
) -> Summary<'a> {
    let mut photos = Vec::new();
    let mut failed = Vec::new();
    for (file, outcome) in files.iter().zip(outcomes) {
        match outcome {
            Ok(searched) => photos.push(PhotoSummary {
                photo: &file.name,
                n_vehicles: searched.found.detections.len(),
                scale: searched.found.plan.basis,
                expected_car_px: searched.found.plan.expected_car_px,
                warnings: warnings_of(searched),
            }),
            Err(error) => failed.push(FailedPhoto {
                photo: &file.name,
                reason: error.to_string(),
            }),
        }
    }
    Summary {
        schema: SCHEMA,
        model_sha256: &model.sha256,
        engine: &model.engine,
        min_score: options.score_threshold.unwrap_or(model.score_threshold),
        n_vehicles: photos.iter().map(|photo| photo.n_vehicles).sum(),
        photos,
        failed,
        files: written,
    }
}

fn warnings_of(searched: &Searched) -> Vec<String> {
    let in_words = |warning: &Warning| match (warning, &searched.no_view) {
        (Warning::NoView, Some(reason)) => format!("{warning}: {reason}"),
        _ => warning.to_string(),
    };
    searched.found.warnings.iter().map(in_words).collect()
}

fn in_words(summary: &Summary<'_>) -> String {
    let failed = match summary.failed.len() {
        0 => String::new(),
        n => format!("; {n} photos could not be searched"),
    };
    format!(
        "{} vehicles in {} photos with {} {} ({}){failed}",
        summary.n_vehicles,
        summary.photos.len(),
        summary.engine.name,
        summary.engine.version,
        summary.engine.provider
    )
}

fn show(args: &DetectArgs, summary: &Summary<'_>) -> anyhow::Result<()> {
    for failed in &summary.failed {
        eprintln!("{}: {}", failed.photo, failed.reason);
    }
    if args.json {
        print_json(summary)?;
        return Ok(());
    }
    for photo in &summary.photos {
        let car = match photo.expected_car_px {
            Some((shortest, longest)) => format!("a car is {shortest:.0} to {longest:.0} px long"),
            None => "scale unknown".to_owned(),
        };
        println!("{}: {} vehicles ({car})", photo.photo, photo.n_vehicles);
    }
    show_warnings(summary);
    println!("{}", in_words(summary));
    println!("{}", args.out.display());
    Ok(())
}

/// Each warning once, with the photo or how many photos it is about.
fn show_warnings(summary: &Summary<'_>) {
    let mut photos_by_warning: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for photo in &summary.photos {
        for warning in &photo.warnings {
            photos_by_warning
                .entry(warning)
                .or_default()
                .push(photo.photo);
        }
    }
    for (warning, photos) in photos_by_warning {
        match photos[..] {
            [photo] => eprintln!("{photo}: {warning}"),
            _ => eprintln!("{} photos: {warning}", photos.len()),
        }
    }
}

/// Where any photo failed through no fault of its own, that is what the exit code says.
fn status_of(outcomes: &[Outcome]) -> ExitStatus {
    let errors = || outcomes.iter().filter_map(|outcome| outcome.as_ref().err());
    if errors().any(|error| !error.is_input_fault()) {
        ExitStatus::Ours
    } else if errors().next().is_some() {
        ExitStatus::Input
    } else {
        ExitStatus::Done
    }
}
