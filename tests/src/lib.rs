//! What end-to-end tests stand on. Nothing here uses a crate of the product: what it writes and
//! expects is stated independently.
//!
//! - [`binaries`]: the built programs.
//! - [`photo`]: small JPEGs that say about themselves what a test wants them to.
//! - [`world`]: photos over a car park with known poses, and their `truth.json`.
//! - [`solver`]: the script of the fake solver and the solver itself (`fake_colmap`).
//! - [`workbench`]: a folder with photos, a scene and a solver, and commands run on them.
//! - [`evaluate`]: poses and anchors of a processed scene against what is true.
//! - [`pairing`]: pairs by footprint against every photo with every other.

pub mod binaries;
pub mod evaluate;
pub mod pairing;
pub mod photo;
pub mod solver;
mod tiff;
pub mod workbench;
pub mod world;
