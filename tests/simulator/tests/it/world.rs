//! Worlds: vehicles never overlap, keep their spacing, and follow the wishes.

use simulator::{SITE_KINDS, SiteSpec, Vehicle, World};

fn corners(vehicle: &Vehicle, grow: f64) -> [[f64; 2]; 4] {
    let [length, width, _] = vehicle.size_m();
    let (sin, cos) = vehicle.front_azimuth_deg.to_radians().sin_cos();
    let [east, north] = vehicle.center_in_enu;
    let (a, b) = (length / 2.0 + grow, width / 2.0 + grow);
    [(a, b), (a, -b), (-a, -b), (-a, b)].map(|(along, right)| {
        [
            east + along * sin + right * cos,
            north + along * cos - right * sin,
        ]
    })
}

/// Separating axes over the corners.
fn overlap(a: &Vehicle, b: &Vehicle) -> bool {
    let (ca, cb) = (corners(a, 0.0), corners(b, 0.0));
    let axes = [a, b].into_iter().flat_map(|v| {
        let (sin, cos) = v.front_azimuth_deg.to_radians().sin_cos();
        [[sin, cos], [cos, -sin]]
    });
    let span = |corners: &[[f64; 2]; 4], axis: &[f64; 2]| {
        let places = corners.map(|c| c[0] * axis[0] + c[1] * axis[1]);
        (
            places.iter().copied().fold(f64::MAX, f64::min),
            places.iter().copied().fold(f64::MIN, f64::max),
        )
    };
    axes.into_iter().all(|axis| {
        let ((a0, a1), (b0, b1)) = (span(&ca, &axis), span(&cb, &axis));
        a0 <= b1 && b0 <= a1
    })
}

fn distance(a: &Vehicle, b: &Vehicle) -> f64 {
    let ([ax, ay], [bx, by]) = (a.center_in_enu, b.center_in_enu);
    (ax - bx).hypot(ay - by)
}

#[test]
fn no_two_vehicles_overlap() {
    for seed in 0..12 {
        for kind in SITE_KINDS {
            let spec = SiteSpec {
                kind: Some(kind),
                ..SiteSpec::new(seed)
            };
            let world = World::generate(&spec).expect("the defaults fit");
            assert!((20..=60).contains(&world.vehicles.len()));
            for (i, a) in world.vehicles.iter().enumerate() {
                for b in &world.vehicles[..i] {
                    assert!(
                        !overlap(a, b),
                        "seed {seed} {kind:?}: {} and {}",
                        a.id,
                        b.id
                    );
                }
            }
        }
    }
}

#[test]
fn spacing_is_kept_and_neighbours_exist() {
    for kind in [SITE_KINDS[0], SITE_KINDS[3]] {
        for spacing in [2.5, 4.0, 6.0, 8.0] {
            let spec = SiteSpec {
                kind: Some(kind),
                spacing_m: Some(spacing),
                n_vehicles: Some(40),
                ..SiteSpec::new(3)
            };
            let world = World::generate(&spec).expect("40 vehicles fit at any spacing");
            assert_eq!(world.vehicles.len(), 40);
            let nearest: Vec<f64> = world
                .vehicles
                .iter()
                .map(|v| {
                    let others = world.vehicles.iter().filter(|o| o.id != v.id);
                    others.map(|o| distance(v, o)).fold(f64::MAX, f64::min)
                })
                .collect();
            // Places are exact; vehicles stand in them with some tenths of a metre of slack.
            let least = nearest.iter().copied().fold(f64::MAX, f64::min);
            assert!(
                least > spacing.min(5.0) - 0.85,
                "{kind:?} {spacing}: {least}"
            );
            let close = nearest.iter().filter(|d| **d < spacing + 0.8).count();
            assert!(close >= 10, "{kind:?} {spacing}: {close} with a neighbour");
        }
    }
}

#[test]
fn the_same_seed_gives_the_same_world_and_another_seed_another() {
    let describe = |seed| {
        let world = World::generate(&SiteSpec::new(seed)).expect("the defaults fit");
        format!("{:?} {:?}", world.vehicles, world.origin)
    };
    assert_eq!(describe(8), describe(8));
    assert_ne!(describe(8), describe(9));
}

#[test]
fn says_when_there_is_no_room() {
    let spec = SiteSpec {
        n_vehicles: Some(120),
        spacing_m: Some(8.0),
        ..SiteSpec::new(2)
    };
    let error = World::generate(&spec).expect_err("too many");
    assert!(error.input_at_fault());
    assert!(error.to_string().contains("room for"), "{error}");
}
