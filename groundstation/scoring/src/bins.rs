//! Bins of capture height and pitch (E.1, E.2).

use crate::decimal::Decimal;
use std::fmt;

/// A range of heights above take-off, metres, open below and closed above.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum HeightBin {
    /// (0, 40].
    To40,
    /// (40, 80].
    To80,
    /// (80, 120].
    To120,
}

impl HeightBin {
    /// All, from low to high.
    pub const ALL: [Self; 3] = [Self::To40, Self::To80, Self::To120];

    /// The bin of a height in metres, if any.
    #[must_use]
    pub fn of(height_m: &Decimal) -> Option<Self> {
        if !height_m.is_positive() {
            return None;
        }
        let within = |limit_m: i64| *height_m <= Decimal::from_integer(limit_m);
        [40, 80, 120]
            .into_iter()
            .zip(Self::ALL)
            .find(|(limit_m, _)| within(*limit_m))
            .map(|(_, bin)| bin)
    }
}

impl fmt::Display for HeightBin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::To40 => "(0,40]",
            Self::To80 => "(40,80]",
            Self::To120 => "(80,120]",
        })
    }
}

/// A range of downward angles: 7.5 degrees around a centre, both ends included. What lies on an edge of
/// two belongs to the lower centre.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum PitchBin {
    /// Around 30 degrees.
    At30,
    /// Around 45 degrees.
    At45,
    /// Around 60 degrees.
    At60,
    /// Around 90 degrees, straight down.
    At90,
}

impl PitchBin {
    /// All, from flat to steep.
    pub const ALL: [Self; 4] = [Self::At30, Self::At45, Self::At60, Self::At90];

    /// The centre, degrees.
    #[must_use]
    pub fn centre_deg(self) -> u8 {
        match self {
            Self::At30 => 30,
            Self::At45 => 45,
            Self::At60 => 60,
            Self::At90 => 90,
        }
    }

    /// The bin of a pitch in degrees, whichever its sign, if any.
    #[must_use]
    pub fn of(pitch_deg: &Decimal) -> Option<Self> {
        let downward = pitch_deg.magnitude();
        let tolerance = Decimal::scaled(75, -1);
        Self::ALL.into_iter().find(|bin| {
            let centre = Decimal::from_integer(i64::from(bin.centre_deg()));
            downward.minus(&centre).magnitude() <= tolerance
        })
    }
}

impl fmt::Display for PitchBin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.centre_deg().fmt(f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn heights_are_closed_above() {
        for (height, expected) in [
            ("0", ""),
            ("-3", ""),
            ("0.001", "(0,40]"),
            ("40", "(0,40]"),
            ("40.0000000000000000001", "(40,80]"),
            ("80", "(40,80]"),
            ("120", "(80,120]"),
            ("120.01", ""),
        ] {
            let bin = HeightBin::of(&Decimal::parse(height).unwrap());
            assert_eq!(
                bin.map(|bin| bin.to_string()).unwrap_or_default(),
                expected,
                "{height}"
            );
        }
    }

    #[test]
    fn pitches_have_gaps_and_shared_edges() {
        for (pitch, expected) in [
            ("22.5", Some(30)),
            ("22.4", None),
            ("37.5", Some(30)),
            ("37.50001", Some(45)),
            ("52.5", Some(45)),
            ("-60", Some(60)),
            ("67.5", Some(60)),
            ("67.6", None),
            ("82.5", Some(90)),
            ("97.5", Some(90)),
            ("97.6", None),
        ] {
            let bin = PitchBin::of(&Decimal::parse(pitch).unwrap());
            assert_eq!(bin.map(PitchBin::centre_deg), expected, "{pitch}");
        }
    }
}
