//! Offsets of angles and residuals of lengths in numbers.

use super::posed::{OffsetStats, ResidualStats};
use crate::statistics::median;
use calibration::Radians;

/// Offsets further than this from the middle are faults of single photos, not spread.
const MAX_OFFSET_RAD: f64 = 15.0_f64.to_radians();

/// Median deviation from the circular median; `None` without angles.
pub(super) fn circular_spread(angles: &[f64]) -> Option<f64> {
    let middle = circular_median(angles)?;
    let mut off: Vec<f64> = angles
        .iter()
        .map(|&angle| Radians(angle - middle).wrapped().abs().get())
        .collect();
    median(&mut off)
}

/// The member of a set of angles with the least sum of distances to all.
pub(super) fn circular_median(angles: &[f64]) -> Option<f64> {
    let cost = |at: f64| -> f64 {
        angles
            .iter()
            .map(|&other| Radians(other - at).wrapped().abs().get())
            .sum()
    };
    angles
        .iter()
        .copied()
        .min_by(|&a, &b| cost(a).total_cmp(&cost(b)))
}

/// Circular median of offsets in degrees, and the rms about it.
pub(super) fn offset_stats(offsets_deg: &[f64]) -> Option<OffsetStats> {
    let angles: Vec<f64> = offsets_deg
        .iter()
        .map(|offset| offset.to_radians())
        .collect();
    let middle = circular_median(&angles)?;
    let off: Vec<f64> = angles
        .iter()
        .map(|&angle| Radians(angle - middle).wrapped().get())
        .filter(|off| off.abs() <= MAX_OFFSET_RAD)
        .collect();
    let mean = off.iter().sum::<f64>() / off.len() as f64;
    let variance = off.iter().map(|o| (o - mean).powi(2)).sum::<f64>() / off.len() as f64;
    Some(OffsetStats {
        median_deg: middle.to_degrees(),
        spread_deg: variance.sqrt().to_degrees(),
    })
}

/// Of any residuals, metres; `None` without any.
pub(super) fn residual_stats(values: &[f64]) -> Option<ResidualStats> {
    let mut absolute: Vec<f64> = values.iter().map(|value| value.abs()).collect();
    let sum: f64 = values.iter().map(|value| value * value).sum();
    Some(ResidualStats {
        median_m: median(&mut absolute)?,
        rms_m: (sum / values.len() as f64).sqrt(),
        max_m: *absolute.last()?,
    })
}
