//! Photos that share intrinsics, and what is known of these beforehand.

use super::bodies::Bodies;
use calibration::profiles::PhotoCamera;
use calibration::{CameraModel, Metres};
use record::Capture;
use record::capture::{KnownFrom, KnownIntrinsics, Orientation};
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

/// Photos of one body, lens, zoom and size.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CameraGroup {
    /// Maker.
    pub make: Option<String>,
    /// Model.
    pub model: Option<String>,
    /// Serial number of the camera, body or aircraft, whichever is known.
    pub serial: Option<String>,
    /// Focal length of the lens, millimetres.
    pub focal_length_mm: Option<f64>,
    /// Digital zoom ratio.
    pub digital_zoom: Option<f64>,
    /// Intrinsics at the photos' upright size, before any photo was matched.
    pub prior: CameraModel,
    /// One sigma of the prior's focal length, pixels.
    pub focal_sigma_px: f64,
    /// Where the prior is from.
    pub source: PriorSource,
    /// How many photos.
    pub n_photos: usize,
}

/// Where a prior is from.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "kind")]
pub enum PriorSource {
    /// A measured or nominal camera profile.
    Profile {
        /// The profile's id.
        id: String,
    },
    /// What the photos say.
    Photo {
        /// Which tag or table.
        source: String,
    },
}

/// What tells cameras apart. Focal lengths and zooms are compared to a thousandth.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct CameraKey {
    make: Option<String>,
    model: Option<String>,
    serial: Option<String>,
    body: usize,
    focal_um: Option<i64>,
    zoom_thousandths: Option<i64>,
    stored_px: [u32; 2],
    orientation: u8,
}

/// The camera of each photo.
pub(super) fn keys(captures: &[&Capture], bodies: &Bodies) -> Vec<CameraKey> {
    let mut keys: Vec<CameraKey> = captures
        .iter()
        .enumerate()
        .map(|(idx, capture)| CameraKey::of(capture, bodies.body(idx), bodies))
        .collect();
    let stated: BTreeSet<CameraKey> = keys
        .iter()
        .filter(|key| key.focal_um.is_some())
        .cloned()
        .collect();
    for key in keys.iter_mut().filter(|key| key.focal_um.is_none()) {
        // A photo that does not say its focal length was taken with the only one there is.
        let mut others = stated.iter().filter(|other| key.is_but_for_focal(other));
        if let (Some(only), None) = (others.next(), others.next()) {
            *key = only.clone();
        }
    }
    keys
}

impl CameraKey {
    fn of(capture: &Capture, body: usize, bodies: &Bodies) -> Self {
        let camera = &capture.camera;
        let thousandths = |value: f64| (value * 1000.0).round() as i64;
        let text = |stated: &Option<record::capture::Stated<String>>| {
            stated.as_ref().map(|s| s.value.clone())
        };
        Self {
            make: text(&camera.make),
            model: text(&camera.model),
            serial: bodies.serial(body).map(str::to_owned),
            body,
            focal_um: capture
                .focal_length_mm
                .as_ref()
                .map(|f| thousandths(f.value)),
            // Not every photo states that there is no zoom.
            zoom_thousandths: capture
                .digital_zoom
                .as_ref()
                .map(|z| thousandths(z.value))
                .filter(|&zoom| zoom > 1000),
            stored_px: [capture.width_px, capture.height_px],
            orientation: orientation_of(capture).exif_value(),
        }
    }

    fn is_but_for_focal(&self, other: &Self) -> bool {
        let focal_um = self.focal_um;
        *self
            == Self {
                focal_um,
                ..other.clone()
            }
    }
}

/// The orientation to apply; upright where the photo says nothing.
pub(crate) fn orientation_of(capture: &Capture) -> Orientation {
    capture.orientation.unwrap_or(Orientation::UPRIGHT)
}

/// Width and height after the orientation was applied.
pub(super) fn upright_size(capture: &Capture) -> (u32, u32) {
    if orientation_of(capture).swaps_sides() {
        (capture.height_px, capture.width_px)
    } else {
        (capture.width_px, capture.height_px)
    }
}

/// One camera from the photos that share its key. `captures` is not empty.
pub(super) fn group(key: &CameraKey, captures: &[&Capture]) -> CameraGroup {
    let first = captures[0];
    let (stored, focal_sigma_px, source) = prior(key, captures);
    CameraGroup {
        make: key.make.clone(),
        model: key.model.clone(),
        serial: key.serial.clone(),
        focal_length_mm: key.focal_um.map(|um| um as f64 / 1000.0),
        digital_zoom: key.zoom_thousandths.map(|zoom| zoom as f64 / 1000.0),
        prior: stored.turned(orientation_of(first).quarter_turns()),
        focal_sigma_px,
        source,
        n_photos: captures.len(),
    }
}

/// Intrinsics for the stored picture: of the profile and the photos' own hints, the surest one.
fn prior(key: &CameraKey, captures: &[&Capture]) -> (CameraModel, f64, PriorSource) {
    let [width, height] = key.stored_px;
    let photo = PhotoCamera {
        make: key.make.as_deref().unwrap_or_default(),
        model: key.model.as_deref().unwrap_or_default(),
        width,
        height,
        focal_length: key.focal_um.map(|um| Metres(um as f64 / 1e6)),
    };
    let hints = captures.iter().filter_map(|capture| capture.focal());
    match KnownIntrinsics::surest(&photo, key.zoom_thousandths.is_some(), hints) {
        Some(found) => (found.camera, found.focal_sigma_px, found.source.into()),
        None => {
            let focal = ASSUMED_FOCAL_PER_SIDE * f64::from(width.max(height));
            let source = PriorSource::Photo {
                source: "assumed".to_owned(),
            };
            (
                CameraModel::pinhole(width, height, focal),
                0.3 * focal,
                source,
            )
        }
    }
}

impl From<KnownFrom> for PriorSource {
    fn from(source: KnownFrom) -> Self {
        match source {
            KnownFrom::Profile(id) => Self::Profile { id },
            KnownFrom::Photo(source) => Self::Photo { source },
        }
    }
}

/// A typical drone camera sees 70 degrees across.
const ASSUMED_FOCAL_PER_SIDE: f64 = 0.72;
