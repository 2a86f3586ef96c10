//! How alike scores are between sets of scenes (Table 3, Figure 3).

use super::ScoredModel;
use crate::correlation::MeanAndDeviation;
use crate::questions::QuestionSet;
use crate::replay::{Agreement, Profile, SubsetAgreement, replay};
use crate::taxonomy::Task;
use serde::{Deserialize, Serialize};

/// More scenes than these are not compared subset by subset: the pairs would be too many.
const MAX_SCENES_OF_SUBSETS: usize = 12;

/// Scenes in a release.
const WINDOW: usize = 4;

/// How alike the scores of models and tasks are between sets of scenes.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Consistency {
    /// Disjoint subsets of the scenes, by size (Table 3).
    pub subsets: Vec<SubsetRow>,
    /// Neighbouring windows of four scenes in the order of capture (Figure 3).
    pub windows: Vec<WindowRow>,
    /// Neighbouring single scenes, to compare the windows with.
    pub scenes: Vec<WindowRow>,
}

/// Subsets of one size.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SubsetRow {
    /// Scenes in each.
    pub k: usize,
    /// Pairs compared.
    pub n_pairs: usize,
    /// The mean of Pearson's correlation.
    pub pearson_mean: Option<f64>,
    /// Its sample standard deviation: variation between pairs that share scenes, no uncertainty.
    pub pearson_sd: Option<f64>,
    /// The mean of Spearman's correlation.
    pub spearman_mean: Option<f64>,
    /// Its sample standard deviation.
    pub spearman_sd: Option<f64>,
}

/// A step from one window to the next.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct WindowRow {
    /// The step, from 1.
    pub step: usize,
    /// Entries of model and task that both have.
    pub n: usize,
    /// Pearson's correlation.
    pub pearson: Option<f64>,
    /// Spearman's.
    pub spearman: Option<f64>,
}

impl Consistency {
    pub(super) fn of(set: &QuestionSet, models: &[ScoredModel]) -> Self {
        let n = set.scenes.len();
        let profile = |scenes: &[usize]| -> Profile {
            let aggregates = models
                .iter()
                .map(|model| model.scores.sums_of(scenes).aggregate());
            aggregates
                .flat_map(|aggregate| Task::ALL.map(|task| aggregate.task(task)))
                .collect()
        };
        let sizes = if n <= MAX_SCENES_OF_SUBSETS { n / 2 } else { 0 };
        Self {
            subsets: (1..=sizes)
                .map(|k| subset_row(&SubsetAgreement::of(n, k, profile)))
                .collect(),
            windows: window_rows(replay(n, WINDOW, profile)),
            scenes: window_rows(replay(n, 1, profile)),
        }
    }
}

fn subset_row(found: &SubsetAgreement) -> SubsetRow {
    let mean = |over: Option<MeanAndDeviation>| over.map(|over| over.mean);
    let deviation = |over: Option<MeanAndDeviation>| over.and_then(|over| over.deviation);
    SubsetRow {
        k: found.k,
        n_pairs: found.n_pairs,
        pearson_mean: mean(found.pearson),
        pearson_sd: deviation(found.pearson),
        spearman_mean: mean(found.spearman),
        spearman_sd: deviation(found.spearman),
    }
}

fn window_rows(steps: Vec<Agreement>) -> Vec<WindowRow> {
    let steps = steps.into_iter().enumerate();
    steps
        .map(|(i, agreement)| WindowRow {
            step: i + 1,
            n: agreement.n,
            pearson: agreement.pearson,
            spearman: agreement.spearman,
        })
        .collect()
}
