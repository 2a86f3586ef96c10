//! Few, none and most photos posed (cases 25 and 26).

use super::assert_from_priors;
use tests::solver::Model;
use tests::workbench::Workbench;
use tests::world::World;

#[test]
fn a_good_solution_is_good_to_centimetres_and_says_so() {
    let bench = Workbench::ingested(&World::rings(24, 1));
    let done = bench.pose(&[]).with_code(0);
    let poses = bench.poses();
    assert_eq!(poses.with_source("solved").len(), 24);
    // Of the block's own shape; scale and turn are as good as GPS lets them be.
    let rms_m = poses.place_rms_m(&bench.truth);
    assert!((0.005..0.6).contains(&rms_m), "{rms_m}");
    for (name, off) in poses.axis_errors_deg(&bench.truth) {
        assert!(off < 2.0, "{name}: {off}");
    }
    assert_ne!(poses.json["verdict"]["level"], "bad", "{}", done.stdout);
    assert_eq!(poses.json["datum"], "take_off");
    let height = poses.json["alignment"]["height_ratio"]
        .as_f64()
        .expect("a ratio");
    assert!((0.97..1.03).contains(&height), "{height}");
    let points = std::fs::read_to_string(bench.room("pose").join("points.jsonl"));
    assert!(points.expect("points").lines().count() > 100);
}

#[test]
fn where_nothing_can_be_posed_the_poses_are_approximate() {
    let check = |models: Vec<Model>, said: &str| {
        let mut bench = Workbench::ingested(&World::rings(12, 2));
        bench.script.models = models;
        for _ in 0..2 {
            let done = bench.pose(&[]).with_code(0);
            assert!(done.stdout.contains("approximate"), "{}", done.stdout);
            assert_from_priors(&bench.poses(), said);
            // The second run finds the refusal, and does not solve again.
            assert_eq!(bench.n_calls("mapper"), 1, "{said}");
        }
    };
    let names = World::rings(12, 2).names();
    check(Vec::new(), "posed no photo");
    check(vec![Model::of(&names[..2])], "3 are needed");
    check(vec![Model::of(&names[..3])], "4 are needed");
}

#[test]
fn one_and_two_photos_are_too_few_to_begin_with() {
    for n in [1, 2] {
        let bench = Workbench::ingested(&World::rings(n, 3));
        let _ = bench.pose(&[]).with_code(0);
        assert_from_priors(&bench.poses(), "too few");
        assert_eq!(bench.poses().with_source("priors").len(), n);
        assert!(bench.calls().is_empty());
    }
}

/// Each photo that is left out says why, is posed from its own account as well as that goes, and
/// which posed photo is near.
#[test]
fn photos_left_out_are_listed_with_their_reasons() {
    let world = World::rings(20, 4);
    let names = world.names();
    let mut bench = Workbench::ingested(&world);
    bench.script.models = vec![Model::of(&names[..15])];
    bench.script.unmatched = vec![names[15].clone()];
    bench.script.featureless = vec![names[16].clone()];
    bench.script.unreadable = vec![names[17].clone()];
    let _ = bench.pose(&[]).with_code(0);
    let poses = bench.poses();
    assert_eq!(poses.with_source("solved"), names[..15]);
    assert_eq!(poses.with_source("priors"), names[15..]);
    for (name, said) in [
        (&names[15], "matches no other photo"),
        (&names[16], "too few features (7)"),
        (&names[17], "could not read it"),
        (&names[18], "but was not posed"),
    ] {
        let reason = poses.photo(name)["reason"].as_str().expect("a reason");
        assert!(reason.contains(said), "{name}: {reason}");
        assert!(reason.contains("the nearest photo"), "{name}: {reason}");
    }
    let gate = poses.gate("photos posed from the images");
    assert_eq!(
        (&gate["level"], &gate["found"]),
        (&"doubtful".into(), &"15 of 20".into())
    );
    // They lie in the frame of the others, not in one of their own.
    let errors = poses.place_errors(&bench.truth);
    for name in &names[15..] {
        assert!(errors[name].norm() < 4.0, "{name}: {}", errors[name]);
    }
    for name in &names[..15] {
        assert!(poses.photo(name)["reason"].is_null());
    }
}
