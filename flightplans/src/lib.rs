//! Capture plans: from a site's polygon to photos that a drone can take at several heights and
//! pitches, in an order that fits its batteries, and to the files that other programs fly.
//!
//! [`planner::plan`] is a function of a [`site::Site`], a camera profile, a [`spec::PlanSpec`] and
//! the ground's [`terrain::Relief`]; the same input gives the same plan to the byte. Only the
//! `load` functions read files.

mod airspace;
mod candidates;
mod cover;
mod coverage;
pub mod error;
pub mod export;
mod ground;
pub mod import;
mod links;
mod motion;
pub mod plan;
pub mod plane;
pub mod planner;
pub mod report;
pub mod site;
mod sorties;
pub mod spec;
pub mod sun;
mod template;
pub mod terrain;
mod tour;

pub use error::{PlanError, SiteFault};
pub use plan::FlightPlan;
pub use planner::{Request, plan};
pub use site::Site;
pub use spec::PlanSpec;
pub use terrain::Relief;
