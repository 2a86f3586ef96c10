//! The detector as other crates use it.

#![allow(clippy::unwrap_used, reason = "a test stops where it fails")]

mod built_in;
mod common;
mod engines;
mod layouts;
mod peers;
mod self_test;
mod sheffield;
mod songdo;
