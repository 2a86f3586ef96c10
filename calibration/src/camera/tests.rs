use super::*;
use nalgebra::Vector3;

fn camera(lens: Lens) -> CameraModel {
    CameraModel {
        width: 4000,
        height: 3000,
        fx: 2000.0,
        fy: 1900.0,
        cx: 2010.0,
        cy: 1495.0,
        lens,
    }
}

fn brown(k1: f64, k2: f64, p1: f64, p2: f64, k3: f64) -> Lens {
    Lens::BrownConrady { k1, k2, p1, p2, k3 }
}

fn fisheye(k1: f64, k2: f64, k3: f64, k4: f64) -> Lens {
    Lens::Fisheye { k1, k2, k3, k4 }
}

/// Pixels worked by hand from OpenCV's published formulas. (0.5, -0.25, 1) has r^2 = 0.3125,
/// r^4 = 0.09765625, r^6 = 0.030517578125.
#[test]
fn projections_of_hand_worked_points() {
    let check = |lens, point: [f64; 3], expected: [f64; 2]| {
        let pixel = camera(lens)
            .pixel_from_camera(Point::from_vector(Vector3::from(point)))
            .unwrap();
        assert!(
            (pixel.x - expected[0]).abs() < 1e-9 && (pixel.y - expected[1]).abs() < 1e-9,
            "{lens:?} {point:?}: {pixel:?}"
        );
    };
    let point = [1.0, -0.5, 2.0];
    check(Lens::PINHOLE, point, [3010.0, 1020.0]);
    // Radial factor 1 - 0.1 * 0.3125 = 0.96875.
    check(
        brown(-0.1, 0.0, 0.0, 0.0, 0.0),
        point,
        [2978.75, 1034.84375],
    );
    // 1 + 0.1 * 0.3125 + 0.2 * 0.09765625 + 0.4 * 0.030517578125 = 1.06298828125
    check(
        brown(0.1, 0.2, 0.0, 0.0, 0.4),
        point,
        [2010.0 + 1062.98828125, 1495.0 - 504.91943359375],
    );
    // x + 2 p1 x y + p2 (r^2 + 2 x^2) = 0.5 - 0.0025 + 0.02 * 0.8125 = 0.51375
    // y + p1 (r^2 + 2 y^2) + 2 p2 x y = -0.25 + 0.01 * 0.4375 - 0.005 = -0.250625
    check(brown(0.0, 0.0, 0.01, 0.02, 0.0), point, [3037.5, 1018.8125]);
    // 45 degrees to the right: theta = pi/4, equidistant.
    let quarter = std::f64::consts::FRAC_PI_4;
    check(
        fisheye(0.0, 0.0, 0.0, 0.0),
        [3.0, 0.0, 3.0],
        [2010.0 + 2000.0 * quarter, 1495.0],
    );
    // 90 degrees down, which a pinhole cannot see: theta (1 + 0.1 theta^2).
    let theta = 2.0 * quarter;
    check(
        fisheye(0.1, 0.0, 0.0, 0.0),
        [0.0, 2.0, 0.0],
        [
            2010.0,
            1495.0 + 1900.0 * theta * (1.0 + 0.1 * theta * theta),
        ],
    );
    check(
        fisheye(0.1, 0.0, 0.0, 0.0),
        [0.0, 0.0, 2.0],
        [2010.0, 1495.0],
    );
}

#[test]
fn points_outside_the_field_have_no_pixel() {
    let none = |lens, point: [f64; 3]| {
        let point = Point::from_vector(Vector3::from(point));
        assert_eq!(
            camera(lens).pixel_from_camera(point),
            None,
            "{lens:?} {point:?}"
        );
        assert!(camera(lens).pixel_and_jacobian(point).is_none());
    };
    let barrel = brown(-0.3, 0.0, 0.0, 0.0, 0.0);
    none(Lens::PINHOLE, [0.0, 0.0, 0.0]);
    none(Lens::PINHOLE, [0.0, 0.0, -1.0]);
    none(Lens::PINHOLE, [f64::NAN, 0.0, 1.0]);
    none(Lens::PINHOLE, [0.0, 0.0, f64::NAN]);
    // The fold of k1 = -0.3 is at r = sqrt(1 / 0.9) = 1.054.
    none(barrel, [1.06, 0.0, 1.0]);
    // Past it the formula crosses the picture again: 1.8 (1 - 0.3 * 3.24) = 0.05.
    none(barrel, [1.8, 0.0, 1.0]);
    none(fisheye(0.0, 0.0, 0.0, 0.0), [0.0, 0.0, -1.0]);
    none(fisheye(0.0, 0.0, 0.0, 0.0), [0.0, f64::NAN, 1.0]);
    // 1 - 0.9 theta^2 falls below zero at 1.054; -0.3, 0.05 turns it up again further out.
    none(fisheye(-0.3, 0.0, 0.0, 0.0), [1.8, 0.0, 1.0]);
    none(fisheye(-0.4, 0.03, 0.02, 0.0), [0.1, 0.0, -1.0]);
}

/// The picture's corners of strong lenses, up to a thousandth before the fold, along a diagonal.
#[test]
fn undistortion_reaches_the_fold_of_strong_lenses() {
    let check = |lens: Lens, fold: f64| {
        for share in [0.1, 0.5, 0.9, 0.99, 0.999] {
            let radius = fold * share;
            let at = match lens {
                Lens::BrownConrady { .. } => Vector3::new(0.8 * radius, 0.6 * radius, 1.0),
                Lens::Fisheye { .. } => {
                    let (sin, cos) = radius.sin_cos();
                    Vector3::new(0.8 * sin, 0.6 * sin, cos)
                }
            };
            let camera = camera(lens);
            let pixel = camera.pixel_from_camera(Point::from_vector(at)).unwrap();
            let ray = camera
                .ray_from_pixel(pixel)
                .unwrap_or_else(|| panic!("{lens:?} at {share} of the fold"));
            let again = camera
                .pixel_from_camera(Point::from_vector(ray.vector))
                .unwrap();
            let off = (again.x - pixel.x).hypot(again.y - pixel.y);
            assert!(off < 1e-6, "{lens:?} {share}: {off}");
            let angle = ray.angle_to(&Direction::from_vector(at));
            assert!(angle < 1e-6, "{lens:?} {share}: {angle}");
        }
    };
    check(brown(-0.3, 0.0, 0.0, 0.0, 0.0), (1.0f64 / 0.9).sqrt());
    check(brown(-0.6, 0.0, 0.0, 0.0, 0.0), (1.0f64 / 1.8).sqrt());
    // 1 + 1.5 s - 4.5 s^2 = 0 at s = 2/3.
    check(brown(0.5, -0.9, 0.0, 0.0, 0.0), (2.0f64 / 3.0).sqrt());
    check(brown(0.19, -0.46, 0.0, 0.0, 0.24), 1.2);
    check(fisheye(-0.3, 0.0, 0.0, 0.0), (1.0f64 / 0.9).sqrt());
    check(fisheye(-0.05, -0.01, 0.0, 0.0), 1.6);
    check(fisheye(0.3, 0.1, 0.0, 0.0), 3.0);
}

/// Radially this lens only nearly folds (slope 0.02 at r = 1.1); with its tangential part it does,
/// and points at both sides of the fold would share pixels.
#[test]
fn tangential_distortion_counts_towards_the_fold() {
    let nearly = |p1, p2| camera(brown(-0.1038, -0.2885, p1, p2, 0.122));
    let far = Point::new(-0.995, -0.624, 1.0);
    assert!(nearly(0.0, 0.0).pixel_from_camera(far).is_some());
    assert_eq!(nearly(0.0077, 0.0055).pixel_from_camera(far), None);
    let near = Point::new(-0.5, -0.3, 1.0);
    let pixel = nearly(0.0077, 0.0055).pixel_from_camera(near).unwrap();
    let ray = nearly(0.0077, 0.0055).ray_from_pixel(pixel).unwrap();
    assert!(ray.angle_to(&Direction::from_vector(near.vector)) < 1e-9);
}

#[test]
fn pixels_outside_the_field_have_no_ray() {
    // The highest image of k1 = -0.3 lies 0.7027 focal lengths from the middle.
    let barrel = camera(brown(-0.3, 0.0, 0.0, 0.0, 0.0));
    assert!(
        barrel
            .ray_from_pixel(Pixel::new(2010.0 + 1405.0, 1495.0))
            .is_some()
    );
    assert_eq!(
        barrel.ray_from_pixel(Pixel::new(2010.0 + 1406.0, 1495.0)),
        None
    );
    assert_eq!(barrel.ray_from_pixel(Pixel::new(f64::NAN, 0.0)), None);
    assert_eq!(barrel.ray_from_pixel(Pixel::new(0.0, f64::INFINITY)), None);
    let fisheye = camera(fisheye(0.0, 0.0, 0.0, 0.0));
    assert!(
        fisheye
            .ray_from_pixel(Pixel::new(2010.0 + 6283.0, 1495.0))
            .is_some()
    );
    assert_eq!(
        fisheye.ray_from_pixel(Pixel::new(2010.0 + 6284.0, 1495.0)),
        None
    );
}

#[test]
fn jacobians_agree_with_finite_differences() {
    let lenses = [
        Lens::PINHOLE,
        brown(-0.2, 0.05, 0.002, -0.003, 0.01),
        fisheye(0.1, -0.05, 0.02, -0.01),
        fisheye(0.0, 0.0, 0.0, 0.0),
    ];
    let points = [
        [0.0, 0.0, 2.0],
        [1e-9, 0.0, 2.0],
        [0.4, -0.7, 1.5],
        [-1.0, 0.2, 1.2],
    ];
    for lens in lenses {
        for point in points {
            let camera = camera(lens);
            let point = Vector3::from(point);
            let at = Point::from_vector(point);
            let (pixel, by_point) = camera.pixel_and_jacobian(at).unwrap();
            for axis in 0..3 {
                let seen = |step: f64| {
                    let mut moved = point;
                    moved[axis] += step;
                    let pixel = camera.pixel_from_camera(Point::from_vector(moved)).unwrap();
                    Vector2::new(pixel.x, pixel.y)
                };
                let expected = (seen(1e-6) - seen(-1e-6)) / 2e-6;
                let off = (by_point.column(axis) - expected).norm();
                assert!(off < 1e-4, "{lens:?} {point} {axis}: {off}");
            }
            let (_, ray_by_pixel) = camera.ray_and_jacobian(pixel).unwrap();
            let ray = |dx: f64, dy: f64| {
                let moved = Pixel::new(pixel.x + dx, pixel.y + dy);
                camera.ray_from_pixel(moved).unwrap().vector
            };
            let expected_x = (ray(0.01, 0.0) - ray(-0.01, 0.0)) / 0.02;
            let expected_y = (ray(0.0, 0.01) - ray(0.0, -0.01)) / 0.02;
            assert!(
                (ray_by_pixel.column(0) - expected_x).norm() < 1e-9,
                "{lens:?} {point}"
            );
            assert!(
                (ray_by_pixel.column(1) - expected_y).norm() < 1e-9,
                "{lens:?} {point}"
            );
        }
    }
}

#[test]
fn scaling_and_cropping_move_pixels_with_the_picture() {
    let full = camera(brown(-0.1, 0.02, 0.001, 0.002, 0.0));
    let point = Point::new(0.3, -0.2, 1.0);
    let at = full.pixel_from_camera(point).unwrap();
    let half = full.scaled_to(2000, 1500).pixel_from_camera(point).unwrap();
    assert!((half.x - at.x / 2.0).abs() < 1e-9 && (half.y - at.y / 2.0).abs() < 1e-9);
    let crop = full.cropped_to(100.0, 50.0, 3800, 2900);
    let seen = crop.pixel_from_camera(point).unwrap();
    assert!((seen.x - at.x + 100.0).abs() < 1e-9 && (seen.y - at.y + 50.0).abs() < 1e-9);
}

#[test]
fn numbers_that_no_camera_has_are_named() {
    let good = camera(brown(-0.1, 0.0, 0.0, 0.0, 0.0));
    assert!(good.checked().is_ok());
    let check = |bad: CameraModel, named: &str| {
        let message = bad.checked().unwrap_err().to_string();
        assert!(message.starts_with(named), "{message}");
    };
    check(CameraModel { width: 0, ..good }, "width is 0");
    check(CameraModel { fy: -3.0, ..good }, "fy is -3");
    check(
        CameraModel {
            cx: f64::NAN,
            ..good
        },
        "cx is NaN",
    );
    let lens = brown(f64::INFINITY, 0.0, 0.0, 0.0, 0.0);
    check(CameraModel { lens, ..good }, "lens is inf");
}

/// A point seen by the stored camera lies, after the picture is turned, where the turned
/// camera sees the turned point.
#[test]
fn a_turned_picture_has_a_turned_camera() {
    let stored = CameraModel {
        width: 4000,
        height: 3000,
        fx: 2900.0,
        fy: 2910.0,
        cx: 2010.0,
        cy: 1490.0,
        lens: Lens::BrownConrady {
            k1: -0.02,
            k2: 0.01,
            p1: 0.001,
            p2: -0.002,
            k3: 0.0,
        },
    };
    let point = Point::new(0.3, -0.2, 1.0);
    let seen = stored
        .pixel_from_camera(point)
        .expect("in front of the camera");
    let check = |quarter_turns: u8, turned_point: Point<_>, expected: Pixel| {
        let camera = stored.turned(quarter_turns);
        let pixel = camera
            .pixel_from_camera(turned_point)
            .expect("in front of the camera");
        assert!(
            (pixel.x - expected.x).abs() < 1e-9,
            "{quarter_turns}: {pixel:?} {expected:?}"
        );
        assert!(
            (pixel.y - expected.y).abs() < 1e-9,
            "{quarter_turns}: {pixel:?} {expected:?}"
        );
    };
    check(0, point, seen);
    check(
        1,
        Point::new(0.2, 0.3, 1.0),
        Pixel::new(3000.0 - seen.y, seen.x),
    );
    check(
        2,
        Point::new(-0.3, 0.2, 1.0),
        Pixel::new(4000.0 - seen.x, 3000.0 - seen.y),
    );
    check(
        3,
        Point::new(-0.2, -0.3, 1.0),
        Pixel::new(seen.y, 4000.0 - seen.x),
    );
}
