//! Solvers of all generations, missing, broken, hanging and lying ones (case 47).

use super::assert_from_priors;
use std::time::{Duration, Instant};
use tests::solver::{Behaviour, Damage, End, Model, Script};
use tests::workbench::Workbench;
use tests::world::World;

/// A command's behaviour in a script.
type Of = fn(&mut Script) -> &mut Behaviour;

fn bench(seed: u64) -> Workbench {
    Workbench::ingested(&World::rings(12, seed))
}

#[test]
fn every_generation_gets_the_option_names_it_knows() {
    for (version, extraction, matching) in [
        ("3.8", "SiftExtraction.use_gpu", "SiftMatching.use_gpu"),
        ("3.12.6", "SiftExtraction.use_gpu", "SiftMatching.use_gpu"),
        (
            "3.13.0",
            "FeatureExtraction.use_gpu",
            "FeatureMatching.use_gpu",
        ),
        (
            "4.2.1",
            "FeatureExtraction.use_gpu",
            "FeatureMatching.use_gpu",
        ),
    ] {
        let mut bench = bench(1);
        bench.script.version = version.to_owned();
        let _ = bench.pose(&["--engine", "colmap"]).with_code(0);
        let poses = bench.poses();
        assert_eq!(poses.with_source("solved").len(), 12, "{version}");
        let engine = &poses.json["made_by"]["engine"];
        assert_eq!(engine["version"], version);
        let has = |command: &str, option: &str| {
            let calls = bench.calls();
            let mut of_command = calls.iter().filter(|call| call[0] == command);
            of_command.all(|call| call.contains(&format!("--{option}")))
        };
        assert!(has("feature_extractor", extraction), "{version}");
        assert!(has("matches_importer", matching), "{version}");
    }
}

#[test]
fn without_a_solver_the_poses_are_approximate_unless_one_was_asked_for() {
    let bench = bench(2);
    bench.remove_program("colmap");
    let refused = bench.pose(&["--engine", "colmap"]).with_code(1);
    assert!(
        refused.stderr.contains("--engine priors"),
        "{}",
        refused.stderr
    );
    let _ = bench.pose(&["--engine", "pycolmap"]).with_code(1);
    let nothing = ["--engine", "colmap", "--engine-path", "/nowhere/colmap"];
    let _ = bench.pose(&nothing).with_code(1);
    let _ = bench.pose(&["--engine", "metashape"]).with_code(1);
    let done = bench.pose(&[]).with_code(0);
    assert!(done.stdout.contains("approximate"), "{}", done.stdout);
    let poses = bench.poses();
    assert_from_priors(&poses, "not installed");
    assert_eq!(poses.with_source("priors").len(), 12);
    let rms_m = poses.place_rms_m(&bench.truth);
    assert!((0.1..3.0).contains(&rms_m), "{rms_m}");
    let sigma = &poses.photo("DJI_0001.JPG")["pose"]["sigma"];
    assert!(
        sigma["horizontal_m"].as_f64().expect("metres") >= 1.0,
        "{sigma}"
    );
}

/// A solver that is gone the next day takes nothing away.
#[test]
fn poses_from_the_images_are_kept_when_the_solver_is_gone() {
    let bench = bench(3);
    let _ = bench.pose(&[]).with_code(0);
    bench.remove_program("colmap");
    let done = bench.pose(&[]).with_code(0);
    assert!(done.stderr.contains("kept"), "{}", done.stderr);
    assert_eq!(bench.poses().json["made_by"]["kind"], "solver");
    // Asked for, priors are given.
    let _ = bench.pose(&["--engine", "priors"]).with_code(0);
    assert_from_priors(&bench.poses(), "asked for");
}

/// A failure of any stage in any way: approximate poses that say what happened where no engine was
/// asked for, else an error that does. Our own fault either way, not the input's.
#[test]
fn a_solver_that_fails_is_named_with_what_it_did() {
    let cases: [(&str, Of); 3] = [
        ("finding features", |script| &mut script.features),
        ("matching photos", |script| &mut script.matching),
        ("posing photos", |script| &mut script.mapping),
    ];
    for (stage, behaviour) in cases {
        for (end, how) in [
            (End::Signal(6), "signal 6"),
            (End::Code(1), "code 1"),
            (End::Code(134), "code 134"),
        ] {
            let mut bench = bench(4);
            *behaviour(&mut bench.script) = Behaviour::fail(end, "F0101 something broke");
            let refused = bench.pose(&["--engine", "colmap"]).with_code(2);
            for said in [stage, how, "something broke", "solver.log"] {
                assert!(
                    refused.stderr.contains(said),
                    "{stage}, {how}: {}",
                    refused.stderr
                );
            }
            let _ = bench.pose(&[]).with_code(0);
            assert_from_priors(&bench.poses(), how);
        }
    }
}

/// Code 0 and nothing done: what counts is what the database and the model hold.
#[test]
fn a_solver_that_says_all_is_well_and_did_nothing_is_not_believed() {
    type Change = fn(&mut Script);
    let cases: [(&str, Change); 3] = [
        ("features", |script| script.unreadable = names()),
        ("matched none", |script| script.matching.does_nothing = true),
        ("posed no photo", |script| {
            script.mapping.does_nothing = true
        }),
    ];
    for (said, change) in cases {
        let mut bench = bench(5);
        change(&mut bench.script);
        let _ = bench.pose(&[]).with_code(0);
        assert_from_priors(&bench.poses(), said);
    }
}

fn names() -> Vec<String> {
    World::rings(12, 5).names()
}

#[test]
fn a_solver_that_prints_nothing_is_believed_by_its_results() {
    let mut bench = bench(6);
    for behaviour in [
        &mut bench.script.features,
        &mut bench.script.matching,
        &mut bench.script.mapping,
    ] {
        behaviour.is_silent = true;
    }
    let _ = bench.pose(&[]).with_code(0);
    assert_eq!(bench.poses().with_source("solved").len(), 12);
}

#[test]
fn a_program_that_is_not_colmap_is_not_used() {
    let bench = bench(7);
    let script = bench.root().join("other");
    for (text, said) in [
        (
            "#!/bin/sh\necho Hello, I am another program\n",
            "not COLMAP",
        ),
        ("#!/bin/sh\nexit 3\n", "code 3"),
        ("#!/bin/sh\nkill -SEGV $$\n", "signal 11"),
        ("#!/bin/sh\n", "printed \"nothing\""),
        ("not a program", "cannot start"),
    ] {
        // Written anew, never over a file that is being run.
        let _ = std::fs::remove_file(&script);
        std::fs::write(&script, text).expect("a temporary folder");
        make_executable(&script);
        bench.link_program("colmap", &script);
        let refused = bench.pose(&["--engine", "colmap"]).with_code(1);
        assert!(refused.stderr.contains(said), "{text}: {}", refused.stderr);
    }
    // What cannot be run at all is no candidate.
    bench.remove_program("colmap");
    std::fs::write(bench.program_path("colmap"), "text").expect("a temporary folder");
    let _ = bench.pose(&[]).with_code(0);
    assert_from_priors(&bench.poses(), "not installed");
}

fn make_executable(path: &std::path::Path) {
    use std::os::unix::fs::PermissionsExt;
    let permissions = std::fs::Permissions::from_mode(0o755);
    std::fs::set_permissions(path, permissions).expect("our own file");
}

/// Each stage has its time; `--patience` scales it. Nothing that hangs is left running, however
/// deaf.
#[test]
fn a_solver_that_hangs_is_ended_at_the_limit() {
    let cases: [(&str, &str, bool, Of); 4] = [
        ("0.004", "finding features", false, |script| {
            &mut script.features
        }),
        ("0.006", "matching photos", false, |script| {
            &mut script.matching
        }),
        ("0.004", "posing photos", true, |script| &mut script.mapping),
        ("0.004", "did not answer", false, |script| &mut script.help),
    ];
    for (patience, said, is_stubborn, behaviour) in cases {
        let mut bench = bench(8);
        *behaviour(&mut bench.script) = Behaviour {
            is_stubborn,
            ..Behaviour::hang()
        };
        let started = Instant::now();
        let _ = bench.pose(&["--patience", patience]).with_code(0);
        assert!(started.elapsed() < Duration::from_secs(90), "{said}");
        assert_from_priors(&bench.poses(), said);
    }
}

/// Crashed after its work was done: the work counts.
#[test]
fn a_model_that_was_written_before_a_crash_is_used_and_the_crash_told() {
    let mut bench = bench(9);
    bench.script.mapping.end = End::Signal(11);
    let _ = bench.pose(&[]).with_code(0);
    let poses = bench.poses();
    assert_eq!(poses.with_source("solved").len(), 12);
    assert!(poses.remarks().contains("signal 11"), "{}", poses.remarks());
}

#[test]
fn a_damaged_model_is_refused_and_another_one_used() {
    let damages = [
        Damage::CutShort,
        Damage::NotANumber,
        Damage::Missing,
        Damage::EndlessCount,
        Damage::StrangePhoto,
    ];
    for damage in damages {
        let mut bench = bench(10);
        let damaged = Model {
            damage: Some(damage),
            ..Model::default()
        };
        bench.script.models = vec![damaged.clone()];
        let _ = bench.pose(&[]).with_code(0);
        assert_eq!(
            bench.poses().json["made_by"]["kind"],
            "priors",
            "{damage:?}"
        );
        bench.script.models.push(Model::of(&names()[2..]));
        // Other settings: a refusal of the same run would be found again.
        let _ = bench.pose(&["--max-features", "1000"]).with_code(0);
        let poses = bench.poses();
        assert_eq!(poses.with_source("solved").len(), 10, "{damage:?}");
        assert_eq!(poses.with_source("priors").len(), 2, "{damage:?}");
    }
}

/// A build for graphics cards on a machine without one.
#[test]
fn a_graphics_card_that_cannot_be_used_is_done_without() {
    let mut bench = bench(11);
    bench.script.cuda = true;
    bench.script.features = Behaviour {
        only_calls: vec![1],
        ..Behaviour::fail(End::Signal(6), "no CUDA-capable device is detected")
    };
    let _ = bench.pose(&[]).with_code(0);
    let poses = bench.poses();
    assert_eq!(poses.with_source("solved").len(), 12);
    assert!(
        poses.remarks().contains("graphics card"),
        "{}",
        poses.remarks()
    );
    let calls = bench.calls();
    let gpu = |call: &[String]| {
        let at = call.iter().position(|arg| arg.ends_with(".use_gpu"));
        call[at.expect("the option") + 1].clone()
    };
    let flags: Vec<String> = calls[..3].iter().map(|call| gpu(call)).collect();
    assert_eq!(flags, ["1", "0", "0"]);
}
