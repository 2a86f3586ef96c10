//! Scenes that the simulator writes from truth: the rooms after pose and detect, on many photos,
//! without rendering or solving.

use nalgebra::{Rotation2, Vector2};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use tempfile::TempDir;
use tests::binaries::{run, text};
use tests::evaluate::{number, percentile, read_json, read_json_lines, room_folder};

/// A scene of 150 photos, and its truth.
struct FromTruth {
    folder: TempDir,
    truth: Value,
}

impl FromTruth {
    fn write(arguments: &[&str]) -> Self {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let out = ["scene", "--photos", "150", "--out", text(folder.path())];
        let _ = run("simulator", &[&out[..], arguments].concat());
        let truth = read_json(&folder.path().join("truth.json"));
        Self { folder, truth }
    }

    fn scene(&self) -> &Path {
        self.folder.path()
    }

    fn groundstation(&self, command: &str) {
        let _ = run("groundstation", &["--quiet", command, text(self.scene())]);
    }

    fn status(&self) -> Value {
        let printed = run("groundstation", &["status", text(self.scene()), "--json"]);
        serde_json::from_str(&printed).expect("one JSON object")
    }

    /// The vehicle of a detection; `None` for a false alarm.
    fn vehicle(&self, photo: &Value, detection: &Value) -> Option<&str> {
        let [photo, detection] = [photo, detection].map(|v| v.as_u64().expect("an index") as usize);
        self.truth["processed"]["detections"][photo][detection].as_str()
    }

    /// Where the vehicles are on the scene's map.
    fn places(&self) -> BTreeMap<&str, Vector2<f64>> {
        let processed = &self.truth["processed"];
        let turn = Rotation2::new(number(&processed["turn_deg"]).to_radians());
        let shift = Vector2::from([0, 1].map(|axis| number(&processed["shift_m"][axis])));
        let vehicles = self.truth["vehicles"].as_array().expect("vehicles");
        vehicles
            .iter()
            .map(|vehicle| {
                let centre = &vehicle["center_in_enu_m"];
                let centre = Vector2::from([0, 1].map(|axis| number(&centre[axis])));
                (
                    vehicle["id"].as_str().expect("an id"),
                    turn * centre + shift,
                )
            })
            .collect()
    }

    /// Distances of anchors from their vehicles in photos that look down at 45 degrees and more,
    /// cut boxes left out.
    fn anchor_errors(&self) -> Vec<f64> {
        let places = self.places();
        let anchors = read_json_lines(&room_folder(self.scene(), "anchor").join("anchors.jsonl"));
        let found = read_json_lines(&room_folder(self.scene(), "detect").join("detections.jsonl"));
        let mut errors = Vec::new();
        for anchor in &anchors {
            let [photo, detection] =
                ["photo", "detection"].map(|key| anchor[key].as_u64().expect("an index") as usize);
            let is_steep = number(&self.truth["photos"][photo]["pitch_deg"]) <= -44.0;
            let is_cut = found[photo]["detections"][detection]["truncated"] == true;
            let vehicle = self.vehicle(&anchor["photo"], &anchor["detection"]);
            if let (Some(vehicle), true, false) = (vehicle, is_steep, is_cut) {
                let placed = &anchor["placed"]["enu_m"];
                assert!(placed.is_array(), "{anchor}");
                let place = Vector2::from([0, 1].map(|axis| number(&placed[axis])));
                errors.push((place - places[vehicle]).norm());
            }
        }
        errors
    }

    /// How many vehicles are detected in so many photos.
    fn n_seen_in(&self, n_photos: u64) -> usize {
        let mut counts: BTreeMap<&str, u64> = BTreeMap::new();
        let photos = self.truth["processed"]["detections"].as_array();
        for photo in photos.expect("a list of photos") {
            let list = photo.as_array().expect("a list of vehicles");
            for vehicle in list.iter().filter_map(Value::as_str) {
                *counts.entry(vehicle).or_default() += 1;
            }
        }
        counts.values().filter(|n| **n >= n_photos).count()
    }
}

fn states(status: &Value) -> Vec<(&str, &str)> {
    let rooms = status["rooms"].as_array().expect("rooms");
    rooms
        .iter()
        .map(|room| {
            let text = |key: &str| room[key].as_str().expect("text");
            (text("room"), text("state"))
        })
        .collect()
}

/// Number of confirmed vehicles, after checking that no vehicle has two boxes of one photo and that
/// those confirmed are each mostly of one true vehicle.
fn check_identities(scene: &FromTruth, entities: &Value) -> usize {
    let mut n_confirmed = 0;
    for entity in entities["entities"].as_array().expect("entities") {
        let members = entity["members"].as_array().expect("members");
        let photos: BTreeSet<u64> = members
            .iter()
            .map(|m| m["photo"].as_u64().expect("an index"))
            .collect();
        assert_eq!(photos.len(), members.len(), "two boxes of one photo");
        if entity["is_confirmed"] != true {
            continue;
        }
        n_confirmed += 1;
        let mut counts: BTreeMap<Option<&str>, usize> = BTreeMap::new();
        for member in members {
            let vehicle = scene.vehicle(&member["photo"], &member["detection"]);
            *counts.entry(vehicle).or_default() += 1;
        }
        let most = counts.values().max().copied().unwrap_or(0);
        assert!(10 * most >= 9 * members.len(), "{counts:?}");
    }
    n_confirmed
}

#[test]
fn the_rooms_that_follow_find_the_vehicles() {
    let scene = FromTruth::write(&["--seed", "1"]);
    let before = scene.status();
    let expected = [
        ("ingest", "done"),
        ("pose", "done"),
        ("detect", "done"),
        ("anchor", "missing"),
        ("entity", "missing"),
    ];
    assert_eq!(states(&before), expected);
    assert_eq!(before["next"], "anchor");
    for command in ["anchor", "cluster", "report"] {
        scene.groundstation(command);
    }
    let after = scene.status();
    assert!(
        states(&after).iter().all(|(_, state)| *state == "done"),
        "{after}"
    );
    assert_eq!(after["pose"]["registered"], 150);
    assert_eq!(after["pose"]["photos"], 150);
    assert_eq!(after["ingest"]["photos"], 150);

    let errors = scene.anchor_errors();
    let (median, ninety) = (percentile(&errors, 0.5), percentile(&errors, 0.9));
    println!(
        "{} anchors: median {median:.3} m, 90 % within {ninety:.3} m",
        errors.len()
    );
    assert!(errors.len() > 1000);
    assert!((0.02..0.35).contains(&median), "median {median} m");
    assert!((median..0.7).contains(&ninety), "90 % within {ninety} m");

    let entities = read_json(&room_folder(scene.scene(), "entity").join("entities.json"));
    let n_confirmed = check_identities(&scene, &entities);
    let enough = entities["confirmed_from_photos"].as_u64();
    let n_seen = scene.n_seen_in(enough.expect("a number of photos"));
    println!("{n_confirmed} vehicles confirmed, {n_seen} seen often enough");
    // A lorry may come out as two: its box's middle moves with the direction it is seen from.
    assert!(n_seen >= 20 && (n_seen..=n_seen + 2).contains(&n_confirmed));

    let page = std::fs::read_to_string(scene.scene().join("report.html")).expect("a report");
    assert!(page.contains("data:image/jpeg"), "a report without crops");
}

/// What is left without any error is what the rays' model leaves out: vehicles' own heights, and
/// that the middle of a box is not that of the vehicle.
#[test]
fn without_noise_little_is_left() {
    let scene = FromTruth::write(&["--seed", "2", "--noise", "none"]);
    scene.groundstation("anchor");
    let errors = scene.anchor_errors();
    let (median, ninety) = (percentile(&errors, 0.5), percentile(&errors, 0.9));
    println!(
        "{} anchors: median {median:.3} m, 90 % within {ninety:.3} m",
        errors.len()
    );
    assert!((0.01..0.18).contains(&median), "median {median} m");
    assert!((median..0.35).contains(&ninety), "90 % within {ninety} m");
    scene.groundstation("cluster");
    let entities = read_json(&room_folder(scene.scene(), "entity").join("entities.json"));
    let n_confirmed = check_identities(&scene, &entities);
    let n_vehicles = scene.truth["vehicles"].as_array().expect("vehicles").len();
    // A lorry may come out as two here, too.
    assert!((n_vehicles..=n_vehicles + 1).contains(&n_confirmed));
}

/// The list of photos is what ingest makes of the placeholders under their names.
#[test]
fn ingest_reads_the_same_from_the_placeholders() {
    let scene = FromTruth::write(&["--seed", "7", "--size", "320x240"]);
    let photos = tempfile::tempdir().expect("a temporary folder");
    for photo in scene.truth["photos"].as_array().expect("photos") {
        let stored = format!("{}.jpg", photo["sha256"].as_str().expect("a digest"));
        let stored = scene.scene().join("photos").join(stored);
        let name = photo["file"].as_str().expect("a name");
        std::fs::copy(stored, photos.path().join(name)).expect("a temporary folder");
    }
    let again = tempfile::tempdir().expect("a temporary folder");
    let zone = scene.truth["site"]["zone"].as_str().expect("a zone");
    let ingest = ["--quiet", "ingest", "--zone", zone];
    let folders = [text(photos.path()), text(again.path())];
    let _ = run("groundstation", &[&ingest[..], &folders[..]].concat());
    let list = |scene: &Path| read_json(&room_folder(scene, "ingest").join("scene.json"));
    assert_same(&list(scene.scene()), &list(again.path()), "scene.json");
}

/// Equal but for rounding.
fn assert_same(a: &Value, b: &Value, at: &str) {
    match (a, b) {
        (Value::Object(a), Value::Object(b)) => {
            assert!(a.keys().eq(b.keys()), "{at}: {:?} {:?}", a.keys(), b.keys());
            for (key, a) in a {
                assert_same(a, &b[key], &format!("{at}/{key}"));
            }
        }
        (Value::Array(a), Value::Array(b)) => {
            assert_eq!(a.len(), b.len(), "{at}");
            for (idx, (a, b)) in a.iter().zip(b).enumerate() {
                assert_same(a, b, &format!("{at}/{idx}"));
            }
        }
        (Value::Number(a), Value::Number(b)) => {
            let (a, b) = (a.as_f64().expect("a number"), b.as_f64().expect("a number"));
            assert!((a - b).abs() <= 1e-7, "{at}: {a} {b}");
        }
        _ => assert_eq!(a, b, "{at}"),
    }
}
