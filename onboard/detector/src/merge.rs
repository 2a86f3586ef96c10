//! Greedy suppression of doubles by exact polygon overlap.

use crate::oriented_box::{HorizontalBox, OrientedBox};
use crate::polygon::{self, Vertex};

/// Cells along each axis of the grid that finds neighbours.
const MAX_CELLS: usize = 512;

/// Indices of the boxes to keep: in descending score (ties by x, then y, then index), each kept
/// unless it overlaps a kept one with an intersection over union above `max_iou`. Classes do not
/// matter: a vehicle is one vehicle whichever kind it was taken for. `scores` has one entry per box.
#[must_use]
pub fn suppress(boxes: &[OrientedBox], scores: &[f64], max_iou: f64) -> Vec<usize> {
    let order = by_score(boxes, scores);
    let prepared: Vec<Prepared> = boxes.iter().map(Prepared::new).collect();
    let mut grid = Grid::over(boxes);
    let mut kept = Vec::new();
    let mut neighbours = Vec::new();
    for index in order {
        let candidate = &prepared[index];
        grid.touching(&candidate.hull, &mut neighbours);
        let doubled = neighbours
            .iter()
            .any(|&other: &usize| candidate.overlaps(&prepared[other], max_iou));
        if !doubled {
            grid.insert(&candidate.hull, index);
            kept.push(index);
        }
    }
    kept
}

/// What is asked of a box again and again, worked out once.
struct Prepared {
    hull: HorizontalBox,
    vertices: [Vertex; 4],
    area: f64,
}

impl Prepared {
    fn new(oriented: &OrientedBox) -> Self {
        Self {
            hull: oriented.hull(),
            vertices: oriented.vertices(),
            area: oriented.area(),
        }
    }

    /// Whether the intersection over union is above `max_iou`.
    fn overlaps(&self, other: &Self, max_iou: f64) -> bool {
        let both = self.area + other.area;
        let is_above = |common: f64| common / (both - common) > max_iou;
        // The hulls' common part is no smaller than the boxes' own, and far cheaper.
        let (a, b) = (&self.hull, &other.hull);
        let width = a.x2_px.min(b.x2_px) - a.x1_px.max(b.x1_px);
        let height = a.y2_px.min(b.y2_px) - a.y1_px.max(b.y1_px);
        if width <= 0.0 || height <= 0.0 {
            return false;
        }
        let most = (width * height).min(self.area).min(other.area);
        is_above(most) && is_above(polygon::intersection_area(&self.vertices, &other.vertices))
    }
}

/// Descending score; ties in a fixed order.
pub(crate) fn by_score(boxes: &[OrientedBox], scores: &[f64]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..boxes.len()).collect();
    order.sort_by(|&a, &b| {
        scores[b]
            .total_cmp(&scores[a])
            .then(boxes[a].centre().x.total_cmp(&boxes[b].centre().x))
            .then(boxes[a].centre().y.total_cmp(&boxes[b].centre().y))
            .then(a.cmp(&b))
    });
    order
}

/// Kept boxes by the cells their hulls touch.
struct Grid {
    origin: (f64, f64),
    cell: f64,
    columns: usize,
    rows: usize,
    cells: Vec<Vec<usize>>,
}

impl Grid {
    fn over(boxes: &[OrientedBox]) -> Self {
        let bounds = boxes
            .iter()
            .map(OrientedBox::hull)
            .reduce(|a, b| HorizontalBox {
                x1_px: a.x1_px.min(b.x1_px),
                y1_px: a.y1_px.min(b.y1_px),
                x2_px: a.x2_px.max(b.x2_px),
                y2_px: a.y2_px.max(b.y2_px),
            });
        let Some(bounds) = bounds else {
            return Self {
                origin: (0.0, 0.0),
                cell: 1.0,
                columns: 1,
                rows: 1,
                cells: vec![Vec::new()],
            };
        };
        let mut lengths: Vec<f64> = boxes.iter().map(OrientedBox::long_side_px).collect();
        let middle = lengths.len() / 2;
        let (_, &mut typical, _) = lengths.select_nth_unstable_by(middle, f64::total_cmp);
        let (width, height) = (bounds.x2_px - bounds.x1_px, bounds.y2_px - bounds.y1_px);
        let cell = typical.max(width.max(height) / MAX_CELLS as f64);
        let columns = (width / cell) as usize + 1;
        let rows = (height / cell) as usize + 1;
        Self {
            origin: (bounds.x1_px, bounds.y1_px),
            cell,
            columns,
            rows,
            cells: vec![Vec::new(); columns * rows],
        }
    }

    fn cells_of(&self, hull: &HorizontalBox) -> impl Iterator<Item = usize> + use<> {
        let along = |from: f64, to: f64, count: usize| {
            let index = |at: f64| ((at / self.cell).max(0.0) as usize).min(count - 1);
            index(from)..=index(to)
        };
        let columns = along(
            hull.x1_px - self.origin.0,
            hull.x2_px - self.origin.0,
            self.columns,
        );
        let rows = along(
            hull.y1_px - self.origin.1,
            hull.y2_px - self.origin.1,
            self.rows,
        );
        let width = self.columns;
        rows.flat_map(move |row| columns.clone().map(move |column| row * width + column))
    }

    fn insert(&mut self, hull: &HorizontalBox, index: usize) {
        for cell in self.cells_of(hull) {
            self.cells[cell].push(index);
        }
    }

    /// Each kept box that shares a cell with the hull, once.
    fn touching(&self, hull: &HorizontalBox, found: &mut Vec<usize>) {
        found.clear();
        for cell in self.cells_of(hull) {
            found.extend(&self.cells[cell]);
        }
        found.sort_unstable();
        found.dedup();
    }
}

#[cfg(test)]
mod tests;
