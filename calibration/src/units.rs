//! Units for values that cross a crate: metres, radians, seconds.

use serde::{Deserialize, Serialize};
use std::f64::consts::{PI, TAU};

macro_rules! unit {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, Default, PartialEq, PartialOrd, Serialize, Deserialize)]
        #[serde(transparent)]
        pub struct $name(pub f64);

        impl $name {
            /// The bare number in this unit.
            #[must_use]
            pub fn get(self) -> f64 {
                self.0
            }

            /// The value without its sign.
            #[must_use]
            pub fn abs(self) -> Self {
                Self(self.0.abs())
            }
        }

        impl std::ops::Add for $name {
            type Output = Self;
            fn add(self, other: Self) -> Self {
                Self(self.0 + other.0)
            }
        }

        impl std::ops::Sub for $name {
            type Output = Self;
            fn sub(self, other: Self) -> Self {
                Self(self.0 - other.0)
            }
        }

        impl std::ops::Neg for $name {
            type Output = Self;
            fn neg(self) -> Self {
                Self(-self.0)
            }
        }

        impl std::ops::Mul<f64> for $name {
            type Output = Self;
            fn mul(self, factor: f64) -> Self {
                Self(self.0 * factor)
            }
        }
    };
}

unit!(
    /// A length in metres.
    Metres
);
unit!(
    /// An angle in radians.
    Radians
);
unit!(
    /// A duration in seconds.
    Seconds
);

impl Radians {
    /// An angle given in degrees, as files and wire formats carry it.
    #[must_use]
    pub fn from_degrees(degrees: f64) -> Self {
        Self(degrees.to_radians())
    }

    /// The angle in degrees, for files and people.
    #[must_use]
    pub fn to_degrees(self) -> f64 {
        self.0.to_degrees()
    }

    /// The same direction in [-pi, pi).
    #[must_use]
    pub fn wrapped(self) -> Self {
        Self((self.0 + PI).rem_euclid(TAU) - PI).fold_end(PI)
    }

    /// The same direction in [0, 2 pi).
    #[must_use]
    pub fn wrapped_positive(self) -> Self {
        let wrapped = self.0.rem_euclid(TAU);
        // rem_euclid of a tiny negative number rounds to TAU itself.
        Self(if wrapped >= TAU { 0.0 } else { wrapped })
    }

    /// The same axis (a direction without a sense) in [-pi/2, pi/2).
    #[must_use]
    pub fn wrapped_axis(self) -> Self {
        let half = PI / 2.0;
        Self((self.0 + half).rem_euclid(PI) - half).fold_end(half)
    }

    /// Rounding may land on the open end of the interval; that end is its own start.
    fn fold_end(self, end: f64) -> Self {
        if self.0 >= end { Self(-end) } else { self }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wrapping_keeps_the_direction_and_the_range() {
        for degrees in [
            -720.0, -540.0, -180.0, -90.0, -1e-15, 0.0, 89.9, 90.0, 180.0, 359.9, 1e4,
        ] {
            let angle = Radians::from_degrees(degrees);
            let wrapped = angle.wrapped().get();
            assert!((-PI..PI).contains(&wrapped), "{degrees}: {wrapped}");
            assert!((wrapped.sin() - angle.get().sin()).abs() < 1e-9);
            let positive = angle.wrapped_positive().get();
            assert!((0.0..TAU).contains(&positive), "{degrees}: {positive}");
            let axis = angle.wrapped_axis().get();
            assert!((-PI / 2.0..PI / 2.0).contains(&axis), "{degrees}: {axis}");
            assert!(((2.0 * axis).cos() - (2.0 * angle.get()).cos()).abs() < 1e-9);
        }
    }
}
