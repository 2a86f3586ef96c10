//! How near a detection must be to a vehicle, from how close vehicles stand and how sure places are.

use super::cluster::Item;
use crate::statistics::median;
use nalgebra::Vector2;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// How near an item must be to a vehicle, and why.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Threshold {
    /// The distance, metres; an item exactly that far is near enough.
    pub epsilon_m: f64,
    /// What it comes from.
    pub basis: ThresholdBasis,
    /// Tenth percentile of the distance between neighbours of one photo, metres: how close the
    /// vehicles stand. `None` without two in one photo.
    pub spacing_m: Option<f64>,
    /// Three sigma of the anchors as stated with them (median), metres.
    pub three_sigma_m: f64,
    /// One sigma of anchors about their vehicle's middle along one axis, as a first pass found it,
    /// metres; `None` where no vehicle has enough members.
    #[serde(default)]
    pub scatter_m: Option<f64>,
    /// Whether the anchors are good enough to tell neighbours apart.
    pub is_separable: bool,
}

/// What the threshold comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ThresholdBasis {
    /// The spacing of vehicles within photos.
    Spacing,
    /// The anchors' uncertainty, which is larger.
    Uncertainty,
    /// A typical value: no photo shows two vehicles.
    Default,
    /// The user's.
    Given,
}

/// Share of the spacing that a member may be off: with 2.5 m rows the nearest wrong vehicle is
/// still outside.
const SPACING_SHARE: f64 = 0.8;
const SPACING_PERCENTILE: f64 = 0.10;
const MIN_EPSILON_M: f64 = 0.8;
const MAX_EPSILON_M: f64 = 4.0;
const DEFAULT_EPSILON_M: f64 = 1.5;
/// Boxes of one photo nearer than this are doubles of one vehicle, and no spacing.
const DOUBLE_M: f64 = 0.7;

pub(super) fn threshold(items: &[Item], given_m: Option<f64>) -> Threshold {
    let spacing_m = spacing(items);
    let mut sigmas: Vec<f64> = items
        .iter()
        .map(|item| (item.covariance.trace() / 2.0).max(0.0).sqrt())
        .collect();
    let three_sigma_m = 3.0 * median(&mut sigmas).unwrap_or(0.0);
    let by_spacing = spacing_m.map(|spacing| SPACING_SHARE * spacing);
    let (epsilon_m, basis) = match (given_m, by_spacing) {
        (Some(given), _) => (given, ThresholdBasis::Given),
        (None, Some(spaced)) if spaced >= three_sigma_m => (
            spaced.clamp(MIN_EPSILON_M, MAX_EPSILON_M),
            ThresholdBasis::Spacing,
        ),
        (None, Some(_)) => (
            three_sigma_m.clamp(MIN_EPSILON_M, MAX_EPSILON_M),
            ThresholdBasis::Uncertainty,
        ),
        (None, None) => {
            let wide = DEFAULT_EPSILON_M.max(three_sigma_m).min(MAX_EPSILON_M);
            (wide, ThresholdBasis::Default)
        }
    };
    let is_separable = by_spacing.is_none_or(|spaced| three_sigma_m <= spaced);
    Threshold {
        epsilon_m,
        basis,
        spacing_m,
        three_sigma_m,
        scatter_m: None,
        is_separable,
    }
}

impl Threshold {
    /// Raises the threshold to three sigma of the scatter that a first pass found; says whether it
    /// changed.
    pub(super) fn raise_to_scatter(&mut self, scatter_m: f64) -> bool {
        self.scatter_m = Some(scatter_m);
        let floor_m = (3.0 * scatter_m).min(MAX_EPSILON_M);
        if self
            .spacing_m
            .is_some_and(|spacing| 3.0 * scatter_m > SPACING_SHARE * spacing)
        {
            self.is_separable = false;
        }
        if self.basis == ThresholdBasis::Given || floor_m <= self.epsilon_m {
            return false;
        }
        self.epsilon_m = floor_m;
        self.basis = ThresholdBasis::Uncertainty;
        true
    }
}

/// How close vehicles stand: low percentile of the distance from each item to the nearest other
/// one of its photo, which is another vehicle.
fn spacing(items: &[Item]) -> Option<f64> {
    let mut by_photo: BTreeMap<usize, Vec<Vector2<f64>>> = BTreeMap::new();
    for item in items {
        by_photo.entry(item.photo).or_default().push(item.place);
    }
    let mut nearest: Vec<f64> = by_photo
        .values_mut()
        .flat_map(|places| nearest_distances(places))
        .collect();
    if nearest.is_empty() {
        return None;
    }
    nearest.sort_by(f64::total_cmp);
    Some(nearest[((nearest.len() - 1) as f64 * SPACING_PERCENTILE).round() as usize])
}

/// Distance from each place to its nearest neighbour that is no double of it, by a sweep from
/// west to east.
fn nearest_distances(places: &mut [Vector2<f64>]) -> Vec<f64> {
    places.sort_by(|a, b| a.x.total_cmp(&b.x).then(a.y.total_cmp(&b.y)));
    let mut nearest = vec![f64::INFINITY; places.len()];
    for a in 0..places.len() {
        for b in a + 1..places.len() {
            if places[b].x - places[a].x > nearest[a] {
                break;
            }
            let distance = (places[a] - places[b]).norm();
            if distance >= DOUBLE_M {
                nearest[a] = nearest[a].min(distance);
                nearest[b] = nearest[b].min(distance);
            }
        }
    }
    nearest
        .into_iter()
        .filter(|distance| distance.is_finite())
        .collect()
}

/// Members that a vehicle needs before their scatter says anything.
const MIN_SCATTERED: usize = 3;

/// One sigma of items about their vehicle's middle along one axis, as the median of absolute
/// differences says; `None` where no vehicle has enough members.
pub(super) fn scatter(items: &[Item], members: &[Vec<usize>]) -> Option<f64> {
    let mut off = Vec::new();
    for members in members.iter().filter(|m| m.len() >= MIN_SCATTERED) {
        for axis in 0..2 {
            let mut along: Vec<f64> = members.iter().map(|&idx| items[idx].place[axis]).collect();
            let middle = median(&mut along)?;
            off.extend(along.iter().map(|value| (value - middle).abs()));
        }
    }
    median(&mut off).map(|mad| MAD_TO_SIGMA * mad)
}

/// Of a normal distribution.
const MAD_TO_SIGMA: f64 = 1.4826;
