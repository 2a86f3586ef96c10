//! The room's output: cameras and points in the scene's metric frame, with residuals.

use super::priors::{HeightSource, VerticalDatum};
use super::solver::{EngineIdentity, StageTime};
use crate::scene::PhotoId;
use crate::schema::schema_tag;
use calibration::frames::{Camera, Enu};
use calibration::{CameraModel, LocalOrigin, Point, Rigid};
use serde::{Deserialize, Serialize};

schema_tag!(
    /// Marks a posed scene.
    PosedSceneSchema,
    "posed-scene/1"
);

/// Poses of a scene's photos.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PosedScene {
    /// `posed-scene/1`.
    pub schema: PosedSceneSchema,
    /// Origin of the frame; `None` when the frame is not metric.
    pub origin: Option<LocalOrigin>,
    /// What z = 0 is.
    pub datum: VerticalDatum,
    /// Which of the photos' heights were used.
    pub heights: HeightSource,
    /// How the poses were made.
    pub made_by: MadeBy,
    /// One per photo of the scene, in its order.
    pub photos: Vec<PosedPhoto>,
    /// One per camera of the scene, in its order.
    pub cameras: Vec<PosedCamera>,
    /// How the solution was brought to metres; `None` for poses from priors.
    pub alignment: Option<AlignmentReport>,
    /// Checks of the result, and what to do.
    pub verdict: Verdict,
    /// Wall time of the solver's stages.
    pub stages: Vec<StageTime>,
    /// What was found on the way, in words.
    pub remarks: Vec<String>,
}

/// How poses were made.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "kind")]
pub enum MadeBy {
    /// From the images.
    Solver {
        /// Which engine.
        engine: EngineIdentity,
    },
    /// From GPS and gimbal alone: approximate.
    Priors {
        /// Why not from the images.
        because: String,
    },
}

/// A photo's pose, or why it has none.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PosedPhoto {
    /// Which.
    pub photo_id: PhotoId,
    /// Its pose.
    pub pose: Option<Pose>,
    /// Why it has none, or only an approximate one.
    pub reason: Option<String>,
    /// Measured minus posed position after the flight's offset, metres east and north.
    pub horizontal_residual_m: Option<[f64; 2]>,
    /// The same upwards.
    pub vertical_residual_m: Option<f64>,
    /// Whether its measured position agreed with the alignment.
    pub is_inlier: bool,
    /// Solved minus measured gimbal yaw, degrees clockwise.
    pub gimbal_yaw_offset_deg: Option<f64>,
    /// Solved minus measured gimbal pitch, degrees.
    pub gimbal_pitch_offset_deg: Option<f64>,
    /// Features found, where an engine looked.
    pub features: Option<u64>,
    /// Photos it was matched with, where an engine looked.
    pub verified_pairs: Option<u64>,
    /// Index of its camera.
    pub camera: usize,
}

/// A pose and how good it is.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Pose {
    /// The pose.
    pub camera_from_enu: Rigid<Camera, Enu>,
    /// Where it is from.
    pub source: PoseSource,
    /// Which connected reconstruction, 0 being the largest; `None` for priors.
    pub component: Option<usize>,
    /// One sigma relative to the other photos of the scene. The alignment's own uncertainty is
    /// common to all photos and stands in [`AlignmentReport::sigma`].
    pub sigma: PoseSigma,
}

/// Where a pose is from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PoseSource {
    /// From the images.
    Solved,
    /// From GPS and gimbal: approximate.
    Priors,
}

/// One sigma of a pose.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct PoseSigma {
    /// East and north each, metres.
    pub horizontal_m: f64,
    /// Up, metres.
    pub vertical_m: f64,
    /// About the vertical, degrees.
    pub yaw_deg: f64,
    /// Of the optical axis and about it, degrees.
    pub tilt_deg: f64,
}

/// A camera before and after.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PosedCamera {
    /// What was known beforehand.
    pub prior: CameraModel,
    /// What the poses are for.
    pub solved: CameraModel,
    /// Relative change of the focal length by the solver; `None` when it solved nothing.
    pub focal_change: Option<f64>,
}

/// How the solution was brought to metres.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct AlignmentReport {
    /// Horizontal residuals of the photos that agree.
    pub horizontal: Option<ResidualStats>,
    /// Vertical residuals of the photos that agree.
    pub vertical: Option<ResidualStats>,
    /// Photos whose position agrees.
    pub n_inliers: usize,
    /// Photos with a position.
    pub n_positions: usize,
    /// Measured minus aligned per flight, metres.
    pub flight_offsets_m: Vec<[f64; 3]>,
    /// One sigma of what all photos have in common.
    pub sigma: CommonSigma,
    /// Circular median of solved minus measured gimbal yaw, degrees clockwise, and the spread
    /// about it (standard deviation, single faults left out).
    pub gimbal_yaw_offset_deg: Option<OffsetStats>,
    /// The same for pitch.
    pub gimbal_pitch_offset_deg: Option<OffsetStats>,
    /// Angle between the gimbals' vertical and the aligned one, degrees.
    pub gravity_disagreement_deg: Option<f64>,
    /// Whether the vertical rests on the gimbals as well as on positions.
    pub tilt_from_gimbal: bool,
    /// Whether the yaw had to be taken from the gimbals.
    pub yaw_from_gimbal: bool,
    /// Solved cameras above the sparse ground, median, metres.
    pub height_above_ground_m: Option<f64>,
    /// That height over the photos' height above take-off.
    pub height_ratio: Option<f64>,
    /// Mean reprojection error, pixels.
    pub reprojection_px: Option<f64>,
    /// Sparse points.
    pub n_points: usize,
    /// Mean observations per point.
    pub mean_track_length: Option<f64>,
    /// Photos per connected reconstruction that was used, the largest first.
    pub components: Vec<usize>,
}

/// Median, rms and largest.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct ResidualStats {
    /// Median of the absolute values, metres.
    pub median_m: f64,
    /// Root mean square, metres.
    pub rms_m: f64,
    /// Largest absolute value, metres.
    pub max_m: f64,
}

/// A steady offset and its spread.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct OffsetStats {
    /// Median.
    pub median_deg: f64,
    /// Standard deviation, single faults left out.
    pub spread_deg: f64,
}

/// One sigma of the alignment itself.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct CommonSigma {
    /// Shift east and north each, metres.
    pub shift_horizontal_m: f64,
    /// Shift up, metres.
    pub shift_vertical_m: f64,
    /// Relative error of all lengths.
    pub scale: f64,
    /// Turn about the vertical, degrees.
    pub yaw_deg: f64,
    /// Tilt about each horizontal axis, degrees.
    pub tilt_deg: f64,
}

/// How good a check came out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Level {
    /// As it should be.
    Good,
    /// Usable; look at it.
    Doubtful,
    /// Not to be relied on.
    Bad,
}

/// One check.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Gate {
    /// What was checked.
    pub name: String,
    /// What was found, with its unit.
    pub found: String,
    /// What is good.
    pub good: String,
    /// How it came out.
    pub level: Level,
    /// What to do about it; empty when good.
    pub advice: String,
}

/// All checks together.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Verdict {
    /// The worst of the gates.
    pub level: Level,
    /// One sentence.
    pub summary: String,
    /// The checks.
    pub gates: Vec<Gate>,
}

/// A triangulated point.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SparsePoint {
    /// Position.
    #[serde(rename = "enu_m")]
    pub point: Point<Enu>,
    /// Mean reprojection error, pixels.
    pub error_px: Option<f64>,
    /// Which connected reconstruction it belongs to.
    pub component: usize,
    /// Photo index, x and y in pixels, per observation.
    pub track: Vec<(usize, f32, f32)>,
}

impl PosedScene {
    /// Photos posed from the images.
    #[must_use]
    pub fn n_solved(&self) -> usize {
        let solved = |photo: &&PosedPhoto| {
            photo
                .pose
                .as_ref()
                .is_some_and(|pose| pose.source == PoseSource::Solved)
        };
        self.photos.iter().filter(solved).count()
    }

    /// The intrinsics of a photo.
    #[must_use]
    pub fn camera_of(&self, photo: &PosedPhoto) -> &CameraModel {
        &self.cameras[photo.camera].solved
    }
}
