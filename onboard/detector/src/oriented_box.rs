//! Oriented and horizontal boxes.

use crate::polygon::{self, Vertex};
use calibration::{Pixel, Radians};
use serde::{Deserialize, Serialize};
use std::f64::consts::FRAC_PI_2;

/// A rectangle in an image, canonical: the long side first, its angle from +x clockwise on screen
/// in [-90, 90) degrees. It is an axis, not a heading: front and rear are not told apart.
///
/// Pixels: the centre of the first pixel is (0.5, 0.5).
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "OrientedBoxFile", into = "OrientedBoxFile")]
pub struct OrientedBox {
    centre: Pixel,
    long_side_px: f64,
    short_side_px: f64,
    angle: Radians,
}

impl OrientedBox {
    /// From any description of the rectangle: `along` is the side that makes `angle` with +x
    /// (clockwise on screen), `across` the other; either may be the longer one and the angle may be
    /// any. `None` unless all numbers are finite and both sides positive.
    #[must_use]
    pub fn new(centre: Pixel, along_px: f64, across_px: f64, angle: Radians) -> Option<Self> {
        let finite = [centre.x, centre.y, along_px, across_px, angle.get()]
            .iter()
            .all(|value| value.is_finite());
        if !finite || along_px <= 0.0 || across_px <= 0.0 {
            return None;
        }
        let (long_side_px, short_side_px, angle) = if along_px >= across_px {
            (along_px, across_px, angle)
        } else {
            (across_px, along_px, angle + Radians(FRAC_PI_2))
        };
        Some(Self {
            centre,
            long_side_px,
            short_side_px,
            angle: angle.wrapped_axis(),
        })
    }

    /// The centre.
    #[must_use]
    pub fn centre(&self) -> Pixel {
        self.centre
    }

    /// Length of the long side, pixels.
    #[must_use]
    pub fn long_side_px(&self) -> f64 {
        self.long_side_px
    }

    /// Length of the short side, pixels; never longer than the long one.
    #[must_use]
    pub fn short_side_px(&self) -> f64 {
        self.short_side_px
    }

    /// Angle of the long side from +x, clockwise on screen, in [-pi/2, pi/2).
    #[must_use]
    pub fn angle(&self) -> Radians {
        self.angle
    }

    /// Area, square pixels.
    #[must_use]
    pub fn area(&self) -> f64 {
        self.long_side_px * self.short_side_px
    }

    /// The corners, clockwise on screen.
    #[must_use]
    pub fn corners(&self) -> [Pixel; 4] {
        self.vertices().map(|(x, y)| Pixel::new(x, y))
    }

    pub(crate) fn vertices(&self) -> [Vertex; 4] {
        let (sin, cos) = self.angle.get().sin_cos();
        let along = (cos * self.long_side_px / 2.0, sin * self.long_side_px / 2.0);
        let across = (
            -sin * self.short_side_px / 2.0,
            cos * self.short_side_px / 2.0,
        );
        [(-1.0, -1.0), (1.0, -1.0), (1.0, 1.0), (-1.0, 1.0)].map(|(a, b): (f64, f64)| {
            (
                self.centre.x + a * along.0 + b * across.0,
                self.centre.y + a * along.1 + b * across.1,
            )
        })
    }

    /// Half the diagonal: everything of the box is within this distance of its centre, pixels.
    #[must_use]
    pub fn radius_px(&self) -> f64 {
        self.long_side_px.hypot(self.short_side_px) / 2.0
    }

    /// The smallest upright rectangle around the box; it may reach beyond the image.
    #[must_use]
    pub fn hull(&self) -> HorizontalBox {
        let (sin, cos) = self.angle.get().sin_cos();
        let half_x = (cos.abs() * self.long_side_px + sin.abs() * self.short_side_px) / 2.0;
        let half_y = (sin.abs() * self.long_side_px + cos.abs() * self.short_side_px) / 2.0;
        HorizontalBox {
            x1_px: self.centre.x - half_x,
            y1_px: self.centre.y - half_y,
            x2_px: self.centre.x + half_x,
            y2_px: self.centre.y + half_y,
        }
    }

    /// Area common with another box, square pixels.
    #[must_use]
    pub fn intersection_area(&self, other: &Self) -> f64 {
        let apart = (self.centre.x - other.centre.x).hypot(self.centre.y - other.centre.y);
        if apart >= self.radius_px() + other.radius_px() {
            return 0.0;
        }
        polygon::intersection_area(&self.vertices(), &other.vertices())
    }

    /// Intersection over union of the two rectangles, in [0, 1]. Exact, not the Gaussian
    /// approximation ("probiou") some frameworks use.
    #[must_use]
    pub fn iou(&self, other: &Self) -> f64 {
        let common = self.intersection_area(other);
        common / (self.area() + other.area() - common)
    }

    /// The same box in an image scaled by `factor` (about the image's corner) and then moved.
    /// `None` when the factor is not positive and finite.
    #[must_use]
    pub fn scaled_and_moved(&self, factor: f64, dx_px: f64, dy_px: f64) -> Option<Self> {
        Self::new(
            Pixel::new(
                self.centre.x * factor + dx_px,
                self.centre.y * factor + dy_px,
            ),
            self.long_side_px * factor,
            self.short_side_px * factor,
            self.angle,
        )
    }

    /// The angle between the long sides of two boxes, in [0, pi/2].
    #[must_use]
    pub fn axis_difference(&self, other: &Self) -> Radians {
        (self.angle - other.angle).wrapped_axis().abs()
    }
}

/// An upright rectangle in an image, pixels; the first pixel's centre is (0.5, 0.5).
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct HorizontalBox {
    /// Left edge.
    pub x1_px: f64,
    /// Top edge.
    pub y1_px: f64,
    /// Right edge.
    pub x2_px: f64,
    /// Bottom edge.
    pub y2_px: f64,
}

impl HorizontalBox {
    /// Area, square pixels; zero when empty.
    #[must_use]
    pub fn area(&self) -> f64 {
        (self.x2_px - self.x1_px).max(0.0) * (self.y2_px - self.y1_px).max(0.0)
    }

    /// The part inside an image; `None` when nothing of it is.
    #[must_use]
    pub fn clipped(&self, width: u32, height: u32) -> Option<Self> {
        self.intersection(&Self {
            x1_px: 0.0,
            y1_px: 0.0,
            x2_px: f64::from(width),
            y2_px: f64::from(height),
        })
    }

    /// The common part; `None` when there is none.
    #[must_use]
    pub fn intersection(&self, other: &Self) -> Option<Self> {
        let common = Self {
            x1_px: self.x1_px.max(other.x1_px),
            y1_px: self.y1_px.max(other.y1_px),
            x2_px: self.x2_px.min(other.x2_px),
            y2_px: self.y2_px.min(other.y2_px),
        };
        (common.x1_px < common.x2_px && common.y1_px < common.y2_px).then_some(common)
    }

    /// Intersection over union, in [0, 1].
    #[must_use]
    pub fn iou(&self, other: &Self) -> f64 {
        let common = self.intersection(other).map_or(0.0, |part| part.area());
        let union = self.area() + other.area() - common;
        if union > 0.0 { common / union } else { 0.0 }
    }
}

/// In files: degrees and pixels, with the unit in the key.
#[derive(Serialize, Deserialize)]
struct OrientedBoxFile {
    centre_x_px: f64,
    centre_y_px: f64,
    long_side_px: f64,
    short_side_px: f64,
    angle_deg: f64,
}

impl From<OrientedBox> for OrientedBoxFile {
    fn from(oriented: OrientedBox) -> Self {
        Self {
            centre_x_px: oriented.centre.x,
            centre_y_px: oriented.centre.y,
            long_side_px: oriented.long_side_px,
            short_side_px: oriented.short_side_px,
            angle_deg: oriented.angle.to_degrees(),
        }
    }
}

impl TryFrom<OrientedBoxFile> for OrientedBox {
    type Error = String;

    fn try_from(file: OrientedBoxFile) -> Result<Self, String> {
        Self::new(
            Pixel::new(file.centre_x_px, file.centre_y_px),
            file.long_side_px,
            file.short_side_px,
            Radians::from_degrees(file.angle_deg),
        )
        .ok_or_else(|| {
            format!(
                "an oriented box of {} x {} px at {} degrees is none: sides must be positive",
                file.long_side_px, file.short_side_px, file.angle_deg
            )
        })
    }
}

#[cfg(test)]
mod tests;
