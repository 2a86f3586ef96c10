//! Units, frames, geodesy, transforms, camera models, and what a camera covers on the ground.
//!
//! Conventions (the same everywhere in Overlook):
//!
//! - A transform is named `target_from_source`; products read so that neighbours cancel:
//!   `camera_from_enu = camera_from_body * body_from_enu`.
//! - ENU: x east, y north, z up, metres. NED: x north, y east, z down. Camera: x right, y down,
//!   z forward. Body (gimbal or airframe): x forward, y right, z down.
//! - Yaw is clockwise from true north, pitch is positive upwards (nadir is -90 degrees).
//! - Pixels: the centre of the first pixel is (0.5, 0.5).
//! - Metres, radians and seconds inside; degrees only in files.

pub mod attitude;
pub mod camera;
pub mod error;
pub mod frames;
pub mod geodesy;
pub mod ground;
mod lens;
pub mod profiles;
pub mod transforms;
pub mod units;

pub use attitude::Attitude;
pub use camera::{CameraModel, Lens, Pixel};
pub use error::CalibrationError;
pub use frames::{Direction, Frame, Point};
pub use geodesy::{Geodetic, LocalOrigin};
pub use ground::{Footprint, GroundView, Overlap, ViewLimits, overlap};
pub use profiles::CameraProfile;
pub use transforms::{Rigid, Rotation, Similarity};
pub use units::{Metres, Radians, Seconds};
