//! Decimal numbers as they are written, without rounding.

mod int;

use int::Int;
use std::cmp::Ordering;

/// A decimal number, exact: an integer times a power of ten.
#[derive(Clone, Debug)]
pub struct Decimal {
    coefficient: Int,
    exponent: i32,
}

/// Why a text is no number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NotANumber {
    /// It is something else, or not alone.
    Syntax,
    /// It is too large for a 64-bit floating-point number.
    NotFinite,
}

/// A number taken apart.
struct Written<'a> {
    is_negative: bool,
    whole: &'a str,
    fraction: &'a str,
    exponent: i64,
}

impl Decimal {
    /// An integer.
    #[must_use]
    pub fn from_integer(value: i64) -> Self {
        Self::scaled(value, 0)
    }

    /// `value` times ten to the `exponent`.
    #[must_use]
    pub fn scaled(value: i64, exponent: i32) -> Self {
        Self {
            coefficient: Int::from(i128::from(value)),
            exponent,
        }
    }

    /// Reads a number that is the whole text: a sign or none, digits with at most one point and at least
    /// one digit, an exponent or none. What a 64-bit float rounds to zero is zero, what it cannot hold is
    /// refused.
    ///
    /// # Errors
    /// Why it is none.
    pub fn parse(text: &str) -> Result<Self, NotANumber> {
        let written = Written::parse(text).ok_or(NotANumber::Syntax)?;
        let whole = written.whole.trim_start_matches('0');
        let fraction = written.fraction.trim_end_matches('0');
        let n_fraction = i64::try_from(fraction.len()).map_err(|_| NotANumber::Syntax)?;
        let digits = [whole, fraction].concat();
        let digits = digits.trim_start_matches('0');
        if digits.is_empty() {
            return Ok(Self::from_integer(0));
        }
        let kept = digits.trim_end_matches('0');
        let n_kept = i64::try_from(kept.len()).map_err(|_| NotANumber::Syntax)?;
        let n_dropped = i64::try_from(digits.len() - kept.len()).map_err(|_| NotANumber::Syntax)?;
        let exponent = written.exponent.saturating_sub(n_fraction) + n_dropped;
        // A float holds about 4.9e-324 to 1.8e308; only near those ends must it be asked.
        if exponent.saturating_add(n_kept) > 300 || exponent.saturating_add(n_kept) < -300 {
            let float: f64 = text.parse().map_err(|_| NotANumber::Syntax)?;
            if !float.is_finite() {
                return Err(NotANumber::NotFinite);
            }
            if float == 0.0 {
                return Ok(Self::from_integer(0));
            }
        }
        Ok(Self {
            coefficient: Int::from_digits(written.is_negative, kept),
            exponent: i32::try_from(exponent).map_err(|_| NotANumber::Syntax)?,
        })
    }

    /// The nearest float.
    #[must_use]
    pub fn to_f64(&self) -> f64 {
        let text = format!("{}e{}", self.coefficient, self.exponent);
        text.parse()
            .expect("an integer and an exponent are a number")
    }

    /// Both coefficients at one power of ten.
    fn aligned(&self, other: &Self) -> (Int, Int, i32) {
        let exponent = self.exponent.min(other.exponent);
        let at = |number: &Self| {
            number
                .coefficient
                .times_power_of_ten(number.exponent - exponent)
        };
        (at(self), at(other), exponent)
    }

    /// The sum.
    #[must_use]
    pub fn plus(&self, other: &Self) -> Self {
        let (a, b, exponent) = self.aligned(other);
        let coefficient = a.plus(&b);
        Self {
            coefficient,
            exponent,
        }
    }

    /// The difference.
    #[must_use]
    pub fn minus(&self, other: &Self) -> Self {
        let (a, b, exponent) = self.aligned(other);
        let coefficient = a.minus(&b);
        Self {
            coefficient,
            exponent,
        }
    }

    /// The product.
    #[must_use]
    pub fn times(&self, other: &Self) -> Self {
        Self {
            coefficient: self.coefficient.times(&other.coefficient),
            exponent: self.exponent + other.exponent,
        }
    }

    /// The product with an integer.
    #[must_use]
    pub fn times_integer(&self, factor: i64) -> Self {
        self.times(&Self::from_integer(factor))
    }

    /// The number without its sign.
    #[must_use]
    pub fn magnitude(&self) -> Self {
        if self.is_negative() {
            Self::from_integer(0).minus(self)
        } else {
            self.clone()
        }
    }

    /// The remainder, from 0 to below `period`.
    ///
    /// # Panics
    /// When the period is zero.
    #[must_use]
    pub fn modulo(&self, period: &Self) -> Self {
        let (a, b, exponent) = self.aligned(period);
        let coefficient = a.modulo(&b);
        Self {
            coefficient,
            exponent,
        }
    }

    /// Whether it is below zero.
    #[must_use]
    pub fn is_negative(&self) -> bool {
        self.coefficient.cmp(&Int::from(0)) == Ordering::Less
    }

    /// Whether it is above zero.
    #[must_use]
    pub fn is_positive(&self) -> bool {
        self.coefficient.cmp(&Int::from(0)) == Ordering::Greater
    }
}

impl PartialEq for Decimal {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Decimal {}

impl PartialOrd for Decimal {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Decimal {
    fn cmp(&self, other: &Self) -> Ordering {
        let (a, b, _) = self.aligned(other);
        a.cmp(&b)
    }
}

impl<'a> Written<'a> {
    fn parse(text: &'a str) -> Option<Self> {
        let (is_negative, unsigned) = split_sign(text);
        let (mantissa, exponent) = match unsigned.split_once(['e', 'E']) {
            Some((mantissa, exponent)) => (mantissa, parse_exponent(exponent)?),
            None => (unsigned, 0),
        };
        let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
        let is_number = whole.len() + fraction.len() > 0 && is_digits(whole) && is_digits(fraction);
        is_number.then_some(Self {
            is_negative,
            whole,
            fraction,
            exponent,
        })
    }
}

fn is_digits(text: &str) -> bool {
    text.bytes().all(|byte| byte.is_ascii_digit())
}

/// Whether the sign is a minus, and what follows it.
fn split_sign(text: &str) -> (bool, &str) {
    match text.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, text.strip_prefix('+').unwrap_or(text)),
    }
}

/// An exponent; one beyond every float stays beyond it.
fn parse_exponent(text: &str) -> Option<i64> {
    const BEYOND: i64 = 1 << 60;
    let (is_negative, digits) = split_sign(text);
    if digits.is_empty() || !is_digits(digits) {
        return None;
    }
    let value = digits
        .parse()
        .map_or(BEYOND, |value: i64| value.min(BEYOND));
    Some(if is_negative { -value } else { value })
}

/// Whether a text is an integer: a sign or none, and digits.
#[must_use]
pub fn is_integer_text(text: &str) -> bool {
    let (_, digits) = split_sign(text);
    !digits.is_empty() && is_digits(digits)
}

#[cfg(test)]
mod tests;
