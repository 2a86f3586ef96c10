//! How alike two score profiles are (Eq. 7), and mean and spread over many comparisons.

/// Pearson's correlation. `None` for fewer than two pairs, unequal lengths, or a side that is constant.
#[must_use]
pub fn pearson(x: &[f64], y: &[f64]) -> Option<f64> {
    if x.len() != y.len() || x.len() < 2 || is_constant(x) || is_constant(y) {
        return None;
    }
    let (x, y) = (centred(x), centred(y));
    let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
    let correlation = dot(&x, &y) / (dot(&x, &x) * dot(&y, &y)).sqrt();
    // Rounding may lead beyond the ends.
    correlation
        .is_finite()
        .then(|| correlation.clamp(-1.0, 1.0))
}

/// Spearman's correlation: Pearson's of the ranks, equal values sharing the average of theirs.
#[must_use]
pub fn spearman(x: &[f64], y: &[f64]) -> Option<f64> {
    pearson(&average_ranks(x), &average_ranks(y))
}

fn is_constant(values: &[f64]) -> bool {
    values.iter().all(|value| *value == values[0])
}

/// Distances from the mean as parts of the largest, so that no square overflows or vanishes.
fn centred(values: &[f64]) -> Vec<f64> {
    let mean = values.iter().sum::<f64>() / values.len() as f64;
    let distances = values.iter().map(|value| value - mean);
    let largest = distances.clone().map(f64::abs).fold(0.0, f64::max);
    distances.map(|distance| distance / largest).collect()
}

/// Ranks from 1 for the smallest; equal values share the average of their ranks.
#[must_use]
pub fn average_ranks(values: &[f64]) -> Vec<f64> {
    let mut order: Vec<usize> = (0..values.len()).collect();
    order.sort_by(|a, b| values[*a].total_cmp(&values[*b]));
    let mut ranks = vec![0.0; values.len()];
    let mut n_before = 0;
    for equal in order.chunk_by(|a, b| values[*a] == values[*b]) {
        let rank = n_before as f64 + (equal.len() as f64 + 1.0) / 2.0;
        equal.iter().for_each(|place| ranks[*place] = rank);
        n_before += equal.len();
    }
    ranks
}

/// The mean and the sample standard deviation (divisor one less than the number).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MeanAndDeviation {
    /// How many values.
    pub n: usize,
    /// Their mean.
    pub mean: f64,
    /// Their sample standard deviation; none of one value.
    pub deviation: Option<f64>,
}

impl MeanAndDeviation {
    /// Of values; `None` of none.
    #[must_use]
    pub fn of(values: &[f64]) -> Option<Self> {
        let n = values.len();
        if n == 0 {
            return None;
        }
        let mean = values.iter().sum::<f64>() / n as f64;
        let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
        Some(Self {
            n,
            mean,
            deviation: (n > 1).then(|| (squares / (n - 1) as f64).sqrt()),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn near(found: Option<f64>, expected: f64) {
        let found = found.expect("it is defined");
        assert!((found - expected).abs() < 1e-12, "{found} {expected}");
    }

    #[test]
    fn worked_by_hand() {
        // Deviations -1.5 -0.5 0.5 1.5 and -1.5 0.5 -0.5 1.5: 4 over 5.
        near(pearson(&[1.0, 2.0, 3.0, 4.0], &[1.0, 3.0, 2.0, 4.0]), 0.8);
        // Ranks 1 2 3 and 1 2.5 2.5: 1.5 over the root of 2 times 1.5.
        near(
            spearman(&[1.0, 10.0, 100.0], &[0.0, 7.0, 7.0]),
            1.5 / 3.0f64.sqrt(),
        );
        near(
            pearson(&[1e200, 2e200, 3e200], &[1e-200, 2e-200, 3e-200]),
            1.0,
        );
        assert_eq!(pearson(&[1.0], &[2.0]), None);
        assert_eq!(pearson(&[1.0, 1.0], &[1.0, 2.0]), None);
        assert_eq!(spearman(&[], &[]), None);
    }

    #[test]
    fn ties_share_their_ranks() {
        assert_eq!(
            average_ranks(&[3.0, 1.0, 3.0, 2.0, 3.0]),
            [4.0, 1.0, 4.0, 2.0, 4.0]
        );
    }

    #[test]
    fn the_deviation_is_that_of_a_sample() {
        let found = MeanAndDeviation::of(&[2.0, 4.0, 9.0]).unwrap();
        assert_eq!(found.mean, 5.0);
        near(found.deviation, 13.0f64.sqrt());
        assert_eq!(MeanAndDeviation::of(&[2.0]).unwrap().deviation, None);
        assert_eq!(MeanAndDeviation::of(&[]), None);
    }
}
