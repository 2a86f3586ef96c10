//! The lot itself: surfaces, bays, islands, markings, lamps and trees, by kind of site; and the
//! places where vehicles may stand.

use crate::dice::Dice;
use crate::ground::{Coat, GroundPainter, Shape, WHITE_PAINT, YELLOW_PAINT};
use crate::plot::{Footprint, Plot};
use crate::props::{Prop, PropKind};
use crate::signs;
use crate::site::SiteKind;
use crate::surfaces::Surface;
use crate::vec3::{V3, v3};
use std::f32::consts::{FRAC_PI_2, FRAC_PI_4, PI, TAU};

/// Half the lot's extent, metres.
pub(crate) const LOT_HALF_X: f32 = 60.0;
pub(crate) const LOT_HALF_Y: f32 = 40.0;

/// How a place is used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PlaceKind {
    /// A bay one drives into, front first or backwards.
    Bay,
    /// Along a kerb, in the direction of traffic.
    Kerbside,
    /// For a truck or a bus.
    Large,
}

/// Where a vehicle may stand, in the site frame.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ParkingPlace {
    pub(crate) x: f32,
    pub(crate) y: f32,
    /// Direction of a vehicle that drove in, radians counter-clockwise from the x axis.
    pub(crate) heading: f32,
    pub(crate) length: f32,
    pub(crate) width: f32,
    pub(crate) kind: PlaceKind,
    pub(crate) row: usize,
}

/// The site while it is being made.
#[derive(Debug)]
pub(crate) struct Yard {
    pub(crate) painter: GroundPainter,
    pub(crate) plot: Plot,
    pub(crate) props: Vec<Prop>,
    pub(crate) seed: u64,
    pub(crate) dryness: f32,
}

impl Yard {
    pub(crate) fn new(painter: GroundPainter, seed: u64, dryness: f32) -> Self {
        Self {
            painter,
            plot: Plot::default(),
            props: Vec::new(),
            seed,
            dryness,
        }
    }

    pub(crate) fn dice(&self, purpose: &str) -> Dice {
        Dice::new(self.seed, purpose, "")
    }

    /// Puts a prop where its footprints are free; says whether it was.
    pub(crate) fn put(&mut self, prop: Prop, footprints: &[Footprint], margin: f32) -> bool {
        let free = self.plot.take(footprints, margin);
        if free {
            self.props.push(prop);
        }
        free
    }

    /// A solid prop with one footprint from the ground to a height.
    pub(crate) fn put_solid(&mut self, prop: Prop, length: f32, width: f32, height: f32) -> bool {
        let footprint =
            Footprint::new(prop.x, prop.y, length, width, prop.heading).between(0.0, height);
        self.put(prop, &[footprint], 0.25)
    }

    /// A prop flat enough to need no place (kerbs).
    pub(crate) fn lay(&mut self, kind: PropKind, seed: u32) {
        self.props.push(Prop {
            kind,
            x: 0.0,
            y: 0.0,
            heading: 0.0,
            seed,
        });
    }

    /// A tree, if trunk and crown find room; crowns start above `base`.
    ///
    /// Crowns of trees on the lot start above vehicles; elsewhere lower.
    pub(crate) fn plant(
        &mut self,
        dice: &mut Dice,
        x: f32,
        y: f32,
        size: f32,
        leaves: u32,
    ) -> bool {
        let conifer = dice.chance(0.12);
        let height = size * dice.range32(0.85, 1.25);
        let crown = height
            * if conifer {
                dice.range32(0.17, 0.23)
            } else {
                dice.range32(0.33, 0.48)
            };
        let on_lot = x.abs() < LOT_HALF_X + 16.0 && y.abs() < LOT_HALF_Y + 16.0;
        let lowest = if on_lot { 2.7 } else { 1.2 };
        let crown_base = (height * dice.range32(0.18, 0.30)).clamp(lowest, 3.6);
        let autumn = dice.range32(0.0, 1.0);
        let tint = if autumn < 0.85 {
            v3(0.048, 0.078, 0.023) * dice.range32(0.75, 1.5)
        } else {
            v3(0.085, 0.075, 0.02) * dice.range32(0.8, 1.3)
        };
        let dry = v3(0.08, 0.085, 0.035);
        let tint = tint.mix(dry, self.dryness * 0.35);
        let kind = PropKind::Tree {
            height,
            crown,
            crown_base,
            conifer,
            leaves,
            tint,
        };
        let trunk = Footprint::new(x, y, 0.7, 0.7, 0.0).between(0.0, crown_base);
        let canopy = Footprint::new(x, y, 2.0 * crown, 2.0 * crown, 0.0)
            .between(crown_base - 0.3, height + 1.0);
        let heading = dice.range32(0.0, 6.0);
        self.put(
            Prop {
                kind,
                x,
                y,
                heading,
                seed: dice.bits(),
            },
            &[trunk, canopy],
            0.1,
        )
    }

    /// A lamp post.
    pub(crate) fn lamp(
        &mut self,
        dice: &mut Dice,
        x: f32,
        y: f32,
        heading: f32,
        arms: u32,
    ) -> bool {
        let height = dice.range32(6.5, 9.0);
        let kind = PropKind::Lamp { height, arms };
        let post = Footprint::new(x, y, 0.4, 0.4, 0.0).between(0.0, height);
        let arm = Footprint::new(x, y, 3.4, 0.4, heading).between(height - 0.4, height + 0.3);
        self.put(
            Prop {
                kind,
                x,
                y,
                heading,
                seed: dice.bits(),
            },
            &[post, arm],
            0.1,
        )
    }

    /// A bush.
    pub(crate) fn bush(&mut self, dice: &mut Dice, x: f32, y: f32, leaves: u32) -> bool {
        let radius = dice.range32(0.4, 0.9);
        let height = radius * dice.range32(1.2, 1.8);
        let tint = v3(0.042, 0.072, 0.022) * dice.range32(0.7, 1.5);
        let prop = Prop {
            kind: PropKind::Bush {
                radius,
                height,
                leaves,
                tint,
            },
            x,
            y,
            heading: dice.range32(0.0, 6.0),
            seed: dice.bits(),
        };
        self.put_solid(prop, 2.0 * radius, 2.0 * radius, height)
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

fn bay_style(dice: &mut Dice, spacing: f32) -> BayStyle {
    let every = (spacing / 2.5 + 1e-3).floor().max(1.0) as usize;
    BayStyle {
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

fn lot_surface(yard: &mut Yard, dice: &mut Dice) -> Surface {
    let albedo = dice.range32(0.075, 0.16);
    let surface = Surface::Asphalt {
        albedo,
        warmth: dice.range32(-0.02, 0.08),
    };
    yard.painter.surface(
        Shape::rounded(0.0, 0.0, 2.0 * LOT_HALF_X, 2.0 * LOT_HALF_Y, 4.0),
        surface,
    );
    surface
}

/// Makes the lot and says where vehicles may stand.
pub(crate) fn lay_out(yard: &mut Yard, kind: SiteKind, spacing: f32) -> Vec<ParkingPlace> {
    let mut dice = yard.dice("layout");
    let mut places = match kind {
        SiteKind::Perpendicular => rows(yard, &mut dice, spacing, FRAC_PI_2),
        SiteKind::Herringbone => rows(yard, &mut dice, spacing, FRAC_PI_4),
        SiteKind::Street => street(yard, &mut dice, spacing),
        SiteKind::Gravel => gravel(yard, &mut dice, spacing),
    };
    if kind != SiteKind::Street {
        kerbside(&mut dice, &mut places, spacing);
    }
    places
}

/// Rows of bays along x, at right angles or slanted.
fn rows(yard: &mut Yard, dice: &mut Dice, spacing: f32, slant: f32) -> Vec<ParkingPlace> {
    lot_surface(yard, dice);
    let style = bay_style(dice, spacing);
    let depth = style.length * slant.sin() + style.width * slant.cos();
    let median = if dice.chance(0.5) {
        dice.range32(1.4, 2.2)
    } else {
        0.0
    };
    let aisle = dice.range32(5.8, 6.6);
    let module = 2.0 * depth + median + aisle;
    let doubles = ((2.0 * LOT_HALF_Y - 12.0 - aisle) / module).floor() as usize;
    let used = doubles as f32 * module + aisle;
    let first = -used / 2.0 + aisle;
    let paved = dice.chance(0.25);
    let mut places = Vec::new();
    for k in 0..doubles {
        let middle = first + k as f32 * module + depth + median / 2.0;
        if paved {
            let tint = v3(0.19, 0.175, 0.16) * dice.range32(0.8, 1.1);
            let shape = Shape::rounded(0.0, middle, 104.0, 2.0 * depth + median, 0.5);
            yard.painter.surface(shape, Surface::Pavers { tint });
        }
        row_islands(yard, dice, middle, depth, median);
        for (side, up) in [(-1.0_f32, true), (1.0, false)] {
            let center = middle + side * (median + depth) / 2.0;
            let row = Row {
                y: center,
                depth,
                up,
                slant,
                index: 2 * k + usize::from(up),
            };
            row.mark(yard, dice, &style, &mut places);
        }
        let aisle_y = first + k as f32 * module - aisle / 2.0;
        signs::aisle_arrows(&mut yard.painter, dice, aisle_y, &style.color, style.wear);
    }
    let last_aisle = first + doubles as f32 * module - aisle / 2.0;
    signs::aisle_arrows(
        &mut yard.painter,
        dice,
        last_aisle,
        &style.color,
        style.wear,
    );
    edge_strips(yard, dice, used);
    entrances(yard, dice);
    places
}

struct Row {
    y: f32,
    depth: f32,
    /// Vehicles that drove in point to +y.
    up: bool,
    slant: f32,
    index: usize,
}

impl Row {
    fn mark(
        &self,
        yard: &mut Yard,
        dice: &mut Dice,
        style: &BayStyle,
        places: &mut Vec<ParkingPlace>,
    ) {
        let pitch = style.width / self.slant.sin();
        let n = (98.0 / pitch).floor() as usize;
        let start = -(n as f32) * pitch / 2.0;
        let heading = if self.up { self.slant } else { self.slant + PI };
        let lean = self.depth / self.slant.tan();
        // The gap to the slanted lines' other end; upright rows have none.
        let lean = if self.slant > 1.5 { 0.0 } else { lean };
        let offset = dice.below(style.every);
        let mut tree_bays = Vec::new();
        for i in 0..=n {
            let x = start + i as f32 * pitch;
            let (bottom, top) = (self.y - self.depth / 2.0, self.y + self.depth / 2.0);
            let line = Shape::Stroke {
                ax: x - lean / 2.0,
                ay: bottom,
                bx: x + lean / 2.0,
                by: top,
                half_width: 0.055,
            };
            let coat = Coat::Marking {
                color: style.color,
                wear: style.wear,
            };
            yard.painter.paint(line, coat.clone());
            if i == n {
                break;
            }
            let center_x = x + pitch / 2.0;
            if style.box_ends && self.slant > 1.5 {
                let y = if self.up { top } else { bottom };
                let half_width = 0.055;
                let close = Shape::Stroke {
                    ax: x,
                    ay: y,
                    bx: x + pitch,
                    by: y,
                    half_width,
                };
                yard.painter.paint(close, coat);
            }
            if i % 9 == 4 && dice.chance(0.35) && style.every == 1 {
                tree_bays.push(center_x);
                continue;
            }
            if dice.chance(0.02) {
                signs::disabled_bay(&mut yard.painter, center_x, self.y, heading);
            } else if style.numbers {
                let inward = if self.up { -1.0 } else { 1.0 };
                let y = self.y + inward * (self.depth / 2.0 - 0.7);
                signs::number(
                    &mut yard.painter,
                    center_x,
                    y,
                    heading - FRAC_PI_2,
                    0.55,
                    i as u32 + 1,
                    style.wear,
                );
            }
            if i % style.every == offset {
                places.push(ParkingPlace {
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
            let width = pitch.min(style.width);
            tree_bay(yard, dice, x, self.y, width, self.depth);
        }
    }
}

fn planted(dice: &mut Dice, dryness: f32) -> Surface {
    if dice.chance(0.6) {
        Surface::Grass { dryness }
    } else {
        Surface::Soil {
            tint: v3(0.11, 0.075, 0.05) * dice.range32(0.7, 1.2),
        }
    }
}

/// A bay given over to a tree.
fn tree_bay(yard: &mut Yard, dice: &mut Dice, x: f32, y: f32, width: f32, depth: f32) {
    let (length, width) = (width - 0.5, depth - 0.5);
    let surface = planted(dice, yard.dryness);
    yard.painter
        .surface(Shape::rounded(x, y, length, width, 0.5), surface);
    yard.lay(
        PropKind::Kerb {
            points: rounded_outline(x, y, length, width, 0.5),
            closed: true,
        },
        0,
    );
    yard.plot.take(
        &[Footprint::new(x, y, length, width, 0.0).between(0.0, 0.3)],
        0.0,
    );
    let size = dice.range32(6.0, 9.0);
    yard.plant(dice, x, y, size, 2600);
    for _ in 0..dice.below(3) {
        let along = dice.range32(-1.6, 1.6);
        yard.bush(dice, x, y + along, 160);
    }
}

/// Islands at the ends of a double row, and its median.
fn row_islands(yard: &mut Yard, dice: &mut Dice, y: f32, depth: f32, median: f32) {
    let surface = planted(dice, yard.dryness);
    for x in [-51.4_f32, 51.4] {
        let width = 2.0 * depth + median - 0.6;
        yard.painter
            .surface(Shape::rounded(x, y, 2.8, width, 1.2), surface);
        yard.lay(
            PropKind::Kerb {
                points: rounded_outline(x, y, 2.8, width, 1.2),
                closed: true,
            },
            0,
        );
        for dy in [-0.28_f32, 0.28] {
            if dice.chance(0.75) {
                let size = dice.range32(6.5, 10.5);
                yard.plant(dice, x, y + dy * width, size, 3000);
            }
        }
        yard.lamp(dice, x, y, 0.0, 1);
        for _ in 0..3 {
            let (dx, dy) = (dice.range32(-0.7, 0.7), dice.range32(-0.4, 0.4) * width);
            yard.bush(dice, x + dx, y + dy, 160);
        }
    }
    if median > 0.0 {
        yard.painter
            .surface(Shape::rounded(0.0, y, 99.0, median - 0.3, 0.4), surface);
        let points = rounded_outline(0.0, y, 99.0, median - 0.3, 0.4);
        yard.lay(
            PropKind::Kerb {
                points,
                closed: true,
            },
            0,
        );
        let gap = dice.range32(9.0, 16.0);
        let mut x = -46.0 + dice.range32(0.0, 5.0);
        while x < 48.0 {
            if dice.chance(0.75) {
                let size = dice.range32(5.5, 9.0);
                yard.plant(dice, x, y, size, 2600);
            }
            yard.bush(dice, x + gap * 0.4, y, 160);
            x += gap;
        }
    }
    for x in [-25.0_f32, 25.0] {
        yard.lamp(dice, x, y, FRAC_PI_2, 2);
    }
}

/// Green strips and kerbs around the lot's edge.
fn edge_strips(yard: &mut Yard, dice: &mut Dice, used: f32) {
    let points = rounded_outline(0.0, 0.0, 2.0 * LOT_HALF_X, 2.0 * LOT_HALF_Y, 4.0);
    yard.lay(
        PropKind::Kerb {
            points,
            closed: true,
        },
        0,
    );
    let side = (2.0 * LOT_HALF_Y - used) / 2.0;
    if side > 4.0 {
        for (sign, n) in [(-1.0_f32, 2), (1.0, 3)] {
            for _ in 0..n {
                let x = dice.range32(-45.0, 45.0);
                let y = sign * (LOT_HALF_Y - side / 2.0 + 0.6);
                let surface = planted(dice, yard.dryness);
                let length = dice.range32(6.0, 14.0);
                yard.painter
                    .surface(Shape::rounded(x, y, length, side - 2.4, 0.8), surface);
                let points = rounded_outline(x, y, length, side - 2.4, 0.8);
                yard.lay(
                    PropKind::Kerb {
                        points,
                        closed: true,
                    },
                    0,
                );
                yard.plot.take(
                    &[Footprint::new(x, y, length, side - 2.4, 0.0).between(0.0, 0.3)],
                    0.0,
                );
                let size = dice.range32(6.0, 10.0);
                yard.plant(dice, x + length * 0.2, y, size, 2800);
                yard.bush(dice, x - length * 0.3, y, 200);
            }
        }
    }
    let mut x = -56.0;
    while x < 57.0 {
        for y in [-LOT_HALF_Y - 1.8, LOT_HALF_Y + 2.2] {
            if dice.chance(0.4) {
                let (size, shift) = (dice.range32(6.0, 11.0), dice.range32(-2.0, 2.0));
                yard.plant(dice, x + shift, y, size, 2400);
            } else {
                yard.bush(dice, x, y, 200);
            }
        }
        x += dice.range32(6.0, 10.0);
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
        yard.plot
            .take(&[Footprint::new(x, -43.0, 7.0, 8.0, 0.0)], 0.0);
    }
}

/// Parallel places and two for large vehicles along the street in the south and the west edge.
fn kerbside(dice: &mut Dice, places: &mut Vec<ParkingPlace>, spacing: f32) {
    let pitch = spacing.max(6.4);
    let mut x = -55.0 + dice.range32(0.0, 3.0);
    while x < 55.0 {
        if (x + 38.0).abs() > 8.0 && (x - 36.0).abs() > 8.0 {
            places.push(ParkingPlace {
                x,
                y: -46.95,
                heading: PI,
                length: pitch - 0.6,
                width: 2.3,
                kind: PlaceKind::Kerbside,
                row: 90,
            });
        }
        x += pitch;
    }
    for y in [-12.0_f32, 3.0] {
        places.push(ParkingPlace {
            x: -56.9,
            y,
            heading: FRAC_PI_2,
            length: 11.0,
            width: 2.9,
            kind: PlaceKind::Large,
            row: 91,
        });
    }
}

/// Two streets that cross, with parking lanes.
fn street(yard: &mut Yard, dice: &mut Dice, spacing: f32) -> Vec<ParkingPlace> {
    let mut places = Vec::new();
    let pitch = spacing.max(6.3);
    let wear = dice.range32(0.1, 0.5);
    let boxes = dice.chance(0.5);
    for (along_x, center, half_reach) in [(true, 0.0_f32, 78.0_f32), (false, 18.0, 58.0)] {
        for side in [-1.0_f32, 1.0] {
            let across = center + side * 4.45;
            let mut along = -half_reach + dice.range32(0.0, 3.0);
            while along < half_reach {
                let crossing = if along_x { 18.0 } else { 0.0 };
                if (along - crossing).abs() > 13.0 {
                    let (x, y) = if along_x {
                        (along, across)
                    } else {
                        (across, along)
                    };
                    let forward = if along_x {
                        if side > 0.0 { PI } else { 0.0 }
                    } else if side > 0.0 {
                        FRAC_PI_2
                    } else {
                        -FRAC_PI_2
                    };
                    let row = usize::from(along_x) * 2 + usize::from(side > 0.0);
                    places.push(ParkingPlace {
                        x,
                        y,
                        heading: forward,
                        length: pitch - 0.6,
                        width: 2.2,
                        kind: if dice.chance(0.03) {
                            PlaceKind::Large
                        } else {
                            PlaceKind::Kerbside
                        },
                        row,
                    });
                    if boxes {
                        let edge = along + pitch / 2.0;
                        let inner = across - side * 1.1;
                        let outer = across + side * 1.0;
                        let (ax, ay, bx, by) = if along_x {
                            (edge, inner, edge, outer)
                        } else {
                            (inner, edge, outer, edge)
                        };
                        let shape = Shape::Stroke {
                            ax,
                            ay,
                            bx,
                            by,
                            half_width: 0.05,
                        };
                        yard.painter.paint(
                            shape,
                            Coat::Marking {
                                color: WHITE_PAINT,
                                wear,
                            },
                        );
                    }
                }
                along += pitch;
            }
        }
    }
    places
}

/// An unmarked lot: rows by habit, not by paint.
fn gravel(yard: &mut Yard, dice: &mut Dice, spacing: f32) -> Vec<ParkingPlace> {
    let tint = *dice.pick(&[
        v3(0.24, 0.215, 0.18),
        v3(0.21, 0.205, 0.20),
        v3(0.27, 0.235, 0.175),
    ]);
    let shape = Shape::rounded(0.0, 0.0, 2.0 * LOT_HALF_X, 2.0 * LOT_HALF_Y, 9.0);
    yard.painter.paint(
        shape,
        Coat::Surface {
            surface: Surface::Gravel { tint },
            rough_edge_m: 1.1,
        },
    );
    for _ in 0..26 {
        let (x, y) = (dice.range32(-55.0, 55.0), dice.range32(-36.0, 36.0));
        let radius = dice.range32(1.0, 5.0);
        let factor = V3::splat(dice.range32(0.72, 1.2));
        yard.painter.paint(
            Shape::Disc { x, y, radius },
            Coat::Stain {
                factor,
                softness_m: radius * 0.6,
            },
        );
    }
    let mut places = Vec::new();
    let width = spacing.max(2.6);
    let mut y = -27.0;
    let mut row = 0;
    while y < 32.0 {
        let mut x = -50.0 + dice.range32(0.0, 2.0);
        let heading = if row % 2 == 0 { FRAC_PI_2 } else { -FRAC_PI_2 };
        while x < 50.0 {
            let kind = PlaceKind::Bay;
            places.push(ParkingPlace {
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
        let (size, y) = (dice.range32(7.0, 11.0), dice.range32(-35.5, -33.0));
        yard.plant(dice, x, y, size, 3000);
        let (size, y) = (dice.range32(7.0, 11.0), dice.range32(35.5, 37.0));
        let x = x + dice.range32(-8.0, 8.0);
        yard.plant(dice, x, y, size, 3000);
    }
    for k in 0..40 {
        let x = -58.0 + 3.0 * k as f32;
        if dice.chance(0.7) {
            let prop = Prop {
                kind: PropKind::Boulder {
                    size: dice.range32(0.35, 0.75),
                },
                x,
                y: if dice.chance(0.5) { -41.5 } else { 41.8 },
                heading: dice.range32(0.0, 6.0),
                seed: dice.bits(),
            };
            yard.put_solid(prop, 0.8, 0.8, 0.6);
        }
    }
    entrances(yard, dice);
    places
}

/// Things that look a little like vehicles, on free ground in and around the lot.
pub(crate) fn distractors(yard: &mut Yard, kind: SiteKind) {
    let mut dice = yard.dice("distractors");
    let spot = |dice: &mut Dice| match kind {
        SiteKind::Street => {
            let side = if dice.chance(0.5) { 8.9 } else { -8.9 };
            (dice.range32(-60.0, 60.0), side)
        }
        _ => (dice.range32(-57.0, 57.0), dice.range32(-38.0, 38.0)),
    };
    let colors = [
        v3(0.05, 0.14, 0.30),
        v3(0.30, 0.05, 0.03),
        v3(0.45, 0.30, 0.04),
        v3(0.10, 0.20, 0.10),
        v3(0.35, 0.35, 0.34),
        v3(0.16, 0.17, 0.18),
        v3(0.55, 0.55, 0.53),
    ];
    let wanted = 10 + dice.below(14);
    let mut tries = 0;
    let mut placed = 0;
    while placed < wanted && tries < 400 {
        tries += 1;
        let (x, y) = spot(&mut dice);
        let color = *dice.pick(&colors);
        let small = kind == SiteKind::Street;
        let (thing, length, width, height) = match dice.below(if small { 7 } else { 14 }) {
            0 => (PropKind::Bench, 1.7, 0.6, 0.8),
            1 => (PropKind::Bin { color }, 0.7, 0.7, 1.1),
            2 => (PropKind::Cabinet, 1.3, 0.5, 1.3),
            3 => (PropKind::Bollard, 0.3, 0.3, 0.9),
            4 => (
                PropKind::Bin {
                    color: v3(0.03, 0.05, 0.03),
                },
                1.4,
                1.1,
                1.3,
            ),
            5 => (
                PropKind::Pallets {
                    layers: 1 + dice.below(6) as u32,
                    cargo: dice.chance(0.5).then_some(color),
                },
                1.2,
                0.8,
                1.4,
            ),
            6 => (PropKind::Shelter { length: 4.0 }, 4.0, 1.6, 2.5),
            7 => (
                PropKind::Container {
                    length: 6.06,
                    color,
                },
                6.06,
                2.44,
                2.6,
            ),
            8 => (PropKind::Skip { color }, 3.6, 1.8, 1.4),
            9 => {
                let (length, width) = (dice.range32(2.5, 6.0), dice.range32(2.2, 3.0));
                let stripe =
                    *dice.pick(&[v3(0.6, 0.6, 0.58), v3(0.5, 0.06, 0.05), v3(0.05, 0.2, 0.4)]);
                (
                    PropKind::Stall {
                        length,
                        width,
                        color,
                        stripe,
                    },
                    length,
                    width,
                    2.7,
                )
            }
            10 => (PropKind::UtilityTrailer { color }, 3.6, 1.7, 0.9),
            11 => (
                PropKind::Trolleys {
                    count: 4 + dice.below(12) as u32,
                },
                4.2,
                1.0,
                1.0,
            ),
            12 => (PropKind::SolarTable { length: 6.0 }, 6.0, 2.4, 2.0),
            _ => (
                PropKind::Rubble {
                    size: dice.range32(1.0, 2.0),
                },
                3.2,
                3.2,
                0.9,
            ),
        };
        let turn = if dice.chance(0.7) {
            FRAC_PI_2 * dice.below(4) as f32
        } else {
            dice.range32(0.0, TAU)
        };
        let prop = Prop {
            kind: thing,
            x,
            y,
            heading: turn,
            seed: dice.bits(),
        };
        placed += usize::from(yard.put_solid(prop, length, width, height));
    }
}
