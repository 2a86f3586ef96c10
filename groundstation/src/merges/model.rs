//! The probability that two groups are one vehicle: logistic regression on their features.

use super::features::Features;
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};

const SCHEMA: &str = "merge-model/1";
/// The model that is built in.
const SHIPPED: &str = include_str!("../../models/merges.toml");

/// What is wrong with a model's file.
#[derive(Debug, thiserror::Error)]
pub enum ModelError {
    /// It cannot be read.
    #[error("cannot read {}: {source}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
    /// It is no model.
    #[error("{} is no merge model: {source}; `groundstation merges fit` writes one", path.display())]
    Toml {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        source: toml::de::Error,
    },
    /// It is of another schema.
    #[error("{} is of schema {found:?}; this program reads {SCHEMA:?}", path.display())]
    Schema {
        /// The file.
        path: PathBuf,
        /// Its schema.
        found: String,
    },
    /// It has a term that is not known.
    #[error("{}: there is no feature {found:?}; known are {known}", path.display())]
    UnknownTerm {
        /// The file.
        path: PathBuf,
        /// The term.
        found: String,
        /// All features.
        known: String,
    },
}

/// A model.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MergeModel {
    /// `merge-model/1`.
    pub schema: String,
    /// What it was fitted on.
    pub training: Training,
    /// Log odds where every term is at its mean.
    pub intercept: f64,
    /// The terms, summed.
    pub terms: Vec<Term>,
}

/// What a model was fitted on.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Training {
    /// In words.
    pub description: String,
    /// Scenes whose vehicles were known from a simulator.
    pub simulated_scenes: usize,
    /// Scenes that people had reviewed.
    pub reviewed_scenes: usize,
    /// Candidates.
    pub candidates: usize,
    /// Of these one vehicle.
    pub one_vehicle: usize,
    /// Mean squared error of probabilities on scenes that were left out.
    pub brier: f64,
    /// Mean difference between predicted and true shares over bins, on scenes left out.
    pub calibration_error: f64,
}

/// `weight * (feature - mean) / spread`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Term {
    /// The feature's name.
    pub feature: String,
    /// Its mean in training.
    pub mean: f64,
    /// Its standard deviation in training.
    pub spread: f64,
    /// Log odds per spread.
    pub weight: f64,
}

/// A feature as a number: its name, and how it follows from what is known. Missing is 0, beside an
/// indicator.
type Input = (&'static str, fn(&Features) -> f64);

/// The inputs of a model, in the order of its terms.
pub(super) const INPUTS: [Input; 17] = [
    ("log_odds_start", |f| f.log_odds_start.clamp(-20.0, 20.0)),
    ("distance_m", |f| f.distance_m),
    ("distance_sigmas", |f| f.distance_sigmas.min(12.0)),
    ("distance_epsilons", |f| f.distance_epsilons),
    ("covisible_ln", |f| (1.0 + f.n_covisible as f64).ln()),
    ("exclusion", |f| f.exclusion),
    ("seen_a_share", |f| seen_share(f.n_seen_a, f)),
    ("seen_b_share", |f| seen_share(f.n_seen_b, f)),
    ("n_a_ln", |f| (f.n_a as f64).ln()),
    ("n_b_ln", |f| (f.n_b as f64).ln()),
    ("share_b", |f| f.share_b),
    ("size_ratio_ln", |f| f.size_ratio_ln.unwrap_or(0.0).min(1.5)),
    ("axis_difference", |f| {
        f.axis_difference_deg.unwrap_or(0.0) / 90.0
    }),
    ("pitch_mix", |f| f.pitch_mix_deg / 45.0),
    ("time_gap_ln", |f| {
        (1.0 + f.time_gap_s.unwrap_or(0.0) / 60.0).ln()
    }),
    ("colour_distance", |f| {
        (f.colour_distance.unwrap_or(0.0) / 20.0).min(3.0)
    }),
    ("colour_known", |f| f64::from(f.colour_distance.is_some())),
];

fn seen_share(n_seen: usize, features: &Features) -> f64 {
    n_seen as f64 / features.n_covisible.max(1) as f64
}

impl MergeModel {
    /// The model that is built in.
    ///
    /// # Panics
    /// Never: a test reads it.
    #[must_use]
    pub fn shipped() -> Self {
        Self::parse(SHIPPED, Path::new("models/merges.toml")).expect("a test reads it")
    }

    /// The co-visibility model alone, not calibrated.
    #[must_use]
    pub fn start() -> Self {
        Self {
            schema: SCHEMA.to_owned(),
            training: Training::default(),
            intercept: 0.0,
            terms: vec![Term {
                feature: "log_odds_start".to_owned(),
                mean: 0.0,
                spread: 1.0,
                weight: 1.0,
            }],
        }
    }

    pub(super) fn new(training: Training, intercept: f64, terms: Vec<Term>) -> Self {
        Self {
            schema: SCHEMA.to_owned(),
            training,
            intercept,
            terms,
        }
    }

    /// Reads a model.
    ///
    /// # Errors
    /// [`ModelError`].
    pub fn read(path: &Path) -> Result<Self, ModelError> {
        let text = std::fs::read_to_string(path).map_err(|source| ModelError::Read {
            path: path.to_owned(),
            source,
        })?;
        Self::parse(&text, path)
    }

    fn parse(text: &str, path: &Path) -> Result<Self, ModelError> {
        let model: Self = toml::from_str(text).map_err(|source| ModelError::Toml {
            path: path.to_owned(),
            source,
        })?;
        if model.schema != SCHEMA {
            return Err(ModelError::Schema {
                path: path.to_owned(),
                found: model.schema,
            });
        }
        let known = |name: &str| INPUTS.iter().any(|(input, _)| *input == name);
        match model.terms.iter().find(|term| !known(&term.feature)) {
            None => Ok(model),
            Some(term) => Err(ModelError::UnknownTerm {
                path: path.to_owned(),
                found: term.feature.clone(),
                known: INPUTS.map(|(name, _)| name).join(", "),
            }),
        }
    }

    /// As text for a file.
    ///
    /// # Panics
    /// Never: it holds numbers and text only.
    #[must_use]
    pub fn to_toml(&self) -> String {
        toml::to_string(self).expect("numbers and text")
    }

    /// The probability that two groups are one vehicle.
    #[must_use]
    pub fn probability(&self, features: &Features) -> f64 {
        let sum = self.terms.iter().filter_map(|term| {
            let (_, value) = INPUTS.iter().find(|(name, _)| *name == term.feature)?;
            Some(term.weight * (value(features) - term.mean) / term.spread)
        });
        sigmoid(self.intercept + sum.sum::<f64>())
    }
}

pub(super) fn sigmoid(log_odds: f64) -> f64 {
    1.0 / (1.0 + (-log_odds).exp())
}
