//! Identities against what is true, on scenes that the simulator writes: dense rows, poses from GPS
//! alone, the review log, ids that stay. The full table is `cargo bench -p tests --bench identities`.

use serde_json::Value;
use std::collections::BTreeMap;
use std::path::Path;
use tempfile::TempDir;
use tests::binaries::{run, text};
use tests::evaluate::{number, read_json, room_folder};

fn simulated(arguments: &[&str]) -> TempDir {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let out = ["scene", "--out", text(folder.path())];
    let _ = run("simulator", &[&out[..], arguments].concat());
    folder
}

fn groundstation(arguments: &[&str]) -> String {
    run("groundstation", &[&["--quiet"], arguments].concat())
}

fn grouped(scene: &Path, options: &[&str]) {
    let _ = groundstation(&["anchor", text(scene)]);
    let _ = groundstation(&[&["cluster", text(scene)], options].concat());
}

fn evaluated(scene: &Path, boxes: &str) -> Value {
    let truth = scene.join("truth.json");
    let arguments = [
        "evaluate",
        text(scene),
        "--truth",
        text(&truth),
        "--boxes",
        boxes,
        "--json",
    ];
    serde_json::from_str(&groundstation(&arguments)).expect("one JSON object")
}

/// Dense rows from 20 to 120 m.
const DENSE: [&str; 12] = [
    "--spacing",
    "2.5",
    "--photos",
    "100",
    "--heights",
    "20,60,90,120",
    "--site",
    "perpendicular",
    "--cars",
    "50",
    "--size",
    "1600x1200",
];

fn entities(scene: &Path) -> Value {
    read_json(&room_folder(scene, "entity").join("entities.json"))
}

/// Pairwise F1 from the simulator's own list of whose box is whose, without any matching of boxes.
fn pairwise_f1(scene: &Path) -> f64 {
    let truth = read_json(&scene.join("truth.json"));
    let mut groups: BTreeMap<(usize, usize), usize> = BTreeMap::new();
    for (idx, entity) in entities(scene)["entities"]
        .as_array()
        .expect("a list")
        .iter()
        .enumerate()
    {
        for member in entity["members"].as_array().expect("a list") {
            let key =
                ["photo", "detection"].map(|k| member[k].as_u64().expect("an index") as usize);
            let _ = groups.insert((key[0], key[1]), idx);
        }
    }
    let mut labels: Vec<(usize, String)> = Vec::new();
    let photos = truth["processed"]["detections"].as_array().expect("a list");
    for (photo, list) in photos.iter().enumerate() {
        for (at, vehicle) in list.as_array().expect("a list").iter().enumerate() {
            let alone = format!("nothing {photo} {at}");
            let vehicle = vehicle.as_str().map_or(alone, ToOwned::to_owned);
            let group = groups.get(&(photo, at)).copied();
            labels.push((group.unwrap_or(usize::MAX - labels.len()), vehicle));
        }
    }
    let (mut both, mut found, mut real) = (0_u64, 0_u64, 0_u64);
    for (at, a) in labels.iter().enumerate() {
        for b in &labels[at + 1..] {
            let (together, same) = (a.0 == b.0, a.1 == b.1);
            both += u64::from(together && same);
            found += u64::from(together);
            real += u64::from(same);
        }
    }
    2.0 * both as f64 / (found + real) as f64
}

#[test]
fn dense_rows_come_apart() {
    for seed in ["21", "22"] {
        let folder = simulated(&[&["--seed", seed], &DENSE[..]].concat());
        let scene = folder.path();
        grouped(scene, &[]);
        let detected = evaluated(scene, "detected");
        let truth = evaluated(scene, "truth");
        for (found, at_least) in [(&detected, 0.93), (&truth, 0.97)] {
            let f1 = number(&found["pairwise_f1"]);
            assert!(f1 >= at_least, "seed {seed}, {}: F1 {f1}", found["boxes"]);
            assert_eq!(found["cannot_link_violations"], 0);
            let each = number(&found["count"]["confirmed_per_vehicle"]);
            assert!((0.95..=1.05).contains(&each), "{each} per vehicle");
        }
        assert!(number(&detected["detection"]["recall"]) >= 0.85);
        assert!(number(&detected["detection"]["precision"]) >= 0.9);
        // Boxes are noisy: agreement in all of them would be a comparison with itself.
        assert!(number(&detected["pairwise_f1"]) < 1.0);
        // The product matches boxes by overlap; the simulator knows. A few noisy boxes differ.
        let (by_overlap, by_list) = (number(&detected["pairwise_f1"]), pairwise_f1(scene));
        assert!(
            (by_overlap - by_list).abs() < 0.01,
            "{by_overlap} by overlap, {by_list} by the list"
        );
        // Sigmas of vehicles are neither a lie nor a blanket.
        let share = number(&detected["entity_sigmas"]["within_one_sigma_share"]);
        assert!((0.55..0.95).contains(&share), "{share} within one sigma");
        let off = number(&detected["entity_position"]["median_m"]);
        assert!((0.005..0.15).contains(&off), "{off} m");
        for share in ["precision", "recall"].map(|k| number(&detected["visibility"][k])) {
            assert!((0.85..1.0).contains(&share), "{}", detected["visibility"]);
        }
        let shape = &detected["shape"];
        let length = number(&shape["length_median_m"]);
        assert!((0.005..0.25).contains(&length), "lengths off by {length} m");
        assert!(number(&shape["axis_median_deg"]) < 2.0);
        let fronts = ["fronts_right", "fronts_suggested"].map(|k| number(&shape[k]));
        assert!(
            fronts[0] >= 0.8 * fronts[1] && fronts[1] >= 3.0,
            "{fronts:?}"
        );
    }
}

#[test]
fn the_orders_and_the_refinement_are_options() {
    let folder = simulated(&[&["--seed", "23"], &DENSE[..]].concat());
    let scene = folder.path();
    let mut groupings = Vec::new();
    for options in [
        &["--refine", "0", "--merge-from", "1.1"][..],
        &[
            "--refine",
            "0",
            "--merge-from",
            "1.1",
            "--order",
            "geometry",
        ],
        &["--refine", "3"],
    ] {
        grouped(scene, options);
        let found = evaluated(scene, "detected");
        assert!(number(&found["pairwise_f1"]) >= 0.93, "{options:?}");
        assert_eq!(found["cannot_link_violations"], 0);
        groupings.push(
            entities(scene)["entities"]
                .as_array()
                .expect("a list")
                .len(),
        );
    }
    // Assignment and merges take fragments in.
    assert!(groupings[2] < groupings[0], "{groupings:?}");
}

#[test]
fn poses_from_gps_are_said_to_be_approximate() {
    let folder = simulated(&[&["--seed", "24"], &DENSE[..]].concat());
    let scene = folder.path();
    let _ = groundstation(&["pose", text(scene), "--engine", "priors"]);
    grouped(scene, &[]);
    let warnings = entities(scene)["warnings"].to_string();
    assert!(
        warnings.contains("approximate, review everything"),
        "{warnings}"
    );
    assert!(warnings.contains("not separable"), "{warnings}");
    let found = evaluated(scene, "detected");
    assert_eq!(found["cannot_link_violations"], 0);
    let share = number(&found["anchor_sigmas"]["within_one_sigma_share"]);
    println!("F1 {}, {share} within one sigma", found["pairwise_f1"]);
    // One flight's error is one draw; many are pooled in the bench.
    assert!((0.35..0.95).contains(&share), "{share} within one sigma");
    assert!(
        number(&found["pairwise_f1"]) < 0.9,
        "GPS alone cannot do that"
    );
}

/// Case 42: what has no place says why, and what has one is near.
#[test]
fn near_the_horizon_there_is_no_wild_place() {
    let folder = simulated(&[
        "--seed",
        "25",
        "--photos",
        "24",
        "--heights",
        "20",
        "--pitches",
        "30",
        "--noise",
        "false=2",
    ]);
    let scene = folder.path();
    grouped(scene, &[]);
    let anchors =
        tests::evaluate::read_json_lines(&room_folder(scene, "anchor").join("anchors.jsonl"));
    let pose = read_json(&room_folder(scene, "pose").join("pose.json"));
    let n_photos = pose["photos"].as_array().expect("photos").len();
    for anchor in &anchors {
        let place = &anchor["placed"]["enu_m"];
        assert!(place.is_array() != anchor["reason"].is_string(), "{anchor}");
        assert!((anchor["photo"].as_u64().expect("an index") as usize) < n_photos);
        if place.is_array() {
            let far = number(&place[0]).hypot(number(&place[1]));
            assert!(far < 300.0, "{anchor}");
        }
    }
}

/// A decision changes the vehicles, is in the log, and is taken back.
#[test]
fn decisions_are_followed_and_taken_back() {
    let folder = simulated(&["--seed", "26", "--photos", "60"]);
    let scene = folder.path();
    grouped(scene, &[]);
    let before = evaluated(scene, "detected");
    let list = entities(scene);
    let vehicle = list["entities"][0]["entity_id"]
        .as_str()
        .expect("an id")
        .to_owned();
    let record = |kind: &str, target: &str, after: &str| {
        let decision = ["--kind", kind, "--target", target, "--after", after];
        groundstation(
            &[
                &["review", "record", text(scene), "--who", "one"],
                &decision[..],
            ]
            .concat(),
        )
    };
    let said = record("vehicle", &vehicle, "not_a_vehicle");
    let event = said
        .split_whitespace()
        .nth(1)
        .expect("the event's name")
        .to_owned();
    let after = evaluated(scene, "detected");
    let confirmed = |found: &Value| number(&found["count"]["confirmed"]);
    assert_eq!(confirmed(&after), confirmed(&before) - 1.0);
    let _ = groundstation(&["review", "undo", text(scene), &event, "--who", "two"]);
    assert_eq!(evaluated(scene, "detected"), before);
    // Two vehicles of one photo are never one, whatever is decided.
    let other = list["entities"][1]["entity_id"].as_str().expect("an id");
    let _ = record("pair", &format!("{vehicle}+{other}"), "same");
    let open = groundstation(&["review", "list", text(scene), "--json"]);
    let open: Value = serde_json::from_str(&open).expect("one JSON object");
    let not_followed = open["not_followed"][0].as_str().expect("a reason");
    assert!(not_followed.contains("shows both"), "{not_followed}");
    assert_eq!(open["events"], 3);
    assert_eq!(evaluated(scene, "detected")["cannot_link_violations"], 0);
}

/// A model is fitted, described, and used.
#[test]
fn a_merge_model_is_fitted_on_known_scenes() {
    let noise = "pose=0.3,angle=0.2,box=4,size=0.08,miss=0.2,false=0.1";
    let scenes: Vec<TempDir> = ["31", "32", "33"]
        .iter()
        .map(|seed| {
            simulated(&[
                "--seed",
                seed,
                "--photos",
                "60",
                "--spacing",
                "2.5",
                "--noise",
                noise,
            ])
        })
        .collect();
    for scene in &scenes {
        let _ = groundstation(&["anchor", text(scene.path())]);
    }
    let out = scenes[0].path().join("log").join("model.toml");
    let mut arguments = vec!["merges", "fit"];
    arguments.extend(scenes.iter().map(|scene| text(scene.path())));
    arguments.extend(["--out", text(&out), "--describe", "three scenes", "--json"]);
    let report: Value = serde_json::from_str(&groundstation(&arguments)).expect("one JSON object");
    assert_eq!(report["training"]["simulated_scenes"], 3);
    assert!(number(&report["held_out"]["brier"]) < number(&report["start"]["brier"]));
    let scene = scenes[0].path();
    let _ = groundstation(&["cluster", text(scene), "--merge-model", text(&out)]);
    assert_eq!(evaluated(scene, "detected")["cannot_link_violations"], 0);
}
