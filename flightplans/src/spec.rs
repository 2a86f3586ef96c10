//! What a plan is asked for: heights, pitches, views, speeds, limits. A TOML file,
//! `schema = "plan-spec/1"`; every key has a default, and the defaults are those of
//! [`PlanSpec::default`].

use crate::error::PlanError;
use serde::{Deserialize, Serialize};
use std::path::Path;

/// The schema that this version reads and writes.
pub const SCHEMA: &str = "plan-spec/1";

/// A plan spec. Angles are degrees, as in the file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct PlanSpec {
    /// `plan-spec/1`.
    pub schema: String,
    /// What is photographed.
    pub bins: Bins,
    /// What every point of the area gets.
    pub views: Views,
    /// How the drone flies.
    pub flight: Flight,
    /// How the camera fires.
    pub camera: CameraUse,
    /// How the gimbal turns.
    pub gimbal: Gimbal,
    /// Where the drone may be.
    pub airspace: Airspace,
    /// How exactly a cell's pose must be met.
    pub tolerance: Tolerance,
    /// What goes into one file of an autopilot.
    pub autopilot: Autopilot,
    /// How long a shorter flight is sought.
    pub search: Search,
}

/// Half an hour for an ordinary car park.
const MAX_ROUNDS: u32 = 100_000;

/// How long a shorter flight is sought.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Search {
    /// Times that a part of the plan is made anew and kept if the flight gets shorter. 20 take part
    /// of a second, 5000 about a minute for an ordinary car park; 0 is none. Areas of more than
    /// four hectares are not searched.
    pub rounds: u32,
}

impl Default for Search {
    fn default() -> Self {
        Self { rounds: 20 }
    }
}

/// Heights and pitches: every pair is a bin.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Bins {
    /// Heights above the ground under the aim point.
    pub heights_m: Vec<f64>,
    /// Downward angles of the optical axis; 90 is straight down.
    pub pitches_deg: Vec<f64>,
    /// Headings of oblique grids, clockwise from the area's long axis.
    pub headings_deg: Vec<f64>,
}

/// What every point of the area gets in every bin, and what counts as a view.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Views {
    /// Photos of every point in every bin.
    pub min_per_point: u32,
    /// Different headings among them in oblique bins.
    pub min_headings: u32,
    /// A point coarser than this across the view is not seen, metres per pixel.
    pub max_gsd_m: f64,
    /// A point further away on the map is not seen.
    pub max_range_m: f64,
    /// A point under a flatter ray is not seen.
    pub min_depression_deg: f64,
    /// Share of the picture that must lie within those limits; less is a picture of the horizon.
    pub min_useful_share: f64,
    /// How far inside the picture's border a point must lie on the ground for the plan to count on
    /// it: what the position tolerance may take.
    pub border_margin_m: f64,
}

/// How the drone flies.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Flight {
    /// From take-off to landing on one battery.
    pub max_flight_time_s: f64,
    /// Share of that time kept in reserve.
    pub battery_reserve: f64,
    /// Fastest on the map.
    pub cruise_mps: f64,
    /// Speeding up and braking, in every direction.
    pub acceleration_mps2: f64,
    /// Fastest up.
    pub climb_mps: f64,
    /// Fastest down.
    pub descend_mps: f64,
    /// Fastest turn.
    pub yaw_rate_deg_s: f64,
    /// Standing still before a photo after anything moved.
    pub settle_s: f64,
    /// Slowest safe speed: 0 for what can hover; more for what cannot.
    pub min_speed_mps: f64,
    /// Photos in a row with the same gimbal and heading are taken in passing.
    pub fly_through: bool,
}

/// How the camera fires.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct CameraUse {
    /// Shortest time between photos; the profile's own is longer at times and then holds.
    pub min_interval_s: f64,
    /// Exposure.
    pub exposure_s: f64,
    /// Most that the ground may move in the picture during the exposure, pixels.
    pub max_blur_px: f64,
}

/// How the gimbal turns.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Gimbal {
    /// Fastest pitch.
    pub pitch_rate_deg_s: f64,
    /// Lowest pitch, -90 is straight down; the profile's where not given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pitch_min_deg: Option<f64>,
    /// Highest pitch; the profile's where not given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pitch_max_deg: Option<f64>,
}

/// Where the drone may be.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Airspace {
    /// Furthest from home in a straight line.
    pub line_of_sight_m: f64,
    /// Kept from keep-out zones and the fence on every path, and from the ground.
    pub clearance_m: f64,
    /// Highest above take-off; the site's own limit holds too.
    pub max_height_m: f64,
}

/// How exactly a cell's pose must be met for its photo to count.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Tolerance {
    /// On the map.
    pub horizontal_m: f64,
    /// In height.
    pub vertical_m: f64,
    /// Of the gimbal's pitch at most; tighter where a flat view magnifies it.
    pub pitch_deg: f64,
    /// Of the heading.
    pub yaw_deg: f64,
    /// How far on the ground a pitch error may move the view.
    pub ground_shift_m: f64,
    /// Of the gimbal's motion at the shutter.
    pub gimbal_rate_deg_s: f64,
}

/// What goes into one file of an autopilot.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Autopilot {
    /// Mission items that it stores: PX4 500 on its boards, ArduPilot about 700.
    pub max_items: usize,
}

impl Default for PlanSpec {
    fn default() -> Self {
        Self {
            schema: SCHEMA.to_owned(),
            bins: Bins::default(),
            views: Views::default(),
            flight: Flight::default(),
            camera: CameraUse::default(),
            gimbal: Gimbal::default(),
            airspace: Airspace::default(),
            tolerance: Tolerance::default(),
            autopilot: Autopilot::default(),
            search: Search::default(),
        }
    }
}

/// One height in each of the paper's bands (0, 40], (40, 80], (80, 120], and its four pitches.
impl Default for Bins {
    fn default() -> Self {
        Self {
            heights_m: vec![30.0, 60.0, 100.0],
            pitches_deg: vec![30.0, 45.0, 60.0, 90.0],
            headings_deg: vec![0.0, 90.0, 180.0, 270.0],
        }
    }
}

impl Default for Views {
    fn default() -> Self {
        Self {
            min_per_point: 3,
            min_headings: 1,
            max_gsd_m: 0.10,
            max_range_m: 300.0,
            min_depression_deg: 15.0,
            min_useful_share: 0.5,
            border_margin_m: 1.0,
        }
    }
}

impl Default for Flight {
    fn default() -> Self {
        Self {
            max_flight_time_s: 1800.0,
            battery_reserve: 0.25,
            cruise_mps: 8.0,
            acceleration_mps2: 2.0,
            climb_mps: 3.0,
            descend_mps: 2.0,
            yaw_rate_deg_s: 45.0,
            settle_s: 1.5,
            min_speed_mps: 0.0,
            fly_through: true,
        }
    }
}

impl Default for CameraUse {
    fn default() -> Self {
        Self {
            min_interval_s: 2.0,
            exposure_s: 1.0 / 1000.0,
            max_blur_px: 1.0,
        }
    }
}

impl Default for Gimbal {
    fn default() -> Self {
        Self {
            pitch_rate_deg_s: 30.0,
            pitch_min_deg: None,
            pitch_max_deg: None,
        }
    }
}

impl Default for Airspace {
    fn default() -> Self {
        Self {
            line_of_sight_m: 300.0,
            clearance_m: 5.0,
            max_height_m: 120.0,
        }
    }
}

impl Default for Tolerance {
    fn default() -> Self {
        Self {
            horizontal_m: 1.5,
            vertical_m: 1.0,
            pitch_deg: 2.0,
            yaw_deg: 3.0,
            ground_shift_m: 2.0,
            gimbal_rate_deg_s: 3.0,
        }
    }
}

impl Default for Autopilot {
    fn default() -> Self {
        Self { max_items: 500 }
    }
}

impl PlanSpec {
    /// Reads a spec from a file.
    ///
    /// # Errors
    /// The file cannot be read, is no spec of this schema, has a key we do not know, or a number
    /// that cannot be.
    pub fn load(path: &Path) -> Result<Self, PlanError> {
        let text = std::fs::read_to_string(path).map_err(|source| PlanError::Read {
            path: path.to_owned(),
            source,
        })?;
        Self::parse(&text, path)
    }

    /// Reads a spec from its text; `path` names it in errors.
    ///
    /// # Errors
    /// As [`Self::load`].
    pub fn parse(text: &str, path: &Path) -> Result<Self, PlanError> {
        let spec: Self = toml::from_str(text).map_err(|error| PlanError::Malformed {
            path: path.to_owned(),
            expected: "plan spec (TOML)",
            found: error.message().to_owned(),
        })?;
        if spec.schema != SCHEMA {
            return Err(PlanError::Schema {
                path: path.to_owned(),
                found: spec.schema,
                expected: SCHEMA,
            });
        }
        spec.checked()
    }

    /// The spec itself, when its numbers can be and do not contradict each other.
    ///
    /// # Errors
    /// [`PlanError::Value`] or [`PlanError::Contradiction`].
    pub fn checked(self) -> Result<Self, PlanError> {
        self.check_bins()?;
        for (key, value, is_allowed, expected) in self.numbers() {
            if !(value.is_finite() && is_allowed) {
                return Err(value_error(key, value, expected));
            }
        }
        self.check_contradictions()?;
        Ok(self)
    }

    fn check_bins(&self) -> Result<(), PlanError> {
        let lists: [(&'static str, &[f64], f64, f64, &'static str); 3] = [
            (
                "bins.heights_m",
                &self.bins.heights_m,
                1.0,
                1000.0,
                "different heights from 1 to 1000 m",
            ),
            (
                "bins.pitches_deg",
                &self.bins.pitches_deg,
                5.0,
                90.0,
                "different angles from 5 to 90 degrees down",
            ),
            (
                "bins.headings_deg",
                &self.bins.headings_deg,
                0.0,
                359.999,
                "different angles from 0 up to 360 degrees",
            ),
        ];
        for (key, list, low, high, expected) in lists {
            let mut sorted = list.to_vec();
            sorted.sort_by(f64::total_cmp);
            let repeats = sorted.windows(2).any(|pair| pair[1] - pair[0] < 0.5);
            let beyond = list
                .iter()
                .any(|value| !value.is_finite() || *value < low || *value > high);
            if list.is_empty() || beyond || repeats {
                return Err(PlanError::Value {
                    key,
                    found: format!("{list:?}"),
                    expected,
                });
            }
        }
        Ok(())
    }

    /// Every single number: key, value, whether it may be, and what may be.
    fn numbers(&self) -> Vec<(&'static str, f64, bool, &'static str)> {
        let mut all = Vec::new();
        let mut positive = |key, value: f64| all.push((key, value, value > 0.0, "above 0"));
        positive("views.max_gsd_m", self.views.max_gsd_m);
        positive("views.max_range_m", self.views.max_range_m);
        positive("flight.max_flight_time_s", self.flight.max_flight_time_s);
        positive("flight.cruise_mps", self.flight.cruise_mps);
        positive("flight.acceleration_mps2", self.flight.acceleration_mps2);
        positive("flight.climb_mps", self.flight.climb_mps);
        positive("flight.descend_mps", self.flight.descend_mps);
        positive("flight.yaw_rate_deg_s", self.flight.yaw_rate_deg_s);
        positive("camera.exposure_s", self.camera.exposure_s);
        positive("camera.max_blur_px", self.camera.max_blur_px);
        positive("gimbal.pitch_rate_deg_s", self.gimbal.pitch_rate_deg_s);
        positive("airspace.line_of_sight_m", self.airspace.line_of_sight_m);
        positive("airspace.max_height_m", self.airspace.max_height_m);
        positive("tolerance.horizontal_m", self.tolerance.horizontal_m);
        positive("tolerance.vertical_m", self.tolerance.vertical_m);
        positive("tolerance.pitch_deg", self.tolerance.pitch_deg);
        positive("tolerance.yaw_deg", self.tolerance.yaw_deg);
        positive("tolerance.ground_shift_m", self.tolerance.ground_shift_m);
        positive(
            "tolerance.gimbal_rate_deg_s",
            self.tolerance.gimbal_rate_deg_s,
        );
        all.push((
            "search.rounds",
            f64::from(self.search.rounds),
            self.search.rounds <= MAX_ROUNDS,
            "0 to 100000",
        ));
        let mut at_least_zero = |key, value: f64| all.push((key, value, value >= 0.0, "0 or more"));
        at_least_zero("camera.min_interval_s", self.camera.min_interval_s);
        at_least_zero("flight.settle_s", self.flight.settle_s);
        at_least_zero("flight.min_speed_mps", self.flight.min_speed_mps);
        at_least_zero("airspace.clearance_m", self.airspace.clearance_m);
        at_least_zero("views.border_margin_m", self.views.border_margin_m);
        let mut share = |key, value: f64| {
            all.push((key, value, (0.0..1.0).contains(&value), "from 0 up to 1"));
        };
        share("flight.battery_reserve", self.flight.battery_reserve);
        share("views.min_useful_share", self.views.min_useful_share);
        let depression = self.views.min_depression_deg;
        all.push((
            "views.min_depression_deg",
            depression,
            depression > 0.0 && depression < 90.0,
            "between 0 and 90",
        ));
        all
    }

    fn check_contradictions(&self) -> Result<(), PlanError> {
        let views = &self.views;
        let contradiction =
            |first: String, second: String| Err(PlanError::Contradiction { first, second });
        if !(1..=50).contains(&views.min_per_point) {
            return Err(value_error(
                "views.min_per_point",
                f64::from(views.min_per_point),
                "from 1 to 50",
            ));
        }
        if self.autopilot.max_items == 0 {
            return Err(value_error("autopilot.max_items", 0.0, "1 or more"));
        }
        let headings = self.bins.headings_deg.len();
        if views.min_headings as usize > headings {
            return contradiction(
                format!("views.min_headings = {}", views.min_headings),
                format!("bins.headings_deg with {headings} headings"),
            );
        }
        if views.min_headings > views.min_per_point {
            return contradiction(
                format!("views.min_headings = {}", views.min_headings),
                format!("views.min_per_point = {}", views.min_per_point),
            );
        }
        if self.flight.min_speed_mps > self.flight.cruise_mps {
            return contradiction(
                format!("flight.min_speed_mps = {}", self.flight.min_speed_mps),
                format!("flight.cruise_mps = {}", self.flight.cruise_mps),
            );
        }
        let limits = [self.gimbal.pitch_min_deg, self.gimbal.pitch_max_deg];
        if let Some(limit) = limits
            .into_iter()
            .flatten()
            .find(|limit| !limit.is_finite())
        {
            return Err(value_error(
                "gimbal.pitch_min_deg",
                limit,
                "a finite number",
            ));
        }
        if let [Some(low), Some(high)] = limits
            && low > high
        {
            return contradiction(
                format!("gimbal.pitch_min_deg = {low}"),
                format!("gimbal.pitch_max_deg = {high}"),
            );
        }
        let flattest = self
            .bins
            .pitches_deg
            .iter()
            .copied()
            .fold(f64::INFINITY, f64::min);
        if views.min_depression_deg >= flattest {
            return contradiction(
                format!("views.min_depression_deg = {}", views.min_depression_deg),
                format!("a pitch of {flattest} degrees, whose middle would not count as seen"),
            );
        }
        Ok(())
    }

    /// Seconds of flight on one battery without its reserve.
    #[must_use]
    pub fn usable_flight_s(&self) -> f64 {
        self.flight.max_flight_time_s * (1.0 - self.flight.battery_reserve)
    }
}

fn value_error(key: &'static str, found: f64, expected: &'static str) -> PlanError {
    PlanError::Value {
        key,
        found: found.to_string(),
        expected,
    }
}
