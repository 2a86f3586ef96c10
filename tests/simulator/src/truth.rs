//! `truth.json`: what is really in the photos. The schema is described at the crate's top.

use crate::camera::{Camera, CameraFromEnu, Intrinsics};
use crate::error::SimulatorError;
use crate::geodesy::Place;
use crate::processed::NoiseSpec;
use crate::sensors::ErrorSpec;
use crate::site::{SiteKind, Weather};
use crate::vehicles::Body;
use nalgebra::{Quaternion, UnitQuaternion, Vector3};
use serde::{Deserialize, Serialize};
use std::path::Path;

/// The schema of [`Truth`].
pub const TRUTH_SCHEMA: &str = "truth/1";

/// All of it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Truth {
    /// [`TRUTH_SCHEMA`].
    pub schema: String,
    /// The seed of the world.
    pub seed: u64,
    /// Where and when.
    pub site: SiteTruth,
    /// Where the sun stood.
    pub sun: SunTruth,
    /// The invented camera.
    pub camera: CameraTruth,
    /// The errors the metadata was given.
    pub errors: ErrorSpec,
    /// In the order they were taken.
    pub photos: Vec<PhotoTruth>,
    /// By id.
    pub vehicles: Vec<VehicleTruth>,
    /// By photo, then vehicle.
    pub views: Vec<ViewTruth>,
    /// How a processed scene was made from all this; absent beside rendered photos.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub processed: Option<ProcessedTruth>,
}

/// What a processed scene holds instead of the truth.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ProcessedTruth {
    /// Sizes of the errors.
    pub noise: NoiseSpec,
    /// What the scene's frame was moved by after the turn, east, north, up, metres.
    pub shift_m: [f64; 3],
    /// What it was turned by about the vertical through the origin, degrees anticlockwise.
    pub turn_deg: f64,
    /// Per photo and detection, in the scene's order, the vehicle; null for a false alarm.
    pub detections: Vec<Vec<Option<String>>>,
}

/// The site.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SiteTruth {
    /// Origin of the east-north-up frame: on the ground, in the middle of the lot.
    pub origin: Place,
    /// Height of the origin above the sea, metres.
    pub height_above_sea_m: f64,
    /// IANA time zone.
    pub zone: String,
    /// Kind of car park.
    pub kind: SiteKind,
    /// Sky.
    pub weather: Weather,
    /// The ground.
    pub ground: GroundTruth,
}

/// Height of the ground: `height_m + slope_east * east + slope_north * north`.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct GroundTruth {
    /// At the origin, metres.
    pub height_m: f64,
    /// Rise towards the east, metres a metre.
    pub slope_east: f64,
    /// Rise towards the north, metres a metre.
    pub slope_north: f64,
}

/// The sun, the same for the whole capture.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct SunTruth {
    /// Clockwise from true north, degrees.
    pub azimuth_deg: f64,
    /// Above the horizon, degrees.
    pub elevation_deg: f64,
}

/// The camera as the metadata names it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CameraTruth {
    /// EXIF Make.
    pub make: String,
    /// EXIF Model.
    pub model: String,
    /// Serial number in EXIF and XMP.
    pub serial: String,
}

/// `point_in_camera = R(rotation_wxyz) point_in_enu + translation_m`; camera x right, y down, z
/// forward.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct PoseTruth {
    /// Unit quaternion, scalar first, scalar not negative.
    pub rotation_wxyz: [f64; 4],
    /// Metres.
    pub translation_m: [f64; 3],
}

impl From<&CameraFromEnu> for PoseTruth {
    fn from(pose: &CameraFromEnu) -> Self {
        let q = pose.rotation;
        let sign = if q.w < 0.0 { -1.0 } else { 1.0 };
        Self {
            rotation_wxyz: [q.w, q.i, q.j, q.k].map(|v| v * sign),
            translation_m: [
                pose.translation_m.x,
                pose.translation_m.y,
                pose.translation_m.z,
            ],
        }
    }
}

impl From<&PoseTruth> for CameraFromEnu {
    fn from(pose: &PoseTruth) -> Self {
        let [w, x, y, z] = pose.rotation_wxyz;
        Self {
            rotation: UnitQuaternion::from_quaternion(Quaternion::new(w, x, y, z)),
            translation_m: Vector3::from(pose.translation_m),
        }
    }
}

/// One photo.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PhotoTruth {
    /// File name beside `truth.json`.
    pub file: String,
    /// SHA-256 of the file, hexadecimal.
    pub sha256: String,
    /// When the shutter opened, RFC 3339, UTC, true.
    pub utc: String,
    /// Which flight, from 1.
    pub flight: u32,
    /// True pose.
    pub camera_from_enu: PoseTruth,
    /// The camera's centre, metres (follows from the pose).
    pub center_in_enu_m: [f64; 3],
    /// True yaw of the optical axis, clockwise from true north, degrees.
    pub yaw_deg: f64,
    /// True pitch, degrees, up positive: nadir is -90.
    pub pitch_deg: f64,
    /// True roll, degrees, right side down positive.
    pub roll_deg: f64,
    /// The planned height above take-off, metres.
    pub planned_height_m: f64,
    /// The planned downward pitch, degrees.
    pub planned_pitch_deg: f64,
    /// Planned only to tie other photos together.
    pub link: bool,
    /// True lens.
    pub intrinsics: Intrinsics,
    /// Whether the file carries XMP.
    pub has_xmp: bool,
    /// Whether the file carries a position.
    pub has_gps: bool,
}

impl PhotoTruth {
    /// The photo's camera.
    #[must_use]
    pub fn camera(&self) -> Camera {
        Camera {
            intrinsics: self.intrinsics,
            camera_from_enu: (&self.camera_from_enu).into(),
        }
    }
}

/// One vehicle.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct VehicleTruth {
    /// `V001`, ...
    pub id: String,
    /// Invented brand.
    pub brand: String,
    /// Invented model.
    pub model: String,
    /// Model year.
    pub year: u16,
    /// Shape.
    pub body: Body,
    /// Name of the colour.
    pub color: String,
    /// Without mirrors, millimetres.
    pub length_mm: u32,
    /// Without mirrors, millimetres.
    pub width_mm: u32,
    /// Without roof box, millimetres.
    pub height_mm: u32,
    /// Centre of the footprint on the ground, east, north, up, metres.
    pub center_in_enu_m: [f64; 3],
    /// Where the front points, clockwise from true north, degrees in [0, 360).
    pub front_azimuth_deg: f64,
}

/// One vehicle in one photo. Pixels: x right, y down, the first pixel's centre at (0.5, 0.5).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ViewTruth {
    /// File name.
    pub photo: String,
    /// Vehicle id.
    pub vehicle: String,
    /// Visible pixels over the pixels of the vehicle rendered alone, frame edges included.
    pub visible_fraction: f64,
    /// A part of the silhouette lies outside the frame.
    pub truncated: bool,
    /// `[cx, cy, long, short, angle_deg]` of the whole vehicle, also beyond the frame.
    pub oriented_box: [f64; 5],
    /// `[x1, y1, x2, y2]` of the visible part; absent when nothing is visible.
    pub horizontal_box: Option<[f64; 4]>,
    /// Picture direction of the front, clockwise from up, degrees in [0, 360).
    pub front_direction_deg: f64,
}

impl Truth {
    /// Reads and checks the schema.
    ///
    /// # Errors
    /// When the file cannot be read, is no JSON of this form or of another schema.
    pub fn read(file: &Path) -> Result<Self, SimulatorError> {
        let text = std::fs::read_to_string(file).map_err(|source| SimulatorError::Read {
            file: file.to_owned(),
            source,
        })?;
        let bad = |source| SimulatorError::BadJson {
            file: file.to_owned(),
            source,
        };
        let value: serde_json::Value = serde_json::from_str(&text).map_err(bad)?;
        let found = value["schema"].as_str().unwrap_or("none").to_owned();
        if found != TRUTH_SCHEMA {
            let file = file.to_owned();
            return Err(SimulatorError::WrongSchema {
                file,
                found,
                expected: TRUTH_SCHEMA,
            });
        }
        serde_json::from_value(value).map_err(bad)
    }

    /// As text: one line a photo, vehicle or view would be unreadable, so it is indented.
    #[must_use]
    pub fn to_json(&self) -> String {
        let mut text = serde_json::to_string_pretty(self)
            .expect("the truth holds finite numbers and text only");
        text.push('\n');
        text
    }
}
