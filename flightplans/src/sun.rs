//! Where the sun stands while a plan is flown, when it will stand as on an earlier visit, and which
//! photos look at its mirror image.
//!
//! The low-precision formulas of the Astronomical Almanac (as given by Michalsky, Solar Energy 40,
//! 1988): good to 0.01 degrees from 1950 to 2050. Refraction is left out.

use crate::motion::turn_deg;
use crate::plan::{FlightPlan, PlaceRecord, SunRecord};
use jiff::tz::TimeZone;
use jiff::{SignedDuration, Timestamp};

/// A visit matches an earlier one within this elevation and azimuth, degrees.
pub const MAX_ELEVATION_DIFFERENCE_DEG: f64 = 10.0;
/// See [`MAX_ELEVATION_DIFFERENCE_DEG`].
pub const MAX_AZIMUTH_DIFFERENCE_DEG: f64 = 15.0;
/// Below this a car's shadow is longer than three cars are high, and parked rows shade each other.
const LONG_SHADOWS_DEG: f64 = 20.0;
/// Below this photos are too dark and shadows cover everything.
const TOO_LOW_DEG: f64 = 10.0;
/// Paint and glass mirror the sun into photos that look this near to the mirrored ray.
const GLARE_DEG: f64 = 15.0;
/// Step of the search for matching times.
const STEP_MIN: i64 = 5;
/// Julian day of the Unix epoch less that of J2000.0, days.
const J2000_FROM_UNIX_DAYS: f64 = 10_957.5;

/// A direction in the sky, degrees.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sun {
    /// Above the horizon.
    pub elevation_deg: f64,
    /// Clockwise from true north, in [0, 360).
    pub azimuth_deg: f64,
}

/// Where the sun stands at a place and time.
#[must_use]
pub fn sun(at: &PlaceRecord, utc: Timestamp) -> Sun {
    let days = utc.as_millisecond() as f64 / 86_400_000.0 - J2000_FROM_UNIX_DAYS;
    let mean_longitude = (280.460 + 0.985_647_4 * days).rem_euclid(360.0);
    let anomaly = (357.528 + 0.985_600_3 * days)
        .rem_euclid(360.0)
        .to_radians();
    let ecliptic =
        (mean_longitude + 1.915 * anomaly.sin() + 0.020 * (2.0 * anomaly).sin()).to_radians();
    let obliquity = (23.439 - 0.000_000_4 * days).to_radians();
    let right_ascension = (obliquity.cos() * ecliptic.sin()).atan2(ecliptic.cos());
    let declination = (obliquity.sin() * ecliptic.sin()).asin();
    let sidereal_h = 6.697_375 + 0.065_709_824_2 * days + 24.0 * (days + 0.5).fract();
    let hour_angle = (sidereal_h * 15.0 + at.longitude_deg).to_radians() - right_ascension;
    let latitude = at.latitude_deg.to_radians();
    let up =
        declination.sin() * latitude.sin() + declination.cos() * latitude.cos() * hour_angle.cos();
    let east = -declination.cos() * hour_angle.sin();
    let north =
        declination.sin() * latitude.cos() - declination.cos() * latitude.sin() * hour_angle.cos();
    Sun {
        elevation_deg: up.clamp(-1.0, 1.0).asin().to_degrees(),
        azimuth_deg: east.atan2(north).to_degrees().rem_euclid(360.0),
    }
}

/// The sun in a plan that is flown at a time, with warnings.
#[must_use]
pub fn record(
    plan: &FlightPlan,
    at: Timestamp,
    earlier: Option<&FlightPlan>,
) -> (SunRecord, Vec<String>) {
    let now = sun(&plan.site.origin, at);
    let before = earlier.and_then(|plan| plan.sun.as_ref());
    let same_as_before = before.map_or_else(Vec::new, |before| {
        windows(plan, at, before.elevation_deg, before.azimuth_deg)
    });
    let glare_cells: Vec<String> = plan
        .planned()
        .filter(|cell| is_in_glare(&now, cell.pitch_down_deg, cell.pose.yaw_deg))
        .map(|cell| cell.id.clone())
        .collect();
    let mut warnings = warnings(&now, &glare_cells);
    if let Some(before) = before {
        let differs = (now.elevation_deg - before.elevation_deg).abs()
            > MAX_ELEVATION_DIFFERENCE_DEG
            || turn_deg(now.azimuth_deg, before.azimuth_deg) > MAX_AZIMUTH_DIFFERENCE_DEG;
        if differs {
            let when = match same_as_before.first() {
                Some([from, to]) => format!("it does from {from} to {to}"),
                None => "on that day it never does".to_owned(),
            };
            warnings.push(format!(
                "the sun does not stand as on the earlier visit (elevation {:.0} deg, azimuth {:.0} \
                 deg): {when}",
                before.elevation_deg, before.azimuth_deg
            ));
        }
    } else if earlier.is_some() {
        warnings.push(
            "the earlier plan has no time, so the sun of the two visits is not compared".to_owned(),
        );
    }
    let rounded = |degrees: f64| (degrees * 100.0).round() / 100.0;
    let record = SunRecord {
        at_utc: at.to_string(),
        at_local: local(plan, at),
        elevation_deg: rounded(now.elevation_deg),
        azimuth_deg: rounded(now.azimuth_deg),
        same_as_before_utc: same_as_before,
        glare_cells,
    };
    (record, warnings)
}

fn local(plan: &FlightPlan, at: Timestamp) -> Option<String> {
    let zone = TimeZone::get(plan.site.time_zone.as_deref()?).ok()?;
    Some(at.to_zoned(zone).datetime().to_string())
}

fn warnings(now: &Sun, glare_cells: &[String]) -> Vec<String> {
    let mut all = Vec::new();
    if now.elevation_deg < TOO_LOW_DEG {
        all.push(format!(
            "the sun stands at {:.0} deg: too low, expected at least {TOO_LOW_DEG:.0}",
            now.elevation_deg
        ));
    } else if now.elevation_deg < LONG_SHADOWS_DEG {
        let factor = 1.0 / now.elevation_deg.to_radians().tan();
        all.push(format!(
            "long shadows: the sun stands at {:.0} deg, shadows are {factor:.1} times as long as \
             things are high",
            now.elevation_deg
        ));
    }
    if !glare_cells.is_empty() {
        all.push(format!(
            "glare: photos that look at the sun's mirror image: {}",
            glare_cells.len()
        ));
    }
    all
}

/// A level surface mirrors the sun as if it stood as far below the horizon, so glare is seen by a
/// camera that looks towards the sun's azimuth at its elevation downwards.
fn is_in_glare(sun: &Sun, pitch_down_deg: f64, yaw_deg: f64) -> bool {
    if sun.elevation_deg <= 0.0 {
        return false;
    }
    let (a, b) = (sun.elevation_deg.to_radians(), pitch_down_deg.to_radians());
    let turn = turn_deg(sun.azimuth_deg, yaw_deg).to_radians();
    let cosine = a.sin() * b.sin() + a.cos() * b.cos() * turn.cos();
    cosine.clamp(-1.0, 1.0).acos().to_degrees() < GLARE_DEG
}

/// Times of the day (UTC date of `at`) when the sun stands as given, within the tolerances.
fn windows(
    plan: &FlightPlan,
    at: Timestamp,
    elevation_deg: f64,
    azimuth_deg: f64,
) -> Vec<[String; 2]> {
    let zone = plan
        .site
        .time_zone
        .as_deref()
        .and_then(|name| TimeZone::get(name).ok())
        .unwrap_or(TimeZone::UTC);
    let Ok(midnight) = at.to_zoned(zone).start_of_day() else {
        return Vec::new();
    };
    let mut found: Vec<[Timestamp; 2]> = Vec::new();
    let mut is_open = false;
    for step in 0..(24 * 60 / STEP_MIN) {
        let time = midnight.timestamp() + SignedDuration::from_mins(step * STEP_MIN);
        let there = sun(&plan.site.origin, time);
        let fits = (there.elevation_deg - elevation_deg).abs() <= MAX_ELEVATION_DIFFERENCE_DEG
            && turn_deg(there.azimuth_deg, azimuth_deg) <= MAX_AZIMUTH_DIFFERENCE_DEG;
        match (fits, is_open, found.last_mut()) {
            (true, true, Some(window)) => window[1] = time,
            (true, _, _) => found.push([time, time]),
            _ => {}
        }
        is_open = fits;
    }
    found
        .into_iter()
        .map(|window| window.map(|time| time.to_string()))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Solstice noon and equinox sunset by geometry: 90 - |latitude - declination| due south at
    /// apparent noon; due west at sunset.
    #[test]
    fn stands_where_geometry_says() {
        let berlin = PlaceRecord {
            longitude_deg: 15.0,
            latitude_deg: 52.5,
        };
        let noon = sun(&berlin, "2026-06-21T11:01:48Z".parse().unwrap());
        assert!(
            (noon.elevation_deg - (90.0 - 52.5 + 23.44)).abs() < 0.05,
            "{noon:?}"
        );
        assert!((noon.azimuth_deg - 180.0).abs() < 0.5, "{noon:?}");
        let evening = sun(&berlin, "2026-03-20T17:07:30Z".parse().unwrap());
        assert!(evening.elevation_deg.abs() < 0.3, "{evening:?}");
        assert!((evening.azimuth_deg - 270.0).abs() < 0.5, "{evening:?}");
    }

    #[test]
    fn glare_is_where_the_mirrored_sun_is() {
        let sun = Sun {
            elevation_deg: 40.0,
            azimuth_deg: 350.0,
        };
        for (pitch, yaw, expected) in [
            (45.0, 0.0, true),
            (45.0, 180.0, false),
            (30.0, 340.0, true),
            (90.0, 350.0, false),
            (45.0, 30.0, false),
        ] {
            assert_eq!(is_in_glare(&sun, pitch, yaw), expected, "{pitch} {yaw}");
        }
    }
}
