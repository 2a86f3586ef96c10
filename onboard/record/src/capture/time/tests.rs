//! Texts of dates, and zones around the changes of summer time. Whole photos are in
//! `capture::tests`.

use super::stamp::{fraction, gps, parse, parse_offset};
use super::*;

#[test]
fn dates_as_cameras_and_xmp_write_them() {
    let check = |text: &str, civil: Option<&str>, offset_s: Option<i32>| {
        let found = parse(text);
        assert_eq!(
            found.map(|stamp| stamp.civil.to_string()).as_deref(),
            civil,
            "{text:?}"
        );
        assert_eq!(found.and_then(|stamp| stamp.offset_s), offset_s, "{text:?}");
    };
    check("2018:04:29 12:12:44", Some("2018-04-29T12:12:44"), None);
    check("2018-04-29T12:12:44Z", Some("2018-04-29T12:12:44"), Some(0));
    check(
        "2022-03-24T17:37:59+08:00",
        Some("2022-03-24T17:37:59"),
        Some(28_800),
    );
    check(
        "2021-05-26T15:21:49.073960",
        Some("2021-05-26T15:21:49.07396"),
        None,
    );
    check(
        "2021-10-22T11:30:09.205000-03:30",
        Some("2021-10-22T11:30:09.205"),
        Some(-12_600),
    );
    check("2021-10-22T11:30", Some("2021-10-22T11:30:00"), None);
    for bad in [
        "2026-01-26",
        "0000:00:00 00:00:00",
        "    :  :     :  :  ",
        "2018:13:29 12:12:44",
        "2018:02:30 12:12:44",
        "2018:04:29 25:12:44",
        "2018:04:29 12:12:60",
        "2018:04:29 12:12:44 PM",
        "2018:04:29 12:12:44+99:00",
        "",
        "é",
    ] {
        check(bad, None, None);
    }
}

#[test]
fn offsets_and_fractions() {
    for (text, expected) in [
        ("+02:00", Some(7200)),
        ("-0330", Some(-12_600)),
        ("+14", Some(50_400)),
        ("Z", Some(0)),
        ("+15:30", None),
        ("+02:75", None),
        ("02:00", None),
        ("+2", None),
        ("+02:00:00", None),
        ("", None),
    ] {
        assert_eq!(parse_offset(text), expected, "{text:?}");
    }
    assert_eq!(fraction("050"), Some(50_000_000));
    assert_eq!(fraction("498032"), Some(498_032_000));
    assert_eq!(fraction("1234567891234"), Some(123_456_789));
    assert_eq!(fraction("5 "), Some(500_000_000));
    assert_eq!(fraction(""), None);
    assert_eq!(fraction("-5"), None);
    let stamp = gps("2016:11:22", 16.0, 32.0, 33.853).unwrap();
    assert!(stamp.has_fraction);
    assert_eq!(stamp.civil.to_string(), "2016-11-22T16:32:33.853");
    assert!(!gps("2016:11:22", 16.0, 32.0, 33.0).unwrap().has_fraction);
    assert!(gps("2016:11:22", 24.0, 0.0, 0.0).is_none());
    assert!(gps("2016:11:22", 1.5, 0.0, 0.0).is_none());
    assert!(gps("1980:01", 1.0, 0.0, 0.0).is_none());
}

#[test]
fn a_zone_turns_the_clock_into_utc_and_knows_its_gaps() {
    let berlin = TimeZone::get("Europe/Berlin").unwrap();
    let check = |shown: &str, utc: &str, plus_minus_s: f64, n_remarks: usize| {
        let local = LocalTime {
            shown: shown.parse().unwrap(),
            source: Source::exif("DateTimeOriginal"),
        };
        let mut times = Vec::new();
        let mut remarks = Vec::new();
        add_zone(Some(&local), &mut times, &berlin, &mut remarks);
        assert_eq!(times[0].utc, utc.parse().unwrap(), "{shown}");
        assert!(
            (times[0].plus_minus.get() - plus_minus_s).abs() < 1e-9,
            "{shown}"
        );
        assert_eq!(times[0].basis, TimeBasis::SiteZone);
        assert_eq!(times[0].source.key, "Europe/Berlin");
        assert_eq!(remarks.len(), n_remarks, "{shown}: {remarks:?}");
    };
    check("2026-07-01T12:00:00", "2026-07-01T10:00:00Z", 30.0, 0);
    check("2026-01-01T12:00:00", "2026-01-01T11:00:00Z", 30.0, 0);
    // 02:30 comes twice on 25 October 2026 and not at all on 29 March.
    check("2026-10-25T02:30:00", "2026-10-25T00:30:00Z", 3630.0, 1);
    check("2026-03-29T02:30:00", "2026-03-29T01:30:00Z", 3630.0, 1);
}
