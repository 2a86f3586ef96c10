//! Processed scenes: their form, their digests, and that errors are as large as stated.

use crate::fixture::{small, small_spec};
use nalgebra::{Quaternion, UnitQuaternion, Vector2, Vector3};
use serde_json::Value;
use sha2::{Digest, Sha256};
use simulator::camera::CameraFromEnu;
use simulator::processed::{NoiseSpec, ProcessedSpec, write_scene};
use simulator::truth::{Truth, ViewTruth};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::LazyLock;
use tempfile::TempDir;

struct Written {
    folder: TempDir,
    truth: Truth,
}

fn write(spec: &ProcessedSpec) -> Written {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let truth = write_scene(spec, folder.path()).expect("a spec within range");
    Written { folder, truth }
}

fn spec(noise: &str) -> ProcessedSpec {
    let mut dataset = small_spec();
    dataset.share_without_gps = 0.0;
    dataset.share_without_xmp = 0.0;
    ProcessedSpec {
        dataset,
        noise: noise.parse().expect("a list of noise"),
    }
}

/// As it really is.
fn exact() -> &'static Written {
    static EXACT: LazyLock<Written> = LazyLock::new(|| write(&spec("none")));
    &EXACT
}

fn sha256(bytes: &[u8]) -> String {
    let digest = Sha256::digest(bytes);
    digest.iter().map(|b| format!("{b:02x}")).collect()
}

fn room(scene: &Path, room: &str) -> PathBuf {
    let rooms = scene.join("rooms").join(room);
    let current = std::fs::read_to_string(rooms.join("current")).expect("a current output");
    rooms.join(current.trim_end())
}

fn json(file: &Path) -> Value {
    let text = std::fs::read_to_string(file).expect("a file");
    serde_json::from_str(&text).expect("JSON")
}

fn json_lines(file: &Path) -> Vec<Value> {
    let text = std::fs::read_to_string(file).expect("a file");
    let lines = text.lines();
    lines
        .map(|line| serde_json::from_str(line).expect("JSON"))
        .collect()
}

fn numbers<const N: usize>(value: &Value) -> [f64; N] {
    std::array::from_fn(|k| value[k].as_f64().expect("a number"))
}

fn oriented_box(detection: &Value) -> [f64; 5] {
    [
        "centre_x_px",
        "centre_y_px",
        "long_side_px",
        "short_side_px",
        "angle_deg",
    ]
    .map(|key| detection["oriented_box"][key].as_f64().expect("a number"))
}

/// Every file below a folder.
fn contents(folder: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut found = BTreeMap::new();
    for entry in std::fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            found.extend(contents(&path));
        } else {
            let bytes = std::fs::read(&path).expect("a file");
            found.insert(path, bytes);
        }
    }
    found
}

#[test]
fn threads_do_not_change_a_byte() {
    let mut spec = spec("box=2");
    let [one, two] = [1, 2].map(|threads| {
        spec.dataset.threads = threads;
        let written = write(&spec);
        let files = contents(written.folder.path());
        let inside = files.into_iter().map(|(path, bytes)| {
            let inside = path.strip_prefix(written.folder.path()).expect("inside");
            (inside.to_owned(), bytes)
        });
        inside.collect::<BTreeMap<_, _>>()
    });
    assert!(one.len() > 30);
    assert!(one == two, "the number of threads shows");
}

/// Every name that is a digest is one, and every digest that is stated holds.
#[test]
fn digests_hold() {
    let scene = exact().folder.path();
    let photos = contents(&scene.join("photos"));
    assert_eq!(photos.len(), 13);
    for (path, bytes) in &photos {
        let stem = path.file_stem().and_then(|s| s.to_str());
        assert_eq!(stem, Some(sha256(bytes).as_str()));
        let picture = image::load_from_memory(bytes).expect("a JPEG").to_rgb8();
        assert_eq!((picture.width(), picture.height()), (480, 360));
        assert!(picture.iter().all(|&value| value.abs_diff(128) <= 1));
        let name = path.file_name().expect("a name");
        let thumbnail = scene.join("cache/thumbnails").join(name);
        let thumbnail = image::open(thumbnail).expect("a JPEG");
        assert_eq!((thumbnail.width(), thumbnail.height()), (320, 240));
    }
    for name in ["ingest", "pose", "detect"] {
        let folder = room(scene, name);
        let mut made_from = json(&folder.join("made_from.json"));
        for (file, digest) in made_from["outputs"].as_object().expect("outputs") {
            let bytes = std::fs::read(folder.join(file)).expect("an output");
            assert_eq!(digest.as_str(), Some(sha256(&bytes).as_str()), "{file}");
        }
        made_from
            .as_object_mut()
            .expect("an object")
            .remove("outputs");
        let digest = sha256(made_from.to_string().as_bytes());
        assert!(folder.ends_with(&digest[..16]), "{name}: {digest}");
    }
    let scene_file = std::fs::read(room(scene, "ingest").join("scene.json")).expect("a scene");
    for name in ["pose", "detect"] {
        let made_from = json(&room(scene, name).join("made_from.json"));
        assert_eq!(made_from["inputs"]["scene"], sha256(&scene_file).as_str());
    }
}

/// The truth beside it is that of the rendered photos: the same cameras, vehicles and boxes, and
/// nearly the same of each vehicle is visible.
#[test]
fn the_truth_is_the_rendered_one() {
    let (rendered, written) = (&small().truth, &exact().truth);
    assert_eq!(rendered.vehicles, written.vehicles);
    for (a, b) in rendered.photos.iter().zip(&written.photos) {
        assert_eq!(a.camera_from_enu, b.camera_from_enu);
        assert_eq!((&a.file, &a.utc, a.flight), (&b.file, &b.utc, b.flight));
    }
    let of = |truth: &Truth| -> BTreeMap<(String, String), ViewTruth> {
        let views = truth.views.iter().cloned();
        views
            .map(|view| ((view.photo.clone(), view.vehicle.clone()), view))
            .collect()
    };
    let (rendered, written) = (of(rendered), of(written));
    let (mut n, mut sum) = (0.0_f64, 0.0);
    for (key, a) in &rendered {
        let Some(b) = written.get(key) else {
            // Less than a sample of the coarser drawing.
            assert!(a.visible_fraction < 0.1, "{a:?}");
            continue;
        };
        assert_eq!(a.oriented_box, b.oriented_box);
        sum += (a.visible_fraction - b.visible_fraction).abs();
        n += 1.0;
        if let (Some(a), Some(b)) = (a.horizontal_box, b.horizontal_box)
            && a[3] - a[1] > 20.0
        {
            let off = a.iter().zip(&b).map(|(a, b)| (a - b).abs());
            assert!(off.fold(0.0, f64::max) < 8.0, "{a:?} {b:?}");
        }
    }
    assert!(n > 100.0 && sum / n < 0.03, "{} over {n}", sum / n);
}

/// Without noise, boxes are the true ones, poses the true ones, and points are seen where they are.
#[test]
fn without_noise_everything_is_true() {
    let Written { folder, truth } = exact();
    let processed = truth.processed.as_ref().expect("a processed scene");
    assert_eq!((processed.shift_m, processed.turn_deg), ([0.0; 3], 0.0));
    let views: BTreeMap<(&str, &str), &ViewTruth> = truth
        .views
        .iter()
        .map(|view| ((view.photo.as_str(), view.vehicle.as_str()), view))
        .collect();
    let found = json_lines(&room(folder.path(), "detect").join("detections.jsonl"));
    for (idx, photo) in truth.photos.iter().enumerate() {
        assert_eq!(found[idx]["photo_id"], photo.sha256.as_str());
        let detections = found[idx]["detections"].as_array().expect("detections");
        assert_eq!(detections.len(), processed.detections[idx].len());
        let mut last_score = 1.0;
        for (detection, vehicle) in detections.iter().zip(&processed.detections[idx]) {
            let vehicle = vehicle.as_deref().expect("there are no false alarms");
            let view = views[&(photo.file.as_str(), vehicle)];
            for (a, b) in oriented_box(detection).iter().zip(view.oriented_box) {
                assert!((a - b).abs() < 1e-3, "{detection} {view:?}");
            }
            let score = detection["score"].as_f64().expect("a score");
            assert!(score <= last_score && score >= 0.25);
            last_score = score;
        }
        // All that must be found is.
        let clear = |view: &&ViewTruth| {
            view.photo == photo.file && view.visible_fraction >= 0.5 && view.oriented_box[3] >= 12.0
        };
        for view in truth.views.iter().filter(clear) {
            let listed = processed.detections[idx].iter().flatten();
            assert!(listed.into_iter().any(|v| *v == view.vehicle), "{view:?}");
        }
    }
    let posed = json(&room(folder.path(), "pose").join("pose.json"));
    for (idx, photo) in truth.photos.iter().enumerate() {
        let pose = stored_pose(&posed["photos"][idx]);
        let off = pose.center_in_enu() - Vector3::from(photo.center_in_enu_m);
        assert!(off.norm() < 1e-9, "{off}");
        let turned = pose
            .rotation
            .angle_to(&photo.camera().camera_from_enu.rotation);
        assert!(turned < 1e-9, "{turned}");
    }
    check_points(&room(folder.path(), "pose").join("points.jsonl"), truth);
}

fn stored_pose(photo: &Value) -> CameraFromEnu {
    let pose = &photo["pose"]["camera_from_enu"];
    let [w, x, y, z] = numbers(&pose["quaternion_wxyz"]);
    CameraFromEnu {
        rotation: UnitQuaternion::from_quaternion(Quaternion::new(w, x, y, z)),
        translation_m: Vector3::from(numbers(&pose["translation_m"])),
    }
}

fn check_points(file: &Path, truth: &Truth) {
    let points = json_lines(file);
    assert!(points.len() > 1000, "{} points", points.len());
    let mut on_vehicles = 0;
    for point in &points {
        let place = Vector3::from(numbers(&point["enu_m"]));
        on_vehicles += usize::from(place.z > 0.2);
        let track = point["track"].as_array().expect("a track");
        assert!(track.len() >= 3);
        for seen in track {
            let [photo, x, y] = numbers(seen);
            let camera = truth.photos[photo as usize].camera();
            let pixel = camera.pixel_from_enu(&place).expect("in front");
            let off = (pixel - Vector2::new(x, y)).norm();
            assert!(off < 0.01, "{point}: {off} px");
        }
    }
    assert!(on_vehicles > 300, "{on_vehicles} points off the ground");
}

/// Means and standard deviations of errors, bounded from both sides.
#[test]
fn errors_are_as_large_as_stated() {
    let noise = "pose=0.5,angle=0.4,box=3,axis=5,size=0,miss=0.3,false=0.2,shift=20,turn=2";
    let mut many = spec(noise);
    many.dataset.n_photos = 60;
    let noisy = write(&many);
    many.noise = NoiseSpec::NONE;
    let exact = write(&many);
    let truth = &noisy.truth;
    let processed = truth.processed.as_ref().expect("a processed scene");
    assert!(processed.shift_m[0].abs() > 0.1 && processed.turn_deg.abs() > 0.01);
    let (sin, cos) = processed.turn_deg.to_radians().sin_cos();
    let posed = json(&room(noisy.folder.path(), "pose").join("pose.json"));
    let (mut places, mut angles) = (Vec::new(), Vec::new());
    for (idx, photo) in truth.photos.iter().enumerate() {
        let pose = stored_pose(&posed["photos"][idx]);
        let [e, n, u] = photo.center_in_enu_m;
        let moved = Vector3::new(e * cos - n * sin, e * sin + n * cos, u)
            + Vector3::from(processed.shift_m);
        places.extend((pose.center_in_enu() - moved).iter().copied());
        let turn =
            UnitQuaternion::from_axis_angle(&Vector3::z_axis(), -processed.turn_deg.to_radians());
        let expected = photo.camera().camera_from_enu.rotation * turn;
        let off = (pose.rotation * expected.inverse()).scaled_axis();
        angles.extend(off.iter().map(|a| a.to_degrees()));
    }
    check_sigma("pose", &places, 0.5);
    check_sigma("angle", &angles, 0.4);
    check_boxes(&noisy, &exact);
}

fn check_sigma(what: &str, errors: &[f64], expected: f64) {
    let n = errors.len() as f64;
    let rms = (errors.iter().map(|e| e * e).sum::<f64>() / n).sqrt();
    assert!(n > 100.0, "{n} errors of {what}");
    let ratio = rms / expected;
    assert!(
        (0.85..1.15).contains(&ratio),
        "{what}: {rms}, not {expected}"
    );
}

fn check_boxes(noisy: &Written, exact: &Written) {
    let found = json_lines(&room(noisy.folder.path(), "detect").join("detections.jsonl"));
    let list = |truth: &Truth| -> Vec<Vec<Option<String>>> {
        let processed = truth.processed.as_ref().expect("a processed scene");
        processed.detections.clone()
    };
    let (named, all) = (list(&noisy.truth), list(&exact.truth));
    let views: BTreeMap<(&str, &str), &ViewTruth> = noisy
        .truth
        .views
        .iter()
        .map(|view| ((view.photo.as_str(), view.vehicle.as_str()), view))
        .collect();
    let (mut centres, mut axes, mut n_false, mut n_true) = (Vec::new(), Vec::new(), 0.0, 0.0);
    for (idx, photo) in noisy.truth.photos.iter().enumerate() {
        let detections = found[idx]["detections"].as_array().expect("detections");
        for (detection, vehicle) in detections.iter().zip(&named[idx]) {
            let Some(vehicle) = vehicle else {
                n_false += 1.0;
                continue;
            };
            n_true += 1.0;
            let (a, b) = (
                oriented_box(detection),
                views[&(photo.file.as_str(), vehicle.as_str())].oriented_box,
            );
            centres.extend([a[0] - b[0], a[1] - b[1]]);
            axes.push((a[4] - b[4] + 90.0).rem_euclid(180.0) - 90.0);
        }
    }
    check_sigma("box", &centres, 3.0);
    check_sigma("axis", &axes, 5.0);
    let n_all = all.iter().flatten().count() as f64;
    let missed = 1.0 - n_true / n_all;
    assert!((0.25..0.35).contains(&missed), "{missed} missed");
    let false_share = n_false / n_true;
    assert!((0.12..0.28).contains(&false_share), "{false_share} false");
}

#[test]
fn the_command_writes_over_its_own_scene_only() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let out = folder.path().join("scene");
    let run = |extra: &[&str]| {
        Command::new(env!("CARGO_BIN_EXE_simulator"))
            .args(["scene", "--seed", "3", "--photos", "4", "--size", "160x120"])
            .arg("--out")
            .arg(&out)
            .args(extra)
            .output()
            .expect("the binary was built")
    };
    for (noise, word) in [
        ("fog=1", "known are"),
        ("box=-1", "box"),
        ("miss", "KEY=VALUE"),
    ] {
        let refused = run(&["--noise", noise]);
        let words = String::from_utf8_lossy(&refused.stderr).into_owned();
        assert_eq!(refused.status.code(), Some(1), "{words}");
        assert!(words.contains(word), "{words}");
        assert!(!out.exists());
    }
    let first = run(&["--json", "--noise", "miss=0"]);
    assert!(
        first.status.success(),
        "{}",
        String::from_utf8_lossy(&first.stderr)
    );
    let summary: Value = serde_json::from_slice(&first.stdout).expect("one JSON object");
    assert_eq!(summary["schema"], "simulator-scene/1");
    assert_eq!(summary["photos"], 4);
    // What the ground station leaves in it goes with it.
    std::fs::write(out.join("scene.sqlite"), b"").expect("a writable folder");
    std::fs::create_dir(out.join("log")).expect("a writable folder");
    assert!(run(&[]).status.success());
    assert!(!out.join("log").exists() && out.join("truth.json").exists());

    std::fs::write(out.join("thesis.tex"), b"mine").expect("a writable folder");
    let refused = run(&[]);
    assert_eq!(refused.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&refused.stderr).contains("thesis.tex"));
    assert!(out.join("rooms").exists());
    // A scene that was not written here is nobody's to replace.
    std::fs::remove_file(out.join("thesis.tex")).expect("a writable folder");
    std::fs::remove_file(out.join(".simulator-output")).expect("a writable folder");
    assert_eq!(run(&[]).status.code(), Some(1));
    assert!(out.join("rooms").exists());
}
