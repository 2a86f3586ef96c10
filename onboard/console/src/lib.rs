//! What both binaries share at the terminal: exit codes, logging to stderr and a file, progress,
//! interruption, and the one JSON object of `--json`.

mod exit;
mod interrupt;
mod logging;
mod main_of;
mod output;
mod panics;
mod progress;

pub use exit::{ExitStatus, InputError, Interrupted, exit_status, report};
pub use interrupt::Cancel;
pub use logging::{LogLevel, start_logging};
pub use main_of::main_of;
pub use output::{canonical_json, print_json};
pub use progress::Progress;
