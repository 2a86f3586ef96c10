//! What a site, a spec or a camera may hold that cannot be: each a clear error or a stated
//! assumption.

use crate::common::{plan_of, polygon_about, rectangle, site, small_spec};
use flightplans::{PlanError, PlanSpec, Site, SiteFault};
use std::path::Path;

fn ring(corners: &str) -> String {
    format!(r#"{{"type": "Polygon", "coordinates": [[{corners}]]}}"#)
}

/// Features: an area of 100 m about 9 E, 45 N, and others.
fn with_area(features: &str) -> String {
    format!(
        r#"{{"type": "FeatureCollection", "features": [
        {{"type": "Feature", "properties": {{"role": "area"}}, "geometry": {{"type": "Polygon",
          "coordinates": [[[9.0, 45.0], [9.0013, 45.0], [9.0013, 45.0009], [9.0, 45.0009], [9.0, 45.0]]]}}}}
        {features}]}}"#
    )
}

#[track_caller]
fn fault_of(text: &str) -> SiteFault {
    match site(text) {
        Err(PlanError::Site { fault, .. }) => fault,
        other => panic!("{other:?}"),
    }
}

#[test]
fn sites_that_cannot_be_are_named() {
    let bow = fault_of(&ring("[9,45],[9.001,45.001],[9.001,45],[9,45.001],[9,45]"));
    assert!(
        matches!(
            bow,
            SiteFault::CrossesItself {
                first: 1,
                second: 3,
                ..
            }
        ),
        "{bow}"
    );
    let flat = fault_of(&ring("[9,45],[9.001,45],[9.002,45],[9,45]"));
    assert!(matches!(flat, SiteFault::ZeroArea { .. }), "{flat}");
    let two = fault_of(&ring("[9,45],[9.001,45],[9,45]"));
    assert!(
        matches!(two, SiteFault::TooFewCorners { found: 2, .. }),
        "{two}"
    );
    let side = [[0.0, 0.0], [7100.0, 0.0], [7100.0, 7100.0], [0.0, 7100.0]];
    let large = fault_of(&polygon_about(9.0, 45.0, &side));
    assert!(matches!(large, SiteFault::TooLarge { .. }), "{large}");
    assert!(large.to_string().contains("50."), "{large}");
    let pole = fault_of(&polygon_about(
        9.0,
        86.0,
        &[[0.0, 0.0], [99.0, 0.0], [0.0, 99.0]],
    ));
    assert!(matches!(pole, SiteFault::NearPole { .. }), "{pole}");
    let none = fault_of(r#"{"type": "FeatureCollection", "features": []}"#);
    assert!(matches!(none, SiteFault::NoArea), "{none}");
    let beyond = fault_of(&ring("[9,45],[9.001,45],[999,45.001],[9,45]"));
    assert!(matches!(beyond, SiteFault::Coordinate { .. }), "{beyond}");
    let hole = r#"{"type": "Polygon", "coordinates": [
        [[9,45],[9.001,45],[9.001,45.001],[9,45.001],[9,45]],
        [[9.0005,45.0005],[9.002,45.0005],[9.0005,45.0008],[9.0005,45.0005]]]}"#;
    assert!(matches!(fault_of(hole), SiteFault::HoleOutside { .. }));
}

#[test]
fn swapped_coordinates_are_recognised() {
    // Latitude 120 cannot be.
    let far_east = fault_of(&ring("[30,120],[30,120.001],[30.001,120.001],[30,120]"));
    assert!(matches!(far_east, SiteFault::Swapped { .. }), "{far_east}");
    // The home point fits the area only when exchanged.
    let home = r#",{"type": "Feature", "properties": {"role": "home"},
        "geometry": {"type": "Point", "coordinates": [45.0002, 9.0002]}}"#;
    let exchanged = fault_of(&with_area(home));
    assert!(
        matches!(exchanged, SiteFault::Swapped { .. }),
        "{exchanged}"
    );
    // 45 E, 9 N would keep another hour than Rome's by three; 100 E more.
    let zone = |zone: &str, corners: &str| {
        format!(
            r#"{{"type": "Feature", "properties": {{"time_zone": "{zone}"}},
            "geometry": {{"type": "Polygon", "coordinates": [[{corners}]]}}}}"#
        )
    };
    let china = fault_of(&zone(
        "Asia/Shanghai",
        "[31.2,89.9],[31.2,89.901],[31.201,89.901],[31.2,89.9]",
    ));
    assert!(matches!(china, SiteFault::Swapped { .. }), "{china}");
    let nowhere = fault_of(&zone(
        "Europe/Rom",
        "[9,45],[9.001,45],[9.001,45.001],[9,45]",
    ));
    assert!(matches!(nowhere, SiteFault::TimeZone { .. }), "{nowhere}");
}

#[test]
fn what_can_be_repaired_is_said() {
    let open = site(&ring("[9,45],[9.001,45],[9.001,45.001]")).unwrap();
    assert!(
        open.assumptions[0].contains("closed"),
        "{:?}",
        open.assumptions
    );
    let clockwise = site(&ring("[9,45],[9,45.001],[9.001,45.001],[9,45]")).unwrap();
    let said = clockwise.assumptions.join(" ");
    assert!(
        said.contains("clockwise") && said.contains("home"),
        "{said}"
    );
    assert!(clockwise.area_m2() > 4000.0);
    let plan = plan_of(&rectangle(9.0, 45.0), &small_spec()).unwrap();
    let said = plan.assumptions.join(" ");
    assert!(
        said.contains("flat") && said.contains("line of sight"),
        "{said}"
    );
}

#[test]
fn a_site_on_the_antimeridian_is_one_site() {
    let text = ring(
        "[179.9995,-17],[-179.9995,-17],[-179.9995,-16.9993],[179.9995,-16.9993],[179.9995,-17]",
    );
    let site = site(&text).unwrap();
    assert!(
        (site.area_m2() - 106.4 * 77.4).abs() < 100.0,
        "{}",
        site.area_m2()
    );
    let plan = plan_of(&site, &small_spec()).unwrap();
    assert!(plan.coverage.is_complete);
    for cell in plan.planned() {
        assert!(cell.pose.longitude_deg.abs() > 179.99, "{:?}", cell.pose);
    }
}

#[test]
fn homes_that_are_not_allowed_are_refused() {
    let fence = r#",{"type": "Feature", "properties": {"role": "fence"}, "geometry": {"type": "Polygon",
        "coordinates": [[[8.999, 44.999], [9.002, 44.999], [9.002, 45.002], [8.999, 45.002], [8.999, 44.999]]]}},
        {"type": "Feature", "properties": {}, "geometry": {"type": "Point", "coordinates": [9.003, 45.0]}}"#;
    let outside = fault_of(&with_area(fence));
    assert!(
        outside.to_string().contains("outside the fence"),
        "{outside}"
    );
    let zone = r#",{"type": "Feature", "properties": {"role": "keep_out", "name": "school"}, "geometry":
        {"type": "Polygon", "coordinates": [[[9.0, 45.0], [9.0002, 45.0], [9.0002, 45.0002], [9.0, 45.0]]]}},
        {"type": "Feature", "properties": {}, "geometry": {"type": "Point", "coordinates": [9.00015, 45.00005]}}"#;
    let inside = fault_of(&with_area(zone));
    assert!(inside.to_string().contains("school"), "{inside}");
    let role = r#",{"type": "Feature", "properties": {"role": "fense"}, "geometry": {"type": "Polygon",
        "coordinates": [[[9.0, 45.0], [9.0002, 45.0], [9.0002, 45.0002], [9.0, 45.0]]]}}"#;
    assert!(matches!(fault_of(&with_area(role)), SiteFault::Role { .. }));
}

#[test]
fn files_of_other_kinds_are_refused() {
    for text in [
        "",
        "hello",
        "{}",
        "[]",
        r#"{"type": "Topology"}"#,
        "<svg></svg>",
        "<kml>",
    ] {
        let error = Site::parse(text.as_bytes(), Path::new("x")).unwrap_err();
        assert!(
            matches!(error, PlanError::Malformed { .. }),
            "{text}: {error}"
        );
        assert_eq!(error.exit_code(), 1);
    }
}

#[test]
fn specs_that_contradict_themselves_are_refused() {
    let parse = |text: &str| {
        PlanSpec::parse(
            &format!("schema = \"plan-spec/1\"\n{text}"),
            Path::new("s.toml"),
        )
    };
    assert_eq!(parse("").unwrap(), PlanSpec::default());
    for (text, expected) in [
        ("[bins]\nheights_m = []", "bins.heights_m"),
        ("[bins]\nheights_m = [30, 30]", "bins.heights_m"),
        ("[bins]\npitches_deg = [-45]", "bins.pitches_deg"),
        ("[bins]\npitches_deg = [nan]", "bins.pitches_deg"),
        ("[flight]\ncruise_mps = 0", "flight.cruise_mps"),
        ("[flight]\nmin_speed_mps = 9", "contradicts"),
        ("[flight]\nbattery_reserve = 1.0", "battery_reserve"),
        ("[views]\nmin_per_point = 0", "views.min_per_point"),
        ("[views]\nmin_headings = 4", "contradicts"),
        (
            "[views]\nmin_per_point = 1\nmin_headings = 2",
            "contradicts",
        ),
        ("[views]\nmin_depression_deg = 30", "contradicts"),
        (
            "[gimbal]\npitch_min_deg = 0\npitch_max_deg = -90",
            "contradicts",
        ),
        ("[gimbal]\npitch_min_deg = inf", "gimbal.pitch_min_deg"),
        ("[flights]", "unknown field `flights`"),
    ] {
        let error = parse(text).unwrap_err().to_string();
        assert!(error.contains(expected), "{text}: {error}");
    }
    let newer = PlanSpec::parse("schema = \"plan-spec/2\"", Path::new("s.toml")).unwrap_err();
    assert!(newer.to_string().contains("plan-spec/2") && newer.to_string().contains("plan-spec/1"));
    let mut high = small_spec();
    high.airspace.max_height_m = 50.0;
    let error = plan_of(&rectangle(9.0, 45.0), &high).unwrap_err();
    assert!(matches!(error, PlanError::Contradiction { .. }), "{error}");
}
