//! The command `onboard`.

use clap::Parser;
use console::ExitStatus;
use onboard::commands::{self, Cli};
use std::process::ExitCode;

fn main() -> ExitCode {
    console::end_panics_with_our_code();
    let cancel = console::Cancel::on_signals();
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => {
            // Help and version are no faults; a closed pipe is none of ours either.
            let _ = error.print();
            let status = if error.use_stderr() {
                ExitStatus::Input
            } else {
                ExitStatus::Done
            };
            return status.into();
        }
    };
    match commands::run(&cli, &cancel) {
        Ok(status) => status.into(),
        Err(error) => {
            eprintln!("{}", console::report(&error));
            console::exit_status(&error, commands::fault_of).into()
        }
    }
}
