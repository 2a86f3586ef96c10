//! Everything that is computed of an evaluation, as one value that is written to a file.

mod consistency;
mod model;

pub use consistency::{Consistency, SubsetRow, WindowRow};
pub use model::{BinRow, ComponentCell, CountRow, CoverageRow, ModelReport, SceneRow, VotingRow};

use crate::config::ConventionName;
use crate::predictions::{Prediction, Predictions};
use crate::questions::{QuestionSet, QuestionsError};
use crate::score::ModelScores;
use crate::{Aggregate, SCORER_VERSION};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The schema of [`ScoreReport`].
pub const SCORES_SCHEMA: &str = "scores/1";

/// The scores of all models of an evaluation.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ScoreReport {
    /// [`SCORES_SCHEMA`].
    pub schema: String,
    /// The version of the scorer.
    pub scorer: String,
    /// Questions asked.
    pub n_questions: usize,
    /// Scenes, in the order of capture.
    pub scenes: Vec<String>,
    /// The scores of each model, the best Overall first, then by name.
    pub models: Vec<ModelReport>,
    /// How alike scores are between sets of scenes, over all models.
    pub consistency: Consistency,
}

/// An evaluation: questions and answers as texts, and in which convention each model writes boxes.
#[derive(Clone, Debug)]
pub struct Evaluation<'a> {
    /// `questions.jsonl`.
    pub questions: &'a str,
    /// `answers.jsonl`.
    pub answers: &'a str,
    /// Conventions of models that differ from the questions'.
    pub conventions: BTreeMap<String, ConventionName>,
}

/// A model's scores with the questions that they answer.
#[derive(Clone, Debug)]
pub struct ScoredModel {
    /// Its name.
    pub name: String,
    /// Its scores.
    pub scores: ModelScores,
}

impl Evaluation<'_> {
    /// The questions, as they are for models without a convention of their own.
    ///
    /// # Errors
    /// See [`QuestionSet::read`].
    pub fn set(&self) -> Result<QuestionSet, QuestionsError> {
        QuestionSet::read(self.questions, self.answers, None)
    }

    /// Scores all models, several at once.
    ///
    /// # Errors
    /// See [`QuestionSet::read`].
    pub fn score(
        &self,
        set: &QuestionSet,
        predictions: &Predictions<'_>,
    ) -> Result<Vec<ScoredModel>, QuestionsError> {
        let mut declared = Vec::new();
        for convention in self.conventions.values() {
            if !declared.iter().any(|(known, _)| known == convention) {
                let set = QuestionSet::read(self.questions, self.answers, Some(*convention))?;
                declared.push((*convention, set));
            }
        }
        let set_of = |model: &str| {
            let convention = self.conventions.get(model);
            let own = declared.iter().find(|(known, _)| Some(known) == convention);
            own.map_or(set, |(_, set)| set)
        };
        let models: Vec<(&String, &Vec<Prediction<'_>>)> = predictions.iter().collect();
        let scored = models
            .into_par_iter()
            .map(|(name, predictions)| ScoredModel {
                name: name.clone(),
                scores: ModelScores::of(set_of(name), predictions),
            });
        Ok(scored.collect())
    }

    /// Everything that is computed of scores.
    #[must_use]
    pub fn report(&self, set: &QuestionSet, models: &[ScoredModel]) -> ScoreReport {
        let reports = models.par_iter().map(|model| {
            let convention = self.conventions.get(&model.name).copied();
            ModelReport::of(set, model, convention)
        });
        let mut reports: Vec<ModelReport> = reports.collect();
        let key = |report: &ModelReport| report.overall.unwrap_or(-1.0);
        reports.sort_by(|a, b| {
            key(b)
                .total_cmp(&key(a))
                .then_with(|| a.model.cmp(&b.model))
        });
        let common: Vec<Option<f64>> = reports.iter().map(|report| report.common).collect();
        for (report, rank) in reports.iter_mut().zip(crate::aggregate::ranks(&common)) {
            report.common_rank = rank;
        }
        ScoreReport {
            schema: SCORES_SCHEMA.to_owned(),
            scorer: SCORER_VERSION.to_owned(),
            n_questions: set.questions.len(),
            scenes: set.scenes.clone(),
            models: reports,
            consistency: Consistency::of(set, models),
        }
    }
}

/// Task means by id.
fn task_means(aggregate: &Aggregate) -> BTreeMap<String, Option<f64>> {
    let tasks = crate::Task::ALL.into_iter();
    tasks
        .map(|task| (task.id().to_owned(), aggregate.task(task)))
        .collect()
}

/// Group means by id.
fn group_means(aggregate: &Aggregate) -> BTreeMap<String, Option<f64>> {
    let groups = crate::Group::ALL.into_iter();
    groups
        .map(|group| (group.id().to_owned(), aggregate.group(group)))
        .collect()
}
