//! Recognition per vehicle: the views of a vehicle vote, brand and pair separately (A.2).

use crate::label::LabelPair;
use std::collections::HashMap;

/// What the views of a vehicle elected.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Elected {
    /// The brand with the most votes; of several the smallest.
    pub brand: String,
    /// Whether several brands had the most votes.
    pub brand_was_tied: bool,
    /// The pair with the most votes; of several the smallest, brand first. It is elected by itself and
    /// need not hold the elected brand.
    pub pair: LabelPair,
    /// Whether several pairs had the most votes.
    pub pair_was_tied: bool,
}

/// Counts the votes of a vehicle's views. A view that says nothing votes for empty labels, which are
/// the smallest: against one right view it wins. `None` without votes.
#[must_use]
pub fn elect<'a>(votes: impl IntoIterator<Item = &'a LabelPair>) -> Option<Elected> {
    let mut pairs: Vec<&LabelPair> = votes.into_iter().collect();
    let mut brands: Vec<&str> = pairs.iter().map(|vote| vote.brand.as_str()).collect();
    let (brand, brand_was_tied) = most(&mut brands)?;
    let (pair, pair_was_tied) = most(&mut pairs)?;
    Some(Elected {
        brand: brand.to_owned(),
        brand_was_tied,
        pair: pair.clone(),
        pair_was_tied,
    })
}

/// The vote that comes most often, of several the smallest, and whether there are several.
pub(crate) fn most<K: Ord + Copy>(votes: &mut [K]) -> Option<(K, bool)> {
    votes.sort_unstable();
    let mut leader: Option<(K, usize, bool)> = None;
    for equal in votes.chunk_by(|a, b| a == b) {
        match &mut leader {
            Some((_, n, was_tied)) if equal.len() == *n => *was_tied = true,
            Some((_, n, _)) if equal.len() < *n => {}
            _ => leader = Some((equal[0], equal.len(), false)),
        }
    }
    leader.map(|(vote, _, was_tied)| (vote, was_tied))
}

/// The labels of a model's responses as numbers that sort as the labels do.
#[derive(Clone, Debug, Default)]
pub(crate) struct LabelTable {
    /// The number of each label, in the order in which they were added.
    numbers: HashMap<LabelPair, u32>,
    /// The rank of each label by its number, after [`Self::rank_all`].
    ranks: Vec<LabelRank>,
}

/// Places of a label among all of a model's: brand, then pair.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct LabelRank {
    pub(crate) brand: u32,
    pub(crate) pair: u32,
}

impl LabelTable {
    /// The number of a label.
    pub(crate) fn add(&mut self, label: LabelPair) -> u32 {
        let next = u32::try_from(self.numbers.len()).expect("fewer labels than 32 bits count");
        *self.numbers.entry(label).or_insert(next)
    }

    /// The number of a label that was added.
    pub(crate) fn number(&self, label: &LabelPair) -> Option<u32> {
        self.numbers.get(label).copied()
    }

    /// Ranks the labels that were added.
    pub(crate) fn rank_all(&mut self) {
        let mut labels: Vec<(&LabelPair, u32)> = self
            .numbers
            .iter()
            .map(|(label, number)| (label, *number))
            .collect();
        labels.sort_unstable();
        self.ranks = vec![LabelRank::default(); labels.len()];
        let mut rank = LabelRank::default();
        let mut last_brand: Option<&String> = None;
        for (pair, (label, number)) in (0..).zip(labels) {
            rank.pair = pair;
            rank.brand += u32::from(last_brand.is_some_and(|brand| *brand != label.brand));
            last_brand = Some(&label.brand);
            self.ranks[number as usize] = rank;
        }
    }

    /// The rank of a label by its number.
    pub(crate) fn rank(&self, number: u32) -> LabelRank {
        self.ranks[number as usize]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(votes: &[(&str, &str)], brand: (&str, bool), pair: (&str, &str, bool)) {
        let votes: Vec<_> = votes.iter().map(|(b, m)| LabelPair::new(b, m)).collect();
        let elected = elect(&votes).expect("there are votes");
        assert_eq!((elected.brand.as_str(), elected.brand_was_tied), brand);
        let LabelPair { brand, model } = &elected.pair;
        assert_eq!(
            (brand.as_str(), model.as_str(), elected.pair_was_tied),
            pair
        );
    }

    #[test]
    fn brand_and_pair_are_elected_apart() {
        // Three of five say A, but no model of A has more than one voice.
        check(
            &[("A", "1"), ("A", "2"), ("A", "3"), ("B", "1"), ("B", "1")],
            ("a", false),
            ("b", "1", false),
        );
    }

    #[test]
    fn ties_go_to_the_smallest_by_code_points() {
        check(&[("b", ""), ("a", "")], ("a", true), ("a", "", true));
        check(&[("é", ""), ("z", "")], ("z", true), ("z", "", true));
        check(&[("a", "b"), ("", "")], ("", true), ("", "", true));
        check(&[("a", "2"), ("a", "10")], ("a", false), ("a", "10", true));
        assert_eq!(elect(&[]), None);
    }
}
