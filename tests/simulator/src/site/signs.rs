//! Road markings beyond plain lines: arrows, numbers, crossings, disabled bays.

use crate::dice::Dice;
use crate::ground::{Coat, GroundPainter, Shape, WHITE_PAINT};
use crate::vec3::{V3, v3};
use std::f32::consts::PI;

fn stroke(
    p: &mut GroundPainter,
    at: (f32, f32),
    turn: f32,
    a: (f32, f32),
    b: (f32, f32),
    half_width: f32,
    coat: &Coat,
) {
    let (sin, cos) = turn.sin_cos();
    let to = |(u, v): (f32, f32)| (at.0 + u * cos - v * sin, at.1 + u * sin + v * cos);
    let ((ax, ay), (bx, by)) = (to(a), to(b));
    p.paint(
        Shape::Stroke {
            ax,
            ay,
            bx,
            by,
            half_width,
        },
        coat.clone(),
    );
}

/// A straight arrow of about four metres; `turn` is its direction.
pub(crate) fn arrow(p: &mut GroundPainter, x: f32, y: f32, turn: f32, coat: &Coat) {
    stroke(p, (x, y), turn, (-2.0, 0.0), (1.2, 0.0), 0.09, coat);
    stroke(p, (x, y), turn, (0.9, 0.42), (2.0, 0.0), 0.10, coat);
    stroke(p, (x, y), turn, (0.9, -0.42), (2.0, 0.0), 0.10, coat);
    stroke(p, (x, y), turn, (1.0, 0.15), (1.0, -0.15), 0.14, coat);
}

/// Arrows along an aisle, one way or two.
pub(crate) fn aisle_arrows(p: &mut GroundPainter, dice: &mut Dice, y: f32, color: &V3, wear: f32) {
    let coat = Coat::Marking {
        color: *color,
        wear: (wear + dice.range32(-0.1, 0.25)).clamp(0.0, 0.9),
    };
    let turn = if dice.chance(0.5) { 0.0 } else { PI };
    let two_way = dice.chance(0.4);
    let mut x = -42.0 + dice.range32(0.0, 8.0);
    while x < 46.0 {
        if two_way {
            arrow(p, x, y - 1.4, turn, &coat);
            arrow(p, x + 4.0, y + 1.4, turn + PI, &coat);
        } else {
            arrow(p, x, y, turn, &coat);
        }
        x += dice.range32(14.0, 26.0);
    }
}

/// Segments a to g of a seven-segment digit, clockwise from the top, g in the middle.
const SEGMENTS: [u8; 10] = [
    0b011_1111, 0b000_0110, 0b101_1011, 0b100_1111, 0b110_0110, 0b110_1101, 0b111_1101, 0b000_0111,
    0b111_1111, 0b110_1111,
];

/// A number, its digits upright when seen with `turn` pointing to the right.
pub(crate) fn number(
    p: &mut GroundPainter,
    at: (f32, f32),
    turn: f32,
    size: f32,
    value: u32,
    wear: f32,
) {
    let coat = Coat::Marking {
        color: WHITE_PAINT,
        wear,
    };
    let digits: Vec<u32> = value
        .to_string()
        .bytes()
        .map(|b| u32::from(b - b'0'))
        .collect();
    let (w, h) = (size * 0.22, size * 0.5);
    let corners = [(-w, h), (w, h), (w, 0.0), (w, -h), (-w, -h), (-w, 0.0)];
    let ends = [(0, 1), (1, 2), (2, 3), (3, 4), (4, 5), (5, 0), (5, 2)];
    for (place, digit) in digits.iter().enumerate() {
        let shift = (place as f32 - (digits.len() as f32 - 1.0) / 2.0) * size * 0.75;
        for (bit, (from, to)) in ends.iter().enumerate() {
            if SEGMENTS[*digit as usize] >> bit & 1 == 1 {
                let (a, b) = (corners[*from], corners[*to]);
                stroke(
                    p,
                    at,
                    turn,
                    (a.0 + shift, a.1),
                    (b.0 + shift, b.1),
                    size * 0.06,
                    &coat,
                );
            }
        }
    }
}

/// A blue field with a white figure.
pub(crate) fn disabled_bay(p: &mut GroundPainter, x: f32, y: f32, heading: f32) {
    let blue = Coat::Marking {
        color: v3(0.03, 0.11, 0.35),
        wear: 0.25,
    };
    p.paint(Shape::rect(x, y, 1.7, 1.7, heading), blue);
    let white = Coat::Marking {
        color: WHITE_PAINT,
        wear: 0.25,
    };
    let turn = heading - PI / 2.0;
    for (a, b) in [
        ((-0.12, 0.5), (-0.12, 0.05)),
        ((-0.12, 0.05), (0.25, 0.05)),
        ((0.25, 0.05), (0.42, -0.4)),
        ((-0.12, 0.25), (0.2, 0.25)),
    ] {
        stroke(p, (x, y), turn, a, b, 0.06, &white);
    }
    p.paint(
        Shape::Ring {
            x,
            y: y - 0.15,
            radius: 0.38,
            half_width: 0.05,
        },
        white,
    );
}

/// Zebra stripes across a road that runs along `turn`.
pub(crate) fn crossing(
    p: &mut GroundPainter,
    at: (f32, f32),
    turn: f32,
    road_width: f32,
    wear: f32,
) {
    let (x, y) = at;
    let coat = Coat::Marking {
        color: WHITE_PAINT,
        wear,
    };
    let n = (road_width / 1.0).floor() as i32;
    let (sin, cos) = turn.sin_cos();
    for i in 0..n {
        let v = (i as f32 + 0.5) - n as f32 / 2.0;
        let (cx, cy) = (x - v * sin, y + v * cos);
        p.paint(Shape::rect(cx, cy, 3.2, 0.5, turn), coat.clone());
    }
}

/// A broken line.
pub(crate) fn dashes(
    p: &mut GroundPainter,
    from: (f32, f32),
    to: (f32, f32),
    dash: f32,
    gap: f32,
    wear: f32,
) {
    let (dx, dy) = (to.0 - from.0, to.1 - from.1);
    let length = dx.hypot(dy);
    let (ux, uy) = (dx / length, dy / length);
    let coat = Coat::Marking {
        color: WHITE_PAINT,
        wear,
    };
    let mut along = 0.0;
    while along + dash < length {
        let (ax, ay) = (from.0 + ux * along, from.1 + uy * along);
        let shape = Shape::Stroke {
            ax,
            ay,
            bx: ax + ux * dash,
            by: ay + uy * dash,
            half_width: 0.06,
        };
        p.paint(shape, coat.clone());
        along += dash + gap;
    }
}
