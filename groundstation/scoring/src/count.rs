//! Counts: digits alone, integer thresholds, the auxiliary statistics of A.8.

use crate::invalid::Invalid;
use crate::points::Points;

/// A count in a response, however long.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Count {
    /// The value, or [`Self::BEYOND`] when it is larger.
    value: u128,
    /// The value as a float: infinite beyond 309 digits.
    float: f64,
}

impl Count {
    /// More than one and a half times any reference: no threshold holds for it.
    const BEYOND: u128 = 1 << 66;

    /// Reads digits (0 to 9) that are the whole text.
    ///
    /// # Errors
    /// When it is anything else.
    pub fn parse(text: &str) -> Result<Self, Invalid> {
        if text.is_empty() || !text.bytes().all(|byte| byte.is_ascii_digit()) {
            return Err(Invalid::NotDigits);
        }
        let value = text
            .parse()
            .map_or(Self::BEYOND, |value: u128| value.min(Self::BEYOND));
        let float = text.parse().map_err(|_| Invalid::NotDigits)?;
        Ok(Self { value, float })
    }

    /// Whether it is the reference.
    #[must_use]
    pub fn is(self, reference: u64) -> bool {
        self.value == u128::from(reference)
    }

    /// The distance to the reference, as a float.
    #[must_use]
    pub fn error(self, reference: u64) -> f64 {
        if self.value == Self::BEYOND {
            return self.float;
        }
        // Within 2^66 the difference of integers is exact before it is rounded once.
        self.value.abs_diff(u128::from(reference)) as f64
    }

    /// Mean relative accuracy: a tenth for each k from 1 to 10 with `100 |p - n| <= 5 k n`. For a
    /// reference of 0 that leaves the answer 0 alone.
    #[must_use]
    pub fn mean_relative_accuracy(self, reference: u64) -> Points {
        let n = u128::from(reference);
        let error = self.value.abs_diff(n);
        Points::part_of(std::array::from_fn::<_, 10, _>(|i| {
            100 * error <= 5 * (i as u128 + 1) * n
        }))
    }
}

/// The auxiliary statistics of counts (A.8); they enter no score.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct CountStatistics {
    /// Counts asked for.
    pub n: u64,
    /// Responses that are counts.
    pub n_valid: u64,
    /// The part of all that is exactly right, 0 to 1; none of none.
    pub exact: Option<f64>,
    /// The mean absolute error of the valid; none without valid ones, or beyond every float.
    pub mean_absolute_error: Option<f64>,
    /// The root mean squared error of the valid; likewise.
    pub root_mean_squared_error: Option<f64>,
}

/// Collects what [`CountStatistics`] are made of.
#[derive(Clone, Debug, Default)]
pub struct CountErrors {
    n: u64,
    n_exact: u64,
    errors: Vec<f64>,
}

impl CountErrors {
    /// Adds a response that is a count, or (`None`) is not.
    pub fn add(&mut self, reference: u64, count: Option<Count>) {
        self.n += 1;
        if let Some(count) = count {
            self.n_exact += u64::from(count.is(reference));
            self.errors.push(count.error(reference));
        }
    }

    /// Adds the responses of another.
    pub fn merge(&mut self, other: &Self) {
        self.n += other.n;
        self.n_exact += other.n_exact;
        self.errors.extend(&other.errors);
    }

    /// The statistics.
    #[must_use]
    pub fn statistics(&self) -> CountStatistics {
        let n_valid = self.errors.len() as f64;
        let largest = self.errors.iter().copied().fold(0.0, f64::max);
        // Divided by the largest, squares stay inside what a float holds.
        let scale = if largest > 0.0 { largest } else { 1.0 };
        let relative = self.errors.iter().map(|error| error / scale);
        let mean = relative.clone().sum::<f64>() / n_valid * scale;
        let mean_square = relative.map(|error| error * error).sum::<f64>() / n_valid;
        let finite = |value: f64| value.is_finite().then_some(value);
        CountStatistics {
            n: self.n,
            n_valid: self.errors.len() as u64,
            exact: (self.n > 0).then(|| self.n_exact as f64 / self.n as f64),
            mean_absolute_error: finite(mean),
            root_mean_squared_error: finite(mean_square.sqrt() * scale),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn statistics(items: &[(u64, &str)]) -> CountStatistics {
        let mut errors = CountErrors::default();
        for (reference, response) in items {
            errors.add(*reference, Count::parse(response).ok());
        }
        errors.statistics()
    }

    #[test]
    fn counts_of_any_length_are_counts() {
        let huge = "9".repeat(10_000);
        assert_eq!(
            Count::parse(&huge).map(|c| c.mean_relative_accuracy(u64::MAX)),
            Ok(Points::ZERO)
        );
        let most = u64::MAX.to_string();
        assert_eq!(
            Count::parse(&most).map(|c| c.mean_relative_accuracy(u64::MAX)),
            Ok(Points::FULL)
        );
        assert_eq!(
            Count::parse("000000000000000000000000000000000000000000000007").map(|c| c.is(7)),
            Ok(true)
        );
    }

    #[test]
    fn errors_are_of_the_valid_alone() {
        let found = statistics(&[(5, "8"), (3, "3"), (10, "ten"), (7, "3")]);
        assert_eq!((found.n, found.n_valid), (4, 3));
        assert_eq!(found.exact, Some(0.25));
        assert!((found.mean_absolute_error.unwrap() - 7.0 / 3.0).abs() < 1e-12);
        assert!((found.root_mean_squared_error.unwrap() - (25.0f64 / 3.0).sqrt()).abs() < 1e-12);
        let none = statistics(&[]);
        assert_eq!((none.exact, none.mean_absolute_error), (None, None));
        let endless = statistics(&[(1, &"9".repeat(400))]);
        assert_eq!((endless.n_valid, endless.mean_absolute_error), (1, None));
        let large = statistics(&[(1, &format!("1{}", "0".repeat(200)))]);
        assert!((large.root_mean_squared_error.unwrap() / 1e200 - 1.0).abs() < 1e-12);
    }
}
