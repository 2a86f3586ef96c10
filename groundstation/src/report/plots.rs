//! Residuals as pictures, and the matrix of heights and pitches.

use super::Material;
use super::svg::{Svg, round_step};
use crate::pose::posed::PosedPhoto;
use serde::Serialize;

const FLIGHT_COLOURS: [&str; 6] = [
    "#2563eb", "#ea580c", "#16a34a", "#9333ea", "#0891b2", "#be123c",
];

fn flight_colour(flight: usize) -> &'static str {
    FLIGHT_COLOURS[flight % FLIGHT_COLOURS.len()]
}

/// Measured minus posed position on the map, arrows enlarged; empty without residuals.
pub(super) fn residual_map(material: &Material<'_>) -> String {
    let arrows: Vec<([f64; 2], [f64; 2], usize, &PosedPhoto)> = material
        .posed
        .photos
        .iter()
        .zip(&material.scene.photos)
        .filter_map(|(posed, photo)| {
            let centre = posed.pose.as_ref()?.camera_from_enu.centre();
            let residual = posed.horizontal_residual_m?;
            Some(([centre.x(), centre.y()], residual, photo.flight, posed))
        })
        .collect();
    if arrows.is_empty() {
        return String::new();
    }
    let bound = |axis: usize, pick: fn(f64, f64) -> f64, start: f64| {
        arrows.iter().map(|(at, ..)| at[axis]).fold(start, pick)
    };
    let (west, east) = (
        bound(0, f64::min, f64::INFINITY),
        bound(0, f64::max, f64::NEG_INFINITY),
    );
    let (south, north) = (
        bound(1, f64::min, f64::INFINITY),
        bound(1, f64::max, f64::NEG_INFINITY),
    );
    let size = (east - west).max(north - south).max(10.0);
    let unit = size / 100.0;
    let mut lengths: Vec<f64> = arrows.iter().map(|(_, r, ..)| r[0].hypot(r[1])).collect();
    let typical = crate::statistics::median(&mut lengths)
        .unwrap_or(1.0)
        .max(1e-3);
    // A typical residual is drawn as a twentieth of the picture.
    let enlarged = round_step(5.0 * unit / typical, 1.0);
    let mut svg = Svg::new();
    for (at, residual, flight, posed) in &arrows {
        let colour = if posed.is_inlier {
            flight_colour(*flight)
        } else {
            "#dc2626"
        };
        let from = [at[0], -at[1]];
        let capped = |r: f64| (r * enlarged).clamp(-size / 3.0, size / 3.0);
        let to = [at[0] + capped(residual[0]), -at[1] - capped(residual[1])];
        svg.line(
            from,
            to,
            &format!("stroke=\"{colour}\" stroke-width=\"{:.3}\"", 0.3 * unit),
        );
        svg.circle(from, 0.6 * unit, &format!("fill=\"{colour}\""), "");
    }
    let label = format!("font-size=\"{:.2}\" fill=\"#334155\"", 3.0 * unit);
    let bottom = -south + 10.0 * unit;
    svg.line(
        [west, bottom],
        [west + enlarged * 1.0, bottom],
        &format!("stroke=\"#334155\" stroke-width=\"{:.3}\"", 0.5 * unit),
    );
    svg.text(
        west,
        bottom + 4.0 * unit,
        &label,
        "this line is a residual of 1 m",
    );
    let pad = 12.0 * unit;
    svg.finish(
        [
            west - pad,
            -north - pad,
            east - west + 2.0 * pad,
            north - south + 2.4 * pad,
        ],
        "class=\"plot\"",
    )
}

/// A photo in the series of residuals.
struct SeriesPoint<'a> {
    flight: usize,
    horizontal_m: Option<f64>,
    vertical_m: Option<f64>,
    name: &'a str,
}

/// Vertical residuals (and horizontal ones as their length) over photos in time order.
pub(super) fn residual_series(material: &Material<'_>) -> String {
    let values: Vec<SeriesPoint<'_>> = material
        .posed
        .photos
        .iter()
        .zip(&material.scene.photos)
        .map(|(posed, photo)| SeriesPoint {
            flight: photo.flight,
            horizontal_m: posed.horizontal_residual_m.map(|[e, n]| e.hypot(n)),
            vertical_m: posed.vertical_residual_m,
            name: photo.name(),
        })
        .collect();
    let largest = values
        .iter()
        .flat_map(|value| [value.horizontal_m, value.vertical_m])
        .flatten()
        .map(f64::abs)
        .fold(0.0, f64::max);
    if largest == 0.0 {
        return String::new();
    }
    let (width, half) = (600.0, 100.0);
    let x = |idx: usize| 40.0 + (width - 50.0) * idx as f64 / values.len().max(1) as f64;
    let y = |metres: f64| half - 0.9 * half * metres / largest;
    let mut svg = Svg::new();
    let step = round_step(largest, 3.0);
    let mut tick = -(largest / step).floor() * step;
    while tick <= largest {
        svg.line(
            [36.0, y(tick)],
            [width, y(tick)],
            "stroke=\"#e2e8f0\" stroke-width=\"0.5\"",
        );
        svg.text(
            0.0,
            y(tick) + 3.0,
            "font-size=\"9\" fill=\"#64748b\"",
            &format!("{tick:.2} m"),
        );
        tick += step;
    }
    for (idx, value) in values.iter().enumerate() {
        let colour = flight_colour(value.flight);
        if let Some(up) = value.vertical_m {
            let title = format!("{}: {up:+.2} m upwards", value.name);
            svg.circle([x(idx), y(up)], 1.8, &format!("fill=\"{colour}\""), &title);
        }
        if let Some(length) = value.horizontal_m {
            let title = format!("{}: {length:.2} m horizontally", value.name);
            let style = format!("fill=\"none\" stroke=\"{colour}\" stroke-width=\"0.7\"");
            svg.circle([x(idx), y(length)], 1.8, &style, &title);
        }
    }
    svg.finish([0.0, 0.0, width, 2.0 * half], "class=\"plot\"")
}

/// Photos per height and pitch bin of the benchmark.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(super) struct Matrix {
    /// Column titles: pitch bins.
    pub(super) pitches: Vec<&'static str>,
    /// Rows: title and counts.
    pub(super) rows: Vec<(&'static str, Vec<usize>)>,
    /// Photos whose height or pitch is unknown or outside of the bins.
    pub(super) elsewhere: usize,
}

const HEIGHT_BINS: [(&str, f64); 3] = [
    ("up to 40 m", 40.0),
    ("40 to 80 m", 80.0),
    ("80 to 120 m", 120.0),
];
/// Downward angles within 7.5 degrees of 30, 45, 60 and 90; an angle on the edge of two bins
/// belongs to the lower centre, and 67.5 to 82.5 to none (RSLiveBench-UAV, appendix E.2).
const PITCH_BINS: [(&str, f64); 4] = [("30", 30.0), ("45", 45.0), ("60", 60.0), ("90", 90.0)];
const PITCH_TOLERANCE_DEG: f64 = 7.5;

pub(super) fn matrix(material: &Material<'_>) -> Matrix {
    let mut counts = vec![vec![0; PITCH_BINS.len()]; HEIGHT_BINS.len()];
    let mut elsewhere = 0;
    for (posed, photo) in material.posed.photos.iter().zip(&material.scene.photos) {
        let capture = &photo.capture;
        let height = capture
            .height_above_takeoff
            .as_ref()
            .map(|h| h.height.get())
            .or_else(|| {
                posed
                    .pose
                    .as_ref()
                    .map(|pose| pose.camera_from_enu.centre().z())
            });
        let pitch = capture
            .gimbal
            .as_ref()
            .map(|g| g.attitude.pitch.to_degrees().abs());
        let place = height
            .zip(pitch)
            .and_then(|(height, pitch)| bin(height, pitch));
        match place {
            Some((row, column)) => counts[row][column] += 1,
            None => elsewhere += 1,
        }
    }
    Matrix {
        pitches: PITCH_BINS.iter().map(|(title, _)| *title).collect(),
        rows: HEIGHT_BINS
            .iter()
            .map(|(title, _)| *title)
            .zip(counts)
            .collect(),
        elsewhere,
    }
}

fn bin(height_m: f64, pitch_deg: f64) -> Option<(usize, usize)> {
    let row = HEIGHT_BINS
        .iter()
        .position(|(_, up_to)| height_m <= *up_to)?;
    let column = PITCH_BINS
        .iter()
        .position(|(_, centre)| (pitch_deg - centre).abs() <= PITCH_TOLERANCE_DEG + 1e-9)?;
    (height_m > 0.0).then_some((row, column))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn edges_belong_to_the_lower_bin() {
        for (height, pitch, expected) in [
            (40.0, 30.0, Some((0, 0))),
            (40.1, 37.5, Some((1, 0))),
            (80.0, 52.5, Some((1, 1))),
            (120.0, 60.0, Some((2, 2))),
            (60.0, 90.0, Some((1, 3))),
            (60.0, 75.0, None),
            (60.0, 82.5, Some((1, 3))),
            (120.1, 90.0, None),
            (60.0, 5.0, None),
        ] {
            assert_eq!(bin(height, pitch), expected, "{height} m, {pitch} degrees");
        }
    }
}
