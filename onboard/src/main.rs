//! The command `onboard`.

use onboard::commands::{self, Cli};
use std::process::ExitCode;

fn main() -> ExitCode {
    console::main_of::<Cli>(commands::run, commands::fault_of)
}
