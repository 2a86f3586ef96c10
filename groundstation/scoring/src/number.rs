//! Numbers: the legal format and range, mean relative accuracy, angles, exact matches.

use crate::decimal::{Decimal, NotANumber, is_integer_text};
use crate::invalid::Invalid;
use crate::points::Points;

/// How a number scores.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Deserialize, serde::Serialize)]
#[serde(rename_all = "snake_case")]
pub enum NumberScore {
    /// Mean relative accuracy; the reference must be above zero.
    Mra,
    /// Thirds for 5, 10 and 15 degrees.
    Angle,
    /// 100 within 1e-12.
    Exact,
}

/// What a number must look like.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Deserialize, serde::Serialize)]
#[serde(rename_all = "snake_case")]
pub enum NumberFormat {
    /// Decimal or scientific.
    #[default]
    Numeric,
    /// A sign or none, and digits.
    Integer,
}

/// What a legal number is, and the reference it is compared with.
#[derive(Clone, Debug)]
pub struct NumberRule {
    pub(crate) score: NumberScore,
    pub(crate) format: NumberFormat,
    pub(crate) min: Option<Decimal>,
    pub(crate) max: Option<Decimal>,
    pub(crate) is_positive: bool,
    pub(crate) period: Option<Decimal>,
    pub(crate) is_normalized: bool,
    pub(crate) reference: Decimal,
}

/// Degrees within which a third of an angle's points is given, each.
const ANGLE_THRESHOLDS_DEG: [i64; 3] = [5, 10, 15];

/// 1e-12, the tolerance of angles and exact numbers.
fn tolerance() -> Decimal {
    Decimal::scaled(1, -12)
}

impl NumberRule {
    /// Reads a trimmed response.
    ///
    /// # Errors
    /// Why it is not legal.
    pub(crate) fn parse(&self, text: &str) -> Result<Decimal, Invalid> {
        if self.format == NumberFormat::Integer && !is_integer_text(text) {
            return Err(Invalid::NotAnInteger);
        }
        let value = Decimal::parse(text).map_err(|error| match error {
            NotANumber::Syntax => Invalid::NotANumber,
            NotANumber::NotFinite => Invalid::NotFinite,
        })?;
        // A direction that may be given in any turn has no range: its remainder counts.
        if let (true, Some(period)) = (self.is_normalized, &self.period) {
            return Ok(value.modulo(period));
        }
        if self.is_positive && !value.is_positive() {
            return Err(Invalid::NotPositive);
        }
        let is_below = self.min.as_ref().is_some_and(|min| value < *min);
        let is_above = self.max.as_ref().is_some_and(|max| value > *max);
        if is_below || is_above {
            return Err(Invalid::OutOfRange {
                min: self.min.as_ref().map(Decimal::to_f64),
                max: self.max.as_ref().map(Decimal::to_f64),
            });
        }
        Ok(value)
    }

    /// The score of a legal number.
    pub(crate) fn points(&self, value: &Decimal) -> Points {
        match self.score {
            NumberScore::Mra => mean_relative_accuracy(value, &self.reference),
            NumberScore::Angle => {
                let error = self.error(value);
                Points::part_of(
                    ANGLE_THRESHOLDS_DEG
                        .map(|degrees| error <= Decimal::from_integer(degrees).plus(&tolerance())),
                )
            }
            NumberScore::Exact => Points::all_or_nothing(self.error(value) <= tolerance()),
        }
    }

    /// The distance to the reference, the shorter way round where there is a period.
    pub(crate) fn error(&self, value: &Decimal) -> Decimal {
        let difference = value.minus(&self.reference);
        let Some(period) = &self.period else {
            return difference.magnitude();
        };
        let forward = difference.modulo(period);
        let backward = period.minus(&forward);
        forward.min(backward)
    }
}

/// A tenth of the points for each k from 1 to 10 with `100 |p - n| <= 5 k n`, exactly.
fn mean_relative_accuracy(value: &Decimal, reference: &Decimal) -> Points {
    let error = value.minus(reference).magnitude().times_integer(20);
    Points::part_of(std::array::from_fn::<_, 10, _>(|i| {
        error <= reference.times_integer(i as i64 + 1)
    }))
}
