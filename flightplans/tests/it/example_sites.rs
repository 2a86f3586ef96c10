//! Each example site with its spec is planned, and says what its file is for.

use crate::common::{camera, plan_of};
use flightplans::{PlanSpec, Relief, Request, Site, plan};
use std::path::PathBuf;

/// Enough to see that the search works; the file itself asks for many more.
const FEW_ROUNDS: u32 = 40;

fn sites() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("sites")
}

fn spec_of(name: &str) -> PlanSpec {
    let path = sites().join(name).with_extension("toml");
    if path.exists() {
        PlanSpec::load(&path).unwrap()
    } else {
        PlanSpec::default()
    }
}

#[test]
fn every_site_is_planned() {
    let mut names = Vec::new();
    for entry in std::fs::read_dir(sites()).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_some_and(|ending| ending == "toml") {
            assert!(PlanSpec::load(&path).is_ok(), "{}", path.display());
            continue;
        }
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        let site = Site::load(&path).unwrap();
        let mut spec = spec_of(&name);
        spec.search.rounds = spec.search.rounds.min(FEW_ROUNDS);
        let plan = plan(&Request {
            site: &site,
            profile: camera("dji-m3e"),
            spec: &spec,
            relief: &Relief::Flat,
            repeat: None,
            at: None,
            progress: None,
        })
        .unwrap();
        assert!(plan.coverage.is_complete, "{name}: {:?}", plan.warnings);
        assert!(plan.matching.holds, "{name}: {:?}", plan.matching);
        assert!(site.time_zone.is_some(), "{name}");
        names.push(name);
    }
    assert!(names.len() >= 3, "{names:?}");
}

/// The fixed comparison: the numbers that the documents state, from both sides.
#[test]
fn the_comparison_plan_is_as_stated() {
    let site = Site::load(&sites().join("comparison.geojson")).unwrap();
    assert!((site.area_m2() - 9600.0).abs() < 20.0, "{}", site.area_m2());
    let spec_file = spec_of("comparison.geojson");
    assert!(spec_file.search.rounds >= 1000);
    let plans = [0, FEW_ROUNDS].map(|rounds| {
        let mut spec = spec_file.clone();
        spec.search.rounds = rounds;
        plan_of(&site, &spec).unwrap()
    });
    let [quick, plan] = &plans;
    assert!(quick.coverage.is_complete && quick.matching.holds);
    // The search keeps the promise and shortens the flight.
    let gain_s = quick.time.first_to_last_photo_s - plan.time.first_to_last_photo_s;
    assert!((15.0..200.0).contains(&gain_s), "{gain_s}");
    let time = &plan.time;
    assert!(plan.coverage.is_complete && plan.matching.holds);
    assert_eq!(time.n_batteries, 1);
    assert!(time.first_to_last_photo_s >= time.bound_of_order_s);
    assert!(time.bound_of_order_s >= time.bound_of_any_plan_s);
    let minutes = time.first_to_last_photo_s / 60.0;
    assert!((10.0..12.6).contains(&minutes), "{minutes}");
    eprintln!(
        "comparison: {minutes:.2} min first to last, {:.2} min flight, {} photos, {:.0} m, bounds {:.2} and {:.2} min",
        time.flight_s / 60.0,
        time.n_photos,
        time.path_m,
        time.bound_of_order_s / 60.0,
        time.bound_of_any_plan_s / 60.0
    );
}
