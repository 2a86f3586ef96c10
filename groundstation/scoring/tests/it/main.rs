//! Worked cases, properties, hostile texts, the paper's tables.

mod cases;
mod hostile;
mod properties;
mod tables;
