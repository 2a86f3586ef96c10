//! Finding COLMAP and learning which generation it is: 3.8 (Debian 12) and later ones, whose option
//! names differ, and `pycolmap` behind a script of ours that takes COLMAP's own commands.

use super::process::{self, Bounds, Ended};
use console::Cancel;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

/// The script that makes `pycolmap` answer to COLMAP's commands.
const PYCOLMAP_SCRIPT: &str = include_str!("pycolmap_commands.py");
/// Asking a program for its version: it may have to be read from a slow disk.
const PROBE_LIMIT_S: f64 = 60.0;
/// However little patience there is for its work.
const MIN_PROBE_LIMIT_S: f64 = 5.0;

/// How COLMAP is started.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ColmapProgram {
    /// The `colmap` binary.
    Binary(PathBuf),
    /// A Python interpreter that has `pycolmap`.
    Pycolmap {
        /// The interpreter.
        python: PathBuf,
    },
}

impl ColmapProgram {
    pub(super) fn path(&self) -> &Path {
        match self {
            Self::Binary(path) => path,
            Self::Pycolmap { python } => python,
        }
    }

    pub(super) fn command(&self, subcommand: &str) -> Command {
        let mut command = Command::new(self.path());
        if let Self::Pycolmap { .. } = self {
            command.args(["-c", PYCOLMAP_SCRIPT]);
        }
        // Debian's build is linked to Qt and aborts without a display otherwise.
        command.arg(subcommand).env("QT_QPA_PLATFORM", "offscreen");
        command
    }
}

/// A COLMAP that answered.
#[derive(Clone, Debug)]
pub struct Colmap {
    pub(super) program: ColmapProgram,
    pub(super) version: String,
    pub(super) has_cuda: bool,
    pub(super) names: OptionNames,
}

/// Options that were renamed in COLMAP 3.13.0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct OptionNames {
    /// `use_gpu`, `num_threads`, `max_image_size` of extraction.
    pub(super) extraction: &'static str,
    /// `use_gpu`, `num_threads` of matching.
    pub(super) matching: &'static str,
}

const NAMES_TO_3_12: OptionNames = OptionNames {
    extraction: "SiftExtraction",
    matching: "SiftMatching",
};
const NAMES_FROM_3_13: OptionNames = OptionNames {
    extraction: "FeatureExtraction",
    matching: "FeatureMatching",
};

/// A `colmap` on the search path.
#[must_use]
pub fn find() -> Option<ColmapProgram> {
    let path = std::env::var_os("PATH")?;
    std::env::split_paths(&path)
        .map(|folder| folder.join("colmap"))
        .find(|candidate| is_executable(candidate))
        .map(ColmapProgram::Binary)
}

fn is_executable(path: &Path) -> bool {
    path.metadata()
        .is_ok_and(|metadata| metadata.is_file() && metadata.permissions().mode() & 0o111 != 0)
}

impl Colmap {
    /// Starts the program to learn its version and its option names. `patience` multiplies how
    /// long it may take to answer.
    ///
    /// # Errors
    /// A sentence: it does not start, does not answer, or is not COLMAP.
    pub fn probe(program: ColmapProgram, patience: f64, cancel: &Cancel) -> Result<Self, String> {
        let help = ask(&program, &["help"], patience, cancel)?;
        let name = program.path().display();
        match help.ended {
            Ended::Code(0) => {}
            Ended::Code(code) => {
                return Err(format!(
                    "{name} ended with code {code} and printed \"{}\"",
                    last_of(&help.lines)
                ));
            }
            Ended::Signal(signal) => return Err(format!("{name} was ended by signal {signal}")),
            Ended::TimedOut => {
                let limit_s = probe_limit(patience).as_secs_f64();
                return Err(format!("{name} did not answer within {limit_s:.0} s"));
            }
            Ended::Cancelled => return Err("interrupted".to_owned()),
        }
        let version = help
            .lines
            .iter()
            .find_map(|line| line.split_once("COLMAP ").map(|(_, rest)| rest))
            .and_then(|rest| rest.split_whitespace().next())
            .filter(|word| word.starts_with(|c: char| c.is_ascii_digit()))
            .ok_or_else(|| {
                let first = help.lines.first().map_or("nothing", String::as_str);
                format!("{name} is not COLMAP: asked for help it printed \"{first}\"")
            })?
            .to_owned();
        let has_cuda = help.lines.iter().any(|line| line.contains("with CUDA"));
        // Whatever code it ends with: what counts is which names it lists.
        let options = ask(&program, &["feature_extractor", "--help"], patience, cancel)?;
        let lists = |names: OptionNames| {
            let option = format!("{}.use_gpu", names.extraction);
            options.lines.iter().any(|line| line.contains(&option))
        };
        let names = [NAMES_FROM_3_13, NAMES_TO_3_12]
            .into_iter()
            .find(|names| lists(*names))
            .ok_or_else(|| {
                format!(
                    "{name} lists no options for finding features; it printed \"{}\"",
                    last_of(&options.lines)
                )
            })?;
        Ok(Self {
            program,
            version,
            has_cuda,
            names,
        })
    }
}

/// What a program answered.
struct Answer {
    ended: Ended,
    lines: Vec<String>,
}

fn probe_limit(patience: f64) -> Duration {
    limit((PROBE_LIMIT_S * patience).max(MIN_PROBE_LIMIT_S))
}

/// Asks a program a question.
fn ask(
    program: &ColmapProgram,
    question: &[&str],
    patience: f64,
    cancel: &Cancel,
) -> Result<Answer, String> {
    let mut command = program.command(question[0]);
    command.args(&question[1..]);
    let mut lines = Vec::new();
    let bounds = Bounds {
        log: None,
        pid_file: None,
        limit: probe_limit(patience),
        cancel,
    };
    let outcome = process::run(&mut command, &bounds, |line| lines.push(line.to_owned()))
        .map_err(|error| format!("cannot start {}: {error}", program.path().display()))?;
    Ok(Answer {
        ended: outcome.ended,
        lines,
    })
}

fn last_of(lines: &[String]) -> &str {
    let spoken = lines.iter().rev().find(|line| !line.trim().is_empty());
    spoken.map_or("nothing", String::as_str)
}

/// A limit of so many seconds, a month at most.
pub(super) fn limit(seconds: f64) -> Duration {
    const MONTH_S: f64 = 30.0 * 86_400.0;
    Duration::try_from_secs_f64(seconds.min(MONTH_S)).unwrap_or(Duration::ZERO)
}
