use super::*;
use proptest::prelude::*;

const KEYS: [&str; 2] = ["brand", "model"];

fn read(text: &str) -> Option<[String; 2]> {
    first_object(text, KEYS).map(|found| found.map(Cow::into_owned))
}

#[track_caller]
fn check(text: &str, expected: Option<[&str; 2]>) {
    assert_eq!(read(text), expected.map(|e| e.map(str::to_owned)), "{text}");
}

#[test]
fn the_first_object_decides() {
    check(r#"{"brand":"a","model":"b"}"#, Some(["a", "b"]));
    check(r#"I think {"model":"b"} or {"brand":"c"}"#, Some(["", "b"]));
    check(r#"{no} {"brand":"a"}"#, Some(["a", ""]));
    check(r#"{"x": {"brand":"inner"}}"#, Some(["", ""]));
    check(r#"{"x": {"brand":"inner"}"#, Some(["inner", ""]));
    check("{}", Some(["", ""]));
    check(r#"[{"brand":"a"}]"#, Some(["a", ""]));
    check(r#"{"brand":"a","#, None);
    check(r#"{"brand":"a",}"#, None);
    check("{'brand':'a'}", None);
    check("", None);
}

#[test]
fn values_become_texts() {
    check(r#"{"brand":1.50,"model":-3e+05}"#, Some(["1.50", "-3e+05"]));
    check(r#"{"brand":null,"model":true}"#, Some(["", "true"]));
    check(
        r#"{"brand":["a", "b"],"model":{"c":1}}"#,
        Some([r#"["a", "b"]"#, r#"{"c":1}"#]),
    );
    check(
        r#"{"\u0062rand":"\ud83d\ude97\n","model":"\"\\\/"}"#,
        Some(["\u{1f697}\n", "\"\\/"]),
    );
    check(r#"{"brand":"a","brand":"b"}"#, Some(["b", ""]));
    check(r#"{"brand":"a","brand":null}"#, Some(["", ""]));
    check(r#"{"Brand":"a"}"#, Some(["", ""]));
    check(r#"{"brand":01}"#, None);
    check(r#"{"brand":"\ud83d"}"#, None);
    check("{\"brand\":\"a\nb\"}", None);
}

#[test]
fn nesting_ends_where_serde_json_ends() {
    for depth in [1usize, 2, 126, 127, 128, 129] {
        let text = "[".repeat(depth) + &"]".repeat(depth);
        let object = format!(r#"{{"a":{text}}}"#);
        let is_value = serde_json::from_str::<serde_json::Value>(&object).is_ok();
        assert_eq!(read(&object).is_some(), is_value, "{depth}");
    }
}

#[test]
fn arrays_of_numbers_only() {
    assert_eq!(numbers::<2>("[1, 2.50]"), Ok(["1", "2.50"]));
    assert_eq!(numbers::<2>("[ -1e3 ,0 ]"), Ok(["-1e3", "0"]));
    for (text, expected) in [
        ("[1,2,3]", NotNumbers::Length(3)),
        ("[]", NotNumbers::Length(0)),
        ("[1]", NotNumbers::Length(1)),
        ("[1,true]", NotNumbers::OtherValues),
        ("[1,\"2\"]", NotNumbers::OtherValues),
        ("[1,[2]]", NotNumbers::OtherValues),
        ("[1,2,]", NotNumbers::NotAnArray),
        ("[1,02]", NotNumbers::NotAnArray),
        ("[1,+2]", NotNumbers::NotAnArray),
        ("[1,.2]", NotNumbers::NotAnArray),
        ("[1,NaN]", NotNumbers::NotAnArray),
        ("[1,2] ", NotNumbers::NotAnArray),
        ("1,2", NotNumbers::NotAnArray),
        ("", NotNumbers::NotAnArray),
    ] {
        assert_eq!(numbers::<2>(text), Err(expected), "{text}");
    }
}

/// What a general JSON library makes of it: the independent reading.
fn by_serde_json(text: &str) -> Option<[String; 2]> {
    let starts = text.match_indices('{').map(|(i, _)| i);
    let value = starts
        .filter_map(|start| {
            let mut values = serde_json::Deserializer::from_str(&text[start..]).into_iter();
            values.next()?.ok()
        })
        .find(serde_json::Value::is_object)?;
    Some(KEYS.map(|key| match &value[key] {
        serde_json::Value::Null => String::new(),
        serde_json::Value::String(text) => text.clone(),
        other => other.to_string(),
    }))
}

/// Pieces that JSON is made of, in any order.
fn pieces() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        8 => prop::sample::select(vec![
            "{", "}", "[", "]", ",", ":", "\"", "\\", " ", "\n", "null", "true", "1", "-7", "2.5",
            "\"brand\":", "\"model\":", "\"a\"", "\\u00e4", "\\ud83d", "\\ude97", "\u{e9}", "\u{3000}",
        ]).prop_map(str::to_owned),
        1 => Just(r#"{"brand":"BYD","model":"Han"}"#.to_owned()),
    ];
    prop::collection::vec(piece, 0..24).prop_map(|pieces| pieces.concat())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 20_000, failure_persistence: None, rng_seed: proptest::test_runner::RngSeed::Fixed(7), ..ProptestConfig::default() })]

    #[test]
    fn agrees_with_serde_json(text in pieces()) {
        prop_assert_eq!(read(&text), by_serde_json(&text));
    }

    #[test]
    fn arrays_agree_with_serde_json(text in "[\\[\\], 0-9.eE+\\-]{0,12}") {
        let is_array = serde_json::from_str::<Vec<serde_json::Number>>(&text)
            .is_ok_and(|numbers| numbers.len() == 2);
        // serde_json also refuses numbers that overflow; this range of letters can write some.
        let ours = numbers::<2>(text.trim()).is_ok_and(|n| n.iter().all(|n| n.parse::<f64>().is_ok_and(f64::is_finite)));
        prop_assert_eq!(ours, is_array);
    }
}
