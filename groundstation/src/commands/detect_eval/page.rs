//! The page of an evaluation: figures and precision-recall curves.

use super::Report;
use console::InputError;
use detector::{CurvePoint, Group, Precision};
use record::{DiskStorage, write_durably};
use std::fmt::Write as _;
use std::path::Path;

/// What marks a page of ours, so that no other file is ever overwritten.
const MARK: &str = "<meta name=\"generator\" content=\"groundstation detect eval\">";
/// Side of the plot, user units.
const SIDE: f64 = 360.0;
const MARGIN: f64 = 40.0;

/// Writes the page in place of an earlier one.
///
/// # Errors
/// When another file has the name, or it cannot be written.
pub(super) fn write(path: &Path, report: &Report<'_>) -> anyhow::Result<()> {
    if path.symlink_metadata().is_ok() {
        let earlier = std::fs::read_to_string(path).unwrap_or_default();
        if !earlier.contains(MARK) {
            let name = path.display();
            return Err(InputError(format!("{name} exists and is no page of this command")).into());
        }
    }
    write_durably(&DiskStorage, path, page(report).as_bytes())?;
    Ok(())
}

fn page(report: &Report<'_>) -> String {
    let found = report.evaluation;
    let mut rows = String::new();
    let named = [
        ("oriented", found.oriented.as_ref()),
        ("horizontal", Some(&found.horizontal)),
    ];
    for (name, precision) in named {
        if let Some(p) = precision {
            push(
                &mut rows,
                format_args!(
                    "<tr><th>{name}</th><td>{:.3}</td><td>{:.3}</td><td>{:.3}</td><td>{}</td><td>{:.3}</td></tr>\n",
                    p.ap50,
                    p.ap50_95,
                    p.best_f1,
                    p.best_f1_score
                        .map_or_else(String::new, |score| format!("{score:.2}")),
                    p.recall
                ),
            );
        }
    }
    let angle = found.angle_errors.map_or_else(String::new, |errors| {
        format!(
            " Angle error: median {:.2} degrees, nine of ten below {:.2}.",
            errors.median_deg, errors.p90_deg
        )
    });
    let corners = found.corner_errors.map_or_else(String::new, |errors| {
        format!(
            " Corner error: {:.1} % of the long side, standard deviation along x and y.",
            100.0 * errors.sigma
        )
    });
    format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n{MARK}\n\
         <title>Detections against truth</title>\n<style>\n\
         body {{ font: 15px/1.5 system-ui, sans-serif; max-width: 60rem; margin: 2rem auto; padding: 0 1rem; }}\n\
         table {{ border-collapse: collapse; margin: 1rem 0; }}\n\
         th, td {{ padding: 0.2rem 0.8rem; text-align: right; border-bottom: 1px solid #ddd; }}\n\
         th:first-child {{ text-align: left; }}\n</style>\n</head>\n<body>\n\
         <h1>Detections against truth</h1>\n\
         <p>{} photos, {} vehicles to find. Model {}. {} doubles.{angle}{corners}</p>\n\
         {}\n<table>\n<tr><th>boxes</th><th>AP50</th><th>AP50-95</th><th>best F1</th><th>at score</th><th>recall</th></tr>\n\
         {rows}</table>\n{}</body>\n</html>\n",
        found.photos,
        found.vehicles,
        report.model_sha256.get(..16).unwrap_or(report.model_sha256),
        found.doubles,
        plot(found.oriented.as_ref(), &found.horizontal),
        groups(report)
    )
}

fn push(text: &mut String, what: std::fmt::Arguments<'_>) {
    text.write_fmt(what)
        .expect("writing to a String does not fail");
}

fn groups(report: &Report<'_>) -> String {
    let mut rows = String::new();
    for group in &report.evaluation.groups {
        let angle = group
            .angle_errors
            .map_or_else(String::new, |errors| format!("{:.2}", errors.median_deg));
        push(
            &mut rows,
            format_args!(
                "<tr><th>{}</th><td>{}</td><td>{:.3}</td><td>{:.3}</td><td>{angle}</td></tr>\n",
                in_words(&group.group),
                group.vehicles,
                group.oriented_ap50,
                group.oriented_recall
            ),
        );
    }
    if rows.is_empty() {
        return rows;
    }
    format!(
        "<table>\n<tr><th>oriented boxes</th><th>vehicles</th><th>AP50</th><th>recall</th>\
         <th>angle error, degrees</th></tr>\n{rows}</table>\n"
    )
}

/// A group's limits as a person reads them.
pub(super) fn in_words(group: &Group) -> String {
    let range = |from: f64, to: Option<f64>, unit: &str| match to {
        Some(to) => format!("{from} to {to} {unit}"),
        None => format!("{from} {unit} or more"),
    };
    match *group {
        Group::Size { from_px, to_px } => format!("length {}", range(from_px, to_px, "px")),
        Group::Height { from_m, to_m } => format!("height {}", range(from_m, to_m, "m")),
        Group::Pitch { from_deg, to_deg } => {
            // The last bin ends just above 90 so that the nadir is in it.
            let to = to_deg.map(|to| to.min(90.0));
            format!("pitch {}", range(from_deg, to, "degrees"))
        }
    }
}

/// Both curves at an intersection over union of 0.5.
fn plot(oriented: Option<&Precision>, horizontal: &Precision) -> String {
    let mut inside = String::new();
    for step in 0..=5 {
        let share = f64::from(step) / 5.0;
        let (x, y) = place(share, share);
        push(
            &mut inside,
            format_args!(
                "<path d=\"M{x:.1} 0V{SIDE}M0 {y:.1}H{SIDE}\" stroke=\"#e5e5e5\"/>\
                 <text x=\"{x:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{share}</text>\
                 <text x=\"-6\" y=\"{:.1}\" text-anchor=\"end\">{share}</text>\n",
                SIDE + 16.0,
                y + 4.0
            ),
        );
    }
    let curves = [
        ("oriented", "#c0392b", oriented),
        ("horizontal", "#2471a3", Some(horizontal)),
    ];
    for (index, (name, colour, precision)) in curves.into_iter().enumerate() {
        let Some(precision) = precision else { continue };
        let y = 20.0 + 18.0 * index as f64;
        push(
            &mut inside,
            format_args!(
                "<path d=\"{}\" fill=\"none\" stroke=\"{colour}\" stroke-width=\"2\"/>\
                 <text x=\"12\" y=\"{:.1}\" fill=\"{colour}\">{name}</text>\n",
                path(&precision.curve),
                SIDE - 40.0 + y - 20.0
            ),
        );
    }
    let (outer, half) = (SIDE + 2.0 * MARGIN, SIDE / 2.0);
    format!(
        "<svg viewBox=\"{} {} {outer} {outer}\" width=\"{outer}\" role=\"img\" \
         aria-label=\"precision over recall\" font-size=\"12\">\n{inside}\
         <text x=\"{half}\" y=\"{}\" text-anchor=\"middle\">recall</text>\n\
         <text x=\"-28\" y=\"{half}\" transform=\"rotate(-90 -28 {half})\" text-anchor=\"middle\">precision</text>\n</svg>",
        -MARGIN,
        -MARGIN,
        SIDE + 34.0
    )
}

fn place(recall: f64, precision: f64) -> (f64, f64) {
    (recall * SIDE, (1.0 - precision) * SIDE)
}

/// The curve as measured; points nearer than a fifth of a unit to the last are left out.
fn path(curve: &[CurvePoint]) -> String {
    let mut text = String::new();
    let mut last: Option<(f64, f64)> = None;
    for (index, point) in curve.iter().enumerate() {
        let (x, y) = place(point.recall, point.precision);
        let is_near = last.is_some_and(|(a, b)| (a - x).abs() + (b - y).abs() < 0.2);
        if is_near && index + 1 < curve.len() {
            continue;
        }
        let letter = if last.is_none() { 'M' } else { 'L' };
        push(&mut text, format_args!("{letter}{x:.1} {y:.1}"));
        last = Some((x, y));
    }
    text
}
