//! What years do to a lot: cracks, repairs, stains, tyre marks, covers and litter. Most of what a
//! feature matcher holds on to lies here.

use crate::dice::Dice;
use crate::ground::{Coat, LiesOn, Shape};
use crate::site::SiteKind;
use crate::site::yard::{LOT_HALF_X, LOT_HALF_Y, Yard};
use crate::vec3::{V3, v3};
use std::f32::consts::{FRAC_PI_2, TAU};

/// Ages the lot and the streets beside it.
pub(crate) fn age(yard: &mut Yard, kind: SiteKind) {
    let mut dice = yard.dice("wear");
    let neglect = dice.range32(0.35, 1.0);
    if kind != SiteKind::Gravel {
        patches(yard, &mut dice, neglect);
        cracks(yard, &mut dice, neglect);
        covers(yard, &mut dice);
    }
    stains(yard, &mut dice, kind);
    tyre_marks(yard, &mut dice, kind);
    litter(yard, &mut dice);
}

/// Somewhere on the lot or the streets next to it.
fn somewhere(dice: &mut Dice) -> (f32, f32) {
    (
        dice.range32(-LOT_HALF_X - 14.0, LOT_HALF_X + 6.0),
        dice.range32(-LOT_HALF_Y - 14.0, LOT_HALF_Y + 4.0),
    )
}

fn turn(dice: &mut Dice) -> f32 {
    if dice.chance(0.7) {
        FRAC_PI_2 * dice.below(2) as f32
    } else {
        dice.range32(0.0, TAU)
    }
}

fn patches(yard: &mut Yard, dice: &mut Dice, neglect: f32) {
    for _ in 0..(70.0 * neglect) as usize {
        let (x, y) = somewhere(dice);
        let (length, width) = (dice.range32(0.5, 5.0), dice.range32(0.4, 2.2));
        let angle = turn(dice);
        let factor = V3::splat(dice.range32(0.55, 1.45));
        let mut shape = Shape::rect(x, y, length, width, angle);
        if let Shape::Rect { round, .. } = &mut shape {
            *round = dice.range32(0.0, 0.25);
        }
        yard.painter.paint_on(
            LiesOn::Asphalt,
            shape,
            Coat::Stain {
                factor,
                softness_m: 0.03,
            },
        );
        if dice.chance(0.5) {
            sealed_joint(yard, dice, (x, y), (length, width), angle);
        }
    }
    // Trenches: long narrow repairs.
    for _ in 0..5 {
        let (x, y) = somewhere(dice);
        let shape = Shape::rect(
            x,
            y,
            dice.range32(8.0, 40.0),
            dice.range32(0.5, 1.1),
            turn(dice),
        );
        let factor = V3::splat(dice.range32(0.6, 1.3));
        yard.painter.paint_on(
            LiesOn::Asphalt,
            shape,
            Coat::Stain {
                factor,
                softness_m: 0.03,
            },
        );
    }
}

/// Bitumen along the edges of a patch.
fn sealed_joint(yard: &mut Yard, dice: &mut Dice, at: (f32, f32), size: (f32, f32), angle: f32) {
    let (sin, cos) = angle.sin_cos();
    let corner = |u: f32, v: f32| {
        let (u, v) = (u * size.0 / 2.0, v * size.1 / 2.0);
        (at.0 + u * cos - v * sin, at.1 + u * sin + v * cos)
    };
    let corners = [
        corner(-1.0, -1.0),
        corner(1.0, -1.0),
        corner(1.0, 1.0),
        corner(-1.0, 1.0),
    ];
    for k in 0..4 {
        let ((ax, ay), (bx, by)) = (corners[k], corners[(k + 1) % 4]);
        let half_width = dice.range32(0.02, 0.05);
        let shape = Shape::Stroke {
            ax,
            ay,
            bx,
            by,
            half_width,
        };
        yard.painter.paint_on(
            LiesOn::Asphalt,
            shape,
            Coat::Seal {
                color: V3::splat(0.03),
            },
        );
    }
}

fn cracks(yard: &mut Yard, dice: &mut Dice, neglect: f32) {
    for _ in 0..(210.0 * neglect) as usize {
        let (mut x, mut y) = somewhere(dice);
        let mut angle = dice.range32(0.0, TAU);
        let sealed = dice.chance(0.3);
        let half_width = if sealed {
            dice.range32(0.025, 0.06)
        } else {
            dice.range32(0.004, 0.02)
        };
        let depth = dice.range32(0.35, 0.8);
        for _ in 0..3 + dice.below(18) {
            let step = dice.range32(0.35, 1.1);
            angle += dice.range32(-0.5, 0.5);
            let (bx, by) = (x + step * angle.cos(), y + step * angle.sin());
            let shape = Shape::Stroke {
                ax: x,
                ay: y,
                bx,
                by,
                half_width,
            };
            let coat = if sealed {
                Coat::Seal {
                    color: V3::splat(0.028),
                }
            } else {
                Coat::Crack { depth }
            };
            yard.painter.paint_on(LiesOn::Asphalt, shape, coat);
            (x, y) = (bx, by);
            if dice.chance(0.08) {
                angle += if dice.chance(0.5) { 1.2 } else { -1.2 };
            }
        }
    }
}

fn covers(yard: &mut Yard, dice: &mut Dice) {
    for _ in 0..26 {
        let (x, y) = somewhere(dice);
        let color = V3::splat(dice.range32(0.04, 0.10));
        let shape = Shape::Disc {
            x,
            y,
            radius: dice.range32(0.28, 0.36),
        };
        if dice.chance(0.5) {
            let factor = V3::splat(dice.range32(0.6, 1.35));
            let apron = Shape::rect(x, y, 1.4, 1.4, 0.0);
            yard.painter.paint_on(
                LiesOn::Hard,
                apron,
                Coat::Stain {
                    factor,
                    softness_m: 0.03,
                },
            );
        }
        yard.painter
            .paint_on(LiesOn::Hard, shape, Coat::Cover { color });
    }
    for _ in 0..18 {
        let (x, y) = somewhere(dice);
        yard.painter.paint_on(
            LiesOn::Hard,
            Shape::rect(x, y, 0.5, 0.35, turn(dice)),
            Coat::Grating,
        );
    }
}

fn stains(yard: &mut Yard, dice: &mut Dice, kind: SiteKind) {
    let strength = if kind == SiteKind::Gravel { 0.5 } else { 1.0 };
    for _ in 0..420 {
        let (x, y) = somewhere(dice);
        let radius = 0.08 + 0.9 * dice.range32(0.0, 1.0).powi(3);
        let dark = 1.0 - strength * dice.range32(0.1, 0.55);
        let factor = if dice.chance(0.75) {
            v3(dark, dark, dark * 1.02)
        } else {
            V3::splat(dice.range32(1.1, 1.5))
        };
        let coat = Coat::Stain {
            factor,
            softness_m: radius * dice.range32(0.25, 0.8),
        };
        yard.painter
            .paint_on(LiesOn::Hard, Shape::Disc { x, y, radius }, coat);
    }
    // Gum, droppings, drips: small and many.
    for _ in 0..2600 {
        let (x, y) = somewhere(dice);
        let shade = if dice.chance(0.6) {
            dice.range32(0.45, 0.8)
        } else {
            dice.range32(1.25, 2.1)
        };
        let radius = dice.range32(0.012, 0.06);
        yard.painter.paint_on(
            LiesOn::Hard,
            Shape::Disc { x, y, radius },
            Coat::Stain {
                factor: V3::splat(shade),
                softness_m: radius * 0.4,
            },
        );
    }
}

fn tyre_marks(yard: &mut Yard, dice: &mut Dice, kind: SiteKind) {
    let n = if kind == SiteKind::Gravel { 60 } else { 34 };
    for _ in 0..n {
        let (mut x, mut y) = somewhere(dice);
        let mut angle = turn(dice) + dice.range32(-0.2, 0.2);
        let bend = dice.range32(-0.14, 0.14);
        let factor = V3::splat(dice.range32(0.72, 0.93));
        for _ in 0..6 + dice.below(12) {
            let (bx, by) = (x + 1.2 * angle.cos(), y + 1.2 * angle.sin());
            for side in [-0.78_f32, 0.78] {
                let (ox, oy) = (-angle.sin() * side, angle.cos() * side);
                let shape = Shape::Stroke {
                    ax: x + ox,
                    ay: y + oy,
                    bx: bx + ox,
                    by: by + oy,
                    half_width: 0.06,
                };
                yard.painter.paint_on(
                    LiesOn::Hard,
                    shape,
                    Coat::Stain {
                        factor,
                        softness_m: 0.09,
                    },
                );
            }
            (x, y) = (bx, by);
            angle += bend;
        }
    }
}

fn litter(yard: &mut Yard, dice: &mut Dice) {
    let leaves = 500 + dice.below(2200);
    for _ in 0..leaves {
        let (x, y) = somewhere(dice);
        let color = *dice.pick(&[
            v3(0.20, 0.11, 0.03),
            v3(0.13, 0.08, 0.03),
            v3(0.10, 0.12, 0.03),
            v3(0.28, 0.20, 0.06),
            v3(0.45, 0.45, 0.43),
        ]);
        let radius = dice.range32(0.02, 0.05);
        yard.painter
            .paint(Shape::Disc { x, y, radius }, Coat::Litter { color });
    }
}
