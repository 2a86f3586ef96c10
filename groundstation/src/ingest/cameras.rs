//! Photos that share intrinsics, and what is known of these beforehand.

use super::bodies::Bodies;
use calibration::profiles::{self, PhotoCamera};
use calibration::{CameraModel, Lens, Metres};
use record::Capture;
use record::capture::{FocalHint, Orientation};
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
        prior: turned(&stored, orientation_of(first)),
        focal_sigma_px,
        source,
        n_photos: captures.len(),
    }
}

/// Intrinsics for the stored picture: of the profile and the photos' own hints, the surest one.
fn prior(key: &CameraKey, captures: &[&Capture]) -> (CameraModel, f64, PriorSource) {
    let [width, height] = key.stored_px;
    let by_profile = profiles::find(&PhotoCamera {
        make: key.make.as_deref().unwrap_or_default(),
        model: key.model.as_deref().unwrap_or_default(),
        width,
        height,
        focal_length: key.focal_um.map(|um| Metres(um as f64 / 1e6)),
    })
    // Digital zoom crops the picture: the profile's angles no longer hold.
    .filter(|_| key.zoom_thousandths.is_none())
    .map(|found| {
        let sigma = found
            .focal_sigma_px
            .unwrap_or(NOMINAL_SIGMA * found.camera.fx);
        (
            found.camera,
            sigma,
            PriorSource::Profile {
                id: found.profile.id.clone(),
            },
        )
    });
    let hints = captures.iter().filter_map(|capture| capture.focal());
    let surest = hints.min_by(|a, b| a.sigma_px.total_cmp(&b.sigma_px));
    let by_photo = surest.map(|hint| {
        let source = PriorSource::Photo {
            source: hint.source.to_string(),
        };
        (camera_of(hint, width, height), hint.sigma_px, source)
    });
    match (by_profile, by_photo) {
        (Some(profile), Some(photo)) => {
            if photo.1 < profile.1 {
                photo
            } else {
                profile
            }
        }
        (Some(found), None) | (None, Some(found)) => found,
        (None, None) => {
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

/// A profile without its own uncertainty is the maker's word.
const NOMINAL_SIGMA: f64 = 0.025;
/// A typical drone camera sees 70 degrees across.
const ASSUMED_FOCAL_PER_SIDE: f64 = 0.72;

fn camera_of(hint: &FocalHint, width: u32, height: u32) -> CameraModel {
    let mut camera = CameraModel::pinhole(width, height, hint.focal_px);
    if let Some([cx, cy]) = hint.principal_point_px {
        (camera.cx, camera.cy) = (cx, cy);
    }
    if let Some(d) = hint.distortion {
        camera.lens = Lens::BrownConrady {
            k1: d.k1,
            k2: d.k2,
            p1: d.p1,
            p2: d.p2,
            k3: d.k3,
        };
    }
    camera
}

/// The camera of the upright picture, from that of the stored one. Mirrored orientations (2, 4,
/// 5, 7), which no camera writes, are treated as the turn they contain.
fn turned(stored: &CameraModel, orientation: Orientation) -> CameraModel {
    let mut camera = *stored;
    let (width, height) = (f64::from(stored.width), f64::from(stored.height));
    // Where the stored x and y axes point in the upright picture, and the new principal point.
    let quarter_turns = quarter_turns(orientation);
    if quarter_turns % 2 == 1 {
        (camera.width, camera.height) = (stored.height, stored.width);
        (camera.fx, camera.fy) = (stored.fy, stored.fx);
    }
    (camera.cx, camera.cy) = match quarter_turns {
        1 => (height - stored.cy, stored.cx),
        2 => (width - stored.cx, height - stored.cy),
        3 => (stored.cy, width - stored.cx),
        _ => (stored.cx, stored.cy),
    };
    if let Lens::BrownConrady { p1, p2, .. } = &mut camera.lens {
        // (p2, p1) turns like any vector in the picture.
        for _ in 0..quarter_turns {
            (*p2, *p1) = (-*p1, *p2);
        }
    }
    camera
}

/// Quarter turns clockwise that make a stored picture upright.
pub(crate) fn quarter_turns(orientation: Orientation) -> u8 {
    match orientation.exif_value() {
        3 | 4 => 2,
        5 | 6 => 1,
        7 | 8 => 3,
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use calibration::{Pixel, Point};

    /// A point seen by the stored camera lies, after the picture is turned, where the turned
    /// camera sees the turned point.
    #[test]
    fn a_turned_picture_has_a_turned_camera() {
        let stored = CameraModel {
            width: 4000,
            height: 3000,
            fx: 2900.0,
            fy: 2910.0,
            cx: 2010.0,
            cy: 1490.0,
            lens: Lens::BrownConrady {
                k1: -0.02,
                k2: 0.01,
                p1: 0.001,
                p2: -0.002,
                k3: 0.0,
            },
        };
        let point = Point::new(0.3, -0.2, 1.0);
        let seen = stored
            .pixel_from_camera(point)
            .expect("in front of the camera");
        let check = |exif: u32, turned_point: Point<_>, expected: Pixel| {
            let orientation = Orientation::try_from(exif).expect("1 to 8");
            let camera = turned(&stored, orientation);
            let pixel = camera
                .pixel_from_camera(turned_point)
                .expect("in front of the camera");
            assert!(
                (pixel.x - expected.x).abs() < 1e-9,
                "{exif}: {pixel:?} {expected:?}"
            );
            assert!(
                (pixel.y - expected.y).abs() < 1e-9,
                "{exif}: {pixel:?} {expected:?}"
            );
        };
        check(1, point, seen);
        check(
            6,
            Point::new(0.2, 0.3, 1.0),
            Pixel::new(3000.0 - seen.y, seen.x),
        );
        check(
            3,
            Point::new(-0.3, 0.2, 1.0),
            Pixel::new(4000.0 - seen.x, 3000.0 - seen.y),
        );
        check(
            8,
            Point::new(-0.2, -0.3, 1.0),
            Pixel::new(seen.y, 4000.0 - seen.x),
        );
    }
}
