//! The detector as other crates use it.

mod built_in;
mod common;
