use super::*;
use calibration::{Pixel, Radians};
use proptest::prelude::*;

fn brute_force(boxes: &[OrientedBox], scores: &[f64], max_iou: f64) -> Vec<usize> {
    let mut kept: Vec<usize> = Vec::new();
    for index in by_score(boxes, scores) {
        if kept
            .iter()
            .all(|&other| boxes[index].iou(&boxes[other]) <= max_iou)
        {
            kept.push(index);
        }
    }
    kept
}

fn oriented(x: f64, y: f64, along: f64, across: f64, degrees: f64) -> OrientedBox {
    OrientedBox::new(
        Pixel::new(x, y),
        along,
        across,
        Radians::from_degrees(degrees),
    )
    .unwrap()
}

#[test]
fn nothing_in_nothing_out() {
    assert!(suppress(&[], &[], 0.3).is_empty());
}

#[test]
fn doubles_go_and_neighbours_stay() {
    let herringbone: Vec<_> = (0..40)
        .map(|i| oriented(100.0 + 18.4 * f64::from(i), 100.0, 45.0, 20.0, 45.0))
        .collect();
    let crossed = [
        oriented(50.0, 400.0, 60.0, 8.0, 45.0),
        oriented(50.0, 400.0, 60.0, 8.0, -45.0),
    ];
    let mut boxes = herringbone;
    boxes.extend(crossed);
    let count = boxes.len();
    for i in 0..count {
        let copy = boxes[i].scaled_and_moved(1.0, 1.5, -1.0).unwrap();
        boxes.push(copy);
    }
    let scores: Vec<f64> = (0..boxes.len())
        .map(|i| if i < count { 0.9 } else { 0.5 })
        .collect();
    let kept = suppress(&boxes, &scores, 0.3);
    assert_eq!(kept.len(), count);
    assert!(kept.iter().all(|&index| index < count));
    assert_eq!(kept, brute_force(&boxes, &scores, 0.3));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]
    #[test]
    fn equal_to_brute_force(
        rows in prop::collection::vec(
            (0.0..600f64, 0.0..400f64, 3.0..90f64, 3.0..30f64, -90.0..90f64, 0u8..20), 1..250),
        max_iou in 0.05..0.9f64,
    ) {
        let boxes: Vec<_> = rows.iter().map(|r| oriented(r.0, r.1, r.2, r.3, r.4)).collect();
        let scores: Vec<_> = rows.iter().map(|r| f64::from(r.5) / 20.0).collect();
        prop_assert_eq!(suppress(&boxes, &scores, max_iou), brute_force(&boxes, &scores, max_iou));
    }
}
