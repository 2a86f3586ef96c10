//! The order of the photos and how long it takes.
//!
//! A leg leads from one photo to the next. A photo amid a straight row with one heading and pitch
//! is taken in passing; every other one from rest, after settling. What a leg takes therefore
//! depends on the photo before and the one after, and on nothing else.

mod bound;
mod improve;

pub(crate) use bound::order_bound_s;
pub(crate) use improve::{improved, shortest};

use crate::airspace::{Airspace, Station};
use crate::motion::{Aim, Motion, turn_deg};
use crate::plane::Place;
use std::cell::RefCell;
use std::collections::{BTreeMap, HashMap};

/// A row counts as straight when it bends by less than 3 degrees: the tangent.
const STRAIGHT_TANGENT: f64 = 0.052_4;

/// Up to this many stops all legs are tabled.
const MAX_TABLE_STOPS: usize = 2000;

/// A photo to take.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Stop {
    /// Where.
    pub(crate) station: Station,
    /// Heading and gimbal.
    pub(crate) aim: Aim,
    /// Fastest speed at which the picture is sharp.
    pub(crate) sharp_mps: f64,
    /// Its row and its number there, when it lies on a grid.
    pub(crate) row: Option<([usize; 3], usize)>,
}

/// The photos, how the drone moves, and the ways between them.
pub(crate) struct Tour<'a> {
    stops: &'a [Stop],
    home: Place,
    motion: Motion,
    airspace: &'a Airspace<'a>,
    fly_through: bool,
    /// Only where the straight way is blocked.
    ways: RefCell<HashMap<(usize, usize), Vec<Place>>>,
    /// Seconds of all legs from rest to rest and whether they are straight, where that is a table
    /// of bearable size.
    table: Option<Vec<(f64, bool)>>,
    /// Stops with the same heading, pitch and height have the same number.
    aims: Vec<usize>,
    out_s: Vec<f64>,
    back_s: Vec<f64>,
}

/// Home, or one of the stops.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Node {
    /// Take-off or landing.
    Home,
    /// A photo, by index.
    Stop(usize),
}

/// One leg as flown.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Leg {
    /// From photo to photo (from take-off, to landing), settling and waiting included.
    pub(crate) duration_s: f64,
    /// Metres of path.
    pub(crate) path_m: f64,
    /// Corners on the way.
    pub(crate) corners: Vec<Place>,
    /// Speed at its end; zero where it stops.
    pub(crate) end_mps: f64,
}

impl<'a> Tour<'a> {
    /// Stops with home and the airspace between them.
    #[must_use]
    pub(crate) fn new(
        stops: &'a [Stop],
        home: Place,
        motion: Motion,
        airspace: &'a Airspace<'a>,
        fly_through: bool,
    ) -> Self {
        let mut tour = Self {
            stops,
            home,
            motion,
            airspace,
            fly_through,
            ways: RefCell::default(),
            table: None,
            aims: aims(stops),
            out_s: Vec::new(),
            back_s: Vec::new(),
        };
        let n = stops.len();
        tour.out_s = (0..n).map(|to| tour.leg_out(to).duration_s).collect();
        tour.back_s = (0..n).map(|from| tour.leg_back(from).duration_s).collect();
        tour.table = (n <= MAX_TABLE_STOPS).then(|| {
            (0..n * n)
                .map(|at| tour.rest_to_rest(at / n, at % n))
                .collect()
        });
        tour
    }

    /// How many stops.
    #[must_use]
    pub(crate) fn len(&self) -> usize {
        self.stops.len()
    }

    /// The leg between two nodes, given those before and after.
    #[must_use]
    pub(crate) fn leg(
        &self,
        before: Option<Node>,
        from: Node,
        to: Node,
        after: Option<Node>,
    ) -> Leg {
        match (from, to) {
            (Node::Home, Node::Stop(to)) => self.leg_out(to),
            (Node::Stop(from), Node::Home) => self.leg_back(from),
            (Node::Stop(from), Node::Stop(to)) => self.between(before, from, to, after),
            (Node::Home, Node::Home) => Leg {
                duration_s: 0.0,
                path_m: 0.0,
                corners: Vec::new(),
                end_mps: 0.0,
            },
        }
    }

    /// Seconds of a leg: those of [`Self::leg`], without its path.
    fn leg_s(&self, before: Option<Node>, from: Node, to: Node, after: Option<Node>) -> f64 {
        match (from, to) {
            (Node::Home, Node::Stop(to)) => self.out_s[to],
            (Node::Stop(from), Node::Home) => self.back_s[from],
            (Node::Home, Node::Home) => 0.0,
            (Node::Stop(from), Node::Stop(to)) => {
                let start_mps = self.passing_mps(before, from, Some(Node::Stop(to)));
                let end_mps = self.passing_mps(Some(Node::Stop(from)), to, after);
                if start_mps > 0.0 || end_mps > 0.0 {
                    self.moving_s(from, to, start_mps, end_mps)
                } else {
                    self.rested(from, to).0
                }
            }
        }
    }

    /// Seconds from rest to rest, and whether the way is straight.
    fn rested(&self, from: usize, to: usize) -> (f64, bool) {
        match &self.table {
            Some(table) => table[from * self.stops.len() + to],
            None => self.rest_to_rest(from, to),
        }
    }

    fn rest_to_rest(&self, from: usize, to: usize) -> (f64, bool) {
        let (a, b) = (&self.stops[from], &self.stops[to]);
        let corners = self.corners(from, to);
        let legs_m = lengths(&a.station.place, &corners, &b.station.place);
        (
            self.motion.between_photos_s(&legs_m, &a.aim, &b.aim),
            corners.is_empty(),
        )
    }

    /// Seconds of a leg that starts or ends in passing.
    fn moving_s(&self, from: usize, to: usize, start_mps: f64, end_mps: f64) -> f64 {
        let (a, b) = (&self.stops[from].station, &self.stops[to].station);
        let path_m = (b.place - a.place).norm();
        let moving = between_speeds_s(path_m, start_mps, end_mps, self.motion.acceleration_mps2());
        let settling = if end_mps > 0.0 {
            0.0
        } else {
            self.motion.settle_s()
        };
        (moving + settling).max(self.motion.interval_s())
    }

    /// From take-off to landing.
    #[must_use]
    pub(crate) fn flight_s(&self, order: &[usize]) -> f64 {
        let at = |k: usize| node_at(order, k);
        (0..=order.len())
            .map(|k| {
                let after = (k < order.len()).then(|| at(k + 2));
                self.leg_s(k.checked_sub(1).map(at), at(k), at(k + 1), after)
            })
            .sum()
    }

    /// Seconds from the first to the last photo, and those of the ways there and back times a weight.
    #[must_use]
    pub(crate) fn weighed_s(&self, order: &[usize], weight: f64) -> f64 {
        let (Some(first), Some(last)) = (order.first(), order.last()) else {
            return 0.0;
        };
        self.flight_s(order) - (1.0 - weight) * (self.out_s[*first] + self.back_s[*last])
    }

    /// All legs from take-off to landing.
    #[must_use]
    pub(crate) fn legs(&self, order: &[usize]) -> Vec<Leg> {
        let at = |k: usize| node_at(order, k);
        (0..=order.len())
            .map(|k| {
                let before = k.checked_sub(1).map(at);
                let after = (k < order.len()).then(|| at(k + 2));
                self.leg(before, at(k), at(k + 1), after)
            })
            .collect()
    }

    /// Straight up, then to the first photo.
    fn leg_out(&self, to: usize) -> Leg {
        let stop = &self.stops[to];
        let overhead = Station {
            place: self.home,
            height_m: stop.station.height_m,
        };
        let (corners, legs_m) = self.way_between(&overhead, &stop.station);
        let motion = &self.motion;
        Leg {
            duration_s: motion.vertical_s(stop.station.height_m)
                + motion.travel_s(&legs_m, 0.0)
                + motion.settle_s(),
            path_m: stop.station.height_m.abs() + legs_m.iter().sum::<f64>(),
            corners,
            end_mps: 0.0,
        }
    }

    /// Over home, then straight down.
    fn leg_back(&self, from: usize) -> Leg {
        let station = self.stops[from].station;
        let overhead = Station {
            place: self.home,
            height_m: station.height_m,
        };
        let (corners, legs_m) = self.way_between(&station, &overhead);
        let motion = &self.motion;
        Leg {
            duration_s: motion.travel_s(&legs_m, 0.0) + motion.vertical_s(-station.height_m),
            path_m: station.height_m.abs() + legs_m.iter().sum::<f64>(),
            corners,
            end_mps: 0.0,
        }
    }

    fn way_between(&self, from: &Station, to: &Station) -> (Vec<Place>, Vec<f64>) {
        let corners = self.airspace.way(from, to).unwrap_or_default();
        let legs_m = lengths(&from.place, &corners, &to.place);
        (corners, legs_m)
    }

    /// Corners between two stops, remembered where there are any.
    fn corners(&self, from: usize, to: usize) -> Vec<Place> {
        let (a, b) = (&self.stops[from].station, &self.stops[to].station);
        let lowest_m = a.height_m.min(b.height_m);
        if self.airspace.is_clear(&a.place, &b.place, lowest_m) {
            return Vec::new();
        }
        let key = (from.min(to), from.max(to));
        let mut ways = self.ways.borrow_mut();
        let way = ways.entry(key).or_insert_with(|| {
            let (first, second) = (&self.stops[key.0].station, &self.stops[key.1].station);
            self.airspace.way(first, second).unwrap_or_default()
        });
        let mut way = way.clone();
        if from > to {
            way.reverse();
        }
        way
    }

    fn between(&self, before: Option<Node>, from: usize, to: usize, after: Option<Node>) -> Leg {
        let (a, b) = (&self.stops[from], &self.stops[to]);
        let corners = self.corners(from, to);
        let legs_m = lengths(&a.station.place, &corners, &b.station.place);
        let rise_m = b.station.height_m - a.station.height_m;
        let path_m = legs_m.iter().sum::<f64>().hypot(rise_m);
        let start_mps = self.passing_mps(before, from, Some(Node::Stop(to)));
        let end_mps = self.passing_mps(Some(Node::Stop(from)), to, after);
        let duration_s = if start_mps > 0.0 || end_mps > 0.0 {
            self.moving_s(from, to, start_mps, end_mps)
        } else {
            self.rested(from, to).0
        };
        Leg {
            duration_s,
            path_m,
            corners,
            end_mps,
        }
    }

    /// Speed at which a stop is passed; zero where it is taken from rest.
    fn passing_mps(&self, before: Option<Node>, at: usize, after: Option<Node>) -> f64 {
        let (Some(Node::Stop(before)), Some(Node::Stop(after))) = (before, after) else {
            return 0.0;
        };
        if !self.fly_through {
            return 0.0;
        }
        let (a, b, c) = (&self.stops[before], &self.stops[at], &self.stops[after]);
        if self.aims[before] != self.aims[at] || self.aims[at] != self.aims[after] {
            return 0.0;
        }
        let (to, on) = (
            b.station.place - a.station.place,
            c.station.place - b.station.place,
        );
        let nearest = to.norm().min(on.norm());
        if to.dot(&on) <= 0.0
            || to.perp(&on).abs() > STRAIGHT_TANGENT * to.dot(&on)
            || nearest <= 0.0
            || !self.rested(before, at).1
            || !self.rested(at, after).1
        {
            return 0.0;
        }
        let motion = &self.motion;
        // From rest at the neighbour this speed must be reached and the shutter be ready again.
        let reachable = (2.0 * motion.acceleration_mps2() * nearest).sqrt();
        let by_shutter = if motion.interval_s() > 0.0 {
            nearest / motion.interval_s()
        } else {
            f64::INFINITY
        };
        motion
            .cruise_mps()
            .min(b.sharp_mps)
            .min(by_shutter)
            .min(reachable)
    }
}

fn node_at(order: &[usize], k: usize) -> Node {
    match k.checked_sub(1).and_then(|index| order.get(index)) {
        Some(stop) => Node::Stop(*stop),
        None => Node::Home,
    }
}

/// Lengths of the straight parts of a way.
fn lengths(from: &Place, corners: &[Place], to: &Place) -> Vec<f64> {
    let mut lengths = Vec::with_capacity(corners.len() + 1);
    let mut last = from;
    for corner in corners.iter().chain([to]) {
        lengths.push((corner - last).norm());
        last = corner;
    }
    lengths
}

/// Numbers of the aims: heading to a thousandth of a degree, pitch, height to a decimetre.
fn aims(stops: &[Stop]) -> Vec<usize> {
    let rounded = |value: f64, parts: f64| (value * parts).round() as i64;
    let key = |stop: &Stop| {
        [
            rounded(stop.aim.yaw_deg, 1e3),
            rounded(stop.aim.pitch_deg, 1e3),
            rounded(stop.station.height_m, 10.0),
        ]
    };
    let mut numbers: BTreeMap<[i64; 3], usize> = BTreeMap::new();
    for stop in stops {
        let next = numbers.len();
        numbers.entry(key(stop)).or_insert(next);
    }
    stops.iter().map(|stop| numbers[&key(stop)]).collect()
}

/// Seconds over a distance between two speeds that are never exceeded: speeding up at once or
/// braking at the end.
fn between_speeds_s(distance_m: f64, start_mps: f64, end_mps: f64, acceleration_mps2: f64) -> f64 {
    let fastest = start_mps.max(end_mps);
    let ramp_s = (end_mps - start_mps).abs() / acceleration_mps2;
    let ramp_m = (end_mps * end_mps - start_mps * start_mps).abs() / (2.0 * acceleration_mps2);
    ramp_s + ((distance_m - ramp_m) / fastest).max(0.0)
}

#[cfg(test)]
mod tests;
