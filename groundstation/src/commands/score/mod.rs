//! `groundstation score`: responses against references, and the checks of the scorer itself.

mod check;

use clap::{Args, Subcommand};
use console::ExitStatus;

/// Arguments of `score`.
#[derive(Debug, Args)]
pub(super) struct ScoreArgs {
    #[command(subcommand)]
    command: ScoreCommand,
}

#[derive(Debug, Subcommand)]
enum ScoreCommand {
    /// Work out a file of cases with known answers and print each difference.
    Check(check::CheckArgs),
}

pub(super) fn run(args: &ScoreArgs) -> anyhow::Result<ExitStatus> {
    match &args.command {
        ScoreCommand::Check(args) => check::run(args),
    }
}
