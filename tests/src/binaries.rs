//! The programs that were built beforehand (`cargo build --workspace --bins`).

use std::path::PathBuf;

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
