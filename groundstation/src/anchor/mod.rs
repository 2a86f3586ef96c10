//! Where on the ground each detection is, with its uncertainty: the ray through the box's centre
//! meets the ground raised by half a vehicle's height. (Without that raise a view at 45 degrees is
//! biased by the half height, away from the camera, differently in every photo.)

mod place;
mod run;

pub use place::{AnchorConfig, Covisible, Surroundings, place};
pub use run::{AnchorError, anchor, current, place_all};

use crate::detect::DetectionId;
use crate::schema::schema_tag;
use calibration::Point;
use calibration::frames::Enu;
use serde::{Deserialize, Serialize};

schema_tag!(
    /// Marks the summary of a scene's anchors.
    AnchorSchema,
    "scene-anchors/1"
);

/// The room's name.
pub const ROOM: &str = "anchor";
/// The summary.
pub const SUMMARY_FILE: &str = "anchor.json";
/// One line per detection.
pub const ANCHORS_FILE: &str = "anchors.jsonl";

/// How a scene's anchors came out.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct AnchorSummary {
    /// `scene-anchors/1`.
    pub schema: AnchorSchema,
    /// Anchors on ground that sparse points around the vehicle measure.
    pub n_sparse_points: usize,
    /// Anchors on ground measured further away.
    pub n_surface: usize,
    /// Anchors on the assumed plane.
    pub n_plane: usize,
    /// Detections without an anchor.
    pub n_none: usize,
    /// Ground cells: east, north, height, metres.
    pub ground_m: Vec<[f64; 3]>,
    /// What stands on the ground and is no vehicle (buildings, trees): east and north of the middle
    /// of a cell of [`OBSTACLE_CELL_M`], height of its top, metres.
    #[serde(default)]
    pub obstacles_m: Vec<[f64; 3]>,
    /// One sigma of what all anchors have in common, which their own covariances leave out.
    #[serde(default)]
    pub common_sigma: Option<CommonAnchorSigma>,
}

/// One sigma of the whole map's place and direction.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct CommonAnchorSigma {
    /// Shift east and north each, metres.
    pub shift_m: f64,
    /// Turn about the vertical, degrees.
    pub turn_deg: f64,
}

/// Side of a cell of [`AnchorSummary::obstacles_m`], metres.
pub const OBSTACLE_CELL_M: f64 = 2.0;

/// A detection's place, or why it has none.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Anchor {
    /// Which detection.
    pub detection_id: DetectionId,
    /// Index of its photo in the scene.
    pub photo: usize,
    /// Index among the photo's detections.
    pub detection: usize,
    /// The place.
    pub placed: Option<Placed>,
    /// Why there is none.
    pub reason: Option<String>,
}

/// A place on the ground.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Placed {
    /// The middle of the vehicle: on the ground's height plus half the vehicle's.
    #[serde(rename = "enu_m")]
    pub point: Point<Enu>,
    /// Covariance of east and north: xx, xy, yy in square metres, relative to the other photos of
    /// the scene. The alignment's own uncertainty is common to all anchors and stands with the
    /// poses.
    pub covariance_m2: [f64; 3],
    /// One sigma of the height, metres.
    pub vertical_sigma_m: f64,
    /// What the ground's height rests on.
    pub method: Method,
    /// The ground's height under it, metres.
    pub ground_z_m: f64,
    /// Sparse points on the vehicle that other photos see, too.
    pub n_points: usize,
    /// Sparse points on the vehicle lie elsewhere by more than two metres: look at it.
    pub points_disagree: bool,
    /// The box laid on the plane of the anchor; `None` where it reaches beyond the horizon, and in
    /// scenes made before it was worked out.
    #[serde(default)]
    pub outline: Option<Outline>,
    /// Sparse points in the box say that it stands this high above the ground, on a deck or a
    /// carrier, metres; the place is at that height.
    #[serde(default)]
    pub level_m: Option<f64>,
}

/// A box laid on the ground. In oblique views it holds the vehicle's sides, too.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Outline {
    /// The ray's angle below the horizontal, degrees.
    pub depression_deg: f64,
    /// Where the camera is, seen from the vehicle, clockwise from north, degrees.
    pub camera_azimuth_deg: f64,
    /// Direction of the longer axis, clockwise from north, in [0, 180) degrees.
    pub axis_deg: f64,
    /// Along it, metres.
    pub along_m: f64,
    /// Across it, metres.
    pub across_m: f64,
}

/// What the ground under an anchor rests on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Method {
    /// Covisible sparse points on and around the vehicle.
    SparsePoints,
    /// The scene's ground surface.
    Surface,
    /// The take-off plane: no sparse points at all.
    Plane,
}

impl Method {
    /// For tables and the index.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::SparsePoints => "sparse_points",
            Self::Surface => "surface",
            Self::Plane => "plane",
        }
    }
}

impl Placed {
    /// One sigma along the longer and the shorter axis of the error ellipse, metres.
    #[must_use]
    pub fn principal_sigmas_m(&self) -> (f64, f64) {
        let [xx, xy, yy] = self.covariance_m2;
        let middle = f64::midpoint(xx, yy);
        let half = ((xx - yy) / 2.0).hypot(xy);
        (
            (middle + half).max(0.0).sqrt(),
            (middle - half).max(0.0).sqrt(),
        )
    }
}
