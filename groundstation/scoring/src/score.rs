//! The scores of one model: its responses against the questions.

use crate::aggregate::Aggregate;
use crate::count::CountErrors;
use crate::coverage::Coverage;
use crate::invalid::Invalid;
use crate::label::LabelPair;
use crate::points::{Points, PointsSum};
use crate::predictions::Prediction;
use crate::questions::{Asked, Question, QuestionSet};
use crate::rule::{Answer, Rule};
use crate::taxonomy::{Component, Task};
use crate::vehicles::Tie;
use crate::vote::{LabelTable, most};

/// What came of the response to a question.
#[derive(Clone, Debug, PartialEq)]
pub struct Judged {
    /// The score; of a recognition response that of its pair.
    pub points: Points,
    /// The score of a recognition response's brand.
    pub brand_points: Option<Points>,
    /// Why it is no answer, if it is none.
    pub invalid: Option<Invalid>,
}

/// What a component's observations came to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ComponentSum {
    /// Scores of what is there.
    pub sum: PointsSum,
    /// Observations that were asked for.
    pub n_expected: u64,
    /// Observations that are valid answers; of BV vehicles with a valid view.
    pub n_valid: u64,
}

impl ComponentSum {
    /// The mean, when nothing is missing.
    #[must_use]
    pub fn mean(&self) -> Option<f64> {
        self.sum.mean().filter(|_| self.sum.n() == self.n_expected)
    }

    /// The part of the observations that are valid answers, 0 to 1.
    #[must_use]
    pub fn valid_rate(&self) -> Option<f64> {
        (self.n_expected > 0).then(|| self.n_valid as f64 / self.n_expected as f64)
    }

    fn add(&mut self, points: Option<Points>, is_valid: bool) {
        self.n_expected += 1;
        if let Some(points) = points {
            self.sum.add(points);
            self.n_valid += u64::from(is_valid);
        }
    }

    /// Adds the observations of another.
    pub fn merge(&mut self, other: &Self) {
        self.sum.merge(other.sum);
        self.n_expected += other.n_expected;
        self.n_valid += other.n_valid;
    }
}

/// The sums of all components.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ComponentSums([ComponentSum; Component::N]);

impl ComponentSums {
    /// A component's.
    #[must_use]
    pub fn of(&self, component: Component) -> &ComponentSum {
        &self.0[component.index()]
    }

    pub(crate) fn add(&mut self, component: Component, points: Option<Points>, is_valid: bool) {
        self.0[component.index()].add(points, is_valid);
    }

    /// Adds the observations of another.
    pub fn merge(&mut self, other: &Self) {
        for (sum, other) in self.0.iter_mut().zip(&other.0) {
            sum.merge(other);
        }
    }

    /// Means from components to Overall.
    #[must_use]
    pub fn aggregate(&self) -> Aggregate {
        Aggregate::of_components(|component| self.of(component).mean())
    }
}

/// The scores of one model.
#[derive(Clone, Debug)]
pub struct ModelScores {
    /// How its responses' ids met the questions'.
    pub coverage: Coverage,
    /// Questions for which nothing was returned: errors of the network or a service, timeouts. They are
    /// among the missing. Sorted.
    pub not_returned: Vec<String>,
    /// What came of each response, in the order of the questions; `None` where there is none.
    pub judged: Vec<Option<Judged>>,
    /// The labels of responses to recognition questions.
    labels: LabelTable,
    /// For each question what its response says, as a number of `labels`.
    said: Vec<Option<u32>>,
    /// For each vehicle what is right, likewise.
    right: Vec<u32>,
    /// Sums by scene, in the order of the scenes.
    pub scenes: Vec<ComponentSums>,
    /// Vehicles that lack a view, by id; sorted.
    pub incomplete_vehicles: Vec<String>,
    /// Votes that several labels won.
    pub ties: Vec<Tie>,
    /// The mean over vehicles of the mean over views, of brand and of pair: BV less this is what voting
    /// changes. None while a view is missing.
    pub equal_vehicle_mean: Option<f64>,
    /// Errors of counts by component, for the statistics of A.8.
    pub counts: Vec<(Component, CountErrors)>,
}

impl ModelScores {
    /// Scores responses.
    #[must_use]
    pub fn of(set: &QuestionSet, predictions: &[Prediction<'_>]) -> Self {
        let (responses, coverage, not_returned) = place_responses(set, predictions);
        let n = set.questions.len();
        let mut scores = Self {
            coverage,
            not_returned,
            judged: Vec::with_capacity(n),
            labels: LabelTable::default(),
            said: vec![None; n],
            right: Vec::new(),
            scenes: vec![ComponentSums::default(); set.scenes.len()],
            incomplete_vehicles: Vec::new(),
            ties: Vec::new(),
            equal_vehicle_mean: None,
            counts: Vec::new(),
        };
        for (place, (question, response)) in set.questions.iter().zip(responses).enumerate() {
            scores.judge(place, question, response);
        }
        let vehicles = set.vehicles.iter();
        scores.right = vehicles
            .map(|vehicle| scores.labels.add(vehicle.label.clone()))
            .collect();
        scores.labels.add(LabelPair::default());
        scores.labels.rank_all();
        scores.vote(set);
        scores
    }

    fn judge(&mut self, place: usize, question: &Question, response: Option<&str>) {
        let (Asked::Component(_, rule) | Asked::View { rule, .. }) = &question.asked;
        let judgement = response.map(|response| rule.judge(response));
        let is_valid = judgement.as_ref().is_some_and(|j| j.answer.is_ok());
        let points = judgement.as_ref().map(|judgement| judgement.points);
        let brand_points = judgement
            .as_ref()
            .and_then(|judgement| judgement.brand_points);
        let sums = &mut self.scenes[question.scene];
        match &question.asked {
            Asked::Component(component, rule) => {
                sums.add(*component, points, is_valid);
                if let (Rule::Count { reference, .. }, Some(judgement)) = (rule, &judgement) {
                    let count = match &judgement.answer {
                        Ok(Answer::Count(count)) => Some(*count),
                        _ => None,
                    };
                    errors_of(&mut self.counts, *component).add(*reference, count);
                }
            }
            Asked::View { .. } => {
                let [brand, pair] = recognition(Task::BI);
                sums.add(brand, brand_points, is_valid);
                sums.add(pair, points, is_valid);
            }
        }
        self.judged.push(judgement.map(|judgement| {
            let invalid = match judgement.answer {
                Ok(Answer::LabelPair(label)) => {
                    self.said[place] = Some(self.labels.add(label));
                    None
                }
                Ok(_) => None,
                Err(invalid) => Some(invalid),
            };
            Judged {
                points: judgement.points,
                brand_points: judgement.brand_points,
                invalid,
            }
        }));
    }

    /// Lets the views of each vehicle vote.
    fn vote(&mut self, set: &QuestionSet) {
        let [brand, pair] = recognition(Task::BV);
        let mut means = 0.0;
        for (place, vehicle) in set.vehicles.iter().enumerate() {
            let vote = Vote::of(self, &vehicle.views, place);
            let sums = &mut self.scenes[vehicle.scene];
            sums.add(
                brand,
                vote.as_ref().map(|v| v.brand),
                vote.as_ref().is_some_and(|v| v.has_valid),
            );
            sums.add(
                pair,
                vote.as_ref().map(|v| v.pair),
                vote.as_ref().is_some_and(|v| v.has_valid),
            );
            let id = format!("{}/{}", set.scenes[vehicle.scene], vehicle.id);
            match vote {
                Some(vote) => {
                    means += vote.mean_of_views;
                    let ties = vote.ties.into_iter();
                    self.ties.extend(ties.map(|component| Tie {
                        vehicle: id.clone(),
                        component,
                    }));
                }
                None => self.incomplete_vehicles.push(id),
            }
        }
        self.incomplete_vehicles.sort();
        let is_complete = self.incomplete_vehicles.is_empty() && !set.vehicles.is_empty();
        self.equal_vehicle_mean = is_complete.then(|| means / set.vehicles.len() as f64);
    }

    /// The sums of some scenes together, as places among the scenes.
    #[must_use]
    pub fn sums_of(&self, scenes: &[usize]) -> ComponentSums {
        let mut sums = ComponentSums::default();
        scenes
            .iter()
            .for_each(|scene| sums.merge(&self.scenes[*scene]));
        sums
    }

    /// The sums of all scenes.
    #[must_use]
    pub fn sums(&self) -> ComponentSums {
        let mut sums = ComponentSums::default();
        self.scenes.iter().for_each(|scene| sums.merge(scene));
        sums
    }

    /// Whether nothing is missing, so that the scores are official.
    #[must_use]
    pub fn is_official(&self) -> bool {
        self.coverage.is_complete()
    }
}

/// The components of BI or of BV: brand and pair.
pub(crate) fn recognition(task: Task) -> [Component; 2] {
    ["brand", "pair"].map(|name| Component::find(task, name).expect("both tasks have both"))
}

fn errors_of(counts: &mut Vec<(Component, CountErrors)>, component: Component) -> &mut CountErrors {
    let place = counts.iter().position(|(known, _)| *known == component);
    let place = place.unwrap_or_else(|| {
        counts.push((component, CountErrors::default()));
        counts.len() - 1
    });
    &mut counts[place].1
}

/// What the views of a vehicle, or some of them, came to.
pub(crate) struct Vote {
    pub(crate) brand: Points,
    pub(crate) pair: Points,
    ties: Vec<&'static str>,
    /// The mean over views of brand and pair, 0 to 100.
    mean_of_views: f64,
    pub(crate) has_valid: bool,
}

impl Vote {
    /// The vote of some views of a vehicle, a place among the vehicles. `None` when a view has no
    /// response, or there is no view.
    pub(crate) fn of(scores: &ModelScores, views: &[usize], vehicle: usize) -> Option<Self> {
        let nothing = scores.labels.number(&LabelPair::default())?;
        let mut sum = PointsSum::default();
        let (mut brands, mut pairs) = (Vec::new(), Vec::new());
        for view in views {
            let judged = scores.judged[*view].as_ref()?;
            sum.add(judged.points);
            sum.add(judged.brand_points.unwrap_or_default());
            let rank = scores.labels.rank(scores.said[*view].unwrap_or(nothing));
            brands.push(rank.brand);
            pairs.push(rank.pair);
        }
        let (brand, brand_was_tied) = most(&mut brands)?;
        let (pair, pair_was_tied) = most(&mut pairs)?;
        let right = scores.labels.rank(scores.right[vehicle]);
        let tied = [("brand", brand_was_tied), ("pair", pair_was_tied)];
        let tied = tied.into_iter().filter(|(_, was_tied)| *was_tied);
        Some(Self {
            brand: Points::all_or_nothing(brand == right.brand),
            pair: Points::all_or_nothing(pair == right.pair),
            ties: tied.map(|(component, _)| component).collect(),
            mean_of_views: sum.mean()?,
            has_valid: views.iter().any(|view| scores.said[*view].is_some()),
        })
    }
}

/// The one response to each question; where there are several, none.
fn place_responses<'a>(
    set: &QuestionSet,
    predictions: &'a [Prediction<'_>],
) -> (Vec<Option<&'a str>>, Coverage, Vec<String>) {
    let mut first: Vec<Option<&Prediction>> = vec![None; set.questions.len()];
    let mut is_duplicate = vec![false; set.questions.len()];
    let mut unknown = std::collections::BTreeSet::new();
    for prediction in predictions {
        match set.find(&prediction.id) {
            None => drop(unknown.insert(prediction.id.to_string())),
            Some(place) if first[place].is_some() => is_duplicate[place] = true,
            Some(place) => first[place] = Some(prediction),
        }
    }
    let response = |place: usize| {
        let prediction = first[place].filter(|_| !is_duplicate[place])?;
        prediction.response.as_deref()
    };
    let responses: Vec<Option<&str>> = (0..set.questions.len()).map(response).collect();
    let ids = |is_wanted: &dyn Fn(usize) -> bool| {
        let wanted = (0..set.questions.len()).filter(|place| is_wanted(*place));
        let mut ids: Vec<String> = wanted
            .map(|place| set.questions[place].id.clone())
            .collect();
        ids.sort();
        ids
    };
    let coverage = Coverage {
        missing: ids(&|place| responses[place].is_none()),
        duplicates: ids(&|place| is_duplicate[place]),
        unknown: unknown.into_iter().collect(),
    };
    let not_returned = ids(&|place| {
        !is_duplicate[place] && first[place].is_some_and(|found| found.response.is_none())
    });
    (responses, coverage, not_returned)
}
