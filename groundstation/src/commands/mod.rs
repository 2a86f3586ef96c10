//! The commands: arguments in, rooms called, results shown.

mod inspect;

use crate::ingest::{IngestConfig, IngestError, ingest};
use crate::pose::solver::SolveSettings;
use crate::pose::{EngineChoice, PoseConfig, PoseError, pose};
use crate::scene::{SceneError, SceneFolder};
use clap::{Args, Parser, Subcommand};
use console::{Cancel, ExitStatus};
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
    /// Take photos (a folder, a sealed bundle, any mix) into a scene.
    Ingest(IngestArgs),
    /// Find camera poses in metres.
    Pose(PoseArgs),
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
    /// Share originals by hard links (only for files that nobody will edit).
    #[arg(long)]
    hard_link: bool,
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
    #[arg(long, default_value_t = 1600)]
    max_image_size: u32,
    /// Features per photo.
    #[arg(long, default_value_t = 4096)]
    max_features: u32,
    /// Match every photo with every other instead of those with common ground.
    #[arg(long)]
    exhaustive: bool,
    /// Multiplies the time limits of the solver's stages.
    #[arg(long, default_value_t = 1.0)]
    patience: f64,
    /// Threads of the solver; all cores by default.
    #[arg(long)]
    threads: Option<usize>,
}

/// Runs a command.
///
/// # Errors
/// Whatever stopped it; [`fault_of`] says who is at fault.
pub fn run(cli: &Cli, cancel: &Cancel) -> anyhow::Result<ExitStatus> {
    match &cli.command {
        Command::Inspect(args) => inspect::run(args),
        Command::Ingest(args) => {
            let scene = open_or_create(&args.scene, cli)?;
            let config = args.options.config();
            ingest(&args.source, &scene, &config, cli.quiet, cancel)?;
            Ok(ExitStatus::Done)
        }
        Command::Pose(args) => {
            let scene = open(&args.scene, cli)?;
            let (_, posed) = pose(&scene, &args.options.config()?, cli.quiet, cancel)?;
            println!("{}", posed.verdict.summary);
            for gate in &posed.verdict.gates {
                println!(
                    "{:?}: {}: {} (good: {}) {}",
                    gate.level, gate.name, gate.found, gate.good, gate.advice
                );
            }
            Ok(ExitStatus::Done)
        }
    }
}

impl IngestOptions {
    fn config(&self) -> IngestConfig {
        IngestConfig {
            zone: self.zone.clone(),
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
                return Err(console::InputError(format!(
                    "--engine {other}: known are auto, colmap, pycolmap and priors"
                ))
                .into());
            }
        };
        let default = SolveSettings::default();
        Ok(PoseConfig {
            engine,
            masks: self.masks.clone(),
            exhaustive: self.exhaustive,
            settings: SolveSettings {
                max_image_size_px: self.max_image_size,
                max_features: self.max_features,
                patience: self.patience,
                threads: self.threads.unwrap_or(default.threads),
                ..default
            },
            seed: 0,
        })
    }
}

fn open_or_create(root: &Path, cli: &Cli) -> anyhow::Result<SceneFolder> {
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
    Ok(console::start_logging(level, Some(&scene.log_path()))?)
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
    if let Some(error) = error.downcast_ref::<IngestError>() {
        return match error {
            IngestError::Interrupted(_) => Some(ExitStatus::Interrupted),
            other => Some(status(other.is_input_fault())),
        };
    }
    if let Some(error) = error.downcast_ref::<PoseError>() {
        return match error {
            PoseError::Interrupted(_) => Some(ExitStatus::Interrupted),
            other => Some(status(other.is_input_fault())),
        };
    }
    error
        .downcast_ref::<SceneError>()
        .map(|error| status(error.is_input_fault()))
}
