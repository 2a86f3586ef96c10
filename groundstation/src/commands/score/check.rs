//! `groundstation score check`: the scorer against worked cases.

use clap::Args;
use console::{ExitStatus, InputError, print_json};
use serde::Serialize;
use std::path::PathBuf;

/// Arguments of `score check`.
#[derive(Debug, Args)]
pub(super) struct CheckArgs {
    /// Files with a worked case, a JSON object, in each line.
    #[arg(required = true, value_name = "FILE.jsonl")]
    files: Vec<PathBuf>,
    /// Print one JSON object.
    #[arg(long)]
    json: bool,
}

/// The whole answer.
#[derive(Serialize)]
struct Report {
    schema: &'static str,
    scorer: &'static str,
    n_cases: usize,
    n_different: usize,
    differences: Vec<Difference>,
}

#[derive(Serialize)]
struct Difference {
    file: PathBuf,
    /// From 1.
    line: usize,
    id: String,
    differences: Vec<String>,
}

pub(super) fn run(args: &CheckArgs) -> anyhow::Result<ExitStatus> {
    let mut n_cases = 0;
    let mut differences = Vec::new();
    for file in &args.files {
        let text = std::fs::read_to_string(file)
            .map_err(|error| InputError(format!("{}: {error}", file.display())))?;
        let lines = text.lines().enumerate();
        for (i, line) in lines.filter(|(_, line)| !line.trim().is_empty()) {
            n_cases += 1;
            let case = scoring::check_case(line);
            if !case.differences.is_empty() {
                differences.push(Difference {
                    file: file.clone(),
                    line: i + 1,
                    id: case.id,
                    differences: case.differences,
                });
            }
        }
    }
    let report = Report {
        schema: "score-check/1",
        scorer: scoring::SCORER_VERSION,
        n_cases,
        n_different: differences.len(),
        differences,
    };
    if args.json {
        print_json(&report)?;
    } else {
        print(&report);
    }
    if n_cases == 0 {
        return Err(InputError("there is no case in what was named".to_owned()).into());
    }
    Ok(if report.n_different == 0 {
        ExitStatus::Done
    } else {
        ExitStatus::Input
    })
}

fn print(report: &Report) {
    for difference in &report.differences {
        let Difference { file, line, id, .. } = difference;
        for text in &difference.differences {
            println!("{}:{line}: {id}: {text}", file.display());
        }
    }
    println!(
        "{} cases, {} as expected, {} different (scorer {})",
        report.n_cases,
        report.n_cases - report.n_different,
        report.n_different,
        report.scorer
    );
}
