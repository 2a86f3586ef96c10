//! Starting points for the alignment, from minimal sets of photos.

use super::{AlignConfig, AlignError, Gravity, INLIER_SIGMAS, Sighting};
use crate::seeded;
use crate::statistics::median;
use calibration::frames::{Enu, Solution};
use calibration::{Point, Rotation, Similarity};
use nalgebra::{Unit, UnitQuaternion, Vector2, Vector3};
use rand_core::RngCore;

/// Minimal sets tried. At one inlier in three, 300 pairs miss with probability 1e-15.
const N_SAMPLES: usize = 300;
/// A score cap per residual: beyond it a photo is an outlier whatever its distance.
const SCORE_CAP: f64 = INLIER_SIGMAS * INLIER_SIGMAS;
/// Photos must agree with the best transform: fewer is chance.
const MIN_INLIERS: usize = 3;
/// Below this share of agreeing positions there is no alignment worth the name.
const MIN_INLIER_SHARE: f64 = 0.3;

/// The best-scoring transform over all sampled minimal sets.
pub(super) fn best(
    sightings: &[Sighting],
    gravity: Option<&Gravity>,
    config: &AlignConfig,
) -> Result<Similarity<Enu, Solution>, AlignError> {
    let placed: Vec<usize> = (0..sightings.len())
        .filter(|&idx| sightings[idx].horizontal.is_some())
        .collect();
    let mut rng = seeded::rng(config.seed, "align", "hypotheses");
    let mut best: Option<(f64, Similarity<Enu, Solution>)> = None;
    let mut consider = |candidate: Similarity<Enu, Solution>| {
        let score = score(sightings, &candidate);
        if best.is_none_or(|(known, _)| score < known) {
            best = Some((score, candidate));
        }
    };
    if let Some(gravity) = gravity {
        for _ in 0..N_SAMPLES {
            let pair = sample::<2>(&mut rng, &placed);
            if let Some(candidate) = from_pair(sightings, pair, gravity) {
                consider(candidate);
            }
        }
        consider_one_place(sightings, gravity, &mut consider);
    }
    let with_height: Vec<usize> = placed
        .iter()
        .copied()
        .filter(|&idx| sightings[idx].height.is_some())
        .collect();
    if with_height.len() >= 3 {
        for _ in 0..N_SAMPLES {
            let triple = sample::<3>(&mut rng, &with_height);
            if let Some(candidate) = from_triple(sightings, triple) {
                consider(candidate);
            }
        }
    }
    let Some((_, found)) = best else {
        return Err(AlignError::NoVertical);
    };
    let inliers = placed
        .iter()
        .filter(|&&idx| agrees(&sightings[idx], &found))
        .count();
    let needed = MIN_INLIERS.max((MIN_INLIER_SHARE * placed.len() as f64).ceil() as usize);
    if inliers < needed {
        let within_m = placed
            .iter()
            .filter_map(|&idx| sightings[idx].horizontal)
            .map(|h| INLIER_SIGMAS * h.sigma_m)
            .fold(0.0, f64::max);
        return Err(AlignError::NoAgreement {
            inliers,
            total: placed.len(),
            within_m,
        });
    }
    Ok(found)
}

/// N different members of `pool`, which holds at least N.
fn sample<const N: usize>(rng: &mut impl RngCore, pool: &[usize]) -> [usize; N] {
    let mut chosen = [0; N];
    let mut n_chosen = 0;
    while n_chosen < N {
        let candidate = pool[seeded::below(rng, pool.len())];
        if !chosen[..n_chosen].contains(&candidate) {
            chosen[n_chosen] = candidate;
            n_chosen += 1;
        }
    }
    chosen
}

/// The rotation that levels the solver's frame: its down becomes -z.
fn level(gravity: &Gravity) -> UnitQuaternion<f64> {
    let down = Unit::new_normalize(gravity.down_in_solution.vector);
    let target = Unit::new_normalize(-Vector3::z());
    // Exactly opposite vectors have no unique shortest turn: any half turn about x or y does.
    UnitQuaternion::rotation_between_axis(&down, &target).unwrap_or_else(|| {
        UnitQuaternion::from_axis_angle(&Vector3::x_axis(), std::f64::consts::PI)
    })
}

/// Yaw and scale from two photos' horizontal positions, given the vertical.
fn from_pair(
    sightings: &[Sighting],
    [a, b]: [usize; 2],
    gravity: &Gravity,
) -> Option<Similarity<Enu, Solution>> {
    let level = level(gravity);
    let (ha, hb) = (sightings[a].horizontal?, sightings[b].horizontal?);
    let solved =
        level * (sightings[b].centre_in_solution.vector - sightings[a].centre_in_solution.vector);
    let measured = Vector2::new(hb.east_m - ha.east_m, hb.north_m - ha.north_m);
    let sigma = ha.sigma_m.hypot(hb.sigma_m);
    if measured.norm() < 2.0 * sigma || solved.xy().norm() < 1e-9 {
        return None;
    }
    let scale = measured.norm() / solved.xy().norm();
    let yaw = measured.y.atan2(measured.x) - solved.y.atan2(solved.x);
    let rotation = UnitQuaternion::from_axis_angle(&Vector3::z_axis(), yaw) * level;
    place(sightings, scale, rotation)
}

/// All photos over (nearly) one place, at different heights: yaw from the gimbals, scale from the
/// heights.
fn consider_one_place(
    sightings: &[Sighting],
    gravity: &Gravity,
    consider: &mut impl FnMut(Similarity<Enu, Solution>),
) {
    let level = level(gravity);
    let with_height: Vec<(f64, f64)> = sightings
        .iter()
        .filter_map(|s| Some(((level * s.centre_in_solution.vector).z, s.height?.height_m)))
        .collect();
    let Some(low) = with_height.iter().min_by(|a, b| a.1.total_cmp(&b.1)) else {
        return;
    };
    let Some(high) = with_height.iter().max_by(|a, b| a.1.total_cmp(&b.1)) else {
        return;
    };
    let scale = (high.1 - low.1) / (high.0 - low.0);
    if !(scale.is_finite() && scale > 0.0 && high.1 - low.1 > 5.0) {
        return;
    }
    let mut sin_cos = Vector2::zeros();
    for s in sightings {
        let Some(measured) = s.measured_rotation else {
            continue;
        };
        let camera_from_level =
            Rotation::from_quaternion(s.camera_from_solution.quaternion * level.inverse());
        let turn = calibration::attitude::heading(&measured)
            - calibration::attitude::heading(&camera_from_level);
        sin_cos += Vector2::new(turn.get().cos(), turn.get().sin());
    }
    // Headings run clockwise, rotations about z anticlockwise.
    let yaw = -sin_cos.y.atan2(sin_cos.x);
    let rotation = UnitQuaternion::from_axis_angle(&Vector3::z_axis(), yaw) * level;
    if let Some(candidate) = place(sightings, scale, rotation) {
        consider(candidate);
    }
}

fn from_triple(sightings: &[Sighting], triple: [usize; 3]) -> Option<Similarity<Enu, Solution>> {
    let mut target = Vec::with_capacity(3);
    let mut source = Vec::with_capacity(3);
    for idx in triple {
        let s = &sightings[idx];
        let (h, z) = (s.horizontal?, s.height?);
        target.push(Point::<Enu>::new(h.east_m, h.north_m, z.height_m));
        source.push(s.centre_in_solution);
    }
    super::similarity_from_points(&target, &source)
}

/// The translation for a given scale and rotation: the median of every photo's own.
fn place(
    sightings: &[Sighting],
    scale: f64,
    rotation: UnitQuaternion<f64>,
) -> Option<Similarity<Enu, Solution>> {
    let (mut east, mut north, mut up) = (Vec::new(), Vec::new(), Vec::new());
    for s in sightings {
        let turned = rotation * s.centre_in_solution.vector * scale;
        if let Some(h) = s.horizontal {
            east.push(h.east_m - turned.x);
            north.push(h.north_m - turned.y);
        }
        if let Some(z) = s.height {
            up.push(z.height_m - turned.z);
        }
    }
    let translation = Vector3::new(
        median(&mut east)?,
        median(&mut north)?,
        // Without any height the datum is set later, from the ground.
        median(&mut up).unwrap_or(0.0),
    );
    Similarity::new(scale, Rotation::from_quaternion(rotation), translation)
}

/// Horizontal and vertical misfit of one photo in sigmas, squared.
fn misfit(s: &Sighting, candidate: &Similarity<Enu, Solution>) -> (Option<f64>, Option<f64>) {
    let aligned = *candidate * s.centre_in_solution;
    let horizontal = s.horizontal.map(|h| {
        let (de, dn) = (aligned.x() - h.east_m, aligned.y() - h.north_m);
        (de * de + dn * dn) / (h.sigma_m * h.sigma_m)
    });
    let vertical = s.height.map(|z| {
        let d = (aligned.z() - z.height_m) / z.sigma_m;
        d * d
    });
    (horizontal, vertical)
}

fn agrees(s: &Sighting, candidate: &Similarity<Enu, Solution>) -> bool {
    misfit(s, candidate).0.is_some_and(|m| m <= SCORE_CAP)
}

fn score(sightings: &[Sighting], candidate: &Similarity<Enu, Solution>) -> f64 {
    sightings
        .iter()
        .map(|s| {
            let (horizontal, vertical) = misfit(s, candidate);
            horizontal.map_or(0.0, |m| m.min(SCORE_CAP))
                + vertical.map_or(0.0, |m| m.min(SCORE_CAP))
        })
        .sum()
}
