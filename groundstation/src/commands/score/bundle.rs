//! A kept run: what was asked and said, the scores, and a manifest with the digest of each.
//!
//! Answers are embargoed and stay where they are; the manifest has their digest.

use super::evaluate::{Inputs, Scored};
use crate::scene::files::sha256;
use anyhow::Context;
use console::{InputError, canonical_json};
use record::{DiskStorage, Storage, write_durably};
use scoring::questions::Asked;
use scoring::report::ScoreReport;
use scoring::{Component, ConventionName, Group, SCORER_VERSION, Task};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

/// The schema of a run's manifest.
pub(super) const RUN_SCHEMA: &str = "score-run/1";
pub(super) const MANIFEST: &str = "manifest.json";
pub(super) const QUESTIONS: &str = "questions.jsonl";
pub(super) const SCORES: &str = "scores.json";

/// What a run was made from and what it holds.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Manifest {
    pub(super) schema: String,
    /// The version of the scorer.
    pub(super) scorer: String,
    /// The model of rows that name none.
    pub(super) model: Option<String>,
    /// How models were declared to write boxes.
    pub(super) conventions: BTreeMap<String, ConventionName>,
    /// The predictions' files in the run, in the order in which they were named.
    pub(super) predictions: Vec<String>,
    /// The answers, which are not in the run.
    pub(super) answers_sha256: String,
    /// SHA-256 of each other file in the run.
    pub(super) files: BTreeMap<String, String>,
}

/// The file that a folder is written as until it is whole.
fn aside(out: &Path) -> PathBuf {
    let mut name = out.file_name().unwrap_or_default().to_owned();
    name.push(".part");
    out.with_file_name(name)
}

/// Nothing is overwritten, and nobody should learn that after the work.
pub(super) fn check_is_new(out: &Path) -> anyhow::Result<()> {
    for (path, advice) in [
        (out.to_owned(), "name a new folder"),
        (aside(out), "it is of a run that was interrupted; remove it"),
    ] {
        if path.symlink_metadata().is_ok() {
            return Err(InputError(format!("{} exists; {advice}", path.display())).into());
        }
    }
    Ok(())
}

/// Writes a run aside and renames it when it is whole.
pub(super) fn write(
    out: &Path,
    inputs: &Inputs,
    scored: &Scored,
    with_details: bool,
) -> anyhow::Result<()> {
    let storage = DiskStorage;
    let part = aside(out);
    storage.create_dir(&part)?;
    let mut files = BTreeMap::new();
    let mut put = |name: &str, bytes: &[u8]| -> anyhow::Result<()> {
        write_durably(&storage, &part.join(name), bytes)?;
        files.insert(name.to_owned(), sha256(bytes));
        Ok(())
    };
    put(QUESTIONS, inputs.questions.text.as_bytes())?;
    let mut predictions = Vec::new();
    for (i, file) in inputs.predictions.iter().enumerate() {
        let name = format!("predictions-{}.{}", i + 1, file.extension());
        put(&name, file.bytes())?;
        predictions.push(name);
    }
    put(SCORES, scores_text(&scored.report)?.as_bytes())?;
    put("scores.csv", scores_csv(&scored.report).as_bytes())?;
    if with_details {
        put("details.jsonl", details(scored)?.as_bytes())?;
    }
    let manifest = Manifest {
        schema: RUN_SCHEMA.to_owned(),
        scorer: SCORER_VERSION.to_owned(),
        model: inputs.model.clone(),
        conventions: inputs.conventions.clone(),
        predictions,
        answers_sha256: sha256(inputs.answers.text.as_bytes()),
        files,
    };
    let text = canonical_json(&manifest)? + "\n";
    write_durably(&storage, &part.join(MANIFEST), text.as_bytes())?;
    storage
        .rename(&part, out)
        .with_context(|| format!("putting {} in place", out.display()))?;
    Ok(())
}

/// The report as it is kept: the same scores are the same bytes.
pub(super) fn scores_text(report: &ScoreReport) -> anyhow::Result<String> {
    Ok(canonical_json(report)? + "\n")
}

/// One row for each mean of each model.
fn scores_csv(report: &ScoreReport) -> String {
    let mut csv = "model,level,id,score,n,n_valid,official\n".to_owned();
    for model in &report.models {
        let name = csv_cell(&model.model);
        let mut row = |level: &str, id: &str, score: Option<f64>, counts: Option<[u64; 2]>| {
            let score = score.map_or_else(String::new, |score| score.to_string());
            let counts = counts.map_or_else(|| ",".to_owned(), |[n, valid]| format!("{n},{valid}"));
            let official = model.official;
            writeln!(csv, "{name},{level},{id},{score},{counts},{official}")
                .expect("a String takes everything");
        };
        row("overall", "overall", model.overall, None);
        for group in Group::ALL {
            row("group", group.id(), model.groups[group.id()], None);
        }
        for task in Task::ALL {
            row("task", task.id(), model.tasks[task.id()], None);
        }
        for component in Component::all() {
            let id = component.to_string();
            let cell = &model.components[&id];
            row("component", &id, cell.score, Some([cell.n, cell.n_valid]));
        }
    }
    csv
}

fn csv_cell(text: &str) -> String {
    if text.contains([',', '"', '\n', '\r']) {
        format!("\"{}\"", text.replace('"', "\"\""))
    } else {
        text.to_owned()
    }
}

/// What came of a response, as a line says it.
#[derive(Serialize)]
struct Detail<'a> {
    model: &'a str,
    id: &'a str,
    scene: &'a str,
    component: String,
    /// 0 to 100; of a recognition response that of its pair.
    score: f64,
    /// Of a recognition response.
    #[serde(skip_serializing_if = "Option::is_none")]
    brand_score: Option<f64>,
    valid: bool,
    /// Why it is no answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    why: Option<String>,
}

fn details(scored: &Scored) -> anyhow::Result<String> {
    let mut text = String::new();
    for model in &scored.models {
        let judged = scored.set.questions.iter().zip(&model.scores.judged);
        for (question, judged) in judged {
            let Some(judged) = judged else {
                continue;
            };
            let component = match &question.asked {
                Asked::Component(component, _) => component.to_string(),
                Asked::View { .. } => Task::BI.to_string(),
            };
            let detail = Detail {
                model: &model.name,
                id: &question.id,
                scene: &scored.set.scenes[question.scene],
                component,
                score: judged.points.value(),
                brand_score: judged.brand_points.map(scoring::Points::value),
                valid: judged.invalid.is_none(),
                why: judged.invalid.as_ref().map(ToString::to_string),
            };
            text.push_str(&serde_json::to_string(&detail)?);
            text.push('\n');
        }
    }
    Ok(text)
}
