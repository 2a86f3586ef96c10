//! How wrong a processed scene is on purpose: `key=value,...`.

use serde::{Deserialize, Serialize};
use std::str::FromStr;

/// Sizes of the errors. All draws are normal with these standard deviations unless said otherwise.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct NoiseSpec {
    /// Camera centres along each axis, metres.
    #[serde(rename = "pose_m")]
    pub pose: f64,
    /// Camera attitudes about each axis, degrees.
    #[serde(rename = "angle_deg")]
    pub angle: f64,
    /// What the whole solution is moved by along each horizontal axis, metres.
    #[serde(rename = "shift_m")]
    pub shift: f64,
    /// What the whole solution is lifted by, metres.
    #[serde(rename = "lift_m")]
    pub lift: f64,
    /// What the whole solution is turned by about the vertical through the origin, degrees.
    #[serde(rename = "turn_deg")]
    pub turn: f64,
    /// Sparse points along each axis, metres.
    #[serde(rename = "cloud_m")]
    pub cloud: f64,
    /// Observations of sparse points along each axis of the picture, pixels.
    #[serde(rename = "point_px")]
    pub point: f64,
    /// Centres of boxes along each axis of the picture, pixels.
    #[serde(rename = "box_px")]
    pub centre: f64,
    /// Sides of oriented boxes, as a share of themselves.
    #[serde(rename = "size_share")]
    pub size: f64,
    /// Angles of oriented boxes, degrees.
    #[serde(rename = "axis_deg")]
    pub axis: f64,
    /// Scores.
    pub score: f64,
    /// Probability to miss a vehicle that is half visible or more and 12 pixels wide or more.
    #[serde(rename = "miss_share")]
    pub miss: f64,
    /// False alarms for each vehicle that is found.
    #[serde(rename = "false_share")]
    pub false_alarms: f64,
}

/// What is wrong with a list of keys and values.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum NoiseError {
    /// A part that is no pair.
    #[error("\"{found}\" is not KEY=VALUE, and not the word none at the beginning")]
    NotAPair {
        /// The part.
        found: String,
    },
    /// A key that is not known.
    #[error("there is no key \"{found}\"; known are {known}")]
    UnknownKey {
        /// The key.
        found: String,
        /// All keys.
        known: String,
    },
    /// A key that was there before.
    #[error("the key {key} is given twice")]
    Twice {
        /// The key.
        key: &'static str,
    },
    /// A value that is no number or out of range.
    #[error("{key} is {found}, but must be a number in 0 to {high} ({unit})")]
    Value {
        /// The key.
        key: &'static str,
        /// As given.
        found: String,
        /// The largest value.
        high: f64,
        /// Its unit.
        unit: &'static str,
    },
}

/// A key of the list.
#[derive(Clone, Copy, Debug)]
pub struct NoiseKey {
    /// As it is written.
    pub key: &'static str,
    /// Unit of its value.
    pub unit: &'static str,
    /// Where it is not given.
    pub default: f64,
    /// Largest value; the smallest is 0.
    pub high: f64,
    of: fn(&mut NoiseSpec) -> &mut f64,
}

/// Every key.
pub static NOISE_KEYS: [NoiseKey; 13] = [
    key("pose", "m", 0.03, 100.0, |n| &mut n.pose),
    key("angle", "degrees", 0.03, 45.0, |n| &mut n.angle),
    key("shift", "m", 1.0, 1000.0, |n| &mut n.shift),
    key("lift", "m", 0.3, 100.0, |n| &mut n.lift),
    key("turn", "degrees", 0.3, 180.0, |n| &mut n.turn),
    key("cloud", "m", 0.03, 100.0, |n| &mut n.cloud),
    key("point", "px", 0.5, 100.0, |n| &mut n.point),
    key("box", "px", 1.0, 1000.0, |n| &mut n.centre),
    key("size", "share", 0.03, 0.3, |n| &mut n.size),
    key("axis", "degrees", 1.5, 90.0, |n| &mut n.axis),
    key("score", "score", 0.08, 1.0, |n| &mut n.score),
    key("miss", "probability", 0.05, 1.0, |n| &mut n.miss),
    key("false", "per vehicle found", 0.02, 10.0, |n| {
        &mut n.false_alarms
    }),
];

const fn key(
    key: &'static str,
    unit: &'static str,
    default: f64,
    high: f64,
    of: fn(&mut NoiseSpec) -> &mut f64,
) -> NoiseKey {
    NoiseKey {
        key,
        unit,
        default,
        high,
        of,
    }
}

impl NoiseSpec {
    /// Boxes, poses and points as they really are.
    pub const NONE: Self = Self {
        pose: 0.0,
        angle: 0.0,
        shift: 0.0,
        lift: 0.0,
        turn: 0.0,
        cloud: 0.0,
        point: 0.0,
        centre: 0.0,
        size: 0.0,
        axis: 0.0,
        score: 0.0,
        miss: 0.0,
        false_alarms: 0.0,
    };
}

impl Default for NoiseSpec {
    /// As a good solution and a good detector have it.
    fn default() -> Self {
        let mut spec = Self::NONE;
        for key in &NOISE_KEYS {
            *(key.of)(&mut spec) = key.default;
        }
        spec
    }
}

impl FromStr for NoiseSpec {
    type Err = NoiseError;

    /// `KEY=VALUE,...` with the keys of [`NOISE_KEYS`]; what is not named has its default, or 0
    /// where the list begins with the word `none`.
    fn from_str(text: &str) -> Result<Self, NoiseError> {
        let mut spec = Self::default();
        let mut given: Vec<&'static str> = Vec::new();
        for (idx, part) in text.split(',').map(str::trim).enumerate() {
            if idx == 0 && part == "none" {
                spec = Self::NONE;
                continue;
            }
            let Some((name, value)) = part.split_once('=') else {
                let found = part.to_owned();
                return Err(NoiseError::NotAPair { found });
            };
            let key = known_key(name.trim())?;
            if given.contains(&key.key) {
                return Err(NoiseError::Twice { key: key.key });
            }
            given.push(key.key);
            *(key.of)(&mut spec) = key.value(value.trim())?;
        }
        Ok(spec)
    }
}

fn known_key(name: &str) -> Result<&'static NoiseKey, NoiseError> {
    NOISE_KEYS
        .iter()
        .find(|key| key.key == name)
        .ok_or_else(|| NoiseError::UnknownKey {
            found: name.to_owned(),
            known: NOISE_KEYS.map(|key| key.key).join(", "),
        })
}

impl NoiseKey {
    fn value(&self, text: &str) -> Result<f64, NoiseError> {
        text.parse()
            .ok()
            .filter(|value| (0.0..=self.high).contains(value))
            .ok_or_else(|| NoiseError::Value {
                key: self.key,
                found: text.to_owned(),
                high: self.high,
                unit: self.unit,
            })
    }
}

/// Every key with its unit, default and range, for a command's help.
#[must_use]
pub fn noise_help() -> String {
    let keys = NOISE_KEYS.map(|key| {
        format!(
            "{}={} ({}, to {})",
            key.key, key.default, key.unit, key.high
        )
    });
    format!(
        "Sizes of the errors as KEY=VALUE,...; what is not named has its default, or 0 after the \
         word none. Keys with their defaults: {}",
        keys.join(", ")
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_are_read() {
        let named = NoiseSpec {
            centre: 2.5,
            miss: 0.0,
            ..NoiseSpec::default()
        };
        let only = NoiseSpec {
            shift: 3.0,
            ..NoiseSpec::NONE
        };
        for (text, expected) in [
            ("box=2.5,miss=0", named),
            (" miss = 0 , box = 2.5 ", named),
            ("none", NoiseSpec::NONE),
            ("none,shift=3", only),
        ] {
            assert_eq!(text.parse(), Ok(expected), "{text}");
        }
    }

    #[test]
    fn faults_are_named() {
        for (text, word) in [
            ("", "KEY=VALUE"),
            ("box", "\"box\""),
            ("box=1,none", "\"none\""),
            ("fog=1", "known are pose, angle"),
            ("box=much", "much"),
            ("box=-1", "0 to 1000"),
            ("box=nan", "nan"),
            ("miss=1.1", "0 to 1 "),
            ("box=1,box=2", "twice"),
        ] {
            let error = text.parse::<NoiseSpec>().expect_err(text);
            assert!(error.to_string().contains(word), "{text}: {error}");
        }
    }
}
