//! The simulator's own geodesy: east-north-up metres at an origin to WGS84 latitude, longitude
//! and ellipsoidal height. Written apart from the product's so that the two can disagree.
//!
//! Constants: WGS84 (NIMA TR8350.2, third edition). The way back from earth-centred coordinates
//! is Bowring's formula (Survey Review 28, 1985), good to a nanometre near the ground.

use nalgebra::Vector3;
use serde::{Deserialize, Serialize};

const SEMI_MAJOR_M: f64 = 6_378_137.0;
const SEMI_MINOR_M: f64 = 6_356_752.314_245_179;
/// First eccentricity squared, from the two axes.
const E2: f64 = 1.0 - (SEMI_MINOR_M * SEMI_MINOR_M) / (SEMI_MAJOR_M * SEMI_MAJOR_M);
/// Second eccentricity squared.
const EP2: f64 = (SEMI_MAJOR_M * SEMI_MAJOR_M) / (SEMI_MINOR_M * SEMI_MINOR_M) - 1.0;

/// A place by WGS84 latitude and longitude in degrees and height above the ellipsoid in metres.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Place {
    /// Geodetic latitude, degrees, north positive, in (-90, 90).
    pub latitude_deg: f64,
    /// Longitude, degrees, east positive, in [-180, 180].
    pub longitude_deg: f64,
    /// Height above the ellipsoid, metres.
    pub height_above_ellipsoid_m: f64,
}

fn ecef_from_place(place: &Place) -> Vector3<f64> {
    let (sin_lat, cos_lat) = place.latitude_deg.to_radians().sin_cos();
    let (sin_lon, cos_lon) = place.longitude_deg.to_radians().sin_cos();
    let n = SEMI_MAJOR_M / (1.0 - E2 * sin_lat * sin_lat).sqrt();
    let h = place.height_above_ellipsoid_m;
    Vector3::new(
        (n + h) * cos_lat * cos_lon,
        (n + h) * cos_lat * sin_lon,
        (n * (1.0 - E2) + h) * sin_lat,
    )
}

fn place_from_ecef(p: &Vector3<f64>) -> Place {
    let equatorial = p.x.hypot(p.y);
    let r = equatorial.hypot(p.z);
    // Bowring 1985: reduced latitude from the first guess, then one evaluation.
    let tan_u = (SEMI_MINOR_M * p.z) / (SEMI_MAJOR_M * equatorial) * (1.0 + EP2 * SEMI_MINOR_M / r);
    let u = tan_u.atan();
    let latitude = (p.z + EP2 * SEMI_MINOR_M * u.sin().powi(3))
        .atan2(equatorial - E2 * SEMI_MAJOR_M * u.cos().powi(3));
    let (sin_lat, cos_lat) = latitude.sin_cos();
    let n = SEMI_MAJOR_M / (1.0 - E2 * sin_lat * sin_lat).sqrt();
    let height = equatorial * cos_lat + p.z * sin_lat - SEMI_MAJOR_M * SEMI_MAJOR_M / n;
    Place {
        latitude_deg: latitude.to_degrees(),
        longitude_deg: p.y.atan2(p.x).to_degrees(),
        height_above_ellipsoid_m: height,
    }
}

/// The place of a point given in the east-north-up frame at an origin.
///
/// Not meant for the poles or beyond some thousand kilometres.
#[must_use]
pub fn place_from_enu(origin: &Place, point_in_enu: &Vector3<f64>) -> Place {
    let (sin_lat, cos_lat) = origin.latitude_deg.to_radians().sin_cos();
    let (sin_lon, cos_lon) = origin.longitude_deg.to_radians().sin_cos();
    let (e, n, u) = (point_in_enu.x, point_in_enu.y, point_in_enu.z);
    let offset_in_ecef = Vector3::new(
        -sin_lon * e - sin_lat * cos_lon * n + cos_lat * cos_lon * u,
        cos_lon * e - sin_lat * sin_lon * n + cos_lat * sin_lon * u,
        cos_lat * n + sin_lat * u,
    );
    place_from_ecef(&(ecef_from_place(origin) + offset_in_ecef))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Against an independent crate, whose angles are in radians.
    #[test]
    fn agrees_with_an_independent_crate() {
        for (latitude_deg, longitude_deg, height) in [
            (52.3, 13.1, 80.0),
            (-33.9, 151.2, 20.0),
            (40.4, -79.9, 310.0),
            (0.1, 179.99, 5.0),
        ] {
            let origin = Place {
                latitude_deg,
                longitude_deg,
                height_above_ellipsoid_m: height,
            };
            for (e, n, u) in [
                (0.0, 0.0, 0.0),
                (120.0, -80.0, 100.0),
                (-900.0, 700.0, 30.0),
            ] {
                let place = place_from_enu(&origin, &Vector3::new(e, n, u));
                let (lat, lon, h) = map_3d::enu2geodetic(
                    e,
                    n,
                    u,
                    latitude_deg.to_radians(),
                    longitude_deg.to_radians(),
                    height,
                    map_3d::Ellipsoid::WGS84,
                );
                assert!((place.latitude_deg - lat.to_degrees()).abs() < 1e-10);
                assert!((place.longitude_deg - lon.to_degrees()).abs() < 1e-10);
                assert!((place.height_above_ellipsoid_m - h).abs() < 1e-6);
            }
        }
    }

    /// One second of latitude at the equator and of longitude at 60 degrees, by closed forms:
    /// the meridian radius a(1-e2)/(1-e2 sin2)^1.5 and the parallel's N cos.
    #[test]
    fn small_steps_follow_the_radii_of_curvature() {
        let origin = Place {
            latitude_deg: 60.0,
            longitude_deg: 10.0,
            height_above_ellipsoid_m: 0.0,
        };
        let sin2 = 0.75;
        let n = SEMI_MAJOR_M / (1.0 - E2 * sin2).sqrt();
        let m = SEMI_MAJOR_M * (1.0 - E2) / (1.0 - E2 * sin2).powf(1.5);
        let east = place_from_enu(&origin, &Vector3::new(1.0, 0.0, 0.0));
        let north = place_from_enu(&origin, &Vector3::new(0.0, 1.0, 0.0));
        let per_degree_east = 1.0 / (east.longitude_deg - 10.0);
        let per_degree_north = 1.0 / (north.latitude_deg - 60.0);
        assert!((per_degree_east / (n * 0.5).to_radians() - 1.0).abs() < 1e-6);
        assert!((per_degree_north / m.to_radians() - 1.0).abs() < 1e-6);
    }
}
