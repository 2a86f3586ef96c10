//! Where the sun stands, from time and place: the low-precision formulas of the Astronomical
//! Almanac (Michalsky, Solar Energy 40, 1988), good to 0.01 degrees from 1950 to 2050; refraction
//! left out.

use crate::geodesy::Place;
use jiff::Timestamp;

/// A direction in the sky.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SkyDirection {
    /// Clockwise from true north, degrees, in [0, 360).
    pub azimuth_deg: f64,
    /// Above the horizon, degrees.
    pub elevation_deg: f64,
}

/// Julian day of the Unix epoch minus that of J2000.0, days.
const J2000_FROM_UNIX_DAYS: f64 = 10_957.5;

/// The sun's direction at a place and time.
#[must_use]
pub fn sun_direction(place: &Place, utc: Timestamp) -> SkyDirection {
    let days = utc.as_millisecond() as f64 / 86_400_000.0 - J2000_FROM_UNIX_DAYS;
    let mean_longitude = (280.460 + 0.985_647_4 * days).rem_euclid(360.0);
    let mean_anomaly = (357.528 + 0.985_600_3 * days)
        .rem_euclid(360.0)
        .to_radians();
    let ecliptic_longitude =
        (mean_longitude + 1.915 * mean_anomaly.sin() + 0.020 * (2.0 * mean_anomaly).sin())
            .to_radians();
    let obliquity = (23.439 - 0.000_000_4 * days).to_radians();
    let right_ascension =
        (obliquity.cos() * ecliptic_longitude.sin()).atan2(ecliptic_longitude.cos());
    let declination = (obliquity.sin() * ecliptic_longitude.sin()).asin();
    let sidereal_hours = 6.697_375 + 0.065_709_824_2 * days + 24.0 * (days + 0.5).fract();
    let local_sidereal = (sidereal_hours * 15.0 + place.longitude_deg).to_radians();
    let hour_angle = local_sidereal - right_ascension;
    let latitude = place.latitude_deg.to_radians();
    let up =
        declination.sin() * latitude.sin() + declination.cos() * latitude.cos() * hour_angle.cos();
    let east = -declination.cos() * hour_angle.sin();
    let north =
        declination.sin() * latitude.cos() - declination.cos() * latitude.sin() * hour_angle.cos();
    SkyDirection {
        azimuth_deg: east.atan2(north).to_degrees().rem_euclid(360.0),
        elevation_deg: up.asin().to_degrees(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Equinox and solstice noons by geometry: elevation is 90 - |latitude - declination|, and
    /// the sun is due south at apparent noon (mean noon shifted by the equation of time).
    #[test]
    fn stands_where_geometry_says() {
        let berlin = Place {
            latitude_deg: 52.5,
            longitude_deg: 15.0,
            height_above_ellipsoid_m: 0.0,
        };
        // 2026-06-21: declination 23.44, equation of time -1.8 min: noon at 11:01:48 UTC at 15 E.
        let solstice: Timestamp = "2026-06-21T11:01:48Z".parse().expect("a literal time");
        let sun = sun_direction(&berlin, solstice);
        assert!(
            (sun.elevation_deg - (90.0 - 52.5 + 23.44)).abs() < 0.05,
            "{sun:?}"
        );
        assert!((sun.azimuth_deg - 180.0).abs() < 0.5, "{sun:?}");
        // 2026-03-20 14:46 UTC is the equinox: six hours after noon the sun sets due west.
        let evening: Timestamp = "2026-03-20T17:07:30Z".parse().expect("a literal time");
        let sun = sun_direction(&berlin, evening);
        assert!(sun.elevation_deg.abs() < 0.3, "{sun:?}");
        assert!((sun.azimuth_deg - 270.0).abs() < 0.5, "{sun:?}");
    }
}
