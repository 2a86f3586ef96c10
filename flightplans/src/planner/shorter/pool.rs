//! All that may be chosen, and which of it matches.

use super::members::Members;
use crate::cover::{self, Costs, Demand, Problem, RowMates};
use crate::links::Seen;
use crate::planner::choose::Level;
use crate::planner::{Context, fly};
use crate::terrain::Relief;
use crate::tour::{Stop, Tour};
use std::cell::{Cell, OnceCell, RefCell};
use std::collections::{BTreeMap, HashMap};

/// Comparisons with a draft before a member is compared with all.
const OFTEN: u8 = 12;
/// Distances that count as the same, metres.
const SAME_HEIGHT_STEP_M: f64 = 0.05;
const OTHER_HEIGHT_STEP_M: f64 = 0.5;
/// The ways from home and back are flown, too, but the light changes between the photos.
pub(super) const WAYS_WEIGHT: f64 = 0.25;

/// One that may be chosen.
pub(super) struct Member {
    pub(super) level: usize,
    pub(super) index: usize,
    pub(super) stop: Stop,
}

/// All that may be chosen, and which of them match.
pub(in crate::planner) struct Pool<'a> {
    pub(super) context: &'a Context<'a>,
    pub(super) levels: &'a [Level],
    pub(super) members: Vec<Member>,
    seen: Vec<Seen>,
    /// By level and index; `None` for what may not be chosen.
    pub(super) number: Vec<Vec<Option<usize>>>,
    pub(super) is_fixed: Vec<bool>,
    mates: Vec<OnceCell<Members>>,
    /// Members of one bin and heading have the same kind; on flat ground two pairs of like kinds at
    /// like distances match alike.
    kinds: Vec<u32>,
    n_asked: Vec<Cell<u8>>,
    known: RefCell<HashMap<(u32, u32, i32, i32), bool>>,
    rows: Vec<Vec<RowMates>>,
    pub(super) is_oblique: Vec<bool>,
    is_flat: bool,
}

impl<'a> Pool<'a> {
    pub(in crate::planner) fn new(context: &'a Context<'a>, levels: &'a [Level]) -> Self {
        let is_oblique: Vec<bool> = context
            .bins
            .iter()
            .map(|bin| !bin.template.is_nadir())
            .collect();
        let mut pool = Self {
            context,
            levels,
            members: Vec::new(),
            seen: Vec::new(),
            number: Vec::new(),
            is_fixed: Vec::new(),
            mates: Vec::new(),
            kinds: Vec::new(),
            n_asked: Vec::new(),
            known: RefCell::default(),
            rows: levels
                .iter()
                .map(|level| cover::row_mates(&level.candidates))
                .collect(),
            is_oblique,
            is_flat: matches!(context.request.relief, Relief::Flat),
        };
        let mut kinds: BTreeMap<(usize, i64), u32> = BTreeMap::new();
        for (number, level) in levels.iter().enumerate() {
            let mut numbers = vec![None; level.candidates.len()];
            for (index, candidate) in level.candidates.iter().enumerate() {
                let fits = candidate.pattern == level.pattern || !pool.is_oblique[candidate.bin];
                let is_kept = level.kept.contains(&index);
                if !candidate.is_feasible() || !(fits || is_kept) || level.loose.contains(&index) {
                    continue;
                }
                let Some(seen) = level.seen(context, index).cloned() else {
                    continue;
                };
                numbers[index] = Some(pool.members.len());
                pool.members.push(Member {
                    level: number,
                    index,
                    stop: fly::stop(context, candidate),
                });
                let next = kinds.len() as u32;
                let yaw = (candidate.yaw_deg * 1e3).round() as i64;
                pool.kinds
                    .push(*kinds.entry((candidate.bin, yaw)).or_insert(next));
                pool.seen.push(seen);
                pool.is_fixed.push(is_kept);
                pool.mates.push(OnceCell::new());
                pool.n_asked.push(Cell::new(0));
            }
            pool.number.push(numbers);
        }
        pool
    }

    pub(super) fn mates(&self, member: usize) -> &Members {
        self.mates[member].get_or_init(|| {
            let mut mates = Members::none(self.seen.len());
            (0..self.seen.len())
                .filter(|other| *other != member && self.match_alike(member, *other))
                .for_each(|other| mates.insert(other));
            mates
        })
    }

    /// Whether two match, from a pair of the same kinds at about the same distance where one is
    /// known. Between heights about is half a metre: enough to search with, and what is found is
    /// checked at the end.
    pub(super) fn match_alike(&self, a: usize, b: usize) -> bool {
        let (seen_a, seen_b) = (&self.seen[a], &self.seen[b]);
        if !seen_a.may_match(seen_b) {
            return false;
        }
        if !self.is_flat {
            return seen_a.matches(seen_b);
        }
        let (a, b) = if self.kinds[a] <= self.kinds[b] {
            (a, b)
        } else {
            (b, a)
        };
        let step_m = if self.members[a].level == self.members[b].level {
            SAME_HEIGHT_STEP_M
        } else {
            OTHER_HEIGHT_STEP_M
        };
        let way =
            (self.members[b].stop.station.place - self.members[a].stop.station.place) / step_m;
        let mut key = (
            self.kinds[a],
            self.kinds[b],
            way.x.round() as i32,
            way.y.round() as i32,
        );
        if key.0 == key.1 && (key.2, key.3) < (0, 0) {
            (key.2, key.3) = (-key.2, -key.3);
        }
        if let Some(known) = self.known.borrow().get(&key) {
            return *known;
        }
        let found = self.seen[a].matches(&self.seen[b]);
        self.known.borrow_mut().insert(key, found);
        found
    }

    pub(super) fn allowed(&self, level: usize) -> Vec<bool> {
        self.number[level].iter().map(Option::is_some).collect()
    }

    pub(super) fn problem<'b>(
        &'b self,
        level: usize,
        allowed: &'b [bool],
        photo: f64,
        row: f64,
    ) -> Problem<'b> {
        let spec = self.context.request.spec;
        let costs = self.levels[level].costs;
        Problem {
            ground: &self.context.ground,
            candidates: &self.levels[level].candidates,
            allowed,
            is_oblique: &self.is_oblique,
            demand: Demand {
                views: spec.views.min_per_point as u8,
                headings: spec.views.min_headings as u8,
            },
            costs: Costs {
                photo_s: costs.photo_s * photo,
                row_s: costs.row_s * row,
                ..costs
            },
            n_headings: spec.bins.headings_deg.len(),
            rows: &self.rows[level],
        }
    }

    /// The order that is found for members, and its seconds.
    pub(super) fn flown(
        &self,
        members: &[usize],
        find: impl FnOnce(&Tour<'_>) -> Vec<usize>,
    ) -> (Vec<usize>, f64) {
        let stops: Vec<Stop> = members.iter().map(|m| self.members[*m].stop).collect();
        let tour = Tour::new(
            &stops,
            self.context.request.site.home,
            self.context.motion,
            self.context.airspace,
            self.context.request.spec.flight.fly_through,
        );
        let order = find(&tour);
        let flight_s = tour.weighed_s(&order, WAYS_WEIGHT);
        (order.iter().map(|stop| members[*stop]).collect(), flight_s)
    }

    /// Those of a set that match one.
    pub(super) fn mates_among(&self, member: usize, among: &Members) -> Members {
        // Who is asked about often is compared with everyone once.
        let n_asked = self.n_asked[member].get();
        if n_asked >= OFTEN {
            return self.mates(member).intersection(among);
        }
        self.n_asked[member].set(n_asked + 1);
        let mut mates = Members::none(self.members.len());
        among
            .iter()
            .filter(|other| *other != member && self.match_alike(member, *other))
            .for_each(|other| mates.insert(other));
        mates
    }
}
