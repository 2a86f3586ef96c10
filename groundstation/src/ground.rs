//! The ground under a scene, from its sparse points: roofs, trees and cars stand on it and must
//! not be taken for it.

use nalgebra::Vector3;
use std::collections::BTreeMap;

/// Side of a cell, metres.
const CELL_M: f64 = 4.0;
/// The ground in a cell is taken at this share of its points from below: cars cover the rest.
const LOW_SHARE: f64 = 0.25;
/// How steep ground may be.
const MAX_SLOPE: f64 = 0.25;
/// Steps on ground (kerbs, ramps).
const STEP_M: f64 = 0.4;
/// How far around a cell lower ground contradicts it, metres. Larger than half a roof.
const REACH_M: f64 = 25.0;
/// Points below their surroundings by more than this are wrong.
const BELOW_M: f64 = 1.5;
/// Cells that take part in the height at a place.
const N_NEAREST: usize = 8;
/// Points a cell needs to be believed.
const MIN_POINTS: usize = 3;
/// Fewer cells say nothing about relief.
const MIN_CELLS_FOR_RELIEF: usize = 20;
/// Sigmas below which 90 % of normal values lie.
const QUANTILE_90: f64 = 1.2816;
/// The least sigma of the ground's height.
const MIN_SIGMA_M: f64 = 0.05;

/// A surface z(x, y), with its uncertainty.
#[derive(Clone, Debug)]
pub struct Ground {
    cells: Vec<Cell>,
    grid: BTreeMap<(i64, i64), usize>,
    fallback: Fallback,
}

#[derive(Clone, Debug)]
struct Cell {
    x: f64,
    y: f64,
    z: f64,
    sigma: f64,
}

#[derive(Clone, Copy, Debug)]
struct Fallback {
    z: f64,
    sigma: f64,
}

/// The ground at a place.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct GroundHeight {
    /// Height, metres.
    pub z: f64,
    /// One sigma, metres.
    pub sigma: f64,
    /// Whether sparse points near the place say so.
    pub is_measured: bool,
}

impl Ground {
    /// A flat ground at a height that is only assumed.
    #[must_use]
    pub fn assumed(z: f64, sigma: f64) -> Self {
        Self {
            cells: Vec::new(),
            grid: BTreeMap::new(),
            fallback: Fallback { z, sigma },
        }
    }

    /// From sparse points in ENU, metres. Falls back to a flat ground at `assumed_z` where there
    /// are none.
    #[must_use]
    pub fn from_points(points: &[Vector3<f64>], assumed_z: f64, assumed_sigma: f64) -> Self {
        let mut by_cell: BTreeMap<(i64, i64), Vec<f64>> = BTreeMap::new();
        for point in points {
            by_cell
                .entry(cell_of(point.x, point.y))
                .or_default()
                .push(point.z);
        }
        let candidates: Vec<((i64, i64), Cell)> = by_cell
            .into_iter()
            .filter(|(_, heights)| heights.len() >= MIN_POINTS)
            .map(|(key, mut heights)| (key, low_cell(key, &mut heights)))
            .collect();
        let candidates = without_deep_ones(candidates);
        let standing = on_the_ground(&candidates);
        let (mut cells, mut grid) = (Vec::new(), BTreeMap::new());
        for ((key, cell), stands) in candidates.into_iter().zip(standing) {
            if stands {
                grid.insert(key, cells.len());
                cells.push(cell);
            }
        }
        let fallback = fallback(&cells).unwrap_or(Fallback {
            z: assumed_z,
            sigma: assumed_sigma,
        });
        Self {
            cells,
            grid,
            fallback,
        }
    }

    /// The ground at a place.
    #[must_use]
    pub fn at(&self, x: f64, y: f64) -> GroundHeight {
        let mut near = self.nearest(x, y);
        if near.is_empty() {
            let Fallback { z, sigma } = self.fallback;
            return GroundHeight {
                z,
                sigma,
                is_measured: false,
            };
        }
        near.sort_by(|a, b| a.0.total_cmp(&b.0));
        near.truncate(N_NEAREST);
        let (mut sum, mut weight) = (0.0, 0.0);
        for &(distance, idx) in &near {
            let w = 1.0 / (distance * distance + CELL_M * CELL_M);
            sum += w * self.cells[idx].z;
            weight += w;
        }
        let z = sum / weight;
        let scatter = near
            .iter()
            .map(|&(_, idx)| (self.cells[idx].z - z).powi(2))
            .sum::<f64>();
        let own = near
            .iter()
            .map(|&(_, idx)| self.cells[idx].sigma)
            .sum::<f64>();
        let n = near.len() as f64;
        let sigma = (scatter / n / n)
            .sqrt()
            .hypot(own / n / n.sqrt())
            .max(MIN_SIGMA_M);
        // Away from the nearest cell the slope adds up.
        let away = (near[0].0 - CELL_M).max(0.0);
        GroundHeight {
            z,
            sigma: sigma + 0.03 * away,
            is_measured: true,
        }
    }

    /// Cells in growing rings until there are enough, with their distances.
    fn nearest(&self, x: f64, y: f64) -> Vec<(f64, usize)> {
        let (cx, cy) = cell_of(x, y);
        let reach = (REACH_M / CELL_M).ceil() as i64 * 2;
        let mut near = Vec::new();
        for ring in 0..=reach {
            for dx in -ring..=ring {
                for dy in -ring..=ring {
                    if dx.abs().max(dy.abs()) != ring {
                        continue;
                    }
                    if let Some(&idx) = self.grid.get(&(cx + dx, cy + dy)) {
                        let cell = &self.cells[idx];
                        near.push(((cell.x - x).hypot(cell.y - y), idx));
                    }
                }
            }
            if near.len() >= N_NEAREST {
                break;
            }
        }
        near
    }

    /// Cells believed to be ground: x, y, z.
    #[must_use]
    pub fn cells(&self) -> Vec<[f64; 3]> {
        self.cells
            .iter()
            .map(|cell| [cell.x, cell.y, cell.z])
            .collect()
    }

    /// How much the ground's height varies: one sigma over its cells, as quantiles say; `None`
    /// where few cells are measured.
    #[must_use]
    pub fn relief_m(&self) -> Option<f64> {
        if self.cells.len() < MIN_CELLS_FOR_RELIEF {
            return None;
        }
        let mut heights: Vec<f64> = self.cells.iter().map(|cell| cell.z).collect();
        heights.sort_by(f64::total_cmp);
        let at = |share: f64| heights[((heights.len() - 1) as f64 * share).round() as usize];
        Some((at(0.9) - at(0.1)) / (2.0 * QUANTILE_90))
    }

    /// The height in the middle of the scene.
    #[must_use]
    pub fn typical(&self) -> GroundHeight {
        let Fallback { z, sigma } = self.fallback;
        GroundHeight {
            z,
            sigma,
            is_measured: !self.cells.is_empty(),
        }
    }
}

fn cell_of(x: f64, y: f64) -> (i64, i64) {
    ((x / CELL_M).floor() as i64, (y / CELL_M).floor() as i64)
}

/// The low side of a cell's points.
fn low_cell(key: (i64, i64), heights: &mut [f64]) -> Cell {
    heights.sort_by(f64::total_cmp);
    let at = |share: f64| heights[((heights.len() - 1) as f64 * share).round() as usize];
    let z = at(LOW_SHARE);
    let centre = |idx: i64| (idx as f64 + 0.5) * CELL_M;
    let sigma = ((at(0.5) - at(0.0)) / 2.0).max(MIN_SIGMA_M);
    Cell {
        x: centre(key.0),
        y: centre(key.1),
        z,
        sigma,
    }
}

/// Drops cells far below the middle of their surroundings: wrong points.
fn without_deep_ones(cells: Vec<((i64, i64), Cell)>) -> Vec<((i64, i64), Cell)> {
    let is_deep: Vec<bool> = cells
        .iter()
        .map(|(_, cell)| {
            let mut around: Vec<f64> = cells
                .iter()
                .filter(|(_, other)| (other.x - cell.x).hypot(other.y - cell.y) < REACH_M)
                .map(|(_, other)| other.z)
                .collect();
            around.sort_by(f64::total_cmp);
            let low = around[around.len() / 4];
            cell.z < low - BELOW_M
        })
        .collect();
    cells
        .into_iter()
        .zip(is_deep)
        .filter(|(_, deep)| !deep)
        .map(|(cell, _)| cell)
        .collect()
}

/// Which cells are ground: nothing lower nearby that the slope and a step do not explain
/// (a morphological opening with a cone).
fn on_the_ground(cells: &[((i64, i64), Cell)]) -> Vec<bool> {
    cells
        .iter()
        .map(|(_, cell)| {
            cells.iter().all(|(_, other)| {
                let distance = (other.x - cell.x).hypot(other.y - cell.y);
                distance > REACH_M || cell.z - other.z <= STEP_M + MAX_SLOPE * distance * 0.5
            })
        })
        .collect()
}

fn fallback(cells: &[Cell]) -> Option<Fallback> {
    let mut heights: Vec<f64> = cells.iter().map(|cell| cell.z).collect();
    let z = crate::statistics::median(&mut heights)?;
    let mut off: Vec<f64> = cells.iter().map(|cell| (cell.z - z).abs()).collect();
    let sigma = 1.48 * crate::statistics::median(&mut off)?;
    Some(Fallback {
        z,
        sigma: sigma.max(0.3),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::seeded;

    /// A slope of 2 % with a 30 x 20 m hall of 8 m, two rows of cars and a few wild points.
    fn site() -> Vec<Vector3<f64>> {
        let mut rng = seeded::rng(1, "test", "ground");
        let mut points = Vec::new();
        for _ in 0..20_000 {
            let x = 120.0 * seeded::unit(&mut rng) - 60.0;
            let y = 80.0 * seeded::unit(&mut rng) - 40.0;
            let ground = 0.02 * x + 0.04 * seeded::normal(&mut rng);
            let hall = (0.0..30.0).contains(&x) && (10.0..30.0).contains(&y);
            let car = (-20.0..-15.0).contains(&y) && (x / 2.5).fract().abs() > 0.3;
            let height = if hall {
                8.0
            } else if car {
                1.4
            } else {
                0.0
            };
            points.push(Vector3::new(x, y, ground + height));
        }
        for _ in 0..40 {
            let x = 100.0 * seeded::unit(&mut rng) - 50.0;
            points.push(Vector3::new(x, 30.0 * seeded::unit(&mut rng), -10.0));
        }
        points
    }

    #[test]
    fn halls_and_cars_stand_on_the_ground_and_are_not_it() {
        let ground = Ground::from_points(&site(), 0.0, 3.0);
        let mut worst: f64 = 0.0;
        let mut sum = 0.0;
        for step in 0..110 {
            let x = f64::from(step) - 55.0;
            for y in [-30.0, -17.5, 0.0, 20.0, 35.0] {
                let found = ground.at(x, y);
                let off = (found.z - 0.02 * x).abs();
                worst = worst.max(off);
                sum += (off / found.sigma).powi(2);
            }
        }
        assert!(worst < 0.35, "worst {worst:.2} m");
        // The sigma is neither a lie nor a blanket (its floor of 5 cm is more than is needed here).
        let sigmas = (sum / 550.0_f64).sqrt();
        assert!(
            (0.25..1.3).contains(&sigmas),
            "off by {sigmas:.2} sigmas rms"
        );
    }

    #[test]
    fn without_points_the_assumption_is_returned_as_one() {
        let ground = Ground::from_points(&[], 1.5, 3.0);
        let found = ground.at(10.0, 10.0);
        assert_eq!(
            found,
            GroundHeight {
                z: 1.5,
                sigma: 3.0,
                is_measured: false
            }
        );
    }
}
