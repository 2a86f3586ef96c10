//! A short tour: nearest neighbour, then 2-opt and Or-opt moves with neighbour lists, then the same
//! from kicked copies of the best (iterated local search), all with the true leg times.

use super::{Node, Tour};
use rand_chacha::ChaCha8Rng;
use rand_core::{RngCore, SeedableRng};
use sha2::{Digest, Sha256};
use std::collections::{BTreeMap, BTreeSet};

/// Nearest stops that a stop's new neighbours are sought among.
const N_NEAREST: usize = 14;
/// The same on large sites, where there is time for no more.
const N_NEAREST_OF_MANY: usize = 6;
/// Longest chain that is moved as one.
const MAX_CHAIN: usize = 3;
/// A move must gain this much, or rounding could go in circles.
const MIN_GAIN_S: f64 = 1e-6;
/// Longest stretch that is reversed: its legs are all timed anew.
const MAX_REVERSED: usize = 400;
/// Stops within which a kick cuts and rejoins.
const KICK_SPAN: usize = 40;

/// A short order of all stops; `kicks` more tries after the first local best.
#[must_use]
pub(crate) fn shortest(tour: &Tour<'_>, kicks: u32) -> Vec<usize> {
    let n = tour.len();
    let nearest = nearest_lists(tour);
    let descended = |in_rows: bool| {
        let mut search = Search {
            tour,
            nearest: &nearest,
            order: by_nearest(tour, in_rows),
            place_of: vec![0; n],
        };
        search.index();
        search.descend((0..n).collect());
        search
    };
    let mut search = descended(true);
    // Large sites are flown in rows anyway.
    if n <= MAX_ALL_STOPS {
        let single = descended(false);
        if tour.flight_s(&single.order) < tour.flight_s(&search.order) {
            search = single;
        }
    }
    if n < 8 {
        return search.order;
    }
    let seed: [u8; 32] = Sha256::digest(b"flightplans tour").into();
    let mut random = ChaCha8Rng::from_seed(seed);
    let mut best_s = tour.flight_s(&search.order);
    for _ in 0..kicks {
        let before = search.order.clone();
        let touched = search.kick(&mut random);
        search.descend(touched);
        let found_s = tour.flight_s(&search.order);
        if found_s < best_s - MIN_GAIN_S {
            best_s = found_s;
        } else {
            search.order = before;
            search.index();
        }
    }
    search.order
}

/// A given order made shorter by single moves, at first about the stops that were touched.
#[must_use]
pub(crate) fn improved(tour: &Tour<'_>, order: Vec<usize>, touched: Vec<usize>) -> Vec<usize> {
    let n = tour.len();
    let nearest = nearest_lists(tour);
    let mut search = Search {
        tour,
        nearest: &nearest,
        order,
        place_of: vec![0; n],
    };
    search.index();
    search.descend(touched);
    search.order
}

struct Search<'a> {
    tour: &'a Tour<'a>,
    nearest: &'a [Vec<(f64, usize)>],
    order: Vec<usize>,
    place_of: Vec<usize>,
}

/// For each stop the nearest ones, by the least time that a leg to them takes. Sites of thousands of stops look only at those near on the map.
fn nearest_lists(tour: &Tour<'_>) -> Vec<Vec<(f64, usize)>> {
    let n = tour.len();
    let rough = |a: usize, b: usize| {
        let (a, b) = (&tour.stops[a], &tour.stops[b]);
        let rise = (a.station.height_m - b.station.height_m).abs();
        let turn = super::turn_deg(a.aim.yaw_deg, b.aim.yaw_deg);
        (a.station.place - b.station.place).norm() + 3.0 * rise + 0.1 * turn
    };
    let around = Around::of(tour);
    (0..n)
        .map(|stop| {
            let mut others: Vec<usize> = around.some(tour, stop);
            if others.len() > 6 * N_NEAREST {
                let key = |other: &usize| (rough(stop, *other), *other);
                let compare = |a: &usize, b: &usize| {
                    let ((ra, ia), (rb, ib)) = (key(a), key(b));
                    ra.total_cmp(&rb).then(ia.cmp(&ib))
                };
                others.select_nth_unstable_by(4 * N_NEAREST, compare);
                others.truncate(4 * N_NEAREST);
            }
            let mut timed: Vec<(f64, usize)> = others
                .into_iter()
                .map(|other| (super::bound::least_s(tour, stop, other), other))
                .collect();
            timed.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
            timed.truncate(if n > MAX_ALL_STOPS {
                N_NEAREST_OF_MANY
            } else {
                N_NEAREST
            });
            timed
        })
        .collect()
}

/// Side of the squares that stops are found by on large sites.
const SQUARE_M: f64 = 40.0;
/// Up to this many stops every one is looked at.
const MAX_ALL_STOPS: usize = 1500;

/// Stops by the square that they lie in.
struct Around {
    squares: BTreeMap<(i32, i32), Vec<usize>>,
}

impl Around {
    fn square(tour: &Tour<'_>, stop: usize) -> (i32, i32) {
        let place = tour.stops[stop].station.place / SQUARE_M;
        (place.x.floor() as i32, place.y.floor() as i32)
    }

    fn of(tour: &Tour<'_>) -> Self {
        let mut squares: BTreeMap<(i32, i32), Vec<usize>> = BTreeMap::new();
        for stop in 0..tour.len() {
            squares
                .entry(Self::square(tour, stop))
                .or_default()
                .push(stop);
        }
        Self { squares }
    }

    /// Enough other stops to find the nearest among: all, or those of the squares around.
    fn some(&self, tour: &Tour<'_>, stop: usize) -> Vec<usize> {
        let n = tour.len();
        if n <= MAX_ALL_STOPS {
            return (0..n).filter(|other| *other != stop).collect();
        }
        let (x, y) = Self::square(tour, stop);
        let mut found: Vec<usize> = Vec::new();
        for reach in 1..=8 {
            found.clear();
            for near_x in x - reach..=x + reach {
                for near_y in y - reach..=y + reach {
                    found.extend(self.squares.get(&(near_x, near_y)).into_iter().flatten());
                }
            }
            if found.len() > 8 * N_NEAREST {
                break;
            }
        }
        found.retain(|other| *other != stop);
        found
    }
}

/// Stretches of rows that are flown in one go: at least this many photos.
const MIN_ROW: usize = 3;
/// Numbers of a row that may be missing between two photos of a stretch.
const MAX_MISSING: usize = 2;

/// Photos as chains that stay together in a first order: stretches of rows, or each for itself.
fn chains(tour: &Tour<'_>, in_rows: bool) -> Vec<Vec<usize>> {
    let mut rows: BTreeMap<[usize; 3], Vec<(usize, usize)>> = BTreeMap::new();
    let mut chains = Vec::new();
    for (stop, at) in tour.stops.iter().enumerate() {
        match at.row {
            Some((row, number)) if in_rows => rows.entry(row).or_default().push((number, stop)),
            _ => chains.push(vec![stop]),
        }
    }
    for mut row in rows.into_values() {
        row.sort_unstable();
        let mut chain: Vec<usize> = Vec::new();
        let mut last = 0;
        for (number, stop) in row {
            if !chain.is_empty() && number > last + 1 + MAX_MISSING {
                end_chain(&mut chains, std::mem::take(&mut chain));
            }
            chain.push(stop);
            last = number;
        }
        end_chain(&mut chains, chain);
    }
    chains
}

fn end_chain(chains: &mut Vec<Vec<usize>>, chain: Vec<usize>) {
    if chain.len() >= MIN_ROW {
        chains.push(chain);
    } else {
        chains.extend(chain.into_iter().map(|stop| vec![stop]));
    }
}

/// Always the nearest chain left, by whichever end, lowest heights first.
fn by_nearest(tour: &Tour<'_>, in_rows: bool) -> Vec<usize> {
    let chains = chains(tour, in_rows);
    let mut left = ChainEnds::of(tour, &chains);
    let mut order: Vec<usize> = Vec::with_capacity(tour.len());
    while let Some((number, is_back)) = left.nearest(tour, &chains, order.last().copied()) {
        left.remove(tour, &chains, number);
        let chain = chains[number].iter().copied();
        if is_back {
            order.extend(chain.rev());
        } else {
            order.extend(chain);
        }
    }
    order
}

/// The chains left, by the squares that their ends lie in.
struct ChainEnds {
    squares: BTreeMap<(i32, i32), BTreeSet<usize>>,
    n_left: usize,
}

impl ChainEnds {
    fn of(tour: &Tour<'_>, chains: &[Vec<usize>]) -> Self {
        let mut squares: BTreeMap<(i32, i32), BTreeSet<usize>> = BTreeMap::new();
        for (number, chain) in chains.iter().enumerate() {
            for end in ends(chain) {
                let square = squares.entry(Around::square(tour, end)).or_default();
                square.insert(number);
            }
        }
        Self {
            squares,
            n_left: chains.len(),
        }
    }

    fn remove(&mut self, tour: &Tour<'_>, chains: &[Vec<usize>], number: usize) {
        for end in ends(&chains[number]) {
            if let Some(square) = self.squares.get_mut(&Around::square(tour, end)) {
                square.remove(&number);
            }
        }
        self.n_left -= 1;
    }

    /// The chain whose end is nearest, and whether that is its last: squares further and further
    /// away are looked at until nothing nearer can be in them.
    fn nearest(
        &self,
        tour: &Tour<'_>,
        chains: &[Vec<usize>],
        here: Option<usize>,
    ) -> Option<(usize, bool)> {
        if self.n_left == 0 {
            return None;
        }
        let place = here.map_or(tour.home, |here| tour.stops[here].station.place) / SQUARE_M;
        let middle = (place.x.floor() as i32, place.y.floor() as i32);
        let mut best: Option<(f64, usize, usize, bool)> = None;
        let mut reach = 0;
        loop {
            let within = reached(&self.squares, middle, reach);
            for &number in within.values().flat_map(|square| square.iter()) {
                let chain = &chains[number];
                let [first, last] = ends(chain);
                let (forward, back) = (rough_s(tour, here, first), rough_s(tour, here, last));
                let found = (forward.min(back), first, number, back < forward);
                if best.is_none_or(|best| (found.0, found.1) < (best.0, best.1)) {
                    best = Some(found);
                }
            }
            let is_sure = best.is_some_and(|best| best.0 <= f64::from(reach) * SQUARE_M);
            if is_sure || reach > MAX_REACH {
                return best.map(|(_, _, number, is_back)| (number, is_back));
            }
            reach = (2 * reach).max(1);
        }
    }
}

/// Squares to every side beyond which there is nothing.
const MAX_REACH: i32 = 4096;

/// The squares within a reach of one.
fn reached(
    squares: &BTreeMap<(i32, i32), BTreeSet<usize>>,
    (x, y): (i32, i32),
    reach: i32,
) -> BTreeMap<(i32, i32), &BTreeSet<usize>> {
    let columns = squares.range((x - reach, i32::MIN)..=(x + reach, i32::MAX));
    columns
        .filter(|((_, row), _)| (y - reach..=y + reach).contains(row))
        .map(|(square, chains)| (*square, chains))
        .collect()
}

fn ends(chain: &[usize]) -> [usize; 2] {
    [chain[0], chain[chain.len() - 1]]
}

/// How far a stop is from another one or from home, for first orders: metres, with climbs and turns
/// counted as some.
fn rough_s(tour: &Tour<'_>, here: Option<usize>, stop: usize) -> f64 {
    let to = &tour.stops[stop];
    let (place, height_m, yaw_deg, pitch_deg) = match here {
        None => (tour.home, 0.0, to.aim.yaw_deg, to.aim.pitch_deg),
        Some(here) => {
            let from = &tour.stops[here];
            (
                from.station.place,
                from.station.height_m,
                from.aim.yaw_deg,
                from.aim.pitch_deg,
            )
        }
    };
    (to.station.place - place).norm()
        + 10.0 * (to.station.height_m - height_m).abs()
        + 0.05 * super::turn_deg(yaw_deg, to.aim.yaw_deg)
        + 0.02 * (pitch_deg - to.aim.pitch_deg).abs()
}

impl Search<'_> {
    fn index(&mut self) {
        for (place, stop) in self.order.iter().enumerate() {
            self.place_of[*stop] = place;
        }
    }

    /// Moves until none of the stops in the queue, or touched on the way, gains any more.
    fn descend(&mut self, mut queue: Vec<usize>) {
        let mut is_queued = vec![false; self.order.len()];
        queue.reverse();
        queue.iter().for_each(|stop| is_queued[*stop] = true);
        while let Some(stop) = queue.pop() {
            is_queued[stop] = false;
            while let Some(touched) = self.improve(stop) {
                for stop in touched {
                    if !std::mem::replace(&mut is_queued[stop], true) {
                        queue.push(stop);
                    }
                }
            }
        }
    }

    /// One gaining move that brings a stop next to one of its nearest; the stops at its cuts.
    fn improve(&mut self, stop: usize) -> Option<Vec<usize>> {
        let nearest = self.nearest;
        // A new leg pays only when it is shorter than one of the two that it replaces, or makes a
        // row whose ends need no settling.
        let here = self.place_of[stop];
        let longest =
            self.leg_at_s(here).max(self.leg_at_s(here + 1)) + self.tour.motion.settle_s();
        for &(least_s, other) in &nearest[stop] {
            if least_s >= longest {
                break;
            }
            let (i, j) = (self.place_of[stop], self.place_of[other]);
            for (first, last) in [
                (i.min(j) + 1, i.max(j)),
                (i.min(j), i.max(j).saturating_sub(1)),
            ] {
                if first < last && self.try_reversal(first, last) {
                    return Some(self.around(&[first, last]));
                }
            }
            if let Some(touched) = self.try_chains(i, j) {
                return Some(touched);
            }
        }
        None
    }

    /// Seconds of the leg to a place; to home after the last.
    fn leg_at_s(&self, place: usize) -> f64 {
        let at = |k: usize| super::node_at(&self.order, k);
        let after = (place < self.order.len()).then(|| at(place + 2));
        let before = place.checked_sub(1).map(at);
        self.tour.leg_s(before, at(place), at(place + 1), after)
    }

    /// Moves a chain that starts or ends at place i next to place j, either way round.
    fn try_chains(&mut self, i: usize, j: usize) -> Option<Vec<usize>> {
        for length in 1..=MAX_CHAIN {
            for first in [i, (i + 1).saturating_sub(length)] {
                let end = first + length;
                if end > self.order.len() || (first..end).contains(&j) {
                    continue;
                }
                for gap in [j, j + 1] {
                    if (first..=end).contains(&gap) {
                        continue;
                    }
                    for reversed in [false, true] {
                        if self.try_chain(first, end, gap, reversed) {
                            return Some(self.around(&[
                                first.min(gap),
                                end.max(gap).saturating_sub(1),
                                self.place_of_gap(first, end, gap),
                            ]));
                        }
                    }
                }
            }
        }
        None
    }

    fn place_of_gap(&self, first: usize, end: usize, gap: usize) -> usize {
        if gap <= first {
            gap + (end - first)
        } else {
            gap - (end - first)
        }
    }

    fn around(&self, places: &[usize]) -> Vec<usize> {
        let mut stops = Vec::new();
        for &place in places {
            let last = self.order.len() - 1;
            for near in place.saturating_sub(2)..=(place + 2).min(last) {
                stops.push(self.order[near]);
            }
        }
        stops
    }

    fn try_reversal(&mut self, first: usize, last: usize) -> bool {
        let order = &self.order;
        let new = |k: usize| {
            if (first..=last).contains(&k) {
                order[first + last - k]
            } else {
                order[k]
            }
        };
        if last - first > MAX_REVERSED
            || self.gain_s(&new, &[(first, last + 1)], &[(first, last + 1)]) <= MIN_GAIN_S
        {
            return false;
        }
        self.order[first..=last].reverse();
        for place in first..=last {
            self.place_of[self.order[place]] = place;
        }
        true
    }

    fn try_chain(&mut self, first: usize, end: usize, gap: usize, reversed: bool) -> bool {
        let order = &self.order;
        let length = end - first;
        let (low, high) = (first.min(gap), end.max(gap));
        let start = if gap <= first { gap } else { gap - length };
        let new = |k: usize| {
            if !(low..high).contains(&k) {
                order[k]
            } else if (start..start + length).contains(&k) {
                let within = k - start;
                order[if reversed {
                    end - 1 - within
                } else {
                    first + within
                }]
            } else if gap <= first {
                order[k - length]
            } else {
                order[k + length]
            }
        };
        // Where the chain is and where it comes to, and the other end of what shifts for it.
        let far = if gap <= first { low } else { high };
        let near = if gap <= first { high } else { low };
        let gain = self.gain_s(
            &new,
            &[(first, end), (far, far)],
            &[(start, start + length), (near, near)],
        );
        if gain <= MIN_GAIN_S {
            return false;
        }
        let moved: Vec<usize> = (low..high).map(new).collect();
        self.order[low..high].copy_from_slice(&moved);
        for place in low..high {
            self.place_of[self.order[place]] = place;
        }
        true
    }

    /// What a new order saves: the legs of the old one in stretches of places (both ends included)
    /// and one leg around, less those of the new one in its own stretches. A leg takes another time
    /// backwards (settling, climbing), so whatever is reversed must lie in a stretch; what only
    /// shifts costs the same and must lie in none, or be as long in both.
    fn gain_s(
        &self,
        new: &impl Fn(usize) -> usize,
        old_stretches: &[(usize, usize)],
        new_stretches: &[(usize, usize)],
    ) -> f64 {
        let old = |k: usize| self.order[k];
        self.legs_s(&old, old_stretches) - self.legs_s(new, new_stretches)
    }

    /// Leg k leads to place k from the one before; home is before place 0 and after the last.
    fn legs_s(&self, order: &impl Fn(usize) -> usize, stretches: &[(usize, usize)]) -> f64 {
        let n = self.order.len();
        let node = |at: usize| match at.checked_sub(1) {
            Some(place) if place < n => Node::Stop(order(place)),
            _ => Node::Home,
        };
        let is_before = |k: usize, done: &[(usize, usize)]| {
            done.iter()
                .any(|(first, last)| k + 1 >= *first && k <= *last + 1)
        };
        let mut sum = 0.0;
        for (index, &(first, last)) in stretches.iter().enumerate() {
            for k in first.saturating_sub(1)..=(last + 1).min(n) {
                if is_before(k, &stretches[..index]) {
                    continue;
                }
                let before = k.checked_sub(1).map(node);
                let after = (k < n).then(|| node(k + 2));
                sum += self.tour.leg_s(before, node(k), node(k + 1), after);
            }
        }
        sum
    }

    /// Cuts a stretch in four and swaps the middle two; the stops at the cuts.
    fn kick(&mut self, random: &mut ChaCha8Rng) -> Vec<usize> {
        let n = self.order.len();
        let pick = |random: &mut ChaCha8Rng, n: usize| (random.next_u64() % n as u64) as usize;
        let span = KICK_SPAN.min(n - 1);
        let start = pick(random, n - span);
        let mut cuts: Vec<usize> = (0..3).map(|_| start + pick(random, span + 1)).collect();
        cuts.sort_unstable();
        let (a, b, c) = (cuts[0], cuts[1], cuts[2]);
        self.order[a..c].rotate_left(b - a);
        for place in a..c {
            self.place_of[self.order[place]] = place;
        }
        let last = n - 1;
        self.around(&[a.min(last), (a + c - b).min(last), c.min(last)])
    }
}
