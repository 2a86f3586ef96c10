//! One of a solver's models in the scene's frame: aligned, and refused where it is nonsense.

use super::align::{self, AlignConfig, Alignment, Sighting};
use super::assemble::Context;
use super::model::Model;
use super::offsets::{circular_median, circular_spread};
use crate::statistics::median;
use calibration::frames::Enu;
use calibration::{Point, Radians};
use nalgebra::Vector2;
use std::collections::BTreeMap;

/// A model needs this many photos that agree with their positions: three agree by chance. Where no
/// photo says how it was turned, five still do (1 in 100 random ones).
const MIN_AGREEING: usize = 4;
const MIN_AGREEING_WITHOUT_ANGLES: usize = 6;
/// And this share of those that have one; of few a larger one, since half of few agree by chance.
const MIN_AGREEING_SHARE: f64 = 0.5;
const MIN_AGREEING_SHARE_OF_FEW: f64 = 0.75;
const FEW_POSITIONS: usize = 16;
/// Ground points above the cameras that see them: an upside-down or folded block.
const MAX_POINTS_ABOVE: f64 = 0.05;
/// Orientations that contradict the gimbals by this much (median) belong to a mirrored or
/// scrambled block.
const MAX_GRAVITY_SPREAD_RAD: f64 = 10.0_f64.to_radians();
const MAX_PITCH_OFFSET_RAD: f64 = 20.0_f64.to_radians();
/// A gimbal's yaw may be off by any amount, but by the same on all photos (median deviation).
const MAX_YAW_SPREAD_RAD: f64 = 30.0_f64.to_radians();
/// Positions that leave the scale more open than this prove nothing by agreeing: any few photos
/// agree when shrunk to a point.
const MAX_SCALE_SIGMA: f64 = 0.25;
/// Positions that agree must agree better than they are apart: what is left of them, rms over rms.
const MAX_LEFT_OVER_SPREAD: f64 = 0.3;
/// Two reconstructions that share photos must put them at one place, to this.
const MAX_SHARED_APART_M: f64 = 10.0;
/// A picture turned against its gimbal's angles by more than this was turned by a viewer.
const TURNED_RAD: f64 = 60.0_f64.to_radians();

/// A reconstruction's own error, beside that of a position: what RTK measures better, a block does
/// not follow.
const SOLVED_SIGMA_M: f64 = 0.1;

/// One model in the scene's frame.
pub(super) struct Component<'m> {
    pub(super) model: &'m Model,
    /// Scene photo index per model photo.
    pub(super) photo_idx: Vec<usize>,
    pub(super) alignment: Alignment,
}

/// Brings a model into the scene's frame. `Err` says why it cannot be used.
pub(super) fn align_model<'m>(
    context: &Context<'_>,
    model: &'m Model,
) -> Result<Component<'m>, String> {
    let photo_idx = scene_photos(context, model)?;
    let sightings: Vec<Sighting> = model
        .photos
        .iter()
        .zip(&photo_idx)
        .map(|(photo, &idx)| {
            let prior = &context.priors.photos[idx];
            Sighting {
                centre_in_solution: photo.camera_from_solution.centre(),
                camera_from_solution: photo.camera_from_solution.rotation,
                horizontal: prior.horizontal.map(|mut measured| {
                    measured.sigma_m = measured.sigma_m.hypot(SOLVED_SIGMA_M);
                    measured
                }),
                height: prior.height.map(|mut measured| {
                    measured.sigma_m = measured.sigma_m.hypot(SOLVED_SIGMA_M);
                    measured
                }),
                measured_rotation: prior.rotation,
                flight: prior.flight,
                time_s: prior.time_s,
            }
        })
        .collect();
    let config = AlignConfig {
        seed: context.seed,
        flight_height_sigma_m: context.priors.heights.flight_sigma_m(),
        ..AlignConfig::default()
    };
    let alignment = align::align(&sightings, &config).map_err(|error| error.to_string())?;
    let component = Component {
        model,
        photo_idx,
        alignment,
    };
    refuse_nonsense(&component, &sightings)?;
    Ok(component)
}

/// The scene's photo per photo of a model, each of the size that the model's camera has.
fn scene_photos(context: &Context<'_>, model: &Model) -> Result<Vec<usize>, String> {
    let by_name: BTreeMap<&str, usize> = context
        .names
        .iter()
        .enumerate()
        .map(|(idx, name)| (name.as_str(), idx))
        .collect();
    model
        .photos
        .iter()
        .map(|photo| {
            let idx = *by_name
                .get(photo.name.as_str())
                .ok_or_else(|| format!("it holds a photo {} that it was not given", photo.name))?;
            let camera = &model.cameras[&photo.camera_id];
            let known = &context.scene.photos[idx];
            if (camera.width, camera.height) != (known.width_px, known.height_px) {
                return Err(format!(
                    "its camera of {} has {} x {} pixels and the photo {} x {}",
                    known.name(),
                    camera.width,
                    camera.height,
                    known.width_px,
                    known.height_px
                ));
            }
            Ok(idx)
        })
        .collect()
}

/// What no good block does.
fn refuse_nonsense(component: &Component<'_>, sightings: &[Sighting]) -> Result<(), String> {
    let alignment = &component.alignment;
    let n_positions = sightings.iter().filter(|s| s.horizontal.is_some()).count();
    let n_inliers = alignment.residuals.iter().filter(|r| r.inlier).count();
    let share = if n_positions < FEW_POSITIONS {
        MIN_AGREEING_SHARE_OF_FEW
    } else {
        MIN_AGREEING_SHARE
    };
    let least = match alignment.gravity {
        Some(_) => MIN_AGREEING,
        None => MIN_AGREEING_WITHOUT_ANGLES,
    };
    let enough = least.max((share * n_positions as f64).ceil() as usize);
    if n_inliers < enough {
        return Err(format!(
            "only {n_inliers} of {n_positions} positions agree with it, {enough} are needed"
        ));
    }
    if alignment.sigma.scale > MAX_SCALE_SIGMA {
        return Err(format!(
            "its scale is known to {:.0} % only: the positions of its photos lie too close \
             together for what they are worth",
            100.0 * alignment.sigma.scale
        ));
    }
    let left = left_over_spread(alignment, sightings);
    if left > MAX_LEFT_OVER_SPREAD {
        return Err(format!(
            "its shape is not that of the positions: of their spread {:.0} % is left",
            100.0 * left
        ));
    }
    if let Some(gravity) = alignment.gravity
        && gravity.spread_rad > MAX_GRAVITY_SPREAD_RAD
    {
        return Err(format!(
            "its orientations contradict the gimbal angles by {:.0} degrees (median): it is \
             mirrored or scrambled",
            gravity.spread_rad.to_degrees()
        ));
    }
    let mut pitches: Vec<f64> = alignment
        .gimbal_offsets
        .iter()
        .flatten()
        .map(|offset| offset.pitch.abs().get())
        .collect();
    if let Some(pitch) = median(&mut pitches)
        && pitch > MAX_PITCH_OFFSET_RAD
    {
        return Err(format!(
            "its cameras look {:.0} degrees away from where the gimbals say: it is upside down or \
             tilted",
            pitch.to_degrees()
        ));
    }
    let yaws: Vec<f64> = alignment
        .gimbal_offsets
        .iter()
        .flatten()
        .map(|offset| offset.yaw.get())
        .collect();
    if let Some(spread) = circular_spread(&yaws)
        && spread > MAX_YAW_SPREAD_RAD
    {
        return Err(format!(
            "its directions differ from the gimbals' by {:.0} degrees more or less from photo to \
             photo (median): it is mirrored or scrambled",
            spread.to_degrees()
        ));
    }
    let above = share_of_points_above(component);
    if above >= MAX_POINTS_ABOVE {
        return Err(format!(
            "{:.0} % of its points lie above the cameras that see them: it is upside down",
            100.0 * above
        ));
    }
    Ok(())
}

/// Horizontal residuals of the positions that agree over the spread of these positions, rms over
/// rms.
fn left_over_spread(alignment: &Alignment, sightings: &[Sighting]) -> f64 {
    let agreeing: Vec<(Vector2<f64>, Vector2<f64>)> = alignment
        .residuals
        .iter()
        .zip(sightings)
        .filter(|(residual, _)| residual.inlier)
        .filter_map(|(residual, sighting)| {
            let [east, north] = residual.horizontal_m?;
            let measured = sighting.horizontal?;
            Some((
                Vector2::new(east, north),
                Vector2::new(measured.east_m, measured.north_m),
            ))
        })
        .collect();
    let n = agreeing.len() as f64;
    let middle = agreeing.iter().map(|(_, at)| at).sum::<Vector2<f64>>() / n;
    let left: f64 = agreeing.iter().map(|(left, _)| left.norm_squared()).sum();
    let spread: f64 = agreeing
        .iter()
        .map(|(_, at)| (at - middle).norm_squared())
        .sum();
    (left / spread).sqrt()
}

/// A smaller reconstruction that shares photos with a larger one must agree on where they are.
pub(super) fn refuse_contradiction(
    component: &Component<'_>,
    larger: &[Component<'_>],
) -> Result<(), String> {
    for other in larger {
        let placed: BTreeMap<usize, Point<Enu>> = other.centres().collect();
        let mut apart_m: Vec<f64> = component
            .centres()
            .filter_map(|(idx, centre)| Some((centre - *placed.get(&idx)?).vector.norm()))
            .collect();
        if let Some(typical_m) = median(&mut apart_m)
            && typical_m > MAX_SHARED_APART_M
        {
            return Err(format!(
                "it puts {} photos that it shares with a larger one {typical_m:.0} m from where \
                 that has them",
                apart_m.len()
            ));
        }
    }
    Ok(())
}

impl Component<'_> {
    /// Scene photo indices and camera centres.
    fn centres(&self) -> impl Iterator<Item = (usize, Point<Enu>)> {
        self.photo_idx
            .iter()
            .zip(&self.model.photos)
            .map(|(&idx, photo)| {
                let centre = photo.camera_from_solution.centre();
                (idx, self.alignment.enu_from_solution * centre)
            })
    }
}

fn share_of_points_above(component: &Component<'_>) -> f64 {
    let enu_from_solution = component.alignment.enu_from_solution;
    let centres: Vec<f64> = component
        .model
        .photos
        .iter()
        .map(|photo| (enu_from_solution * photo.camera_from_solution.centre()).z())
        .collect();
    let points = &component.model.points;
    let n_above = points
        .iter()
        .filter(|point| {
            let z = (enu_from_solution * point.point_in_solution).z();
            point.track.iter().all(|&(photo, _)| z > centres[photo])
        })
        .count();
    n_above as f64 / points.len().max(1) as f64
}

/// Photos whose picture was turned after the flight: their turn against the gimbal differs from
/// that of most.
pub(super) fn turned_photos(component: &Component<'_>) -> Vec<bool> {
    let offsets = &component.alignment.gimbal_offsets;
    let turns: Vec<f64> = offsets.iter().flatten().map(|o| o.in_image.get()).collect();
    let usual = circular_median(&turns).unwrap_or(0.0);
    offsets
        .iter()
        .map(|offset| {
            offset.is_some_and(|o| {
                Radians(o.in_image.get() - usual).wrapped().abs().get() > TURNED_RAD
            })
        })
        .collect()
}
