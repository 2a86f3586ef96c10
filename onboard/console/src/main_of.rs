//! What both programs' `main` does: arguments, interruption, exit codes.

use crate::exit::{ExitStatus, exit_status, report};
use crate::interrupt::Cancel;
use crate::panics::end_panics_with_our_code;
use std::process::ExitCode;

/// Reads the arguments, runs the command and says how it ended. `fault_of` is the program's own
/// opinion of its errors, as for [`exit_status`].
pub fn main_of<C: clap::Parser>(
    run: impl FnOnce(&C, &Cancel) -> anyhow::Result<ExitStatus>,
    fault_of: impl Fn(&(dyn std::error::Error + 'static)) -> Option<ExitStatus>,
) -> ExitCode {
    end_panics_with_our_code();
    let cancel = Cancel::on_signals();
    let cli = match C::try_parse() {
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
    match run(&cli, &cancel) {
        Ok(status) => status.into(),
        Err(error) => {
            let text = report(&error);
            eprintln!("{text}");
            // For the log file, if there is one; the terminal has it.
            tracing::debug!("{text}");
            exit_status(&error, fault_of).into()
        }
    }
}
