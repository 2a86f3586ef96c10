//! What can go wrong, and whose fault it is.

use std::path::PathBuf;

/// Anything that stops the simulator.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SimulatorError {
    /// A number is outside what can be simulated.
    #[error("{what} is {found}, but must lie in {expected}")]
    OutOfRange {
        /// The option or field.
        what: &'static str,
        /// As given.
        found: String,
        /// In words.
        expected: String,
    },
    /// The site has too few places for the vehicles asked for.
    #[error(
        "the site has room for {room} vehicles at a spacing of {spacing_m} m, not for the {asked} asked for; \
         ask for fewer or a smaller spacing"
    )]
    NoRoom {
        /// How many were asked for.
        asked: usize,
        /// How many can stand.
        room: usize,
        /// Between neighbours, metres.
        spacing_m: f64,
    },
    /// Too few photos to connect the heights and pitches asked for.
    #[error(
        "{asked} photos cannot connect these heights and pitches; at least {needed} are needed"
    )]
    TooFewPhotos {
        /// How many were asked for.
        asked: usize,
        /// How many would do.
        needed: usize,
    },
    /// The output folder holds something that is not an earlier output of ours.
    #[error(
        "the folder holds files that the simulator did not write ({first}); name an empty or a new one: {folder}"
    )]
    ForeignFolder {
        /// The folder.
        folder: PathBuf,
        /// The first foreign name.
        first: String,
    },
    /// A file of an unknown schema.
    #[error("the file says schema {found:?}; this program reads {expected:?}: {file}")]
    WrongSchema {
        /// The file.
        file: PathBuf,
        /// Its `schema`.
        found: String,
        /// Ours.
        expected: &'static str,
    },
    /// A file that is not what it should be.
    #[error("cannot read as JSON of the schema: {file}")]
    BadJson {
        /// The file.
        file: PathBuf,
        /// Where and why.
        source: serde_json::Error,
    },
    /// Reading failed.
    #[error("cannot read {file}")]
    Read {
        /// The file.
        file: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// Writing failed.
    #[error("cannot write {file}")]
    Write {
        /// The file.
        file: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// The threads could not be started.
    #[error("cannot start {threads} threads")]
    Threads {
        /// How many.
        threads: usize,
        /// Why.
        source: rayon::ThreadPoolBuildError,
    },
}

impl SimulatorError {
    /// Whether the input or its use is at fault (exit code 1) rather than we or the machine
    /// (exit code 2).
    #[must_use]
    pub fn input_at_fault(&self) -> bool {
        match self {
            Self::OutOfRange { .. }
            | Self::NoRoom { .. }
            | Self::TooFewPhotos { .. }
            | Self::ForeignFolder { .. }
            | Self::WrongSchema { .. }
            | Self::BadJson { .. }
            | Self::Read { .. }
            | Self::Write { .. } => true,
            Self::Threads { .. } => false,
        }
    }
}

/// `Ok` when a value lies in a range, else the error that says so.
pub(crate) fn within(
    what: &'static str,
    value: f64,
    low: f64,
    high: f64,
) -> Result<(), SimulatorError> {
    if (low..=high).contains(&value) {
        Ok(())
    } else {
        Err(SimulatorError::OutOfRange {
            what,
            found: value.to_string(),
            expected: format!("{low} to {high}"),
        })
    }
}
