//! The paper's tables, read from beside the repository: what our aggregation makes of their columns.

use crate::cases::shared;
use scoring::aggregate::{Aggregate, ranks};
use scoring::replay::{SubsetAgreement, disjoint_pairs, windows};
use scoring::{Group, Task};
use std::collections::BTreeMap;

/// A table's rows by column; `None` where the folder beside the repository is absent.
fn table(name: &str) -> Option<Vec<BTreeMap<String, String>>> {
    let path = shared(&format!("papers/{name}"))?;
    let text = std::fs::read_to_string(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    let mut lines = text.lines().map(|line| line.split(',').map(str::trim));
    let columns: Vec<&str> = lines.next().expect("a header").collect();
    let rows = lines.map(|cells| {
        let cells: Vec<&str> = cells.collect();
        assert_eq!(cells.len(), columns.len(), "{name}: {cells:?}");
        let cells = columns.iter().zip(cells);
        cells
            .map(|(column, cell)| ((*column).to_owned(), cell.to_owned()))
            .collect()
    });
    Some(rows.collect())
}

fn number(row: &BTreeMap<String, String>, column: &str) -> f64 {
    let cell = row
        .get(column)
        .unwrap_or_else(|| panic!("there is no column {column}"));
    cell.parse().unwrap_or_else(|_| panic!("{column}: {cell}"))
}

/// Means of printed numbers, each rounded to a hundredth, are within this of the printed mean.
const ROUNDING: f64 = 0.01 + 1e-9;

#[test]
fn task_columns_give_the_group_means_and_overall() {
    let Some(rows) = table("rslb_table_s2.csv") else {
        return;
    };
    assert_eq!(rows.len(), 30);
    let mut largest = 0.0f64;
    for row in &rows {
        let aggregate = Aggregate::of_tasks(|task| Some(number(row, task.id())));
        let groups = Group::ALL.map(|group| aggregate.group(group));
        let found = groups.into_iter().chain([aggregate.overall()]);
        for (mean, column) in found.zip(["2D", "3D", "CV", "RE", "Overall"]) {
            let difference = (mean.expect("all tasks are there") - number(row, column)).abs();
            assert!(
                difference <= ROUNDING,
                "{} {column}: {difference}",
                row["model"]
            );
            largest = largest.max(difference);
        }
    }
    // Printed inputs are rounded: were there no difference at all, nothing would have been averaged.
    assert!(largest > 0.001, "{largest}");
}

#[test]
fn the_tables_agree_on_overall_and_groups() {
    let (Some(full), Some(short), Some(speeds)) = (
        table("rslb_table_s2.csv"),
        table("rslb_table2.csv"),
        table("rslb_table_s3.csv"),
    ) else {
        return;
    };
    let plain = |name: &str| name.replace(" / ", "-");
    let full: BTreeMap<String, _> = full.iter().map(|row| (plain(&row["model"]), row)).collect();
    assert_eq!((short.len(), speeds.len()), (12, 26));
    for row in &short {
        let other = full[&plain(&row["model"])];
        for (here, there) in [
            ("Overall", "Overall"),
            ("2D", "2D"),
            ("3D", "3D"),
            ("Cross-view", "CV"),
            ("Reasoning", "RE"),
        ] {
            assert_eq!(
                number(row, here),
                number(other, there),
                "{} {here}",
                row["model"]
            );
        }
    }
    for row in &speeds {
        let other = full[&plain(&row["model"])];
        assert_eq!(
            number(row, "overall"),
            number(other, "Overall"),
            "{}",
            row["model"]
        );
    }
}

#[test]
fn pairs_of_subsets_are_as_many_as_in_table_3() {
    let Some(rows) = table("rslb_table3.csv") else {
        return;
    };
    assert_eq!(rows.len(), 5);
    for row in &rows {
        let k = number(row, "k") as usize;
        assert_eq!(
            disjoint_pairs(10, k).len() as f64,
            number(row, "pairs"),
            "k = {k}"
        );
        assert_eq!(windows(10, k).len(), 11 - k);
        let constant = SubsetAgreement::of(10, k, |_| vec![Some(1.0); 3]);
        assert_eq!(constant.n_pairs as f64, number(row, "pairs"));
        assert_eq!(constant.pearson, None);
    }
}

#[test]
fn table_s4_adds_up() {
    let Some(rows) = table("rslb_table_s4.csv") else {
        return;
    };
    let row = |input: &str| {
        let found = rows.iter().find(|row| row["input"] == input);
        found.unwrap_or_else(|| panic!("there is no row {input}"))
    };
    let columns = ["h0_40", "h40_80", "h80_120"];
    let sum = |input: &str| {
        columns
            .map(|column| number(row(input), column))
            .iter()
            .sum::<f64>()
    };
    // Views feed two tasks and count once; vehicles are units, not inputs.
    let inputs = ["views", "WU", "RD", "CP", "PC", "CL", "CH"];
    for column in columns {
        let distinct: f64 = inputs.iter().map(|input| number(row(input), column)).sum();
        assert_eq!(distinct, number(row("distinct"), column), "{column}");
    }
    assert_eq!(sum("views"), 18_228.0);
    assert_eq!(sum("distinct"), 21_529.0);
    assert_eq!(sum("distinct") + sum("views"), 39_757.0);
}

#[test]
fn common_ranks_follow_the_task_columns() {
    let Some(rows) = table("rslb_table_s2.csv") else {
        return;
    };
    let of_row = |row| Aggregate::of_tasks(|task: Task| Some(number(row, task.id()))).common();
    let scores: Vec<Option<f64>> = rows.iter().map(of_row).collect();
    let best = ranks(&scores).iter().position(|rank| *rank == Some(1));
    let named = best.map(|i| rows[i]["model"].as_str());
    assert!(named.is_some_and(|name| number(
        rows.iter().find(|row| row["model"] == name).expect("a row"),
        "Overall"
    ) > 59.0));
    for (row, score) in rows.iter().zip(&scores) {
        // By hand: (2D mean + (LW + HT) / 2 + (CP + CL + CH) / 3) / 3.
        let mean = |tasks: &[&str]| {
            tasks.iter().map(|task| number(row, task)).sum::<f64>() / tasks.len() as f64
        };
        let by_hand = (mean(&["BI", "BV", "SC", "SR", "WU", "VH"])
            + mean(&["LW", "HT"])
            + mean(&["CP", "CL", "CH"]))
            / 3.0;
        assert!(
            (score.expect("all tasks") - by_hand).abs() < 1e-9,
            "{}",
            row["model"]
        );
    }
}
