//! Unusual vehicles made up detection by detection.

use super::*;
use crate::anchor::{Anchor, Method, Outline, Placed};
use crate::detect::DetectionId;
use crate::entity::Footprint;
use crate::entity::cluster::Item;
use crate::scene::PhotoId;
use calibration::Point;
use nalgebra::Matrix2;

/// A detection: photo, time, place, height, length.
#[derive(Clone, Copy)]
struct Shot {
    photo: usize,
    place: [f64; 3],
    length_m: f64,
}

struct Made {
    anchors: Vec<Anchor>,
    shots: Vec<Shot>,
    entity: Entity,
}

fn made(number: usize, shots: &[Shot], length_m: f64) -> Made {
    let photo_id = PhotoId::from_sha256(format!("{number:064x}"));
    let id = |idx| DetectionId::new(&photo_id, "abcd", idx);
    let anchors = (shots.iter().enumerate())
        .map(|(idx, shot)| Anchor {
            detection_id: id(idx),
            photo: shot.photo,
            detection: 0,
            placed: Some(Placed {
                point: Point::new(shot.place[0], shot.place[1], shot.place[2]),
                covariance_m2: [0.01, 0.0, 0.01],
                vertical_sigma_m: 0.1,
                method: Method::Surface,
                ground_z_m: 0.0,
                n_points: 0,
                points_disagree: false,
                outline: Some(Outline {
                    depression_deg: 80.0,
                    camera_azimuth_deg: 0.0,
                    axis_deg: 0.0,
                    along_m: shot.length_m * (1.0 + 0.01 * (idx % 3) as f64),
                    across_m: 1.8,
                }),
                level_m: None,
            }),
            reason: None,
        })
        .collect();
    let [x, y, z] = shots[0].place;
    let entity = Entity {
        entity_id: EntityId::founded_by(&id(0)),
        point: Point::new(x, y, z),
        sigma_m: 0.1,
        covariance_m2: [0.01, 0.0, 0.01],
        footprint: Some(Footprint {
            length_m,
            length_sigma_m: 0.1,
            width_m: 1.8,
            width_sigma_m: 0.1,
            axis_deg: 0.0,
            axis_sigma_deg: 1.0,
            n_boxes: shots.len(),
            front: None,
        }),
        aliases: Vec::new(),
        is_confirmed: true,
        n_in_view: shots.len(),
        n_expected: shots.len(),
        members: Vec::new(),
    };
    Made {
        anchors,
        shots: shots.to_vec(),
        entity,
    }
}

/// Photos are ten seconds apart; every photo should show every vehicle.
fn found(all: &[Made], n_photos: usize) -> Vec<Suggestion> {
    let seconds: Vec<Option<f64>> = (0..n_photos)
        .map(|photo| Some(10.0 * photo as f64))
        .collect();
    let sights: Vec<Sight> = (0..n_photos)
        .map(|photo| Sight {
            photo,
            share: 1.0,
            across_px: 40.0,
        })
        .collect();
    let pieces: Vec<Vec<Piece<'_>>> = all
        .iter()
        .map(|made| {
            (made.anchors.iter().zip(&made.shots))
                .map(|(anchor, shot)| Piece {
                    anchor,
                    placed: anchor.placed.as_ref().expect("it has a place"),
                    item: Item {
                        photo: shot.photo,
                        detection: 0,
                        place: Vector2::new(shot.place[0], shot.place[1]),
                        covariance: Matrix2::identity() * 0.01,
                        score: 0.5,
                    },
                    is_cut: false,
                })
                .collect()
        })
        .collect();
    let watched: Vec<Watched<'_>> = (all.iter().zip(&pieces))
        .map(|(made, pieces)| {
            Watched::new(&made.entity, pieces.iter().collect(), &sights, &seconds)
        })
        .collect();
    let scale = Scale {
        epsilon_m: 2.0,
        recall: 0.9,
    };
    suggest(&watched, &scale)
}

fn standing(photos: std::ops::Range<usize>, place: [f64; 3], length_m: f64) -> Vec<Shot> {
    photos
        .map(|photo| Shot {
            photo,
            place,
            length_m,
        })
        .collect()
}

fn kinds(found: &[Suggestion]) -> Vec<SuggestionKind> {
    found.iter().map(|s| s.kind).collect()
}

#[test]
fn a_vehicle_that_stands_is_nothing_unusual() {
    let one = made(1, &standing(0..12, [0.0, 0.0, 0.75], 4.5), 4.5);
    assert_eq!(kinds(&found(&[one], 12)), []);
}

#[test]
fn a_bay_that_changes_its_vehicle_is_offered() {
    let mut shots = standing(0..6, [0.0, 0.0, 0.75], 4.2);
    shots.extend(standing(6..12, [0.1, 0.0, 0.75], 5.3));
    let swapped = found(&[made(1, &shots, 4.7)], 12);
    assert_eq!(kinds(&swapped), [SuggestionKind::BaySwap]);
    assert!(
        swapped[0].evidence.contains("longer from 60 s"),
        "{}",
        swapped[0].evidence
    );
}

#[test]
fn a_vehicle_that_moves_to_another_bay_is_offered_and_not_joined() {
    let gone = made(1, &standing(0..6, [0.0, 0.0, 0.75], 4.5), 4.5);
    let new = made(2, &standing(7..13, [20.0, 0.0, 0.75], 4.5), 4.5);
    let other = made(3, &standing(7..13, [30.0, 0.0, 0.75], 6.5), 6.5);
    let ids = [gone.entity.entity_id.clone(), new.entity.entity_id.clone()];
    let moved = found(&[gone, new, other], 13);
    assert_eq!(kinds(&moved), [SuggestionKind::Moved]);
    assert_eq!(moved[0].entity_ids, ids);
}

#[test]
fn a_vehicle_that_drives_by_is_one_suggestion() {
    let drive: Vec<Made> = (0..5)
        .map(|photo| {
            let east = 40.0 * photo as f64;
            made(
                photo + 1,
                &standing(photo..photo + 1, [east, 0.0, 0.75], 4.5),
                4.5,
            )
        })
        .collect();
    let moving = found(&drive, 5);
    assert_eq!(kinds(&moving), [SuggestionKind::Moving]);
    assert_eq!(moving[0].entity_ids.len(), 5);
    assert!(
        moving[0].evidence.contains("4.0 m/s towards 90 degrees"),
        "{}",
        moving[0].evidence
    );
}

/// Case 45: the same place on the map, two heights.
#[test]
fn levels_above_each_other_are_offered_and_warned_of() {
    let mut shots = standing(0..6, [0.0, 0.0, 0.75], 4.5);
    shots.extend(standing(6..12, [0.0, 0.0, 3.75], 4.5));
    let levels = found(&[made(1, &shots, 4.5)], 12);
    assert_eq!(kinds(&levels), [SuggestionKind::Levels]);
    let mut warnings = Vec::new();
    warn(&levels, &mut warnings);
    assert!(warnings[0].contains("several levels"), "{warnings:?}");
}

#[test]
fn one_photo_is_a_singleton() {
    let one = made(1, &standing(3..4, [0.0, 0.0, 0.75], 4.5), 4.5);
    assert_eq!(kinds(&found(&[one], 12)), [SuggestionKind::Singleton]);
}
