//! Tests of the ground station against outside oracles.

mod camera_models;
mod score;
