//! From a solver's models to a posed scene: each model aligned, checked, and joined with the
//! others in one frame; what no model holds is posed from its own account.

use super::align::{self, AlignConfig, Alignment, Sighting};
use super::gates::{self, Checked};
use super::model::Model;
use super::posed::{
    AlignmentReport, CommonSigma, MadeBy, OffsetStats, Pose, PoseSigma, PoseSource, PosedCamera,
    PosedPhoto, PosedScene, PosedSceneSchema, ResidualStats, SparsePoint,
};
use super::priors::{PhotoPrior, ScenePriors, VerticalDatum};
use super::solver::{DatabaseStats, EngineIdentity, Solved, StageTime};
use crate::ground::Ground;
use crate::ingest::Scene;
use calibration::frames::{Camera, Direction, Enu};
use calibration::{CameraModel, Point, Radians, Rigid, Rotation};
use nalgebra::{UnitQuaternion, Vector3};
use std::collections::BTreeMap;

/// Height assumed where nothing says how high the photos were taken, metres above the ground.
pub(super) const ASSUMED_HEIGHT_M: f64 = 60.0;
/// A model needs this many photos that agree with their positions: three agree by chance.
const MIN_AGREEING: usize = 4;
/// And this share of those that have one.
const MIN_AGREEING_SHARE: f64 = 0.5;
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
/// Two reconstructions that share photos must put them at one place, to this.
const MAX_SHARED_APART_M: f64 = 10.0;
/// A picture turned against its gimbal's angles by more than this was turned by a viewer.
const TURNED_RAD: f64 = 60.0_f64.to_radians();
/// Below this many features a photo cannot be matched.
const FEW_FEATURES: u64 = 100;
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

/// One model in the scene's frame.
struct Component<'m> {
    model: &'m Model,
    /// Scene photo index per model photo.
    photo_idx: Vec<usize>,
    alignment: Alignment,
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
    let mut builder = Builder::new(context, &solved.stats, remarks);
    for (idx, component) in components.iter().enumerate() {
        builder.add(idx, component);
    }
    builder.settle_datum();
    builder.pose_the_rest(&components[0]);
    builder.remark_positions();
    Ok(builder.finish(&components, engine, &solved.stages))
}

fn align_model<'m>(context: &Context<'_>, model: &'m Model) -> Result<Component<'m>, String> {
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
                horizontal: prior.horizontal,
                height: prior.height,
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
    let enough = MIN_AGREEING.max((MIN_AGREEING_SHARE * n_positions as f64).ceil() as usize);
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
    if let Some(pitch) = crate::statistics::median(&mut pitches)
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

/// A smaller reconstruction that shares photos with a larger one must agree on where they are.
fn refuse_contradiction(component: &Component<'_>, larger: &[Component<'_>]) -> Result<(), String> {
    for other in larger {
        let placed: BTreeMap<usize, Point<Enu>> = other.centres().collect();
        let mut apart_m: Vec<f64> = component
            .centres()
            .filter_map(|(idx, centre)| Some((centre - *placed.get(&idx)?).vector.norm()))
            .collect();
        if let Some(typical_m) = crate::statistics::median(&mut apart_m)
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
        let [east, north] = component.alignment.residuals[at].horizontal_m?;
        let sigma_m = self.context.priors.photos[component.photo_idx[at]]
            .horizontal?
            .sigma_m;
        let away_m = east.hypot(north);
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

    /// Photos without a solved pose: their own account, corrected by what the others showed.
    fn pose_the_rest(&mut self, main: &Component<'_>) {
        let yaw = offset_stats(yaw_offsets(&self.photos)).map_or(0.0, |stats| stats.median_deg);
        let solved: Vec<(usize, Point<Enu>)> = self
            .photos
            .iter()
            .enumerate()
            .filter_map(|(idx, photo)| Some((idx, photo.pose.as_ref()?.camera_from_enu.centre())))
            .collect();
        let mut heights: Vec<f64> = solved.iter().map(|(_, centre)| centre.z()).collect();
        let typical_height = crate::statistics::median(&mut heights);
        let with_heights = self.context.priors.heights.datum() == VerticalDatum::TakeOff;
        for idx in 0..self.photos.len() {
            if self.photos[idx].pose.is_some() {
                continue;
            }
            let prior = usable_prior(&self.context.priors.photos[idx], with_heights);
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
                    camera_from_enu: Rigid::from_centre(yawed(&pose.rotation, yaw), centre),
                    source: PoseSource::Priors,
                    component: None,
                    sigma: prior_sigma(&prior.sigmas()),
                }
            });
            let mut words = vec![self.why_not_solved(idx)];
            words.push(match &pose {
                Some(_) => "posed from GPS and gimbal".to_owned(),
                None => format!("no pose: {}", what_is_missing(&prior, true).join(", ")),
            });
            words.extend(
                pose.as_ref()
                    .and_then(|pose| self.nearest_of(&solved, &pose.camera_from_enu.centre())),
            );
            let photo = &mut self.photos[idx];
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
            self.context.scene.photos[*idx].name(),
            away_m(centre)
        ))
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

    fn why_not_solved(&self, idx: usize) -> String {
        if let Some(reason) = &self.photos[idx].reason {
            return reason.clone();
        }
        match self.stats.photos.get(&self.context.names[idx]) {
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
            gimbal_yaw_offset_deg: offset_stats(yaw_offsets(&self.photos)),
            gimbal_pitch_offset_deg: offset_stats(
                self.photos
                    .iter()
                    .filter_map(|p| p.gimbal_pitch_offset_deg)
                    .collect(),
            ),
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
        crate::statistics::median(&mut heights)
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
        let stated = crate::statistics::median(&mut stated).filter(|&height| height > 1.0)?;
        Some(above_ground_m? / stated)
    }
}

/// Photos whose picture was turned after the flight: their turn against the gimbal differs from
/// that of most.
fn turned_photos(component: &Component<'_>) -> Vec<bool> {
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

/// Median deviation from the circular median; `None` without angles.
fn circular_spread(angles: &[f64]) -> Option<f64> {
    let middle = circular_median(angles)?;
    let mut off: Vec<f64> = angles
        .iter()
        .map(|&angle| Radians(angle - middle).wrapped().abs().get())
        .collect();
    crate::statistics::median(&mut off)
}

/// The member of a set of angles with the least sum of distances to all.
fn circular_median(angles: &[f64]) -> Option<f64> {
    let cost = |at: f64| -> f64 {
        angles
            .iter()
            .map(|&other| Radians(other - at).wrapped().abs().get())
            .sum()
    };
    angles
        .iter()
        .copied()
        .min_by(|&a, &b| cost(a).total_cmp(&cost(b)))
}

fn yaw_offsets(photos: &[PosedPhoto]) -> Vec<f64> {
    photos
        .iter()
        .filter_map(|photo| photo.gimbal_yaw_offset_deg)
        .collect()
}

/// Offsets further than this from the middle are faults of single photos, not spread.
const MAX_OFFSET_RAD: f64 = 15.0_f64.to_radians();

/// Circular median of offsets in degrees, and the rms about it.
fn offset_stats(offsets_deg: Vec<f64>) -> Option<OffsetStats> {
    let angles: Vec<f64> = offsets_deg
        .iter()
        .map(|offset| offset.to_radians())
        .collect();
    let middle = circular_median(&angles)?;
    let off: Vec<f64> = angles
        .iter()
        .map(|&angle| Radians(angle - middle).wrapped().get())
        .filter(|off| off.abs() <= MAX_OFFSET_RAD)
        .collect();
    let mean = off.iter().sum::<f64>() / off.len() as f64;
    let variance = off.iter().map(|o| (o - mean).powi(2)).sum::<f64>() / off.len() as f64;
    Some(OffsetStats {
        median_deg: middle.to_degrees(),
        spread_deg: variance.sqrt().to_degrees(),
    })
}

fn residual_stats(values: &[f64]) -> Option<ResidualStats> {
    let mut absolute: Vec<f64> = values.iter().map(|value| value.abs()).collect();
    let sum: f64 = values.iter().map(|value| value * value).sum();
    Some(ResidualStats {
        median_m: crate::statistics::median(&mut absolute)?,
        rms_m: (sum / values.len() as f64).sqrt(),
        max_m: *absolute.last()?,
    })
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

fn bare_photos(scene: &Scene) -> Vec<PosedPhoto> {
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
        crate::statistics::median(&mut heights)
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
