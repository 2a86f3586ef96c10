//! Polygons on the map: east and north in metres, corners in order, the last joined to the first.

use nalgebra::Vector2;

/// Twice the area of the triangle a, b, c; positive when they turn anticlockwise.
fn turn(a: &Vector2<f64>, b: &Vector2<f64>, c: &Vector2<f64>) -> f64 {
    (b - a).perp(&(c - a))
}

/// Whether the way a, b, c turns left by more than rounding: a corner that is flatter than a
/// thousandth of a millionth is none.
fn turns_left(a: &Vector2<f64>, b: &Vector2<f64>, c: &Vector2<f64>) -> bool {
    turn(a, b, c) > 1e-9 * (b - a).norm() * (c - b).norm()
}

fn edges(corners: &[Vector2<f64>]) -> impl Iterator<Item = (&Vector2<f64>, &Vector2<f64>)> {
    corners.iter().zip(corners.iter().cycle().skip(1))
}

/// Area in square metres, positive when the corners run anticlockwise (seen from above). Zero for
/// fewer than three corners; a self-crossing polygon counts its loops with their signs.
#[must_use]
pub fn signed_area(corners: &[Vector2<f64>]) -> f64 {
    let Some(origin) = corners.first() else {
        return 0.0;
    };
    // About a corner of the polygon, so that far from the origin no digits are lost.
    let doubled: f64 = edges(corners).map(|(a, b)| turn(origin, a, b)).sum();
    0.5 * doubled
}

/// Area in square metres of a polygon that does not cross itself.
#[must_use]
pub fn area(corners: &[Vector2<f64>]) -> f64 {
    signed_area(corners).abs()
}

/// Centre of area. `None` when the polygon has no area.
#[must_use]
pub fn centroid(corners: &[Vector2<f64>]) -> Option<Vector2<f64>> {
    let origin = corners.first()?;
    let mut sum = Vector2::zeros();
    let mut doubled = 0.0;
    for (a, b) in edges(corners) {
        let weight = turn(origin, a, b);
        sum += ((a - origin) + (b - origin)) * weight;
        doubled += weight;
    }
    let centre = origin + sum / (3.0 * doubled);
    (centre.x.is_finite() && centre.y.is_finite()).then_some(centre)
}

/// Whether a point lies inside (even-odd rule, any simple polygon). A point on the border may count
/// either way, but on exactly one of two polygons that share an edge.
#[must_use]
pub fn contains(corners: &[Vector2<f64>], point: &Vector2<f64>) -> bool {
    let crossings = edges(corners).filter(|(a, b)| {
        (a.y > point.y) != (b.y > point.y)
            && point.x < a.x + (point.y - a.y) / (b.y - a.y) * (b.x - a.x)
    });
    crossings.count() % 2 == 1
}

/// The smallest convex polygon around the points, anticlockwise, without corners on straight
/// edges. Fewer than three corners when the points lie on one line.
#[must_use]
pub fn convex_hull(points: &[Vector2<f64>]) -> Vec<Vector2<f64>> {
    let mut sorted = points.to_vec();
    sorted.sort_by(|a, b| a.x.total_cmp(&b.x).then(a.y.total_cmp(&b.y)));
    sorted.dedup();
    if sorted.len() < 3 {
        return sorted;
    }
    // Andrew's monotone chain: the lower side from west to east, the upper one back.
    let mut hull: Vec<Vector2<f64>> = Vec::with_capacity(sorted.len());
    let forth = sorted.iter();
    let back = sorted.iter().rev().skip(1);
    let mut start = 0;
    for (index, point) in forth.chain(back).enumerate() {
        if index == sorted.len() {
            start = hull.len() - 1;
        }
        while hull.len() >= start + 2
            && turn(&hull[hull.len() - 2], &hull[hull.len() - 1], point) <= 0.0
        {
            hull.pop();
        }
        hull.push(*point);
    }
    hull.pop();
    without_flat_corners(&hull)
}

/// Drops what rounding left of corners on straight edges. Only afterwards: while the hull is built
/// the order of points on a nearly north-south edge is rounding too, and a tolerance would drop
/// its ends.
fn without_flat_corners(hull: &[Vector2<f64>]) -> Vec<Vector2<f64>> {
    let mut kept: Vec<Vector2<f64>> = Vec::with_capacity(hull.len());
    for (index, corner) in hull.iter().enumerate() {
        let before = kept.last().or(hull.last()).unwrap_or(corner);
        let after = &hull[(index + 1) % hull.len()];
        if turns_left(before, corner, after) {
            kept.push(*corner);
        }
    }
    kept
}

/// What two convex polygons have in common (Sutherland-Hodgman). Both anticlockwise, as
/// [`convex_hull`] gives them; empty when they are apart or only touch.
#[must_use]
pub fn convex_intersection(a: &[Vector2<f64>], b: &[Vector2<f64>]) -> Vec<Vector2<f64>> {
    if a.len() < 3 || b.len() < 3 {
        return Vec::new();
    }
    let mut kept = a.to_vec();
    for (from, to) in edges(b) {
        let mut next = Vec::with_capacity(kept.len() + 1);
        for (p, q) in edges(&kept) {
            let (at_p, at_q) = (turn(from, to, p), turn(from, to, q));
            if at_p >= 0.0 {
                next.push(*p);
            }
            if (at_p > 0.0 && at_q < 0.0) || (at_p < 0.0 && at_q > 0.0) {
                next.push(p + (q - p) * (at_p / (at_p - at_q)));
            }
        }
        kept = next;
        if kept.len() < 3 {
            return Vec::new();
        }
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    fn square(x: f64, y: f64, side: f64) -> Vec<Vector2<f64>> {
        [(0.0, 0.0), (side, 0.0), (side, side), (0.0, side)]
            .map(|(dx, dy)| Vector2::new(x + dx, y + dy))
            .to_vec()
    }

    #[test]
    fn areas_and_centroids_of_hand_worked_polygons() {
        assert!((signed_area(&square(1e6, -1e6, 2.0)) - 4.0).abs() < 1e-9);
        // An L: 3x1 plus 1x2 on its left end.
        let l = [
            (0.0, 0.0),
            (3.0, 0.0),
            (3.0, 1.0),
            (1.0, 1.0),
            (1.0, 3.0),
            (0.0, 3.0),
        ]
        .map(|(x, y)| Vector2::new(x, y));
        assert!((area(&l) - 5.0).abs() < 1e-12);
        // (3 * (1.5, 0.5) + 2 * (0.5, 2)) / 5
        let centre = centroid(&l).unwrap();
        assert!((centre - Vector2::new(1.1, 1.1)).norm() < 1e-12);
        assert!(contains(&l, &Vector2::new(0.5, 2.5)));
        assert!(!contains(&l, &Vector2::new(2.0, 2.0)));
        assert_eq!(centroid(&[Vector2::zeros(), Vector2::x()]), None);
        assert_eq!(signed_area(&[]), 0.0);
    }

    #[test]
    fn hulls_are_anticlockwise_and_drop_what_lies_inside_or_on_edges() {
        let mut points = square(0.0, 0.0, 2.0);
        points.extend([Vector2::new(1.0, 0.0), Vector2::new(1.0, 1.0)]);
        let hull = convex_hull(&points);
        assert_eq!(hull.len(), 4);
        assert!((signed_area(&hull) - 4.0).abs() < 1e-12);
        assert!(convex_hull(&[Vector2::zeros(), Vector2::x(), Vector2::x() * 2.0]).len() < 3);
    }

    #[test]
    fn intersections_of_hand_worked_polygons() {
        let check = |b: &[Vector2<f64>], expected: f64| {
            let found = area(&convex_intersection(&square(0.0, 0.0, 2.0), b));
            assert!((found - expected).abs() < 1e-12, "{found} {expected}");
        };
        check(&square(1.0, 1.0, 2.0), 1.0);
        check(&square(0.5, 0.5, 1.0), 1.0);
        check(&square(-1.0, -1.0, 9.0), 4.0);
        check(&square(2.0, 0.0, 2.0), 0.0);
        check(&square(5.0, 0.0, 2.0), 0.0);
        // A diamond of half-diagonal 1.5 about (1, 1) loses four corners of height 0.5: 4.5 - 1.
        let diamond =
            [(1.0, -0.5), (2.5, 1.0), (1.0, 2.5), (-0.5, 1.0)].map(|(x, y)| Vector2::new(x, y));
        check(&diamond, 3.5);
    }
}
