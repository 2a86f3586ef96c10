//! Streets, blocks, houses, gardens and trees around the lot, out to where haze hides detail.

use crate::dice::Dice;
use crate::ground::{Coat, Shape, WHITE_PAINT};
use crate::layout::{LOT_HALF_X, LOT_HALF_Y, Yard};
use crate::plot::Footprint;
use crate::props::{Prop, PropKind, Roof};
use crate::signs;
use crate::site::SiteKind;
use crate::surfaces::Surface;
use crate::vec3::{V3, v3};
use std::f32::consts::{FRAC_PI_2, PI};

/// A street by its centre line's fixed coordinate and its width.
#[derive(Clone, Copy, Debug)]
struct Street {
    at: f32,
    width: f32,
}

/// Streets along x (`at` is y) and along y (`at` is x), sorted.
struct Streets {
    along_x: Vec<Street>,
    along_y: Vec<Street>,
}

/// How far streets and blocks reach, metres.
const TOWN_HALF_EXTENT_M: f32 = 470.0;
/// Footway on each side, metres.
const FOOTWAY_M: f32 = 2.0;

fn street_lines(kind: SiteKind) -> Streets {
    let line = |at: &[f32], main: Option<f32>| {
        at.iter()
            .map(|&at| Street {
                at,
                width: if Some(at) == main { 11.0 } else { 7.4 },
            })
            .collect()
    };
    if kind == SiteKind::Street {
        Streets {
            along_x: line(
                &[
                    -415.0, -310.0, -205.0, -100.0, 0.0, 104.0, 210.0, 320.0, 425.0,
                ],
                Some(0.0),
            ),
            along_y: line(
                &[
                    -430.0, -320.0, -210.0, -95.0, 18.0, 130.0, 245.0, 350.0, 450.0,
                ],
                Some(18.0),
            ),
        }
    } else {
        Streets {
            along_x: line(
                &[
                    -420.0, -330.0, -240.0, -145.0, -49.5, 102.0, 205.0, 310.0, 420.0,
                ],
                None,
            ),
            along_y: line(
                &[
                    -440.0, -335.0, -240.0, -155.0, -71.0, 88.0, 190.0, 300.0, 410.0,
                ],
                None,
            ),
        }
    }
}

/// Paints all streets with footways and lines.
pub(crate) fn streets(yard: &mut Yard, kind: SiteKind) {
    let mut dice = yard.dice("streets");
    let lines = street_lines(kind);
    let long = 2.0 * TOWN_HALF_EXTENT_M;
    let green = Shape::rounded(0.0, 0.0, long + 40.0, long + 40.0, 30.0);
    let dryness = yard.dryness;
    yard.painter.paint(
        green,
        Coat::Surface {
            surface: Surface::Grass { dryness },
            rough_edge_m: 4.0,
        },
    );
    let footway = Surface::Slabs {
        albedo: dice.range32(0.2, 0.3),
        side_m: 0.5,
        tint: v3(1.0, 0.97, 0.92),
    };
    let strip = |street: &Street, along_x: bool, width: f32| {
        let (x, y) = if along_x {
            (0.0, street.at)
        } else {
            (street.at, 0.0)
        };
        let turn = if along_x { 0.0 } else { FRAC_PI_2 };
        Shape::rect(x, y, long, width, turn)
    };
    let all = || {
        let x = lines.along_x.iter().map(|s| (s, true));
        x.chain(lines.along_y.iter().map(|s| (s, false)))
    };
    for (street, along_x) in all() {
        yard.painter.surface(
            strip(street, along_x, street.width + 2.0 * FOOTWAY_M),
            footway,
        );
    }
    for (street, along_x) in all() {
        let curb = Surface::Plain {
            tint: V3::splat(0.27),
        };
        yard.painter
            .surface(strip(street, along_x, street.width + 0.36), curb);
    }
    for (street, along_x) in all() {
        let albedo = dice.range32(0.08, 0.15);
        let asphalt = Surface::Asphalt {
            albedo,
            warmth: dice.range32(0.0, 0.06),
        };
        yard.painter
            .surface(strip(street, along_x, street.width), asphalt);
    }
    for (street, along_x) in all() {
        street_lines_paint(yard, &mut dice, street, along_x, &lines);
    }
}

fn street_lines_paint(
    yard: &mut Yard,
    dice: &mut Dice,
    street: &Street,
    along_x: bool,
    lines: &Streets,
) {
    let wear = dice.range32(0.1, 0.6);
    let crossings = if along_x {
        &lines.along_y
    } else {
        &lines.along_x
    };
    let mut from = -TOWN_HALF_EXTENT_M;
    for crossing in crossings {
        let to = crossing.at - crossing.width / 2.0 - 6.0;
        if to - from > 20.0 {
            let ends = if along_x {
                ((from, street.at), (to, street.at))
            } else {
                ((street.at, from), (street.at, to))
            };
            signs::dashes(&mut yard.painter, ends.0, ends.1, 3.0, 4.5, wear);
            let (x, y) = if along_x {
                (to + 1.5, street.at)
            } else {
                (street.at, to + 1.5)
            };
            let turn = if along_x { 0.0 } else { FRAC_PI_2 };
            if dice.chance(0.35) {
                signs::crossing(&mut yard.painter, x, y, turn, street.width, wear);
            }
            let shape = Shape::rect(
                x - 2.6 * f32::from(u8::from(along_x)),
                y - 2.6 * f32::from(u8::from(!along_x)),
                0.4,
                street.width * 0.5,
                turn,
            );
            yard.painter.paint(
                shape,
                Coat::Marking {
                    color: WHITE_PAINT,
                    wear,
                },
            );
        }
        from = crossing.at + crossing.width / 2.0 + 6.0;
    }
}

/// A block between streets, its inside.
#[derive(Clone, Copy, Debug)]
struct Block {
    x0: f32,
    x1: f32,
    y0: f32,
    y1: f32,
}

impl Block {
    fn center(&self) -> (f32, f32) {
        ((self.x0 + self.x1) / 2.0, (self.y0 + self.y1) / 2.0)
    }
    fn size(&self) -> (f32, f32) {
        (self.x1 - self.x0, self.y1 - self.y0)
    }
    fn shape(&self, inset: f32, round: f32) -> Shape {
        let (x, y) = self.center();
        let (length, width) = self.size();
        Shape::rounded(x, y, length - 2.0 * inset, width - 2.0 * inset, round)
    }
}

/// Fills the blocks between the streets.
pub(crate) fn around(yard: &mut Yard, kind: SiteKind) {
    let mut dice = yard.dice("neighbourhood");
    let lines = street_lines(kind);
    let inner = |streets: &[Street]| -> Vec<(f32, f32)> {
        streets
            .windows(2)
            .map(|pair| {
                (
                    pair[0].at + pair[0].width / 2.0 + FOOTWAY_M,
                    pair[1].at - pair[1].width / 2.0 - FOOTWAY_M,
                )
            })
            .collect()
    };
    for (y0, y1) in inner(&lines.along_x) {
        for (x0, x1) in inner(&lines.along_y) {
            let block = Block { x0, x1, y0, y1 };
            let holds_lot =
                kind != SiteKind::Street && x0 < 0.0 && x1 > 0.0 && y0 < 0.0 && y1 > 0.0;
            if holds_lot {
                beside_lot(yard, &mut dice, &block);
            } else {
                fill(yard, &mut dice, &block, kind);
            }
        }
    }
    street_furniture(yard, &mut dice, &lines);
}

fn leaves_for(x: f32, y: f32, near: u32) -> u32 {
    let distance = x.hypot(y);
    if distance < 110.0 {
        near
    } else if distance < 210.0 {
        near / 5
    } else {
        near / 14
    }
}

fn fill(yard: &mut Yard, dice: &mut Dice, block: &Block, kind: SiteKind) {
    let (cx, cy) = block.center();
    let distance = cx.hypot(cy);
    let houses = if kind == SiteKind::Street && distance < 120.0 {
        8.0
    } else {
        5.0
    };
    match *dice.pick_weighted(&[0, 1, 2, 3], |k| match k {
        0 => houses,
        1 => 1.6,
        2 => 1.5,
        _ => {
            if distance > 250.0 {
                1.6
            } else {
                0.3
            }
        }
    }) {
        0 => house_block(yard, dice, block),
        1 => halls(yard, dice, block),
        2 => park(yard, dice, block),
        _ => {
            let tint = *dice.pick(&[
                v3(0.17, 0.14, 0.075),
                v3(0.06, 0.09, 0.03),
                v3(0.12, 0.095, 0.06),
            ]);
            yard.painter
                .surface(block.shape(3.0, 4.0), Surface::Soil { tint });
        }
    }
}

const WALLS: [V3; 7] = [
    v3(0.60, 0.58, 0.53),
    v3(0.55, 0.49, 0.38),
    v3(0.30, 0.14, 0.09),
    v3(0.42, 0.40, 0.37),
    v3(0.50, 0.42, 0.30),
    v3(0.36, 0.19, 0.12),
    v3(0.62, 0.62, 0.60),
];
const TILES: [V3; 7] = [
    v3(0.26, 0.085, 0.045),
    v3(0.20, 0.075, 0.045),
    v3(0.085, 0.055, 0.045),
    v3(0.055, 0.055, 0.06),
    v3(0.11, 0.105, 0.10),
    v3(0.30, 0.11, 0.06),
    v3(0.04, 0.042, 0.047),
];

fn house_block(yard: &mut Yard, dice: &mut Dice, block: &Block) {
    let (length, width) = block.size();
    let plot = dice.range32(14.0, 18.0);
    let tiles = *dice.pick(&TILES);
    for (along_x, side) in [(true, -1.0_f32), (true, 1.0), (false, -1.0), (false, 1.0)] {
        let reach = if along_x { length } else { width - 44.0 };
        let n = (reach / plot).floor() as i32;
        for i in 0..n {
            let along = (i as f32 + 0.5) * plot - n as f32 * plot / 2.0;
            let setback = dice.range32(9.0, 13.0);
            let (cx, cy) = block.center();
            let (x, y, heading) = if along_x {
                (cx + along, cy + side * (width / 2.0 - setback), 0.0)
            } else {
                (cx + side * (length / 2.0 - setback), cy + along, FRAC_PI_2)
            };
            let outward = match (along_x, side > 0.0) {
                (true, true) => FRAC_PI_2,
                (true, false) => -FRAC_PI_2,
                (false, true) => 0.0,
                (false, false) => PI,
            };
            house_plot(yard, dice, x, y, heading, outward, plot, tiles);
        }
    }
    for _ in 0..(length * width / 420.0) as usize {
        let x = dice.range32(block.x0 + 4.0, block.x1 - 4.0);
        let y = dice.range32(block.y0 + 4.0, block.y1 - 4.0);
        let size = dice.range32(4.5, 11.0);
        yard.plant(dice, x, y, size, leaves_for(x, y, 1700));
    }
}

#[expect(
    clippy::too_many_arguments,
    reason = "one plot by its place, direction and neighbours' roof"
)]
fn house_plot(
    yard: &mut Yard,
    dice: &mut Dice,
    x: f32,
    y: f32,
    heading: f32,
    outward: f32,
    plot: f32,
    tiles: V3,
) {
    if dice.chance(0.07) {
        return;
    }
    let (length, width) = (dice.range32(8.5, plot - 3.5), dice.range32(7.0, 10.0));
    let eaves = dice.range32(2.8, 6.2);
    let across = dice.chance(0.3);
    let kind = PropKind::Building {
        length: if across { width } else { length },
        width: if across { length.min(11.0) } else { width },
        eaves,
        roof: Roof::Gable {
            rise: dice.range32(2.0, 4.2),
        },
        wall: *dice.pick(&WALLS),
        roof_color: if dice.chance(0.7) {
            tiles
        } else {
            *dice.pick(&TILES)
        } * dice.range32(0.8, 1.2),
        clutter: dice.below(5) as u32,
    };
    let turn = if across { heading + FRAC_PI_2 } else { heading };
    let (l, w) = match kind {
        PropKind::Building { length, width, .. } => (length, width),
        _ => (length, width),
    };
    let footprint = Footprint::new(x, y, l + 0.8, w + 0.8, turn).between(0.0, eaves + 5.0);
    let prop = Prop {
        kind,
        x,
        y,
        heading: turn,
        seed: dice.bits(),
    };
    if !yard.put(prop, &[footprint], 0.5) {
        return;
    }
    let (ox, oy) = (outward.cos(), outward.sin());
    let (sx, sy) = (-oy, ox);
    let side = if dice.chance(0.5) { 1.0 } else { -1.0 };
    // The drive, the path, the terrace.
    let drive = Shape::rect(
        x + ox * 8.5 + sx * side * plot * 0.36,
        y + oy * 8.5 + sy * side * plot * 0.36,
        8.0,
        3.0,
        outward,
    );
    let paved = if dice.chance(0.5) {
        Surface::Pavers {
            tint: v3(0.2, 0.18, 0.165) * dice.range32(0.8, 1.2),
        }
    } else {
        Surface::Slabs {
            albedo: 0.26,
            side_m: 0.4,
            tint: V3::splat(1.0),
        }
    };
    yard.painter.surface(drive, paved);
    yard.painter.surface(
        Shape::rect(x + ox * 7.5, y + oy * 7.5, 6.0, 1.3, outward),
        paved,
    );
    if dice.chance(0.7) {
        let terrace = Shape::rect(
            x - ox * (w / 2.0 + 2.0),
            y - oy * (w / 2.0 + 2.0),
            3.6,
            dice.range32(4.0, 7.0),
            outward,
        );
        yard.painter.surface(terrace, paved);
    }
    if x.hypot(y) < 260.0 {
        garden_things(yard, dice, (x, y), (ox, oy), (sx, sy), outward, plot);
    }
}

fn garden_things(
    yard: &mut Yard,
    dice: &mut Dice,
    at: (f32, f32),
    out: (f32, f32),
    side: (f32, f32),
    outward: f32,
    plot: f32,
) {
    let place = |u: f32, v: f32| (at.0 - out.0 * u + side.0 * v, at.1 - out.1 * u + side.1 * v);
    let tint = v3(0.04, 0.07, 0.022) * dice.range32(0.7, 1.3);
    for v in [-plot / 2.0, plot / 2.0] {
        let (x, y) = place(12.0, v);
        let length = dice.range32(6.0, 11.0);
        if dice.chance(0.4) {
            let kind = PropKind::Hedge {
                length,
                width: 0.8,
                height: 1.6,
                tint,
            };
            yard.put_solid(
                Prop {
                    kind,
                    x,
                    y,
                    heading: outward,
                    seed: dice.bits(),
                },
                length,
                0.8,
                1.6,
            );
        } else if dice.chance(0.5) {
            let kind = PropKind::Fence {
                length,
                height: 1.6,
            };
            yard.put_solid(
                Prop {
                    kind,
                    x,
                    y,
                    heading: outward,
                    seed: dice.bits(),
                },
                length,
                0.2,
                1.6,
            );
        }
    }
    let (x, y) = place(dice.range32(10.0, 15.0), dice.range32(-4.0, 4.0));
    let seed = dice.bits();
    match dice.below(6) {
        0 | 1 => {
            let color = *dice.pick(&[v3(0.13, 0.08, 0.05), v3(0.1, 0.12, 0.1), v3(0.3, 0.3, 0.29)]);
            let (length, width, height) = (dice.range32(2.2, 3.6), 2.2, 2.2);
            let kind = PropKind::Shed {
                length,
                width,
                height,
                color,
            };
            yard.put_solid(
                Prop {
                    kind,
                    x,
                    y,
                    heading: outward,
                    seed,
                },
                length,
                width,
                height + 0.4,
            );
        }
        2 => {
            let (length, width) = (dice.range32(3.5, 7.0), dice.range32(2.2, 3.6));
            let kind = PropKind::Pool { length, width };
            yard.put_solid(
                Prop {
                    kind,
                    x,
                    y,
                    heading: outward,
                    seed,
                },
                length,
                width,
                0.4,
            );
        }
        3 => {
            let prop = Prop {
                kind: PropKind::Trampoline,
                x,
                y,
                heading: 0.0,
                seed,
            };
            yard.put_solid(prop, 3.2, 3.2, 0.9);
        }
        4 => {
            let prop = Prop {
                kind: PropKind::PicnicTable,
                x,
                y,
                heading: outward,
                seed,
            };
            yard.put_solid(prop, 1.8, 1.6, 0.8);
        }
        _ => {}
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
        let x = dice.range32(block.x0, block.x1);
        let y = dice.range32(block.y0, block.y1);
        let heading = FRAC_PI_2 * dice.below(2) as f32;
        let (lx, ly) = if heading > 1.0 {
            (width, length)
        } else {
            (length, width)
        };
        if x - lx / 2.0 < block.x0 + 8.0 || x + lx / 2.0 > block.x1 - 8.0 {
            continue;
        }
        if y - ly / 2.0 < block.y0 + 8.0 || y + ly / 2.0 > block.y1 - 8.0 {
            continue;
        }
        hall(yard, dice, x, y, length, width, heading);
    }
    for _ in 0..14 {
        let x = dice.range32(block.x0 + 3.0, block.x1 - 3.0);
        let y = if dice.chance(0.5) {
            block.y0 + 2.0
        } else {
            block.y1 - 2.0
        };
        let size = dice.range32(6.0, 11.0);
        yard.plant(dice, x, y, size, leaves_for(x, y, 1700));
    }
}

fn hall(
    yard: &mut Yard,
    dice: &mut Dice,
    x: f32,
    y: f32,
    length: f32,
    width: f32,
    heading: f32,
) -> bool {
    let eaves = dice.range32(4.0, 9.5);
    let kind = PropKind::Building {
        length,
        width,
        eaves,
        roof: Roof::Flat,
        wall: *dice.pick(&WALLS),
        roof_color: *dice.pick(&[
            v3(0.2, 0.2, 0.19),
            v3(0.32, 0.31, 0.29),
            v3(0.09, 0.09, 0.09),
            v3(0.45, 0.45, 0.43),
            v3(0.14, 0.13, 0.12),
        ]),
        clutter: 4 + (length * width / 40.0) as u32,
    };
    let footprint =
        Footprint::new(x, y, length + 1.0, width + 1.0, heading).between(0.0, eaves + 4.0);
    yard.put(
        Prop {
            kind,
            x,
            y,
            heading,
            seed: dice.bits(),
        },
        &[footprint],
        3.0,
    )
}

fn park(yard: &mut Yard, dice: &mut Dice, block: &Block) {
    let (cx, cy) = block.center();
    let (length, width) = block.size();
    let path = Surface::Gravel {
        tint: v3(0.3, 0.26, 0.2),
    };
    yard.painter.surface(
        Shape::rect(cx, cy, length, 2.4, dice.range32(-0.5, 0.5)),
        path,
    );
    yard.painter.surface(
        Shape::rect(cx, cy, width, 2.0, FRAC_PI_2 + dice.range32(-0.4, 0.4)),
        path,
    );
    if dice.chance(0.45) {
        let tint = *dice.pick(&[
            v3(0.05, 0.12, 0.07),
            v3(0.25, 0.09, 0.06),
            v3(0.06, 0.10, 0.2),
        ]);
        let (x, y) = (
            cx + dice.range32(-15.0, 15.0),
            cy + dice.range32(-12.0, 12.0),
        );
        yard.painter.surface(
            Shape::rounded(x, y, 34.0, 17.0, 0.3),
            Surface::Plain { tint },
        );
        let coat = Coat::Marking {
            color: WHITE_PAINT,
            wear: 0.1,
        };
        for (dx, dy, l, turn) in [
            (0.0, 8.0, 32.0, 0.0),
            (0.0, -8.0, 32.0, 0.0),
            (16.0, 0.0, 16.0, FRAC_PI_2),
            (-16.0, 0.0, 16.0, FRAC_PI_2),
            (0.0, 0.0, 16.0, FRAC_PI_2),
        ] {
            yard.painter
                .paint(Shape::rect(x + dx, y + dy, l, 0.08, turn), coat.clone());
        }
        yard.plot
            .take(&[Footprint::new(x, y, 36.0, 19.0, 0.0)], 0.0);
    }
    for _ in 0..(length * width / 170.0) as usize {
        let (x, y) = (
            dice.range32(block.x0, block.x1),
            dice.range32(block.y0, block.y1),
        );
        let size = dice.range32(6.0, 14.0);
        yard.plant(dice, x, y, size, leaves_for(x, y, 1900));
        let (x, y) = (
            dice.range32(block.x0, block.x1),
            dice.range32(block.y0, block.y1),
        );
        yard.bush(dice, x, y, leaves_for(x, y, 220));
    }
}

/// The rest of the lot's own block: a shop in the north, green in the east and west.
fn beside_lot(yard: &mut Yard, dice: &mut Dice, block: &Block) {
    let forecourt = Surface::Slabs {
        albedo: dice.range32(0.22, 0.32),
        side_m: 0.6,
        tint: v3(1.0, 0.98, 0.95),
    };
    yard.painter.surface(
        Shape::rounded(-4.0, LOT_HALF_Y + 8.5, 100.0, 8.0, 0.3),
        forecourt,
    );
    let length = dice.range32(48.0, 84.0);
    let width = dice.range32(20.0, 28.0);
    let shift = dice.range32(-8.0, 4.0);
    hall(
        yard,
        dice,
        shift,
        LOT_HALF_Y + 14.0 + width / 2.0,
        length,
        width,
        0.0,
    );
    for side in [-1.0_f32, 1.0] {
        let (lx, ly) = (dice.range32(14.0, 18.0), dice.range32(10.0, 18.0));
        hall(
            yard,
            dice,
            side * (length / 2.0 + 14.0),
            LOT_HALF_Y + 16.0 + ly / 2.0,
            lx,
            ly,
            0.0,
        );
    }
    for k in 0..7 {
        let x = -42.0 + 14.0 * k as f32;
        if dice.chance(0.6) {
            let prop = Prop {
                kind: PropKind::Bench,
                x,
                y: LOT_HALF_Y + 6.6,
                heading: 0.0,
                seed: dice.bits(),
            };
            yard.put_solid(prop, 1.7, 0.6, 0.8);
        }
        let color = v3(0.04, 0.06, 0.05);
        let prop = Prop {
            kind: PropKind::Bin { color },
            x: x + 3.0,
            y: LOT_HALF_Y + 6.4,
            heading: 0.0,
            seed: dice.bits(),
        };
        yard.put_solid(prop, 0.6, 0.6, 1.1);
    }
    for _ in 0..46 {
        let east = dice.chance(0.75);
        let x = if east {
            dice.range32(LOT_HALF_X + 3.0, block.x1)
        } else {
            dice.range32(block.x0, -LOT_HALF_X - 1.5)
        };
        let y = dice.range32(block.y0 + 2.0, block.y1);
        let size = dice.range32(5.0, 12.0);
        yard.plant(dice, x, y, size, 2200);
        let x = if east {
            dice.range32(LOT_HALF_X + 1.5, block.x1)
        } else {
            x
        };
        yard.bush(dice, x, y + 3.0, 240);
    }
}

/// Lamps and trees along the streets near the lot.
fn street_furniture(yard: &mut Yard, dice: &mut Dice, lines: &Streets) {
    for (streets, along_x) in [(&lines.along_x, true), (&lines.along_y, false)] {
        for street in streets {
            if street.at.abs() > 260.0 {
                continue;
            }
            let edge = street.width / 2.0 + 1.4;
            let mut along = -280.0;
            while along < 280.0 {
                let side = if dice.chance(0.5) { 1.0 } else { -1.0 };
                let at = street.at + side * edge;
                let (x, y) = if along_x { (along, at) } else { (at, along) };
                let heading = if along_x {
                    -side * FRAC_PI_2
                } else if side > 0.0 {
                    PI
                } else {
                    0.0
                };
                let clear = !near_crossing(lines, x, y, along_x);
                if clear && dice.chance(0.4) {
                    yard.lamp(dice, x, y, heading, 1);
                } else if clear && dice.chance(0.5) {
                    let size = dice.range32(5.5, 9.0);
                    yard.plant(dice, x, y, size, leaves_for(x, y, 2000));
                }
                along += dice.range32(9.0, 22.0);
            }
        }
    }
}

fn near_crossing(lines: &Streets, x: f32, y: f32, along_x: bool) -> bool {
    let (crossings, at) = if along_x {
        (&lines.along_y, x)
    } else {
        (&lines.along_x, y)
    };
    crossings
        .iter()
        .any(|s| (s.at - at).abs() < s.width / 2.0 + 3.0)
}
