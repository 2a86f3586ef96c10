//! What the photos say about where they were taken, brought into the scene's frame.

use super::align::{Height, Horizontal};
use crate::ingest::{Scene, ScenePhoto, scene_seconds};
use calibration::frames::{Camera, Enu};
use calibration::ground::PoseSigmas;
use calibration::{Attitude, Geodetic, LocalOrigin, Metres, Point, Radians, Rigid, Rotation};
use nalgebra::{UnitQuaternion, Vector3};
use record::Capture;
use record::capture::RtkState;
use serde::{Deserialize, Serialize};

/// A position further from the others' middle is a fault, not a place of this scene.
const MAX_FROM_MEDIAN_M: f64 = 5_000.0;
/// GPS coordinates cut to this many degrees carry no more than that.
const COARSE_STEPS_DEG: [f64; 3] = [1e-2, 1e-3, 1e-4];
/// Whatever a receiver says of itself, the antenna is not the camera.
const MIN_HORIZONTAL_SIGMA_M: f64 = 0.03;
/// A height above take-off that is exactly zero on a photo from the air was not measured.
const ZERO_HEIGHT_M: f64 = 0.05;
/// Absolute altitudes within one flight follow pressure to about this.
const ABSOLUTE_WITHIN_FLIGHT_M: f64 = 1.0;
/// A flight's absolute altitude may be off by this much.
const ABSOLUTE_FLIGHT_SIGMA_M: f64 = 200.0;
/// A flight's height above take-off may be off by this much (take-off on a roof or a slope).
const TAKEOFF_FLIGHT_SIGMA_M: f64 = 3.0;
/// Heights above the ellipsoid of a fixed RTK solution.
const RTK_FLIGHT_SIGMA_M: f64 = 0.1;

/// What heights in the scene are measured from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum VerticalDatum {
    /// The take-off point.
    TakeOff,
    /// The ground in the middle of the scene: the photos do not say how high above take-off they
    /// are.
    Ground,
}

/// One photo's own account.
#[derive(Clone, Debug, Default)]
pub struct PhotoPrior {
    /// East and north.
    pub horizontal: Option<Horizontal>,
    /// Height in the datum the scene's heights have before alignment.
    pub height: Option<Height>,
    /// Orientation of the upright picture.
    pub rotation: Option<Rotation<Camera, Enu>>,
    /// One sigma of the yaw.
    pub yaw_sigma: Radians,
    /// One sigma of pitch and roll.
    pub tilt_sigma: Radians,
    /// Index of the flight.
    pub flight: usize,
    /// Seconds since 1970 UTC, as well as known; right in order and gaps within a drone's photos.
    pub time_s: Option<f64>,
    /// Whether the position is a fixed RTK solution.
    pub is_rtk: bool,
    /// Why something that is written was not used.
    pub remarks: Vec<String>,
}

/// All photos' accounts in one frame.
#[derive(Clone, Debug)]
pub struct ScenePriors {
    /// Origin of the frame; `None` without any position.
    pub origin: Option<LocalOrigin>,
    /// What the priors' heights are measured from.
    pub heights: HeightSource,
    /// One per photo of the scene.
    pub photos: Vec<PhotoPrior>,
    /// What was found of the scene as a whole, for the report.
    pub remarks: Vec<String>,
}

/// Which heights were used.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum HeightSource {
    /// Height above take-off.
    AboveTakeOff,
    /// Height above the ellipsoid from fixed RTK, shifted to the take-off point where both exist.
    Rtk,
    /// Absolute altitude: changes within a flight only.
    Absolute,
    /// None.
    Nothing,
}

impl HeightSource {
    /// One sigma of what all heights of a flight have in common.
    #[must_use]
    pub fn flight_sigma_m(self) -> f64 {
        match self {
            Self::AboveTakeOff => TAKEOFF_FLIGHT_SIGMA_M,
            Self::Rtk => RTK_FLIGHT_SIGMA_M,
            Self::Absolute | Self::Nothing => ABSOLUTE_FLIGHT_SIGMA_M,
        }
    }

    /// What such heights are measured from.
    #[must_use]
    pub fn datum(self) -> VerticalDatum {
        match self {
            Self::AboveTakeOff | Self::Rtk => VerticalDatum::TakeOff,
            Self::Absolute | Self::Nothing => VerticalDatum::Ground,
        }
    }
}

/// Brings every photo's account into one frame. `stored_origin` is the scene's origin when an
/// earlier run has fixed it.
#[must_use]
pub fn gather(scene: &Scene, stored_origin: Option<LocalOrigin>) -> ScenePriors {
    let mut remarks = Vec::new();
    let places = usable_positions(scene, &mut remarks);
    let origin = stored_origin.or_else(|| origin_of(&places));
    let (heights, values) = usable_heights(scene, &mut remarks);
    let photos = scene
        .photos
        .iter()
        .zip(places)
        .zip(values)
        .zip(scene_seconds(scene))
        .map(|(((photo, place), height), time_s)| {
            prior(photo, origin.as_ref(), place, height, time_s)
        })
        .collect();
    ScenePriors {
        origin,
        heights,
        photos,
        remarks,
    }
}

/// A usable position with its sigma, or why there is none.
type Place = Result<(Geodetic, f64), Option<String>>;

fn usable_positions(scene: &Scene, remarks: &mut Vec<String>) -> Vec<Place> {
    let read = |photo: &ScenePhoto| -> Place {
        let Some(position) = &photo.capture.position else {
            return Err(None);
        };
        let place = Geodetic::from_degrees(
            position.latitude.to_degrees(),
            position.longitude.to_degrees(),
            Metres(0.0),
        );
        place
            .map(|place| (place, position.sigma.get().max(MIN_HORIZONTAL_SIGMA_M)))
            .ok_or_else(|| Some("its GPS position is outside the range of coordinates".to_owned()))
    };
    let mut places: Vec<Place> = scene.photos.iter().map(read).collect();
    refuse_far_ones(&mut places);
    let all: Vec<Geodetic> = places.iter().flatten().map(|(place, _)| *place).collect();
    if let Some(step) = coarse_step(&all) {
        let sigma_m = 0.3 * step * METRES_PER_DEGREE;
        remarks.push(format!(
            "all GPS positions are rounded to {step} degrees: each is taken as good to {sigma_m:.0} m"
        ));
        for (_, sigma) in places.iter_mut().flatten() {
            *sigma = sigma.max(sigma_m);
        }
    }
    if all.len() >= 3 && all.iter().all(|place| *place == all[0]) {
        remarks.push(format!(
            "all {} photos carry the same GPS position: none is used",
            all.len()
        ));
        for place in &mut places {
            *place = Err(Some(
                "its GPS position is the same on every photo".to_owned(),
            ));
        }
    }
    places
}

const METRES_PER_DEGREE: f64 = 111_320.0;

/// Positions far from the middle of all are faults. One that would fit with a hemisphere letter
/// exchanged, or with latitude and longitude exchanged, is named as such.
fn refuse_far_ones(places: &mut [Place]) {
    let known: Vec<Geodetic> = places.iter().flatten().map(|(place, _)| *place).collect();
    let Some(middle) = median_place(&known) else {
        return;
    };
    let frame = LocalOrigin::new(middle);
    let distance = |place: &Geodetic| {
        let point = frame.enu_from_geodetic(*place);
        point.vector.norm()
    };
    for place in places.iter_mut() {
        let Ok((found, _)) = place else { continue };
        let away_m = distance(found);
        if away_m <= MAX_FROM_MEDIAN_M {
            continue;
        }
        let (lat, lon) = (
            found.latitude().to_degrees(),
            found.longitude().to_degrees(),
        );
        let guess = [
            ((lat, -lon), "east and west seem exchanged"),
            ((-lat, lon), "north and south seem exchanged"),
            ((lon, lat), "latitude and longitude seem exchanged"),
        ]
        .into_iter()
        .find(|&((lat, lon), _)| {
            Geodetic::from_degrees(lat, lon, Metres(0.0))
                .is_some_and(|other| distance(&other) <= MAX_FROM_MEDIAN_M)
        })
        .map(|(_, words)| format!("; {words}"))
        .unwrap_or_default();
        *place = Err(Some(format!(
            "its GPS position lies {:.0} km from the other photos{guess}",
            away_m / 1000.0
        )));
    }
}

fn median_place(places: &[Geodetic]) -> Option<Geodetic> {
    let mut latitudes: Vec<f64> = places.iter().map(|p| p.latitude().to_degrees()).collect();
    // Around the first one, so that a site on the antimeridian has a middle.
    let first = places.first()?.longitude().to_degrees();
    let mut longitudes: Vec<f64> = places
        .iter()
        .map(|p| {
            (p.longitude() - Radians::from_degrees(first))
                .wrapped()
                .to_degrees()
        })
        .collect();
    let middle = |values: &mut Vec<f64>| {
        values.sort_by(f64::total_cmp);
        values[values.len() / 2]
    };
    let latitude = middle(&mut latitudes);
    let longitude = Radians::from_degrees(first + middle(&mut longitudes)).wrapped();
    Geodetic::from_degrees(latitude, longitude.to_degrees(), Metres(0.0))
}

/// The step to which every coordinate is rounded, if that is metres or more.
fn coarse_step(places: &[Geodetic]) -> Option<f64> {
    if places.len() < 3 {
        return None;
    }
    COARSE_STEPS_DEG.into_iter().find(|step| {
        places.iter().all(|place| {
            [place.latitude(), place.longitude()]
                .into_iter()
                .all(|angle| {
                    let steps = angle.to_degrees() / step;
                    (steps - steps.round()).abs() * step < 1e-8
                })
        })
    })
}

/// The scene's origin: the middle of all positions, on the ellipsoid.
fn origin_of(places: &[Place]) -> Option<LocalOrigin> {
    let known: Vec<Geodetic> = places.iter().flatten().map(|(place, _)| *place).collect();
    median_place(&known).map(LocalOrigin::new)
}

/// Heights of one kind for all photos: of the kinds at hand, the one worth most.
fn usable_heights(scene: &Scene, remarks: &mut Vec<String>) -> (HeightSource, Vec<Option<Height>>) {
    let n = scene.photos.len();
    let takeoff = takeoff_heights(scene, remarks);
    let n_takeoff = takeoff.iter().flatten().count();
    let rtk = rtk_heights(scene, &takeoff);
    if rtk.iter().flatten().count() == n && n > 0 {
        return (HeightSource::Rtk, rtk);
    }
    if 2 * n_takeoff >= n && n_takeoff > 0 {
        return (HeightSource::AboveTakeOff, takeoff);
    }
    let absolute: Vec<Option<Height>> = scene
        .photos
        .iter()
        .map(|photo| absolute_height(&photo.capture))
        .map(|height| {
            height.map(|height_m| Height {
                height_m,
                sigma_m: ABSOLUTE_WITHIN_FLIGHT_M,
            })
        })
        .collect();
    if 2 * absolute.iter().flatten().count() >= n && n > 0 {
        remarks.push(
            "the photos carry no height above take-off: heights are measured from the ground, \
             and absolute altitudes are used for changes within a flight only"
                .to_owned(),
        );
        return (HeightSource::Absolute, absolute);
    }
    remarks.push("the photos carry no heights: they are measured from the ground".to_owned());
    (HeightSource::Nothing, vec![None; n])
}

fn absolute_height(capture: &Capture) -> Option<f64> {
    capture
        .height_above_sea_level
        .as_ref()
        .or(capture.height_above_ellipsoid.as_ref())
        .or(capture.exif_gps_height.as_ref())
        .map(|height| height.height.get())
}

/// Heights above take-off. Exact zeros among other heights are missing values; zeros everywhere
/// mean that the firmware does not write them.
fn takeoff_heights(scene: &Scene, remarks: &mut Vec<String>) -> Vec<Option<Height>> {
    let stated: Vec<Option<Height>> = scene
        .photos
        .iter()
        .map(|photo| {
            let height = photo.capture.height_above_takeoff.as_ref()?;
            Some(Height {
                height_m: height.height.get(),
                sigma_m: height.sigma.get(),
            })
        })
        .collect();
    let is_zero =
        |height: &Option<Height>| height.is_some_and(|h| h.height_m.abs() < ZERO_HEIGHT_M);
    let n_zero = stated.iter().filter(|height| is_zero(height)).count();
    if n_zero == 0 {
        return stated;
    }
    let n_stated = stated.iter().flatten().count();
    if n_zero == n_stated {
        remarks.push(format!(
            "the height above take-off is zero on all {n_zero} photos that carry one: not used"
        ));
    } else {
        remarks.push(format!(
            "the height above take-off is zero on {n_zero} of {n_stated} photos: not used on those"
        ));
    }
    stated
        .into_iter()
        .map(|height| height.filter(|h| !is_zero(&Some(*h))))
        .collect()
}

/// Ellipsoidal heights of fixed RTK solutions, shifted by one constant to the take-off point.
fn rtk_heights(scene: &Scene, takeoff: &[Option<Height>]) -> Vec<Option<Height>> {
    let fixed: Vec<Option<(f64, f64)>> = scene
        .photos
        .iter()
        .map(|photo| {
            let capture = &photo.capture;
            let is_fixed = capture
                .rtk
                .as_ref()
                .is_some_and(|rtk| rtk.state == RtkState::Fixed);
            let height = capture
                .height_above_ellipsoid
                .as_ref()
                .filter(|_| is_fixed)?;
            Some((height.height.get(), height.sigma.get()))
        })
        .collect();
    let mut shifts: Vec<f64> = fixed
        .iter()
        .zip(takeoff)
        .filter_map(|(fixed, takeoff)| Some(fixed.as_ref()?.0 - takeoff.as_ref()?.height_m))
        .collect();
    let Some(shift) = crate::statistics::median(&mut shifts) else {
        return vec![None; fixed.len()];
    };
    fixed
        .into_iter()
        .map(|fixed| {
            let (height, sigma_m) = fixed?;
            Some(Height {
                height_m: height - shift,
                sigma_m,
            })
        })
        .collect()
}

fn prior(
    photo: &ScenePhoto,
    origin: Option<&LocalOrigin>,
    place: Place,
    height: Option<Height>,
    time_s: Option<f64>,
) -> PhotoPrior {
    let capture = &photo.capture;
    let mut remarks = Vec::new();
    let horizontal = match (place, origin) {
        (Ok((place, sigma_m)), Some(origin)) => {
            let point = origin.enu_from_geodetic(place);
            Some(Horizontal {
                east_m: point.x(),
                north_m: point.y(),
                sigma_m,
            })
        }
        (Err(Some(reason)), _) => {
            remarks.push(reason);
            None
        }
        _ => None,
    };
    let gimbal = capture.gimbal.as_ref();
    PhotoPrior {
        horizontal,
        height,
        rotation: gimbal.map(|reading| upright_rotation(reading.attitude, capture)),
        yaw_sigma: gimbal.map_or(Radians(0.0), |reading| reading.yaw_sigma),
        tilt_sigma: gimbal.map_or(Radians(0.0), |reading| reading.tilt_sigma),
        flight: photo.flight,
        time_s,
        is_rtk: capture
            .rtk
            .as_ref()
            .is_some_and(|rtk| rtk.state == RtkState::Fixed),
        remarks,
    }
}

/// The gimbal's angles describe the stored picture; the scene's pictures are upright.
fn upright_rotation(attitude: Attitude, capture: &Capture) -> Rotation<Camera, Enu> {
    let turns = crate::ingest::orientation_of(capture).quarter_turns();
    let angle = f64::from(turns) * std::f64::consts::FRAC_PI_2;
    let upright_from_stored = UnitQuaternion::from_axis_angle(&Vector3::z_axis(), angle);
    Rotation::from_quaternion(upright_from_stored * attitude.camera_from_enu().quaternion)
}

impl PhotoPrior {
    /// The pose this account amounts to, where position, height and angles are known; `height_m`
    /// stands in for a missing height.
    #[must_use]
    pub fn pose(&self, height_m: Option<f64>) -> Option<Rigid<Camera, Enu>> {
        let h = self.horizontal?;
        let up = self.height.map(|z| z.height_m).or(height_m)?;
        Some(Rigid::from_centre(
            self.rotation?,
            Point::new(h.east_m, h.north_m, up),
        ))
    }

    /// One sigma of [`Self::pose`].
    #[must_use]
    pub fn sigmas(&self) -> PoseSigmas {
        PoseSigmas {
            horizontal: Metres(self.horizontal.map_or(0.0, |h| h.sigma_m)),
            vertical: Metres(self.height.map_or(UNKNOWN_HEIGHT_SIGMA_M, |z| z.sigma_m)),
            yaw: self.yaw_sigma,
            pitch: self.tilt_sigma,
            roll: self.tilt_sigma,
        }
    }
}

/// A height that nothing states.
const UNKNOWN_HEIGHT_SIGMA_M: f64 = 20.0;
