//! The camera of a stored picture, of what is known of it the surest: a profile or what photos say.

use super::intrinsics::FocalHint;
use calibration::profiles::{self, PhotoCamera};
use calibration::{CameraModel, Lens};

/// A profile without its own uncertainty is the maker's word: this share of the focal length.
const NOMINAL_SIGMA: f64 = 0.025;

/// Intrinsics of a stored picture, before any EXIF orientation.
#[derive(Clone, Debug, PartialEq)]
pub struct KnownIntrinsics {
    /// The intrinsics.
    pub camera: CameraModel,
    /// One sigma of the focal length, pixels.
    pub focal_sigma_px: f64,
    /// Where they are from.
    pub source: KnownFrom,
}

/// Where intrinsics are from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum KnownFrom {
    /// A camera profile, by its id.
    Profile(String),
    /// What a photo says: which tag or table.
    Photo(String),
}

impl KnownIntrinsics {
    /// The surest of the profile of `photo` and the photos' own hints; `None` when there is
    /// neither. A profile's angles do not hold for a picture that digital zoom has cropped.
    #[must_use]
    pub fn surest<'a>(
        photo: &PhotoCamera<'_>,
        is_zoomed: bool,
        hints: impl Iterator<Item = &'a FocalHint>,
    ) -> Option<Self> {
        let by_profile = profiles::find(photo).filter(|_| !is_zoomed).map(|found| {
            let nominal_px = NOMINAL_SIGMA * found.camera.fx;
            Self {
                camera: found.camera,
                focal_sigma_px: found.focal_sigma_px.unwrap_or(nominal_px),
                source: KnownFrom::Profile(found.profile.id.clone()),
            }
        });
        let by_photo = hints
            .min_by(|a, b| a.sigma_px.total_cmp(&b.sigma_px))
            .map(|hint| Self {
                camera: hint.camera(photo.width, photo.height),
                focal_sigma_px: hint.sigma_px,
                source: KnownFrom::Photo(hint.source.to_string()),
            });
        match (by_profile, by_photo) {
            (Some(profile), Some(photo)) if photo.focal_sigma_px < profile.focal_sigma_px => {
                Some(photo)
            }
            (Some(found), _) | (None, Some(found)) => Some(found),
            (None, None) => None,
        }
    }
}

impl FocalHint {
    /// The camera of a picture of this size.
    fn camera(&self, width: u32, height: u32) -> CameraModel {
        let mut camera = CameraModel::pinhole(width, height, self.focal_px);
        if let Some([cx, cy]) = self.principal_point_px {
            (camera.cx, camera.cy) = (cx, cy);
        }
        if let Some(d) = self.distortion {
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
}
