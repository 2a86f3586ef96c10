//! WGS84 geodetic coordinates, earth-centred coordinates and a local east-north-up frame.
//!
//! Source of the constants: NIMA TR8350.2 (third edition), table 3.1 (defining parameters
//! a and 1/f); everything else is derived.

use crate::frames::{Direction, Ecef, Enu, Point};
use crate::transforms::{Rigid, Rotation};
use crate::units::{Metres, Radians};
use nalgebra::Matrix3;
use serde::{Deserialize, Serialize};

/// WGS84 semi-major axis, metres.
pub const SEMI_MAJOR_AXIS_M: f64 = 6_378_137.0;
/// WGS84 flattening.
pub const FLATTENING: f64 = 1.0 / 298.257_223_563;
/// First eccentricity squared: f (2 - f).
const ECCENTRICITY_SQUARED: f64 = FLATTENING * (2.0 - FLATTENING);

/// A place on or above the WGS84 ellipsoid. In files: degrees and metres.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "GeodeticFile", into = "GeodeticFile")]
pub struct Geodetic {
    // Degrees, because files hold them: what was read is written again to the last digit.
    latitude_deg: f64,
    longitude_deg: f64,
    /// Height above the ellipsoid (not above the sea, not above the ground).
    pub height_above_ellipsoid: Metres,
}

impl Geodetic {
    /// From latitude in [-90, 90] and longitude in [-180, 180] degrees; `None` outside those
    /// ranges or when anything is not finite.
    #[must_use]
    pub fn from_degrees(
        latitude_deg: f64,
        longitude_deg: f64,
        height_above_ellipsoid: Metres,
    ) -> Option<Self> {
        let valid = (-90.0..=90.0).contains(&latitude_deg)
            && (-180.0..=180.0).contains(&longitude_deg)
            && height_above_ellipsoid.get().is_finite();
        valid.then_some(Self {
            latitude_deg,
            longitude_deg,
            height_above_ellipsoid,
        })
    }

    /// Geodetic latitude, north positive.
    #[must_use]
    pub fn latitude(&self) -> Radians {
        Radians::from_degrees(self.latitude_deg)
    }

    /// Longitude, east positive.
    #[must_use]
    pub fn longitude(&self) -> Radians {
        Radians::from_degrees(self.longitude_deg)
    }

    /// The same place in earth-centred coordinates.
    #[must_use]
    pub fn ecef(&self) -> Point<Ecef> {
        let (sin_lat, cos_lat) = self.latitude().get().sin_cos();
        let (sin_lon, cos_lon) = self.longitude().get().sin_cos();
        let height = self.height_above_ellipsoid.get();
        let normal_radius =
            SEMI_MAJOR_AXIS_M / (1.0 - ECCENTRICITY_SQUARED * sin_lat * sin_lat).sqrt();
        Point::new(
            (normal_radius + height) * cos_lat * cos_lon,
            (normal_radius + height) * cos_lat * sin_lon,
            (normal_radius * (1.0 - ECCENTRICITY_SQUARED) + height) * sin_lat,
        )
    }

    /// The geodetic place of an earth-centred point. Valid from 1 km below the ellipsoid to
    /// 10,000 km above; the latitude iteration contracts by the eccentricity squared each step,
    /// so six steps reach the last bits. On the axis itself the longitude is zero by convention;
    /// the antimeridian may come back as either +180 or -180.
    #[must_use]
    pub fn from_ecef(point: Point<Ecef>) -> Self {
        let (x, y, z) = (point.x(), point.y(), point.z());
        let equatorial = x.hypot(y);
        let mut latitude = z.atan2(equatorial * (1.0 - ECCENTRICITY_SQUARED));
        for _ in 0..6 {
            let sin_lat = latitude.sin();
            let normal_radius =
                SEMI_MAJOR_AXIS_M / (1.0 - ECCENTRICITY_SQUARED * sin_lat * sin_lat).sqrt();
            latitude = (z + ECCENTRICITY_SQUARED * normal_radius * sin_lat).atan2(equatorial);
        }
        let (sin_lat, cos_lat) = latitude.sin_cos();
        let root = (1.0 - ECCENTRICITY_SQUARED * sin_lat * sin_lat).sqrt();
        // Projection on the ellipsoid's normal: well conditioned from equator to pole.
        let height = equatorial * cos_lat + z * sin_lat - SEMI_MAJOR_AXIS_M * root;
        let longitude = if equatorial > 0.0 { y.atan2(x) } else { 0.0 };
        Self {
            latitude_deg: latitude.to_degrees().clamp(-90.0, 90.0),
            longitude_deg: longitude.to_degrees().clamp(-180.0, 180.0),
            height_above_ellipsoid: Metres(height),
        }
    }
}

/// The origin of a local east-north-up frame, with its rotation worked out once.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LocalOrigin {
    geodetic: Geodetic,
    enu_from_ecef: Rigid<Enu, Ecef>,
}

impl LocalOrigin {
    /// A frame tangent to the ellipsoid's parallel surface through `geodetic`.
    #[must_use]
    pub fn new(geodetic: Geodetic) -> Self {
        let (sin_lat, cos_lat) = geodetic.latitude().get().sin_cos();
        let (sin_lon, cos_lon) = geodetic.longitude().get().sin_cos();
        let rotation = Rotation::from_matrix(&Matrix3::new(
            -sin_lon,
            cos_lon,
            0.0, //
            -sin_lat * cos_lon,
            -sin_lat * sin_lon,
            cos_lat, //
            cos_lat * cos_lon,
            cos_lat * sin_lon,
            sin_lat,
        ));
        Self {
            geodetic,
            enu_from_ecef: Rigid::from_centre(rotation, geodetic.ecef()),
        }
    }

    /// Where the frame's origin is.
    #[must_use]
    pub fn geodetic(&self) -> Geodetic {
        self.geodetic
    }

    /// East, north, up of a place. `up` falls below the height difference by d^2/2R
    /// (8 mm at 300 m, 8 cm at 1 km).
    #[must_use]
    pub fn enu_from_geodetic(&self, place: Geodetic) -> Point<Enu> {
        // The difference first: it keeps the digits that a product with 6e6 m would lose.
        let step: Direction<Ecef> = place.ecef() - self.geodetic.ecef();
        Point::from_vector(self.enu_from_ecef.rotation.quaternion * step.vector)
    }

    /// The place of a point in this frame.
    #[must_use]
    pub fn geodetic_from_enu(&self, point: Point<Enu>) -> Geodetic {
        Geodetic::from_ecef(self.enu_from_ecef.inverse() * point)
    }
}

/// In files: the origin's place, as [`Geodetic`].
impl Serialize for LocalOrigin {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.geodetic.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for LocalOrigin {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Geodetic::deserialize(deserializer).map(Self::new)
    }
}

#[derive(Serialize, Deserialize)]
struct GeodeticFile {
    latitude_deg: f64,
    longitude_deg: f64,
    height_above_ellipsoid_m: f64,
}

impl From<Geodetic> for GeodeticFile {
    fn from(place: Geodetic) -> Self {
        Self {
            latitude_deg: place.latitude_deg,
            longitude_deg: place.longitude_deg,
            height_above_ellipsoid_m: place.height_above_ellipsoid.get(),
        }
    }
}

impl TryFrom<GeodeticFile> for Geodetic {
    type Error = &'static str;

    fn try_from(file: GeodeticFile) -> Result<Self, Self::Error> {
        Self::from_degrees(
            file.latitude_deg,
            file.longitude_deg,
            Metres(file.height_above_ellipsoid_m),
        )
        .ok_or("place outside the ranges of latitude and longitude, or not finite")
    }
}
