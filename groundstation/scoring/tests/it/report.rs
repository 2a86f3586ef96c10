//! The report: official and partial, bins, votes, scenes, windows.

use crate::plain::report;
use crate::synthetic::invent;
use scoring::report::ModelReport;

const QUESTIONS: &str = r#"{"schema":"score-questions/1","id":"a","scene":"s","task":"BI","config":{"type":"label_pair"}}
{"id":"b","scene":"s","task":"BI","config":{"type":"label_pair"}}
{"id":"c","scene":"s","task":"BI","config":{"type":"label_pair"}}
{"id":"w","scene":"s","task":"WU","component":"weather","config":{"type":"choice","candidates":["sunny","foggy"]}}
{"id":"n","scene":"t","task":"SC","component":"count","config":{"type":"count"}}
"#;
const ANSWERS: &str = r#"{"schema":"score-answers/1","id":"a","reference":{"brand":"BYD","model":"Han"},"vehicle":"v","height_above_takeoff_m":30,"pitch_deg":-45}
{"id":"b","reference":{"brand":"byd","model":"HAN"},"vehicle":"v","height_above_takeoff_m":100,"pitch_deg":-90}
{"id":"c","reference":{"brand":"BYD","model":"Han"},"vehicle":"v","height_above_takeoff_m":110,"pitch_deg":-90}
{"id":"w","reference":"foggy","height_above_takeoff_m":30}
{"id":"n","reference":20}
"#;

fn said(rows: &[(&str, &str)]) -> String {
    let row = |(id, response): &(&str, &str)| {
        serde_json::json!({"model": "m", "id": id, "response": response}).to_string() + "\n"
    };
    rows.iter().map(row).collect()
}

const HAN: &str = r#"{"brand":"BYD","model":"Han"}"#;
const SONG: &str = r#"{"brand":"BYD","model":"Song"}"#;

fn model(rows: &[(&str, &str)]) -> ModelReport {
    report(QUESTIONS, ANSWERS, &said(rows)).models.remove(0)
}

#[test]
fn vehicles_vote_anew_in_each_bin() {
    let found = model(&[
        ("a", HAN),
        ("b", SONG),
        ("c", SONG),
        ("w", "foggy"),
        ("n", "21"),
    ]);
    assert!(found.official);
    let task = |task: &str| found.tasks[task];
    // Two of three views say Song: the brand is right, the pair is not.
    assert_eq!(
        (task("BI"), task("BV")),
        (Some((100.0 + 100.0 / 3.0) / 2.0), Some(50.0))
    );
    let low = &found.heights["(0,40]"];
    let high = &found.heights["(80,120]"];
    assert_eq!(
        (low.tasks["BV"], low.n_views, low.n_vehicles),
        (Some(100.0), 1, 1)
    );
    assert_eq!(
        (high.tasks["BV"], high.n_views, high.n_vehicles),
        (Some(50.0), 2, 1)
    );
    assert_eq!(found.heights["(40,80]"].tasks["BV"], None);
    assert_eq!((low.tasks["WU"], low.mean), (Some(100.0), None));
    assert_eq!(found.pitches["90"].tasks["BI"], Some(50.0));
    // Views: 100, 50, 50.
    let voting = &found.voting;
    assert!((voting.equal_vehicle_mean.unwrap() - 200.0 / 3.0).abs() < 1e-9);
    assert!((voting.voting_effect.unwrap() + 50.0 / 3.0).abs() < 1e-9);
    assert!(voting.ties.is_empty() && voting.incomplete.is_empty());
    // Tasks that nobody asks about leave Overall without a value, here and in scenes.
    assert_eq!(found.overall, None);
    assert_eq!(found.scenes["t"].tasks["SC"], Some(100.0));
    assert_eq!(found.counts["SC"].mean_absolute_error, Some(1.0));
}

#[test]
fn an_error_of_the_service_is_missing_and_an_empty_answer_is_zero() {
    let rows = said(&[
        ("a", HAN),
        ("b", HAN),
        ("w", ""),
        ("n", "20"),
        ("n", "20"),
        ("z", "1"),
    ]);
    let rows = rows + r#"{"model":"m","id":"c","status":"infra_error"}"#;
    let found = report(QUESTIONS, ANSWERS, &rows).models.remove(0);
    assert!(!found.official);
    let coverage = &found.coverage;
    assert_eq!(coverage.missing, ["c", "n"]);
    assert_eq!(coverage.duplicates, ["n"]);
    assert_eq!(coverage.unknown, ["z"]);
    assert_eq!(coverage.not_returned, ["c"]);
    assert_eq!(found.voting.incomplete, ["s/v"]);
    assert_eq!(found.voting.equal_vehicle_mean, None);
    let weather = &found.components["WU/weather"];
    assert_eq!(
        (weather.score, weather.n_valid, weather.n),
        (Some(0.0), 0, 1)
    );
    let brand = &found.components["BI/brand"];
    assert_eq!(
        (
            brand.score,
            brand.available_mean,
            brand.n_available,
            brand.n
        ),
        (None, Some(100.0), 2, 3)
    );
    assert_eq!(found.components["SC/count"].available_mean, None);
    // What lacks nothing stays: the low bin holds view a alone.
    assert_eq!(found.heights["(0,40]"].tasks["BV"], Some(100.0));
    assert_eq!(found.heights["(80,120]"].tasks["BV"], None);
}

#[test]
fn unreadable_files_are_named_by_line_and_field() {
    let error = |questions: &str, answers: &str| {
        let found = scoring::questions::QuestionSet::read(questions, answers, None);
        found.expect_err("it cannot be read").to_string()
    };
    for (from, to, expected) in [
        (
            "score-questions/1",
            "score-questions/2",
            "questions: line 1, schema: found \"score-questions/2\", expected \"score-questions/1\"",
        ),
        (
            "\"WU\"",
            "\"WX\"",
            "questions: line 4, task: found \"WX\", expected one of the 17 tasks",
        ),
        (
            "\"weather\",",
            "\"wether\",",
            "questions: line 4, component: found \"wether\", expected one of weather",
        ),
        (
            "\"id\":\"b\"",
            "\"id\":\"a\"",
            "questions: line 2, id: found \"a\", expected each id once",
        ),
        (
            "\"id\":\"n\"",
            "\"id\":\"o\"",
            "questions: line 5, id: found \"o\", expected one that the answers have too",
        ),
        (
            "{\"type\":\"count\"}",
            "{\"type\":\"gps\"}",
            "questions: line 5, config: found {\"type\":\"gps\"}, expected the type \"count\" for SC",
        ),
    ] {
        assert_eq!(error(&QUESTIONS.replace(from, to), ANSWERS), expected);
    }
    for (from, to, expected) in [
        (
            "\"reference\":20",
            "\"reference\":-1",
            "answers: line 5, reference: found -1, expected a reference for n: reference -1: expected a count, 0 or more",
        ),
        (
            "\"vehicle\":\"v\",\"height_above_takeoff_m\":30",
            "\"height_above_takeoff_m\":30",
            "answers: line 1, vehicle: found nothing, expected the vehicle that the crop shows",
        ),
        (
            "\"byd\"",
            "\"bid\"",
            "answers: line 2, reference: found {\"brand\":\"bid\",\"model\":\"HAN\"}, expected the label of the vehicle's other views",
        ),
        (
            ":110,",
            ":\"high\",",
            "answers: line 3, height_above_takeoff_m: found \"high\", expected a number",
        ),
    ] {
        assert_eq!(error(QUESTIONS, &ANSWERS.replace(from, to)), expected);
    }
    let more = format!("{ANSWERS}{{\"id\":\"x\",\"reference\":1}}");
    assert_eq!(
        error(QUESTIONS, &more),
        "answers: line 6, id: found \"x\", expected the id of a question"
    );
}

#[test]
fn the_order_of_predictions_does_not_matter() {
    let files = invent(40, 3);
    let straight = report(&files.questions, &files.answers, &files.predictions);
    let mut lines: Vec<&str> = files.predictions.lines().collect();
    lines.reverse();
    let reversed = report(&files.questions, &files.answers, &lines.join("\n"));
    assert!(straight == reversed);
    let text = serde_json::to_string(&straight).unwrap();
    let again: scoring::report::ScoreReport = serde_json::from_str(&text).unwrap();
    assert_eq!((again.schema, again.models.len()), (straight.schema, 3));
}

#[test]
fn scenes_are_in_the_order_of_capture_and_compared_as_the_paper_does() {
    let files = invent(40, 3);
    let found = report(&files.questions, &files.answers, &files.predictions);
    // The generator dates later scenes earlier; the last two share a day, and ids decide.
    assert_eq!(found.scenes.first().map(String::as_str), Some("scene-8"));
    assert_eq!(found.scenes.last().map(String::as_str), Some("scene-0"));
    let pairs: Vec<usize> = found
        .consistency
        .subsets
        .iter()
        .map(|row| row.n_pairs)
        .collect();
    assert_eq!(pairs, [45, 630, 2100, 1575, 126]);
    assert_eq!(found.consistency.windows.len(), 6);
    assert_eq!(found.consistency.scenes.len(), 9);
    // Neighbouring windows share three scenes, neighbouring scenes none.
    let mean = |rows: &[scoring::report::WindowRow]| {
        rows.iter().filter_map(|row| row.pearson).sum::<f64>() / rows.len() as f64
    };
    assert!(mean(&found.consistency.windows) > mean(&found.consistency.scenes));
    // A model's mean over scenes lies between the scenes' extremes; all scenes together are none of them.
    for model in &found.models {
        let without: Vec<f64> = model
            .scenes
            .values()
            .filter_map(|scene| scene.overall_without)
            .collect();
        assert_eq!(without.len(), 10);
        let overall = model.overall.unwrap();
        assert!(
            without.iter().any(|other| *other < overall)
                && without.iter().any(|other| *other > overall)
        );
    }
}
