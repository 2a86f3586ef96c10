//! The plan: `plan.json`, schema `flight-plan/1`. What the onboard agent flies, what the report and
//! the exports are made from. Angles are degrees, lengths metres, times seconds; every key says so.

use crate::error::PlanError;
use crate::spec::PlanSpec;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::path::Path;

/// The schema that this version reads and writes.
pub const SCHEMA: &str = "flight-plan/1";

/// A capture plan of a site.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FlightPlan {
    /// `flight-plan/1`.
    pub schema: String,
    /// What it was made from.
    pub made_from: MadeFrom,
    /// The site.
    pub site: SiteRecord,
    /// The camera.
    pub camera: CameraRecord,
    /// What was asked for.
    pub spec: PlanSpec,
    /// What the input left open and was decided.
    pub assumptions: Vec<String>,
    /// What a crew should know before it flies.
    pub warnings: Vec<String>,
    /// How each bin is photographed, and why so.
    pub bins: Vec<BinRecord>,
    /// All cells by id: those to fly, and those that cannot be flown with their reasons.
    pub cells: Vec<Cell>,
    /// What every point of the area gets.
    pub coverage: Coverage,
    /// How the photos hang together.
    pub matching: Matching,
    /// The flights, in order; each starts and ends at home.
    pub sorties: Vec<Sortie>,
    /// Predicted times and what they are compared with.
    pub time: TimeRecord,
    /// Where the sun stands, when a time was given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sun: Option<SunRecord>,
}

/// What a plan was made from.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct MadeFrom {
    /// Version of this program.
    pub version: String,
    /// SHA-256 of the site file.
    pub site_sha256: String,
    /// Terrain files, empty when flat ground is assumed.
    pub terrain: Vec<String>,
    /// Id of the earlier plan whose cells are kept: SHA-256 of its file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub repeats_sha256: Option<String>,
}

/// A place in degrees.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct PlaceRecord {
    /// East positive.
    pub longitude_deg: f64,
    /// North positive.
    pub latitude_deg: f64,
}

/// The site in the plan. Rings are lists of `[longitude_deg, latitude_deg]`, closed, the outer one
/// anticlockwise.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SiteRecord {
    /// Its name.
    pub name: String,
    /// IANA zone.
    pub time_zone: Option<String>,
    /// Origin of the east-north frame of the cells.
    pub origin: PlaceRecord,
    /// Take-off and landing.
    pub home: PlaceRecord,
    /// Home in the frame: east, north.
    pub home_enu_m: [f64; 2],
    /// Height of the ground at home above the sea, when terrain is known.
    pub home_height_above_sea_level_m: Option<f64>,
    /// Square metres.
    pub area_m2: f64,
    /// Polygons to see, each an outer ring and holes.
    pub area: Vec<Vec<Vec<[f64; 2]>>>,
    /// Where to stay.
    pub fence: Option<Vec<Vec<[f64; 2]>>>,
    /// Where not to fly.
    pub keep_outs: Vec<KeepOutRecord>,
}

/// A keep-out zone in the plan.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct KeepOutRecord {
    /// Its name.
    pub name: String,
    /// Outer ring and holes.
    pub rings: Vec<Vec<[f64; 2]>>,
    /// Height above take-off from which on it may be flown over.
    pub top_height_m: Option<f64>,
}

/// The camera in the plan.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CameraRecord {
    /// Id of the profile.
    pub id: String,
    /// What people call it.
    pub description: String,
    /// Image width.
    pub width_px: u32,
    /// Image height.
    pub height_px: u32,
    /// Focal length along x.
    pub focal_px: f64,
    /// Shortest interval between photos that the plan counts with.
    pub interval_s: f64,
    /// Lowest gimbal pitch, where known.
    pub pitch_min_deg: Option<f64>,
    /// Highest gimbal pitch, where known.
    pub pitch_max_deg: Option<f64>,
}

/// One planned photo, or one that cannot be taken.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Cell {
    /// The same in every plan of the site with the same bins: `H060-P45-R07` (ring slot) or
    /// `H060-P45-G1R03C11` (heading, row and column of the grid).
    pub id: String,
    /// Height above the ground under the aim point.
    pub height_m: f64,
    /// Downward angle of the optical axis.
    pub pitch_down_deg: f64,
    /// The pattern it belongs to.
    pub pattern: Pattern,
    /// What it is for.
    pub purpose: Purpose,
    /// Whether it can be flown.
    pub state: CellState,
    /// Why it cannot be flown; empty when it can.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub reasons: Vec<Reason>,
    /// Where the camera is and looks.
    pub pose: Pose,
    /// How exactly that must be met.
    pub tolerance: CellTolerance,
}

/// How a bin's cells are laid out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Pattern {
    /// On a circle around the area's middle, looking inwards.
    Ring,
    /// On a grid, looking along one of the headings.
    Grid,
}

/// What a cell is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Purpose {
    /// Its view of the area.
    Coverage,
    /// It connects photos that would not match otherwise.
    Linking,
    /// Nothing: it cannot be flown, and is listed for its reasons.
    None,
}

/// Whether a cell can be flown.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CellState {
    /// It is part of the plan.
    Planned,
    /// It cannot be flown.
    Infeasible,
}

/// Why a cell cannot be flown.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
#[non_exhaustive]
pub enum Reason {
    /// The gimbal does not reach the pitch.
    GimbalLimit {
        /// Wanted, up positive.
        pitch_deg: f64,
        /// Lowest.
        min_deg: f64,
        /// Highest.
        max_deg: f64,
    },
    /// Too much of the picture lies beyond the limits of range, resolution and flatness.
    HorizonInFrame {
        /// Share of the picture within the limits.
        useful_share: f64,
        /// What the spec asks for.
        needed_share: f64,
    },
    /// Outside the fence.
    OutsideFence {
        /// By how much.
        beyond_m: f64,
    },
    /// Too far from home.
    BeyondLineOfSight {
        /// In a straight line.
        distance_m: f64,
        /// The most.
        limit_m: f64,
    },
    /// Too high above take-off.
    AboveMaxHeight {
        /// Wanted.
        height_m: f64,
        /// The most.
        limit_m: f64,
    },
    /// Too near to something, or in it.
    NoClearance {
        /// To what.
        to: String,
        /// How near; zero inside.
        distance_m: f64,
        /// How near it may be.
        needed_m: f64,
    },
    /// The camera cannot fire as often as the slowest safe speed passes the cells.
    IntervalTooShort {
        /// Time between cells at the slowest safe speed.
        interval_s: f64,
        /// What the camera needs.
        needed_s: f64,
    },
    /// The ground moves too far during the exposure even at the slowest safe speed.
    Blurred {
        /// Pixels during the exposure.
        blur_px: f64,
        /// The most.
        limit_px: f64,
    },
    /// The terrain under the camera or the aim point is not known.
    TerrainUnknown,
    /// No clear path leads there.
    Unreachable,
    /// Flying there and back takes more than a battery gives.
    BeyondBattery {
        /// There and back.
        needed_s: f64,
        /// Without the reserve.
        limit_s: f64,
    },
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::GimbalLimit {
                pitch_deg,
                min_deg,
                max_deg,
            } => write!(
                f,
                "gimbal pitch {pitch_deg:.0} deg, reaches {min_deg:.0} to {max_deg:.0}"
            ),
            Self::HorizonInFrame {
                useful_share,
                needed_share,
            } => write!(
                f,
                "horizon in frame: {:.0} % of the picture within range and resolution, {:.0} % needed",
                useful_share * 100.0,
                needed_share * 100.0
            ),
            Self::OutsideFence { beyond_m } => write!(f, "{beyond_m:.0} m outside the fence"),
            Self::BeyondLineOfSight {
                distance_m,
                limit_m,
            } => write!(
                f,
                "{distance_m:.0} m from home, line of sight {limit_m:.0} m"
            ),
            Self::AboveMaxHeight { height_m, limit_m } => {
                write!(f, "{height_m:.0} m above take-off, limit {limit_m:.0} m")
            }
            Self::NoClearance {
                to,
                distance_m,
                needed_m,
            } => write!(f, "{distance_m:.1} m from {to}, clearance {needed_m:.1} m"),
            Self::IntervalTooShort {
                interval_s,
                needed_s,
            } => write!(
                f,
                "{interval_s:.1} s between cells at the slowest safe speed, the camera needs {needed_s:.1} s"
            ),
            Self::Blurred { blur_px, limit_px } => write!(
                f,
                "{blur_px:.1} px of blur at the slowest safe speed, limit {limit_px:.1} px"
            ),
            Self::TerrainUnknown => write!(f, "the terrain there is not known"),
            Self::Unreachable => write!(f, "no clear path leads there"),
            Self::BeyondBattery { needed_s, limit_s } => write!(
                f,
                "{needed_s:.0} s there and back, a battery gives {limit_s:.0} s without its reserve"
            ),
        }
    }
}

/// Where a camera is and looks.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Pose {
    /// Latitude of the camera.
    pub latitude_deg: f64,
    /// Longitude of the camera.
    pub longitude_deg: f64,
    /// East of the site's origin.
    pub east_m: f64,
    /// North of the site's origin.
    pub north_m: f64,
    /// Above the ground at home.
    pub height_above_takeoff_m: f64,
    /// Ground under the aim point, above that at home.
    pub ground_above_takeoff_m: f64,
    /// Clockwise from true north, in [0, 360): of the gimbal and the airframe.
    pub yaw_deg: f64,
    /// Gimbal pitch, up positive: -90 is straight down.
    pub gimbal_pitch_deg: f64,
}

/// How exactly a cell's pose must be met for its photo to count.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct CellTolerance {
    /// On the map.
    pub horizontal_m: f64,
    /// In height.
    pub vertical_m: f64,
    /// Of the gimbal's pitch.
    pub pitch_deg: f64,
    /// Of the heading.
    pub yaw_deg: f64,
    /// Fastest speed at the shutter, so that the picture is sharp.
    pub speed_mps: f64,
    /// Fastest gimbal motion at the shutter.
    pub gimbal_rate_deg_s: f64,
}

/// One height and pitch.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct BinRecord {
    /// Height above the ground under the aim point.
    pub height_m: f64,
    /// Downward angle.
    pub pitch_down_deg: f64,
    /// How its cells are laid out; none when nothing can be flown.
    pub pattern: Option<Pattern>,
    /// Why so.
    pub why: String,
    /// Photos for coverage.
    pub n_coverage: usize,
    /// Photos for linking.
    pub n_linking: usize,
    /// Cells that cannot be flown.
    pub n_infeasible: usize,
    /// Cells that could be flown and are not needed.
    pub n_spare: usize,
    /// What a photo sees of level ground: corners to the right of and ahead of the camera, metres,
    /// anticlockwise seen from above. Turned clockwise by a cell's yaw and moved to its place it is
    /// that cell's footprint.
    pub footprint_m: Vec<[f64; 2]>,
    /// Ground sample distance at the optical axis, across the view.
    pub gsd_centre_m: f64,
    /// Share of the picture within the limits.
    pub useful_share: f64,
    /// Why nothing of it can be flown; empty otherwise.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub reasons: Vec<Reason>,
}

/// The coverage promise: numbers of planned views over the points of a grid.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Coverage {
    /// Distance between the points.
    pub grid_step_m: f64,
    /// How many points.
    pub n_points: usize,
    /// Whether every point has the asked views in every bin.
    pub is_complete: bool,
    /// Bin by bin.
    pub bins: Vec<BinCoverage>,
}

/// The promise for one bin.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct BinCoverage {
    /// Height.
    pub height_m: f64,
    /// Downward angle.
    pub pitch_down_deg: f64,
    /// Fewest views of a point.
    pub min_views: u32,
    /// Views that 95 % of the points have or exceed.
    pub p5_views: u32,
    /// Mean views of a point.
    pub mean_views: f64,
    /// Points with fewer views than asked.
    pub n_short: usize,
    /// Smallest range of viewing azimuths of a point (the circle less its largest gap), in steps of
    /// 5 degrees.
    pub min_azimuth_range_deg: f64,
    /// Range that 95 % of the points have or exceed.
    pub p5_azimuth_range_deg: f64,
    /// Where views are missing.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub holes: Vec<Hole>,
}

/// Neighbouring points with too few views.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Hole {
    /// Its middle.
    pub longitude_deg: f64,
    /// Its middle.
    pub latitude_deg: f64,
    /// How large.
    pub area_m2: f64,
    /// Fewest views in it.
    pub min_views: u32,
}

/// How the photos hang together: pairs that share at least half of the smaller footprint, look at
/// it from directions within 20 degrees and at scales within a factor of 2.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Matching {
    /// Photos.
    pub n_photos: usize,
    /// Pairs that match.
    pub n_pairs: usize,
    /// Groups of photos without a pair between them; 1 is what is wanted.
    pub n_groups: usize,
    /// Fewest neighbours of a photo.
    pub min_neighbours: usize,
    /// Photos with fewer than 4 neighbours.
    pub n_short: usize,
    /// Photos added for this.
    pub n_linking: usize,
    /// Whether there is one group and every photo has at least 4 neighbours.
    pub holds: bool,
}

/// One flight on one battery.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Sortie {
    /// From take-off to landing.
    pub duration_s: f64,
    /// Along the path, climbs and descents too.
    pub path_m: f64,
    /// The photos in order.
    pub visits: Vec<Visit>,
    /// Corners between the last photo and home, where the straight way is not clear:
    /// `[longitude_deg, latitude_deg, height_above_takeoff_m]`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub way_home: Vec<[f64; 3]>,
}

/// A photo of a sortie.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Visit {
    /// The cell.
    pub cell: String,
    /// When its photo is taken, after take-off.
    pub photo_s: f64,
    /// Whether it is taken in passing, without stopping.
    pub in_passing: bool,
    /// Speed at the photo.
    pub speed_mps: f64,
    /// Corners on the way there from the photo before (or home), where the straight way is not
    /// clear: `[longitude_deg, latitude_deg, height_above_takeoff_m]`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub way: Vec<[f64; 3]>,
}

/// Predicted times.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TimeRecord {
    /// From the first to the last photo over all sorties, flights between them included but not
    /// the change of batteries.
    pub first_to_last_photo_s: f64,
    /// From take-off to landing, all sorties together.
    pub flight_s: f64,
    /// Along the path.
    pub path_m: f64,
    /// Photos.
    pub n_photos: usize,
    /// Batteries.
    pub n_batteries: usize,
    /// No order of these photos takes less from the first to the last.
    pub bound_of_order_s: f64,
    /// No plan that meets the spec takes less from the first to the last, whatever its photos.
    pub bound_of_any_plan_s: f64,
}

/// Where the sun stands during the plan.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SunRecord {
    /// When, UTC.
    pub at_utc: String,
    /// The site's local time.
    pub at_local: Option<String>,
    /// Above the horizon, refraction left out.
    pub elevation_deg: f64,
    /// Clockwise from north.
    pub azimuth_deg: f64,
    /// When on that day the sun stands as on the earlier visit: elevation within 10 degrees,
    /// azimuth within 15; UTC. Empty when it never does or there is no earlier visit.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub same_as_before_utc: Vec<[String; 2]>,
    /// Cells that look at the sun's mirror image.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub glare_cells: Vec<String>,
}

impl FlightPlan {
    /// Reads a plan from a file.
    ///
    /// # Errors
    /// The file cannot be read, or is no plan of this schema.
    pub fn load(path: &Path) -> Result<Self, PlanError> {
        let bytes = std::fs::read(path).map_err(|source| PlanError::Read {
            path: path.to_owned(),
            source,
        })?;
        Self::parse(&bytes, path)
    }

    /// Reads a plan from a file's content; `path` names it in errors.
    ///
    /// # Errors
    /// As [`Self::load`].
    pub fn parse(bytes: &[u8], path: &Path) -> Result<Self, PlanError> {
        let malformed = |error: serde_json::Error| PlanError::Malformed {
            path: path.to_owned(),
            expected: "flight plan",
            found: error.to_string(),
        };
        let value: serde_json::Value = serde_json::from_slice(bytes).map_err(malformed)?;
        if value["schema"] != SCHEMA {
            return Err(PlanError::Schema {
                path: path.to_owned(),
                found: value["schema"].as_str().unwrap_or("none").to_owned(),
                expected: SCHEMA,
            });
        }
        serde_json::from_value(value).map_err(malformed)
    }

    /// The plan as JSON: keys sorted, shortest floats, indented.
    ///
    /// # Panics
    /// Never: a plan holds only finite numbers and text keys.
    #[must_use]
    pub fn to_json(&self) -> String {
        let value = serde_json::to_value(self).expect("a plan's keys are texts");
        let mut text = serde_json::to_string_pretty(&value).expect("a value is JSON");
        text.push('\n');
        text
    }

    /// The cell of an id.
    #[must_use]
    pub fn cell(&self, id: &str) -> Option<&Cell> {
        self.cells
            .binary_search_by(|cell| cell.id.as_str().cmp(id))
            .ok()
            .map(|index| &self.cells[index])
    }

    /// The cells to fly.
    pub fn planned(&self) -> impl Iterator<Item = &Cell> {
        self.cells
            .iter()
            .filter(|cell| cell.state == CellState::Planned)
    }
}
