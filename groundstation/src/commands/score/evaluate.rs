//! The files of an evaluation, read and scored.

use anyhow::Context;
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

impl TextFile {
    pub(super) fn read(path: &Path) -> anyhow::Result<Self> {
        let bytes = std::fs::read(path)
            .map_err(|error| InputError(format!("{}: {error}", path.display())))?;
        let text = String::from_utf8(bytes).map_err(|error| {
            let at = error.utf8_error().valid_up_to();
            InputError(format!(
                "{}: byte {at} is not UTF-8; expected text",
                path.display()
            ))
        })?;
        let path = path.to_owned();
        Ok(Self { path, text })
    }

    fn is_csv(&self) -> bool {
        let extension = self.path.extension();
        extension.is_some_and(|extension| extension.eq_ignore_ascii_case("csv"))
    }
}

/// What is scored and against what.
pub(super) struct Inputs {
    pub(super) questions: TextFile,
    pub(super) answers: TextFile,
    pub(super) predictions: Vec<TextFile>,
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
        let predictions = predictions.iter().map(|path| TextFile::read(path));
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
            let model = self.model.as_deref();
            let read = if file.is_csv() {
                read_csv(&file.text, model, &mut predictions)
            } else {
                read_jsonl(&file.text, model, &mut predictions)
            };
            read.map_err(|error| wrong_row(file, &error))?;
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
            QuestionsError::Questions(row) => wrong_row(&self.questions, row),
            QuestionsError::Answers(row) => wrong_row(&self.answers, row),
            QuestionsError::Empty => InputError(format!(
                "{}: there is no question",
                self.questions.path.display()
            )),
        }
    }
}

fn wrong_row(file: &TextFile, error: &RowError) -> InputError {
    InputError(format!("{}: {error}", file.path.display()))
}
