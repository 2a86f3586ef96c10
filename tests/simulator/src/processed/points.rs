//! Sparse points: places on the ground, on vehicles and on buildings that several photos see from
//! similar directions, as a feature matcher needs it.

use super::sightings::Sightings;
use super::{Frame, NoiseSpec};
use crate::camera::Camera;
use crate::dataset::Outing;
use crate::dice::Dice;
use crate::render::raster::SampleBuffer;
use crate::scene::{Finish, Object, Scene};
use nalgebra::{Vector2, Vector3};

/// Places tried; about half end up as points.
const N_GROUND: usize = 4000;
const N_BUILDINGS: usize = 1500;
const N_PER_VEHICLE: usize = 80;
/// How far from the lot's middle the ground is searched, metres.
const GROUND_REACH_M: f64 = 90.0;
/// A feature is found again from directions and distances that differ by no more than this.
const MAX_TURN_DEG: f64 = 30.0;
const MAX_SCALE: f64 = 2.0;
/// And then not always.
const FOUND_AGAIN: f64 = 0.8;
/// Photos that must see a point.
const MIN_TRACK: usize = 3;
/// What lies so far in front of a place hides it: metres, and a share of the distance, because
/// drawings are coarse.
const HIDDEN_M: f64 = 0.3;
const HIDDEN_SHARE: f64 = 0.002;

/// A place that may become a sparse point.
pub(super) struct Candidate {
    point: Vector3<f64>,
}

/// A sparse point.
pub(super) struct SparsePoint {
    /// In the scene's frame, with its error.
    pub(super) point: Vector3<f64>,
    /// Mean distance of its observations from where its place is really seen, pixels.
    pub(super) error_px: f64,
    /// Photo and pixel.
    pub(super) track: Vec<(usize, Vector2<f64>)>,
}

/// Places on all surfaces.
pub(super) fn candidates(seed: u64, scene: &Scene) -> Vec<Candidate> {
    let mut dice = Dice::new(seed, "sparse points", "places");
    let mut out = Vec::new();
    for _ in 0..N_GROUND {
        // Evenly over a disc.
        let radius = GROUND_REACH_M * dice.unit().sqrt();
        let (sin, cos) = dice.range(0.0, std::f64::consts::TAU).sin_cos();
        let point = Vector3::new(radius * cos, radius * sin, 0.0);
        out.push(Candidate { point });
    }
    for object in scene.objects.iter().filter(|o| o.vehicle.is_some()) {
        let surface = Surface::of(scene, std::iter::once(object), |_| true).facing_up();
        surface.scatter(N_PER_VEHICLE, &mut dice, &mut out);
    }
    let solid = scene.objects.iter().filter(|o| !o.leafy);
    let buildings = Surface::of(scene, solid, |finish| {
        matches!(
            finish,
            Finish::Wall { .. }
                | Finish::BlankWall { .. }
                | Finish::Tiles { .. }
                | Finish::FlatRoof { .. }
                | Finish::Corrugated { .. }
        )
    });
    buildings.scatter(N_BUILDINGS, &mut dice, &mut out);
    out
}

/// Triangles with the running sum of their areas.
struct Surface(Vec<([Vector3<f64>; 3], f64)>);

impl Surface {
    fn of<'a>(
        scene: &Scene,
        objects: impl Iterator<Item = &'a Object>,
        wears: fn(&Finish) -> bool,
    ) -> Self {
        let mut total = 0.0;
        let triangles = objects.flat_map(|object| &scene.mesh.triangles[object.triangles.clone()]);
        let list = triangles
            .filter(|triangle| wears(&scene.finishes[usize::from(triangle.finish)]))
            .map(|triangle| {
                let corners = triangle.corners.map(|corner| {
                    let p = scene.mesh.vertices[corner as usize].position;
                    Vector3::new(p.x, p.y, p.z).map(f64::from)
                });
                let [a, b, c] = corners;
                total += (b - a).cross(&(c - a)).norm();
                (corners, total)
            })
            .collect();
        Self(list)
    }

    /// Without the sides, which few photos see together.
    fn facing_up(self) -> Self {
        const LEAST_UP: f64 = 0.3;
        let mut total = 0.0;
        let list = self.0.into_iter().filter_map(|(corners, _)| {
            let [a, b, c] = corners;
            let across = (b - a).cross(&(c - a));
            let is_up = across.z > LEAST_UP * across.norm();
            is_up.then(|| {
                total += across.norm();
                (corners, total)
            })
        });
        Self(list.collect())
    }

    fn scatter(&self, n: usize, dice: &mut Dice, out: &mut Vec<Candidate>) {
        let Some((_, total)) = self.0.last() else {
            return;
        };
        for _ in 0..n {
            let at = dice.range(0.0, *total);
            let idx = self.0.partition_point(|(_, sum)| *sum <= at);
            let ([a, b, c], _) = self.0[idx.min(self.0.len() - 1)];
            let (mut u, mut v) = (dice.unit(), dice.unit());
            if u + v > 1.0 {
                (u, v) = (1.0 - u, 1.0 - v);
            }
            let point = a + (b - a) * u + (c - a) * v;
            out.push(Candidate { point });
        }
    }
}

/// Where a photo sees a place; `None` outside the frame and behind something. `scale` is samples of
/// the drawing per pixel.
pub(super) fn visible_pixel(
    candidate: &Candidate,
    camera: &Camera,
    samples: &SampleBuffer,
    scale: f64,
) -> Option<Vector2<f64>> {
    let depth = camera.camera_from_enu.transform(&candidate.point).z;
    let pixel = camera.pixel_from_enu(&candidate.point)?;
    if !camera.intrinsics.contains(&pixel) {
        return None;
    }
    let column = ((pixel.x * scale) as usize).min(samples.width - 1);
    let row = ((pixel.y * scale) as usize).min(samples.height - 1);
    let hidden = samples
        .depth(column, row)
        .is_some_and(|nearest| depth > nearest + HIDDEN_M + HIDDEN_SHARE * depth);
    (!hidden).then_some(pixel)
}

/// The points that enough photos see.
pub(super) fn triangulate(
    seed: u64,
    noise: &NoiseSpec,
    frame: &Frame,
    candidates: &[Candidate],
    sightings: &[Sightings],
    outing: &Outing,
) -> Vec<SparsePoint> {
    let mut seen_by: Vec<Vec<(usize, Vector2<f64>)>> = vec![Vec::new(); candidates.len()];
    for (photo, sightings) in sightings.iter().enumerate() {
        for &(candidate, pixel) in &sightings.seen {
            seen_by[candidate].push((photo, pixel));
        }
    }
    let centers: Vec<Vector3<f64>> = outing
        .jobs
        .iter()
        .map(|job| job.photo.camera_from_enu.center_in_enu())
        .collect();
    let lens = &outing.intrinsics;
    let mut out = Vec::new();
    for (idx, (candidate, seen)) in candidates.iter().zip(seen_by).enumerate() {
        if seen.len() < MIN_TRACK {
            continue;
        }
        let mut dice = Dice::new(seed, "sparse point", &idx.to_string());
        let matched = from_one_side(&candidate.point, seen, &centers, &mut dice);
        let mut off = |sigma: f64| dice.normal(sigma);
        let error = Vector3::from_fn(|_, _| off(noise.cloud));
        let mut sum_px = 0.0;
        let mut track = Vec::new();
        for (photo, pixel) in matched {
            let error = Vector2::from_fn(|_, _| off(noise.point));
            if lens.contains(&(pixel + error)) {
                sum_px += error.norm();
                track.push((photo, pixel + error));
            }
        }
        if track.len() >= MIN_TRACK {
            out.push(SparsePoint {
                point: frame.scene_from_truth(&(candidate.point + error)),
                error_px: sum_px / track.len() as f64,
                track,
            });
        }
    }
    out
}

/// Of the photos that see a place, those that look like one of them, drawn at random.
fn from_one_side(
    point: &Vector3<f64>,
    seen: Vec<(usize, Vector2<f64>)>,
    centers: &[Vector3<f64>],
    dice: &mut Dice,
) -> Vec<(usize, Vector2<f64>)> {
    let host = centers[dice.pick(&seen).0] - point;
    let mut matched = seen;
    matched.retain(|(photo, _)| {
        let ray = centers[*photo] - point;
        let scale = (ray.norm() / host.norm()).max(host.norm() / ray.norm());
        let alike = ray.angle(&host).to_degrees() <= MAX_TURN_DEG && scale <= MAX_SCALE;
        dice.chance(FOUND_AGAIN) && alike
    });
    matched
}
