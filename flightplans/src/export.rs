//! Plans as files of other programs. An autopilot stores a limited number of mission items, so its
//! formats come in parts: each is a flight of its own from take-off to home.

mod csv;
mod geojson;
mod items;
mod kml;
mod qgc;
mod waypoints;
mod wpml;

pub(crate) use geojson::paths;

use crate::error::PlanError;
use crate::plan::{Cell, FlightPlan, Visit};

/// What can be written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// QGroundControl `.plan`: simple items, geofence, rally point.
    Qgc,
    /// `QGC WPL 110` waypoints, latitude first.
    Waypoints,
    /// KML for people.
    Kml,
    /// GeoJSON for people.
    Geojson,
    /// DJI WPML `.kmz`.
    Wpml,
    /// A table of the photos in order.
    Csv,
}

/// Names as the command takes them.
const NAMES: [(&str, Format); 6] = [
    ("qgc", Format::Qgc),
    ("waypoints", Format::Waypoints),
    ("kml", Format::Kml),
    ("geojson", Format::Geojson),
    ("wpml", Format::Wpml),
    ("csv", Format::Csv),
];

impl Format {
    /// The format of a name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        NAMES
            .iter()
            .find(|(known, _)| *known == name)
            .map(|(_, format)| *format)
    }

    /// All names.
    #[must_use]
    pub fn names() -> Vec<&'static str> {
        NAMES.iter().map(|(name, _)| *name).collect()
    }
}

/// A plan's files in a format, in the order of flying; most formats give one.
///
/// # Errors
/// The spec's item capacity does not hold one photo, or the camera is on no DJI drone that WPML
/// knows ([`PlanError::Capacity`], [`PlanError::NotDji`]).
pub fn export(plan: &FlightPlan, format: Format) -> Result<Vec<Vec<u8>>, PlanError> {
    match format {
        Format::Qgc => qgc::write(plan),
        Format::Waypoints => waypoints::write(plan),
        Format::Kml => Ok(vec![kml::write(plan)]),
        Format::Geojson => Ok(vec![geojson::write(plan)]),
        Format::Wpml => wpml::write(plan),
        Format::Csv => Ok(vec![csv::write(plan)]),
    }
}

/// The visits of a sortie with their cells.
fn visited<'a>(
    plan: &'a FlightPlan,
    visits: &'a [Visit],
) -> impl Iterator<Item = (&'a Visit, &'a Cell)> {
    visits
        .iter()
        .filter_map(|visit| Some((visit, plan.cell(&visit.cell)?)))
}

/// A cell's footprint as a closed ring of `[longitude, latitude]`, from its bin's.
pub(crate) fn footprint(plan: &FlightPlan, cell: &Cell) -> Vec<[f64; 2]> {
    let ring = crate::report::footprint_m(plan, cell);
    let closed = ring.iter().chain(ring.first());
    closed
        .map(|[east, north]| crate::report::degrees(plan, *east, *north))
        .collect()
}

/// Text of XML content.
fn escaped(text: &str) -> String {
    quick_xml::escape::escape(text).into_owned()
}
