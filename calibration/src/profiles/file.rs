//! The profile's file: its keys as they stand there, and the checks on reading.

use super::{CameraProfile, Crop, GimbalLimits, IntrinsicsSource, SCHEMA};
use crate::camera::CameraModel;
use crate::error::CalibrationError;
use crate::lens::Lens;
use crate::units::{Metres, Radians, Seconds};
use serde::Deserialize;
use std::path::Path;

#[derive(Deserialize)]
struct Header {
    schema: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ProfileFile {
    #[serde(rename = "schema")]
    _schema: String,
    id: String,
    description: String,
    makes: Vec<String>,
    models: Vec<String>,
    measured_by: String,
    how: String,
    image: ImageFile,
    #[serde(default)]
    optics: OpticsFile,
    intrinsics: Option<IntrinsicsFile>,
    #[serde(default)]
    crop: Vec<CropFile>,
    #[serde(default)]
    shutter: ShutterFile,
    gimbal: Option<GimbalFile>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ImageFile {
    width_px: u32,
    height_px: u32,
}

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct OpticsFile {
    sensor_width_mm: Option<f64>,
    sensor_height_mm: Option<f64>,
    focal_length_mm: Option<f64>,
    focal_sigma_px: Option<f64>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct IntrinsicsFile {
    focal_x_px: f64,
    focal_y_px: f64,
    principal_x_px: f64,
    principal_y_px: f64,
    lens: Lens,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct CropFile {
    width_px: u32,
    height_px: u32,
    left_px: u32,
    top_px: u32,
}

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct ShutterFile {
    min_interval_s: Option<f64>,
    rolling_readout_ms: Option<f64>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct GimbalFile {
    pitch_min_deg: f64,
    pitch_max_deg: f64,
}

impl ProfileFile {
    /// Reads the keys. The schema comes first: a file of another version may have other keys.
    pub(super) fn read(text: &str, origin: &Path) -> Result<Self, CalibrationError> {
        let malformed = |source| CalibrationError::Malformed {
            path: origin.to_owned(),
            source: Box::new(source),
        };
        let header: Header = toml::from_str(text).map_err(malformed)?;
        if header.schema != SCHEMA {
            return Err(CalibrationError::Schema {
                path: origin.to_owned(),
                found: header.schema,
                expected: SCHEMA,
            });
        }
        toml::from_str(text).map_err(malformed)
    }

    /// Checks every value by itself and converts it to SI.
    pub(super) fn into_profile(self) -> Result<CameraProfile, CalibrationError> {
        let texts = [
            ("id", self.id.as_str()),
            ("measured_by", &self.measured_by),
            ("how", &self.how),
            ("makes", self.makes.first().map_or("", String::as_str)),
            ("models", self.models.first().map_or("", String::as_str)),
        ];
        for (key, found) in texts {
            if found.trim().is_empty() {
                return Err(CalibrationError::value(key, "empty", "a text"));
            }
        }
        let sensor_width = length("sensor_width_mm", self.optics.sensor_width_mm)?;
        let sensor_height = length("sensor_height_mm", self.optics.sensor_height_mm)?;
        let focal_length = length("focal_length_mm", self.optics.focal_length_mm)?;
        let (camera, intrinsics) = self.camera(sensor_width, focal_length)?;
        let interval_s = positive("min_interval_s", self.shutter.min_interval_s)?;
        let readout_ms = positive("rolling_readout_ms", self.shutter.rolling_readout_ms)?;
        Ok(CameraProfile {
            crops: self.crops()?,
            gimbal: self.gimbal.map(GimbalFile::limits).transpose()?,
            focal_sigma_px: positive("focal_sigma_px", self.optics.focal_sigma_px)?,
            min_shutter_interval: interval_s.map(Seconds),
            rolling_shutter_readout: readout_ms.map(|ms| Seconds(ms / 1000.0)),
            id: self.id,
            description: self.description,
            makes: self.makes,
            models: self.models,
            camera,
            intrinsics,
            sensor_width,
            sensor_height,
            focal_length,
            measured_by: self.measured_by,
            how: self.how,
        })
    }

    fn camera(
        &self,
        sensor_width: Option<Metres>,
        focal_length: Option<Metres>,
    ) -> Result<(CameraModel, IntrinsicsSource), CalibrationError> {
        let (width, height) = (self.image.width_px, self.image.height_px);
        let (camera, source) = match (&self.intrinsics, sensor_width, focal_length) {
            (Some(own), _, _) => {
                let camera = CameraModel {
                    width,
                    height,
                    fx: own.focal_x_px,
                    fy: own.focal_y_px,
                    cx: own.principal_x_px,
                    cy: own.principal_y_px,
                    lens: own.lens,
                };
                (camera, IntrinsicsSource::Stated)
            }
            (None, Some(sensor), Some(focal)) => {
                let focal_px = focal.get() / sensor.get() * f64::from(width);
                let camera = CameraModel::pinhole(width, height, focal_px);
                (camera, IntrinsicsSource::Nominal)
            }
            _ => {
                return Err(CalibrationError::NoFocalLength);
            }
        };
        Ok((camera.checked()?, source))
    }

    fn crops(&self) -> Result<Vec<Crop>, CalibrationError> {
        self.crop
            .iter()
            .map(|crop| {
                let fits = |start: u32, kept: u32, all: u32| {
                    kept > 0 && start.checked_add(kept).is_some_and(|end| end <= all)
                };
                let is_inside = fits(crop.left_px, crop.width_px, self.image.width_px)
                    && fits(crop.top_px, crop.height_px, self.image.height_px);
                if !is_inside {
                    let found = format!(
                        "{}x{} from ({}, {})",
                        crop.width_px, crop.height_px, crop.left_px, crop.top_px
                    );
                    let expected = "a part of the full picture";
                    return Err(CalibrationError::value("crop", found, expected));
                }
                Ok(Crop {
                    width: crop.width_px,
                    height: crop.height_px,
                    left: crop.left_px,
                    top: crop.top_px,
                })
            })
            .collect()
    }
}

impl GimbalFile {
    fn limits(self) -> Result<GimbalLimits, CalibrationError> {
        let (min, max) = (self.pitch_min_deg, self.pitch_max_deg);
        if !(-180.0 <= min && min < max && max <= 180.0) {
            let expected = "a range of degrees within [-180, 180]";
            return Err(CalibrationError::value(
                "gimbal",
                format!("{min}..{max}"),
                expected,
            ));
        }
        Ok(GimbalLimits {
            pitch_min: Radians::from_degrees(min),
            pitch_max: Radians::from_degrees(max),
        })
    }
}

fn positive(key: &'static str, value: Option<f64>) -> Result<Option<f64>, CalibrationError> {
    match value {
        Some(found) if !(found.is_finite() && found > 0.0) => {
            Err(CalibrationError::value(key, found, "a positive number"))
        }
        _ => Ok(value),
    }
}

/// A length given in millimetres.
fn length(key: &'static str, millimetres: Option<f64>) -> Result<Option<Metres>, CalibrationError> {
    Ok(positive(key, millimetres)?.map(|mm| Metres(mm / 1000.0)))
}
