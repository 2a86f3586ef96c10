//! The map: east to the right, north up, metres.

use super::{colour, enu_m, escaped, footprint_m};
use crate::export::paths;
use crate::plan::{Cell, CellState, FlightPlan, Purpose};
use crate::plane::{self, Place};
use std::fmt::Write as _;

/// Space around everything, metres.
const BORDER_M: f64 = 15.0;
/// Photos from one place are set apart in a circle of this radius, of the map's width.
const APART: f64 = 0.006;

pub(super) fn section(plan: &FlightPlan) -> String {
    let (low, high) = extent(plan);
    let size = high - low;
    let unit = size.x / 1000.0;
    let mut text = String::from("<section>\n<h2>Map</h2>\n");
    text.push_str(&legend(plan));
    writeln!(
        text,
        "<svg id=\"map\" viewBox=\"{:.1} {:.1} {:.1} {:.1}\" role=\"img\" aria-label=\"map of the plan\">",
        low.x, -high.y, size.x, size.y
    )
    .expect("writing to a String does not fail");
    site(&mut text, plan, unit);
    ways(&mut text, plan);
    photos(&mut text, plan, unit);
    scale_bar(&mut text, low, size);
    text.push_str("</svg>\n<p class=\"hint\" id=\"hint\">Point at a photo to see what it covers.</p>\n</section>\n");
    text
}

fn extent(plan: &FlightPlan) -> (Place, Place) {
    let rings = plan.site.area.iter().flatten().flatten();
    let mut places: Vec<Place> = rings
        .map(|corner| Place::from(enu_m(plan, *corner)))
        .collect();
    places.extend(
        plan.cells
            .iter()
            .map(|cell| Place::new(cell.pose.east_m, cell.pose.north_m)),
    );
    places.push(Place::from(plan.site.home_enu_m));
    if let Some(fence) = &plan.site.fence {
        places.extend(
            fence
                .iter()
                .flatten()
                .map(|corner| Place::from(enu_m(plan, *corner))),
        );
    }
    let border = Place::new(BORDER_M, BORDER_M);
    plane::bounds(&places).map_or((-border, border), |(low, high)| {
        (low - border, high + border)
    })
}

fn legend(plan: &FlightPlan) -> String {
    let mut text = String::from("<div class=\"legend\">\n");
    for height_m in &plan.spec.bins.heights_m {
        let colour = colour(plan, *height_m);
        writeln!(
            text,
            "<label><input type=\"checkbox\" checked data-toggle=\"[data-height='{height_m}']\"> \
             <span class=\"swatch\" style=\"background:{colour}\"></span>{height_m} m</label>"
        )
        .expect("writing to a String does not fail");
    }
    text.push_str(
        "<label><input type=\"checkbox\" checked data-toggle=\".path\"> path</label>\n\
         <span>arrow: heading; dot: straight down; hollow: linking photo; cross: cannot be flown</span>\n</div>\n",
    );
    text
}

fn outline(plan: &FlightPlan, rings: &[Vec<[f64; 2]>]) -> String {
    let mut path = String::new();
    for ring in rings {
        let corners: Vec<[f64; 2]> = ring.iter().map(|corner| enu_m(plan, *corner)).collect();
        path.push_str(&line(&corners));
        path.push('Z');
    }
    path
}

/// SVG path of places; y points down there.
fn line(places: &[[f64; 2]]) -> String {
    let mut path = String::new();
    for (index, [east, north]) in places.iter().enumerate() {
        let letter = if index == 0 { 'M' } else { 'L' };
        write!(path, "{letter}{east:.1} {:.1}", -north).expect("writing to a String does not fail");
    }
    path
}

fn site(text: &mut String, plan: &FlightPlan, unit: f64) {
    let mut shape = |class: &str, rings: &[Vec<[f64; 2]>], title: &str| {
        writeln!(
            text,
            "<path class=\"{class}\" fill-rule=\"evenodd\" d=\"{}\"><title>{}</title></path>",
            outline(plan, rings),
            escaped(title)
        )
        .expect("writing to a String does not fail");
    };
    for rings in &plan.site.area {
        shape("area", rings, "area");
    }
    if let Some(fence) = &plan.site.fence {
        shape("fence", fence, "fence");
    }
    for zone in &plan.site.keep_outs {
        let top = zone
            .top_height_m
            .map_or_else(String::new, |top| format!(" (below {top} m)"));
        shape(
            "zone",
            &zone.rings,
            &format!("keep out: {}{top}", zone.name),
        );
    }
    let [east, north] = plan.site.home_enu_m;
    let side = 9.0 * unit;
    writeln!(
        text,
        "<rect class=\"home\" x=\"{:.2}\" y=\"{:.2}\" width=\"{side:.2}\" height=\"{side:.2}\">\
         <title>home</title></rect>",
        east - side / 2.0,
        -north - side / 2.0
    )
    .expect("writing to a String does not fail");
    if plan.site.fence.is_none() {
        writeln!(
            text,
            "<circle class=\"fence\" cx=\"{east:.1}\" cy=\"{:.1}\" r=\"{}\"><title>line of sight</title></circle>",
            -north, plan.spec.airspace.line_of_sight_m
        )
        .expect("writing to a String does not fail");
    }
}

/// The path in pieces, each in the colour of the height that it leads to.
fn ways(text: &mut String, plan: &FlightPlan) {
    let cells: Vec<&Cell> = plan.planned().collect();
    for path in paths(plan) {
        for leg in path.windows(2) {
            let places: Vec<[f64; 2]> = leg
                .iter()
                .map(|[lon, lat, _]| enu_m(plan, [*lon, *lat]))
                .collect();
            let height_m = cells
                .iter()
                .find(|cell| (cell.pose.height_above_takeoff_m - leg[1][2]).abs() < 1e-6)
                .map_or(0.0, |cell| cell.height_m);
            writeln!(
                text,
                "<path class=\"path\" stroke=\"{}\" d=\"{}\"/>",
                colour(plan, height_m),
                line(&places)
            )
            .expect("writing to a String does not fail");
        }
    }
}

fn photos(text: &mut String, plan: &FlightPlan, unit: f64) {
    let mut cells: Vec<&Cell> = plan.cells.iter().collect();
    // Large footprints of high photos below the small ones.
    cells.sort_by(|a, b| b.height_m.total_cmp(&a.height_m).then(a.id.cmp(&b.id)));
    for cell in cells {
        let mut class = match (cell.state, cell.purpose) {
            (CellState::Infeasible, _) => "photo infeasible".to_owned(),
            (_, Purpose::Linking) => "photo linking".to_owned(),
            _ => "photo".to_owned(),
        };
        if cell.pitch_down_deg > 89.0 {
            class.push_str(" nadir");
        }
        let colour = colour(plan, cell.height_m);
        writeln!(
            text,
            "<g class=\"{class}\" data-height=\"{}\" fill=\"{colour}\" stroke=\"{colour}\">\
             <title>{}</title><path class=\"seen\" d=\"{}Z\"/><path class=\"mark\" d=\"{}\"/></g>",
            cell.height_m,
            escaped(&describe(cell)),
            line(&footprint_m(plan, cell)),
            mark(cell, unit)
        )
        .expect("writing to a String does not fail");
    }
}

fn describe(cell: &Cell) -> String {
    let what = format!(
        "{}: {} m, {} deg down, heading {:.0} deg",
        cell.id, cell.height_m, cell.pitch_down_deg, cell.pose.yaw_deg
    );
    if cell.reasons.is_empty() {
        return what;
    }
    let reasons: Vec<String> = cell.reasons.iter().map(ToString::to_string).collect();
    format!("{what}; cannot be flown: {}", reasons.join("; "))
}

/// An arrow along the heading, longer for flatter views; a dot straight down; a cross for what
/// cannot be flown. Several from one place stand apart by heading and pitch.
fn mark(cell: &Cell, unit: f64) -> String {
    let way = plane::towards(cell.pose.yaw_deg.to_radians());
    let across = Place::new(way.y, -way.x);
    let place = Place::new(cell.pose.east_m, cell.pose.north_m);
    let size = 1000.0 * APART * unit;
    if cell.state == CellState::Infeasible {
        let corner = |x: f64, y: f64| [place.x + 0.5 * size * x, place.y + 0.5 * size * y];
        return format!(
            "{}{}",
            line(&[corner(-1.0, -1.0), corner(1.0, 1.0)]),
            line(&[corner(-1.0, 1.0), corner(1.0, -1.0)])
        );
    }
    if cell.pitch_down_deg > 89.0 {
        let r = 0.55 * size;
        return format!(
            "M{:.2} {:.2}a{r:.2} {r:.2} 0 1 0 {:.2} 0a{r:.2} {r:.2} 0 1 0 {:.2} 0Z",
            place.x - r,
            -place.y,
            2.0 * r,
            -2.0 * r
        );
    }
    let flatness = 1.0 - cell.pitch_down_deg / 90.0;
    let base = place + way * size * (0.6 + 2.2 * flatness);
    let tip = base + way * size * 1.3;
    let (left, right) = (base - across * size * 0.5, base + across * size * 0.5);
    format!(
        "{}Z",
        line(&[[tip.x, tip.y], [left.x, left.y], [right.x, right.y]])
    )
}

fn scale_bar(text: &mut String, low: Place, size: Place) {
    let length = [10.0, 20.0, 50.0, 100.0, 200.0, 500.0, 1000.0, 2000.0]
        .into_iter()
        .find(|length| *length > size.x / 8.0)
        .unwrap_or(5000.0);
    let (x, y) = (low.x + 0.02 * size.x, -low.y - 0.02 * size.x);
    let font = size.x / 75.0;
    writeln!(
        text,
        "<path class=\"fence\" style=\"stroke-dasharray:none\" d=\"M{x:.1} {y:.1}h{length}\"/>\
         <text x=\"{x:.1}\" y=\"{:.1}\" style=\"font-size:{font:.2}px\">{length} m, north up</text>",
        y - 0.4 * font
    )
    .expect("writing to a String does not fail");
}
