//! A small rendered folder shared by the tests, and the outside programs they ask.

use simulator::dataset::{DatasetSpec, render_dataset};
use simulator::truth::Truth;
use std::path::Path;
use std::process::Command;
use std::sync::LazyLock;
use tempfile::TempDir;

/// A rendered folder.
pub(crate) struct Rendered {
    pub(crate) folder: TempDir,
    pub(crate) truth: Truth,
}

/// Thirteen small photos, some without XMP, some without a position.
pub(crate) fn small_spec() -> DatasetSpec {
    let mut spec = DatasetSpec::new(5);
    spec.n_photos = 13;
    spec.size_px = [480, 360];
    spec.share_without_xmp = 0.4;
    spec.share_without_gps = 0.4;
    spec
}

/// Renders a spec into a new folder.
pub(crate) fn render(spec: &DatasetSpec) -> Rendered {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let truth = render_dataset(spec, folder.path(), &|_| {}).expect("a spec within range");
    Rendered { folder, truth }
}

/// The shared folder.
pub(crate) fn small() -> &'static Rendered {
    static SMALL: LazyLock<Rendered> = LazyLock::new(|| render(&small_spec()));
    &SMALL
}

/// Runs Python with a script and its standard input; `None`, and a word on stderr, when a module
/// is missing.
pub(crate) fn python(script: &str, module: &str, input: &str) -> Option<String> {
    let program = std::env::var("OVERLOOK_PYTHON").unwrap_or_else(|_| "python3".to_owned());
    let has_module = Command::new(&program)
        .args(["-c", &format!("import {module}")])
        .output()
        .is_ok_and(|output| output.status.success());
    if !has_module {
        eprintln!("skipped: {program} has no module {module} (set OVERLOOK_PYTHON)");
        return None;
    }
    let folder = tempfile::tempdir().expect("a temporary folder");
    let file = folder.path().join("input.json");
    std::fs::write(&file, input).expect("a writable temporary folder");
    let output = Command::new(&program)
        .args(["-c", script])
        .arg(&file)
        .output()
        .expect("the interpreter ran a moment ago");
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    Some(String::from_utf8(output.stdout).expect("Python prints UTF-8"))
}

/// What exiftool reads from a file, values as numbers; `None`, and a word on stderr, when
/// exiftool is missing.
pub(crate) fn exiftool(file: &Path) -> Option<serde_json::Value> {
    let Ok(output) = Command::new("exiftool")
        .args(["-json", "-n", "-G1"])
        .arg(file)
        .output()
    else {
        eprintln!("skipped: exiftool is not installed");
        return None;
    };
    let all: serde_json::Value =
        serde_json::from_slice(&output.stdout).expect("exiftool prints JSON");
    Some(all[0].clone())
}
