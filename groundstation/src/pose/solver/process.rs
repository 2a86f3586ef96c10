//! A child process in its own group: its lines as they come, a log file, a deadline, and an end
//! that leaves nothing running, not even after this program itself was killed.

use console::Cancel;
use nix::sys::signal::{Signal, killpg};
use nix::unistd::Pid;
use std::fs::{self, File, OpenOptions};
use std::io::{self, BufRead, BufReader, Read, Write};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::{Duration, Instant};

/// How often the deadline and the user's wish are looked at.
const TICK: Duration = Duration::from_millis(200);
/// The same once a child has closed its output: it mostly ends at once.
const SILENT_TICK: Duration = Duration::from_millis(10);
/// Time between asking a process group to end and ending it.
const GRACE: Duration = Duration::from_secs(5);
/// How long a process that an earlier run left behind is waited for: one that a kill does not end
/// waits for a disk and will not come back to write.
const LEFTOVER_LIMIT: Duration = Duration::from_secs(60);
/// A line longer than this is cut: a broken program may print without line ends.
const MAX_LINE_BYTES: u64 = 64 * 1024;
/// Lines kept for messages.
const KEPT_LINES: usize = 20;

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

/// What bounds a child's life.
pub(super) struct Bounds<'a> {
    /// All of its output is appended here.
    pub(super) log: Option<&'a Path>,
    /// Names the child while it runs, for [`end_leftover`].
    pub(super) pid_file: Option<&'a Path>,
    /// It is ended after this long.
    pub(super) limit: Duration,
    /// It is ended when the user asks to stop.
    pub(super) cancel: &'a Cancel,
}

/// Runs `command` to its end. Every line of stdout and stderr goes to the log and to `on_line`.
///
/// # Errors
/// When the program cannot be started or watched, or the log cannot be opened.
pub(super) fn run(
    command: &mut Command,
    bounds: &Bounds<'_>,
    mut on_line: impl FnMut(&str),
) -> io::Result<Outcome> {
    let mut log = Log::open(bounds.log)?;
    log.write(&format!("$ {command:?}"));
    let started = Instant::now();
    let mut child = command
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .process_group(0)
        .spawn()?;
    let group = Pid::from_raw(i32::try_from(child.id()).expect("process ids are positive i32"));
    if let Some(path) = bounds.pid_file {
        note_child(path, group);
    }
    let outcome = watch(&mut child, group, started, bounds, &mut log, &mut on_line);
    if outcome.is_err() {
        // Nothing that this program can no longer watch may go on.
        signal(group, Signal::SIGKILL);
        let _ = child.wait();
    }
    if let Some(path) = bounds.pid_file {
        // It names a process that is gone: harmless where it stays.
        let _ = fs::remove_file(path);
    }
    let outcome = outcome?;
    let seconds = started.elapsed().as_secs_f64();
    log.write(&format!("= {:?} after {seconds:.1} s", outcome.ended));
    Ok(outcome)
}

/// Receives a child's lines until it and its pipes are gone.
fn watch(
    child: &mut Child,
    group: Pid,
    started: Instant,
    bounds: &Bounds<'_>,
    log: &mut Log,
    on_line: &mut dyn FnMut(&str),
) -> io::Result<Outcome> {
    let (sender, lines) = mpsc::sync_channel::<String>(1024);
    if let Some(out) = child.stdout.take() {
        read_lines(out, sender.clone());
    }
    if let Some(err) = child.stderr.take() {
        read_lines(err, sender.clone());
    }
    drop(sender);
    let mut last_lines = Vec::new();
    let mut end = End {
        group,
        started,
        limit: bounds.limit,
        cancel: bounds.cancel,
        asked: None,
    };
    let mut exited: Option<(ExitStatus, Instant)> = None;
    loop {
        match lines.recv_timeout(TICK) {
            Ok(line) => {
                log.write(&line);
                on_line(&line);
                last_lines.push(line);
                if last_lines.len() > KEPT_LINES {
                    last_lines.remove(0);
                }
            }
            // A program may close its output long before it ends.
            Err(RecvTimeoutError::Disconnected) if exited.is_some() => break,
            Err(RecvTimeoutError::Disconnected) => std::thread::sleep(SILENT_TICK),
            Err(RecvTimeoutError::Timeout) => {}
        }
        if exited.is_none() {
            exited = child.try_wait()?.map(|status| (status, Instant::now()));
        }
        // A grandchild may hold the pipes open after the child is gone, even from a group of its
        // own, which no signal of ours reaches.
        if let Some((_, at)) = exited {
            if at.elapsed() > GRACE {
                signal(group, Signal::SIGKILL);
            }
            if at.elapsed() > 2 * GRACE {
                break;
            }
        }
        end.see_to_it();
    }
    let (status, _) = exited.expect("the loop ends only after the child");
    let ended = end.asked.map_or_else(
        || match (status.code(), status.signal()) {
            (Some(code), _) => Ended::Code(code),
            (None, signal) => Ended::Signal(signal.unwrap_or(0)),
        },
        |(ended, _)| ended,
    );
    Ok(Outcome { ended, last_lines })
}

/// Ends a group at its limit or at the user's wish: first asked, then made to.
struct End<'a> {
    group: Pid,
    started: Instant,
    limit: Duration,
    cancel: &'a Cancel,
    asked: Option<(Ended, Instant)>,
}

impl End<'_> {
    fn see_to_it(&mut self) {
        let reason = if self.cancel.is_requested() {
            Some(Ended::Cancelled)
        } else {
            (self.started.elapsed() > self.limit).then_some(Ended::TimedOut)
        };
        match (&self.asked, reason) {
            (None, Some(reason)) => {
                self.asked = Some((reason, Instant::now()));
                signal(self.group, Signal::SIGTERM);
            }
            (Some((_, at)), _) if at.elapsed() > GRACE => signal(self.group, Signal::SIGKILL),
            _ => {}
        }
    }
}

/// Where a child's lines are kept. A log that can no longer be written (a full disk) is given up:
/// the work matters more.
struct Log(Option<File>);

impl Log {
    fn open(path: Option<&Path>) -> io::Result<Self> {
        let open = |path| OpenOptions::new().create(true).append(true).open(path);
        Ok(Self(path.map(open).transpose()?))
    }

    fn write(&mut self, line: &str) {
        if let Some(file) = &mut self.0
            && let Err(error) = writeln!(file, "{line}")
        {
            tracing::warn!("the solver's log ends here: {error}");
            self.0 = None;
        }
    }
}

/// Notes which process runs: its id and its start time, since ids are given again.
fn note_child(path: &Path, group: Pid) {
    let Some(start) = start_time(group) else {
        return;
    };
    if let Err(error) = fs::write(path, format!("{group} {start}\n")) {
        tracing::warn!(
            "cannot note the solver's process in {}: {error}",
            path.display()
        );
    }
}

/// When a process started, in the kernel's count; `None` when it is gone or a zombie.
fn start_time(pid: Pid) -> Option<u64> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // The name in brackets may hold anything; after it come the state and, 19 fields on, the start
    // (proc(5), fields 3 and 22).
    let mut fields = stat.rsplit_once(')')?.1.split_whitespace();
    if fields.next()? == "Z" {
        return None;
    }
    fields.nth(18)?.parse().ok()
}

/// Ends the child that an earlier run of this program left behind when it was killed: it would
/// work on the same files.
pub(super) fn end_leftover(pid_file: &Path) {
    let Ok(text) = fs::read_to_string(pid_file) else {
        return;
    };
    let mut words = text.split_whitespace();
    let pid = words.next().and_then(|word| word.parse().ok());
    let start = words.next().and_then(|word| word.parse::<u64>().ok());
    if let (Some(pid), Some(start)) = (pid, start) {
        let pid = Pid::from_raw(pid);
        let runs = || start_time(pid) == Some(start);
        if runs() {
            tracing::warn!("ending the solver {pid} that an interrupted run left behind");
            signal(pid, Signal::SIGTERM);
        }
        let asked = Instant::now();
        while runs() && asked.elapsed() < LEFTOVER_LIMIT {
            if asked.elapsed() > GRACE {
                signal(pid, Signal::SIGKILL);
            }
            std::thread::sleep(TICK);
        }
    }
    // It names a process that is gone: harmless where it stays.
    let _ = fs::remove_file(pid_file);
}

fn signal(group: Pid, signal: Signal) {
    // The group may be gone already: then there is nothing left to end.
    let _ = killpg(group, signal);
}

/// Sends a pipe's lines until it is closed or nobody listens.
fn read_lines(pipe: impl Read + Send + 'static, lines: mpsc::SyncSender<String>) {
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
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shell(script: &str, limit: Duration, cancel: &Cancel) -> (Outcome, Vec<String>, String) {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let log = folder.path().join("log");
        let pid_file = folder.path().join("pid");
        let mut lines = Vec::new();
        let mut command = Command::new("sh");
        command.args(["-c", script]);
        let bounds = Bounds {
            log: Some(&log),
            pid_file: Some(&pid_file),
            limit,
            cancel,
        };
        let outcome =
            run(&mut command, &bounds, |line| lines.push(line.to_owned())).expect("sh starts");
        assert!(!pid_file.exists());
        (outcome, lines, fs::read_to_string(log).expect("a log"))
    }

    /// Ended but not yet collected by its new parent counts as gone.
    fn is_gone(pid: &str) -> bool {
        let status = fs::read_to_string(format!("/proc/{pid}/status"));
        status.map_or(true, |text| text.contains("State:\tZ"))
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
        assert!(is_gone(&lines[0]), "the grandchild {} still runs", lines[0]);
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

    #[test]
    fn a_program_that_closes_its_output_is_waited_for() {
        let long = Duration::from_secs(60);
        let script = "exec >/dev/null 2>&1; sleep 1; exit 4";
        assert_eq!(shell(script, long, &Cancel::new()).0.ended, Ended::Code(4));
        let short = Duration::from_millis(300);
        let script = "exec >/dev/null 2>&1; sleep 1000";
        assert_eq!(
            shell(script, short, &Cancel::new()).0.ended,
            Ended::TimedOut
        );
    }

    #[test]
    fn a_child_left_by_a_killed_program_is_ended_and_no_other() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let pid_file = folder.path().join("pid");
        let mut child = Command::new("sleep")
            .arg("1000")
            .process_group(0)
            .spawn()
            .expect("sleep starts");
        let pid = Pid::from_raw(child.id() as i32);
        let start = start_time(pid).expect("it runs");
        // The id was given again: another process of another start time.
        fs::write(&pid_file, format!("{pid} {}", start + 1)).expect("a temporary folder");
        end_leftover(&pid_file);
        assert!(!is_gone(&pid.to_string()) && !pid_file.exists());
        note_child(&pid_file, pid);
        end_leftover(&pid_file);
        assert!(is_gone(&pid.to_string()) && !pid_file.exists());
        child.wait().expect("our own child");
    }
}
