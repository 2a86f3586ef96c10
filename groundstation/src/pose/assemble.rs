//! From a solver's models to a posed scene: each model aligned, checked, and joined with the
//! others in one frame; what no model holds is posed from its own account.

use super::component::{Component, align_model, refuse_contradiction, turned_photos};
use super::datum::stand_on_the_ground;
use super::gates::{self, Checked};
use super::offsets::{offset_stats, residual_stats};
use super::posed::{
    AlignmentReport, CommonSigma, MadeBy, Pose, PoseSigma, PoseSource, PosedCamera, PosedPhoto,
    PosedScene, PosedSceneSchema, SparsePoint,
};
use super::priors::{ScenePriors, VerticalDatum};
use super::solver::{DatabaseStats, EngineIdentity, Solved, StageTime};
use super::unsolved::{Rest, bare_photos};
use crate::ground::Ground;
use crate::ingest::Scene;
use crate::statistics::median;
use calibration::frames::Direction;
use calibration::{CameraModel, Rigid};
use nalgebra::Vector3;
use std::collections::BTreeMap;

/// A photo this far from its measured position, in metres and sigmas, is wrongly posed.
const MAX_FROM_POSITION_M: f64 = 10.0;
const MAX_FROM_POSITION_SIGMAS: f64 = 5.0;
/// A point that fewer photos see is not triangulated.
const MIN_TRACK: usize = 2;
/// Least uncertainties of a solved pose relative to its neighbours.
const SOLVED_SIGMA_M: f64 = 0.03;
const SOLVED_SIGMA_DEG: f64 = 0.05;

/// Everything needed to judge what a solver made.
pub(super) struct Context<'a> {
    pub(super) scene: &'a Scene,
    pub(super) priors: &'a ScenePriors,
    /// The solver's photo names, by index of the scene's photos.
    pub(super) names: &'a [String],
    pub(super) seed: u64,
}

/// A posed scene and its points.
#[derive(Clone, Debug)]
pub(super) struct Assembled {
    pub(super) posed: PosedScene,
    pub(super) points: Vec<SparsePoint>,
}

/// Poses from what a solver made. `Err` says why none of it can be used.
pub(super) fn from_models(
    context: &Context<'_>,
    solved: &Solved,
    engine: &EngineIdentity,
) -> Result<Assembled, String> {
    let mut remarks = context.priors.remarks.clone();
    remarks.extend(solved.remarks.iter().cloned());
    let mut components: Vec<Component<'_>> = Vec::new();
    let mut first_refusal = None;
    for model in &solved.models {
        let aligned = align_model(context, model).and_then(|component| {
            refuse_contradiction(&component, &components)?;
            Ok(component)
        });
        match aligned {
            Ok(component) => components.push(component),
            Err(reason) => {
                let said = format!(
                    "a reconstruction of {} photos: {reason}",
                    model.photos.len()
                );
                first_refusal.get_or_insert_with(|| said.clone());
                remarks.push(format!("not used: {said}"));
            }
        }
    }
    if components.is_empty() {
        return Err(first_refusal.unwrap_or_else(|| "the solver posed no photo".to_owned()));
    }
    if context.priors.heights.datum() == VerticalDatum::TakeOff {
        remarks.extend(stand_on_the_ground(&mut components));
    }
    let mut builder = Builder::new(context, &solved.stats, remarks);
    for (idx, component) in components.iter().enumerate() {
        builder.add(idx, component);
    }
    builder.settle_datum();
    let rest = Rest {
        scene: context.scene,
        priors: context.priors,
        names: context.names,
        stats: &solved.stats,
        yaw_offset_deg: builder.yaw_offset_deg(),
    };
    rest.pose(&mut builder.photos, &components[0]);
    builder.remark_positions();
    Ok(builder.finish(&components, engine, &solved.stages))
}

struct Builder<'a> {
    context: &'a Context<'a>,
    stats: &'a DatabaseStats,
    photos: Vec<PosedPhoto>,
    cameras: Vec<PosedCamera>,
    points: Vec<SparsePoint>,
    turned: Vec<String>,
    remarks: Vec<String>,
}

impl<'a> Builder<'a> {
    fn new(context: &'a Context<'a>, stats: &'a DatabaseStats, remarks: Vec<String>) -> Self {
        let mut photos = bare_photos(context.scene);
        for (photo, name) in photos.iter_mut().zip(context.names) {
            if let Some(found) = stats.photos.get(name) {
                photo.features = Some(found.features);
                photo.verified_pairs = Some(found.verified_pairs);
            }
        }
        let cameras = context
            .scene
            .cameras
            .iter()
            .map(|camera| PosedCamera {
                prior: camera.prior,
                solved: camera.prior,
                focal_change: None,
            })
            .collect();
        Self {
            context,
            stats,
            photos,
            cameras,
            points: Vec::new(),
            turned: Vec::new(),
            remarks,
        }
    }

    /// Adds a component's photos that no larger one holds, and its points.
    fn add(&mut self, number: usize, component: &Component<'_>) {
        let turns = turned_photos(component);
        let enu_from_solution = component.alignment.enu_from_solution;
        let mut camera_of = BTreeMap::new();
        for (at, photo) in component.model.photos.iter().enumerate() {
            let idx = component.photo_idx[at];
            if self.photos[idx].pose.is_some() {
                continue;
            }
            if let Some(away_m) = self.too_far(component, at) {
                self.photos[idx].reason = Some(format!(
                    "the images put it {away_m:.0} m from its GPS position: wrongly matched"
                ));
                continue;
            }
            let camera = *camera_of.entry(photo.camera_id).or_insert_with(|| {
                let solved = component.model.cameras[&photo.camera_id];
                self.camera_for(self.context.scene.photos[idx].camera, solved)
            });
            let camera_from_enu = enu_from_solution.move_pose(&photo.camera_from_solution);
            let residual = component.alignment.residuals[at];
            let offset = component.alignment.gimbal_offsets[at].filter(|_| !turns[at]);
            let posed = &mut self.photos[idx];
            posed.pose = Some(Pose {
                camera_from_enu,
                source: PoseSource::Solved,
                component: Some(number),
                sigma: PoseSigma {
                    horizontal_m: SOLVED_SIGMA_M,
                    vertical_m: SOLVED_SIGMA_M,
                    yaw_deg: SOLVED_SIGMA_DEG,
                    tilt_deg: SOLVED_SIGMA_DEG,
                },
            });
            posed.reason = None;
            posed.horizontal_residual_m = residual.horizontal_m;
            posed.vertical_residual_m = residual.vertical_m;
            posed.is_inlier = residual.inlier;
            posed.gimbal_yaw_offset_deg = offset.map(|o| o.yaw.to_degrees());
            posed.gimbal_pitch_offset_deg = offset.map(|o| o.pitch.to_degrees());
            posed.camera = camera;
            if turns[at] {
                self.turned
                    .push(self.context.scene.photos[idx].name().to_owned());
            }
        }
        self.add_points(number, component);
    }

    /// Adds a component's points with what its own photos see of them. A photo that was posed by a
    /// larger component, or not at all, has another pose than the points were made with.
    fn add_points(&mut self, number: usize, component: &Component<'_>) {
        let enu_from_solution = component.alignment.enu_from_solution;
        let is_own: Vec<bool> = component
            .photo_idx
            .iter()
            .map(|&idx| {
                let pose = self.photos[idx].pose.as_ref();
                pose.is_some_and(|pose| pose.component == Some(number))
            })
            .collect();
        let points = component.model.points.iter().filter_map(|point| {
            let track: Vec<(usize, f32, f32)> = point
                .track
                .iter()
                .filter(|(photo, _)| is_own[*photo])
                .map(|&(photo, pixel)| (component.photo_idx[photo], pixel.x as f32, pixel.y as f32))
                .collect();
            (track.len() >= MIN_TRACK).then(|| SparsePoint {
                point: enu_from_solution * point.point_in_solution,
                error_px: point.error_px,
                component: number,
                track,
            })
        });
        self.points.extend(points);
    }

    /// How far a photo is from its measured position, if that is impossibly far.
    fn too_far(&self, component: &Component<'_>, at: usize) -> Option<f64> {
        let residual = component.alignment.residuals[at];
        let [east, north] = residual.horizontal_m?;
        let priors = self.context.priors;
        // Absolute altitudes may be off by any amount.
        let up = residual
            .vertical_m
            .filter(|_| priors.heights.datum() == VerticalDatum::TakeOff);
        let sigma_m = priors.photos[component.photo_idx[at]].horizontal?.sigma_m;
        let away_m = Vector3::new(east, north, up.unwrap_or(0.0)).norm();
        let limit_m = MAX_FROM_POSITION_M.max(MAX_FROM_POSITION_SIGMAS * sigma_m);
        // A photo whose GPS is wrong by kilometres is a matter of its GPS.
        (away_m > limit_m && away_m < 20.0 * limit_m).then_some(away_m)
    }

    /// The index of a scene camera's intrinsics as this component solved them: in place for the
    /// first component, appended for others.
    fn camera_for(&mut self, camera: usize, solved: CameraModel) -> usize {
        let prior = self.cameras[camera].prior;
        let focal = |model: &CameraModel| f64::midpoint(model.fx, model.fy);
        let change = focal(&solved) / focal(&prior) - 1.0;
        let entry = PosedCamera {
            prior,
            solved,
            focal_change: Some(change),
        };
        if self.cameras[camera].focal_change.is_none() {
            self.cameras[camera] = entry;
            camera
        } else {
            self.cameras.push(entry);
            self.cameras.len() - 1
        }
    }

    /// Where heights are measured from the ground, puts the ground to zero.
    fn settle_datum(&mut self) {
        if self.context.priors.heights.datum() == VerticalDatum::TakeOff {
            return;
        }
        let ground = self.ground().typical();
        let down = Vector3::new(0.0, 0.0, -ground.z);
        for photo in &mut self.photos {
            if let Some(pose) = &mut photo.pose {
                let centre = pose.camera_from_enu.centre() + Direction::from_vector(down);
                pose.camera_from_enu = Rigid::from_centre(pose.camera_from_enu.rotation, centre);
            }
        }
        for point in &mut self.points {
            point.point = point.point + Direction::from_vector(down);
        }
    }

    fn ground(&self) -> Ground {
        let points: Vec<Vector3<f64>> = self
            .points
            .iter()
            .filter(|point| point.component == 0 && point.track.len() >= 3)
            .map(|point| point.point.vector)
            .collect();
        Ground::from_points(&points, 0.0, 3.0)
    }

    /// Yaw of the solution against the gimbals, degrees clockwise; 0 where there are none.
    fn yaw_offset_deg(&self) -> f64 {
        offset_stats(&yaw_offsets(&self.photos)).map_or(0.0, |stats| stats.median_deg)
    }

    /// Names the photos whose positions are from the images because their own are missing or
    /// wrong.
    fn remark_positions(&mut self) {
        let mut without = Vec::new();
        for (idx, photo) in self.photos.iter().enumerate() {
            let is_solved = (photo.pose.as_ref()).is_some_and(|p| p.source == PoseSource::Solved);
            if !is_solved || photo.horizontal_residual_m.is_some() {
                continue;
            }
            let prior = &self.context.priors.photos[idx];
            let name = self.context.scene.photos[idx].name();
            without.push(match prior.remarks.as_slice() {
                [] => name.to_owned(),
                reasons => format!("{name} ({})", reasons.join("; ")),
            });
        }
        if !without.is_empty() {
            self.remarks.push(format!(
                "{} photos without a usable GPS position have their positions from the images: {}",
                without.len(),
                without.join(", ")
            ));
        }
    }

    fn finish(
        self,
        components: &[Component<'_>],
        engine: &EngineIdentity,
        stages: &[StageTime],
    ) -> Assembled {
        let report = self.report(components);
        let made_by = MadeBy::Solver {
            engine: engine.clone(),
        };
        let is_rtk = self
            .context
            .priors
            .photos
            .iter()
            .filter(|p| p.is_rtk)
            .count()
            * 2
            > self.context.priors.photos.len();
        let verdict = gates::judge(&Checked {
            made_by: &made_by,
            photos: &self.photos,
            cameras: &self.cameras,
            alignment: Some(&report),
            is_rtk,
            turned: &self.turned,
            median_pairs: self.stats.median_pairs(),
        });
        Assembled {
            posed: PosedScene {
                schema: PosedSceneSchema,
                origin: self.context.priors.origin,
                datum: self.context.priors.heights.datum(),
                heights: self.context.priors.heights,
                made_by,
                photos: self.photos,
                cameras: self.cameras,
                alignment: Some(report),
                verdict,
                stages: stages.to_vec(),
                remarks: self.remarks,
            },
            points: self.points,
        }
    }

    fn report(&self, components: &[Component<'_>]) -> AlignmentReport {
        let main = &components[0];
        let sigma = main.alignment.sigma;
        let height_above_ground_m = self.height_above_ground();
        let stats = |values: Vec<f64>| residual_stats(&values);
        let inliers = || self.photos.iter().filter(|photo| photo.is_inlier);
        let pitches: Vec<f64> = self
            .photos
            .iter()
            .filter_map(|photo| photo.gimbal_pitch_offset_deg)
            .collect();
        let horizontal = inliers()
            .filter_map(|photo| photo.horizontal_residual_m.map(|[e, n]| e.hypot(n)))
            .collect();
        let vertical = inliers()
            .filter_map(|photo| photo.vertical_residual_m)
            .collect();
        AlignmentReport {
            horizontal: stats(horizontal),
            vertical: stats(vertical),
            n_inliers: inliers().count(),
            n_positions: self
                .photos
                .iter()
                .filter(|p| p.horizontal_residual_m.is_some())
                .count(),
            flight_offsets_m: main
                .alignment
                .flight_offsets_m
                .iter()
                .map(|offset| [offset.x, offset.y, offset.z])
                .collect(),
            sigma: CommonSigma {
                shift_horizontal_m: sigma.shift_horizontal_m,
                shift_vertical_m: sigma.shift_vertical_m,
                scale: sigma.scale,
                yaw_deg: sigma.yaw_rad.to_degrees(),
                tilt_deg: sigma.tilt_rad.to_degrees(),
            },
            gimbal_yaw_offset_deg: offset_stats(&yaw_offsets(&self.photos)),
            gimbal_pitch_offset_deg: offset_stats(&pitches),
            gravity_disagreement_deg: main
                .alignment
                .gravity
                .map(|gravity| gravity.disagreement_rad.to_degrees()),
            tilt_from_gimbal: main.alignment.tilt_from_gimbal,
            yaw_from_gimbal: main.alignment.yaw_from_gimbal,
            height_above_ground_m,
            height_ratio: self.height_ratio(height_above_ground_m),
            reprojection_px: main.model.mean_reprojection_px(),
            n_points: self.points.len(),
            mean_track_length: main.model.mean_track_length(),
            components: components.iter().map(|c| c.model.photos.len()).collect(),
        }
    }

    /// Median height of the solved cameras above the sparse ground.
    fn height_above_ground(&self) -> Option<f64> {
        let ground = self.ground();
        if !ground.typical().is_measured {
            return None;
        }
        let mut heights: Vec<f64> = self
            .photos
            .iter()
            .filter_map(|photo| photo.pose.as_ref())
            .filter(|pose| pose.source == PoseSource::Solved)
            .map(|pose| pose.camera_from_enu.centre().z() - ground.typical().z)
            .collect();
        median(&mut heights)
    }

    fn height_ratio(&self, above_ground_m: Option<f64>) -> Option<f64> {
        if self.context.priors.heights.datum() != VerticalDatum::TakeOff {
            return None;
        }
        let mut stated: Vec<f64> = self
            .photos
            .iter()
            .zip(&self.context.priors.photos)
            .filter(|(photo, _)| {
                photo
                    .pose
                    .as_ref()
                    .is_some_and(|pose| pose.source == PoseSource::Solved)
            })
            .filter_map(|(_, prior)| Some(prior.height?.height_m))
            .collect();
        let stated = median(&mut stated).filter(|&height| height > 1.0)?;
        Some(above_ground_m? / stated)
    }
}

fn yaw_offsets(photos: &[PosedPhoto]) -> Vec<f64> {
    photos
        .iter()
        .filter_map(|photo| photo.gimbal_yaw_offset_deg)
        .collect()
}

#[cfg(test)]
mod tests;
