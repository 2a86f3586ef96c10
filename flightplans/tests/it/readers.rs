//! Exports in the hands of other readers, east of 90 degrees so that nothing can be swapped.

use crate::common::{plan_of, python, rectangle, small_spec};
use flightplans::FlightPlan;
use flightplans::export::{Format, export};
use flightplans::import::waypoints;
use flightplans::{PlanError, Site};
use serde_json::Value;
use std::path::Path;

const LONGITUDE: f64 = 120.5;
const LATITUDE: f64 = 31.2;

fn the_plan() -> FlightPlan {
    plan_of(&rectangle(LONGITUDE, LATITUDE), &small_spec()).unwrap()
}

fn text(plan: &FlightPlan, format: Format) -> String {
    let mut parts = export(plan, format).unwrap();
    assert_eq!(parts.len(), 1);
    String::from_utf8(parts.remove(0)).unwrap()
}

#[track_caller]
fn assert_is_here(latitude: f64, longitude: f64) {
    assert!((latitude - LATITUDE).abs() < 0.01, "{latitude} {longitude}");
    assert!(
        (longitude - LONGITUDE).abs() < 0.01,
        "{latitude} {longitude}"
    );
}

#[test]
fn pymavlink_fastkml_and_an_xml_reader_read_the_exports() {
    let plan = the_plan();
    let folder = tempfile::tempdir().unwrap();
    let mut paths = Vec::new();
    for (format, name) in [
        (Format::Waypoints, "plan.waypoints"),
        (Format::Kml, "plan.kml"),
        (Format::Wpml, "plan.kmz"),
    ] {
        let path = folder.path().join(name);
        std::fs::write(&path, &export(&plan, format).unwrap()[0]).unwrap();
        paths.push(path);
    }
    let arguments: Vec<&Path> = paths.iter().map(|path| path.as_path()).collect();
    let Some(output) = python("readers.py", &arguments) else {
        return;
    };
    let read: Value = serde_json::from_str(&output).unwrap();
    check_waypoints(&plan, &read["plan.waypoints"]);
    check_kml(&plan, &read["plan.kml"]);
    check_wpml(&plan, &read["plan.kmz"]);
}

fn number(value: &Value) -> f64 {
    value.as_f64().unwrap()
}

fn check_waypoints(plan: &FlightPlan, items: &Value) {
    let items = items.as_array().unwrap();
    let mut n_photos = 0;
    for (index, item) in items.iter().enumerate() {
        let (command, frame) = (item[0].as_u64().unwrap(), item[1].as_u64().unwrap());
        if command == 16 || command == 22 {
            assert_is_here(number(&item[2]), number(&item[3]));
            assert_eq!(frame, if index == 0 { 0 } else { 3 });
        }
        n_photos += usize::from(command == 2000);
    }
    assert_eq!(n_photos, plan.time.n_photos);
    assert_eq!(items[1][0], 22);
    assert_eq!(items.last().unwrap()[0], 20);
}

fn check_kml(plan: &FlightPlan, placemarks: &Value) {
    let placemarks = placemarks.as_array().unwrap();
    for placemark in placemarks {
        for corner in placemark[2].as_array().unwrap() {
            assert_is_here(number(&corner[1]), number(&corner[0]));
        }
    }
    for cell in &plan.cells {
        let found = placemarks
            .iter()
            .filter(|placemark| placemark[0] == cell.id.as_str());
        assert_eq!(found.count(), 1, "{}", cell.id);
    }
}

fn name(node: &Value) -> &str {
    node[0].as_str().unwrap()
}

fn children<'a>(node: &'a Value, wanted: &str) -> Vec<&'a Value> {
    let all = node[2].as_array().unwrap().iter();
    all.filter(|child| name(child) == wanted).collect()
}

fn child<'a>(node: &'a Value, path: &[&str]) -> &'a Value {
    path.iter().fold(node, |node, step| children(node, step)[0])
}

/// Names of a node's children must come in a documented order; not all need be there.
#[track_caller]
fn assert_order(node: &Value, documented: &[&str]) {
    let mut last = 0;
    for child in node[2].as_array().unwrap() {
        let at = documented.iter().position(|known| *known == name(child));
        let at = at.unwrap_or_else(|| panic!("{} in {}", name(child), name(node)));
        assert!(at >= last, "{} in {}", name(child), name(node));
        last = at;
    }
}

/// Orders of the samples in DJI's Cloud API documentation.
fn check_wpml(plan: &FlightPlan, files: &Value) {
    let mission = [
        "flyToWaylineMode",
        "finishAction",
        "exitOnRCLost",
        "executeRCLostAction",
        "takeOffSecurityHeight",
        "takeOffRefPoint",
        "takeOffRefPointAGLHeight",
        "globalTransitionalSpeed",
        "droneInfo",
        "payloadInfo",
    ];
    for (file, folder, placemark) in [
        (
            "wpmz/template.kml",
            &[
                "templateType",
                "templateId",
                "waylineCoordinateSysParam",
                "autoFlightSpeed",
                "gimbalPitchMode",
                "globalWaypointHeadingParam",
                "globalWaypointTurnMode",
                "globalUseStraightLine",
                "Placemark",
            ][..],
            &[
                "Point",
                "index",
                "ellipsoidHeight",
                "height",
                "useGlobalHeight",
                "useGlobalSpeed",
                "useGlobalHeadingParam",
                "useGlobalTurnParam",
                "useStraightLine",
                "gimbalPitchAngle",
                "actionGroup",
            ][..],
        ),
        (
            "wpmz/waylines.wpml",
            &[
                "templateId",
                "executeHeightMode",
                "waylineId",
                "distance",
                "duration",
                "autoFlightSpeed",
                "Placemark",
            ],
            &[
                "Point",
                "index",
                "executeHeight",
                "waypointSpeed",
                "waypointHeadingParam",
                "waypointTurnParam",
                "actionGroup",
            ],
        ),
    ] {
        let document = child(&files[file], &["Document"]);
        assert_order(
            document,
            &[
                "author",
                "createTime",
                "updateTime",
                "missionConfig",
                "Folder",
            ],
        );
        assert_order(child(document, &["missionConfig"]), &mission);
        assert_order(child(document, &["Folder"]), folder);
        let mut n_photos = 0;
        for (index, stop) in children(child(document, &["Folder"]), "Placemark")
            .into_iter()
            .enumerate()
        {
            assert_order(stop, placemark);
            assert_eq!(child(stop, &["index"])[1], index.to_string());
            let point: Vec<f64> = child(stop, &["Point", "coordinates"])[1]
                .as_str()
                .unwrap()
                .split(',')
                .map(|n| n.parse().unwrap())
                .collect();
            assert_is_here(point[1], point[0]);
            n_photos += check_actions(stop);
        }
        assert_eq!(n_photos, plan.time.n_photos, "{file}");
    }
    let reference = child(
        &files["wpmz/template.kml"],
        &["Document", "missionConfig", "takeOffRefPoint"],
    );
    let reference: Vec<f64> = reference[1]
        .as_str()
        .unwrap()
        .split(',')
        .map(|n| n.parse().unwrap())
        .collect();
    assert_is_here(reference[0], reference[1]);
}

/// Before every photo the aircraft has turned, the gimbal has moved and both have settled.
fn check_actions(stop: &Value) -> usize {
    let group = child(stop, &["actionGroup"]);
    assert_order(
        group,
        &[
            "actionGroupId",
            "actionGroupStartIndex",
            "actionGroupEndIndex",
            "actionGroupMode",
            "actionTrigger",
            "action",
        ],
    );
    let functions: Vec<&str> = children(group, "action")
        .iter()
        .map(|action| child(action, &["actionActuatorFunc"])[1].as_str().unwrap())
        .collect();
    for photo in functions.chunks(4) {
        assert_eq!(photo, ["rotateYaw", "gimbalRotate", "hover", "takePhoto"]);
    }
    functions.len() / 4
}

/// The keys and types that QGroundControl's developer guide documents for a plan file.
#[test]
fn the_qgc_plan_has_the_documented_shape() {
    let plan = the_plan();
    let file: Value = serde_json::from_str(&text(&plan, Format::Qgc)).unwrap();
    assert_eq!(
        (&file["fileType"], &file["version"]),
        (&"Plan".into(), &1.into())
    );
    assert!(file["groundStation"].is_string());
    let mission = &file["mission"];
    assert_eq!(mission["version"], 2);
    for key in ["firmwareType", "vehicleType", "globalPlanAltitudeMode"] {
        assert!(mission[key].is_u64(), "{key}");
    }
    for key in ["cruiseSpeed", "hoverSpeed"] {
        assert!(mission[key].is_number(), "{key}");
    }
    let home = mission["plannedHomePosition"].as_array().unwrap();
    assert_eq!(home.len(), 3);
    assert_is_here(number(&home[0]), number(&home[1]));
    let items = mission["items"].as_array().unwrap();
    assert!(items.len() <= plan.spec.autopilot.max_items);
    for (index, item) in items.iter().enumerate() {
        assert_eq!(item["type"], "SimpleItem");
        assert_eq!(item["doJumpId"], index + 1);
        assert!(item["autoContinue"].is_boolean() && item["command"].is_u64());
        let params = item["params"].as_array().unwrap();
        assert_eq!(params.len(), 7);
        assert!(
            params
                .iter()
                .all(|param| param.is_number() || param.is_null())
        );
        match item["frame"].as_u64().unwrap() {
            3 => {
                assert_is_here(number(&params[4]), number(&params[5]));
                assert_eq!(item["Altitude"], params[6]);
                assert_eq!(item["AltitudeMode"], 1);
            }
            frame => assert_eq!(frame, 2),
        }
    }
    let fence = &file["geoFence"];
    assert_eq!(fence["version"], 2);
    let circle = &fence["circles"][0];
    assert_eq!(
        (&circle["inclusion"], &circle["version"]),
        (&true.into(), &1.into())
    );
    assert_is_here(
        number(&circle["circle"]["center"][0]),
        number(&circle["circle"]["center"][1]),
    );
    assert!(fence["polygons"].as_array().unwrap().is_empty());
    assert_eq!(file["rallyPoints"]["version"], 2);
    let rally = &file["rallyPoints"]["points"][0];
    assert_is_here(number(&rally[0]), number(&rally[1]));
}

#[test]
fn long_plans_come_in_parts_that_an_autopilot_holds() {
    let site = rectangle(LONGITUDE, LATITUDE);
    let mut spec = small_spec();
    spec.autopilot.max_items = 40;
    let plan = plan_of(&site, &spec).unwrap();
    let parts = export(&plan, Format::Waypoints).unwrap();
    assert!(parts.len() > 1);
    let mut n_photos = 0;
    for part in &parts {
        let items = waypoints::parse(std::str::from_utf8(part).unwrap(), Path::new("x")).unwrap();
        // Line 0 is home and no item.
        assert!(items.len() - 1 <= 40, "{}", items.len());
        assert_eq!((items[1].command, items.last().unwrap().command), (22, 20));
        // The gimbal is pointed before the first photo of each part.
        let first = |command| {
            items
                .iter()
                .position(|item| item.command == command)
                .unwrap()
        };
        assert!(first(205) < first(2000));
        n_photos += items.iter().filter(|item| item.command == 2000).count();
    }
    assert_eq!(n_photos, plan.time.n_photos);
    spec.autopilot.max_items = 6;
    let plan = plan_of(&site, &spec).unwrap();
    assert!(matches!(
        export(&plan, Format::Qgc),
        Err(PlanError::Capacity { .. })
    ));
}

#[test]
fn geojson_csv_and_the_report_hold_every_cell() {
    let plan = the_plan();
    let geojson: Value = serde_json::from_str(&text(&plan, Format::Geojson)).unwrap();
    let features = geojson["features"].as_array().unwrap();
    let points: Vec<&Value> = features
        .iter()
        .filter(|f| f["properties"]["cell"].is_string())
        .collect();
    assert_eq!(points.len(), plan.cells.len());
    for point in points {
        let place = &point["geometry"]["coordinates"];
        assert_is_here(number(&place[1]), number(&place[0]));
    }
    // The exported GeoJSON is a site again: area and home survive, what is ours is passed over.
    let csv = text(&plan, Format::Csv);
    assert_eq!(csv.lines().count(), plan.time.n_photos + 1);
    let html = flightplans::report::html(&plan);
    for cell in &plan.cells {
        assert!(
            csv.contains(&cell.id) || !cell.reasons.is_empty(),
            "{}",
            cell.id
        );
        assert!(html.contains(&cell.id), "{}", cell.id);
    }
    assert!(!html.contains("src=\"http") && !html.contains("href=\"http"));
}

#[test]
fn plans_and_kml_of_others_are_read_as_sites() {
    let kml = format!(
        "<?xml version=\"1.0\"?><kml xmlns=\"http://www.opengis.net/kml/2.2\"><Document><Placemark>\
         <name>Lot &amp; yard</name><ExtendedData><Data name=\"time_zone\"><value>Asia/Shanghai</value></Data>\
         </ExtendedData><Polygon><outerBoundaryIs><LinearRing><coordinates>{LONGITUDE},{LATITUDE},0 \
         120.501,{LATITUDE},0 120.501,31.2006,0 {LONGITUDE},31.2006,0 {LONGITUDE},{LATITUDE},0</coordinates>\
         </LinearRing></outerBoundaryIs></Polygon></Placemark><Placemark><name>home</name><Point>\
         <coordinates>{LONGITUDE},{LATITUDE}</coordinates></Point></Placemark></Document></kml>"
    );
    let site = Site::parse(kml.as_bytes(), Path::new("x.kml")).unwrap();
    assert_eq!(site.name, "Lot & yard");
    assert_eq!(site.time_zone.as_deref(), Some("Asia/Shanghai"));
    assert!(
        (site.area_m2() - 95.4 * 66.6).abs() < 60.0,
        "{}",
        site.area_m2()
    );
    let at = site.degrees(&site.home);
    assert_is_here(at.latitude_deg, at.longitude_deg);

    let plan = r#"{"fileType": "Plan", "mission": {"plannedHomePosition": [31.2001, 120.5001, 4],
        "items": [{"type": "ComplexItem", "complexItemType": "survey", "polygon":
        [[31.2, 120.5], [31.2, 120.501], [31.2006, 120.501], [31.2006, 120.5]]}]},
        "geoFence": {"polygons": [{"inclusion": true, "polygon": [[31.199, 120.499], [31.199, 120.502],
        [31.202, 120.502], [31.202, 120.499]]}, {"inclusion": false, "polygon":
        [[31.2002, 120.5004], [31.2002, 120.5006], [31.2004, 120.5005]]}]}}"#;
    let site = Site::parse(plan.as_bytes(), Path::new("x.plan")).unwrap();
    assert!(
        (site.area_m2() - 95.4 * 66.6).abs() < 60.0,
        "{}",
        site.area_m2()
    );
    assert!(site.fence.is_some());
    assert_eq!(site.keep_outs.len(), 1);
    let swapped = "QGC WPL 110\n0\t1\t0\t16\t0\t0\t0\t0\t120.5\t31.2\t0\t1\n";
    let error = waypoints::parse(swapped, Path::new("x")).unwrap_err();
    assert!(error.to_string().contains("swapped"), "{error}");
    let own = export(&the_plan(), Format::Kml).unwrap().remove(0);
    let again = Site::parse(&own, Path::new("plan.kml"));
    assert!(again.is_err(), "its photos are points without a role");
}
