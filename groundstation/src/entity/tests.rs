//! Clustering against rows of cars whose truth is known.

use super::*;
use crate::seeded;
use nalgebra::{Matrix2, Vector2};
use proptest::prelude::*;
use std::collections::BTreeSet;

/// Cars in rows `spacing_m` apart, each seen in most photos with noise.
fn rows(spacing_m: f64, sigma_m: f64, n_photos: usize, seed: u64) -> (Vec<Item>, Vec<usize>) {
    let mut rng = seeded::rng(seed, "test", "rows");
    let (mut items, mut truth) = (Vec::new(), Vec::new());
    for photo in 0..n_photos {
        for car in 0..40 {
            if seeded::unit(&mut rng) > 0.8 {
                continue;
            }
            let (row, column) = (car / 20, car % 20);
            let noise = Vector2::new(seeded::normal(&mut rng), seeded::normal(&mut rng)) * sigma_m;
            let place = Vector2::new(column as f64 * spacing_m, row as f64 * 6.0) + noise;
            items.push(Item {
                photo,
                detection: items.len(),
                place,
                covariance: Matrix2::identity() * sigma_m * sigma_m,
                score: 0.3 + 0.7 * seeded::unit(&mut rng),
            });
            truth.push(car);
        }
    }
    (items, truth)
}

/// Share of pairs of items of one car that are together, and of pairs together that are one car.
fn recall_and_precision(clusters: &Clusters, truth: &[usize]) -> (f64, f64) {
    let mut label = vec![0; truth.len()];
    for (idx, members) in clusters.members.iter().enumerate() {
        for &member in members {
            label[member] = idx;
        }
    }
    let (mut both, mut true_pairs, mut found_pairs) = (0_u64, 0_u64, 0_u64);
    for a in 0..truth.len() {
        for b in a + 1..truth.len() {
            let (is_true, is_found) = (truth[a] == truth[b], label[a] == label[b]);
            both += u64::from(is_true && is_found);
            true_pairs += u64::from(is_true);
            found_pairs += u64::from(is_found);
        }
    }
    (
        both as f64 / true_pairs as f64,
        both as f64 / found_pairs as f64,
    )
}

/// The paper's order with a threshold that is given.
fn within(epsilon_m: f64) -> ClusterOptions {
    ClusterOptions {
        epsilon_m: Some(epsilon_m),
        refine_rounds: 0,
        ..ClusterOptions::default()
    }
}

fn has_two_of_one_photo(clusters: &Clusters, items: &[Item]) -> bool {
    clusters.members.iter().any(|members| {
        let photos: BTreeSet<usize> = members.iter().map(|&idx| items[idx].photo).collect();
        photos.len() < members.len()
    })
}

#[test]
fn rows_of_cars_come_apart_at_solver_quality() {
    for (spacing_m, at_least) in [(2.5, 0.97), (3.0, 0.98), (6.0, 0.99)] {
        let (items, truth) = rows(spacing_m, 0.3, 30, 1);
        let clusters = cluster(&items, &ClusterOptions::default());
        let (recall, precision) = recall_and_precision(&clusters, &truth);
        let f1 = 2.0 * recall * precision / (recall + precision);
        assert!(
            f1 > at_least,
            "{spacing_m} m: recall {recall:.3}, precision {precision:.3}"
        );
        assert!(clusters.threshold.is_separable);
        assert!(!has_two_of_one_photo(&clusters, &items));
    }
}

#[test]
fn anchors_from_gps_are_said_not_to_be_separable() {
    let (items, _) = rows(2.5, 3.0, 20, 2);
    let clusters = cluster(&items, &ClusterOptions::default());
    assert!(!clusters.threshold.is_separable);
    assert_eq!(clusters.threshold.basis, ThresholdBasis::Uncertainty);
    assert!(!has_two_of_one_photo(&clusters, &items));
}

#[test]
fn nothing_and_one_and_one_photo_are_fine() {
    assert!(cluster(&[], &ClusterOptions::default()).members.is_empty());
    let (items, _) = rows(2.5, 0.1, 1, 3);
    let one = cluster(&items[..1], &ClusterOptions::default());
    assert_eq!(one.members, [vec![0]]);
    assert_eq!(one.threshold.basis, ThresholdBasis::Default);
    let photo = cluster(&items, &ClusterOptions::default());
    assert_eq!(
        photo.members.len(),
        items.len(),
        "one photo: every detection its own vehicle"
    );
}

#[test]
fn exactly_at_the_threshold_is_near_enough() {
    let item = |photo, x: f64| Item {
        photo,
        detection: 0,
        place: Vector2::new(x, 0.0),
        covariance: Matrix2::identity() * 0.01,
        score: 0.5,
    };
    assert_eq!(
        cluster(&[item(0, 0.0), item(1, 1.5)], &within(1.5))
            .members
            .len(),
        1
    );
    assert_eq!(
        cluster(&[item(0, 0.0), item(1, 1.5 + 1e-9)], &within(1.5))
            .members
            .len(),
        2
    );
}

proptest! {
    #[test]
    fn never_two_of_one_photo_and_the_same_in_any_order(
        places in prop::collection::vec((0_usize..6, -8.0..8.0_f64, -8.0..8.0_f64, 0_u8..4), 1..60),
        seed in 0_u64..1000,
    ) {
        let items: Vec<Item> = places
            .iter()
            .enumerate()
            .map(|(detection, &(photo, x, y, score))| Item {
                photo,
                detection,
                place: Vector2::new(x, y),
                covariance: Matrix2::identity() * 0.04,
                // Equal scores on purpose.
                score: f64::from(score) / 4.0,
            })
            .collect();
        let clusters = cluster(&items, &ClusterOptions::default());
        prop_assert!(!has_two_of_one_photo(&clusters, &items));
        let mut shuffled: Vec<usize> = (0..items.len()).collect();
        let mut rng = seeded::rng(seed, "test", "shuffle");
        for at in (1..shuffled.len()).rev() {
            shuffled.swap(at, seeded::below(&mut rng, at + 1));
        }
        let again: Vec<Item> = shuffled.iter().map(|&idx| items[idx].clone()).collect();
        let by_key = |clusters: &Clusters, items: &[Item]| -> BTreeSet<Vec<usize>> {
            clusters
                .members
                .iter()
                .map(|members| {
                    let mut keys: Vec<usize> =
                        members.iter().map(|&idx| items[idx].detection).collect();
                    keys.sort_unstable();
                    keys
                })
                .collect()
        };
        let other = cluster(&again, &ClusterOptions::default());
        prop_assert_eq!(by_key(&clusters, &items), by_key(&other, &again));
    }
}

/// A long vehicle seen from two sides begins as two; they are one when nothing speaks against it.
#[test]
fn halves_of_one_vehicle_come_together() {
    let item = |photo: usize, east: f64, score: f64| Item {
        photo,
        detection: 0,
        place: Vector2::new(east, 0.0),
        covariance: Matrix2::identity() * 0.04,
        score,
    };
    // Two that are far apart found vehicles of their own, and others draw the centres together.
    let far = [item(0, -1.0, 0.9), item(1, 1.2, 0.8)];
    let near = (2..12).map(|photo| item(photo, if photo < 7 { -0.1 } else { 0.6 }, 0.5));
    let apart: Vec<Item> = far.into_iter().chain(near).collect();
    assert_eq!(cluster(&apart, &within(2.0)).members.len(), 1);
    // In one photo, they are two.
    let mut of_one_photo = apart.clone();
    of_one_photo[1].photo = 0;
    of_one_photo[1].detection = 1;
    assert_eq!(cluster(&of_one_photo, &within(2.0)).members.len(), 2);
}

/// Case 40: two thousand boxes in each of a few photos.
#[test]
fn thousands_in_one_photo_stay_apart() {
    let mut rng = seeded::rng(5, "test", "thousands");
    let mut items = Vec::new();
    for photo in 0..5 {
        for car in 0..2000 {
            let noise = Vector2::new(seeded::normal(&mut rng), seeded::normal(&mut rng)) * 0.2;
            items.push(Item {
                photo,
                detection: car,
                place: Vector2::new((car % 50) as f64 * 2.5, (car / 50) as f64 * 6.0) + noise,
                covariance: Matrix2::identity() * 0.04,
                score: 0.5,
            });
        }
    }
    let started = std::time::Instant::now();
    let clusters = cluster(&items, &ClusterOptions::default());
    assert!(started.elapsed().as_secs_f64() < 10.0);
    assert!(!has_two_of_one_photo(&clusters, &items));
    assert!(
        (2000..2020).contains(&clusters.members.len()),
        "{}",
        clusters.members.len()
    );
}

/// Doubles of boxes (case 41) are no spacing: the threshold does not collapse.
#[test]
fn doubles_do_not_count_as_neighbours() {
    let (items, _) = rows(2.5, 0.2, 20, 6);
    let mut doubled = items.clone();
    doubled.extend(items.iter().step_by(3).map(|item| Item {
        detection: item.detection + 10_000,
        place: item.place + Vector2::new(0.1, 0.1),
        score: item.score * 0.9,
        ..item.clone()
    }));
    let (before, after) = (
        cluster(&items, &ClusterOptions::default())
            .threshold
            .epsilon_m,
        cluster(&doubled, &ClusterOptions::default())
            .threshold
            .epsilon_m,
    );
    assert!((before - after).abs() < 0.2, "{before} {after}");
}

/// With a threshold that is too wide the assignment still tells neighbours apart.
#[test]
fn assignment_mends_a_threshold_that_is_too_wide() {
    let (items, truth) = rows(2.5, 0.4, 30, 7);
    let f1 = |refine_rounds| {
        let options = ClusterOptions {
            epsilon_m: Some(3.0),
            refine_rounds,
            ..ClusterOptions::default()
        };
        let (recall, precision) = recall_and_precision(&cluster(&items, &options), &truth);
        2.0 * recall * precision / (recall + precision)
    };
    let (greedy, refined) = (f1(0), f1(REFINE_ROUNDS));
    assert!(
        refined > greedy && refined > 0.97,
        "{greedy:.3} {refined:.3}"
    );
}
