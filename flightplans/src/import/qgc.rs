//! Polygons of a QGroundControl `.plan`: surveys as areas, the geofence's inclusion polygon as the
//! fence, exclusions as keep-out zones, the planned home position as home. There latitude comes
//! first.

use crate::site::{RawFeature, RawShape};
use serde_json::Value;

/// Whether a JSON text says that it is a plan.
pub(crate) fn is_plan(text: &str) -> bool {
    serde_json::from_str::<Value>(text).is_ok_and(|value| value["fileType"] == "Plan")
}

/// The shapes of a plan as those of a site.
pub(crate) fn site_features(text: &str) -> Result<Vec<RawFeature>, String> {
    let plan: Value = serde_json::from_str(text).map_err(|error| error.to_string())?;
    let mut features = Vec::new();
    let none = Vec::new();
    let items = plan["mission"]["items"].as_array().unwrap_or(&none);
    for (index, item) in items.iter().enumerate() {
        if item["polygon"].is_array() {
            let label = format!("mission item {} (survey)", index + 1);
            features.push(polygon(&item["polygon"], label, "area")?);
        }
    }
    let polygons = plan["geoFence"]["polygons"].as_array().unwrap_or(&none);
    for (index, fence) in polygons.iter().enumerate() {
        let role = if fence["inclusion"] == Value::Bool(true) {
            "fence"
        } else {
            "keep_out"
        };
        let label = format!("geofence polygon {}", index + 1);
        features.push(polygon(&fence["polygon"], label, role)?);
    }
    if let Some([latitude, longitude, ..]) = plan["mission"]["plannedHomePosition"]
        .as_array()
        .map(Vec::as_slice)
    {
        features.push(RawFeature {
            label: "the planned home position".to_owned(),
            role: Some("home".to_owned()),
            shape: RawShape::Point([number(longitude)?, number(latitude)?]),
            ..RawFeature::default()
        });
    }
    Ok(features)
}

fn polygon(corners: &Value, label: String, role: &str) -> Result<RawFeature, String> {
    let corners = corners
        .as_array()
        .ok_or_else(|| format!("{label}: no list of corners"))?;
    let mut ring = corners
        .iter()
        .map(|corner| match corner.as_array().map(Vec::as_slice) {
            Some([latitude, longitude, ..]) => Ok([number(longitude)?, number(latitude)?]),
            _ => Err(format!(
                "{label}: {corner} where latitude, longitude should be"
            )),
        })
        .collect::<Result<Vec<_>, String>>()?;
    // QGroundControl leaves rings open.
    ring.extend(ring.first().copied());
    Ok(RawFeature {
        label,
        role: Some(role.to_owned()),
        shape: RawShape::Polygons(vec![vec![ring]]),
        ..RawFeature::default()
    })
}

fn number(value: &Value) -> Result<f64, String> {
    value
        .as_f64()
        .ok_or_else(|| format!("{value} where a coordinate should be"))
}
