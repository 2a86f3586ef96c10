//! The picture that is built in, and models that do well and badly on it.

use crate::common::{onnx_runtime, rten};
use detector::{ColourOrder, Detector, ModelOverrides, Normalisation};
use std::path::Path;

#[test]
fn our_own_model_passes_with_both_engines() {
    let [rten, onnx_runtime] = [rten(), onnx_runtime()]
        .map(|engine| Detector::built_in(&engine).unwrap().self_test().unwrap());
    println!("{rten:?}");
    assert_eq!(rten.vehicles, 15);
    assert!(rten.found >= 14 && rten.wrong <= 1, "{rten:?}");
    assert!(rten.angle_error_deg.unwrap() < 4.0, "{rten:?}");
    assert!(!rten.is_doubtful());
    assert_eq!(
        (rten.found, rten.wrong),
        (onnx_runtime.found, onnx_runtime.wrong)
    );
}

#[test]
fn a_model_that_sees_nothing_is_doubtful() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("models/overlook-vehicles.onnx");
    let overrides = ModelOverrides {
        normalisation: Some(Normalisation {
            order: ColourOrder::Rgb,
            mean: [0.0; 3],
            deviation: [25_500.0; 3],
        }),
        ..ModelOverrides::default()
    };
    let mut detector = Detector::load(&path, &overrides, &rten()).unwrap();
    let tested = detector.self_test().unwrap();
    assert!(tested.is_doubtful(), "{tested:?}");
}
