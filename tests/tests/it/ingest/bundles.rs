//! Bags made by Python's `bagit`, anywhere in a source.

use super::photos;
use sha2::{Digest, Sha256};
use std::fs;
use std::path::Path;
use std::process::Command;
use tests::workbench::Workbench;
use tests::world::World;

/// Makes a bag of a folder in place, with a Python that has `bagit` (`make setup` installs one and
/// OVERLOOK_PYTHON names it).
fn bag(folder: &Path) {
    let python = std::env::var_os("OVERLOOK_PYTHON").unwrap_or_else(|| "python3".into());
    let script = "import bagit, sys; bagit.make_bag(sys.argv[1], checksums=['sha256'])";
    let made = Command::new(&python)
        .args(["-c", script])
        .arg(folder)
        .output()
        .unwrap_or_else(|error| panic!("{}: {error}", python.display()));
    let said = String::from_utf8_lossy(&made.stderr);
    assert!(
        made.status.success(),
        "{} makes no bag: `make setup` installs bagit; OVERLOOK_PYTHON names another Python\n{said}",
        python.display()
    );
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Seals a bag as the drone does: `SEALED.json`, whose digest is over its other fields as canonical
/// JSON.
fn seal(folder: &Path) -> String {
    let manifest = fs::read(folder.join("tagmanifest-sha256.txt")).expect("a tag manifest");
    let root = hex(&Sha256::digest(manifest));
    let mut seal = serde_json::json!({
        "schema": "sealed/1",
        "root_sha256": root,
        "sealed_utc": "2026-06-01T10:00:00Z",
        "agent_version": "0.1.0",
        "plan_sha256": null,
        "n_planned": 6, "n_confirmed": 6, "n_failed": 0, "n_strays": 0,
        "complete": true,
        "missing_cells": [],
    });
    let own = hex(&Sha256::digest(seal.to_string()));
    seal["seal_sha256"] = own.into();
    fs::write(folder.join("SEALED.json"), seal.to_string()).expect("a temporary folder");
    root
}

/// Six photos, four of them in a bag below the source.
fn bench_with_bag(seed: u64) -> Workbench {
    let mut world = World::rings(6, seed);
    for shot in &mut world.shots[..4] {
        shot.name = format!("bundle/card/{}", shot.name);
    }
    let bench = Workbench::new(&world);
    let folder = bench.photos().join("bundle");
    fs::write(folder.join("ledger.sqlite"), "not a photo").expect("a temporary folder");
    bag(&folder);
    bench
}

#[test]
fn a_sealed_bundle_is_verified_and_its_photos_taken() {
    let bench = bench_with_bag(1);
    let root = seal(&bench.photos().join("bundle"));
    let done = bench.ingest().with_code(0);
    assert!(!done.stderr.contains("without a seal"), "{}", done.stderr);
    let taken = photos(&bench);
    let names: Vec<&str> = taken.keys().map(String::as_str).collect();
    assert_eq!(
        names,
        [
            "DJI_0005.JPG",
            "DJI_0006.JPG",
            "bundle/card/DJI_0001.JPG",
            "bundle/card/DJI_0002.JPG",
            "bundle/card/DJI_0003.JPG",
            "bundle/card/DJI_0004.JPG",
        ]
    );
    let expected = serde_json::json!([{"name": "bundle", "is_sealed": true, "root_hash": root}]);
    assert_eq!(bench.scene_json()["bundles"], expected);
    // The bag's own files are no foreign files; its payload may hold some.
    assert_eq!(
        bench.set_aside().into_keys().collect::<Vec<_>>(),
        ["bundle/ledger.sqlite"]
    );
}

#[test]
fn a_bundle_without_a_seal_is_taken_and_flagged() {
    let bench = bench_with_bag(2);
    let done = bench.ingest().with_code(0);
    assert!(
        done.stderr.contains("1 of 1 bundles without a seal"),
        "{}",
        done.stderr
    );
    assert_eq!(photos(&bench).len(), 6);
    let expected = serde_json::json!([{"name": "bundle", "is_sealed": false, "root_hash": null}]);
    assert_eq!(bench.scene_json()["bundles"], expected);
    // Sealed later, the same photos: the scene knows.
    let _ = seal(&bench.photos().join("bundle"));
    let _ = bench.ingest().with_code(0);
    assert_eq!(bench.scene_json()["bundles"][0]["is_sealed"], true);
}

#[test]
fn a_source_may_be_a_bundle_itself() {
    let world = World::rings(4, 3);
    let bench = Workbench::new(&world);
    bag(&bench.photos());
    let _ = bench.ingest().with_code(0);
    assert_eq!(
        photos(&bench).into_keys().collect::<Vec<_>>(),
        world.names()
    );
    assert_eq!(bench.scene_json()["bundles"][0]["name"], "photos");
}

#[test]
fn one_changed_missing_or_added_file_refuses_the_whole_and_is_named() {
    let flip = |path: &Path| {
        let mut bytes = fs::read(path).expect("a file");
        let middle = bytes.len() / 2;
        bytes[middle] ^= 1;
        fs::write(path, bytes).expect("a temporary folder");
    };
    type Harm<'a> = &'a dyn Fn(&Path);
    let cases: [(&str, Harm<'_>); 5] = [
        ("DJI_0003.JPG", &|bag| {
            flip(&bag.join("data/card/DJI_0003.JPG"))
        }),
        ("DJI_0002.JPG", &|bag| {
            fs::remove_file(bag.join("data/card/DJI_0002.JPG")).expect("a file");
        }),
        ("added.JPG", &|bag| {
            fs::write(bag.join("data/added.JPG"), "x").expect("a temporary folder");
        }),
        ("manifest-sha256.txt", &|bag| {
            flip(&bag.join("manifest-sha256.txt"))
        }),
        ("SEALED.json", &|bag| {
            let path = bag.join("SEALED.json");
            let text = fs::read_to_string(&path).expect("a seal");
            fs::write(path, text.replace("\"n_failed\":0", "\"n_failed\":1"))
                .expect("a temporary folder");
        }),
    ];
    for (number, (name, harm)) in cases.into_iter().enumerate() {
        let bench = bench_with_bag(10 + number as u64);
        let folder = bench.photos().join("bundle");
        let _ = seal(&folder);
        harm(&folder);
        let refused = bench.ingest().with_code(1);
        assert!(refused.stderr.contains(name), "{name}: {}", refused.stderr);
        assert!(
            !bench.scene().join("rooms/ingest/current").exists(),
            "{name}"
        );
    }
}

#[test]
fn a_bag_that_proves_nothing_is_refused() {
    let bench = bench_with_bag(20);
    let folder = bench.photos().join("bundle");
    fs::rename(
        folder.join("manifest-sha256.txt"),
        folder.join("manifest-md5.txt"),
    )
    .expect("a temporary folder");
    let refused = bench.ingest().with_code(1);
    assert!(refused.stderr.contains("md5"), "{}", refused.stderr);
}
