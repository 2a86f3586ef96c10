use super::*;
use crate::site::Site;
use crate::spec::PlanSpec;
use std::path::Path;

fn site() -> Site {
    let text = r#"{"type": "Polygon", "coordinates":
        [[[9.0, 45.0], [9.001, 45.0], [9.001, 45.001], [9.0, 45.001], [9.0, 45.0]]]}"#;
    Site::parse(text.as_bytes(), Path::new("site.json")).unwrap()
}

fn stop(east: f64, north: f64, height_m: f64, yaw_deg: f64, pitch_deg: f64) -> Stop {
    Stop {
        station: Station {
            place: Place::new(east, north),
            height_m,
        },
        aim: Aim {
            height_m,
            yaw_deg,
            pitch_deg,
        },
        sharp_mps: 8.0,
        row: None,
    }
}

fn with_tour<T>(stops: &[Stop], fly_through: bool, check: impl FnOnce(&Tour<'_>) -> T) -> T {
    let (site, spec) = (site(), PlanSpec::default());
    let airspace = Airspace::of(&site, &spec);
    let motion = Motion::of(&spec, None);
    check(&Tour::new(
        stops,
        Place::zeros(),
        motion,
        &airspace,
        fly_through,
    ))
}

#[test]
fn a_row_is_flown_in_passing_and_its_ends_from_rest() {
    let row: Vec<Stop> = (0..4)
        .map(|i| stop(10.0 * f64::from(i), 0.0, 30.0, 90.0, -90.0))
        .collect();
    with_tour(&row, true, |tour| {
        let legs = tour.legs(&[0, 1, 2, 3]);
        // Shutter every 2 s: 5 m/s. 2.5 s to get there over 6.25 m, the rest of 10 m at 5 m/s.
        assert!((legs[1].duration_s - 3.25).abs() < 1e-9, "{legs:?}");
        assert!((legs[2].duration_s - 2.0).abs() < 1e-9);
        assert!((legs[3].duration_s - (3.25 + 1.5)).abs() < 1e-9);
        assert_eq!(
            (legs[1].end_mps, legs[2].end_mps, legs[3].end_mps),
            (5.0, 5.0, 0.0)
        );
    });
    with_tour(&row, false, |tour| {
        let legs = tour.legs(&[0, 1, 2, 3]);
        assert!((legs[2].duration_s - (2.0 * 5.0f64.sqrt() + 1.5)).abs() < 1e-9);
    });
}

/// All orders of a few random photos: the search finds the best one, and the bound holds.
#[test]
fn against_all_orders() {
    let mut state = 12345u64;
    let mut next = |n: u64| {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) % n
    };
    for _ in 0..6 {
        let stops: Vec<Stop> = (0..7)
            .map(|_| {
                stop(
                    10.0 * next(8) as f64,
                    10.0 * next(8) as f64,
                    30.0 * (1 + next(2)) as f64,
                    90.0 * next(2) as f64,
                    -45.0 * (1 + next(2)) as f64,
                )
            })
            .collect();
        with_tour(&stops, true, |tour| {
            let (mut best_flight, mut best_photos) = (f64::INFINITY, f64::INFINITY);
            permute(&mut (0..7).collect::<Vec<_>>(), 0, &mut |order| {
                let legs = tour.legs(order);
                let all: f64 = legs.iter().map(|leg| leg.duration_s).sum();
                best_flight = best_flight.min(all);
                best_photos = best_photos.min(all - legs[0].duration_s - legs[7].duration_s);
            });
            let found = tour.flight_s(&shortest(tour, 200));
            assert!(
                found >= best_flight - 1e-9 && found <= 1.03 * best_flight,
                "{found} {best_flight}"
            );
            let bound = order_bound_s(tour, best_photos);
            assert!(bound <= best_photos + 1e-9, "{bound} {best_photos}");
            assert!(bound >= 0.6 * best_photos, "{bound} {best_photos}");
        });
    }
}

fn permute(order: &mut Vec<usize>, from: usize, visit: &mut impl FnMut(&[usize])) {
    if from == order.len() {
        return visit(order);
    }
    for at in from..order.len() {
        order.swap(from, at);
        permute(order, from + 1, visit);
        order.swap(from, at);
    }
}
