//! Our camera models against OpenCV's own projection and undistortion.

use calibration::{CameraModel, Lens, Pixel, Point};
use groundstation::opencv::{project_points, undistort_points};
use groundstation::seeded;

struct Case {
    name: &'static str,
    camera: CameraModel,
    /// Half the field of view that the coefficients hold for, radians.
    field_rad: f64,
}

fn cases() -> Vec<Case> {
    let base = CameraModel::pinhole(4000, 3000, 2900.0);
    let brown = |k1, k2, p1, p2, k3| Lens::BrownConrady { k1, k2, p1, p2, k3 };
    let case = |name, lens, field_deg: f64| Case {
        name,
        camera: CameraModel {
            fy: 2880.0,
            cx: 2012.5,
            cy: 1490.25,
            lens,
            ..base
        },
        field_rad: field_deg.to_radians(),
    };
    vec![
        case("pinhole", Lens::PINHOLE, 40.0),
        case("drone", brown(-0.11, 0.02, 0.0007, -0.0004, -0.004), 38.0),
        case("pincushion", brown(0.08, 0.03, -0.001, 0.002, 0.01), 38.0),
        case(
            "strong barrel",
            brown(-0.3, 0.11, 0.0002, 0.0001, -0.02),
            35.0,
        ),
        case(
            "fisheye",
            Lens::Fisheye {
                k1: -0.02,
                k2: 0.006,
                k3: -0.003,
                k4: 0.0004,
            },
            80.0,
        ),
        case(
            "ideal fisheye",
            Lens::Fisheye {
                k1: 0.0,
                k2: 0.0,
                k3: 0.0,
                k4: 0.0,
            },
            85.0,
        ),
    ]
}

/// OpenCV's order of coefficients.
fn coefficients(lens: &Lens) -> (Vec<f64>, bool) {
    match *lens {
        Lens::BrownConrady { k1, k2, p1, p2, k3 } => (vec![k1, k2, p1, p2, k3], false),
        Lens::Fisheye { k1, k2, k3, k4 } => (vec![k1, k2, k3, k4], true),
    }
}

fn points(field_rad: f64, name: &str) -> Vec<[f64; 3]> {
    let mut rng = seeded::rng(1, "camera models", name);
    (0..500)
        .map(|_| {
            let off_axis = field_rad * seeded::unit(&mut rng);
            let around = std::f64::consts::TAU * seeded::unit(&mut rng);
            let distance = 5.0 + 200.0 * seeded::unit(&mut rng);
            let across = distance * off_axis.sin();
            [
                across * around.cos(),
                across * around.sin(),
                distance * off_axis.cos(),
            ]
        })
        .collect()
}

#[test]
fn projection_equals_opencv() {
    for Case {
        name,
        camera,
        field_rad,
    } in cases()
    {
        let (k, is_fisheye) = coefficients(&camera.lens);
        let points = points(field_rad, name);
        // OpenCV counts pixels from the first one's centre.
        let centre = [camera.cx - 0.5, camera.cy - 0.5];
        let theirs = project_points(&points, [camera.fx, camera.fy], centre, &k, is_fisheye)
            .expect("OpenCV projects");
        for (point, [x, y]) in points.iter().zip(theirs) {
            let ours = camera
                .pixel_from_camera(Point::new(point[0], point[1], point[2]))
                .unwrap_or_else(|| panic!("{name}: {point:?} is in the field"));
            let off = (ours.x - 0.5 - x).hypot(ours.y - 0.5 - y);
            assert!(off < 1e-6, "{name}: {point:?}: {off} px");
        }
    }
}

#[test]
fn rays_equal_opencv_where_it_converges() {
    for Case {
        name,
        camera,
        field_rad,
    } in cases()
    {
        let (k, is_fisheye) = coefficients(&camera.lens);
        let pixels: Vec<[f64; 2]> = points(field_rad * 0.8, name)
            .iter()
            .filter_map(|p| camera.pixel_from_camera(Point::new(p[0], p[1], p[2])))
            .map(|pixel| [pixel.x - 0.5, pixel.y - 0.5])
            .collect();
        let centre = [camera.cx - 0.5, camera.cy - 0.5];
        let theirs = undistort_points(&pixels, [camera.fx, camera.fy], centre, &k, is_fisheye)
            .expect("OpenCV undistorts");
        let mut n_compared = 0;
        for (pixel, [x, y]) in pixels.iter().zip(theirs) {
            // OpenCV iterates a fixed number of times; where its answer does not project back to
            // the pixel it has not converged and is no oracle.
            let again = project_points(
                &[[x, y, 1.0]],
                [camera.fx, camera.fy],
                centre,
                &k,
                is_fisheye,
            )
            .expect("OpenCV projects")[0];
            if (again[0] - pixel[0]).hypot(again[1] - pixel[1]) > 1e-3 {
                continue;
            }
            let ours = camera
                .ray_from_pixel(Pixel::new(pixel[0] + 0.5, pixel[1] + 0.5))
                .unwrap_or_else(|| panic!("{name}: {pixel:?} is in the field"));
            let off = (ours.x() / ours.z() - x).hypot(ours.y() / ours.z() - y);
            assert!(off < 2e-6, "{name}: {pixel:?}: {off}");
            n_compared += 1;
        }
        assert!(
            n_compared >= 250,
            "{name}: OpenCV converged on {n_compared} pixels only"
        );
    }
}
