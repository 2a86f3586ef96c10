//! Everything on the site that is not a vehicle: buildings, trees, lamps, kerbs, and things that
//! look a little like vehicles from above.

use crate::vec3::V3;

/// A roof.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Roof {
    /// Flat with a parapet and units on top.
    Flat,
    /// Two slopes along the length with this rise, metres.
    Gable { rise: f32 },
}

/// What a prop is; sizes in metres.
#[derive(Clone, Debug)]
pub(crate) enum PropKind {
    Building {
        length: f32,
        width: f32,
        eaves: f32,
        roof: Roof,
        wall: V3,
        roof_color: V3,
        clutter: u32,
    },
    /// `leaves` is how many leaf clusters it carries.
    Tree {
        height: f32,
        crown: f32,
        crown_base: f32,
        conifer: bool,
        leaves: u32,
        tint: V3,
    },
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
