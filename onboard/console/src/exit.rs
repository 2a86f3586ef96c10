//! Exit codes: 0 done, 1 the input is at fault, 2 we are, 130 interrupted.

use std::fmt::Write as _;
use std::process::ExitCode;

/// Who is at fault, as a process says it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExitStatus {
    /// Everything asked for was done.
    Done,
    /// The input or the way the command was called is at fault.
    Input,
    /// We are at fault, or the machine is.
    Ours,
    /// The user stopped it.
    Interrupted,
}

impl ExitStatus {
    /// The process's exit code.
    #[must_use]
    pub fn code(self) -> u8 {
        match self {
            Self::Done => 0,
            Self::Input => 1,
            Self::Ours => 2,
            Self::Interrupted => 130,
        }
    }
}

impl From<ExitStatus> for ExitCode {
    fn from(status: ExitStatus) -> Self {
        Self::from(status.code())
    }
}

/// The input is at fault: what was found, what was expected, what to do.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct InputError(pub String);

/// The user interrupted the work; everything finished so far is kept.
#[derive(Debug, thiserror::Error)]
#[error("interrupted; run the same command again to go on from here")]
pub struct Interrupted;

/// The exit status an error calls for. `known` says it for the binary's own error types (the
/// crates' enums); the first cause in the chain with an opinion decides; an error that nobody
/// knows is ours.
pub fn exit_status(
    error: &anyhow::Error,
    known: impl Fn(&(dyn std::error::Error + 'static)) -> Option<ExitStatus>,
) -> ExitStatus {
    for cause in error.chain() {
        if cause.is::<Interrupted>() {
            return ExitStatus::Interrupted;
        }
        if cause.is::<InputError>() {
            return ExitStatus::Input;
        }
        if let Some(status) = known(cause) {
            return status;
        }
    }
    ExitStatus::Ours
}

/// The error as a person reads it: one line per cause, without repeating what a cause's own text
/// already holds.
#[must_use]
pub fn report(error: &anyhow::Error) -> String {
    let mut text = format!("error: {error}");
    let mut last = error.to_string();
    for cause in error.chain().skip(1) {
        let line = cause.to_string();
        if last.contains(&line) {
            continue;
        }
        write!(text, "\n  because: {line}").expect("writing to a String does not fail");
        last = line;
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use anyhow::Context;

    #[test]
    fn the_first_opinion_in_the_chain_decides() {
        let input = anyhow::Error::new(InputError("no such folder".into())).context("ingest");
        assert_eq!(exit_status(&input, |_| None), ExitStatus::Input);
        let unknown = anyhow::anyhow!("disk on fire");
        assert_eq!(exit_status(&unknown, |_| None), ExitStatus::Ours);
        let stopped = anyhow::Error::new(Interrupted).context("pose");
        assert_eq!(exit_status(&stopped, |_| None), ExitStatus::Interrupted);
        let io = std::fs::read("/nonexistent/x")
            .context("reading")
            .expect_err("no such file");
        let by_io = exit_status(&io, |e| {
            e.downcast_ref::<std::io::Error>()
                .filter(|e| e.kind() == std::io::ErrorKind::NotFound)
                .map(|_| ExitStatus::Input)
        });
        assert_eq!(by_io, ExitStatus::Input);
    }

    #[test]
    fn causes_are_listed_once() {
        let error = anyhow::anyhow!("file is short").context("reading a.jpg: file is short");
        assert_eq!(report(&error), "error: reading a.jpg: file is short");
        let error = anyhow::anyhow!("file is short").context("reading a.jpg");
        assert_eq!(
            report(&error),
            "error: reading a.jpg\n  because: file is short"
        );
    }
}
