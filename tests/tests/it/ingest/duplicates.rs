//! The same photo more than once (case 11).

use super::photos;
use std::fs;
use tests::workbench::Workbench;
use tests::world::World;

#[test]
fn copies_are_kept_once_with_all_their_names() {
    let mut world = World::rings(6, 1);
    let original = world.shots[2].clone();
    for name in ["card/DJI_0003.JPG", "copy of DJI_0003.JPG"] {
        let mut copy = original.clone();
        copy.name = name.to_owned();
        world.shots.push(copy);
    }
    let mut smaller = original.clone();
    smaller.name = "for mail/DJI_0003.jpg".to_owned();
    smaller.photo.quality = 60;
    world.shots.push(smaller);
    let bench = Workbench::ingested(&world);
    let taken = photos(&bench);
    assert_eq!(taken.len(), 6);
    // The best copy is kept: the one with the most bytes.
    let expected = ["DJI_0003.JPG", "card/DJI_0003.JPG", "copy of DJI_0003.JPG"];
    assert_eq!(taken["DJI_0003.JPG"]["names"], serde_json::json!(expected));
    let aside = bench.set_aside();
    assert_eq!(aside.len(), 3, "{aside:?}");
    for (name, (code, reason)) in &aside {
        assert_eq!(code, "duplicate", "{name}: {reason}");
        assert!(reason.contains("DJI_0003.JPG"), "{name}: {reason}");
    }
}

/// Many copies at once, on all threads: they are met while the first is still being stored.
#[test]
fn many_copies_at_once_do_not_stumble_over_each_other() {
    let mut world = World::rings(2, 2);
    for idx in 0..40 {
        let mut copy = world.shots[idx % 2].clone();
        copy.name = format!("{idx:02}/DJI.JPG");
        world.shots.push(copy);
    }
    let bench = Workbench::ingested(&world);
    assert_eq!(photos(&bench).len(), 2);
    assert_eq!(bench.set_aside().len(), 40);
}

#[test]
fn two_photos_of_one_second_from_one_place_are_no_copies() {
    let mut world = World::rings(6, 3);
    let mut other = world.shots[2].clone();
    other.name = "DJI_0003_2.JPG".to_owned();
    // The gimbal was turned in between.
    other.photo.picture += 1;
    world.shots.push(other);
    assert_eq!(photos(&Workbench::ingested(&world)).len(), 7);
}

/// A second source adds to the first, and a photo that comes again changes nothing.
#[test]
fn a_second_source_is_added_and_nothing_is_lost() {
    let world = World::rings(9, 4);
    let bench = Workbench::new(&world);
    let (first, second) = (bench.root().join("first"), bench.root().join("second"));
    fs::create_dir(&first).expect("a temporary folder");
    fs::create_dir(&second).expect("a temporary folder");
    for (idx, name) in world.names().iter().enumerate() {
        let from = bench.photos().join(name);
        if idx < 6 {
            fs::copy(&from, first.join(name)).expect("a temporary folder");
        }
        if idx >= 4 {
            fs::copy(&from, second.join(name)).expect("a temporary folder");
        }
    }
    let _ = bench.run(&["ingest", "first", "scene"]).with_code(0);
    assert_eq!(photos(&bench).len(), 6);
    let _ = bench.run(&["ingest", "second", "scene"]).with_code(0);
    assert_eq!(photos(&bench).len(), 9);
    assert!(bench.set_aside().is_empty(), "{:?}", bench.set_aside());
}

/// A photo that came damaged from the card and whole the next time is no longer set aside.
#[test]
fn a_photo_copied_whole_the_second_time_is_taken() {
    let world = World::rings(6, 5);
    let bench = Workbench::new(&world);
    let path = bench.photos().join("DJI_0002.JPG");
    let whole = fs::read(&path).expect("a photo");
    fs::write(&path, &whole[..whole.len() - 40]).expect("a temporary folder");
    let _ = bench.ingest().with_code(0);
    assert_eq!(bench.set_aside()["DJI_0002.JPG"].0, "unreadable");
    fs::write(&path, &whole).expect("a temporary folder");
    let _ = bench.ingest().with_code(0);
    assert!(bench.set_aside().is_empty(), "{:?}", bench.set_aside());
    assert_eq!(photos(&bench).len(), 6);
}
