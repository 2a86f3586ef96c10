//! The ground station: rooms from a folder of drone photos to vehicles with identities.

pub mod pose;
pub mod seeded;
