//! Parked cars of three real photos, labelled by hand (`sheffield.json`).

use crate::common::{rten, shared};
use calibration::{CameraModel, Metres, Pixel, Radians, Rotation};
use detector::{
    DetectOptions, Detector, EvaluatedPhoto, OrientedBox, ScaleBasis, TruthBox, ViewGeometry,
    evaluate,
};
use nalgebra::Matrix3;
use serde::Deserialize;
use std::collections::BTreeMap;

#[derive(Deserialize)]
struct Labels {
    photos: BTreeMap<String, Photo>,
}

#[derive(Deserialize)]
struct Photo {
    boxes: Vec<[f64; 5]>,
    ignored: Vec<[f64; 5]>,
}

fn truth([x, y, long, short, degrees]: [f64; 5], ignored: bool) -> TruthBox {
    let angle = Radians::from_degrees(degrees);
    let oriented_box = OrientedBox::new(Pixel::new(x, y), long, short, angle).unwrap();
    TruthBox {
        oriented_box: Some(oriented_box),
        horizontal_box: oriented_box.hull(),
        ignored,
    }
}

/// 62 m up and 75 degrees down, as the photos' metadata and structure from motion agree.
fn view() -> ViewGeometry {
    let (sin, cos) = 75f64.to_radians().sin_cos();
    ViewGeometry {
        camera: CameraModel::pinhole(800, 600, 468.0),
        camera_from_enu: Rotation::from_matrix(&Matrix3::new(
            1.0, 0.0, 0.0, //
            0.0, -sin, -cos, //
            0.0, cos, -sin,
        )),
        height_above_ground: Metres(62.0),
    }
}

#[test]
fn parked_cars_are_found() {
    let Some(folder) = shared("sheffield") else {
        return;
    };
    let labels: Labels = serde_json::from_str(include_str!("sheffield.json")).unwrap();
    let mut detector = Detector::built_in(&rten()).unwrap();
    let mut photos = Vec::new();
    for (name, photo) in &labels.photos {
        let bytes = std::fs::read(folder.join(name)).unwrap();
        let found = detector
            .detect_encoded(&bytes, Some(&view()), &DetectOptions::default())
            .unwrap();
        assert_eq!(found.plan.basis, ScaleBasis::View);
        let wanted = photo.boxes.iter().map(|&b| truth(b, false));
        let beside = photo.ignored.iter().map(|&b| truth(b, true));
        photos.push(EvaluatedPhoto {
            detections: found.detections,
            truth: wanted.chain(beside).collect(),
            height_m: Some(62.0),
            downward_pitch_deg: Some(75.0),
        });
    }
    let evaluated = evaluate(&photos);
    let oriented = evaluated.oriented.unwrap();
    eprintln!(
        "Sheffield: {} cars, recall {:.2}, AP50 {:.2}, angle {:?}",
        evaluated.vehicles, oriented.recall, oriented.ap50, evaluated.angle_errors
    );
    assert_eq!(evaluated.vehicles, 44);
    assert!(oriented.recall >= 0.75, "{}", oriented.recall);
    assert!(oriented.ap50 >= 0.9, "{}", oriented.ap50);
    assert_eq!(evaluated.doubles, 0);
}
