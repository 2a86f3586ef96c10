//! Settings and masks.

use image::{GrayImage, ImageFormat, Luma};
use std::fs;
use tests::workbench::Workbench;
use tests::world::World;

#[test]
fn impossible_settings_are_refused_before_anything_is_done() {
    let bench = Workbench::ingested(&World::rings(6, 1));
    for arguments in [
        ["--max-features", "0"],
        ["--max-image-size", "0"],
        ["--patience", "0"],
        ["--patience", "nan"],
        ["--patience=-1", "--quiet"],
        ["--masks", "nowhere"],
    ] {
        let refused = bench.pose(&arguments);
        assert_eq!(refused.code, Some(1), "{arguments:?}: {}", refused.stderr);
        let said = arguments[1].trim_start_matches("--");
        assert!(
            refused.stderr.to_lowercase().contains(said) || said == "quiet",
            "{arguments:?}: {}",
            refused.stderr
        );
    }
    assert!(bench.calls().is_empty());
    // Endless patience is patience.
    let _ = bench.pose(&["--patience", "1e300"]).with_code(0);
    assert_eq!(bench.poses().with_source("solved").len(), 6);
}

#[test]
fn nothing_is_posed_before_photos_are_taken_in() {
    let bench = Workbench::new(&World::rings(6, 2));
    let refused = bench.pose(&[]).with_code(1);
    assert!(refused.stderr.contains("ingest"), "{}", refused.stderr);
}

/// Photos without a mask are looked at without one, also by generations that leave such photos
/// out when they are given a folder of masks.
#[test]
fn masks_are_given_to_the_photos_that_have_one() {
    let mut world = World::rings(8, 3);
    world.shots[1].name = "sub/DJI_0002.JPG".to_owned();
    let bench = Workbench::ingested(&world);
    let masks = bench.root().join("masks");
    fs::create_dir_all(masks.join("sub")).expect("a temporary folder");
    let mask = |name: &str, width: u32, grey: u8| {
        let picture = GrayImage::from_pixel(width, 60, Luma([grey]));
        let png = ImageFormat::Png;
        let path = masks.join(format!("{name}.png"));
        picture.save_with_format(path, png).expect("a folder");
    };
    for name in ["DJI_0001.JPG", "sub/DJI_0002.JPG"] {
        mask(name, 80, 255);
    }
    let _ = bench.pose(&["--masks", "masks"]).with_code(0);
    let with_masks = bench.room("pose");
    assert_eq!(bench.poses().with_source("solved").len(), 8);
    let n_with_masks = |call: &&Vec<String>| call.contains(&"--ImageReader.mask_path".to_owned());
    let calls = bench.calls();
    let extractions: Vec<_> = calls
        .iter()
        .filter(|c| c[0] == "feature_extractor")
        .collect();
    assert_eq!(extractions.len(), 2);
    assert_eq!(extractions.into_iter().filter(n_with_masks).count(), 1);
    // Another mask makes another result; the same masks the same.
    mask("DJI_0001.JPG", 80, 0);
    let _ = bench.pose(&["--masks", "masks"]).with_code(0);
    let changed = bench.room("pose");
    assert_ne!(changed, with_masks);
    // A mask that does not fit is named, and not the photo.
    mask("DJI_0001.JPG", 40, 0);
    let refused = bench.pose(&["--masks", "masks"]).with_code(1);
    let said = "DJI_0001.JPG.png is of 40 x 60 pixels; DJI_0001.JPG needs a PNG of 80 x 60";
    assert!(refused.stderr.contains(said), "{}", refused.stderr);
    fs::write(masks.join("DJI_0001.JPG.png"), "white").expect("a folder");
    let refused = bench.pose(&["--masks", "masks"]).with_code(1);
    assert!(refused.stderr.contains("is no PNG"), "{}", refused.stderr);
    fs::create_dir(bench.root().join("others")).expect("a folder");
    let refused = bench.pose(&["--masks", "others"]).with_code(1);
    assert!(
        refused.stderr.contains("DJI_0001.JPG.png"),
        "{}",
        refused.stderr
    );
    assert_eq!(bench.room("pose"), changed);
}

/// Every photo with every other, against those that share ground.
#[test]
fn exhaustive_matching_matches_all() {
    let mut world = World::rings(40, 4);
    // A second place 200 m away: the parts share no ground.
    for shot in &mut world.shots[20..] {
        shot.centre_m[0] += 200.0;
        let place = tests::world::place_deg([shot.centre_m[0], shot.centre_m[1]]);
        shot.photo.remove_place();
        shot.photo.place_deg = Some(place);
    }
    let bench = Workbench::ingested(&world);
    let n_pairs = |arguments: &[&str]| {
        let _ = bench.pose(arguments).with_code(0);
        let poses = bench.poses();
        assert_eq!(poses.with_source("solved").len(), 40);
        let pairs = |photo: &&serde_json::Value| photo["verified_pairs"].as_u64().expect("pairs");
        poses.photos().values().map(pairs).sum::<u64>() / 2
    };
    assert_eq!(n_pairs(&["--exhaustive"]), 40 * 39 / 2);
    let by_footprint = n_pairs(&[]);
    assert!((200..450).contains(&by_footprint), "{by_footprint}");
}
