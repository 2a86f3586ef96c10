//! What a site file says that ingest needs: the time zone.

use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};

/// Under this name a feature's properties, or the file itself, hold the zone.
const KEY: &str = "time_zone";

/// Why a site file gives no zone.
#[derive(Debug, thiserror::Error)]
pub enum SiteError {
    /// It cannot be read.
    #[error("cannot read the site {}: {source}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
    /// It is no GeoJSON.
    #[error(
        "the site {} is no GeoJSON ({what}); expected a Feature or a FeatureCollection", path.display()
    )]
    NotGeoJson {
        /// The file.
        path: PathBuf,
        /// What was found.
        what: String,
    },
    /// It names no zone.
    #[error(
        "the site {} names no time zone; expected a property \"{KEY}\" such as \"Europe/Rome\" on a \
         feature, or give --zone", path.display()
    )]
    NoZone {
        /// The file.
        path: PathBuf,
    },
    /// Its features disagree.
    #[error(
        "the site {} names two time zones, \"{first}\" and \"{second}\"; one scene has one", path.display()
    )]
    TwoZones {
        /// The file.
        path: PathBuf,
        /// The first.
        first: String,
        /// Another.
        second: String,
    },
}

/// The IANA time zone that a site's GeoJSON names in its features' properties or beside them.
///
/// # Errors
/// [`SiteError`].
pub(super) fn zone_of_site(path: &Path) -> Result<String, SiteError> {
    let bytes = fs::read(path).map_err(|source| SiteError::Read {
        path: path.to_owned(),
        source,
    })?;
    let not_geojson = |what: String| SiteError::NotGeoJson {
        path: path.to_owned(),
        what,
    };
    let site: Value = serde_json::from_slice(&bytes).map_err(|e| not_geojson(e.to_string()))?;
    let features = match site["type"].as_str() {
        Some("Feature") => std::slice::from_ref(&site),
        Some("FeatureCollection") => site["features"].as_array().map_or(&[][..], Vec::as_slice),
        Some(other) => return Err(not_geojson(format!("its type is \"{other}\""))),
        None => return Err(not_geojson("it has no \"type\"".to_owned())),
    };
    let mut zones = features
        .iter()
        .map(|feature| &feature["properties"][KEY])
        .chain([&site[KEY]])
        .filter_map(Value::as_str);
    let first = zones.next().ok_or_else(|| SiteError::NoZone {
        path: path.to_owned(),
    })?;
    match zones.find(|zone| *zone != first) {
        Some(second) => Err(SiteError::TwoZones {
            path: path.to_owned(),
            first: first.to_owned(),
            second: second.to_owned(),
        }),
        None => Ok(first.to_owned()),
    }
}
