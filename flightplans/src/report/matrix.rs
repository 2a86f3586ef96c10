//! Heights by pitches: photos, views of the points, azimuths, and why something cannot be flown.

use super::{colour, escaped};
use crate::plan::{BinCoverage, BinRecord, CellState, FlightPlan};
use std::collections::BTreeMap;
use std::fmt::Write as _;

pub(super) fn section(plan: &FlightPlan) -> String {
    let mut text = String::from(
        "<section>\n<h2>Views by height and pitch</h2>\n<table>\n<thead><tr><th>height</th>",
    );
    for pitch in &plan.spec.bins.pitches_deg {
        write!(text, "<th>{pitch}° down</th>").expect("writing to a String does not fail");
    }
    text.push_str("</tr></thead>\n<tbody>\n");
    for height_m in &plan.spec.bins.heights_m {
        let colour = colour(plan, *height_m);
        write!(
            text,
            "<tr><th><span class=\"swatch\" style=\"background:{colour}\"></span>{height_m} m</th>"
        )
        .expect("writing to a String does not fail");
        let bins = plan.bins.iter().zip(&plan.coverage.bins);
        for (bin, coverage) in bins.filter(|(bin, _)| bin.height_m == *height_m) {
            text.push_str(&entry(plan, bin, coverage));
        }
        text.push_str("</tr>\n");
    }
    text.push_str("</tbody>\n</table>\n</section>\n");
    text
}

fn entry(plan: &FlightPlan, bin: &BinRecord, coverage: &BinCoverage) -> String {
    let class = if coverage.n_short == 0 {
        "good"
    } else {
        "short"
    };
    let photos = match bin.n_linking {
        0 => format!("{} photos", bin.n_coverage),
        n => format!("{} photos, {n} more to link", bin.n_coverage),
    };
    let mut text = format!(
        "<td class=\"{class}\"><strong>{} views</strong> at least, 95 % have {} or more\
         <p>{photos}; azimuths {:.0}° and more; {:.1} cm/px</p>",
        coverage.min_views,
        coverage.p5_views,
        coverage.p5_azimuth_range_deg,
        bin.gsd_centre_m * 100.0
    );
    if coverage.n_short > 0 {
        write!(
            text,
            "<p>{} of {} points have fewer than {} views, in {} places</p>",
            coverage.n_short,
            plan.coverage.n_points,
            plan.spec.views.min_per_point,
            coverage.holes.len()
        )
        .expect("writing to a String does not fail");
    }
    for (reason, count) in reasons(plan, bin) {
        let cells = if count == 1 { "cell" } else { "cells" };
        write!(text, "<p>{count} {cells}: {}</p>", escaped(&reason))
            .expect("writing to a String does not fail");
    }
    text.push_str("</td>");
    text
}

/// Why listed cells of a bin cannot be flown, with one example of each kind and how many there are.
fn reasons(plan: &FlightPlan, bin: &BinRecord) -> Vec<(String, usize)> {
    let mut kinds: BTreeMap<String, (String, usize)> = BTreeMap::new();
    for cell in plan.cells.iter().filter(|cell| {
        cell.state == CellState::Infeasible
            && cell.height_m == bin.height_m
            && cell.pitch_down_deg == bin.pitch_down_deg
    }) {
        for reason in &cell.reasons {
            let kind = format!("{:?}", std::mem::discriminant(reason));
            let entry = kinds.entry(kind).or_insert_with(|| (reason.to_string(), 0));
            entry.1 += 1;
        }
    }
    kinds.into_values().collect()
}
