//! What photos say of where they were taken, and say wrongly (cases 1 to 6, 9).

use super::assert_from_priors;
use tests::workbench::{Poses, Workbench};
use tests::world::World;

/// Poses of a world's photos.
fn posed(world: &World) -> (Workbench, Poses) {
    let bench = Workbench::ingested(world);
    let _ = bench.pose(&[]).with_code(0);
    let poses = bench.poses();
    (bench, poses)
}

/// All photos are posed from the images, well.
#[track_caller]
fn assert_solved(bench: &Workbench, poses: &Poses, rms_m: f64) {
    let n = bench.truth.photos.len();
    assert_eq!(poses.with_source("solved").len(), n, "{}", poses.remarks());
    let found_m = poses.place_rms_m(&bench.truth);
    assert!(found_m < rms_m, "{found_m}");
}

/// Case 1: matched widely, posed from the images, and said so.
#[test]
fn photos_without_gps_are_posed_from_the_images() {
    let mut world = World::rings(24, 1);
    let without = [0, 9, 10, 23];
    for idx in without {
        world.shots[idx].photo.remove_place();
        world.shots[idx].photo.gps_time = None;
    }
    let (bench, poses) = posed(&world);
    assert_solved(&bench, &poses, 0.6);
    let remarks = poses.remarks();
    for (idx, name) in world.names().iter().enumerate() {
        assert_eq!(
            remarks.contains(name),
            without.contains(&idx),
            "{name}: {remarks}"
        );
    }
    assert!(
        remarks.contains("4 photos without a usable GPS position"),
        "{remarks}"
    );
    // Each was given many partners.
    for idx in without {
        let pairs = poses.photo(&world.names()[idx])["verified_pairs"].as_u64();
        assert!(pairs.expect("a number") >= 15, "{pairs:?}");
    }
}

/// Case 2: nothing can be placed in metres, and no time is spent on finding that out.
#[test]
fn without_any_gps_there_is_no_metric_frame() {
    let mut world = World::rings(12, 2);
    for shot in &mut world.shots {
        shot.photo.remove_place();
    }
    let bench = Workbench::ingested(&world);
    let done = bench.pose(&[]).with_code(0);
    assert!(done.stdout.contains("no metric frame"), "{}", done.stdout);
    assert!(bench.calls().is_empty());
    let poses = bench.poses();
    assert!(poses.json["origin"].is_null());
    assert_eq!(poses.json["verdict"]["level"], "bad");
    for (name, photo) in poses.photos() {
        assert!(photo["pose"].is_null(), "{name}");
        let reason = photo["reason"].as_str().expect("a reason");
        assert!(reason.contains("GPS position"), "{name}: {reason}");
    }
}

/// Case 3: found against the others, named for what they are, and posed from the images.
#[test]
fn places_on_another_continent_are_named_and_not_used() {
    let mut world = World::rings(18, 3);
    let mut set = |idx: usize, change: fn([f64; 2]) -> [f64; 2]| {
        let photo = &mut world.shots[idx].photo;
        let place = change(photo.place_deg.expect("a position"));
        photo.remove_place();
        photo.place_deg = Some(place);
    };
    set(2, |[latitude, longitude]| [latitude, -longitude]);
    set(5, |[latitude, longitude]| [-latitude, longitude]);
    set(8, |[latitude, longitude]| [longitude, latitude]);
    set(11, |[latitude, longitude]| [latitude + 0.3, longitude]);
    let (bench, poses) = posed(&world);
    assert_solved(&bench, &poses, 0.8);
    let remarks = poses.remarks();
    for said in [
        "east and west seem exchanged",
        "north and south seem exchanged",
        "latitude and longitude seem exchanged",
        "33 km from the other photos",
    ] {
        assert!(remarks.contains(said), "{said}: {remarks}");
    }
}

/// Case 4: the same place on all photos is none; coarse places count for what they are worth.
#[test]
fn identical_and_truncated_places_are_not_taken_at_their_word() {
    let mut same = World::rings(12, 4);
    for shot in &mut same.shots {
        shot.photo.remove_place();
        shot.photo.place_deg = Some([48.137_4, 11.575_5]);
    }
    let (_, poses) = posed(&same);
    assert_from_or_nothing(&poses);
    assert!(
        poses.remarks().contains("the same GPS position"),
        "{}",
        poses.remarks()
    );
    let mut coarse = World::rings(24, 5);
    for shot in &mut coarse.shots {
        let place = shot.photo.place_deg.expect("a position");
        shot.photo.remove_place();
        shot.photo.place_deg = Some(place.map(|degrees| (degrees * 1e4).round() / 1e4));
    }
    let (_, poses) = posed(&coarse);
    assert!(
        poses.remarks().contains("rounded to 0.0001"),
        "{}",
        poses.remarks()
    );
    match poses.json["made_by"]["kind"].as_str() {
        Some("priors") => assert_from_priors(&poses, "refused"),
        _ => {
            let sigma = &poses.json["alignment"]["sigma"];
            let shift = sigma["shift_horizontal_m"].as_f64().expect("metres");
            assert!(shift > 1.0, "{sigma}");
        }
    }
}

#[track_caller]
fn assert_from_or_nothing(poses: &Poses) {
    assert_eq!(poses.json["made_by"]["kind"], "priors");
    assert_eq!(poses.json["verdict"]["level"], "bad");
    assert!(poses.with_source("priors").is_empty());
}

/// Case 5: EXIF altitudes below the sea, absolute ones that drift by a hundred metres. Heights are
/// those above take-off.
#[test]
fn wrong_altitudes_do_no_harm_beside_heights_above_take_off() {
    let mut world = World::rings(18, 6);
    for (idx, shot) in world.shots.iter_mut().enumerate() {
        shot.photo.altitude_m = Some(-6.0 - 0.1 * idx as f64);
        let altitude = 317.0 + 6.0 * idx as f64;
        shot.photo
            .set_dji("AbsoluteAltitude", format!("{altitude:+.2}"));
    }
    let (bench, poses) = posed(&world);
    assert_solved(&bench, &poses, 0.6);
    assert_eq!(poses.json["heights"], "above_take_off");
    let ratio = poses.json["alignment"]["height_ratio"]
        .as_f64()
        .expect("a ratio");
    assert!((0.97..1.03).contains(&ratio), "{ratio}");
}

/// With nothing but wrong altitudes, places are as good as before, and heights are above the
/// ground.
#[test]
fn without_heights_above_take_off_the_ground_is_zero() {
    for absolute in [true, false] {
        let mut world = World::rings(18, 7);
        world.start_flight(9, 8.0, [0.5, 0.2], 0.0);
        for (idx, shot) in world.shots.iter_mut().enumerate() {
            shot.photo.remove_dji("RelativeAltitude");
            shot.photo.remove_dji("AbsoluteAltitude");
            // The barometer was set anew between the flights.
            let step = if idx < 9 { 317.0 } else { 424.0 };
            let altitude = step + shot.centre_m[2];
            shot.photo.altitude_m = absolute.then_some(altitude);
        }
        let names = world.names();
        let mut bench = Workbench::ingested(&world);
        bench.script.models = vec![tests::solver::Model::of(&names[..17])];
        let _ = bench.pose(&[]).with_code(0);
        let poses = bench.poses();
        assert_eq!(poses.json["datum"], "ground");
        assert_eq!(poses.with_source("solved").len(), 17);
        // The ground is at zero, and the photo left out is at the height of the others.
        let height = poses.json["alignment"]["height_above_ground_m"].as_f64();
        assert!(
            (28.0..32.0).contains(&height.expect("metres")),
            "{height:?}"
        );
        let errors = poses.place_errors(&bench.truth);
        for (name, error) in &errors {
            let limit_m = if *name == names[17] { 16.0 } else { 1.0 };
            assert!(error.norm() < limit_m, "{name}: {error}");
        }
    }
}

/// Case 6: a height that is missing on some photos is unknown there, not zero.
#[test]
fn missing_and_zero_heights_are_unknown() {
    let mut world = World::rings(18, 8);
    for idx in [2, 3] {
        world.shots[idx].photo.remove_dji("RelativeAltitude");
    }
    for idx in [7, 12] {
        world.shots[idx].photo.set_dji("RelativeAltitude", "+0.00");
    }
    let (bench, poses) = posed(&world);
    assert_solved(&bench, &poses, 0.6);
    let names = world.names();
    for idx in [2, 3, 7, 12] {
        let residual = &poses.photo(&names[idx])["vertical_residual_m"];
        assert!(residual.is_null(), "{}: {residual}", names[idx]);
    }
    assert!(
        poses.remarks().contains("zero on 2 of 16"),
        "{}",
        poses.remarks()
    );
    // Without a solver these photos get the height of the others, and a wide sigma.
    let _ = bench.pose(&["--engine", "priors"]).with_code(0);
    let poses = bench.poses();
    assert_eq!(poses.with_source("priors").len(), 18);
    let photo = poses.photo(&names[2]);
    assert!(
        photo["reason"]
            .as_str()
            .is_some_and(|r| r.contains("height")),
        "{photo}"
    );
    let sigma = photo["pose"]["sigma"]["vertical_m"]
        .as_f64()
        .expect("metres");
    assert!(sigma > 5.0, "{sigma}");
}

/// Case 9: what the two flights' receivers differ by is found, not averaged.
#[test]
fn flights_keep_their_own_offsets() {
    let mut world = World::rings(30, 9);
    world.start_flight(15, 12.0, [2.5, -1.5], 4.0);
    let (bench, poses) = posed(&world);
    assert_solved(&bench, &poses, 0.7);
    let offsets = poses.json["alignment"]["flight_offsets_m"].as_array();
    let offsets = offsets.expect("offsets");
    assert_eq!(offsets.len(), 2);
    let step = |axis: usize| {
        let of = |flight: usize| offsets[flight][axis].as_f64().expect("metres");
        of(1) - of(0)
    };
    // What GPS itself may be off by over such minutes is not laid to the flights.
    assert!((0.2..2.5).contains(&step(0)), "{offsets:?}");
    assert!((-1.5..-0.1).contains(&step(1)), "{offsets:?}");
    assert!((-4.6..-3.2).contains(&step(2)), "{offsets:?}");
}

/// Fixed RTK: weighed for what it is, and good to centimetres.
#[test]
fn rtk_positions_are_believed() {
    let mut world = World::rings(24, 10);
    for shot in &mut world.shots {
        let [east, north, up] = shot.centre_m;
        let place = tests::world::place_deg([east, north]);
        shot.photo.place_deg = Some(place);
        shot.photo
            .set_dji("GpsLatitude", format!("{:+.9}", place[0]));
        shot.photo
            .set_dji("GpsLongitude", format!("{:+.9}", place[1]));
        shot.photo.set_dji("RelativeAltitude", format!("{up:+.2}"));
        shot.photo.set_dji("RtkFlag", "50");
        for (name, std_m) in [
            ("RtkStdLon", "0.011"),
            ("RtkStdLat", "0.012"),
            ("RtkStdHgt", "0.024"),
        ] {
            shot.photo.set_dji(name, std_m);
        }
    }
    let (bench, poses) = posed(&world);
    assert_solved(&bench, &poses, 0.06);
    let gate = poses.gate("horizontal residual");
    assert!(
        gate["good"]
            .as_str()
            .is_some_and(|text| text.contains("RTK")),
        "{gate}"
    );
    let shift = poses.json["alignment"]["sigma"]["shift_horizontal_m"].as_f64();
    assert!(shift.expect("metres") < 0.1, "{shift:?}");
}
