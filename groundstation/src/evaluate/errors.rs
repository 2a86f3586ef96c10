//! Errors of places, sigmas and sizes, with what all have in common apart.

use super::matching::Matching;
use super::{Compared, ShapeErrors};
use crate::entity::Entity;
use crate::statistics::median;
use calibration::Radians;
use nalgebra::{Matrix2, Rotation2, Vector2};
use serde::Serialize;
use std::collections::BTreeMap;

/// Rounds of leaving out what fits badly when the common error is found.
const ROUNDS: usize = 4;
/// What is left out lies this many times the median off.
const FAR_FACTOR: f64 = 4.0;
/// The map turns only where places lie this far apart, metres.
const MIN_SPREAD_M: f64 = 5.0;
/// Half of all values of chi-square with two degrees of freedom lie below this.
const CHI_SQUARE_MEDIAN: f64 = 1.386_294_361;

/// What all places have in common: the alignment's error.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct AlignmentError {
    /// Found minus true, metres east.
    pub east_m: f64,
    /// Found minus true, metres north.
    pub north_m: f64,
    /// Turn of the found map, degrees anticlockwise.
    pub turn_deg: f64,
    /// One sigma of the shift along each axis as stated with the poses, metres.
    pub stated_shift_sigma_m: Option<f64>,
    /// One sigma of the turn as stated, degrees.
    pub stated_turn_sigma_deg: Option<f64>,
}

/// Distances from the truth.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct PositionErrors {
    /// How many.
    pub n: usize,
    /// Median, metres.
    pub median_m: f64,
    /// 95 of 100 are nearer than this, metres.
    pub p95_m: f64,
    /// Root mean square, metres.
    pub rms_m: f64,
}

/// Whether stated sigmas hold.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Calibration {
    /// How many places; each has two principal axes.
    pub n: usize,
    /// Errors along principal axes within one sigma, of 2 n; 68 % where sigmas hold.
    pub within_one_sigma: usize,
    /// The same as a share.
    pub within_one_sigma_share: f64,
    /// Share along the longer axis.
    pub major_share: f64,
    /// Share along the shorter axis.
    pub minor_share: f64,
    /// Share within two sigma; 95 % where sigmas hold.
    pub within_two_sigma_share: f64,
    /// Median squared Mahalanobis distance over what it should be (1.386).
    pub mahalanobis_median_ratio: f64,
    /// Mean squared Mahalanobis distance over what it should be (2).
    pub mahalanobis_mean_ratio: f64,
}

/// A place as found, and as it is.
type Pair = (Vector2<f64>, Vector2<f64>);

/// Found minus true in the scene's frame, and the stated covariance.
struct Offset {
    offset: Vector2<f64>,
    covariance: Matrix2<f64>,
}

pub(super) struct Errors {
    pub(super) alignment: AlignmentError,
    anchors: Vec<Offset>,
    entities: Vec<Offset>,
}

/// The turn and shift that bring true places to found ones.
#[derive(Clone, Copy)]
struct Common {
    turn: Rotation2<f64>,
    middle_true: Vector2<f64>,
    middle_found: Vector2<f64>,
}

impl Common {
    /// By least squares, places that fit badly left out step by step.
    fn fit(pairs: &[Pair]) -> Option<Self> {
        let mut kept: Vec<Pair> = pairs.to_vec();
        let mut common = Self::least_squares(&kept)?;
        for _ in 0..ROUNDS {
            let mut off: Vec<f64> = pairs.iter().map(|pair| common.off(pair).norm()).collect();
            let limit = FAR_FACTOR * median(&mut off)?;
            kept = pairs.to_vec();
            kept.retain(|pair| common.off(pair).norm() <= limit);
            common = Self::least_squares(&kept)?;
        }
        Some(common)
    }

    fn least_squares(pairs: &[Pair]) -> Option<Self> {
        if pairs.is_empty() {
            return None;
        }
        let n = pairs.len() as f64;
        let middle_found = pairs.iter().map(|pair| pair.0).sum::<Vector2<f64>>() / n;
        let middle_true = pairs.iter().map(|pair| pair.1).sum::<Vector2<f64>>() / n;
        let (mut dot, mut cross, mut spread) = (0.0, 0.0, 0.0);
        for (found, truth) in pairs {
            let (f, t) = (found - middle_found, truth - middle_true);
            dot += t.dot(&f);
            cross += t.perp(&f);
            spread += t.norm_squared();
        }
        let angle = if (spread / n).sqrt() < MIN_SPREAD_M {
            0.0
        } else {
            cross.atan2(dot)
        };
        Some(Self {
            turn: Rotation2::new(angle),
            middle_true,
            middle_found,
        })
    }

    fn apply(&self, truth: &Vector2<f64>) -> Vector2<f64> {
        self.turn * (truth - self.middle_true) + self.middle_found
    }

    fn off(&self, (found, truth): &Pair) -> Vector2<f64> {
        found - self.apply(truth)
    }
}

/// The vehicle that most of an entity's detections are of; of equally many the first. `None` for
/// an entity of nothing.
pub(super) fn owners(entities: &[Entity], matched: &Matching) -> Vec<Option<usize>> {
    entities
        .iter()
        .map(|entity| {
            let mut counts: BTreeMap<usize, usize> = BTreeMap::new();
            for member in &entity.members {
                let key = (member.photo, member.detection);
                if let Some(Some(vehicle)) = matched.vehicle_of.get(&key) {
                    *counts.entry(*vehicle).or_insert(0) += 1;
                }
            }
            let most = counts
                .iter()
                .max_by_key(|&(vehicle, n)| (n, std::cmp::Reverse(vehicle)));
            most.map(|(vehicle, _)| *vehicle)
        })
        .collect()
}

impl Errors {
    /// `None` where nothing matches.
    pub(super) fn of(compared: &Compared<'_>, matched: &Matching) -> Option<Self> {
        let truth = compared.truth;
        let mut anchors = Vec::new();
        for anchor in compared.anchors {
            let key = (anchor.photo, anchor.detection);
            if let (Some(placed), Some(Some(vehicle))) =
                (&anchor.placed, matched.vehicle_of.get(&key))
            {
                let covariance = symmetric(placed.covariance_m2);
                let pair = (placed.point.vector.xy(), truth.place_in_scene(*vehicle));
                anchors.push((pair, covariance));
            }
        }
        let list = &compared.entities.entities;
        let entities: Vec<_> = list
            .iter()
            .zip(owners(list, matched))
            .filter(|(entity, _)| entity.is_confirmed)
            .filter_map(|(entity, owner)| {
                let pair = (entity.point.vector.xy(), truth.place_in_scene(owner?));
                Some((pair, symmetric(entity.covariance_m2)))
            })
            .collect();
        let pairs: Vec<_> = anchors.iter().map(|(pair, _)| *pair).collect();
        let common = Common::fit(&pairs)?;
        let offsets = |list: Vec<(Pair, Matrix2<f64>)>| {
            list.into_iter()
                .map(|(pair, covariance)| Offset {
                    offset: common.off(&pair),
                    covariance,
                })
                .collect()
        };
        let stated = compared.common_sigma;
        let shift = common.apply(&common.middle_true) - common.middle_true;
        Some(Self {
            alignment: AlignmentError {
                east_m: shift.x,
                north_m: shift.y,
                turn_deg: common.turn.angle().to_degrees(),
                stated_shift_sigma_m: stated.map(|sigma| sigma.shift_m),
                stated_turn_sigma_deg: stated.map(|sigma| sigma.turn_deg),
            },
            anchors: offsets(anchors),
            entities: offsets(entities),
        })
    }

    pub(super) fn entity_position(&self) -> Option<PositionErrors> {
        position(&self.entities)
    }

    pub(super) fn anchor_position(&self) -> Option<PositionErrors> {
        position(&self.anchors)
    }

    pub(super) fn anchor_sigmas(&self) -> Option<Calibration> {
        calibration(&self.anchors)
    }

    pub(super) fn entity_sigmas(&self) -> Option<Calibration> {
        calibration(&self.entities)
    }
}

fn symmetric([xx, xy, yy]: [f64; 3]) -> Matrix2<f64> {
    Matrix2::new(xx, xy, xy, yy)
}

fn position(offsets: &[Offset]) -> Option<PositionErrors> {
    let mut distances: Vec<f64> = offsets.iter().map(|o| o.offset.norm()).collect();
    let median_m = median(&mut distances)?;
    let n = distances.len();
    let squares: f64 = distances.iter().map(|d| d * d).sum();
    Some(PositionErrors {
        n,
        median_m,
        p95_m: distances[((n - 1) as f64 * 0.95).round() as usize],
        rms_m: (squares / n as f64).sqrt(),
    })
}

fn calibration(offsets: &[Offset]) -> Option<Calibration> {
    let mut by_axis: [Vec<f64>; 2] = [Vec::new(), Vec::new()];
    let mut squared = Vec::new();
    for Offset { offset, covariance } in offsets {
        let eigen = covariance.symmetric_eigen();
        let major = usize::from(eigen.eigenvalues[1] > eigen.eigenvalues[0]);
        let mut sum = 0.0;
        for (slot, axis) in [major, 1 - major].into_iter().enumerate() {
            let sigma = eigen.eigenvalues[axis].max(1e-12).sqrt();
            let sigmas = eigen.eigenvectors.column(axis).dot(offset).abs() / sigma;
            by_axis[slot].push(sigmas);
            sum += sigmas * sigmas;
        }
        squared.push(sum);
    }
    let n = offsets.len();
    let mean = squared.iter().sum::<f64>() / n.max(1) as f64;
    let middle = median(&mut squared)?;
    let within = |slot: usize, limit: f64| by_axis[slot].iter().filter(|z| **z <= limit).count();
    let share = |count: usize, of: usize| count as f64 / of as f64;
    let within_one_sigma = within(0, 1.0) + within(1, 1.0);
    Some(Calibration {
        n,
        within_one_sigma,
        within_one_sigma_share: share(within_one_sigma, 2 * n),
        major_share: share(within(0, 1.0), n),
        minor_share: share(within(1, 1.0), n),
        within_two_sigma_share: share(within(0, 2.0) + within(1, 2.0), 2 * n),
        mahalanobis_median_ratio: middle / CHI_SQUARE_MEDIAN,
        mahalanobis_mean_ratio: mean / 2.0,
    })
}

/// Sizes and axes of confirmed entities; `None` where none has a shape.
pub(super) fn shape(compared: &Compared<'_>, owners: &[Option<usize>]) -> Option<ShapeErrors> {
    let mut sizes: [Vec<(f64, f64)>; 3] = Default::default();
    let (mut fronts_suggested, mut fronts_right) = (0, 0);
    for (entity, owner) in compared.entities.entities.iter().zip(owners) {
        let (Some(shape), Some(owner), true) = (&entity.footprint, owner, entity.is_confirmed)
        else {
            continue;
        };
        let vehicle = &compared.truth.vehicles[*owner];
        let front = compared.truth.front_in_scene(*owner);
        let axis = Radians::from_degrees(shape.axis_deg);
        let off_axis = (axis - front).wrapped_axis().abs().to_degrees();
        for (list, error, sigma) in [
            (0, shape.length_m - vehicle.length_m, shape.length_sigma_m),
            (1, shape.width_m - vehicle.width_m, shape.width_sigma_m),
            (2, off_axis, shape.axis_sigma_deg),
        ] {
            sizes[list].push((error, sigma));
        }
        if let Some(suggested) = &shape.front {
            fronts_suggested += 1;
            let off = (Radians::from_degrees(suggested.azimuth_deg) - front).wrapped();
            fronts_right += usize::from(off.abs().to_degrees() < 90.0);
        }
    }
    let within = |list: &[(f64, f64)]| {
        list.iter()
            .filter(|(error, sigma)| error.abs() <= *sigma)
            .count() as f64
            / list.len() as f64
    };
    let middle = |list: &[(f64, f64)]| {
        let mut errors: Vec<f64> = list.iter().map(|pair| pair.0.abs()).collect();
        median(&mut errors)
    };
    let bias = |list: &[(f64, f64)]| {
        list.iter().map(|pair| pair.0).sum::<f64>() / list.len().max(1) as f64
    };
    Some(ShapeErrors {
        n: sizes[0].len(),
        length_bias_m: bias(&sizes[0]),
        width_bias_m: bias(&sizes[1]),
        length_median_m: middle(&sizes[0])?,
        length_within_one_sigma: within(&sizes[0]),
        width_median_m: middle(&sizes[1])?,
        width_within_one_sigma: within(&sizes[1]),
        axis_median_deg: middle(&sizes[2])?,
        axis_within_one_sigma: within(&sizes[2]),
        fronts_suggested,
        fronts_right,
    })
}
