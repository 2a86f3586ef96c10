//! In which photos a vehicle should be seen: inside the picture, large enough, and not behind other
//! vehicles, buildings or trees.

use crate::anchor::OBSTACLE_CELL_M;
use crate::pose::posed::PosedScene;
use calibration::Point;
use nalgebra::{Rotation2, Vector2, Vector3};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// What a photo should show of a vehicle.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Sight {
    /// Index of the photo.
    pub photo: usize,
    /// Share of the vehicle inside the picture and not behind anything, by five places on it.
    pub share: f64,
    /// The vehicle's width there, pixels.
    pub across_px: f64,
}

impl Sight {
    /// Whether a detector should find it: half of it is seen, large enough to be told.
    #[must_use]
    pub fn is_expected(&self) -> bool {
        self.share >= EXPECTED_SHARE && self.across_px >= EXPECTED_ACROSS_PX
    }
}

const EXPECTED_SHARE: f64 = 0.5;
const EXPECTED_ACROSS_PX: f64 = 12.0;
/// A vehicle is told from this many pixels across on.
const MIN_ACROSS_PX: f64 = 10.0;
/// The shape of a car, metres: what others are hidden by where their own is not known.
const LENGTH_M: f64 = 4.4;
const WIDTH_M: f64 = 1.8;
const HEIGHT_M: f64 = 1.5;
/// No vehicle further from another than this hides it, metres: rays are steeper than that.
const REACH_M: f64 = 9.0;
/// What stands nearer than this to a vehicle's middle on the map is over it, not before it, metres.
const OVER_M: f64 = 2.5;
/// Places on a vehicle that are looked at: shares of length and width, height in metres.
const PLACES: [(f64, f64, f64); 5] = [
    (0.0, 0.0, 1.2),
    (0.35, 0.0, 0.8),
    (-0.35, 0.0, 0.8),
    (0.0, 0.4, 0.8),
    (0.0, -0.4, 0.8),
];

/// A vehicle as an obstacle: a block on the ground.
#[derive(Clone, Copy, Debug)]
pub(super) struct Block {
    pub(super) place: Vector2<f64>,
    pub(super) ground_z: f64,
    /// Direction of its length, clockwise from north, radians.
    pub(super) axis: f64,
}

impl Block {
    /// Turns a step on the map into (along, across).
    fn own(&self, step: Vector2<f64>) -> Vector2<f64> {
        let along = Vector2::new(self.axis.sin(), self.axis.cos());
        Vector2::new(step.dot(&along), step.perp(&along))
    }

    fn at(&self, along: f64, across: f64, up: f64) -> Vector3<f64> {
        let turned = Rotation2::new(-self.axis) * Vector2::new(across, along);
        Vector3::new(
            self.place.x + turned.x,
            self.place.y + turned.y,
            self.ground_z + up,
        )
    }

    /// Whether the line from `from` to `to` goes through the block.
    fn cuts(&self, from: &Vector3<f64>, to: &Vector3<f64>) -> bool {
        let (a, b) = (
            self.own(from.xy() - self.place),
            self.own(to.xy() - self.place),
        );
        let (mut first, mut last) = (0.0_f64, 1.0_f64);
        for (start, end, low, high) in [
            (a.x, b.x, -LENGTH_M / 2.0, LENGTH_M / 2.0),
            (a.y, b.y, -WIDTH_M / 2.0, WIDTH_M / 2.0),
            (from.z - self.ground_z, to.z - self.ground_z, 0.0, HEIGHT_M),
        ] {
            let way = end - start;
            if way.abs() < 1e-9 {
                if !(low..=high).contains(&start) {
                    return false;
                }
                continue;
            }
            let (t0, t1) = ((low - start) / way, (high - start) / way);
            first = first.max(t0.min(t1));
            last = last.min(t0.max(t1));
        }
        first < last
    }
}

/// Everything that hides vehicles.
pub(super) struct Obstacles {
    blocks: Vec<Block>,
    by_cell: BTreeMap<(i64, i64), Vec<usize>>,
    tops: Tops,
}

/// Heights of what stands on the ground, on a grid.
struct Tops {
    first: (i64, i64),
    width: usize,
    tops: Vec<f64>,
    highest: f64,
}

impl Tops {
    fn new(cells: &[[f64; 3]]) -> Self {
        let keys: Vec<(i64, i64)> = cells.iter().map(|c| Self::cell(c[0], c[1])).collect();
        let range = |pick: fn(&(i64, i64)) -> i64| {
            let low = keys.iter().map(pick).min().unwrap_or(0);
            (low, keys.iter().map(pick).max().unwrap_or(low))
        };
        let ((x0, x1), (y0, y1)) = (range(|k| k.0), range(|k| k.1));
        let width = (x1 - x0 + 1) as usize;
        let mut tops = vec![f64::NEG_INFINITY; width * (y1 - y0 + 1) as usize];
        for (key, cell) in keys.iter().zip(cells) {
            tops[(key.1 - y0) as usize * width + (key.0 - x0) as usize] = cell[2];
        }
        Self {
            first: (x0, y0),
            width,
            tops,
            highest: cells.iter().map(|c| c[2]).fold(f64::NEG_INFINITY, f64::max),
        }
    }

    fn cell(x: f64, y: f64) -> (i64, i64) {
        let key = |at: f64| (at / OBSTACLE_CELL_M).floor() as i64;
        (key(x), key(y))
    }

    fn at(&self, x: f64, y: f64) -> f64 {
        let key = Self::cell(x, y);
        let (column, row) = (key.0 - self.first.0, key.1 - self.first.1);
        if column < 0 || row < 0 || column as usize >= self.width {
            return f64::NEG_INFINITY;
        }
        let idx = row as usize * self.width + column as usize;
        self.tops.get(idx).copied().unwrap_or(f64::NEG_INFINITY)
    }

    /// Whether something stands between a place and a camera.
    fn hide(&self, place: &Vector3<f64>, camera: &Vector3<f64>) -> bool {
        let way = camera - place;
        let far = way.xy().norm();
        if far < OVER_M || self.highest <= place.z {
            return false;
        }
        let reach = (far * (self.highest - place.z) / way.z.max(1e-6)).min(far);
        let mut step = OVER_M;
        while step <= reach {
            let at = place + way * (step / far);
            if self.at(at.x, at.y) > at.z {
                return true;
            }
            step += OBSTACLE_CELL_M / 2.0;
        }
        false
    }
}

impl Obstacles {
    pub(super) fn new(blocks: Vec<Block>, tall: &[[f64; 3]]) -> Self {
        let mut by_cell: BTreeMap<(i64, i64), Vec<usize>> = BTreeMap::new();
        for (idx, block) in blocks.iter().enumerate() {
            by_cell.entry(cell(&block.place)).or_default().push(idx);
        }
        Self {
            blocks,
            by_cell,
            tops: Tops::new(tall),
        }
    }

    fn near(&self, block: &Block) -> Vec<&Block> {
        let (cx, cy) = cell(&block.place);
        let mut near = Vec::new();
        for (dx, dy) in (-1..=1).flat_map(|dx| (-1..=1).map(move |dy| (dx, dy))) {
            for &idx in self.by_cell.get(&(cx + dx, cy + dy)).into_iter().flatten() {
                let apart = (self.blocks[idx].place - block.place).norm();
                // What stands in the same place is the vehicle itself, or another reading of it.
                if apart > WIDTH_M / 2.0 && apart <= REACH_M {
                    near.push(&self.blocks[idx]);
                }
            }
        }
        near
    }

    /// Photos whose picture holds a vehicle, near enough to tell it, by photo.
    pub(super) fn sights(&self, block: &Block, posed: &PosedScene) -> Vec<Sight> {
        let near = self.near(block);
        let places =
            PLACES.map(|(along, across, up)| block.at(along * LENGTH_M, across * WIDTH_M, up));
        let mut sights = Vec::new();
        for (idx, photo) in posed.photos.iter().enumerate() {
            let Some(pose) = &photo.pose else {
                continue;
            };
            let camera = posed.camera_of(photo);
            let in_camera = pose.camera_from_enu * Point::from_vector(places[0]);
            let across_px = camera.fx * WIDTH_M / in_camera.vector.norm();
            let inside = |place: &Vector3<f64>| {
                camera
                    .pixel_from_camera(pose.camera_from_enu * Point::from_vector(*place))
                    .is_some_and(|pixel| camera.contains(pixel))
            };
            if across_px < MIN_ACROSS_PX || !inside(&places[0]) {
                continue;
            }
            let eye = pose.camera_from_enu.centre().vector;
            let mut n_seen = 0;
            if !self.tops.hide(&places[0], &eye) {
                n_seen = places
                    .iter()
                    .filter(|place| inside(place))
                    .filter(|place| !near.iter().any(|other| other.cuts(place, &eye)))
                    .count();
            }
            sights.push(Sight {
                photo: idx,
                share: n_seen as f64 / PLACES.len() as f64,
                across_px,
            });
        }
        sights
    }
}

fn cell(place: &Vector2<f64>) -> (i64, i64) {
    (
        (place.x / REACH_M).floor() as i64,
        (place.y / REACH_M).floor() as i64,
    )
}
