//! A child process in its own group: its lines as they come, a log file, a deadline, and an end
//! that leaves nothing running.

use console::Cancel;
use nix::sys::signal::{Signal, killpg};
use nix::unistd::Pid;
use std::fs::OpenOptions;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::{Duration, Instant};

/// How often the deadline and the user's wish are looked at.
const TICK: Duration = Duration::from_millis(200);
/// Time between asking a process group to end and ending it.
const GRACE: Duration = Duration::from_secs(5);
/// A line longer than this is cut: a broken program may print without line ends.
const MAX_LINE_BYTES: u64 = 64 * 1024;

/// How a child process ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Ended {
    /// It returned this code.
    Code(i32),
    /// A signal ended it.
    Signal(i32),
    /// It ran past its deadline and was ended.
    TimedOut,
    /// The user asked to stop and it was ended.
    Cancelled,
}

/// What a finished child leaves.
#[derive(Clone, Debug)]
pub(super) struct Outcome {
    /// How it ended.
    pub(super) ended: Ended,
    /// Its last lines, oldest first, for messages.
    pub(super) last_lines: Vec<String>,
}

/// Runs `command` to its end. Every line of stdout and stderr goes to `log` (appended) and to
/// `on_line`; `on_tick` is called a few times a second.
///
/// # Errors
/// When the program cannot be started or the log cannot be written.
pub(super) fn run(
    command: &mut Command,
    log: &Path,
    deadline: Duration,
    cancel: &Cancel,
    mut on_line: impl FnMut(&str),
    mut on_tick: impl FnMut(),
) -> io::Result<Outcome> {
    let mut log = OpenOptions::new().create(true).append(true).open(log)?;
    writeln!(log, "$ {command:?}")?;
    let started = Instant::now();
    let mut child = command
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .process_group(0)
        .spawn()?;
    let group = Pid::from_raw(i32::try_from(child.id()).expect("process ids are positive i32"));
    let (sender, lines) = mpsc::sync_channel::<String>(1024);
    let readers = [
        child
            .stdout
            .take()
            .map(|out| read_lines(out, sender.clone())),
        child
            .stderr
            .take()
            .map(|err| read_lines(err, sender.clone())),
    ];
    drop(sender);

    let mut last_lines = Vec::new();
    let mut asked_to_end: Option<(Ended, Instant)> = None;
    let mut exited = None;
    loop {
        match lines.recv_timeout(TICK) {
            Ok(line) => {
                writeln!(log, "{line}")?;
                on_line(&line);
                last_lines.push(line);
                if last_lines.len() > 20 {
                    last_lines.remove(0);
                }
            }
            Err(RecvTimeoutError::Disconnected) => break,
            Err(RecvTimeoutError::Timeout) => {}
        }
        on_tick();
        // A grandchild may hold the pipes open after the child is gone.
        if exited.is_none() {
            exited = child.try_wait()?.map(|status| (status, Instant::now()));
        }
        if exited.is_some_and(|(_, at)| at.elapsed() > GRACE) {
            signal(group, Signal::SIGKILL);
        }
        match &asked_to_end {
            None if cancel.is_requested() => {
                asked_to_end = Some((Ended::Cancelled, Instant::now()));
                signal(group, Signal::SIGTERM);
            }
            None if started.elapsed() > deadline => {
                asked_to_end = Some((Ended::TimedOut, Instant::now()));
                signal(group, Signal::SIGTERM);
            }
            Some((_, at)) if at.elapsed() > GRACE => signal(group, Signal::SIGKILL),
            _ => {}
        }
    }
    let status = match exited {
        Some((status, _)) => status,
        None => wait(
            &mut child,
            group,
            started + deadline,
            &mut asked_to_end,
            cancel,
        )?,
    };
    for reader in readers.into_iter().flatten() {
        // The reader ends with its pipe; a panic there would have lost lines only.
        let _ = reader.join();
    }
    let ended = match asked_to_end {
        Some((ended, _)) => ended,
        None => match (status.code(), status.signal()) {
            (Some(code), _) => Ended::Code(code),
            (None, signal) => Ended::Signal(signal.unwrap_or(0)),
        },
    };
    writeln!(
        log,
        "= {ended:?} after {:.1} s",
        started.elapsed().as_secs_f64()
    )?;
    Ok(Outcome { ended, last_lines })
}

/// Waits for a child that has closed its output, with the same deadline.
fn wait(
    child: &mut std::process::Child,
    group: Pid,
    deadline: Instant,
    asked_to_end: &mut Option<(Ended, Instant)>,
    cancel: &Cancel,
) -> io::Result<std::process::ExitStatus> {
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(status);
        }
        let reason = if cancel.is_requested() {
            Some(Ended::Cancelled)
        } else {
            (Instant::now() > deadline).then_some(Ended::TimedOut)
        };
        match (&asked_to_end, reason) {
            (None, Some(reason)) => {
                *asked_to_end = Some((reason, Instant::now()));
                signal(group, Signal::SIGTERM);
            }
            (Some((_, at)), _) if at.elapsed() > GRACE => signal(group, Signal::SIGKILL),
            _ => {}
        }
        std::thread::sleep(TICK);
    }
}

fn signal(group: Pid, signal: Signal) {
    // The group may be gone already: then there is nothing left to end.
    let _ = killpg(group, signal);
}

fn read_lines(
    pipe: impl Read + Send + 'static,
    lines: mpsc::SyncSender<String>,
) -> std::thread::JoinHandle<()> {
    std::thread::spawn(move || {
        let mut reader = BufReader::new(pipe);
        let mut bytes = Vec::new();
        loop {
            bytes.clear();
            match reader
                .by_ref()
                .take(MAX_LINE_BYTES)
                .read_until(b'\n', &mut bytes)
            {
                Ok(0) | Err(_) => return,
                Ok(_) => {
                    let line = String::from_utf8_lossy(&bytes).trim_end().to_owned();
                    if lines.send(line).is_err() {
                        return;
                    }
                }
            }
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shell(script: &str, deadline: Duration, cancel: &Cancel) -> (Outcome, Vec<String>, String) {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let log = folder.path().join("log");
        let mut lines = Vec::new();
        let mut command = Command::new("sh");
        command.args(["-c", script]);
        let outcome = run(
            &mut command,
            &log,
            deadline,
            cancel,
            |l| lines.push(l.to_owned()),
            || {},
        )
        .expect("sh starts");
        (outcome, lines, std::fs::read_to_string(log).expect("a log"))
    }

    #[test]
    fn lines_of_both_streams_and_the_code_arrive() {
        let long = Duration::from_secs(60);
        let (outcome, mut lines, log) =
            shell("echo one; echo two >&2; exit 3", long, &Cancel::new());
        lines.sort();
        assert_eq!(lines, ["one", "two"]);
        assert_eq!(outcome.ended, Ended::Code(3));
        assert!(log.contains("one") && log.contains("two"));
    }

    #[test]
    fn signals_are_told_from_codes() {
        let (outcome, _, _) = shell("kill -ABRT $$", Duration::from_secs(60), &Cancel::new());
        assert_eq!(outcome.ended, Ended::Signal(6));
    }

    #[test]
    fn a_hanging_program_and_its_children_end_at_the_deadline() {
        let script = "sleep 1000 & echo $!; wait";
        let (outcome, lines, _) = shell(script, Duration::from_millis(300), &Cancel::new());
        assert_eq!(outcome.ended, Ended::TimedOut);
        let status = std::fs::read_to_string(format!("/proc/{}/status", lines[0]));
        // Ended but not yet collected by its new parent counts as gone.
        let gone = status.map_or(true, |text| text.contains("State:\tZ"));
        assert!(gone, "the grandchild {} still runs", lines[0]);
    }

    #[test]
    fn a_cancelled_program_ends() {
        let cancel = Cancel::new();
        let asker = cancel.clone();
        let thread = std::thread::spawn(move || {
            std::thread::sleep(Duration::from_millis(200));
            asker.request();
        });
        let (outcome, _, _) = shell("sleep 1000", Duration::from_secs(60), &cancel);
        thread.join().expect("it only sleeps");
        assert_eq!(outcome.ended, Ended::Cancelled);
    }
}
