//! Which groups of detections are one vehicle after all: how probable that is, and why.
//!
//! Two groups are a candidate when they lie near each other and share no photo. What is known of a
//! candidate is its [`Features`]; a [`MergeModel`] makes a probability of them; [`merge`] joins the
//! surest pairs first.

mod apply;
mod features;
mod fit;
mod model;

pub use apply::{Candidate, Merged, candidates, merge};
pub use features::{Features, Group, Scale, features};
pub use fit::{Case, FitError, Fitted, Reliability, ReliabilityBin, fit, reliability};
pub use model::{MergeModel, ModelError, Training};
