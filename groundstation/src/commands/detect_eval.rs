//! `groundstation detect eval`: how good detections are against truth.

mod page;
mod truth;

use clap::Args;
use console::{ExitStatus, InputError, print_json};
use detector::{DetectionsLine, EvaluatedPhoto, Evaluation, Precision, evaluate, read_json_line};
use serde::Serialize;
use std::path::{Path, PathBuf};
use truth::{TruthFormat, TruthPhoto};

/// Arguments of `detect eval`.
#[derive(Debug, Args)]
pub(super) struct EvalArgs {
    /// What was found: the JSON lines that `onboard detect` writes. For the whole curve detect with
    /// a low --min-score, such as 0.03.
    #[arg(value_name = "DETECTIONS")]
    detections: PathBuf,
    /// What is true: a truth.json of the simulator, a COCO file, or a folder of label files (DOTA,
    /// YOLO-OBB, or class and four corners in pixels). May be repeated.
    #[arg(long, required = true, value_name = "PATH")]
    truth: Vec<PathBuf>,
    /// How to read the truth; by default as it looks.
    #[arg(long, value_enum)]
    truth_format: Option<TruthFormat>,
    /// Classes of the truth, by name or number, that are neither right nor wrong to find. May be
    /// repeated.
    #[arg(long, value_name = "CLASS")]
    ignore_class: Vec<String>,
    /// Write a page with the figures and the precision-recall curves.
    #[arg(long, value_name = "FILE.html")]
    page: Option<PathBuf>,
    /// Print one JSON object.
    #[arg(long)]
    json: bool,
}

/// The whole answer.
#[derive(Serialize)]
struct Report<'a> {
    schema: &'static str,
    model_sha256: &'a str,
    /// Photos of the truth without detections, left out.
    not_searched: &'a [String],
    /// Photos with detections but without truth, left out.
    without_truth: &'a [String],
    evaluation: &'a Evaluation,
}

/// Photos that have both, and the names of the others.
struct Paired {
    photos: Vec<EvaluatedPhoto>,
    not_searched: Vec<String>,
    without_truth: Vec<String>,
}

pub(super) fn run(args: &EvalArgs) -> anyhow::Result<ExitStatus> {
    let lines = read_lines(&args.detections)?;
    let mut known = Vec::new();
    for path in &args.truth {
        known.extend(truth::read(path, args.truth_format, &args.ignore_class)?);
    }
    let paired = pair(&lines, known)?;
    if paired.photos.is_empty() {
        return Err(InputError(format!(
            "no photo of {} is in the truth; photos are matched by name",
            args.detections.display()
        ))
        .into());
    }
    let evaluation = evaluate(&paired.photos);
    let report = Report {
        schema: "detect-eval/1",
        model_sha256: &lines[0].model_sha256,
        not_searched: &paired.not_searched,
        without_truth: &paired.without_truth,
        evaluation: &evaluation,
    };
    if let Some(path) = &args.page {
        page::write(path, &report)?;
    }
    if args.json {
        print_json(&report)?;
    } else {
        print(&report);
    }
    Ok(ExitStatus::Done)
}

fn read_lines(path: &Path) -> anyhow::Result<Vec<DetectionsLine>> {
    let fault = |what: String| InputError(format!("{}{what}", path.display()));
    let text = std::fs::read_to_string(path).map_err(|error| fault(format!(": {error}")))?;
    let numbered = text.lines().enumerate();
    let lines: Vec<DetectionsLine> = numbered
        .filter(|(_, line)| !line.trim().is_empty())
        .map(|(index, line)| {
            read_json_line(line).map_err(|error| fault(format!(", line {}: {error}", index + 1)))
        })
        .collect::<Result<_, _>>()?;
    let Some(first) = lines.first() else {
        return Err(
            fault(": no detections; expected JSON lines of `onboard detect`".to_owned()).into(),
        );
    };
    if let Some(other) = lines
        .iter()
        .find(|line| line.model_sha256 != first.model_sha256)
    {
        let (one, two) = (&first.model_sha256, &other.model_sha256);
        return Err(fault(format!(
            ": made by two models, {one} and {two}; scores of different models cannot be compared"
        ))
        .into());
    }
    Ok(lines)
}

/// A photo is known by its whole name, else by the name's last part without its ending.
fn pair(lines: &[DetectionsLine], truth: Vec<TruthPhoto>) -> anyhow::Result<Paired> {
    let mut used = vec![false; lines.len()];
    let mut paired = Paired {
        photos: Vec::new(),
        not_searched: Vec::new(),
        without_truth: Vec::new(),
    };
    for photo in truth {
        let whole = lines.iter().position(|line| line.photo == photo.name);
        let mut alike =
            (0..lines.len()).filter(|&at| stem_of(&lines[at].photo) == stem_of(&photo.name));
        let at = match (whole, alike.next(), alike.next()) {
            (Some(at), _, _) | (None, Some(at), None) => at,
            (None, None, _) => {
                paired.not_searched.push(photo.name);
                continue;
            }
            (None, Some(one), Some(two)) => {
                let (one, two) = (&lines[one].photo, &lines[two].photo);
                let name = &photo.name;
                return Err(InputError(format!("{name} may be {one} or {two}")).into());
            }
        };
        if std::mem::replace(&mut used[at], true) {
            let name = &lines[at].photo;
            return Err(InputError(format!("the truth has {name} twice")).into());
        }
        paired.photos.push(photo.with_detections(&lines[at])?);
    }
    let unused = lines.iter().zip(&used).filter(|(_, used)| !**used);
    paired.without_truth = unused.map(|(line, _)| line.photo.clone()).collect();
    Ok(paired)
}

fn stem_of(name: &str) -> &str {
    let last = name.rsplit(['/', '\\']).next().unwrap_or(name);
    last.rsplit_once('.').map_or(last, |(stem, _)| stem)
}

fn print(report: &Report<'_>) {
    let found = report.evaluation;
    println!(
        "{} photos, {} vehicles to find",
        found.photos, found.vehicles
    );
    for (names, what) in [
        (
            report.not_searched,
            "of the truth are not in the detections",
        ),
        (report.without_truth, "of the detections have no truth"),
    ] {
        if let Some(first) = names.first() {
            println!(
                "{} photos {what} and are left out ({first}, ...)",
                names.len()
            );
        }
    }
    let line = |label: &str, precision: &Precision| {
        let best_score = precision
            .best_f1_score
            .map_or_else(String::new, |score| format!(" at score {score:.2}"));
        println!(
            "{label:<12} AP50 {:.3}  AP50-95 {:.3}  best F1 {:.3}{best_score}  recall {:.3}",
            precision.ap50, precision.ap50_95, precision.best_f1, precision.recall
        );
    };
    if let Some(oriented) = &found.oriented {
        line("oriented", oriented);
    }
    line("horizontal", &found.horizontal);
    if let Some(errors) = found.angle_errors {
        let (median, p90) = (errors.median_deg, errors.p90_deg);
        println!("angle        median {median:.2} degrees, nine of ten below {p90:.2}");
    }
    if let Some(errors) = found.corner_errors {
        let share = 100.0 * errors.sigma;
        println!("corners      {share:.1} % of the long side, standard deviation along x and y");
    }
    println!("doubles      {}", found.doubles);
    for group in &found.groups {
        let angle = group.angle_errors.map_or_else(String::new, |errors| {
            format!(", angle {:.2} degrees", errors.median_deg)
        });
        println!(
            "{:<28} {:>6} vehicles  AP50 {:.3}  recall {:.3}{angle}",
            page::in_words(&group.group),
            group.vehicles,
            group.oriented_ap50,
            group.oriented_recall
        );
    }
}

#[cfg(test)]
mod tests;
