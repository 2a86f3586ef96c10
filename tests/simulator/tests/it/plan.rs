//! The default plan is what it promises: connected, low, complete, in time order.

use nalgebra::{Vector2, Vector3};
use simulator::camera::Camera;
use simulator::dataset::draw_intrinsics;
use simulator::poses::{PlanSpec, PlannedPhoto, default_plan};

fn cameras(spec: &PlanSpec) -> (Vec<PlannedPhoto>, Vec<Camera>) {
    let intrinsics = draw_intrinsics(spec.seed, [1600, 1200]);
    let plan = default_plan(spec, &intrinsics).expect("a plan");
    let cameras = plan
        .iter()
        .map(|photo| Camera {
            intrinsics,
            camera_from_enu: photo.camera_from_enu,
        })
        .collect();
    (plan, cameras)
}

/// Area of the ground seen through a camera's pixels and the part of it another camera sees too,
/// by sampling pixels, each with the ground area it covers. Nothing beyond 8 degrees under the
/// horizon counts.
fn common_share(a: &Camera, b: &Camera) -> f64 {
    let areas = |from: &Camera, other: &Camera| {
        let (w, h) = (
            f64::from(from.intrinsics.width_px),
            f64::from(from.intrinsics.height_px),
        );
        let (mut all, mut shared) = (0.0, 0.0);
        let height = from.camera_from_enu.center_in_enu().z;
        for i in 0..48 {
            for j in 0..36 {
                let pixel = Vector2::new(
                    (f64::from(i) + 0.5) / 48.0 * w,
                    (f64::from(j) + 0.5) / 36.0 * h,
                );
                let Some(ground) = from.ground_from_pixel(&pixel) else {
                    continue;
                };
                let point = Vector3::new(ground.x, ground.y, 0.0);
                let distance = (point - from.camera_from_enu.center_in_enu()).norm();
                if height / distance < 8.0_f64.to_radians().sin() {
                    continue;
                }
                // Ground area of a pixel grows with the cube of the distance over the height.
                let cosine = from.camera_from_enu.transform(&point).z / distance;
                let area = (distance.powi(3) / height) * cosine.powi(3);
                all += area;
                let seen = other
                    .pixel_from_enu(&point)
                    .is_some_and(|p| other.intrinsics.contains(&p));
                shared += if seen { area } else { 0.0 };
            }
        }
        (all, shared)
    };
    let ((all_a, shared_a), (all_b, shared_b)) = (areas(a, b), areas(b, a));
    if all_a < all_b {
        shared_a / all_a
    } else {
        shared_b / all_b
    }
}

fn linked(a: &Camera, b: &Camera) -> bool {
    let axis = |c: &Camera| c.camera_from_enu.axis_in_enu();
    let angle = axis(a).dot(&axis(b)).clamp(-1.0, 1.0).acos().to_degrees();
    let range = |c: &Camera| c.camera_from_enu.center_in_enu().z / -axis(c).z;
    let ratio = range(a) / range(b);
    // A sampled share of 0.47 is a true one of a half, within the sampling.
    angle <= 20.0 && (0.5..=2.0).contains(&ratio) && common_share(a, b) >= 0.47
}

fn components(cameras: &[Camera]) -> usize {
    let mut left: Vec<usize> = (0..cameras.len()).collect();
    let mut n = 0;
    while let Some(first) = left.pop() {
        n += 1;
        let mut front = vec![first];
        while let Some(here) = front.pop() {
            let (next, rest) = left
                .iter()
                .partition(|&&k| linked(&cameras[here], &cameras[k]));
            left = rest;
            front.extend::<Vec<usize>>(next);
        }
    }
    n
}

#[test]
fn every_default_plan_is_connected() {
    for n_photos in [1, 4, 12, 30, 60, 150] {
        for seed in [1, 2, 3, 40, 500] {
            let (_, cameras) = cameras(&PlanSpec::new(seed, n_photos));
            assert_eq!(cameras.len(), n_photos);
            assert_eq!(components(&cameras), 1, "{n_photos} photos, seed {seed}");
        }
    }
}

#[test]
fn other_heights_and_pitches_are_tied_together_too() {
    for (heights, pitches, n) in [
        (vec![20.0, 120.0], vec![30.0, 90.0], 40),
        (vec![60.0], vec![90.0], 9),
        (vec![40.0], vec![45.0], 24),
        (
            vec![20.0, 40.0, 60.0, 80.0, 100.0, 120.0],
            vec![30.0, 45.0, 60.0, 90.0],
            90,
        ),
    ] {
        let spec = PlanSpec {
            heights_m: heights,
            pitches_deg: pitches,
            ..PlanSpec::new(7, n)
        };
        let (_, cameras) = cameras(&spec);
        assert_eq!(components(&cameras), 1, "{spec:?}");
    }
}

#[test]
fn holds_every_height_and_pitch_under_the_ceiling_in_time_order() {
    for n_photos in [13, 60, 150] {
        let (plan, _) = cameras(&PlanSpec::new(11, n_photos));
        for height in [30.0, 60.0, 100.0] {
            for pitch in [30.0, 45.0, 60.0, 90.0] {
                let here = plan.iter().any(|p| {
                    p.nominal_height_m == height && p.nominal_pitch_deg == pitch && !p.link
                });
                assert!(here, "{n_photos}: {height} m, {pitch} degrees");
            }
        }
        for photo in &plan {
            let center = photo.camera_from_enu.center_in_enu();
            assert!((20.0..120.0).contains(&center.z), "{center}");
            let axis = photo.camera_from_enu.axis_in_enu();
            let aim = center + axis * (center.z / -axis.z);
            assert!(aim.x.hypot(aim.y) < 72.0, "aims at {aim}");
        }
        for pair in plan.windows(2) {
            let gap = pair[1].seconds - pair[0].seconds;
            let new_flight = pair[1].flight != pair[0].flight;
            let expected = if new_flight { 240.0..900.0 } else { 3.0..90.0 };
            assert!(expected.contains(&gap), "{gap} s, new flight {new_flight}");
        }
    }
}

#[test]
fn refuses_what_cannot_be_flown() {
    let intrinsics = draw_intrinsics(1, [1600, 1200]);
    for spec in [
        PlanSpec::new(1, 0),
        PlanSpec {
            heights_m: vec![500.0],
            ..PlanSpec::new(1, 5)
        },
        PlanSpec {
            pitches_deg: vec![],
            ..PlanSpec::new(1, 5)
        },
        PlanSpec {
            pitches_deg: vec![f64::NAN],
            ..PlanSpec::new(1, 5)
        },
    ] {
        let error = default_plan(&spec, &intrinsics).expect_err("out of range");
        assert!(error.input_at_fault(), "{error}");
    }
}
