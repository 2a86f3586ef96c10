//! The commands: arguments in, results shown.

mod detect;
mod model;
mod photos;
mod plan;

use crate::output::OutputError;
use clap::{Args, Parser, Subcommand, ValueEnum};
use console::{Cancel, ExitStatus, LogLevel};
use detector::{Detector, DetectorError, EngineChoice, EngineOptions, ModelOverrides, Provider};
use std::path::PathBuf;

/// On the drone's companion computer: finds vehicles in photos.
#[derive(Debug, Parser)]
#[command(name = "onboard", version, about, max_term_width = 100)]
pub struct Cli {
    /// Say less: no progress on stderr.
    #[arg(long, global = true)]
    pub quiet: bool,
    /// Say more on stderr, such as which engine runs the model.
    #[arg(long, global = true, conflicts_with = "quiet")]
    pub verbose: bool,
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
}

/// The commands.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Find the vehicles in photos.
    Detect(Box<detect::DetectArgs>),
    /// What a model is.
    #[command(subcommand)]
    Model(ModelCommand),
    /// Plan a capture: from a site polygon to cells, their order and files for autopilots.
    Plan(Box<plan::PlanArgs>),
}

/// What can be asked of a model.
#[derive(Debug, Subcommand)]
pub enum ModelCommand {
    /// Print what a model is, its classes and what they mean here, and time one photo.
    Inspect(model::InspectArgs),
}

/// Which engine runs the model.
#[derive(Clone, Debug, Args)]
struct EngineArgs {
    /// Inference engine: ONNX Runtime where it works and else the built-in one, or one of them.
    #[arg(long, value_enum, default_value = "auto")]
    runtime: Runtime,
    /// ONNX Runtime's library or its folder, where it is not found by itself.
    #[arg(long, value_name = "PATH")]
    onnxruntime: Option<PathBuf>,
    /// Where ONNX Runtime computes, in order of preference; the processor by default.
    #[arg(long, value_enum, value_delimiter = ',')]
    provider: Vec<ProviderName>,
    /// Threads; all cores by default.
    #[arg(long)]
    threads: Option<usize>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Runtime {
    Auto,
    Ort,
    Rten,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum ProviderName {
    Cpu,
    Cuda,
    Tensorrt,
}

impl EngineArgs {
    /// Threads for all photos together.
    fn n_threads(&self) -> usize {
        self.threads
            .unwrap_or_else(|| {
                std::thread::available_parallelism().map_or(1, std::num::NonZeroUsize::get)
            })
            .max(1)
    }

    fn options(&self, threads: usize) -> EngineOptions {
        EngineOptions {
            engine: match (self.runtime, &self.onnxruntime) {
                (Runtime::Auto, None) => EngineChoice::Auto,
                // A library that is named is meant.
                (Runtime::Auto, Some(_)) | (Runtime::Ort, _) => EngineChoice::OnnxRuntime,
                (Runtime::Rten, _) => EngineChoice::Rten,
            },
            library: self.onnxruntime.clone(),
            threads: Some(threads),
            providers: self
                .provider
                .iter()
                .map(|name| match name {
                    ProviderName::Cpu => Provider::Cpu,
                    ProviderName::Cuda => Provider::Cuda,
                    ProviderName::Tensorrt => Provider::TensorRt,
                })
                .collect(),
        }
    }
}

/// The model named, or the one built in.
fn load(model: Option<&PathBuf>, engine: &EngineOptions) -> Result<Detector, DetectorError> {
    match model {
        Some(path) => Detector::load(path, &ModelOverrides::default(), engine),
        None => Detector::built_in(engine),
    }
}

/// Runs a command.
///
/// # Errors
/// Whatever stopped it; [`fault_of`] says who is at fault.
pub fn run(cli: &Cli, cancel: &Cancel) -> anyhow::Result<ExitStatus> {
    let level = match (cli.quiet, cli.verbose) {
        (true, _) => LogLevel::Quiet,
        (_, true) => LogLevel::Verbose,
        _ => LogLevel::Normal,
    };
    console::start_logging(level, None)?;
    match &cli.command {
        Command::Detect(args) => detect::run(args, cli.quiet, cancel),
        Command::Model(ModelCommand::Inspect(args)) => model::inspect(args),
        Command::Plan(args) => plan::run(args, cli.quiet, cancel),
    }
}

/// Who is at fault for an error of ours; `None` when the error does not say.
#[must_use]
pub fn fault_of(error: &(dyn std::error::Error + 'static)) -> Option<ExitStatus> {
    let is_input = error
        .downcast_ref::<DetectorError>()
        .map(DetectorError::is_input_fault)
        .or_else(|| {
            error
                .downcast_ref::<OutputError>()
                .map(OutputError::is_input_fault)
        })
        .or_else(|| error.is::<flightplans::PlanError>().then_some(true))
        .or_else(|| error.is::<calibration::CalibrationError>().then_some(true))?;
    Some(if is_input {
        ExitStatus::Input
    } else {
        ExitStatus::Ours
    })
}
