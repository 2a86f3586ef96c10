//! Camera poses in the scene's metric frame.

pub mod align;
pub mod model;
pub mod pairs;
pub mod solver;
