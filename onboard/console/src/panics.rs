//! A panic is a fault of ours and ends with our code; a reader that goes away is no fault.

use crate::exit::ExitStatus;

/// What the standard library says when it cannot print.
const PRINTING: &str = "failed printing to stdout";
const CLOSED: &str = "Broken pipe";

/// From now on a panic in any thread says what happened and ends the process with code 2, and
/// printing into a pipe that nobody reads any more (`| head`) ends it quietly.
pub(crate) fn end_panics_with_our_code() {
    let usual = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |info| {
        let said = info.payload_as_str().unwrap_or_default();
        if said.starts_with(PRINTING) && said.contains(CLOSED) {
            std::process::exit(i32::from(ExitStatus::Done.code()));
        }
        usual(info);
        eprintln!("error: this is a fault of the program; please report the lines above");
        std::process::exit(i32::from(ExitStatus::Ours.code()));
    }));
}
