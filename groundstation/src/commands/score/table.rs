//! Scores as a table of text.

use scoring::report::{ModelReport, ScoreReport};
use scoring::{Component, Group};

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
    print_components(report);
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

/// More models than these do not fit side by side; their components are in the kept run.
const MAX_SIDE_BY_SIDE: usize = 5;

/// A row for each component that is asked for, and which are not: without them there is no Overall.
fn print_components(report: &ScoreReport) {
    let Some(first) = report.models.first() else {
        return;
    };
    let ids = Component::all().map(|component| component.to_string());
    let (asked, others): (Vec<String>, Vec<String>) =
        ids.partition(|id| first.components[id].n > 0);
    if report.models.len() <= MAX_SIDE_BY_SIDE {
        let widths = report
            .models
            .iter()
            .map(|model| model.model.chars().count().max(6));
        let widths: Vec<usize> = widths.collect();
        print!("\n{:<16}  {:>6}", "component", "n");
        for (model, width) in report.models.iter().zip(&widths) {
            print!("  {:>width$}  valid ", model.model);
        }
        println!();
        for id in &asked {
            print!("{id:<16}  {:>6}", first.components[id].n);
            for (model, width) in report.models.iter().zip(&widths) {
                let cell = &model.components[id];
                let valid = 100.0 * cell.valid_rate.unwrap_or(0.0);
                print!("  {:>width$}  {valid:>5.1}%", points(cell.score));
            }
            println!();
        }
    }
    println!();
    if !others.is_empty() {
        println!(
            "nothing is asked for {}: no Overall without them",
            others.join(", ")
        );
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
