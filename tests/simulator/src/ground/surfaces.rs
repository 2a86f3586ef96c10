//! The look of each kind of ground at any footprint: noise from a centimetre to tens of metres,
//! with the structure of the material (slabs, pebbles, tufts, furrows).
//!
//! Reflectances are linear; orders of magnitude from published spectral libraries (worn asphalt
//! about 0.1 to 0.15, concrete 0.25 to 0.35, grass 0.05 to 0.1 in the visible).

use crate::ground::GroundLook;
use crate::noise::{cells, lattice_hash, lattice_unit, octaves, value_noise};
use crate::vec3::{V3, smoothstep, v3};

/// A kind of ground.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Surface {
    /// Bitumen with this mean reflectance; small is new.
    Asphalt { albedo: f32, warmth: f32 },
    /// Square slabs of this side, turned with the site.
    Slabs { albedo: f32, side_m: f32, tint: V3 },
    /// Small stones in bond (pavers).
    Pavers { tint: V3 },
    /// Loose gravel.
    Gravel { tint: V3 },
    /// Grass; dryness 0 green to 1 straw.
    Grass { dryness: f32 },
    /// Bare soil or mulch.
    Soil { tint: V3 },
    /// Open country: a patchwork of fields, hedges and woods.
    Country { dryness: f32 },
    /// Water-bound or rubber-like plain area with this colour (courts, roofs of basements).
    Plain { tint: V3 },
}

/// The look of a surface at a point, for a footprint in metres.
pub(crate) fn surface_color(surface: &Surface, x: f32, y: f32, foot: f32, seed: u32) -> GroundLook {
    match *surface {
        Surface::Asphalt { albedo, warmth } => asphalt(x, y, foot, albedo, warmth, seed),
        Surface::Slabs {
            albedo,
            side_m,
            tint,
        } => slabs(x, y, foot, albedo, side_m, tint, seed),
        Surface::Pavers { tint } => pavers(x, y, foot, tint, seed),
        Surface::Gravel { tint } => gravel(x, y, foot, tint, seed),
        Surface::Grass { dryness } => grass(x, y, foot, dryness, seed),
        Surface::Soil { tint } => soil(x, y, foot, tint, seed),
        Surface::Country { dryness } => country(x, y, foot, dryness, seed),
        Surface::Plain { tint } => {
            let n = octaves(x, y, 6.0, 0.02, 0.6, foot, seed ^ 0x77);
            GroundLook {
                albedo: tint * (1.0 + 0.12 * n),
                gloss: 0.05,
            }
        }
    }
}

fn asphalt(x: f32, y: f32, foot: f32, albedo: f32, warmth: f32, seed: u32) -> GroundLook {
    let macro_noise = octaves(x, y, 24.0, 1.4, 0.72, foot, seed ^ 0x11);
    let mid = octaves(x, y, 0.9, 0.10, 0.85, foot, seed ^ 0x12);
    let aggregate = octaves(x, y, 0.06, 0.008, 0.95, foot, seed ^ 0x13);
    // Bleached and dark blotches of half a metre to two: what a matcher finds from 60 m and up.
    let blotch = octaves(x * 0.7 + 31.0, y * 0.9, 2.4, 0.3, 0.7, foot, seed ^ 0x14);
    let spots = smoothstep(0.62, 0.95, blotch) * 0.30 - smoothstep(0.60, 0.95, -blotch) * 0.26;
    let value = albedo * (1.0 + 0.16 * macro_noise + 0.085 * mid + 0.14 * aggregate + spots);
    let value = value.max(0.015);
    let warm = warmth + 0.03 * macro_noise;
    GroundLook {
        albedo: v3(value * (1.0 + warm), value, value * (1.0 - 1.3 * warm)),
        gloss: 0.10,
    }
}

fn joint(t: f32, half_width: f32, foot: f32) -> f32 {
    // Distance to the nearest whole number of cells, as a share of a joint.
    let edge = half_width.max(foot * 0.5);
    let dark = (1.0 - t / edge).clamp(0.0, 1.0);
    dark * (half_width / edge).min(1.0)
}

fn slabs(x: f32, y: f32, foot: f32, albedo: f32, side: f32, tint: V3, seed: u32) -> GroundLook {
    let (u, v) = (x / side, y / side);
    let (iu, iv) = (u.floor(), v.floor());
    let edge = ((u - iu).min(1.0 - (u - iu))).min((v - iv).min(1.0 - (v - iv))) * side;
    let each = lattice_unit(iu as i32, iv as i32, seed ^ 0x21) - 0.5;
    let fade = smoothstep(1.2 * side, 0.4 * side, foot);
    let n = octaves(x, y, 9.0, 0.02, 0.72, foot, seed ^ 0x22);
    let moss = smoothstep(0.3, 0.9, octaves(x, y, 3.0, 0.2, 0.6, foot, seed ^ 0x23));
    let mut value = albedo * (1.0 + 0.13 * n + 0.22 * each * fade - 0.15 * moss);
    value *= 1.0 - 0.55 * joint(edge, 0.012, foot);
    GroundLook {
        albedo: tint * value,
        gloss: 0.06,
    }
}

fn pavers(x: f32, y: f32, foot: f32, tint: V3, seed: u32) -> GroundLook {
    let row = (y / 0.10).floor();
    let shifted = x / 0.20 + 0.5 * row.rem_euclid(2.0);
    let column = shifted.floor();
    let each = lattice_unit(column as i32, row as i32, seed ^ 0x31) - 0.5;
    let fade = smoothstep(0.16, 0.05, foot);
    let n = octaves(x, y, 7.0, 0.05, 0.75, foot, seed ^ 0x32);
    let block = octaves(x, y, 0.45, 0.15, 1.0, foot, seed ^ 0x33);
    let edge = ((shifted - column).min(1.0 - (shifted - column)) * 0.20)
        .min((y / 0.10 - row).min(1.0 - (y / 0.10 - row)) * 0.10);
    let value =
        1.0 + 0.16 * n + 0.30 * each * fade + 0.10 * block - 0.45 * joint(edge, 0.006, foot);
    GroundLook {
        albedo: tint * value,
        gloss: 0.04,
    }
}

fn gravel(x: f32, y: f32, foot: f32, tint: V3, seed: u32) -> GroundLook {
    let n = octaves(x, y, 13.0, 0.4, 0.75, foot, seed ^ 0x41);
    let clumps = octaves(x, y, 0.35, 0.05, 0.95, foot, seed ^ 0x42);
    let mut value = 1.0 + 0.17 * n + 0.11 * clumps;
    let mut stone_tint = 0.0;
    if foot < 0.035 {
        let (nearest, second, hash) = cells(x * 26.0, y * 26.0, seed ^ 0x43);
        let fade = smoothstep(0.035, 0.012, foot);
        let stone = (hash & 0xFF) as f32 / 255.0 - 0.5;
        value += fade * (0.55 * stone - 0.55 * smoothstep(0.18, 0.0, second - nearest));
        stone_tint = 0.06 * stone * fade;
    }
    let weeds = smoothstep(
        0.55,
        1.0,
        octaves(x + 9.0, y, 5.0, 0.08, 0.7, foot, seed ^ 0x44),
    );
    let stone = v3(
        tint.x * (1.0 + stone_tint),
        tint.y,
        tint.z * (1.0 - stone_tint),
    ) * value.max(0.2);
    GroundLook {
        albedo: stone.mix(v3(0.06, 0.085, 0.03), 0.7 * weeds),
        gloss: 0.0,
    }
}

fn grass(x: f32, y: f32, foot: f32, dryness: f32, seed: u32) -> GroundLook {
    let patch = octaves(x, y, 19.0, 0.9, 0.72, foot, seed ^ 0x51);
    let tuft = octaves(x, y, 0.75, 0.09, 0.9, foot, seed ^ 0x52);
    let blade = octaves(x, y, 0.07, 0.01, 0.9, foot, seed ^ 0x53);
    let dry = (dryness + 0.33 * patch + 0.12 * tuft).clamp(0.0, 1.0);
    let green = v3(0.052, 0.092, 0.022);
    let straw = v3(0.19, 0.155, 0.075);
    let bare = smoothstep(0.75, 1.25, patch * 0.8 + 0.45 * tuft + 0.35 * dryness);
    let value = (1.0 + 0.10 * patch + 0.24 * tuft + 0.22 * blade).max(0.3);
    let albedo = green.mix(straw, dry) * value;
    GroundLook {
        albedo: albedo.mix(v3(0.16, 0.12, 0.08) * value, 0.75 * bare),
        gloss: 0.0,
    }
}

fn soil(x: f32, y: f32, foot: f32, tint: V3, seed: u32) -> GroundLook {
    let n = octaves(x, y, 8.0, 0.4, 0.75, foot, seed ^ 0x61);
    let clods = octaves(x, y, 0.3, 0.012, 0.95, foot, seed ^ 0x62);
    GroundLook {
        albedo: tint * (1.0 + 0.2 * n + 0.26 * clods).max(0.25),
        gloss: 0.0,
    }
}

fn country(x: f32, y: f32, foot: f32, dryness: f32, seed: u32) -> GroundLook {
    let (wx, wy) = (
        x + 30.0 * value_noise(x / 190.0, y / 190.0, seed ^ 0x71),
        y + 30.0 * value_noise(x / 190.0, y / 190.0, seed ^ 0x72),
    );
    let (nearest, second, hash) = cells(wx / 130.0, wy / 130.0, seed ^ 0x73);
    let kind = (hash >> 8) % 8;
    let shade = ((hash >> 16) & 0xFF) as f32 / 255.0;
    let base = match kind {
        0 | 1 => v3(0.05, 0.085, 0.024),
        2 => v3(0.20, 0.165, 0.085),
        3 => v3(0.13, 0.10, 0.065),
        4 | 5 => v3(0.07, 0.10, 0.035),
        _ => v3(0.024, 0.042, 0.016),
    };
    let base = base.mix(v3(0.17, 0.14, 0.07), dryness * 0.5 * shade);
    let wood = kind >= 6;
    let n = if wood {
        0.55 * octaves(x, y, 9.0, 1.0, 0.7, foot, seed ^ 0x74)
    } else {
        let angle = (lattice_hash(hash as i32, 3, seed) & 0xFF) as f32 / 81.0;
        let across = x * angle.cos() + y * angle.sin();
        let furrow = if foot < 1.6 {
            0.10 * (across * 1.9).sin()
        } else {
            0.0
        };
        furrow + 0.20 * octaves(x, y, 40.0, 0.2, 0.66, foot, seed ^ 0x75)
    };
    let hedge = smoothstep(0.035, 0.012, second - nearest);
    let albedo = (base * (1.0 + n)).mix(v3(0.022, 0.036, 0.014), 0.85 * hedge);
    GroundLook { albedo, gloss: 0.0 }
}
