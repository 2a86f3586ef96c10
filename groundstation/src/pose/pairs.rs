//! Which photos to match: those whose predicted footprints share ground, seen from directions and
//! at scales that a feature matcher can join.
//!
//! Distances between camera positions say little: a photo from 120 m height looking 30 degrees
//! down sees the ground 200 m ahead, and two such photos of one car can be taken 400 m apart.
//! What connects is measured in `reference` terms as transition tilt (up to 1.5 good, from 2 on
//! hopeless) and scale (up to 2 good, 4 marginal).

use calibration::ground::{Footprint, overlap};
use nalgebra::Vector2;
use std::collections::BTreeSet;

/// What is known of a photo before matching.
#[derive(Clone, Debug, Default)]
pub struct PairPrior {
    /// Its predicted footprint, where position, height and attitude are known.
    pub footprint: Option<Footprint>,
    /// East and north, metres, where known.
    pub position: Option<[f64; 2]>,
    /// Seconds since any fixed instant, where known.
    pub time_s: Option<f64>,
}

/// How many pairs.
#[derive(Clone, Copy, Debug)]
pub struct PairLimits {
    /// Best partners taken per photo; a photo may end with more, being another's partner.
    pub partners_per_photo: usize,
    /// Partners in time and spread partners of a photo whose footprint is unknown.
    pub partners_without_footprint: usize,
}

impl Default for PairLimits {
    fn default() -> Self {
        Self {
            partners_per_photo: 12,
            partners_without_footprint: 10,
        }
    }
}

/// Common footprint over the smaller one, at least.
const MIN_SHARE: f64 = 0.15;
/// Transition tilt at most: 1.8 is where SIFT still finds a few matches.
const MAX_TILT: f64 = 1.8;
/// Ground sample distance ratio at most.
const MAX_SCALE: f64 = 3.0;

struct Candidate {
    score: f64,
    pair: (usize, usize),
    good: bool,
}

/// The pairs to match, each as (smaller index, larger index), sorted. The graph over all photos
/// is connected whenever there are at least two photos.
#[must_use]
pub fn choose(priors: &[PairPrior], limits: PairLimits) -> Vec<(usize, usize)> {
    let mut candidates = candidates(priors);
    // Best first; ties by index, so that the order of equal candidates is defined.
    candidates.sort_by(|a, b| b.score.total_cmp(&a.score).then(a.pair.cmp(&b.pair)));
    let mut n_partners = vec![0; priors.len()];
    let mut pairs = BTreeSet::new();
    for candidate in candidates.iter().filter(|c| c.good) {
        let (a, b) = candidate.pair;
        if n_partners[a].min(n_partners[b]) < limits.partners_per_photo {
            n_partners[a] += 1;
            n_partners[b] += 1;
            pairs.insert(candidate.pair);
        }
    }
    for (idx, prior) in priors.iter().enumerate() {
        if prior.footprint.is_none() {
            add_blind_partners(priors, idx, limits.partners_without_footprint, &mut pairs);
        }
    }
    connect(priors, &candidates, &mut pairs);
    pairs.into_iter().collect()
}

fn ordered(a: usize, b: usize) -> (usize, usize) {
    (a.min(b), a.max(b))
}

/// Every pair with common ground, the ones that cannot be matched marked.
fn candidates(priors: &[PairPrior]) -> Vec<Candidate> {
    let circles: Vec<Option<(Vector2<f64>, f64)>> = priors
        .iter()
        .map(|p| p.footprint.as_ref().map(circle))
        .collect();
    let mut found = Vec::new();
    for a in 0..priors.len() {
        for b in a + 1..priors.len() {
            let (Some(ca), Some(cb)) = (&circles[a], &circles[b]) else {
                continue;
            };
            if (ca.0 - cb.0).norm() > ca.1 + cb.1 {
                continue;
            }
            let (Some(fa), Some(fb)) = (&priors[a].footprint, &priors[b].footprint) else {
                continue;
            };
            let Some(common) = overlap(fa, fb) else {
                continue;
            };
            let good = common.share >= MIN_SHARE
                && common.transition_tilt <= MAX_TILT
                && common.scale_ratio <= MAX_SCALE;
            let score = common.share / (common.transition_tilt * common.scale_ratio);
            found.push(Candidate {
                score,
                pair: (a, b),
                good,
            });
        }
    }
    found
}

/// A circle around a footprint's corners.
fn circle(footprint: &Footprint) -> (Vector2<f64>, f64) {
    let corners = footprint.hull();
    let centre = corners.iter().sum::<Vector2<f64>>() / corners.len().max(1) as f64;
    let radius = corners
        .iter()
        .map(|c| (c - centre).norm())
        .fold(0.0, f64::max);
    (centre, radius)
}

/// Neighbours in time on both sides, and as many spread over the rest.
fn add_blind_partners(
    priors: &[PairPrior],
    idx: usize,
    n_partners: usize,
    pairs: &mut BTreeSet<(usize, usize)>,
) {
    let mut by_time: Vec<usize> = (0..priors.len()).collect();
    // Photos without a time keep their place in the list, which is by name.
    by_time.sort_by(|&a, &b| {
        let time = |i: usize| priors[i].time_s.unwrap_or(f64::INFINITY);
        time(a).total_cmp(&time(b)).then(a.cmp(&b))
    });
    let Some(at) = by_time.iter().position(|&other| other == idx) else {
        return;
    };
    let low = at.saturating_sub(n_partners);
    let high = (at + n_partners).min(by_time.len() - 1);
    for &other in &by_time[low..=high] {
        if other != idx {
            pairs.insert(ordered(idx, other));
        }
    }
    let step = (priors.len() / (2 * n_partners).max(1)).max(1);
    for &other in by_time.iter().step_by(step) {
        if other != idx {
            pairs.insert(ordered(idx, other));
        }
    }
}

/// Joins what is not connected: by the best pair of footprints between two parts, else by the
/// nearest positions, else by any.
fn connect(priors: &[PairPrior], candidates: &[Candidate], pairs: &mut BTreeSet<(usize, usize)>) {
    let mut parts = Parts::new(priors.len());
    for &(a, b) in pairs.iter() {
        parts.join(a, b);
    }
    for candidate in candidates {
        let (a, b) = candidate.pair;
        if parts.join(a, b) {
            pairs.insert(candidate.pair);
        }
    }
    if parts.n_parts() < 2 {
        return;
    }
    let mut by_distance: Vec<(f64, (usize, usize))> = Vec::new();
    for a in 0..priors.len() {
        for b in a + 1..priors.len() {
            if parts.root(a) != parts.root(b) {
                let apart = match (priors[a].position, priors[b].position) {
                    (Some(pa), Some(pb)) => (pa[0] - pb[0]).hypot(pa[1] - pb[1]),
                    _ => f64::INFINITY,
                };
                by_distance.push((apart, (a, b)));
            }
        }
    }
    by_distance.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
    for (_, (a, b)) in by_distance {
        if parts.join(a, b) {
            pairs.insert((a, b));
        }
    }
}

/// Disjoint sets.
struct Parts {
    parent: Vec<usize>,
    n_parts: usize,
}

impl Parts {
    fn new(n: usize) -> Self {
        Self {
            parent: (0..n).collect(),
            n_parts: n,
        }
    }

    fn root(&mut self, mut idx: usize) -> usize {
        while self.parent[idx] != idx {
            self.parent[idx] = self.parent[self.parent[idx]];
            idx = self.parent[idx];
        }
        idx
    }

    /// Joins two sets; false when they were one already.
    fn join(&mut self, a: usize, b: usize) -> bool {
        let (a, b) = (self.root(a), self.root(b));
        if a == b {
            return false;
        }
        self.parent[a.max(b)] = a.min(b);
        self.n_parts -= 1;
        true
    }

    fn n_parts(&self) -> usize {
        self.n_parts
    }
}

/// The number of connected parts of a graph over `n` photos.
#[must_use]
pub fn n_parts(n: usize, pairs: impl IntoIterator<Item = (usize, usize)>) -> usize {
    let mut parts = Parts::new(n);
    for (a, b) in pairs {
        parts.join(a, b);
    }
    parts.n_parts()
}

#[cfg(test)]
mod tests {
    use super::*;
    use calibration::ground::{GroundView, ViewLimits};
    use calibration::{Attitude, CameraModel, Metres, Point, Rigid};

    fn prior(east: f64, north: f64, height: f64, yaw_deg: f64, pitch_deg: f64) -> PairPrior {
        let camera = CameraModel::pinhole(1600, 1200, 1150.0);
        let rotation = Attitude::from_degrees(yaw_deg, pitch_deg, 0.0).camera_from_enu();
        let pose = Rigid::from_centre(rotation, Point::new(east, north, height));
        let view = GroundView::new(camera, pose, Metres(0.0));
        PairPrior {
            footprint: view.footprint(&ViewLimits::for_pairs(Metres(height))),
            position: Some([east, north]),
            time_s: Some(0.0),
        }
    }

    #[test]
    fn opposite_obliques_of_one_place_are_paired_although_far_apart() {
        // Both look at the origin from 104 m away on opposite sides.
        let priors = [
            prior(0.0, -104.0, 60.0, 0.0, -30.0),
            prior(0.0, 104.0, 60.0, 180.0, -30.0),
        ];
        assert_eq!(choose(&priors, PairLimits::default()), [(0, 1)]);
    }

    #[test]
    fn neighbours_that_look_apart_are_not_paired_for_nearness() {
        let mut priors = vec![
            prior(0.0, 0.0, 40.0, 0.0, -45.0),
            prior(2.0, 0.0, 40.0, 180.0, -45.0),
            prior(0.0, 5.0, 40.0, 0.0, -45.0),
            prior(2.0, -5.0, 40.0, 180.0, -45.0),
        ];
        priors.push(prior(0.0, 0.0, 40.0, 0.0, -90.0));
        let pairs = choose(&priors, PairLimits::default());
        assert!(
            pairs.contains(&(0, 2)) && pairs.contains(&(1, 3)),
            "{pairs:?}"
        );
        assert!(!pairs.contains(&(0, 1)), "{pairs:?}");
        assert_eq!(n_parts(priors.len(), pairs), 1);
    }

    #[test]
    fn every_photo_is_connected_also_without_priors() {
        let mut priors: Vec<PairPrior> = (0..40)
            .map(|i| prior(8.0 * f64::from(i), 0.0, 60.0, 0.0, -90.0))
            .collect();
        for idx in [0, 7, 39] {
            priors[idx] = PairPrior {
                footprint: None,
                position: None,
                time_s: Some(idx as f64),
            };
        }
        priors.push(prior(5_000.0, 0.0, 60.0, 0.0, -90.0));
        let pairs = choose(&priors, PairLimits::default());
        assert_eq!(n_parts(priors.len(), pairs.iter().copied()), 1);
        assert!(pairs.iter().filter(|p| p.0 == 7 || p.1 == 7).count() >= 20);
        assert!(pairs.len() < 15 * priors.len());
    }

    #[test]
    fn a_wide_gap_of_scale_is_bridged_and_no_more() {
        let priors = [
            prior(0.0, 0.0, 20.0, 0.0, -90.0),
            prior(0.0, 0.0, 120.0, 0.0, -90.0),
        ];
        assert_eq!(choose(&priors, PairLimits::default()), [(0, 1)]);
        let mut between = priors.to_vec();
        between.push(prior(0.0, 0.0, 50.0, 0.0, -90.0));
        assert_eq!(choose(&between, PairLimits::default()), [(0, 2), (1, 2)]);
    }
}
