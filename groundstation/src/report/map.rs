//! The map: cameras, sparse points, anchors and vehicles in metres, north up.

use super::Material;
use super::svg::{Svg, round_step};
use crate::pose::posed::PoseSource;
use calibration::Direction;
use nalgebra::Vector2;

/// More sparse points than this make the picture heavy and show nothing more.
const MAX_POINTS: usize = 8_000;
/// Room around the outermost camera, metres.
const MARGIN_M: f64 = 12.0;

/// Colours of camera heights, low to high.
const HEIGHT_COLOURS: [(f64, &str); 4] = [
    (40.0, "#d97706"),
    (80.0, "#0d9488"),
    (120.0, "#4f46e5"),
    (f64::INFINITY, "#be185d"),
];

fn height_colour(height_m: f64) -> &'static str {
    HEIGHT_COLOURS
        .iter()
        .find(|(up_to, _)| height_m <= *up_to)
        .map_or("#be185d", |(_, colour)| colour)
}

/// On paper y grows downwards.
fn paper(place: &Vector2<f64>) -> [f64; 2] {
    [place.x, -place.y]
}

/// West, south, east and north of places, with room around; `None` without any.
fn extent(places: impl Iterator<Item = Vector2<f64>>) -> Option<[f64; 4]> {
    let mut extent: Option<[f64; 4]> = None;
    for place in places {
        let [west, south, east, north] = extent.unwrap_or([place.x, place.y, place.x, place.y]);
        extent = Some([
            west.min(place.x),
            south.min(place.y),
            east.max(place.x),
            north.max(place.y),
        ]);
    }
    extent.map(|[west, south, east, north]| {
        [
            west - MARGIN_M,
            south - MARGIN_M,
            east + MARGIN_M,
            north + MARGIN_M,
        ]
    })
}

/// What the whole map holds, and what it shows at first: cameras and confirmed vehicles.
fn extents(material: &Material<'_>) -> [[f64; 4]; 2] {
    const EMPTY: [f64; 4] = [-50.0, -50.0, 50.0, 50.0];
    let cameras = || {
        let posed = material
            .posed
            .photos
            .iter()
            .filter_map(|photo| photo.pose.as_ref());
        posed.map(|pose| pose.camera_from_enu.centre().vector.xy())
    };
    let vehicles = |confirmed_only: bool| {
        let entities = material.entities.entities.iter();
        entities
            .filter(move |entity| entity.is_confirmed || !confirmed_only)
            .map(|entity| entity.point.vector.xy())
    };
    let whole = extent(cameras().chain(vehicles(false))).unwrap_or(EMPTY);
    let first = extent(cameras().chain(vehicles(true))).unwrap_or(whole);
    [whole, first]
}

fn paper_box([west, south, east, north]: [f64; 4]) -> [f64; 4] {
    [west, -north, east - west, north - south]
}

/// Draws the map.
pub(super) fn draw(material: &Material<'_>) -> String {
    let [whole, first] = extents(material);
    let [west, south, east, north] = whole;
    let (width, height) = (east - west, north - south);
    // Sizes are for what is shown at first.
    let unit = (first[2] - first[0]).max(first[3] - first[1]) / 100.0;
    let mut svg = Svg::new();
    svg.element(
        "rect",
        &format!(
            "x=\"{west:.1}\" y=\"{:.1}\" width=\"{width:.1}\" height=\"{height:.1}\" \
             fill=\"#f8fafc\"",
            -north
        ),
        "",
    );
    svg.group("grid", grid(west, south, east, north, unit));
    svg.group("points", points(material, [west, south, east, north], unit));
    svg.group("cameras", cameras(material, unit));
    svg.group("anchors", anchors(material, unit));
    svg.group("vehicles", vehicles(material, unit));
    let all = paper_box(whole)
        .map(|value| format!("{value:.2}"))
        .join(" ");
    svg.finish(
        paper_box(first),
        &format!("id=\"map\" data-whole=\"{all}\""),
    )
}

fn grid(west: f64, south: f64, east: f64, north: f64, unit: f64) -> Svg {
    let step = round_step((east - west).max(north - south), 10.0);
    let mut svg = Svg::new();
    let stroke = format!("stroke=\"#cbd5e1\" stroke-width=\"{:.3}\"", 0.06 * unit);
    let label = format!("font-size=\"{:.2}\" fill=\"#64748b\"", 1.6 * unit);
    let mut x = (west / step).ceil() * step;
    while x <= east {
        svg.line([x, -north], [x, -south], &stroke);
        svg.text(
            x + 0.3 * unit,
            -south - 0.5 * unit,
            &label,
            &format!("{x:.0} m east"),
        );
        x += step;
    }
    let mut y = (south / step).ceil() * step;
    while y <= north {
        svg.line([west, -y], [east, -y], &stroke);
        svg.text(
            west + 0.5 * unit,
            -y - 0.3 * unit,
            &label,
            &format!("{y:.0} m north"),
        );
        y += step;
    }
    svg
}

fn points(material: &Material<'_>, extent: [f64; 4], unit: f64) -> Svg {
    let [west, south, east, north] = extent;
    let inside: Vec<Vector2<f64>> = material
        .points
        .iter()
        .map(|point| point.point.vector.xy())
        .filter(|p| (west..=east).contains(&p.x) && (south..=north).contains(&p.y))
        .collect();
    let step = inside.len().div_ceil(MAX_POINTS).max(1);
    let mut svg = Svg::new();
    svg.dots(
        inside.iter().step_by(step).map(paper),
        &format!("stroke=\"#94a3b8\" stroke-width=\"{:.3}\"", 0.25 * unit),
    );
    svg
}

fn cameras(material: &Material<'_>, unit: f64) -> Svg {
    let mut svg = Svg::new();
    for (posed, photo) in material.posed.photos.iter().zip(&material.scene.photos) {
        let Some(pose) = &posed.pose else { continue };
        let centre = pose.camera_from_enu.centre();
        let at = centre.vector.xy();
        let colour = height_colour(centre.z());
        let axis = pose.camera_from_enu.rotation.inverse() * Direction::new(0.0, 0.0, 1.0);
        let top = pose.camera_from_enu.rotation.inverse() * Direction::new(0.0, -1.0, 0.0);
        // As long as the axis is flat; straight down a short tick towards the image's top.
        let ahead = axis.vector.xy() * 5.0 * unit + top.vector.xy() * 0.8 * unit;
        let stroke = format!("stroke=\"{colour}\" stroke-width=\"{:.3}\"", 0.18 * unit);
        svg.line(paper(&at), paper(&(at + ahead)), &stroke);
        let fill = match pose.source {
            PoseSource::Solved => format!("fill=\"{colour}\""),
            PoseSource::Priors => {
                format!(
                    "fill=\"none\" stroke=\"{colour}\" stroke-width=\"{:.3}\"",
                    0.2 * unit
                )
            }
        };
        let pitch = axis.z().clamp(-1.0, 1.0).asin().to_degrees();
        let title = format!(
            "{}: {:.1} m above {}, looking {:.0} degrees down{}",
            photo.name(),
            centre.z(),
            material.datum_in_words(),
            -pitch,
            posed
                .reason
                .as_ref()
                .map(|r| format!(" ({r})"))
                .unwrap_or_default()
        );
        svg.circle(paper(&at), 0.55 * unit, &fill, &title);
    }
    svg
}

fn anchors(material: &Material<'_>, unit: f64) -> Svg {
    let mut svg = Svg::new();
    svg.dots(
        material
            .anchors
            .iter()
            .filter_map(|anchor| anchor.placed.as_ref())
            .map(|placed| paper(&placed.point.vector.xy())),
        &format!(
            "stroke=\"#f43f5e\" stroke-opacity=\"0.55\" stroke-width=\"{:.3}\"",
            0.3 * unit
        ),
    );
    svg
}

fn vehicles(material: &Material<'_>, unit: f64) -> Svg {
    let mut svg = Svg::new();
    let label = format!("font-size=\"{:.2}\" fill=\"#0f172a\"", 1.5 * unit);
    for (number, entity) in material.entities.entities.iter().enumerate() {
        let at = paper(&entity.point.vector.xy());
        let title = format!(
            "vehicle {} ({}): {} photos, within {:.2} m",
            number + 1,
            entity.entity_id.as_str(),
            entity.members.len(),
            entity.sigma_m
        );
        let width = 0.2 * unit;
        if entity.is_confirmed {
            let style = format!(
                "fill=\"#facc15\" fill-opacity=\"0.5\" stroke=\"#854d0e\" stroke-width=\"{width:.3}\""
            );
            svg.circle(at, 1.0, &style, &title);
            svg.text(at[0] + 1.1, at[1] - 0.4, &label, &(number + 1).to_string());
        } else {
            let style = format!(
                "fill=\"none\" stroke=\"#854d0e\" stroke-dasharray=\"{0:.2} {0:.2}\" \
                 stroke-width=\"{1:.3}\"",
                0.5 * unit,
                0.6 * width
            );
            svg.circle(at, 0.7, &style, &title);
        }
    }
    svg
}
