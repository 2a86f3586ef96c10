//! DJI's WPML in a `.kmz`, for crews without a companion computer: a waypoint template and the
//! waylines made from it, element by element in the order of DJI's Cloud API documentation. Before
//! each photo the aircraft turns, the gimbal points, and both settle.
//!
//! One file a sortie. Photos from one place are one waypoint with several actions.

use super::escaped;
use crate::error::PlanError;
use crate::plan::{Cell, FlightPlan, Sortie};
use std::fmt::Write as _;
use std::io::{Cursor, Write as _};
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, DateTime, ZipWriter};

/// Camera profile, then DJI's numbers of the drone, its variant and the camera.
const DRONES: [(&str, [u32; 3]); 2] = [("dji-m3e", [77, 0, 66]), ("dji-m3t-wide", [77, 1, 67])];
/// Heights from which DJI lets a take-off go on to the first waypoint.
const SECURITY_HEIGHT_M: f64 = 20.0;

pub(super) fn write(plan: &FlightPlan) -> Result<Vec<Vec<u8>>, PlanError> {
    let drone = DRONES
        .iter()
        .find(|(camera, _)| *camera == plan.camera.id)
        .map(|(_, numbers)| *numbers)
        .ok_or_else(|| PlanError::NotDji {
            camera: plan.camera.id.clone(),
            known: DRONES.map(|(camera, _)| camera).join(", "),
        })?;
    let files = plan
        .sorties
        .iter()
        .map(|sortie| {
            let stops = stops(plan, sortie);
            kmz(&[
                ("wpmz/template.kml", template(plan, drone, &stops)),
                ("wpmz/waylines.wpml", waylines(plan, drone, sortie, &stops)),
            ])
        })
        .collect();
    Ok(files)
}

/// A waypoint: longitude, latitude, height above take-off, and the photos from there.
struct Stop<'a> {
    place: [f64; 3],
    photos: Vec<&'a Cell>,
}

fn stops<'a>(plan: &'a FlightPlan, sortie: &'a Sortie) -> Vec<Stop<'a>> {
    let mut stops: Vec<Stop<'a>> = Vec::new();
    let bare = |place: [f64; 3]| Stop {
        place,
        photos: Vec::new(),
    };
    for (visit, cell) in super::visited(plan, &sortie.visits) {
        stops.extend(visit.way.iter().map(|corner| bare(*corner)));
        let pose = &cell.pose;
        let place = [
            pose.longitude_deg,
            pose.latitude_deg,
            pose.height_above_takeoff_m,
        ];
        match stops.last_mut() {
            Some(last) if last.place == place => last.photos.push(cell),
            _ => stops.push(Stop {
                place,
                photos: vec![cell],
            }),
        }
    }
    stops.extend(sortie.way_home.iter().map(|corner| bare(*corner)));
    stops
}

/// The files of the archive, with a fixed time so that the same plan gives the same bytes.
fn kmz(files: &[(&str, String)]) -> Vec<u8> {
    let options = SimpleFileOptions::default()
        .compression_method(CompressionMethod::Deflated)
        .last_modified_time(DateTime::default());
    let mut archive = ZipWriter::new(Cursor::new(Vec::new()));
    for (name, content) in files {
        archive
            .start_file(*name, options)
            .and_then(|()| archive.write_all(content.as_bytes()).map_err(Into::into))
            .expect("writing to memory does not fail");
    }
    archive
        .finish()
        .expect("writing to memory does not fail")
        .into_inner()
}

const HEADER: &str = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n\
    <kml xmlns=\"http://www.opengis.net/kml/2.2\" xmlns:wpml=\"http://www.dji.com/wpmz/1.0.2\">\n\
    <Document>\n";
const FOOTER: &str = "</Folder>\n</Document>\n</kml>\n";

fn template(plan: &FlightPlan, drone: [u32; 3], stops: &[Stop<'_>]) -> String {
    let mut text = String::from(HEADER);
    tag(&mut text, "author", &escaped("overlook"));
    mission_config(&mut text, plan, drone, stops, true);
    text.push_str("<Folder>\n");
    tag(&mut text, "templateType", "waypoint");
    tag(&mut text, "templateId", "0");
    text.push_str("<wpml:waylineCoordinateSysParam>\n");
    tag(&mut text, "coordinateMode", "WGS84");
    tag(&mut text, "heightMode", "relativeToStartPoint");
    text.push_str("</wpml:waylineCoordinateSysParam>\n");
    tag(
        &mut text,
        "autoFlightSpeed",
        &number(plan.spec.flight.cruise_mps),
    );
    tag(&mut text, "gimbalPitchMode", "usePointSetting");
    text.push_str("<wpml:globalWaypointHeadingParam>\n");
    tag(&mut text, "waypointHeadingMode", "fixed");
    tag(&mut text, "waypointHeadingAngle", "0");
    tag(&mut text, "waypointHeadingPathMode", "followBadArc");
    text.push_str("</wpml:globalWaypointHeadingParam>\n");
    tag(
        &mut text,
        "globalWaypointTurnMode",
        "toPointAndStopWithDiscontinuityCurvature",
    );
    tag(&mut text, "globalUseStraightLine", "1");
    for (index, stop) in stops.iter().enumerate() {
        place(&mut text, stop, index);
        tag(&mut text, "height", &number(stop.place[2]));
        tag(&mut text, "useGlobalHeight", "0");
        tag(&mut text, "useGlobalSpeed", "1");
        tag(&mut text, "useGlobalHeadingParam", "1");
        tag(&mut text, "useGlobalTurnParam", "1");
        tag(&mut text, "useStraightLine", "1");
        let pitch = stop
            .photos
            .first()
            .map_or(-90.0, |cell| cell.pose.gimbal_pitch_deg);
        tag(&mut text, "gimbalPitchAngle", &number(pitch));
        actions(&mut text, plan, stop, index);
        text.push_str("</Placemark>\n");
    }
    text.push_str(FOOTER);
    text
}

fn waylines(plan: &FlightPlan, drone: [u32; 3], sortie: &Sortie, stops: &[Stop<'_>]) -> String {
    let mut text = String::from(HEADER);
    mission_config(&mut text, plan, drone, stops, false);
    text.push_str("<Folder>\n");
    tag(&mut text, "templateId", "0");
    tag(&mut text, "executeHeightMode", "relativeToStartPoint");
    tag(&mut text, "waylineId", "0");
    tag(&mut text, "distance", &number(sortie.path_m));
    tag(&mut text, "duration", &number(sortie.duration_s));
    tag(
        &mut text,
        "autoFlightSpeed",
        &number(plan.spec.flight.cruise_mps),
    );
    for (index, stop) in stops.iter().enumerate() {
        place(&mut text, stop, index);
        tag(&mut text, "executeHeight", &number(stop.place[2]));
        tag(
            &mut text,
            "waypointSpeed",
            &number(plan.spec.flight.cruise_mps),
        );
        text.push_str("<wpml:waypointHeadingParam>\n");
        tag(&mut text, "waypointHeadingMode", "fixed");
        text.push_str("</wpml:waypointHeadingParam>\n<wpml:waypointTurnParam>\n");
        tag(
            &mut text,
            "waypointTurnMode",
            "toPointAndStopWithDiscontinuityCurvature",
        );
        tag(&mut text, "waypointTurnDampingDist", "0");
        text.push_str("</wpml:waypointTurnParam>\n");
        actions(&mut text, plan, stop, index);
        text.push_str("</Placemark>\n");
    }
    text.push_str(FOOTER);
    text
}

fn place(text: &mut String, stop: &Stop<'_>, index: usize) {
    let [longitude, latitude, _] = stop.place;
    writeln!(
        text,
        "<Placemark>\n<Point><coordinates>{longitude:.8},{latitude:.8}</coordinates></Point>"
    )
    .expect("writing to a String does not fail");
    tag(text, "index", &index.to_string());
}

/// Only the template holds the reference point; there latitude comes first.
fn mission_config(
    text: &mut String,
    plan: &FlightPlan,
    [drone, variant, camera]: [u32; 3],
    stops: &[Stop<'_>],
    is_template: bool,
) {
    let first_m = stops
        .first()
        .map_or(SECURITY_HEIGHT_M, |stop| stop.place[2]);
    let security_m = SECURITY_HEIGHT_M.min(first_m).max(1.2);
    text.push_str("<wpml:missionConfig>\n");
    tag(text, "flyToWaylineMode", "safely");
    tag(text, "finishAction", "goHome");
    tag(text, "exitOnRCLost", "executeLostAction");
    tag(text, "executeRCLostAction", "goBack");
    tag(text, "takeOffSecurityHeight", &number(security_m));
    if is_template {
        let home = &plan.site.home;
        let height_m = plan.site.home_height_above_sea_level_m.unwrap_or(0.0);
        let point = format!(
            "{:.8},{:.8},{height_m:.2}",
            home.latitude_deg, home.longitude_deg
        );
        tag(text, "takeOffRefPoint", &point);
        tag(text, "takeOffRefPointAGLHeight", "0");
    }
    tag(
        text,
        "globalTransitionalSpeed",
        &number(plan.spec.flight.cruise_mps.min(15.0)),
    );
    text.push_str("<wpml:droneInfo>\n");
    tag(text, "droneEnumValue", &drone.to_string());
    tag(text, "droneSubEnumValue", &variant.to_string());
    text.push_str("</wpml:droneInfo>\n<wpml:payloadInfo>\n");
    tag(text, "payloadEnumValue", &camera.to_string());
    tag(text, "payloadPositionIndex", "0");
    text.push_str("</wpml:payloadInfo>\n</wpml:missionConfig>\n");
}

fn actions(text: &mut String, plan: &FlightPlan, stop: &Stop<'_>, index: usize) {
    if stop.photos.is_empty() {
        return;
    }
    text.push_str("<wpml:actionGroup>\n");
    tag(text, "actionGroupId", &index.to_string());
    tag(text, "actionGroupStartIndex", &index.to_string());
    tag(text, "actionGroupEndIndex", &index.to_string());
    tag(text, "actionGroupMode", "sequence");
    text.push_str("<wpml:actionTrigger>\n");
    tag(text, "actionTriggerType", "reachPoint");
    text.push_str("</wpml:actionTrigger>\n");
    let mut number_of_action = 0;
    for cell in &stop.photos {
        for (name, parameters) in photo(plan, cell) {
            text.push_str("<wpml:action>\n");
            tag(text, "actionId", &number_of_action.to_string());
            tag(text, "actionActuatorFunc", name);
            text.push_str("<wpml:actionActuatorFuncParam>\n");
            for (key, value) in parameters {
                tag(text, key, &value);
            }
            text.push_str("</wpml:actionActuatorFuncParam>\n</wpml:action>\n");
            number_of_action += 1;
        }
    }
    text.push_str("</wpml:actionGroup>\n");
}

type Action = (&'static str, Vec<(&'static str, String)>);

fn photo(plan: &FlightPlan, cell: &Cell) -> Vec<Action> {
    let own = |text: &str| text.to_owned();
    // DJI counts headings from -180 to 180.
    let yaw_deg = (cell.pose.yaw_deg + 180.0).rem_euclid(360.0) - 180.0;
    vec![
        (
            "rotateYaw",
            vec![
                ("aircraftHeading", number(yaw_deg)),
                ("aircraftPathMode", own("clockwise")),
            ],
        ),
        (
            "gimbalRotate",
            vec![
                ("gimbalHeadingYawBase", own("north")),
                ("gimbalRotateMode", own("absoluteAngle")),
                ("gimbalPitchRotateEnable", own("1")),
                ("gimbalPitchRotateAngle", number(cell.pose.gimbal_pitch_deg)),
                ("gimbalRollRotateEnable", own("0")),
                ("gimbalRollRotateAngle", own("0")),
                ("gimbalYawRotateEnable", own("0")),
                ("gimbalYawRotateAngle", own("0")),
                ("gimbalRotateTimeEnable", own("0")),
                ("gimbalRotateTime", own("0")),
                ("payloadPositionIndex", own("0")),
            ],
        ),
        (
            "hover",
            vec![("hoverTime", number(plan.spec.flight.settle_s.max(0.1)))],
        ),
        (
            "takePhoto",
            vec![
                ("fileSuffix", cell.id.clone()),
                ("payloadPositionIndex", own("0")),
            ],
        ),
    ]
}

fn tag(text: &mut String, name: &str, value: &str) {
    writeln!(text, "<wpml:{name}>{value}</wpml:{name}>")
        .expect("writing to a String does not fail");
}

fn number(value: f64) -> String {
    format!("{}", (value * 1000.0).round() / 1000.0)
}
