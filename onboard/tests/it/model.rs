//! `onboard model inspect`.

use crate::common::onboard;
use std::path::Path;

#[test]
fn our_own_model_is_described_and_timed() {
    let text = onboard(["model", "inspect", "--runtime", "rten"]);
    assert_eq!(text.code, 0, "{}", text.stderr);
    for expected in [
        "0 vehicle -> Vehicle",
        "rten",
        "raw [batch",
        "KIT AIS",
        "one photo",
        "self-test",
    ] {
        assert!(
            text.stdout.contains(expected),
            "{expected}: {}",
            text.stdout
        );
    }
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("detector/models/overlook-vehicles.onnx");
    let file = file.to_str().unwrap();
    let ran = onboard(["model", "inspect", file, "--runtime", "rten", "--json"]);
    let report = ran.json();
    assert_eq!(report["schema"], "model/1");
    assert_eq!(report["model"]["layout"]["raw"]["classes"], 1);
    assert_eq!(report["model"]["classes"][0]["class"], "vehicle");
    let run_s = report["timed"]["run_s"].as_f64().unwrap();
    assert!(run_s > 0.0 && run_s < 60.0, "{run_s}");
    assert!(ran.stderr.is_empty(), "{}", ran.stderr);
}

#[test]
fn a_model_that_finds_too_little_is_doubted() {
    let home = tempfile::tempdir().unwrap();
    let model = home.path().join("dark.onnx");
    let ours = Path::new(env!("CARGO_MANIFEST_DIR")).join("detector/models/overlook-vehicles.onnx");
    std::fs::copy(ours, &model).unwrap();
    // Fed with a hundredth of the light: as wrong as a conversion that lost its scale.
    let dark = r#"{"normalisation": {"order": "rgb", "mean": [0, 0, 0], "deviation": [25500, 25500, 25500]}}"#;
    std::fs::write(home.path().join("dark.onnx.json"), dark).unwrap();
    let ran = onboard([
        "model".as_ref(),
        "inspect".as_ref(),
        model.as_os_str(),
        "--runtime".as_ref(),
        "rten".as_ref(),
    ]);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    assert!(ran.stderr.contains("may be broken"), "{}", ran.stderr);
}

#[test]
fn what_is_no_model_is_refused() {
    let ran = onboard(["model", "inspect", env!("CARGO_BIN_EXE_onboard")]);
    assert_eq!(ran.code, 1, "{}", ran.stderr);
    assert!(ran.stderr.contains("not an ONNX model"), "{}", ran.stderr);
}
