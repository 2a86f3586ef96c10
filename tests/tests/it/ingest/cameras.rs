//! Cameras told apart and their priors (cases 14 and 18).

use serde_json::Value;
use tests::workbench::Workbench;
use tests::world::{FOCAL_PX, World};

/// Width, height, focal length and number of photos per camera, sorted.
fn cameras(bench: &Workbench) -> Vec<(u64, u64, f64, u64)> {
    let scene = bench.scene_json();
    let list = scene["cameras"].as_array().expect("a list of cameras");
    let number = |value: &Value| value.as_u64().expect("a number");
    let mut found: Vec<_> = list
        .iter()
        .map(|camera| {
            let prior = &camera["prior"];
            (
                number(&prior["width"]),
                number(&prior["height"]),
                prior["fx"].as_f64().expect("a number"),
                number(&camera["n_photos"]),
            )
        })
        .collect();
    found.sort_by(|a, b| a.partial_cmp(b).expect("finite"));
    found
}

#[track_caller]
fn assert_cameras(bench: &Workbench, expected: &[(u64, u64, f64, u64)]) {
    let found = cameras(bench);
    let agree = found.len() == expected.len()
        && found
            .iter()
            .zip(expected)
            .all(|(f, e)| (f.0, f.1, f.3) == (e.0, e.1, e.3) && (f.2 / e.2 - 1.0).abs() < 0.002);
    assert!(agree, "found {found:?}, expected {expected:?}");
}

#[test]
fn bodies_lenses_and_sizes_are_cameras_of_their_own() {
    let mut world = World::rings(12, 1);
    for shot in &mut world.shots[4..7] {
        shot.photo.size_px = [100, 75];
        shot.photo.focal_mm = Some(12.0);
        shot.photo.focal_px = Some(90.0);
        shot.photo.set_dji("CameraSerialNumber", "C0002");
        shot.photo.set_dji("DroneSerialNumber", "D0002");
    }
    for shot in &mut world.shots[7..9] {
        // 16:9 cut out of 4:3.
        shot.photo.size_px = [80, 45];
    }
    for shot in &mut world.shots[9..] {
        shot.photo.orientation = Some(6);
    }
    let bench = Workbench::ingested(&world);
    assert_cameras(
        &bench,
        &[
            (60, 80, FOCAL_PX, 3),
            (80, 45, FOCAL_PX, 2),
            (80, 60, FOCAL_PX, 4),
            (100, 75, 90.0, 3),
        ],
    );
}

/// A photo that lost its XMP, its focal length or the statement that there was no zoom is still of
/// the one camera that there is.
#[test]
fn photos_that_say_less_do_not_become_cameras_of_their_own() {
    let mut world = World::rings(12, 2);
    for shot in &mut world.shots {
        shot.photo.body_serial = Some("B0001".to_owned());
    }
    world.shots[2].photo.remove_dji("CameraSerialNumber");
    world.shots[3].photo.xmp.clear();
    world.shots[4].photo.xmp.clear();
    world.shots[4].photo.body_serial = None;
    world.shots[5].photo.focal_mm = None;
    let bench = Workbench::ingested(&world);
    assert_cameras(&bench, &[(80, 60, FOCAL_PX, 12)]);
    assert_eq!(super::flight_sizes(&bench), [12]);
}
