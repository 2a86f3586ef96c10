//! A shorter flight with the same promise: photos are taken out about a place and chosen anew for
//! views, links and way together, and what flies shorter is kept (large neighbourhood search).

mod draft;
mod members;
mod pool;

pub(super) use pool::Pool;

use crate::cover::Problem;
use crate::links::MIN_NEIGHBOURS;
use crate::tour::{self, Stop};
use draft::Draft;
use members::Members;
use pool::{Member, WAYS_WEIGHT};
use rand_chacha::ChaCha8Rng;
use rand_core::{RngCore, SeedableRng};
use sha2::{Digest, Sha256};
use std::collections::{BTreeMap, HashMap};

/// Photos taken out at a time: at least, and up to this many more.
const RUIN_FROM: usize = 6;
const RUIN_MORE: usize = 22;
/// Costs are varied by up to this share so that no two choices are made by the same rule.
const COST_NOISE: f64 = 0.5;
/// How much longer than the present flight a new one may be at the start, seconds.
const START_TOLERANCE_S: f64 = 5.0;
/// Kicks of the first order.
const FIRST_KICKS: u32 = 40;
/// A new draft that is so much longer before its order is improved is left, seconds.
const HOPELESS_S: f64 = 40.0;

impl Pool<'_> {
    /// The shortest plan found from a start, in the order of its flight.
    pub(super) fn shorter(
        &self,
        start: &[(usize, usize)],
        rounds: u32,
    ) -> Option<Vec<(usize, usize)>> {
        let members: Option<Vec<usize>> = start
            .iter()
            .map(|(level, index)| self.number[*level][*index])
            .collect();
        let allowed: Vec<Vec<bool>> = (0..self.levels.len()).map(|l| self.allowed(l)).collect();
        let mut now = self.draft(&members?, &allowed);
        let mut best = now.clone();
        let seed: [u8; 32] = Sha256::digest(b"flightplans shorter").into();
        let mut random = ChaCha8Rng::from_seed(seed);
        for round in 0..rounds {
            let progress = self.context.request.progress;
            if progress.is_some_and(|goes_on| !goes_on(round, rounds)) {
                break;
            }
            let Some(next) = self.rebuilt(&now, &allowed, &mut random) else {
                continue;
            };
            let left = 1.0 - f64::from(round) / f64::from(rounds);
            let tolerance_s = START_TOLERANCE_S * left * left * unit(&mut random);
            if next.flight_s < now.flight_s + tolerance_s {
                now = next;
                if now.flight_s < best.flight_s - 1e-6 {
                    best = now.clone();
                }
            }
        }
        Some(
            best.order
                .iter()
                .map(|member| (self.members[*member].level, self.members[*member].index))
                .collect(),
        )
    }

    fn draft(&self, members: &[usize], allowed: &[Vec<bool>]) -> Draft {
        let mut is_in = Members::none(self.members.len());
        members.iter().for_each(|member| is_in.insert(*member));
        let mates = members
            .iter()
            .map(|member| (*member, self.mates_among(*member, &is_in)))
            .collect();
        let views = (0..self.levels.len())
            .map(|level| {
                let own = members.iter().map(|m| &self.members[*m]);
                let own = own.filter(|m| m.level == level).map(|m| m.index);
                self.problem(level, &allowed[level], 1.0, 1.0).counted(own)
            })
            .collect();
        let (order, flight_s) = self.flown(members, |tour| tour::shortest(tour, FIRST_KICKS));
        Draft {
            order,
            is_in,
            mates,
            views,
            flight_s,
        }
    }

    /// The order of a draft made shorter about what is new in it.
    fn reordered(&self, draft: &mut Draft, before: &Draft) {
        let old = |k: usize| before.is_in.has(draft.order[k]);
        let successor: HashMap<usize, usize> = before
            .order
            .windows(2)
            .map(|pair| (pair[0], pair[1]))
            .collect();
        let n = draft.order.len();
        let is_joint_new =
            |k: usize| k + 1 < n && successor.get(&draft.order[k]) != Some(&draft.order[k + 1]);
        let touched: Vec<usize> = (0..n)
            .filter(|&k| !old(k) || is_joint_new(k) || k > 0 && is_joint_new(k - 1))
            .collect();
        let (order, flight_s) = self.flown(&draft.order, |tour| {
            let start: Vec<usize> = (0..tour.len()).collect();
            if tour.weighed_s(&start, WAYS_WEIGHT) > before.flight_s + HOPELESS_S {
                return start;
            }
            tour::improved(tour, start, touched)
        });
        draft.order = order;
        draft.flight_s = flight_s;
    }

    fn rebuilt(
        &self,
        now: &Draft,
        allowed: &[Vec<bool>],
        random: &mut ChaCha8Rng,
    ) -> Option<Draft> {
        let mut draft = now.clone();
        let problems: Vec<Problem<'_>> = allowed
            .iter()
            .enumerate()
            .map(|(level, allowed)| {
                let mut vary = || 1.0 + COST_NOISE * (2.0 * unit(random) - 1.0);
                let (photo, row) = (vary(), vary());
                self.problem(level, allowed, photo, row)
            })
            .collect();
        for member in self.ruined(&draft, random) {
            self.take_out(&mut draft, &problems, member);
        }
        let links_first = random.next_u32().is_multiple_of(2);
        if links_first && !self.link(&mut draft, &problems) {
            return None;
        }
        self.fill(&mut draft, &problems);
        if !self.link(&mut draft, &problems) {
            return None;
        }
        self.thin(&mut draft, &problems, random);
        self.reordered(&mut draft, now);
        Some(draft)
    }

    /// Which photos go: a stretch of the flight, those about a place at one height, or any.
    fn ruined(&self, draft: &Draft, random: &mut ChaCha8Rng) -> Vec<usize> {
        let n = draft.order.len();
        let how_many = (RUIN_FROM + pick(random, RUIN_MORE)).min(n);
        let centre = draft.order[pick(random, n)];
        let mut chosen: Vec<usize> = match random.next_u32() % 3 {
            0 => {
                let start = pick(random, n - how_many + 1);
                draft.order[start..start + how_many].to_vec()
            }
            way => {
                let at = &self.members[centre].stop;
                let mut by_distance = draft.order.clone();
                let distance = |member: &usize| {
                    let other = &self.members[*member].stop;
                    let rise = (other.station.height_m - at.station.height_m).abs();
                    let tilt = (other.aim.pitch_deg - at.aim.pitch_deg).abs();
                    (other.station.place - at.station.place).norm()
                        + if way == 1 {
                            0.3 * rise
                        } else {
                            3.0 * rise + tilt
                        }
                };
                by_distance.sort_by(|a, b| distance(a).total_cmp(&distance(b)).then(a.cmp(b)));
                by_distance.truncate(how_many);
                by_distance
            }
        };
        chosen.retain(|member| !self.is_fixed[*member]);
        chosen
    }

    fn take_out(&self, draft: &mut Draft, problems: &[Problem<'_>], member: usize) {
        let Member { level, index, .. } = self.members[member];
        problems[level].remove(&mut draft.views[level], index);
        draft.is_in.remove(member);
        if let Some(mates) = draft.mates.remove(&member) {
            for mate in mates.iter() {
                if let Some(others) = draft.mates.get_mut(&mate) {
                    others.remove(member);
                }
            }
        }
        draft.order.retain(|other| *other != member);
    }

    fn put_in(&self, draft: &mut Draft, member: usize) {
        let mates = self.mates_among(member, &draft.is_in);
        draft.is_in.insert(member);
        for mate in mates.iter() {
            if let Some(others) = draft.mates.get_mut(&mate) {
                others.insert(member);
            }
        }
        draft.mates.insert(member, mates);
        let at = self.cheapest_gap(&draft.order, member);
        draft.order.insert(at, member);
    }

    /// Where in the order a member makes the shortest way more: by rest-to-rest times, since the
    /// order is improved afterwards.
    fn cheapest_gap(&self, order: &[usize], member: usize) -> usize {
        let motion = &self.context.motion;
        let stop = &self.members[member].stop;
        let between = |a: &Stop, b: &Stop| {
            let leg = (a.station.place - b.station.place).norm();
            motion.between_photos_s(&[leg], &a.aim, &b.aim)
        };
        let mut best = (f64::INFINITY, order.len());
        for gap in 0..=order.len() {
            let before = gap.checked_sub(1).map(|k| &self.members[order[k]].stop);
            let after = order.get(gap).map(|m| &self.members[*m].stop);
            let more = before.map_or(5.0, |a| between(a, stop))
                + after.map_or(5.0, |b| between(stop, b))
                - before.zip(after).map_or(0.0, |(a, b)| between(a, b));
            if more < best.0 {
                best = (more, gap);
            }
        }
        best.1
    }

    fn fill(&self, draft: &mut Draft, problems: &[Problem<'_>]) {
        for (level, problem) in problems.iter().enumerate() {
            for index in problem.filled(&mut draft.views[level]) {
                if let Some(member) = self.number[level][index] {
                    self.put_in(draft, member);
                }
            }
        }
    }

    /// Adds linking photos until the draft hangs together; false where nothing helps.
    fn link(&self, draft: &mut Draft, problems: &[Problem<'_>]) -> bool {
        // Offers with those of the draft that match them.
        let mut offers: BTreeMap<usize, Members> = BTreeMap::new();
        loop {
            let largest = draft.largest_group();
            let wanting: Vec<usize> = draft
                .is_in
                .iter()
                .filter(|m| !largest.has(*m) || draft.degree(*m) < MIN_NEIGHBOURS)
                .collect();
            if wanting.is_empty() {
                return true;
            }
            let best = self.most_useful(draft, problems, &largest, &wanting, &mut offers);
            let Some(member) = best else {
                return false;
            };
            let Member { level, index, .. } = self.members[member];
            problems[level].add(&mut draft.views[level], index);
            self.put_in(draft, member);
            offers.remove(&member);
            for (offer, mates) in &mut offers {
                if self.match_alike(*offer, member) {
                    mates.insert(member);
                }
            }
        }
    }

    fn most_useful(
        &self,
        draft: &Draft,
        problems: &[Problem<'_>],
        largest: &Members,
        wanting: &[usize],
        offers: &mut BTreeMap<usize, Members>,
    ) -> Option<usize> {
        let mut wanted = Members::none(self.members.len());
        let mut short = wanted.clone();
        for &member in wanting {
            if draft.degree(member) < MIN_NEIGHBOURS {
                short.insert(member);
            }
            wanted.add_all(self.mates(member));
        }
        let apart = draft.is_in.without(largest);
        let mut best: Option<(f64, usize)> = None;
        for offer in wanted.without(&draft.is_in).iter() {
            let mates = offers
                .entry(offer)
                .or_insert_with(|| self.mates_among(offer, &draft.is_in));
            let (helped, n_mates) = (mates.n_common(&short), mates.n_common(&draft.is_in));
            let n_apart = mates.n_common(&apart);
            // It joins groups when some of its mates are in the largest and others are not.
            let joins = usize::from(n_apart > 0 && n_mates > n_apart);
            let own_want = MIN_NEIGHBOURS.saturating_sub(n_mates);
            let Member { level, index, .. } = self.members[offer];
            let views = problems[level].gain(&draft.views[level], index);
            let worth = 4.0 * joins as f64 + helped as f64 - 0.25 * own_want as f64
                + views as f64 / self.context.ground.len() as f64;
            let worth = worth / problems[level].price_s(&draft.views[level], index);
            if worth > 0.0 && best.is_none_or(|(most, _)| worth > most) {
                best = Some((worth, offer));
            }
        }
        best.map(|(_, offer)| offer)
    }

    /// Takes out what neither views nor links need, in random order but those alone at their place
    /// first.
    fn thin(&self, draft: &mut Draft, problems: &[Problem<'_>], random: &mut ChaCha8Rng) {
        let mut queue: Vec<(f64, usize)> = (0..draft.order.len())
            .map(|k| {
                (
                    self.saving_s(&draft.order, k) * (0.5 + unit(random)),
                    draft.order[k],
                )
            })
            .filter(|(_, member)| !self.is_fixed[*member])
            .collect();
        queue.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
        for (_, member) in queue {
            let Member { level, index, .. } = self.members[member];
            if problems[level].is_superfluous(&draft.views[level], index)
                && draft.holds_without(member)
            {
                self.take_out(draft, problems, member);
            }
        }
    }

    fn saving_s(&self, order: &[usize], k: usize) -> f64 {
        let motion = &self.context.motion;
        let between = |a: usize, b: usize| {
            let (a, b) = (&self.members[a].stop, &self.members[b].stop);
            let leg = (a.station.place - b.station.place).norm();
            motion.between_photos_s(&[leg], &a.aim, &b.aim)
        };
        let before = k.checked_sub(1).map(|k| order[k]);
        let after = order.get(k + 1).copied();
        before.map_or(5.0, |a| between(a, order[k])) + after.map_or(5.0, |b| between(order[k], b))
            - before.zip(after).map_or(0.0, |(a, b)| between(a, b))
    }
}

/// In [0, 1).
fn unit(random: &mut ChaCha8Rng) -> f64 {
    f64::from(random.next_u32()) / 4_294_967_296.0
}

/// Below n.
fn pick(random: &mut ChaCha8Rng, n: usize) -> usize {
    (random.next_u64() % n.max(1) as u64) as usize
}
