//! How two groupings of the same detections agree.

use crate::assignment::{Edge, assign};
use serde::Serialize;
use std::collections::BTreeMap;

/// Measures of agreement between a found grouping and the true one.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Agreement {
    /// Detections grouped.
    pub n_detections: usize,
    /// Pairs of detections that are together in both.
    pub pairs_agreed: u64,
    /// Pairs together as found.
    pub pairs_found: u64,
    /// Pairs together in truth.
    pub pairs_true: u64,
    /// Share of the pairs found that are true.
    pub pairwise_precision: f64,
    /// Share of the true pairs that are found.
    pub pairwise_recall: f64,
    /// Their harmonic mean.
    pub pairwise_f1: f64,
    /// Mean over detections of the share of its found group that is of its vehicle.
    pub b_cubed_precision: f64,
    /// Mean over detections of the share of its vehicle that is in its found group.
    pub b_cubed_recall: f64,
    /// Their harmonic mean.
    pub b_cubed_f1: f64,
    /// One less the entropy of vehicles within found groups, relative to that of vehicles.
    pub homogeneity: f64,
    /// One less the entropy of found groups within vehicles, relative to that of groups.
    pub completeness: f64,
    /// Their harmonic mean.
    pub v_measure: f64,
    /// Mean over detections of TPA / (TPA + FPA + FNA): the association half of HOTA.
    pub ass_a: f64,
    /// Share of detections in the best one-to-one matching of groups and vehicles (IDF1, as found
    /// and true detections are the same).
    pub idf1: f64,
}

/// Compares labels: one pair (found, true) per detection.
#[must_use]
pub fn agreement(labels: &[(usize, usize)]) -> Agreement {
    let mut both: BTreeMap<(usize, usize), usize> = BTreeMap::new();
    let (mut found, mut truth) = (BTreeMap::new(), BTreeMap::new());
    for &(f, t) in labels {
        *both.entry((f, t)).or_insert(0) += 1;
        *found.entry(f).or_insert(0_usize) += 1;
        *truth.entry(t).or_insert(0_usize) += 1;
    }
    let pairs = |n: usize| (n * n.saturating_sub(1) / 2) as u64;
    let pairs_agreed: u64 = both.values().map(|&n| pairs(n)).sum();
    let pairs_found: u64 = found.values().map(|&n| pairs(n)).sum();
    let pairs_true: u64 = truth.values().map(|&n| pairs(n)).sum();
    let n = labels.len() as f64;
    let over_cells = |value: &dyn Fn(f64, f64, f64) -> f64| -> f64 {
        let sum: f64 = both
            .iter()
            .map(|(&(f, t), &common)| {
                common as f64 * value(common as f64, found[&f] as f64, truth[&t] as f64)
            })
            .sum();
        if labels.is_empty() { 1.0 } else { sum / n }
    };
    let pairwise_precision = ratio(pairs_agreed as f64, pairs_found as f64);
    let pairwise_recall = ratio(pairs_agreed as f64, pairs_true as f64);
    let b_cubed_precision = over_cells(&|common, f, _| common / f);
    let b_cubed_recall = over_cells(&|common, _, t| common / t);
    let entropy = |sizes: &BTreeMap<usize, usize>| -> f64 {
        sizes
            .values()
            .map(|&size| -(size as f64 / n) * (size as f64 / n).ln())
            .sum()
    };
    let within_found = over_cells(&|common, f, _| -(common / f).ln());
    let within_true = over_cells(&|common, _, t| -(common / t).ln());
    let relative = |left: f64, of: f64| if of > 0.0 { 1.0 - left / of } else { 1.0 };
    let (homogeneity, completeness) = if labels.is_empty() {
        (1.0, 1.0)
    } else {
        (
            relative(within_found, entropy(&truth)),
            relative(within_true, entropy(&found)),
        )
    };
    Agreement {
        n_detections: labels.len(),
        pairs_agreed,
        pairs_found,
        pairs_true,
        pairwise_precision,
        pairwise_recall,
        pairwise_f1: harmonic(pairwise_precision, pairwise_recall),
        b_cubed_precision,
        b_cubed_recall,
        b_cubed_f1: harmonic(b_cubed_precision, b_cubed_recall),
        homogeneity,
        completeness,
        v_measure: harmonic(homogeneity, completeness),
        ass_a: over_cells(&|common, f, t| common / (f + t - common)),
        idf1: ratio(matched_one_to_one(&both) as f64, n),
    }
}

/// Detections kept by the best one-to-one matching of groups and vehicles.
fn matched_one_to_one(both: &BTreeMap<(usize, usize), usize>) -> usize {
    let (mut rows, mut columns) = (BTreeMap::new(), BTreeMap::new());
    let mut edges = Vec::with_capacity(both.len());
    for (&(f, t), &common) in both {
        let n_rows = rows.len();
        let row = *rows.entry(f).or_insert(n_rows);
        let n_columns = columns.len();
        let column = *columns.entry(t).or_insert(n_columns);
        edges.push(Edge {
            row,
            column,
            cost: -(common as f64),
        });
    }
    let taken = assign(rows.len(), &edges, 0.0);
    edges
        .iter()
        .filter(|edge| taken[edge.row] == Some(edge.column))
        .map(|edge| (-edge.cost) as usize)
        .sum()
}

/// Nothing of nothing is all of it.
fn ratio(part: f64, whole: f64) -> f64 {
    if whole > 0.0 { part / whole } else { 1.0 }
}

fn harmonic(a: f64, b: f64) -> f64 {
    if a + b > 0.0 {
        2.0 * a * b / (a + b)
    } else {
        0.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(found: &[usize], truth: &[usize], expected: [f64; 5]) {
        let labels: Vec<(usize, usize)> =
            found.iter().copied().zip(truth.iter().copied()).collect();
        let got = agreement(&labels);
        let got = [
            got.pairwise_f1,
            got.b_cubed_f1,
            got.v_measure,
            got.ass_a,
            got.idf1,
        ];
        for (got, expected) in got.iter().zip(expected) {
            assert!((got - expected).abs() < 1e-6, "{found:?}: {got} {expected}");
        }
    }

    /// Worked by hand.
    #[test]
    fn small_groupings() {
        check(&[0, 0, 1, 1], &[7, 7, 9, 9], [1.0; 5]);
        // All in one: precision 2/6, recall 1; B-cubed 1/2 and 1; nothing known of vehicles.
        check(
            &[0, 0, 0, 0],
            &[0, 0, 1, 1],
            [0.5, 2.0 / 3.0, 0.0, 0.5, 0.5],
        );
        // All apart: no pair; B-cubed 1 and 1/2; homogeneous, half complete.
        check(
            &[0, 1, 2, 3],
            &[0, 0, 1, 1],
            [0.0, 2.0 / 3.0, 2.0 / 3.0, 0.5, 0.5],
        );
        // One of three strays: pairs 1 of 2 found and of 4 true... counted below.
        check(
            &[0, 0, 1, 1, 1],
            &[0, 0, 0, 1, 1],
            [
                0.5,
                // Precision (2 + 1/3 + 4/3) / 5, recall (4/3 + 1/3 + 2) / 5.
                11.0 / 15.0,
                harmonic_of_entropies(),
                // 2 of 3, 2 of 3, 1 of 5, 2 of 3, 2 of 3.
                (4.0 * 2.0 / 3.0 + 0.2) / 5.0,
                0.8,
            ],
        );
        check(&[], &[], [1.0; 5]);
    }

    fn harmonic_of_entropies() -> f64 {
        let h = |p: f64| -p * p.ln();
        let (of_groups, left) = (h(0.4) + h(0.6), 0.6 * (h(1.0 / 3.0) + h(2.0 / 3.0)));
        1.0 - left / of_groups
    }
}
