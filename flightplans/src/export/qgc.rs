//! QGroundControl's `.plan`, as its developer guide describes it: simple items only, the geofence
//! and a rally point at home. Latitude comes first there.

use super::items::{FRAME_ABOVE_HOME, FRAME_MISSION, Item, missions};
use crate::error::PlanError;
use crate::plan::FlightPlan;
use serde_json::{Value, json};

/// `MAV_AUTOPILOT_PX4` and `MAV_TYPE_QUADROTOR`.
const FIRMWARE: u32 = 12;
const VEHICLE: u32 = 2;
/// Heights above home.
const HEIGHT_MODE_RELATIVE: u32 = 1;

pub(super) fn write(plan: &FlightPlan) -> Result<Vec<Vec<u8>>, PlanError> {
    let files = missions(plan)?
        .iter()
        .map(|items| {
            let value = file(plan, items);
            let mut text = serde_json::to_string_pretty(&value).unwrap_or_default();
            text.push('\n');
            text.into_bytes()
        })
        .collect();
    Ok(files)
}

fn file(plan: &FlightPlan, items: &[Item]) -> Value {
    let home = &plan.site.home;
    let home_height_m = plan.site.home_height_above_sea_level_m.unwrap_or(0.0);
    let items: Vec<Value> = items
        .iter()
        .enumerate()
        .map(|(index, item)| simple_item(index + 1, item))
        .collect();
    json!({
        "fileType": "Plan",
        "version": 1,
        "groundStation": "QGroundControl",
        "mission": {
            "version": 2,
            "firmwareType": FIRMWARE,
            "vehicleType": VEHICLE,
            "cruiseSpeed": plan.spec.flight.cruise_mps,
            "hoverSpeed": plan.spec.flight.cruise_mps,
            "globalPlanAltitudeMode": HEIGHT_MODE_RELATIVE,
            "plannedHomePosition": [home.latitude_deg, home.longitude_deg, home_height_m],
            "items": items,
        },
        "geoFence": geofence(plan),
        "rallyPoints": {
            "version": 2,
            "points": [[home.latitude_deg, home.longitude_deg, rally_height_m(plan)]],
        },
    })
}

/// The rally point is flown to at the lowest of the plan's heights.
fn rally_height_m(plan: &FlightPlan) -> f64 {
    plan.planned()
        .map(|cell| cell.pose.height_above_takeoff_m)
        .fold(f64::INFINITY, f64::min)
}

fn simple_item(number: usize, item: &Item) -> Value {
    let mut params: Vec<Value> = item.params.iter().map(|param| json!(param)).collect();
    let mut value = json!({
        "type": "SimpleItem",
        "command": item.command,
        "autoContinue": true,
        "doJumpId": number,
    });
    match item.place {
        Some([longitude, latitude, height_m]) => {
            params.extend([json!(latitude), json!(longitude), json!(height_m)]);
            value["frame"] = json!(FRAME_ABOVE_HOME);
            value["Altitude"] = json!(height_m);
            value["AltitudeMode"] = json!(HEIGHT_MODE_RELATIVE);
            value["AMSLAltAboveTerrain"] = Value::Null;
        }
        None => {
            params.extend(item.rest.iter().map(|param| json!(param)));
            value["frame"] = json!(FRAME_MISSION);
        }
    }
    value["params"] = Value::Array(params);
    value
}

/// The fence or else the line of sight about home, and the zones that may never be entered; those
/// that are flown over are the planner's business, because this format has no heights.
fn geofence(plan: &FlightPlan) -> Value {
    let home = &plan.site.home;
    let polygon = |ring: &[[f64; 2]], inclusion: bool| {
        let open = &ring[..ring.len().saturating_sub(1)];
        let corners: Vec<[f64; 2]> = open.iter().map(|[lon, lat]| [*lat, *lon]).collect();
        json!({ "polygon": corners, "inclusion": inclusion, "version": 1 })
    };
    let mut polygons: Vec<Value> = Vec::new();
    if let Some(fence) = &plan.site.fence {
        polygons.extend(fence.first().map(|ring| polygon(ring, true)));
        polygons.extend(fence.iter().skip(1).map(|ring| polygon(ring, false)));
    }
    polygons.extend(
        plan.site
            .keep_outs
            .iter()
            .filter(|zone| zone.top_height_m.is_none())
            .filter_map(|zone| zone.rings.first())
            .map(|ring| polygon(ring, false)),
    );
    let circles = if plan.site.fence.is_some() {
        Vec::new()
    } else {
        vec![json!({
            "circle": {
                "center": [home.latitude_deg, home.longitude_deg],
                "radius": plan.spec.airspace.line_of_sight_m,
            },
            "inclusion": true,
            "version": 1,
        })]
    };
    json!({ "version": 2, "polygons": polygons, "circles": circles })
}
