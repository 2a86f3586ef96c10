//! A vehicle's length, width and direction from its boxes in all photos: the outline whose
//! silhouettes fit them best.

use super::build::{Material, Piece};
use super::{Footprint, FrontSuggestion};
use crate::pose::posed::SparsePoint;
use calibration::Point;
use calibration::ground::polygon;
use nalgebra::{Matrix4, Vector2, Vector3, Vector4};
use std::collections::BTreeMap;

/// Boxes that take part: the largest ones.
const MAX_BOXES: usize = 16;
/// And their shorter side has at least this many pixels.
const MIN_SHORT_PX: f64 = 12.0;
const STEPS: usize = 8;
/// What detectors' boxes are off: pixels and shares of their sides, degrees.
const SIDE_PX: f64 = 1.0;
const SIDE_SHARE: f64 = 0.03;
const ANGLE_DEG: f64 = 2.0;
/// A box less long than this for its width does not say which way it lies.
const MIN_ASPECT: f64 = 1.25;
/// A usual vehicle, metres, with logarithmic spreads: what one photo does not say.
const USUAL_M: [f64; 3] = [4.5, 1.85, 1.55];
const USUAL_SPREAD: [f64; 3] = [0.25, 0.12, 0.12];
/// A vehicle is no block: what its outline is off for that, metres and degrees.
const SHAPE_LENGTH_M: f64 = 0.06;
const SHAPE_WIDTH_M: f64 = 0.05;
const SHAPE_AXIS_DEG: f64 = 0.3;
/// A vehicle's outline: shares of length, width and height. Corners are rounded, and the roof is
/// shorter and narrower than the body.
const CORNERS: [(f64, f64, f64); 16] = [
    (0.5, 0.3, 0.35),
    (0.5, -0.3, 0.35),
    (-0.5, 0.3, 0.35),
    (-0.5, -0.3, 0.35),
    (0.44, 0.5, 0.2),
    (0.44, -0.5, 0.2),
    (-0.44, 0.5, 0.2),
    (-0.44, -0.5, 0.2),
    (0.46, 0.48, 0.6),
    (0.46, -0.48, 0.6),
    (-0.46, 0.48, 0.6),
    (-0.46, -0.48, 0.6),
    (0.25, 0.38, 1.0),
    (0.25, -0.38, 1.0),
    (-0.25, 0.38, 1.0),
    (-0.25, -0.38, 1.0),
];
/// Mirrors on both sides, which a vehicle's width does not count: how far they stand out, metres,
/// and how high, a share of the height.
const MIRRORS: [f64; 2] = [-1.0, 1.0];
const MIRROR_M: f64 = 0.03;
const MIRROR_UP: f64 = 0.65;

/// Points at an end of a vehicle that say how high it is there, and what is a bonnet.
const MIN_END_POINTS: usize = 6;
const END_SHARE: f64 = 0.3;
const BONNET_DROP_M: f64 = 0.3;
/// Heights of points on a vehicle above its ground, metres.
const ON_VEHICLE_M: std::ops::Range<f64> = 0.3..3.5;
const POINT_CELL_M: f64 = 4.0;

/// What outlines are measured on.
pub(super) struct Footing<'a> {
    material: &'a Material<'a>,
    pieces: &'a [Piece<'a>],
    points: BTreeMap<(i64, i64), Vec<&'a SparsePoint>>,
}

impl<'a> Footing<'a> {
    pub(super) fn new(material: &'a Material<'a>, pieces: &'a [Piece<'a>]) -> Self {
        let mut points: BTreeMap<(i64, i64), Vec<&SparsePoint>> = BTreeMap::new();
        for point in material.points {
            points
                .entry(cell(&point.point.vector.xy()))
                .or_default()
                .push(point);
        }
        Self {
            material,
            pieces,
            points,
        }
    }
}

fn cell(place: &Vector2<f64>) -> (i64, i64) {
    let key = |at: f64| (at / POINT_CELL_M).floor() as i64;
    (key(place.x), key(place.y))
}

/// One box as it was found.
struct Seen<'a> {
    piece: &'a Piece<'a>,
    long_px: f64,
    short_px: f64,
    angle: f64,
}

/// Logarithms of length, width and height, and the axis in radians clockwise from north.
type Shape = Vector4<f64>;

/// The outline of the vehicle with these members; `None` where no box is good enough.
pub(super) fn footprint(
    members: &[usize],
    axis_deg: Option<f64>,
    footing: &Footing<'_>,
) -> Option<Footprint> {
    let mut seen: Vec<Seen<'_>> = members
        .iter()
        .filter_map(|&idx| {
            let piece = &footing.pieces[idx];
            let photo = &footing.material.detections.photos[piece.anchor.photo];
            let found = &photo.detections[piece.anchor.detection];
            let oriented = &found.oriented_box;
            (!found.truncated && oriented.short_side_px() >= MIN_SHORT_PX).then(|| Seen {
                piece,
                long_px: oriented.long_side_px(),
                short_px: oriented.short_side_px(),
                angle: oriented.angle().get(),
            })
        })
        .collect();
    seen.sort_by(|a, b| {
        let key = |s: &Seen<'_>| (s.piece.item.photo, s.piece.item.detection);
        b.short_px.total_cmp(&a.short_px).then(key(a).cmp(&key(b)))
    });
    seen.truncate(MAX_BOXES);
    let start = axis_deg.or_else(|| seen.first()?.piece.placed.outline.map(|o| o.axis_deg))?;
    let (shape, covariance) = fit(&seen, start.to_radians(), footing)?;
    let sigma = |idx: usize| covariance[(idx, idx)].max(0.0).sqrt();
    let axis_deg = shape[3].to_degrees().rem_euclid(180.0);
    let (length_m, width_m) = (shape[0].exp(), shape[1].exp());
    Some(Footprint {
        length_m,
        length_sigma_m: (length_m * sigma(0)).hypot(SHAPE_LENGTH_M),
        width_m,
        width_sigma_m: (width_m * sigma(1)).hypot(SHAPE_WIDTH_M),
        axis_deg,
        axis_sigma_deg: sigma(3).to_degrees().hypot(SHAPE_AXIS_DEG),
        n_boxes: seen.len(),
        front: front(&seen, length_m, width_m, axis_deg, footing),
    })
}

/// Levenberg-Marquardt on logarithms of the sides and on angles.
fn fit(seen: &[Seen<'_>], axis: f64, footing: &Footing<'_>) -> Option<(Shape, Matrix4<f64>)> {
    let mut shape = Vector4::new(USUAL_M[0].ln(), USUAL_M[1].ln(), USUAL_M[2].ln(), axis);
    let mut damping = 1e-3;
    let mut cost = cost_of(&residuals(seen, &shape, footing)?);
    let mut normal = Matrix4::identity();
    for _ in 0..STEPS {
        let here = residuals(seen, &shape, footing)?;
        let mut gradient = Vector4::zeros();
        normal = Matrix4::zeros();
        let mut columns = Vec::with_capacity(4);
        for axis in 0..4 {
            let mut moved = shape;
            moved[axis] += 1e-4;
            columns.push(residuals(seen, &moved, footing)?);
        }
        for (at, value) in here.iter().enumerate() {
            let slope = Vector4::from_fn(|axis, _| (columns[axis][at] - value) / 1e-4);
            let weight = huber(*value);
            gradient += weight * slope * *value;
            normal += weight * slope * slope.transpose();
        }
        let damped = normal + Matrix4::from_diagonal(&(normal.diagonal() * damping));
        let step = damped.lu().solve(&gradient)?;
        let next = shape - step;
        let next_cost = residuals(seen, &next, footing).map_or(f64::INFINITY, |r| cost_of(&r));
        if next_cost <= cost {
            let settled = cost - next_cost < 1e-6 * cost;
            (shape, cost) = (next, next_cost);
            damping *= 0.3;
            if settled {
                break;
            }
        } else {
            damping *= 10.0;
        }
    }
    let n_free = (3 * seen.len()).saturating_sub(1).max(1);
    let ratio = (cost / n_free as f64).max(1.0);
    Some((shape, normal.try_inverse()? * ratio))
}

/// Residuals beyond three sigma count less and less.
fn huber(residual: f64) -> f64 {
    (3.0 / residual.abs().max(1e-9)).min(1.0)
}

fn cost_of(residuals: &[f64]) -> f64 {
    residuals.iter().map(|r| huber(*r) * r * r).sum()
}

/// Found minus predicted over one sigma: long side, short side and angle of each box, then what is
/// usual. `None` where a silhouette cannot be seen.
fn residuals(seen: &[Seen<'_>], shape: &Shape, footing: &Footing<'_>) -> Option<Vec<f64>> {
    let mut residuals = Vec::with_capacity(3 * seen.len() + 3);
    for one in seen {
        let [long, short, angle] = silhouette(one, shape, footing)?;
        let sigma = |side: f64| SIDE_PX.hypot(SIDE_SHARE * side);
        residuals.push((one.long_px - long) / sigma(one.long_px));
        residuals.push((one.short_px - short) / sigma(one.short_px));
        let says_angle = one.long_px.min(long) >= MIN_ASPECT * one.short_px.max(short);
        residuals.push(if says_angle {
            wrapped(one.angle - angle) / ANGLE_DEG.to_radians()
        } else {
            0.0
        });
    }
    residuals.extend((0..3).map(|idx| (shape[idx] - USUAL_M[idx].ln()) / USUAL_SPREAD[idx]));
    Some(residuals)
}

/// An axis' angle in [-pi/2, pi/2).
fn wrapped(angle: f64) -> f64 {
    let half = std::f64::consts::FRAC_PI_2;
    (angle + half).rem_euclid(std::f64::consts::PI) - half
}

/// Long side, short side and angle of the smallest rectangle around what a photo shows of a shape
/// that stands where the box's own ray has it.
fn silhouette(seen: &Seen<'_>, shape: &Shape, footing: &Footing<'_>) -> Option<[f64; 3]> {
    let posed = footing.material.posed;
    let photo = &posed.photos[seen.piece.anchor.photo];
    let camera = posed.camera_of(photo);
    let pose = photo.pose.as_ref()?;
    let [length, width, height] = [0, 1, 2].map(|idx: usize| shape[idx].exp());
    let along = Vector2::new(shape[3].sin(), shape[3].cos());
    let across = Vector2::new(along.y, -along.x);
    let middle = seen.piece.placed.point.vector;
    let ground_z = seen.piece.placed.ground_z_m + seen.piece.placed.level_m.unwrap_or(0.0);
    let mut outline = Vec::with_capacity(CORNERS.len() + MIRRORS.len());
    let whole = CORNERS.map(|(a, b, up)| (a * length, b * width, up * height));
    let mirrors = MIRRORS.map(|side| (0.0, side * (width / 2.0 + MIRROR_M), MIRROR_UP * height));
    for (a, b, up) in whole.into_iter().chain(mirrors) {
        let at = middle.xy() + a * along + b * across;
        let place = Vector3::new(at.x, at.y, ground_z + up);
        let pixel = camera.pixel_from_camera(pose.camera_from_enu * Point::from_vector(place))?;
        outline.push(Vector2::new(pixel.x, pixel.y));
    }
    smallest_rectangle(&polygon::convex_hull(&outline))
}

/// Over all edges of the hull.
fn smallest_rectangle(hull: &[Vector2<f64>]) -> Option<[f64; 3]> {
    let n = hull.len();
    let mut best: Option<(f64, [f64; 3])> = None;
    for idx in 0..n {
        let edge = (hull[(idx + 1) % n] - hull[idx]).try_normalize(1e-9)?;
        let (mut low, mut high) = (
            Vector2::repeat(f64::INFINITY),
            Vector2::repeat(-f64::INFINITY),
        );
        for corner in hull {
            let own = Vector2::new(edge.dot(corner), edge.perp(corner));
            low = low.inf(&own);
            high = high.sup(&own);
        }
        let sides = high - low;
        let angle = edge.y.atan2(edge.x);
        let found = if sides.x >= sides.y {
            [sides.x, sides.y, wrapped(angle)]
        } else {
            [
                sides.y,
                sides.x,
                wrapped(angle + std::f64::consts::FRAC_PI_2),
            ]
        };
        let area = sides.x * sides.y;
        if best.is_none_or(|(known, _)| area < known) {
            best = Some((area, found));
        }
    }
    best.map(|(_, found)| found)
}

/// The end whose sparse points lie clearly lower: a bonnet.
fn front(
    seen: &[Seen<'_>],
    length_m: f64,
    width_m: f64,
    axis_deg: f64,
    footing: &Footing<'_>,
) -> Option<FrontSuggestion> {
    let place = &seen.first()?.piece.placed;
    let n = seen.len() as f64;
    let middle = seen
        .iter()
        .map(|s| s.piece.item.place)
        .sum::<Vector2<f64>>()
        / n;
    let ground_z = place.ground_z_m + place.level_m.unwrap_or(0.0);
    let along = Vector2::new(axis_deg.to_radians().sin(), axis_deg.to_radians().cos());
    let mut ends: [Vec<f64>; 2] = [Vec::new(), Vec::new()];
    let (cx, cy) = cell(&middle);
    for (dx, dy) in (-1..=1).flat_map(|dx| (-1..=1).map(move |dy| (dx, dy))) {
        for point in footing
            .points
            .get(&(cx + dx, cy + dy))
            .into_iter()
            .flatten()
        {
            let off = point.point.vector.xy() - middle;
            let (u, v) = (off.dot(&along) / length_m, off.perp(&along).abs() / width_m);
            let up = point.point.z() - ground_z;
            if v < 0.4 && ON_VEHICLE_M.contains(&up) && (END_SHARE..0.48).contains(&u.abs()) {
                ends[usize::from(u < 0.0)].push(up);
            }
        }
    }
    if ends.iter().any(|end| end.len() < MIN_END_POINTS) {
        return None;
    }
    let [ahead, behind] = ends.map(|mut end| crate::statistics::median(&mut end));
    let drop_m = behind? - ahead?;
    if drop_m.abs() < BONNET_DROP_M {
        return None;
    }
    let azimuth_deg = if drop_m > 0.0 {
        axis_deg
    } else {
        axis_deg + 180.0
    };
    Some(FrontSuggestion {
        azimuth_deg,
        evidence: format!(
            "sparse points lie {:.1} m lower at this end than at the other: a bonnet",
            drop_m.abs()
        ),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_smallest_rectangle_around_a_turned_one_is_itself() {
        let turn = nalgebra::Rotation2::new(0.4);
        let corners = [
            (2.0, 1.0),
            (-2.0, 1.0),
            (-2.0, -1.0),
            (2.0, -1.0),
            (0.5, 0.9),
        ];
        let corners: Vec<Vector2<f64>> = corners
            .iter()
            .map(|&(x, y)| turn * Vector2::new(x, y))
            .collect();
        let [long, short, angle] =
            smallest_rectangle(&polygon::convex_hull(&corners)).expect("a rectangle");
        assert!((long - 4.0).abs() < 1e-9 && (short - 2.0).abs() < 1e-9);
        assert!((angle - 0.4).abs() < 1e-9, "{angle}");
    }
}
