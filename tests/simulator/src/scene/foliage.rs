//! Trees, bushes and hedges: clusters of leaves as small quads whose outline is cut from a mask,
//! placed on the blobs of an irregular crown.
//!
//! A leaf's local coordinates are (u, v) in the mask, each 0 to 1, and a third number whose whole
//! part chooses the mask and whose fraction is how much light reaches the place in the crown.

use crate::dice::Dice;
use crate::scene::mesh::{Mesh, Stand};
use crate::site::props::Tree;
use crate::vec3::{V3, smoothstep, v3};
use std::f32::consts::TAU;

/// How many leaf masks there are.
pub(crate) const N_MASKS: usize = 4;
/// Side of a mask in bits.
pub(crate) const MASK_SIDE: usize = 32;

/// Leaf outlines: bit u of row v is set where there is leaf.
pub(crate) fn leaf_masks() -> [[u32; MASK_SIDE]; N_MASKS] {
    let mut masks = [[0_u32; MASK_SIDE]; N_MASKS];
    let mut dice = Dice::new(0, "leaf masks", "");
    for mask in &mut masks {
        for _ in 0..15 {
            let (cx, cy) = (dice.range32(0.14, 0.86), dice.range32(0.14, 0.86));
            let angle = dice.range32(0.0, TAU);
            let (long, short) = (dice.range32(0.13, 0.2), dice.range32(0.06, 0.1));
            let (sin, cos) = angle.sin_cos();
            for (row, bits) in mask.iter_mut().enumerate() {
                for column in 0..MASK_SIDE {
                    let dx = (column as f32 + 0.5) / MASK_SIDE as f32 - cx;
                    let dy = (row as f32 + 0.5) / MASK_SIDE as f32 - cy;
                    let (u, v) = ((dx * cos + dy * sin) / long, (dy * cos - dx * sin) / short);
                    if u * u + v.abs() * (1.0 + 0.6 * u.abs()) < 1.0 && v * v + u * u < 1.0 {
                        *bits |= 1 << column;
                    }
                }
            }
        }
    }
    masks
}

fn direction(dice: &mut Dice) -> V3 {
    let z = dice.range32(-1.0, 1.0);
    let angle = dice.range32(0.0, TAU);
    let r = (1.0 - z * z).max(0.0).sqrt();
    v3(r * angle.cos(), r * angle.sin(), z)
}

/// Puts leaf clusters of one plant into a mesh.
pub(crate) struct Planter<'a> {
    pub(crate) mesh: &'a mut Mesh,
    pub(crate) stand: &'a Stand,
    pub(crate) finish: u16,
    pub(crate) dice: &'a mut Dice,
}

/// One cluster: a square tilted about `facing`.
struct Cluster {
    center: V3,
    facing: V3,
    /// For shading; need not be the square's own.
    normal: V3,
    side: f32,
    /// How much light reaches it inside the crown, 0 to 1.
    light: f32,
}

impl Planter<'_> {
    fn add(&mut self, cluster: &Cluster) {
        let helper = direction(self.dice);
        let u = cluster.facing.cross(helper).unit() * (cluster.side / 2.0);
        let v = cluster.facing.cross(u).unit() * (cluster.side / 2.0);
        let normal = self.stand.direction(cluster.normal.unit());
        let tag = self.dice.below(N_MASKS) as f32 + cluster.light.clamp(0.02, 0.98);
        let ids = [(-1.0, -1.0), (1.0, -1.0), (1.0, 1.0), (-1.0, 1.0)].map(|(a, b)| {
            let corner = self.stand.point(cluster.center + u * a + v * b);
            self.mesh
                .vertex(corner, normal, v3((a + 1.0) / 2.0, (b + 1.0) / 2.0, tag))
        });
        self.mesh.triangle(ids[0], ids[1], ids[2], self.finish);
        self.mesh.triangle(ids[0], ids[2], ids[3], self.finish);
    }
}

struct Blob {
    center: V3,
    radius: f32,
}

fn blobs(shape: &Tree, dice: &mut Dice) -> Vec<Blob> {
    let middle = (shape.base + shape.height) / 2.0;
    let half = (shape.height - shape.base) / 2.0;
    let n = 7 + dice.below(6);
    let mut blobs = vec![Blob {
        center: v3(0.0, 0.0, middle),
        radius: 0.55 * shape.radius.min(half),
    }];
    for k in 0..n {
        let radius = shape.radius.min(half * 1.3) * dice.range32(0.26, 0.48);
        let angle = TAU * (k as f32 + dice.range32(-0.35, 0.35)) / n as f32 * 1.618;
        let out = (shape.radius - radius) * dice.range32(0.45, 1.0);
        let reach = (half - radius).max(0.0);
        let z = middle + reach * dice.range32(-0.75, 1.0) * (1.0 - 0.45 * out / shape.radius);
        blobs.push(Blob {
            center: v3(out * angle.cos(), out * angle.sin(), z),
            radius,
        });
    }
    blobs
}

/// The leaves of a tree.
pub(crate) fn crown(planter: &mut Planter, shape: &Tree) {
    if shape.conifer {
        return conifer(planter, shape);
    }
    let blobs = blobs(shape, planter.dice);
    let middle = v3(0.0, 0.0, (shape.base + shape.height) / 2.0);
    // The same crown with fewer leaves needs larger ones.
    let area = shape.radius * shape.radius;
    let side = (1.5 * (area * 16.0 / shape.leaves as f32).sqrt()).clamp(0.22, 1.5);
    let keep = side * 0.85;
    for _ in 0..shape.leaves {
        let dice = &mut *planter.dice;
        let blob = dice.pick_weighted(&blobs, |b| f64::from(b.radius * b.radius));
        let out = direction(dice);
        let depth = 1.0 - 0.45 * dice.range32(0.0, 1.0).powi(2);
        let mut p = blob.center + out * (blob.radius * depth);
        let flat = p.x.hypot(p.y);
        let limit = shape.radius - keep;
        if flat > limit {
            let shrink = limit.max(0.1) / flat;
            p = v3(p.x * shrink, p.y * shrink, p.z);
        }
        p.z = p.z.clamp(
            shape.base + keep,
            (shape.height - keep).max(shape.base + keep),
        );
        let outward = (p - middle).unit();
        let light =
            0.30 + 0.45 * depth * smoothstep(-0.8, 0.9, outward.z) + dice.range32(-0.1, 0.25);
        let facing = (out + direction(dice) * 0.9 + v3(0.0, 0.0, 0.35)).unit();
        let shade = out * 0.7 + outward * 0.6 + direction(dice) * 0.35 + v3(0.0, 0.0, 0.25);
        let side = side * dice.range32(0.75, 1.2);
        planter.add(&Cluster {
            center: p,
            facing,
            normal: shade,
            side,
            light,
        });
    }
}

fn conifer(planter: &mut Planter, shape: &Tree) {
    let side =
        (1.9 * (shape.radius * shape.height * 2.5 / shape.leaves as f32).sqrt()).clamp(0.2, 1.1);
    for _ in 0..shape.leaves {
        let dice = &mut *planter.dice;
        // More leaves low, where the cone is wide; whorls every half metre.
        let t = 1.0 - dice.range32(0.0, 1.0).sqrt();
        let z = shape.base + side * 0.75 + t * (shape.height - shape.base - 1.5 * side);
        let whorl = 0.82 + 0.18 * (z * 9.0).sin();
        let r = ((shape.radius - side * 0.75) * (1.0 - t) * whorl * dice.range32(0.45, 1.0).sqrt())
            .max(0.05);
        let angle = dice.range32(0.0, TAU);
        let out = v3(angle.cos(), angle.sin(), 0.0);
        let p = v3(out.x * r, out.y * r, z);
        let facing = (out * 0.5 + v3(0.0, 0.0, 0.8) + direction(dice) * 0.6).unit();
        let shade = out * 0.9 + v3(0.0, 0.0, 0.5) + direction(dice) * 0.3;
        let own_side = side * dice.range32(0.7, 1.1);
        let light = 0.25 + 0.45 * (r / shape.radius).min(1.0) + dice.range32(0.0, 0.25);
        planter.add(&Cluster {
            center: p,
            facing,
            normal: shade,
            side: own_side,
            light,
        });
    }
}

/// Trunk and main branches.
pub(crate) fn trunk(planter: &mut Planter, shape: &Tree) {
    let Planter {
        mesh,
        stand,
        finish,
        dice,
    } = planter;
    let radius = (0.03 * shape.height).min(0.3);
    let fork = shape.base + (shape.height - shape.base) * if shape.conifer { 0.8 } else { 0.3 };
    let foot = stand.point(V3::ZERO);
    let top = stand.point(v3(0.0, 0.0, fork));
    mesh.rod(foot, top, radius, radius * 0.6, 8, *finish);
    if shape.conifer || shape.leaves < 600 {
        return;
    }
    for k in 0..5 {
        let angle = TAU * k as f32 / 5.0 + dice.range32(-0.4, 0.4);
        let reach = shape.radius * dice.range32(0.35, 0.6);
        let z = fork + (shape.height - fork) * dice.range32(0.2, 0.5);
        let tip = stand.point(v3(reach * angle.cos(), reach * angle.sin(), z));
        let from = stand.point(v3(0.0, 0.0, fork - 0.3));
        mesh.rod(from, tip, radius * 0.4, 0.03, 5, *finish);
    }
}

/// A bush: one squat blob down to the ground.
pub(crate) fn bush(planter: &mut Planter, radius: f32, height: f32, leaves: u32) {
    let side = (2.2 * (radius * radius * 6.0 / leaves as f32).sqrt())
        .clamp(0.12, 0.6)
        .min(0.6 * height)
        .min(0.8 * radius);
    let lumps: [f32; 5] = std::array::from_fn(|_| planter.dice.range32(0.75, 1.0));
    for _ in 0..leaves {
        let dice = &mut *planter.dice;
        let d = direction(dice);
        let lump = lumps[((d.y.atan2(d.x) + 3.2) * 0.79) as usize % 5];
        let r = (radius - side * 0.71).max(0.05) * lump;
        let z = (height * 0.45) * (1.0 + d.z * 0.85 * lump);
        let p = v3(
            d.x * r,
            d.y * r,
            z.clamp(side * 0.71, (height - side * 0.71).max(side * 0.71)),
        );
        let light = 0.3 + 0.35 * smoothstep(-0.6, 0.9, d.z) + dice.range32(-0.1, 0.25);
        let facing = (d + direction(dice) * 0.8 + v3(0.0, 0.0, 0.4)).unit();
        let shade = d + v3(0.0, 0.0, 0.5) + direction(dice) * 0.3;
        planter.add(&Cluster {
            center: p,
            facing,
            normal: shade,
            side,
            light,
        });
    }
}

/// Leaves over a box.
pub(crate) fn hedge(planter: &mut Planter, size: V3) {
    let n = ((size.x * (size.y + 2.0 * size.z)) * 16.0) as u32;
    for _ in 0..n {
        let dice = &mut *planter.dice;
        let around = dice.range32(0.0, size.y + 2.0 * size.z);
        let x = dice.range32(-0.5, 0.5) * (size.x - 0.44);
        let half = (size.y - 0.44) / 2.0;
        let (p, d) = if around < size.z {
            (v3(x, -half, around), v3(0.0, -1.0, 0.3))
        } else if around < 2.0 * size.z {
            (v3(x, half, around - size.z), v3(0.0, 1.0, 0.3))
        } else {
            (
                v3(x, around - 2.0 * size.z - size.y / 2.0, size.z - 0.22),
                V3::UP,
            )
        };
        let p = v3(p.x, p.y.clamp(-half, half), p.z.clamp(0.22, size.z - 0.22));
        let light = 0.3 + 0.45 * p.z / size.z + dice.range32(-0.1, 0.2);
        let facing = (d + direction(dice) * 0.6).unit();
        let shade = d + direction(dice) * 0.35;
        planter.add(&Cluster {
            center: p,
            facing,
            normal: shade,
            side: 0.30,
            light,
        });
    }
}
