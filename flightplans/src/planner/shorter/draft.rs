//! A plan in the making and how its photos hang together.

use super::members::Members;
use crate::cover::Choice;
use crate::links::MIN_NEIGHBOURS;
use std::collections::BTreeMap;

/// A plan in the making: who is in it, in the order of the flight.
#[derive(Clone)]
pub(super) struct Draft {
    pub(super) order: Vec<usize>,
    pub(super) is_in: Members,
    /// Of each photo those that match it.
    pub(super) mates: BTreeMap<usize, Members>,
    pub(super) views: Vec<Choice>,
    /// Seconds from the first to the last photo, and part of those of the ways there and back.
    pub(super) flight_s: f64,
}

impl Draft {
    pub(super) fn degree(&self, member: usize) -> usize {
        self.mates
            .get(&member)
            .map_or(0, |mates| mates.n_common(&self.is_in))
    }

    /// The largest group that hangs together.
    pub(super) fn largest_group(&self) -> Members {
        let mut left = self.is_in.clone();
        let mut largest = (0, left.without(&left));
        while let Some(first) = left.first() {
            let group = self.group_of(first, &self.is_in);
            let size = group.n_common(&group);
            left = left.without(&group);
            if size > largest.0 {
                largest = (size, group);
            }
        }
        largest.1
    }

    /// All that hang together with one, out of a set.
    fn group_of(&self, first: usize, among: &Members) -> Members {
        let mut group = among.without(among);
        group.insert(first);
        let mut open = vec![first];
        while let Some(mates) = open.pop().and_then(|here| self.mates.get(&here)) {
            for at in 0..group.0.len() {
                let mut new = mates.0[at] & among.0[at] & !group.0[at];
                group.0[at] |= new;
                while new != 0 {
                    open.push(at * 64 + new.trailing_zeros() as usize);
                    new &= new - 1;
                }
            }
        }
        group
    }

    /// Whether all others still hang together, each with enough mates.
    pub(super) fn holds_without(&self, member: usize) -> bool {
        let mut left = self.is_in.clone();
        left.remove(member);
        let is_short = |mate: usize| {
            self.mates
                .get(&mate)
                .is_some_and(|mates| mates.n_common(&left) < MIN_NEIGHBOURS)
        };
        let Some(mates) = self.mates.get(&member) else {
            return false;
        };
        if mates.common(&left).any(is_short) {
            return false;
        }
        left.first()
            .is_some_and(|first| self.group_of(first, &left) == left)
    }
}
