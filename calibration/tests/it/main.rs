//! Tests of the crate from outside: properties, published and hand-worked values, and the shipped
//! profiles against real photos.
#![expect(clippy::unwrap_used, reason = "a test stops at the first surprise")]

mod footprints;
mod geodesy;
mod ground_points;
mod overlaps;
mod profiles;
mod properties;
mod row_bands;
mod shared_data;

use calibration::frames::Enu;
use calibration::ground::GroundView;
use calibration::{Attitude, CameraModel, Metres, Point, Rigid};

/// A view of the plane z = 0 from a place, with yaw, pitch and roll in degrees.
fn view(camera: CameraModel, centre: [f64; 3], [yaw, pitch, roll]: [f64; 3]) -> GroundView {
    let rotation = Attitude::from_degrees(yaw, pitch, roll).camera_from_enu();
    let [x, y, z] = centre;
    let camera_from_enu = Rigid::from_centre(rotation, Point::<Enu>::new(x, y, z));
    GroundView::new(camera, camera_from_enu, Metres(0.0))
}

/// The camera of the planning table: 17.3 x 13 mm, 12.29 mm, 5280 x 3956. Its pixels are not quite
/// square because the nominal sides are rounded.
fn four_thirds_camera() -> CameraModel {
    let mut camera = CameraModel::pinhole(5280, 3956, 12.29 / 17.3 * 5280.0);
    camera.fy = 12.29 / 13.0 * 3956.0;
    camera
}

/// `found` is `printed` to its last digit.
fn assert_rounds_to(found: f64, printed: &str, what: &str) {
    let decimals = printed
        .split_once('.')
        .map_or(0, |(_, digits)| digits.len());
    let unit = 0.1f64.powi(decimals as i32);
    let expected: f64 = printed.parse().unwrap();
    assert!(
        (found - expected).abs() <= 0.5 * unit * (1.0 + 1e-9),
        "{what}: {found}, printed {printed}"
    );
}
