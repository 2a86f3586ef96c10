//! Photos over a car park with known poses, and their `truth.json`.
//!
//! East-north-up metres, the ground at z = 0. Camera: x right, y down, z forward. Yaw clockwise
//! from north, pitch up positive (nadir is -90), roll right side down.

use crate::photo::Photo;
use nalgebra::{Matrix3, Rotation3, UnitQuaternion, Vector3};
use rand_chacha::ChaCha8Rng;
use rand_core::{RngCore, SeedableRng};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use std::fs;
use std::path::Path;

/// Focal length of the test camera at 80 x 60 pixels.
pub const FOCAL_PX: f64 = 58.0;
const ORIGIN_DEG: [f64; 2] = [48.137_43, 11.575_49];
/// How wrong GPS, height and gimbal are (one sigma).
const GPS_SIGMA_M: f64 = 0.8;
const HEIGHT_SIGMA_M: f64 = 0.2;
const GIMBAL_SIGMA_DEG: f64 = 0.4;
/// Seconds between photos.
const INTERVAL_S: f64 = 5.0;
/// GPS errors of photos this far apart in time are different ones.
const GPS_CORRELATION_S: f64 = 120.0;

/// One photo and what is true of it.
#[derive(Clone, Debug)]
pub struct Shot {
    /// File name, relative to the folder of photos.
    pub name: String,
    /// Where the camera is.
    pub centre_m: [f64; 3],
    /// Where it looks.
    pub yaw_deg: f64,
    /// Where it looks.
    pub pitch_deg: f64,
    /// How it is turned about its axis.
    pub roll_deg: f64,
    /// Focal length at the upright picture's size, pixels.
    pub focal_px: f64,
    /// What the file shows and says.
    pub photo: Photo,
}

/// Photos of one place.
#[derive(Clone, Debug)]
pub struct World {
    /// In the order they were taken.
    pub shots: Vec<Shot>,
}

impl World {
    /// `n` photos from two heights on rings around the middle: some straight down, most at a
    /// slant inwards.
    #[must_use]
    pub fn rings(n: usize, seed: u64) -> Self {
        let places = (0..n).map(|idx| {
            let around = idx as f64 * 2.4;
            let (height, pitch) = [(30.0, -90.0), (30.0, -60.0), (45.0, -50.0)][idx % 3];
            let radius = 12.0 + 4.0 * (idx % 6) as f64;
            let centre = [radius * around.sin(), radius * around.cos(), height];
            (centre, around.to_degrees() + 180.0, pitch)
        });
        Self::at(places, seed)
    }

    /// `n` photos straight down from 40 m on parallel lines.
    #[must_use]
    pub fn lawn(n: usize, seed: u64) -> Self {
        const PER_LINE: usize = 5;
        let places = (0..n).map(|idx| {
            let (line, step) = (idx / PER_LINE, idx % PER_LINE);
            let there = line.is_multiple_of(2);
            let along = if there { step } else { PER_LINE - 1 - step };
            let centre = [12.0 * line as f64, 10.0 * along as f64, 40.0];
            (centre, if there { 0.0 } else { 180.0 }, -90.0)
        });
        Self::at(places, seed)
    }

    fn at(places: impl Iterator<Item = ([f64; 3], f64, f64)>, seed: u64) -> Self {
        let mut sensors = Sensors::new(seed);
        let shots = places
            .enumerate()
            .map(|(idx, (centre_m, yaw_deg, pitch_deg))| Shot {
                name: format!("DJI_{:04}.JPG", idx + 1),
                centre_m,
                yaw_deg,
                pitch_deg,
                roll_deg: 0.0,
                focal_px: FOCAL_PX,
                photo: sensors.photo(idx, centre_m, yaw_deg, pitch_deg),
            })
            .collect();
        Self { shots }
    }

    /// The file names.
    #[must_use]
    pub fn names(&self) -> Vec<String> {
        self.shots.iter().map(|shot| shot.name.clone()).collect()
    }

    /// Moves the shots from `first` on to a later flight: later by so many minutes, with GPS off by
    /// `shift_m` and from a take-off point that is `takeoff_m` higher.
    pub fn start_flight(&mut self, first: usize, minutes: f64, shift_m: [f64; 2], takeoff_m: f64) {
        for (idx, shot) in self.shots.iter_mut().enumerate().skip(first) {
            let seconds = INTERVAL_S * idx as f64 + 60.0 * minutes;
            set_times(&mut shot.photo, seconds);
            if let Some(place) = shot.photo.place_deg {
                let east_north = [
                    (place[1] - ORIGIN_DEG[1]) * metres_per_degree()[0] + shift_m[0],
                    (place[0] - ORIGIN_DEG[0]) * metres_per_degree()[1] + shift_m[1],
                ];
                set_place(&mut shot.photo, east_north);
            }
            let absolute = 520.0 + shot.centre_m[2];
            shot.photo
                .set_dji("AbsoluteAltitude", format!("{absolute:+.2}"));
            let relative = shot.centre_m[2] - takeoff_m;
            shot.photo
                .set_dji("RelativeAltitude", format!("{relative:+.2}"));
        }
    }

    /// Writes the photos and returns what is true of them.
    ///
    /// # Panics
    /// When the folder cannot be written.
    pub fn write(&self, folder: &Path) -> Truth {
        let photos = self.shots.iter().map(|shot| {
            let path = folder.join(&shot.name);
            let parent = path.parent().expect("a file in a folder");
            fs::create_dir_all(parent).expect("a temporary folder can be written");
            let bytes = shot.photo.jpeg();
            fs::write(&path, &bytes).expect("a temporary folder can be written");
            shot.truth(&bytes)
        });
        Truth {
            schema: "truth/1".to_owned(),
            photos: photos.collect(),
        }
    }
}

impl Shot {
    fn camera_from_enu(&self) -> UnitQuaternion<f64> {
        let (yaw, pitch) = (self.yaw_deg.to_radians(), self.pitch_deg.to_radians());
        let right = Vector3::new(yaw.cos(), -yaw.sin(), 0.0);
        let forward = Vector3::new(
            yaw.sin() * pitch.cos(),
            yaw.cos() * pitch.cos(),
            pitch.sin(),
        );
        let down = forward.cross(&right);
        let level = Matrix3::from_rows(&[right.transpose(), down.transpose(), forward.transpose()]);
        let rolled = Rotation3::from_axis_angle(&Vector3::z_axis(), -self.roll_deg.to_radians());
        UnitQuaternion::from_rotation_matrix(&(rolled * Rotation3::from_matrix_unchecked(level)))
    }

    fn truth(&self, file: &[u8]) -> PhotoTruth {
        let rotation = self.camera_from_enu();
        let translation = rotation * -Vector3::from(self.centre_m);
        let [width, height] = match self.photo.orientation {
            Some(5..=8) => [self.photo.size_px[1], self.photo.size_px[0]],
            _ => self.photo.size_px,
        };
        PhotoTruth {
            file: self.name.clone(),
            sha256: Sha256::digest(file)
                .iter()
                .map(|byte| format!("{byte:02x}"))
                .collect(),
            camera_from_enu: PoseTruth {
                rotation_wxyz: [rotation.w, rotation.i, rotation.j, rotation.k],
                translation_m: translation.into(),
            },
            intrinsics: IntrinsicsTruth {
                width_px: width,
                height_px: height,
                fx_px: self.focal_px,
                cx_px: f64::from(width) / 2.0,
                cy_px: f64::from(height) / 2.0,
            },
        }
    }
}

/// What is true of the photos: as much of the simulator's `truth.json` (schema `truth/1`, described
/// there) as the fake solver needs, so that it takes the simulator's files, too.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Truth {
    /// `truth/1`.
    pub schema: String,
    /// The photos.
    pub photos: Vec<PhotoTruth>,
}

/// What is true of one photo.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct PhotoTruth {
    /// File name.
    pub file: String,
    /// Digest of the file.
    pub sha256: String,
    /// Pose.
    pub camera_from_enu: PoseTruth,
    /// Lens.
    pub intrinsics: IntrinsicsTruth,
}

/// `point_in_camera = R(rotation_wxyz) point_in_enu + translation_m`.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct PoseTruth {
    /// Unit quaternion, scalar first.
    pub rotation_wxyz: [f64; 4],
    /// Metres.
    pub translation_m: [f64; 3],
}

/// A pinhole; distortion is small and left out.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct IntrinsicsTruth {
    /// Width of the upright picture.
    pub width_px: u32,
    /// Height of the upright picture.
    pub height_px: u32,
    /// Focal length.
    pub fx_px: f64,
    /// Principal point.
    pub cx_px: f64,
    /// Principal point.
    pub cy_px: f64,
}

impl PoseTruth {
    /// The rotation.
    #[must_use]
    pub fn rotation(&self) -> UnitQuaternion<f64> {
        let [w, x, y, z] = self.rotation_wxyz;
        UnitQuaternion::from_quaternion(nalgebra::Quaternion::new(w, x, y, z))
    }

    /// The camera's centre, metres.
    #[must_use]
    pub fn centre(&self) -> Vector3<f64> {
        self.rotation().inverse() * -Vector3::from(self.translation_m)
    }
}

/// Metres of a degree of longitude and of latitude at the origin, on the WGS84 ellipsoid (radii of
/// curvature in the prime vertical and the meridian).
fn metres_per_degree() -> [f64; 2] {
    const A: f64 = 6_378_137.0;
    const E2: f64 = 0.006_694_379_990_14;
    let latitude = ORIGIN_DEG[0].to_radians();
    let w2 = 1.0 - E2 * latitude.sin().powi(2);
    let prime_vertical = A / w2.sqrt();
    let meridian = A * (1.0 - E2) / w2.powf(1.5);
    [prime_vertical * latitude.cos(), meridian].map(f64::to_radians)
}

/// Latitude and longitude, degrees, of a place given in metres east and north.
#[must_use]
pub fn place_deg([east_m, north_m]: [f64; 2]) -> [f64; 2] {
    let [per_longitude, per_latitude] = metres_per_degree();
    [
        ORIGIN_DEG[0] + north_m / per_latitude,
        ORIGIN_DEG[1] + east_m / per_longitude,
    ]
}

fn set_place(photo: &mut Photo, east_north: [f64; 2]) {
    let [latitude, longitude] = place_deg(east_north);
    photo.place_deg = Some([latitude, longitude]);
    photo.set_dji("GpsLatitude", format!("{latitude:+.9}"));
    photo.set_dji("GpsLongitude", format!("{longitude:+.9}"));
}

/// GPS time, and the camera's clock two hours ahead of it.
fn set_times(photo: &mut Photo, seconds: f64) {
    let at = |hour: u64| {
        let seconds = seconds as u64;
        let (hour, minute) = (hour + seconds / 3600, seconds / 60 % 60);
        format!("2026:05:12 {hour:02}:{minute:02}:{:02}", seconds % 60)
    };
    photo.gps_time = Some(at(8));
    photo.local_time = Some(at(10));
}

/// A drone's sensors with their errors.
struct Sensors {
    rng: ChaCha8Rng,
    drift: Vector3<f64>,
}

impl Sensors {
    fn new(seed: u64) -> Self {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let drift = Vector3::from_fn(|_, _| normal(&mut rng));
        Self { rng, drift }
    }

    fn photo(&mut self, idx: usize, centre: [f64; 3], yaw_deg: f64, pitch_deg: f64) -> Photo {
        let keep = (-INTERVAL_S / GPS_CORRELATION_S).exp();
        let fresh = (1.0 - keep * keep).sqrt();
        self.drift = self.drift * keep + Vector3::from_fn(|_, _| normal(&mut self.rng)) * fresh;
        let mut photo = Photo {
            picture: self.rng.next_u64(),
            ..Photo::default()
        };
        set_times(&mut photo, INTERVAL_S * idx as f64);
        set_place(
            &mut photo,
            [
                centre[0] + GPS_SIGMA_M * self.drift.x,
                centre[1] + GPS_SIGMA_M * self.drift.y,
            ],
        );
        let height = centre[2] + HEIGHT_SIGMA_M * self.drift.z;
        photo.set_dji("RelativeAltitude", format!("{height:+.2}"));
        photo.set_dji("AbsoluteAltitude", format!("{:+.2}", 520.0 + height));
        let mut wobble = |angle: f64| angle + GIMBAL_SIGMA_DEG * normal(&mut self.rng);
        let yaw = wobble(yaw_deg).rem_euclid(360.0);
        let yaw = if yaw > 180.0 { yaw - 360.0 } else { yaw };
        photo.set_dji("GimbalYawDegree", format!("{yaw:+.2}"));
        photo.set_dji("GimbalPitchDegree", format!("{:+.2}", wobble(pitch_deg)));
        photo.set_dji("GimbalRollDegree", "+0.00");
        photo.set_dji("FlightYawDegree", format!("{yaw:+.2}"));
        photo.set_dji("CameraSerialNumber", "C0001");
        photo.set_dji("DroneSerialNumber", "D0001");
        photo
    }
}

/// A normally distributed number, mean 0 and sigma 1 (Box-Muller).
pub(crate) fn normal(rng: &mut impl RngCore) -> f64 {
    let mut unit = || (rng.next_u64() >> 11) as f64 / (1_u64 << 53) as f64;
    let radius = (-2.0 * (1.0 - unit()).ln()).sqrt();
    radius * (std::f64::consts::TAU * unit()).cos()
}
