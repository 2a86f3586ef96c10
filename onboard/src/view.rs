//! Where a photo was taken from, as far as scale is concerned, from what the photo says of itself.

use calibration::profiles::PhotoCamera;
use calibration::{CameraModel, Metres};
use detector::ViewGeometry;
use record::Capture;
use record::capture::{KnownIntrinsics, Orientation, Stated};

/// A height nearer to the ground than this was not measured in the air, metres.
const LOWEST_M: f64 = 1.0;

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
    let text = |stated: &Option<Stated<String>>| {
        let value = stated.as_ref().map(|stated| stated.value.clone());
        value.unwrap_or_default()
    };
    let (make, model) = (text(&capture.camera.make), text(&capture.camera.model));
    let focal_mm = capture.focal_length_mm.as_ref().map(|focal| focal.value);
    let photo = PhotoCamera {
        make: &make,
        model: &model,
        width: capture.width_px,
        height: capture.height_px,
        focal_length: focal_mm.map(|mm| Metres(mm / 1000.0)),
    };
    let zoom = capture.digital_zoom.as_ref().map_or(1.0, |zoom| zoom.value);
    KnownIntrinsics::surest(&photo, zoom > 1.0, capture.focal_hints.iter())
        .map(|found| found.camera)
}
