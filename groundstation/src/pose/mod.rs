//! Camera poses in the scene's metric frame.

pub mod align;
mod assemble;
mod gates;
pub mod model;
pub mod pairs;
pub mod posed;
pub mod priors;
mod run;
pub mod solver;

pub use run::{EngineChoice, POINTS_FILE, POSE_FILE, PoseConfig, PoseError, ROOM, current, pose};
