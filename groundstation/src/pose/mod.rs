//! Camera poses in the scene's metric frame.

pub mod align;
mod assemble;
mod component;
mod datum;
mod gates;
mod hand_over;
pub mod model;
mod offsets;
mod origin;
pub mod pairs;
pub mod posed;
pub mod priors;
mod run;
mod second_run;
pub mod solver;
mod unsolved;

pub use run::{EngineChoice, POINTS_FILE, POSE_FILE, PoseConfig, PoseError, ROOM, current, pose};
