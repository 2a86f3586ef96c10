//! The deterministic scorers of the benchmark, usable alone.
//!
//! A response is text. It is parsed whole ([`Rule::judge`]), never searched for an answer, except for
//! the first JSON object of a recognition response. What counts is counted exactly: integers for counts,
//! decimals as they are written for relative errors, angles and boxes. Only a distance on the globe is a
//! floating-point number.

mod boxes;
mod config;
mod count;
pub mod decimal;
mod gps;
mod invalid;
pub mod json;
mod label;
mod number;
mod points;
mod rule;
mod taxonomy;
mod text;

pub use boxes::{Convention, HorizontalBox};
pub use config::{Config, ConventionName, RuleError};
pub use count::{Count, CountErrors, CountStatistics};
pub use gps::{EARTH_RADIUS_M, Place};
pub use invalid::Invalid;
pub use label::LabelPair;
pub use number::{NumberFormat, NumberRule, NumberScore};
pub use points::{Points, PointsSum};
pub use rule::{Answer, CountScore, Judgement, Rule};
pub use taxonomy::{AnswerType, COMPONENTS, Component, ComponentRow, Group, Task};
pub use text::normalize_label;

/// The version of the rules in this crate. It changes whenever any response could score differently.
pub const SCORER_VERSION: &str = "1.0.0";
