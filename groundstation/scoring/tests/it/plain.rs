//! A whole evaluation against a plain scorer in another language.

use crate::synthetic::invent;
use scoring::predictions::{Predictions, read_jsonl};
use scoring::report::{Evaluation, ScoreReport};
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;

/// Scores an evaluation and its predictions.
pub(crate) fn report(questions: &str, answers: &str, predictions: &str) -> ScoreReport {
    let evaluation = Evaluation {
        questions,
        answers,
        conventions: BTreeMap::new(),
    };
    let set = evaluation.set().expect("questions with answers");
    let mut read = Predictions::new();
    read_jsonl(predictions, None, &mut read).expect("predictions");
    let scored = evaluation.score(&set, &read).expect("scores");
    evaluation.report(&set, &scored)
}

#[test]
fn a_plain_scorer_in_python_says_the_same() {
    let python = std::env::var_os("OVERLOOK_PYTHON").unwrap_or_else(|| "python3".into());
    let files = invent(20, 4);
    let folder = tempfile::tempdir().expect("a temporary folder");
    let write = |name: &str, text: &str| {
        let path = folder.path().join(name);
        std::fs::write(&path, text).expect("a temporary file");
        path
    };
    let output = Command::new(&python)
        .arg(Path::new(env!("CARGO_MANIFEST_DIR")).join("benches/plain.py"))
        .arg(write("questions.jsonl", &files.questions))
        .arg(write("answers.jsonl", &files.answers))
        .arg(write("predictions.jsonl", &files.predictions))
        .output();
    let output = match output {
        Ok(output) => output,
        Err(error) => {
            eprintln!(
                "skipped: {} does not start: {error}",
                Path::new(&python).display()
            );
            return;
        }
    };
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    let plain: BTreeMap<String, Value> = serde_json::from_slice(&output.stdout).expect("JSON");
    let ours = report(&files.questions, &files.answers, &files.predictions);
    assert_eq!((plain.len(), ours.models.len()), (4, 4));
    for model in &ours.models {
        let plain = &plain[&model.model];
        let near = |ours: Option<f64>, plain: &Value, what: &str| {
            let (ours, plain) = (ours.expect("complete"), plain.as_f64().expect("a number"));
            assert!(
                (ours - plain).abs() < 1e-9,
                "{} {what}: {ours} {plain}",
                model.model
            );
        };
        let components = plain["components"].as_object().expect("an object");
        assert_eq!(components.len(), 26);
        for (component, score) in components {
            near(model.components[component].score, score, component);
        }
        near(model.overall, &plain["overall"], "Overall");
        // Scores that say something: neither nothing nor everything.
        assert!(
            model
                .overall
                .is_some_and(|overall| (5.0..95.0).contains(&overall))
        );
    }
}
