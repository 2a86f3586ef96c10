//! A later visit keeps the earlier plan's cells, and the sun of the two is compared.

use crate::common::{camera, plan_of, rectangle, small_spec};
use flightplans::plan::FlightPlan;
use flightplans::{PlanError, Relief, Request, Site, plan};

fn again(site: &Site, earlier: &FlightPlan, at: Option<&str>) -> Result<FlightPlan, PlanError> {
    plan(&Request {
        site,
        profile: camera("dji-m3e"),
        spec: &small_spec(),
        relief: &Relief::Flat,
        repeat: Some((earlier, "ab".repeat(32))),
        at: at.map(|time| time.parse().unwrap()),
        progress: None,
    })
}

#[test]
fn earlier_cells_are_kept_with_their_poses() {
    let site = rectangle(9.0, 45.0);
    let first = plan_of(&site, &small_spec()).unwrap();
    let second = again(&site, &first, None).unwrap();
    for cell in first.planned() {
        let same = second.cell(&cell.id).unwrap();
        assert_eq!((same.pose, same.state), (cell.pose, cell.state));
    }
    assert_eq!(second.made_from.repeats_sha256, Some("ab".repeat(32)));
    let elsewhere = rectangle(9.1, 45.0);
    let error = again(&elsewhere, &first, None).unwrap_err();
    assert!(matches!(error, PlanError::OtherSite { .. }), "{error}");
}

/// The polygon was drawn anew, a metre off and with a corner more: the grid moves, the cells stay.
#[test]
fn a_redrawn_site_keeps_the_cells() {
    let first = plan_of(&rectangle(9.0, 45.0), &small_spec()).unwrap();
    let redrawn = rectangle(9.00002, 45.00001);
    let second = again(&redrawn, &first, None).unwrap();
    assert!(second.coverage.is_complete);
    for cell in first.planned() {
        let same = second.cell(&cell.id).unwrap();
        assert!((same.pose.latitude_deg - cell.pose.latitude_deg).abs() < 2e-8);
        assert!((same.pose.longitude_deg - cell.pose.longitude_deg).abs() < 2e-8);
        assert_eq!(same.pose.yaw_deg, cell.pose.yaw_deg);
    }
}

#[test]
fn the_sun_of_two_visits_is_compared() {
    let site = rectangle(9.0, 45.0);
    let june = again(
        &site,
        &plan_of(&site, &small_spec()).unwrap(),
        Some("2026-06-21T09:00:00Z"),
    )
    .unwrap();
    let sun = june.sun.as_ref().unwrap();
    assert!((50.0..65.0).contains(&sun.elevation_deg), "{sun:?}");
    let july = again(&site, &june, Some("2026-07-21T09:10:00Z")).unwrap();
    assert!(!july.sun.as_ref().unwrap().same_as_before_utc.is_empty());
    assert!(
        !july.warnings.iter().any(|w| w.contains("earlier visit")),
        "{:?}",
        july.warnings
    );
    let evening = again(&site, &june, Some("2026-07-21T17:30:00Z")).unwrap();
    let said = evening.warnings.join(" ");
    assert!(
        said.contains("shadows") && said.contains("earlier visit"),
        "{said}"
    );
    let window = &evening.sun.as_ref().unwrap().same_as_before_utc[0];
    assert!(said.contains(&window[0]), "{said}");
    let winter = again(&site, &june, Some("2026-12-21T09:00:00Z")).unwrap();
    assert!(
        winter.warnings.join(" ").contains("never"),
        "{:?}",
        winter.warnings
    );
}
