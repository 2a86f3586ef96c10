//! A plan as one page: the map with paths, cameras and their footprints, the matrix of heights and
//! pitches with views and reasons, the height over time. One file, nothing loaded from elsewhere.

mod map;
mod matrix;
mod profile;

use crate::plan::{Cell, FlightPlan};
use calibration::{Geodetic, LocalOrigin, Metres, Point};
use std::fmt::Write as _;

const STYLE: &str = include_str!("report/style.css");
const SCRIPT: &str = include_str!("report/script.js");

/// The page, HTML.
#[must_use]
pub fn html(plan: &FlightPlan) -> String {
    let title = escaped(&format!("Capture plan: {}", plan.site.name));
    format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <title>{title}</title>\n<style>\n{STYLE}</style>\n</head>\n<body>\n<header>\n<h1>{title}</h1>\n\
         {}</header>\n<main>\n{}{}{}{}</main>\n<script>\n{SCRIPT}</script>\n</body>\n</html>\n",
        facts(plan),
        map::section(plan),
        profile::section(plan),
        matrix::section(plan),
        notes(plan)
    )
}

/// Minutes and seconds.
fn clock(seconds: f64) -> String {
    let whole = seconds.round() as i64;
    format!("{}:{:02}", whole / 60, whole % 60)
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
        .replace('"', "&quot;")
}

fn facts(plan: &FlightPlan) -> String {
    let time = &plan.time;
    let batteries = match time.n_batteries {
        1 => "1 battery".to_owned(),
        n => format!("{n} batteries"),
    };
    let coverage = if plan.coverage.is_complete {
        format!(
            "every point seen at least {} times in every bin",
            plan.spec.views.min_per_point
        )
    } else {
        "views are missing, see the matrix".to_owned()
    };
    let matching = if plan.matching.holds {
        format!(
            "all photos match as one group, each with at least {} neighbours",
            plan.matching.min_neighbours
        )
    } else {
        format!("photos fall into {} groups", plan.matching.n_groups)
    };
    let mut text = String::from("<dl>\n");
    for (name, value) in [
        (
            "Photos",
            format!(
                "{} ({} of them to link others)",
                time.n_photos, plan.matching.n_linking
            ),
        ),
        (
            "First to last photo",
            format!("{} min", clock(time.first_to_last_photo_s)),
        ),
        (
            "Take-off to landing",
            format!("{} min, {batteries}", clock(time.flight_s)),
        ),
        ("Path", format!("{:.0} m", time.path_m)),
        ("Coverage", coverage),
        ("Matching", matching),
        ("Camera", plan.camera.description.clone()),
        ("Area", format!("{:.0} m²", plan.site.area_m2)),
    ] {
        writeln!(
            text,
            "<div><dt>{name}</dt><dd>{}</dd></div>",
            escaped(&value)
        )
        .expect("writing to a String does not fail");
    }
    text.push_str("</dl>\n");
    for warning in &plan.warnings {
        writeln!(text, "<p class=\"warning\">{}</p>", escaped(warning))
            .expect("writing to a String does not fail");
    }
    text
}

fn notes(plan: &FlightPlan) -> String {
    let mut text = String::from("<section>\n<h2>Assumed</h2>\n<ul>\n");
    for assumption in &plan.assumptions {
        writeln!(text, "<li>{}</li>", escaped(assumption))
            .expect("writing to a String does not fail");
    }
    text.push_str("</ul>\n");
    if let Some(sun) = &plan.sun {
        let when = sun.at_local.as_ref().unwrap_or(&sun.at_utc);
        writeln!(
            text,
            "<p>Sun at {}: {:.0} deg high, azimuth {:.0} deg.</p>",
            escaped(when),
            sun.elevation_deg,
            sun.azimuth_deg
        )
        .expect("writing to a String does not fail");
    }
    let time = &plan.time;
    writeln!(
        text,
        "<p>No order of these photos takes less than {} min from the first to the last; no plan that \
         meets the spec takes less than {} min.</p>\n</section>",
        clock(time.bound_of_order_s),
        clock(time.bound_of_any_plan_s)
    )
    .expect("writing to a String does not fail");
    text
}

/// A cell's footprint in the site's frame: east and north, metres.
pub(crate) fn footprint_m(plan: &FlightPlan, cell: &Cell) -> Vec<[f64; 2]> {
    let bin = plan
        .bins
        .iter()
        .find(|bin| bin.height_m == cell.height_m && bin.pitch_down_deg == cell.pitch_down_deg);
    let (sin, cos) = cell.pose.yaw_deg.to_radians().sin_cos();
    bin.iter()
        .flat_map(|bin| &bin.footprint_m)
        .map(|[right, ahead]| {
            [
                cell.pose.east_m + right * cos + ahead * sin,
                cell.pose.north_m + ahead * cos - right * sin,
            ]
        })
        .collect()
}

fn origin(plan: &FlightPlan) -> Option<LocalOrigin> {
    let origin = &plan.site.origin;
    Geodetic::from_degrees(origin.latitude_deg, origin.longitude_deg, Metres(0.0))
        .map(LocalOrigin::new)
}

/// A place of the site's frame as `[longitude, latitude]`; the origin when that is none.
pub(crate) fn degrees(plan: &FlightPlan, east_m: f64, north_m: f64) -> [f64; 2] {
    let place =
        origin(plan).map(|origin| origin.geodetic_from_enu(Point::new(east_m, north_m, 0.0)));
    place.map_or(
        [
            plan.site.origin.longitude_deg,
            plan.site.origin.latitude_deg,
        ],
        |place| {
            let at = crate::site::LonLat::of(&place);
            [at.longitude_deg, at.latitude_deg]
        },
    )
}

/// `[longitude, latitude]` in the site's frame: east and north, metres.
fn enu_m(plan: &FlightPlan, [longitude, latitude]: [f64; 2]) -> [f64; 2] {
    let place = Geodetic::from_degrees(latitude, longitude, Metres(0.0));
    match (origin(plan), place) {
        (Some(origin), Some(place)) => {
            let point = origin.enu_from_geodetic(place);
            [point.x(), point.y()]
        }
        _ => [0.0, 0.0],
    }
}

/// Colours of the heights, lowest first; more heights repeat them.
fn colour(plan: &FlightPlan, height_m: f64) -> &'static str {
    const COLOURS: [&str; 6] = [
        "#0b7a75", "#b3541e", "#5b3fa0", "#1f5fbf", "#9a7d0a", "#a3195b",
    ];
    let mut heights = plan.spec.bins.heights_m.clone();
    heights.sort_by(f64::total_cmp);
    let index = heights.iter().position(|height| *height == height_m);
    COLOURS[index.unwrap_or(0) % COLOURS.len()]
}
