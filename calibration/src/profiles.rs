//! Camera profiles: what is known of a camera model before any photo is looked at, with its source.
//!
//! A profile is a TOML file, `schema = "camera-profile/1"`; `profiles/*.toml` are built in. Lengths
//! on the sensor are millimetres and angles degrees in the file, metres and radians here. What is
//! not known is absent.

use crate::camera::CameraModel;
use crate::error::CalibrationError;
use crate::units::{Metres, Radians, Seconds};
use std::path::Path;
use std::sync::LazyLock;

mod file;

/// The schema that this version reads.
pub const SCHEMA: &str = "camera-profile/1";
/// How far a focal length in pixels may lie from the one in millimetres over the sensor.
const MAX_FOCAL_CONTRADICTION: f64 = 0.05;
/// How far the focal length in a photo may lie from the profile's: makers round it to 0.1 mm.
const MAX_FOCAL_DIFFERENCE: f64 = 0.02;
/// How far aspects may differ for one picture to be the other resampled, in pixels of the smaller
/// picture's side: rounding to whole pixels.
const MAX_ASPECT_ERROR_PX: f64 = 1.0;

/// The profiles that come with the program: file stem and text.
const SHIPPED: [(&str, &str); 5] = [
    ("dji-fc300s", include_str!("../profiles/dji-fc300s.toml")),
    ("dji-fc6310", include_str!("../profiles/dji-fc6310.toml")),
    ("dji-fc6360", include_str!("../profiles/dji-fc6360.toml")),
    ("dji-m3e", include_str!("../profiles/dji-m3e.toml")),
    (
        "dji-m3t-wide",
        include_str!("../profiles/dji-m3t-wide.toml"),
    ),
];

/// What is known of a camera model.
#[derive(Clone, Debug, PartialEq)]
pub struct CameraProfile {
    /// Short name, such as `dji-m3e`.
    pub id: String,
    /// What people call it.
    pub description: String,
    /// The strings that EXIF Make may hold.
    pub makes: Vec<String>,
    /// The strings that EXIF Model may hold.
    pub models: Vec<String>,
    /// Intrinsics at the profile's own image size.
    pub camera: CameraModel,
    /// Where the intrinsics come from.
    pub intrinsics: IntrinsicsSource,
    /// Standard deviation of the focal length, pixels at the profile's own image size.
    pub focal_sigma_px: Option<f64>,
    /// Parts of the full picture that the camera also stores.
    pub crops: Vec<Crop>,
    /// Width of the sensor behind the full picture.
    pub sensor_width: Option<Metres>,
    /// Height of the sensor behind the full picture.
    pub sensor_height: Option<Metres>,
    /// Focal length as EXIF states it.
    pub focal_length: Option<Metres>,
    /// Shortest time between two photos.
    pub min_shutter_interval: Option<Seconds>,
    /// Time from the first to the last row of a photo.
    pub rolling_shutter_readout: Option<Seconds>,
    /// What the gimbal can reach.
    pub gimbal: Option<GimbalLimits>,
    /// Who or what the numbers come from.
    pub measured_by: String,
    /// How they were found, and what to mind.
    pub how: String,
}

/// Where a profile's intrinsics come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IntrinsicsSource {
    /// The `[intrinsics]` of the profile; `how` says how they were found.
    Stated,
    /// Focal length over the sensor's width, square pixels, principal point in the middle, no
    /// distortion.
    Nominal,
}

/// A part of the full picture: size and place, pixels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Crop {
    /// Columns kept.
    pub width: u32,
    /// Rows kept.
    pub height: u32,
    /// Columns left out on the left.
    pub left: u32,
    /// Rows left out at the top.
    pub top: u32,
}

/// The range of pitch that the gimbal can be sent to; up is positive, nadir is -pi/2.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct GimbalLimits {
    /// Lowest pitch.
    pub pitch_min: Radians,
    /// Highest pitch.
    pub pitch_max: Radians,
}

/// What a photo says about its camera.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PhotoCamera<'a> {
    /// EXIF Make.
    pub make: &'a str,
    /// EXIF Model.
    pub model: &'a str,
    /// Image width, pixels.
    pub width: u32,
    /// Image height, pixels.
    pub height: u32,
    /// EXIF FocalLength (not the 35 mm equivalent).
    pub focal_length: Option<Metres>,
}

/// A profile that fits a photo, with the intrinsics for its size.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ProfileMatch<'a> {
    /// The profile.
    pub profile: &'a CameraProfile,
    /// Intrinsics at the photo's size.
    pub camera: CameraModel,
    /// Standard deviation of the focal length at the photo's size, pixels.
    pub focal_sigma_px: Option<f64>,
}

impl CameraProfile {
    /// Reads a profile from a file.
    ///
    /// # Errors
    /// The file cannot be read, is not a profile of this schema, has a key we do not know, or
    /// contradicts itself.
    pub fn load(path: &Path) -> Result<Self, CalibrationError> {
        let text = std::fs::read_to_string(path).map_err(|source| CalibrationError::Read {
            path: path.to_owned(),
            source,
        })?;
        Self::parse(&text, path)
    }

    /// Reads a profile from its text; `origin` names it in errors.
    ///
    /// # Errors
    /// As [`Self::load`].
    pub fn parse(text: &str, origin: &Path) -> Result<Self, CalibrationError> {
        let file = file::ProfileFile::read(text, origin)?;
        file.into_profile()
            .and_then(Self::checked)
            .map_err(|source| CalibrationError::InProfile {
                path: origin.to_owned(),
                source: Box::new(source),
            })
    }

    /// The intrinsics for a picture of another size: the full picture or one of the crops, or
    /// either resampled (same aspect to within a pixel). `None` for any other aspect.
    #[must_use]
    pub fn camera_at(&self, width: u32, height: u32) -> Option<CameraModel> {
        self.pictures()
            .find(|picture| is_resampled(picture, width, height))
            .map(|picture| picture.scaled_to(width, height))
    }

    /// The full picture's intrinsics, then the crops'.
    fn pictures(&self) -> impl Iterator<Item = CameraModel> {
        let crops = self.crops.iter().map(|crop| {
            let (left, top) = (f64::from(crop.left), f64::from(crop.top));
            self.camera.cropped_to(left, top, crop.width, crop.height)
        });
        std::iter::once(self.camera).chain(crops)
    }

    fn matches(&self, photo: &PhotoCamera<'_>) -> Option<CameraModel> {
        let is_any = |names: &[String], name: &str| {
            names
                .iter()
                .any(|own| own.eq_ignore_ascii_case(name.trim()))
        };
        if !is_any(&self.makes, photo.make) || !is_any(&self.models, photo.model) {
            return None;
        }
        match (self.focal_length, photo.focal_length) {
            (Some(own), Some(found)) => {
                let difference = (found.get() / own.get() - 1.0).abs();
                (difference <= MAX_FOCAL_DIFFERENCE)
                    .then(|| self.camera_at(photo.width, photo.height))?
            }
            // Several lenses may share a model name and an aspect. Without the focal length only
            // the exact size tells them apart.
            _ => self
                .pictures()
                .find(|camera| (camera.width, camera.height) == (photo.width, photo.height)),
        }
    }

    fn checked(self) -> Result<Self, CalibrationError> {
        let Some(focal_length) = self.focal_length else {
            return Ok(self);
        };
        let axes = [
            ("x", self.camera.fx, self.sensor_width, self.camera.width),
            ("y", self.camera.fy, self.sensor_height, self.camera.height),
        ];
        for (axis, from_pixels_px, sensor, pixels) in axes {
            let Some(sensor) = sensor else { continue };
            let from_millimetres_px = focal_length.get() / sensor.get() * f64::from(pixels);
            if (from_pixels_px / from_millimetres_px - 1.0).abs() > MAX_FOCAL_CONTRADICTION {
                return Err(CalibrationError::FocalContradiction {
                    axis,
                    from_pixels_px,
                    from_millimetres_px,
                });
            }
        }
        Ok(self)
    }
}

/// Whether a picture of this size is the given one resampled.
fn is_resampled(picture: &CameraModel, width: u32, height: u32) -> bool {
    let (own_width, own_height) = (f64::from(picture.width), f64::from(picture.height));
    let (width, height) = (f64::from(width), f64::from(height));
    width > 0.0
        && height > 0.0
        && (width - height * own_width / own_height).abs() < MAX_ASPECT_ERROR_PX
        && (height - width * own_height / own_width).abs() < MAX_ASPECT_ERROR_PX
}

/// The profiles that come with the program, by id.
#[must_use]
pub fn shipped() -> &'static [CameraProfile] {
    static PROFILES: LazyLock<Vec<CameraProfile>> = LazyLock::new(|| {
        SHIPPED
            .iter()
            .map(|(id, text)| {
                CameraProfile::parse(text, Path::new(id))
                    .expect("a test parses every shipped profile")
            })
            .collect()
    });
    &PROFILES
}

/// The shipped profile of this id.
#[must_use]
pub fn by_id(id: &str) -> Option<&'static CameraProfile> {
    shipped().iter().find(|profile| profile.id == id)
}

/// The first of the given profiles that fits a photo: Make and Model (spaces around them and case
/// aside), aspect, and focal length within 2 %. When the photo or the profile has no focal length,
/// the size must be exactly the profile's or one of its crops', because a telephoto lens may share
/// the name and the aspect. A picture turned by 90 degrees fits nothing: undo its orientation
/// first.
#[must_use]
pub fn find_in<'a>(
    profiles: &'a [CameraProfile],
    photo: &PhotoCamera<'_>,
) -> Option<ProfileMatch<'a>> {
    profiles.iter().find_map(|profile| {
        let camera = profile.matches(photo)?;
        Some(ProfileMatch {
            profile,
            camera,
            focal_sigma_px: profile
                .focal_sigma_px
                .map(|sigma| sigma * camera.fx / profile.camera.fx),
        })
    })
}

/// The shipped profile that fits a photo, as [`find_in`] finds it.
#[must_use]
pub fn find(photo: &PhotoCamera<'_>) -> Option<ProfileMatch<'static>> {
    find_in(shipped(), photo)
}
