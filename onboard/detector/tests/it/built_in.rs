//! Our own model through the whole path.

use crate::common::{read_photo, rten, shared};
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
