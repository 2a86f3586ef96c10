//! The cheapest one-to-one assignment on a sparse graph.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};

/// An edge: a row may take a column at a price.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Edge {
    pub(crate) row: usize,
    pub(crate) column: usize,
    pub(crate) cost: f64,
}

/// A number that orders: costs here are finite.
#[derive(Clone, Copy, PartialEq)]
struct Cost(f64);

impl Eq for Cost {}

impl PartialOrd for Cost {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Cost {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.0.total_cmp(&other.0)
    }
}

/// Which column each row takes so that the sum of costs is least; a row without a column costs
/// `alone`. Every column is taken at most once. Rows are brought in one after the other along the
/// shortest augmenting path (Jonker and Volgenant 1987), which stays near each row where the graph
/// is local.
pub(crate) fn assign(n_rows: usize, edges: &[Edge], alone: f64) -> Vec<Option<usize>> {
    let mut by_row: Vec<Vec<(usize, f64)>> = vec![Vec::new(); n_rows];
    let n_columns = edges.iter().map(|edge| edge.column + 1).max().unwrap_or(0);
    for edge in edges {
        by_row[edge.row].push((edge.column, edge.cost));
    }
    for (row, list) in by_row.iter_mut().enumerate() {
        // A column of its own stands for none.
        list.push((n_columns + row, alone));
    }
    let mut solver = Solver {
        row_price: vec![0.0; n_rows],
        column_price: vec![0.0; n_columns + n_rows],
        taken_by: vec![None; n_columns + n_rows],
        column_of: vec![None; n_rows],
        by_row,
    };
    for row in 0..n_rows {
        solver.bring_in(row);
    }
    let real = |column: Option<usize>| column.filter(|column| *column < n_columns);
    solver.column_of.into_iter().map(real).collect()
}

struct Solver {
    by_row: Vec<Vec<(usize, f64)>>,
    row_price: Vec<f64>,
    column_price: Vec<f64>,
    taken_by: Vec<Option<usize>>,
    column_of: Vec<Option<usize>>,
}

/// What a search from one row has reached.
#[derive(Default)]
struct Search {
    /// Shortest distance to a column, and the row it is reached from.
    reached: BTreeMap<usize, (f64, usize)>,
    /// Columns whose distance is final.
    settled: BTreeMap<usize, f64>,
    heap: BinaryHeap<Reverse<(Cost, usize)>>,
}

impl Solver {
    fn bring_in(&mut self, start: usize) {
        self.row_price[start] = self.by_row[start]
            .iter()
            .map(|&(column, cost)| cost - self.column_price[column])
            .fold(f64::INFINITY, f64::min);
        let mut search = Search::default();
        self.relax(start, 0.0, &mut search);
        let (mut at, length) = loop {
            let Reverse((Cost(distance), column)) = search
                .heap
                .pop()
                .expect("a row's own column is always free");
            if search.settled.contains_key(&column) {
                continue;
            }
            match self.taken_by[column] {
                None => break (column, distance),
                Some(owner) => {
                    search.settled.insert(column, distance);
                    self.relax(owner, distance, &mut search);
                }
            }
        };
        self.row_price[start] += length;
        for (&column, &distance) in &search.settled {
            let owner = self.taken_by[column].expect("settled columns are taken");
            self.row_price[owner] += length - distance;
            self.column_price[column] -= length - distance;
        }
        loop {
            let (_, row) = search.reached[&at];
            self.taken_by[at] = Some(row);
            let before = self.column_of[row].replace(at);
            match before {
                Some(column) if row != start => at = column,
                _ => return,
            }
        }
    }

    fn relax(&self, row: usize, so_far: f64, search: &mut Search) {
        for &(column, cost) in &self.by_row[row] {
            let reduced = cost - self.row_price[row] - self.column_price[column];
            let distance = so_far + reduced.max(0.0);
            let known = search.reached.get(&column);
            if known.is_none_or(|&(known, _)| distance < known) {
                search.reached.insert(column, (distance, row));
                search.heap.push(Reverse((Cost(distance), column)));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::seeded;

    /// The least sum over all ways, tried one by one.
    fn least(costs: &[Vec<Option<f64>>], alone: f64, row: usize, used: &mut Vec<bool>) -> f64 {
        let Some(options) = costs.get(row) else {
            return 0.0;
        };
        let mut best = alone + least(costs, alone, row + 1, used);
        for (column, cost) in options.iter().enumerate() {
            if let (Some(cost), false) = (cost, used[column]) {
                used[column] = true;
                best = best.min(cost + least(costs, alone, row + 1, used));
                used[column] = false;
            }
        }
        best
    }

    #[test]
    fn as_cheap_as_the_cheapest_of_all_ways() {
        for seed in 0..200 {
            let mut rng = seeded::rng(seed, "test", "assignment");
            let (n_rows, n_columns) = (
                1 + seeded::below(&mut rng, 6),
                1 + seeded::below(&mut rng, 6),
            );
            let alone = 2.0 * seeded::unit(&mut rng) - 0.5;
            let costs: Vec<Vec<Option<f64>>> = (0..n_rows)
                .map(|_| {
                    (0..n_columns)
                        .map(|_| {
                            (seeded::unit(&mut rng) < 0.6).then(|| seeded::unit(&mut rng) - 0.3)
                        })
                        .collect()
                })
                .collect();
            let mut edges = Vec::new();
            for (row, options) in costs.iter().enumerate() {
                for (column, cost) in options.iter().enumerate() {
                    edges.extend(cost.map(|cost| Edge { row, column, cost }));
                }
            }
            let taken = assign(n_rows, &edges, alone);
            let mut used = std::collections::BTreeSet::new();
            let mut sum = 0.0;
            for (row, column) in taken.iter().enumerate() {
                sum += match column {
                    None => alone,
                    Some(column) => {
                        assert!(used.insert(*column), "a column is taken twice");
                        costs[row][*column].expect("an edge that there is")
                    }
                };
            }
            let expected = least(&costs, alone, 0, &mut vec![false; n_columns]);
            assert!((sum - expected).abs() < 1e-9, "{seed}: {sum} {expected}");
        }
    }
}
