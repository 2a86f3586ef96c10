//! Projection against OpenCV's `projectPoints`.

use crate::fixture::{python, small};
use nalgebra::Vector3;
use serde_json::json;

/// OpenCV counts the first pixel's centre as (0, 0): half a pixel less than we do.
const SCRIPT: &str = r"
import json, sys
import cv2, numpy as np
out = []
for case in json.load(open(sys.argv[1])):
    w, x, y, z = case['rotation_wxyz']
    R = np.array([[1-2*(y*y+z*z), 2*(x*y-w*z), 2*(x*z+w*y)],
                  [2*(x*y+w*z), 1-2*(x*x+z*z), 2*(y*z-w*x)],
                  [2*(x*z-w*y), 2*(y*z+w*x), 1-2*(x*x+y*y)]])
    K = np.array([[case['fx'], 0, case['cx'] - 0.5], [0, case['fy'], case['cy'] - 0.5], [0, 0, 1]])
    points, _ = cv2.projectPoints(np.array(case['points']), cv2.Rodrigues(R)[0],
                                  np.array(case['translation_m']), K, np.array(case['distortion']))
    out.append((points.reshape(-1, 2) + 0.5).tolist())
print(json.dumps(out))
";

#[test]
fn projects_as_opencv_does() {
    let photos = &small().truth.photos;
    let points: Vec<[f64; 3]> = (0..60)
        .map(|i| {
            let i = f64::from(i);
            [(i * 7.3) % 40.0 - 20.0, (i * 3.7) % 26.0 - 13.0, i % 4.0]
        })
        .collect();
    let cases: Vec<_> = photos
        .iter()
        .map(|photo| {
            let lens = &photo.intrinsics;
            json!({
                "rotation_wxyz": photo.camera_from_enu.rotation_wxyz,
                "translation_m": photo.camera_from_enu.translation_m,
                "fx": lens.fx_px, "fy": lens.fy_px, "cx": lens.cx_px, "cy": lens.cy_px,
                "distortion": [lens.k1, lens.k2, lens.p1, lens.p2],
                "points": points,
            })
        })
        .collect();
    let Some(output) = python(SCRIPT, "cv2", &json!(cases).to_string()) else {
        return;
    };
    let expected: Vec<Vec<[f64; 2]>> = serde_json::from_str(&output).expect("the script's JSON");
    for (photo, expected) in photos.iter().zip(&expected) {
        let camera = photo.camera();
        for (point, [x, y]) in points.iter().zip(expected) {
            let pixel = camera
                .pixel_from_enu(&Vector3::from(*point))
                .expect("in front");
            assert!(
                (pixel.x - x).hypot(pixel.y - y) < 1e-6,
                "{}: {pixel} {x} {y}",
                photo.file
            );
        }
    }
}
