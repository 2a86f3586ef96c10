//! Plans of sites, checked from outside: by other readers and by independent geometry.

#![allow(clippy::unwrap_used, reason = "a test stops where it fails")]

mod bad_input;
mod common;
mod example_sites;
mod feasibility;
mod promise;
mod readers;
mod repeat;
mod terrain;
