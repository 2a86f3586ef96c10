//! Worked cases, properties, the paper's tables.

mod hostile;
