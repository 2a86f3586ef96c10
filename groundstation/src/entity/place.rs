//! Where the detections of a vehicle are together.

use super::build::Piece;
use super::cluster::information;
use super::visibility::Block;
use crate::anchor::{Outline, Placed};
use crate::merges::Group;
use crate::statistics::median;
use nalgebra::{Matrix2, Vector2};

/// Members whose scatter says something.
const MIN_SCATTERED: usize = 3;
/// Boxes seen from steeper than this show the outline rather than the sides, degrees.
const STEEP_DEG: f64 = 40.0;
/// The middles of boxes are not those of vehicles: what no number of photos averages out, square
/// metres.
const SYSTEMATIC_VARIANCE_M2: f64 = 0.03 * 0.03;
/// Where members are together.
pub(super) struct Place {
    pub(super) place: Vector2<f64>,
    pub(super) covariance: Matrix2<f64>,
    pub(super) up: f64,
    ground_z: f64,
    /// Direction of the length, clockwise from north, degrees.
    pub(super) axis_deg: Option<f64>,
    length_m: Option<f64>,
}

impl Place {
    pub(super) fn of(members: &[usize], pieces: &[Piece<'_>]) -> Self {
        // Always in one order, so that sums round alike however the members came together.
        let mut members = members.to_vec();
        members.sort_unstable();
        let members = members.as_slice();
        let mut sum = Matrix2::zeros();
        let mut weighted = Vector2::zeros();
        for &idx in members {
            let information = information(&pieces[idx].item.covariance);
            sum += information;
            weighted += information * pieces[idx].item.place;
        }
        let covariance = sum.try_inverse().unwrap_or_else(Matrix2::identity);
        let place = covariance * weighted;
        let placed = || members.iter().map(|&idx| pieces[idx].placed);
        let mut heights: Vec<f64> = placed().map(|p| p.point.z()).collect();
        let mut grounds: Vec<f64> = placed().map(stands_on).collect();
        let outlines: Vec<Outline> = placed().filter_map(|p| p.outline).collect();
        let steep: Vec<&Outline> = outlines
            .iter()
            .filter(|o| o.depression_deg >= STEEP_DEG)
            .collect();
        let mut lengths: Vec<f64> = steep.iter().map(|o| o.along_m).collect();
        Self {
            place,
            covariance: covariance * birge_ratio(members, pieces, &place)
                + Matrix2::identity() * SYSTEMATIC_VARIANCE_M2,
            up: median(&mut heights).unwrap_or(0.0),
            ground_z: median(&mut grounds).unwrap_or(0.0),
            axis_deg: mean_axis_deg(&steep),
            length_m: median(&mut lengths),
        }
    }

    pub(super) fn block(&self) -> Block {
        Block {
            place: self.place,
            ground_z: self.ground_z,
            axis: self.axis_deg.unwrap_or(0.0).to_radians(),
        }
    }

    pub(super) fn group(
        &self,
        members: &[usize],
        pieces: &[Piece<'_>],
        expected: Vec<usize>,
        seconds: &[Option<f64>],
    ) -> Group {
        let mut photos: Vec<usize> = members.iter().map(|&idx| pieces[idx].item.photo).collect();
        photos.sort_unstable();
        let depressions: Vec<f64> = members
            .iter()
            .filter_map(|&idx| Some(pieces[idx].placed.outline?.depression_deg))
            .collect();
        let times: Vec<f64> = photos.iter().filter_map(|&photo| seconds[photo]).collect();
        let first = times.iter().copied().reduce(f64::min);
        let last = times.iter().copied().reduce(f64::max);
        Group {
            place: self.place,
            covariance: self.covariance,
            photos,
            expected,
            length_m: self.length_m,
            axis_deg: self.axis_deg,
            depression_deg: depressions.iter().sum::<f64>() / depressions.len().max(1) as f64,
            seen_s: first.zip(last),
            colour: None,
        }
    }
}

/// The ground, or the deck above it.
fn stands_on(placed: &Placed) -> f64 {
    placed.ground_z_m + placed.level_m.unwrap_or(0.0)
}

/// How much further members scatter than their sigmas say, as a factor of the variance; never
/// less than 1 (Birge 1932). Single faults count no more than four sigma.
fn birge_ratio(members: &[usize], pieces: &[Piece<'_>], place: &Vector2<f64>) -> f64 {
    if members.len() < MIN_SCATTERED {
        return 1.0;
    }
    let sum: f64 = members
        .iter()
        .map(|&idx| {
            let off = pieces[idx].item.place - place;
            off.dot(&(information(&pieces[idx].item.covariance) * off))
                .min(16.0)
        })
        .sum();
    (sum / (2 * (members.len() - 1)) as f64).max(1.0)
}

/// Mean direction of axes, weighted by how much longer than wide boxes are.
fn mean_axis_deg(outlines: &[&Outline]) -> Option<f64> {
    let mut sum = Vector2::zeros();
    for outline in outlines {
        let (sin, cos) = (2.0 * outline.axis_deg.to_radians()).sin_cos();
        let weight = (outline.along_m / outline.across_m.max(0.1) - 1.0).clamp(0.0, 2.0);
        sum += weight * Vector2::new(sin, cos);
    }
    (sum.norm() > 1e-6).then(|| (sum.x.atan2(sum.y).to_degrees() / 2.0).rem_euclid(180.0))
}
