//! GeoJSON for people: the site, the cells as points with their footprints, the paths. Longitude
//! comes first; heights are those above take-off and are in the properties only, because a third
//! coordinate would be a height above the ellipsoid.

use crate::plan::{CellState, FlightPlan};
use serde_json::{Value, json};

pub(super) fn write(plan: &FlightPlan) -> Vec<u8> {
    let mut features: Vec<Value> = Vec::new();
    let mut add = |geometry: Value, properties: Value| {
        features.push(json!({
            "type": "Feature",
            "geometry": geometry,
            "properties": properties,
        }));
    };
    let site = &plan.site;
    for rings in &site.area {
        add(
            json!({ "type": "Polygon", "coordinates": rings }),
            json!({ "role": "area", "name": site.name, "time_zone": site.time_zone }),
        );
    }
    for zone in &site.keep_outs {
        add(
            json!({ "type": "Polygon", "coordinates": zone.rings }),
            json!({ "role": "keep_out", "name": zone.name, "top_height_m": zone.top_height_m }),
        );
    }
    if let Some(fence) = &site.fence {
        add(
            json!({ "type": "Polygon", "coordinates": fence }),
            json!({ "role": "fence" }),
        );
    }
    add(
        json!({ "type": "Point", "coordinates": [site.home.longitude_deg, site.home.latitude_deg] }),
        json!({ "role": "home" }),
    );
    for cell in &plan.cells {
        let mut properties = json!({
            "cell": cell.id,
            "state": cell.state,
            "purpose": cell.purpose,
            "height_m": cell.height_m,
            "height_above_takeoff_m": cell.pose.height_above_takeoff_m,
            "pitch_down_deg": cell.pitch_down_deg,
            "yaw_deg": cell.pose.yaw_deg,
        });
        if cell.state == CellState::Infeasible {
            let words: Vec<String> = cell.reasons.iter().map(ToString::to_string).collect();
            properties["reasons"] = json!(words);
        }
        add(
            json!({ "type": "Point",
                "coordinates": [cell.pose.longitude_deg, cell.pose.latitude_deg] }),
            properties,
        );
        add(
            json!({ "type": "Polygon", "coordinates": [super::footprint(plan, cell)] }),
            json!({ "footprint_of": cell.id, "state": cell.state }),
        );
    }
    for (index, path) in paths(plan).into_iter().enumerate() {
        let places: Vec<[f64; 2]> = path.iter().map(|[lon, lat, _]| [*lon, *lat]).collect();
        add(
            json!({ "type": "LineString", "coordinates": places }),
            json!({ "sortie": index + 1, "duration_s": plan.sorties[index].duration_s }),
        );
    }
    let value = json!({ "type": "FeatureCollection", "features": features });
    let mut text = serde_json::to_string_pretty(&value).unwrap_or_default();
    text.push('\n');
    text.into_bytes()
}

/// The way of each sortie: longitude, latitude, height above take-off; from home to home.
pub(crate) fn paths(plan: &FlightPlan) -> Vec<Vec<[f64; 3]>> {
    let home = [
        plan.site.home.longitude_deg,
        plan.site.home.latitude_deg,
        0.0,
    ];
    let over_home = |height_m| [home[0], home[1], height_m];
    plan.sorties
        .iter()
        .map(|sortie| {
            let mut path = vec![home];
            for (index, (visit, cell)) in super::visited(plan, &sortie.visits).enumerate() {
                let pose = &cell.pose;
                if index == 0 {
                    path.push(over_home(pose.height_above_takeoff_m));
                }
                path.extend(&visit.way);
                path.push([
                    pose.longitude_deg,
                    pose.latitude_deg,
                    pose.height_above_takeoff_m,
                ]);
            }
            let last_m = path.last().map_or(0.0, |place| place[2]);
            path.extend(&sortie.way_home);
            path.extend([over_home(last_m), home]);
            path
        })
        .collect()
}
