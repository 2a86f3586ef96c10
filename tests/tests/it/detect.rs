//! Rendered photos of a site that our model has never seen, searched by `onboard detect` from the
//! photos' own account of their height, and held against what is true by `groundstation detect eval`.

use serde_json::Value;
use tests::binaries::{run, text};

/// Below what the model card states for heights up to 60 m: this is one scene of few photos.
const LOWEST_AP50: f64 = 0.9;

#[test]
fn vehicles_of_an_unseen_site_are_found_where_they_are() {
    let home = tempfile::tempdir().unwrap();
    let (photos, found) = (home.path().join("photos"), home.path().join("found"));
    let options =
        "--seed 3101 --photos 6 --size 1200x900 --heights 30,55 --pitches 45,90 --cars 40";
    let mut render: Vec<&str> = vec!["render", "--out", text(&photos)];
    render.extend(options.split(' '));
    let _ = run("simulator", &render);
    let summary = run(
        "onboard",
        &[
            "--quiet",
            "detect",
            text(&photos),
            "--out",
            text(&found),
            "--runtime",
            "rten",
            "--min-score",
            "0.03",
            "--json",
        ],
    );
    let summary: Value = serde_json::from_str(&summary).unwrap();
    for photo in summary["photos"].as_array().unwrap() {
        assert_eq!(photo["scale"], "view", "{photo}");
    }
    let answer = run(
        "groundstation",
        &[
            "detect",
            "eval",
            text(&found.join("detections.jsonl")),
            "--truth",
            text(&photos.join("truth.json")),
            "--json",
        ],
    );
    let answer: Value = serde_json::from_str(&answer).unwrap();
    assert_eq!(answer["not_searched"].as_array().unwrap().len(), 0);
    let evaluation = &answer["evaluation"];
    assert!(
        evaluation["vehicles"].as_u64().unwrap() > 50,
        "{evaluation}"
    );
    let ap50 = evaluation["oriented"]["ap50"].as_f64().unwrap();
    let angle = evaluation["angle_errors"]["median_deg"].as_f64().unwrap();
    eprintln!("AP50 {ap50:.3}, angle {angle:.2} degrees");
    assert!((LOWEST_AP50..1.0).contains(&ap50), "{ap50}");
    assert!((0.2..3.0).contains(&angle), "{angle}");
    assert_eq!(evaluation["doubles"], 0);
    // The model says how exact its corners are; it is held to that, both ways.
    let measured = evaluation["corner_errors"]["sigma"].as_f64().unwrap();
    let lines = std::fs::read_to_string(found.join("detections.jsonl")).unwrap();
    let first: Value = serde_json::from_str(lines.lines().next().unwrap()).unwrap();
    let vehicle = &first["detections"][0];
    let stated = vehicle["corner_sigma_px"].as_f64().unwrap()
        / vehicle["oriented_box"]["long_side_px"].as_f64().unwrap();
    eprintln!("corners {measured:.3} of the long side, stated {stated:.3}");
    assert!(
        (0.6..1.6).contains(&(measured / stated)),
        "{measured} {stated}"
    );
}
