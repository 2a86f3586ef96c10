//! The double must take away exactly what a power cut would, and `write_durably` must survive a
//! cut, a full disk and a failing disk at each of its steps.

use super::*;

fn folder() -> tempfile::TempDir {
    tempfile::tempdir().unwrap()
}

fn write(storage: &dyn Storage, path: &Path, bytes: &[u8]) -> Box<dyn StorageFile> {
    let mut file = storage.create_new(path).unwrap();
    file.write_all(bytes).unwrap();
    file
}

#[test]
fn bytes_and_names_are_durable_only_after_their_own_sync() {
    let dir = folder();
    let at = |name: &str| dir.path().join(name);
    let storage = FaultyStorage::new(dir.path());
    write(&storage, &at("both"), b"kept").sync().unwrap();
    drop(write(&storage, &at("name only"), b"lost"));
    storage.sync_dir(dir.path()).unwrap();
    write(&storage, &at("bytes only"), b"lost").sync().unwrap();
    storage.cut_power();

    assert_eq!(fs::read(at("both")).unwrap(), b"kept");
    assert_eq!(fs::read(at("name only")).unwrap(), b"", "an empty file");
    assert!(!at("bytes only").exists());
    assert!(storage.create_new(&at("new")).is_err(), "the power is off");
    storage.power_on();
    assert!(storage.create_new(&at("new")).is_ok());
}

#[test]
fn renames_links_and_removals_are_undone_without_a_folder_sync() {
    let dir = folder();
    let at = |name: &str| dir.path().join(name);
    fs::write(at("a"), b"a").unwrap();
    fs::write(at("b"), b"b").unwrap();
    fs::write(at("c"), b"c").unwrap();
    fs::write(at("theirs"), b"not through the storage").unwrap();
    let storage = FaultyStorage::new(dir.path());
    storage.rename(&at("a"), &at("a2")).unwrap();
    storage.hard_link(&at("b"), &at("b2")).unwrap();
    storage.remove(&at("c")).unwrap();
    assert!(!at("a").exists() && at("b2").exists() && !at("c").exists());
    storage.cut_power();
    assert_eq!(fs::read(at("a")).unwrap(), b"a");
    assert!(!at("a2").exists() && !at("b2").exists());
    assert_eq!(fs::read(at("b")).unwrap(), b"b");
    assert_eq!(fs::read(at("c")).unwrap(), b"c");
    assert!(at("theirs").exists());

    storage.power_on();
    storage.rename(&at("a"), &at("a2")).unwrap();
    storage.remove(&at("c")).unwrap();
    storage.sync_dir(dir.path()).unwrap();
    storage.cut_power();
    assert_eq!(fs::read(at("a2")).unwrap(), b"a");
    assert!(!at("a").exists() && !at("c").exists());
}

#[test]
fn a_folder_renamed_into_place_keeps_what_was_durable_in_it() {
    let dir = folder();
    let at = |name: &str| dir.path().join(name);
    let storage = FaultyStorage::new(dir.path());
    storage.create_dir(&at("new")).unwrap();
    write(&storage, &at("new/x"), b"x").sync().unwrap();
    storage.sync_dir(&at("new")).unwrap();
    storage.rename(&at("new"), &at("room")).unwrap();
    storage.sync_dir(dir.path()).unwrap();
    drop(write(&storage, &at("room/late"), b"late"));
    storage.cut_power();
    assert_eq!(fs::read(at("room/x")).unwrap(), b"x");
    assert!(!at("room/late").exists() && !at("new").exists());
}

#[test]
fn a_failed_sync_is_not_mended_by_a_second_one() {
    let dir = folder();
    let path = dir.path().join("f");
    let storage = FaultyStorage::new(dir.path());
    let mut file = write(&storage, &path, b"data");
    storage.fail_at(2, Injected::DiskFailure);
    assert!(file.sync().is_err());
    file.sync().unwrap();
    storage.sync_dir(dir.path()).unwrap();
    storage.cut_power();
    assert_eq!(fs::read(&path).unwrap(), b"");
}

#[test]
fn a_full_disk_keeps_half_of_the_write() {
    let dir = folder();
    let path = dir.path().join("f");
    let storage = FaultyStorage::new(dir.path());
    storage.fail_at(1, Injected::DiskFull);
    let mut file = storage.create_new(&path).unwrap();
    let error = file.write_all(b"12345678").unwrap_err();
    assert!(error.is_disk_full(), "{error}");
    assert_eq!(fs::read(&path).unwrap(), b"1234");
}

#[test]
fn write_durably_leaves_the_old_file_or_the_new_one() {
    let n_steps = {
        let dir = folder();
        let storage = FaultyStorage::new(dir.path());
        write_durably(&storage, &dir.path().join("f"), b"new").unwrap();
        storage.n_steps()
    };
    assert_eq!(
        n_steps, 5,
        "create, write, sync, rename, sync of the folder"
    );
    for fault in [
        Injected::PowerCut,
        Injected::DiskFull,
        Injected::DiskFailure,
    ] {
        for step in 0..=n_steps {
            let dir = folder();
            let path = dir.path().join("f");
            fs::write(&path, b"old").unwrap();
            let storage = FaultyStorage::new(dir.path());
            if step < n_steps {
                storage.fail_at(step, fault);
            }
            let done = write_durably(&storage, &path, b"new");
            assert_eq!(done.is_ok(), step == n_steps, "{fault:?} at {step}");
            storage.cut_power();
            let left = fs::read(&path).unwrap();
            assert!(left == b"old" || left == b"new", "{fault:?} at {step}");
            if done.is_ok() {
                assert_eq!(left, b"new", "acknowledged, so it must be there");
            }
            // The next run works whatever was left behind.
            storage.power_on();
            write_durably(&storage, &path, b"newer").unwrap();
            storage.cut_power();
            assert_eq!(fs::read(&path).unwrap(), b"newer", "{fault:?} at {step}");
        }
    }
}

#[test]
fn the_disk_does_the_same_without_faults() {
    let dir = folder();
    let at = |name: &str| dir.path().join(name);
    let storage = DiskStorage;
    write_durably(&storage, &at("f"), b"one").unwrap();
    write_durably(&storage, &at("f"), b"two").unwrap();
    assert_eq!(fs::read(at("f")).unwrap(), b"two");
    assert_eq!(storage.copy(&at("f"), &at("g")).unwrap(), 3);
    assert!(storage.copy(&at("f"), &at("g")).is_err(), "g is taken");
    assert_eq!(fs::read(at("g")).unwrap(), b"two");
    storage.hard_link(&at("g"), &at("h")).unwrap();
    storage.append(&at("h")).unwrap().write_all(b"!").unwrap();
    assert_eq!(fs::read(at("g")).unwrap(), b"two!");
    storage.create_dir(&at("d")).unwrap();
    storage.rename(&at("h"), &at("d/h")).unwrap();
    storage.remove(&at("g")).unwrap();
    assert!(at("d/h").exists() && !at("g").exists() && !at("f.part").exists());
}
