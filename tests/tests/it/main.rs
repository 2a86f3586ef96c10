//! Tests of the whole.

mod ingest;
mod pose;
mod tidy;
