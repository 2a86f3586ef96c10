//! The deterministic scorers of the benchmark, usable alone.
//!
//! A response is text. It is parsed whole ([`Rule::judge`]), never searched for an answer, except for
//! the first JSON object of a recognition response. What counts is counted exactly: integers for counts,
//! decimals as they are written for relative errors, angles and boxes. Only a distance on the globe is a
//! floating-point number.

pub mod aggregate;
pub mod bins;
mod boxes;
mod cases;
mod config;
pub mod correlation;
mod count;
mod coverage;
pub mod decimal;
mod diagnose;
mod gps;
mod invalid;
pub mod json;
mod label;
pub mod live;
mod number;
mod points;
pub mod predictions;
pub mod questions;
pub mod replay;
pub mod report;
mod rows;
mod rule;
pub mod score;
mod taxonomy;
mod text;
mod vehicles;
mod vote;

pub use aggregate::Aggregate;
pub use boxes::{Convention, HorizontalBox};
pub use cases::{CheckedCase, check_case};
pub use config::{Config, ConventionName, RuleError};
pub use count::{Count, CountErrors, CountStatistics};
pub use coverage::Coverage;
pub use diagnose::{BinScores, by_height, by_pitch};
pub use gps::{EARTH_RADIUS_M, Place};
pub use invalid::Invalid;
pub use label::LabelPair;
pub use number::{NumberFormat, NumberRule, NumberScore};
pub use points::{Points, PointsSum};
pub use rows::RowError;
pub use rule::{Answer, CountScore, Judgement, Rule};
pub use taxonomy::{AnswerType, COMPONENTS, Component, ComponentRow, Group, Task};
pub use text::normalize_label;
pub use vehicles::{ExpectedVehicle, Tie, VehicleScores, score_vehicles};
pub use vote::{Elected, elect};

/// The version of the rules in this crate. It changes whenever any response could score differently.
pub const SCORER_VERSION: &str = "1.0.0";
