//! The streets around the lot: lines, footways, markings, lamps and trees along them.

use crate::dice::Dice;
use crate::ground::surfaces::Surface;
use crate::ground::{Coat, Shape, WHITE_PAINT};
use crate::site::SiteKind;
use crate::site::neighbourhood::leaves_for;
use crate::site::signs;
use crate::site::yard::Yard;
use crate::vec3::{V3, v3};
use std::f32::consts::{FRAC_PI_2, PI};

/// A street by its centre line's fixed coordinate and its width.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Street {
    pub(crate) at: f32,
    pub(crate) width: f32,
}

/// Streets along x (`at` is y) and along y (`at` is x), sorted.
#[derive(Debug)]
pub(crate) struct Streets {
    pub(crate) along_x: Vec<Street>,
    pub(crate) along_y: Vec<Street>,
}

/// How far streets and blocks reach, metres.
const TOWN_HALF_EXTENT_M: f32 = 470.0;
/// Footway on each side, metres.
pub(crate) const FOOTWAY_M: f32 = 2.0;

impl Streets {
    /// The grid of a kind of site; the lot lies between streets, or two of them are the site.
    pub(crate) fn of(kind: SiteKind) -> Self {
        let line = |at: &[f32], main: Option<f32>| {
            at.iter()
                .map(|&at| Street {
                    at,
                    width: if Some(at) == main { 11.0 } else { 7.4 },
                })
                .collect()
        };
        if kind == SiteKind::Street {
            let ys = [
                -415.0, -310.0, -205.0, -100.0, 0.0, 104.0, 210.0, 320.0, 425.0,
            ];
            let xs = [
                -430.0, -320.0, -210.0, -95.0, 18.0, 130.0, 245.0, 350.0, 450.0,
            ];
            Self {
                along_x: line(&ys, Some(0.0)),
                along_y: line(&xs, Some(18.0)),
            }
        } else {
            let ys = [
                -420.0, -330.0, -240.0, -145.0, -49.5, 102.0, 205.0, 310.0, 420.0,
            ];
            let xs = [
                -440.0, -335.0, -240.0, -155.0, -71.0, 88.0, 190.0, 300.0, 410.0,
            ];
            Self {
                along_x: line(&ys, None),
                along_y: line(&xs, None),
            }
        }
    }

    fn all(&self) -> impl Iterator<Item = (&Street, bool)> {
        let x = self.along_x.iter().map(|street| (street, true));
        x.chain(self.along_y.iter().map(|street| (street, false)))
    }

    fn near_crossing(&self, (x, y): (f32, f32), along_x: bool) -> bool {
        let (crossings, at) = if along_x {
            (&self.along_y, x)
        } else {
            (&self.along_x, y)
        };
        crossings
            .iter()
            .any(|s| (s.at - at).abs() < s.width / 2.0 + 3.0)
    }
}

impl Street {
    fn strip(&self, along_x: bool, width: f32) -> Shape {
        let (x, y) = if along_x {
            (0.0, self.at)
        } else {
            (self.at, 0.0)
        };
        let turn = if along_x { 0.0 } else { FRAC_PI_2 };
        Shape::rect(x, y, 2.0 * TOWN_HALF_EXTENT_M, width, turn)
    }
}

/// Paints all streets with footways and lines.
pub(crate) fn pave(yard: &mut Yard, streets: &Streets) {
    let mut dice = yard.dice("streets");
    let side = 2.0 * TOWN_HALF_EXTENT_M + 40.0;
    let green = Shape::rounded(0.0, 0.0, side, side, 30.0);
    let surface = Surface::Grass {
        dryness: yard.season.dryness,
    };
    yard.painter.paint(
        green,
        Coat::Surface {
            surface,
            rough_edge_m: 4.0,
        },
    );
    let footway = Surface::Slabs {
        albedo: dice.range32(0.2, 0.3),
        side_m: 0.5,
        tint: v3(1.0, 0.97, 0.92),
    };
    for (street, along_x) in streets.all() {
        let shape = street.strip(along_x, street.width + 2.0 * FOOTWAY_M);
        yard.painter.surface(shape, footway);
    }
    let stone = Surface::Plain {
        tint: V3::splat(0.27),
    };
    for (street, along_x) in streets.all() {
        yard.painter
            .surface(street.strip(along_x, street.width + 0.36), stone);
    }
    for (street, along_x) in streets.all() {
        let albedo = dice.range32(0.08, 0.15);
        let asphalt = Surface::Asphalt {
            albedo,
            warmth: dice.range32(0.0, 0.06),
        };
        yard.painter
            .surface(street.strip(along_x, street.width), asphalt);
    }
    for (street, along_x) in streets.all() {
        mark(yard, &mut dice, street, along_x, streets);
    }
}

/// The middle line, stop lines and crossings of one street.
fn mark(yard: &mut Yard, dice: &mut Dice, street: &Street, along_x: bool, streets: &Streets) {
    let wear = dice.range32(0.1, 0.6);
    let crossings = if along_x {
        &streets.along_y
    } else {
        &streets.along_x
    };
    let at = |along: f32, across: f32| {
        if along_x {
            (along, street.at + across)
        } else {
            (street.at + across, along)
        }
    };
    let turn = if along_x { 0.0 } else { FRAC_PI_2 };
    let mut from = -TOWN_HALF_EXTENT_M;
    for crossing in crossings {
        let to = crossing.at - crossing.width / 2.0 - 6.0;
        if to - from > 20.0 {
            signs::dashes(
                &mut yard.painter,
                at(from, 0.0),
                at(to, 0.0),
                3.0,
                4.5,
                wear,
            );
            if dice.chance(0.35) {
                signs::crossing(
                    &mut yard.painter,
                    at(to + 1.5, 0.0),
                    turn,
                    street.width,
                    wear,
                );
            }
            let (x, y) = at(to - 1.2, -street.width * 0.25);
            let stop = Shape::rect(x, y, 0.4, street.width * 0.45, turn);
            yard.painter.paint(
                stop,
                Coat::Marking {
                    color: WHITE_PAINT,
                    wear,
                },
            );
        }
        from = crossing.at + crossing.width / 2.0 + 6.0;
    }
}

/// Lamps and trees along the streets near the lot.
pub(crate) fn furnish(yard: &mut Yard, dice: &mut Dice, streets: &Streets) {
    for (street, along_x) in streets.all() {
        if street.at.abs() > 260.0 {
            continue;
        }
        let edge = street.width / 2.0 + 1.4;
        let mut along = -280.0;
        while along < 280.0 {
            let side = if dice.chance(0.5) { 1.0 } else { -1.0 };
            let across = street.at + side * edge;
            let at = if along_x {
                (along, across)
            } else {
                (across, along)
            };
            let heading = match (along_x, side > 0.0) {
                (true, _) => -side * FRAC_PI_2,
                (false, true) => PI,
                (false, false) => 0.0,
            };
            let clear = !streets.near_crossing(at, along_x);
            if clear && dice.chance(0.4) {
                yard.lamp(dice, at, heading, 1);
            } else if clear && dice.chance(0.5) {
                yard.plant(dice, at, (5.5, 9.0), leaves_for(at, 2000));
            }
            along += dice.range32(9.0, 22.0);
        }
    }
}
