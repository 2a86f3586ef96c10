//! Where a photo was taken from, as far as scale is concerned, from what the photo says of itself.

use calibration::profiles::{self, PhotoCamera};
use calibration::{CameraModel, Lens, Metres};
use detector::ViewGeometry;
use record::Capture;
use record::capture::{FocalHint, Orientation};

/// A height nearer to the ground than this was not measured in the air, metres.
const LOWEST_M: f64 = 1.0;
/// A profile without its own uncertainty is the maker's word: this share of the focal length.
const NOMINAL_SIGMA: f64 = 0.025;

/// Why a photo's scale is not known.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NoView {
    /// Neither height above the take-off point nor above the ground.
    #[error("the photo says no height above the ground or the take-off point")]
    Height,
    /// No gimbal angles.
    #[error("the photo says no camera attitude")]
    Attitude,
    /// No focal length, and no profile of the camera.
    #[error("neither the photo nor a camera profile tells the focal length")]
    Camera,
}

/// The view of the upright picture. `height_above_ground` stands in for the photo's own height.
/// Without it the height above the ground counts, else that above take-off: the ground is taken as
/// level with the take-off point.
///
/// # Errors
/// [`NoView`] names the first thing that is missing.
pub fn of_capture(
    capture: &Capture,
    height_above_ground: Option<Metres>,
) -> Result<ViewGeometry, NoView> {
    let stated = [&capture.height_above_ground, &capture.height_above_takeoff];
    let stated = stated.into_iter().flatten().map(|height| height.height);
    let height_above_ground = height_above_ground
        .into_iter()
        .chain(stated)
        .find(|height| height.get() > LOWEST_M)
        .ok_or(NoView::Height)?;
    let gimbal = capture.gimbal.as_ref().ok_or(NoView::Attitude)?;
    let stored = ViewGeometry {
        camera: camera(capture).ok_or(NoView::Camera)?,
        camera_from_enu: gimbal.attitude.camera_from_enu(),
        height_above_ground,
    };
    let orientation = capture.orientation.unwrap_or(Orientation::UPRIGHT);
    Ok(stored.turned(orientation.exif_value()))
}

/// Intrinsics of the stored picture: of the profile and the photo's own hints the surest.
fn camera(capture: &Capture) -> Option<CameraModel> {
    let by_photo = capture
        .focal_hints
        .iter()
        .min_by(|a, b| a.sigma_px.total_cmp(&b.sigma_px))
        .map(|hint| (camera_of(hint, capture), hint.sigma_px));
    match (by_profile(capture), by_photo) {
        (Some(profile), Some(photo)) if photo.1 < profile.1 => Some(photo.0),
        (Some(found), _) | (None, Some(found)) => Some(found.0),
        (None, None) => None,
    }
}

fn by_profile(capture: &Capture) -> Option<(CameraModel, f64)> {
    // Digital zoom crops the picture: the profile's angles no longer hold.
    let zoom = capture.digital_zoom.as_ref().map_or(1.0, |zoom| zoom.value);
    if zoom > 1.0 {
        return None;
    }
    let focal_mm = capture.focal_length_mm.as_ref().map(|focal| focal.value);
    let found = profiles::find(&PhotoCamera {
        make: &capture.camera.make.as_ref()?.value,
        model: &capture.camera.model.as_ref()?.value,
        width: capture.width_px,
        height: capture.height_px,
        focal_length: focal_mm.map(|mm| Metres(mm / 1000.0)),
    })?;
    let sigma = found.focal_sigma_px;
    Some((
        found.camera,
        sigma.unwrap_or(NOMINAL_SIGMA * found.camera.fx),
    ))
}

fn camera_of(hint: &FocalHint, capture: &Capture) -> CameraModel {
    let mut camera = CameraModel::pinhole(capture.width_px, capture.height_px, hint.focal_px);
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
