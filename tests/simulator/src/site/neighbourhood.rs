//! The blocks between the streets: houses, halls, parks and fields, out to where haze hides
//! detail.

use crate::dice::Dice;
use crate::ground::surfaces::Surface;
use crate::ground::{Coat, Shape, WHITE_PAINT};
use crate::site::SiteKind;
use crate::site::gardens;
use crate::site::props::{Building, PropKind, Roof};
use crate::site::streets::{FOOTWAY_M, Street, Streets, furnish};
use crate::site::yard::{LOT_HALF_X, LOT_HALF_Y, Yard};
use crate::vec3::{V3, v3};
use std::f32::consts::FRAC_PI_2;

/// A block between streets, its inside.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Block {
    pub(crate) x0: f32,
    pub(crate) x1: f32,
    pub(crate) y0: f32,
    pub(crate) y1: f32,
}

impl Block {
    pub(crate) fn center(&self) -> (f32, f32) {
        ((self.x0 + self.x1) / 2.0, (self.y0 + self.y1) / 2.0)
    }

    pub(crate) fn size(&self) -> (f32, f32) {
        (self.x1 - self.x0, self.y1 - self.y0)
    }

    fn shape(&self, inset: f32, round: f32) -> Shape {
        let ((x, y), (length, width)) = (self.center(), self.size());
        Shape::rounded(x, y, length - 2.0 * inset, width - 2.0 * inset, round)
    }

    /// A random point at least `inset` from the edge.
    pub(crate) fn point(&self, dice: &mut Dice, inset: f32) -> (f32, f32) {
        (
            dice.range32(self.x0 + inset, self.x1 - inset),
            dice.range32(self.y0 + inset, self.y1 - inset),
        )
    }
}

pub(crate) const WALLS: [V3; 7] = [
    v3(0.60, 0.58, 0.53),
    v3(0.55, 0.49, 0.38),
    v3(0.30, 0.14, 0.09),
    v3(0.42, 0.40, 0.37),
    v3(0.50, 0.42, 0.30),
    v3(0.36, 0.19, 0.12),
    v3(0.62, 0.62, 0.60),
];
const FLAT_ROOFS: [V3; 5] = [
    v3(0.20, 0.20, 0.19),
    v3(0.32, 0.31, 0.29),
    v3(0.09, 0.09, 0.09),
    v3(0.45, 0.45, 0.43),
    v3(0.14, 0.13, 0.12),
];

/// Leaf clusters of a plant that has `near` of them beside the lot.
pub(crate) fn leaves_for(at: (f32, f32), near: u32) -> u32 {
    match at.0.hypot(at.1) {
        distance if distance < 110.0 => near,
        distance if distance < 210.0 => near / 5,
        _ => near / 14,
    }
}

/// Fills all blocks, and the streets' edges.
pub(crate) fn settle(yard: &mut Yard, kind: SiteKind, streets: &Streets) {
    let mut dice = yard.dice("neighbourhood");
    let inner = |streets: &[Street]| -> Vec<(f32, f32)> {
        let edge = |street: &Street| street.width / 2.0 + FOOTWAY_M;
        streets
            .windows(2)
            .map(|s| (s[0].at + edge(&s[0]), s[1].at - edge(&s[1])))
            .collect()
    };
    for (y0, y1) in inner(&streets.along_x) {
        for (x0, x1) in inner(&streets.along_y) {
            let block = Block { x0, x1, y0, y1 };
            let around_origin = x0 < 0.0 && x1 > 0.0 && y0 < 0.0 && y1 > 0.0;
            if kind != SiteKind::Street && around_origin {
                around_lot(yard, &mut dice, &block);
            } else {
                fill(yard, &mut dice, &block, kind);
            }
        }
    }
    furnish(yard, &mut dice, streets);
}

fn fill(yard: &mut Yard, dice: &mut Dice, block: &Block, kind: SiteKind) {
    let (cx, cy) = block.center();
    let distance = cx.hypot(cy);
    let houses = if kind == SiteKind::Street && distance < 120.0 {
        8.0
    } else {
        5.0
    };
    let fields = if distance > 250.0 { 1.6 } else { 0.3 };
    let weights = [houses, 1.6, 1.5, fields];
    match *dice.pick_weighted(&[0, 1, 2, 3], |k| weights[*k]) {
        0 => gardens::houses(yard, dice, block),
        1 => halls(yard, dice, block),
        2 => park(yard, dice, block),
        _ => {
            let tints = [
                v3(0.17, 0.14, 0.075),
                v3(0.06, 0.09, 0.03),
                v3(0.12, 0.095, 0.06),
            ];
            let tint = *dice.pick(&tints);
            yard.painter
                .surface(block.shape(3.0, 4.0), Surface::Soil { tint });
        }
    }
}

/// Flat-roofed halls on paved ground.
fn halls(yard: &mut Yard, dice: &mut Dice, block: &Block) {
    let surface = if dice.chance(0.5) {
        Surface::Asphalt {
            albedo: dice.range32(0.1, 0.16),
            warmth: 0.02,
        }
    } else {
        Surface::Slabs {
            albedo: 0.27,
            side_m: 2.5,
            tint: v3(1.0, 0.98, 0.94),
        }
    };
    yard.painter.surface(block.shape(4.0, 2.0), surface);
    for _ in 0..24 {
        let (length, width) = (dice.range32(16.0, 52.0), dice.range32(12.0, 26.0));
        let at = block.point(dice, 0.0);
        let turned = dice.chance(0.5);
        let (lx, ly) = if turned {
            (width, length)
        } else {
            (length, width)
        };
        let inside = at.0 - lx / 2.0 > block.x0 + 8.0
            && at.0 + lx / 2.0 < block.x1 - 8.0
            && at.1 - ly / 2.0 > block.y0 + 8.0
            && at.1 + ly / 2.0 < block.y1 - 8.0;
        if inside {
            hall(
                yard,
                dice,
                at,
                length,
                width,
                if turned { FRAC_PI_2 } else { 0.0 },
            );
        }
    }
    for _ in 0..14 {
        let x = dice.range32(block.x0 + 3.0, block.x1 - 3.0);
        let at = (
            x,
            if dice.chance(0.5) {
                block.y0 + 2.0
            } else {
                block.y1 - 2.0
            },
        );
        yard.plant(dice, at, (6.0, 11.0), leaves_for(at, 1700));
    }
}

fn hall(
    yard: &mut Yard,
    dice: &mut Dice,
    at: (f32, f32),
    length: f32,
    width: f32,
    heading: f32,
) -> bool {
    let building = Building {
        length,
        width,
        eaves: dice.range32(4.0, 9.5),
        roof: Roof::Flat,
        wall: *dice.pick(&WALLS),
        roof_color: *dice.pick(&FLAT_ROOFS),
        clutter: 4 + (length * width / 40.0) as u32,
    };
    yard.put(dice, PropKind::Building(building), at, heading, 3.0)
}

fn park(yard: &mut Yard, dice: &mut Dice, block: &Block) {
    let ((cx, cy), (length, width)) = (block.center(), block.size());
    let path = Surface::Gravel {
        tint: v3(0.3, 0.26, 0.2),
    };
    let (turn_a, turn_b) = (dice.range32(-0.5, 0.5), FRAC_PI_2 + dice.range32(-0.4, 0.4));
    yard.painter
        .surface(Shape::rect(cx, cy, length, 2.4, turn_a), path);
    yard.painter
        .surface(Shape::rect(cx, cy, width, 2.0, turn_b), path);
    if dice.chance(0.45) {
        let at = (
            cx + dice.range32(-15.0, 15.0),
            cy + dice.range32(-12.0, 12.0),
        );
        court(yard, dice, at);
    }
    for _ in 0..(length * width / 170.0) as usize {
        let at = block.point(dice, 0.0);
        yard.plant(dice, at, (6.0, 14.0), leaves_for(at, 1900));
        let at = block.point(dice, 0.0);
        yard.bush(dice, at, leaves_for(at, 220));
    }
}

/// A ball court.
fn court(yard: &mut Yard, dice: &mut Dice, (x, y): (f32, f32)) {
    let tint = *dice.pick(&[
        v3(0.05, 0.12, 0.07),
        v3(0.25, 0.09, 0.06),
        v3(0.06, 0.10, 0.2),
    ]);
    yard.painter.surface(
        Shape::rounded(x, y, 34.0, 17.0, 0.3),
        Surface::Plain { tint },
    );
    let coat = Coat::Marking {
        color: WHITE_PAINT,
        wear: 0.1,
    };
    for (dx, dy, length, turn) in [
        (0.0, 8.0, 32.0, 0.0),
        (0.0, -8.0, 32.0, 0.0),
        (16.0, 0.0, 16.0, FRAC_PI_2),
        (-16.0, 0.0, 16.0, FRAC_PI_2),
        (0.0, 0.0, 16.0, FRAC_PI_2),
    ] {
        yard.painter.paint(
            Shape::rect(x + dx, y + dy, length, 0.08, turn),
            coat.clone(),
        );
    }
    yard.keep_clear(x, y, 36.0, 19.0, 50.0);
}

/// The rest of the lot's own block: a shop in the north, green in the east and west.
fn around_lot(yard: &mut Yard, dice: &mut Dice, block: &Block) {
    let albedo = dice.range32(0.22, 0.32);
    let forecourt = Surface::Slabs {
        albedo,
        side_m: 0.6,
        tint: v3(1.0, 0.98, 0.95),
    };
    yard.painter.surface(
        Shape::rounded(-4.0, LOT_HALF_Y + 8.5, 100.0, 8.0, 0.3),
        forecourt,
    );
    let (length, width) = (dice.range32(48.0, 84.0), dice.range32(20.0, 28.0));
    let shop = (dice.range32(-8.0, 4.0), LOT_HALF_Y + 14.0 + width / 2.0);
    hall(yard, dice, shop, length, width, 0.0);
    for side in [-1.0_f32, 1.0] {
        let (lx, ly) = (dice.range32(14.0, 18.0), dice.range32(10.0, 18.0));
        let at = (side * (length / 2.0 + 14.0), LOT_HALF_Y + 16.0 + ly / 2.0);
        hall(yard, dice, at, lx, ly, 0.0);
    }
    for k in 0..7 {
        let x = -42.0 + 14.0 * k as f32;
        if dice.chance(0.6) {
            yard.put(dice, PropKind::Bench, (x, LOT_HALF_Y + 6.6), 0.0, 0.25);
        }
        let color = v3(0.04, 0.06, 0.05);
        yard.put(
            dice,
            PropKind::Bin { color },
            (x + 3.0, LOT_HALF_Y + 6.4),
            0.0,
            0.25,
        );
    }
    for _ in 0..46 {
        let east = dice.chance(0.75);
        let x = if east {
            dice.range32(LOT_HALF_X + 3.0, block.x1)
        } else {
            dice.range32(block.x0, -LOT_HALF_X - 1.5)
        };
        let y = dice.range32(block.y0 + 2.0, block.y1);
        yard.plant(dice, (x, y), (5.0, 12.0), 2200);
        yard.bush(dice, (x + 1.0, y + 3.0), 240);
    }
}
