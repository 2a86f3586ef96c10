//! The deterministic scorers of the benchmark, usable alone.
//!
//! A response is text. It is parsed whole ([`Rule::judge`]), never searched for an answer, except for
//! the first JSON object of a recognition response. What counts is counted exactly: integers for counts,
//! decimals as they are written for relative errors, angles and boxes. Only a distance on the globe is a
//! floating-point number.

pub mod decimal;
pub mod json;
pub mod label;
pub mod taxonomy;
pub mod text;

pub use label::LabelPair;
pub use taxonomy::{AnswerType, COMPONENTS, Component, Group, Task};

/// The version of the rules in this crate. It changes whenever any response could score differently.
pub const SCORER_VERSION: &str = "1.0.0";
