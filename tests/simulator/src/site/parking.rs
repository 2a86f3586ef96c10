//! Fills places with vehicles: in clusters as drivers do, with small errors, nose in or out.

use crate::dice::Dice;
use crate::error::SimulatorError;
use crate::noise::value_noise;
use crate::site::plot::Footprint;
use crate::site::yard::{ParkingPlace, PlaceKind, Yard};
use crate::vehicles::{Model, Vehicle, draw_look, draw_model};
use std::f32::consts::PI;

/// Least gap between two bodies, metres: two mirrors reach 0.17 m each into it.
const GAP_M: f32 = 0.36;

fn fits(place: &ParkingPlace, model: &Model) -> bool {
    let (length, width) = (
        model.length_mm as f32 / 1000.0,
        model.width_mm as f32 / 1000.0,
    );
    match place.kind {
        PlaceKind::Large => model.body.is_large() && length <= place.length - 0.5,
        PlaceKind::Bay => {
            !model.body.is_large() && length <= place.length + 0.5 && width <= place.width - 0.3
        }
        PlaceKind::Kerbside => !model.body.is_large() && length <= place.length - 0.2,
    }
}

/// One vehicle in its place, in the site frame.
struct Parked {
    model: &'static Model,
    x: f32,
    y: f32,
    /// Of its front.
    heading: f32,
}

fn try_place(dice: &mut Dice, place: &ParkingPlace, tidy: f32) -> Option<Parked> {
    let model = draw_model(dice, |model| fits(place, model))?;
    let (along, across, turn, backwards) = match place.kind {
        PlaceKind::Bay => {
            let slack =
                ((place.width - model.width_mm as f32 / 1000.0 - GAP_M) / 2.0).clamp(0.0, 0.22);
            (
                dice.range32(-0.35, 0.3),
                dice.range32(-slack, slack) * tidy,
                dice.normal(0.018) as f32 * tidy,
                dice.chance(0.3),
            )
        }
        PlaceKind::Kerbside => (
            dice.range32(-0.3, 0.3),
            dice.range32(-0.12, 0.12),
            dice.normal(0.015) as f32,
            dice.chance(0.08),
        ),
        PlaceKind::Large => (dice.range32(-0.3, 0.3), 0.0, 0.0, dice.chance(0.5)),
    };
    let (sin, cos) = place.heading.sin_cos();
    Some(Parked {
        model,
        x: place.x + along * cos - across * sin,
        y: place.y + along * sin + across * cos,
        heading: place.heading + turn + if backwards { PI } else { 0.0 },
    })
}

fn footprint(parked: &Parked) -> Footprint {
    let (length, width, height) = (
        parked.model.length_mm as f32 / 1000.0,
        parked.model.width_mm as f32 / 1000.0,
        parked.model.height_mm as f32 / 1000.0,
    );
    Footprint::new(parked.x, parked.y, length, width, parked.heading).between(0.0, height + 0.25)
}

/// Parks `n` vehicles on the places.
///
/// # Errors
/// When there are not enough free places.
pub(crate) fn park(
    yard: &mut Yard,
    n: usize,
    spacing_m: f64,
    site_heading: f32,
) -> Result<Vec<Vehicle>, SimulatorError> {
    let mut dice = yard.dice("parking");
    let noise_seed = dice.bits();
    // Popular stretches first: neighbours tend to be taken together.
    let places = std::mem::take(&mut yard.places);
    let mut order: Vec<(f32, usize)> = places
        .iter()
        .enumerate()
        .map(|(index, place)| {
            let taste = value_noise(
                place.x / 9.0 + 37.0 * place.row as f32,
                place.y / 14.0,
                noise_seed,
            );
            let bonus = match place.kind {
                PlaceKind::Large => 0.3,
                PlaceKind::Bay | PlaceKind::Kerbside => 0.0,
            };
            (taste + 0.45 * dice.range32(-1.0, 1.0) + bonus, index)
        })
        .collect();
    order.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
    let tidy = dice.range32(0.6, 1.3);
    let mut parked: Vec<Parked> = Vec::new();
    for &(_, index) in &order {
        if parked.len() == n {
            break;
        }
        let place = &places[index];
        // A tall one may not fit under a tree where a lower one does.
        for _ in 0..4 {
            let Some(candidate) = try_place(&mut dice, place, tidy) else {
                break;
            };
            if yard.plot.take(&[footprint(&candidate)], GAP_M) {
                parked.push(candidate);
                break;
            }
        }
    }
    if parked.len() < n {
        return Err(SimulatorError::NoRoom {
            asked: n,
            room: parked.len(),
            spacing_m,
        });
    }
    Ok(parked
        .iter()
        .enumerate()
        .map(|(index, p)| into_vehicle(p, index, yard.seed, site_heading))
        .collect())
}

fn into_vehicle(parked: &Parked, index: usize, seed: u64, site_heading: f32) -> Vehicle {
    let id = format!("V{:03}", index + 1);
    let (color, look) = draw_look(&mut Dice::new(seed, "look", &id), parked.model.body);
    let turn = f64::from(site_heading);
    let (sin, cos) = turn.sin_cos();
    let (x, y) = (f64::from(parked.x), f64::from(parked.y));
    let heading = f64::from(parked.heading) + turn;
    // Whole millimetres and hundredths of a degree, so that files hold what was rendered.
    let mm = |v: f64| (v * 1000.0).round() / 1000.0;
    let azimuth = (90.0 - heading.to_degrees()).rem_euclid(360.0);
    Vehicle {
        id,
        model: parked.model,
        color,
        center_in_enu: [mm(x * cos - y * sin), mm(x * sin + y * cos)],
        front_azimuth_deg: ((azimuth * 100.0).round() / 100.0).rem_euclid(360.0),
        look,
    }
}
