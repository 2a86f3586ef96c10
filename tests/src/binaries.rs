//! The programs that were built beforehand (`cargo build --workspace --bins`).

use std::path::{Path, PathBuf};
use std::process::Command;

/// A program of this workspace, in the target folder of the running test, bench or program.
///
/// # Panics
/// When it is not there, saying how to build it.
#[must_use]
pub fn program(name: &str) -> PathBuf {
    let own = std::env::current_exe().expect("a running program has a path");
    // target/PROFILE/deps/test-HASH for tests and benches, target/PROFILE/program for programs.
    let folders = own.ancestors().skip(1).take(3);
    let candidates: Vec<PathBuf> = folders.map(|folder| folder.join(name)).collect();
    let found = candidates.iter().find(|path| path.is_file());
    found.cloned().unwrap_or_else(|| {
        panic!(
            "there is no {name} at {}: build it with `cargo build --workspace --bins`",
            candidates[0].display()
        )
    })
}

/// Runs a program of ours to its end and returns what it printed.
///
/// # Panics
/// When it does not end with code 0, with all that it said.
#[must_use]
#[track_caller]
pub fn run(name: &str, arguments: &[&str]) -> String {
    let output = Command::new(program(name))
        .args(arguments)
        .output()
        .expect("it starts");
    let (stdout, stderr) = (
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr),
    );
    assert!(
        output.status.success(),
        "{name} {arguments:?}: {}\n{stdout}{stderr}",
        output.status
    );
    stdout.into_owned()
}

/// A path of a temporary folder as an argument.
///
/// # Panics
/// When it is not text.
#[must_use]
pub fn text(path: &Path) -> &str {
    path.to_str().expect("temporary folders have plain names")
}
