//! Where pixels meet the ground, how large they are there and how uncertain.

use crate::{assert_rounds_to, four_thirds_camera, view};
use calibration::camera::{CameraModel, Lens, Pixel};
use calibration::ground::{GroundNoise, GroundView, PoseSigmas};
use calibration::{Metres, Point, Radians, Rigid, Rotation};
use nalgebra::{Matrix6, UnitQuaternion, Vector2, Vector3};

/// Height m, depression degrees, stand-off m, slant m, centre sample distance cm, near and far range
/// m, near and far sample distance cm, for [`four_thirds_camera`]: worked by hand from
/// stand-off = H / tan, slant = H / sin, distance at depression a = (H / sin a) cos(a - theta)
/// times pixel over focal length, edges at theta +- 27.87 degrees.
const WORKED: [[&str; 9]; 9] = [
    ["20", "30", "35", "40", "1.07", "13", "539", "0.56", "12.7"],
    ["20", "45", "20", "28", "0.75", "6", "65", "0.49", "1.60"],
    ["20", "60", "12", "23", "0.62", "1", "32", "0.47", "0.89"],
    ["60", "30", "104", "120", "3.20", "38", "1616", "1.67", "38"],
    ["60", "45", "60", "85", "2.26", "18", "195", "1.48", "4.8"],
    ["60", "60", "35", "69", "1.85", "2", "96", "1.41", "2.7"],
    ["120", "30", "208", "240", "6.40", "75", "3232", "3.3", "76"],
    ["120", "45", "120", "170", "4.52", "37", "389", "3.0", "9.6"],
    ["120", "60", "69", "139", "3.69", "4", "191", "2.8", "5.3"],
];

fn range(view: &GroundView, pixel: Pixel) -> f64 {
    let point = view.ground_from_pixel(pixel).unwrap();
    point.horizontal_distance_to(&view.centre())
}

fn across_cm(view: &GroundView, pixel: Pixel) -> f64 {
    view.ground_sample_distance(pixel).unwrap().across.get() * 100.0
}

#[test]
fn the_planning_table() {
    for row in WORKED {
        let [
            h,
            depression,
            stand_off,
            slant,
            gsd,
            near,
            far,
            gsd_near,
            gsd_far,
        ] = row;
        let pitch: f64 = depression.parse().unwrap();
        // No number here depends on the heading.
        let view = view(
            four_thirds_camera(),
            [7.0, -3.0, h.parse().unwrap()],
            [33.0, -pitch, 0.0],
        );
        let [centre, bottom, top] = [1978.0, 3956.0, 0.0].map(|y| Pixel::new(2640.0, y));
        let name = |what: &str| format!("{h} m {depression} deg {what}");
        assert_rounds_to(range(&view, centre), stand_off, &name("stand-off"));
        let point = view.ground_from_pixel(centre).unwrap();
        let distance = point.distance_to(&view.centre());
        assert_rounds_to(distance, slant, &name("slant"));
        assert_rounds_to(across_cm(&view, centre), gsd, &name("gsd"));
        assert_rounds_to(range(&view, bottom), near, &name("near"));
        assert_rounds_to(range(&view, top), far, &name("far"));
        assert_rounds_to(across_cm(&view, bottom), gsd_near, &name("gsd near"));
        assert_rounds_to(across_cm(&view, top), gsd_far, &name("gsd far"));
        // Along the view the centre's pixel is longer by 1 / sin.
        let gsd = view.ground_sample_distance(centre).unwrap();
        let ratio = gsd.along.get() / gsd.across.get();
        let square_px = view.camera().fx / view.camera().fy;
        let expected = square_px / pitch.to_radians().sin();
        assert!((ratio / expected - 1.0).abs() < 1e-12, "{ratio} {expected}");
        let mean = (gsd.along.get() * gsd.across.get()).sqrt();
        assert!((gsd.mean.get() / mean - 1.0).abs() < 1e-12);
        let pixels = gsd.pixels_along(Metres(4.5));
        assert!((pixels * gsd.along.get() - 4.5).abs() < 1e-12);
    }
}

#[test]
fn the_planning_table_straight_down() {
    for (h, extent, gsd) in [(20.0, "11", "0.53"), (120.0, "63", "3.20")] {
        let view = view(four_thirds_camera(), [0.0, 0.0, h], [120.0, -90.0, 0.0]);
        let [centre, bottom, top] = [1978.0, 3956.0, 0.0].map(|y| Pixel::new(2640.0, y));
        assert!(range(&view, centre) < 1e-9);
        assert_rounds_to(range(&view, bottom), extent, "bottom");
        assert_rounds_to(range(&view, top), extent, "top");
        assert_rounds_to(across_cm(&view, centre), gsd, "gsd");
    }
}

#[test]
fn depressions_of_hand_worked_pixels() {
    let view = view(
        CameraModel::pinhole(2000, 2000, 1000.0),
        [0.0, 0.0, 50.0],
        [0.0, -30.0, 0.0],
    );
    let check = |x, y, expected: f64| {
        let found = view.depression(Pixel::new(x, y)).unwrap().to_degrees();
        assert!((found - expected).abs() < 1e-9, "({x}, {y}): {found}");
    };
    check(1000.0, 1000.0, 30.0);
    // 45 degrees further down and up: the bottom edge and the top edge.
    check(1000.0, 2000.0, 75.0);
    check(1000.0, 0.0, -15.0);
    assert_eq!(view.ground_from_pixel(Pixel::new(1000.0, 0.0)), None);
    // The horizon is a straight line tan(30) focal lengths above the centre.
    let horizon = 1000.0 - 1000.0 * 30f64.to_radians().tan();
    check(1000.0, horizon, 0.0);
    check(0.0, horizon, 0.0);
    assert!(
        view.ground_from_pixel(Pixel::new(0.0, horizon - 1e-6))
            .is_none()
    );
    assert!(
        view.ground_from_pixel(Pixel::new(0.0, horizon + 1e-3))
            .is_some()
    );
}

#[test]
fn a_camera_under_the_plane_or_on_it_sees_no_ground() {
    for z in [-10.0, 0.0] {
        for pitch in [-90.0, -30.0, 30.0, 90.0] {
            let view = view(
                CameraModel::pinhole(640, 480, 500.0),
                [0.0, 0.0, z],
                [0.0, pitch, 0.0],
            );
            assert_eq!(view.ground_from_pixel(Pixel::new(320.0, 240.0)), None);
            assert!(view.ground_point(Pixel::new(320.0, 300.0)).is_none());
        }
    }
}

fn lenses() -> [Lens; 3] {
    [
        Lens::PINHOLE,
        Lens::BrownConrady {
            k1: -0.2,
            k2: 0.05,
            p1: 0.002,
            p2: -0.003,
            k3: 0.0,
        },
        Lens::Fisheye {
            k1: 0.05,
            k2: -0.01,
            k3: 0.0,
            k4: 0.0,
        },
    ]
}

#[test]
fn derivatives_agree_with_finite_differences() {
    for lens in lenses() {
        let camera = CameraModel {
            lens,
            ..CameraModel::pinhole(4000, 3000, 2900.0)
        };
        for angles in [[0.0, -90.0, 0.0], [40.0, -60.0, 5.0], [200.0, -35.0, -20.0]] {
            let view = view(camera, [10.0, 20.0, 80.0], angles);
            for pixel in [(2000.0, 1500.0), (300.0, 2800.0), (3500.0, 1100.0)] {
                check_derivatives(&view, Pixel::new(pixel.0, pixel.1));
            }
        }
    }
}

fn check_derivatives(view: &GroundView, pixel: Pixel) {
    let at = view.ground_point(pixel).unwrap();
    let map = |view: &GroundView, x: f64, y: f64| -> Vector2<f64> {
        let point = view.ground_from_pixel(Pixel::new(x, y)).unwrap();
        point.vector.xy()
    };
    let near = |analytic: Vector2<f64>, numeric: Vector2<f64>, what: &str| {
        let off = (analytic - numeric).norm();
        assert!(
            off < 1e-6 * (1.0 + numeric.norm()),
            "{what}: {analytic} {numeric}"
        );
    };
    let step = 1e-3;
    for axis in 0..2 {
        let (dx, dy) = if axis == 0 { (step, 0.0) } else { (0.0, step) };
        let ahead = map(view, pixel.x + dx, pixel.y + dy);
        let behind = map(view, pixel.x - dx, pixel.y - dy);
        near(
            at.by_pixel.column(axis).into(),
            (ahead - behind) / (2.0 * step),
            "pixel",
        );
    }
    let step = 1e-5;
    for axis in 0..3 {
        let mut along = Vector3::zeros();
        along[axis] = step;
        let turned = |vector: Vector3<f64>| {
            let enu_from_enu = Rotation::from_quaternion(UnitQuaternion::from_scaled_axis(vector));
            let enu_from_camera = enu_from_enu * view.camera_from_enu().rotation.inverse();
            let pose = Rigid::from_centre(enu_from_camera.inverse(), view.centre());
            map(
                &GroundView::new(*view.camera(), pose, view.ground_z()),
                pixel.x,
                pixel.y,
            )
        };
        let numeric = (turned(along) - turned(-along)) / (2.0 * step);
        near(at.by_rotation.column(axis).into(), numeric, "rotation");
        let moved = |vector: Vector3<f64>| {
            let centre = Point::from_vector(view.centre().vector + vector);
            let pose = Rigid::from_centre(view.camera_from_enu().rotation, centre);
            map(
                &GroundView::new(*view.camera(), pose, view.ground_z()),
                pixel.x,
                pixel.y,
            )
        };
        let numeric = (moved(along) - moved(-along)) / (2.0 * step);
        near(at.by_centre.column(axis).into(), numeric, "centre");
    }
    let lifted = |dz: f64| {
        let plane = Metres(view.ground_z().get() + dz);
        let lifted = GroundView::new(*view.camera(), *view.camera_from_enu(), plane);
        map(&lifted, pixel.x, pixel.y)
    };
    near(
        at.by_ground_z.xy(),
        (lifted(step) - lifted(-step)) / (2.0 * step),
        "plane",
    );
    assert_eq!(at.by_ground_z.z, 1.0);
}

/// What a table of anchor errors is made from: name, horizontal and vertical sigma m, pitch and yaw
/// sigma degrees, height m.
struct Poses {
    horizontal: f64,
    vertical: f64,
    pitch: f64,
    yaw: f64,
    height: f64,
}

const PITCHES: [f64; 4] = [90.0, 60.0, 45.0, 30.0];

impl Poses {
    /// Along and across the view at a depression, from the covariance of the centre pixel with 5 px
    /// at a focal length of 2900 px.
    fn sigmas(&self, depression: f64, sideways: f64) -> (f64, f64) {
        let camera = CameraModel::pinhole(4000, 3000, 2900.0);
        let view = view(camera, [0.0, 0.0, self.height], [25.0, -depression, 0.0]);
        let rotation = view.camera_from_enu().rotation;
        let mut pose = PoseSigmas {
            horizontal: Metres(self.horizontal),
            vertical: Metres(self.vertical),
            yaw: Radians::from_degrees(self.yaw),
            pitch: Radians::from_degrees(self.pitch),
            // Turning about the optical axis does not move the centre pixel.
            roll: Radians::from_degrees(3.0),
        }
        .covariance(&rotation);
        // A tilt about the image's vertical axis, which no gimbal angle is.
        let axis = rotation.inverse().matrix().column(1).into_owned();
        let tilt = axis * axis.transpose() * sideways.to_radians().powi(2);
        let mut block = pose.fixed_view_mut::<3, 3>(0, 0);
        block += tilt;
        let at = view.ground_point(Pixel::new(2000.0, 1500.0)).unwrap();
        let covariance = at.covariance(&GroundNoise::new(5.0, pose, Metres(0.0)));
        let (along, across) = at.along_and_across(&covariance);
        (along.get(), across.get())
    }

    /// The formulas for the same: along^2 = s_xy^2 + (s_z / tan p)^2 + (h s_p / sin^2 p)^2
    /// + (s_px h / (f sin^2 p))^2 and across^2 = s_xy^2 + (h s_yaw / tan p)^2
    /// + (s_px h / (f sin p))^2.
    fn formulas(&self, depression: f64) -> (f64, f64) {
        let (sin, cos) = depression.to_radians().sin_cos();
        let norm = |terms: &[f64]| terms.iter().map(|term| term * term).sum::<f64>().sqrt();
        let pixel = 5.0 / 2900.0 * self.height;
        let along = norm(&[
            self.horizontal,
            self.vertical * cos / sin,
            self.height * self.pitch.to_radians() / (sin * sin),
            pixel / (sin * sin),
        ]);
        let across = norm(&[
            self.horizontal,
            self.height * self.yaw.to_radians() * cos / sin,
            pixel / sin,
        ]);
        (along, across)
    }
}

fn poses(horizontal: f64, vertical: f64, pitch: f64, yaw: f64, height: f64) -> Poses {
    Poses {
        horizontal,
        vertical,
        pitch,
        yaw,
        height,
    }
}

#[test]
fn covariances_follow_the_formulas() {
    for height in [20.0, 60.0, 120.0] {
        for row in [
            poses(1.5, 0.5, 0.5, 2.0, height),
            poses(0.05, 0.05, 0.5, 1.5, height),
            poses(0.05, 0.05, 0.05, 0.05, height),
        ] {
            for depression in PITCHES {
                let (along, across) = row.sigmas(depression, 0.0);
                let (expected_along, expected_across) = row.formulas(depression);
                assert!(
                    (along / expected_along - 1.0).abs() < 1e-9,
                    "{height} {depression}"
                );
                assert!(
                    (across / expected_across - 1.0).abs() < 1e-9,
                    "{height} {depression}"
                );
            }
        }
    }
}

/// A table of the same errors, metres along / across. Its numbers contain a sideways tilt
/// of half the pitch's sigma, which shows where yaw does nothing (straight down), and a little more
/// than its formulas; they are met to one unit of the last digit. A value given once is that along
/// the view.
#[test]
fn covariances_agree_with_the_table_of_anchor_errors() {
    let check = |row: Poses, unit: f64, printed: [(f64, Option<f64>); 4]| {
        for (depression, (along, across)) in PITCHES.into_iter().zip(printed) {
            let found = row.sigmas(depression, row.pitch / 2.0);
            let at = (row.height, depression);
            assert!((found.0 - along).abs() < unit, "{at:?}: {found:?} {along}");
            if let Some(across) = across {
                assert!(
                    (found.1 - across).abs() < unit,
                    "{at:?}: {found:?} {across}"
                );
            }
        }
    };
    let both = |along, across| (along, Some(across));
    let raw = |height| poses(1.5, 0.5, 0.5, 2.0, height);
    check(
        raw(20.0),
        0.1,
        [
            both(1.5, 1.5),
            both(1.6, 1.6),
            both(1.6, 1.7),
            both(1.9, 1.9),
        ],
    );
    check(
        raw(60.0),
        0.1,
        [
            both(1.6, 1.5),
            both(1.7, 2.0),
            both(1.9, 2.6),
            both(2.8, 4.0),
        ],
    );
    check(
        raw(120.0),
        0.1,
        [
            both(1.8, 1.6),
            both(2.1, 2.9),
            both(2.7, 4.5),
            both(4.6, 7.5),
        ],
    );
    let rtk = |height| poses(0.05, 0.05, 0.5, 1.5, height);
    check(
        rtk(60.0),
        0.1,
        [
            both(0.5, 0.3),
            both(0.7, 1.0),
            both(1.1, 1.6),
            both(2.1, 2.8),
        ],
    );
    check(
        rtk(120.0),
        0.1,
        [
            both(1.1, 0.6),
            both(1.4, 1.9),
            both(2.1, 3.2),
            both(4.3, 5.6),
        ],
    );
    let sfm = |height| poses(0.05, 0.05, 0.05, 0.05, height);
    check(
        sfm(20.0),
        0.01,
        [
            (0.06, None),
            both(0.08, 0.07),
            both(0.10, 0.07),
            both(0.18, 0.09),
        ],
    );
    check(
        sfm(60.0),
        0.01,
        [
            (0.13, None),
            both(0.17, 0.14),
            both(0.24, 0.17),
            both(0.47, 0.24),
        ],
    );
    check(
        sfm(120.0),
        0.01,
        [
            (0.24, None),
            both(0.31, 0.26),
            both(0.47, 0.32),
            both(0.93, 0.47),
        ],
    );
}

/// A ground that is a metre higher moves the place by 1 / tan towards the camera.
#[test]
fn the_plane_s_height_counts_along_the_view_and_up() {
    for (depression, expected) in [(60.0, 0.577), (45.0, 1.0), (30.0, 1.732)] {
        let camera = CameraModel::pinhole(4000, 3000, 2900.0);
        let view = view(camera, [0.0, 0.0, 60.0], [0.0, -depression, 0.0]);
        let at = view.ground_point(Pixel::new(2000.0, 1500.0)).unwrap();
        let noise = GroundNoise::new(0.0, Matrix6::zeros(), Metres(1.0));
        let covariance = at.covariance(&noise);
        let (along, across) = at.along_and_across(&covariance);
        assert!((along.get() - expected).abs() < 1e-3, "{along:?}");
        assert!(across.get() < 1e-9);
        assert!((covariance[(2, 2)] - 1.0).abs() < 1e-12);
        // The camera looks north: higher ground is nearer, so the two are anticorrelated.
        assert!((covariance[(1, 2)] + expected).abs() < 1e-3, "{covariance}");
    }
}
