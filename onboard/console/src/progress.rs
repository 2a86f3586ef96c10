//! Progress of long work: a bar on a terminal, a line now and then elsewhere.

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::io::IsTerminal;
use std::sync::Mutex;
use std::time::{Duration, Instant};

/// Without a terminal, a line is printed at most this often when something changed (and at the end
/// of each stage).
const LINE_INTERVAL: Duration = Duration::from_secs(5);
/// When nothing changed, a line this often says that the work still goes on.
const UNCHANGED_LINE_INTERVAL: Duration = Duration::from_secs(30);

/// One stage of long work. Cheap to call often; safe to share between threads.
pub struct Progress {
    title: String,
    bar: Option<ProgressBar>,
    lines: Mutex<Lines>,
    quiet: bool,
}

struct Lines {
    total: u64,
    done: u64,
    note: String,
    started: Instant,
    last_line: Instant,
    last_shown: String,
}

impl Lines {
    /// What there is to say at `now`; `None` while it is too early to say it.
    fn due(&mut self, now: Instant) -> Option<String> {
        let since = now.saturating_duration_since(self.last_line);
        if since < LINE_INTERVAL {
            return None;
        }
        let of_total = if self.total > 0 {
            format!("/{}", self.total)
        } else {
            String::new()
        };
        let text = format!("{}{of_total} {}", self.done, self.note);
        if text == self.last_shown && since < UNCHANGED_LINE_INTERVAL {
            return None;
        }
        self.last_line = now;
        self.last_shown.clone_from(&text);
        Some(text)
    }
}

impl Progress {
    /// A stage with a known number of steps (0 when unknown).
    #[must_use]
    pub fn new(title: &str, total: u64) -> Self {
        Self::with_target(title, total, std::io::stderr().is_terminal(), false)
    }

    /// A stage that shows nothing, for tests and `--quiet`.
    #[must_use]
    pub fn silent(title: &str, total: u64) -> Self {
        Self::with_target(title, total, false, true)
    }

    fn with_target(title: &str, total: u64, terminal: bool, quiet: bool) -> Self {
        let bar = (terminal && !quiet).then(|| {
            let bar = ProgressBar::with_draw_target(Some(total), ProgressDrawTarget::stderr());
            let template = "{prefix:<22} [{bar:30}] {pos}/{len} {elapsed} {wide_msg}";
            if let Ok(style) = ProgressStyle::with_template(template) {
                bar.set_style(style.progress_chars("=> "));
            }
            bar.set_prefix(title.to_owned());
            bar.enable_steady_tick(Duration::from_millis(500));
            bar
        });
        let now = Instant::now();
        let lines = Lines {
            total,
            done: 0,
            note: String::new(),
            started: now,
            last_line: now,
            last_shown: String::new(),
        };
        Self {
            title: title.to_owned(),
            bar,
            lines: Mutex::new(lines),
            quiet,
        }
    }

    /// The number of steps, once it is known.
    pub fn set_total(&self, total: u64) {
        self.update(|lines| lines.total = total);
    }

    /// How many steps are done.
    pub fn set(&self, done: u64) {
        self.update(|lines| lines.done = done);
    }

    /// One more step is done.
    pub fn step(&self) {
        self.update(|lines| lines.done += 1);
    }

    /// What is being done now.
    pub fn note(&self, note: &str) {
        self.update(|lines| note.clone_into(&mut lines.note));
    }

    /// Ends the stage with a sentence that stays on the screen.
    pub fn finish(&self, result: &str) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
        if !self.quiet {
            let seconds = self.lock().started.elapsed().as_secs_f64();
            eprintln!("{:<22} {result} ({seconds:.1} s)", self.title);
        }
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Lines> {
        // A panic while holding the lock leaves plain counters: still fine to read.
        self.lines
            .lock()
            .unwrap_or_else(std::sync::PoisonError::into_inner)
    }

    fn update(&self, change: impl FnOnce(&mut Lines)) {
        let mut lines = self.lock();
        change(&mut lines);
        if let Some(bar) = &self.bar {
            bar.set_length(lines.total);
            bar.set_position(lines.done);
            bar.set_message(lines.note.clone());
        } else if !self.quiet
            && let Some(text) = lines.due(Instant::now())
        {
            eprintln!("{:<22} {text}", self.title);
        }
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        if let Some(bar) = &self.bar
            && !bar.is_finished()
        {
            bar.abandon();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_comes_when_something_changed_and_seldom_when_nothing_did() {
        let start = Instant::now();
        let mut lines = Lines {
            total: 10,
            done: 0,
            note: String::new(),
            started: start,
            last_line: start,
            last_shown: String::new(),
        };
        let mut shown = Vec::new();
        for second in 0..120 {
            // One step in the seventh second, then nothing for long.
            lines.done = u64::from(second >= 7);
            if lines.due(start + Duration::from_secs(second)).is_some() {
                shown.push(second);
            }
        }
        assert_eq!(shown, [5, 10, 40, 70, 100]);
    }
}
