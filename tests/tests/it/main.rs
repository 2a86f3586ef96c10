//! Tests of the whole.

mod detect;
mod identities;
mod ingest;
mod pose;
mod scene_from_truth;
mod solve;
mod tidy;
mod vehicles;
