//! What lies about in folders of photos (cases 12 and 20).

use super::photos;
use std::fs::{self, File};
use std::os::unix::fs::symlink;
use std::process::Command;
use tests::photo::Photo;
use tests::workbench::{Done, Workbench};
use tests::world::World;

#[test]
fn what_is_no_photo_is_set_aside_with_its_reason() {
    let world = World::rings(6, 1);
    let bench = Workbench::new(&world);
    let put = |name: &str, bytes: &[u8]| {
        fs::write(bench.photos().join(name), bytes).expect("a temporary folder");
    };
    let mut thermal = world.shots[0].photo.clone();
    thermal.picture += 1;
    put("DJI_0001_T.JPG", &thermal.jpeg());
    thermal.picture += 1;
    thermal.set_dji("ImageSource", "InfraredCamera");
    put("heat.jpg", &thermal.jpeg());
    let mut panorama = world.shots[0].photo.clone();
    panorama.picture += 3;
    panorama.xmp.insert(
        "GPano:ProjectionType".to_owned(),
        "equirectangular".to_owned(),
    );
    put("around.jpg", &panorama.jpeg());
    put("screenshot.jpg", &Photo::bare([120, 60], 7).jpeg());
    put("DJI_0009.DNG", b"II*\0\x08\0\0\0raw pixels");
    put("IMG_1.HEIC", b"\0\0\0\x18ftypheic\0\0\0\0mif1heic");
    put("map.png", b"\x89PNG\r\n\x1a\n");
    put("notes.txt", "gefragt: Hausmeister".as_bytes());
    put("empty.jpg", b"");
    put("truth.json", b"{}");
    let whole = world.shots[1].photo.jpeg();
    put("cut.jpg", &whole[..whole.len() / 2]);
    let _ = bench.ingest().with_code(0);
    assert_eq!(photos(&bench).len(), 6);
    let aside = bench.set_aside();
    for (name, code) in [
        ("DJI_0001_T.JPG", "thermal"),
        ("heat.jpg", "thermal"),
        ("around.jpg", "panorama"),
        ("screenshot.jpg", "foreign"),
        ("DJI_0009.DNG", "foreign"),
        ("IMG_1.HEIC", "foreign"),
        ("map.png", "foreign"),
        ("notes.txt", "foreign"),
        ("empty.jpg", "foreign"),
        ("truth.json", "truth"),
        ("cut.jpg", "unreadable"),
    ] {
        let (found, reason) = aside
            .get(name)
            .unwrap_or_else(|| panic!("{name} was taken"));
        assert_eq!(found, code, "{name}: {reason}");
        assert!(reason.len() > 5, "{name}: {reason}");
    }
    assert_eq!(aside.len(), 11, "{aside:?}");
}

/// Edited photos of a drone's size are kept although the editor took their metadata; so is
/// everything where no photo has any.
#[test]
fn photos_without_metadata_are_kept_where_they_may_be_photos() {
    let mut world = World::rings(6, 2);
    world.shots[3].photo = Photo::bare([80, 60], 99);
    let bench = Workbench::ingested(&world);
    assert_eq!(photos(&bench).len(), 6);
    let mut bare = World::rings(6, 3);
    for (idx, shot) in bare.shots.iter_mut().enumerate() {
        shot.photo = Photo::bare([80 + 10 * idx as u32, 60], idx as u64);
    }
    assert_eq!(photos(&Workbench::ingested(&bare)).len(), 6);
}

/// A photo whose small preview is whole and whose picture is not. (Cut right after the preview.)
#[test]
fn a_cut_photo_is_noticed_at_any_length() {
    let world = World::rings(4, 4);
    let bench = Workbench::new(&world);
    let whole = world.shots[0].photo.jpeg();
    for share in 1..8 {
        let name = format!("cut{share}.jpg");
        fs::write(bench.photos().join(name), &whole[..whole.len() * share / 8])
            .expect("a temporary folder");
    }
    let _ = bench.ingest().with_code(0);
    assert_eq!(photos(&bench).len(), 4);
    assert_eq!(bench.set_aside().len(), 7);
}

/// Names with spaces, umlauts and other scripts, equal names in sub-folders, 200 letters, endings
/// in any case, and a folder whose name ends like a photo's.
#[test]
fn any_name_will_do() {
    let mut world = World::rings(9, 5);
    let long = format!("{}.jpg", "sehr".repeat(50));
    let names = [
        "DJI_0001.JPG",
        "flight 1/DJI_0001.JPG",
        "flight 2/DJI_0001.JPG",
        "Überflug Süd (2).jpeg",
        "写真.JPEG",
        "a\tb.jpg",
        long.as_str(),
        "folder.jpg/DJI_0001.JpG",
        "without_ending",
    ];
    for (shot, name) in world.shots.iter_mut().zip(names) {
        shot.name = name.to_owned();
    }
    let bench = Workbench::ingested(&world);
    let mut expected: Vec<String> = names.map(str::to_owned).to_vec();
    expected.sort();
    assert_eq!(photos(&bench).into_keys().collect::<Vec<_>>(), expected);
    // Whatever their names, the solver gets safe ones.
    let _ = bench.pose(&[]).with_code(0);
    let poses = bench.poses();
    assert_eq!(
        poses.with_source("solved").len(),
        9,
        "{}",
        poses.json["verdict"]
    );
    let solver = bench.scene().join("cache/solver");
    let work = fs::read_dir(solver)
        .expect("a cache")
        .next()
        .expect("one job");
    let list = fs::read_to_string(work.expect("a folder").path().join("photos.txt"));
    let list = list.expect("the list of photos");
    assert_eq!(list.lines().count(), 9);
    let is_safe = |name: &str| {
        name.bytes()
            .all(|b| b.is_ascii_alphanumeric() || b"_.".contains(&b))
    };
    assert!(list.lines().all(is_safe), "{list}");
}

/// Links that loop, links to nothing, pipes, and a video of 200 GB: none is opened, none holds up
/// the rest.
#[test]
fn what_cannot_be_read_to_its_end_is_not_read() {
    let world = World::rings(4, 6);
    let bench = Workbench::new(&world);
    let folder = bench.photos();
    symlink(&folder, folder.join("again")).expect("a temporary folder");
    symlink(folder.join("nowhere"), folder.join("gone.jpg")).expect("a temporary folder");
    let pipe = folder.join("pipe.jpg");
    let made = Command::new("mkfifo").arg(&pipe).status();
    assert!(made.is_ok_and(|status| status.success()), "mkfifo");
    let video = File::create(folder.join("DJI_0007.MP4")).expect("a temporary folder");
    // Sparse: it takes no room.
    video.set_len(200 << 30).expect("a sparse file");
    let _ = bench.ingest().with_code(0);
    assert_eq!(photos(&bench).len(), 4);
    let aside = bench.set_aside();
    for (name, code) in [
        ("again", "foreign"),
        ("gone.jpg", "unreadable"),
        ("pipe.jpg", "foreign"),
        ("DJI_0007.MP4", "foreign"),
    ] {
        assert_eq!(aside[name].0, code, "{name}: {}", aside[name].1);
    }
    assert_eq!(aside.len(), 4, "{aside:?}");
}

#[test]
fn a_source_without_photos_is_refused_and_says_what_it_holds() {
    let bench = Workbench::new(&World::rings(2, 7));
    let check = |source: &str, said: &str| -> Done {
        let done = bench.run(&["ingest", source, "scene"]).with_code(1);
        assert!(done.stderr.contains(said), "{source}: {}", done.stderr);
        done
    };
    let _ = check("nowhere", "does not exist");
    fs::create_dir(bench.root().join("none")).expect("a temporary folder");
    let _ = check("none", "no photo");
    fs::write(bench.root().join("none/notes.txt"), "x").expect("a temporary folder");
    let _ = check("none", "1 foreign");
    let _ = check("none/notes.txt", "1 foreign");
    // A single photo is a source.
    let _ = bench
        .run(&["ingest", "photos/DJI_0001.JPG", "scene"])
        .with_code(0);
    assert_eq!(photos(&bench).len(), 1);
}
