//! Comparisons between sets of scenes: disjoint subsets (C.1) and windows that move on (C.2).

use crate::correlation::{MeanAndDeviation, pearson, spearman};

/// All unordered pairs of disjoint subsets of `k` among `n` scenes, as places among them; sorted. There
/// are `C(n, k) C(n - k, k) / 2`.
#[must_use]
pub fn disjoint_pairs(n: usize, k: usize) -> Vec<[Vec<usize>; 2]> {
    let all: Vec<usize> = (0..n).collect();
    let mut pairs = Vec::new();
    for first in subsets(&all, k) {
        let Some(lowest) = first.first() else {
            continue;
        };
        // Of the two orders of a pair, the one whose first subset holds the lowest scene.
        let left: Vec<usize> = all
            .iter()
            .copied()
            .filter(|scene| scene > lowest && !first.contains(scene))
            .collect();
        pairs.extend(
            subsets(&left, k)
                .into_iter()
                .map(|second| [first.clone(), second]),
        );
    }
    pairs
}

/// The subsets of `k` items, in the items' order.
fn subsets(items: &[usize], k: usize) -> Vec<Vec<usize>> {
    if k == 0 {
        return vec![Vec::new()];
    }
    let mut found = Vec::new();
    for (i, first) in items.iter().enumerate() {
        for mut rest in subsets(&items[i + 1..], k - 1) {
            rest.insert(0, *first);
            found.push(rest);
        }
    }
    found
}

/// The windows of `k` neighbours among `n` scenes in the order of capture: `n + 1 - k` of them.
#[must_use]
pub fn windows(n: usize, k: usize) -> Vec<Vec<usize>> {
    if k == 0 || k > n {
        return Vec::new();
    }
    (0..=n - k)
        .map(|first| (first..first + k).collect())
        .collect()
}

/// A score of each model in each task, `None` where a set of scenes has none.
pub type Profile = Vec<Option<f64>>;

/// How alike two profiles are over the entries that both have.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Agreement {
    /// Entries that both have.
    pub n: usize,
    /// Pearson's correlation, where it is defined.
    pub pearson: Option<f64>,
    /// Spearman's, where it is defined.
    pub spearman: Option<f64>,
}

impl Agreement {
    /// Compares two profiles entry by entry.
    #[must_use]
    pub fn of(a: &[Option<f64>], b: &[Option<f64>]) -> Self {
        let shared = a.iter().zip(b).filter_map(|(a, b)| Some(((*a)?, (*b)?)));
        let (x, y): (Vec<f64>, Vec<f64>) = shared.unzip();
        Self {
            n: x.len(),
            pearson: pearson(&x, &y),
            spearman: spearman(&x, &y),
        }
    }
}

/// What Table 3 says of one size of subsets.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SubsetAgreement {
    /// Scenes in each subset.
    pub k: usize,
    /// Pairs compared.
    pub n_pairs: usize,
    /// Pearson's correlation over the pairs where it is defined.
    pub pearson: Option<MeanAndDeviation>,
    /// Spearman's, likewise.
    pub spearman: Option<MeanAndDeviation>,
}

impl SubsetAgreement {
    /// Compares all disjoint pairs of `k` among `n` scenes. `profile` gives the profile of a set of
    /// scenes; it is asked once for each subset.
    #[must_use]
    pub fn of(n: usize, k: usize, profile: impl Fn(&[usize]) -> Profile) -> Self {
        let all: Vec<usize> = (0..n).collect();
        let subsets = subsets(&all, k);
        let profiles: std::collections::BTreeMap<&[usize], Profile> =
            subsets.iter().map(|s| (s.as_slice(), profile(s))).collect();
        let pairs = disjoint_pairs(n, k);
        let compared = pairs
            .iter()
            .map(|[a, b]| Agreement::of(&profiles[a.as_slice()], &profiles[b.as_slice()]));
        let compared: Vec<Agreement> = compared.collect();
        let over = |of: fn(&Agreement) -> Option<f64>| {
            MeanAndDeviation::of(&compared.iter().filter_map(of).collect::<Vec<_>>())
        };
        Self {
            k,
            n_pairs: pairs.len(),
            pearson: over(|agreement| agreement.pearson),
            spearman: over(|agreement| agreement.spearman),
        }
    }
}

/// How alike each window of `k` scenes is to the next: `n - k` comparisons.
#[must_use]
pub fn replay(n: usize, k: usize, profile: impl Fn(&[usize]) -> Profile) -> Vec<Agreement> {
    let profiles: Vec<Profile> = windows(n, k).iter().map(|window| profile(window)).collect();
    profiles
        .windows(2)
        .map(|pair| Agreement::of(&pair[0], &pair[1]))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pairs_are_disjoint_and_each_comes_once() {
        let pairs = disjoint_pairs(6, 2);
        assert_eq!(pairs.len(), 15 * 6 / 2);
        let mut seen = std::collections::BTreeSet::new();
        for [a, b] in &pairs {
            assert!(a.iter().all(|scene| !b.contains(scene)));
            let mut both = [a.clone(), b.clone()];
            both.sort();
            assert!(seen.insert(both));
        }
        assert_eq!(disjoint_pairs(3, 2).len(), 0);
        assert_eq!(disjoint_pairs(4, 0).len(), 0);
    }

    #[test]
    fn windows_move_on_by_one() {
        assert_eq!(windows(4, 3), [vec![0, 1, 2], vec![1, 2, 3]]);
        assert_eq!(windows(10, 4).len(), 7);
        assert!(windows(3, 4).is_empty());
    }

    #[test]
    fn only_shared_entries_count() {
        let a = [Some(1.0), None, Some(2.0), Some(3.0)];
        let b = [Some(2.0), Some(9.0), None, Some(6.0)];
        assert_eq!(
            Agreement::of(&a, &b),
            Agreement {
                n: 2,
                pearson: Some(1.0),
                spearman: Some(1.0)
            }
        );
        // Scenes whose scores are their number times the entry's: every pair agrees fully.
        let profile = |scenes: &[usize]| {
            let sum: usize = scenes.iter().map(|scene| scene + 1).sum();
            (1..=5).map(|entry| Some((sum * entry) as f64)).collect()
        };
        let found = SubsetAgreement::of(5, 2, profile);
        assert_eq!(found.n_pairs, 15);
        let over = found.pearson.unwrap();
        assert_eq!(over.n, 15);
        assert!((over.mean - 1.0).abs() < 1e-12 && over.deviation.unwrap() < 1e-9);
        assert_eq!(replay(5, 2, profile).len(), 3);
    }
}
