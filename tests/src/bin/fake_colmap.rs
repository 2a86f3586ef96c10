//! The program `fake_colmap`: see [`tests::solver`].

use std::process::ExitCode;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    tests::solver::run(&arguments)
}
