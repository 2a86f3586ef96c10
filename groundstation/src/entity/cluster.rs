//! Greedy constrained clustering: detections in descending confidence, each to the nearest
//! vehicle within a threshold that has none of the same photo yet, else a new vehicle
//! (RSLiveBench-UAV, section 3.2, equation 4).

use super::threshold::{Threshold, scatter, threshold};
use crate::assignment::{Edge, assign};
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

/// In which order detections are taken.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Order {
    /// Descending confidence, ties by the surer place: the paper's.
    #[default]
    Confidence,
    /// The surest place first, ties by confidence.
    Geometry,
}

/// How to cluster.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct ClusterOptions {
    /// Distance threshold, metres; found from the items by default.
    pub epsilon_m: Option<f64>,
    /// In which order detections are taken.
    pub order: Order,
    /// Rounds in which each photo's detections are assigned anew, all at once.
    pub refine_rounds: usize,
}

impl Default for ClusterOptions {
    fn default() -> Self {
        Self {
            epsilon_m: None,
            order: Order::Confidence,
            refine_rounds: REFINE_ROUNDS,
        }
    }
}

/// Rounds of assignment; the third changes next to nothing.
pub const REFINE_ROUNDS: usize = 3;

/// Items by vehicle.
#[derive(Clone, Debug, PartialEq)]
pub struct Clusters {
    /// The threshold used.
    pub threshold: Threshold,
    /// Indices of items per vehicle, the founder first.
    pub members: Vec<Vec<usize>>,
}

/// Two vehicles whose centres end within this share of the threshold are halves of one.
const HALVES_SHARE: f64 = 0.5;
/// Clusters items. The result does not depend on the order of the items: they are put into the
/// order of photos and numbers first, so that even sums round alike.
#[must_use]
pub fn cluster(items: &[Item], options: &ClusterOptions) -> Clusters {
    let mut canonical: Vec<usize> = (0..items.len()).collect();
    canonical.sort_by_key(|&idx| (items[idx].photo, items[idx].detection));
    let sorted: Vec<Item> = canonical.iter().map(|&idx| items[idx].clone()).collect();
    let mut found = cluster_sorted(&sorted, options);
    for member in found.members.iter_mut().flatten() {
        *member = canonical[*member];
    }
    found
}

fn cluster_sorted(items: &[Item], options: &ClusterOptions) -> Clusters {
    let mut threshold = threshold(items, options.epsilon_m);
    let mut vehicles = one_pass(items, &threshold, options);
    if let Some(scatter_m) = scatter(items, &vehicles.members)
        && threshold.raise_to_scatter(scatter_m)
    {
        vehicles = one_pass(items, &threshold, options);
    }
    for _ in 0..options.refine_rounds {
        if !refine(items, &mut vehicles) {
            break;
        }
    }
    let members = vehicles.members.into_iter();
    Clusters {
        threshold,
        members: members.filter(|m| !m.is_empty()).collect(),
    }
}

fn one_pass(items: &[Item], threshold: &Threshold, options: &ClusterOptions) -> Vehicles {
    let mut vehicles = Vehicles::new(threshold.epsilon_m);
    for idx in in_order(items, options.order) {
        vehicles.take(idx, &items[idx]);
    }
    while vehicles.join_halves() {}
    vehicles
}

/// Ties go by photo and number.
fn in_order(items: &[Item], by: Order) -> Vec<usize> {
    let mut order: Vec<usize> = (0..items.len()).collect();
    order.sort_by(|&a, &b| {
        let (a, b) = (&items[a], &items[b]);
        let confident = b.score.total_cmp(&a.score);
        let sure = (a.covariance.trace()).total_cmp(&b.covariance.trace());
        let first = match by {
            Order::Confidence => confident.then(sure),
            Order::Geometry => sure.then(confident),
        };
        first.then((a.photo, a.detection).cmp(&(b.photo, b.detection)))
    });
    order
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
        self.give(vehicle, idx, item);
    }

    /// Takes an item away from a vehicle, which may be left empty.
    fn release(&mut self, vehicle: usize, idx: usize, item: &Item) {
        let information = information(&item.covariance);
        let (sum, weighted) = &mut self.sums[vehicle];
        *sum -= information;
        *weighted -= information * item.place;
        self.members[vehicle].retain(|&member| member != idx);
        self.photos[vehicle].retain(|&photo| photo != item.photo);
        if self.members[vehicle].is_empty() {
            self.sums[vehicle] = (Matrix2::zeros(), Vector2::zeros());
            self.leave_grid(vehicle);
            self.centres[vehicle] = Vector2::repeat(f64::NAN);
            return;
        }
        let (sum, weighted) = self.sums[vehicle];
        if let Some(inverse) = sum.try_inverse() {
            self.move_to(vehicle, inverse * weighted);
        }
    }

    /// Vehicles that an item may belong to, with twice the negative logarithm of likelihood times
    /// prior: a vehicle that many photos show is likelier to be in this one, too. (Without the
    /// prior, fragments grow: their middles are unsure, so everything fits them.)
    fn fitting(&self, item: &Item) -> Vec<(usize, f64)> {
        let reach_m = REFINE_REACH * self.epsilon_m;
        let (cx, cy) = self.cell(&item.place);
        let mut fitting = Vec::new();
        for (dx, dy) in (-2..=2).flat_map(|dx| (-2..=2).map(move |dy| (dx, dy))) {
            for &vehicle in self.grid.get(&(cx + dx, cy + dy)).into_iter().flatten() {
                let off = self.centres[vehicle] - item.place;
                if off.norm() > reach_m || self.photos[vehicle].binary_search(&item.photo).is_ok() {
                    continue;
                }
                let of_vehicle = self.sums[vehicle].0.try_inverse().unwrap_or_default();
                let both =
                    item.covariance + of_vehicle + Matrix2::identity() * SYSTEMATIC_VARIANCE_M2;
                let squared = both
                    .try_inverse()
                    .map_or(f64::INFINITY, |i| off.dot(&(i * off)));
                if squared > MAX_SQUARED_SIGMAS {
                    continue;
                }
                let n = self.members[vehicle].len() as f64;
                let cost = squared + both.determinant().ln() - 2.0 * n.ln();
                fitting.push((vehicle, cost));
            }
        }
        fitting
    }

    /// The vehicle an item had to itself, else a new one.
    fn empty_or_new(&mut self, vehicle: usize) -> usize {
        if self.members[vehicle].is_empty() {
            vehicle
        } else {
            self.found()
        }
    }

    fn give(&mut self, vehicle: usize, idx: usize, item: &Item) {
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

    fn leave_grid(&mut self, vehicle: usize) {
        let before = self.centres[vehicle];
        if before.x.is_finite() {
            let cell = self.cell(&before);
            if let Some(list) = self.grid.get_mut(&cell) {
                list.retain(|&other| other != vehicle);
            }
        }
    }

    fn move_to(&mut self, vehicle: usize, centre: Vector2<f64>) {
        self.leave_grid(vehicle);
        self.centres[vehicle] = centre;
        self.grid
            .entry(self.cell(&centre))
            .or_default()
            .push(vehicle);
    }
}

/// Even a perfect box says where a vehicle is to a few centimetres only.
const MIN_VARIANCE_M2: f64 = 0.05 * 0.05;

/// Photos and vehicles meet within this many thresholds when a photo is assigned anew.
const REFINE_REACH: f64 = 1.5;
/// What a vehicle's middle may be off beside its stated uncertainty: the middles of boxes are not
/// those of vehicles, square metres.
const SYSTEMATIC_VARIANCE_M2: f64 = 0.15 * 0.15;
/// A detection further from a vehicle than this many sigma (squared) is not of it. Wide: a lorry's
/// box moves by metres with the direction it is seen from.
const MAX_SQUARED_SIGMAS: f64 = 100.0;
/// Dearer than any vehicle that fits.
const ALONE: f64 = 1e6;

/// Assigns each photo's items anew, the largest photo first: all at once and one to one, each to
/// the vehicle it fits best among those of other photos' items. Says whether anything moved.
fn refine(items: &[Item], vehicles: &mut Vehicles) -> bool {
    let mut by_photo: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    for (idx, item) in items.iter().enumerate() {
        by_photo.entry(item.photo).or_default().push(idx);
    }
    let mut vehicle_of = vec![usize::MAX; items.len()];
    for (vehicle, members) in vehicles.members.iter().enumerate() {
        for &idx in members {
            vehicle_of[idx] = vehicle;
        }
    }
    let mut photos: Vec<Vec<usize>> = by_photo.into_values().collect();
    photos.sort_by_key(|list| std::cmp::Reverse(list.len()));
    let mut moved = false;
    for list in &photos {
        for &idx in list {
            vehicles.release(vehicle_of[idx], idx, &items[idx]);
        }
        let mut edges = Vec::new();
        for (row, &idx) in list.iter().enumerate() {
            for (column, cost) in vehicles.fitting(&items[idx]) {
                edges.push(Edge { row, column, cost });
            }
        }
        let taken = assign(list.len(), &edges, ALONE);
        for (&idx, vehicle) in list.iter().zip(taken) {
            let vehicle = vehicle.unwrap_or_else(|| vehicles.empty_or_new(vehicle_of[idx]));
            moved |= vehicle != vehicle_of[idx];
            vehicle_of[idx] = vehicle;
            vehicles.give(vehicle, idx, &items[idx]);
        }
    }
    moved
}

/// The inverse covariance.
pub(super) fn information(covariance: &Matrix2<f64>) -> Matrix2<f64> {
    let floored = covariance + Matrix2::identity() * MIN_VARIANCE_M2;
    floored
        .try_inverse()
        .unwrap_or_else(|| Matrix2::identity() / MIN_VARIANCE_M2)
}
