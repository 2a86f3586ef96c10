//! Sites in GeoJSON (RFC 7946): features with polygons and points, and properties that say what
//! they are.

use super::{RawFeature, RawShape};
use serde_json::Value;

/// The features of a GeoJSON text. Properties beside the features count as a feature without a
/// shape.
pub(super) fn read(text: &str) -> Result<Vec<RawFeature>, String> {
    let root: Value = serde_json::from_str(text).map_err(|error| error.to_string())?;
    let features: Vec<&Value> = match root["type"].as_str() {
        Some("FeatureCollection") => root["features"]
            .as_array()
            .ok_or("a FeatureCollection without \"features\"")?
            .iter()
            .collect(),
        Some("Feature") => vec![&root],
        Some(_) if root.get("coordinates").is_some() => {
            let shape = shape(&root)?;
            return Ok(vec![RawFeature {
                label: "the polygon".to_owned(),
                shape,
                ..RawFeature::default()
            }]);
        }
        Some(other) => return Err(format!("a GeoJSON of type {other:?}")),
        None => return Err("no \"type\"".to_owned()),
    };
    let beside = properties(&root, "the file".to_owned(), RawShape::None)?;
    let mut all = vec![beside];
    for (index, feature) in features.into_iter().enumerate() {
        let held = &feature["properties"];
        let label = match held["name"].as_str() {
            Some(name) => format!("feature {} ({name})", index + 1),
            None => format!("feature {}", index + 1),
        };
        let shape = match &feature["geometry"] {
            Value::Null => RawShape::None,
            geometry => shape(geometry).map_err(|found| format!("{label}: {found}"))?,
        };
        all.push(properties(held, label, shape)?);
    }
    Ok(all)
}

fn properties(held: &Value, label: String, shape: RawShape) -> Result<RawFeature, String> {
    let text = |key: &str| match &held[key] {
        Value::Null => Ok(None),
        Value::String(text) => Ok(Some(text.clone())),
        other => Err(format!("{label}: \"{key}\" is {other}, expected a text")),
    };
    let number = |key: &str| match &held[key] {
        Value::Null => Ok(None),
        Value::Number(number) => Ok(number.as_f64()),
        other => Err(format!("{label}: \"{key}\" is {other}, expected a number")),
    };
    Ok(RawFeature {
        name: text("name")?,
        role: text("role")?,
        time_zone: text("time_zone")?,
        max_height_m: number("max_height_m")?,
        top_height_m: number("top_height_m")?,
        shape,
        label,
    })
}

fn shape(geometry: &Value) -> Result<RawShape, String> {
    let coordinates = &geometry["coordinates"];
    match geometry["type"].as_str() {
        Some("Point") => Ok(RawShape::Point(position(coordinates)?)),
        Some("Polygon") => Ok(RawShape::Polygons(vec![rings(coordinates)?])),
        Some("MultiPolygon") => {
            let polygons = list(coordinates)?
                .iter()
                .map(rings)
                .collect::<Result<_, _>>()?;
            Ok(RawShape::Polygons(polygons))
        }
        Some(other) => Err(format!(
            "a {other}, expected Polygon, MultiPolygon or Point"
        )),
        None => Err("a geometry without \"type\"".to_owned()),
    }
}

fn list(value: &Value) -> Result<&Vec<Value>, String> {
    value
        .as_array()
        .ok_or_else(|| format!("{value} where a list of coordinates should be"))
}

fn rings(value: &Value) -> Result<Vec<Vec<[f64; 2]>>, String> {
    let ring = |ring: &Value| list(ring)?.iter().map(position).collect();
    list(value)?.iter().map(ring).collect()
}

fn position(value: &Value) -> Result<[f64; 2], String> {
    match list(value)?.as_slice() {
        [longitude, latitude, ..] => match (longitude.as_f64(), latitude.as_f64()) {
            (Some(longitude), Some(latitude)) => Ok([longitude, latitude]),
            _ => Err(format!(
                "{value} where a longitude and a latitude should be"
            )),
        },
        _ => Err(format!(
            "{value} where a longitude and a latitude should be"
        )),
    }
}
