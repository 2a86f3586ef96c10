//! Texts that are hostile by accident or on purpose: no panic, and work that grows with the length.

use proptest::prelude::*;
use proptest::test_runner::RngSeed;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{RngCore, SeedableRng};
use scoring::{Config, Rule, normalize_label};
use serde_json::{Value, json};
use std::time::{Duration, Instant};

/// A rule of every kind.
fn rules() -> Vec<Rule> {
    let rule = |config: Value, reference: Value| {
        let config: Config = serde_json::from_value(config).expect("a configuration");
        Rule::new(&config, &reference).expect("a rule")
    };
    let number = |score: &str, more: Value| {
        let mut config = json!({"type": "number", "score": score});
        let fields = config.as_object_mut().expect("an object");
        fields.extend(more.as_object().expect("an object").clone());
        config
    };
    vec![
        rule(
            json!({"type": "label_pair"}),
            json!({"brand": "BYD", "model": "Han"}),
        ),
        rule(json!({"type": "count", "score": "mra"}), json!(20)),
        rule(
            json!({"type": "choice", "candidates": ["a", "b"]}),
            json!("a"),
        ),
        rule(number("mra", json!({"positive": true})), json!("0.3")),
        rule(
            number("angle", json!({"period": 360, "normalize": true})),
            json!(10),
        ),
        rule(number("angle", json!({"min": 0, "max": 90})), json!(10)),
        rule(
            number("exact", json!({"format": "integer", "min": 0, "max": 23})),
            json!(10),
        ),
        rule(json!({"type": "box"}), json!([100, 100, 300, 300])),
        rule(
            json!({"type": "box", "convention": "pixel", "width": 5472, "height": 3648}),
            json!(["12.345", 100, 300, 300]),
        ),
        rule(json!({"type": "gps"}), json!([31.23, 121.47])),
    ]
}

/// Judges a text by every rule and holds what must hold for any.
fn judge_by_all(rules: &[Rule], text: &str) {
    for rule in rules {
        let judgement = rule.judge(text);
        let points = judgement.points.value();
        assert!((0.0..=100.0).contains(&points), "{text:?}");
        assert!(judgement.answer.is_ok() || points == 0.0, "{text:?}");
        if let Some(brand) = judgement.brand_points {
            assert!(brand >= judgement.points, "{text:?}");
        }
        // White space around a response never matters.
        let spaced = rule.judge(&format!("\u{3000}\n{text}\t "));
        assert_eq!(spaced.points, judgement.points, "{text:?}");
        assert_eq!(spaced.answer.is_ok(), judgement.answer.is_ok(), "{text:?}");
    }
}

/// Texts that are right for some rule: what mutations start from.
const SEEDS: [&str; 12] = [
    r#"{"brand":"BYD","model":"Han"}"#,
    r#"Sure: {"brand":"Citro\u00ebn","model":null,"x":[1,{"y":"\ud83d\ude97"}]} done"#,
    "20",
    "a",
    "0.33",
    "-355.0e0",
    "1.5E-12",
    "[100,100,300,300]",
    "[547.2,364.8,1641.6,1094.4]",
    "[31.23,121.47]",
    "[-0.0,1e2]",
    "\u{ff12}\u{ff10}",
];

/// Bytes that mean something to one of the parsers.
const PIECES: [&str; 24] = [
    "{",
    "}",
    "[",
    "]",
    "\"",
    "\\",
    ":",
    ",",
    "-",
    "+",
    ".",
    "e",
    "0",
    "9",
    "999999999999",
    "\\u",
    "d83d",
    "null",
    "true",
    " ",
    "\u{3000}",
    "\u{feff}",
    "\u{df}",
    "inf",
];

/// Changes a text in a few places: pieces put in, parts taken out, doubled, swapped.
fn mutate(text: &str, random: &mut ChaCha8Rng) -> String {
    let mut chars: Vec<char> = text.chars().collect();
    for _ in 0..1 + random.next_u32() % 6 {
        let below = |random: &mut ChaCha8Rng, n: usize| random.next_u32() as usize % n.max(1);
        let at = below(random, chars.len() + 1);
        let end = at + below(random, chars.len() + 1 - at);
        match random.next_u32() % 5 {
            0 | 1 => {
                let piece = PIECES[below(random, PIECES.len())];
                chars.splice(at..at, piece.chars());
            }
            2 => drop(chars.drain(at..end)),
            3 => {
                let copy: Vec<char> = chars[at..end].to_vec();
                chars.splice(at..at, copy);
            }
            _ if chars.len() > 1 => {
                let (a, b) = (below(random, chars.len()), below(random, chars.len()));
                chars.swap(a, b);
            }
            _ => {}
        }
        chars.truncate(400);
    }
    chars.into_iter().collect()
}

#[test]
fn mutated_responses_never_panic() {
    let rules = rules();
    let mut random = ChaCha8Rng::seed_from_u64(20_261_130);
    let mut pool: Vec<String> = SEEDS.iter().map(|&seed| seed.to_owned()).collect();
    for round in 0..40_000 {
        let from = random.next_u32() as usize % pool.len();
        let text = mutate(&pool[from], &mut random);
        judge_by_all(&rules, &text);
        let _ = scoring::check_case(&text);
        // What a rule still reads is a good place to go on from.
        if round % 7 == 0 && rules.iter().any(|rule| rule.parse(&text).is_ok()) {
            let place = random.next_u32() as usize % 512;
            if place < pool.len() && place >= SEEDS.len() {
                pool[place] = text;
            } else if pool.len() < 512 {
                pool.push(text);
            }
        }
    }
}

#[test]
fn the_mutator_reaches_valid_and_invalid_texts() {
    let rules = rules();
    let mut random = ChaCha8Rng::seed_from_u64(1);
    let mut n_valid = 0;
    for round in 0..3_000 {
        let text = mutate(SEEDS[round % SEEDS.len()], &mut random);
        n_valid += usize::from(rules.iter().any(|rule| rule.parse(&text).is_ok()));
    }
    assert!((300..2_700).contains(&n_valid), "{n_valid}");
}

/// The time to judge a text by every rule, the best of three.
fn time(rules: &[Rule], text: &str) -> Duration {
    let once = || {
        let start = Instant::now();
        judge_by_all(rules, text);
        start.elapsed()
    };
    (0..3).map(|_| once()).min().expect("three measurements")
}

#[test]
fn work_grows_with_the_length_whatever_repeats() {
    let rules = rules();
    for piece in [
        "{",
        "{\"",
        "{\"a\":",
        "{\"a\":[",
        "[",
        "{\"a\":\"{",
        "{ ",
        "\\",
        "\"",
        "{\"{\":1,",
        "{\"{\":\",\" :\"",
        "{\"brand\":\"a\",",
        "\u{3000}",
        "{}x",
        "-",
        "1,",
    ] {
        let short = time(&rules, &piece.repeat(40_000 / piece.len()));
        let long = time(&rules, &piece.repeat(320_000 / piece.len()));
        // Eight times the length: linear work takes 8 times as long, quadratic 64 times.
        let limit = 28 * short.max(Duration::from_millis(2));
        assert!(long < limit, "{piece:?}: {short:?} and {long:?}");
    }
}

fn config(cases: u32) -> ProptestConfig {
    ProptestConfig {
        cases,
        failure_persistence: None,
        rng_seed: RngSeed::Fixed(7),
        ..ProptestConfig::default()
    }
}

proptest! {
    #![proptest_config(config(3_000))]

    #[test]
    fn any_text_is_judged(text in any::<String>()) {
        judge_by_all(&rules(), &text);
    }

    #[test]
    fn normalising_twice_is_normalising_once(text in any::<String>()) {
        let once = normalize_label(&text);
        prop_assert_eq!(normalize_label(&once), once);
    }
}
