//! Flights told apart, times put in order (cases 1, 5, 9, 10).

use super::{flight_sizes, photos};
use tests::workbench::Workbench;
use tests::world::World;

#[test]
fn two_batteries_in_one_folder_are_two_flights() {
    let mut world = World::rings(12, 1);
    world.start_flight(7, 10.0, [1.0, -0.5], 3.0);
    let bench = Workbench::ingested(&world);
    assert_eq!(flight_sizes(&bench), [7, 5]);
    let began = &bench.scene_json()["flights"][1]["began_with"];
    assert!(
        began.as_str().expect("a reason").contains("pause"),
        "{began}"
    );
}

#[test]
fn a_new_take_off_without_a_pause_is_a_new_flight() {
    let mut world = World::rings(12, 2);
    world.start_flight(7, 0.0, [0.0, 0.0], 8.0);
    let bench = Workbench::ingested(&world);
    assert_eq!(flight_sizes(&bench), [7, 5]);
    let began = &bench.scene_json()["flights"][1]["began_with"];
    assert!(
        began.as_str().expect("a reason").contains("step of 8"),
        "{began}"
    );
}

#[test]
fn drifting_or_missing_altitudes_make_no_flights() {
    let mut world = World::rings(12, 3);
    for (idx, shot) in world.shots.iter_mut().enumerate() {
        let altitude = 317.0 + 9.7 * idx as f64 + shot.centre_m[2];
        shot.photo
            .set_dji("AbsoluteAltitude", format!("{altitude:+.2}"));
    }
    world.shots[3].photo.remove_dji("RelativeAltitude");
    world.shots[5].photo.set_dji("RelativeAltitude", "+0.00");
    world.shots[7].photo.remove_dji("AbsoluteAltitude");
    assert_eq!(flight_sizes(&Workbench::ingested(&world)), [12]);
}

/// GPS lost on a few photos, and with it their exact time: the camera's clock, two hours off in an
/// unknown zone, puts them where they belong.
#[test]
fn photos_without_gps_stay_in_their_flight_and_in_order() {
    let mut world = World::rings(12, 4);
    for idx in [0, 4, 5, 11] {
        world.shots[idx].photo.remove_place();
        world.shots[idx].photo.gps_time = None;
    }
    let bench = Workbench::ingested(&world);
    assert_eq!(flight_sizes(&bench), [12]);
    let scene = bench.scene_json();
    let listed = scene["photos"].as_array().expect("a list of photos");
    let names: Vec<_> = listed
        .iter()
        .map(|photo| photo["names"][0].clone())
        .collect();
    assert_eq!(names, world.names());
    let minutes = scene["intervals"]["capture_minutes"].as_f64();
    assert!(
        (minutes.expect("a number") - 55.0 / 60.0).abs() < 0.01,
        "{minutes:?}"
    );
}

#[test]
fn two_drones_at_once_are_two_flights_each_in_its_own_order() {
    let mut world = World::rings(12, 5);
    for shot in world.shots.iter_mut().skip(1).step_by(2) {
        shot.photo.set_dji("DroneSerialNumber", "D0002");
        shot.photo.set_dji("CameraSerialNumber", "C0002");
    }
    let bench = Workbench::ingested(&world);
    assert_eq!(flight_sizes(&bench), [6, 6]);
    let median = bench.scene_json()["intervals"]["median_s"].as_f64();
    assert!(
        (median.expect("a number") - 10.0).abs() < 1e-9,
        "{median:?}"
    );
}

/// Without serial numbers, two models of drones are still two drones.
#[test]
fn drones_without_serial_numbers_are_told_apart_by_model() {
    let mut world = World::rings(12, 6);
    for (idx, shot) in world.shots.iter_mut().enumerate() {
        shot.photo.remove_dji("DroneSerialNumber");
        shot.photo.remove_dji("CameraSerialNumber");
        if idx % 2 == 1 {
            shot.photo.model = Some("TEST2".to_owned());
        }
    }
    assert_eq!(flight_sizes(&Workbench::ingested(&world)), [6, 6]);
}

#[test]
fn equal_and_reset_clocks_lose_no_photo() {
    let mut world = World::rings(12, 7);
    for shot in &mut world.shots[..6] {
        shot.photo.gps_time = Some("2026:05:12 08:00:00".to_owned());
        shot.photo.local_time = Some("2026:05:12 10:00:00".to_owned());
    }
    for shot in &mut world.shots[9..] {
        // A camera whose battery was out.
        shot.photo.gps_time = None;
        shot.photo.local_time = Some("2000:01:01 00:00:07".to_owned());
    }
    let bench = Workbench::ingested(&world);
    assert_eq!(photos(&bench).len(), 12);
    assert_eq!(flight_sizes(&bench).iter().sum::<u64>(), 12);
    assert!(
        flight_sizes(&bench).contains(&9),
        "{:?}",
        flight_sizes(&bench)
    );
}
