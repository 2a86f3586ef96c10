//! Every output layout, built by `onnx.helper` and read by a NumPy decoder for comparison.

use crate::common::{onnx_runtime, rten};
use detector::{
    DetectOptions, Detections, Detector, DetectorError, EngineOptions, ModelOverrides, RgbImage,
    ScaleChoice, Warning,
};
use serde::Deserialize;
use std::path::Path;
use std::process::Command;

#[derive(Deserialize)]
struct Case {
    name: String,
    photo: (u32, u32),
    boxes: Option<Vec<ExpectedBox>>,
    limit_hit: Option<usize>,
    refused: Option<String>,
    failed: Option<String>,
}

#[derive(Debug, Deserialize)]
struct ExpectedBox {
    x: f64,
    y: f64,
    long: f64,
    short: f64,
    degrees: f64,
    score: f64,
    class: String,
}

/// Runs the script that builds the models.
fn build(folder: &Path) -> Vec<Case> {
    let python = std::env::var("OVERLOOK_PYTHON").unwrap_or_else(|_| "python3".to_owned());
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/layouts.py");
    let output = Command::new(&python).arg(script).arg(folder).output();
    let output = output.unwrap_or_else(|error| panic!("{python} does not start: {error}"));
    assert!(
        output.status.success(),
        "{python} cannot build the models; it needs onnx and numpy, which `make setup` installs \
         (OVERLOOK_PYTHON names the interpreter):\n{}",
        String::from_utf8_lossy(&output.stderr)
    );
    let text = std::fs::read_to_string(folder.join("cases.json")).unwrap();
    serde_json::from_str(&text).unwrap()
}

fn detect(case: &Case, folder: &Path, engine: &EngineOptions) -> Result<Detections, DetectorError> {
    let path = folder.join(format!("{}.onnx", case.name));
    let mut detector = Detector::load(&path, &ModelOverrides::default(), engine)?;
    let (width, height) = case.photo;
    let photo = RgbImage::new(width, height, vec![100; (width * height * 3) as usize])?;
    let options = DetectOptions {
        scale: ScaleChoice::Factor(1.0),
        ..DetectOptions::default()
    };
    detector.detect(&photo, None, &options)
}

fn assert_boxes(case: &Case, found: &Detections, expected: &[ExpectedBox]) {
    let name = &case.name;
    assert_eq!(found.detections.len(), expected.len(), "{name}");
    for (detection, wanted) in found.detections.iter().zip(expected) {
        let found = detection.oriented_box;
        let turned = (found.angle().to_degrees() - wanted.degrees + 90.0).rem_euclid(180.0) - 90.0;
        let apart = (found.centre().x - wanted.x).hypot(found.centre().y - wanted.y);
        assert!(
            apart < 1e-3
                && (found.long_side_px() - wanted.long).abs() < 1e-3
                && (found.short_side_px() - wanted.short).abs() < 1e-3
                && turned.abs() < 1e-2
                && (detection.score - wanted.score).abs() < 1e-4,
            "{name}: {detection:?} {wanted:?}"
        );
        let class = serde_json::to_value(detection.class).unwrap();
        assert_eq!(class, wanted.class.as_str(), "{name}");
    }
    let limit = found.warnings.iter().find_map(|warning| match warning {
        Warning::ModelLimit { limit, .. } => Some(*limit),
        _ => None,
    });
    assert_eq!(limit, case.limit_hit, "{name}");
}

fn check(case: &Case, folder: &Path, engine: &EngineOptions) {
    let found = detect(case, folder, engine);
    let name = &case.name;
    let expected_error = case.refused.as_ref().or(case.failed.as_ref());
    match (found, expected_error) {
        (Ok(found), None) => assert_boxes(case, &found, case.boxes.as_deref().unwrap()),
        (Err(error), Some(expected)) => {
            let text = error.to_string();
            assert!(text.contains(expected), "{name}: {text}");
            assert!(error.is_input_fault(), "{name}: {text}");
        }
        (Ok(found), Some(expected)) => panic!("{name}: {expected} expected, {found:?}"),
        (Err(error), None) => panic!("{name}: {error}"),
    }
}

#[test]
fn every_layout_is_read_or_refused() {
    let folder = tempfile::tempdir().unwrap();
    let cases = build(folder.path());
    assert!(cases.len() > 35);
    for engine in [rten(), onnx_runtime()] {
        for case in &cases {
            check(case, folder.path(), &engine);
        }
    }
}
