//! Diagnostics: short lines on stderr, everything in a file when one is named.

use std::fs::OpenOptions;
use std::io;
use std::path::Path;
use std::sync::Mutex;
use tracing_subscriber::filter::LevelFilter;
use tracing_subscriber::fmt;
use tracing_subscriber::layer::{Layer, SubscriberExt};
use tracing_subscriber::util::SubscriberInitExt;

/// How much goes to stderr. The file always gets debug.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LogLevel {
    /// Errors only.
    Quiet,
    /// Warnings and errors.
    Normal,
    /// What is being done.
    Verbose,
}

/// Starts logging. Call once, early in `main`; a second call in one process changes nothing.
///
/// # Errors
/// When the log file cannot be opened for appending.
pub fn start_logging(level: LogLevel, file: Option<&Path>) -> io::Result<()> {
    let on_stderr = match level {
        LogLevel::Quiet => LevelFilter::ERROR,
        LogLevel::Normal => LevelFilter::WARN,
        LogLevel::Verbose => LevelFilter::INFO,
    };
    let stderr_layer = fmt::layer()
        .with_writer(io::stderr)
        .with_target(false)
        .without_time()
        .with_filter(on_stderr);
    let file_layer = match file {
        Some(path) => {
            let writer = OpenOptions::new().create(true).append(true).open(path)?;
            Some(
                fmt::layer()
                    .with_ansi(false)
                    .with_writer(Mutex::new(writer))
                    .with_filter(LevelFilter::DEBUG),
            )
        }
        None => None,
    };
    // Already started (a test calling twice): the first one keeps running.
    let _ = tracing_subscriber::registry()
        .with(stderr_layer)
        .with(file_layer)
        .try_init();
    Ok(())
}
