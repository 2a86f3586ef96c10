//! What must hold for all numbers, against plain arithmetic of another kind.

use proptest::prelude::*;
use proptest::test_runner::RngSeed;
use scoring::correlation::{average_ranks, pearson, spearman};
use scoring::{Config, Coverage, LabelPair, Rule, elect};
use serde_json::{Value, json};

fn points(config: Value, reference: Value, response: &str) -> Option<f64> {
    let config: Config = serde_json::from_value(config).expect("a configuration");
    let rule = Rule::new(&config, &reference).expect("a rule");
    let judgement = rule.judge(response);
    judgement.answer.is_ok().then(|| judgement.points.value())
}

/// Thousandths as a decimal text.
fn thousandths(value: i64) -> String {
    let sign = if value < 0 { "-" } else { "" };
    format!("{sign}{}.{:03}", value.abs() / 1000, value.abs() % 1000)
}

fn config(cases: u32) -> ProptestConfig {
    ProptestConfig {
        cases,
        failure_persistence: None,
        rng_seed: RngSeed::Fixed(11),
        ..ProptestConfig::default()
    }
}

proptest! {
    #![proptest_config(config(4_000))]

    #[test]
    fn counts_follow_the_integer_rule(n in 0u64..400, p in 0u64..700) {
        let expected = (1..=10).filter(|k| 100 * p.abs_diff(n) <= 5 * k * n).count();
        let found = points(json!({"type": "count"}), json!(n), &p.to_string());
        prop_assert_eq!(found, Some(10.0 * expected as f64));
    }

    #[test]
    fn relative_errors_follow_integers(n in 1i64..100_000, percent in -60i64..60, off in -1i64..=1) {
        // Thousandths: n is a multiple of 100 of them, so whole percents of it are whole.
        let (n, p) = (n * 100, n * (100 + percent) + off);
        let expected = (1..=10).filter(|k| 100 * (p - n).abs() <= 5 * k * n).count();
        let config = json!({"type": "number", "score": "mra"});
        let found = points(config, json!(thousandths(n)), &thousandths(p));
        prop_assert_eq!(found, Some(10.0 * expected as f64));
    }

    #[test]
    fn angles_follow_integers(reference in 0i64..360_000, value in -900_000i64..900_000) {
        let forward = (value - reference).rem_euclid(360_000);
        let error = forward.min(360_000 - forward);
        let expected = [5_000, 10_000, 15_000].iter().filter(|limit| error <= **limit).count();
        let config = json!({"type": "number", "score": "angle", "period": 360, "normalize": true});
        let found = points(config, json!(thousandths(reference)), &thousandths(value));
        prop_assert!((found.expect("finite") - 100.0 * expected as f64 / 3.0).abs() < 1e-9);
    }

    #[test]
    fn boxes_follow_integers(
        reference in (0i64..900, 0i64..900, 1i64..100, 1i64..100),
        shift in (-40i64..40, -40i64..40, -40i64..40, -40i64..40),
        width in 1u32..6000, height in 1u32..6000,
    ) {
        let (x, y, w, h) = reference;
        let a = [x, y, x + w, y + h];
        let b = [x + shift.0, y + shift.1, x + w + shift.2, y + h + shift.3];
        let is_legal = b[0] >= 0 && b[1] >= 0 && b[2] <= 1000 && b[3] <= 1000 && b[0] < b[2] && b[1] < b[3];
        let area = |b: [i64; 4]| (b[2] - b[0]) * (b[3] - b[1]);
        let side = |i: usize| (a[i + 2].min(b[i + 2]) - a[i].max(b[i])).max(0);
        let common = side(0) * side(1);
        let is_half = 2 * common >= area(a) + area(b) - common;
        let expected = is_legal.then_some(if is_half { 100.0 } else { 0.0 });
        let text = format!("{b:?}");
        prop_assert_eq!(points(json!({"type": "box"}), json!(a), &text), expected);
        // The same box in other conventions, where it can be written without rounding.
        let tenths = format!("[{}]", b.map(|edge| thousandths(edge * 100)).join(","));
        let config = json!({"type": "box", "convention": "norm100"});
        prop_assert_eq!(points(config, json!(a), &tenths), expected);
        let pixels = [width, height, width, height].map(i64::from);
        let pixels: Vec<String> = b.iter().zip(pixels).map(|(b, side)| thousandths(b * side)).collect();
        let config = json!({"type": "box", "convention": "pixel", "width": width, "height": height});
        prop_assert_eq!(points(config, json!(a), &format!("[{}]", pixels.join(","))), expected);
    }

    #[test]
    fn votes_do_not_depend_on_their_order(votes in prop::collection::vec((0u8..4, 0u8..3), 1..12), by in 0usize..12) {
        let mut labels: Vec<LabelPair> = votes
            .iter()
            .map(|(b, m)| LabelPair::new(&"abc"[..usize::from(*b).min(3)], &m.to_string()))
            .collect();
        let elected = elect(&labels);
        let by = by % labels.len();
        labels.rotate_left(by);
        prop_assert_eq!(elect(&labels), elected.clone());
        let elected = elected.expect("there are votes");
        let n = |brand: &str| labels.iter().filter(|label| label.brand == brand).count();
        for label in &labels {
            let (ours, theirs) = (n(&elected.brand), n(&label.brand));
            prop_assert!(theirs < ours || (theirs == ours && elected.brand <= label.brand));
        }
    }

    #[test]
    fn coverage_adds_up(expected in prop::collection::btree_set(0u8..20, 0..15), found in prop::collection::vec(0u8..25, 0..30)) {
        let expected: Vec<String> = expected.iter().map(u8::to_string).collect();
        let found: Vec<String> = found.iter().map(u8::to_string).collect();
        let coverage = Coverage::of(expected.iter().map(String::as_str), found.iter().map(String::as_str));
        let n = |id: &String| found.iter().filter(|other| *other == id).count();
        for id in &expected {
            prop_assert_eq!(coverage.missing.contains(id), n(id) != 1);
            prop_assert_eq!(coverage.duplicates.contains(id), n(id) > 1);
        }
        prop_assert!(coverage.unknown.iter().all(|id| !expected.contains(id)));
        prop_assert_eq!(coverage.is_complete(), expected.iter().all(|id| n(id) == 1));
    }

    #[test]
    fn correlations_are_symmetric_and_bounded(pairs in prop::collection::vec((0i32..20, 0i32..20), 2..30)) {
        let (x, y): (Vec<f64>, Vec<f64>) = pairs.iter().map(|(x, y)| (f64::from(*x), f64::from(*y))).unzip();
        let both = [pearson(&x, &y), spearman(&x, &y)];
        prop_assert_eq!(both, [pearson(&y, &x), spearman(&y, &x)]);
        prop_assert!(both.into_iter().flatten().all(|r| (-1.0..=1.0).contains(&r)));
        let n = x.len() as f64;
        prop_assert!((average_ranks(&x).iter().sum::<f64>() - n * (n + 1.0) / 2.0).abs() < 1e-9);
        let stretched: Vec<f64> = x.iter().map(|x| 3.0 * x - 7.0).collect();
        let again = pearson(&stretched, &y);
        prop_assert_eq!(again.is_some(), both[0].is_some());
        prop_assert!((again.unwrap_or(0.0) - both[0].unwrap_or(0.0)).abs() < 1e-9);
    }
}
