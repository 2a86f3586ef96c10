//! Random numbers that depend on the seed, the purpose and the item only.

use rand_chacha::ChaCha8Rng;
use rand_core::{RngCore, SeedableRng};
use sha2::{Digest, Sha256};

/// A generator for one purpose and item: ChaCha8 seeded by SHA-256(seed, purpose, item).
#[must_use]
pub fn rng(seed: u64, purpose: &str, item: &str) -> ChaCha8Rng {
    let mut hasher = Sha256::new();
    hasher.update(seed.to_le_bytes());
    for part in [purpose, item] {
        hasher.update((part.len() as u64).to_le_bytes());
        hasher.update(part.as_bytes());
    }
    ChaCha8Rng::from_seed(hasher.finalize().into())
}

/// A number below `limit`, which is positive.
pub fn below(rng: &mut impl RngCore, limit: usize) -> usize {
    // Multiply-shift: the bias is limit / 2^64.
    ((u128::from(rng.next_u64()) * limit as u128) >> 64) as usize
}

/// A number in [0, 1).
pub fn unit(rng: &mut impl RngCore) -> f64 {
    (rng.next_u64() >> 11) as f64 / (1_u64 << 53) as f64
}

/// A normally distributed number, mean 0 and sigma 1 (Box-Muller).
pub fn normal(rng: &mut impl RngCore) -> f64 {
    let radius = (-2.0 * (1.0 - unit(rng)).ln()).sqrt();
    radius * (std::f64::consts::TAU * unit(rng)).cos()
}
