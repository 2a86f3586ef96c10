//! Why a response is no answer, in words that help its author.

use std::fmt;

/// What is wrong with a response. It scores zero and stays in the denominator.
#[derive(Clone, Debug, PartialEq)]
pub enum Invalid {
    /// No JSON object where one was asked for.
    NoObject,
    /// Something other than decimal digits where a count was asked for.
    NotDigits,
    /// Something other than an integer.
    NotAnInteger,
    /// Something other than a number.
    NotANumber,
    /// A number beyond every 64-bit float.
    NotFinite,
    /// A number that must be above zero and is not.
    NotPositive,
    /// A number outside its range; the bound that it breaks.
    OutOfRange {
        /// The least that is legal, if there is one.
        min: Option<f64>,
        /// The most that is legal, if there is one.
        max: Option<f64>,
    },
    /// Not one of the candidates.
    NotACandidate,
    /// Not a JSON array alone.
    NotAnArray,
    /// An array that holds something other than numbers.
    NotNumbers,
    /// An array of the wrong length.
    Length {
        /// How many numbers there are.
        found: usize,
        /// How many were asked for.
        expected: usize,
    },
    /// A box whose start is not before its end.
    Unordered,
    /// A box outside its image, in the convention that was declared.
    OutsideImage {
        /// The greatest legal x.
        x_max: u32,
        /// The greatest legal y.
        y_max: u32,
    },
    /// A latitude or a longitude that is none.
    NotOnEarth,
}

impl fmt::Display for Invalid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoObject => {
                f.write_str("holds no whole JSON object; expected one with brand and model")
            }
            Self::NotDigits => {
                f.write_str("is not decimal digits alone; expected a count such as 12")
            }
            Self::NotAnInteger => f.write_str("is not an integer alone"),
            Self::NotANumber => f.write_str("is not a number alone; expected one such as 62.5"),
            Self::NotFinite => f.write_str("is a number too large to be one"),
            Self::NotPositive => f.write_str("is not above zero"),
            Self::OutOfRange { min, max } => {
                f.write_str("is outside its range: ")?;
                match (min, max) {
                    (Some(min), Some(max)) => write!(f, "expected {min} to {max}"),
                    (Some(min), None) => write!(f, "expected {min} or more"),
                    (None, Some(max)) => write!(f, "expected {max} or less"),
                    (None, None) => f.write_str("expected none"),
                }
            }
            Self::NotACandidate => f.write_str("is none of the candidates, letter by letter"),
            Self::NotAnArray => f.write_str("is not a JSON array alone"),
            Self::NotNumbers => f.write_str("is an array with something other than numbers"),
            Self::Length { found, expected } => {
                write!(f, "is an array of {found} numbers; expected {expected}")
            }
            Self::Unordered => f.write_str("is a box whose start is not before its end"),
            Self::OutsideImage { x_max, y_max } => write!(
                f,
                "is a box outside its image; expected 0 to {x_max} across and 0 to {y_max} down"
            ),
            Self::NotOnEarth => f.write_str(
                "is no place; expected a latitude of -90 to 90 and a longitude of -180 to 180",
            ),
        }
    }
}
