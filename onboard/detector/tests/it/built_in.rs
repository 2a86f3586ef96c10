//! Our own model through the whole path.

use crate::common::{onnx_runtime, read_photo, rten, shared};
use detector::{DetectOptions, Detector, RgbImage, ScaleBasis, ScaleChoice, Warning};

#[test]
fn an_empty_picture_holds_nothing() {
    let mut detector = Detector::built_in(&rten()).unwrap();
    let grey = RgbImage::new(320, 200, vec![128; 320 * 200 * 3]).unwrap();
    let found = detector
        .detect(&grey, None, &DetectOptions::default())
        .unwrap();
    assert!(found.detections.is_empty(), "{:?}", found.detections);
    assert_eq!(found.plan.basis, ScaleBasis::Pyramid);
    assert!(found.warnings.contains(&Warning::NoView));
}

#[test]
fn real_cars_are_found() {
    let Some(path) = shared("obb/songdo/images/00164.jpg") else {
        return;
    };
    let photo = read_photo(&path);
    let mut detector = Detector::built_in(&rten()).unwrap();
    let options = DetectOptions {
        scale: ScaleChoice::Factor(28.0 / 96.0),
        score_threshold: Some(0.5),
        ..DetectOptions::default()
    };
    let found = detector.detect(&photo, None, &options).unwrap();
    // 56 vehicles are labelled there.
    assert!(
        (40..=90).contains(&found.detections.len()),
        "{}",
        found.detections.len()
    );
}

/// Stated tolerance between engines: sums in another order, nothing more.
const CORNER_TOLERANCE_PX: f64 = 0.05;
const SCORE_TOLERANCE: f64 = 1e-3;

#[test]
fn both_engines_find_the_same() {
    let Some(path) = shared("obb/songdo/images/04433.jpg") else {
        return;
    };
    let photo = read_photo(&path);
    let options = DetectOptions {
        scale: ScaleChoice::Factor(28.0 / 96.0),
        ..DetectOptions::default()
    };
    let mut both = [rten(), onnx_runtime()].map(|engine| {
        let mut detector = Detector::built_in(&engine).unwrap();
        detector.detect(&photo, None, &options).unwrap().detections
    });
    let threshold = 0.25;
    // A box whose score lies on the threshold may be in one list only.
    for found in &mut both {
        found.retain(|detection| detection.score > threshold + SCORE_TOLERANCE);
    }
    let [first, second] = &both;
    assert!(first.len() > 20);
    for (these, those) in [(first, second), (second, first)] {
        for detection in these {
            let twin = those.iter().find(|other| {
                let corners = detection.oriented_box.corners();
                let theirs = other.oriented_box.corners();
                (detection.score - other.score).abs() <= SCORE_TOLERANCE
                    && corners.iter().all(|corner| {
                        theirs.iter().any(|their| {
                            (corner.x - their.x).hypot(corner.y - their.y) <= CORNER_TOLERANCE_PX
                        })
                    })
            });
            assert!(
                twin.is_some() || detection.score < threshold + 2.0 * SCORE_TOLERANCE,
                "{detection:?}"
            );
        }
    }
}

#[test]
fn a_file_is_searched_as_its_pixels_are() {
    let Some(path) = shared("obb/songdo/images/00164.jpg") else {
        return;
    };
    let options = DetectOptions {
        scale: ScaleChoice::Factor(0.11),
        score_threshold: Some(0.3),
        ..DetectOptions::default()
    };
    let mut detector = Detector::built_in(&rten()).unwrap();
    let decoded = detector.detect(&read_photo(&path), None, &options).unwrap();
    let bytes = std::fs::read(&path).unwrap();
    let encoded = detector.detect_encoded(&bytes, None, &options).unwrap();
    assert_eq!((encoded.width_px, encoded.height_px), (3840, 2160));
    assert_eq!(encoded.exif_orientation, Some(1));
    // Decoded at an eighth, the picture differs a little in sharpness; sure boxes stay.
    let sure: Vec<_> = decoded
        .detections
        .iter()
        .filter(|d| d.score > 0.5)
        .collect();
    let again = sure
        .iter()
        .filter(|detection| {
            let same = |other: &&detector::Detection| {
                other.oriented_box.iou(&detection.oriented_box) > 0.6
            };
            encoded.detections.iter().any(|other| same(&other))
        })
        .count();
    assert!(again * 10 >= sure.len() * 8, "{again} of {}", sure.len());
}

#[test]
fn the_model_says_what_it_is() {
    let mut detector = Detector::built_in(&rten()).unwrap();
    let info = detector.info().clone();
    assert_eq!(info.sha256.len(), 64);
    assert_eq!(info.classes.len(), 1);
    assert!(info.classes[0].class.is_some());
    assert!(info.license.unwrap().contains("KIT AIS"));
    assert!((info.input.width, info.input.height) == (None, None));
    assert!(detector.time_one_tile(256).unwrap().as_secs() < 60);
}
