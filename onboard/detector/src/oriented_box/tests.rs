use super::*;
use proptest::prelude::*;
use std::f64::consts::PI;

fn oriented(x: f64, y: f64, along: f64, across: f64, degrees: f64) -> OrientedBox {
    OrientedBox::new(
        Pixel::new(x, y),
        along,
        across,
        Radians::from_degrees(degrees),
    )
    .unwrap()
}

fn same_rectangle(a: &OrientedBox, b: &OrientedBox) -> bool {
    a.corners().iter().all(|corner| {
        b.corners()
            .iter()
            .any(|other| (corner.x - other.x).hypot(corner.y - other.y) < 1e-6)
    })
}

#[test]
fn golden_angles() {
    // The long side points right and down on the screen at +30 degrees.
    let corners = oriented(10.0, 20.0, 4.0, 2.0, 30.0).corners();
    let (c, s) = (30f64.to_radians().cos(), 30f64.to_radians().sin());
    assert!((corners[0].x - (10.0 - 2.0 * c + s)).abs() < 1e-12);
    assert!((corners[0].y - (20.0 - 2.0 * s - c)).abs() < 1e-12);
    for (along, across, degrees, long, expected) in [
        (4.0, 2.0, 0.0, 4.0, 0.0),
        (2.0, 4.0, 0.0, 4.0, -90.0),
        (4.0, 2.0, 90.0, 4.0, -90.0),
        (4.0, 2.0, 179.0, 4.0, -1.0),
        (2.0, 4.0, 45.0, 4.0, -45.0),
        (2.0, 4.0, -45.0, 4.0, 45.0),
        (4.0, 2.0, 723.0, 4.0, 3.0),
    ] {
        let found = oriented(0.0, 0.0, along, across, degrees);
        assert!(
            (found.angle().to_degrees() - expected).abs() < 1e-9,
            "{found:?}"
        );
        assert!((found.long_side_px() - long).abs() < 1e-12);
    }
}

#[test]
fn no_box_from_no_numbers() {
    for (along, across, angle) in [
        (0.0, 1.0, 0.0),
        (1.0, -1.0, 0.0),
        (f64::NAN, 1.0, 0.0),
        (1.0, 1.0, f64::INFINITY),
    ] {
        assert!(OrientedBox::new(Pixel::new(0.0, 0.0), along, across, Radians(angle)).is_none());
    }
}

#[test]
fn neighbours_at_the_wrap_are_two_degrees_apart() {
    let below = oriented(0.0, 0.0, 4.0, 2.0, 89.0);
    let above = oriented(0.0, 0.0, 4.0, 2.0, 91.0);
    assert!((below.axis_difference(&above).to_degrees() - 2.0).abs() < 1e-9);
    assert!(below.iou(&above) > 0.9);
}

#[test]
fn herringbone_neighbours_overlap_as_hulls_only() {
    let first = oriented(0.0, 0.0, 45.0, 20.0, 45.0);
    let step = 26.0 / 2f64.sqrt();
    let second = oriented(step, -step, 45.0, 20.0, 45.0);
    assert!(first.hull().iou(&second.hull()) > 0.2);
    assert!(first.iou(&second) < 1e-9);
}

#[test]
fn files_carry_units_and_refuse_nonsense() {
    let text = serde_json::to_string(&oriented(1.0, 2.0, 4.0, 3.0, 30.0)).unwrap();
    assert!(
        text.contains("\"angle_deg\":30.") || text.contains("\"angle_deg\":29.99"),
        "{text}"
    );
    let turned = text.replace("\"long_side_px\":4.0", "\"long_side_px\":2.0");
    let found: OrientedBox = serde_json::from_str(&turned).unwrap();
    assert!((found.long_side_px() - 3.0).abs() < 1e-12);
    let bad = text.replace("\"long_side_px\":4.0", "\"long_side_px\":-4.0");
    assert!(serde_json::from_str::<OrientedBox>(&bad).is_err());
}

proptest! {
    #[test]
    fn every_description_of_a_rectangle_is_one_box(
        x in -5e3..5e3f64, y in -5e3..5e3f64, along in 0.5..300f64, across in 0.5..300f64,
        angle in -10.0..10f64, turns in -3..3i32,
    ) {
        let centre = Pixel::new(x, y);
        let one = OrientedBox::new(centre, along, across, Radians(angle)).unwrap();
        let swapped = OrientedBox::new(centre, across, along, Radians(angle + PI / 2.0)).unwrap();
        let turned = OrientedBox::new(centre, along, across, Radians(angle + f64::from(turns) * PI)).unwrap();
        for other in [swapped, turned] {
            prop_assert!(same_rectangle(&one, &other));
            prop_assert!((one.area() - other.area()).abs() < 1e-6);
            prop_assert!(one.iou(&other) > 1.0 - 1e-6);
            prop_assert!((along - across).abs() < 1e-6 || one.axis_difference(&other).get() < 1e-9);
        }
        prop_assert!(one.long_side_px() >= one.short_side_px());
        prop_assert!((-PI / 2.0..PI / 2.0).contains(&one.angle().get()));
        let hull = one.hull();
        for corner in one.corners() {
            prop_assert!(corner.x >= hull.x1_px - 1e-9 && corner.x <= hull.x2_px + 1e-9);
            prop_assert!(corner.y >= hull.y1_px - 1e-9 && corner.y <= hull.y2_px + 1e-9);
        }
    }

    #[test]
    fn iou_agrees_with_counting_points(
        dx in -30.0..30f64, dy in -30.0..30f64, long in 20.0..50f64, short in 8.0..20f64,
        first in -90.0..90f64, second in -90.0..90f64,
    ) {
        let a = oriented(0.0, 0.0, 40.0, 16.0, first);
        let b = oriented(dx, dy, long, short, second);
        let inside = |o: &OrientedBox, x: f64, y: f64| {
            let (sin, cos) = o.angle().get().sin_cos();
            let (px, py) = (x - o.centre().x, y - o.centre().y);
            (px * cos + py * sin).abs() <= o.long_side_px() / 2.0
                && (py * cos - px * sin).abs() <= o.short_side_px() / 2.0
        };
        let (mut both, mut any) = (0u32, 0u32);
        for i in -240..240 {
            for j in -240..240 {
                let (x, y) = (f64::from(i) * 0.25 + 0.1, f64::from(j) * 0.25 + 0.1);
                let (in_a, in_b) = (inside(&a, x, y), inside(&b, x, y));
                both += u32::from(in_a && in_b);
                any += u32::from(in_a || in_b);
            }
        }
        let counted = f64::from(both) / f64::from(any);
        prop_assert!((a.iou(&b) - counted).abs() < 0.01, "{} {}", a.iou(&b), counted);
        prop_assert!((a.iou(&b) - b.iou(&a)).abs() < 1e-9);
    }
}
