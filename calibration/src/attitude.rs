//! Yaw, pitch and roll as autopilots and drone photos state them, and the rotations they mean.

use crate::frames::{Body, Camera, Enu, Ned};
use crate::transforms::Rotation;
use crate::units::Radians;
use nalgebra::{Matrix3, UnitQuaternion, Vector3};
use serde::{Deserialize, Serialize};
use std::f64::consts::FRAC_1_SQRT_2;

/// Below this cosine of pitch yaw and roll are one angle: closer than any gimbal knows itself.
const GIMBAL_LOCK_COS_PITCH: f64 = 1e-6;

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
    /// Within 1e-6 rad of +-90 degrees of pitch yaw and roll turn about the same axis: there roll
    /// is set to zero and yaw carries both.
    #[must_use]
    pub fn from_ned_from_body(rotation: Rotation<Ned, Body>) -> Self {
        let m = rotation.matrix();
        let cos_pitch = m[(0, 0)].hypot(m[(1, 0)]);
        // The arc sine would lose half the digits near the nadir.
        let pitch = Radians((-m[(2, 0)]).atan2(cos_pitch));
        if cos_pitch < GIMBAL_LOCK_COS_PITCH {
            // Only yaw -+ roll is observable; roll is zero by convention.
            return Self {
                yaw: Radians((-m[(0, 1)]).atan2(m[(1, 1)])),
                pitch,
                roll: Radians(0.0),
            };
        }
        Self {
            yaw: Radians(m[(1, 0)].atan2(m[(0, 0)])),
            pitch,
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

/// Which way the camera looks on the map, clockwise from north, defined for every orientation.
/// Looking more down (or up) than level it is the azimuth of the image's top (of its bottom), which
/// at nadir is the gimbal's yaw; looking more level it is that of the optical axis. Without roll
/// the two agree.
#[must_use]
pub fn heading(camera_from_enu: &Rotation<Camera, Enu>) -> Radians {
    let enu_from_camera = camera_from_enu.inverse();
    let axis = enu_from_camera.quaternion * Vector3::z();
    let horizontal = if axis.z.abs() <= FRAC_1_SQRT_2 {
        axis.xy()
    } else {
        let top_in_image = enu_from_camera.quaternion * -Vector3::y();
        top_in_image.xy() * -axis.z.signum()
    };
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
    fn pitch_keeps_its_digits_next_to_the_nadir() {
        for off in [0.0, 1e-12, 1e-9, 2e-6, 1e-4] {
            for sign in [-1.0, 1.0] {
                let pitch = sign * (FRAC_PI_2 - off);
                let attitude = Attitude {
                    yaw: Radians(0.7),
                    pitch: Radians(pitch),
                    roll: Radians(0.0),
                };
                let back = Attitude::from_ned_from_body(attitude.ned_from_body());
                let miss = (back.pitch.get() - pitch).abs();
                assert!(miss < 1e-15, "{off} {sign}: {miss}");
                assert!((back.yaw.get() - 0.7).abs() < 1e-9, "{off} {sign}");
            }
        }
    }

    #[test]
    fn roll_of_180_turns_the_picture_and_leaves_the_axis() {
        let rolled = Attitude::from_degrees(10.0, -80.0, 180.0).camera_from_enu();
        let enu_from_camera = rolled.inverse();
        let axis = enu_from_camera.quaternion * Vector3::z();
        assert!((axis - axis_in_enu(Attitude::from_degrees(10.0, -80.0, 0.0))).norm() < 1e-12);
    }

    #[test]
    fn heading_is_defined_for_every_pitch_and_roll() {
        for pitch in [-90.0, -80.0, -45.1, -44.9, 0.0, 44.9, 45.1, 60.0] {
            for roll in [0.0, 90.0, 180.0] {
                let rotation = Attitude::from_degrees(30.0, pitch, roll).camera_from_enu();
                let seen = heading(&rotation).to_degrees();
                // Steeply down the image's top leads, and roll turns it clockwise.
                let expected = if pitch == -90.0 {
                    30.0 + roll
                } else if f64::abs(pitch) < 45.0 || roll == 0.0 {
                    30.0
                } else if roll == 180.0 {
                    210.0
                } else {
                    // The image's top lies level, to the right of (up: to the left of) the axis.
                    if pitch < 0.0 { 120.0 } else { 300.0 }
                };
                let off = Radians::from_degrees(seen - expected).wrapped().abs();
                assert!(off.to_degrees() < 1e-6, "{pitch} {roll}: {seen} {expected}");
            }
        }
    }
}
