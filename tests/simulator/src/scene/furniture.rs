//! Small things: lamps, benches, bins, containers, stalls, trailers, people.

use super::buildings::solar_table;
use super::{Finish, Workshop};
use crate::site::props::PropKind;
use crate::vec3::{V3, v3};

/// Adds a prop that is no building, plant or kerb.
pub(super) fn add(shop: &mut Workshop, kind: &PropKind) {
    match *kind {
        PropKind::Lamp { height, arms } => lamp(shop, height, arms),
        PropKind::Container { length, color } => container(shop, length, color),
        PropKind::Skip { color } => skip(shop, color),
        PropKind::Stall {
            length,
            width,
            color,
            stripe,
        } => stall(shop, (length, width), color, stripe),
        PropKind::Bench => bench(shop),
        PropKind::PicnicTable => picnic_table(shop),
        PropKind::Bin { color } => bin(shop, (0.58, 0.58, 1.0), color),
        PropKind::Dumpster { color } => bin(shop, (1.36, 1.05, 1.2), color),
        PropKind::Cabinet => {
            let body = shop.plain(v3(0.32, 0.33, 0.30), 0.1);
            shop.block((0.0, 0.0, 0.0), (1.2, 0.42, 1.25), body);
        }
        PropKind::Pallets { layers, cargo } => pallets(shop, layers, cargo),
        PropKind::UtilityTrailer { color } => trailer(shop, color),
        PropKind::Boulder { size } => {
            let gray = shop.dice.range32(0.2, 0.34);
            let stone = shop.plain(V3::splat(gray), 0.0);
            let radii = v3(size * 0.5, size * 0.42, size * 0.38);
            shop.ellipsoid(v3(0.0, 0.0, size * 0.25), radii, stone);
        }
        PropKind::Bollard => {
            let iron = shop.plain(V3::splat(0.06), 0.1);
            shop.bar((0.0, 0.0, 0.0), (0.0, 0.0, 0.9), 0.07, iron);
        }
        PropKind::Fence { length, height } => {
            let wood = planks(shop, v3(0.2, 0.15, 0.1));
            shop.block((0.0, 0.0, 0.0), (length, 0.06, height), wood);
        }
        PropKind::SolarTable { length } => {
            let solar = shop.finish(Finish::Solar);
            let frame = shop.plain(V3::splat(0.12), 0.1);
            solar_table(shop, v3(0.0, 0.0, 0.5), length, 2.2, solar, frame);
        }
        PropKind::Shelter { length } => shelter(shop, length),
        PropKind::Trolleys { count } => trolleys(shop, count),
        PropKind::Rubble { size } => rubble(shop, size),
        PropKind::Shed {
            length,
            width,
            height,
            color,
        } => {
            let (wood, felt) = (planks(shop, color), shop.plain(V3::splat(0.07), 0.0));
            shop.block_with_top((0.0, 0.0, 0.0), (length, width, height), wood, felt);
            shop.block((0.0, 0.0, height), (length + 0.3, width + 0.3, 0.12), felt);
        }
        PropKind::Pool { length, width } => {
            let (edge, water) = (
                shop.plain(V3::splat(0.42), 0.05),
                shop.finish(Finish::Water),
            );
            shop.block((0.0, 0.0, 0.0), (length + 0.8, width + 0.8, 0.10), edge);
            shop.block((0.0, 0.0, 0.10), (length, width, 0.012), water);
        }
        PropKind::Trampoline => {
            let (mat, rim) = (
                shop.plain(V3::splat(0.02), 0.0),
                shop.plain(v3(0.05, 0.2, 0.35), 0.1),
            );
            shop.bar((0.0, 0.0, 0.0), (0.0, 0.0, 0.62), 1.55, rim);
            shop.bar((0.0, 0.0, 0.62), (0.0, 0.0, 0.64), 1.3, mat);
        }
        PropKind::Person { coat, trousers } => person(shop, coat, trousers),
        // These have builders of their own.
        PropKind::Building(_)
        | PropKind::Tree(_)
        | PropKind::Bush { .. }
        | PropKind::Hedge { .. }
        | PropKind::Kerb { .. } => {}
    }
}

fn planks(shop: &mut Workshop, color: V3) -> u16 {
    let seed = shop.seed;
    shop.finish(Finish::Planks { color, seed })
}

fn lamp(shop: &mut Workshop, height: f32, arms: u32) {
    let (pole, head) = (
        shop.plain(V3::splat(0.32), 0.2),
        shop.plain(V3::splat(0.5), 0.2),
    );
    shop.bar((0.0, 0.0, 0.0), (0.0, 0.0, height), 0.07, pole);
    for side in [1.0_f32, -1.0].into_iter().take(arms as usize) {
        shop.bar(
            (0.0, 0.0, height),
            (side * 1.3, 0.0, height + 0.1),
            0.04,
            pole,
        );
        shop.block((side * 1.35, 0.0, height + 0.05), (0.65, 0.26, 0.12), head);
    }
}

fn container(shop: &mut Workshop, length: f32, color: V3) {
    let seed = shop.seed;
    let steel = shop.finish(Finish::Corrugated { color, seed });
    shop.block((0.0, 0.0, 0.0), (length, 2.44, 2.59), steel);
}

fn bench(shop: &mut Workshop) {
    let (wood, iron) = (
        planks(shop, v3(0.2, 0.12, 0.07)),
        shop.plain(V3::splat(0.03), 0.1),
    );
    for x in [-0.6_f32, 0.6] {
        shop.block((x, 0.0, 0.0), (0.08, 0.5, 0.42), iron);
    }
    shop.block((0.0, 0.0, 0.42), (1.6, 0.45, 0.05), wood);
    shop.block((0.0, -0.24, 0.5), (1.6, 0.06, 0.35), wood);
}

fn picnic_table(shop: &mut Workshop) {
    let wood = planks(shop, v3(0.24, 0.16, 0.09));
    shop.block((0.0, 0.0, 0.70), (1.8, 0.75, 0.06), wood);
    for y in [-0.62_f32, 0.62] {
        shop.block((0.0, y, 0.40), (1.8, 0.28, 0.05), wood);
    }
    shop.block((0.0, 0.0, 0.0), (0.15, 0.9, 0.7), wood);
}

fn bin(shop: &mut Workshop, size: (f32, f32, f32), color: V3) {
    let (body, lid) = (shop.plain(color, 0.1), shop.plain(color * 0.6, 0.15));
    shop.block((0.0, 0.0, 0.0), size, body);
    shop.block(
        (0.0, 0.0, size.2),
        (size.0 + 0.05, size.1 + 0.05, 0.07),
        lid,
    );
}

fn pallets(shop: &mut Workshop, layers: u32, cargo: Option<V3>) {
    let wood = planks(shop, v3(0.33, 0.24, 0.14));
    let height = 0.145 * layers as f32;
    shop.block((0.0, 0.0, 0.0), (1.2, 0.8, height), wood);
    if let Some(color) = cargo {
        let load = shop.plain(color, 0.05);
        shop.block((0.0, 0.0, height), (1.1, 0.74, 0.5), load);
    }
}

fn shelter(shop: &mut Workshop, length: f32) {
    let (glass, frame) = (
        shop.finish(Finish::Glass),
        shop.plain(V3::splat(0.12), 0.15),
    );
    shop.block_with_top((0.0, -0.7, 0.0), (length, 0.06, 2.2), glass, frame);
    shop.block((0.0, 0.0, 2.25), (length, 1.6, 0.12), frame);
    for x in [-0.48_f32, 0.48] {
        shop.bar(
            (x * length, 0.65, 0.0),
            (x * length, 0.65, 2.25),
            0.04,
            frame,
        );
    }
}

fn trolleys(shop: &mut Workshop, count: u32) {
    let (wire, red) = (
        shop.plain(V3::splat(0.28), 0.2),
        shop.plain(v3(0.35, 0.03, 0.03), 0.1),
    );
    for i in 0..count.min(16) {
        let x = -2.0 + 0.24 * i as f32;
        shop.block((x, 0.0, 0.45), (0.10, 0.55, 0.45), wire);
        shop.block((x, 0.0, 0.93), (0.06, 0.56, 0.04), red);
    }
}

fn rubble(shop: &mut Workshop, size: f32) {
    for _ in 0..26 {
        let (x, y) = (
            shop.dice.range32(-0.7, 0.7) * size,
            shop.dice.range32(-0.7, 0.7) * size,
        );
        let albedo = *shop
            .dice
            .pick(&[V3::splat(0.3), v3(0.3, 0.14, 0.09), V3::splat(0.2)]);
        let finish = shop.plain(albedo, 0.0);
        let s = shop.dice.range32(0.12, 0.4);
        shop.ellipsoid(v3(x, y, s * 0.4), v3(s, s * 0.8, s * 0.7), finish);
    }
}

fn skip(shop: &mut Workshop, color: V3) {
    let steel = shop.plain(color, 0.1);
    let loads = [v3(0.2, 0.15, 0.1), V3::splat(0.25), v3(0.12, 0.09, 0.06)];
    let load = *shop.dice.pick(&loads);
    let load = shop.plain(load, 0.0);
    let (l, w, h) = (3.5, 1.7, 1.3);
    for (x, y, lx, ly) in [
        (l / 2.0 - 0.05, 0.0, 0.1, w),
        (-l / 2.0 + 0.05, 0.0, 0.1, w),
        (0.0, w / 2.0 - 0.05, l - 0.2, 0.1),
        (0.0, -w / 2.0 + 0.05, l - 0.2, 0.1),
    ] {
        shop.block((x, y, 0.0), (lx, ly, h), steel);
    }
    shop.block((0.0, 0.0, 0.0), (l - 0.2, w - 0.2, 0.85), load);
    for _ in 0..9 {
        let at = v3(
            shop.dice.range32(-1.3, 1.3),
            shop.dice.range32(-0.55, 0.55),
            0.85,
        );
        shop.ellipsoid(at, v3(0.3, 0.22, 0.2), load);
    }
}

fn stall(shop: &mut Workshop, (length, width): (f32, f32), color: V3, stripe: V3) {
    let canvas = shop.finish(Finish::Canvas { color, stripe });
    let (pole, table) = (
        shop.plain(V3::splat(0.4), 0.1),
        shop.plain(v3(0.3, 0.25, 0.2), 0.0),
    );
    for (x, y) in [(-0.47, -0.45), (0.47, -0.45), (0.47, 0.45), (-0.47, 0.45)] {
        let (x, y) = (x * length, y * width);
        shop.bar((x, y, 0.0), (x, y, 2.1), 0.03, pole);
    }
    shop.block((0.0, width * 0.2, 0.0), (length * 0.8, 0.7, 0.8), table);
    for side in [-1.0_f32, 1.0] {
        let corner = v3(side * -length / 2.0, -side * width / 2.0, 2.05);
        let along = v3(side * length, 0.0, 0.0);
        let up = v3(0.0, side * width / 2.0, 0.6);
        shop.panel(corner, along, up, 0.0, canvas);
        shop.panel(corner + along, -along, up, 0.0, canvas);
    }
}

fn trailer(shop: &mut Workshop, color: V3) {
    let (body, tyre) = (shop.plain(color, 0.1), shop.plain(V3::splat(0.02), 0.0));
    let floor = planks(shop, v3(0.22, 0.16, 0.1));
    let (l, w) = (2.3, 1.3);
    shop.block_with_top((-0.4, 0.0, 0.45), (l, w, 0.08), body, floor);
    for (x, y, lx, ly) in [
        (l / 2.0 - 0.4, 0.0, 0.05, w),
        (-l / 2.0 - 0.4, 0.0, 0.05, w),
        (-0.4, w / 2.0, l, 0.05),
        (-0.4, -w / 2.0, l, 0.05),
    ] {
        shop.block((x, y, 0.5), (lx, ly, 0.35), body);
    }
    for side in [-1.0_f32, 1.0] {
        let hub = side * (w / 2.0 + 0.06);
        shop.bar(
            (-0.5, hub, 0.28),
            (-0.5, hub + side * 0.14, 0.28),
            0.28,
            tyre,
        );
    }
    shop.bar((l / 2.0 - 0.4, 0.0, 0.45), (1.75, 0.0, 0.42), 0.04, body);
}

fn person(shop: &mut Workshop, coat: V3, trousers: V3) {
    let (coat, trousers) = (shop.plain(coat, 0.0), shop.plain(trousers, 0.0));
    let hair = *shop
        .dice
        .pick(&[V3::splat(0.02), v3(0.08, 0.05, 0.03), v3(0.25, 0.2, 0.13)]);
    let hair = shop.plain(hair, 0.0);
    for y in [-0.11_f32, 0.11] {
        let stride = y * 1.4;
        shop.bar((stride, y, 0.0), (0.0, y * 0.8, 0.85), 0.08, trousers);
    }
    shop.ellipsoid(v3(0.0, 0.0, 1.12), v3(0.15, 0.24, 0.36), coat);
    shop.ellipsoid(v3(0.0, 0.0, 1.60), v3(0.11, 0.10, 0.14), hair);
}
