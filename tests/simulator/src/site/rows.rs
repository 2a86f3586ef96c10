//! A marked lot: rows of bays at right angles or slanted, islands, arrows, edge strips.

use crate::dice::Dice;
use crate::ground::surfaces::Surface;
use crate::ground::{Coat, Shape, WHITE_PAINT, YELLOW_PAINT};
use crate::site::signs;
use crate::site::yard::{LOT_HALF_X, LOT_HALF_Y, ParkingPlace, PlaceKind, Yard};
use crate::vec3::{V3, v3};
use std::f32::consts::{FRAC_PI_2, PI};

/// Bays as the lot's rows need them.
struct BayStyle {
    width: f32,
    length: f32,
    /// Only every n-th bay is offered, so that neighbours are `spacing` apart.
    every: usize,
    color: V3,
    wear: f32,
    box_ends: bool,
    numbers: bool,
}

impl BayStyle {
    fn draw(dice: &mut Dice, spacing: f32) -> Self {
        let every = (spacing / 2.5 + 1e-3).floor().max(1.0) as usize;
        Self {
            width: spacing / every as f32,
            length: 5.0,
            every,
            color: if dice.chance(0.8) {
                WHITE_PAINT
            } else {
                YELLOW_PAINT
            },
            wear: dice.range32(0.02, 0.55),
            box_ends: dice.chance(0.35),
            numbers: dice.chance(0.4),
        }
    }

    fn coat(&self) -> Coat {
        Coat::Marking {
            color: self.color,
            wear: self.wear,
        }
    }
}

fn lot_surface(yard: &mut Yard, dice: &mut Dice) {
    let surface = match dice.below(20) {
        0..=14 => Surface::Asphalt {
            albedo: dice.range32(0.075, 0.16),
            warmth: dice.range32(-0.02, 0.08),
        },
        15..=17 => Surface::Slabs {
            albedo: dice.range32(0.22, 0.33),
            side_m: dice.range32(3.0, 6.0),
            tint: v3(1.0, 0.975, 0.93),
        },
        _ => Surface::Pavers {
            tint: v3(0.19, 0.165, 0.145) * dice.range32(0.8, 1.25),
        },
    };
    let shape = Shape::rounded(0.0, 0.0, 2.0 * LOT_HALF_X, 2.0 * LOT_HALF_Y, 4.0);
    yard.painter.surface(shape, surface);
}

/// Something green or brown to plant into.
pub(crate) fn planted(dice: &mut Dice, dryness: f32) -> Surface {
    if dice.chance(0.6) {
        Surface::Grass { dryness }
    } else {
        Surface::Soil {
            tint: v3(0.11, 0.075, 0.05) * dice.range32(0.7, 1.2),
        }
    }
}

/// Lays out the whole lot; `slant` is the bays' angle to the row, radians.
pub(crate) fn lay_rows(yard: &mut Yard, dice: &mut Dice, spacing: f32, slant: f32) {
    lot_surface(yard, dice);
    let style = BayStyle::draw(dice, spacing);
    let depth = style.length * slant.sin() + style.width * slant.cos();
    let median = if dice.chance(0.5) {
        dice.range32(1.4, 2.2)
    } else {
        0.0
    };
    let aisle = dice.range32(5.8, 6.6);
    let module = 2.0 * depth + median + aisle;
    let n_doubles = ((2.0 * LOT_HALF_Y - 12.0 - aisle) / module).floor() as usize;
    let used = n_doubles as f32 * module + aisle;
    let first = -used / 2.0 + aisle;
    let paved = dice.chance(0.25);
    for k in 0..n_doubles {
        let middle = first + k as f32 * module + depth + median / 2.0;
        if paved {
            let tint = v3(0.19, 0.175, 0.16) * dice.range32(0.8, 1.1);
            let shape = Shape::rounded(0.0, middle, 104.0, 2.0 * depth + median, 0.5);
            yard.painter.surface(shape, Surface::Pavers { tint });
        }
        for up in [true, false] {
            let side = if up { -1.0 } else { 1.0 };
            let y = middle + side * (median + depth) / 2.0;
            let row = Row {
                y,
                depth,
                up,
                slant,
                index: 2 * k + usize::from(up),
                median,
            };
            row.lay(yard, dice, &style);
        }
        row_islands(yard, dice, middle, depth, median);
        let aisle_y = first + k as f32 * module - aisle / 2.0;
        signs::aisle_arrows(&mut yard.painter, dice, aisle_y, &style.color, style.wear);
    }
    let last_aisle = first + n_doubles as f32 * module - aisle / 2.0;
    signs::aisle_arrows(
        &mut yard.painter,
        dice,
        last_aisle,
        &style.color,
        style.wear,
    );
    edge_strips(yard, dice, (2.0 * LOT_HALF_Y - used) / 2.0);
}

/// One row of bays along x.
struct Row {
    y: f32,
    depth: f32,
    /// Vehicles that drove in point to +y.
    up: bool,
    slant: f32,
    index: usize,
    median: f32,
}

impl Row {
    fn lay(&self, yard: &mut Yard, dice: &mut Dice, style: &BayStyle) {
        let pitch = style.width / self.slant.sin();
        let n = (98.0 / pitch).floor() as usize;
        let start = -(n as f32) * pitch / 2.0;
        let heading = if self.up { self.slant } else { self.slant + PI };
        let offset = dice.below(style.every);
        let mut tree_bays = Vec::new();
        for i in 0..=n {
            let x = start + i as f32 * pitch;
            self.line(yard, style, x);
            if i == n {
                break;
            }
            let center_x = x + pitch / 2.0;
            if style.box_ends && self.slant > 1.5 && self.median == 0.0 && self.up {
                let y = self.y + self.depth / 2.0;
                let close = Shape::Stroke {
                    ax: x,
                    ay: y,
                    bx: x + pitch,
                    by: y,
                    half_width: 0.055,
                };
                yard.painter.paint(close, style.coat());
            }
            if i % 9 == 4 && dice.chance(0.35) && style.every == 1 {
                tree_bays.push(center_x);
                continue;
            }
            self.letter(yard, dice, style, (center_x, i), heading);
            if i % style.every == offset {
                yard.places.push(ParkingPlace {
                    x: center_x,
                    y: self.y,
                    heading,
                    length: style.length,
                    width: style.width,
                    kind: PlaceKind::Bay,
                    row: self.index,
                });
            }
        }
        for x in tree_bays {
            tree_bay(yard, dice, x, self.y, pitch.min(style.width), self.depth);
        }
    }

    /// The line between two bays.
    fn line(&self, yard: &mut Yard, style: &BayStyle, x: f32) {
        // How far a slanted line leans over the row's depth; an upright one does not.
        let lean = if self.slant > 1.5 {
            0.0
        } else {
            self.depth / self.slant.tan()
        };
        let line = Shape::Stroke {
            ax: x - lean / 2.0,
            ay: self.y - self.depth / 2.0,
            bx: x + lean / 2.0,
            by: self.y + self.depth / 2.0,
            half_width: 0.055,
        };
        yard.painter.paint(line, style.coat());
    }

    /// What is written in a bay.
    fn letter(
        &self,
        yard: &mut Yard,
        dice: &mut Dice,
        style: &BayStyle,
        bay: (f32, usize),
        heading: f32,
    ) {
        let (x, i) = bay;
        if dice.chance(0.02) {
            signs::disabled_bay(&mut yard.painter, x, self.y, heading);
        } else if style.numbers {
            let inward = if self.up { -1.0 } else { 1.0 };
            let y = self.y + inward * (self.depth / 2.0 - 0.7);
            let turn = heading - FRAC_PI_2;
            signs::number(
                &mut yard.painter,
                (x, y),
                turn,
                0.55,
                i as u32 + 1,
                style.wear,
            );
        }
    }
}

/// A closed line around a rounded rectangle.
pub(crate) fn rounded_outline(
    x: f32,
    y: f32,
    length: f32,
    width: f32,
    round: f32,
) -> Vec<(f32, f32)> {
    let (hx, hy) = (length / 2.0 - round, width / 2.0 - round);
    let mut points = Vec::new();
    for (k, (sx, sy)) in [(1.0, 1.0), (-1.0, 1.0), (-1.0, -1.0), (1.0, -1.0)]
        .iter()
        .enumerate()
    {
        for step in 0..=5 {
            let angle = FRAC_PI_2 * (k as f32 + step as f32 / 5.0);
            points.push((
                x + sx * hx + round * angle.cos(),
                y + sy * hy + round * angle.sin(),
            ));
        }
    }
    points
}

/// A planted island with its kerb.
fn island(yard: &mut Yard, surface: Surface, at: (f32, f32), length: f32, width: f32, round: f32) {
    yard.painter
        .surface(Shape::rounded(at.0, at.1, length, width, round), surface);
    yard.kerb(rounded_outline(at.0, at.1, length, width, round));
}

/// A bay given over to a tree.
fn tree_bay(yard: &mut Yard, dice: &mut Dice, x: f32, y: f32, width: f32, depth: f32) {
    let (length, width) = (width - 0.5, depth - 0.5);
    let surface = planted(dice, yard.season.dryness);
    island(yard, surface, (x, y), length, width, 0.5);
    yard.keep_clear(x, y, length, width, 0.3);
    yard.plant(dice, (x, y), (6.0, 9.0), 2600);
    for _ in 0..dice.below(3) {
        let along = dice.range32(-1.6, 1.6);
        yard.bush(dice, (x, y + along), 160);
    }
}

/// Islands at the ends of a double row, and its median.
fn row_islands(yard: &mut Yard, dice: &mut Dice, y: f32, depth: f32, median: f32) {
    let surface = planted(dice, yard.season.dryness);
    for x in [-51.4_f32, 51.4] {
        let width = 2.0 * depth + median - 0.6;
        island(yard, surface, (x, y), 2.8, width, 1.2);
        for dy in [-0.28_f32, 0.28] {
            if dice.chance(0.75) {
                yard.plant(dice, (x, y + dy * width), (6.5, 10.5), 3000);
            }
        }
        yard.lamp(dice, (x, y), 0.0, 1);
        for _ in 0..3 {
            let (dx, dy) = (dice.range32(-0.7, 0.7), dice.range32(-0.4, 0.4) * width);
            yard.bush(dice, (x + dx, y + dy), 160);
        }
    }
    if median > 0.0 {
        island(yard, surface, (0.0, y), 99.0, median - 0.3, 0.4);
        let gap = dice.range32(9.0, 16.0);
        let mut x = -46.0 + dice.range32(0.0, 5.0);
        while x < 48.0 {
            if dice.chance(0.75) {
                yard.plant(dice, (x, y), (5.5, 9.0), 2600);
            }
            yard.bush(dice, (x + gap * 0.4, y), 160);
            x += gap;
        }
    }
    for x in [-25.0_f32, 25.0] {
        yard.lamp(dice, (x, y), FRAC_PI_2, 2);
    }
}

/// Green patches in the strips of this width beside the rows, and what stands around the lot.
fn edge_strips(yard: &mut Yard, dice: &mut Dice, side: f32) {
    yard.kerb(rounded_outline(
        0.0,
        0.0,
        2.0 * LOT_HALF_X,
        2.0 * LOT_HALF_Y,
        4.0,
    ));
    if side > 4.0 {
        for (sign, n) in [(-1.0_f32, 2), (1.0, 3)] {
            for _ in 0..n {
                let x = dice.range32(-45.0, 45.0);
                let y = sign * (LOT_HALF_Y - side / 2.0 + 0.6);
                let surface = planted(dice, yard.season.dryness);
                let length = dice.range32(6.0, 14.0);
                island(yard, surface, (x, y), length, side - 2.4, 0.8);
                yard.keep_clear(x, y, length, side - 2.4, 0.3);
                yard.plant(dice, (x + length * 0.2, y), (6.0, 10.0), 2800);
                yard.bush(dice, (x - length * 0.3, y), 200);
            }
        }
    }
    let mut x = -56.0;
    while x < 57.0 {
        for y in [-LOT_HALF_Y - 1.8, LOT_HALF_Y + 2.2] {
            if dice.chance(0.4) {
                let shift = dice.range32(-2.0, 2.0);
                yard.plant(dice, (x + shift, y), (6.0, 11.0), 2400);
            } else {
                yard.bush(dice, (x, y), 200);
            }
        }
        x += dice.range32(6.0, 10.0);
    }
}
