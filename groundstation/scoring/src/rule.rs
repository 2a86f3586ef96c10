//! What a question asks for and what is right: the one place where a response meets its score.

use crate::boxes::{Convention, HorizontalBox};
use crate::count::Count;
use crate::decimal::Decimal;
use crate::gps::Place;
use crate::invalid::Invalid;
use crate::label::LabelPair;
use crate::number::NumberRule;
use crate::points::Points;

/// How a count scores.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Deserialize, serde::Serialize)]
#[serde(rename_all = "snake_case")]
pub enum CountScore {
    /// Mean relative accuracy over integers.
    #[default]
    Mra,
    /// 100 for the right count.
    Exact,
}

/// A question's rule with its reference, checked when it was made ([`Rule::new`]).
///
/// [`Rule::new`]: crate::Rule::new
#[derive(Clone, Debug)]
pub enum Rule {
    /// Brand and model of a vehicle.
    LabelPair(LabelPair),
    /// A number of vehicles.
    Count {
        /// How it scores.
        score: CountScore,
        /// The right number.
        reference: u64,
    },
    /// One of several texts.
    Choice {
        /// All.
        candidates: Vec<String>,
        /// The place of the right one among them.
        reference: usize,
    },
    /// A number.
    Number(NumberRule),
    /// A horizontal box.
    Box {
        /// The convention of the responses.
        convention: Convention,
        /// The right box, on the grid of 0 to 1000.
        reference: HorizontalBox,
    },
    /// A place.
    Gps(Place),
}

/// What a valid response says.
#[derive(Clone, Debug)]
pub enum Answer {
    /// Brand and model.
    LabelPair(LabelPair),
    /// A count.
    Count(Count),
    /// The place of the candidate that it is.
    Choice(usize),
    /// A number, reduced where the rule says so.
    Number(Decimal),
    /// A box in the convention of the responses.
    Box(HorizontalBox),
    /// A place.
    Gps(Place),
}

/// What came of a response.
#[derive(Clone, Debug)]
pub struct Judgement {
    /// The score. A recognition response scores its pair here; see [`Judgement::brand_points`].
    pub points: Points,
    /// For recognition, the score of the brand alone.
    pub brand_points: Option<Points>,
    /// What it says, or why it says nothing.
    pub answer: Result<Answer, Invalid>,
}

impl Rule {
    /// Reads a response and scores it. White space around it does not count.
    #[must_use]
    pub fn judge(&self, response: &str) -> Judgement {
        let answer = self.parse(response);
        let points = match &answer {
            Ok(answer) => self.points(answer),
            Err(_) => Points::ZERO,
        };
        Judgement {
            points,
            brand_points: self.brand_points(answer.as_ref().ok()),
            answer,
        }
    }

    /// What a response says.
    ///
    /// # Errors
    /// Why it says nothing.
    pub fn parse(&self, response: &str) -> Result<Answer, Invalid> {
        let text = response.trim();
        match self {
            Self::LabelPair(_) => LabelPair::of_response(response)
                .map(Answer::LabelPair)
                .ok_or(Invalid::NoObject),
            Self::Count { .. } => Count::parse(text).map(Answer::Count),
            Self::Choice { candidates, .. } => candidates
                .iter()
                .position(|candidate| candidate == text)
                .map(Answer::Choice)
                .ok_or(Invalid::NotACandidate),
            Self::Number(rule) => rule.parse(text).map(Answer::Number),
            Self::Box { convention, .. } => {
                HorizontalBox::parse(text, *convention).map(Answer::Box)
            }
            Self::Gps(_) => Place::parse(text).map(Answer::Gps),
        }
    }

    /// The score of what a response says.
    fn points(&self, answer: &Answer) -> Points {
        match (self, answer) {
            (Self::LabelPair(right), Answer::LabelPair(said)) => {
                Points::all_or_nothing(said == right)
            }
            (Self::Count { score, reference }, Answer::Count(count)) => match score {
                CountScore::Mra => count.mean_relative_accuracy(*reference),
                CountScore::Exact => Points::all_or_nothing(count.is(*reference)),
            },
            (Self::Choice { reference, .. }, Answer::Choice(place)) => {
                Points::all_or_nothing(place == reference)
            }
            (Self::Number(rule), Answer::Number(value)) => rule.points(value),
            (
                Self::Box {
                    convention,
                    reference,
                },
                Answer::Box(said),
            ) => Points::all_or_nothing(said.covers_half(*convention, reference)),
            (Self::Gps(right), Answer::Gps(place)) => place.points(*right),
            // An answer of another rule.
            _ => Points::ZERO,
        }
    }

    fn brand_points(&self, answer: Option<&Answer>) -> Option<Points> {
        let Self::LabelPair(right) = self else {
            return None;
        };
        let is_right = matches!(answer, Some(Answer::LabelPair(said)) if said.brand == right.brand);
        Some(Points::all_or_nothing(is_right))
    }
}
