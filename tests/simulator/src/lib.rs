//! A world with known truth.
