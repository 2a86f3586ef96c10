//! Frames as types: a point or a direction says which frame its numbers are in.

use nalgebra::Vector3;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::fmt;
use std::marker::PhantomData;

/// A right-handed Cartesian frame in metres.
pub trait Frame: Copy + Clone + fmt::Debug + PartialEq + Send + Sync + 'static {
    /// The frame's name, for messages.
    const NAME: &'static str;
}

macro_rules! frame {
    ($(#[$doc:meta])* $name:ident, $text:literal) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub struct $name;

        impl Frame for $name {
            const NAME: &'static str = $text;
        }
    };
}

frame!(
    /// Earth-centred, earth-fixed (WGS84): x to (0, 0), z to the north pole.
    Ecef,
    "ECEF"
);
frame!(
    /// East, north, up at the scene's origin. z is what the scene says it is
    /// (height above take-off for poses).
    Enu,
    "ENU"
);
frame!(
    /// North, east, down, parallel to [`Enu`].
    Ned,
    "NED"
);
frame!(
    /// A gimbal or an airframe: x forward (along the optical axis for a gimbal), y right, z down.
    Body,
    "body"
);
frame!(
    /// A camera: x right, y down, z forward, origin at the projection centre.
    Camera,
    "camera"
);
frame!(
    /// What a structure-from-motion solver chose: any origin, orientation and scale.
    Solution,
    "solution"
);

/// A point in frame `F`, metres.
#[derive(Clone, Copy, PartialEq)]
pub struct Point<F: Frame> {
    /// The coordinates.
    pub vector: Vector3<f64>,
    frame: PhantomData<F>,
}

/// A direction or displacement in frame `F`: rotations apply to it, translations do not.
#[derive(Clone, Copy, PartialEq)]
pub struct Direction<F: Frame> {
    /// The components; not normalised unless the maker says so.
    pub vector: Vector3<f64>,
    frame: PhantomData<F>,
}

macro_rules! coordinates {
    ($name:ident) => {
        impl<F: Frame> $name<F> {
            /// From components in metres.
            #[must_use]
            pub fn new(x: f64, y: f64, z: f64) -> Self {
                Self::from_vector(Vector3::new(x, y, z))
            }

            /// From a vector whose components are in this frame.
            #[must_use]
            pub fn from_vector(vector: Vector3<f64>) -> Self {
                Self {
                    vector,
                    frame: PhantomData,
                }
            }

            /// The first component.
            #[must_use]
            pub fn x(&self) -> f64 {
                self.vector.x
            }

            /// The second component.
            #[must_use]
            pub fn y(&self) -> f64 {
                self.vector.y
            }

            /// The third component.
            #[must_use]
            pub fn z(&self) -> f64 {
                self.vector.z
            }
        }

        impl<F: Frame> fmt::Debug for $name<F> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(
                    f,
                    "{}<{}>({}, {}, {})",
                    stringify!($name),
                    F::NAME,
                    self.vector.x,
                    self.vector.y,
                    self.vector.z
                )
            }
        }

        impl<F: Frame> Serialize for $name<F> {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                [self.vector.x, self.vector.y, self.vector.z].serialize(serializer)
            }
        }

        impl<'de, F: Frame> Deserialize<'de> for $name<F> {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let [x, y, z] = <[f64; 3]>::deserialize(deserializer)?;
                if !(x.is_finite() && y.is_finite() && z.is_finite()) {
                    return Err(serde::de::Error::custom("coordinates are not finite"));
                }
                Ok(Self::new(x, y, z))
            }
        }
    };
}

coordinates!(Point);
coordinates!(Direction);

impl<F: Frame> Point<F> {
    /// Distance to another point, metres.
    #[must_use]
    pub fn distance_to(&self, other: &Self) -> f64 {
        (self.vector - other.vector).norm()
    }

    /// Distance in the x-y plane, metres.
    #[must_use]
    pub fn horizontal_distance_to(&self, other: &Self) -> f64 {
        (self.vector.xy() - other.vector.xy()).norm()
    }
}

impl<F: Frame> Direction<F> {
    /// The same direction with length one; `None` for the zero vector.
    #[must_use]
    pub fn normalised(&self) -> Option<Self> {
        self.vector
            .try_normalize(f64::MIN_POSITIVE)
            .map(Self::from_vector)
    }

    /// The angle to another direction, radians in [0, pi]; zero when either has no length. Exact
    /// for small angles too, where the arc cosine of the product would keep half the digits.
    #[must_use]
    pub fn angle_to(&self, other: &Self) -> f64 {
        let (a, b) = (&self.vector, &other.vector);
        a.cross(b).norm().atan2(a.dot(b))
    }
}

impl<F: Frame> std::ops::Sub for Point<F> {
    type Output = Direction<F>;
    fn sub(self, other: Self) -> Direction<F> {
        Direction::from_vector(self.vector - other.vector)
    }
}

impl<F: Frame> std::ops::Add<Direction<F>> for Point<F> {
    type Output = Self;
    fn add(self, step: Direction<F>) -> Self {
        Self::from_vector(self.vector + step.vector)
    }
}

impl<F: Frame> std::ops::Mul<f64> for Direction<F> {
    type Output = Self;
    fn mul(self, factor: f64) -> Self {
        Self::from_vector(self.vector * factor)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn small_angles_keep_their_digits() {
        for angle in [1e-12, 1e-9, 1e-6, 1e-3, 1.0, 3.0] {
            let a = Direction::<Enu>::new(2.0, 0.0, 0.0);
            let b = Direction::<Enu>::new(3.0 * f64::cos(angle), 0.0, 3.0 * f64::sin(angle));
            assert!((a.angle_to(&b) / angle - 1.0).abs() < 1e-12, "{angle}");
        }
        assert_eq!(Direction::<Enu>::new(0.0, 0.0, 0.0).normalised(), None);
    }

    #[test]
    fn points_that_are_not_finite_are_refused() {
        #[derive(Debug, Serialize, Deserialize)]
        struct Stored {
            point: Point<Enu>,
        }
        assert!(toml::from_str::<Stored>("point = [1.0, 2.0, 3.0]").is_ok());
        assert!(toml::from_str::<Stored>("point = [1.0, nan, 3.0]").is_err());
        assert!(toml::from_str::<Stored>("point = [1.0, 2.0, inf]").is_err());
    }
}
