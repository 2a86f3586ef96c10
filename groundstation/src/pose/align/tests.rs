//! Alignment against worlds whose truth is known.

use super::*;
use crate::seeded;
use calibration::Attitude;
use calibration::frames::Solution;
use nalgebra::UnitQuaternion;
use rand_chacha::ChaCha8Rng;

/// A block of photos and how wrong what they say is.
struct World {
    centres: Vec<Vector3<f64>>,
    attitudes: Vec<Attitude>,
    flights: Vec<usize>,
    gps_sigma_m: f64,
    height_sigma_m: f64,
    gimbal_sigma_deg: f64,
    flight_offsets_m: Vec<Vector3<f64>>,
}

impl World {
    /// Photos on rings at three heights, looking inwards at 30 to 90 degrees down.
    fn rings(n: usize) -> Self {
        let mut centres = Vec::new();
        let mut attitudes = Vec::new();
        for idx in 0..n {
            let around = idx as f64 * 0.7;
            let height = [30.0, 60.0, 100.0][idx % 3];
            let radius = 20.0 + 10.0 * (idx % 5) as f64;
            centres.push(Vector3::new(
                radius * around.sin(),
                radius * around.cos(),
                height,
            ));
            let pitch = [-30.0, -45.0, -60.0, -90.0][idx % 4];
            attitudes.push(Attitude::from_degrees(
                around.to_degrees() + 180.0,
                pitch,
                0.0,
            ));
        }
        Self::new(centres, attitudes)
    }

    fn line(n: usize) -> Self {
        let centres = (0..n)
            .map(|i| Vector3::new(8.0 * i as f64, 0.0, 60.0))
            .collect();
        let attitudes = (0..n)
            .map(|_| Attitude::from_degrees(90.0, -75.0, 0.0))
            .collect();
        Self::new(centres, attitudes)
    }

    fn new(centres: Vec<Vector3<f64>>, attitudes: Vec<Attitude>) -> Self {
        let flights = vec![0; centres.len()];
        Self {
            centres,
            attitudes,
            flights,
            gps_sigma_m: 1.5,
            height_sigma_m: 0.5,
            gimbal_sigma_deg: 1.0,
            flight_offsets_m: vec![Vector3::zeros()],
        }
    }

    /// The truth as a solver in its own frame would have it, with positions that say what GPS
    /// says: errors that decay over two minutes, eight seconds between photos.
    fn sightings(&self, rng: &mut ChaCha8Rng, truth: &Similarity<Enu, Solution>) -> Vec<Sighting> {
        let keep = (-8.0_f64 / 120.0).exp();
        let fresh = (1.0 - keep * keep).sqrt();
        let mut drift = Vector3::from_fn(|_, _| seeded::normal(rng));
        let solution_from_enu = truth.inverse();
        (0..self.centres.len())
            .map(|idx| {
                drift = drift * keep + Vector3::from_fn(|_, _| seeded::normal(rng)) * fresh;
                let offset = self.flight_offsets_m[self.flights[idx]];
                let measured = self.centres[idx] + offset;
                let attitude = self.attitudes[idx];
                let camera_from_solution = attitude.camera_from_enu() * truth.rotation;
                let mut wobble = || seeded::normal(rng) * self.gimbal_sigma_deg.to_radians();
                Sighting {
                    centre_in_solution: solution_from_enu
                        * Point::<Enu>::from_vector(self.centres[idx]),
                    camera_from_solution,
                    measured_rotation: Some(
                        Attitude {
                            yaw: attitude.yaw + Radians(wobble()),
                            pitch: attitude.pitch + Radians(wobble()),
                            roll: Radians(wobble()),
                        }
                        .camera_from_enu(),
                    ),
                    horizontal: Some(Horizontal {
                        east_m: measured.x + drift.x * self.gps_sigma_m,
                        north_m: measured.y + drift.y * self.gps_sigma_m,
                        sigma_m: self.gps_sigma_m,
                    }),
                    height: Some(Height {
                        height_m: measured.z + drift.z * self.height_sigma_m,
                        sigma_m: self.height_sigma_m,
                    }),
                    flight: self.flights[idx],
                    time_s: Some(8.0 * idx as f64),
                }
            })
            .collect()
    }
}

fn random_similarity(rng: &mut ChaCha8Rng) -> Similarity<Enu, Solution> {
    let axis = Vector3::from_fn(|_, _| seeded::normal(rng));
    let rotation = UnitQuaternion::from_scaled_axis(axis * 2.0);
    let translation = Vector3::from_fn(|_, _| 30.0 * seeded::normal(rng));
    Similarity::new(
        2.0 + 6.0 * seeded::unit(rng),
        Rotation::from_quaternion(rotation),
        translation,
    )
    .expect("a positive scale")
}

/// Shift of the block's centre, scale, yaw and tilt: found minus true.
struct Error {
    shift: Vector3<f64>,
    scale: f64,
    yaw: f64,
    tilt: f64,
}

fn error_of(
    world: &World,
    found: &Similarity<Enu, Solution>,
    truth: &Similarity<Enu, Solution>,
) -> Error {
    let centre = world.centres.iter().sum::<Vector3<f64>>() / world.centres.len() as f64;
    let in_solution = truth.inverse() * Point::<Enu>::from_vector(centre);
    let turn = (found.rotation * truth.rotation.inverse())
        .quaternion
        .scaled_axis();
    Error {
        shift: (*found * in_solution).vector - centre,
        scale: found.scale() / truth.scale() - 1.0,
        yaw: turn.z,
        tilt: turn.xy().norm(),
    }
}

fn run(world: &World, seed: u64) -> (Alignment, Error) {
    let mut rng = seeded::rng(seed, "test", "align");
    let truth = random_similarity(&mut rng);
    let sightings = world.sightings(&mut rng, &truth);
    let alignment = align(&sightings, &AlignConfig::default()).expect("a metric frame");
    let error = error_of(world, &alignment.enu_from_solution, &truth);
    (alignment, error)
}

#[test]
fn without_noise_the_truth_is_found_to_the_last_digits() {
    let mut world = World::rings(24);
    (
        world.gps_sigma_m,
        world.height_sigma_m,
        world.gimbal_sigma_deg,
    ) = (1e-6, 1e-6, 0.0);
    let (_, error) = run(&world, 1);
    assert!(
        error.shift.norm() < 1e-5 && error.scale.abs() < 1e-6,
        "{:?}",
        error.shift
    );
    assert!(error.yaw.abs() < 1e-6 && error.tilt < 1e-6);
}

/// Errors divided by their predicted sigmas have an rms near one: too small a sigma is a lie, too
/// large a sigma is useless.
#[test]
fn predicted_sigmas_are_honest_from_both_sides() {
    let world = World::rings(60);
    let n = 60;
    let (mut shift, mut up, mut scale, mut yaw, mut tilt) = (0.0, 0.0, 0.0, 0.0, 0.0);
    for seed in 0..n {
        let (alignment, error) = run(&world, seed);
        let sigma = alignment.sigma;
        shift += error.shift.xy().norm_squared() / (2.0 * sigma.shift_horizontal_m.powi(2));
        up += (error.shift.z / sigma.shift_vertical_m).powi(2);
        scale += (error.scale / sigma.scale).powi(2);
        yaw += (error.yaw / sigma.yaw_rad).powi(2);
        tilt += error.tilt.powi(2) / (2.0 * sigma.tilt_rad.powi(2));
    }
    for (name, sum) in [
        ("shift", shift),
        ("up", up),
        ("scale", scale),
        ("yaw", yaw),
        ("tilt", tilt),
    ] {
        let rms = (sum / f64::from(n as u32)).sqrt();
        // The tilt's sigma holds a share for the gimbals' common error, which this world has not.
        let low = if name == "tilt" { 0.15 } else { 0.65 };
        assert!(
            (low..1.35).contains(&rms),
            "{name}: error over sigma has rms {rms:.2}"
        );
    }
}

#[test]
fn a_line_takes_its_vertical_from_the_gimbals() {
    let (alignment, error) = run(&World::line(20), 3);
    assert!(alignment.tilt_from_gimbal);
    assert!(error.tilt.to_degrees() < 1.5, "{}", error.tilt.to_degrees());
    assert!(alignment.sigma.tilt_rad.to_degrees() > 0.3);
}

#[test]
fn a_line_without_gimbal_angles_has_no_vertical() {
    let mut rng = seeded::rng(4, "test", "line");
    let truth = random_similarity(&mut rng);
    let mut world = World::line(12);
    world.gps_sigma_m = 1e-9;
    world.height_sigma_m = 1e-9;
    let mut sightings = world.sightings(&mut rng, &truth);
    for s in &mut sightings {
        s.measured_rotation = None;
    }
    let outcome = align(&sightings, &AlignConfig::default());
    assert!(
        matches!(outcome, Err(AlignError::NoVertical)),
        "{outcome:?}"
    );
}

#[test]
fn a_third_of_wild_positions_does_not_move_the_block() {
    let world = World::rings(30);
    let mut rng = seeded::rng(5, "test", "wild");
    let truth = random_similarity(&mut rng);
    let mut sightings = world.sightings(&mut rng, &truth);
    for s in sightings.iter_mut().step_by(3) {
        let h = s.horizontal.as_mut().expect("every photo has a position");
        h.east_m += 500.0;
        h.north_m -= 2_000.0;
    }
    let alignment = align(&sightings, &AlignConfig::default()).expect("two thirds agree");
    let error = error_of(&world, &alignment.enu_from_solution, &truth);
    assert!(error.shift.norm() < 3.0, "{}", error.shift);
    assert!(alignment.residuals.iter().step_by(3).all(|r| !r.inlier));
    assert!(alignment.residuals.iter().filter(|r| r.inlier).count() >= 18);
}

#[test]
fn chance_agreement_of_a_few_is_refused() {
    let world = World::rings(18);
    let mut rng = seeded::rng(6, "test", "chance");
    let truth = random_similarity(&mut rng);
    let mut sightings = world.sightings(&mut rng, &truth);
    for (idx, s) in sightings.iter_mut().enumerate().skip(4) {
        let h = s.horizontal.as_mut().expect("every photo has a position");
        h.east_m += 5_000.0 * (idx as f64).sin();
        h.north_m += 5_000.0 * (idx as f64 * 1.7).cos();
    }
    let outcome = align(&sightings, &AlignConfig::default());
    assert!(
        matches!(outcome, Err(AlignError::NoAgreement { .. })),
        "{outcome:?}"
    );
}

#[test]
fn flights_with_their_own_height_reference_are_told_apart() {
    let mut world = World::rings(40);
    world.flights = (0..40).map(|i| usize::from(i >= 20)).collect();
    world.flight_offsets_m = vec![Vector3::new(0.3, 0.2, 0.4), Vector3::new(-0.3, -0.2, -2.6)];
    (world.gps_sigma_m, world.height_sigma_m) = (0.05, 0.05);
    let (alignment, error) = run(&world, 7);
    let step = alignment.flight_offsets_m[0] - alignment.flight_offsets_m[1];
    assert!((step - Vector3::new(0.6, 0.4, 3.0)).norm() < 0.3, "{step}");
    assert!(error.scale.abs() < 0.005);
}

#[test]
fn positions_that_cannot_carry_a_frame_are_refused_with_the_reason() {
    let world = World::rings(10);
    let mut rng = seeded::rng(8, "test", "refused");
    let truth = random_similarity(&mut rng);
    let mut same = world.sightings(&mut rng, &truth);
    for s in &mut same {
        s.horizontal = Some(Horizontal {
            east_m: 1.0,
            north_m: 2.0,
            sigma_m: 1.5,
        });
        s.height = None;
    }
    assert!(matches!(
        align(&same, &AlignConfig::default()),
        Err(AlignError::NoSpread { .. })
    ));
    let mut few = world.sightings(&mut rng, &truth);
    for s in few.iter_mut().skip(2) {
        s.horizontal = None;
    }
    assert_eq!(
        align(&few, &AlignConfig::default()).expect_err("two positions only"),
        AlignError::TooFewPositions { found: 2 }
    );
}

#[test]
fn photos_turned_by_a_viewer_do_not_tilt_the_block() {
    let world = World::rings(36);
    let mut rng = seeded::rng(9, "test", "turned");
    let truth = random_similarity(&mut rng);
    let mut sightings = world.sightings(&mut rng, &truth);
    let half_turn = UnitQuaternion::from_axis_angle(&Vector3::z_axis(), std::f64::consts::PI);
    for s in sightings.iter_mut().step_by(3) {
        let turned = half_turn * s.camera_from_solution.quaternion;
        s.camera_from_solution = Rotation::from_quaternion(turned);
    }
    let alignment = align(&sightings, &AlignConfig::default()).expect("positions agree");
    let error = error_of(&world, &alignment.enu_from_solution, &truth);
    assert!(error.tilt.to_degrees() < 1.5, "{}", error.tilt.to_degrees());
    for (idx, offset) in alignment.gimbal_offsets.iter().enumerate() {
        let turn = offset.expect("has an attitude").in_image.abs().to_degrees();
        assert_eq!(turn > 170.0, idx % 3 == 0, "photo {idx}: {turn}");
        assert!(!(10.0..=170.0).contains(&turn), "photo {idx}: {turn}");
    }
}

#[test]
fn the_order_of_photos_changes_nothing() {
    let world = World::rings(24);
    let mut rng = seeded::rng(10, "test", "order");
    let truth = random_similarity(&mut rng);
    let mut sightings = world.sightings(&mut rng, &truth);
    let first = align(&sightings, &AlignConfig::default()).expect("a metric frame");
    sightings.reverse();
    let second = align(&sightings, &AlignConfig::default()).expect("a metric frame");
    let moved = error_of(&world, &second.enu_from_solution, &first.enu_from_solution);
    assert!(moved.shift.norm() < 1e-6, "{}", moved.shift);
}
