//! Candidates joined, the surest first.

use super::features::{Features, Group, Scale, features};
use super::model::MergeModel;
use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};

/// Groups further apart than this many thresholds are no candidates.
const REACH_EPSILONS: f64 = 2.5;

/// Two groups that may be one vehicle.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Candidate {
    /// Index of the first group.
    pub a: usize,
    /// Index of the second, higher than that of the first.
    pub b: usize,
    /// What is known of them.
    pub features: Features,
    /// The probability that they are one vehicle.
    pub probability: f64,
}

/// Groups after joining.
pub struct Merged {
    /// Per group, the group it has become part of; itself where it lives on.
    pub into: Vec<usize>,
    /// What was joined, in that order.
    pub joined: Vec<Candidate>,
    /// What is left, by falling probability.
    pub open: Vec<Candidate>,
}

/// A probability that orders.
#[derive(Clone, Copy, PartialEq)]
struct Surest(f64);

impl Eq for Surest {}

impl PartialOrd for Surest {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Surest {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.0.total_cmp(&other.0)
    }
}

/// Living groups on a grid.
struct Field<'a> {
    groups: Vec<Option<Group>>,
    versions: Vec<usize>,
    grid: BTreeMap<(i64, i64), Vec<usize>>,
    reach_m: f64,
    scale: &'a Scale,
    model: &'a MergeModel,
}

impl Field<'_> {
    fn cell(&self, group: &Group) -> (i64, i64) {
        (
            (group.place.x / self.reach_m).floor() as i64,
            (group.place.y / self.reach_m).floor() as i64,
        )
    }

    fn enter(&mut self, idx: usize) {
        if let Some(group) = &self.groups[idx] {
            let cell = self.cell(group);
            self.grid.entry(cell).or_default().push(idx);
        }
    }

    fn leave(&mut self, idx: usize) {
        if let Some(group) = &self.groups[idx] {
            let cell = self.cell(group);
            if let Some(list) = self.grid.get_mut(&cell) {
                list.retain(|&other| other != idx);
            }
        }
    }

    fn queue(&self, list: Vec<Candidate>, accept: f64, heap: &mut BinaryHeap<Entry>) {
        heap.extend(
            list.into_iter()
                .filter(|candidate| candidate.probability >= accept)
                .map(|candidate| Entry {
                    candidate,
                    versions: [self.versions[candidate.a], self.versions[candidate.b]],
                }),
        );
    }

    /// Candidates of a group with those after it, or with all.
    fn candidates_of(&self, idx: usize, later_only: bool) -> Vec<Candidate> {
        let Some(group) = &self.groups[idx] else {
            return Vec::new();
        };
        let (cx, cy) = self.cell(group);
        let mut found = Vec::new();
        for (dx, dy) in (-1..=1).flat_map(|dx| (-1..=1).map(move |dy| (dx, dy))) {
            for &other in self.grid.get(&(cx + dx, cy + dy)).into_iter().flatten() {
                if other == idx || (later_only && other < idx) {
                    continue;
                }
                let Some(partner) = &self.groups[other] else {
                    continue;
                };
                let near = (partner.place - group.place).norm() <= self.reach_m;
                if near && !group.shares_a_photo(partner) {
                    let (a, b) = (idx.min(other), idx.max(other));
                    let features = features(group, partner, self.scale);
                    let probability = self.model.probability(&features);
                    found.push(Candidate {
                        a,
                        b,
                        features,
                        probability,
                    });
                }
            }
        }
        found
    }
}

fn field<'a>(groups: &[Group], scale: &'a Scale, model: &'a MergeModel) -> Field<'a> {
    let mut field = Field {
        groups: groups.iter().cloned().map(Some).collect(),
        versions: vec![0; groups.len()],
        grid: BTreeMap::new(),
        reach_m: REACH_EPSILONS * scale.epsilon_m,
        scale,
        model,
    };
    for idx in 0..groups.len() {
        field.enter(idx);
    }
    field
}

/// All candidates of groups, by group.
#[must_use]
pub fn candidates(groups: &[Group], scale: &Scale, model: &MergeModel) -> Vec<Candidate> {
    let field = field(groups, scale, model);
    (0..groups.len())
        .flat_map(|idx| field.candidates_of(idx, true))
        .collect()
}

/// Joins candidates of at least `accept`, the surest first (of equally sure ones the earlier),
/// working out the others anew after each. Groups that share a photo are never joined.
#[must_use]
pub fn merge(groups: &[Group], scale: &Scale, model: &MergeModel, accept: f64) -> Merged {
    let mut field = field(groups, scale, model);
    let mut into: Vec<usize> = (0..groups.len()).collect();
    let mut heap = BinaryHeap::new();
    for idx in 0..groups.len() {
        field.queue(field.candidates_of(idx, true), accept, &mut heap);
    }
    let mut joined = Vec::new();
    while let Some(Entry {
        candidate,
        versions,
    }) = heap.pop()
    {
        let Candidate { a, b, .. } = candidate;
        if versions != [field.versions[a], field.versions[b]] {
            continue;
        }
        let (Some(one), Some(other)) = (&field.groups[a], &field.groups[b]) else {
            continue;
        };
        let (kept, gone) = if one.photos.len() >= other.photos.len() {
            (a, b)
        } else {
            (b, a)
        };
        let both = one.joined(other);
        field.leave(a);
        field.leave(b);
        field.groups[gone] = None;
        field.groups[kept] = Some(both);
        field.versions[kept] += 1;
        field.versions[gone] += 1;
        field.enter(kept);
        for target in into.iter_mut().filter(|target| **target == gone) {
            *target = kept;
        }
        joined.push(candidate);
        field.queue(field.candidates_of(kept, false), accept, &mut heap);
    }
    let mut open: Vec<Candidate> = (0..groups.len())
        .flat_map(|idx| field.candidates_of(idx, true))
        .collect();
    open.sort_by(|p, q| {
        let order = q.probability.total_cmp(&p.probability);
        order.then((p.a, p.b).cmp(&(q.a, q.b)))
    });
    Merged { into, joined, open }
}

/// A candidate as it was when it was queued.
struct Entry {
    candidate: Candidate,
    versions: [usize; 2],
}

impl Entry {
    fn key(&self) -> (Surest, Reverse<(usize, usize)>) {
        let Candidate { a, b, .. } = self.candidate;
        (Surest(self.candidate.probability), Reverse((a, b)))
    }
}

impl PartialEq for Entry {
    fn eq(&self, other: &Self) -> bool {
        self.key() == other.key()
    }
}

impl Eq for Entry {}

impl PartialOrd for Entry {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Entry {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.key().cmp(&other.key())
    }
}
