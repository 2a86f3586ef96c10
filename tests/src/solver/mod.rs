//! A stand-in for COLMAP: answers its commands as the generation that a script names would, and
//! writes databases and models from what is true of the photos.
//!
//! The program `fake_colmap` reads the script named by the environment variable [`SCRIPT`].

mod database;
mod model;
mod options;
mod run;
mod script;

pub use run::run;
pub use script::{Behaviour, Damage, End, Model, Script};

/// Names the script's file.
pub const SCRIPT: &str = "FAKE_COLMAP_SCRIPT";
