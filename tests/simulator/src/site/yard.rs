//! The site while it is being made: painted ground, objects in their places, places to park.

use crate::dice::Dice;
use crate::ground::GroundPainter;
use crate::site::plot::{Footprint, Plot};
use crate::site::props::{Prop, PropKind, Tree};
use crate::vec3::{V3, v3};

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
    /// Places of one row are filled in stretches.
    pub(crate) row: usize,
}

/// The colours of the season.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Season {
    /// 0 lush, 1 straw.
    pub(crate) dryness: f32,
    /// Share of broadleaved trees that have turned.
    pub(crate) autumn: f32,
}

/// What is there so far.
#[derive(Debug)]
pub(crate) struct Yard {
    pub(crate) painter: GroundPainter,
    pub(crate) plot: Plot,
    pub(crate) props: Vec<Prop>,
    pub(crate) places: Vec<ParkingPlace>,
    pub(crate) seed: u64,
    pub(crate) season: Season,
}

impl Yard {
    pub(crate) fn new(painter: GroundPainter, seed: u64, season: Season) -> Self {
        let (plot, props, places) = (Plot::default(), Vec::new(), Vec::new());
        Self {
            painter,
            plot,
            props,
            places,
            seed,
            season,
        }
    }

    pub(crate) fn dice(&self, purpose: &str) -> Dice {
        Dice::new(self.seed, purpose, "")
    }

    /// Puts a prop where nothing comes closer than the margin; says whether it found room.
    pub(crate) fn put(
        &mut self,
        dice: &mut Dice,
        kind: PropKind,
        at: (f32, f32),
        heading: f32,
        margin: f32,
    ) -> bool {
        let prop = Prop {
            kind,
            x: at.0,
            y: at.1,
            heading,
            seed: dice.bits(),
        };
        let free = self.plot.take(&prop.footprints(), margin);
        if free {
            self.props.push(prop);
        }
        free
    }

    /// A line of kerb stones.
    pub(crate) fn kerb(&mut self, points: Vec<(f32, f32)>) {
        let kind = PropKind::Kerb {
            points,
            closed: true,
        };
        self.props.push(Prop {
            kind,
            x: 0.0,
            y: 0.0,
            heading: 0.0,
            seed: 0,
        });
    }

    /// Nothing shall stand here.
    pub(crate) fn keep_clear(&mut self, x: f32, y: f32, length: f32, width: f32, height: f32) {
        self.plot.take(
            &[Footprint::new(x, y, length, width, 0.0).between(0.0, height)],
            0.0,
        );
    }

    /// A tree of a height between these, if trunk and crown find room. Crowns of trees on the lot
    /// start above vehicles, elsewhere lower.
    pub(crate) fn plant(
        &mut self,
        dice: &mut Dice,
        at: (f32, f32),
        heights: (f32, f32),
        leaves: u32,
    ) -> bool {
        let conifer = dice.chance(0.12);
        let height = dice.range32(heights.0, heights.1) * dice.range32(0.85, 1.2);
        let slender = if conifer {
            dice.range32(0.17, 0.23)
        } else {
            dice.range32(0.33, 0.48)
        };
        let on_lot = at.0.abs() < LOT_HALF_X + 16.0 && at.1.abs() < LOT_HALF_Y + 16.0;
        let lowest = if on_lot { 2.7 } else { 1.2 };
        let tree = Tree {
            height,
            radius: height * slender,
            base: (height * dice.range32(0.18, 0.30)).clamp(lowest, 3.6),
            conifer,
            leaves,
            tint: self.leaf_color(dice, conifer),
        };
        let heading = dice.range32(0.0, 6.0);
        self.put(dice, PropKind::Tree(tree), at, heading, 0.1)
    }

    fn leaf_color(&self, dice: &mut Dice, conifer: bool) -> V3 {
        let turned = !conifer && dice.chance(f64::from(self.season.autumn));
        if turned {
            let colors = [
                v3(0.13, 0.085, 0.02),
                v3(0.14, 0.055, 0.02),
                v3(0.10, 0.085, 0.025),
                v3(0.16, 0.12, 0.03),
            ];
            return *dice.pick(&colors) * dice.range32(0.75, 1.2);
        }
        let green = v3(0.048, 0.078, 0.023) * dice.range32(0.75, 1.5);
        let hue = dice.range32(-0.12, 0.16);
        let green = v3(green.x * (1.0 + hue), green.y, green.z * (1.0 - hue));
        green.mix(v3(0.08, 0.085, 0.035), self.season.dryness * 0.35)
    }

    /// A lamp post with its arm along the heading.
    pub(crate) fn lamp(
        &mut self,
        dice: &mut Dice,
        at: (f32, f32),
        heading: f32,
        arms: u32,
    ) -> bool {
        let height = dice.range32(6.5, 9.0);
        self.put(dice, PropKind::Lamp { height, arms }, at, heading, 0.1)
    }

    /// A bush.
    pub(crate) fn bush(&mut self, dice: &mut Dice, at: (f32, f32), leaves: u32) -> bool {
        let radius = dice.range32(0.4, 0.9);
        let height = radius * dice.range32(1.2, 1.8);
        let tint = v3(0.042, 0.072, 0.022) * dice.range32(0.7, 1.5);
        let heading = dice.range32(0.0, 6.0);
        self.put(
            dice,
            PropKind::Bush {
                radius,
                height,
                leaves,
                tint,
            },
            at,
            heading,
            0.25,
        )
    }
}
