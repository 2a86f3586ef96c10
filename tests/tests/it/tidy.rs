//! The repository's own rules: which crate and which room may use which, licences, and what no
//! tracked file may hold. Each test names every offence it finds.

mod arrows;
mod licences;
mod manifests;
mod notices;
mod rooms;
mod rust_source;
mod text;
mod workspace;

use std::path::{Path, PathBuf};
use std::process::Command;

/// The repository's root.
fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .parent()
        .expect("the crate `tests` is a folder of the repository")
        .to_owned()
}

/// A file's text, its path relative to the root.
fn read(path: &str) -> String {
    let file = root().join(path);
    std::fs::read_to_string(&file).unwrap_or_else(|error| panic!("{}: {error}", file.display()))
}

/// Paths of the tracked files that are there, relative to the root and sorted. Outside a git
/// checkout there are none to ask for, and the caller has nothing to check.
fn tracked_files() -> Vec<String> {
    let output = Command::new("git")
        .args(["-c", "safe.directory=*", "ls-files", "-z"])
        .current_dir(root())
        .output();
    let output = match output {
        Ok(output) if output.status.success() => output,
        _ => {
            eprintln!("skipped: not a git checkout, so which files are tracked is unknown");
            return Vec::new();
        }
    };
    let names = String::from_utf8(output.stdout).expect("our file names are UTF-8");
    let mut files: Vec<String> = names
        .split_terminator('\0')
        .filter(|name| root().join(name).is_file())
        .map(str::to_owned)
        .collect();
    files.sort();
    files
}

fn tracked_rust_files() -> impl Iterator<Item = String> {
    tracked_files()
        .into_iter()
        .filter(|path| path.ends_with(".rs"))
}

/// # Panics
/// When there are offences; all are named.
#[track_caller]
fn assert_none(rule: &str, offences: &[String]) {
    assert!(offences.is_empty(), "{rule}:\n  {}", offences.join("\n  "));
}
