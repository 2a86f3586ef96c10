//! What the user knows about a model that its file does not say.

use crate::error::DetectorError;
use crate::model::is_corner_sigma;
use crate::scale::CarRange;
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};

/// Where a model puts the coordinate 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PixelOrigin {
    /// At the first pixel's corner, as YOLO models do: their anchors lie at (i + 0.5) * stride, and
    /// measured on real photos their boxes need no shift. This is our own convention.
    Corner,
    /// At the first pixel's centre.
    Centre,
}

impl PixelOrigin {
    /// What to add to the model's coordinates to get ours, network pixels.
    pub(crate) fn shift_px(self) -> f64 {
        match self {
            Self::Corner => 0.0,
            Self::Centre => 0.5,
        }
    }
}

/// Order of the colour planes in a model's input.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ColourOrder {
    /// Red first.
    Rgb,
    /// Blue first, as OpenCV reads pictures.
    Bgr,
}

/// How bytes become the network's numbers: `(byte - mean) / deviation` per plane, in the order of
/// the planes.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Normalisation {
    /// Order of the planes.
    pub order: ColourOrder,
    /// Subtracted, in byte values (0 to 255).
    pub mean: [f32; 3],
    /// Divided by, in byte values.
    pub deviation: [f32; 3],
}

impl Default for Normalisation {
    /// RGB in 0..1, what YOLO models take.
    fn default() -> Self {
        Self {
            order: ColourOrder::Rgb,
            mean: [0.0; 3],
            deviation: [255.0; 3],
        }
    }
}

impl Normalisation {
    fn is_usable(&self) -> bool {
        self.mean.iter().all(|mean| mean.is_finite())
            && self.deviation.iter().all(|d| d.is_finite() && *d > 0.0)
    }
}

/// What the user knows better than the model's file; every part is optional.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct ModelOverrides {
    /// Class names in order.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub class_names: Option<Vec<String>>,
    /// How bytes become the network's numbers.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub normalisation: Option<Normalisation>,
    /// Lengths of a car the model sees well.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub car_range: Option<CarRange>,
    /// Score below which its boxes are noise, 0 to 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub score_threshold: Option<f64>,
    /// Where it puts the coordinate 0.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pixel_origin: Option<PixelOrigin>,
    /// Standard deviation of its boxes' corners along x and along y, as a share of the box's long
    /// side: what `groundstation detect eval` measures.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub corner_sigma: Option<f64>,
}

impl ModelOverrides {
    /// The file that describes a model: beside it, with `.json` added to its whole name.
    #[must_use]
    pub fn path_beside(model: &Path) -> PathBuf {
        let mut name = model.as_os_str().to_owned();
        name.push(".json");
        PathBuf::from(name)
    }

    /// Reads the description beside a model; empty when there is none.
    ///
    /// # Errors
    /// [`DetectorError::Sidecar`] when it exists but cannot be read or says impossible things.
    pub fn read_beside(model: &Path) -> Result<Self, DetectorError> {
        let path = Self::path_beside(model);
        let refuse = |reason: String| DetectorError::Sidecar {
            path: path.clone(),
            reason,
        };
        let text = match std::fs::read_to_string(&path) {
            Ok(text) => text,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                return Ok(Self::default());
            }
            Err(error) => return Err(refuse(error.to_string())),
        };
        let found: Self = serde_json::from_str(&text).map_err(|error| refuse(error.to_string()))?;
        found.check().map_err(|reason| refuse(reason.to_owned()))?;
        Ok(found)
    }

    /// These, and where they are silent the other ones.
    #[must_use]
    pub fn or(self, other: Self) -> Self {
        Self {
            class_names: self.class_names.or(other.class_names),
            normalisation: self.normalisation.or(other.normalisation),
            car_range: self.car_range.or(other.car_range),
            score_threshold: self.score_threshold.or(other.score_threshold),
            pixel_origin: self.pixel_origin.or(other.pixel_origin),
            corner_sigma: self.corner_sigma.or(other.corner_sigma),
        }
    }

    fn check(&self) -> Result<(), &'static str> {
        if self.normalisation.is_some_and(|n| !n.is_usable()) {
            return Err("normalisation: means must be finite and deviations positive");
        }
        if self
            .corner_sigma
            .is_some_and(|share| !is_corner_sigma(share))
        {
            return Err("corner_sigma: a share of the long side between 0 and 1 is expected");
        }
        if self.car_range.is_some_and(|range| !range.is_usable()) {
            return Err("car_range: 0 < shortest_px <= best_px <= longest_px is expected");
        }
        if self
            .score_threshold
            .is_some_and(|score| !(0.0..=1.0).contains(&score))
        {
            return Err("score_threshold: 0 to 1 is expected");
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_description_beside_the_model() {
        let folder = tempfile::tempdir().unwrap();
        let model = folder.path().join("m.onnx");
        assert_eq!(
            ModelOverrides::read_beside(&model).unwrap(),
            ModelOverrides::default()
        );
        for (text, fits) in [
            (r#"{"class_names": ["car"], "score_threshold": 0.4}"#, true),
            (
                r#"{"normalisation": {"order": "bgr", "mean": [1, 2, 3], "deviation": [4, 5, 6]}}"#,
                true,
            ),
            (r#"{"pixel_origin": "centre"}"#, true),
            (r#"{"class_nams": ["car"]}"#, false),
            (r#"{"score_threshold": 2}"#, false),
            (
                r#"{"car_range": {"best_px": 1, "shortest_px": 2, "longest_px": 3}}"#,
                false,
            ),
            (
                r#"{"normalisation": {"order": "rgb", "mean": [0, 0, 0], "deviation": [0, 1, 1]}}"#,
                false,
            ),
            ("", false),
        ] {
            std::fs::write(ModelOverrides::path_beside(&model), text).unwrap();
            let found = ModelOverrides::read_beside(&model);
            assert_eq!(found.is_ok(), fits, "{text}: {found:?}");
        }
    }

    #[test]
    fn the_nearer_word_counts() {
        let given = ModelOverrides {
            score_threshold: Some(0.5),
            ..ModelOverrides::default()
        };
        let beside = ModelOverrides {
            score_threshold: Some(0.1),
            pixel_origin: Some(PixelOrigin::Centre),
            ..ModelOverrides::default()
        };
        let both = given.or(beside);
        assert_eq!(both.score_threshold, Some(0.5));
        assert_eq!(both.pixel_origin, Some(PixelOrigin::Centre));
    }
}
