//! The command as a user meets it.

use std::path::Path;
use std::process::{Command, Output};

fn simulator(args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_simulator"))
        .args(args)
        .output()
        .expect("the binary was built")
}

fn render_small(out: &Path, extra: &[&str]) -> Output {
    let mut args = vec![
        "render", "--seed", "3", "--photos", "2", "--size", "96x72", "--out",
    ];
    let out = out.to_string_lossy().into_owned();
    args.push(&out);
    args.extend(extra);
    simulator(&args)
}

#[test]
fn renders_again_over_its_own_output_but_not_over_others_files() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let out = folder.path().join("scene");
    let first = render_small(&out, &["--json"]);
    assert!(
        first.status.success(),
        "{}",
        String::from_utf8_lossy(&first.stderr)
    );
    let summary: serde_json::Value =
        serde_json::from_slice(&first.stdout).expect("one JSON object");
    assert_eq!(summary["schema"], "simulator-render/1");
    assert_eq!(summary["photos"], 2);
    let before = std::fs::read(out.join("SIM_0001.JPG")).expect("a photo");
    // The sheets may lie beside the photos.
    let truth = out.join("truth.json").to_string_lossy().into_owned();
    let facts = simulator(&["facts", "--truth", &truth, "--out", &out.to_string_lossy()]);
    assert!(
        facts.status.success(),
        "{}",
        String::from_utf8_lossy(&facts.stderr)
    );
    assert!(render_small(&out, &[]).status.success());
    assert_eq!(
        before,
        std::fs::read(out.join("SIM_0001.JPG")).expect("a photo")
    );
    assert!(!out.join("vehicles.csv").exists());

    std::fs::write(out.join("holiday.jpg"), b"mine").expect("a writable folder");
    let refused = render_small(&out, &[]);
    assert_eq!(refused.status.code(), Some(1));
    let words = String::from_utf8_lossy(&refused.stderr);
    assert!(words.contains("holiday.jpg"), "{words}");
    assert!(out.join("holiday.jpg").exists() && out.join("SIM_0001.JPG").exists());
}

#[test]
fn says_in_a_sentence_what_is_wrong() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let out = folder.path().join("scene").to_string_lossy().into_owned();
    let start = ["render", "--seed", "1", "--out", &out];
    for (extra, expected) in [
        (vec!["--spacing", "1"], "--spacing"),
        (vec!["--photos", "0"], "--photos"),
        (vec!["--size", "big"], "1600x1200"),
        (vec!["--size", "10x10"], "--size"),
        (vec!["--heights", "9000"], "--heights"),
        (vec!["--cars", "119", "--spacing", "8"], "room for"),
        (vec!["--gps-sigma", "-1"], "--gps-sigma"),
        (vec!["--gps-sigma", "nan"], "--gps-sigma"),
        (vec!["--without-xmp", "2"], "--without-xmp"),
        (vec!["--site", "harbour"], "harbour"),
    ] {
        let args: Vec<&str> = start.iter().copied().chain(extra.iter().copied()).collect();
        let output = simulator(&args);
        let words = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(1), "{extra:?}: {words}");
        assert!(words.contains(expected), "{extra:?}: {words}");
        assert!(output.stdout.is_empty());
    }
    assert!(
        !folder.path().join("scene").exists(),
        "nothing is written for bad arguments"
    );
    assert_eq!(
        simulator(&["facts", "--truth", "/nowhere", "--out", &out])
            .status
            .code(),
        Some(1)
    );
    assert_eq!(simulator(&["--help"]).status.code(), Some(0));
}
