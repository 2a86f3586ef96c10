//! Progress of long work: a bar on a terminal, a line now and then elsewhere.

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::io::IsTerminal;
use std::sync::Mutex;
use std::time::{Duration, Instant};

/// Without a terminal, a line is printed at most this often (and at the end of each stage).
const LINE_INTERVAL: Duration = Duration::from_secs(5);

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
        } else if !self.quiet && lines.last_line.elapsed() >= LINE_INTERVAL {
            lines.last_line = Instant::now();
            let of_total = if lines.total > 0 {
                format!("/{}", lines.total)
            } else {
                String::new()
            };
            eprintln!("{:<22} {}{of_total} {}", self.title, lines.done, lines.note);
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
