//! What photos say in odd ways (cases 4 and 6), and the time zone.

use super::photos;
use tests::workbench::Workbench;
use tests::world::World;

/// Case 6: heights as different firmware writes them.
#[test]
fn heights_above_take_off_are_read_in_all_their_forms() {
    let mut world = World::rings(9, 1);
    let forms = [
        ("+39.80", Some(39.8)),
        ("39.80", Some(39.8)),
        ("-3.2", Some(-3.2)),
        ("39,80", Some(39.8)),
        ("398/10", Some(39.8)),
        ("+39.80 m", Some(39.8)),
        ("", None),
        ("nan", None),
    ];
    for (shot, (text, _)) in world.shots.iter_mut().zip(forms) {
        shot.photo.set_dji("RelativeAltitude", text);
    }
    world.shots[8].photo.remove_dji("RelativeAltitude");
    let bench = Workbench::ingested(&world);
    let taken = photos(&bench);
    let height = |name: &str| taken[name]["capture"]["height_above_takeoff"]["height_m"].as_f64();
    for (shot, (text, expected)) in world.shots.iter().zip(forms) {
        assert_eq!(height(&shot.name), expected, "{text:?}");
    }
    assert_eq!(height("DJI_0009.JPG"), None);
}

/// Case 4: what a receiver without a fix writes is no position.
#[test]
fn impossible_positions_are_missing_ones() {
    let mut world = World::rings(6, 2);
    let places = [[0.0, 0.0], [91.0, 11.0], [48.0, 181.0]];
    for (shot, place) in world.shots.iter_mut().zip(places) {
        shot.photo.remove_place();
        shot.photo.place_deg = Some(place);
    }
    world.shots[3].photo.remove_place();
    world.shots[3].photo.set_dji("GpsLatitude", "nan");
    world.shots[3].photo.set_dji("GpsLongitude", "nan");
    let taken = photos(&Workbench::ingested(&world));
    for (idx, shot) in world.shots.iter().enumerate() {
        let position = &taken[&shot.name]["capture"]["position"];
        assert_eq!(position.is_null(), idx < 4, "{}: {position}", shot.name);
    }
}

#[test]
fn the_zone_is_stored_kept_and_checked() {
    let mut world = World::rings(4, 3);
    for shot in &mut world.shots {
        shot.photo.gps_time = None;
    }
    let bench = Workbench::new(&world);
    let refused = bench
        .run(&[
            "ingest",
            "photos",
            "scene",
            "--zone",
            "Europe/Bielefeld-Süd",
        ])
        .with_code(1);
    assert!(
        refused.stderr.contains("Europe/Bielefeld-Süd"),
        "{}",
        refused.stderr
    );
    let utc = || {
        let taken = photos(&bench);
        let time = &taken["DJI_0001.JPG"]["capture"]["times"][0];
        (
            time["utc"].as_str().expect("a time").to_owned(),
            time["plus_minus_s"].as_f64().expect("a number"),
        )
    };
    let _ = bench.ingest().with_code(0);
    assert_eq!(utc(), ("2026-05-12T10:00:00Z".to_owned(), 50_400.0));
    let zone = ["ingest", "photos", "scene", "--zone", "Europe/Berlin"];
    let _ = bench.run(&zone).with_code(0);
    assert_eq!(utc(), ("2026-05-12T08:00:00Z".to_owned(), 30.0));
    // Asked again without a zone, the scene keeps its own.
    let _ = bench.ingest().with_code(0);
    assert_eq!(bench.scene_json()["zone"], "Europe/Berlin");
}

#[test]
fn a_site_names_the_zone() {
    let bench = Workbench::new(&World::rings(4, 3));
    let site = bench.root().join("site.geojson");
    let ingest = ["ingest", "photos", "scene", "--site", "site.geojson"];
    let feature = |zone: &str| {
        format!(r#"{{"type":"Feature","properties":{{"time_zone":"{zone}"}},"geometry":null}}"#)
    };
    let both = [feature("Europe/Rome"), feature("Asia/Tokyo")].join(",");
    let without = r#"{"type":"Feature","properties":{},"geometry":null}"#.to_owned();
    for (text, said) in [
        ("zone: Europe/Rome".to_owned(), "is no GeoJSON"),
        (r#"{"type":"Point"}"#.to_owned(), "its type is \"Point\""),
        (without, "names no time zone"),
        (
            format!(r#"{{"type":"FeatureCollection","features":[{both}]}}"#),
            "names two time zones, \"Europe/Rome\" and \"Asia/Tokyo\"",
        ),
        (feature("Mars/Olympus"), "\"Mars/Olympus\" is not an IANA"),
    ] {
        std::fs::write(&site, text).expect("a temporary file");
        let refused = bench.run(&ingest).with_code(1);
        assert!(refused.stderr.contains(said), "{}", refused.stderr);
    }
    std::fs::write(&site, feature("Europe/Rome")).expect("a temporary file");
    let _ = bench.run(&ingest).with_code(0);
    assert_eq!(bench.scene_json()["zone"], "Europe/Rome");
}
