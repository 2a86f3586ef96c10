//! What two pictures share.

use crate::view;
use calibration::camera::CameraModel;
use calibration::ground::{Footprint, Overlap, ViewLimits, overlap};
use calibration::{Metres, Radians};
use std::f64::consts::SQRT_2;

fn camera() -> CameraModel {
    CameraModel::pinhole(4000, 3000, 2900.0)
}

/// The footprint of a picture from `height` that aims at the origin from the azimuth `from`.
fn aimed(height: f64, depression: f64, from: f64) -> Footprint {
    let stand_off = height / depression.to_radians().tan();
    let (sin, cos) = from.to_radians().sin_cos();
    let centre = [stand_off * sin, stand_off * cos, height];
    view(camera(), centre, [from + 180.0, -depression, 0.0])
        .footprint(&ViewLimits::for_pairs(Metres(height)))
        .unwrap()
}

fn nadir(x: f64, y: f64, height: f64) -> Footprint {
    view(camera(), [x, y, height], [0.0, -90.0, 0.0])
        .footprint(&ViewLimits::for_pairs(Metres(height)))
        .unwrap()
}

fn assert_close(found: f64, expected: f64, what: &str) {
    assert!(
        (found - expected).abs() < 1e-6,
        "{what}: {found} {expected}"
    );
}

#[test]
fn pictures_straight_down_share_rectangles() {
    let check = |a: &Footprint, b: &Footprint, share: f64, scale: f64| {
        let Overlap {
            share: found,
            scale_ratio,
            transition_tilt,
            ..
        } = overlap(a, b).unwrap();
        assert_close(found, share, "share");
        assert_close(scale_ratio, scale, "scale");
        assert_close(transition_tilt, 1.0, "tilt");
    };
    // 58 m up: 0.02 m per pixel, 80 m x 60 m.
    let at_home = nadir(0.0, 0.0, 58.0);
    check(&at_home, &at_home, 1.0, 1.0);
    check(&at_home, &nadir(40.0, 0.0, 58.0), 0.5, 1.0);
    check(&at_home, &nadir(40.0, -30.0, 58.0), 0.25, 1.0);
    // Twice as high: all of the lower picture is in it.
    check(&at_home, &nadir(10.0, 5.0, 116.0), 1.0, 2.0);
    assert_eq!(overlap(&at_home, &nadir(81.0, 0.0, 58.0)), None);
    assert_eq!(overlap(&at_home, &nadir(0.0, 61.0, 58.0)), None);
    let beside = overlap(&at_home, &nadir(40.0, 0.0, 58.0)).unwrap();
    assert_close(beside.common_area_m2, 2400.0, "area");
    assert_close(beside.centre.x(), 20.0, "centre");
    assert_close(
        beside.view_angle.to_degrees(),
        2.0 * (20f64 / 58.0).atan().to_degrees(),
        "angle",
    );
}

/// Views that meet at the centre of the overlap. For two at depressions a and b from the same or
/// opposite sides one direction is stretched by sin a / sin b against the other; crossing at a right
/// angle the two stretches multiply.
#[test]
fn transition_tilts_of_hand_worked_pairs() {
    let check = |a: [f64; 2], b: [f64; 2], tilt: f64, angle: f64| {
        // So narrow that the footprints are all but points at the centre.
        let narrow = CameraModel::pinhole(40, 30, 29_000.0);
        let aimed = |[depression, from]: [f64; 2]| {
            let stand_off = 60.0 / depression.to_radians().tan();
            let (sin, cos) = from.to_radians().sin_cos();
            view(
                narrow,
                [stand_off * sin, stand_off * cos, 60.0],
                [from + 180.0, -depression, 0.0],
            )
            .footprint(&ViewLimits::down_from(Radians(0.1)))
            .unwrap()
        };
        let found = overlap(&aimed(a), &aimed(b)).unwrap();
        let off = (found.transition_tilt / tilt - 1.0).abs();
        assert!(off < 2e-3, "{a:?} {b:?}: {found:?}");
        let angle_off = found.view_angle.to_degrees() - angle;
        assert!(angle_off.abs() < 0.1, "{a:?} {b:?}: {found:?}");
    };
    check([90.0, 0.0], [60.0, 0.0], 1.1547, 30.0);
    check([90.0, 0.0], [45.0, 0.0], SQRT_2, 45.0);
    check([90.0, 0.0], [30.0, 0.0], 2.0, 60.0);
    check([60.0, 0.0], [45.0, 0.0], 1.2247, 15.0);
    check([60.0, 0.0], [30.0, 0.0], 1.7321, 30.0);
    check([45.0, 0.0], [30.0, 0.0], SQRT_2, 15.0);
    // Opposite sides see the ground alike; crossed ones do not.
    check([30.0, 0.0], [30.0, 180.0], 1.0, 120.0);
    check([45.0, 0.0], [45.0, 180.0], 1.0, 90.0);
    check([30.0, 0.0], [30.0, 90.0], 4.0, 75.52);
}

#[test]
fn overlap_does_not_depend_on_the_order() {
    let footprints = [
        aimed(60.0, 30.0, 0.0),
        aimed(60.0, 30.0, 100.0),
        aimed(120.0, 45.0, 30.0),
        nadir(10.0, 0.0, 30.0),
    ];
    for a in &footprints {
        for b in &footprints {
            let (Some(ab), Some(ba)) = (overlap(a, b), overlap(b, a)) else {
                panic!("all of these meet");
            };
            assert_close(ab.share, ba.share, "share");
            assert_close(ab.scale_ratio, ba.scale_ratio, "scale");
            assert_close(ab.transition_tilt, ba.transition_tilt, "tilt");
            assert_close(ab.view_angle.get(), ba.view_angle.get(), "angle");
            assert!(ab.centre.distance_to(&ba.centre) < 1e-6);
            assert!(ab.share > 0.0 && ab.share <= 1.0);
        }
    }
}

/// Two views 200 m apart may look at the same ground, and two side by side at different ones.
#[test]
fn oblique_views_meet_ahead_of_their_cameras() {
    let south = view(camera(), [0.0, -104.0, 60.0], [0.0, -30.0, 0.0]);
    let north = view(camera(), [0.0, 104.0, 60.0], [180.0, -30.0, 0.0]);
    let back_to_back = view(camera(), [0.0, -104.0, 60.0], [180.0, -30.0, 0.0]);
    let limits = ViewLimits::for_pairs(Metres(60.0));
    let [south, north, away] = [south, north, back_to_back].map(|v| v.footprint(&limits).unwrap());
    let share = overlap(&south, &north).unwrap().share;
    assert!((0.4..0.6).contains(&share), "{share}");
    assert_eq!(overlap(&south, &away), None);
}
