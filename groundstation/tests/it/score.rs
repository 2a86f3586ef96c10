//! `groundstation score` as a user calls it.

use parquet::basic::Compression;
use parquet::data_type::{ByteArray, ByteArrayType};
use parquet::file::properties::WriterProperties;
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::parser::parse_message_type;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::Arc;
use tempfile::TempDir;

const QUESTIONS: &str = r#"{"schema":"score-questions/1","id":"a","scene":"s","task":"BI","config":{"type":"label_pair"}}
{"id":"n","scene":"s","task":"SC","component":"count","config":{"type":"count"}}
{"id":"g","scene":"s","task":"SR","component":"grid","config":{"type":"box","width":4000,"height":2000}}
"#;
const ANSWERS: &str = r#"{"schema":"score-answers/1","id":"a","reference":{"brand":"BYD","model":"Han"},"vehicle":"v"}
{"id":"n","reference":20}
{"id":"g","reference":[100,100,300,300]}
"#;
const PREDICTIONS: &str = r#"{"model":"m","id":"a","response":"{\"brand\":\"BYD\"}"}
{"model":"m","id":"n","response":"about 20"}
{"model":"m","id":"g","response":"[400,200,1200,600]"}
"#;

struct Folder(TempDir);

impl Folder {
    fn new() -> Self {
        let folder = Self(TempDir::new().expect("a temporary file or our program"));
        folder.put("questions.jsonl", QUESTIONS);
        folder.put("answers.jsonl", ANSWERS);
        folder.put("predictions.jsonl", PREDICTIONS);
        folder
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn put(&self, name: &str, text: &str) {
        fs::write(self.path(name), text).expect("a temporary file or our program");
    }

    fn score(&self, arguments: &[&str]) -> Output {
        Command::new(env!("CARGO_BIN_EXE_groundstation"))
            .arg("score")
            .args(arguments)
            .current_dir(self.0.path())
            .output()
            .expect("a temporary file or our program")
    }

    #[track_caller]
    fn check(&self, arguments: &[&str], code: i32, expected: &[&str]) -> String {
        let output = self.score(arguments);
        let text = String::from_utf8_lossy(&output.stdout).into_owned()
            + &String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(code), "{arguments:?}: {text}");
        for part in expected {
            assert!(text.contains(part), "{arguments:?}: no {part:?} in\n{text}");
        }
        text
    }
}

const FILES: [&str; 3] = ["questions.jsonl", "answers.jsonl", "predictions.jsonl"];

fn with<'a>(more: &[&'a str]) -> Vec<&'a str> {
    FILES.into_iter().chain(more.iter().copied()).collect()
}

fn json(path: &Path) -> serde_json::Value {
    serde_json::from_str(&fs::read_to_string(path).expect("a temporary file or our program"))
        .expect("a temporary file or our program")
}

#[test]
fn a_run_is_kept_and_verified() {
    let folder = Folder::new();
    let convention = ["--out", "run", "--details", "--convention", "m=pixel"];
    folder.check(
        &with(&convention),
        0,
        &["model", "valid", "66.7%", "kept in run"],
    );
    let scores = json(&folder.path("run/scores.json"));
    let model = &scores["models"][0];
    let tasks = &model["tasks"];
    // Brand right, model missing; a count with words; a box in pixels that is the box itself.
    assert_eq!((&tasks["BI"], &tasks["BV"]), (&50.0.into(), &50.0.into()));
    assert_eq!(tasks["SC"], 0.0);
    assert_eq!(model["components"]["SR/grid"]["score"], 100.0);
    assert_eq!(tasks["SR"], serde_json::Value::Null);
    assert_eq!(model["convention"], "pixel");
    let details = fs::read_to_string(folder.path("run/details.jsonl")).unwrap();
    assert!(
        details.contains(r#""why":"is not decimal digits alone; expected a count such as 12""#)
    );
    let csv = fs::read_to_string(folder.path("run/scores.csv")).unwrap();
    assert!(csv.contains("m,component,SC/count,0,1,0,true\n"), "{csv}");
    // The answers are not in it.
    let names = fs::read_dir(folder.path("run"))
        .unwrap()
        .map(|entry| entry.unwrap().file_name());
    let mut names: Vec<_> = names.map(|name| name.into_string().unwrap()).collect();
    names.sort();
    let expected = [
        "details.jsonl",
        "manifest.json",
        "predictions-1.jsonl",
        "questions.jsonl",
        "scores.csv",
        "scores.json",
    ];
    assert_eq!(names, expected);
    folder.check(
        &["verify", "run", "answers.jsonl"],
        0,
        &["5 files as the manifest says"],
    );
    folder.check(
        &with(&["--out", "run"]),
        1,
        &["run exists; name a new folder"],
    );
}

#[test]
fn a_board_holds_the_scores_whatever_models_are_called() {
    let folder = Folder::new();
    folder.put(
        "predictions.jsonl",
        &PREDICTIONS.replace("\"m\"", "\"</script><b>\""),
    );
    folder.check(&with(&["--out", "run"]), 0, &[]);
    let board = || {
        let output = Command::new(env!("CARGO_BIN_EXE_groundstation"))
            .args(["board", "run", "--out", "page.html"])
            .current_dir(folder.0.path())
            .output()
            .unwrap();
        (
            output.status.code(),
            String::from_utf8_lossy(&output.stderr).into_owned(),
        )
    };
    assert_eq!(board(), (Some(0), String::new()));
    let page = fs::read_to_string(folder.path("page.html")).unwrap();
    assert!(page.contains(r"\u003c/script>\u003cb>") && !page.contains("</script><b>"));
    let scores = fs::read_to_string(folder.path("run/scores.json")).unwrap();
    let block = page
        .split_once("id=\"data\">")
        .unwrap()
        .1
        .split_once("</script>")
        .unwrap()
        .0;
    let read: serde_json::Value = serde_json::from_str(block).unwrap();
    assert_eq!(
        read,
        serde_json::from_str::<serde_json::Value>(&scores).unwrap()
    );
    folder.put("run/scores.json", &scores.replace("0.0", "9.0"));
    let (code, text) = board();
    assert_eq!(code, Some(1));
    assert!(text.contains("not as the manifest says"), "{text}");
}

#[test]
fn what_was_changed_is_named() {
    let folder = Folder::new();
    folder.check(&with(&["--out", "run"]), 0, &[]);
    let verify = ["verify", "run", "answers.jsonl"];
    let change = |name: &str, from: &str, to: &str| {
        let text = fs::read_to_string(folder.path(name)).unwrap();
        assert!(text.contains(from), "{name}: {text}");
        folder.put(name, &text.replace(from, to));
    };
    change("run/predictions-1.jsonl", "about 20", "20");
    folder.check(&verify, 1, &["predictions-1.jsonl: changed: "]);
    change("run/predictions-1.jsonl", "\"20\"", "\"about 20\"");
    folder.check(&verify, 0, &[]);
    change("answers.jsonl", ":20", ":21");
    folder.check(&verify, 1, &["other answers than the run's"]);
    change("answers.jsonl", ":21", ":20");
    // Scores that somebody raised, with the digest to go with them.
    let digest = |text: &str| groundstation::scene::files::sha256(text.as_bytes());
    let before = fs::read_to_string(folder.path("run/scores.json")).unwrap();
    change("run/scores.json", "\"SC\":0.0", "\"SC\":90.0");
    let after = fs::read_to_string(folder.path("run/scores.json")).unwrap();
    change("run/manifest.json", &digest(&before), &digest(&after));
    folder.check(&verify, 1, &["tasks.SC: kept 90.0, computed 0.0"]);
    change("run/manifest.json", "\"scorer\":\"1.", "\"scorer\":\"0.");
    folder.check(
        &verify,
        1,
        &["scored by scorer 0.0.0", "cannot be compared"],
    );
    change("run/manifest.json", "score-run/1", "score-run/2");
    folder.check(
        &verify,
        1,
        &["schema \"score-run/2\"; this program reads \"score-run/1\""],
    );
}

#[test]
fn what_is_missing_blocks_an_official_score() {
    let folder = Folder::new();
    let failed = PREDICTIONS.replace(r#""response":"about 20""#, r#""status":"timeout""#);
    folder.put("predictions.jsonl", &failed);
    let missing = "m: 1 missing (n); 1 of errors of the service or timeouts (n)";
    folder.check(&FILES, 1, &[missing, "no official score"]);
    let text = folder.check(&with(&["--partial"]), 0, &["not official: ", missing]);
    assert!(!text.contains("no official score"));
    folder.check(&with(&["--out", "run"]), 1, &["no official score"]);
    assert!(!folder.path("run").exists());
}

#[test]
fn tables_are_read_and_errors_name_the_place() {
    let folder = Folder::new();
    let table =
        "id,response\na,\"{\"\"brand\"\":\"\"BYD\"\"}\"\nn,about 20\ng,\"[400,200,1200,600]\"\n";
    folder.put("predictions.csv", table);
    let csv = ["questions.jsonl", "answers.jsonl", "predictions.csv"];
    folder.check(
        &csv,
        1,
        &["predictions.csv: line 2, model: found nothing, expected the model's name"],
    );
    let of_csv = folder.check(&[&csv[..], &["--model", "m", "--json"]].concat(), 0, &[]);
    let of_jsonl = folder.check(&with(&["--json"]), 0, &[]);
    assert_eq!(of_csv, of_jsonl);
    folder.put("bad.jsonl", "{\"id\":\"a\",\"response\":1}\n");
    let bad = ["questions.jsonl", "answers.jsonl", "bad.jsonl"];
    folder.check(
        &bad,
        1,
        &["bad.jsonl: line 1, response: found 1, expected a text"],
    );
    folder.check(
        &["questions.jsonl", "answers.jsonl", "none.jsonl"],
        1,
        &["none.jsonl: No such file"],
    );
    folder.check(
        &with(&["--convention", "x=pixel"]),
        1,
        &["--convention x: the predictions are of m"],
    );
    folder.check(
        &with(&["--convention", "m=metres"]),
        1,
        &["expected MODEL=norm1000"],
    );
    fs::write(folder.path("bytes.jsonl"), b"{\"id\":\"\xff\"}").unwrap();
    folder.check(
        &["questions.jsonl", "answers.jsonl", "bytes.jsonl"],
        1,
        &["byte 7 is not UTF-8"],
    );
}

/// A Parquet file of text columns.
fn parquet_of(columns: &[(&str, &[&str])]) -> Vec<u8> {
    let fields = columns
        .iter()
        .map(|(name, _)| format!("optional binary {name} (UTF8);"));
    let schema = format!("message schema {{ {} }}", fields.collect::<String>());
    let schema = Arc::new(parse_message_type(&schema).expect("a table of texts"));
    let properties = WriterProperties::builder()
        .set_compression(Compression::SNAPPY)
        .build();
    let mut bytes = Vec::new();
    let mut writer =
        SerializedFileWriter::new(&mut bytes, schema, properties.into()).expect("a table of texts");
    let mut group = writer.next_row_group().expect("a table of texts");
    for (_, cells) in columns {
        let cells: Vec<ByteArray> = cells.iter().map(|cell| ByteArray::from(*cell)).collect();
        let levels = vec![1; cells.len()];
        let mut column = group
            .next_column()
            .expect("a table of texts")
            .expect("a table of texts");
        column
            .typed::<ByteArrayType>()
            .write_batch(&cells, Some(&levels), None)
            .expect("a table of texts");
        column.close().expect("a table of texts");
    }
    group.close().expect("a table of texts");
    writer.close().expect("a table of texts");
    bytes
}

#[test]
fn parquet_says_the_same_as_json_lines() {
    let folder = Folder::new();
    let said = ["{\"brand\":\"BYD\"}", "about 20", "[400,200,1200,600]"];
    let table = parquet_of(&[
        ("id", &["a", "n", "g"]),
        ("note", &["", "", ""]),
        ("response", &said),
    ]);
    fs::write(folder.path("predictions.parquet"), &table).unwrap();
    let parquet = ["questions.jsonl", "answers.jsonl", "predictions.parquet"];
    let of_parquet = folder.check(
        &[&parquet[..], &["--model", "m", "--json"]].concat(),
        0,
        &[],
    );
    assert_eq!(of_parquet, folder.check(&with(&["--json"]), 0, &[]));
    folder.check(
        &[&parquet[..], &["--model", "m", "--out", "run"]].concat(),
        0,
        &[],
    );
    folder.check(
        &["verify", "run", "answers.jsonl"],
        0,
        &["4 files as the manifest says"],
    );
    folder.check(
        &parquet,
        1,
        &["predictions.parquet: line 1, model: found nothing"],
    );
    let lacking = parquet_of(&[("id", &["a"]), ("answer", &["x"])]);
    fs::write(folder.path("predictions.parquet"), lacking).unwrap();
    folder.check(
        &parquet,
        1,
        &["columns: found id,answer, expected a column response"],
    );
    fs::write(
        folder.path("predictions.parquet"),
        &table[..table.len() / 2],
    )
    .unwrap();
    folder.check(&parquet, 1, &["predictions.parquet: Parquet error"]);
}

/// What an indented block of the page says after a line that begins with some words.
fn block(page: &str, after: &str) -> String {
    let lines = page
        .lines()
        .skip_while(|line| !line.starts_with(after))
        .skip(1);
    let lines = lines.skip_while(|line| line.is_empty());
    let lines = lines.take_while(|line| line.starts_with("    "));
    lines
        .map(|line| line.trim_start().to_owned() + "\n")
        .collect()
}

#[test]
fn what_the_page_for_maintainers_shows_works() {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/maintainer.md");
    let page = fs::read_to_string(page).unwrap();
    let folder = Folder::new();
    for name in FILES {
        folder.put(name, &block(&page, &format!("`{name}`")));
    }
    folder.check(&with(&["--out", "run"]), 0, &["m ", "100.0%"]);
    let scores = json(&folder.path("run/scores.json"));
    assert_eq!(scores["models"][0]["tasks"]["BV"], 100.0);
    assert_eq!(scores["models"][0]["tasks"]["SC"], 100.0);
    folder.check(&["verify", "run", "answers.jsonl"], 0, &[]);
}

#[test]
fn worked_cases_are_checked() {
    let folder = Folder::new();
    let right = r#"{"id":"x","kind":"normalize","text":" A  b","expected":{"label":"a b"}}"#;
    folder.put(
        "cases.jsonl",
        &format!("{right}\n\n{}\n", right.replace("a b\"", "A b\"")),
    );
    let expected = [
        "cases.jsonl:3: x: label: found \"a b\", expected \"A b\"",
        "2 cases, 1 as expected, 1 different",
    ];
    folder.check(&["check", "cases.jsonl"], 1, &expected);
    folder.put("cases.jsonl", right);
    folder.check(
        &["check", "cases.jsonl"],
        0,
        &["1 cases, 1 as expected, 0 different"],
    );
}
