//! Small single-precision vectors for the world's meshes and for shading. Metres, east-north-up
//! unless said otherwise. (Cameras and truth use double precision.)

use std::ops::{Add, AddAssign, Mul, Neg, Sub};

/// Three numbers: a point, a direction or a colour (linear red, green, blue).
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct V3 {
    pub(crate) x: f32,
    pub(crate) y: f32,
    pub(crate) z: f32,
}

/// A vector from its coordinates.
pub(crate) const fn v3(x: f32, y: f32, z: f32) -> V3 {
    V3 { x, y, z }
}

impl V3 {
    pub(crate) const ZERO: Self = v3(0.0, 0.0, 0.0);
    pub(crate) const UP: Self = v3(0.0, 0.0, 1.0);

    /// The same number three times.
    pub(crate) const fn splat(value: f32) -> Self {
        v3(value, value, value)
    }

    pub(crate) fn dot(self, other: Self) -> f32 {
        self.x * other.x + self.y * other.y + self.z * other.z
    }

    pub(crate) fn cross(self, other: Self) -> Self {
        v3(
            self.y * other.z - self.z * other.y,
            self.z * other.x - self.x * other.z,
            self.x * other.y - self.y * other.x,
        )
    }

    pub(crate) fn length(self) -> f32 {
        self.dot(self).sqrt()
    }

    /// In the same direction with length one; up when the length is zero.
    pub(crate) fn unit(self) -> Self {
        let length = self.length();
        if length > 1e-12 {
            self * (1.0 / length)
        } else {
            Self::UP
        }
    }

    /// Component by component (light times albedo).
    pub(crate) fn times(self, other: Self) -> Self {
        v3(self.x * other.x, self.y * other.y, self.z * other.z)
    }

    /// From self at 0 to other at 1.
    pub(crate) fn mix(self, other: Self, share: f32) -> Self {
        self + (other - self) * share
    }

    /// Mirrored at a surface with this normal, for a direction that points to the surface.
    pub(crate) fn mirrored_at(self, normal: Self) -> Self {
        self - normal * (2.0 * self.dot(normal))
    }

    /// Rec. 709 luminance of a linear colour.
    pub(crate) fn luminance(self) -> f32 {
        0.2126 * self.x + 0.7152 * self.y + 0.0722 * self.z
    }
}

impl Add for V3 {
    type Output = Self;
    fn add(self, other: Self) -> Self {
        v3(self.x + other.x, self.y + other.y, self.z + other.z)
    }
}

impl AddAssign for V3 {
    fn add_assign(&mut self, other: Self) {
        *self = *self + other;
    }
}

impl Sub for V3 {
    type Output = Self;
    fn sub(self, other: Self) -> Self {
        v3(self.x - other.x, self.y - other.y, self.z - other.z)
    }
}

impl Mul<f32> for V3 {
    type Output = Self;
    fn mul(self, factor: f32) -> Self {
        v3(self.x * factor, self.y * factor, self.z * factor)
    }
}

impl Neg for V3 {
    type Output = Self;
    fn neg(self) -> Self {
        v3(-self.x, -self.y, -self.z)
    }
}

/// 0 below the first edge, 1 above the second, smooth between.
pub(crate) fn smoothstep(low: f32, high: f32, value: f32) -> f32 {
    let t = ((value - low) / (high - low)).clamp(0.0, 1.0);
    t * t * (3.0 - 2.0 * t)
}

/// From a at 0 to b at 1.
pub(crate) fn lerp(a: f32, b: f32, t: f32) -> f32 {
    a + (b - a) * t
}
