//! One detection's place.

use super::{CommonAnchorSigma, Method, OBSTACLE_CELL_M, Outline, Placed};
use crate::ground::Ground;
use crate::pose::posed::{Pose, PoseSource, PosedScene, SparsePoint};
use calibration::frames::Enu;
use calibration::ground::{GroundNoise, GroundPoint, GroundView, PoseSigmas, polygon};
use calibration::{CameraModel, Metres, Pixel, Point, Radians};
use detector::{Detection, OrientedBox, VehicleClass};
use nalgebra::{Matrix3, Matrix6, Vector2, Vector3};
use serde::Serialize;
use std::collections::BTreeMap;

/// How to place.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct AnchorConfig {
    /// Half the height of a car, van or pickup, metres.
    pub half_height_m: f64,
    /// Half the height of a lorry or bus, metres.
    pub large_half_height_m: f64,
    /// A vehicle whose box is longer than this on the ground is a lorry or bus, metres.
    pub large_from_m: f64,
    /// Rays flatter than this below the horizontal give no anchor, degrees.
    pub min_depression_deg: f64,
    /// Nor do places further away than this many camera heights.
    pub max_heights: f64,
    /// Nor places further than this outside of what the photos cover, metres.
    pub margin_m: f64,
    /// Detectors place a box's centre to this share of its size.
    pub centre_noise: f64,
}

impl Default for AnchorConfig {
    fn default() -> Self {
        Self {
            half_height_m: 0.75,
            large_half_height_m: 1.5,
            large_from_m: 7.5,
            min_depression_deg: 8.0,
            max_heights: 6.0,
            margin_m: 20.0,
            centre_noise: 0.04,
        }
    }
}

/// A box's centre is never better than this, pixels.
const MIN_PIXEL_SIGMA: f64 = 0.7;
/// A cut box's centre is guessed.
const TRUNCATED_FACTOR: f64 = 3.0;
/// Vehicles differ in half height by this much.
const HALF_HEIGHT_SIGMA_M: f64 = 0.15;
/// Points on a vehicle needed to speak of sparse points.
const MIN_POINTS: usize = 5;
/// Only points well inside the box count as on the vehicle.
const INNER_SHARE: f64 = 0.6;
/// Points of poor tracks are not looked at.
const MIN_TRACK: usize = 3;
const MAX_ERROR_PX: f64 = 2.0;
/// Heights above the ground that belong to a vehicle.
const ON_VEHICLE_M: std::ops::Range<f64> = 0.2..4.0;
/// A deck is at least this high, metres.
const MIN_LEVEL_M: f64 = 2.0;
/// A box grown by this share shows what its vehicle stands on.
const AROUND_SHARE: f64 = 1.3;
/// Points and ray further apart than this contradict each other.
const DISAGREE_M: f64 = 2.0;
/// Steps until ray and ground agree; ground is nearly flat, two suffice.
const STEPS: usize = 4;

/// What all detections of a scene share.
pub struct Surroundings {
    /// The ground.
    pub ground: Ground,
    /// Convex hull of cameras and sparse points on the map, with sparse points; empty without.
    hull: Vec<Vector2<f64>>,
    /// Cells with something tall in them: east, north, height of its top.
    pub(super) obstacles: Vec<[f64; 3]>,
}

/// Sparse points as one photo sees them.
pub struct Covisible<'a> {
    /// Pixel and point.
    pub seen: Vec<(Pixel, &'a SparsePoint)>,
}

impl Surroundings {
    /// Ground and hull from a posed scene. `on_vehicles` says of each sparse point whether it lies
    /// on a detected vehicle: such points are not ground.
    #[must_use]
    pub fn of(posed: &PosedScene, points: &[SparsePoint], on_vehicles: &[bool]) -> Self {
        let ground_points: Vec<Vector3<f64>> = points
            .iter()
            .zip(on_vehicles)
            .filter(|(point, on_vehicle)| is_good(point) && !**on_vehicle)
            .map(|(point, _)| point.point.vector)
            .collect();
        let (assumed_z, sigma) = (0.0, ASSUMED_GROUND_SIGMA_M);
        let ground = Ground::from_points(&ground_points, assumed_z, sigma);
        let obstacles = obstacles(&ground_points, &ground);
        let mut outline = without_far_ones(
            points
                .iter()
                .filter(|p| is_good(p))
                .map(|p| p.point.vector.xy())
                .collect(),
        );
        if !outline.is_empty() {
            outline.extend(
                posed
                    .photos
                    .iter()
                    .filter_map(|photo| photo.pose.as_ref())
                    .map(|pose| pose.camera_from_enu.centre().vector.xy()),
            );
        }
        Self {
            ground,
            hull: polygon::convex_hull(&outline),
            obstacles,
        }
    }

    /// How far outside of the hull a place is, metres; 0 inside or without a hull.
    fn outside_m(&self, place: &Vector2<f64>) -> f64 {
        if self.hull.len() < 3 || polygon::contains(&self.hull, place) {
            return 0.0;
        }
        let n = self.hull.len();
        (0..n)
            .map(|i| distance_to_edge(place, &self.hull[i], &self.hull[(i + 1) % n]))
            .fold(f64::INFINITY, f64::min)
    }
}

/// What is taller than a van hides vehicles.
const MIN_OBSTACLE_M: f64 = 2.5;
/// Points a cell needs to be taken for something that stands there.
const MIN_OBSTACLE_POINTS: usize = 2;

fn obstacles(points: &[Vector3<f64>], ground: &Ground) -> Vec<[f64; 3]> {
    let mut tops: BTreeMap<(i64, i64), Vec<f64>> = BTreeMap::new();
    for p in points {
        if p.z - ground.at(p.x, p.y).z > MIN_OBSTACLE_M {
            let cell = [p.x, p.y].map(|at| (at / OBSTACLE_CELL_M).floor() as i64);
            tops.entry((cell[0], cell[1])).or_default().push(p.z);
        }
    }
    let middle = |cell: i64| (cell as f64 + 0.5) * OBSTACLE_CELL_M;
    tops.into_iter()
        .filter(|(_, heights)| heights.len() >= MIN_OBSTACLE_POINTS)
        .filter_map(|((x, y), mut heights)| {
            let top = crate::statistics::median(&mut heights)?;
            Some([middle(x), middle(y), top])
        })
        .collect()
}

/// The share of points nearest to their middle: single matches near the horizon lie hundreds of
/// metres out and would let any anchor in.
const NEAR_SHARE: f64 = 0.97;

fn without_far_ones(mut places: Vec<Vector2<f64>>) -> Vec<Vector2<f64>> {
    let mut x: Vec<f64> = places.iter().map(|p| p.x).collect();
    let mut y: Vec<f64> = places.iter().map(|p| p.y).collect();
    if let (Some(x), Some(y)) = (
        crate::statistics::median(&mut x),
        crate::statistics::median(&mut y),
    ) {
        let middle = Vector2::new(x, y);
        let away = |place: &Vector2<f64>| (place - middle).norm_squared();
        places.sort_by(|a, b| away(a).total_cmp(&away(b)));
        places.truncate((NEAR_SHARE * places.len() as f64).ceil() as usize);
    }
    places
}

/// The take-off plane is off by as much as a slope or a terrace.
const ASSUMED_GROUND_SIGMA_M: f64 = 2.0;

fn distance_to_edge(place: &Vector2<f64>, a: &Vector2<f64>, b: &Vector2<f64>) -> f64 {
    let edge = b - a;
    let along = ((place - a).dot(&edge) / edge.norm_squared().max(1e-12)).clamp(0.0, 1.0);
    (place - (a + edge * along)).norm()
}

pub(super) fn is_good(point: &SparsePoint) -> bool {
    point.track.len() >= MIN_TRACK && point.error_px.is_none_or(|error| error < MAX_ERROR_PX)
}

/// Whether a pixel lies in a box shrunk to `share` about its centre.
pub(super) fn is_inside(oriented: &OrientedBox, pixel: Pixel, share: f64) -> bool {
    let centre = oriented.centre();
    let (sin, cos) = oriented.angle().get().sin_cos();
    let (dx, dy) = (pixel.x - centre.x, pixel.y - centre.y);
    let (along, across) = (dx * cos + dy * sin, dy * cos - dx * sin);
    along.abs() <= share * oriented.long_side_px() / 2.0
        && across.abs() <= share * oriented.short_side_px() / 2.0
}

/// Places a detection.
///
/// # Errors
/// The reason why it has no place, in words.
pub fn place(
    detection: &Detection,
    camera: &CameraModel,
    pose: &Pose,
    covisible: &Covisible<'_>,
    surroundings: &Surroundings,
    config: &AnchorConfig,
) -> Result<Placed, String> {
    let centre = detection.oriented_box.centre();
    let level_m = raised_level(&detection.oriented_box, covisible, surroundings);
    let meet = |half_height_m| {
        let raised_m = half_height_m + level_m.unwrap_or(0.0);
        meet(camera, pose, centre, raised_m, surroundings)
    };
    let (view, ground_z) = match detection.class {
        VehicleClass::LargeVehicle => meet(config.large_half_height_m)?,
        VehicleClass::SmallVehicle => meet(config.half_height_m)?,
        VehicleClass::Vehicle => {
            let as_a_car = meet(config.half_height_m)?;
            if long_side_m(detection, &as_a_car.0) > config.large_from_m {
                meet(config.large_half_height_m)?
            } else {
                as_a_car
            }
        }
    };
    check_ray(&view, centre, config)?;
    let met = view
        .ground_point(centre)
        .ok_or("its ray does not meet the ground")?;
    let outside_m = surroundings.outside_m(&met.point.vector.xy());
    if outside_m > config.margin_m {
        return Err(format!(
            "it lies {outside_m:.0} m outside of what the photos cover"
        ));
    }
    let stands_z = ground_z + level_m.unwrap_or(0.0);
    let on_vehicle = points_on_vehicle(&detection.oriented_box, covisible, stands_z);
    let height = surroundings.ground.at(met.point.x(), met.point.y());
    let ground_sigma = height.sigma.hypot(HALF_HEIGHT_SIGMA_M);
    let covariance = covariance(detection, &met, pose, ground_sigma, config);
    let points_disagree = middle_of(&on_vehicle).is_some_and(|middle| {
        (middle - met.point.vector.xy()).norm() > DISAGREE_M + detection_length_m(detection, &met)
    });
    let method = match (height.is_measured, on_vehicle.len() >= MIN_POINTS) {
        (false, _) => Method::Plane,
        (true, true) => Method::SparsePoints,
        (true, false) => Method::Surface,
    };
    Ok(Placed {
        point: met.point,
        covariance_m2: [covariance[(0, 0)], covariance[(0, 1)], covariance[(1, 1)]],
        vertical_sigma_m: covariance[(2, 2)].max(0.0).sqrt(),
        method,
        ground_z_m: ground_z,
        n_points: on_vehicle.len(),
        points_disagree,
        outline: outline(&detection.oriented_box, &view, &met),
        level_m,
    })
}

/// Points in a box that lie higher above the ground than any vehicle is tall are on a deck: its
/// vehicles stand there. `None` on the ground and without enough points.
fn raised_level(
    oriented: &OrientedBox,
    covisible: &Covisible<'_>,
    surroundings: &Surroundings,
) -> Option<f64> {
    let inside = |share: f64| {
        let seen = covisible.seen.iter();
        seen.filter(move |(pixel, point)| is_inside(oriented, *pixel, share) && is_good(point))
            .map(|(_, point)| {
                let p = point.point.vector;
                p.z - surroundings.ground.at(p.x, p.y).z
            })
    };
    let mut on_top: Vec<f64> = inside(INNER_SHARE).collect();
    if on_top.len() < MIN_POINTS || crate::statistics::median(&mut on_top)? < ON_VEHICLE_M.end {
        return None;
    }
    // What is under the vehicle shows around it.
    let mut around: Vec<f64> = inside(AROUND_SHARE).collect();
    around.sort_by(f64::total_cmp);
    let low = around[around.len() / 10];
    (low > MIN_LEVEL_M).then_some(low)
}

/// The box on the plane of its anchor.
fn outline(oriented: &OrientedBox, view: &GroundView, met: &GroundPoint) -> Option<Outline> {
    let (sin, cos) = oriented.angle().get().sin_cos();
    let centre = oriented.centre();
    let end = |along: f64, across: f64| {
        let pixel = Pixel::new(
            centre.x + along * cos - across * sin,
            centre.y + along * sin + across * cos,
        );
        view.ground_from_pixel(pixel).map(|p| p.vector.xy())
    };
    let (half_long, half_short) = (
        oriented.long_side_px() / 2.0,
        oriented.short_side_px() / 2.0,
    );
    let long = end(half_long, 0.0)? - end(-half_long, 0.0)?;
    let short = end(0.0, half_short)? - end(0.0, -half_short)?;
    // Foreshortening may turn the box's long side into the vehicle's short one.
    let (along, across) = if long.norm() >= short.norm() {
        (long, short)
    } else {
        (short, long)
    };
    let to_camera = view.centre().vector.xy() - met.point.vector.xy();
    let azimuth = |way: Vector2<f64>| Radians(way.x.atan2(way.y));
    Some(Outline {
        depression_deg: view.depression(centre)?.to_degrees(),
        camera_azimuth_deg: azimuth(to_camera).wrapped_positive().to_degrees(),
        axis_deg: azimuth(along).to_degrees().rem_euclid(180.0),
        along_m: along.norm(),
        across_m: across.norm(),
    })
}

/// The view over the plane at half a vehicle's height above the ground under the anchor, and that
/// ground's height.
fn meet(
    camera: &CameraModel,
    pose: &Pose,
    centre: Pixel,
    half_height_m: f64,
    surroundings: &Surroundings,
) -> Result<(GroundView, f64), String> {
    let mut ground_z = surroundings.ground.typical().z;
    for _ in 0..STEPS {
        let view = view_over(camera, pose, ground_z + half_height_m);
        let Some(met) = view.ground_from_pixel(centre) else {
            return Err("its ray does not meet the ground".to_owned());
        };
        ground_z = surroundings.ground.at(met.x(), met.y()).z;
    }
    Ok((view_over(camera, pose, ground_z + half_height_m), ground_z))
}

fn view_over(camera: &CameraModel, pose: &Pose, plane_z: f64) -> GroundView {
    GroundView::new(*camera, pose.camera_from_enu, Metres(plane_z))
}

fn check_ray(view: &GroundView, centre: Pixel, config: &AnchorConfig) -> Result<(), String> {
    let depression = view
        .depression(centre)
        .ok_or("its centre is outside the lens's field")?;
    if depression.to_degrees() < config.min_depression_deg {
        return Err(format!(
            "its ray is only {:.1} degrees below the horizontal",
            depression.to_degrees()
        ));
    }
    let met: Point<Enu> = view
        .ground_from_pixel(centre)
        .ok_or("its ray does not meet the ground")?;
    let height = view.height_above_ground().get();
    let distance = met.horizontal_distance_to(&view.centre());
    if distance > config.max_heights * height {
        return Err(format!(
            "it lies {distance:.0} m away, more than {} camera heights",
            config.max_heights
        ));
    }
    Ok(())
}

fn covariance(
    detection: &Detection,
    met: &GroundPoint,
    pose: &Pose,
    ground_sigma_m: f64,
    config: &AnchorConfig,
) -> Matrix3<f64> {
    let oriented = &detection.oriented_box;
    let size = (oriented.long_side_px() * oriented.short_side_px()).sqrt();
    let factor = if detection.truncated {
        TRUNCATED_FACTOR
    } else {
        1.0
    };
    let pixel_sigma = MIN_PIXEL_SIGMA.hypot(config.centre_noise * size) * factor;
    let noise = GroundNoise::new(pixel_sigma, pose_covariance(pose), Metres(ground_sigma_m));
    met.covariance(&noise)
}

fn pose_covariance(pose: &Pose) -> Matrix6<f64> {
    let sigma = pose.sigma;
    let own = match pose.source {
        PoseSource::Solved => 1.0,
        PoseSource::Priors => OWN_SHARE_OF_PRIORS,
    };
    PoseSigmas {
        horizontal: Metres(own * sigma.horizontal_m),
        vertical: Metres(own * sigma.vertical_m),
        yaw: Radians::from_degrees(own * sigma.yaw_deg),
        pitch: Radians::from_degrees(own * sigma.tilt_deg),
        roll: Radians::from_degrees(own * sigma.tilt_deg),
    }
    .covariance(&pose.camera_from_enu.rotation)
}

/// What a GPS receiver and a gimbal state is the whole error of a photo. The photos of a flight have
/// most of it in common (it drifts over minutes, and a compass is off by one angle); this share is
/// each photo's own. Measured on simulated flights; the rest is [`common_sigma`].
const OWN_SHARE_OF_PRIORS: f64 = 0.48;

/// One sigma of what all anchors have in common.
pub(super) fn common_sigma(posed: &PosedScene) -> Option<CommonAnchorSigma> {
    if let Some(alignment) = &posed.alignment {
        return Some(CommonAnchorSigma {
            shift_m: alignment.sigma.shift_horizontal_m,
            turn_deg: alignment.sigma.yaw_deg,
        });
    }
    let common = (1.0 - OWN_SHARE_OF_PRIORS * OWN_SHARE_OF_PRIORS).sqrt();
    let poses = || posed.photos.iter().filter_map(|photo| photo.pose.as_ref());
    let mut shifts: Vec<f64> = poses().map(|pose| pose.sigma.horizontal_m).collect();
    let mut turns: Vec<f64> = poses().map(|pose| pose.sigma.yaw_deg).collect();
    Some(CommonAnchorSigma {
        shift_m: common * crate::statistics::median(&mut shifts)?,
        turn_deg: common * crate::statistics::median(&mut turns)?,
    })
}

/// Places on the map of the sparse points on a vehicle that at least two other photos see.
fn points_on_vehicle(
    oriented: &OrientedBox,
    covisible: &Covisible<'_>,
    ground_z: f64,
) -> Vec<Vector2<f64>> {
    covisible
        .seen
        .iter()
        .filter(|(pixel, point)| is_inside(oriented, *pixel, INNER_SHARE) && is_good(point))
        .map(|(_, point)| point.point.vector)
        .filter(|p| ON_VEHICLE_M.contains(&(p.z - ground_z)))
        .map(|p| p.xy())
        .collect()
}

fn middle_of(places: &[Vector2<f64>]) -> Option<Vector2<f64>> {
    if places.len() < MIN_POINTS {
        return None;
    }
    let mut x: Vec<f64> = places.iter().map(|p| p.x).collect();
    let mut y: Vec<f64> = places.iter().map(|p| p.y).collect();
    Some(Vector2::new(
        crate::statistics::median(&mut x)?,
        crate::statistics::median(&mut y)?,
    ))
}

/// The length of a box's axis on the plane of a view; 0 where its ends miss it.
fn long_side_m(detection: &Detection, view: &GroundView) -> f64 {
    let oriented = &detection.oriented_box;
    let (sin, cos) = oriented.angle().get().sin_cos();
    let end = |half: f64| {
        let centre = oriented.centre();
        view.ground_from_pixel(Pixel::new(centre.x + half * cos, centre.y + half * sin))
    };
    let half = oriented.long_side_px() / 2.0;
    match (end(-half), end(half)) {
        (Some(a), Some(b)) => (a - b).vector.xy().norm(),
        _ => 0.0,
    }
}

/// Half the box's long side on the ground: points may lie anywhere on the vehicle.
fn detection_length_m(detection: &Detection, met: &GroundPoint) -> f64 {
    let scale = met.by_pixel.determinant().abs().sqrt();
    scale * detection.oriented_box.long_side_px() / 2.0
}

impl<'a> Covisible<'a> {
    /// Sorts a scene's sparse points by photo.
    #[must_use]
    pub fn by_photo(points: &'a [SparsePoint], n_photos: usize) -> Vec<Self> {
        let mut by_photo: Vec<Self> = (0..n_photos).map(|_| Self { seen: Vec::new() }).collect();
        for point in points {
            for &(photo, x, y) in &point.track {
                if let Some(view) = by_photo.get_mut(photo) {
                    view.seen
                        .push((Pixel::new(f64::from(x), f64::from(y)), point));
                }
            }
        }
        by_photo
    }
}

/// Whether a pose came from the images: only then do sparse points belong to it.
pub(super) fn is_solved(pose: &Pose) -> bool {
    pose.source == PoseSource::Solved
}
