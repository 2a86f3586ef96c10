//! Seeded randomness: one ChaCha8 stream per purpose and item, so that what one item draws never
//! depends on how many draws another made.

use rand_chacha::ChaCha8Rng;
use rand_core::{RngCore, SeedableRng};
use sha2::{Digest, Sha256};

/// A stream of random numbers that belongs to one purpose and one item.
pub(crate) struct Dice(ChaCha8Rng);

impl Dice {
    /// ChaCha8 seeded by SHA-256 of the seed (little endian), the purpose and the item, each
    /// ended by a zero byte.
    pub(crate) fn new(seed: u64, purpose: &str, item: &str) -> Self {
        let mut hash = Sha256::new();
        hash.update(seed.to_le_bytes());
        hash.update(purpose.as_bytes());
        hash.update([0]);
        hash.update(item.as_bytes());
        hash.update([0]);
        Self(ChaCha8Rng::from_seed(hash.finalize().into()))
    }

    /// 32 random bits.
    pub(crate) fn bits(&mut self) -> u32 {
        self.0.next_u32()
    }

    /// Uniform in [0, 1).
    pub(crate) fn unit(&mut self) -> f64 {
        // 53 bits are what a double holds below one.
        (self.0.next_u64() >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// Uniform in [low, high).
    pub(crate) fn range(&mut self, low: f64, high: f64) -> f64 {
        low + (high - low) * self.unit()
    }

    /// As [`Self::range`], in single precision.
    pub(crate) fn range32(&mut self, low: f32, high: f32) -> f32 {
        low + (high - low) * self.unit() as f32
    }

    /// Normal with mean 0 and this standard deviation (Box-Muller).
    pub(crate) fn normal(&mut self, sigma: f64) -> f64 {
        let radius = (-2.0 * (1.0 - self.unit()).ln()).sqrt();
        let angle = std::f64::consts::TAU * self.unit();
        sigma * radius * angle.cos()
    }

    /// True with this probability.
    pub(crate) fn chance(&mut self, probability: f64) -> bool {
        self.unit() < probability
    }

    /// Uniform in 0..n; n must be positive.
    pub(crate) fn below(&mut self, n: usize) -> usize {
        ((self.unit() * n as f64) as usize).min(n - 1)
    }

    /// One of the items; there must be at least one.
    pub(crate) fn pick<'a, T>(&mut self, items: &'a [T]) -> &'a T {
        &items[self.below(items.len())]
    }

    /// One of the items, each as often as its weight says; there must be at least one.
    pub(crate) fn pick_weighted<'a, T>(
        &mut self,
        items: &'a [T],
        weight: impl Fn(&T) -> f64,
    ) -> &'a T {
        let total: f64 = items.iter().map(&weight).sum();
        let mut left = self.unit() * total;
        for item in items {
            left -= weight(item);
            if left < 0.0 {
                return item;
            }
        }
        &items[items.len() - 1]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stream_depends_on_seed_purpose_and_item_only() {
        let draw = |seed, purpose, item| Dice::new(seed, purpose, item).bits();
        assert_eq!(draw(1, "a", "b"), draw(1, "a", "b"));
        assert_ne!(draw(1, "a", "b"), draw(2, "a", "b"));
        assert_ne!(draw(1, "a", "b"), draw(1, "ab", ""));
    }

    #[test]
    fn moments_are_those_asked_for() {
        let mut dice = Dice::new(7, "moments", "");
        let n = 20_000;
        let draws: Vec<f64> = (0..n).map(|_| dice.normal(2.0)).collect();
        let mean = draws.iter().sum::<f64>() / f64::from(n);
        let variance = draws.iter().map(|d| (d - mean).powi(2)).sum::<f64>() / f64::from(n);
        assert!(mean.abs() < 0.05, "mean {mean}");
        assert!(
            (variance.sqrt() - 2.0).abs() < 0.05,
            "sigma {}",
            variance.sqrt()
        );
        assert!((0..n).all(|_| (0.0..1.0).contains(&dice.unit())));
    }
}
