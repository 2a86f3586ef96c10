//! Footprints against hand-worked shapes and against a search over the ground.

use crate::{four_thirds_camera, view};
use calibration::camera::{CameraModel, Lens, Pixel};
use calibration::ground::{Footprint, GroundView, POINTS_PER_EDGE, ViewLimits};
use calibration::profiles;
use calibration::{Metres, Point, Radians};

fn depression(degrees: f64) -> ViewLimits {
    ViewLimits::down_from(Radians::from_degrees(degrees))
}

fn ranges(view: &GroundView, footprint: &Footprint) -> Vec<f64> {
    let centre = view.centre().vector.xy();
    let corners = footprint.corners().iter();
    corners.map(|corner| (corner - centre).norm()).collect()
}

/// The area of what a picture covers, by asking places on a grid whether they are in it: shares
/// nothing with the border walk.
fn searched_area(view: &GroundView, limits: &ViewLimits, reach: f64, cells: u32) -> f64 {
    let step = 2.0 * reach / f64::from(cells);
    let under = view.centre().vector;
    let place = |cell: u32| (f64::from(cell) + 0.5) * step - reach;
    let mut count = 0u32;
    for row in 0..cells {
        for column in 0..cells {
            let point = Point::new(under.x + place(column), under.y + place(row), 0.0);
            let offset = point.vector - under;
            let range = offset.xy().norm();
            let is_seen = view
                .pixel_from_enu(point)
                .is_some_and(|pixel| view.camera().contains(pixel));
            let is_near = limits.max_range.is_none_or(|limit| range <= limit.get())
                && under.z.atan2(range) >= limits.min_depression.get();
            count += u32::from(is_seen && is_near);
        }
    }
    f64::from(count) * step * step
}

fn assert_area(found: f64, expected: f64, tolerance: f64, what: &str) {
    assert!(
        (found / expected - 1.0).abs() < tolerance,
        "{what}: {found}, expected {expected}"
    );
}

#[test]
fn a_nadir_pinhole_covers_a_rectangle() {
    let camera = CameraModel::pinhole(4000, 3000, 2000.0);
    let view = view(camera, [100.0, -50.0, 60.0], [90.0, -90.0, 0.0]);
    let footprint = view.footprint(&depression(8.0)).unwrap();
    // 60 / 2000 = 0.03 m per pixel: 120 m along the image's x, which points south, by 90 m.
    assert_area(footprint.area_m2(), 120.0 * 90.0, 1e-12, "area");
    assert_eq!(footprint.hull().len(), 4);
    assert_eq!(footprint.corners().len(), 4 * POINTS_PER_EDGE as usize);
    assert!(!footprint.is_clipped());
    assert!(
        footprint
            .centre()
            .distance_to(&Point::new(100.0, -50.0, 0.0))
            < 1e-9
    );
    assert!(footprint.contains(&Point::new(144.0, -109.0, 3.0)));
    assert!(!footprint.contains(&Point::new(146.0, -50.0, 0.0)));
    assert!(!footprint.contains(&Point::new(100.0, -111.0, 0.0)));
}

#[test]
fn the_four_thirds_camera_at_30_degrees_looks_two_degrees_under_the_horizon() {
    let profile = profiles::by_id("dji-m3e").unwrap();
    for camera in [profile.camera, four_thirds_camera()] {
        let view = view(camera, [0.0, 0.0, 120.0], [0.0, -30.0, 0.0]);
        let top = Pixel::new(f64::from(camera.width) / 2.0, 0.0);
        let edge = view.depression(top).unwrap().to_degrees();
        assert!((2.0..2.3).contains(&edge), "{edge}");
        assert!(!view.has_horizon_in_frame());
        let whole = view.footprint(&depression(0.1)).unwrap();
        assert!(!whole.is_clipped());
        let far = ranges(&view, &whole).into_iter().fold(0.0, f64::max);
        assert!((3000.0..5000.0).contains(&far), "{far}");
        // Two degrees more and the horizon is in the frame.
        let flatter = crate::view(camera, [0.0, 0.0, 120.0], [0.0, -27.5, 0.0]);
        assert!(flatter.has_horizon_in_frame());
        let clipped = flatter.footprint(&depression(8.0)).unwrap();
        assert!(clipped.is_clipped());
    }
}

#[test]
fn a_horizon_in_frame_ends_on_an_arc() {
    let camera = CameraModel::pinhole(4000, 3000, 2900.0);
    let view = view(camera, [0.0, 0.0, 60.0], [70.0, -15.0, 0.0]);
    assert!(view.has_horizon_in_frame());
    let limits = depression(8.0);
    let footprint = view.footprint(&limits).unwrap();
    assert!(footprint.is_clipped());
    let limit = 60.0 / 8f64.to_radians().tan();
    let ranges = ranges(&view, &footprint);
    let far = ranges.iter().copied().fold(0.0, f64::max);
    assert!(far <= limit && far > limit * (1.0 - 1e-5), "{far} {limit}");
    let on_the_arc = ranges.iter().filter(|range| **range > limit * (1.0 - 1e-5));
    assert!(on_the_arc.count() > POINTS_PER_EDGE as usize);
    let expected = searched_area(&view, &limits, limit, 1500);
    assert_area(footprint.area_m2(), expected, 0.005, "area");
}

#[test]
fn a_short_range_leaves_a_disc_or_nothing() {
    let camera = CameraModel::pinhole(4000, 3000, 2000.0);
    let straight_down = view(camera, [5.0, 6.0, 60.0], [0.0, -90.0, 0.0]);
    let within = |metres: f64| ViewLimits {
        max_range: Some(Metres(metres)),
        ..depression(8.0)
    };
    let disc = straight_down.footprint(&within(20.0)).unwrap();
    let area = std::f64::consts::PI * 400.0;
    // The border's 64 samples make a polygon inside the circle.
    assert!(disc.area_m2() < area);
    assert_area(disc.area_m2(), area, 0.005, "disc");
    assert!(straight_down.footprint(&within(0.5)).is_some());
    // This one sees nothing nearer than 100 m.
    let ahead = view(camera, [0.0, 0.0, 100.0], [0.0, -8.0, 0.0]);
    assert_eq!(ahead.footprint(&within(99.0)), None);
    assert!(ahead.footprint(&within(130.0)).is_some());
    // And these see no ground at all.
    let up = view(camera, [0.0, 0.0, 100.0], [0.0, 45.0, 0.0]);
    assert_eq!(up.footprint(&depression(1.0)), None);
    let below = view(camera, [0.0, 0.0, -1.0], [0.0, -45.0, 0.0]);
    assert_eq!(below.footprint(&depression(1.0)), None);
}

#[test]
fn a_coarsest_sample_distance_ends_the_view_on_a_line() {
    let camera = CameraModel::pinhole(4000, 3000, 2900.0);
    let view = view(camera, [0.0, 0.0, 60.0], [0.0, -30.0, 0.0]);
    let centre = view
        .ground_sample_distance(Pixel::new(2000.0, 1500.0))
        .unwrap();
    let limits = ViewLimits {
        max_gsd: Some(centre.across * 3.0),
        ..depression(1.0)
    };
    let footprint = view.footprint(&limits).unwrap();
    assert!(footprint.is_clipped());
    // Three times the centre's depth of 120 m: north = (360 - 60 sin 30) / cos 30.
    let expected = (360.0 - 30.0) / 30f64.to_radians().cos();
    let far = footprint.corners().iter().map(|corner| corner.y);
    let far = far.fold(f64::NEG_INFINITY, f64::max);
    assert!((far / expected - 1.0).abs() < 0.01, "{far} {expected}");
}

#[test]
fn distorted_and_rolled_pictures_cover_what_a_search_finds() {
    let barrel = Lens::BrownConrady {
        k1: -0.3,
        k2: 0.1,
        p1: 0.002,
        p2: -0.001,
        k3: 0.0,
    };
    let fisheye = Lens::Fisheye {
        k1: 0.02,
        k2: -0.01,
        k3: 0.0,
        k4: 0.0,
    };
    // How much larger the hull may be: hollow sides are what distortion makes of straight ones.
    let lenses = [
        (Lens::PINHOLE, 2900.0, 1.001),
        (barrel, 2900.0, 1.25),
        (fisheye, 1400.0, 1.5),
    ];
    for (lens, focal_px, most_hollow) in lenses {
        let camera = CameraModel {
            lens,
            ..CameraModel::pinhole(4000, 3000, focal_px)
        };
        for angles in [
            [0.0, -90.0, 0.0],
            [30.0, -60.0, 12.0],
            [250.0, -30.0, -25.0],
        ] {
            let view = view(camera, [3.0, -4.0, 40.0], angles);
            let limits = ViewLimits::for_pairs(Metres(40.0));
            let footprint = view.footprint(&limits).unwrap();
            let expected = searched_area(&view, &limits, 160.0, 1200);
            let what = format!("{lens:?} {angles:?}");
            assert_area(footprint.area_m2(), expected, 0.01, &what);
            let hull = calibration::ground::polygon::area(footprint.hull());
            let hollow = hull / footprint.area_m2();
            assert!(
                (1.0 - 1e-12..most_hollow).contains(&hollow),
                "{what}: {hollow}"
            );
        }
    }
}
