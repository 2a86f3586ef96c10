//! The scene's folder: what may lie in it, who works on it, what a second run does.

use super::photos;
use nix::sys::signal::Signal;
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use std::fs::{self, OpenOptions};
use std::path::{Path, PathBuf};
use tests::workbench::{Workbench, wait_until};
use tests::world::World;

/// Digests of all files below a folder but the log, which says that a command ran, and the index,
/// which SQLite may tidy up.
fn contents(folder: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut found = BTreeMap::new();
    for entry in fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            found.extend(contents(&path));
        } else if path
            .extension()
            .is_none_or(|ending| ending != "log" && ending != "sqlite")
        {
            let digest = Sha256::digest(fs::read(&path).expect("a file")).to_vec();
            found.insert(path, digest);
        }
    }
    found
}

#[test]
fn originals_stay_as_they_are_and_are_stored_under_their_digest() {
    let world = World::rings(6, 1);
    let bench = Workbench::new(&world);
    let before = contents(&bench.photos());
    let _ = bench.ingest().with_code(0);
    assert_eq!(contents(&bench.photos()), before);
    for photo in &bench.truth.photos {
        let stored = bench
            .scene()
            .join("photos")
            .join(format!("{}.jpg", photo.sha256));
        let original = bench.photos().join(&photo.file);
        assert_eq!(
            fs::read(stored).expect("stored"),
            fs::read(original).expect("there")
        );
    }
}

#[test]
fn a_second_run_changes_nothing() {
    let bench = Workbench::ingested(&World::rings(6, 2));
    let _ = bench.pose(&[]).with_code(0);
    let (before, n_calls) = (contents(&bench.scene()), bench.calls().len());
    let _ = bench.ingest().with_code(0);
    let _ = bench.pose(&[]).with_code(0);
    assert_eq!(contents(&bench.scene()), before);
    assert_eq!(bench.calls().len(), n_calls);
}

/// A stored original that the disk has damaged is noticed when its source is at hand again.
#[test]
fn a_damaged_original_is_put_right_from_its_source() {
    let bench = Workbench::ingested(&World::rings(4, 3));
    let photo = &bench.truth.photos[0];
    let stored = bench
        .scene()
        .join("photos")
        .join(format!("{}.jpg", photo.sha256));
    let whole = fs::read(&stored).expect("stored");
    let mut damaged = whole.clone();
    damaged[whole.len() / 2] ^= 1;
    fs::write(&stored, damaged).expect("a temporary folder");
    let _ = bench.ingest().with_code(0);
    assert_eq!(fs::read(&stored).expect("stored"), whole);
}

#[test]
fn a_folder_with_other_things_is_not_touched() {
    let bench = Workbench::new(&World::rings(4, 4));
    fs::create_dir(bench.scene()).expect("a temporary folder");
    fs::write(bench.scene().join("thesis.tex"), "x").expect("a temporary folder");
    let before = contents(&bench.scene());
    let refused = bench.ingest().with_code(1);
    assert!(refused.stderr.contains("thesis.tex"), "{}", refused.stderr);
    assert_eq!(contents(&bench.scene()), before);
    // Nor is a folder of photos a scene.
    let _ = bench.run(&["pose", "photos"]).with_code(1);
    let _ = bench.run(&["pose", "nowhere"]).with_code(1);
}

#[test]
fn a_scene_that_another_process_works_on_is_refused() {
    let bench = Workbench::ingested(&World::rings(4, 5));
    let lock = OpenOptions::new()
        .write(true)
        .open(bench.scene().join("lock"))
        .expect("the scene's lock");
    lock.lock().expect("nobody else holds it");
    for command in [["ingest", "photos", "scene"].as_slice(), &["pose", "scene"]] {
        let refused = bench.run(command).with_code(1);
        assert!(refused.stderr.contains("another"), "{}", refused.stderr);
    }
}

/// The scene inside the folder of photos, and an older scene beside it: what lies in them are not
/// photos of the source.
#[test]
fn scenes_inside_the_source_are_not_searched() {
    let world = World::rings(4, 6);
    let bench = Workbench::new(&world);
    let inside = ["ingest", "photos", "photos/scene"];
    let _ = bench
        .run(&["ingest", "photos", "photos/old scene"])
        .with_code(0);
    for _ in 0..2 {
        let done = bench.run(&inside).with_code(0);
        assert!(done.stderr.contains("4 photos"), "{}", done.stderr);
        assert!(done.stderr.contains("1 set aside"), "{}", done.stderr);
    }
}

/// Interrupted at any moment, a scene is either the old or the new one, and the next run finishes.
#[test]
fn an_interrupted_ingest_goes_on() {
    let world = World::rings(120, 7);
    for signal in [Signal::SIGINT, Signal::SIGKILL] {
        let bench = Workbench::new(&world);
        let running = bench.start(&["ingest", "photos", "scene"]);
        let stored = || fs::read_dir(bench.scene().join("photos")).map_or(0, Iterator::count);
        wait_until("some photos are stored", || stored() >= 3);
        running.signal(signal);
        let code = running.end().code;
        let current = bench.scene().join("rooms/ingest/current");
        match (signal, code) {
            // It may have been done already: then there is nothing to interrupt.
            (_, Some(0)) => assert!(current.is_file()),
            (Signal::SIGKILL, Some(137)) | (_, Some(130)) => assert!(!current.exists()),
            other => panic!("{other:?}"),
        }
        let _ = bench.ingest().with_code(0);
        assert_eq!(photos(&bench).len(), 120);
        assert!(bench.set_aside().is_empty());
    }
}

/// Photos of another place would move every vehicle of the scene.
#[test]
fn photos_of_another_site_are_refused() {
    let bench = Workbench::ingested(&World::rings(6, 21));
    let before = bench.room("ingest");
    let mut other = World::rings(6, 22);
    for shot in &mut other.shots {
        shot.photo.remove_place();
        shot.photo.place_deg = Some([41.9, 12.5]);
    }
    let _ = other.write(&bench.root().join("rome"));
    let refused = bench.run(&["ingest", "rome", "scene"]).with_code(1);
    assert!(
        refused.stderr.contains("km from this scene's"),
        "{}",
        refused.stderr
    );
    assert_eq!(bench.room("ingest"), before);
}

/// A stored output that is not what a room wrote is named, in whatever way it differs.
#[test]
fn damaged_outputs_are_named() {
    let bench = Workbench::ingested(&World::rings(6, 23));
    let _ = bench.pose(&["--engine", "priors"]).with_code(0);
    let pose = bench.room("pose").join("pose.json");
    let text = std::fs::read_to_string(&pose).expect("an output");
    for (changed, said, code) in [
        (
            text.replacen("60", "61", 1),
            "is not what the room wrote",
            2,
        ),
        (
            text.replace("posed-scene/1", "posed-scene/7"),
            "is of schema posed-scene/7 and this program reads posed-scene/1",
            1,
        ),
        (String::new(), "is not what the room wrote", 2),
    ] {
        std::fs::write(&pose, changed).expect("a folder");
        let refused = bench.run(&["status", "scene"]).with_code(code);
        assert!(refused.stderr.contains(said), "{said}: {}", refused.stderr);
    }
    std::fs::remove_file(&pose).expect("it is there");
    let refused = bench.run(&["status", "scene"]).with_code(2);
    assert!(
        refused.stderr.contains("it is missing"),
        "{}",
        refused.stderr
    );
}

#[test]
fn a_mistyped_source_makes_no_scene() {
    let bench = Workbench::new(&World::rings(4, 24));
    let refused = bench.run(&["ingest", "fotos", "scene"]).with_code(1);
    assert!(refused.stderr.contains("fotos"), "{}", refused.stderr);
    assert!(!bench.scene().exists());
    std::fs::write(bench.root().join("file"), "text").expect("a folder");
    let refused = bench.run(&["ingest", "photos", "file/scene"]).with_code(1);
    assert!(refused.stderr.contains("is a file"), "{}", refused.stderr);
}
