//! Integers of any size, fast while they are small.

use num_bigint::BigInt;
use std::borrow::Cow;
use std::cmp::Ordering;
use std::fmt;

/// Digits that surely fit into 128 bits with room for a factor.
const MAX_SMALL_DIGITS: usize = 36;

#[derive(Clone, Debug)]
pub(super) enum Int {
    Small(i128),
    Large(BigInt),
}

impl From<i128> for Int {
    fn from(value: i128) -> Self {
        Self::Small(value)
    }
}

impl Int {
    /// Digits, and nothing else, to a number.
    pub(super) fn from_digits(is_negative: bool, digits: &str) -> Self {
        if digits.len() <= MAX_SMALL_DIGITS {
            let value = digits
                .bytes()
                .fold(0, |value, digit| value * 10 + i128::from(digit - b'0'));
            return Self::Small(if is_negative { -value } else { value });
        }
        let value = BigInt::parse_bytes(digits.as_bytes(), 10);
        let value = value.expect("the caller passes digits only");
        Self::Large(if is_negative { -value } else { value })
    }

    fn large(&self) -> Cow<'_, BigInt> {
        match self {
            Self::Small(value) => Cow::Owned(BigInt::from(*value)),
            Self::Large(value) => Cow::Borrowed(value),
        }
    }

    /// `small` where both are small and the result fits, else `large`.
    fn combine(
        &self,
        other: &Self,
        small: impl Fn(i128, i128) -> Option<i128>,
        large: impl Fn(&BigInt, &BigInt) -> BigInt,
    ) -> Self {
        if let (Self::Small(a), Self::Small(b)) = (self, other)
            && let Some(value) = small(*a, *b)
        {
            return Self::Small(value);
        }
        Self::Large(large(&self.large(), &other.large()))
    }

    pub(super) fn plus(&self, other: &Self) -> Self {
        self.combine(other, i128::checked_add, |a, b| a + b)
    }

    pub(super) fn minus(&self, other: &Self) -> Self {
        self.combine(other, i128::checked_sub, |a, b| a - b)
    }

    pub(super) fn times(&self, other: &Self) -> Self {
        self.combine(other, i128::checked_mul, |a, b| a * b)
    }

    /// The remainder with the sign of a positive divisor.
    pub(super) fn modulo(&self, divisor: &Self) -> Self {
        self.combine(divisor, i128::checked_rem_euclid, |a, b| ((a % b) + b) % b)
    }

    /// Times ten to a power that is not negative.
    pub(super) fn times_power_of_ten(&self, power: i32) -> Self {
        let power = u32::try_from(power).expect("aligned to the smaller exponent");
        if power == 0 {
            return self.clone();
        }
        if let Self::Small(value) = self {
            let scaled = 10i128
                .checked_pow(power)
                .and_then(|ten| value.checked_mul(ten));
            if let Some(scaled) = scaled {
                return Self::Small(scaled);
            }
        }
        Self::Large(self.large().as_ref() * BigInt::from(10).pow(power))
    }
}

impl PartialEq for Int {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Int {}

impl PartialOrd for Int {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Int {
    fn cmp(&self, other: &Self) -> Ordering {
        match (self, other) {
            (Self::Small(a), Self::Small(b)) => a.cmp(b),
            _ => self.large().cmp(&other.large()),
        }
    }
}

impl fmt::Display for Int {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Small(value) => value.fmt(f),
            Self::Large(value) => value.fmt(f),
        }
    }
}
