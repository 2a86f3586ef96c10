//! The commands: arguments in, rooms called, results shown.

mod cluster;
mod detect_eval;
mod evaluate;
mod inspect;
mod merges;
mod process;
mod review;
mod score;
mod status;
mod stored;

use crate::anchor::{AnchorConfig, AnchorError, anchor};
use crate::detect::{DetectConfig, DetectError, detect};
use crate::entity::{EntityError, cluster_scene};
use crate::evaluate::TruthError;
use crate::ingest::{IngestConfig, IngestError, ingest};
use crate::merges::{FitError, ModelError};
use crate::pose::posed::{Level, PosedScene};
use crate::pose::solver::SolveSettings;
use crate::pose::{EngineChoice, PoseConfig, PoseError, pose};
use crate::report::{ReportError, report};
use crate::review::ReviewError;
use crate::scene::{SceneError, SceneFolder};
use clap::{Args, Parser, Subcommand};
use console::{Cancel, ExitStatus, InputError};
use detector::{DetectOptions, EngineOptions};
use std::path::{Path, PathBuf};

/// From drone photos to vehicles with identities.
#[derive(Debug, Parser)]
#[command(name = "groundstation", version, about, max_term_width = 100)]
pub struct Cli {
    /// Say less: no progress on stderr.
    #[arg(long, global = true)]
    pub quiet: bool,
    /// Say more on stderr.
    #[arg(long, global = true, conflicts_with = "quiet")]
    pub verbose: bool,
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
}

/// The commands.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Print what photos say about themselves.
    Inspect(inspect::InspectArgs),
    /// Do everything: photos in, vehicles with identities and a report out. Run it again to resume.
    Process(Box<process::ProcessArgs>),
    /// What is done in a scene, from what, and what is next.
    Status(status::StatusArgs),
    /// Take photos (a folder, a sealed bundle, any mix) into a scene.
    Ingest(IngestArgs),
    /// Find camera poses in metres.
    Pose(PoseArgs),
    /// Find vehicles in every photo.
    Detect(DetectArgs),
    /// Place every detection on the ground.
    Anchor(SceneArgs),
    /// Join detections into physical vehicles.
    Cluster(cluster::ClusterArgs),
    /// Write the page that shows it all.
    Report(ReportArgs),
    /// Score responses of models to questions.
    Score(score::ScoreArgs),
    /// Write a page with the scores of a kept run.
    Board(score::board::BoardArgs),
    /// How good a scene's identities are against what is true.
    Evaluate(evaluate::EvaluateArgs),
    /// The model that says which groups of detections are one vehicle.
    Merges(merges::MergesArgs),
    /// What people decide about a scene: open questions, decisions, decisions taken back.
    Review(review::ReviewArgs),
}

/// Arguments of `ingest`.
#[derive(Debug, Args)]
pub struct IngestArgs {
    /// A folder of photos, a bundle, or a photo.
    pub source: PathBuf,
    /// The scene's folder; made if it does not exist.
    pub scene: PathBuf,
    #[command(flatten)]
    options: IngestOptions,
}

#[derive(Clone, Debug, Default, Args)]
struct IngestOptions {
    /// The site's IANA time zone, such as Europe/Rome.
    #[arg(long)]
    zone: Option<String>,
    /// The site's GeoJSON; a feature's property time_zone names the zone.
    #[arg(long, value_name = "FILE", conflicts_with = "zone")]
    site: Option<PathBuf>,
    /// Share originals by hard links (only for files that nobody will edit).
    #[arg(long)]
    hard_link: bool,
}

/// Arguments of a command that takes a scene alone.
#[derive(Debug, Args)]
pub struct SceneArgs {
    /// The scene's folder.
    pub scene: PathBuf,
}

/// Arguments of `pose`.
#[derive(Debug, Args)]
pub struct PoseArgs {
    /// The scene's folder.
    pub scene: PathBuf,
    #[command(flatten)]
    options: PoseOptions,
}

#[derive(Clone, Debug, Args)]
struct PoseOptions {
    /// auto, colmap, pycolmap or priors (GPS and gimbal only).
    #[arg(long, default_value = "auto")]
    engine: String,
    /// The colmap program, or for --engine pycolmap the Python interpreter that has it.
    #[arg(long)]
    engine_path: Option<PathBuf>,
    /// Masks: NAME.png for the photo NAME, black where features must not be taken.
    #[arg(long)]
    masks: Option<PathBuf>,
    /// Longer side of the pictures features are taken from, pixels.
    #[arg(long)]
    max_image_size: Option<u32>,
    /// Features per photo.
    #[arg(long)]
    max_features: Option<u32>,
    /// Match every photo with every other instead of those with common ground.
    #[arg(long)]
    exhaustive: bool,
    /// Multiplies the time limits of the solver's stages.
    #[arg(long)]
    patience: Option<f64>,
    /// Threads of the solver; all cores by default.
    #[arg(long)]
    threads: Option<usize>,
}

/// Arguments of `detect`.
#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true, subcommand_negates_reqs = true)]
pub struct DetectArgs {
    /// The scene's folder.
    #[arg(required = true)]
    pub scene: Option<PathBuf>,
    #[command(flatten)]
    options: ModelOptions,
    #[command(subcommand)]
    command: Option<DetectCommand>,
}

/// What else can be done with detections.
#[derive(Debug, Subcommand)]
enum DetectCommand {
    /// Compare detections with truth: average precision, angle errors, doubles, curves.
    Eval(detect_eval::EvalArgs),
}

#[derive(Clone, Debug, Default, Args)]
struct ModelOptions {
    /// An ONNX model of your own; ours is built in.
    #[arg(long)]
    model: Option<PathBuf>,
    /// Inference engine: auto, ort (ONNX Runtime) or rten (built in).
    #[arg(long, default_value = "auto")]
    inference: String,
    /// ONNX Runtime's library, where it is not found by itself.
    #[arg(long)]
    onnxruntime: Option<PathBuf>,
    /// Drop detections below this score.
    #[arg(long)]
    min_score: Option<f64>,
    /// Take detections made by `onboard detect` (JSON lines) instead of running a model.
    #[arg(long, conflicts_with_all = ["model", "min_score"])]
    detections: Option<PathBuf>,
}

/// Arguments of `report`.
#[derive(Debug, Args)]
pub struct ReportArgs {
    /// The scene's folder.
    pub scene: PathBuf,
    /// Where to write the page; SCENE/report.html by default.
    #[arg(long)]
    out: Option<PathBuf>,
}

/// Runs a command.
///
/// # Errors
/// Whatever stopped it; [`fault_of`] says who is at fault.
pub fn run(cli: &Cli, cancel: &Cancel) -> anyhow::Result<ExitStatus> {
    match &cli.command {
        Command::Inspect(args) => return inspect::run(args),
        Command::Process(args) => return process::run(args, cli, cancel),
        Command::Status(args) => return status::run(args),
        Command::Score(args) => return score::run(args),
        Command::Board(args) => return score::board::run(args),
        Command::Evaluate(args) => return evaluate::run(args),
        Command::Merges(args) => return merges::run(args),
        Command::Review(args) => return review::run(args, cli),
        Command::Ingest(args) => {
            let scene = open_or_create(&args.source, &args.scene, cli)?;
            ingest(
                &args.source,
                &scene,
                &args.options.config(),
                cli.quiet,
                cancel,
            )?;
        }
        Command::Pose(args) => {
            let config = args.options.config()?;
            let scene = open(&args.scene, cli)?;
            let (_, posed) = pose(&scene, &config, cli.quiet, cancel)?;
            print_verdict(&posed);
        }
        Command::Detect(args) => {
            if let Some(DetectCommand::Eval(args)) = &args.command {
                return detect_eval::run(args);
            }
            let config = args.options.config()?;
            let folder = args.scene.as_deref();
            let scene = open(folder.expect("clap asks for it without a subcommand"), cli)?;
            let (_, found) = detect(&scene, &config, cli.quiet, cancel)?;
            println!(
                "{} detections in {} photos",
                found.summary.n_detections,
                found.photos.len()
            );
            if !found.summary.failed.is_empty() {
                for failed in &found.summary.failed {
                    eprintln!("{}: {}", failed.name, failed.reason);
                }
                return Ok(ExitStatus::Input);
            }
        }
        Command::Anchor(args) => {
            let scene = open(&args.scene, cli)?;
            let (_, summary, anchors) = anchor(&scene, &AnchorConfig::default())?;
            println!(
                "{} of {} detections placed",
                anchors.len() - summary.n_none,
                anchors.len()
            );
        }
        Command::Cluster(args) => {
            let scene = open(&args.scene, cli)?;
            let (_, entities) = cluster_scene(&scene, &args.options.config()?)?;
            print_entities(&entities);
        }
        Command::Report(args) => {
            let scene = open(&args.scene, cli)?;
            let path = report(&scene, args.out.as_deref(), cli.quiet, cancel)?;
            println!("{}", path.display());
        }
    }
    Ok(ExitStatus::Done)
}

fn print_verdict(posed: &PosedScene) {
    println!("{}", posed.verdict.summary);
    for gate in &posed.verdict.gates {
        let mark = match gate.level {
            Level::Good => "good    ",
            Level::Doubtful => "DOUBTFUL",
            Level::Bad => "BAD     ",
        };
        println!(
            "  {mark} {}: {} (good: {})",
            gate.name, gate.found, gate.good
        );
        if !gate.advice.is_empty() {
            println!("           {}", gate.advice);
        }
    }
}

fn print_entities(entities: &crate::entity::Entities) {
    let confirmed = entities
        .entities
        .iter()
        .filter(|entity| entity.is_confirmed)
        .count();
    println!(
        "{confirmed} confirmed vehicles, {} more to look at",
        entities.entities.len() - confirmed
    );
    if !entities.reviews.is_empty() {
        println!(
            "{} pairs may be one vehicle: `groundstation review list`",
            entities.reviews.len()
        );
    }
    for warning in &entities.warnings {
        println!("  {warning}");
    }
}

impl IngestOptions {
    fn config(&self) -> IngestConfig {
        IngestConfig {
            zone: self.zone.clone(),
            site: self.site.clone(),
            hard_link: self.hard_link,
        }
    }
}

impl PoseOptions {
    fn config(&self) -> anyhow::Result<PoseConfig> {
        let engine = match (self.engine.as_str(), &self.engine_path) {
            ("auto", None) => EngineChoice::Auto,
            ("auto" | "colmap", path) => EngineChoice::Colmap(path.clone()),
            ("pycolmap", path) => EngineChoice::Pycolmap(path.clone()),
            ("priors", _) => EngineChoice::Priors,
            (other, _) => {
                let known = "known are auto, colmap, pycolmap and priors";
                return Err(InputError(format!("--engine {other}: {known}")).into());
            }
        };
        let default = SolveSettings::default();
        let patience = self.patience.unwrap_or(default.patience);
        if !(patience.is_finite() && patience > 0.0) {
            let expected = "expected a factor above 0";
            return Err(InputError(format!("--patience {patience}: {expected}")).into());
        }
        if let Some(masks) = self.masks.as_deref().filter(|masks| !masks.is_dir()) {
            let found = masks.display();
            return Err(InputError(format!("--masks {found}: there is no such folder")).into());
        }
        Ok(PoseConfig {
            engine,
            masks: self.masks.clone(),
            exhaustive: self.exhaustive,
            settings: SolveSettings {
                max_image_size_px: self.max_image_size.unwrap_or(default.max_image_size_px),
                max_features: self.max_features.unwrap_or(default.max_features),
                patience,
                threads: self.threads.unwrap_or(default.threads).max(1),
                ..default
            },
            seed: 0,
        })
    }
}

impl ModelOptions {
    fn config(&self) -> anyhow::Result<DetectConfig> {
        let engine = match self.inference.as_str() {
            "auto" => detector::EngineChoice::Auto,
            "ort" => detector::EngineChoice::OnnxRuntime,
            "rten" => detector::EngineChoice::Rten,
            other => {
                let known = "known are auto, ort and rten";
                return Err(InputError(format!("--inference {other}: {known}")).into());
            }
        };
        if let Some(score) = self.min_score
            && !(0.0..=1.0).contains(&score)
        {
            let expected = "expected a score from 0 to 1";
            return Err(InputError(format!("--min-score {score}: {expected}")).into());
        }
        // A library that is named is meant.
        let engine = match (engine, &self.onnxruntime) {
            (detector::EngineChoice::Auto, Some(_)) => detector::EngineChoice::OnnxRuntime,
            (engine, _) => engine,
        };
        Ok(DetectConfig {
            model: self.model.clone(),
            engine: EngineOptions {
                engine,
                library: self.onnxruntime.clone(),
                ..EngineOptions::default()
            },
            options: DetectOptions {
                score_threshold: self.min_score,
                ..DetectOptions::default()
            },
            detections: self.detections.clone(),
        })
    }
}

/// A scene for what is taken in from `source`, which must be there: a mistyped name makes no
/// scene.
fn open_or_create(source: &Path, root: &Path, cli: &Cli) -> anyhow::Result<SceneFolder> {
    if !source.exists() {
        let what = "does not exist; name the folder with the photos";
        return Err(InputError(format!("{} {what}", source.display())).into());
    }
    if let Some(file) = root.ancestors().find(|folder| folder.exists())
        && !file.is_dir()
    {
        let what = "is a file; a scene is a folder";
        return Err(InputError(format!("{} {what}", file.display())).into());
    }
    let scene = SceneFolder::create_or_open(root)?;
    start_logging(&scene, cli)?;
    Ok(scene)
}

fn open(root: &Path, cli: &Cli) -> anyhow::Result<SceneFolder> {
    let scene = SceneFolder::open(root)?;
    start_logging(&scene, cli)?;
    Ok(scene)
}

fn start_logging(scene: &SceneFolder, cli: &Cli) -> anyhow::Result<()> {
    let level = match (cli.quiet, cli.verbose) {
        (true, _) => console::LogLevel::Quiet,
        (_, true) => console::LogLevel::Verbose,
        _ => console::LogLevel::Normal,
    };
    console::start_logging(level, Some(&scene.log_path()))?;
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    tracing::debug!("groundstation {} {arguments:?}", env!("CARGO_PKG_VERSION"));
    Ok(())
}

/// Who is at fault for an error of ours; `None` when the error does not say.
#[must_use]
pub fn fault_of(error: &(dyn std::error::Error + 'static)) -> Option<ExitStatus> {
    let status = |is_input| {
        if is_input {
            ExitStatus::Input
        } else {
            ExitStatus::Ours
        }
    };
    macro_rules! ask {
        ($($kind:ident),*) => {
            $(if let Some(error) = error.downcast_ref::<$kind>() {
                return match error {
                    $kind::Interrupted(_) => Some(ExitStatus::Interrupted),
                    other => Some(status(other.is_input_fault())),
                };
            })*
        };
    }
    ask!(IngestError, PoseError, DetectError, ReportError);
    if let Some(error) = error.downcast_ref::<AnchorError>() {
        return Some(status(error.is_input_fault()));
    }
    if let Some(error) = error.downcast_ref::<EntityError>() {
        return Some(status(error.is_input_fault()));
    }
    if let Some(error) = error.downcast_ref::<ReviewError>() {
        return Some(status(error.is_input_fault()));
    }
    if error.downcast_ref::<FitError>().is_some()
        || error.downcast_ref::<TruthError>().is_some()
        || error.downcast_ref::<ModelError>().is_some()
    {
        return Some(ExitStatus::Input);
    }
    error
        .downcast_ref::<SceneError>()
        .map(|error| status(error.is_input_fault()))
}
