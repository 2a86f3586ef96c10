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
}

#[test]
fn what_is_no_model_is_refused() {
    let ran = onboard(["model", "inspect", env!("CARGO_BIN_EXE_onboard")]);
    assert_eq!(ran.code, 1, "{}", ran.stderr);
    assert!(ran.stderr.contains("not an ONNX model"), "{}", ran.stderr);
}
