//! The files of an evaluation, read and scored.

use super::parquet::read_parquet;
use anyhow::Context;
use bytes::Bytes;
use console::InputError;
use scoring::predictions::{Predictions, read_csv, read_jsonl};
use scoring::questions::{QuestionSet, QuestionsError};
use scoring::report::{Evaluation, ScoreReport, ScoredModel};
use scoring::{ConventionName, RowError};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// A file and its text.
pub(super) struct TextFile {
    pub(super) path: PathBuf,
    pub(super) text: String,
}

fn read_bytes(path: &Path) -> Result<Vec<u8>, InputError> {
    std::fs::read(path).map_err(|error| InputError(format!("{}: {error}", path.display())))
}

impl TextFile {
    pub(super) fn read(path: &Path) -> anyhow::Result<Self> {
        let text = String::from_utf8(read_bytes(path)?).map_err(|error| {
            let at = error.utf8_error().valid_up_to();
            InputError(format!(
                "{}: byte {at} is not UTF-8; expected text",
                path.display()
            ))
        })?;
        let path = path.to_owned();
        Ok(Self { path, text })
    }
}

/// A file of predictions.
pub(super) struct PredictionsFile {
    path: PathBuf,
    contents: Contents,
}

enum Contents {
    Jsonl(String),
    Csv(String),
    Parquet(Bytes),
}

impl PredictionsFile {
    fn read(path: &Path) -> anyhow::Result<Self> {
        let extension = path.extension().unwrap_or_default().to_ascii_lowercase();
        let contents = match extension.to_str() {
            Some("parquet") => Contents::Parquet(read_bytes(path)?.into()),
            Some("csv") => Contents::Csv(TextFile::read(path)?.text),
            _ => Contents::Jsonl(TextFile::read(path)?.text),
        };
        let path = path.to_owned();
        Ok(Self { path, contents })
    }

    /// What the name of a file of this format ends in.
    pub(super) fn extension(&self) -> &'static str {
        match &self.contents {
            Contents::Jsonl(_) => "jsonl",
            Contents::Csv(_) => "csv",
            Contents::Parquet(_) => "parquet",
        }
    }

    pub(super) fn bytes(&self) -> &[u8] {
        match &self.contents {
            Contents::Jsonl(text) | Contents::Csv(text) => text.as_bytes(),
            Contents::Parquet(bytes) => bytes,
        }
    }

    fn add_to<'a>(
        &'a self,
        predictions: &mut Predictions<'a>,
        model: Option<&str>,
    ) -> anyhow::Result<()> {
        let read = match &self.contents {
            Contents::Jsonl(text) => read_jsonl(text, model, predictions),
            Contents::Csv(text) => read_csv(text, model, predictions),
            Contents::Parquet(bytes) => {
                return read_parquet(&self.path, bytes.clone(), model, predictions);
            }
        };
        Ok(read.map_err(|error| wrong_row(&self.path, &error))?)
    }
}

/// What is scored and against what.
pub(super) struct Inputs {
    pub(super) questions: TextFile,
    pub(super) answers: TextFile,
    pub(super) predictions: Vec<PredictionsFile>,
    /// The model of rows that name none.
    pub(super) model: Option<String>,
    pub(super) conventions: BTreeMap<String, ConventionName>,
}

/// What came of it.
pub(super) struct Scored {
    pub(super) set: QuestionSet,
    pub(super) models: Vec<ScoredModel>,
    pub(super) report: ScoreReport,
}

impl Inputs {
    pub(super) fn read(
        questions: &Path,
        answers: &Path,
        predictions: &[PathBuf],
        model: Option<String>,
        conventions: BTreeMap<String, ConventionName>,
    ) -> anyhow::Result<Self> {
        let predictions = predictions.iter().map(|path| PredictionsFile::read(path));
        Ok(Self {
            questions: TextFile::read(questions)?,
            answers: TextFile::read(answers)?,
            predictions: predictions.collect::<anyhow::Result<_>>()?,
            model,
            conventions,
        })
    }

    pub(super) fn score(&self) -> anyhow::Result<Scored> {
        let evaluation = Evaluation {
            questions: &self.questions.text,
            answers: &self.answers.text,
            conventions: self.conventions.clone(),
        };
        let set = evaluation
            .set()
            .map_err(|error| self.wrong_questions(&error))?;
        let predictions = self.predictions()?;
        let models = evaluation
            .score(&set, &predictions)
            .map_err(|error| self.wrong_questions(&error))
            .context("boxes in the convention that was declared")?;
        let report = evaluation.report(&set, &models);
        Ok(Scored {
            set,
            models,
            report,
        })
    }

    fn predictions(&self) -> anyhow::Result<Predictions<'_>> {
        let mut predictions = Predictions::new();
        for file in &self.predictions {
            file.add_to(&mut predictions, self.model.as_deref())?;
        }
        if predictions.is_empty() {
            return Err(InputError("the predictions hold no row".to_owned()).into());
        }
        if let Some(model) = self
            .conventions
            .keys()
            .find(|model| !predictions.contains_key(*model))
        {
            let known: Vec<&str> = predictions.keys().map(String::as_str).collect();
            let message = format!(
                "--convention {model}: the predictions are of {}",
                known.join(", ")
            );
            return Err(InputError(message).into());
        }
        Ok(predictions)
    }

    fn wrong_questions(&self, error: &QuestionsError) -> InputError {
        match error {
            QuestionsError::Questions(row) => wrong_row(&self.questions.path, row),
            QuestionsError::Answers(row) => wrong_row(&self.answers.path, row),
            QuestionsError::Empty => InputError(format!(
                "{}: there is no question",
                self.questions.path.display()
            )),
        }
    }
}

pub(super) fn wrong_row(path: &Path, error: &RowError) -> InputError {
    InputError(format!("{}: {error}", path.display()))
}
