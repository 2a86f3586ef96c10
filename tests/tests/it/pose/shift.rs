//! The alignment's common shift, on rendered metadata (GPS errors that go together over minutes, a
//! height error per flight): as large as the alignment says it is, no larger and no smaller.

use nalgebra::Vector3;
use serde_json::Value;
use std::process::Command;
use tests::binaries::program;
use tests::workbench::Workbench;
use tests::world::{Truth, World};

const SEEDS: u32 = 5;

/// Mean of found minus true camera centres over the predicted sigma: east, north, up.
fn shift_in_sigmas(seed: u32) -> Vector3<f64> {
    let mut bench = Workbench::new(&World::rings(4, 1));
    let rendered = bench.root().join("rendered");
    let status = Command::new(program("simulator"))
        .args(["render", "--photos", "60", "--size", "88x66"])
        // What a position without a stated accuracy is taken to be good for.
        .args(["--gps-sigma", "3"])
        .args(["--seed", &seed.to_string(), "--out"])
        .arg(&rendered)
        .output()
        .expect("the simulator starts");
    assert!(status.status.success(), "{status:?}");
    let text = std::fs::read_to_string(rendered.join("truth.json")).expect("the truth");
    bench.truth = serde_json::from_str::<Truth>(&text).expect("truth/1");
    let _ = bench.run(&["ingest", "rendered", "scene"]).with_code(0);
    let _ = bench.pose(&[]).with_code(0);

    let poses = bench.poses();
    let truth: Value = serde_json::from_str(&text).expect("JSON");
    let between = origin_from_true_origin(&poses.json["origin"], &truth["site"]["origin"]);
    assert_eq!(
        poses.with_source("solved").len(),
        60,
        "photos posed from images"
    );
    let sigma = |key: &str| {
        poses.json["alignment"]["sigma"][key]
            .as_f64()
            .expect("a number")
    };
    let horizontal_m = sigma("shift_horizontal_m");
    let shift = poses.common_error(&bench.truth) - between;
    println!(
        "seed {seed}: shift {:+.2} {:+.2} m (sigma {horizontal_m:.2}), {:+.2} m up (sigma {:.2})",
        shift.x,
        shift.y,
        shift.z,
        sigma("shift_vertical_m")
    );
    Vector3::new(
        shift.x / horizontal_m,
        shift.y / horizontal_m,
        shift.z / sigma("shift_vertical_m"),
    )
}

/// Where the true origin lies in the scene's frame, on the map, metres (north and east radii of the
/// ellipsoid; a few metres apart, so flat is exact enough). Heights of both are above take-off.
fn origin_from_true_origin(found: &Value, truth: &Value) -> Vector3<f64> {
    let deg = |origin: &Value, key: &str| origin[key].as_f64().expect("degrees");
    let latitude = deg(truth, "latitude_deg").to_radians();
    let (a, e2) = (6_378_137.0, 0.006_694_38);
    let w = 1.0 - e2 * latitude.sin().powi(2);
    let (meridian, normal) = (a * (1.0 - e2) / w.powf(1.5), a / w.sqrt());
    let difference = |key| (deg(truth, key) - deg(found, key)).to_radians();
    Vector3::new(
        difference("longitude_deg") * normal * latitude.cos(),
        difference("latitude_deg") * meridian,
        0.0,
    )
}

#[test]
fn the_common_shift_is_what_the_alignment_says() {
    let shifts: Vec<Vector3<f64>> = (1..=SEEDS).map(shift_in_sigmas).collect();
    let all: Vec<f64> = shifts.iter().flat_map(|s| [s.x, s.y, s.z]).collect();
    for shift in &shifts {
        assert!(shift.abs().max() < 3.0, "{shift:?} sigmas");
    }
    // Mean square of 15 standard normal values: within these with a probability of 99.8 %.
    let mean_square = all.iter().map(|s| s * s).sum::<f64>() / all.len() as f64;
    println!("mean square {mean_square:.2}");
    assert!(
        (0.25..2.5).contains(&mean_square),
        "shifts of {mean_square:.2} squared sigmas: the alignment is too sure or too shy"
    );
}
