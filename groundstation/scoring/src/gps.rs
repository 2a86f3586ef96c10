//! Places on the globe: Haversine distance and its thresholds (S9 to S11).

use crate::boxes::decimals;
use crate::invalid::Invalid;
use crate::points::Points;

/// The radius of the globe that the paper computes with, metres.
pub const EARTH_RADIUS_M: f64 = 6_371_008.8;

/// Metres within which a third of the points is given, each.
const THRESHOLDS_M: [f64; 3] = [1_000.0, 10_000.0, 100_000.0];

/// A place: latitude -90 to 90 north positive, longitude -180 to 180 east positive.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Place {
    latitude_deg: f64,
    longitude_deg: f64,
}

impl Place {
    /// The place, where it is one.
    #[must_use]
    pub fn new(latitude_deg: f64, longitude_deg: f64) -> Option<Self> {
        let is_place = latitude_deg.abs() <= 90.0 && longitude_deg.abs() <= 180.0;
        is_place.then_some(Self {
            latitude_deg,
            longitude_deg,
        })
    }

    /// Reads a response that is nothing but a JSON array of latitude and longitude.
    ///
    /// # Errors
    /// Why it is no place.
    pub fn parse(text: &str) -> Result<Self, Invalid> {
        let [latitude, longitude] = decimals::<2>(text)?.map(|value| value.to_f64());
        Self::new(latitude, longitude).ok_or(Invalid::NotOnEarth)
    }

    /// The Haversine distance, metres.
    #[must_use]
    pub fn distance_m(self, other: Self) -> f64 {
        let [lat_a, lat_b] = [self.latitude_deg, other.latitude_deg].map(f64::to_radians);
        let [lon_a, lon_b] = [self.longitude_deg, other.longitude_deg].map(f64::to_radians);
        let of_latitude = ((lat_a - lat_b) / 2.0).sin().powi(2);
        let of_longitude = ((lon_a - lon_b) / 2.0).sin().powi(2);
        let a = of_latitude + lat_b.cos() * lat_a.cos() * of_longitude;
        2.0 * EARTH_RADIUS_M * a.max(0.0).sqrt().min(1.0).asin()
    }

    /// The score of this place where the other is right.
    #[must_use]
    pub fn points(self, reference: Self) -> Points {
        let distance_m = self.distance_m(reference);
        Points::part_of(THRESHOLDS_M.map(|threshold_m| distance_m <= threshold_m))
    }
}
