//! The three scenes that a real solver poses, each once: run these alone, one after the other.

use nalgebra::{Vector2, Vector3};
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::time::Instant;
use tests::binaries::{run, text};
use tests::evaluate::{
    HorizontalFit, SceneCameras, match_anchors, number, percentile, read_json,
    rms_after_similarity, true_centres,
};

/// The shared real photos; `None` (and a word about it) where the folder is absent.
fn shared(folder: &str) -> Option<PathBuf> {
    let root = std::env::var_os("OVERLOOK_SHARED").map_or_else(
        || Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared"),
        PathBuf::from,
    );
    let data = root.join("data");
    if !data.is_dir() {
        eprintln!("skipped: shared/data absent");
        return None;
    }
    let folder = data.join(folder);
    assert!(
        folder.is_dir(),
        "{} is missing from shared/data",
        folder.display()
    );
    Some(folder)
}

/// Processes a folder into a scene and prints what took how long.
fn process(source: &Path, scene: &Path, more: &[&str]) {
    let started = Instant::now();
    let mut arguments = vec!["--quiet", "process", text(source), text(scene)];
    arguments.extend(more);
    print!("{}", run("groundstation", &arguments));
    let cameras = SceneCameras::read(scene);
    let mut solver_s = 0.0;
    for stage in cameras.posed["stages"].as_array().expect("stages") {
        let seconds = stage["seconds"].as_f64().expect("a number");
        solver_s += seconds;
        println!("{}: {:.2} minutes", stage["stage"], seconds / 60.0);
    }
    let rest_s = started.elapsed().as_secs_f64() - solver_s;
    println!("everything but the solver: {rest_s:.1} s");
}

fn status(scene: &Path) -> Value {
    serde_json::from_str(&run("groundstation", &["status", text(scene), "--json"]))
        .expect("one JSON object")
}

#[test]
fn sheffield() {
    let Some(photos) = shared("sheffield") else {
        return;
    };
    let scratch = tempfile::tempdir().expect("a temporary folder");
    let scene = scratch.path().join("scene");
    process(&photos, &scene, &["--zone", "America/New_York"]);
    let pose = &status(&scene)["pose"];
    println!("{pose}");
    assert_eq!(
        (&pose["photos"], &pose["registered"]),
        (&86.into(), &86.into())
    );
    let rms_m = number(&pose["horizontal_rms_m"]);
    assert!(
        (0.05..0.5).contains(&rms_m),
        "horizontal residual {rms_m} m"
    );
    let cameras = SceneCameras::read(&scene);
    let alignment = &cameras.posed["alignment"];
    let height_m = number(&alignment["height_above_ground_m"]);
    assert!(
        (55.0..70.0).contains(&height_m),
        "{height_m} m above ground"
    );
    let yaw = &alignment["gimbal_yaw_offset_deg"];
    let (offset, spread) = (number(&yaw["median_deg"]), number(&yaw["spread_deg"]));
    println!("yaw offset {offset:.2} degrees, spread {spread:.2}");
    assert!(
        (0.2..10.0).contains(&offset.abs()),
        "yaw offset {offset} degrees"
    );
    assert!(spread < 2.0, "spread of the yaw offset {spread} degrees");
    let (found, reference) = beside_reference(&cameras, &photos.join("reference/poses.txt"));
    let rms_m = rms_after_similarity(&found, &reference);
    println!("{rms_m:.3} m rms from the reference solution");
    assert!(
        rms_m < 0.5 && found.len() == 86,
        "{rms_m} m rms over {} cameras",
        found.len()
    );
    let entities = read_json(&tests::evaluate::room_folder(&scene, "entity").join("entities.json"));
    let in_car_park = |entity: &&Value| {
        let [east, north] = [0, 1].map(|axis| number(&entity["enu_m"][axis]));
        (-3.0..32.0).contains(&east) && (-108.0..-68.0).contains(&north)
    };
    let confirmed = entities["entities"].as_array().expect("entities").iter();
    let n = confirmed
        .filter(|entity| entity["is_confirmed"] == true)
        .filter(in_car_park)
        .count();
    assert!(
        (20..=30).contains(&n),
        "{n} confirmed vehicles in the car park"
    );
}

/// Camera centres of the scene and of a reference file, by name.
fn beside_reference(
    cameras: &SceneCameras,
    reference: &Path,
) -> (Vec<Vector3<f64>>, Vec<Vector3<f64>>) {
    let listed = std::fs::read_to_string(reference).expect("the reference solution");
    listed
        .lines()
        .filter(|line| !line.starts_with('#'))
        .filter_map(|line| {
            let fields: Vec<&str> = line.split_whitespace().collect();
            let xyz: Vec<f64> = fields[1..4]
                .iter()
                .map(|f| f.parse().expect("a number"))
                .collect();
            let idx = cameras.names.iter().position(|name| name == fields[0])?;
            Some((cameras.centres[idx]?, Vector3::from_column_slice(&xyz)))
        })
        .unzip()
}

#[test]
fn mirafiori() {
    let Some(photos) = shared("mirafiori") else {
        return;
    };
    let scratch = tempfile::tempdir().expect("a temporary folder");
    let scene = scratch.path().join("scene");
    process(&photos, &scene, &["--zone", "Europe/Rome"]);
    let cameras = SceneCameras::read(&scene);
    let pose = &status(&scene)["pose"];
    println!("{pose}");
    assert_eq!(pose["photos"], 20);
    assert_eq!(
        cameras.posed["heights"], "rtk",
        "fixed RTK heights are used"
    );
    let registered = pose["registered"].as_u64().expect("a count");
    if registered == 0 {
        // Refused as a whole, with the reason.
        let because = &cameras.posed["made_by"]["because"];
        assert!(because.is_string(), "{because}");
    }
    for (idx, photo) in cameras.posed["photos"]
        .as_array()
        .expect("photos")
        .iter()
        .enumerate()
    {
        assert!(
            registered == 0 || cameras.solved[idx] || photo["reason"].is_string(),
            "{photo}"
        );
    }
    let mut heights: Vec<f64> = cameras.centres.iter().flatten().map(|c| c.z).collect();
    heights.sort_by(f64::total_cmp);
    let height_m = heights[heights.len() / 2];
    assert!(
        (43.5..45.5).contains(&height_m),
        "{height_m} m above take-off"
    );
    if registered > 0 {
        let rms_m = number(&pose["horizontal_rms_m"]);
        let up_m = number(&pose["vertical_rms_m"]);
        let pitch = &cameras.posed["alignment"]["gimbal_pitch_offset_deg"];
        println!("residuals {rms_m:.3} m horizontally and {up_m:.3} m up with RTK; pitch {pitch}");
        assert!(rms_m < 0.15, "horizontal residual {rms_m} m with RTK");
        // Two short lines from one height: nothing but heights and gimbals keeps them level.
        assert!(up_m < 0.3, "vertical residual {up_m} m with RTK");
        assert!(number(&pitch["median_deg"]).abs() < 2.0, "tilted: {pitch}");
    }
}

#[test]
fn rendered() {
    let scratch = tempfile::tempdir().expect("a temporary folder");
    let photos = scratch.path().join("photos");
    let started = Instant::now();
    let render = [
        "render",
        "--seed",
        "11",
        "--photos",
        "60",
        "--size",
        "1600x1200",
    ];
    let _ = run(
        "simulator",
        &[&render[..], &["--out", text(&photos)]].concat(),
    );
    println!("rendering: {:.1} s", started.elapsed().as_secs_f64());
    let truth = read_json(&photos.join("truth.json"));
    let scene = scratch.path().join("scene");
    process(&photos, &scene, &[]);
    check_cameras(&scene, &truth);
    check_anchors(&scene, &truth);
    check_identities(&scene);
    check_confirmed(&scene, &truth);

    // The same photos without a solver: approximate, but one map.
    let approximate = scratch.path().join("approximate");
    process(&photos, &approximate, &["--engine", "priors"]);
    let pose = &status(&approximate)["pose"];
    assert_eq!(
        (&pose["registered"], &pose["made_by"]),
        (&0.into(), &"priors".into())
    );
    check_identities(&approximate);
    let sigma = |scene: &Path| {
        let cameras = SceneCameras::read(scene);
        number(&cameras.posed["photos"][0]["pose"]["sigma"]["horizontal_m"])
    };
    assert!(
        sigma(&approximate) > 5.0 * sigma(&scene),
        "priors claim to be as good as images"
    );
}

/// True and found places of cameras on the map, after their origins are brought together.
fn check_cameras(scene: &Path, truth: &Value) {
    let cameras = SceneCameras::read(scene);
    assert!(
        cameras.solved.iter().all(|&solved| solved),
        "not all photos are registered"
    );
    let by_name = true_centres(truth);
    let found: Vec<Vector3<f64>> = cameras.centres.iter().map(|c| c.expect("posed")).collect();
    let truth: Vec<Vector3<f64>> = cameras.names.iter().map(|name| by_name[name]).collect();
    let on_map =
        |places: &[Vector3<f64>]| -> Vec<Vector2<f64>> { places.iter().map(|p| p.xy()).collect() };
    let fit = HorizontalFit::of(&on_map(&found), &on_map(&truth));
    let n = found.len() as f64;
    let up_m = found
        .iter()
        .zip(&truth)
        .map(|(f, t)| f.z - t.z)
        .sum::<f64>()
        / n;
    let sum: f64 = found
        .iter()
        .zip(&truth)
        .map(|(f, t)| (fit.apply(f.xy()) - t.xy()).norm_squared() + (f.z - t.z).powi(2))
        .sum();
    let rms_m = (sum / n).sqrt();
    println!(
        "cameras: {rms_m:.3} m rms after a common shift and turn on the map ({:.2} degrees); all \
         are {up_m:+.3} m too high",
        fit.yaw_rad.to_degrees()
    );
    assert!(rms_m < 0.15, "cameras are {rms_m} m rms from the truth");
}

fn check_anchors(scene: &Path, truth: &Value) {
    let matched = match_anchors(scene, truth);
    let cameras = SceneCameras::read(scene);
    let by_name = true_centres(truth);
    let (found, true_places): (Vec<Vector2<f64>>, Vec<Vector2<f64>>) = cameras
        .names
        .iter()
        .zip(&cameras.centres)
        .map(|(name, centre)| (centre.expect("posed").xy(), by_name[name].xy()))
        .unzip();
    let fit = HorizontalFit::of(&found, &true_places);
    let errors: Vec<f64> = matched
        .anchors
        .iter()
        .filter(|anchor| anchor.pitch_deg >= 44.0)
        .map(|anchor| (fit.apply(anchor.found) - anchor.truth).norm())
        .collect();
    let (median, ninety) = (percentile(&errors, 0.5), percentile(&errors, 0.9));
    println!(
        "anchors at 45 degrees and more: {} of {} detections, median {median:.2} m, 90 % within \
         {ninety:.2} m; {} of {} visible vehicles found",
        errors.len(),
        matched.n_detections,
        matched.n_visible_found,
        matched.n_visible
    );
    assert!(
        median < 0.35 && ninety < 0.7,
        "median {median} m, 90 % within {ninety} m"
    );
    assert!(errors.len() >= 100, "{} anchors only", errors.len());
}

/// Identities hold, and there are as many confirmed vehicles as can be seen, within a tenth.
fn check_confirmed(scene: &Path, truth: &Value) {
    let path = scene.join("truth.json");
    std::fs::write(&path, truth.to_string()).expect("a temporary folder");
    let ask = [
        "--quiet",
        "evaluate",
        text(scene),
        "--truth",
        text(&path),
        "--json",
    ];
    let found: Value = serde_json::from_str(&run("groundstation", &ask)).expect("one JSON object");
    let count = ["confirmed", "visible_vehicles"].map(|key| number(&found["count"][key]));
    let f1 = number(&found["pairwise_f1"]);
    println!(
        "F1 {f1:.4}, {count:?} confirmed and visible, {}",
        found["detection"]
    );
    assert!(f1 >= 0.97, "F1 {f1}");
    assert_eq!(found["cannot_link_violations"], 0);
    assert!(number(&found["detection"]["recall"]) >= 0.85);
    assert!(
        (count[0] - count[1]).abs() <= (0.1 * count[1]).max(2.0),
        "{count:?} confirmed and visible"
    );
}

/// No two boxes of one photo in one vehicle.
fn check_identities(scene: &Path) {
    let entities = read_json(&tests::evaluate::room_folder(scene, "entity").join("entities.json"));
    for entity in entities["entities"].as_array().expect("entities") {
        let members = entity["members"].as_array().expect("members");
        let mut photos: Vec<u64> = members
            .iter()
            .map(|m| m["photo"].as_u64().expect("an index"))
            .collect();
        photos.sort_unstable();
        photos.dedup();
        assert_eq!(
            photos.len(),
            members.len(),
            "two boxes of one photo in one vehicle"
        );
    }
}
