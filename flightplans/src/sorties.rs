//! One order of photos cut into flights that a battery lasts for, each from home to home.

use crate::tour::{Node, Tour};

/// Seconds kept free in each flight for what a cut changes at its ends: a photo that was taken in
/// passing is then taken from rest.
const CUT_MARGIN_S: f64 = 10.0;

/// Where to cut: the start of each flight in the order. The fewest flights, and of those the
/// shortest. `None` when a photo cannot be flown on one battery.
#[must_use]
pub(crate) fn cuts(tour: &Tour<'_>, order: &[usize], usable_s: f64) -> Option<Vec<usize>> {
    let n = order.len();
    if n == 0 {
        return Some(Vec::new());
    }
    if tour.flight_s(order) <= usable_s {
        return Some(vec![0]);
    }
    let legs: Vec<f64> = tour.legs(order).iter().map(|leg| leg.duration_s).collect();
    let out = |stop: usize| {
        tour.leg(None, Node::Home, Node::Stop(stop), None)
            .duration_s
    };
    let back = |stop: usize| {
        tour.leg(None, Node::Stop(stop), Node::Home, None)
            .duration_s
    };
    // Best way to have flown the first k photos: flights, seconds, start of the last flight.
    let mut best: Vec<Option<(usize, f64, usize)>> = vec![None; n + 1];
    best[0] = Some((0, 0.0, 0));
    for start in 0..n {
        let Some((flights, flown_s, _)) = best[start] else {
            continue;
        };
        let mut in_flight_s = out(order[start]);
        for end in start + 1..=n {
            if end > start + 1 {
                in_flight_s += legs[end - 1];
            }
            let flight_s = in_flight_s + back(order[end - 1]);
            let margin = if end > start + 1 { CUT_MARGIN_S } else { 0.0 };
            if in_flight_s > usable_s {
                break;
            }
            if flight_s + margin > usable_s {
                continue;
            }
            let total = (flights + 1, flown_s + flight_s);
            if best[end].is_none_or(|(f, s, _)| total < (f, s)) {
                best[end] = Some((total.0, total.1, start));
            }
        }
    }
    let mut cuts = Vec::new();
    let mut end = n;
    while end > 0 {
        let (_, _, start) = best[end]?;
        cuts.push(start);
        end = start;
    }
    cuts.reverse();
    Some(cuts)
}
