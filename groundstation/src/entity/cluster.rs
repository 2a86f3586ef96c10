//! Greedy constrained clustering: detections in descending confidence, each to the nearest
//! vehicle within a threshold that has none of the same photo yet, else a new vehicle
//! (RSLiveBench-UAV, section 3.2, equation 4).

use crate::statistics::median;
use nalgebra::{Matrix2, Vector2};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// An anchored detection.
#[derive(Clone, Debug, PartialEq)]
pub struct Item {
    /// Its photo: no vehicle has two items of one photo.
    pub photo: usize,
    /// Its number in the photo, for ties.
    pub detection: usize,
    /// East and north, metres.
    pub place: Vector2<f64>,
    /// Covariance of the place, square metres.
    pub covariance: Matrix2<f64>,
    /// The detector's confidence.
    pub score: f64,
}

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
    /// Three sigma of the anchors, metres.
    pub three_sigma_m: f64,
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

/// Items by vehicle.
#[derive(Clone, Debug, PartialEq)]
pub struct Clusters {
    /// The threshold used.
    pub threshold: Threshold,
    /// Indices of items per vehicle, the founder first.
    pub members: Vec<Vec<usize>>,
}

/// Share of the spacing that a member may be off: with 2.5 m rows the nearest wrong vehicle is
/// still outside.
const SPACING_SHARE: f64 = 0.8;
const SPACING_PERCENTILE: f64 = 0.10;
const MIN_EPSILON_M: f64 = 0.8;
const MAX_EPSILON_M: f64 = 4.0;
const DEFAULT_EPSILON_M: f64 = 1.5;
/// Two vehicles whose centres end within this share of the threshold are halves of one.
const HALVES_SHARE: f64 = 0.5;
/// Boxes of one photo nearer than this are doubles of one vehicle, and no spacing.
const DOUBLE_M: f64 = 0.7;

/// Clusters items; `given_m` overrides the threshold. The result does not depend on the order of
/// the items.
#[must_use]
pub fn cluster(items: &[Item], given_m: Option<f64>) -> Clusters {
    let threshold = threshold(items, given_m);
    let mut vehicles = Vehicles::new(threshold.epsilon_m);
    for idx in by_confidence(items) {
        vehicles.take(idx, &items[idx]);
    }
    while vehicles.join_halves() {}
    let members = vehicles.members;
    Clusters {
        threshold,
        members: members.into_iter().filter(|m| !m.is_empty()).collect(),
    }
}

/// Descending confidence; ties by the surer place, then by photo and number.
fn by_confidence(items: &[Item]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..items.len()).collect();
    order.sort_by(|&a, &b| {
        let (a, b) = (&items[a], &items[b]);
        b.score
            .total_cmp(&a.score)
            .then(a.covariance.trace().total_cmp(&b.covariance.trace()))
            .then((a.photo, a.detection).cmp(&(b.photo, b.detection)))
    });
    order
}

fn threshold(items: &[Item], given_m: Option<f64>) -> Threshold {
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
        is_separable,
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

/// Vehicles so far, on a grid of cells as wide as the threshold.
struct Vehicles {
    epsilon_m: f64,
    members: Vec<Vec<usize>>,
    photos: Vec<Vec<usize>>,
    /// Information (inverse covariance) and information-weighted place.
    sums: Vec<(Matrix2<f64>, Vector2<f64>)>,
    centres: Vec<Vector2<f64>>,
    grid: BTreeMap<(i64, i64), Vec<usize>>,
}

impl Vehicles {
    fn new(epsilon_m: f64) -> Self {
        Self {
            epsilon_m,
            members: Vec::new(),
            photos: Vec::new(),
            sums: Vec::new(),
            centres: Vec::new(),
            grid: BTreeMap::new(),
        }
    }

    fn cell(&self, place: &Vector2<f64>) -> (i64, i64) {
        (
            (place.x / self.epsilon_m).floor() as i64,
            (place.y / self.epsilon_m).floor() as i64,
        )
    }

    fn take(&mut self, idx: usize, item: &Item) {
        let vehicle = self.nearest(item).unwrap_or_else(|| self.found());
        let information = information(&item.covariance);
        let (sum, weighted) = &mut self.sums[vehicle];
        *sum += information;
        *weighted += information * item.place;
        let centre = sum
            .try_inverse()
            .map_or(item.place, |inverse| inverse * *weighted);
        self.move_to(vehicle, centre);
        self.members[vehicle].push(idx);
        let photos = &mut self.photos[vehicle];
        let at = photos.partition_point(|&photo| photo < item.photo);
        photos.insert(at, item.photo);
    }

    /// The nearest vehicle within the threshold without an item of this photo; of equally near
    /// ones the older.
    fn nearest(&self, item: &Item) -> Option<usize> {
        let (cx, cy) = self.cell(&item.place);
        let mut best: Option<(f64, usize)> = None;
        for dx in -1..=1 {
            for dy in -1..=1 {
                for &vehicle in self.grid.get(&(cx + dx, cy + dy)).into_iter().flatten() {
                    let distance = (self.centres[vehicle] - item.place).norm();
                    if distance > self.epsilon_m
                        || self.photos[vehicle].binary_search(&item.photo).is_ok()
                    {
                        continue;
                    }
                    if best.is_none_or(|known| (distance, vehicle) < known) {
                        best = Some((distance, vehicle));
                    }
                }
            }
        }
        best.map(|(_, vehicle)| vehicle)
    }

    /// Joins vehicles whose centres have come together and that share no photo: a lorry seen from
    /// two sides begins as two. Returns whether there were any.
    fn join_halves(&mut self) -> bool {
        let reach_m = HALVES_SHARE * self.epsilon_m;
        let mut pairs: Vec<(f64, usize, usize)> = Vec::new();
        for a in 0..self.members.len() {
            if self.members[a].is_empty() {
                continue;
            }
            let (cx, cy) = self.cell(&self.centres[a]);
            for (dx, dy) in (-1..=1).flat_map(|dx| (-1..=1).map(move |dy| (dx, dy))) {
                for &b in self.grid.get(&(cx + dx, cy + dy)).into_iter().flatten() {
                    let apart_m = (self.centres[a] - self.centres[b]).norm();
                    if a < b && apart_m <= reach_m && !self.share_a_photo(a, b) {
                        pairs.push((apart_m, a, b));
                    }
                }
            }
        }
        pairs.sort_by(|p, q| p.0.total_cmp(&q.0).then((p.1, p.2).cmp(&(q.1, q.2))));
        let mut changed = vec![false; self.members.len()];
        for (_, a, b) in &pairs {
            if !changed[*a] && !changed[*b] {
                (changed[*a], changed[*b]) = (true, true);
                self.join(*a, *b);
            }
        }
        !pairs.is_empty()
    }

    fn share_a_photo(&self, a: usize, b: usize) -> bool {
        let other = &self.photos[b];
        self.photos[a]
            .iter()
            .any(|photo| other.binary_search(photo).is_ok())
    }

    /// Gives all of `b`, the younger, to `a`.
    fn join(&mut self, a: usize, b: usize) {
        let members = std::mem::take(&mut self.members[b]);
        self.members[a].extend(members);
        let photos = std::mem::take(&mut self.photos[b]);
        self.photos[a].extend(photos);
        self.photos[a].sort_unstable();
        let (information, weighted) = self.sums[b];
        let (sum, sum_weighted) = &mut self.sums[a];
        *sum += information;
        *sum_weighted += weighted;
        let centre = sum
            .try_inverse()
            .map_or(self.centres[a], |inverse| inverse * *sum_weighted);
        let cell = self.cell(&self.centres[b]);
        if let Some(list) = self.grid.get_mut(&cell) {
            list.retain(|&other| other != b);
        }
        self.move_to(a, centre);
    }

    fn found(&mut self) -> usize {
        self.members.push(Vec::new());
        self.photos.push(Vec::new());
        self.sums.push((Matrix2::zeros(), Vector2::zeros()));
        self.centres.push(Vector2::repeat(f64::NAN));
        self.members.len() - 1
    }

    fn move_to(&mut self, vehicle: usize, centre: Vector2<f64>) {
        let before = self.centres[vehicle];
        if before.x.is_finite() {
            let cell = self.cell(&before);
            if let Some(list) = self.grid.get_mut(&cell) {
                list.retain(|&other| other != vehicle);
            }
        }
        self.centres[vehicle] = centre;
        self.grid
            .entry(self.cell(&centre))
            .or_default()
            .push(vehicle);
    }
}

/// Even a perfect box says where a vehicle is to a few centimetres only.
const MIN_VARIANCE_M2: f64 = 0.05 * 0.05;

/// The inverse covariance.
pub(super) fn information(covariance: &Matrix2<f64>) -> Matrix2<f64> {
    let floored = covariance + Matrix2::identity() * MIN_VARIANCE_M2;
    floored
        .try_inverse()
        .unwrap_or_else(|| Matrix2::identity() / MIN_VARIANCE_M2)
}
