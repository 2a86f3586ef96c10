//! Our own model on real photos of another country and drone, with hand-made oriented boxes.

use crate::common::{read_photo, rten, shared};
use calibration::{Pixel, Radians};
use detector::{
    DetectOptions, Detector, EvaluatedPhoto, OrientedBox, ScaleChoice, TruthBox, evaluate,
};
use std::path::Path;

/// A car in these photos, pixels.
const CAR_PX: f64 = 96.0;
/// What a motorcycle has for a class: no vehicle of ours.
const MOTORCYCLE: f64 = 3.0;

/// A line of a label file: a class and four corners in pixels.
fn labelled(line: &str) -> TruthBox {
    let numbers: Vec<f64> = line
        .split_whitespace()
        .map(|word| word.parse().unwrap())
        .collect();
    let &[class, x1, y1, x2, y2, x3, y3, x4, y4] = numbers.as_slice() else {
        panic!("not a class and four corners: {line}");
    };
    let oriented_box = OrientedBox::new(
        Pixel::new((x1 + x2 + x3 + x4) / 4.0, (y1 + y2 + y3 + y4) / 4.0),
        (x2 - x1).hypot(y2 - y1),
        (x3 - x2).hypot(y3 - y2),
        Radians((y2 - y1).atan2(x2 - x1)),
    )
    .unwrap();
    TruthBox {
        oriented_box: Some(oriented_box),
        horizontal_box: oriented_box.hull(),
        ignored: class == MOTORCYCLE,
    }
}

/// Both photos, searched, with their truth.
pub(crate) fn searched(
    folder: &Path,
    detector: &mut Detector,
    options: &DetectOptions,
) -> Vec<EvaluatedPhoto> {
    ["00164", "04433"]
        .iter()
        .map(|name| {
            let photo = read_photo(&folder.join(format!("images/{name}.jpg")));
            let labels = folder.join(format!("labels_obb/{name}.txt"));
            let labels = std::fs::read_to_string(labels).unwrap();
            EvaluatedPhoto {
                detections: detector.detect(&photo, None, options).unwrap().detections,
                truth: labels.lines().map(labelled).collect(),
                height_m: None,
                downward_pitch_deg: Some(90.0),
            }
        })
        .collect()
}

#[test]
fn vehicles_at_an_intersection_are_found() {
    let Some(folder) = shared("obb/songdo") else {
        return;
    };
    let mut detector = Detector::built_in(&rten()).unwrap();
    let options = DetectOptions {
        score_threshold: Some(0.03),
        scale: ScaleChoice::Factor(detector.info().car_range.best_px / CAR_PX),
        ..DetectOptions::default()
    };
    let found = evaluate(&searched(&folder, &mut detector, &options));
    let (oriented, angles) = (found.oriented.unwrap(), found.angle_errors.unwrap());
    eprintln!("Songdo: AP50 {:.3}, {angles:?}", oriented.ap50);
    assert_eq!(found.vehicles, 120);
    assert!((0.88..1.0).contains(&oriented.ap50), "{}", oriented.ap50);
    assert!((0.2..2.5).contains(&angles.median_deg), "{angles:?}");
    assert_eq!(found.doubles, 0);
}
