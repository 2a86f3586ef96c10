//! Houses with gable roofs and halls with flat ones, and what stands on roofs.

use super::{Finish, Workshop};
use crate::site::props::{Building, Roof};
use crate::vec3::{V3, v3};

/// Adds a building.
pub(super) fn add(shop: &mut Workshop, building: &Building) {
    match building.roof {
        Roof::Flat => {
            flat_roofed(shop, building);
            roof_units(shop, building);
        }
        Roof::Gable { rise } => {
            walls(shop, building, rise);
            slopes(shop, building, rise);
            roof_windows(shop, building, rise);
        }
    }
}

fn flat_roofed(shop: &mut Workshop, plan: &Building) {
    let seed = shop.seed;
    let wall = shop.finish(Finish::Wall {
        color: plan.wall,
        seed,
    });
    let roof = shop.finish(Finish::FlatRoof {
        color: plan.roof_color,
        seed,
    });
    let (l, w, h) = (plan.length, plan.width, plan.eaves);
    shop.block_with_top((0.0, 0.0, 0.0), (l, w, h), wall, roof);
    let gray = shop.dice.range32(0.2, 0.45);
    let parapet = shop.plain(V3::splat(gray), 0.05);
    for (x, y, lx, ly) in [
        (0.0, w / 2.0 - 0.15, l, 0.3),
        (0.0, -w / 2.0 + 0.15, l, 0.3),
        (l / 2.0 - 0.15, 0.0, 0.3, w - 0.6),
        (-l / 2.0 + 0.15, 0.0, 0.3, w - 0.6),
    ] {
        shop.block((x, y, h), (lx, ly, 0.45), parapet);
    }
}

/// Ventilation, solar tables, hatches, chimneys on a flat roof.
fn roof_units(shop: &mut Workshop, plan: &Building) {
    let (l, w, h) = (plan.length, plan.width, plan.eaves);
    let metal = shop.plain(V3::splat(0.35), 0.2);
    let dark = shop.plain(V3::splat(0.05), 0.1);
    let solar = shop.finish(Finish::Solar);
    let glass = shop.finish(Finish::Glass);
    let mut taken: Vec<(f32, f32, f32)> = Vec::new();
    for _ in 0..plan.clutter {
        let (x, y) = (
            shop.dice.range32(-0.43, 0.43) * l,
            shop.dice.range32(-0.40, 0.40) * w,
        );
        let what = shop.dice.below(8);
        let reach = if what < 3 { 3.4 } else { 1.4 };
        let inside = x.abs() < l / 2.0 - reach && y.abs() < w / 2.0 - reach.min(2.0);
        if !inside || taken.iter().any(|t| (t.0 - x).hypot(t.1 - y) < t.2 + reach) {
            continue;
        }
        taken.push((x, y, reach));
        match what {
            0 => {
                let size = (
                    shop.dice.range32(1.6, 4.2),
                    shop.dice.range32(1.4, 2.4),
                    shop.dice.range32(0.9, 1.8),
                );
                shop.block((x, y, h), size, metal);
            }
            1 | 2 => solar_table(shop, v3(x, y, h), 5.0, 1.7, solar, dark),
            3 => shop.block_with_top((x, y, h), (1.4, 1.4, 0.35), metal, glass),
            4 | 5 => {
                let top = h + shop.dice.range32(0.5, 1.3);
                shop.bar((x, y, h), (x, y, top), 0.22, metal);
            }
            6 => shop.block_with_top((x, y, h), (0.9, 0.9, 0.6), dark, metal),
            _ => shop.block_with_top((x, y, h), (2.0, 0.5, 0.5), metal, dark),
        }
    }
}

/// Tilted panels on a low frame.
pub(super) fn solar_table(
    shop: &mut Workshop,
    at: V3,
    length: f32,
    width: f32,
    solar: u16,
    frame: u16,
) {
    let corner = at + v3(-length / 2.0, -width / 2.0, 0.25);
    shop.panel(
        corner,
        v3(length, 0.0, 0.0),
        v3(0.0, width, width * 0.35),
        0.0,
        solar,
    );
    let back = at + v3(length / 2.0, width / 2.0, 0.0);
    let rise = v3(0.0, 0.0, 0.25 + width * 0.35);
    shop.panel(back, v3(-length, 0.0, 0.0), rise, 0.0, frame);
}

fn walls(shop: &mut Workshop, plan: &Building, rise: f32) {
    let seed = shop.seed;
    let wall = shop.finish(Finish::Wall {
        color: plan.wall,
        seed,
    });
    let blank = shop.finish(Finish::BlankWall {
        color: plan.wall,
        seed,
    });
    let (hl, hw, h) = (plan.length / 2.0, plan.width / 2.0, plan.eaves);
    let up = v3(0.0, 0.0, h);
    shop.panel(v3(hl, -hw, 0.0), v3(0.0, plan.width, 0.0), up, 0.0, wall);
    shop.panel(v3(hl, hw, 0.0), v3(-plan.length, 0.0, 0.0), up, 1.0, wall);
    shop.panel(v3(-hl, hw, 0.0), v3(0.0, -plan.width, 0.0), up, 2.0, wall);
    shop.panel(v3(-hl, -hw, 0.0), v3(plan.length, 0.0, 0.0), up, 3.0, wall);
    let stand = shop.stand;
    let p = |x: f32, y: f32, z: f32| stand.point(v3(x, y, z));
    let mesh = shop.mesh();
    mesh.gable(
        p(hl, -hw, h),
        p(hl, hw, h),
        p(hl, 0.0, h + rise),
        0.0,
        blank,
    );
    mesh.gable(
        p(-hl, hw, h),
        p(-hl, -hw, h),
        p(-hl, 0.0, h + rise),
        2.0,
        blank,
    );
}

/// How far a roof reaches beyond its walls, metres.
const OVERHANG_M: f32 = 0.45;

fn slopes(shop: &mut Workshop, plan: &Building, rise: f32) {
    let seed = shop.seed;
    let tiles = shop.finish(Finish::Tiles {
        color: plan.roof_color,
        seed,
    });
    let soffit = shop.plain(V3::splat(0.4), 0.0);
    let half = plan.width / 2.0 + OVERHANG_M;
    let drop = OVERHANG_M * rise / (plan.width / 2.0);
    let long = plan.length + 2.0 * OVERHANG_M;
    for side in [-1.0_f32, 1.0] {
        // The eaves edge runs so that the slope faces outwards.
        let corner = v3(side * -long / 2.0, -side * half, plan.eaves - drop + 0.06);
        let along = v3(side * long, 0.0, 0.0);
        let upward = v3(0.0, side * half, rise + drop);
        shop.panel(corner, along, upward, side, tiles);
        shop.panel(corner + along, -along, upward, side, soffit);
    }
}

/// A chimney, roof windows, solar panels on the slopes.
fn roof_windows(shop: &mut Workshop, plan: &Building, rise: f32) {
    let (l, w, ridge) = (plan.length, plan.width, plan.eaves + rise);
    let slope = rise / (w / 2.0);
    let brick = shop.plain(v3(0.2, 0.1, 0.07), 0.0);
    let dark = shop.plain(V3::splat(0.1), 0.1);
    let glass = shop.finish(Finish::Glass);
    let solar = shop.finish(Finish::Solar);
    let chimney_x = shop.dice.range32(-0.3, 0.3) * l;
    if shop.dice.chance(0.75) {
        let y = shop.dice.range32(-0.2, 0.2) * w;
        let foot = ridge - y.abs() * slope - 0.5;
        shop.block_with_top((chimney_x, y, foot), (0.6, 0.6, 1.4), brick, dark);
    }
    // A panel on the slope of a side: its middle along the ridge, its way down, its size.
    let lay = |shop: &mut Workshop, side: f32, x: f32, down: f32, size: (f32, f32), finish: u16| {
        let low = down + size.1;
        let corner = v3(
            x - side * size.0 / 2.0,
            -side * low,
            ridge - low * slope + 0.14,
        );
        let up = v3(0.0, side * size.1, size.1 * slope);
        shop.panel(corner, v3(side * size.0, 0.0, 0.0), up, 0.0, finish);
    };
    let solar_side = match shop.dice.below(7) {
        0 => 1.0,
        1 => -1.0,
        _ => 0.0,
    };
    if solar_side != 0.0 {
        lay(
            shop,
            solar_side,
            0.0,
            0.7,
            ((l * 0.6).min(8.0), w * 0.28),
            solar,
        );
    }
    for i in 0..plan.clutter {
        let side = if i % 2 == 0 { 1.0 } else { -1.0 };
        let x = shop.dice.range32(-0.4, 0.4) * l;
        if side != solar_side && (x - chimney_x).abs() > 1.2 {
            let down = shop.dice.range32(0.8, w * 0.25);
            lay(shop, side, x, down, (0.8, 1.1), glass);
        }
    }
}
