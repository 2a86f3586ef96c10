//! Sunlight and skylight that reach a place: shadow maps along the sun's direction, and how much
//! sky the ground sees.
//!
//! A point is brought down to the ground along the sun's direction; the map there holds the
//! greatest height of anything on that ray. A point is in shadow where the map is higher than it.

use crate::render::raster::{Corner, leaf_here, walk};
use crate::scene::Scene;
use crate::scene::foliage::{MASK_SIDE, N_MASKS};
use crate::vec3::{V3, lerp, v3};

/// Heights are stored in these steps, metres; 16 bits reach 98 m.
const HEIGHT_STEP_M: f32 = 0.0015;

/// Greatest heights on a square grid.
#[derive(Debug)]
struct HeightMap {
    half_extent: f32,
    inverse_cell: f32,
    side: usize,
    heights: Vec<u16>,
}

impl HeightMap {
    /// Draws the scene sheared by `shift` metres a metre of height. Leafy objects count for
    /// `leaf_share` of their height.
    fn draw(
        scene: &Scene,
        masks: &[[u32; MASK_SIDE]; N_MASKS],
        half_extent: f32,
        cell: f32,
        shift: (f32, f32),
        leaf_share: f32,
    ) -> Self {
        let side = (2.0 * half_extent / cell).ceil() as usize;
        let mut heights = vec![0_u16; side * side];
        let inverse_cell = 1.0 / cell;
        let mesh = &scene.mesh;
        for object in &scene.objects {
            let c = object.center;
            let slack = object.radius * (1.0 + shift.0.hypot(shift.1));
            let (mx, my) = (c.x - shift.0 * c.z, c.y - shift.1 * c.z);
            if mx.abs() > half_extent + slack || my.abs() > half_extent + slack {
                continue;
            }
            let share = if object.leafy { leaf_share } else { 1.0 };
            for triangle in &mesh.triangles[object.triangles.clone()] {
                let vertices = triangle.corners.map(|k| mesh.vertices[k as usize]);
                let corners = vertices.map(|vertex| {
                    let p = vertex.position;
                    Corner {
                        x: (p.x - shift.0 * p.z + half_extent) * inverse_cell,
                        y: (p.y - shift.1 * p.z + half_extent) * inverse_cell,
                        value: p.z * share,
                    }
                });
                let locals = vertices.map(|vertex| vertex.local);
                walk(&corners, side, side, |x, y, z, b1, b2| {
                    if !object.leafy || leaf_here(masks, &locals, b1, b2) {
                        let height = (z / HEIGHT_STEP_M).clamp(0.0, 65_535.0) as u16;
                        let slot = &mut heights[y * side + x];
                        *slot = (*slot).max(height);
                    }
                });
            }
        }
        Self {
            half_extent,
            inverse_cell,
            side,
            heights,
        }
    }

    /// Cell coordinates of a ground point, if at least `border` cells inside.
    fn cell(&self, x: f32, y: f32, border: f32) -> Option<(f32, f32)> {
        let (u, v) = (
            (x + self.half_extent) * self.inverse_cell,
            (y + self.half_extent) * self.inverse_cell,
        );
        let limit = self.side as f32 - border;
        (u >= border && v >= border && u < limit && v < limit).then_some((u, v))
    }

    fn height(&self, x: usize, y: usize) -> f32 {
        f32::from(self.heights[y * self.side + x]) * HEIGHT_STEP_M
    }

    /// Share of the four cells around a place that are lit for a point at height z.
    fn lit(&self, x: f32, y: f32, z: f32) -> Option<f32> {
        let (u, v) = self.cell(x, y, 2.0)?;
        let (u, v) = (u - 0.5, v - 0.5);
        let (ix, iy) = (u as usize, v as usize);
        let (tx, ty) = (u - ix as f32, v - iy as f32);
        let lit = |dx, dy| f32::from(u8::from(self.height(ix + dx, iy + dy) <= z));
        Some(lerp(
            lerp(lit(0, 0), lit(1, 0), tx),
            lerp(lit(0, 1), lit(1, 1), tx),
            ty,
        ))
    }
}

/// A picture of one number a cell, with halved copies for large footprints.
#[derive(Debug)]
struct Pyramid {
    half_extent: f32,
    cell: f32,
    levels: Vec<(usize, Vec<u8>)>,
}

impl Pyramid {
    fn new(half_extent: f32, cell: f32, side: usize, values: Vec<u8>) -> Self {
        let mut levels = vec![(side, values)];
        while levels.len() < 7 {
            let (side, values) = &levels[levels.len() - 1];
            let half = side / 2;
            if half < 8 {
                break;
            }
            let mut next = Vec::with_capacity(half * half);
            for y in 0..half {
                for x in 0..half {
                    let at = 2 * y * side + 2 * x;
                    let sum = u32::from(values[at])
                        + u32::from(values[at + 1])
                        + u32::from(values[at + side])
                        + u32::from(values[at + side + 1]);
                    next.push(((sum + 2) / 4) as u8);
                }
            }
            levels.push((half, next));
        }
        Self {
            half_extent,
            cell,
            levels,
        }
    }

    /// Bilinear value in [0, 1] for a footprint; `None` outside.
    fn sample(&self, x: f32, y: f32, footprint_m: f32) -> Option<f32> {
        let mut level = 0;
        let mut cell = self.cell;
        while cell * 1.5 < footprint_m && level + 1 < self.levels.len() {
            cell *= 2.0;
            level += 1;
        }
        let (side, values) = &self.levels[level];
        let (u, v) = (
            (x + self.half_extent) / cell - 0.5,
            (y + self.half_extent) / cell - 0.5,
        );
        let limit = *side as f32 - 2.0;
        if u < 1.0 || v < 1.0 || u >= limit || v >= limit {
            return None;
        }
        let (ix, iy) = (u as usize, v as usize);
        let (tx, ty) = (u - ix as f32, v - iy as f32);
        let get = |dx: usize, dy: usize| f32::from(values[(iy + dy) * side + ix + dx]);
        Some(
            lerp(
                lerp(get(0, 0), get(1, 0), tx),
                lerp(get(0, 1), get(1, 1), tx),
                ty,
            ) / 255.0,
        )
    }
}

/// Blurs by [1 2 1] along both axes.
fn soften(side: usize, values: &[u8]) -> Vec<u8> {
    let mut across = values.to_vec();
    for y in 0..side {
        for x in 1..side - 1 {
            let at = y * side + x;
            let sum =
                u16::from(values[at - 1]) + 2 * u16::from(values[at]) + u16::from(values[at + 1]);
            across[at] = (sum / 4) as u8;
        }
    }
    let mut out = across.clone();
    for y in 1..side - 1 {
        for x in 0..side {
            let at = y * side + x;
            let sum = u16::from(across[at - side])
                + 2 * u16::from(across[at])
                + u16::from(across[at + side]);
            out[at] = (sum / 4) as u8;
        }
    }
    out
}

const NEAR_HALF_EXTENT_M: f32 = 112.0;
const NEAR_CELL_M: f32 = 0.055;
const FAR_HALF_EXTENT_M: f32 = 560.0;
const FAR_CELL_M: f32 = 0.28;
const SKY_HALF_EXTENT_M: f32 = 100.0;
const SKY_CELL_M: f32 = 0.2;

/// All that shading asks about light arriving at a place.
#[derive(Debug)]
pub(crate) struct Shadows {
    near: HeightMap,
    far: HeightMap,
    ground_near: Pyramid,
    ground_far: Pyramid,
    sky: Pyramid,
    shift: (f32, f32),
}

impl Shadows {
    /// For a sun in this direction (a unit vector towards it, above the horizon).
    pub(crate) fn new(scene: &Scene, masks: &[[u32; MASK_SIDE]; N_MASKS], to_sun: V3) -> Self {
        let up = to_sun.z.max(0.12);
        let shift = (to_sun.x / up, to_sun.y / up);
        let (near, (far, sky)) = rayon::join(
            || HeightMap::draw(scene, masks, NEAR_HALF_EXTENT_M, NEAR_CELL_M, shift, 1.0),
            || {
                rayon::join(
                    || HeightMap::draw(scene, masks, FAR_HALF_EXTENT_M, FAR_CELL_M, shift, 1.0),
                    || sky_seen(scene, masks),
                )
            },
        );
        let (ground_near, ground_far) = rayon::join(|| lit_ground(&near), || lit_ground(&far));
        Self {
            near,
            far,
            ground_near,
            ground_far,
            sky,
            shift,
        }
    }

    /// Share of the sun that reaches the ground around a point, over a footprint.
    pub(crate) fn sun_on_ground(&self, x: f32, y: f32, footprint_m: f32) -> f32 {
        self.ground_near
            .sample(x, y, footprint_m)
            .or_else(|| self.ground_far.sample(x, y, footprint_m))
            .unwrap_or(1.0)
    }

    /// Share of the sun that reaches a point of a surface with this normal.
    pub(crate) fn sun_on(&self, p: V3, normal: V3) -> f32 {
        let q = p + normal * 0.07 + v3(0.0, 0.0, 0.02);
        let lit = self.near.lit(
            q.x - self.shift.0 * q.z,
            q.y - self.shift.1 * q.z,
            q.z + 0.03,
        );
        lit.or_else(|| {
            let q = p + normal * 0.35;
            self.far.lit(
                q.x - self.shift.0 * q.z,
                q.y - self.shift.1 * q.z,
                q.z + 0.2,
            )
        })
        .unwrap_or(1.0)
    }

    /// Share of the sky that the ground at a point sees.
    pub(crate) fn sky_on_ground(&self, x: f32, y: f32, footprint_m: f32) -> f32 {
        self.sky.sample(x, y, footprint_m).unwrap_or(0.93)
    }
}

fn lit_ground(map: &HeightMap) -> Pyramid {
    let lowest = (0.03 / HEIGHT_STEP_M) as u16;
    let lit: Vec<u8> = map
        .heights
        .iter()
        .map(|&h| if h > lowest { 0 } else { 255 })
        .collect();
    let soft = soften(map.side, &soften(map.side, &lit));
    Pyramid::new(map.half_extent, 1.0 / map.inverse_cell, map.side, soft)
}

/// Directions looked at around each ground point, and distances in cells.
const SKY_DIRECTIONS: usize = 8;
const SKY_STEPS: [f32; 6] = [1.0, 2.2, 5.0, 11.0, 24.0, 50.0];

/// Cosine-weighted share of the sky over each ground cell, from the heights around it: one minus
/// the mean of sin^2 of the horizon's elevation.
fn sky_seen(scene: &Scene, masks: &[[u32; MASK_SIDE]; N_MASKS]) -> Pyramid {
    let map = HeightMap::draw(
        scene,
        masks,
        SKY_HALF_EXTENT_M,
        SKY_CELL_M,
        (0.0, 0.0),
        0.55,
    );
    let side = map.side;
    let mut values = vec![0_u8; side * side];
    for (row, line) in values.chunks_mut(side).enumerate() {
        for (column, value) in line.iter_mut().enumerate() {
            let mut hidden = 0.0;
            for k in 0..SKY_DIRECTIONS {
                let angle = std::f32::consts::TAU * (k as f32 + 0.37) / SKY_DIRECTIONS as f32;
                let (sin, cos) = angle.sin_cos();
                let mut steepest = 0.0_f32;
                for step in SKY_STEPS {
                    let x = column as f32 + 0.5 + cos * step;
                    let y = row as f32 + 0.5 + sin * step;
                    if x < 0.0 || y < 0.0 || x >= side as f32 || y >= side as f32 {
                        break;
                    }
                    let height = map.height(x as usize, y as usize);
                    steepest = steepest.max(height / (step * SKY_CELL_M));
                }
                hidden += steepest * steepest / (1.0 + steepest * steepest);
            }
            let seen = 1.0 - hidden / SKY_DIRECTIONS as f32;
            *value = (255.0 * seen.max(0.15)) as u8;
        }
    }
    let soft = soften(side, &values);
    Pyramid::new(SKY_HALF_EXTENT_M, SKY_CELL_M, side, soft)
}
