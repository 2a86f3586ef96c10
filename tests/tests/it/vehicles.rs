//! Detections to vehicles: few, none, and files of detections that do not fit (cases 38, 39, 44).

use nalgebra::Vector3;
use serde_json::{Value, json};
use std::fs;
use tests::evaluate::{read_json_lines, room_folder};
use tests::workbench::Workbench;
use tests::world::{PhotoTruth, World};

const N_PHOTOS: usize = 9;
/// Two vehicles on flat ground, five metres apart; their middles are 0.75 m up.
const CARS_M: [[f64; 2]; 2] = [[2.0, 1.0], [-3.0, 1.0]];

/// The line of `onboard detect` for a photo.
fn line(photo: &str, size_px: [u32; 2], detections: Vec<Value>) -> Value {
    json!({
        "schema": "detections/1",
        "photo": photo,
        "model_sha256": "ab".repeat(32),
        "engine": {"name": "rten", "version": "1", "provider": "cpu"},
        "width_px": size_px[0], "height_px": size_px[1], "exif_orientation": 1,
        "detections": detections,
        "plan": {"basis": "given", "levels": [], "expected_car_px": null, "skipped_share": 0.0},
        "tiles": 1,
        "warnings": [],
    })
}

fn car(x: f64, y: f64, score: f64) -> Value {
    json!({
        "class": "vehicle", "score": score, "truncated": false,
        "oriented_box": {
            "centre_x_px": x, "centre_y_px": y,
            "long_side_px": 4.0, "short_side_px": 2.0, "angle_deg": 0.0,
        },
        "horizontal_box": {"x1_px": x - 2.0, "y1_px": y - 1.0, "x2_px": x + 2.0, "y2_px": y + 1.0},
    })
}

/// Where a photo shows a place 0.75 m above the ground.
fn pixel(photo: &PhotoTruth, [east, north]: [f64; 2]) -> Option<[f64; 2]> {
    let pose = &photo.camera_from_enu;
    let at = pose.rotation() * Vector3::new(east, north, 0.75) + Vector3::from(pose.translation_m);
    let lens = &photo.intrinsics;
    let (x, y) = (
        lens.cx_px + lens.fx_px * at.x / at.z,
        lens.cy_px + lens.fx_px * at.y / at.z,
    );
    let (width, height) = (f64::from(lens.width_px), f64::from(lens.height_px));
    ((3.0..width - 3.0).contains(&x) && (3.0..height - 3.0).contains(&y)).then_some([x, y])
}

fn size_px(photo: &PhotoTruth) -> [u32; 2] {
    [photo.intrinsics.width_px, photo.intrinsics.height_px]
}

/// A posed bench; detections are still to be made.
fn posed(seed: u64) -> Workbench {
    let bench = Workbench::ingested(&World::rings(N_PHOTOS, seed));
    let _ = bench.pose(&[]).with_code(0);
    bench
}

/// Every vehicle wherever it is seen.
fn all_cars(bench: &Workbench) -> Vec<Value> {
    let of_photo = |photo: &PhotoTruth| {
        let cars = CARS_M
            .iter()
            .filter_map(|&place| pixel(photo, place))
            .map(|[x, y]| car(x, y, 0.8))
            .collect();
        line(&photo.file, size_px(photo), cars)
    };
    bench.truth.photos.iter().map(of_photo).collect()
}

fn write_lines(bench: &Workbench, lines: &[Value]) {
    let text: String = lines.iter().map(|line| format!("{line}\n")).collect();
    fs::write(bench.root().join("found.jsonl"), text).expect("a temporary folder");
}

/// Detections in, vehicles out, through every room that follows.
fn entities(bench: &Workbench, lines: &[Value]) -> Value {
    write_lines(bench, lines);
    for arguments in [
        &["detect", "scene", "--detections", "found.jsonl"][..],
        &["anchor", "scene"],
        &["cluster", "scene"],
        &["report", "scene"],
    ] {
        let _ = bench.run(arguments).with_code(0);
    }
    assert!(bench.scene().join("report.html").is_file());
    bench.room_json("entity", "entities.json")
}

fn members(entities: &Value) -> Vec<usize> {
    let list = entities["entities"].as_array().expect("entities");
    list.iter()
        .map(|entity| entity["members"].as_array().expect("members").len())
        .collect()
}

#[test]
fn a_scene_without_vehicles_is_a_finished_one() {
    let bench = posed(1);
    let none: Vec<Value> = (bench.truth.photos.iter())
        .map(|photo| line(&photo.file, size_px(photo), vec![]))
        .collect();
    assert!(members(&entities(&bench, &none)).is_empty());
    let status = bench.run(&["status", "scene", "--json"]).with_code(0);
    let status: Value = serde_json::from_str(&status.stdout).expect("one object");
    assert_eq!(status["entity"]["confirmed"], 0);
}

#[test]
fn one_detection_is_one_vehicle_in_doubt() {
    let bench = posed(2);
    let photo = &bench.truth.photos[0];
    let lone = line(&photo.file, size_px(photo), vec![car(40.0, 30.0, 0.9)]);
    let found = entities(&bench, &[lone]);
    assert_eq!(members(&found), [1]);
    assert_eq!(found["entities"][0]["is_confirmed"], false);
}

/// Boxes of one photo are never one vehicle, however near, but a box drawn twice is one box.
#[test]
fn all_in_one_photo_are_that_many_vehicles() {
    let bench = posed(3);
    let photo = &bench.truth.photos[0];
    let row = (0..8).map(|n| car(10.0 + 5.0 * f64::from(n), 30.0, 0.9));
    let twice = car(10.2, 30.1, 0.5);
    let row: Vec<Value> = row.chain([twice]).collect();
    let found = entities(&bench, &[line(&photo.file, size_px(photo), row)]);
    assert_eq!(members(&found), [1; 8]);
}

#[test]
fn two_cars_seen_everywhere_are_two_vehicles_where_they_stand() {
    let bench = posed(4);
    let lines = all_cars(&bench);
    let n_seen: usize = lines
        .iter()
        .map(|line| line["detections"].as_array().expect("a list").len())
        .sum();
    assert!(n_seen >= N_PHOTOS, "{n_seen} sightings");
    let found = entities(&bench, &lines);
    let members = members(&found);
    assert_eq!(members.iter().sum::<usize>(), n_seen);
    assert_eq!(members.len(), 2, "{members:?}");
    // Frames differ by the mean GPS error: what lies between the two does not.
    let place = |idx: usize| {
        let at = &found["entities"][idx]["enu_m"];
        [0, 1].map(|axis| at[axis].as_f64().expect("a number"))
    };
    let (a, b) = (place(0), place(1));
    let apart_m = (a[0] - b[0]).hypot(a[1] - b[1]);
    assert!((apart_m - 5.0).abs() < 0.3, "{apart_m} m apart");
    assert!((a[1] - b[1]).abs() < 0.3, "{a:?} {b:?}");
}

#[test]
fn files_of_detections_that_do_not_fit_are_refused_whole() {
    let bench = posed(5);
    let good = all_cars(&bench);
    write_lines(&bench, &good);
    let import = ["detect", "scene", "--detections", "found.jsonl"];
    let _ = bench.run(&import).with_code(0);
    let before = bench.room("detect");
    let changed = |change: &dyn Fn(&mut Value)| {
        let mut lines = good.clone();
        change(&mut lines[3]);
        lines
    };
    let [width, height] = size_px(&bench.truth.photos[3]);
    for (lines, said) in [
        (
            changed(&|line| {
                line["width_px"] = json!(height);
                line["height_px"] = json!(width);
            }),
            "found.jsonl, line 4: boxes for a picture of 60 x 80 px",
        ),
        (
            changed(&|line| line["photo"] = json!("elsewhere.jpg")),
            "no photo elsewhere.jpg",
        ),
        (
            changed(&|line| line["photo"] = json!("DJI_0001.JPG")),
            "DJI_0001.JPG occurs a second time",
        ),
        (
            changed(&|line| line["model_sha256"] = json!("cd".repeat(32))),
            "one file holds one model's",
        ),
        (
            changed(&|line| line["detections"] = json!([car(30.0, 30.0, 1.5)])),
            "a score of 1.5",
        ),
        (
            changed(&|line| line["detections"] = json!([car(5000.0, 30.0, 0.5)])),
            "a box of 4 px at 5000, 30 in a picture",
        ),
        (
            changed(&|line| line["schema"] = json!("detections/9")),
            "detections/9",
        ),
        (changed(&|line| *line = json!([1, 2])), "line 4"),
        (vec![], "holds no detections"),
    ] {
        write_lines(&bench, &lines);
        let refused = bench.run(&import).with_code(1);
        assert!(refused.stderr.contains(said), "{said}: {}", refused.stderr);
        assert_eq!(bench.room("detect"), before, "nothing is lost");
    }
    fs::remove_file(bench.root().join("found.jsonl")).expect("it is there");
    let refused = bench.run(&import).with_code(1);
    assert!(refused.stderr.contains("found.jsonl"), "{}", refused.stderr);
}

/// What is known to be true beside the photos changes nothing of what is made of them.
#[test]
fn a_truth_beside_the_photos_changes_no_byte() {
    let world = World::rings(N_PHOTOS, 6);
    let outputs = [false, true].map(|with_truth| {
        let bench = Workbench::new(&world);
        if with_truth {
            let truth = serde_json::to_string(&bench.truth).expect("plain structs");
            fs::write(bench.photos().join("truth.json"), truth).expect("a temporary folder");
        }
        let _ = bench.ingest().with_code(0);
        let _ = bench.pose(&["--engine", "priors"]).with_code(0);
        let lines = all_cars(&bench);
        let _ = entities(&bench, &lines);
        [
            ("ingest", "scene.json"),
            ("pose", "pose.json"),
            ("detect", "detections.jsonl"),
            ("anchor", "anchors.jsonl"),
            ("entity", "entities.json"),
        ]
        .map(|(room, file)| {
            let folder = bench.room(room);
            // Ingest has set a file aside, and says so beside its output.
            let digest = folder.file_name().filter(|_| room != "ingest");
            let digest = digest.map(ToOwned::to_owned);
            let text = fs::read_to_string(folder.join(file)).expect("an output");
            (room, digest, text)
        })
    });
    for (without, with) in outputs[0].iter().zip(&outputs[1]) {
        let differs = without
            .2
            .bytes()
            .zip(with.2.bytes())
            .position(|(a, b)| a != b);
        assert!(
            without == with,
            "{}: {:?} and {:?}, at {differs:?}",
            without.0,
            without.1,
            with.1
        );
    }
}

/// Every detection has a place or the reason why it has none.
#[test]
fn anchors_name_every_detection() {
    let bench = posed(7);
    let lines = all_cars(&bench);
    let _ = entities(&bench, &lines);
    let anchors = read_json_lines(&room_folder(&bench.scene(), "anchor").join("anchors.jsonl"));
    let n_seen: usize = lines
        .iter()
        .map(|line| line["detections"].as_array().expect("a list").len())
        .sum();
    assert_eq!(anchors.len(), n_seen);
    for anchor in &anchors {
        assert!(
            anchor["placed"].is_object() || anchor["reason"].is_string(),
            "{anchor}"
        );
    }
}

/// Case 50: photos added later leave ids as they are.
#[test]
fn ids_stay_when_photos_are_added() {
    let bench = Workbench::new(&World::rings(N_PHOTOS + 5, 8));
    let aside = bench.root().join("later");
    fs::create_dir(&aside).expect("a temporary folder");
    for photo in &bench.truth.photos[N_PHOTOS..] {
        let name = &photo.file;
        fs::rename(bench.photos().join(name), aside.join(name)).expect("it is there");
    }
    let _ = bench.ingest().with_code(0);
    let _ = bench.pose(&[]).with_code(0);
    let lines = all_cars(&bench);
    let ids = |found: &Value| -> Vec<String> {
        let list = found["entities"].as_array().expect("entities").iter();
        let mut ids: Vec<String> = list
            .map(|entity| entity["entity_id"].as_str().expect("an id").to_owned())
            .collect();
        ids.sort();
        ids
    };
    let before = entities(&bench, &lines[..N_PHOTOS]);
    for photo in &bench.truth.photos[N_PHOTOS..] {
        let name = &photo.file;
        fs::rename(aside.join(name), bench.photos().join(name)).expect("it is there");
    }
    let _ = bench.ingest().with_code(0);
    let _ = bench.pose(&[]).with_code(0);
    let after = entities(&bench, &lines);
    assert_eq!(ids(&before).len(), 2);
    assert_eq!(ids(&before), ids(&after));
    let n_members = |found: &Value| members(found).iter().sum::<usize>();
    assert!(n_members(&after) > n_members(&before));
}

/// Case 43: a score that is missing or no number is refused, equal ones are in a defined order.
#[test]
fn scores_are_checked_and_equal_ones_are_fine() {
    let bench = posed(9);
    let mut lines = all_cars(&bench);
    lines[0]["detections"][0]["score"] = Value::Null;
    write_lines(&bench, &lines);
    let import = ["detect", "scene", "--detections", "found.jsonl"];
    let refused = bench.run(&import).with_code(1);
    assert!(refused.stderr.contains("line 1"), "{}", refused.stderr);
    let found = entities(&bench, &all_cars(&bench));
    let again = entities(&bench, &all_cars(&bench));
    assert_eq!(found, again);
}
