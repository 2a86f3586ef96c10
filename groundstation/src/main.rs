//! The command `groundstation`.

use groundstation::commands::{self, Cli};
use std::process::ExitCode;

fn main() -> ExitCode {
    console::main_of::<Cli>(commands::run, commands::fault_of)
}
