//! Nanoseconds per projection, unprojection, footprint and overlap: the inner loops of pairing,
//! anchoring and planning. Prints the median of a few runs; nothing is asserted.

use calibration::camera::{CameraModel, Lens, Pixel};
use calibration::frames::Enu;
use calibration::ground::{Footprint, GroundView, ViewLimits, overlap};
use calibration::{Attitude, Metres, Point, Rigid, profiles};
use std::hint::black_box;
use std::time::Instant;

const RUNS: usize = 9;

/// Calls `work` on numbers from 0 to `count` and prints the median time of one call.
fn measure(name: &str, count: u32, mut work: impl FnMut(u32)) {
    let mut times: Vec<f64> = (0..RUNS)
        .map(|_| {
            let start = Instant::now();
            (0..count).for_each(&mut work);
            start.elapsed().as_secs_f64() * 1e9 / f64::from(count)
        })
        .collect();
    times.sort_by(f64::total_cmp);
    println!("{name:<44} {:>12.1} ns", times[RUNS / 2]);
}

fn cameras() -> [(&'static str, CameraModel); 4] {
    let with = |lens| CameraModel {
        lens,
        ..CameraModel::pinhole(5280, 3956, 3750.0)
    };
    let mild = Lens::BrownConrady {
        k1: -0.11,
        k2: 0.015,
        p1: 0.001,
        p2: -0.001,
        k3: -0.027,
    };
    let fisheye = Lens::Fisheye {
        k1: 0.03,
        k2: -0.01,
        k3: 0.004,
        k4: -0.001,
    };
    let strong = profiles::by_id("dji-fc6360").expect("shipped").camera;
    [
        ("pinhole", with(Lens::PINHOLE)),
        ("mild barrel", with(mild)),
        ("strong barrel", strong.scaled_to(5280, 4290)),
        ("fisheye", with(fisheye)),
    ]
}

fn view(camera: CameraModel, index: u32) -> GroundView {
    let step = f64::from(index);
    let pitch = [-90.0, -60.0, -45.0, -30.0][index as usize % 4];
    let rotation = Attitude::from_degrees(step * 37.0, pitch, 0.0).camera_from_enu();
    let centre = Point::<Enu>::new(step * 5.0 % 200.0, step * 11.0 % 150.0, 60.0);
    let camera_from_enu = Rigid::from_centre(rotation, centre);
    GroundView::new(camera, camera_from_enu, Metres(0.0))
}

fn main() {
    for (name, camera) in cameras() {
        let pixel = |index: u32| Pixel::new(f64::from(index % 5280), f64::from(index % 3956));
        measure(&format!("{name}: ray from pixel"), 200_000, |index| {
            black_box(camera.ray_from_pixel(black_box(pixel(index))));
        });
        measure(&format!("{name}: pixel from point"), 200_000, |index| {
            let x = f64::from(index % 1000) / 1000.0 - 0.5;
            black_box(camera.pixel_from_camera(black_box(Point::new(x, 0.3, 1.0))));
        });
        let oblique = view(camera, 2);
        measure(&format!("{name}: ground with Jacobians"), 50_000, |index| {
            black_box(oblique.ground_point(black_box(pixel(index))));
        });
        let limits = ViewLimits::for_pairs(Metres(60.0));
        measure(&format!("{name}: footprint"), 400, |index| {
            black_box(view(camera, index).footprint(&limits));
        });
    }
    let camera = CameraModel::pinhole(5280, 3956, 3750.0);
    let limits = ViewLimits::for_pairs(Metres(60.0));
    let footprints: Vec<Footprint> = (0..150)
        .filter_map(|index| view(camera, index).footprint(&limits))
        .collect();
    measure("overlap of one pair", 20_000, |index| {
        let index = index as usize;
        let (a, b) = (
            index % footprints.len(),
            index / footprints.len() % footprints.len(),
        );
        black_box(overlap(&footprints[a], &footprints[b]));
    });
}
