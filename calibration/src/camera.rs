//! Camera models: pinhole with Brown-Conrady distortion, and fisheye (Kannala-Brandt), as OpenCV
//! parametrises both, but with pixels counted so that the centre of the first pixel is (0.5, 0.5).

use crate::frames::{Camera, Direction, Point};
use nalgebra::{Matrix2, Matrix2x3, Vector2};
use serde::{Deserialize, Serialize};

/// A place in an image: x to the right, y down, the first pixel's centre at (0.5, 0.5), so the
/// image spans [0, width] x [0, height].
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Pixel {
    /// To the right, pixels.
    pub x: f64,
    /// Down, pixels.
    pub y: f64,
}

impl Pixel {
    /// From its coordinates.
    #[must_use]
    pub fn new(x: f64, y: f64) -> Self {
        Self { x, y }
    }
}

/// Lens distortion, with OpenCV's coefficient names and meaning.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "model", rename_all = "snake_case")]
pub enum Lens {
    /// Radial k1, k2, k3 and tangential p1, p2 on the pinhole image plane. All zero is a pure
    /// pinhole.
    BrownConrady {
        /// Radial, r^2.
        k1: f64,
        /// Radial, r^4.
        k2: f64,
        /// Tangential.
        p1: f64,
        /// Tangential.
        p2: f64,
        /// Radial, r^6.
        k3: f64,
    },
    /// Equidistant with a polynomial: theta_d = theta (1 + k1 theta^2 + ... + k4 theta^8).
    Fisheye {
        /// theta^2.
        k1: f64,
        /// theta^4.
        k2: f64,
        /// theta^6.
        k3: f64,
        /// theta^8.
        k4: f64,
    },
}

impl Lens {
    /// No distortion at all.
    pub const PINHOLE: Self = Self::BrownConrady {
        k1: 0.0,
        k2: 0.0,
        p1: 0.0,
        p2: 0.0,
        k3: 0.0,
    };
}

/// Intrinsics of a camera at one image size.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct CameraModel {
    /// Image width, pixels.
    pub width: u32,
    /// Image height, pixels.
    pub height: u32,
    /// Focal length along x, pixels.
    pub fx: f64,
    /// Focal length along y, pixels.
    pub fy: f64,
    /// Principal point, pixels.
    pub cx: f64,
    /// Principal point, pixels.
    pub cy: f64,
    /// Distortion.
    pub lens: Lens,
}

/// Newton steps for undistortion; each roughly doubles the digits, 20 is generous.
const MAX_UNDISTORT_STEPS: usize = 20;
/// Undistortion residual in normalised units at which we stop: 1e-12 is 1e-8 px at f = 10,000.
const UNDISTORT_TOLERANCE: f64 = 1e-12;

impl CameraModel {
    /// A pinhole with the principal point in the image centre.
    #[must_use]
    pub fn pinhole(width: u32, height: u32, focal_px: f64) -> Self {
        Self {
            width,
            height,
            fx: focal_px,
            fy: focal_px,
            cx: f64::from(width) / 2.0,
            cy: f64::from(height) / 2.0,
            lens: Lens::PINHOLE,
        }
    }

    /// Whether a pixel lies inside the image.
    #[must_use]
    pub fn contains(&self, pixel: Pixel) -> bool {
        (0.0..=f64::from(self.width)).contains(&pixel.x)
            && (0.0..=f64::from(self.height)).contains(&pixel.y)
    }

    /// The same camera at another image size with the same field of view (a resampled picture).
    #[must_use]
    pub fn scaled_to(&self, width: u32, height: u32) -> Self {
        let sx = f64::from(width) / f64::from(self.width);
        let sy = f64::from(height) / f64::from(self.height);
        Self {
            width,
            height,
            fx: self.fx * sx,
            fy: self.fy * sy,
            cx: self.cx * sx,
            cy: self.cy * sy,
            lens: self.lens,
        }
    }

    /// Where a point appears. `None` behind the camera, or where the distortion polynomial has
    /// turned back on itself (such points are outside the lens's field, although the formula
    /// would put some of them inside the picture).
    #[must_use]
    pub fn pixel_from_camera(&self, point: Point<Camera>) -> Option<Pixel> {
        let (x, y) = self.distorted_from_camera(point)?;
        Some(Pixel::new(self.fx * x + self.cx, self.fy * y + self.cy))
    }

    /// Pixel and its derivative by the point's coordinates (2x3).
    #[must_use]
    pub fn pixel_and_jacobian(&self, point: Point<Camera>) -> Option<(Pixel, Matrix2x3<f64>)> {
        let pixel = self.pixel_from_camera(point)?;
        let jacobian = match self.lens {
            Lens::BrownConrady { .. } => {
                let z = point.z();
                let n = Vector2::new(point.x() / z, point.y() / z);
                let normalised_by_point = Matrix2x3::new(
                    1.0 / z,
                    0.0,
                    -n.x / z, //
                    0.0,
                    1.0 / z,
                    -n.y / z,
                );
                let (_, distorted_by_normalised) = self.brown_conrady(n);
                distorted_by_normalised * normalised_by_point
            }
            Lens::Fisheye { .. } => {
                // Central differences: the closed form is long and only covariances need it.
                let step = 1e-6 * point.vector.norm();
                let mut jacobian = Matrix2x3::zeros();
                for axis in 0..3 {
                    let mut ahead = point;
                    let mut behind = point;
                    ahead.vector[axis] += step;
                    behind.vector[axis] -= step;
                    let (ax, ay) = self.distorted_from_camera(ahead)?;
                    let (bx, by) = self.distorted_from_camera(behind)?;
                    jacobian[(0, axis)] = (ax - bx) / (2.0 * step);
                    jacobian[(1, axis)] = (ay - by) / (2.0 * step);
                }
                jacobian
            }
        };
        let focal = Matrix2::new(self.fx, 0.0, 0.0, self.fy);
        Some((pixel, focal * jacobian))
    }

    /// The ray through a pixel, of length one. `None` when the pixel is outside the field that
    /// the distortion model describes.
    #[must_use]
    pub fn ray_from_pixel(&self, pixel: Pixel) -> Option<Direction<Camera>> {
        let distorted = Vector2::new((pixel.x - self.cx) / self.fx, (pixel.y - self.cy) / self.fy);
        if !(distorted.x.is_finite() && distorted.y.is_finite()) {
            return None;
        }
        let ray = match self.lens {
            Lens::BrownConrady { .. } => {
                let n = self.undistort_brown_conrady(distorted)?;
                Direction::new(n.x, n.y, 1.0)
            }
            Lens::Fisheye { k1, k2, k3, k4 } => {
                let radius = distorted.norm();
                let theta = undistort_fisheye(radius, [k1, k2, k3, k4])?;
                let (sin, cos) = theta.sin_cos();
                let unit = if radius > 0.0 {
                    distorted / radius
                } else {
                    Vector2::zeros()
                };
                Direction::new(unit.x * sin, unit.y * sin, cos)
            }
        };
        ray.normalised()
    }

    /// Distorted coordinates on the plane at distance one.
    fn distorted_from_camera(&self, point: Point<Camera>) -> Option<(f64, f64)> {
        match self.lens {
            Lens::BrownConrady { .. } => {
                if point.z() <= 0.0 {
                    return None;
                }
                let n = Vector2::new(point.x() / point.z(), point.y() / point.z());
                let (distorted, jacobian) = self.brown_conrady(n);
                // Beyond the fold the mapping turns inside out.
                (jacobian.determinant() > 0.0 && self.before_the_fold(n.norm_squared()))
                    .then_some((distorted.x, distorted.y))
            }
            Lens::Fisheye { k1, k2, k3, k4 } => {
                let across = point.x().hypot(point.y());
                let theta = across.atan2(point.z());
                if across == 0.0 {
                    return (point.z() > 0.0).then_some((0.0, 0.0));
                }
                let k = [k1, k2, k3, k4];
                if fisheye_slope(theta, k) <= 0.0 {
                    return None;
                }
                let scale = fisheye(theta, k) / across;
                Some((point.x() * scale, point.y() * scale))
            }
        }
    }

    /// The radial polynomial r (1 + k1 r^2 + k2 r^4 + k3 r^6) must still rise, and have risen all
    /// the way from the axis.
    fn before_the_fold(&self, r2: f64) -> bool {
        let Lens::BrownConrady { k1, k2, k3, .. } = self.lens else {
            return true;
        };
        if k1 >= 0.0 && k2 >= 0.0 && k3 >= 0.0 {
            return true;
        }
        let slope = |s: f64| 1.0 + s * (3.0 * k1 + s * (5.0 * k2 + s * 7.0 * k3));
        // The cubic's extrema between 0 and r2 are where it could dip below zero in between.
        let (a, b, c) = (21.0 * k3, 10.0 * k2, 3.0 * k1);
        let mut ok = slope(r2) > 0.0;
        let mut check = |s: f64| {
            if s > 0.0 && s < r2 {
                ok &= slope(s) > 0.0;
            }
        };
        if a.abs() > 0.0 {
            let discriminant = b * b - 4.0 * a * c;
            if discriminant >= 0.0 {
                check((-b + discriminant.sqrt()) / (2.0 * a));
                check((-b - discriminant.sqrt()) / (2.0 * a));
            }
        } else if b.abs() > 0.0 {
            check(-c / b);
        }
        ok
    }

    /// Distorted coordinates and their derivative by the undistorted ones.
    fn brown_conrady(&self, n: Vector2<f64>) -> (Vector2<f64>, Matrix2<f64>) {
        let Lens::BrownConrady { k1, k2, p1, p2, k3 } = self.lens else {
            return (n, Matrix2::identity());
        };
        let (x, y) = (n.x, n.y);
        let r2 = x * x + y * y;
        let radial = 1.0 + r2 * (k1 + r2 * (k2 + r2 * k3));
        let slope = k1 + r2 * (2.0 * k2 + r2 * 3.0 * k3);
        let distorted = Vector2::new(
            x * radial + 2.0 * p1 * x * y + p2 * (r2 + 2.0 * x * x),
            y * radial + p1 * (r2 + 2.0 * y * y) + 2.0 * p2 * x * y,
        );
        let mixed = 2.0 * x * y * slope + 2.0 * p1 * x + 2.0 * p2 * y;
        let jacobian = Matrix2::new(
            radial + 2.0 * x * x * slope + 2.0 * p1 * y + 6.0 * p2 * x,
            mixed,
            mixed,
            radial + 2.0 * y * y * slope + 6.0 * p1 * y + 2.0 * p2 * x,
        );
        (distorted, jacobian)
    }

    fn undistort_brown_conrady(&self, distorted: Vector2<f64>) -> Option<Vector2<f64>> {
        let mut n = distorted;
        for _ in 0..MAX_UNDISTORT_STEPS {
            let (seen, jacobian) = self.brown_conrady(n);
            let miss = seen - distorted;
            if miss.norm() < UNDISTORT_TOLERANCE {
                let valid = jacobian.determinant() > 0.0 && self.before_the_fold(n.norm_squared());
                return valid.then_some(n);
            }
            let step = jacobian.try_inverse()? * miss;
            // A step longer than the point's own radius plus one means we left the valid field.
            let limit = 0.5 * (1.0 + n.norm());
            n -= if step.norm() > limit {
                step * (limit / step.norm())
            } else {
                step
            };
        }
        None
    }
}

fn fisheye(theta: f64, [k1, k2, k3, k4]: [f64; 4]) -> f64 {
    let t2 = theta * theta;
    theta * (1.0 + t2 * (k1 + t2 * (k2 + t2 * (k3 + t2 * k4))))
}

fn fisheye_slope(theta: f64, [k1, k2, k3, k4]: [f64; 4]) -> f64 {
    let t2 = theta * theta;
    1.0 + t2 * (3.0 * k1 + t2 * (5.0 * k2 + t2 * (7.0 * k3 + t2 * 9.0 * k4)))
}

fn undistort_fisheye(radius: f64, k: [f64; 4]) -> Option<f64> {
    let mut theta = radius.min(std::f64::consts::PI);
    for _ in 0..MAX_UNDISTORT_STEPS {
        let miss = fisheye(theta, k) - radius;
        let slope = fisheye_slope(theta, k);
        if slope <= 0.0 {
            return None;
        }
        if miss.abs() < UNDISTORT_TOLERANCE {
            return (0.0..=std::f64::consts::PI)
                .contains(&theta)
                .then_some(theta);
        }
        theta -= miss / slope;
    }
    None
}
