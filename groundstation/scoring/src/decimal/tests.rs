use super::*;
use proptest::prelude::*;

fn number(text: &str) -> Decimal {
    Decimal::parse(text).unwrap_or_else(|error| panic!("{text}: {error:?}"))
}

#[test]
fn numbers_are_read_whole() {
    for (text, same) in [
        ("62.5", "625e-1"),
        (".625e2", "62.5"),
        ("62.", "62"),
        ("+1", "1"),
        ("-0", "0"),
        ("1E+2", "100"),
        ("1e-400", "0"),
        ("0e999999999999999999999", "0"),
        ("1e-99999999999999999999999", "0"),
        ("000.3300", "0.33"),
        (
            "123456789012345678901234567890123456789012345e-45",
            "0.123456789012345678901234567890123456789012345",
        ),
    ] {
        assert_eq!(number(text), number(same), "{text}");
    }
    for text in [
        "", ".", "+", "-", "e5", "1e", "1e+", "1.2.3", "1 2", "0x10", "1_000", "1,5", "nan", "inf",
        "infinity", "--1", "1e1.5", "\u{ff11}", "1f", " 1",
    ] {
        assert_eq!(
            Decimal::parse(text).err(),
            Some(NotANumber::Syntax),
            "{text}"
        );
    }
    for text in ["1e999", "-1e309", "1e999999999999999999999999"] {
        assert_eq!(
            Decimal::parse(text).err(),
            Some(NotANumber::NotFinite),
            "{text}"
        );
    }
    let long = format!("1{}", "0".repeat(400));
    assert_eq!(Decimal::parse(&long).err(), Some(NotANumber::NotFinite));
    let small = format!("0.{}1e401", "0".repeat(400));
    assert_eq!(number(&small), number("1"));
}

#[test]
fn one_third_of_a_tenth_is_not_rounded() {
    assert_ne!(0.33f64 - 0.3, 0.03);
    assert_eq!(number("0.33").minus(&number("0.3")), number("0.03"));
}

#[test]
fn remainders_are_positive() {
    for (value, period, expected) in [
        ("-5", "360", "355"),
        ("725.5", "360", "5.5"),
        ("360", "360", "0"),
        ("1e300", "360", "280"),
        ("-1e40", "7", "3"),
    ] {
        assert_eq!(
            number(value).modulo(&number(period)),
            number(expected),
            "{value}"
        );
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2_000, failure_persistence: None, rng_seed: proptest::test_runner::RngSeed::Fixed(7), ..ProptestConfig::default() })]

    #[test]
    fn the_nearest_float_is_what_the_standard_library_reads(
        text in "[+-]?([0-9]{1,40}(\\.[0-9]{0,30})?|\\.[0-9]{1,30})([eE][+-]?[0-9]{1,3})?"
    ) {
        let float: f64 = text.parse().expect("the grammar is a part of Rust's");
        match Decimal::parse(&text) {
            Ok(exact) => prop_assert_eq!(exact.to_f64(), float),
            Err(error) => {
                prop_assert_eq!(error, NotANumber::NotFinite);
                prop_assert!(float.is_infinite());
            }
        }
    }

    #[test]
    fn small_and_large_integers_agree(a in any::<i64>(), b in any::<i64>(), e in -30i32..30) {
        let (x, y) = (Decimal::scaled(a, e), Decimal::scaled(b, 0));
        let sum = x.plus(&y);
        prop_assert_eq!(sum.minus(&y), x.clone());
        prop_assert_eq!(x.cmp(&y), x.minus(&y).cmp(&Decimal::from_integer(0)));
        let huge = Decimal::scaled(1, 60);
        prop_assert_eq!(x.plus(&huge).minus(&huge), x.clone());
        prop_assert_eq!(x.times(&huge).times(&Decimal::scaled(1, -60)), x);
    }
}
