//! How two pictures of the same ground relate: what they share, from how different directions and
//! scales they see it.

use super::{Footprint, GroundPoint, polygon};
use crate::frames::{Enu, Point};
use crate::units::{Metres, Radians};
use nalgebra::Vector2;

/// What two footprints share and how differently their cameras see it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Overlap {
    /// Common area over the smaller footprint's, in (0, 1].
    pub share: f64,
    /// Common area, square metres.
    pub common_area_m2: f64,
    /// Centre of the common area, on the first footprint's plane.
    pub centre: Point<Enu>,
    /// Angle at the centre between the rays from the two cameras, in [0, pi].
    pub view_angle: Radians,
    /// Coarser over finer ground sample distance (the mean one) at the centre, at least 1.
    pub scale_ratio: f64,
    /// How much more one direction is stretched than the other when the first picture is laid on
    /// the second at the centre: larger over smaller singular value of the affine map, at least
    /// 1. Two views of the same kind from opposite sides have 1; SIFT copes up to about 1.8.
    pub transition_tilt: f64,
}

/// What two footprints have in common; `None` when nothing. Footprints are compared as their
/// convex hulls ([`Footprint::hull`]); both should lie on the same plane. The order matters only
/// for the plane of the centre.
#[must_use]
pub fn overlap(a: &Footprint, b: &Footprint) -> Option<Overlap> {
    if are_apart(a, b) {
        return None;
    }
    let common = polygon::convex_intersection(&a.hull, &b.hull);
    let common_area_m2 = polygon::area(&common);
    if common_area_m2 <= 0.0 {
        return None;
    }
    let smaller = polygon::area(&a.hull).min(polygon::area(&b.hull));
    let middle = polygon::centroid(&common)?;
    let centre = Point::new(middle.x, middle.y, a.view.ground_z);
    let at_a = seen_at(a, &middle)?;
    let at_b = seen_at(b, &middle)?;
    let b_from_a = at_b.pixel_by_ground()? * at_a.by_pixel;
    let values = b_from_a.singular_values();
    let scale = (values[0] * values[1]).sqrt();
    Some(Overlap {
        share: (common_area_m2 / smaller).min(1.0),
        common_area_m2,
        centre,
        view_angle: Radians((centre - a.view.centre()).angle_to(&(centre - b.view.centre()))),
        scale_ratio: scale.max(1.0 / scale),
        transition_tilt: values.max() / values.min(),
    })
}

/// A cheap test that spares most pairs of a large site the intersection.
fn are_apart(a: &Footprint, b: &Footprint) -> bool {
    let span = |corners: &[Vector2<f64>], axis: usize| {
        corners
            .iter()
            .fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), corner| {
                (low.min(corner[axis]), high.max(corner[axis]))
            })
    };
    (0..2).any(|axis| {
        let (a_low, a_high) = span(&a.hull, axis);
        let (b_low, b_high) = span(&b.hull, axis);
        a_high < b_low || b_high < a_low
    })
}

/// The derivatives where a footprint's camera sees a place on its own plane.
fn seen_at(footprint: &Footprint, place: &Vector2<f64>) -> Option<GroundPoint> {
    let Metres(ground_z) = footprint.view.ground_z();
    let pixel = footprint
        .view
        .pixel_from_enu(Point::new(place.x, place.y, ground_z))?;
    footprint.view.ground_point(pixel)
}
