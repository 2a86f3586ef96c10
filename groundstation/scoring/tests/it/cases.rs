//! Worked cases: those beside the repository and our own.

use std::path::{Path, PathBuf};

/// A file beside the repository; `None`, said plainly, where that folder is absent.
pub(crate) fn shared(file: &str) -> Option<PathBuf> {
    let beside = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared");
    let folder = std::env::var_os("OVERLOOK_SHARED").map_or(beside, PathBuf::from);
    if !folder.is_dir() {
        eprintln!("skipped: there is no {} with {file}", folder.display());
        return None;
    }
    Some(folder.join(file))
}

/// Checks a file and returns how many cases it has.
fn check(path: &Path) -> usize {
    let text = std::fs::read_to_string(path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    let mut differences = Vec::new();
    for line in text.lines() {
        let case = scoring::check_case(line);
        let named = case.differences.iter().map(|d| format!("{}: {d}", case.id));
        differences.extend(named);
    }
    assert!(differences.is_empty(), "{}", differences.join("\n"));
    text.lines().count()
}

#[test]
fn the_cases_beside_the_repository_hold() {
    if let Some(path) = shared("cases/scoring.jsonl") {
        assert!(check(&path) >= 115);
    }
}

#[test]
fn a_wrong_expectation_is_named() {
    let right = r#"{"id":"a","kind":"correlation","x":[1,2],"y":[2,1],"expected":{"pearson":-1}}"#;
    assert!(scoring::check_case(right).differences.is_empty());
    for (line, expected) in [
        (right.replace("-1", "1"), "pearson: found -1.0, expected 1"),
        (
            right.replace("-1", "null"),
            "pearson: found -1.0, expected null",
        ),
        (
            right.replace("pearson", "kendall"),
            "kendall: nothing is found, expected -1",
        ),
    ] {
        assert_eq!(scoring::check_case(&line).differences, [expected]);
    }
    let unknown = scoring::check_case(&right.replace("correlation", "horoscope"));
    assert!(unknown.differences[0].contains("unknown variant `horoscope`"));
}

#[test]
fn our_own_cases_hold() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("cases");
    let entries = std::fs::read_dir(folder).expect("our cases are in the crate");
    let paths = entries.map(|entry| entry.expect("a folder of files").path());
    let n_cases: usize = paths.map(|path| check(&path)).sum();
    assert!(n_cases >= 275, "{n_cases}");
}

#[test]
fn every_case_of_ours_says_where_its_answer_comes_from() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("cases");
    for entry in std::fs::read_dir(folder).expect("our cases are in the crate") {
        let path = entry.expect("a folder of files").path();
        let text = std::fs::read_to_string(&path).expect("a case file");
        let mut ids = std::collections::BTreeSet::new();
        for line in text.lines() {
            let case: serde_json::Value = serde_json::from_str(line).expect("JSON");
            let basis = case["basis"].as_str();
            assert!(
                matches!(basis, Some("paper" | "derived" | "proposal")),
                "{line}"
            );
            assert!(
                case["why"].as_str().is_some_and(|why| !why.is_empty()),
                "{line}"
            );
            assert!(ids.insert(case["id"].to_string()), "twice: {line}");
        }
    }
}
