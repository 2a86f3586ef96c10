//! What holds for every camera, transform, place and polygon.

use crate::view;
use calibration::camera::{CameraModel, Lens, Pixel};
use calibration::frames::{Body, Camera, Ecef, Enu, Ned, Solution};
use calibration::ground::polygon;
use calibration::{
    Direction, Geodetic, LocalOrigin, Metres, Point, Radians, Rigid, Rotation, Similarity,
};
use nalgebra::{UnitQuaternion, Vector2, Vector3};
use proptest::prelude::*;
use std::f64::consts::{PI, TAU};

fn brown_conrady() -> impl Strategy<Value = Lens> {
    (
        -0.5..0.3f64,
        -0.3..0.4f64,
        -0.01..0.01f64,
        -0.01..0.01f64,
        -0.3..0.3f64,
    )
        .prop_map(|(k1, k2, p1, p2, k3)| Lens::BrownConrady { k1, k2, p1, p2, k3 })
}

fn fisheye() -> impl Strategy<Value = Lens> {
    (-0.3..0.3f64, -0.1..0.1f64, -0.05..0.05f64, -0.02..0.02f64)
        .prop_map(|(k1, k2, k3, k4)| Lens::Fisheye { k1, k2, k3, k4 })
}

fn camera() -> impl Strategy<Value = CameraModel> {
    let lens = prop_oneof![brown_conrady(), fisheye()];
    (
        lens,
        0.5..1.5f64,
        0.98..1.02f64,
        -0.05..0.05f64,
        -0.05..0.05f64,
    )
        .prop_map(|(lens, focal, aspect, off_x, off_y)| CameraModel {
            width: 5280,
            height: 3956,
            fx: 5280.0 * focal,
            fy: 5280.0 * focal * aspect,
            cx: 5280.0 * (0.5 + off_x),
            cy: 3956.0 * (0.5 + off_y),
            lens,
        })
}

fn rotation() -> impl Strategy<Value = UnitQuaternion<f64>> {
    (-PI..PI, -PI / 2.0..PI / 2.0, -PI..PI)
        .prop_map(|(roll, pitch, yaw)| UnitQuaternion::from_euler_angles(roll, pitch, yaw))
}

fn vector(reach: f64) -> impl Strategy<Value = Vector3<f64>> {
    (-reach..reach, -reach..reach, -reach..reach).prop_map(|(x, y, z)| Vector3::new(x, y, z))
}

fn rigid<T: calibration::Frame, S: calibration::Frame>() -> impl Strategy<Value = Rigid<T, S>> {
    (rotation(), vector(1e3))
        .prop_map(|(rotation, t)| Rigid::new(Rotation::from_quaternion(rotation), t))
}

fn similarity<T: calibration::Frame, S: calibration::Frame>()
-> impl Strategy<Value = Similarity<T, S>> {
    (1e-2..1e2f64, rotation(), vector(1e3)).prop_map(|(scale, rotation, t)| {
        Similarity::new(scale, Rotation::from_quaternion(rotation), t).unwrap()
    })
}

/// Places everywhere, the poles and the antimeridian more often than chance would have it.
fn place() -> impl Strategy<Value = Geodetic> {
    let latitude = prop_oneof![
        8 => -90.0..=90.0f64,
        1 => prop::sample::select(vec![-90.0, -89.999_999_9, 0.0, 89.999_999_9, 90.0]),
    ];
    let longitude = prop_oneof![
        8 => -180.0..=180.0f64,
        1 => prop::sample::select(vec![-180.0, -179.999_999_9, 0.0, 179.999_999_9, 180.0]),
    ];
    (latitude, longitude, -1e3..1e4f64).prop_map(|(latitude, longitude, height)| {
        Geodetic::from_degrees(latitude, longitude, Metres(height)).unwrap()
    })
}

fn convex_polygon() -> impl Strategy<Value = Vec<Vector2<f64>>> {
    prop::collection::vec((-50.0..50.0f64, -50.0..50.0f64), 3..12).prop_map(|points| {
        let points: Vec<_> = points.iter().map(|(x, y)| Vector2::new(*x, *y)).collect();
        polygon::convex_hull(&points)
    })
}

fn near(a: &Vector3<f64>, b: &Vector3<f64>, tolerance: f64) -> bool {
    (a - b).norm() < tolerance
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1000))]

    #[test]
    fn a_pixel_s_ray_projects_back_to_the_pixel(
        camera in camera(), x in 0.0..=1.0f64, y in 0.0..=1.0f64, distance in 0.1..1e4f64,
    ) {
        let pixel = Pixel::new(x * 5280.0, y * 3956.0);
        if let Some(ray) = camera.ray_from_pixel(pixel) {
            prop_assert!((ray.vector.norm() - 1.0).abs() < 1e-14);
            let back = camera.pixel_from_camera(Point::from_vector(ray.vector * distance));
            let back = back.expect("a ray lies in the field");
            let off = (back.x - pixel.x).hypot(back.y - pixel.y);
            prop_assert!(off < 1e-6, "{off}");
        }
    }

    #[test]
    fn a_point_in_the_field_has_a_pixel_whose_ray_goes_through_it(
        camera in camera(), x in -1.0..1.0f64, y in -1.0..1.0f64, z in 1.0..100.0f64,
    ) {
        let point = Point::<Camera>::new(x * z, y * z, z);
        if let Some(pixel) = camera.pixel_from_camera(point) {
            let ray = camera.ray_from_pixel(pixel);
            let ray = ray.expect("a pixel that shows a point has a ray");
            // Close to the fold a pixel says little about the angle; the pixel must still agree.
            let back = camera.pixel_from_camera(Point::from_vector(ray.vector)).unwrap();
            let off = (back.x - pixel.x).hypot(back.y - pixel.y);
            prop_assert!(off < 1e-6, "{off}");
            let angle = ray.angle_to(&Direction::from_vector(point.vector));
            prop_assert!(angle < 1e-4, "{angle}");
        }
    }

    #[test]
    fn rotations_compose_and_invert(a in rotation(), b in rotation(), v in vector(1e3)) {
        let camera_from_body = Rotation::<Camera, Body>::from_quaternion(a);
        let body_from_ned = Rotation::<Body, Ned>::from_quaternion(b);
        let in_ned = Direction::<Ned>::from_vector(v);
        let camera_from_ned = camera_from_body * body_from_ned;
        let stepwise = camera_from_body * (body_from_ned * in_ned);
        prop_assert!(near(&(camera_from_ned * in_ned).vector, &stepwise.vector, 1e-9));
        let back = camera_from_ned.inverse() * stepwise;
        prop_assert!(near(&back.vector, &v, 1e-9));
        let from_matrix = Rotation::<Camera, Ned>::from_matrix(&camera_from_ned.matrix());
        prop_assert!(from_matrix.angle_to(&camera_from_ned) < 1e-14);
        let by_matrix = camera_from_ned.matrix() * v;
        prop_assert!(near(&by_matrix, &stepwise.vector, 1e-9));
    }

    #[test]
    fn rigid_transforms_compose_and_invert(
        a in rigid::<Camera, Enu>(), b in rigid::<Enu, Ecef>(), v in vector(1e3),
    ) {
        let in_ecef = Point::<Ecef>::from_vector(v);
        let stepwise = a * (b * in_ecef);
        let camera_from_ecef = a * b;
        prop_assert!(near(&(camera_from_ecef * in_ecef).vector, &stepwise.vector, 1e-9));
        let back = camera_from_ecef.inverse() * stepwise;
        prop_assert!(near(&back.vector, &v, 1e-9));
        let centre = camera_from_ecef * camera_from_ecef.centre();
        prop_assert!(near(&centre.vector, &Vector3::zeros(), 1e-9));
        let rebuilt = Rigid::from_centre(camera_from_ecef.rotation, camera_from_ecef.centre());
        prop_assert!(near(&rebuilt.translation, &camera_from_ecef.translation, 1e-9));
    }

    #[test]
    fn similarities_compose_invert_and_move_poses(
        a in similarity::<Ecef, Enu>(), b in similarity::<Enu, Solution>(),
        camera in rigid::<Camera, Solution>(), v in vector(1e3),
    ) {
        let in_solution = Point::<Solution>::from_vector(v);
        let stepwise = a * (b * in_solution);
        let ecef_from_solution = a * b;
        let size = 1e-11 * (1.0 + stepwise.vector.norm());
        prop_assert!(near(&(ecef_from_solution * in_solution).vector, &stepwise.vector, size * 1e3));
        let back = ecef_from_solution.inverse() * stepwise;
        prop_assert!(near(&back.vector, &v, 1e-4), "{}", back.vector - v);
        // A camera sees the same thing in the same direction, before and after.
        let camera_from_enu = b.move_pose(&camera);
        let before = camera * in_solution;
        let after = camera_from_enu * (b * in_solution);
        prop_assert!(near(&(before.vector * b.scale()), &after.vector, 1e-6));
    }

    #[test]
    fn places_survive_the_round_trip_everywhere(place in place()) {
        let back = Geodetic::from_ecef(place.ecef());
        prop_assert!((back.latitude() - place.latitude()).abs().get() < 1e-14);
        let height = back.height_above_ellipsoid - place.height_above_ellipsoid;
        prop_assert!(height.abs().get() < 1e-8, "{height:?}");
        // At a pole any longitude is the same place.
        let off = (back.longitude() - place.longitude()).wrapped().abs().get();
        let arc = off * place.latitude().get().cos();
        prop_assert!(arc < 1e-14, "{arc}");
        prop_assert!(back.ecef().distance_to(&place.ecef()) < 1e-8);
    }

    #[test]
    fn local_frames_are_rigid_and_come_back(
        place in place(), e in -5e3..5e3f64, n in -5e3..5e3f64, u in -500.0..500.0f64,
    ) {
        let origin = LocalOrigin::new(place);
        let point = Point::<Enu>::new(e, n, u);
        let geodetic = origin.geodetic_from_enu(point);
        prop_assert!(origin.enu_from_geodetic(geodetic).distance_to(&point) < 1e-7);
        let distance = geodetic.ecef().distance_to(&place.ecef());
        prop_assert!((distance - point.vector.norm()).abs() < 1e-7);
    }

    #[test]
    fn wrapping_keeps_the_direction(angle in -1e4..1e4f64) {
        let wrapped = Radians(angle).wrapped().get();
        prop_assert!((-PI..PI).contains(&wrapped));
        prop_assert!((wrapped.sin() - angle.sin()).abs() < 1e-11);
        prop_assert!((wrapped.cos() - angle.cos()).abs() < 1e-11);
        let positive = Radians(angle).wrapped_positive().get();
        prop_assert!((0.0..TAU).contains(&positive));
        prop_assert!((positive.cos() - angle.cos()).abs() < 1e-11);
        let axis = Radians(angle).wrapped_axis().get();
        prop_assert!((-PI / 2.0..PI / 2.0).contains(&axis));
        prop_assert!(((2.0 * axis).sin() - (2.0 * angle).sin()).abs() < 1e-11);
        prop_assert_eq!(Radians(wrapped).wrapped().get(), wrapped);
    }

    #[test]
    fn the_ground_seen_at_a_pixel_appears_at_that_pixel(
        camera in camera(), x in 0.0..=1.0f64, y in 0.0..=1.0f64,
        yaw in -180.0..180.0f64, pitch in -90.0..-5.0f64, roll in -40.0..40.0f64,
    ) {
        let pixel = Pixel::new(x * 5280.0, y * 3956.0);
        let view = view(camera, [30.0, -20.0, 70.0], [yaw, pitch, roll]);
        if let Some(point) = view.ground_from_pixel(pixel) {
            prop_assert_eq!(point.z(), 0.0);
            let range = point.distance_to(&view.centre());
            prop_assert!(view.depression(pixel).unwrap().get() > 0.0);
            // A point so far away is known to fewer digits.
            if range < 1e5 {
                let back = view.pixel_from_enu(point).expect("the ground there is in the field");
                let off = (back.x - pixel.x).hypot(back.y - pixel.y);
                prop_assert!(off < 2e-6, "{off}");
            }
        }
    }

    #[test]
    fn polygons_have_in_common_at_most_the_smaller(
        a in convex_polygon(), b in convex_polygon(), x in -1e4..1e4f64, y in -1e4..1e4f64,
    ) {
        let common = polygon::convex_intersection(&a, &b);
        let area = polygon::area(&common);
        let smaller = polygon::area(&a).min(polygon::area(&b));
        prop_assert!(area <= smaller * (1.0 + 1e-9));
        let swapped = polygon::area(&polygon::convex_intersection(&b, &a));
        prop_assert!((area - swapped).abs() < 1e-6);
        let itself = polygon::area(&polygon::convex_intersection(&a, &a));
        prop_assert!((itself - polygon::area(&a)).abs() < 1e-6);
        let moved = |corners: &[Vector2<f64>]| -> Vec<_> {
            corners.iter().map(|corner| corner + Vector2::new(x, y)).collect()
        };
        let moved = polygon::area(&polygon::convex_intersection(&moved(&a), &moved(&b)));
        prop_assert!((area - moved).abs() < 1e-5, "{area} {moved}");
        if let Some(centre) = polygon::centroid(&common).filter(|_| area > 1e-3) {
            prop_assert!(polygon::contains(&a, &centre) && polygon::contains(&b, &centre));
        }
    }
}
