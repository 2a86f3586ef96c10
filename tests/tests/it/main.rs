//! Tests of the whole.

mod tidy;
