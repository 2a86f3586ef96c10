//! Camera models: pinhole with Brown-Conrady distortion, and fisheye (Kannala-Brandt), as OpenCV
//! parametrises both, but with pixels counted so that the centre of the first pixel is (0.5, 0.5).

use crate::error::CalibrationError;
use crate::frames::{Camera, Direction, Point};
pub use crate::lens::Lens;
use nalgebra::{Matrix2, Matrix2x3, Matrix3x2, Vector2};
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
    /// A change of aspect is taken as unequal scaling; a cropped picture is
    /// [`Self::cropped_to`].
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

    /// The same camera when only part of its picture is kept: `width` x `height` pixels from
    /// (`left`, `top`), which may be negative (a padded picture).
    #[must_use]
    pub fn cropped_to(&self, left: f64, top: f64, width: u32, height: u32) -> Self {
        Self {
            width,
            height,
            cx: self.cx - left,
            cy: self.cy - top,
            ..*self
        }
    }

    /// The camera of the picture after it was turned clockwise by quarter turns.
    #[must_use]
    pub fn turned(&self, quarter_turns: u8) -> Self {
        let quarter_turns = quarter_turns % 4;
        let mut camera = *self;
        let (width, height) = (f64::from(self.width), f64::from(self.height));
        if quarter_turns % 2 == 1 {
            (camera.width, camera.height) = (self.height, self.width);
            (camera.fx, camera.fy) = (self.fy, self.fx);
        }
        (camera.cx, camera.cy) = match quarter_turns {
            1 => (height - self.cy, self.cx),
            2 => (width - self.cx, height - self.cy),
            3 => (self.cy, width - self.cx),
            _ => (self.cx, self.cy),
        };
        if let Lens::BrownConrady { p1, p2, .. } = &mut camera.lens {
            // (p2, p1) turns like any vector in the picture.
            for _ in 0..quarter_turns {
                (*p2, *p1) = (-*p1, *p2);
            }
        }
        camera
    }

    /// The camera itself, when its numbers can be those of a camera: both sides at least one
    /// pixel, focal lengths positive, everything finite.
    ///
    /// # Errors
    /// [`CalibrationError::Value`] names the first number that cannot be.
    pub fn checked(self) -> Result<Self, CalibrationError> {
        let positive = [
            ("width", f64::from(self.width)),
            ("height", f64::from(self.height)),
            ("fx", self.fx),
            ("fy", self.fy),
        ];
        for (key, found) in positive {
            if !(found.is_finite() && found > 0.0) {
                return Err(CalibrationError::value(key, found, "a positive number"));
            }
        }
        let lens = self.lens.coefficients().into_iter().map(|k| ("lens", k));
        for (key, found) in [("cx", self.cx), ("cy", self.cy)].into_iter().chain(lens) {
            if !found.is_finite() {
                return Err(CalibrationError::value(key, found, "a finite number"));
            }
        }
        Ok(self)
    }

    /// Where a point appears, whether or not inside the picture. `None` behind the camera (a
    /// fisheye may see further round), or where the distortion polynomial has turned back on
    /// itself (such points are outside the lens's field, although the formula would put some of
    /// them inside the picture).
    #[must_use]
    pub fn pixel_from_camera(&self, point: Point<Camera>) -> Option<Pixel> {
        let distorted = self.lens.distorted_from_camera(&point.vector)?;
        Some(self.pixel_from_distorted(distorted))
    }

    /// Pixel and its derivative by the point's coordinates (2x3), pixels per metre.
    #[must_use]
    pub fn pixel_and_jacobian(&self, point: Point<Camera>) -> Option<(Pixel, Matrix2x3<f64>)> {
        let (distorted, jacobian) = self.lens.distorted_and_jacobian(&point.vector)?;
        let focal = Matrix2::new(self.fx, 0.0, 0.0, self.fy);
        Some((self.pixel_from_distorted(distorted), focal * jacobian))
    }

    /// The ray through a pixel, of length one. `None` when the pixel is outside the field that
    /// the distortion model describes.
    #[must_use]
    pub fn ray_from_pixel(&self, pixel: Pixel) -> Option<Direction<Camera>> {
        self.lens
            .ray_from_distorted(self.distorted_from_pixel(pixel))
            .map(Direction::from_vector)
    }

    /// The ray through a pixel, of length one, and its derivative by the pixel (3x2).
    #[must_use]
    pub fn ray_and_jacobian(&self, pixel: Pixel) -> Option<(Direction<Camera>, Matrix3x2<f64>)> {
        let ray = self.ray_from_pixel(pixel)?;
        let (_, pixel_by_point) = self.pixel_and_jacobian(Point::from_vector(ray.vector))?;
        // A ray of length one moves only sideways, and moving a point along its ray leaves its
        // pixel alone: the derivative is the pseudo-inverse.
        let transposed = pixel_by_point.transpose();
        let gram = (pixel_by_point * transposed).try_inverse()?;
        Some((ray, transposed * gram))
    }

    fn pixel_from_distorted(&self, distorted: Vector2<f64>) -> Pixel {
        Pixel::new(
            self.fx * distorted.x + self.cx,
            self.fy * distorted.y + self.cy,
        )
    }

    fn distorted_from_pixel(&self, pixel: Pixel) -> Vector2<f64> {
        Vector2::new((pixel.x - self.cx) / self.fx, (pixel.y - self.cy) / self.fy)
    }
}

#[cfg(test)]
mod tests;
