//! End-to-end tests and their fixtures.
