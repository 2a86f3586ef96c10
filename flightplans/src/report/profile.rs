//! Height above take-off over time, with the photos as dots.

use super::{clock, colour};
use crate::plan::FlightPlan;
use std::fmt::Write as _;

const WIDTH: f64 = 1140.0;
const HEIGHT: f64 = 190.0;
const LEFT: f64 = 46.0;
const BOTTOM: f64 = 26.0;

pub(super) fn section(plan: &FlightPlan) -> String {
    let total_s: f64 = plan.sorties.iter().map(|sortie| sortie.duration_s).sum();
    let top_m = plan
        .planned()
        .map(|cell| cell.pose.height_above_takeoff_m)
        .fold(1.0, f64::max);
    let x = |seconds: f64| LEFT + seconds / total_s.max(1.0) * (WIDTH - LEFT - 12.0);
    let y = |height_m: f64| HEIGHT - BOTTOM - height_m / top_m * (HEIGHT - BOTTOM - 16.0);
    let mut text = format!(
        "<section>\n<h2>Height over time</h2>\n<svg viewBox=\"0 0 {WIDTH} {HEIGHT}\" role=\"img\" \
         aria-label=\"height over time\">\n"
    );
    let mut heights: Vec<f64> = plan.spec.bins.heights_m.clone();
    heights.retain(|height| *height <= top_m);
    heights.push(0.0);
    for height_m in heights {
        let at = y(height_m);
        writeln!(
            text,
            "<path class=\"axis\" d=\"M{LEFT} {at:.1}H{:.1}\"/><text x=\"4\" y=\"{:.1}\">{height_m} m</text>",
            WIDTH - 12.0,
            at + 4.0
        )
        .expect("writing to a String does not fail");
    }
    let step_s = [30.0, 60.0, 120.0, 300.0, 600.0, 1800.0]
        .into_iter()
        .find(|step| total_s / step < 16.0)
        .unwrap_or(3600.0);
    for tick in 0..=(total_s / step_s) as u32 {
        let seconds = f64::from(tick) * step_s;
        writeln!(
            text,
            "<text x=\"{:.1}\" y=\"{}\" text-anchor=\"middle\">{}</text>",
            x(seconds),
            HEIGHT - 8.0,
            clock(seconds)
        )
        .expect("writing to a String does not fail");
    }
    text.push_str(&flights(plan, &x, &y));
    text.push_str("</svg>\n</section>\n");
    text
}

fn flights(plan: &FlightPlan, x: &impl Fn(f64) -> f64, y: &impl Fn(f64) -> f64) -> String {
    let mut text = String::new();
    let mut started_s = 0.0;
    for sortie in &plan.sorties {
        let mut line = format!("M{:.1} {:.1}", x(started_s), y(0.0));
        let mut dots = String::new();
        for visit in &sortie.visits {
            let Some(cell) = plan.cell(&visit.cell) else {
                continue;
            };
            let at = (
                x(started_s + visit.photo_s),
                y(cell.pose.height_above_takeoff_m),
            );
            write!(line, "L{:.1} {:.1}", at.0, at.1).expect("writing to a String does not fail");
            writeln!(
                dots,
                "<circle cx=\"{:.1}\" cy=\"{:.1}\" r=\"2.4\" fill=\"{}\"><title>{} at {}</title></circle>",
                at.0,
                at.1,
                colour(plan, cell.height_m),
                cell.id,
                clock(visit.photo_s)
            )
            .expect("writing to a String does not fail");
        }
        started_s += sortie.duration_s;
        write!(line, "L{:.1} {:.1}", x(started_s), y(0.0))
            .expect("writing to a String does not fail");
        writeln!(
            text,
            "<path class=\"path\" stroke=\"#46545a\" d=\"{line}\"/>"
        )
        .expect("writing to a String does not fail");
        text.push_str(&dots);
    }
    text
}
