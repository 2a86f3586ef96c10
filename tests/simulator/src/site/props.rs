//! Everything on the site that is not a vehicle: buildings, trees, lamps, kerbs, and things that
//! look a little like vehicles from above.

use crate::site::plot::Footprint;
use crate::vec3::V3;

/// A roof.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Roof {
    /// Flat with a parapet and units on top.
    Flat,
    /// Two slopes along the length with this rise, metres.
    Gable { rise: f32 },
}

/// A building's shape and look; metres.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Building {
    pub(crate) length: f32,
    pub(crate) width: f32,
    pub(crate) eaves: f32,
    pub(crate) roof: Roof,
    pub(crate) wall: V3,
    pub(crate) roof_color: V3,
    /// How many things are tried on the roof.
    pub(crate) clutter: u32,
}

/// A tree's shape, metres.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Tree {
    pub(crate) height: f32,
    /// Nothing of the crown lies further from the trunk.
    pub(crate) radius: f32,
    /// Nothing of the crown lies lower.
    pub(crate) base: f32,
    pub(crate) conifer: bool,
    /// How many leaf clusters it carries.
    pub(crate) leaves: u32,
    pub(crate) tint: V3,
}

/// What a prop is; sizes in metres.
#[derive(Clone, Debug)]
pub(crate) enum PropKind {
    Building(Building),
    Tree(Tree),
    Bush {
        radius: f32,
        height: f32,
        leaves: u32,
        tint: V3,
    },
    Hedge {
        length: f32,
        width: f32,
        height: f32,
        tint: V3,
    },
    Lamp {
        height: f32,
        arms: u32,
    },
    /// A line of kerb stones through these points (site frame).
    Kerb {
        points: Vec<(f32, f32)>,
        closed: bool,
    },
    Container {
        length: f32,
        color: V3,
    },
    Skip {
        color: V3,
    },
    Stall {
        length: f32,
        width: f32,
        color: V3,
        stripe: V3,
    },
    Bench,
    PicnicTable,
    Bin {
        color: V3,
    },
    /// A large waste container.
    Dumpster {
        color: V3,
    },
    Cabinet,
    Pallets {
        layers: u32,
        cargo: Option<V3>,
    },
    UtilityTrailer {
        color: V3,
    },
    Boulder {
        size: f32,
    },
    Bollard,
    Fence {
        length: f32,
        height: f32,
    },
    SolarTable {
        length: f32,
    },
    Shelter {
        length: f32,
    },
    Trolleys {
        count: u32,
    },
    Rubble {
        size: f32,
    },
    Shed {
        length: f32,
        width: f32,
        height: f32,
        color: V3,
    },
    Pool {
        length: f32,
        width: f32,
    },
    Trampoline,
    Person {
        coat: V3,
        trousers: V3,
    },
}

impl PropKind {
    /// Length, width and height that hold the whole prop, metres. Kerbs are flat and take none.
    fn size(&self) -> (f32, f32, f32) {
        match *self {
            Self::Building(Building {
                length,
                width,
                eaves,
                roof,
                ..
            }) => {
                let rise = if let Roof::Gable { rise } = roof {
                    rise + 1.5
                } else {
                    2.6
                };
                (length + 1.0, width + 1.0, eaves + rise)
            }
            Self::Tree(Tree { height, radius, .. }) => (2.0 * radius, 2.0 * radius, height + 1.0),
            Self::Bush { radius, height, .. } => (2.0 * radius, 2.0 * radius, height),
            Self::Hedge {
                length,
                width,
                height,
                ..
            } => (length, width, height),
            Self::Lamp { height, .. } => (3.4, 0.4, height + 0.3),
            Self::Kerb { .. } => (0.0, 0.0, 0.12),
            Self::Container { length, .. } => (length, 2.44, 2.6),
            Self::Skip { .. } => (3.6, 1.8, 1.4),
            Self::Stall { length, width, .. } => (length, width, 2.7),
            Self::Bench => (1.7, 0.7, 0.9),
            Self::PicnicTable => (1.8, 1.6, 0.8),
            Self::Bin { .. } => (0.7, 0.7, 1.1),
            Self::Dumpster { .. } => (1.5, 1.2, 1.4),
            Self::Cabinet => (1.3, 0.5, 1.3),
            Self::Pallets { layers, .. } => (1.3, 0.9, 0.145 * layers as f32 + 0.6),
            Self::UtilityTrailer { .. } => (3.6, 1.8, 0.9),
            Self::Boulder { size } => (size, size, size),
            Self::Bollard => (0.2, 0.2, 0.9),
            Self::Fence { length, height } => (length, 0.2, height),
            Self::SolarTable { length } => (length, 2.4, 2.0),
            Self::Shelter { length } => (length, 1.7, 2.5),
            Self::Trolleys { .. } => (4.4, 0.8, 1.0),
            Self::Rubble { size } => (1.4 * size + 0.9, 1.4 * size + 0.9, 0.9),
            Self::Shed {
                length,
                width,
                height,
                ..
            } => (length + 0.3, width + 0.3, height + 0.4),
            Self::Pool { length, width } => (length + 0.8, width + 0.8, 0.4),
            Self::Trampoline => (3.2, 3.2, 0.9),
            Self::Person { .. } => (0.6, 0.6, 1.9),
        }
    }
}

/// A prop in its place: centre and heading (radians counter-clockwise from the site's x axis) in
/// the site frame.
#[derive(Clone, Debug)]
pub(crate) struct Prop {
    pub(crate) kind: PropKind,
    pub(crate) x: f32,
    pub(crate) y: f32,
    pub(crate) heading: f32,
    pub(crate) seed: u32,
}

impl Prop {
    /// The space it takes; a tree's or a lamp's is thin below and wide above.
    pub(crate) fn footprints(&self) -> Vec<Footprint> {
        let (length, width, height) = self.kind.size();
        let whole = |length, width| Footprint::new(self.x, self.y, length, width, self.heading);
        match self.kind {
            PropKind::Kerb { .. } => Vec::new(),
            PropKind::Tree(Tree { base, .. }) => vec![
                whole(0.7, 0.7).between(0.0, base),
                whole(length, width).between(base - 0.3, height),
            ],
            PropKind::Lamp { height, .. } => vec![
                whole(0.4, 0.4).between(0.0, height),
                whole(length, width).between(height - 0.4, height + 0.3),
            ],
            _ => vec![whole(length, width).between(0.0, height)],
        }
    }
}
