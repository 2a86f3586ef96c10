//! What can be wrong with a camera profile or with a camera's numbers.

use std::io;
use std::path::PathBuf;

/// Why a camera profile or a camera model is refused.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CalibrationError {
    /// The profile cannot be read from the disk.
    #[error("cannot read the camera profile: {source}: {}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// Not TOML, a key we do not know (named in the message), a missing key or a wrong type.
    #[error("not a camera profile: {}: {}", source.message(), path.display())]
    Malformed {
        /// The file, or the name of the shipped profile.
        path: PathBuf,
        /// Where and what.
        source: Box<toml::de::Error>,
    },
    /// A profile of another kind or version.
    #[error("the profile's schema is {found:?}, this program reads {expected:?}: {}", path.display())]
    Schema {
        /// The file, or the name of the shipped profile.
        path: PathBuf,
        /// What the file says.
        found: String,
        /// What we read.
        expected: &'static str,
    },
    /// The focal length in pixels contradicts the one in millimetres over the sensor.
    #[error(
        "a focal length of {from_pixels_px:.1} px along {axis} contradicts \
         {from_millimetres_px:.1} px, which is the focal length in mm over the sensor"
    )]
    FocalContradiction {
        /// "x" or "y".
        axis: &'static str,
        /// The focal length as the profile states it in pixels.
        from_pixels_px: f64,
        /// The focal length that millimetres and sensor size give, pixels.
        from_millimetres_px: f64,
    },
    /// Neither a focal length in pixels nor one in millimetres with a sensor width.
    #[error("neither [intrinsics] nor both focal_length_mm and sensor_width_mm are given")]
    NoFocalLength,
    /// What is wrong inside a profile, with the profile's name.
    #[error("{source}: {}", path.display())]
    InProfile {
        /// The file, or the name of the shipped profile.
        path: PathBuf,
        /// What is wrong.
        source: Box<CalibrationError>,
    },
    /// A number or a text that cannot be.
    #[error("{key} is {found}, expected {expected}")]
    Value {
        /// The key or field.
        key: &'static str,
        /// What was found.
        found: String,
        /// What would do.
        expected: &'static str,
    },
}

impl CalibrationError {
    pub(crate) fn value(key: &'static str, found: impl ToString, expected: &'static str) -> Self {
        Self::Value {
            key,
            found: found.to_string(),
            expected,
        }
    }

    /// The program's exit code for this error: 1, the input is at fault. Every case comes from a
    /// file or a number that someone gave us; the shipped profiles are proved by a test.
    #[must_use]
    pub fn exit_code(&self) -> u8 {
        1
    }
}
