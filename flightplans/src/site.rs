//! A site: the area to cover, where not to fly, the fence, home and the time zone, in the
//! east-north-up frame of the site's own origin.
//!
//! Files hold longitude and latitude (GeoJSON, KML) or latitude and longitude (QGroundControl).
//! What a file leaves open is decided here and stated in [`Site::assumptions`].

mod build;
mod geojson;
mod kml;

pub use build::{MAX_AREA_KM2, MAX_LATITUDE_DEG};

use crate::error::PlanError;
use crate::import::qgc;
use crate::plane::{Place, Region};
use calibration::{Geodetic, LocalOrigin, Metres, Point};
use sha2::{Digest, Sha256};
use std::path::Path;

/// A site, checked.
#[derive(Clone, Debug)]
pub struct Site {
    /// What people call it.
    pub name: String,
    /// IANA name of the time zone.
    pub time_zone: Option<String>,
    /// Origin of the frame: the middle of the area's corners; its height above the ellipsoid is
    /// taken as zero, because a site file does not say it.
    pub origin: LocalOrigin,
    /// What is to be seen, one or more polygons.
    pub area: Vec<Region>,
    /// Where not to fly.
    pub keep_outs: Vec<KeepOut>,
    /// Where to stay; without it the line of sight is the limit.
    pub fence: Option<Region>,
    /// Where the drone takes off and lands.
    pub home: Place,
    /// Highest allowed height above take-off.
    pub max_height: Option<Metres>,
    /// SHA-256 of the file, hexadecimal.
    pub digest: String,
    /// What the file left open and was decided.
    pub assumptions: Vec<String>,
}

/// A zone that no path may enter.
#[derive(Clone, Debug, PartialEq)]
pub struct KeepOut {
    /// What people call it.
    pub name: String,
    /// Where.
    pub region: Region,
    /// Height above take-off from which on it may be flown over; without it never.
    pub top: Option<Metres>,
}

/// One shape of a file, before anything is checked.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct RawFeature {
    /// For messages: number and name.
    pub(crate) label: String,
    pub(crate) name: Option<String>,
    pub(crate) role: Option<String>,
    pub(crate) time_zone: Option<String>,
    pub(crate) max_height_m: Option<f64>,
    pub(crate) top_height_m: Option<f64>,
    pub(crate) shape: RawShape,
}

/// Longitude and latitude in degrees, as the file has them.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) enum RawShape {
    /// Properties without a shape.
    #[default]
    None,
    Point([f64; 2]),
    /// Polygons, each an outer ring and holes.
    Polygons(Vec<Vec<Vec<[f64; 2]>>>),
}

impl Site {
    /// Reads a site: GeoJSON (`.geojson`, `.json`), KML (`.kml`) or the polygons of a
    /// QGroundControl plan (`.plan`); by content where the name does not say.
    ///
    /// # Errors
    /// The file cannot be read, is none of these, or holds a site that cannot be
    /// ([`crate::error::SiteFault`]).
    pub fn load(path: &Path) -> Result<Self, PlanError> {
        let bytes = std::fs::read(path).map_err(|source| PlanError::Read {
            path: path.to_owned(),
            source,
        })?;
        Self::parse(&bytes, path)
    }

    /// Reads a site from a file's content; `path` names it in errors and says which format it is.
    ///
    /// # Errors
    /// As [`Self::load`].
    pub fn parse(bytes: &[u8], path: &Path) -> Result<Self, PlanError> {
        let malformed = |found: String| PlanError::Malformed {
            path: path.to_owned(),
            expected: "site (GeoJSON, KML or QGroundControl plan)",
            found,
        };
        let text = std::str::from_utf8(bytes)
            .map_err(|error| malformed(error.to_string()))?
            .trim_start_matches('\u{feff}');
        let features = match text.trim_start().chars().next() {
            Some('<') => kml::read(text).map_err(malformed)?,
            Some('{') if qgc::is_plan(text) => qgc::site_features(text).map_err(malformed)?,
            Some('{') => geojson::read(text).map_err(malformed)?,
            _ => return Err(malformed("neither JSON nor XML".to_owned())),
        };
        let stem = path.file_stem().unwrap_or(path.as_os_str());
        build::site(features, &stem.to_string_lossy(), hex(bytes)).map_err(|fault| {
            PlanError::Site {
                path: path.to_owned(),
                fault,
            }
        })
    }

    /// A place of the frame as longitude and latitude in degrees.
    #[must_use]
    pub fn degrees(&self, place: &Place) -> LonLat {
        let geodetic = self
            .origin
            .geodetic_from_enu(Point::new(place.x, place.y, 0.0));
        LonLat::of(&geodetic)
    }

    /// Square metres of the area.
    #[must_use]
    pub fn area_m2(&self) -> f64 {
        self.area.iter().map(Region::area_m2).sum()
    }

    /// Whether a place is to be seen.
    #[must_use]
    pub fn is_in_area(&self, place: &Place) -> bool {
        self.area.iter().any(|region| region.contains(place))
    }

    /// All corners of the area's borders.
    #[must_use]
    pub fn corners(&self) -> Vec<Place> {
        self.area
            .iter()
            .flat_map(|region| region.outer.iter().copied())
            .collect()
    }
}

/// Longitude and latitude, degrees.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LonLat {
    /// East positive, in [-180, 180].
    pub longitude_deg: f64,
    /// North positive, in [-90, 90].
    pub latitude_deg: f64,
}

impl LonLat {
    /// Rounded to 1e-8 degrees (a millimetre), as files hold it.
    #[must_use]
    pub fn of(geodetic: &Geodetic) -> Self {
        let rounded = |degrees: f64| (degrees * 1e8).round() / 1e8;
        Self {
            longitude_deg: rounded(geodetic.longitude().to_degrees()),
            latitude_deg: rounded(geodetic.latitude().to_degrees()),
        }
    }
}

/// SHA-256 of some bytes, hexadecimal.
pub(crate) fn hex(bytes: &[u8]) -> String {
    Sha256::digest(bytes)
        .iter()
        .map(|byte| format!("{byte:02x}"))
        .collect()
}
