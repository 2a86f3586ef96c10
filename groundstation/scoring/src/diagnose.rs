//! Scores by capture height and pitch (Appendix E): eight tasks, vehicles voting within each bin.

use crate::aggregate::DIAGNOSTIC_TASKS;
use crate::bins::{HeightBin, PitchBin};
use crate::questions::{Asked, Question, QuestionSet};
use crate::score::{ComponentSums, ModelScores, Vote, recognition};
use crate::taxonomy::Task;

/// The scores of a model under one condition.
#[derive(Clone, Debug)]
pub struct BinScores {
    /// Sums of the components of the eight tasks. A vehicle's vote counts the views of this bin alone.
    pub sums: ComponentSums,
    /// Vehicles with a view in the bin. One may be in several bins.
    pub n_vehicles: usize,
}

impl BinScores {
    /// The mean of the eight tasks, where each has observations and nothing is missing.
    #[must_use]
    pub fn mean(&self) -> Option<f64> {
        self.sums.aggregate().diagnostic()
    }

    fn of(set: &QuestionSet, scores: &ModelScores, is_in: impl Fn(&Question) -> bool) -> Self {
        let mut bin = Self {
            sums: ComponentSums::default(),
            n_vehicles: 0,
        };
        for (question, judged) in set.questions.iter().zip(&scores.judged) {
            let task = match &question.asked {
                Asked::Component(component, _) => component.task(),
                Asked::View { .. } => Task::BI,
            };
            if !DIAGNOSTIC_TASKS.contains(&task) || !is_in(question) {
                continue;
            }
            let points = judged.as_ref().map(|judged| judged.points);
            let is_valid = judged
                .as_ref()
                .is_some_and(|judged| judged.invalid.is_none());
            match &question.asked {
                Asked::Component(component, _) => bin.sums.add(*component, points, is_valid),
                Asked::View { .. } => {
                    let [brand, pair] = recognition(Task::BI);
                    let brand_points = judged.as_ref().and_then(|judged| judged.brand_points);
                    bin.sums.add(brand, brand_points, is_valid);
                    bin.sums.add(pair, points, is_valid);
                }
            }
        }
        bin.vote(set, scores, is_in);
        bin
    }

    fn vote(&mut self, set: &QuestionSet, scores: &ModelScores, is_in: impl Fn(&Question) -> bool) {
        let [brand, pair] = recognition(Task::BV);
        for (place, vehicle) in set.vehicles.iter().enumerate() {
            let views = vehicle.views.iter().copied();
            let views: Vec<usize> = views.filter(|view| is_in(&set.questions[*view])).collect();
            if views.is_empty() {
                continue;
            }
            self.n_vehicles += 1;
            let vote = Vote::of(scores, &views, place);
            let has_valid = vote.as_ref().is_some_and(|vote| vote.has_valid);
            self.sums
                .add(brand, vote.as_ref().map(|vote| vote.brand), has_valid);
            self.sums
                .add(pair, vote.as_ref().map(|vote| vote.pair), has_valid);
        }
    }
}

/// The scores by height.
#[must_use]
pub fn by_height(set: &QuestionSet, scores: &ModelScores) -> [(HeightBin, BinScores); 3] {
    HeightBin::ALL.map(|bin| (bin, BinScores::of(set, scores, |q| q.height == Some(bin))))
}

/// The scores by pitch.
#[must_use]
pub fn by_pitch(set: &QuestionSet, scores: &ModelScores) -> [(PitchBin, BinScores); 4] {
    PitchBin::ALL.map(|bin| (bin, BinScores::of(set, scores, |q| q.pitch == Some(bin))))
}
