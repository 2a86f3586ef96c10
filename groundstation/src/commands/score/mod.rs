//! `groundstation score`: responses against references, and the checks of the scorer itself.

pub(super) mod board;
mod bundle;
mod check;
mod evaluate;
mod parquet;
mod table;
mod verify;

use clap::{Args, Subcommand};
use console::{ExitStatus, InputError, print_json};
use evaluate::Inputs;
use scoring::ConventionName;
use scoring::report::ScoreReport;
use std::collections::BTreeMap;
use std::path::PathBuf;

/// Arguments of `score`.
#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true, subcommand_negates_reqs = true)]
pub struct ScoreArgs {
    /// What was asked: questions.jsonl (schema score-questions/1).
    #[arg(required = true)]
    questions: Option<PathBuf>,
    /// What is right: answers.jsonl (schema score-answers/1).
    #[arg(required = true)]
    answers: Option<PathBuf>,
    /// What models said: files with id and response in each row, and model where a file holds several;
    /// JSON lines, or CSV or Parquet when the name ends in .csv or .parquet.
    #[arg(required = true)]
    predictions: Vec<PathBuf>,
    #[command(flatten)]
    options: ScoreOptions,
    #[command(subcommand)]
    command: Option<ScoreCommand>,
}

#[derive(Debug, Args)]
struct ScoreOptions {
    /// The model of rows that name none.
    #[arg(long)]
    model: Option<String>,
    /// How a model was declared to write boxes, where it is not as the questions say: norm1000, norm100 or
    /// pixel. May be repeated.
    #[arg(long, value_name = "MODEL=CONVENTION", value_parser = parse_convention)]
    convention: Vec<(String, ConventionName)>,
    /// Show what is there although something is missing; no score of a model that lacks a response is official.
    #[arg(long)]
    partial: bool,
    /// Keep the run in a new folder: questions, predictions, scores, and a manifest with their digests.
    #[arg(long, value_name = "FOLDER")]
    out: Option<PathBuf>,
    /// With --out: what came of every response, and why, in details.jsonl.
    #[arg(long, requires = "out")]
    details: bool,
    /// Print one JSON object.
    #[arg(long)]
    json: bool,
}

#[derive(Debug, Subcommand)]
enum ScoreCommand {
    /// Work out a file of cases with known answers and print each difference.
    Check(check::CheckArgs),
    /// Compute the scores of a kept run again and compare.
    Verify(verify::VerifyArgs),
}

fn parse_convention(text: &str) -> Result<(String, ConventionName), String> {
    let expected = "expected MODEL=norm1000, MODEL=norm100 or MODEL=pixel";
    let (model, name) = text.rsplit_once('=').ok_or(expected)?;
    let name = serde_json::from_value(name.into()).map_err(|_| expected)?;
    Ok((model.to_owned(), name))
}

pub(super) fn run(args: &ScoreArgs) -> anyhow::Result<ExitStatus> {
    match &args.command {
        Some(ScoreCommand::Check(args)) => return check::run(args),
        Some(ScoreCommand::Verify(args)) => return verify::run(args),
        None => {}
    }
    let (Some(questions), Some(answers)) = (&args.questions, &args.answers) else {
        return Err(InputError("questions, answers and predictions are needed".to_owned()).into());
    };
    let options = &args.options;
    if let Some(out) = options.out.as_deref() {
        bundle::check_is_new(out)?;
    }
    let inputs = Inputs::read(
        questions,
        answers,
        &args.predictions,
        options.model.clone(),
        options
            .convention
            .iter()
            .cloned()
            .collect::<BTreeMap<_, _>>(),
    )?;
    let scored = inputs.score()?;
    refuse_missing(&scored.report, options.partial)?;
    if let Some(out) = options.out.as_deref() {
        bundle::write(out, &inputs, &scored, options.details)?;
    }
    if options.json {
        print_json(&scored.report)?;
    } else {
        table::print(&scored.report);
        if let Some(out) = &options.out {
            println!("kept in {}", out.display());
        }
    }
    Ok(ExitStatus::Done)
}

/// Without --partial, a missing response is an error: a score over the others would be another score.
fn refuse_missing(report: &ScoreReport, is_partial: bool) -> anyhow::Result<()> {
    let lacking = report.models.iter().filter(|model| !model.official);
    let lines: Vec<String> = lacking.map(table::coverage).collect();
    if is_partial || lines.is_empty() {
        return Ok(());
    }
    let advice = "no official score; ask for what is missing, or see what is there with --partial";
    Err(InputError(format!("{}\n{advice}", lines.join("\n"))).into())
}
