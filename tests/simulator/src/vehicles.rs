//! Parked vehicles: an embedded catalogue of invented brands and models with realistic sizes,
//! colours as they are seen on roads, and the look of each vehicle.

use crate::dice::Dice;
use crate::vec3::{V3, v3};
use serde::{Deserialize, Serialize};
use std::sync::LazyLock;

/// The shape of a vehicle.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Body {
    /// Two boxes, short.
    Hatchback,
    /// Three boxes.
    Saloon,
    /// Two boxes, long.
    Estate,
    /// Tall two boxes.
    Suv,
    /// Tall with a short bonnet and many windows.
    Mpv,
    /// Panel van or minibus.
    Van,
    /// Cab and open bed.
    Pickup,
    /// Cab and closed box, over 6 m.
    Truck,
    /// Coach.
    Bus,
}

impl Body {
    fn parse(word: &str) -> Option<Self> {
        Some(match word {
            "hatchback" => Self::Hatchback,
            "saloon" => Self::Saloon,
            "estate" => Self::Estate,
            "suv" => Self::Suv,
            "mpv" => Self::Mpv,
            "van" => Self::Van,
            "pickup" => Self::Pickup,
            "truck" => Self::Truck,
            "bus" => Self::Bus,
            _ => return None,
        })
    }

    /// Whether it is too large for a car's bay.
    #[must_use]
    pub fn is_large(self) -> bool {
        matches!(self, Self::Truck | Self::Bus)
    }
}

/// One model of the catalogue. Sizes are those of the body, without mirrors.
#[derive(Clone, Debug, PartialEq)]
pub struct Model {
    /// Invented brand.
    pub brand: String,
    /// Invented model.
    pub model: String,
    /// First year of sale.
    pub year: u16,
    /// Shape.
    pub body: Body,
    /// Bumper to bumper, millimetres.
    pub length_mm: u32,
    /// Without mirrors, millimetres.
    pub width_mm: u32,
    /// Ground to roof, millimetres.
    pub height_mm: u32,
    weight: f64,
}

const CATALOGUE_CSV: &str = include_str!("catalogue.csv");

fn parse_row(row: &str) -> Option<Model> {
    let mut cells = row.split(',');
    let mut next = || cells.next();
    Some(Model {
        brand: next()?.to_owned(),
        model: next()?.to_owned(),
        year: next()?.parse().ok()?,
        body: Body::parse(next()?)?,
        length_mm: next()?.parse().ok()?,
        width_mm: next()?.parse().ok()?,
        height_mm: next()?.parse().ok()?,
        weight: next()?.parse().ok()?,
    })
}

/// The embedded catalogue.
#[must_use]
pub fn catalogue() -> &'static [Model] {
    static MODELS: LazyLock<Vec<Model>> = LazyLock::new(|| {
        CATALOGUE_CSV
            .lines()
            .skip(1)
            .map(|row| parse_row(row).expect("the embedded catalogue is well-formed"))
            .collect()
    });
    &MODELS
}

struct Paint {
    name: &'static str,
    albedo: V3,
    metallic: f32,
    weight: f64,
}

const fn paint(name: &'static str, r: f32, g: f32, b: f32, metallic: f32, weight: f64) -> Paint {
    Paint {
        name,
        albedo: v3(r, g, b),
        metallic,
        weight,
    }
}

/// Linear reflectances; shares roughly those of new registrations in Europe and North America.
const PAINTS: [Paint; 19] = [
    paint("white", 0.66, 0.66, 0.65, 0.0, 18.0),
    paint("white", 0.58, 0.59, 0.59, 0.3, 7.0),
    paint("black", 0.012, 0.012, 0.013, 0.3, 13.0),
    paint("black", 0.018, 0.019, 0.022, 0.7, 7.0),
    paint("grey", 0.085, 0.088, 0.092, 0.8, 11.0),
    paint("grey", 0.18, 0.18, 0.185, 0.8, 7.0),
    paint("grey", 0.15, 0.155, 0.16, 0.0, 2.0),
    paint("silver", 0.36, 0.37, 0.375, 0.9, 11.0),
    paint("blue", 0.018, 0.038, 0.11, 0.6, 5.0),
    paint("blue", 0.03, 0.10, 0.28, 0.5, 3.5),
    paint("blue", 0.09, 0.16, 0.24, 0.7, 1.5),
    paint("red", 0.30, 0.015, 0.017, 0.2, 4.5),
    paint("red", 0.11, 0.010, 0.014, 0.6, 2.0),
    paint("green", 0.022, 0.055, 0.03, 0.6, 1.5),
    paint("green", 0.12, 0.17, 0.09, 0.3, 0.8),
    paint("beige", 0.34, 0.29, 0.215, 0.7, 1.8),
    paint("brown", 0.07, 0.045, 0.03, 0.6, 1.5),
    paint("orange", 0.42, 0.12, 0.015, 0.4, 1.0),
    paint("yellow", 0.55, 0.38, 0.03, 0.1, 0.9),
];

/// How one vehicle looks, beyond its shape.
#[derive(Clone, Debug)]
pub(crate) struct Look {
    pub(crate) paint: V3,
    pub(crate) metallic: f32,
    /// 0 washed, 1 dusty.
    pub(crate) dirt: f32,
    /// Transmission of the side glass, 0 nearly black.
    pub(crate) glass: f32,
    pub(crate) sunroof: bool,
    /// A glass or black roof.
    pub(crate) dark_roof: bool,
    pub(crate) roof_rails: bool,
    pub(crate) roof_box: bool,
    /// Panel van without windows in the back.
    pub(crate) panelled: bool,
    /// Cargo bed under a cover.
    pub(crate) covered_bed: bool,
    /// Box body or roof units in this colour.
    pub(crate) box_color: V3,
    /// A front sun shield lies behind the windscreen.
    pub(crate) sun_shield: bool,
    pub(crate) seats: V3,
    pub(crate) rim: V3,
    pub(crate) seed: u32,
}

/// A parked vehicle.
#[derive(Clone, Debug)]
pub struct Vehicle {
    /// `V001`, ...
    pub id: String,
    /// What it is.
    pub model: &'static Model,
    /// Name of its colour.
    pub color: &'static str,
    /// Centre of its footprint on the ground, east and north, metres.
    pub center_in_enu: [f64; 2],
    /// Where its front points, clockwise from true north, degrees, in [0, 360).
    pub front_azimuth_deg: f64,
    pub(crate) look: Look,
}

impl Vehicle {
    /// Length, width and height, metres.
    #[must_use]
    pub fn size_m(&self) -> [f64; 3] {
        [
            self.model.length_mm,
            self.model.width_mm,
            self.model.height_mm,
        ]
        .map(|mm| f64::from(mm) / 1000.0)
    }
}

/// One of the catalogue's models that passes the filter, as often as its weight says; `None`
/// when none passes.
pub(crate) fn draw_model(dice: &mut Dice, fits: impl Fn(&Model) -> bool) -> Option<&'static Model> {
    let candidates: Vec<&'static Model> = catalogue().iter().filter(|m| fits(m)).collect();
    if candidates.is_empty() {
        return None;
    }
    Some(*dice.pick_weighted(&candidates, |model| model.weight))
}

/// A colour for a body and the rest of its look.
pub(crate) fn draw_look(dice: &mut Dice, body: Body) -> (&'static str, Look) {
    let commercial = matches!(body, Body::Van | Body::Truck | Body::Bus);
    let paint = dice.pick_weighted(&PAINTS, |p| {
        p.weight
            * if commercial && p.name == "white" {
                4.0
            } else {
                1.0
            }
    });
    let shade = dice.range32(0.88, 1.1);
    let dark_roof_share = if matches!(body, Body::Hatchback | Body::Suv | Body::Saloon) {
        0.13
    } else {
        0.0
    };
    let look = Look {
        paint: paint.albedo * shade,
        metallic: paint.metallic,
        dirt: (dice.unit().powi(3)) as f32,
        glass: dice.range32(0.0, 1.0),
        sunroof: !commercial && dice.chance(0.22),
        dark_roof: dice.chance(dark_roof_share),
        roof_rails: matches!(body, Body::Estate | Body::Suv | Body::Mpv) && dice.chance(0.6),
        roof_box: matches!(body, Body::Estate | Body::Suv | Body::Mpv) && dice.chance(0.06),
        panelled: body == Body::Van && dice.chance(0.65),
        covered_bed: dice.chance(0.4),
        box_color: *dice.pick(&[
            v3(0.6, 0.6, 0.58),
            v3(0.5, 0.5, 0.5),
            v3(0.55, 0.42, 0.05),
            v3(0.05, 0.12, 0.3),
            v3(0.3, 0.32, 0.33),
        ]),
        sun_shield: dice.chance(0.08),
        seats: *dice.pick(&[
            V3::splat(0.03),
            V3::splat(0.05),
            V3::splat(0.10),
            v3(0.2, 0.16, 0.11),
        ]),
        rim: *dice.pick(&[
            V3::splat(0.35),
            V3::splat(0.25),
            V3::splat(0.05),
            V3::splat(0.45),
        ]),
        seed: dice.bits(),
    };
    (paint.name, look)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_catalogue_has_every_body_and_plausible_sizes() {
        let models = catalogue();
        for word in [
            "hatchback",
            "saloon",
            "estate",
            "suv",
            "mpv",
            "van",
            "pickup",
            "truck",
            "bus",
        ] {
            let body = Body::parse(word).expect("a body of the list");
            assert!(models.iter().any(|m| m.body == body), "{word}");
        }
        for m in models {
            assert!((3000..=12_000).contains(&m.length_mm), "{m:?}");
            assert!((1500..=2550).contains(&m.width_mm), "{m:?}");
            assert!((1300..=3800).contains(&m.height_mm), "{m:?}");
        }
    }
}
