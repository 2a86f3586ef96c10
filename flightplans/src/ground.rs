//! The area as a grid of points on the map, and convex footprints laid over it.

use crate::plane::{self, Place};
use crate::site::Site;
use std::ops::Range;

/// Points of the area, `step` apart, row by row from the south-west, a bit each.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Ground {
    low: Place,
    step_m: f64,
    columns: usize,
    rows: usize,
    words: usize,
    inside: PointSet,
}

/// A set of the grid's points, such as those that still lack a view.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct PointSet {
    words: usize,
    bits: Vec<u64>,
}

/// The points that a footprint covers: in each row a range of columns.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Spans {
    first_row: usize,
    columns: Vec<Range<usize>>,
}

impl Ground {
    /// The points of a site's area: those whose square of `step` meets it, so that a point of the
    /// area is never further than half a diagonal from one of the grid's.
    #[must_use]
    pub(crate) fn around(site: &Site, step_m: f64) -> Self {
        Self::build(site, step_m, 0.5 * step_m * std::f64::consts::SQRT_2)
    }

    /// The points that lie in a site's area.
    #[must_use]
    pub(crate) fn inside(site: &Site, step_m: f64) -> Self {
        Self::build(site, step_m, 0.0)
    }

    fn build(site: &Site, step_m: f64, reach_m: f64) -> Self {
        let corners = site.corners();
        let (low, high) = plane::bounds(&corners).unwrap_or((Place::zeros(), Place::zeros()));
        let low = low - Place::new(reach_m, reach_m) + Place::new(0.5, 0.5) * step_m;
        let count = |span: f64| (span / step_m).ceil().max(1.0) as usize;
        let (columns, rows) = (
            count(high.x - low.x + step_m),
            count(high.y - low.y + step_m),
        );
        let words = columns.div_ceil(64);
        let mut ground = Self {
            low,
            step_m,
            columns,
            rows,
            words,
            inside: PointSet {
                words,
                bits: vec![0; words * rows],
            },
        };
        for row in 0..rows {
            ground.fill_row(site, row, reach_m);
        }
        ground
    }

    /// Even-odd filling of one row, and with a reach the points near the border too.
    fn fill_row(&mut self, site: &Site, row: usize, reach_m: f64) {
        let north = self.low.y + row as f64 * self.step_m;
        for region in &site.area {
            let mut crossings: Vec<f64> = region
                .sides()
                .filter(|(a, b)| (a.y > north) != (b.y > north))
                .map(|(a, b)| a.x + (north - a.y) / (b.y - a.y) * (b.x - a.x))
                .collect();
            crossings.sort_by(f64::total_cmp);
            for pair in crossings.chunks_exact(2) {
                let range = self.columns_between(pair[0], pair[1]);
                range.for_each(|column| self.set(row, column));
            }
            if reach_m > 0.0 {
                self.fill_border(region, row, north, reach_m);
            }
        }
    }

    fn fill_border(&mut self, region: &plane::Region, row: usize, north: f64, reach_m: f64) {
        for (a, b) in region.sides() {
            let (south, top) = (a.y.min(b.y) - reach_m, a.y.max(b.y) + reach_m);
            if north < south || north > top {
                continue;
            }
            let (west, east) = (a.x.min(b.x) - reach_m, a.x.max(b.x) + reach_m);
            for column in self.columns_between(west, east) {
                let place = self.place(row, column);
                if plane::point_to_segment(&place, &a, &b) <= reach_m {
                    self.set(row, column);
                }
            }
        }
    }

    fn set(&mut self, row: usize, column: usize) {
        self.inside.insert(row * self.words * 64 + column);
    }

    fn columns_between(&self, west: f64, east: f64) -> Range<usize> {
        let first = ((west - self.low.x) / self.step_m).ceil().max(0.0);
        let end = ((east - self.low.x) / self.step_m).floor() + 1.0;
        let end = end.clamp(0.0, self.columns as f64) as usize;
        (first.min(end as f64) as usize)..end
    }

    /// Distance between neighbouring points.
    #[must_use]
    pub(crate) fn step_m(&self) -> f64 {
        self.step_m
    }

    /// How many points.
    #[must_use]
    pub(crate) fn len(&self) -> usize {
        self.inside.len()
    }

    /// Cells of the rectangle around: the size of a table with an entry a point.
    #[must_use]
    pub(crate) fn table_len(&self) -> usize {
        self.rows * self.words * 64
    }

    /// Where a point lies.
    #[must_use]
    pub(crate) fn place(&self, row: usize, column: usize) -> Place {
        self.low + Place::new(column as f64, row as f64) * self.step_m
    }

    /// All points: index in a table, and place.
    pub(crate) fn points(&self) -> impl Iterator<Item = (usize, Place)> + '_ {
        (0..self.rows).flat_map(move |row| {
            (0..self.columns).filter_map(move |column| {
                let index = row * self.words * 64 + column;
                self.inside
                    .has(index)
                    .then(|| (index, self.place(row, column)))
            })
        })
    }

    /// Where a table index lies.
    #[must_use]
    pub(crate) fn place_of(&self, index: usize) -> Place {
        let a_row = self.words * 64;
        self.place(index / a_row, index % a_row)
    }

    /// Table indices of the up to four points beside one.
    pub(crate) fn neighbours(&self, index: usize) -> impl Iterator<Item = usize> {
        let a_row = self.words * 64;
        let (row, column) = (index / a_row, index % a_row);
        [
            (column > 0).then(|| index - 1),
            (column + 1 < self.columns).then_some(index + 1),
            (row > 0).then(|| index - a_row),
            (row + 1 < self.rows).then_some(index + a_row),
        ]
        .into_iter()
        .flatten()
    }

    /// The set of all points.
    #[must_use]
    pub(crate) fn all(&self) -> &PointSet {
        &self.inside
    }

    /// A set of nothing.
    #[must_use]
    pub(crate) fn none(&self) -> PointSet {
        PointSet {
            words: self.words,
            bits: vec![0; self.inside.bits.len()],
        }
    }

    /// What a convex polygon (anticlockwise) covers once its sides are moved inwards by a margin.
    #[must_use]
    pub(crate) fn spans(&self, hull: &[Place], margin_m: f64) -> Spans {
        let Some((low, high)) = plane::bounds(hull) else {
            return Spans::default();
        };
        let row_of = |north: f64| (north - self.low.y) / self.step_m;
        let first_row = row_of(low.y).ceil().clamp(0.0, self.rows as f64) as usize;
        let end_row = (row_of(high.y).floor() + 1.0).clamp(0.0, self.rows as f64) as usize;
        let mut columns: Vec<Range<usize>> = (first_row..end_row)
            .map(|row| {
                let north = self.low.y + row as f64 * self.step_m;
                match convex_row(hull, north, margin_m) {
                    Some((west, east)) => self.columns_between(west, east),
                    None => 0..0,
                }
            })
            .collect();
        while columns.last().is_some_and(Range::is_empty) {
            columns.pop();
        }
        Spans { first_row, columns }
    }

    /// Calls with the index of every point of the area that a polygon covers (even-odd, any simple
    /// polygon).
    pub(crate) fn for_each_covered(&self, polygon: &[Place], mut visit: impl FnMut(usize, Place)) {
        let Some((low, high)) = plane::bounds(polygon) else {
            return;
        };
        let row_of = |north: f64| (north - self.low.y) / self.step_m;
        let first_row = row_of(low.y).ceil().clamp(0.0, self.rows as f64) as usize;
        let end_row = (row_of(high.y).floor() + 1.0).clamp(0.0, self.rows as f64) as usize;
        let mut crossings: Vec<f64> = Vec::new();
        for row in first_row..end_row {
            let north = self.low.y + row as f64 * self.step_m;
            crossings.clear();
            crossings.extend(
                plane::ring_sides(polygon)
                    .filter(|(a, b)| (a.y > north) != (b.y > north))
                    .map(|(a, b)| a.x + (north - a.y) / (b.y - a.y) * (b.x - a.x)),
            );
            crossings.sort_by(f64::total_cmp);
            for pair in crossings.chunks_exact(2) {
                for column in self.columns_between(pair[0], pair[1]) {
                    let index = row * self.words * 64 + column;
                    if self.inside.has(index) {
                        visit(index, self.place(row, column));
                    }
                }
            }
        }
    }
}

/// Where a row crosses a convex polygon whose sides are moved inwards.
fn convex_row(hull: &[Place], north: f64, margin_m: f64) -> Option<(f64, f64)> {
    let (mut west, mut east) = (f64::NEG_INFINITY, f64::INFINITY);
    for (a, b) in plane::ring_sides(hull) {
        let side = b - a;
        // Inside is where side x (p - a) is at least the margin times the side's length.
        let needed = margin_m * side.norm() - side.x * (north - a.y);
        if side.y.abs() < 1e-12 {
            if needed > 0.0 {
                return None;
            }
            continue;
        }
        let bound = a.x - needed / side.y;
        if side.y > 0.0 {
            east = east.min(bound);
        } else {
            west = west.max(bound);
        }
    }
    (west <= east).then_some((west, east))
}

fn count(bits: &[u64]) -> usize {
    bits.iter().map(|word| word.count_ones() as usize).sum()
}

/// The bits of word `word` that lie in a range of columns.
fn mask(columns: &Range<usize>, word: usize) -> u64 {
    let start = columns.start.saturating_sub(word * 64).min(64);
    let end = columns.end.saturating_sub(word * 64).min(64);
    let below = |n: usize| if n >= 64 { u64::MAX } else { (1 << n) - 1 };
    below(end) & !below(start)
}

impl Spans {
    /// Whether nothing is covered.
    #[must_use]
    pub(crate) fn is_empty(&self) -> bool {
        self.columns.iter().all(Range::is_empty)
    }

    /// Grid points in it, those outside the area too.
    #[must_use]
    pub(crate) fn len(&self) -> usize {
        self.columns.iter().map(Range::len).sum()
    }

    fn words<'a>(&'a self, words_a_row: usize) -> impl Iterator<Item = (usize, u64)> + 'a {
        self.columns
            .iter()
            .enumerate()
            .filter(|(_, columns)| !columns.is_empty())
            .flat_map(move |(row, columns)| {
                let first = columns.start / 64;
                let last = (columns.end - 1) / 64;
                (first..=last).map(move |word| {
                    (
                        (self.first_row + row) * words_a_row + word,
                        mask(columns, word),
                    )
                })
            })
    }
}

impl PointSet {
    /// How many points.
    #[must_use]
    pub(crate) fn len(&self) -> usize {
        count(&self.bits)
    }

    /// Whether there is none.
    #[must_use]
    pub(crate) fn is_empty(&self) -> bool {
        self.bits.iter().all(|word| *word == 0)
    }

    /// How many of its points a footprint covers.
    #[must_use]
    pub(crate) fn covered(&self, spans: &Spans) -> usize {
        spans
            .words(self.words)
            .map(|(at, mask)| (self.bits[at] & mask).count_ones() as usize)
            .sum()
    }

    /// Calls with the table index of every point that a footprint covers.
    pub(crate) fn for_each(&self, spans: &Spans, mut visit: impl FnMut(usize)) {
        for (at, mask) in spans.words(self.words) {
            let mut left = self.bits[at] & mask;
            while left != 0 {
                visit(at * 64 + left.trailing_zeros() as usize);
                left &= left - 1;
            }
        }
    }

    /// Whether a table index is in the set.
    #[must_use]
    pub(crate) fn has(&self, index: usize) -> bool {
        self.bits[index / 64] >> (index % 64) & 1 == 1
    }

    /// Puts a point in.
    pub(crate) fn insert(&mut self, index: usize) {
        self.bits[index / 64] |= 1 << (index % 64);
    }

    /// Takes a point out.
    pub(crate) fn remove(&mut self, index: usize) {
        self.bits[index / 64] &= !(1 << (index % 64));
    }
}

#[cfg(test)]
mod tests;
