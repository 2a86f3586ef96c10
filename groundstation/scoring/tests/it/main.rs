//! Worked cases, properties, hostile texts, the paper's tables.

mod cases;
mod hostile;
mod plain;
mod properties;
mod report;
mod synthetic;
mod tables;
