//! Why there is no plan. Everything here is the input's fault; what can be planned only in part is
//! no error but a plan with its reasons.

use std::io;
use std::path::PathBuf;

/// Why a site, a spec, a terrain or a plan is refused.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PlanError {
    /// A file cannot be read.
    #[error("cannot read {}: {source}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// A file is not what it should be.
    #[error("{} is no {expected}: {found}", path.display())]
    Malformed {
        /// The file.
        path: PathBuf,
        /// What was expected.
        expected: &'static str,
        /// What is wrong with it.
        found: String,
    },
    /// A file of ours of another kind or version.
    #[error("the schema of {} is {found:?}, this program reads {expected:?}", path.display())]
    Schema {
        /// The file.
        path: PathBuf,
        /// What the file says.
        found: String,
        /// What we read.
        expected: &'static str,
    },
    /// A site that cannot be.
    #[error("the site {}: {fault}", path.display())]
    Site {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        fault: SiteFault,
    },
    /// A number of the spec that cannot be.
    #[error("{key} is {found}, expected {expected}")]
    Value {
        /// The key.
        key: &'static str,
        /// What was found.
        found: String,
        /// What would do.
        expected: &'static str,
    },
    /// Two demands that cannot both be met.
    #[error("{first} contradicts {second}")]
    Contradiction {
        /// One demand, with its number.
        first: String,
        /// The other.
        second: String,
    },
    /// A camera that is no profile of ours and no file.
    #[error("no camera {wanted:?}: known are {known}; or give the path of a profile (TOML)")]
    UnknownCamera {
        /// What was asked for.
        wanted: String,
        /// The profiles that come with the program.
        known: String,
    },
    /// The earlier plan belongs to another place.
    #[error(
        "the earlier plan's site is {distance_m:.0} m away; --repeat needs a plan of the same site"
    )]
    OtherSite {
        /// Between the two origins.
        distance_m: f64,
    },
    /// Nothing can be flown.
    #[error("nothing can be flown:\n{reasons}")]
    NothingFeasible {
        /// One line per reason.
        reasons: String,
    },
    /// WPML names the drone, and this camera's is not known.
    #[error("no DJI drone is known for the camera {camera:?}; WPML is written for {known}")]
    NotDji {
        /// The camera.
        camera: String,
        /// Those that are known.
        known: String,
    },
    /// An item capacity that not even one photo fits.
    #[error("{capacity} mission items do not hold one photo; at least {least} are needed")]
    Capacity {
        /// What was asked for.
        capacity: usize,
        /// What one photo needs.
        least: usize,
    },
}

/// What is wrong with a site.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum SiteFault {
    /// No polygon to cover.
    #[error("has no area: expected a polygon with \"role\": \"area\" or without a role")]
    NoArea,
    /// A coordinate that is none.
    #[error("{what}: {found} is no longitude, latitude in degrees")]
    Coordinate {
        /// Which feature and ring.
        what: String,
        /// The numbers.
        found: String,
    },
    /// Latitude and longitude are in the wrong order.
    #[error(
        "latitude and longitude look swapped: {evidence}; GeoJSON and KML write longitude first"
    )]
    Swapped {
        /// How it is known.
        evidence: String,
    },
    /// A ring with too few corners.
    #[error("{what} has {found} different corners, expected at least 3")]
    TooFewCorners {
        /// Which feature and ring.
        what: String,
        /// How many.
        found: usize,
    },
    /// A ring that crosses itself.
    #[error(
        "{what} crosses itself: the side from corner {first} meets the side from corner {second}"
    )]
    CrossesItself {
        /// Which feature and ring.
        what: String,
        /// Corners counted from 1.
        first: usize,
        /// The other side.
        second: usize,
    },
    /// A hole outside its polygon.
    #[error("{what}: a hole leaves its polygon")]
    HoleOutside {
        /// Which feature.
        what: String,
    },
    /// An area of nothing.
    #[error("{what} has an area of {area_m2:.2} m2, expected at least 1 m2")]
    ZeroArea {
        /// Which feature.
        what: String,
        /// How much.
        area_m2: f64,
    },
    /// More than anyone flies.
    #[error(
        "the area is {found_km2:.1} km2, this planner takes up to {limit_km2:.0} km2; cut it up"
    )]
    TooLarge {
        /// How much.
        found_km2: f64,
        /// The most.
        limit_km2: f64,
    },
    /// Parts that are far from each other.
    #[error(
        "{what} lies {distance_km:.0} km from the rest of the site, expected at most {limit_km:.0} km"
    )]
    FarApart {
        /// Which feature.
        what: String,
        /// How far.
        distance_km: f64,
        /// The most.
        limit_km: f64,
    },
    /// Near a pole, where east and north turn within the site.
    #[error(
        "latitude {latitude_deg:.2} is above {limit_deg} degrees: headings turn within the site there"
    )]
    NearPole {
        /// The largest.
        latitude_deg: f64,
        /// The most.
        limit_deg: f64,
    },
    /// A role we do not know.
    #[error("{what} has the role {found:?}, expected one of {expected}")]
    Role {
        /// Which feature.
        what: String,
        /// What it says.
        found: String,
        /// What it may say.
        expected: &'static str,
    },
    /// A number that cannot be.
    #[error("{key} is {found}, expected {expected}")]
    Value {
        /// The property.
        key: &'static str,
        /// What it says.
        found: String,
        /// What would do.
        expected: &'static str,
    },
    /// Two of what there may be one.
    #[error("has {found} {what}, expected at most one")]
    TooMany {
        /// Of what.
        what: &'static str,
        /// How many.
        found: usize,
    },
    /// A time zone that does not exist.
    #[error("{found:?} is no IANA time zone such as \"Europe/Rome\"")]
    TimeZone {
        /// What it says.
        found: String,
    },
    /// Home is where one may not be.
    #[error("home lies {why}")]
    Home {
        /// Outside the fence, or in a keep-out zone.
        why: String,
    },
}

impl PlanError {
    /// The program's exit code for this error: 1, the input is at fault.
    #[must_use]
    pub fn exit_code(&self) -> u8 {
        1
    }
}
