//! Plane geometry of areas and paths: east and north in metres.

use calibration::ground::polygon;
use nalgebra::Vector2;

/// A place on the map: east, north, metres.
pub type Place = Vector2<f64>;

/// A polygon with holes. Rings are simple, without the closing corner; the outer one runs
/// anticlockwise seen from above, the holes clockwise.
#[derive(Clone, Debug, PartialEq)]
pub struct Region {
    /// The border.
    pub outer: Vec<Place>,
    /// What is left out.
    pub holes: Vec<Vec<Place>>,
}

impl Region {
    /// A region without holes.
    #[must_use]
    pub fn simple(outer: Vec<Place>) -> Self {
        Self {
            outer,
            holes: Vec::new(),
        }
    }

    /// The border and the holes.
    pub fn rings(&self) -> impl Iterator<Item = &[Place]> {
        std::iter::once(self.outer.as_slice()).chain(self.holes.iter().map(Vec::as_slice))
    }

    /// Whether a place lies inside; on the border either answer.
    #[must_use]
    pub fn contains(&self, place: &Place) -> bool {
        polygon::contains(&self.outer, place)
            && !self.holes.iter().any(|hole| polygon::contains(hole, place))
    }

    /// Square metres, holes taken off.
    #[must_use]
    pub fn area_m2(&self) -> f64 {
        let holes: f64 = self.holes.iter().map(|hole| polygon::area(hole)).sum();
        polygon::area(&self.outer) - holes
    }

    /// Distance to the nearest border, metres.
    #[must_use]
    pub fn border_distance(&self, place: &Place) -> f64 {
        self.sides()
            .map(|(a, b)| point_to_segment(place, &a, &b))
            .fold(f64::INFINITY, f64::min)
    }

    /// Distance from a path to the nearest border, metres; zero when it crosses.
    #[must_use]
    pub fn border_to_segment(&self, from: &Place, to: &Place) -> f64 {
        self.sides()
            .map(|(a, b)| segment_to_segment(from, to, &a, &b))
            .fold(f64::INFINITY, f64::min)
    }

    /// All sides of all rings.
    pub fn sides(&self) -> impl Iterator<Item = (Place, Place)> + '_ {
        self.rings().flat_map(ring_sides)
    }
}

/// The sides of a ring, the closing one too.
pub fn ring_sides(ring: &[Place]) -> impl Iterator<Item = (Place, Place)> + '_ {
    ring.iter()
        .zip(ring.iter().cycle().skip(1))
        .map(|(a, b)| (*a, *b))
}

/// Smallest and largest east and north.
#[must_use]
pub fn bounds<'a>(places: impl IntoIterator<Item = &'a Place>) -> Option<(Place, Place)> {
    places.into_iter().fold(None, |bounds, place| {
        Some(match bounds {
            None => (*place, *place),
            Some((low, high)) => (low.inf(place), high.sup(place)),
        })
    })
}

/// Distance from a place to a segment.
#[must_use]
pub fn point_to_segment(place: &Place, a: &Place, b: &Place) -> f64 {
    let side = b - a;
    let length_squared = side.norm_squared();
    let share = if length_squared > 0.0 {
        ((place - a).dot(&side) / length_squared).clamp(0.0, 1.0)
    } else {
        0.0
    };
    (place - (a + side * share)).norm()
}

/// Whether two segments meet; touching counts.
#[must_use]
pub fn segments_meet(a: &Place, b: &Place, c: &Place, d: &Place) -> bool {
    let turn = |p: &Place, q: &Place, r: &Place| (q - p).perp(&(r - p));
    let (side_c, side_d) = (turn(a, b, c), turn(a, b, d));
    let (side_a, side_b) = (turn(c, d, a), turn(c, d, b));
    if side_c * side_d < 0.0 && side_a * side_b < 0.0 {
        return true;
    }
    let on =
        |p: &Place, q: &Place, r: &Place, side: f64| side == 0.0 && (r - p).dot(&(r - q)) <= 0.0;
    on(a, b, c, side_c) || on(a, b, d, side_d) || on(c, d, a, side_a) || on(c, d, b, side_b)
}

/// Distance between two segments; zero when they meet.
#[must_use]
pub fn segment_to_segment(a: &Place, b: &Place, c: &Place, d: &Place) -> f64 {
    if segments_meet(a, b, c, d) {
        return 0.0;
    }
    [
        point_to_segment(a, c, d),
        point_to_segment(b, c, d),
        point_to_segment(c, a, b),
        point_to_segment(d, a, b),
    ]
    .into_iter()
    .fold(f64::INFINITY, f64::min)
}

/// The first two sides of a ring that meet without being neighbours, by the index of their first
/// corner; also neighbours that fold back on each other.
#[must_use]
pub fn crossing(ring: &[Place]) -> Option<(usize, usize)> {
    let n = ring.len();
    for i in 0..n {
        let (a, b) = (ring[i], ring[(i + 1) % n]);
        for j in i + 1..n {
            let (c, d) = (ring[j], ring[(j + 1) % n]);
            let is_next = j == i + 1;
            let is_previous = (j + 1) % n == i;
            let meets = if is_next || is_previous {
                let (before, corner, after) = if is_next { (a, b, d) } else { (c, a, b) };
                folds_back(&before, &corner, &after)
            } else {
                segments_meet(&a, &b, &c, &d)
            };
            if meets {
                return Some((i, j));
            }
        }
    }
    None
}

fn folds_back(before: &Place, corner: &Place, after: &Place) -> bool {
    let (to, from) = (before - corner, after - corner);
    to.perp(&from) == 0.0 && to.dot(&from) > 0.0
}

/// The direction of the longer side of the smallest rectangle around the places, clockwise from
/// north in [0, pi); ties go to the smaller angle. Zero for fewer than two places.
#[must_use]
pub fn long_axis(places: &[Place]) -> f64 {
    let hull = polygon::convex_hull(places);
    let mut best: Option<(f64, f64)> = None;
    for (a, b) in ring_sides(&hull) {
        let along = (b - a).normalize();
        let across = Place::new(-along.y, along.x);
        let span = |way: &Place| {
            let (low, high) = hull
                .iter()
                .map(|corner| corner.dot(way))
                .fold((f64::INFINITY, f64::NEG_INFINITY), |(l, h), v| {
                    (l.min(v), h.max(v))
                });
            high - low
        };
        let (length, width) = (span(&along), span(&across));
        let way = if length >= width { along } else { across };
        // Whole thousandths of a degree: rounding must not turn the pattern between visits.
        let degrees = way.x.atan2(way.y).to_degrees().rem_euclid(180.0);
        let azimuth = ((degrees * 1e3).round() / 1e3 % 180.0).to_radians();
        let size = ((length * width) * 1e3).round();
        if best.is_none_or(|(least, angle)| (size, azimuth) < (least, angle)) {
            best = Some((size, azimuth));
        }
    }
    best.map_or(0.0, |(_, azimuth)| azimuth)
}

/// The unit vector (east, north) of an azimuth, clockwise from north.
#[must_use]
pub fn towards(azimuth_rad: f64) -> Place {
    let (sin, cos) = azimuth_rad.sin_cos();
    Place::new(sin, cos)
}

/// A place turned clockwise about the origin.
#[must_use]
pub fn turned(place: &Place, clockwise_rad: f64) -> Place {
    let (sin, cos) = clockwise_rad.sin_cos();
    Place::new(place.x * cos + place.y * sin, place.y * cos - place.x * sin)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ring(corners: &[[f64; 2]]) -> Vec<Place> {
        corners.iter().map(|c| Place::new(c[0], c[1])).collect()
    }

    #[test]
    fn rings_that_cross_or_fold_are_found() {
        for (corners, expected) in [
            (&[[0.0, 0.0], [4.0, 0.0], [4.0, 3.0], [0.0, 3.0]][..], None),
            (
                &[[0.0, 0.0], [4.0, 3.0], [4.0, 0.0], [0.0, 3.0]],
                Some((0, 2)),
            ),
            (
                &[[0.0, 0.0], [4.0, 0.0], [2.0, 0.0], [2.0, 3.0]],
                Some((0, 1)),
            ),
            (
                &[[0.0, 0.0], [4.0, 0.0], [4.0, 3.0], [2.0, 0.0], [0.0, 3.0]],
                Some((0, 2)),
            ),
        ] {
            assert_eq!(crossing(&ring(corners)), expected, "{corners:?}");
        }
    }

    #[test]
    fn the_long_axis_is_that_of_the_rectangle_around() {
        let check = |angle_deg: f64| {
            let turned: Vec<Place> =
                ring(&[[-60.0, -40.0], [60.0, -40.0], [60.0, 40.0], [-60.0, 40.0]])
                    .iter()
                    .map(|corner| turned(corner, angle_deg.to_radians()))
                    .collect();
            let axis = long_axis(&turned).to_degrees();
            assert!(
                (axis - (90.0 + angle_deg).rem_euclid(180.0)).abs() < 1e-6,
                "{angle_deg}: {axis}"
            );
        };
        [0.0, 17.5, 89.0, -30.0].into_iter().for_each(check);
    }

    #[test]
    fn distances_of_segments() {
        let d = |a: [f64; 2], b: [f64; 2], c: [f64; 2], e: [f64; 2]| {
            segment_to_segment(&a.into(), &b.into(), &c.into(), &e.into())
        };
        assert_eq!(d([0.0, 0.0], [2.0, 0.0], [1.0, -1.0], [1.0, 1.0]), 0.0);
        assert_eq!(d([0.0, 0.0], [2.0, 0.0], [1.0, 3.0], [1.0, 1.0]), 1.0);
        assert_eq!(d([0.0, 0.0], [2.0, 0.0], [5.0, 4.0], [9.0, 4.0]), 5.0);
        assert_eq!(d([0.0, 0.0], [0.0, 0.0], [3.0, 4.0], [3.0, 4.0]), 5.0);
    }

    #[test]
    fn holes_are_outside() {
        let region = Region {
            outer: ring(&[[0.0, 0.0], [10.0, 0.0], [10.0, 10.0], [0.0, 10.0]]),
            holes: vec![ring(&[[4.0, 4.0], [4.0, 6.0], [6.0, 6.0], [6.0, 4.0]])],
        };
        assert!(region.contains(&Place::new(1.0, 1.0)));
        assert!(!region.contains(&Place::new(5.0, 5.0)));
        assert_eq!(region.area_m2(), 96.0);
        assert_eq!(region.border_distance(&Place::new(5.0, 5.0)), 1.0);
    }
}
