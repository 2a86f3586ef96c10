//! Recognition per vehicle: the views of a vehicle vote, brand and pair separately (A.2).

use crate::label::LabelPair;
use std::collections::BTreeMap;

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
    let mut brands = BTreeMap::new();
    let mut pairs = BTreeMap::new();
    for vote in votes {
        *brands.entry(vote.brand.as_str()).or_insert(0) += 1;
        *pairs.entry(vote).or_insert(0) += 1;
    }
    let (brand, brand_was_tied) = most(&brands)?;
    let (pair, pair_was_tied) = most(&pairs)?;
    Some(Elected {
        brand: (*brand).to_owned(),
        brand_was_tied,
        pair: (*pair).clone(),
        pair_was_tied,
    })
}

/// The smallest key with the greatest count, and whether it shares that count.
fn most<K: Ord>(counts: &BTreeMap<K, u32>) -> Option<(&K, bool)> {
    let greatest = counts.values().max()?;
    let mut leaders = counts.iter().filter(|(_, count)| *count == greatest);
    let (first, _) = leaders.next()?;
    Some((first, leaders.next().is_some()))
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
