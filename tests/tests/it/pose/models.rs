//! What solvers make that looks right to them: mirrored, upside down, torn apart, by chance, with
//! the wrong focal length (cases 13, 14, 18, 22, 27, 28, 29).

use super::assert_from_priors;
use tests::solver::Model;
use tests::workbench::Workbench;
use tests::world::World;

#[test]
fn impossible_solutions_are_refused_with_the_reason() {
    let check = |world: &World, model: Model| {
        let mut bench = Workbench::ingested(world);
        bench.script.models = vec![model.clone()];
        let _ = bench.pose(&[]).with_code(0);
        assert_from_priors(&bench.poses(), "refused");
        // A better one beside it is used.
        bench.script.models.push(Model::of(&world.names()[1..]));
        let _ = bench.pose(&["--max-features", "1000"]).with_code(0);
        let poses = bench.poses();
        assert_eq!(
            poses.with_source("solved").len(),
            world.shots.len() - 1,
            "{model:?}"
        );
        assert!(
            poses.remarks().contains("not used"),
            "{model:?}: {}",
            poses.remarks()
        );
    };
    for world in [World::rings(15, 1), World::lawn(15, 1)] {
        check(
            &world,
            Model {
                is_mirrored: true,
                ..Model::default()
            },
        );
        check(
            &world,
            Model {
                is_upside_down: true,
                ..Model::default()
            },
        );
        check(
            &world,
            Model {
                is_scrambled: true,
                ..Model::default()
            },
        );
    }
}

/// A few photos agree with anything once it is shrunk, turned and moved to fit.
#[test]
fn a_few_photos_do_not_agree_by_chance() {
    for seed in 0..6 {
        let world = World::rings(15, 20 + seed);
        let names = world.names();
        let chance = |from: usize, n: usize| Model {
            is_scrambled: true,
            ..Model::of(&names[from..from + n])
        };
        let mut bench = Workbench::ingested(&world);
        bench.script.models = vec![Model::of(&names[..8]), chance(8, 3), chance(11, 4)];
        let _ = bench.pose(&[]).with_code(0);
        let poses = bench.poses();
        assert_eq!(poses.with_source("solved"), names[..8], "seed {seed}");
        assert_eq!(
            poses.json["alignment"]["components"],
            serde_json::json!([8])
        );
    }
}

/// Parts that do not hang together are brought into one frame by their positions, the largest
/// first whatever its number; each photo says which part it is of.
#[test]
fn parts_are_joined_in_one_frame() {
    let world = World::rings(30, 2);
    let names = world.names();
    let mut bench = Workbench::ingested(&world);
    let part = |from: usize, to: usize, scale: f64, turn_deg: [f64; 3]| Model {
        scale,
        turn_deg,
        ..Model::of(&names[from..to])
    };
    bench.script.models = vec![
        part(18, 30, 3.0, [0.0, 170.0, 20.0]),
        // Two photos are in both parts, as COLMAP may have it.
        part(0, 20, 0.1, [80.0, -30.0, 10.0]),
    ];
    let _ = bench.pose(&[]).with_code(0);
    let poses = bench.poses();
    assert_eq!(poses.with_source("solved").len(), 30);
    assert_eq!(
        poses.json["alignment"]["components"],
        serde_json::json!([20, 12])
    );
    for (idx, name) in names.iter().enumerate() {
        let component = &poses.photo(name)["pose"]["component"];
        assert_eq!(
            component,
            &serde_json::json!(usize::from(idx >= 20)),
            "{name}"
        );
    }
    assert_eq!(poses.gate("connected reconstructions")["level"], "doubtful");
    let rms_m = poses.place_rms_m(&bench.truth);
    assert!(rms_m < 1.5, "{rms_m}");
    // What is seen of a point is seen by photos of its own part.
    let points = std::fs::read_to_string(bench.room("pose").join("points.jsonl"));
    let mut of_part = [0, 0];
    for line in points.expect("points").lines() {
        let point: serde_json::Value = serde_json::from_str(line).expect("JSON");
        let component = point["component"].as_u64().expect("a number") as usize;
        of_part[component] += 1;
        for seen in point["track"].as_array().expect("a track") {
            let idx = seen[0].as_u64().expect("a number") as usize;
            assert_eq!(component, usize::from(idx >= 20), "{line}");
        }
    }
    assert!(of_part[0] > 100 && of_part[1] > 50, "{of_part:?}");
}

/// Case 13: pixels turned by a viewer, gimbal angles not. The images win.
#[test]
fn photos_turned_by_a_viewer_are_named_and_posed_right() {
    let mut world = World::rings(18, 3);
    let turned = [1, 4, 7, 10, 13];
    for idx in turned {
        world.shots[idx].photo.software = Some("Microsoft Windows Photo Viewer 6.1".to_owned());
    }
    let names = world.names();
    let mut bench = Workbench::ingested(&world);
    for idx in turned {
        bench.script.turned_deg.insert(names[idx].clone(), 180.0);
    }
    let _ = bench.pose(&[]).with_code(0);
    let poses = bench.poses();
    assert_eq!(poses.with_source("solved").len(), 18);
    let gate = poses.gate("photos turned after the flight");
    let expected: Vec<&str> = turned.iter().map(|&idx| names[idx].as_str()).collect();
    assert_eq!(gate["found"], expected.join(", "));
    for (name, off) in poses.axis_errors_deg(&bench.truth) {
        assert!(off < 2.0, "{name}: {off}");
    }
    let yaw = &poses.json["alignment"]["gimbal_yaw_offset_deg"];
    assert!(yaw["spread_deg"].as_f64().expect("degrees") < 3.0, "{yaw}");
}

/// Case 14: portrait photos by their EXIF orientation. One frame for solver, poses and boxes: the
/// upright picture's.
#[test]
fn orientations_are_applied_once_and_for_all() {
    let mut world = World::rings(18, 4);
    for (shot, (orientation, roll)) in world.shots.iter_mut().skip(3).step_by(4).zip([
        (6, -90.0),
        (8, 90.0),
        (3, 180.0),
        (6, -90.0),
    ]) {
        shot.photo.orientation = Some(orientation);
        // The upright camera is turned against the stored one, which the gimbal describes.
        shot.roll_deg = roll;
    }
    let bench = Workbench::ingested(&world);
    let _ = bench.pose(&[]).with_code(0);
    let poses = bench.poses();
    assert_eq!(poses.with_source("solved").len(), 18, "{}", poses.remarks());
    let gates = poses.json["verdict"]["gates"].to_string();
    assert!(!gates.contains("turned after the flight"), "{gates}");
    for (name, photo) in poses.photos() {
        let pitch = photo["gimbal_pitch_offset_deg"].as_f64().expect("degrees");
        assert!(pitch.abs() < 3.0, "{name}: {pitch}");
    }
    let rms_m = poses.place_rms_m(&bench.truth);
    assert!(rms_m < 0.6, "{rms_m}");
}

/// Case 18: several cameras, each with its focal length before and after.
#[test]
fn cameras_are_solved_and_reported_each_for_itself() {
    let mut world = World::rings(18, 5);
    for shot in &mut world.shots[10..] {
        shot.photo.size_px = [100, 75];
        shot.photo.focal_mm = Some(12.0);
        shot.photo.focal_px = Some(90.0);
        shot.focal_px = 90.5;
        shot.photo.set_dji("CameraSerialNumber", "C0002");
    }
    let bench = Workbench::ingested(&world);
    let _ = bench.pose(&[]).with_code(0);
    let poses = bench.poses();
    assert_eq!(poses.with_source("solved").len(), 18);
    let cameras = poses.json["cameras"].as_array().expect("cameras");
    assert_eq!(cameras.len(), 2);
    for camera in cameras {
        let focal = |which: &str| camera[which]["fx"].as_f64().expect("pixels");
        let expected = if focal("prior") > 80.0 { 90.5 } else { 58.0 };
        assert!((focal("solved") - expected).abs() < 1e-9, "{camera}");
        let change = camera["focal_change"].as_f64().expect("a share");
        assert!(
            (change - (expected / focal("prior") - 1.0)).abs() < 1e-6,
            "{camera}"
        );
    }
    assert_eq!(poses.gate("focal length of camera 2")["level"], "good");
}

/// Case 22: straight down from one height the focal length is open, and the ground with it. The
/// second run holds it, and is kept because the heights then agree.
#[test]
fn a_wrong_focal_length_is_solved_again_with_the_known_one() {
    for factor in [1.2, 0.8] {
        let world = World::lawn(20, 6);
        let mut bench = Workbench::ingested(&world);
        bench.script.models[0].focal_factor = factor;
        bench.script.models_with_fixed_focal = Some(vec![Model::default()]);
        let _ = bench.pose(&[]).with_code(0);
        let poses = bench.poses();
        assert_eq!(bench.n_calls("mapper"), 2);
        assert_eq!(poses.with_source("solved").len(), 20);
        let ratio = poses.json["alignment"]["height_ratio"]
            .as_f64()
            .expect("a ratio");
        assert!((0.95..1.05).contains(&ratio), "{ratio}");
        let change = poses.json["cameras"][0]["focal_change"]
            .as_f64()
            .expect("a share");
        assert!(change.abs() < 0.01, "{change}");
        let remarks = poses.remarks();
        assert!(remarks.contains("solved twice"), "{remarks}");
        assert!(remarks.contains("focal length held"), "{remarks}");
    }
}

/// The same, but the second run fails: the first one's result stays, with its doubts.
#[test]
fn a_second_run_that_fails_takes_nothing_away() {
    let world = World::lawn(20, 7);
    let mut bench = Workbench::ingested(&world);
    bench.script.models[0].focal_factor = 1.1;
    bench.script.mapping = tests::solver::Behaviour {
        only_calls: vec![2],
        ..tests::solver::Behaviour::fail(tests::solver::End::Signal(11), "crash")
    };
    let _ = bench.pose(&[]).with_code(0);
    let poses = bench.poses();
    assert_eq!(poses.with_source("solved").len(), 20);
    assert!(poses.remarks().contains("signal 11"), "{}", poses.remarks());
    assert_ne!(poses.gate("focal length of camera 1")["level"], "good");
}
