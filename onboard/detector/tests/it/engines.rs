//! Which engine runs, and how ONNX Runtime's library is found. The library is loaded once per
//! process, so each case runs in a process of its own: this test binary, calling `child` alone.

use crate::common::{onnx_runtime_library, rten};
use detector::{
    DetectOptions, Detector, DetectorError, EngineChoice, EngineOptions, LIBRARY_VARIABLE,
    RgbImage, ScaleChoice,
};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Mutex;

const CHOICE: &str = "DETECTOR_TEST_ENGINE";
const OPTION: &str = "DETECTOR_TEST_LIBRARY";

/// Not a test of its own: loads the built-in model as the environment says and prints one line.
#[test]
#[ignore = "run by the other tests in a process of its own"]
fn child() {
    let engine = match std::env::var(CHOICE).as_deref() {
        Ok("ort") => EngineChoice::OnnxRuntime,
        Ok("rten") => EngineChoice::Rten,
        _ => EngineChoice::Auto,
    };
    let options = EngineOptions {
        engine,
        library: std::env::var_os(OPTION).map(PathBuf::from),
        threads: Some(1),
        ..EngineOptions::default()
    };
    match Detector::built_in(&options) {
        Ok(mut detector) => {
            let grey = RgbImage::new(64, 64, vec![90; 64 * 64 * 3]).unwrap();
            let options = DetectOptions {
                scale: ScaleChoice::Factor(1.0),
                ..DetectOptions::default()
            };
            detector.detect(&grey, None, &options).unwrap();
            let report = serde_json::to_string(&detector.info().engine).unwrap();
            println!("RESULT {report}");
        }
        Err(error @ DetectorError::NoEngine { .. }) => println!("RESULT none: {error}"),
        Err(error) => println!("RESULT error: {error}"),
    }
}

/// A process started while another thread writes a program inherits the open file, and the system
/// then refuses to run that program.
static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());

struct Case<'a> {
    program: &'a Path,
    engine: &'a str,
    variables: Vec<(&'a str, &'a Path)>,
}

fn run(case: &Case<'_>) -> String {
    let mut command = Command::new(case.program);
    command
        .args(["engines::child", "--exact", "--ignored", "--nocapture"])
        .env_remove(LIBRARY_VARIABLE)
        .env_remove("LD_LIBRARY_PATH")
        .env_remove("ORT_DYLIB_PATH")
        .env(CHOICE, case.engine);
    for (key, value) in &case.variables {
        command.env(key, value);
    }
    let output = {
        let _guard = ONE_AT_A_TIME.lock();
        command.output().unwrap()
    };
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(
        output.status.success(),
        "{text}\n{}",
        String::from_utf8_lossy(&output.stderr)
    );
    let line = text.lines().find_map(|line| line.split_once("RESULT "));
    line.unwrap_or_else(|| panic!("no result in {text}"))
        .1
        .to_owned()
}

/// A copy of this program elsewhere, so that nothing of the checkout lies above it.
fn program_in(folder: &Path) -> PathBuf {
    std::fs::create_dir_all(folder).unwrap();
    let program = folder.join("it");
    let _guard = ONE_AT_A_TIME.lock();
    std::fs::copy(std::env::current_exe().unwrap(), &program).unwrap();
    program
}

fn link(library: &Path, folder: &Path) -> PathBuf {
    std::fs::create_dir_all(folder).unwrap();
    let path = folder.join("libonnxruntime.so");
    std::os::unix::fs::symlink(library, &path).unwrap();
    path
}

#[test]
fn a_missing_broken_or_old_library_is_a_sentence() {
    let folder = tempfile::tempdir().unwrap();
    let program = program_in(&folder.path().join("bin"));
    let text = folder.path().join("text.so");
    std::fs::write(&text, "no library").unwrap();
    let old = old_library(folder.path());
    let missing = Path::new("/nowhere/libonnxruntime.so");
    for (variable, path, expected) in [
        (LIBRARY_VARIABLE, missing, "/nowhere/libonnxruntime.so"),
        (LIBRARY_VARIABLE, &text, "text.so"),
        (LIBRARY_VARIABLE, &old, "1.10.0"),
        (OPTION, &old, "1.10.0"),
        // The variable that would make `ort` itself panic.
        ("ORT_DYLIB_PATH", missing, "not installed or too old"),
    ] {
        let case = |engine| Case {
            program: &program,
            engine,
            variables: vec![(variable, path)],
        };
        let refused = run(&case("ort"));
        assert!(refused.starts_with("none: "), "{refused}");
        assert!(refused.contains(expected), "{refused}");
        let fallen_back = run(&case("auto"));
        assert!(fallen_back.contains("\"name\":\"rten\""), "{fallen_back}");
        assert!(fallen_back.contains(expected), "{fallen_back}");
        assert!(run(&case("rten")).contains("\"passed_over\":[]"));
    }
}

/// A shared object that looks like ONNX Runtime 1.10 up to its version.
fn old_library(folder: &Path) -> PathBuf {
    let source = folder.join("old.c");
    std::fs::write(
        &source,
        "static const void *api(unsigned v) { (void)v; return 0; }\n\
         static const char *version(void) { return \"1.10.0\"; }\n\
         static const struct { const void *(*a)(unsigned); const char *(*v)(void); } base =\n\
         { api, version };\n\
         const void *OrtGetApiBase(void) { return &base; }\n",
    )
    .unwrap();
    let library = folder.join("old.so");
    let _guard = ONE_AT_A_TIME.lock();
    let built = Command::new("cc")
        .args(["-shared", "-fPIC", "-o"])
        .args([&library, &source])
        .status()
        .unwrap();
    assert!(built.success());
    library
}

#[test]
fn the_library_is_searched_in_the_stated_order() {
    let library = onnx_runtime_library();
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path();
    let program = program_in(&root.join("deep/bin"));
    // From the last place to the first: each new one must win over those before it.
    let system = link(&library, &root.join("system"));
    let mut variables = vec![("LD_LIBRARY_PATH", system.parent().unwrap().to_path_buf())];
    let expect = |variables: &[(&'static str, PathBuf)], wanted: &Path| {
        let found = run(&Case {
            program: &program,
            engine: "auto",
            variables: variables.iter().map(|(k, v)| (*k, v.as_path())).collect(),
        });
        assert!(found.contains("\"name\":\"onnxruntime\""), "{found}");
        let wanted = format!("\"library\":\"{}\"", wanted.display());
        assert!(found.contains(&wanted), "{wanted} in {found}");
    };
    expect(&variables, Path::new("libonnxruntime.so"));
    let setup = link(&library, &root.join(".setup/onnxruntime"));
    expect(&variables, &setup);
    let beside = link(&library, &root.join("deep/bin"));
    expect(&variables, &beside);
    let named = link(&library, &root.join("named"));
    variables.push((LIBRARY_VARIABLE, named.clone()));
    expect(&variables, &named);
    let option = link(&library, &root.join("option"));
    variables.push((OPTION, option.parent().unwrap().to_path_buf()));
    expect(&variables, &option);
}

#[test]
fn the_report_names_the_version_that_is_pinned() {
    let manifest = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../Cargo.toml");
    let manifest = std::fs::read_to_string(manifest).unwrap();
    let report = Detector::built_in(&rten()).unwrap().info().engine.clone();
    let pin = format!("rten = {{ version = \"={}\"", report.version);
    assert!(manifest.contains(&pin), "{pin}");
}
