//! What a run writes, and what it leaves alone.

use crate::common::{detect, jpeg, shared, with_orientation, with_pose};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

fn names_below(folder: &Path) -> Vec<String> {
    let mut names = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let entry = entry.unwrap();
        let name = entry.file_name().to_string_lossy().into_owned();
        if entry.path().is_dir() {
            let below = names_below(&entry.path());
            names.extend(below.into_iter().map(|other| format!("{name}/{other}")));
        } else {
            names.push(name);
        }
    }
    names.sort();
    names
}

#[test]
fn every_format_is_written_for_every_photo() {
    let home = tempfile::tempdir().unwrap();
    let photos = home.path().join("photos");
    fs::create_dir_all(photos.join("second")).unwrap();
    fs::write(photos.join("a.jpg"), jpeg(320, 200)).unwrap();
    fs::write(photos.join("second/a.JPG"), jpeg(200, 320)).unwrap();
    fs::write(photos.join("notes.txt"), "no photo").unwrap();
    let out = home.path().join("results/first");
    let more = [
        "--overlay",
        "--json",
        "--format",
        "jsonl,coco,yolo-obb,dota",
    ];
    let ran = detect(&[&photos], &out, &more);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    assert_eq!(
        names_below(&out),
        [
            "coco.json",
            "detections.jsonl",
            "dota/a.txt",
            "dota/second/a.txt",
            "overlay/a.jpg",
            "overlay/second/a.jpg",
            "summary.json",
            "yolo-obb/classes.txt",
            "yolo-obb/labels/a.txt",
            "yolo-obb/labels/second/a.txt",
        ]
    );
    let summary = ran.json();
    assert_eq!(summary["schema"], "onboard-detect/1");
    assert_eq!(summary["photos"][1]["photo"], "second/a.JPG");
    assert_eq!(summary["engine"]["name"], "rten");
    let stored: serde_json::Value =
        serde_json::from_str(&fs::read_to_string(out.join("summary.json")).unwrap()).unwrap();
    assert_eq!(stored, summary);
    let lines = fs::read_to_string(out.join("detections.jsonl")).unwrap();
    let second = detector::read_json_line(lines.lines().nth(1).unwrap()).unwrap();
    assert_eq!(second.photo, "second/a.JPG");
    assert_eq!((second.found.width_px, second.found.height_px), (200, 320));
    // Nothing is left beside the result.
    assert_eq!(
        fs::read_dir(home.path().join("results")).unwrap().count(),
        1
    );
}

#[test]
fn an_earlier_result_is_replaced_and_anything_else_left_alone() {
    let home = tempfile::tempdir().unwrap();
    let photo = home.path().join("a.jpg");
    fs::write(&photo, jpeg(64, 64)).unwrap();
    let out = home.path().join("out");
    assert_eq!(detect(&[&photo], &out, &["--format", "dota"]).code, 0);
    assert_eq!(detect(&[&photo], &out, &[]).code, 0);
    assert_eq!(names_below(&out), ["detections.jsonl", "summary.json"]);
    fs::write(out.join("mine.txt"), "keep").unwrap();
    let ran = detect(&[&photo], &out, &[]);
    assert_eq!(ran.code, 1);
    assert!(ran.stderr.contains("mine.txt"), "{}", ran.stderr);
    assert_eq!(fs::read_to_string(out.join("mine.txt")).unwrap(), "keep");
}

#[test]
fn a_run_that_was_killed_is_taken_up_where_it_stopped() {
    let home = tempfile::tempdir().unwrap();
    let photos = home.path().join("photos");
    fs::create_dir(&photos).unwrap();
    for idx in 0..30 {
        fs::write(photos.join(format!("{idx:02}.jpg")), jpeg(600 + idx, 400)).unwrap();
    }
    let out = home.path().join("out");
    let kept = home.path().join(".out.kept");
    let mut child = Command::new(env!("CARGO_BIN_EXE_onboard"))
        .args(["detect", "--runtime", "rten", "--threads", "1"])
        .args(["--scale", "1", "--out"])
        .args([&out, &photos])
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let notes = || -> Vec<PathBuf> {
        let entries = fs::read_dir(&kept).into_iter().flatten().flatten();
        entries
            .map(|entry| entry.path())
            .filter(|path| path.extension().is_some_and(|end| end == "json"))
            .collect()
    };
    while notes().len() < 2 && child.try_wait().unwrap().is_none() {
        std::thread::sleep(Duration::from_millis(5));
    }
    child.kill().unwrap();
    child.wait().unwrap();
    assert!(!out.exists(), "it ended before it could be killed");
    // A mark in what was kept shows whether it is read, and only under the same conditions.
    for note in notes() {
        let text = fs::read_to_string(&note).unwrap();
        fs::write(&note, text.replace("\"tiles\":", "\"tiles\":1000")).unwrap();
    }
    let n_kept = notes().len();
    let other = home.path().join("other");
    fs::create_dir(&other).unwrap();
    fs::rename(&kept, other.join(".out.kept")).unwrap();
    let marked = |out: &Path| {
        let lines = fs::read_to_string(out.join("detections.jsonl")).unwrap();
        assert_eq!(lines.lines().count(), 30);
        lines.matches("\"tiles\":1000").count()
    };
    let elsewhere = other.join("out");
    let scale = ["--scale", "1"];
    assert_eq!(detect(&[&photos], &out, &scale).code, 0);
    assert_eq!(marked(&out), 0);
    assert_eq!(detect(&[&photos], &elsewhere, &scale).code, 0);
    assert_eq!(marked(&elsewhere), n_kept);
    assert_eq!(
        names_below(&other),
        ["out/detections.jsonl", "out/summary.json"]
    );
}

#[test]
fn the_photo_s_own_metadata_gives_the_scale() {
    let home = tempfile::tempdir().unwrap();
    let known = home.path().join("known.jpg");
    fs::write(&known, with_pose(&jpeg(640, 480), 60.0, -90.0)).unwrap();
    let turned = home.path().join("turned.jpg");
    fs::write(
        &turned,
        with_orientation(&with_pose(&jpeg(640, 480), 60.0, -90.0), 1),
    )
    .unwrap();
    let unknown = home.path().join("unknown.jpg");
    fs::write(&unknown, jpeg(640, 480)).unwrap();
    let ran = detect(&[&known, &unknown], &home.path().join("out"), &["--json"]);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    let summary = ran.json();
    assert_eq!(summary["photos"][0]["scale"], "view");
    // 24 mm equivalent over a 43.27 mm diagonal of 800 px: 443.8 px; a car of 4.5 m from 60 m.
    let expected = 4.5 * 443.8 / 60.0;
    for end in 0..2 {
        let found = summary["photos"][0]["expected_car_px"][end]
            .as_f64()
            .unwrap();
        assert!((found / expected - 1.0).abs() < 0.03, "{found} {expected}");
    }
    assert_eq!(summary["photos"][1]["scale"], "pyramid");
    let warning = summary["photos"][1]["warnings"][0].as_str().unwrap();
    assert!(warning.contains("several sizes"), "{warning}");
    assert!(warning.contains("no height"), "{warning}");
    // A height given by hand stands in for one that the photo says.
    let ran = detect(
        &[&known],
        &home.path().join("out"),
        &["--json", "--height-above-ground", "30"],
    );
    let found = ran.json()["photos"][0]["expected_car_px"][0]
        .as_f64()
        .unwrap();
    assert!((found / expected - 2.0).abs() < 0.06, "{found}");
}

#[test]
fn real_parked_cars_are_counted_from_the_photo_s_own_account() {
    let Some(folder) = shared("sheffield") else {
        return;
    };
    let home = tempfile::tempdir().unwrap();
    let photo = folder.join("DJI_0070.JPG");
    let ran = detect(&[&photo], &home.path().join("out"), &["--json"]);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    let summary = ran.json();
    // These photos say no height above take-off that is right; whichever way, cars are found.
    let n = summary["n_vehicles"].as_u64().unwrap();
    assert!((8..=60).contains(&n), "{n}");
}
