//! A time that no order of the photos undercuts: the Held-Karp bound. A path through all photos,
//! closed through a node that costs nothing, is a 1-tree; the lightest 1-tree under any node prices
//! that cancel out on a closed path is a lower bound, and subgradient steps raise it. Source: Held
//! and Karp, The traveling-salesman problem and minimum spanning trees, 1970 and 1971.

use super::{Node, Tour};

/// Steps of the ascent for sites of a few hundred photos; large ones get fewer.
const MAX_STEPS: usize = 400;
/// Above this many photos the bound is the shutter's alone.
const MAX_TREE_STOPS: usize = 4000;
/// Leg times looked at in all: bounds the work on large sites.
const MAX_LEGS: usize = 20_000_000;

/// Seconds from the first to the last photo that no order of these photos undercuts.
#[must_use]
pub(crate) fn order_bound_s(tour: &Tour<'_>, known_s: f64) -> f64 {
    let n = tour.len();
    if n < 2 {
        return 0.0;
    }
    if n > MAX_TREE_STOPS {
        return shutter_s(tour);
    }
    let least = |a: usize, b: usize| least_s(tour, a, b);
    let table: Option<Vec<f64>> = (n <= 2000).then(|| {
        (0..n * n)
            .map(|at| {
                if at / n == at % n {
                    0.0
                } else {
                    least(at / n, at % n)
                }
            })
            .collect()
    });
    let cost = |a: usize, b: usize| match &table {
        Some(table) => table[a * n + b],
        None => least(a, b),
    };
    let steps = (MAX_LEGS / (n * n)).clamp(1, MAX_STEPS);
    let mut price = vec![0.0; n];
    let mut best = f64::NEG_INFINITY;
    let mut scale = 2.0;
    let mut stale = 0;
    for _ in 0..steps {
        let (weight, degree) = tree(n, &cost, &price);
        let bound = weight;
        if bound > best {
            best = bound;
            stale = 0;
        } else {
            stale += 1;
            if stale == 10 {
                scale *= 0.5;
                stale = 0;
            }
        }
        let off: f64 = degree.iter().map(|d| f64::from(*d - 2).powi(2)).sum();
        if off == 0.0 {
            break;
        }
        let step = scale * (known_s - bound).max(0.01 * known_s.abs()) / off;
        for (price, degree) in price.iter_mut().zip(&degree) {
            *price += step * f64::from(*degree - 2);
        }
    }
    best.max(0.0)
}

/// Every photo but the last is followed by another, no sooner than the shutter allows.
fn shutter_s(tour: &Tour<'_>) -> f64 {
    (tour.len() - 1) as f64 * tour.motion.interval_s()
}

/// The least that a leg between two photos takes in any order and direction.
pub(super) fn least_s(tour: &Tour<'_>, a: usize, b: usize) -> f64 {
    let (from, to) = (&tour.stops[a], &tour.stops[b]);
    let rest = |a, b| tour.leg_s(None, Node::Stop(a), Node::Stop(b), None);
    let at_rest = rest(a, b).min(rest(b, a));
    if !tour.fly_through || tour.aims[a] != tour.aims[b] {
        return at_rest;
    }
    // In passing, at most as fast as either allows.
    let fastest = tour
        .motion
        .cruise_mps()
        .min(from.sharp_mps.max(to.sharp_mps));
    let distance = (to.station.place - from.station.place).norm();
    at_rest.min((distance / fastest).max(tour.motion.interval_s()))
}

/// The lightest 1-tree about the node that costs nothing, with the node prices taken off: a
/// spanning tree of all photos and the two cheapest edges to that node. Degrees of the photos.
fn tree(n: usize, cost: &impl Fn(usize, usize) -> f64, price: &[f64]) -> (f64, Vec<i32>) {
    let mut degree = vec![0i32; n];
    let mut nearest = vec![0usize; n];
    let mut distance = vec![f64::INFINITY; n];
    let mut is_in = vec![false; n];
    let mut weight = 0.0;
    let mut last = 0;
    is_in[0] = true;
    for _ in 1..n {
        let mut next = usize::MAX;
        for stop in 0..n {
            if is_in[stop] {
                continue;
            }
            let reach = cost(last, stop) + price[last] + price[stop];
            if reach < distance[stop] {
                distance[stop] = reach;
                nearest[stop] = last;
            }
            if next == usize::MAX || distance[stop] < distance[next] {
                next = stop;
            }
        }
        is_in[next] = true;
        weight += distance[next];
        degree[next] += 1;
        degree[nearest[next]] += 1;
        last = next;
    }
    let mut order: Vec<usize> = (0..n).collect();
    order.sort_by(|a, b| price[*a].total_cmp(&price[*b]).then(a.cmp(b)));
    for &end in &order[..2] {
        weight += price[end];
        degree[end] += 1;
    }
    let prices: f64 = price.iter().sum();
    (weight - 2.0 * prices, degree)
}
