//! The built binary `onboard`, as a user runs it.

#![allow(clippy::unwrap_used, reason = "a test stops where it fails")]

mod common;
mod detect;
mod faults;
mod libraries;
mod model;
mod plan;
