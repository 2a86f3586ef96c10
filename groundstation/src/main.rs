//! The command `groundstation`.

use clap::Parser;
use groundstation::commands::{self, Cli};
use std::process::ExitCode;

fn main() -> ExitCode {
    let cancel = console::Cancel::on_signals();
    let cli = Cli::parse();
    match commands::run(&cli, &cancel) {
        Ok(status) => status.into(),
        Err(error) => {
            eprintln!("{}", console::report(&error));
            console::exit_status(&error, commands::fault_of).into()
        }
    }
}
