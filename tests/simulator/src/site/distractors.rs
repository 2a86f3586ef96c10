//! Things that look a little like vehicles, and people, on free ground in and around the lot.

use crate::dice::Dice;
use crate::site::SiteKind;
use crate::site::props::PropKind;
use crate::site::yard::Yard;
use crate::vec3::{V3, v3};
use std::f32::consts::{FRAC_PI_2, TAU};

const COLORS: [V3; 7] = [
    v3(0.05, 0.14, 0.30),
    v3(0.30, 0.05, 0.03),
    v3(0.45, 0.30, 0.04),
    v3(0.10, 0.20, 0.10),
    v3(0.35, 0.35, 0.34),
    v3(0.16, 0.17, 0.18),
    v3(0.55, 0.55, 0.53),
];

/// One thing; on footways only small ones.
fn draw(dice: &mut Dice, small: bool) -> PropKind {
    let color = *dice.pick(&COLORS);
    match dice.below(if small { 7 } else { 14 }) {
        0 => PropKind::Bench,
        1 => PropKind::Bin { color },
        2 => PropKind::Cabinet,
        3 => PropKind::Bollard,
        4 => PropKind::Dumpster {
            color: v3(0.03, 0.06, 0.04),
        },
        5 => PropKind::Pallets {
            layers: 1 + dice.below(6) as u32,
            cargo: dice.chance(0.5).then_some(color),
        },
        6 => PropKind::Shelter { length: 4.0 },
        7 => PropKind::Container {
            length: 6.06,
            color,
        },
        8 => PropKind::Skip { color },
        9 => PropKind::Stall {
            length: dice.range32(2.5, 6.0),
            width: dice.range32(2.2, 3.0),
            color,
            stripe: *dice.pick(&[v3(0.6, 0.6, 0.58), v3(0.5, 0.06, 0.05), v3(0.05, 0.2, 0.4)]),
        },
        10 => PropKind::UtilityTrailer { color },
        11 => PropKind::Trolleys {
            count: 4 + dice.below(12) as u32,
        },
        12 => PropKind::SolarTable { length: 6.0 },
        _ => PropKind::Rubble {
            size: dice.range32(1.0, 2.0),
        },
    }
}

/// Scatters distractors and people.
pub(crate) fn scatter(yard: &mut Yard, kind: SiteKind) {
    let mut dice = yard.dice("distractors");
    let on_street = kind == SiteKind::Street;
    let wanted = 10 + dice.below(14);
    let (mut placed, mut tries) = (0, 0);
    while placed < wanted && tries < 400 {
        tries += 1;
        let at = if on_street {
            (
                dice.range32(-60.0, 60.0),
                if dice.chance(0.5) { 8.9 } else { -8.9 },
            )
        } else {
            (dice.range32(-57.0, 57.0), dice.range32(-38.0, 38.0))
        };
        let thing = draw(&mut dice, on_street);
        let turn = if dice.chance(0.7) {
            FRAC_PI_2 * dice.below(4) as f32
        } else {
            dice.range32(0.0, TAU)
        };
        placed += usize::from(yard.put(&mut dice, thing, at, turn, 0.25));
    }
    for _ in 0..6 + dice.below(18) {
        let at = (dice.range32(-60.0, 60.0), dice.range32(-50.0, 48.0));
        let coat = *dice.pick(&COLORS) * dice.range32(0.5, 1.2);
        let trousers = *dice.pick(&[V3::splat(0.02), v3(0.03, 0.05, 0.1), V3::splat(0.1)]);
        let turn = dice.range32(0.0, TAU);
        yard.put(
            &mut dice,
            PropKind::Person { coat, trousers },
            at,
            turn,
            0.25,
        );
    }
}
