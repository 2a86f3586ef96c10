//! Every cell is planned or has its reasons; paths keep clear of zones and inside the fence.

use crate::common::{camera, plan_of, rectangle, site, small_spec};
use flightplans::plan::{CellState, FlightPlan, Purpose, Reason};
use flightplans::{PlanError, PlanSpec, Relief, Request, plan};

fn reasons(plan: &FlightPlan) -> Vec<&Reason> {
    plan.cells.iter().flat_map(|cell| &cell.reasons).collect()
}

/// A car park of 120 m x 80 m in a fence, with a row of masts across it.
fn fenced() -> flightplans::Site {
    site(r#"{"type": "FeatureCollection", "features": [
        {"type": "Feature", "properties": {"role": "area"}, "geometry": {"type": "Polygon", "coordinates":
          [[[9.0, 45.0], [9.0015217, 45.0], [9.0015217, 45.0007199], [9.0, 45.0007199], [9.0, 45.0]]]}},
        {"type": "Feature", "properties": {"role": "keep_out", "name": "mast"}, "geometry": {"type": "Polygon",
          "coordinates": [[[9.0007, 44.9998], [9.0008, 44.9998], [9.0008, 45.0009], [9.0007, 45.0009], [9.0007, 44.9998]]]}},
        {"type": "Feature", "properties": {"role": "fence"}, "geometry": {"type": "Polygon", "coordinates":
          [[[8.9996, 44.9997], [9.0019, 44.9997], [9.0019, 45.0010], [8.9996, 45.0010], [8.9996, 44.9997]]]}},
        {"type": "Feature", "properties": {"role": "home"}, "geometry": {"type": "Point", "coordinates": [9.0, 45.0]}}]}"#)
    .unwrap()
}

#[test]
fn each_limit_gives_its_reason() {
    let rectangle = rectangle(9.0, 45.0);
    let with = |change: &dyn Fn(&mut PlanSpec)| {
        let mut spec = small_spec();
        spec.bins.pitches_deg = vec![30.0, 60.0, 90.0];
        change(&mut spec);
        plan_of(&rectangle, &spec).unwrap()
    };
    let gimbal = with(&|spec| spec.gimbal.pitch_min_deg = Some(-70.0));
    assert!(
        reasons(&gimbal)
            .iter()
            .all(|r| matches!(r, Reason::GimbalLimit { .. }))
    );
    assert!(!gimbal.coverage.is_complete);
    let bin = gimbal
        .bins
        .iter()
        .find(|bin| bin.pitch_down_deg == 90.0)
        .unwrap();
    assert!(bin.pattern.is_none() && bin.n_infeasible > 0, "{bin:?}");
    let hole = &gimbal
        .coverage
        .bins
        .iter()
        .find(|b| b.pitch_down_deg == 90.0)
        .unwrap()
        .holes[0];
    assert!((hole.area_m2 - 9600.0).abs() < 200.0, "{hole:?}");

    let horizon = with(&|spec| spec.views.min_useful_share = 0.9);
    assert!(
        reasons(&horizon)
            .iter()
            .any(|r| matches!(r, Reason::HorizonInFrame { .. }))
    );
    let near = with(&|spec| spec.airspace.line_of_sight_m = 90.0);
    assert!(
        reasons(&near)
            .iter()
            .any(|r| matches!(r, Reason::BeyondLineOfSight { .. }))
    );
    let fast = with(&|spec| {
        spec.flight.min_speed_mps = 6.0;
        spec.camera.min_interval_s = 4.0;
    });
    assert!(
        reasons(&fast)
            .iter()
            .any(|r| matches!(r, Reason::IntervalTooShort { .. }))
    );
    let battery = with(&|spec| {
        spec.flight.max_flight_time_s = 75.0;
        spec.flight.battery_reserve = 0.0;
    });
    assert!(
        reasons(&battery)
            .iter()
            .any(|r| matches!(r, Reason::BeyondBattery { .. }))
    );
    assert!(battery.sorties.len() > 3, "{}", battery.sorties.len());
    assert!(
        battery
            .sorties
            .iter()
            .all(|sortie| sortie.duration_s <= 75.0)
    );
}

#[test]
fn nothing_feasible_is_an_error_with_the_reasons() {
    let mut spec = small_spec();
    spec.gimbal.pitch_max_deg = Some(-95.0);
    spec.gimbal.pitch_min_deg = Some(-100.0);
    let error = plan_of(&rectangle(9.0, 45.0), &spec).unwrap_err();
    assert!(
        matches!(&error, PlanError::NothingFeasible { .. }),
        "{error}"
    );
    assert!(
        error.to_string().contains("H060-P60: gimbal pitch -60"),
        "{error}"
    );
}

#[test]
fn cells_are_planned_or_have_reasons_and_paths_keep_clear() {
    let site = fenced();
    let mut spec = small_spec();
    spec.bins.heights_m = vec![30.0, 60.0];
    let plan = plan_of(&site, &spec).unwrap();
    for cell in &plan.cells {
        let is_planned = cell.state == CellState::Planned;
        assert_eq!(cell.reasons.is_empty(), is_planned, "{cell:?}");
        assert_eq!(cell.purpose != Purpose::None, is_planned, "{cell:?}");
    }
    let kinds = reasons(&plan);
    assert!(
        kinds
            .iter()
            .any(|r| matches!(r, Reason::OutsideFence { .. }))
    );
    assert!(
        kinds
            .iter()
            .any(|r| matches!(r, Reason::NoClearance { to, .. } if to == "mast"))
    );
    // Walk every leg in steps of a metre.
    let origin = &site.origin;
    let place = |[longitude, latitude, _]: [f64; 3]| {
        let at = calibration::Geodetic::from_degrees(latitude, longitude, calibration::Metres(0.0));
        origin.enu_from_geodetic(at.unwrap()).vector.xy()
    };
    let mut n_corners = 0;
    for sortie in &plan.sorties {
        let mut path = vec![site.home];
        for visit in &sortie.visits {
            n_corners += visit.way.len();
            path.extend(visit.way.iter().map(|corner| place(*corner)));
            let pose = &plan.cell(&visit.cell).unwrap().pose;
            path.push(nalgebra::Vector2::new(pose.east_m, pose.north_m));
        }
        path.extend(sortie.way_home.iter().map(|corner| place(*corner)));
        path.push(site.home);
        for leg in path.windows(2) {
            let steps = (leg[1] - leg[0]).norm().ceil().max(1.0);
            for step in 0..=steps as usize {
                let at = leg[0] + (leg[1] - leg[0]) * (step as f64 / steps);
                let zone = &site.keep_outs[0].region;
                assert!(
                    !zone.contains(&at) && zone.border_distance(&at) > 4.9,
                    "{at}"
                );
                assert!(site.fence.as_ref().unwrap().contains(&at), "{at}");
            }
        }
    }
    assert!(n_corners > 0, "the mast stands in the way of none");
}

#[test]
fn the_same_input_gives_the_same_bytes() {
    let site = fenced();
    let once = plan_of(&site, &small_spec()).unwrap().to_json();
    assert_eq!(once, plan_of(&site, &small_spec()).unwrap().to_json());
    let read = FlightPlan::parse(once.as_bytes(), std::path::Path::new("plan.json")).unwrap();
    assert_eq!(read.to_json(), once);
    let newer = once.replace("flight-plan/1", "flight-plan/2");
    let error = FlightPlan::parse(newer.as_bytes(), std::path::Path::new("plan.json")).unwrap_err();
    assert!(error.to_string().contains("flight-plan/2"), "{error}");
}

#[test]
fn cameras_without_a_known_gimbal_or_interval_say_so() {
    let site = rectangle(9.0, 45.0);
    let spec = small_spec();
    let plan = plan(&Request {
        site: &site,
        profile: camera("dji-fc6310"),
        spec: &spec,
        relief: &Relief::Flat,
        repeat: None,
        at: None,
        progress: None,
    })
    .unwrap();
    let said = plan.assumptions.join(" ");
    assert!(
        said.contains("gimbal") && said.contains("interval"),
        "{said}"
    );
}
