use super::*;
use crate::detection::VehicleClass;
use calibration::{Pixel, Radians};

fn oriented(x: f64, y: f64, degrees: f64) -> OrientedBox {
    OrientedBox::new(Pixel::new(x, y), 40.0, 16.0, Radians::from_degrees(degrees)).unwrap()
}

fn found(x: f64, y: f64, degrees: f64, score: f64) -> Detection {
    let oriented_box = oriented(x, y, degrees);
    Detection {
        oriented_box,
        horizontal_box: oriented_box.hull(),
        class: VehicleClass::Vehicle,
        score,
        truncated: false,
        corner_sigma_px: None,
    }
}

fn truth(x: f64, y: f64, degrees: f64) -> TruthBox {
    let oriented_box = oriented(x, y, degrees);
    TruthBox {
        oriented_box: Some(oriented_box),
        horizontal_box: oriented_box.hull(),
        ignored: false,
    }
}

fn photo(detections: Vec<Detection>, truth: Vec<TruthBox>) -> EvaluatedPhoto {
    EvaluatedPhoto {
        detections,
        truth,
        height_m: Some(50.0),
        downward_pitch_deg: Some(90.0),
    }
}

#[test]
fn perfect_is_one_and_nothing_is_zero() {
    let places = [(100.0, 100.0, 10.0), (200.0, 120.0, -80.0)];
    let boxes = places.map(|(x, y, a)| found(x, y, a, 0.9)).to_vec();
    let there = places.map(|(x, y, a)| truth(x, y, a)).to_vec();
    let perfect = evaluate(&[photo(boxes, there.clone())]);
    let precision = perfect.oriented.unwrap();
    assert!((precision.ap50 - 1.0).abs() < 1e-12 && (precision.ap50_95 - 1.0).abs() < 1e-12);
    assert!((perfect.horizontal.ap50_95 - 1.0).abs() < 1e-12);
    assert!(perfect.angle_errors.unwrap().p90_deg < 1e-6);
    assert_eq!((perfect.vehicles, perfect.doubles), (2, 0));
    let nothing = evaluate(&[photo(Vec::new(), there)]);
    assert!(nothing.oriented.unwrap().ap50.abs() < 1e-12);
    assert!(nothing.angle_errors.is_none());
}

#[test]
fn a_curve_worked_by_hand() {
    // Right, wrong, right, wrong in descending score; three vehicles.
    let boxes = vec![
        found(100.0, 100.0, 0.0, 0.9),
        found(500.0, 500.0, 0.0, 0.8),
        found(200.0, 100.0, 5.0, 0.7),
        found(600.0, 500.0, 0.0, 0.6),
    ];
    let there = vec![
        truth(100.0, 100.0, 0.0),
        truth(200.0, 100.0, 0.0),
        truth(300.0, 100.0, 0.0),
    ];
    let evaluated = evaluate(&[photo(boxes, there)]);
    let precision = evaluated.oriented.unwrap();
    // Recall 1/3 at precision 1, 2/3 at precision 2/3.
    assert!((precision.ap50 - (1.0 / 3.0 + 2.0 / 9.0)).abs() < 1e-12);
    assert!((precision.recall - 2.0 / 3.0).abs() < 1e-12);
    assert!((precision.best_f1 - 2.0 / 3.0).abs() < 1e-12);
    assert_eq!(precision.best_f1_score, Some(0.7));
    let errors = evaluated.angle_errors.unwrap();
    assert_eq!(errors.count, 2);
    assert!((errors.p90_deg - 5.0).abs() < 1e-9);
}

#[test]
fn doubles_are_counted_and_cost_precision() {
    let boxes = vec![found(100.0, 100.0, 0.0, 0.9), found(102.0, 100.0, 2.0, 0.9)];
    let evaluated = evaluate(&[photo(boxes, vec![truth(100.0, 100.0, 0.0)])]);
    assert_eq!(evaluated.doubles, 1);
    let curve = evaluated.oriented.unwrap().curve;
    assert!((curve[1].precision - 0.5).abs() < 1e-12);
}

#[test]
fn ignored_truth_counts_neither_way() {
    let hidden = TruthBox {
        ignored: true,
        ..truth(300.0, 100.0, 0.0)
    };
    let there = vec![truth(100.0, 100.0, 0.0), hidden];
    for with_hidden in [true, false] {
        let mut boxes = vec![found(100.0, 100.0, 0.0, 0.5)];
        if with_hidden {
            boxes.push(found(303.0, 101.0, 0.0, 0.9));
        }
        let evaluated = evaluate(&[photo(boxes, there.clone())]);
        assert_eq!(evaluated.vehicles, 1);
        assert!((evaluated.oriented.unwrap().ap50 - 1.0).abs() < 1e-12);
    }
}

#[test]
fn groups_split_photos_and_sizes() {
    let near = EvaluatedPhoto {
        height_m: Some(30.0),
        downward_pitch_deg: Some(45.0),
        ..photo(
            vec![found(100.0, 100.0, 0.0, 0.9)],
            vec![truth(100.0, 100.0, 0.0)],
        )
    };
    let far = EvaluatedPhoto {
        height_m: Some(100.0),
        ..photo(
            vec![found(400.0, 100.0, 0.0, 0.9)],
            vec![truth(100.0, 100.0, 0.0)],
        )
    };
    let groups = evaluate(&[near, far]).groups;
    let ap = |wanted: &dyn Fn(&Group) -> bool| {
        groups
            .iter()
            .find(|result| wanted(&result.group))
            .unwrap()
            .oriented_ap50
    };
    assert!(
        (ap(&|g| matches!(g, Group::Height { from_m, .. } if *from_m == 20.0)) - 1.0).abs() < 1e-12
    );
    assert!(ap(&|g| matches!(g, Group::Height { from_m, .. } if *from_m == 60.0)).abs() < 1e-12);
    assert!(
        (ap(&|g| matches!(g, Group::Pitch { from_deg, .. } if *from_deg == 37.5)) - 1.0).abs()
            < 1e-12
    );
    // One size group holds both vehicles, so none else is listed.
    let sizes = groups
        .iter()
        .filter(|r| matches!(r.group, Group::Size { .. }))
        .count();
    assert_eq!(sizes, 1);
}

#[test]
fn corner_errors_are_shares_of_the_long_side() {
    // Moved by 2 px along x and 1 px along y: half of the errors are 2/40, half 1/40.
    let boxes = vec![
        found(102.0, 101.0, 0.0, 0.9),
        found(302.0, 101.0, 90.0, 0.8),
    ];
    let there = vec![truth(100.0, 100.0, 0.0), truth(300.0, 100.0, -90.0)];
    let errors = evaluate(&[photo(boxes, there.clone())])
        .corner_errors
        .unwrap();
    assert_eq!(errors.count, 2);
    assert!(
        (errors.sigma - 1.4826 * 2.0 / 40.0).abs() < 1e-9,
        "{errors:?}"
    );
    assert!(
        evaluate(&[photo(Vec::new(), there)])
            .corner_errors
            .is_none()
    );
}
