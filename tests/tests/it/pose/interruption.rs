//! Cancelled, killed and resumed runs (cases 46 and 48).

use nix::sys::signal::Signal;
use std::fs;
use std::time::Duration;
use tests::solver::{Behaviour, Script};
use tests::workbench::{Workbench, wait_until};
use tests::world::World;

/// Enough photos for several parts of pairs.
const N_PHOTOS: usize = 24;

fn bench(seed: u64) -> Workbench {
    Workbench::ingested(&World::rings(N_PHOTOS, seed))
}

/// Rows of a table of the solver's database.
fn rows(bench: &Workbench, table: &str) -> u64 {
    let jobs = fs::read_dir(bench.scene().join("cache/solver")).expect("a cache");
    let job = jobs.map(|job| job.expect("a folder").path()).next();
    let database = job.expect("one job").join("database.db");
    let connection = rusqlite::Connection::open(database).expect("a database");
    let count = format!("SELECT COUNT(*) FROM {table}");
    let n: u32 = connection
        .query_row(&count, [], |row| row.get(0))
        .expect("a table");
    u64::from(n)
}

/// A signal while a stage hangs after a part of its work: the command ends with its code at once,
/// nothing half-done is shown, and the next run does the rest and no more.
#[test]
fn an_interrupted_run_goes_on_where_it_was() {
    type Of = fn(&mut Script) -> &mut Behaviour;
    let cases: [(&str, Of, Behaviour, Signal, i32); 4] = [
        (
            "feature_extractor",
            |script| &mut script.features,
            Behaviour {
                hangs_after: Some(5),
                ..Behaviour::default()
            },
            Signal::SIGINT,
            130,
        ),
        (
            "matches_importer",
            |script| &mut script.matching,
            Behaviour {
                only_calls: vec![3],
                hangs_after: Some(10),
                ..Behaviour::default()
            },
            Signal::SIGINT,
            130,
        ),
        (
            "mapper",
            |script| &mut script.mapping,
            Behaviour {
                hangs_after: Some(7),
                is_stubborn: true,
                ..Behaviour::default()
            },
            Signal::SIGINT,
            130,
        ),
        (
            "matches_importer",
            |script| &mut script.matching,
            Behaviour {
                only_calls: vec![2],
                hangs_after: Some(1),
                ..Behaviour::default()
            },
            Signal::SIGKILL,
            137,
        ),
    ];
    for (command, of, behaviour, signal, code) in cases {
        let mut bench = bench(1);
        let call = behaviour.only_calls.first().copied().unwrap_or(1);
        *of(&mut bench.script) = behaviour;
        let running = bench.start(&["pose", "scene"]);
        wait_until("the solver hangs", || bench.n_calls(command) == call);
        // It does its part of the work first.
        std::thread::sleep(Duration::from_millis(300));
        running.signal(signal);
        assert_eq!(running.end().code, Some(code), "{command}");
        assert!(
            !bench.scene().join("rooms/pose/current").exists(),
            "{command}"
        );
        let (n_photos, n_pairs) = (
            rows(&bench, "keypoints"),
            rows(&bench, "two_view_geometries"),
        );
        let expected = if command == "feature_extractor" {
            5
        } else {
            N_PHOTOS as u64
        };
        assert_eq!(n_photos, expected, "{command}");
        let in_parts = 50 * (call as u64 - 1);
        if command == "matches_importer" {
            assert_eq!(n_pairs, in_parts, "{command}");
        }
        *of(&mut bench.script) = Behaviour::default();
        let before = bench.calls().len();
        let _ = bench.pose(&[]).with_code(0);
        let poses = bench.poses();
        assert_eq!(poses.with_source("solved").len(), N_PHOTOS, "{command}");
        // One camera, also where its photos came in two calls.
        assert_eq!(rows(&bench, "cameras"), 1, "{command}");
        let again: Vec<Vec<String>> = bench.calls().split_off(before);
        let has_extracted = again.iter().any(|call| call[0] == "feature_extractor");
        assert_eq!(has_extracted, command == "feature_extractor", "{command}");
        let parts = again
            .iter()
            .filter(|call| call[0] == "matches_importer")
            .count() as u64;
        let all = rows(&bench, "two_view_geometries");
        assert_eq!(parts, (all - n_pairs).div_ceil(50), "{command}");
    }
}

/// A solver that a killed run left behind must not work on the database beside the new one.
#[test]
fn a_solver_that_outlived_its_run_is_ended_by_the_next() {
    let mut bench = bench(2);
    bench.script.matching = Behaviour {
        only_calls: vec![2],
        is_stubborn: true,
        ..Behaviour::hang()
    };
    let running = bench.start(&["pose", "scene"]);
    wait_until("the solver hangs", || {
        bench.n_calls("matches_importer") == 2
    });
    let jobs = fs::read_dir(bench.scene().join("cache/solver")).expect("a cache");
    let job = jobs.map(|job| job.expect("a folder").path()).next();
    let noted = job.expect("one job").join("solver.pid");
    wait_until("the solver is noted", || noted.is_file());
    let text = fs::read_to_string(&noted).expect("a note");
    let pid = text
        .split_whitespace()
        .next()
        .expect("a process id")
        .to_owned();
    running.signal(Signal::SIGKILL);
    assert_eq!(running.end().code, Some(137));
    let is_running = || {
        let status = fs::read_to_string(format!("/proc/{pid}/status"));
        status.is_ok_and(|text| !text.contains("State:\tZ"))
    };
    assert!(is_running());
    bench.script.matching = Behaviour::default();
    let _ = bench.pose(&[]).with_code(0);
    assert!(!is_running() && !noted.exists());
    assert_eq!(bench.poses().with_source("solved").len(), N_PHOTOS);
}

#[test]
fn a_killed_run_leaves_the_poses_of_before() {
    let mut bench = bench(3);
    let _ = bench.pose(&[]).with_code(0);
    let before = bench.room("pose");
    bench.script.mapping = Behaviour::hang();
    // Other settings: another result is to be made.
    let running = bench.start(&["pose", "scene", "--max-features", "1000"]);
    wait_until("the solver hangs", || bench.n_calls("mapper") == 2);
    running.signal(Signal::SIGKILL);
    assert_eq!(running.end().code, Some(137));
    assert_eq!(bench.room("pose"), before);
    assert_eq!(bench.poses().with_source("solved").len(), N_PHOTOS);
    bench.script.mapping = Behaviour::default();
    let _ = bench.pose(&["--max-features", "1000"]).with_code(0);
    assert_ne!(bench.room("pose"), before);
    // And back, without work.
    let n_calls = bench.calls().len();
    let _ = bench.pose(&[]).with_code(0);
    assert_eq!(bench.room("pose"), before);
    assert_eq!(bench.calls().len(), n_calls);
}

/// A database that a power cut has left in pieces, or that is none, is made again.
#[test]
fn a_damaged_database_is_made_again() {
    type Harm = fn(&std::path::Path);
    let harms: [Harm; 3] = [
        |path| {
            let bytes = fs::read(path).expect("a database");
            let mut harmed = bytes.clone();
            for byte in harmed.iter_mut().skip(4096).take(6000) {
                *byte = 0xA5;
            }
            fs::write(path, harmed).expect("a temporary folder");
        },
        |path| fs::write(path, "").expect("a temporary folder"),
        |path| fs::write(path, "SQLite format 3 it is not").expect("a temporary folder"),
    ];
    for harm in harms {
        let mut bench = bench(4);
        bench.script.mapping = Behaviour::hang();
        let running = bench.start(&["pose", "scene"]);
        wait_until("the solver hangs", || bench.n_calls("mapper") == 1);
        running.signal(Signal::SIGINT);
        assert_eq!(running.end().code, Some(130));
        let jobs = fs::read_dir(bench.scene().join("cache/solver")).expect("a cache");
        let job = jobs.map(|job| job.expect("a folder").path()).next();
        let database = job.expect("one job").join("database.db");
        for ending in ["-wal", "-shm"] {
            // Left only where the solver did not close it.
            let _ = fs::remove_file(format!("{}{ending}", database.display()));
        }
        harm(&database);
        bench.script.mapping = Behaviour::default();
        let _ = bench.pose(&[]).with_code(0);
        assert_eq!(bench.poses().with_source("solved").len(), N_PHOTOS);
    }
}

#[test]
fn a_second_process_on_the_same_scene_is_refused_and_disturbs_nothing() {
    let mut bench = bench(5);
    bench.script.matching = Behaviour {
        only_calls: vec![1],
        seconds: 4.0,
        ..Behaviour::default()
    };
    let running = bench.start(&["pose", "scene"]);
    wait_until("the solver works", || {
        bench.n_calls("matches_importer") == 1
    });
    for command in [["pose", "scene"].as_slice(), &["ingest", "photos", "scene"]] {
        let refused = bench.run(command).with_code(1);
        assert!(refused.stderr.contains("another"), "{}", refused.stderr);
    }
    let _ = running.end().with_code(0);
    assert_eq!(bench.poses().with_source("solved").len(), N_PHOTOS);
}

/// A second signal ends at once, whatever the solver does.
#[test]
fn a_question_interrupted_gives_no_poses() {
    let mut bench = bench(6);
    bench.script.help = Behaviour::hang();
    let running = bench.start(&["pose", "scene"]);
    let is_asked = || fs::read_to_string(&bench.script.calls).is_ok_and(|t| t.contains("help"));
    wait_until("the solver is asked", is_asked);
    running.signal(Signal::SIGINT);
    assert_eq!(running.end().code, Some(130));
    assert!(!bench.scene().join("rooms/pose/current").exists());
}
