//! In which order the chosen cells are flown, and on how many batteries.

use super::Context;
use super::choose::Selection;
use crate::airspace::Station;
use crate::candidates::{Candidate, Slot};
use crate::error::PlanError;
use crate::motion::Aim;
use crate::sorties;
use crate::tour::{self, Leg, Stop, Tour};

/// Kicks of the search, less for large sites.
const MAX_KICKS: usize = 60;
const KICKS_TIMES_STOPS: usize = 9_000;

/// The flights with their legs.
pub(super) struct Flown {
    /// Photos by index, flight by flight, and the legs of each (one more than photos).
    pub(super) flights: Vec<(Vec<usize>, Vec<Leg>)>,
    /// No order takes less from the first to the last photo.
    pub(super) bound_s: f64,
}

pub(super) fn fly(context: &Context<'_>, selection: &Selection) -> Result<Flown, PlanError> {
    let stops: Vec<Stop> = selection
        .photos
        .iter()
        .map(|chosen| stop(context, &chosen.candidate))
        .collect();
    let spec = context.request.spec;
    let tour = Tour::new(
        &stops,
        context.request.site.home,
        context.motion,
        context.airspace,
        spec.flight.fly_through,
    );
    let kicks = (KICKS_TIMES_STOPS / stops.len().max(1)).min(MAX_KICKS);
    let mut order = tour::shortest(&tour, kicks as u32);
    if let Some(found) = &selection.order
        && tour.flight_s(found) < tour.flight_s(&order)
    {
        order.clone_from(found);
    }
    let usable_s = spec.usable_flight_s();
    let starts =
        sorties::cuts(&tour, &order, usable_s).ok_or_else(|| PlanError::Contradiction {
            first: format!("flight.max_flight_time_s with its reserve, {usable_s:.0} s"),
            second: "the way to the furthest photo and back".to_owned(),
        })?;
    let flights: Vec<(Vec<usize>, Vec<Leg>)> = starts
        .iter()
        .zip(starts.iter().skip(1).chain([&order.len()]))
        .map(|(start, end)| {
            let photos = order[*start..*end].to_vec();
            let legs = tour.legs(&photos);
            (photos, legs)
        })
        .collect();
    let between: f64 = tour
        .legs(&order)
        .iter()
        .skip(1)
        .take(order.len().saturating_sub(1))
        .map(|leg| leg.duration_s)
        .sum();
    let bound_s = tour::order_bound_s(&tour, between);
    Ok(Flown { flights, bound_s })
}

pub(super) fn stop(context: &Context<'_>, candidate: &Candidate) -> Stop {
    let template = &context.bins[candidate.bin].template;
    let height_m = candidate.height_m(&context.bins);
    Stop {
        station: Station {
            place: candidate.place,
            height_m,
        },
        aim: Aim {
            height_m,
            yaw_deg: candidate.yaw_deg,
            pitch_deg: -template.pitch_down_deg,
        },
        sharp_mps: template.sharp_speed_mps(context.request.spec),
        row: match candidate.slot {
            Slot::Grid(heading, row, column) => Some(([candidate.bin, heading, row], column)),
            Slot::Ring(_) => None,
        },
    }
}
