//! What is said of one model.

use super::{ScoredModel, group_means, task_means};
use crate::config::ConventionName;
use crate::count::{CountErrors, CountStatistics};
use crate::diagnose::{BinScores, by_height, by_pitch};
use crate::questions::QuestionSet;
use crate::score::{ComponentSums, ModelScores};
use crate::taxonomy::{Component, Task};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Means by id; `null` where something is missing.
type Means = BTreeMap<String, Option<f64>>;

/// The scores of one model.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ModelReport {
    /// Its name.
    pub model: String,
    /// Whether each question has its one response. Otherwise scores that are there are diagnostics.
    pub official: bool,
    /// The convention that the model was declared to write boxes in, if not the questions'.
    pub convention: Option<ConventionName>,
    /// The mean of the four groups, 0 to 100.
    pub overall: Option<f64>,
    /// Means of groups.
    pub groups: Means,
    /// Means of tasks.
    pub tasks: Means,
    /// Components.
    pub components: BTreeMap<String, ComponentCell>,
    /// The part of the responses that are valid answers, 0 to 1.
    pub valid_rate: Option<f64>,
    /// The mean over the tasks that both periods of the paper share (C.3).
    pub common: Option<f64>,
    /// The rank by that mean among the models of this report, from 1; equal means share it.
    pub common_rank: Option<usize>,
    /// Recognition per vehicle.
    pub voting: VotingRow,
    /// Counts: each component, both tasks, and all together.
    pub counts: BTreeMap<String, CountRow>,
    /// By capture height, metres above take-off.
    pub heights: BTreeMap<String, BinRow>,
    /// By downward angle, degrees.
    pub pitches: BTreeMap<String, BinRow>,
    /// By scene.
    pub scenes: BTreeMap<String, SceneRow>,
    /// What is missing, double or unknown.
    pub coverage: CoverageRow,
}

/// A component of a model.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ComponentCell {
    /// The mean, 0 to 100; none while a response is missing.
    pub score: Option<f64>,
    /// Observations asked for.
    pub n: u64,
    /// Observations that are there.
    pub n_available: u64,
    /// Observations that are valid answers.
    pub n_valid: u64,
    /// The part that is valid, 0 to 1.
    pub valid_rate: Option<f64>,
    /// The mean of what is there: a diagnostic, no score.
    pub available_mean: Option<f64>,
}

/// Recognition per vehicle against recognition per view.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct VotingRow {
    /// Vehicles.
    pub n_vehicles: usize,
    /// The mean over vehicles of the mean over their views.
    pub equal_vehicle_mean: Option<f64>,
    /// BV less that mean: what voting changes.
    pub voting_effect: Option<f64>,
    /// Votes that several labels won, as SCENE/VEHICLE:COMPONENT.
    pub ties: Vec<String>,
    /// Vehicles that lack a view, as SCENE/VEHICLE.
    pub incomplete: Vec<String>,
}

/// The auxiliary statistics of counts (A.8).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CountRow {
    /// Responses.
    pub n: u64,
    /// Responses that are no counts.
    pub n_invalid: u64,
    /// The part that is exactly right, 0 to 1.
    pub exact: Option<f64>,
    /// The mean absolute error of the valid.
    pub mean_absolute_error: Option<f64>,
    /// The root mean squared error of the valid.
    pub root_mean_squared_error: Option<f64>,
}

/// A bin of heights or pitches.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct BinRow {
    /// The mean of the eight tasks.
    pub mean: Option<f64>,
    /// The means of the tasks.
    pub tasks: Means,
    /// Views of vehicles in the bin.
    pub n_views: u64,
    /// Vehicles with a view in the bin.
    pub n_vehicles: usize,
}

/// A scene.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SceneRow {
    /// The mean of the four groups, where the scene has all components.
    pub overall: Option<f64>,
    /// Overall of all other scenes together.
    pub overall_without: Option<f64>,
    /// Means of tasks.
    pub tasks: Means,
}

/// How responses met questions.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CoverageRow {
    /// Questions without a response that counts.
    pub missing: Vec<String>,
    /// Questions with several responses, none of which counts.
    pub duplicates: Vec<String>,
    /// Responses to what was not asked.
    pub unknown: Vec<String>,
    /// Questions for which the model was not reached; among the missing.
    pub not_returned: Vec<String>,
}

impl ModelReport {
    pub(super) fn of(
        set: &QuestionSet,
        model: &ScoredModel,
        convention: Option<ConventionName>,
    ) -> Self {
        let scores = &model.scores;
        let sums = scores.sums();
        let aggregate = sums.aggregate();
        let answered = scores.judged.iter().flatten();
        let n_valid = answered.filter(|judged| judged.invalid.is_none()).count();
        Self {
            model: model.name.clone(),
            official: scores.is_official(),
            convention,
            overall: aggregate.overall(),
            groups: group_means(&aggregate),
            tasks: task_means(&aggregate),
            components: components(&sums),
            valid_rate: Some(n_valid as f64 / set.questions.len() as f64),
            common: aggregate.common(),
            common_rank: None,
            voting: VotingRow {
                n_vehicles: set.vehicles.len(),
                equal_vehicle_mean: scores.equal_vehicle_mean,
                voting_effect: aggregate
                    .task(Task::BV)
                    .zip(scores.equal_vehicle_mean)
                    .map(|(voted, mean)| voted - mean),
                ties: scores.ties.iter().map(ToString::to_string).collect(),
                incomplete: scores.incomplete_vehicles.clone(),
            },
            counts: counts(scores),
            heights: bins(by_height(set, scores)),
            pitches: bins(by_pitch(set, scores)),
            scenes: scenes(set, scores),
            coverage: CoverageRow {
                missing: scores.coverage.missing.clone(),
                duplicates: scores.coverage.duplicates.clone(),
                unknown: scores.coverage.unknown.clone(),
                not_returned: scores.not_returned.clone(),
            },
        }
    }
}

fn components(sums: &ComponentSums) -> BTreeMap<String, ComponentCell> {
    let cell = |component| {
        let sum = sums.of(component);
        ComponentCell {
            score: sum.mean(),
            n: sum.n_expected,
            n_available: sum.sum.n(),
            n_valid: sum.n_valid,
            valid_rate: sum.valid_rate(),
            available_mean: sum.sum.mean(),
        }
    };
    Component::all()
        .map(|component| (component.to_string(), cell(component)))
        .collect()
}

fn counts(scores: &ModelScores) -> BTreeMap<String, CountRow> {
    let mut pooled: BTreeMap<String, CountErrors> = BTreeMap::new();
    for (component, errors) in &scores.counts {
        let task = component.task().to_string();
        for key in [component.to_string(), task, "all".to_owned()] {
            pooled.entry(key).or_default().merge(errors);
        }
    }
    let row = |found: CountStatistics| CountRow {
        n: found.n,
        n_invalid: found.n - found.n_valid,
        exact: found.exact,
        mean_absolute_error: found.mean_absolute_error,
        root_mean_squared_error: found.root_mean_squared_error,
    };
    pooled
        .into_iter()
        .map(|(key, errors)| (key, row(errors.statistics())))
        .collect()
}

fn bins<B: ToString, const N: usize>(bins: [(B, BinScores); N]) -> BTreeMap<String, BinRow> {
    let views = Component::find(Task::BI, "pair").expect("a component");
    let row = |scores: &BinScores| BinRow {
        mean: scores.mean(),
        tasks: task_means(&scores.sums.aggregate()),
        n_views: scores.sums.of(views).n_expected,
        n_vehicles: scores.n_vehicles,
    };
    bins.iter()
        .map(|(bin, scores)| (bin.to_string(), row(scores)))
        .collect()
}

fn scenes(set: &QuestionSet, scores: &ModelScores) -> BTreeMap<String, SceneRow> {
    let row = |place: usize| {
        let aggregate = scores.scenes[place].aggregate();
        let others: Vec<usize> = (0..set.scenes.len())
            .filter(|other| *other != place)
            .collect();
        SceneRow {
            overall: aggregate.overall(),
            overall_without: scores.sums_of(&others).aggregate().overall(),
            tasks: task_means(&aggregate),
        }
    };
    let scenes = set.scenes.iter().enumerate();
    scenes.map(|(place, id)| (id.clone(), row(place))).collect()
}
