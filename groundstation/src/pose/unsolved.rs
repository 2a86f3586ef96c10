//! Photos that no reconstruction holds: posed from their own accounts, or not at all, with the
//! reason.

use super::component::Component;
use super::gates::{self, Checked};
use super::posed::{
    MadeBy, Pose, PoseSigma, PoseSource, PosedCamera, PosedPhoto, PosedScene, PosedSceneSchema,
};
use super::priors::{PhotoPrior, ScenePriors, VerticalDatum};
use super::solver::DatabaseStats;
use crate::ingest::Scene;
use crate::statistics::median;
use calibration::frames::{Camera, Direction, Enu};
use calibration::{Point, Rigid, Rotation};
use nalgebra::{UnitQuaternion, Vector3};

/// Height assumed where nothing says how high the photos were taken, metres above the ground.
pub(super) const ASSUMED_HEIGHT_M: f64 = 60.0;
/// Below this many features a photo cannot be matched.
const FEW_FEATURES: u64 = 100;

/// What is known of a scene's photos beside those that were posed from the images.
pub(super) struct Rest<'a> {
    pub(super) scene: &'a Scene,
    pub(super) priors: &'a ScenePriors,
    /// The solver's photo names, by index of the scene's photos.
    pub(super) names: &'a [String],
    pub(super) stats: &'a DatabaseStats,
    /// Yaw of the solution against the gimbals, degrees clockwise.
    pub(super) yaw_offset_deg: f64,
}

impl Rest<'_> {
    /// Poses the photos without a solved pose: their own account, corrected by what `main`, the
    /// largest component, showed.
    pub(super) fn pose(&self, photos: &mut [PosedPhoto], main: &Component<'_>) {
        let solved: Vec<(usize, Point<Enu>)> = photos
            .iter()
            .enumerate()
            .filter_map(|(idx, photo)| Some((idx, photo.pose.as_ref()?.camera_from_enu.centre())))
            .collect();
        let mut heights: Vec<f64> = solved.iter().map(|(_, centre)| centre.z()).collect();
        let typical_height = median(&mut heights);
        let with_heights = self.priors.heights.datum() == VerticalDatum::TakeOff;
        for (idx, photo) in photos.iter_mut().enumerate() {
            if photo.pose.is_some() {
                continue;
            }
            let prior = usable_prior(&self.priors.photos[idx], with_heights);
            let mut offset_m = main
                .alignment
                .flight_offsets_m
                .get(prior.flight)
                .copied()
                .unwrap_or_default();
            if prior.height.is_none() {
                // The typical height is the block's, which has no flight's error.
                offset_m.z = 0.0;
            }
            let pose = prior.pose(typical_height).map(|pose| {
                let centre = pose.centre() + Direction::from_vector(-offset_m);
                Pose {
                    camera_from_enu: Rigid::from_centre(
                        yawed(&pose.rotation, self.yaw_offset_deg),
                        centre,
                    ),
                    source: PoseSource::Priors,
                    component: None,
                    sigma: prior_sigma(&prior.sigmas()),
                }
            });
            let why = photo.reason.take();
            let mut words = vec![why.unwrap_or_else(|| self.why_not_solved(idx))];
            words.push(match &pose {
                Some(_) => "posed from GPS and gimbal".to_owned(),
                None => format!("no pose: {}", what_is_missing(&prior, true).join(", ")),
            });
            words.extend(
                pose.as_ref()
                    .and_then(|pose| self.nearest_of(&solved, &pose.camera_from_enu.centre())),
            );
            photo.reason = Some(words.join("; "));
            photo.pose = pose;
        }
    }

    /// The photo posed from the images that is nearest to a place, in words: where to take another
    /// photo between.
    fn nearest_of(&self, solved: &[(usize, Point<Enu>)], place: &Point<Enu>) -> Option<String> {
        let away_m = |centre: &Point<Enu>| (*centre - *place).vector.norm();
        let (idx, centre) = solved
            .iter()
            .min_by(|a, b| away_m(&a.1).total_cmp(&away_m(&b.1)))?;
        Some(format!(
            "the nearest photo posed from the images is {}, {:.0} m away",
            self.scene.photos[*idx].name(),
            away_m(centre)
        ))
    }

    fn why_not_solved(&self, idx: usize) -> String {
        match self.stats.photos.get(&self.names[idx]) {
            None => "the solver could not read it".to_owned(),
            Some(found) if found.features < FEW_FEATURES => {
                format!("too few features ({})", found.features)
            }
            Some(found) if found.verified_pairs == 0 => "it matches no other photo".to_owned(),
            Some(found) => {
                format!(
                    "it matches {} photos but was not posed",
                    found.verified_pairs
                )
            }
        }
    }
}

/// A camera turned clockwise about the vertical.
fn yawed(rotation: &Rotation<Camera, Enu>, clockwise_deg: f64) -> Rotation<Camera, Enu> {
    let turn = UnitQuaternion::from_axis_angle(&Vector3::z_axis(), -clockwise_deg.to_radians());
    Rotation::from_quaternion(rotation.quaternion * turn.inverse())
}

fn prior_sigma(sigmas: &calibration::ground::PoseSigmas) -> PoseSigma {
    PoseSigma {
        horizontal_m: sigmas.horizontal.get(),
        vertical_m: sigmas.vertical.get(),
        yaw_deg: sigmas.yaw.to_degrees(),
        tilt_deg: sigmas.pitch.to_degrees(),
    }
}

pub(super) fn bare_photos(scene: &Scene) -> Vec<PosedPhoto> {
    scene
        .photos
        .iter()
        .map(|photo| PosedPhoto {
            photo_id: photo.photo_id.clone(),
            pose: None,
            reason: None,
            horizontal_residual_m: None,
            vertical_residual_m: None,
            is_inlier: false,
            gimbal_yaw_offset_deg: None,
            gimbal_pitch_offset_deg: None,
            features: None,
            verified_pairs: None,
            camera: photo.camera,
        })
        .collect()
}

/// A photo's account with a height only where heights are measured from what the scene's are.
fn usable_prior(prior: &PhotoPrior, with_heights: bool) -> PhotoPrior {
    let mut usable = prior.clone();
    if !with_heights {
        usable.height = None;
    }
    usable
}

/// What keeps a photo from having a pose of its own, and why.
fn what_is_missing(prior: &PhotoPrior, has_typical_height: bool) -> Vec<String> {
    let mut missing = prior.remarks.clone();
    let parts = [
        (prior.horizontal.is_some(), "no usable GPS position"),
        (prior.rotation.is_some(), "no gimbal angles"),
        (
            prior.height.is_some() || has_typical_height,
            "no height above take-off",
        ),
    ];
    missing.extend(
        parts
            .iter()
            .filter(|(is_there, _)| !is_there)
            .map(|(_, words)| (*words).to_owned()),
    );
    missing
}

/// Poses from the photos' own accounts.
pub(super) fn from_priors(scene: &Scene, priors: &ScenePriors, because: &str) -> PosedScene {
    let mut photos = bare_photos(scene);
    let with_heights = priors.heights.datum() == VerticalDatum::TakeOff;
    let mut remarks = priors.remarks.clone();
    if !with_heights {
        remarks.push(format!(
            "no photo says how high above the ground it was taken: {ASSUMED_HEIGHT_M:.0} m assumed"
        ));
    }
    let mut heights: Vec<f64> = priors
        .photos
        .iter()
        .filter_map(|prior| Some(prior.height?.height_m))
        .collect();
    let height_m = if with_heights {
        // For the photos that lack it.
        median(&mut heights)
    } else {
        Some(ASSUMED_HEIGHT_M)
    };
    for (photo, prior) in photos.iter_mut().zip(&priors.photos) {
        let prior = usable_prior(prior, with_heights);
        photo.pose = prior.pose(height_m).map(|pose| Pose {
            camera_from_enu: pose,
            source: PoseSource::Priors,
            component: None,
            sigma: prior_sigma(&prior.sigmas()),
        });
        photo.reason = match &photo.pose {
            None => Some(what_is_missing(&prior, height_m.is_some()).join("; ")),
            Some(_) if with_heights && prior.height.is_none() => {
                Some("no height above take-off: that of the other photos is assumed".to_owned())
            }
            Some(_) => None,
        };
    }
    let cameras: Vec<PosedCamera> = scene
        .cameras
        .iter()
        .map(|camera| PosedCamera {
            prior: camera.prior,
            solved: camera.prior,
            focal_change: None,
        })
        .collect();
    let made_by = MadeBy::Priors {
        because: because.to_owned(),
    };
    let verdict = gates::judge(&Checked {
        made_by: &made_by,
        photos: &photos,
        cameras: &cameras,
        alignment: None,
        is_rtk: false,
        turned: &[],
        median_pairs: None,
    });
    PosedScene {
        schema: PosedSceneSchema,
        origin: priors.origin,
        datum: priors.heights.datum(),
        heights: priors.heights,
        made_by,
        photos,
        cameras,
        alignment: None,
        verdict,
        stages: Vec::new(),
        remarks,
    }
}
