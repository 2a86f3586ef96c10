//! Geodesy against published values and against an independent crate.

use calibration::frames::{Ecef, Enu};
use calibration::{Geodetic, LocalOrigin, Metres, Point};
use map_3d::Ellipsoid::WGS84;

fn degrees(degrees: f64, minutes: f64, seconds: f64) -> f64 {
    degrees + minutes / 60.0 + seconds / 3600.0
}

fn place(latitude_deg: f64, longitude_deg: f64, height: f64) -> Geodetic {
    Geodetic::from_degrees(latitude_deg, longitude_deg, Metres(height)).unwrap()
}

fn assert_near<F: calibration::Frame>(found: Point<F>, expected: [f64; 3], tolerance: f64) {
    let [x, y, z] = expected;
    let off = found.distance_to(&Point::new(x, y, z));
    assert!(off < tolerance, "{found:?}, expected {expected:?}");
}

/// IOGP Publication 373-7-2 (EPSG Guidance Note 7, part 2), the examples of the methods
/// "Geographic/geocentric conversions" (9602) and "Geographic/topocentric conversions" (9837).
#[test]
fn the_worked_examples_of_epsg_guidance_note_7_2() {
    let point = place(degrees(53.0, 48.0, 33.82), degrees(2.0, 7.0, 46.38), 73.0);
    let geocentric = [3_771_793.968, 140_253.342, 5_124_304.349];
    // Millimetres are printed, and hundredths of a second are 0.3 m: the seconds limit.
    assert_near(point.ecef(), geocentric, 2e-3);
    let [x, y, z] = geocentric;
    let back = Geodetic::from_ecef(Point::<Ecef>::new(x, y, z));
    assert!((back.latitude() - point.latitude()).abs().get() < 1e-9);
    assert!((back.longitude() - point.longitude()).abs().get() < 1e-9);
    assert!((back.height_above_ellipsoid.get() - 73.0).abs() < 1e-3);

    let origin = LocalOrigin::new(place(55.0, 5.0, 200.0));
    assert_near(
        origin.geodetic().ecef(),
        [3652755.3058, 319574.6799, 5201547.3536],
        1e-4,
    );
    let topocentric = [-189_013.869, -128_642.040, -4_220.171];
    assert_near(origin.enu_from_geodetic(point), topocentric, 2e-3);
}

/// Values that follow from the ellipsoid's definition alone.
#[test]
fn places_on_the_axes() {
    let semi_minor = 6_356_752.314_245;
    assert_near(place(0.0, 0.0, 0.0).ecef(), [6_378_137.0, 0.0, 0.0], 1e-9);
    assert_near(place(0.0, 90.0, 10.0).ecef(), [0.0, 6_378_147.0, 0.0], 1e-8);
    assert_near(
        place(90.0, 33.0, 5.0).ecef(),
        [0.0, 0.0, semi_minor + 5.0],
        1e-6,
    );
    assert_near(place(-90.0, 0.0, 0.0).ecef(), [0.0, 0.0, -semi_minor], 1e-6);
    let pole = Geodetic::from_ecef(Point::new(0.0, 0.0, -semi_minor - 7.0));
    assert_eq!(pole.latitude().to_degrees(), -90.0);
    assert_eq!(pole.longitude().get(), 0.0);
    assert!((pole.height_above_ellipsoid.get() - 7.0).abs() < 1e-6);
}

#[test]
fn up_falls_away_with_the_square_of_the_distance() {
    let origin = LocalOrigin::new(place(45.0, 7.0, 300.0));
    // 0.01 degrees of latitude: 1111 m there, d^2 / 2R = 0.097 m.
    let north = origin.enu_from_geodetic(place(45.01, 7.0, 300.0));
    assert!((1111.0..1112.0).contains(&north.y()), "{north:?}");
    assert!((-0.098..-0.096).contains(&north.z()), "{north:?}");
    assert!(north.x().abs() < 1e-9);
}

#[test]
fn agrees_with_map_3d_over_the_globe() {
    let places = (-90..=90).step_by(15).flat_map(|lat| {
        (-180..=180)
            .step_by(45)
            .flat_map(move |lon| [-100.0, 0.0, 120.0, 9000.0].map(|height| (lat, lon, height)))
    });
    for (lat, lon, height) in places {
        let (lat, lon) = (f64::from(lat), f64::from(lon));
        let ours = place(lat, lon, height);
        let (x, y, z) = map_3d::geodetic2ecef(lat.to_radians(), lon.to_radians(), height, WGS84);
        assert_near(ours.ecef(), [x, y, z], 1e-8);

        // A few kilometres away, but not over the pole.
        let (lat0, lon0, height0) = (lat * 0.999 + 0.01, lon * 0.999, 50.0);
        let origin = LocalOrigin::new(place(lat0, lon0, height0));
        let (e, n, u) = map_3d::geodetic2enu(
            lat.to_radians(),
            lon.to_radians(),
            height,
            lat0.to_radians(),
            lon0.to_radians(),
            height0,
            WGS84,
        );
        let enu: Point<Enu> = origin.enu_from_geodetic(ours);
        assert_near(enu, [e, n, u], 1e-7);
    }
}

#[test]
fn files_hold_degrees_and_refuse_impossible_places() {
    let origin = LocalOrigin::new(place(45.0, -7.5, 300.0));
    let text = serde_json::to_string(&origin).unwrap();
    assert_eq!(
        text,
        r#"{"latitude_deg":45.0,"longitude_deg":-7.5,"height_above_ellipsoid_m":300.0}"#
    );
    assert_eq!(serde_json::from_str::<LocalOrigin>(&text).unwrap(), origin);
    assert_eq!(
        serde_json::from_str::<Geodetic>(&text).unwrap(),
        origin.geodetic()
    );
    for (good, bad) in [("45.0", "90.5"), ("-7.5", "-180.1"), ("300.0", "null")] {
        let broken = text.replace(good, bad);
        assert!(
            serde_json::from_str::<Geodetic>(&broken).is_err(),
            "{broken}"
        );
        assert!(
            serde_json::from_str::<LocalOrigin>(&broken).is_err(),
            "{broken}"
        );
    }
}
