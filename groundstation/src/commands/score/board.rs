//! `groundstation board`: the scores of a kept run as one page that needs nothing else.

use super::bundle::SCORES;
use super::evaluate::TextFile;
use super::verify::read_manifest;
use crate::scene::files::sha256;
use anyhow::Context;
use clap::Args;
use console::{ExitStatus, InputError};
use record::{DiskStorage, write_durably};
use scoring::report::{SCORES_SCHEMA, ScoreReport};
use std::path::PathBuf;

/// The page; `{{ scores }}` is where the scores go.
const PAGE: &str = include_str!("../../../templates/board.html");

/// Arguments of `board`.
#[derive(Debug, Args)]
pub struct BoardArgs {
    /// A run that `score --out` kept.
    #[arg(value_name = "FOLDER")]
    run: PathBuf,
    /// Where to write the page; board.html in the current folder by default.
    #[arg(long, value_name = "FILE.html", default_value = "board.html")]
    out: PathBuf,
}

pub(in crate::commands) fn run(args: &BoardArgs) -> anyhow::Result<ExitStatus> {
    let manifest = read_manifest(&args.run)?;
    let scores = TextFile::read(&args.run.join(SCORES))?;
    let path = scores.path.display();
    if manifest.files.get(SCORES) != Some(&sha256(scores.text.as_bytes())) {
        let advice = "score verify says what else changed";
        return Err(InputError(format!("{path}: not as the manifest says; {advice}")).into());
    }
    let report: ScoreReport = serde_json::from_str(&scores.text)
        .map_err(|error| InputError(format!("{path}: {error}")))?;
    if report.schema != SCORES_SCHEMA {
        let found = report.schema;
        let message = format!("{path}: schema {found:?}; this program reads {SCORES_SCHEMA:?}");
        return Err(InputError(message).into());
    }
    let page = page_of(&scores.text);
    write_durably(&DiskStorage, &args.out, page.as_bytes()).context("writing the page")?;
    println!("{}", args.out.display());
    Ok(ExitStatus::Done)
}

/// The page with scores in it. In a JSON text `<` stands in strings only, where an escape says the same:
/// no name of a model can end the block that it stands in.
fn page_of(scores: &str) -> String {
    PAGE.replace("{{ scores }}", &scores.replace('<', "\\u003c"))
}
