//! The simulator's own camera: pinhole with Brown-Conrady distortion and a pose in the site's
//! east-north-up frame.
//!
//! Pixels: x right, y down, the centre of the first pixel at (0.5, 0.5). Camera frame: x right,
//! y down, z forward. Checked against OpenCV's `projectPoints`, whose pixel origin lies half a
//! pixel further (its first pixel's centre is (0, 0)).

use nalgebra::{Matrix3, Rotation3, UnitQuaternion, Vector2, Vector3};
use serde::{Deserialize, Serialize};

/// Intrinsics at one image size. OpenCV's parameter names and order of distortion terms.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Intrinsics {
    /// Image width, pixels.
    pub width_px: u32,
    /// Image height, pixels.
    pub height_px: u32,
    /// Focal length along x, pixels.
    pub fx_px: f64,
    /// Focal length along y, pixels.
    pub fy_px: f64,
    /// Principal point x, pixels, first pixel's centre at 0.5.
    pub cx_px: f64,
    /// Principal point y, pixels, first pixel's centre at 0.5.
    pub cy_px: f64,
    /// Radial distortion, r^2.
    pub k1: f64,
    /// Radial distortion, r^4.
    pub k2: f64,
    /// Tangential distortion.
    pub p1: f64,
    /// Tangential distortion.
    pub p2: f64,
}

impl Intrinsics {
    /// The distorted place on the image plane at distance one.
    fn distorted(&self, x: f64, y: f64) -> (f64, f64) {
        let r2 = x * x + y * y;
        let radial = 1.0 + r2 * (self.k1 + r2 * self.k2);
        (
            x * radial + 2.0 * self.p1 * x * y + self.p2 * (r2 + 2.0 * x * x),
            y * radial + self.p1 * (r2 + 2.0 * y * y) + 2.0 * self.p2 * x * y,
        )
    }

    /// Where a point of the camera frame is seen, pixels; `None` at or behind the camera.
    #[must_use]
    pub fn pixel_from_camera(&self, point_in_camera: &Vector3<f64>) -> Option<Vector2<f64>> {
        if point_in_camera.z <= 1e-6 {
            return None;
        }
        let (x, y) = self.distorted(
            point_in_camera.x / point_in_camera.z,
            point_in_camera.y / point_in_camera.z,
        );
        Some(Vector2::new(
            self.fx_px * x + self.cx_px,
            self.fy_px * y + self.cy_px,
        ))
    }

    /// The direction seen at a pixel, scaled to z = 1, by fixed-point iteration of the
    /// distortion. Good inside the frame and some 30 % beyond it; not where the polynomial folds.
    #[must_use]
    pub fn ray_from_pixel(&self, pixel: &Vector2<f64>) -> Vector3<f64> {
        let target_x = (pixel.x - self.cx_px) / self.fx_px;
        let target_y = (pixel.y - self.cy_px) / self.fy_px;
        let (mut x, mut y) = (target_x, target_y);
        // The error shrinks by about |k1| r^2 a step: 25 steps end below 1e-12.
        for _ in 0..25 {
            let (got_x, got_y) = self.distorted(x, y);
            let (dx, dy) = (target_x - got_x, target_y - got_y);
            x += dx;
            y += dy;
            if dx.abs() + dy.abs() < 1e-13 {
                break;
            }
        }
        Vector3::new(x, y, 1.0)
    }

    /// Whether a pixel lies in the image.
    #[must_use]
    pub fn contains(&self, pixel: &Vector2<f64>) -> bool {
        (0.0..=f64::from(self.width_px)).contains(&pixel.x)
            && (0.0..=f64::from(self.height_px)).contains(&pixel.y)
    }
}

/// Where the camera is and how it is turned: `point_in_camera = rotation * point_in_enu +
/// translation_m`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CameraFromEnu {
    /// Turns east-north-up axes into camera axes.
    pub rotation: UnitQuaternion<f64>,
    /// Metres, in the camera frame.
    pub translation_m: Vector3<f64>,
}

impl CameraFromEnu {
    /// A camera at a point that looks along a yaw (clockwise from true north) and a pitch (up
    /// positive: nadir is -90), rolled clockwise about its axis as seen from behind; degrees.
    #[must_use]
    pub fn looking(
        center_in_enu: &Vector3<f64>,
        yaw_deg: f64,
        pitch_deg: f64,
        roll_deg: f64,
    ) -> Self {
        let (sin_yaw, cos_yaw) = yaw_deg.to_radians().sin_cos();
        let (sin_pitch, cos_pitch) = pitch_deg.to_radians().sin_cos();
        // Camera axes in east-north-up before roll; at nadir "right" still follows the yaw.
        let right = Vector3::new(cos_yaw, -sin_yaw, 0.0);
        let forward = Vector3::new(sin_yaw * cos_pitch, cos_yaw * cos_pitch, sin_pitch);
        let down = forward.cross(&right);
        let rows = Matrix3::from_rows(&[right.transpose(), down.transpose(), forward.transpose()]);
        let unrolled =
            UnitQuaternion::from_rotation_matrix(&Rotation3::from_matrix_unchecked(rows));
        let roll = UnitQuaternion::from_axis_angle(&Vector3::z_axis(), -roll_deg.to_radians());
        let rotation = roll * unrolled;
        Self {
            rotation,
            translation_m: -(rotation * center_in_enu),
        }
    }

    /// The camera's centre, metres.
    #[must_use]
    pub fn center_in_enu(&self) -> Vector3<f64> {
        -(self.rotation.inverse() * self.translation_m)
    }

    /// A point in the camera frame.
    #[must_use]
    pub fn transform(&self, point_in_enu: &Vector3<f64>) -> Vector3<f64> {
        self.rotation * point_in_enu + self.translation_m
    }

    /// The optical axis, a unit vector.
    #[must_use]
    pub fn axis_in_enu(&self) -> Vector3<f64> {
        self.rotation.inverse() * Vector3::z()
    }
}

/// A camera in the world.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Camera {
    /// Lens and image size.
    pub intrinsics: Intrinsics,
    /// Place and attitude.
    pub camera_from_enu: CameraFromEnu,
}

impl Camera {
    /// Where a point of the site is seen, pixels; `None` at or behind the camera.
    #[must_use]
    pub fn pixel_from_enu(&self, point_in_enu: &Vector3<f64>) -> Option<Vector2<f64>> {
        self.intrinsics
            .pixel_from_camera(&self.camera_from_enu.transform(point_in_enu))
    }

    /// Where the view at a pixel meets the level ground z = 0; `None` at or above the horizon.
    #[must_use]
    pub fn ground_from_pixel(&self, pixel: &Vector2<f64>) -> Option<Vector2<f64>> {
        let ray = self.camera_from_enu.rotation.inverse() * self.intrinsics.ray_from_pixel(pixel);
        let center = self.camera_from_enu.center_in_enu();
        (ray.z < -1e-9 * ray.norm()).then(|| {
            let distance = -center.z / ray.z;
            Vector2::new(center.x + distance * ray.x, center.y + distance * ray.y)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn intrinsics() -> Intrinsics {
        Intrinsics {
            width_px: 1600,
            height_px: 1200,
            fx_px: 1140.0,
            fy_px: 1138.0,
            cx_px: 805.0,
            cy_px: 596.0,
            k1: -0.03,
            k2: 0.008,
            p1: 3e-4,
            p2: -2e-4,
        }
    }

    #[test]
    fn undistortion_inverts_distortion() {
        let lens = intrinsics();
        for x in [-50.0, 0.5, 400.0, 1599.5, 1650.0] {
            for y in [-30.0, 0.5, 700.0, 1199.5, 1240.0] {
                let pixel = Vector2::new(x, y);
                let back = lens
                    .pixel_from_camera(&(lens.ray_from_pixel(&pixel) * 37.0))
                    .expect("in front of the camera");
                assert!((back - pixel).norm() < 1e-8, "{pixel} {back}");
            }
        }
    }

    #[test]
    fn looks_where_it_is_told() {
        let center = Vector3::new(10.0, -20.0, 50.0);
        // North-looking at 45 degrees down: the axis meets the ground 50 m north.
        let pose = CameraFromEnu::looking(&center, 0.0, -45.0, 0.0);
        let target = pose.transform(&Vector3::new(10.0, 30.0, 0.0));
        assert!(target.x.abs() < 1e-9 && target.y.abs() < 1e-9 && target.z > 0.0);
        assert!((pose.center_in_enu() - center).norm() < 1e-9);
        // At nadir with yaw 90 the image's top is east.
        let nadir = CameraFromEnu::looking(&center, 90.0, -90.0, 0.0);
        let east = nadir.transform(&Vector3::new(11.0, -20.0, 0.0));
        assert!(east.x.abs() < 1e-9 && (east.y + 1.0).abs() < 1e-9);
        // Rolled clockwise, the world's left side rises in the picture's sense: a point to the
        // right moves up.
        let rolled = CameraFromEnu::looking(&center, 0.0, 0.0, 10.0);
        let right = rolled.transform(&Vector3::new(20.0, 0.0, 50.0));
        assert!(right.y < -1.0 && right.x > 9.0);
    }
}
