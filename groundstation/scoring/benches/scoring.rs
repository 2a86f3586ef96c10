//! Seconds and memory to score 30 models on 35,491 questions with all that the report holds, beside a plain
//! Python scorer on the same files, which computes components to Overall and nothing else. Prints them;
//! that both say the same is asserted.

#[path = "../tests/it/synthetic.rs"]
mod synthetic;

use scoring::predictions::{Predictions, read_jsonl};
use scoring::report::{Evaluation, ScoreReport};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

const N_MODELS: usize = 30;
const RUNS: usize = 5;

fn score(paths: &[PathBuf; 3]) -> (ScoreReport, [f64; 4]) {
    let start = Instant::now();
    let [questions, answers, predictions] = paths
        .each_ref()
        .map(|path| std::fs::read_to_string(path).expect("a file just written"));
    let evaluation = Evaluation {
        questions: &questions,
        answers: &answers,
        conventions: BTreeMap::new(),
    };
    let set = evaluation.set().expect("questions with answers");
    let prepared_s = start.elapsed().as_secs_f64();
    let mut read = Predictions::new();
    read_jsonl(&predictions, None, &mut read).expect("predictions");
    let read_s = start.elapsed().as_secs_f64();
    let scored = evaluation.score(&set, &read).expect("scores");
    let scored_s = start.elapsed().as_secs_f64();
    let report = evaluation.report(&set, &scored);
    (
        report,
        [prepared_s, read_s, scored_s, start.elapsed().as_secs_f64()],
    )
}

/// The most memory that this process has held, MB; `None` where the system does not say.
fn peak_mb() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status
        .lines()
        .find_map(|line| line.strip_prefix("VmHWM:"))?;
    let kilobytes: u64 = line.trim().trim_end_matches(" kB").parse().ok()?;
    Some(kilobytes / 1000)
}

fn files(folder: &Path) -> [PathBuf; 3] {
    // In a process of its own, so that the invention's memory does not count as ours.
    ["questions", "answers", "predictions"].map(|name| folder.join(format!("{name}.jsonl")))
}

fn write(folder: &Path) {
    let invented = synthetic::invent(1, N_MODELS);
    let texts = [invented.questions, invented.answers, invented.predictions];
    for (path, text) in files(folder).iter().zip(texts) {
        std::fs::write(path, text).expect("a temporary folder takes files");
    }
    println!(
        "{} questions, {N_MODELS} models, {} responses",
        invented.n_questions,
        invented.n_questions * N_MODELS
    );
}

fn main() {
    let arguments: Vec<String> = std::env::args().collect();
    if let Some(i) = arguments.iter().position(|argument| argument == "--write") {
        return write(Path::new(&arguments[i + 1]));
    }
    let folder = tempfile::tempdir().expect("a temporary folder");
    let own = std::env::current_exe().expect("a running program has a path");
    let status = Command::new(own).arg("--write").arg(folder.path()).status();
    assert!(status.expect("it starts").success());
    let paths = files(folder.path());
    let mut runs: Vec<(ScoreReport, [f64; 4])> = (0..RUNS).map(|_| score(&paths)).collect();
    runs.sort_by(|a, b| a.1[3].total_cmp(&b.1[3]));
    let (report, [prepared_s, read_s, scored_s, all_s]) = runs.swap_remove(RUNS / 2);
    println!(
        "files to report          {all_s:>8.2} s   questions {prepared_s:.2}, predictions read {:.2}, scored {:.2}, all aggregates {:.2}; at most {} MB ({} threads)",
        read_s - prepared_s,
        scored_s - read_s,
        all_s - scored_s,
        peak_mb().map_or_else(|| "?".to_owned(), |mb| mb.to_string()),
        rayon::current_num_threads()
    );
    beside_python(&paths, &report, all_s);
}

fn beside_python(paths: &[PathBuf; 3], report: &ScoreReport, all_s: f64) {
    let python = std::env::var_os("OVERLOOK_PYTHON").unwrap_or_else(|| "python3".into());
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("benches/plain.py");
    let start = Instant::now();
    let output = match Command::new(&python).arg(script).args(paths).output() {
        Ok(output) => output,
        Err(error) => return println!("plain Python: not measured, {error}"),
    };
    let python_s = start.elapsed().as_secs_f64();
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    let plain: BTreeMap<String, serde_json::Value> =
        serde_json::from_slice(&output.stdout).expect("JSON");
    for model in &report.models {
        let theirs = plain[&model.model]["overall"].as_f64().expect("a number");
        let ours = model.overall.expect("nothing is missing");
        assert!(
            (ours - theirs).abs() < 1e-9,
            "{}: {ours} {theirs}",
            model.model
        );
    }
    println!(
        "plain Python, same files {python_s:>8.2} s   components to Overall alone, the same scores; {:.0} times as long",
        python_s / all_s
    );
}
