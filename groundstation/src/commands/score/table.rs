//! Scores as a table of text.

use scoring::Group;
use scoring::report::{ModelReport, ScoreReport};

/// Two decimals, half to even as the paper prints them; `-` for what is not there.
fn points(score: Option<f64>) -> String {
    score.map_or_else(|| "-".to_owned(), |score| format!("{score:.2}"))
}

pub(super) fn print(report: &ScoreReport) {
    let names = report
        .models
        .iter()
        .map(|model| model.model.chars().count());
    let width = names.max().unwrap_or(0).max(5);
    print!("{:<width$}  {:>8}", "model", "Overall");
    for group in Group::ALL {
        print!("  {:>17}", group.id());
    }
    println!("  {:>6}", "valid");
    for model in &report.models {
        print!("{:<width$}  {:>8}", model.model, points(model.overall));
        for group in Group::ALL {
            print!(
                "  {:>17}",
                points(model.groups.get(group.id()).copied().flatten())
            );
        }
        println!("  {:>5.1}%", 100.0 * model.valid_rate.unwrap_or(0.0));
    }
    println!(
        "{} questions, {} scenes, scorer {}",
        report.n_questions,
        report.scenes.len(),
        report.scorer
    );
    for model in &report.models {
        let unknown = &model.coverage.unknown;
        if !model.official {
            println!("not official: {}", coverage(model));
        } else if !unknown.is_empty() {
            println!("{}", coverage(model));
        }
    }
}

/// What a model lacks, in a line.
pub(super) fn coverage(model: &ModelReport) -> String {
    let found = &model.coverage;
    let parts = [
        ("missing", &found.missing),
        (
            "answered more than once, so that none counts",
            &found.duplicates,
        ),
        ("of errors of the service or timeouts", &found.not_returned),
        ("unknown and left out", &found.unknown),
    ];
    let parts = parts.into_iter().filter(|(_, ids)| !ids.is_empty());
    let parts: Vec<String> = parts.map(|(what, ids)| some_ids(what, ids)).collect();
    format!("{}: {}", model.model, parts.join("; "))
}

/// How many, and the first few.
fn some_ids(what: &str, ids: &[String]) -> String {
    const SHOWN: usize = 3;
    let first: Vec<&str> = ids.iter().take(SHOWN).map(String::as_str).collect();
    let more = if ids.len() > SHOWN { ", ..." } else { "" };
    format!("{} {what} ({}{more})", ids.len(), first.join(", "))
}
