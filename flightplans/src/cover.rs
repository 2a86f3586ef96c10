//! Which candidates give every point its views at the least cost: greedy choice by gain a second,
//! taking back what became superfluous, and repeated partial rebuilding.

use crate::candidates::{Candidate, Slot};
use crate::ground::{Ground, PointSet};
use rand_chacha::ChaCha8Rng;
use rand_core::{RngCore, SeedableRng};
use sha2::{Digest, Sha256};
use std::cmp::Ordering;
use std::collections::{BTreeMap, BinaryHeap};

/// What every point needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Demand {
    /// Views in every bin.
    pub(crate) views: u8,
    /// Different headings among them in oblique bins.
    pub(crate) headings: u8,
}

/// What photos cost, seconds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Costs {
    /// A photo more where the drone is anyway.
    pub(crate) photo_s: f64,
    /// Another heading at the same place.
    pub(crate) turn_s: f64,
    /// Another place.
    pub(crate) place_s: f64,
    /// A photo that goes on a row of the same heading and pitch, taken in passing.
    pub(crate) row_s: f64,
}

/// The problem of one height.
pub(crate) struct Problem<'a> {
    /// The points.
    pub(crate) ground: &'a Ground,
    /// What may be chosen.
    pub(crate) candidates: &'a [Candidate],
    /// Which of them, by index; only these.
    pub(crate) allowed: &'a [bool],
    /// Bins that have headings.
    pub(crate) is_oblique: &'a [bool],
    /// What every point needs.
    pub(crate) demand: Demand,
    /// What photos cost.
    pub(crate) costs: Costs,
    /// How many headings there are.
    pub(crate) n_headings: usize,
    /// For each candidate those before and behind it in its rows.
    pub(crate) rows: &'a [RowMates],
}

/// Candidates of the same bin and heading in line with one, near enough to be taken in passing.
#[derive(Clone, Debug, Default)]
pub(crate) struct RowMates {
    before: Vec<u32>,
    behind: Vec<u32>,
}

/// Grid steps over which a row is still one.
const ROW_GAP: usize = 2;

/// The slots before and behind one in its rows, near enough to be taken in passing.
pub(crate) fn slots_beside(slot: Slot) -> Vec<Slot> {
    let Slot::Grid(heading, row, column) = slot else {
        return Vec::new();
    };
    (1..=ROW_GAP)
        .flat_map(|gap| {
            [
                column
                    .checked_sub(gap)
                    .map(|column| Slot::Grid(heading, row, column)),
                row.checked_sub(gap)
                    .map(|row| Slot::Grid(heading, row, column)),
                Some(Slot::Grid(heading, row, column + gap)),
                Some(Slot::Grid(heading, row + gap, column)),
            ]
        })
        .flatten()
        .collect()
}

/// The row mates of all candidates.
pub(crate) fn row_mates(candidates: &[Candidate]) -> Vec<RowMates> {
    let at: BTreeMap<(usize, Slot), usize> = candidates
        .iter()
        .enumerate()
        .map(|(index, candidate)| ((candidate.bin, candidate.slot), index))
        .collect();
    let mates = |candidate: &Candidate| {
        let mut mates = RowMates::default();
        for slot in slots_beside(candidate.slot) {
            let Some(index) = at.get(&(candidate.bin, slot)) else {
                continue;
            };
            if slot < candidate.slot {
                mates.before.push(*index as u32);
            } else {
                mates.behind.push(*index as u32);
            }
        }
        mates
    };
    candidates.iter().map(mates).collect()
}

/// A choice with its counts.
#[derive(Clone)]
pub(crate) struct Choice {
    chosen: Vec<bool>,
    /// Photos by place, then by heading there.
    at_place: Vec<Vec<u16>>,
    bins: Vec<Option<BinCounts>>,
}

#[derive(Clone)]
struct BinCounts {
    /// Views by heading: `[heading][point]`.
    by_heading: Vec<Vec<u8>>,
    total: Vec<u8>,
    /// Points with too few views.
    need: PointSet,
    /// Points with too few headings that lack this one.
    lacks: Vec<PointSet>,
}

/// An entry of the queue; its gain may be out of date.
#[derive(PartialEq)]
struct Entry {
    worth: f64,
    candidate: usize,
}

impl Eq for Entry {}

impl Ord for Entry {
    fn cmp(&self, other: &Self) -> Ordering {
        self.worth
            .total_cmp(&other.worth)
            .then(other.candidate.cmp(&self.candidate))
    }
}

impl PartialOrd for Entry {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Problem<'_> {
    /// A cheap choice that gives every point what can be given, on top of what is `kept` in any
    /// case; `rounds` of rebuilding make it cheaper.
    #[must_use]
    pub(crate) fn solve(&self, kept: &[usize], rounds: u32) -> Vec<usize> {
        let mut best = self.counted(kept.iter().copied());
        self.fill(&mut best);
        self.thin(&mut best, kept);
        let mut best_cost = self.cost_s(&best);
        let seed: [u8; 32] = Sha256::digest(b"flightplans cover").into();
        let mut random = ChaCha8Rng::from_seed(seed);
        for _ in 0..rounds {
            let mut trial = best.clone();
            self.ruin(&mut trial, kept, &mut random);
            self.fill(&mut trial);
            self.thin(&mut trial, kept);
            let cost = self.cost_s(&trial);
            if cost < best_cost {
                (best, best_cost) = (trial, cost);
            }
        }
        (0..self.candidates.len())
            .filter(|index| best.chosen[*index])
            .collect()
    }

    /// The counts of a choice.
    #[must_use]
    pub(crate) fn counted(&self, chosen: impl IntoIterator<Item = usize>) -> Choice {
        let mut choice = self.empty();
        chosen
            .into_iter()
            .for_each(|index| self.add(&mut choice, index));
        choice
    }

    /// Seconds of a choice by [`Costs`].
    #[must_use]
    pub(crate) fn cost_of(&self, chosen: &[usize]) -> f64 {
        self.cost_s(&self.counted(chosen.iter().copied()))
    }

    /// Points that still lack something, by bin.
    #[must_use]
    pub(crate) fn unmet(&self, chosen: &[usize]) -> Vec<usize> {
        self.counted(chosen.iter().copied())
            .bins
            .iter()
            .map(|bin| match bin {
                None => 0,
                Some(bin) => {
                    bin.need.len() + bin.lacks.iter().map(PointSet::len).max().unwrap_or(0)
                }
            })
            .collect()
    }

    fn empty(&self) -> Choice {
        let n_places = self.candidates.iter().map(|c| c.place_index + 1).max();
        let mut bins: Vec<Option<BinCounts>> = vec![None; self.is_oblique.len()];
        for candidate in self.candidates {
            let is_oblique = self.is_oblique[candidate.bin];
            bins[candidate.bin].get_or_insert_with(|| BinCounts {
                by_heading: vec![vec![0; self.ground.table_len()]; self.n_headings],
                total: vec![0; self.ground.table_len()],
                need: self.ground.all().clone(),
                lacks: if is_oblique && self.demand.headings > 1 {
                    vec![self.ground.all().clone(); self.n_headings]
                } else {
                    Vec::new()
                },
            });
        }
        Choice {
            chosen: vec![false; self.candidates.len()],
            at_place: vec![Vec::new(); n_places.unwrap_or(0)],
            bins,
        }
    }

    pub(crate) fn add(&self, choice: &mut Choice, index: usize) {
        if std::mem::replace(&mut choice.chosen[index], true) {
            return;
        }
        let candidate = &self.candidates[index];
        let at = &mut choice.at_place[candidate.place_index];
        at.resize(self.n_headings, 0);
        at[candidate.heading] += 1;
        self.count(choice, index, 1);
    }

    pub(crate) fn remove(&self, choice: &mut Choice, index: usize) {
        choice.chosen[index] = false;
        let candidate = &self.candidates[index];
        choice.at_place[candidate.place_index][candidate.heading] -= 1;
        self.count(choice, index, -1);
    }

    fn count(&self, choice: &mut Choice, index: usize, step: i8) {
        let candidate = &self.candidates[index];
        let Some(bin) = &mut choice.bins[candidate.bin] else {
            return;
        };
        let demand = self.demand;
        let BinCounts {
            by_heading,
            total,
            need,
            lacks,
        } = bin;
        self.ground.all().for_each(&candidate.spans, |point| {
            let views = total[point].saturating_add_signed(step);
            total[point] = views;
            let own = by_heading[candidate.heading][point].saturating_add_signed(step);
            by_heading[candidate.heading][point] = own;
            if views < demand.views {
                need.insert(point);
            } else {
                need.remove(point);
            }
            if !lacks.is_empty() {
                let headings = by_heading.iter().filter(|counts| counts[point] > 0).count();
                let is_short = headings < usize::from(demand.headings);
                for (counts, lacks) in by_heading.iter().zip(lacks.iter_mut()) {
                    if is_short && counts[point] == 0 {
                        lacks.insert(point);
                    } else {
                        lacks.remove(point);
                    }
                }
            }
        });
    }

    pub(crate) fn gain(&self, choice: &Choice, index: usize) -> usize {
        let candidate = &self.candidates[index];
        choice.bins[candidate.bin].as_ref().map_or(0, |bin| {
            let lacks = bin.lacks.get(candidate.heading);
            bin.need.covered(&candidate.spans)
                + lacks.map_or(0, |lacks| lacks.covered(&candidate.spans))
        })
    }

    pub(crate) fn price_s(&self, choice: &Choice, index: usize) -> f64 {
        let candidate = &self.candidates[index];
        let at = &choice.at_place[candidate.place_index];
        let is_visited = at.iter().any(|photos| *photos > 0);
        let is_turned_to = at.get(candidate.heading).is_some_and(|photos| *photos > 0);
        let mates = &self.rows[index];
        let is_in_row = |mates: &[u32]| mates.iter().any(|mate| choice.chosen[*mate as usize]);
        if is_in_row(&mates.before) || is_in_row(&mates.behind) {
            return self.costs.row_s;
        }
        match (is_visited, is_turned_to) {
            (false, _) => self.costs.photo_s + self.costs.place_s,
            (true, false) => self.costs.photo_s + self.costs.turn_s,
            (true, true) => self.costs.photo_s,
        }
    }

    fn entry(&self, choice: &Choice, index: usize) -> Option<Entry> {
        if !self.allowed[index] || choice.chosen[index] {
            return None;
        }
        let gain = self.gain(choice, index);
        (gain > 0).then(|| Entry {
            worth: gain as f64 / self.price_s(choice, index),
            candidate: index,
        })
    }

    /// Fills a choice, and says with which.
    pub(crate) fn filled(&self, choice: &mut Choice) -> Vec<usize> {
        let before = choice.chosen.clone();
        self.fill(choice);
        (0..before.len())
            .filter(|index| choice.chosen[*index] && !before[*index])
            .collect()
    }

    /// Greedy choice until nothing more can be given, bin by bin: first those that see least at a
    /// time and so need most places, then the others, for which those places are cheap.
    fn fill(&self, choice: &mut Choice) {
        for bin in self.bins_by_size() {
            let is_met = choice.bins[bin]
                .as_ref()
                .is_none_or(|bin| bin.need.is_empty() && bin.lacks.iter().all(PointSet::is_empty));
            if !is_met {
                self.fill_bin(choice, bin);
            }
        }
    }

    /// The bins that see anything, those with the smallest views first.
    fn bins_by_size(&self) -> Vec<usize> {
        let mut largest = vec![0; self.is_oblique.len()];
        for candidate in self.candidates {
            let seen = candidate.spans.len();
            largest[candidate.bin] = largest[candidate.bin].max(seen);
        }
        let mut bins: Vec<usize> = (0..largest.len()).filter(|bin| largest[*bin] > 0).collect();
        bins.sort_by_key(|bin| (largest[*bin], *bin));
        bins
    }

    /// Gains only fall, except where a visited place or a begun row makes other photos cheaper:
    /// those are queued anew.
    fn fill_bin(&self, choice: &mut Choice, bin: usize) {
        let mut queue: BinaryHeap<Entry> = (0..self.candidates.len())
            .filter(|index| self.candidates[*index].bin == bin)
            .filter_map(|index| self.entry(choice, index))
            .collect();
        let by_place = self.by_place(&queue);
        while let Some(best) = queue.pop() {
            let Some(now) = self.entry(choice, best.candidate) else {
                continue;
            };
            if queue
                .peek()
                .is_some_and(|next| now.cmp(next) == Ordering::Less)
            {
                queue.push(now);
                continue;
            }
            self.add(choice, now.candidate);
            let place = self.candidates[now.candidate].place_index;
            let others = by_place[place].iter();
            queue.extend(others.filter_map(|index| self.entry(choice, *index)));
            let mates = &self.rows[now.candidate];
            let mates = mates.before.iter().chain(&mates.behind);
            queue.extend(mates.filter_map(|mate| self.entry(choice, *mate as usize)));
        }
    }

    fn by_place(&self, queue: &BinaryHeap<Entry>) -> Vec<Vec<usize>> {
        let n_places = self.candidates.iter().map(|c| c.place_index + 1).max();
        let mut by_place = vec![Vec::new(); n_places.unwrap_or(0)];
        for entry in queue.iter() {
            by_place[self.candidates[entry.candidate].place_index].push(entry.candidate);
        }
        by_place
            .iter_mut()
            .for_each(|indices| indices.sort_unstable());
        by_place
    }

    /// Takes back photos without which every point still has what it has to have, places with the
    /// fewest photos first.
    fn thin(&self, choice: &mut Choice, kept: &[usize]) {
        let mut order: Vec<usize> = (0..self.candidates.len())
            .filter(|index| choice.chosen[*index] && !kept.contains(index))
            .collect();
        let photos_there = |choice: &Choice, index: usize| {
            let at = &choice.at_place[self.candidates[index].place_index];
            at.iter().map(|photos| u32::from(*photos)).sum::<u32>()
        };
        order.sort_by_key(|index| (photos_there(choice, *index), *index));
        for index in order {
            if self.is_superfluous(choice, index) {
                self.remove(choice, index);
            }
        }
    }

    pub(crate) fn is_superfluous(&self, choice: &Choice, index: usize) -> bool {
        let candidate = &self.candidates[index];
        let Some(bin) = &choice.bins[candidate.bin] else {
            return true;
        };
        let mut is_needed = false;
        self.ground.all().for_each(&candidate.spans, |point| {
            let too_few = bin.total[point] <= self.demand.views;
            let own_only = !bin.lacks.is_empty() && bin.by_heading[candidate.heading][point] == 1;
            let too_few_headings = own_only && {
                let headings = bin.by_heading.iter().filter(|counts| counts[point] > 0);
                headings.count() <= usize::from(self.demand.headings)
            };
            is_needed |= too_few || too_few_headings;
        });
        !is_needed
    }

    /// Drops all photos about a random one, so that they can be chosen anew.
    fn ruin(&self, choice: &mut Choice, kept: &[usize], random: &mut ChaCha8Rng) {
        let chosen: Vec<usize> = (0..self.candidates.len())
            .filter(|index| choice.chosen[*index] && !kept.contains(index))
            .collect();
        if chosen.is_empty() {
            return;
        }
        let pick = |random: &mut ChaCha8Rng, n: usize| (random.next_u64() % n as u64) as usize;
        let centre = self.candidates[chosen[pick(random, chosen.len())]].place;
        let share = 2 + pick(random, 3);
        let mut by_distance = chosen;
        by_distance.sort_by(|a, b| {
            let distance = |index: &usize| (self.candidates[*index].place - centre).norm();
            distance(a).total_cmp(&distance(b)).then(a.cmp(b))
        });
        by_distance.truncate(by_distance.len().div_ceil(share).min(60));
        for index in by_distance {
            self.remove(choice, index);
        }
    }

    fn cost_s(&self, choice: &Choice) -> f64 {
        let mut cost_s = 0.0;
        // Places that are passed on a row anyway.
        let mut is_passed = vec![false; choice.at_place.len()];
        for (index, candidate) in self.candidates.iter().enumerate() {
            if !choice.chosen[index] {
                continue;
            }
            let before = &self.rows[index].before;
            if before.iter().any(|mate| choice.chosen[*mate as usize]) {
                is_passed[candidate.place_index] = true;
                cost_s += self.costs.row_s;
            } else {
                cost_s += self.costs.photo_s;
            }
        }
        for (place, headings) in choice.at_place.iter().enumerate() {
            let turns = headings.iter().filter(|photos| **photos > 0).count();
            if turns > 0 && !is_passed[place] {
                cost_s += self.costs.place_s + self.costs.turn_s * (turns - 1) as f64;
            }
        }
        cost_s
    }
}
