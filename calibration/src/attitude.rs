//! Yaw, pitch and roll as autopilots and drone photos state them, and the rotations they mean.

use crate::frames::{Body, Camera, Enu, Ned};
use crate::transforms::Rotation;
use crate::units::Radians;
use nalgebra::{Matrix3, UnitQuaternion, Vector3};
use serde::{Deserialize, Serialize};

/// Orientation of a body (gimbal or airframe) against NED: intrinsic z-y-x, that is yaw about
/// down (clockwise from true north seen from above), then pitch about the body's right axis
/// (nose up positive; a camera looking straight down has -pi/2), then roll about forward
/// (right side down positive).
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Attitude {
    /// Clockwise from true north.
    pub yaw: Radians,
    /// Up positive; nadir is -pi/2.
    pub pitch: Radians,
    /// Right side down positive.
    pub roll: Radians,
}

impl Attitude {
    /// From degrees in files and wire formats.
    #[must_use]
    pub fn from_degrees(yaw_deg: f64, pitch_deg: f64, roll_deg: f64) -> Self {
        Self {
            yaw: Radians::from_degrees(yaw_deg),
            pitch: Radians::from_degrees(pitch_deg),
            roll: Radians::from_degrees(roll_deg),
        }
    }

    /// The rotation that takes body components to NED components.
    #[must_use]
    pub fn ned_from_body(&self) -> Rotation<Ned, Body> {
        Rotation::from_quaternion(UnitQuaternion::from_euler_angles(
            self.roll.get(),
            self.pitch.get(),
            self.yaw.get(),
        ))
    }

    /// The yaw, pitch, roll of a rotation, with pitch in [-pi/2, pi/2].
    /// At +-90 degrees of pitch yaw and roll turn about the same axis: there roll is set to zero
    /// and yaw carries both.
    #[must_use]
    pub fn from_ned_from_body(rotation: Rotation<Ned, Body>) -> Self {
        let m = rotation.matrix();
        let sin_pitch = (-m[(2, 0)]).clamp(-1.0, 1.0);
        if sin_pitch.abs() > 1.0 - 1e-12 {
            // Only yaw -+ roll is observable; roll is zero by convention.
            return Self {
                yaw: Radians((-m[(0, 1)]).atan2(m[(1, 1)])),
                pitch: Radians(sin_pitch.asin()),
                roll: Radians(0.0),
            };
        }
        Self {
            yaw: Radians(m[(1, 0)].atan2(m[(0, 0)])),
            pitch: Radians(sin_pitch.asin()),
            roll: Radians(m[(2, 1)].atan2(m[(2, 2)])),
        }
    }

    /// The orientation of a camera whose optical axis is the body's forward axis and whose image
    /// top is the body's up.
    #[must_use]
    pub fn camera_from_enu(&self) -> Rotation<Camera, Enu> {
        camera_from_body() * self.ned_from_body().inverse() * ned_from_enu()
    }

    /// The inverse of [`Self::camera_from_enu`].
    #[must_use]
    pub fn from_camera_from_enu(camera_from_enu: Rotation<Camera, Enu>) -> Self {
        let ned_from_body = ned_from_enu() * camera_from_enu.inverse() * camera_from_body();
        Self::from_ned_from_body(ned_from_body)
    }
}

/// Axes swap: north = y, east = x, down = -z.
#[must_use]
pub fn ned_from_enu() -> Rotation<Ned, Enu> {
    Rotation::from_matrix(&Matrix3::new(
        0.0, 1.0, 0.0, //
        1.0, 0.0, 0.0, //
        0.0, 0.0, -1.0,
    ))
}

/// A camera mounted along the body's forward axis: right = y, down = z, forward = x.
#[must_use]
pub fn camera_from_body() -> Rotation<Camera, Body> {
    Rotation::from_matrix(&Matrix3::new(
        0.0, 1.0, 0.0, //
        0.0, 0.0, 1.0, //
        1.0, 0.0, 0.0,
    ))
}

/// Azimuth of the image's top in ENU, clockwise from north: at nadir this is the gimbal's yaw,
/// and it stays defined there. For a level camera the top points up, so below 45 degrees of
/// depression the optical axis's own azimuth is taken instead.
#[must_use]
pub fn heading(camera_from_enu: &Rotation<Camera, Enu>) -> Radians {
    let enu_from_camera = camera_from_enu.inverse();
    let axis = enu_from_camera.quaternion * Vector3::z();
    let up_in_image = enu_from_camera.quaternion * -Vector3::y();
    // Both lie in one vertical plane when roll is zero; their sum is well conditioned.
    let horizontal = axis.xy() + up_in_image.xy() * if axis.z <= 0.0 { 1.0 } else { -1.0 };
    Radians(horizontal.x.atan2(horizontal.y)).wrapped_positive()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::frames::Direction;
    use std::f64::consts::FRAC_PI_2;

    fn axis_in_enu(attitude: Attitude) -> Vector3<f64> {
        attitude.camera_from_enu().inverse().quaternion * Vector3::z()
    }

    #[test]
    fn axes_of_hand_worked_attitudes() {
        let check = |yaw, pitch, expected: [f64; 3]| {
            let axis = axis_in_enu(Attitude::from_degrees(yaw, pitch, 0.0));
            assert!(
                (axis - Vector3::from(expected)).norm() < 1e-12,
                "{yaw} {pitch}: {axis}"
            );
        };
        check(0.0, 0.0, [0.0, 1.0, 0.0]);
        check(90.0, 0.0, [1.0, 0.0, 0.0]);
        check(0.0, -90.0, [0.0, 0.0, -1.0]);
        let half = std::f64::consts::FRAC_1_SQRT_2;
        check(180.0, -45.0, [0.0, -half, -half]);
    }

    #[test]
    fn nadir_with_yaw_90_has_east_at_the_image_top() {
        let rotation = Attitude::from_degrees(90.0, -90.0, 0.0).camera_from_enu();
        let top = rotation.inverse() * Direction::new(0.0, -1.0, 0.0);
        assert!((top.vector - Vector3::x()).norm() < 1e-12);
    }

    #[test]
    fn angles_survive_the_round_trip_also_at_nadir() {
        for yaw in [-170.0, -90.0, 0.0, 33.0, 120.0] {
            for pitch in [-90.0, -89.9, -60.0, -30.0, 0.0, 20.0] {
                let attitude = Attitude::from_degrees(yaw, pitch, 0.0);
                let rotation = attitude.camera_from_enu();
                let back = Attitude::from_camera_from_enu(rotation);
                assert!(
                    back.camera_from_enu().angle_to(&rotation) < 1e-6,
                    "{yaw} {pitch}"
                );
                assert!(
                    (back.yaw - attitude.yaw).wrapped().abs().get() < 1e-6,
                    "{yaw} {pitch}"
                );
                let seen = (heading(&rotation) - attitude.yaw).wrapped().abs().get();
                assert!(seen < 1e-9, "{yaw} {pitch}: {seen}");
            }
        }
    }

    #[test]
    fn roll_of_180_past_nadir_is_a_yaw_of_180() {
        let rolled = Attitude::from_degrees(10.0, -80.0, 180.0).camera_from_enu();
        let enu_from_camera = rolled.inverse();
        let axis = enu_from_camera.quaternion * Vector3::z();
        // Roll turns the picture about the optical axis and leaves the axis alone.
        assert!((axis - axis_in_enu(Attitude::from_degrees(10.0, -80.0, 0.0))).norm() < 1e-12);
        assert!(axis.z < -0.9 && FRAC_PI_2 > 0.0);
    }
}
