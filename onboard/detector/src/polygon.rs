//! Areas of convex quadrilaterals and of their intersections.

/// A point as (x, y).
pub(crate) type Vertex = (f64, f64);

/// A quadrilateral cut by four half planes has at most eight corners.
const MAX_VERTICES: usize = 8;

/// A convex polygon of at most [`MAX_VERTICES`] corners, on the stack.
#[derive(Clone, Copy)]
struct Convex {
    vertices: [Vertex; MAX_VERTICES + 1],
    count: usize,
}

impl Convex {
    fn push(&mut self, vertex: Vertex) {
        // Rounding can add a corner too many at a touching edge; it spans no area.
        if self.count < self.vertices.len() {
            self.vertices[self.count] = vertex;
            self.count += 1;
        }
    }
}

/// Twice the signed area; positive for clockwise on screen (y down).
fn doubled_area(vertices: &[Vertex]) -> f64 {
    let Some(&origin) = vertices.first() else {
        return 0.0;
    };
    // Relative to the first corner: far from the image origin products would cancel badly.
    let relative = |v: Vertex| (v.0 - origin.0, v.1 - origin.1);
    vertices
        .windows(2)
        .map(|pair| {
            let (a, b) = (relative(pair[0]), relative(pair[1]));
            a.0 * b.1 - a.1 * b.0
        })
        .sum()
}

/// Area of the intersection of two convex quadrilaterals whose corners run clockwise on screen.
pub(crate) fn intersection_area(subject: &[Vertex; 4], clip: &[Vertex; 4]) -> f64 {
    let mut polygon = Convex {
        vertices: [(0.0, 0.0); MAX_VERTICES + 1],
        count: 4,
    };
    polygon.vertices[..4].copy_from_slice(subject);
    for edge in 0..4 {
        let (from, to) = (clip[edge], clip[(edge + 1) % 4]);
        polygon = cut(&polygon, from, to);
        if polygon.count < 3 {
            return 0.0;
        }
    }
    (doubled_area(&polygon.vertices[..polygon.count]) / 2.0).max(0.0)
}

/// The part of a polygon on the inner side of the line (Sutherland-Hodgman).
fn cut(polygon: &Convex, from: Vertex, to: Vertex) -> Convex {
    let inside = |v: Vertex| (to.0 - from.0) * (v.1 - from.1) - (to.1 - from.1) * (v.0 - from.0);
    let mut kept = Convex {
        vertices: [(0.0, 0.0); MAX_VERTICES + 1],
        count: 0,
    };
    let vertices = &polygon.vertices[..polygon.count];
    let Some(&last) = vertices.last() else {
        return kept;
    };
    let (mut previous, mut previous_side) = (last, inside(last));
    for &vertex in vertices {
        let side = inside(vertex);
        if (side >= 0.0) != (previous_side >= 0.0) {
            let share = previous_side / (previous_side - side);
            kept.push((
                previous.0 + share * (vertex.0 - previous.0),
                previous.1 + share * (vertex.1 - previous.1),
            ));
        }
        if side >= 0.0 {
            kept.push(vertex);
        }
        (previous, previous_side) = (vertex, side);
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    const UNIT: [Vertex; 4] = [(0.0, 0.0), (1.0, 0.0), (1.0, 1.0), (0.0, 1.0)];

    #[test]
    fn intersections_with_known_areas() {
        let moved = |dx: f64, dy: f64| UNIT.map(|(x, y)| (x + dx, y + dy));
        let diamond = [(0.5, -0.5), (1.5, 0.5), (0.5, 1.5), (-0.5, 0.5)];
        for (other, expected) in [
            (UNIT, 1.0),
            (moved(0.5, 0.0), 0.5),
            (moved(0.25, 0.25), 0.5625),
            (moved(1.0, 0.0), 0.0),
            (moved(2.0, 2.0), 0.0),
            (diamond, 1.0),
            (
                diamond.map(|(x, y)| (0.5 + (x - 0.5) * 0.75, 0.5 + (y - 0.5) * 0.75)),
                0.875,
            ),
        ] {
            for shift in [0.0, 1e4] {
                let far = |q: [Vertex; 4]| q.map(|(x, y)| (x + shift, y + shift));
                let area = intersection_area(&far(UNIT), &far(other));
                assert!((area - expected).abs() < 1e-9, "{other:?}: {area}");
                let swapped = intersection_area(&far(other), &far(UNIT));
                assert!((area - swapped).abs() < 1e-9);
            }
        }
    }
}
