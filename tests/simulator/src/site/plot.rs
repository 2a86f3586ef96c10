//! Who stands where: footprints with heights, so that no two objects ever share space.

/// A turned rectangle on the ground with a range of heights, metres, in the site frame.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Footprint {
    pub(crate) x: f32,
    pub(crate) y: f32,
    pub(crate) half_length: f32,
    pub(crate) half_width: f32,
    cos: f32,
    sin: f32,
    pub(crate) low: f32,
    pub(crate) high: f32,
}

impl Footprint {
    /// About a centre, its length turned counter-clockwise from the x axis by `heading` radians.
    pub(crate) fn new(x: f32, y: f32, length: f32, width: f32, heading: f32) -> Self {
        let (sin, cos) = heading.sin_cos();
        Self {
            x,
            y,
            half_length: length / 2.0,
            half_width: width / 2.0,
            cos,
            sin,
            low: 0.0,
            high: 100.0,
        }
    }

    /// Only between these heights.
    pub(crate) fn between(mut self, low: f32, high: f32) -> Self {
        (self.low, self.high) = (low, high);
        self
    }

    /// Whether the two come closer than a margin (metres) on the ground and share heights.
    /// Separating axes of the two rectangles; the margin is a little generous at corners.
    pub(crate) fn meets(&self, other: &Self, margin: f32) -> bool {
        if self.low >= other.high || other.low >= self.high {
            return false;
        }
        let (dx, dy) = (other.x - self.x, other.y - self.y);
        let reach = self.half_length.hypot(self.half_width)
            + other.half_length.hypot(other.half_width)
            + margin;
        if dx * dx + dy * dy > reach * reach {
            return false;
        }
        let cos = (self.cos * other.cos + self.sin * other.sin).abs();
        let sin = (self.sin * other.cos - self.cos * other.sin).abs();
        let separated = |a: &Self, b: &Self| {
            let along = (dx * a.cos + dy * a.sin).abs();
            let across = (dy * a.cos - dx * a.sin).abs();
            along > a.half_length + b.half_length * cos + b.half_width * sin + margin
                || across > a.half_width + b.half_length * sin + b.half_width * cos + margin
        };
        !separated(self, other) && !separated(other, self)
    }

    /// Whether a point lies inside, or outside by no more than a margin.
    #[cfg(test)]
    pub(crate) fn holds(&self, x: f32, y: f32, z: f32, margin: f32) -> bool {
        let (dx, dy) = (x - self.x, y - self.y);
        let (along, across) = (dx * self.cos + dy * self.sin, dy * self.cos - dx * self.sin);
        along.abs() <= self.half_length + margin
            && across.abs() <= self.half_width + margin
            && (self.low - margin..=self.high + margin).contains(&z)
    }
}

/// All footprints taken so far.
#[derive(Debug, Default)]
pub(crate) struct Plot {
    taken: Vec<Footprint>,
}

impl Plot {
    /// Whether nothing comes closer than the margin.
    pub(crate) fn is_free(&self, footprint: &Footprint, margin: f32) -> bool {
        !self
            .taken
            .iter()
            .any(|other| footprint.meets(other, margin))
    }

    /// Takes all the footprints if each of them is free; one object may have several.
    pub(crate) fn take(&mut self, footprints: &[Footprint], margin: f32) -> bool {
        let free = footprints.iter().all(|f| self.is_free(f, margin));
        if free {
            self.taken.extend_from_slice(footprints);
        }
        free
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::f32::consts::FRAC_PI_4;

    #[test]
    fn meets_by_geometry() {
        let square = Footprint::new(0.0, 0.0, 2.0, 2.0, 0.0);
        for (other, margin, expected) in [
            (Footprint::new(2.1, 0.0, 2.0, 2.0, 0.0), 0.0, false),
            (Footprint::new(2.1, 0.0, 2.0, 2.0, 0.0), 0.2, true),
            // A square on its corner reaches 1.414 m, so it touches at 2.414 m.
            (Footprint::new(2.40, 0.0, 2.0, 2.0, FRAC_PI_4), 0.0, true),
            (Footprint::new(2.43, 0.0, 2.0, 2.0, FRAC_PI_4), 0.0, false),
            // Diagonal neighbours miss although their circles meet.
            (Footprint::new(1.9, 1.9, 2.0, 2.0, FRAC_PI_4), 0.0, false),
            (
                Footprint::new(0.0, 0.0, 1.0, 1.0, 0.3).between(2.0, 3.0),
                0.0,
                true,
            ),
        ] {
            assert_eq!(square.meets(&other, margin), expected, "{other:?} {margin}");
            assert_eq!(other.meets(&square, margin), expected, "{other:?} {margin}");
        }
        let low = square.between(0.0, 2.0);
        assert!(!low.meets(&square.between(2.0, 3.0), 0.5));
        assert!(square.holds(1.0, 1.0, 50.0, 0.0) && !square.holds(1.1, 0.0, 50.0, 0.05));
    }
}
