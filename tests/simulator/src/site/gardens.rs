//! Houses along the streets with drives, paths, hedges and what stands in gardens.

use crate::dice::Dice;
use crate::ground::Shape;
use crate::ground::surfaces::Surface;
use crate::site::neighbourhood::{Block, WALLS, leaves_for};
use crate::site::props::{Building, PropKind, Roof};
use crate::site::yard::{ParkingPlace, PlaceKind, Yard};
use crate::vec3::{V3, v3};
use std::f32::consts::{FRAC_PI_2, PI};

const TILES: [V3; 7] = [
    v3(0.26, 0.085, 0.045),
    v3(0.20, 0.075, 0.045),
    v3(0.085, 0.055, 0.045),
    v3(0.055, 0.055, 0.06),
    v3(0.11, 0.105, 0.10),
    v3(0.30, 0.11, 0.06),
    v3(0.04, 0.042, 0.047),
];

/// One plot: its house's middle, the direction to the street, its width along the street.
#[derive(Clone, Copy, Debug)]
struct Plot {
    x: f32,
    y: f32,
    /// Radians counter-clockwise from the x axis.
    outward: f32,
    width: f32,
}

impl Plot {
    /// A point so far towards the street and so far to its left.
    fn at(&self, out: f32, left: f32) -> (f32, f32) {
        let (sin, cos) = self.outward.sin_cos();
        (
            self.x + out * cos - left * sin,
            self.y + out * sin + left * cos,
        )
    }
}

/// Rows of houses along the four sides of a block, trees between.
pub(crate) fn houses(yard: &mut Yard, dice: &mut Dice, block: &Block) {
    let ((cx, cy), (length, width)) = (block.center(), block.size());
    let plot_width = dice.range32(14.0, 18.0);
    let tiles = *dice.pick(&TILES);
    for outward in [-FRAC_PI_2, FRAC_PI_2, PI, 0.0] {
        let (out_x, out_y) = (outward.cos().round(), outward.sin().round());
        let along_x = out_y != 0.0;
        let reach = if along_x { length } else { width - 44.0 };
        let n = (reach / plot_width).floor() as i32;
        for i in 0..n {
            let along = (i as f32 + 0.5) * plot_width - n as f32 * plot_width / 2.0;
            let setback = dice.range32(9.0, 13.0);
            let (x, y) = if along_x {
                (cx + along, cy + out_y * (width / 2.0 - setback))
            } else {
                (cx + out_x * (length / 2.0 - setback), cy + along)
            };
            if dice.chance(0.93) {
                house(
                    yard,
                    dice,
                    &Plot {
                        x,
                        y,
                        outward,
                        width: plot_width,
                    },
                    tiles,
                );
            }
        }
    }
    for _ in 0..(length * width / 420.0) as usize {
        let at = block.point(dice, 4.0);
        yard.plant(dice, at, (4.5, 11.0), leaves_for(at, 1700));
    }
}

fn house(yard: &mut Yard, dice: &mut Dice, plot: &Plot, tiles: V3) {
    let (length, width) = (dice.range32(8.5, plot.width - 3.5), dice.range32(7.0, 10.0));
    let gable_to_street = dice.chance(0.3);
    let (length, width) = if gable_to_street {
        (width, length.min(11.0))
    } else {
        (length, width)
    };
    let color = if dice.chance(0.7) {
        tiles
    } else {
        *dice.pick(&TILES)
    };
    let building = Building {
        length,
        width,
        eaves: dice.range32(2.8, 6.2),
        roof: Roof::Gable {
            rise: dice.range32(2.0, 4.2),
        },
        wall: *dice.pick(&WALLS),
        roof_color: color * dice.range32(0.8, 1.2),
        clutter: dice.below(5) as u32,
    };
    let turn = plot.outward + if gable_to_street { 0.0 } else { FRAC_PI_2 };
    if !yard.put(
        dice,
        PropKind::Building(building),
        (plot.x, plot.y),
        turn,
        0.5,
    ) {
        return;
    }
    let deep = if gable_to_street { length } else { width };
    drive_and_paths(yard, dice, plot, deep);
    if plot.x.hypot(plot.y) < 260.0 {
        enclose(yard, dice, plot);
        let at = plot.at(-dice.range32(10.0, 15.0), dice.range32(-4.0, 4.0));
        if let Some(thing) = garden_thing(dice) {
            yard.put(dice, thing, at, plot.outward, 0.25);
        }
    }
}

/// Paving in front and behind; near the lot a drive is also a place to park.
fn drive_and_paths(yard: &mut Yard, dice: &mut Dice, plot: &Plot, deep: f32) {
    let side = if dice.chance(0.5) { 1.0 } else { -1.0 };
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
    let mut pave = |at: (f32, f32), length: f32, width: f32| {
        yard.painter
            .surface(Shape::rect(at.0, at.1, length, width, plot.outward), paved);
    };
    let drive = plot.at(8.5, side * plot.width * 0.36);
    pave(drive, 8.0, 3.0);
    pave(plot.at(7.5, 0.0), 6.0, 1.3);
    if dice.chance(0.7) {
        pave(plot.at(-deep / 2.0 - 2.0, 0.0), 3.6, dice.range32(4.0, 7.0));
    }
    if drive.0.abs() < 100.0 && drive.1.abs() < 85.0 && dice.chance(0.6) {
        yard.places.push(ParkingPlace {
            x: drive.0,
            y: drive.1,
            heading: plot.outward + PI,
            length: 5.4,
            width: 2.8,
            kind: PlaceKind::Bay,
            row: 95,
        });
    }
}

/// Hedges and fences between the plots.
fn enclose(yard: &mut Yard, dice: &mut Dice, plot: &Plot) {
    let tint = v3(0.04, 0.07, 0.022) * dice.range32(0.7, 1.3);
    for left in [-plot.width / 2.0, plot.width / 2.0] {
        let length = dice.range32(6.0, 11.0);
        let kind = match dice.below(10) {
            0..=3 => PropKind::Hedge {
                length,
                width: 0.8,
                height: 1.6,
                tint,
            },
            4..=6 => PropKind::Fence {
                length,
                height: 1.6,
            },
            _ => continue,
        };
        yard.put(dice, kind, plot.at(-12.0, left), plot.outward, 0.25);
    }
}

fn garden_thing(dice: &mut Dice) -> Option<PropKind> {
    Some(match dice.below(6) {
        0 | 1 => PropKind::Shed {
            length: dice.range32(2.2, 3.6),
            width: 2.2,
            height: 2.2,
            color: *dice.pick(&[v3(0.13, 0.08, 0.05), v3(0.1, 0.12, 0.1), v3(0.3, 0.3, 0.29)]),
        },
        2 => PropKind::Pool {
            length: dice.range32(3.5, 7.0),
            width: dice.range32(2.2, 3.6),
        },
        3 => PropKind::Trampoline,
        4 => PropKind::PicnicTable,
        _ => return None,
    })
}
