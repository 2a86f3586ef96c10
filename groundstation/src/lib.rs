//! The ground station: rooms from a folder of drone photos to vehicles with identities.

pub mod anchor;
mod assignment;
pub mod commands;
pub mod detect;
pub mod entity;
pub mod evaluate;
pub mod ground;
pub mod ingest;
pub mod merges;
pub mod opencv;
pub mod pose;
pub mod report;
pub mod review;
pub mod scene;
mod schema;
pub mod seeded;
mod statistics;
pub mod status;
