//! What is known of two groups of detections that may be one vehicle.

use nalgebra::{Matrix2, Vector2};
use serde::{Deserialize, Serialize};

/// A group of detections, none two of one photo.
#[derive(Clone, Debug, PartialEq)]
pub struct Group {
    /// Its middle, east and north, metres.
    pub place: Vector2<f64>,
    /// Covariance of the middle, square metres.
    pub covariance: Matrix2<f64>,
    /// Photos of its detections, sorted.
    pub photos: Vec<usize>,
    /// Photos that should show it, sorted.
    pub expected: Vec<usize>,
    /// Length of its boxes on the ground, metres; `None` where no box is seen from steep enough.
    pub length_m: Option<f64>,
    /// Direction of their length, clockwise from north, in [0, 180) degrees.
    pub axis_deg: Option<f64>,
    /// Mean angle of its rays below the horizontal, degrees.
    pub depression_deg: f64,
    /// First and last time it was seen, seconds; `None` without times.
    pub seen_s: Option<(f64, f64)>,
    /// Mean colour (CIE L*a*b*); `None` where it was not measured.
    pub colour: Option<[f64; 3]>,
}

impl Group {
    /// Two groups as one.
    #[must_use]
    pub fn joined(&self, other: &Self) -> Self {
        let inverse = |m: &Matrix2<f64>| m.try_inverse().unwrap_or_else(Matrix2::identity);
        let (a, b) = (inverse(&self.covariance), inverse(&other.covariance));
        let covariance = inverse(&(a + b));
        let [n, m] = [self.photos.len(), other.photos.len()].map(|n| n as f64);
        let larger = if n >= m { self } else { other };
        let smaller = if n >= m { other } else { self };
        Self {
            place: covariance * (a * self.place + b * other.place),
            covariance,
            photos: union(&self.photos, &other.photos),
            expected: union(&larger.expected, &self.photos_and(other)),
            length_m: larger.length_m.or(smaller.length_m),
            axis_deg: larger.axis_deg.or(smaller.axis_deg),
            depression_deg: (n * self.depression_deg + m * other.depression_deg) / (n + m),
            seen_s: match (self.seen_s, other.seen_s) {
                (Some(a), Some(b)) => Some((a.0.min(b.0), a.1.max(b.1))),
                (a, b) => a.or(b),
            },
            colour: larger.colour.or(smaller.colour),
        }
    }

    fn photos_and(&self, other: &Self) -> Vec<usize> {
        union(&self.photos, &other.photos)
    }

    /// Whether both have a detection of one photo.
    #[must_use]
    pub fn shares_a_photo(&self, other: &Self) -> bool {
        let (few, many) = if self.photos.len() < other.photos.len() {
            (&self.photos, &other.photos)
        } else {
            (&other.photos, &self.photos)
        };
        few.iter().any(|photo| many.binary_search(photo).is_ok())
    }
}

fn union(a: &[usize], b: &[usize]) -> Vec<usize> {
    let mut all: Vec<usize> = a.iter().chain(b).copied().collect();
    all.sort_unstable();
    all.dedup();
    all
}

/// What is typical of a scene.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Scale {
    /// The distance within which detections were grouped, metres.
    pub epsilon_m: f64,
    /// Share of the photos that should show a vehicle in which it is detected.
    pub recall: f64,
}

/// What is known of a candidate. `a` is the group of more detections.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Features {
    /// Between the middles, metres.
    pub distance_m: f64,
    /// The same over one sigma of it.
    pub distance_sigmas: f64,
    /// The same over the distance within which detections were grouped.
    pub distance_epsilons: f64,
    /// Photos that should show both and in which one is detected.
    pub n_covisible: usize,
    /// Of these, with a detection of `a`.
    pub n_seen_a: usize,
    /// Of these, with a detection of `b`.
    pub n_seen_b: usize,
    /// Logarithm of the likelihood ratio that never both are detected.
    pub exclusion: f64,
    /// The co-visibility model's log odds, before any calibration.
    pub log_odds_start: f64,
    /// Detections of `a`.
    pub n_a: usize,
    /// Detections of `b`.
    pub n_b: usize,
    /// Share of the photos that should show `b` in which it is detected.
    pub share_b: f64,
    /// Longer over shorter length, its logarithm.
    pub size_ratio_ln: Option<f64>,
    /// Between the axes, degrees in [0, 90].
    pub axis_difference_deg: Option<f64>,
    /// Between the mean angles of rays, degrees.
    pub pitch_mix_deg: f64,
    /// Between the times they were seen, seconds; 0 where these overlap.
    pub time_gap_s: Option<f64>,
    /// Between their colours (CIE76).
    pub colour_distance: Option<f64>,
}

/// What a middle may be off beside its sigma, metres.
const SYSTEMATIC_M: f64 = 0.15;
/// More photos than this say no more: their boxes fail for common reasons.
const MAX_EXCLUSION: f64 = 12.0;

/// What is known of two groups that share no photo.
#[must_use]
pub fn features(one: &Group, other: &Group, scale: &Scale) -> Features {
    let (a, b) = if (one.photos.len(), other.place.x) >= (other.photos.len(), one.place.x) {
        (one, other)
    } else {
        (other, one)
    };
    let off = a.place - b.place;
    let covariance =
        a.covariance + b.covariance + Matrix2::identity() * (2.0 * SYSTEMATIC_M * SYSTEMATIC_M);
    let squared = covariance
        .try_inverse()
        .map_or(f64::INFINITY, |inverse| off.dot(&(inverse * off)));
    let variance = covariance.trace() / 2.0;
    let holds = |list: &[usize], photo: usize| list.binary_search(&photo).is_ok();
    let (mut n_covisible, mut n_seen_a, mut n_seen_b) = (0, 0, 0);
    for &photo in a
        .expected
        .iter()
        .filter(|photo| holds(&b.expected, **photo))
    {
        let (in_a, in_b) = (holds(&a.photos, photo), holds(&b.photos, photo));
        n_covisible += usize::from(in_a || in_b);
        n_seen_a += usize::from(in_a);
        n_seen_b += usize::from(in_b);
    }
    let both = (1.0 - scale.recall * scale.recall).max(1e-3);
    let exclusion = (-0.5 * n_covisible as f64 * both.ln()).min(MAX_EXCLUSION);
    let n_expected = b.expected.len().max(b.photos.len()).max(1);
    Features {
        distance_m: off.norm(),
        distance_sigmas: squared.sqrt(),
        distance_epsilons: off.norm() / scale.epsilon_m,
        n_covisible,
        n_seen_a,
        n_seen_b,
        exclusion,
        log_odds_start: (scale.epsilon_m * scale.epsilon_m / (2.0 * variance)).ln() - squared / 2.0
            + exclusion,
        n_a: a.photos.len(),
        n_b: b.photos.len(),
        share_b: b.photos.len() as f64 / n_expected as f64,
        size_ratio_ln: both_of(a.length_m, b.length_m).map(|(a, b)| (a / b).ln().abs()),
        axis_difference_deg: both_of(a.axis_deg, b.axis_deg).map(|(a, b)| axis_difference(a, b)),
        pitch_mix_deg: (a.depression_deg - b.depression_deg).abs(),
        time_gap_s: both_of(a.seen_s, b.seen_s)
            .map(|(a, b)| (a.0.max(b.0) - a.1.min(b.1)).max(0.0)),
        colour_distance: both_of(a.colour, b.colour).map(|(a, b)| {
            let square = |axis: usize| (a[axis] - b[axis]).powi(2);
            (square(0) + square(1) + square(2)).sqrt()
        }),
    }
}

fn both_of<T>(a: Option<T>, b: Option<T>) -> Option<(T, T)> {
    Some((a?, b?))
}

/// Between two axes, degrees in [0, 90].
pub(crate) fn axis_difference(a_deg: f64, b_deg: f64) -> f64 {
    let off = (a_deg - b_deg).rem_euclid(180.0);
    off.min(180.0 - off)
}
