//! The lot by kind of site; marked rows have a file of their own.

use crate::dice::Dice;
use crate::ground::surfaces::Surface;
use crate::ground::{Coat, Shape, WHITE_PAINT};
use crate::site::SiteKind;
use crate::site::props::PropKind;
use crate::site::rows::lay_rows;
use crate::site::yard::{LOT_HALF_X, LOT_HALF_Y, ParkingPlace, PlaceKind, Yard};
use crate::vec3::{V3, v3};
use std::f32::consts::{FRAC_PI_2, FRAC_PI_4, PI};

/// Makes the lot and its places.
pub(crate) fn lay_out(yard: &mut Yard, kind: SiteKind, spacing: f32) {
    let mut dice = yard.dice("layout");
    match kind {
        SiteKind::Perpendicular => lay_rows(yard, &mut dice, spacing, FRAC_PI_2),
        SiteKind::Herringbone => lay_rows(yard, &mut dice, spacing, FRAC_PI_4),
        SiteKind::Street => street(yard, &mut dice, spacing),
        SiteKind::Gravel => gravel(yard, &mut dice, spacing),
    }
    if kind != SiteKind::Street {
        entrances(yard, &mut dice);
        beside_lot(yard, &mut dice, spacing);
    }
}

/// Ways from the street in the south.
fn entrances(yard: &mut Yard, dice: &mut Dice) {
    let surface = Surface::Asphalt {
        albedo: dice.range32(0.08, 0.14),
        warmth: 0.03,
    };
    for x in [-38.0_f32, 36.0] {
        yard.painter
            .surface(Shape::rounded(x, -43.0, 7.0, 8.0, 0.2), surface);
        let strip = Shape::rect(x, -45.0, 6.6, 0.4, 0.0);
        yard.painter.paint(
            strip,
            Coat::Marking {
                color: WHITE_PAINT,
                wear: 0.3,
            },
        );
        yard.keep_clear(x, -43.0, 7.0, 8.0, 3.0);
    }
}

/// Parallel places along the street in the south, and some for large vehicles at the edges.
fn beside_lot(yard: &mut Yard, dice: &mut Dice, spacing: f32) {
    let pitch = spacing.max(6.4);
    let mut x = -55.0 + dice.range32(0.0, 3.0);
    while x < 55.0 {
        if (x + 38.0).abs() > 8.0 && (x - 36.0).abs() > 8.0 {
            let (length, width) = (pitch - 0.6, 2.3);
            let kind = PlaceKind::Kerbside;
            yard.places.push(ParkingPlace {
                x,
                y: -46.95,
                heading: PI,
                length,
                width,
                kind,
                row: 90,
            });
        }
        x += pitch;
    }
    let (length, width, kind) = (11.0, 2.9, PlaceKind::Large);
    for (x, y, heading) in [
        (-56.9, -12.0, FRAC_PI_2),
        (-56.9, 3.0, FRAC_PI_2),
        (-34.0, 37.6, 0.0),
        (dice.range32(-5.0, 25.0), 37.6, PI),
    ] {
        yard.places.push(ParkingPlace {
            x,
            y,
            heading,
            length,
            width,
            kind,
            row: 91,
        });
    }
}

/// A side of a street with its parking lane.
struct Lane {
    along_x: bool,
    /// -1 or 1: right or left of the centre line, seen along x or y.
    side: f32,
    /// The lane's fixed coordinate.
    across: f32,
    half_reach: f32,
    /// Where the other street crosses.
    crossing: f32,
}

impl Lane {
    fn at(&self, along: f32, across: f32) -> (f32, f32) {
        if self.along_x {
            (along, across)
        } else {
            (across, along)
        }
    }

    /// Direction of traffic (on the right).
    fn forward(&self) -> f32 {
        match (self.along_x, self.side > 0.0) {
            (true, true) => PI,
            (true, false) => 0.0,
            (false, true) => FRAC_PI_2,
            (false, false) => -FRAC_PI_2,
        }
    }

    fn row(&self) -> usize {
        usize::from(self.along_x) * 2 + usize::from(self.side > 0.0)
    }

    fn lay(&self, yard: &mut Yard, dice: &mut Dice, pitch: f32, boxes: Option<f32>) {
        let mut along = -self.half_reach + dice.range32(0.0, 3.0);
        while along < self.half_reach {
            let large = dice.chance(0.05);
            let taken = if large { 11.6 } else { pitch };
            let middle = along + taken / 2.0;
            if (middle - self.crossing).abs() > 10.0 + taken / 2.0 {
                let (x, y) = self.at(middle, self.across);
                yard.places.push(ParkingPlace {
                    x,
                    y,
                    heading: self.forward(),
                    length: taken - 0.6,
                    width: 2.2,
                    kind: if large {
                        PlaceKind::Large
                    } else {
                        PlaceKind::Kerbside
                    },
                    row: self.row(),
                });
                if let Some(wear) = boxes {
                    let (ax, ay) = self.at(along, self.across - self.side * 1.1);
                    let (bx, by) = self.at(along, self.across + self.side);
                    let line = Shape::Stroke {
                        ax,
                        ay,
                        bx,
                        by,
                        half_width: 0.05,
                    };
                    yard.painter.paint(
                        line,
                        Coat::Marking {
                            color: WHITE_PAINT,
                            wear,
                        },
                    );
                }
            }
            along += taken;
        }
    }
}

/// Two streets that cross, with parking lanes.
fn street(yard: &mut Yard, dice: &mut Dice, spacing: f32) {
    let pitch = spacing.max(6.3);
    let wear = dice.range32(0.1, 0.5);
    let boxes = dice.chance(0.5).then_some(wear);
    for side in [-1.0_f32, 1.0] {
        let across = side * 4.45;
        let long = Lane {
            along_x: true,
            side,
            across,
            half_reach: 78.0,
            crossing: 18.0,
        };
        long.lay(yard, dice, pitch, boxes);
        let across = 18.0 + side * 4.45;
        let short = Lane {
            along_x: false,
            side,
            across,
            half_reach: 58.0,
            crossing: 0.0,
        };
        short.lay(yard, dice, pitch, boxes);
    }
}

/// An unmarked lot: rows by habit, not by paint.
fn gravel(yard: &mut Yard, dice: &mut Dice, spacing: f32) {
    gravel_ground(yard, dice);
    let width = spacing.max(2.6);
    let mut y = -27.0;
    let mut row = 0;
    while y < 32.0 {
        let mut x = -50.0 + dice.range32(0.0, 2.0);
        let heading = if row % 2 == 0 { FRAC_PI_2 } else { -FRAC_PI_2 };
        while x < 50.0 {
            let kind = PlaceKind::Bay;
            yard.places.push(ParkingPlace {
                x,
                y,
                heading,
                length: 5.4,
                width,
                kind,
                row,
            });
            x += width;
        }
        y += if row % 2 == 0 { 11.8 } else { 6.4 };
        row += 1;
    }
    for x in [-30.0_f32, 8.0, 33.0] {
        let south = (x, dice.range32(-35.5, -33.0));
        yard.plant(dice, south, (7.0, 11.0), 3000);
        let north = (x + dice.range32(-8.0, 8.0), dice.range32(35.5, 37.0));
        yard.plant(dice, north, (7.0, 11.0), 3000);
    }
    for k in 0..40 {
        if dice.chance(0.7) {
            let y = if dice.chance(0.5) { -41.5 } else { 41.8 };
            let (size, turn) = (dice.range32(0.35, 0.75), dice.range32(0.0, 6.0));
            yard.put(
                dice,
                PropKind::Boulder { size },
                (-58.0 + 3.0 * k as f32, y),
                turn,
                0.1,
            );
        }
    }
}

fn gravel_ground(yard: &mut Yard, dice: &mut Dice) {
    let tint = *dice.pick(&[
        v3(0.24, 0.215, 0.18),
        v3(0.21, 0.205, 0.20),
        v3(0.27, 0.235, 0.175),
    ]);
    let shape = Shape::rounded(0.0, 0.0, 2.0 * LOT_HALF_X, 2.0 * LOT_HALF_Y, 9.0);
    let surface = Surface::Gravel { tint };
    yard.painter.paint(
        shape,
        Coat::Surface {
            surface,
            rough_edge_m: 1.1,
        },
    );
    for _ in 0..46 {
        let (x, y) = (dice.range32(-55.0, 55.0), dice.range32(-36.0, 36.0));
        let radius = dice.range32(0.4, 5.0);
        let factor = V3::splat(dice.range32(0.68, 1.2));
        let coat = Coat::Stain {
            factor,
            softness_m: radius * dice.range32(0.2, 0.6),
        };
        yard.painter.paint(Shape::Disc { x, y, radius }, coat);
    }
    // Potholes, dark where wet.
    for _ in 0..60 {
        let (x, y) = (dice.range32(-55.0, 55.0), dice.range32(-36.0, 36.0));
        let radius = dice.range32(0.12, 0.6);
        let factor = V3::splat(dice.range32(0.45, 0.75));
        let coat = Coat::Stain {
            factor,
            softness_m: radius * 0.35,
        };
        yard.painter.paint(Shape::Disc { x, y, radius }, coat);
    }
}
