//! Tests of the whole.

mod ingest;
mod pose;
mod solve;
mod tidy;
