use super::*;
use std::path::Path;

fn site() -> Site {
    let text = r#"{"type": "FeatureCollection", "features": [
        {"type": "Feature", "properties": {}, "geometry": {"type": "Polygon", "coordinates":
            [[[9.0, 45.0], [9.002, 45.0], [9.002, 45.001], [9.0, 45.001]]]}},
        {"type": "Feature", "properties": {"role": "keep_out", "name": "mast"}, "geometry":
            {"type": "Polygon", "coordinates": [[[9.0009, 45.0002], [9.0011, 45.0002],
            [9.0011, 45.0008], [9.0009, 45.0008]]]}},
        {"type": "Feature", "properties": {"role": "keep_out", "top_height_m": 20}, "geometry":
            {"type": "Polygon", "coordinates": [[[9.0003, 45.0002], [9.0005, 45.0002],
            [9.0005, 45.0008], [9.0003, 45.0008]]]}},
        {"type": "Feature", "properties": {"role": "home"}, "geometry":
            {"type": "Point", "coordinates": [9.0, 45.0]}}]}"#;
    Site::parse(text.as_bytes(), Path::new("site.json")).unwrap()
}

#[test]
fn ways_go_around_zones_with_clearance() {
    let site = site();
    let airspace = Airspace::of(&site, &PlanSpec::default());
    let at = |east, height_m| Station {
        place: Place::new(east, 0.0),
        height_m,
    };
    let corners = airspace.way(&at(-40.0, 30.0), &at(40.0, 30.0)).unwrap();
    assert!(!corners.is_empty());
    let mut path = vec![at(-40.0, 0.0).place];
    path.extend(&corners);
    path.push(at(40.0, 0.0).place);
    for leg in path.windows(2) {
        let nearest = site.keep_outs[0].region.border_to_segment(&leg[0], &leg[1]);
        assert!(nearest >= 5.0 - 1e-6, "{nearest}");
    }
    let length: f64 = path.windows(2).map(|leg| (leg[1] - leg[0]).norm()).sum();
    // Two slants past the corners, 47 m each, and 26 m across.
    assert!(length > 110.0 && length < 121.0, "{length}");
    // Over the low zone straight, except too low.
    assert_eq!(
        airspace.way(&at(-60.0, 30.0), &at(-20.0, 30.0)),
        Some(vec![])
    );
    assert_ne!(
        airspace.way(&at(-60.0, 24.0), &at(-20.0, 24.0)),
        Some(vec![])
    );
}

#[test]
fn faults_are_named_with_their_numbers() {
    let site = site();
    let airspace = Airspace::of(&site, &PlanSpec::default());
    let faults = |east, height_m| {
        airspace.faults(&Station {
            place: Place::new(east, 0.0),
            height_m,
        })
    };
    assert_eq!(faults(-20.0, 60.0), []);
    assert!(matches!(&faults(0.0, 60.0)[..], [Reason::NoClearance { to, .. }] if to == "mast"));
    assert!(matches!(
        faults(20.0, 130.0)[..],
        [Reason::AboveMaxHeight { .. }]
    ));
    assert!(matches!(
        faults(300.0, 60.0)[..],
        [Reason::BeyondLineOfSight { .. }]
    ));
}
