//! The view of a picture that was turned upright.

use super::ViewGeometry;
use calibration::Rotation;
use nalgebra::{UnitQuaternion, Vector3};
use std::f64::consts::FRAC_PI_2;

impl ViewGeometry {
    /// The view of the picture after its EXIF orientation (1 to 8; others count as 1) was applied,
    /// from that of the picture as stored. Mirrored orientations (2, 4, 5, 7), which no camera
    /// writes, are treated as the turn they contain.
    #[must_use]
    pub fn turned(&self, exif_orientation: u8) -> Self {
        let quarter_turns = match exif_orientation {
            5 | 6 => 1,
            3 | 4 => 2,
            7 | 8 => 3,
            _ => 0,
        };
        let angle = f64::from(quarter_turns) * FRAC_PI_2;
        let upright_from_stored = UnitQuaternion::from_axis_angle(&Vector3::z_axis(), angle);
        Self {
            camera: self.camera.turned(quarter_turns),
            camera_from_enu: Rotation::from_quaternion(
                upright_from_stored * self.camera_from_enu.quaternion,
            ),
            height_above_ground: self.height_above_ground,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use calibration::camera::Lens;
    use calibration::{CameraModel, Direction, Metres, Pixel, Point};
    use std::f64::consts::PI;

    /// The turned view sees a point of the world where the turned picture shows it.
    #[test]
    fn a_turned_picture_shows_the_same_world() {
        let stored = ViewGeometry {
            camera: CameraModel {
                width: 4000,
                height: 3000,
                fx: 2900.0,
                fy: 2910.0,
                cx: 2010.0,
                cy: 1490.0,
                lens: Lens::BrownConrady {
                    k1: -0.02,
                    k2: 0.01,
                    p1: 0.001,
                    p2: -0.002,
                    k3: 0.0,
                },
            },
            camera_from_enu: Rotation::from_quaternion(UnitQuaternion::from_euler_angles(
                PI + 0.1,
                0.2,
                0.3,
            )),
            height_above_ground: Metres(60.0),
        };
        let seen = |view: &ViewGeometry| {
            let in_camera = view.camera_from_enu * Direction::new(0.3, -0.2, -1.0);
            let pixel = view
                .camera
                .pixel_from_camera(Point::from_vector(in_camera.vector));
            pixel.expect("in front of the camera")
        };
        let before = seen(&stored);
        for (exif, expected, size) in [
            (1, before, (4000, 3000)),
            (6, Pixel::new(3000.0 - before.y, before.x), (3000, 4000)),
            (
                3,
                Pixel::new(4000.0 - before.x, 3000.0 - before.y),
                (4000, 3000),
            ),
            (8, Pixel::new(before.y, 4000.0 - before.x), (3000, 4000)),
        ] {
            let view = stored.turned(exif);
            let after = seen(&view);
            assert!(
                (after.x - expected.x).abs() < 1e-9,
                "{exif}: {after:?} {expected:?}"
            );
            assert!(
                (after.y - expected.y).abs() < 1e-9,
                "{exif}: {after:?} {expected:?}"
            );
            assert_eq!((view.camera.width, view.camera.height), size);
            // The ground is as far away as before.
            let sizes = (stored.car_px(before), view.car_px(after));
            assert!(
                (sizes.0.unwrap() - sizes.1.unwrap()).abs() < 1e-6,
                "{sizes:?}"
            );
        }
    }
}
