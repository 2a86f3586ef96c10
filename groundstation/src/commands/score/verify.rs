//! `groundstation score verify`: a kept run against its digests, and its scores computed again.

use super::bundle::{MANIFEST, Manifest, QUESTIONS, RUN_SCHEMA, SCORES, scores_text};
use super::evaluate::{Inputs, TextFile};
use crate::scene::files::sha256;
use clap::Args;
use console::{ExitStatus, InputError};
use scoring::SCORER_VERSION;
use serde_json::Value;
use std::path::{Path, PathBuf};

/// Differences shown.
const MAX_SHOWN: usize = 20;

/// Arguments of `score verify`.
#[derive(Debug, Args)]
pub(super) struct VerifyArgs {
    /// The run's folder.
    #[arg(value_name = "FOLDER")]
    run: PathBuf,
    /// The answers that the run was scored against; they are not in it.
    answers: PathBuf,
}

pub(super) fn run(args: &VerifyArgs) -> anyhow::Result<ExitStatus> {
    let manifest = read_manifest(&args.run)?;
    let answers = TextFile::read(&args.answers)?;
    let mut problems = changed_files(&args.run, &manifest);
    let found = sha256(answers.text.as_bytes());
    if found != manifest.answers_sha256 {
        let expected = &manifest.answers_sha256;
        let path = args.answers.display();
        problems.push(format!(
            "{path}: other answers than the run's: {found}, expected {expected}"
        ));
    }
    if problems.is_empty() {
        problems = changed_scores(&args.run, &manifest, &args.answers)?;
    }
    if problems.is_empty() {
        let n_files = manifest.files.len();
        println!(
            "{n_files} files as the manifest says; the same scores from scorer {SCORER_VERSION}"
        );
        return Ok(ExitStatus::Done);
    }
    for problem in problems.iter().take(MAX_SHOWN) {
        println!("{problem}");
    }
    println!("{} differences", problems.len());
    Ok(ExitStatus::Input)
}

pub(super) fn read_manifest(run: &Path) -> anyhow::Result<Manifest> {
    let file = TextFile::read(&run.join(MANIFEST))?;
    let manifest: Manifest = serde_json::from_str(&file.text)
        .map_err(|error| InputError(format!("{}: {error}", file.path.display())))?;
    if manifest.schema != RUN_SCHEMA {
        return Err(InputError(format!(
            "{}: schema {:?}; this program reads {RUN_SCHEMA:?}",
            file.path.display(),
            manifest.schema
        ))
        .into());
    }
    if manifest.scorer != SCORER_VERSION {
        return Err(InputError(format!(
            "{}: scored by scorer {}, this is {SCORER_VERSION}; scores of two versions cannot be compared",
            file.path.display(),
            manifest.scorer
        ))
        .into());
    }
    let fixed = [QUESTIONS, SCORES].map(str::to_owned);
    let lacks = |name: &&String| !manifest.files.contains_key(*name);
    if let Some(name) = fixed.iter().chain(&manifest.predictions).find(lacks) {
        let path = file.path.display();
        return Err(InputError(format!("{path}: files has no digest of {name}")).into());
    }
    let is_plain = |name: &String| Path::new(name).file_name() == Some(name.as_ref());
    if let Some(name) = manifest.files.keys().find(|name| !is_plain(name)) {
        let path = file.path.display();
        return Err(InputError(format!(
            "{path}: files names {name:?}; expected a file of the run"
        ))
        .into());
    }
    Ok(manifest)
}

fn changed_files(run: &Path, manifest: &Manifest) -> Vec<String> {
    let files = manifest.files.iter();
    let problem = |(name, expected): (&String, &String)| {
        let path = run.join(name);
        match std::fs::read(&path) {
            Err(error) => Some(format!("{}: {error}", path.display())),
            Ok(bytes) if sha256(&bytes) == *expected => None,
            Ok(bytes) => {
                let found = sha256(&bytes);
                Some(format!(
                    "{}: changed: {found}, expected {expected}",
                    path.display()
                ))
            }
        }
    };
    files.filter_map(problem).collect()
}

fn changed_scores(run: &Path, manifest: &Manifest, answers: &Path) -> anyhow::Result<Vec<String>> {
    let predictions: Vec<PathBuf> = manifest
        .predictions
        .iter()
        .map(|name| run.join(name))
        .collect();
    let inputs = Inputs::read(
        &run.join(QUESTIONS),
        answers,
        &predictions,
        manifest.model.clone(),
        manifest.conventions.clone(),
    )?;
    let computed = scores_text(&inputs.score()?.report)?;
    let kept = TextFile::read(&run.join(SCORES))?.text;
    if computed == kept {
        return Ok(Vec::new());
    }
    let mut problems = Vec::new();
    let [kept, computed] = [&kept, &computed].map(|text| serde_json::from_str::<Value>(text));
    compare("", &kept?, &computed?, &mut problems);
    if problems.is_empty() {
        problems.push(format!("{SCORES}: the same values, written otherwise"));
    }
    Ok(problems)
}

/// Names every place where two values differ.
fn compare(path: &str, kept: &Value, computed: &Value, problems: &mut Vec<String>) {
    match (kept, computed) {
        (Value::Object(a), Value::Object(b)) if a.keys().eq(b.keys()) => {
            for (key, value) in a {
                compare(&format!("{path}.{key}"), value, &b[key], problems);
            }
        }
        (Value::Array(a), Value::Array(b)) if a.len() == b.len() => {
            for (i, (a, b)) in a.iter().zip(b).enumerate() {
                compare(&format!("{path}[{i}]"), a, b, problems);
            }
        }
        (a, b) if a == b => {}
        _ => problems.push(format!("{SCORES}{path}: kept {kept}, computed {computed}")),
    }
}
