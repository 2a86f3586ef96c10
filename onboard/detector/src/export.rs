//! Detections in the formats other tools read.

use crate::detect::Detections;
use crate::detection::{Detection, VehicleClass};
use crate::error::DetectorError;
use crate::model::ModelInfo;
use crate::runtime::EngineReport;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::fmt::Write;

/// Version of the lines written by [`json_line`].
pub const DETECTIONS_SCHEMA: &str = "detections/1";

/// One photo's detections as a line of a file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct DetectionsLine {
    /// [`DETECTIONS_SCHEMA`].
    pub schema: String,
    /// Name of the photo.
    pub photo: String,
    /// SHA-256 of the model, hex.
    pub model_sha256: String,
    /// What ran it.
    pub engine: EngineReport,
    /// What was found.
    #[serde(flatten)]
    pub found: Detections,
}

/// A photo's detections as one line of JSON, without the line's end.
#[must_use]
pub fn json_line(photo: &str, model: &ModelInfo, found: &Detections) -> String {
    let line = DetectionsLine {
        schema: DETECTIONS_SCHEMA.to_owned(),
        photo: photo.to_owned(),
        model_sha256: model.sha256.clone(),
        engine: model.engine.clone(),
        found: found.clone(),
    };
    serde_json::to_string(&line).expect("plain numbers and text have a JSON form")
}

/// Reads a line back.
///
/// # Errors
/// [`DetectorError::DetectionsLine`] when it is none, or of another version.
pub fn read_json_line(line: &str) -> Result<DetectionsLine, DetectorError> {
    let refuse = |reason: String| DetectorError::DetectionsLine { reason };
    let value: Value = serde_json::from_str(line).map_err(|error| refuse(error.to_string()))?;
    match value.get("schema").and_then(Value::as_str) {
        Some(DETECTIONS_SCHEMA) => {}
        found => {
            let found = found.unwrap_or("none");
            return Err(refuse(format!(
                "its schema is {found}, this version reads {DETECTIONS_SCHEMA}"
            )));
        }
    }
    serde_json::from_value(value).map_err(|error| refuse(error.to_string()))
}

/// The classes in a fixed order, as the formats that count classes want them.
const CLASSES: [VehicleClass; 3] = [
    VehicleClass::Vehicle,
    VehicleClass::SmallVehicle,
    VehicleClass::LargeVehicle,
];

/// DOTA's and YOLO's names for them.
fn name_of(class: VehicleClass) -> &'static str {
    match class {
        VehicleClass::Vehicle => "vehicle",
        VehicleClass::SmallVehicle => "small-vehicle",
        VehicleClass::LargeVehicle => "large-vehicle",
    }
}

fn index_of(class: VehicleClass) -> usize {
    match class {
        VehicleClass::Vehicle => 0,
        VehicleClass::SmallVehicle => 1,
        VehicleClass::LargeVehicle => 2,
    }
}

/// Class names in the order of the indices that [`yolo_obb`] writes.
#[must_use]
pub fn yolo_class_names() -> [&'static str; 3] {
    CLASSES.map(name_of)
}

/// YOLO-OBB text: per vehicle the class index, four corners as shares of the photo's sides, and
/// the score. Corners may lie outside 0..1 where the photo's edge cuts a vehicle.
#[must_use]
pub fn yolo_obb(found: &Detections) -> String {
    let (width, height) = (f64::from(found.width_px), f64::from(found.height_px));
    let mut text = String::new();
    for detection in &found.detections {
        write!(text, "{}", index_of(detection.class)).expect("text grows");
        for corner in detection.oriented_box.corners() {
            write!(text, " {:.6} {:.6}", corner.x / width, corner.y / height).expect("text grows");
        }
        writeln!(text, " {:.4}", detection.score).expect("text grows");
    }
    text
}

/// DOTA text: per vehicle four corners in pixels, the class name, and 1 where the photo's edge cuts
/// it (DOTA's "difficult"), else 0.
#[must_use]
pub fn dota(found: &Detections) -> String {
    let mut text = String::new();
    for detection in &found.detections {
        for corner in detection.oriented_box.corners() {
            write!(text, "{:.2} {:.2} ", corner.x, corner.y).expect("text grows");
        }
        let cut = u8::from(detection.truncated);
        writeln!(text, "{} {cut}", name_of(detection.class)).expect("text grows");
    }
    text
}

/// COCO results with images and categories: upright boxes as `bbox` (left, top, width, height),
/// oriented ones as four-cornered `segmentation`. Photos and vehicles are numbered from 1 in the
/// given order.
#[must_use]
pub fn coco(photos: &[(&str, &Detections)]) -> Value {
    let mut images = Vec::new();
    let mut annotations = Vec::new();
    for (index, (name, found)) in photos.iter().enumerate() {
        let image_id = index + 1;
        images.push(json!({
            "id": image_id,
            "file_name": name,
            "width": found.width_px,
            "height": found.height_px,
        }));
        for detection in &found.detections {
            annotations.push(annotation(detection, annotations.len() + 1, image_id));
        }
    }
    let categories: Vec<Value> = CLASSES
        .iter()
        .map(|&class| {
            json!({ "id": index_of(class) + 1, "name": name_of(class), "supercategory": "vehicle" })
        })
        .collect();
    json!({ "images": images, "annotations": annotations, "categories": categories })
}

fn annotation(detection: &Detection, id: usize, image_id: usize) -> Value {
    let hull = detection.horizontal_box;
    let corners: Vec<f64> = detection
        .oriented_box
        .corners()
        .iter()
        .flat_map(|corner| [corner.x, corner.y])
        .collect();
    json!({
        "id": id,
        "image_id": image_id,
        "category_id": index_of(detection.class) + 1,
        "bbox": [hull.x1_px, hull.y1_px, hull.x2_px - hull.x1_px, hull.y2_px - hull.y1_px],
        "segmentation": [corners],
        "area": detection.oriented_box.area(),
        "score": detection.score,
        "iscrowd": 0,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::oriented_box::OrientedBox;
    use crate::scale::{ScaleBasis, ScalePlan};
    use calibration::{Pixel, Radians};

    fn found() -> Detections {
        let oriented_box = OrientedBox::new(Pixel::new(50.0, 20.0), 40.0, 16.0, Radians(0.0));
        let oriented_box = oriented_box.unwrap();
        Detections {
            width_px: 200,
            height_px: 100,
            exif_orientation: Some(1),
            detections: vec![Detection {
                oriented_box,
                horizontal_box: oriented_box.hull(),
                class: VehicleClass::SmallVehicle,
                score: 0.875,
                truncated: true,
                corner_sigma_px: Some(1.5),
            }],
            plan: ScalePlan {
                basis: ScaleBasis::Given,
                levels: Vec::new(),
                expected_car_px: None,
                skipped_share: 0.0,
            },
            tiles: 1,
            warnings: Vec::new(),
        }
    }

    #[test]
    fn texts_of_other_tools() {
        assert_eq!(
            yolo_obb(&found()),
            "1 0.150000 0.120000 0.350000 0.120000 0.350000 0.280000 0.150000 0.280000 0.8750\n"
        );
        assert_eq!(
            dota(&found()),
            "30.00 12.00 70.00 12.00 70.00 28.00 30.00 28.00 small-vehicle 1\n"
        );
        let coco = coco(&[("a.jpg", &found()), ("b.jpg", &found())]);
        assert_eq!(coco["images"][1]["file_name"], "b.jpg");
        let second = &coco["annotations"][1];
        assert_eq!(second["image_id"], 2);
        assert_eq!(second["category_id"], 2);
        assert_eq!(second["bbox"], json!([30.0, 12.0, 40.0, 16.0]));
        assert_eq!(coco["categories"][1]["name"], "small-vehicle");
    }

    #[test]
    fn lines_come_back_and_other_versions_are_refused() {
        let line = DetectionsLine {
            schema: DETECTIONS_SCHEMA.to_owned(),
            photo: "a.jpg".to_owned(),
            model_sha256: "00".to_owned(),
            engine: EngineReport {
                name: "rten".to_owned(),
                version: "1".to_owned(),
                provider: "cpu".to_owned(),
                library: None,
                passed_over: Vec::new(),
            },
            found: found(),
        };
        let text = serde_json::to_string(&line).unwrap();
        assert_eq!(read_json_line(&text).unwrap(), line);
        let newer = text.replace("detections/1", "detections/2");
        let error = read_json_line(&newer).unwrap_err().to_string();
        assert!(
            error.contains("detections/1") && error.contains("detections/2"),
            "{error}"
        );
        assert!(read_json_line("{").is_err());
    }
}
