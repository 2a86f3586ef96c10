//! How each vehicle is seen in a photo: how much of it, and its boxes.
//!
//! The silhouette is everything of the vehicle (mirrors and roof boxes too) drawn alone, also
//! beyond the frame; what is visible is counted on the samples of a drawing, four a pixel of it.

use crate::camera::Camera;
use crate::render::raster::{
    Projector, SAMPLES, SampleBuffer, corners_of, faces_camera, project_all, walk,
};
use crate::scene::{Object, Scene};
use crate::vehicles::Vehicle;
use nalgebra::{Vector2, Vector3};
use std::ops::Range;

/// A photo's view of the scene, and a drawing of it on which what is visible is counted.
pub(crate) struct Prospect<'a> {
    pub(crate) scene: &'a Scene,
    pub(crate) vehicles: &'a [Vehicle],
    /// The photo's camera: boxes are in its pixels.
    pub(crate) camera: &'a Camera,
    /// The camera of the drawing: the same, or one with fewer pixels.
    pub(crate) drawn: &'a Camera,
    pub(crate) samples: &'a SampleBuffer,
}

/// One vehicle in one photo; pixels with the first pixel's centre at (0.5, 0.5).
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Sight {
    /// Which of the world's vehicles.
    pub(crate) vehicle: usize,
    /// Visible samples over the samples of the whole silhouette.
    pub(crate) visible_fraction: f64,
    /// Whether a part of the silhouette lies outside the frame.
    pub(crate) truncated: bool,
    /// Centre x, centre y, long side, short side, angle of the long side in degrees.
    pub(crate) oriented_box: [f64; 5],
    /// Around the visible samples; none when nothing is visible.
    pub(crate) horizontal_box: Option<[f64; 4]>,
    /// Direction on the picture from the vehicle's centre on the ground to its front, clockwise
    /// from up, degrees in [0, 360).
    pub(crate) front_direction_deg: f64,
}

#[derive(Clone, Copy, Debug)]
struct Seen {
    n: u64,
    x0: usize,
    x1: usize,
    y0: usize,
    y1: usize,
}

/// Visible samples and their extent for each of the first vehicles' triangles.
fn count_seen(prospect: &Prospect) -> Vec<Option<Seen>> {
    let samples = prospect.samples;
    let vehicles: Vec<&Object> = prospect
        .scene
        .objects
        .iter()
        .filter(|o| o.vehicle.is_some())
        .collect();
    let mut of_triangle = Vec::new();
    for object in &vehicles {
        // Vehicles come first in the mesh, so their triangles are numbered without gaps.
        of_triangle.resize(object.triangles.end, object.vehicle.unwrap_or(0));
    }
    let mut seen: Vec<Option<Seen>> = vec![None; prospect.vehicles.len()];
    for (y, row) in samples.triangle.chunks(samples.width).enumerate() {
        for (x, &number) in row.iter().enumerate() {
            if number == 0 {
                continue;
            }
            if let Some(&vehicle) = of_triangle.get(number as usize - 1) {
                let entry = seen[vehicle as usize].get_or_insert(Seen {
                    n: 0,
                    x0: x,
                    x1: x,
                    y0: y,
                    y1: y,
                });
                entry.n += 1;
                entry.x0 = entry.x0.min(x);
                entry.x1 = entry.x1.max(x);
                entry.y1 = y;
            }
        }
    }
    seen
}

/// Samples of a silhouette: all, and those inside the frame. `None` when a part of it is behind
/// the camera or too far outside the frame to be projected.
fn silhouette(prospect: &Prospect, object: &Object, projector: &Projector) -> Option<(u64, u64)> {
    let mut projected = Vec::new();
    let mesh = &prospect.scene.mesh;
    project_all(mesh, object, projector, SAMPLES as f32, &mut projected);
    let corners: Option<Vec<_>> = projected.iter().copied().collect();
    let corners = corners?;
    let fold = |get: fn(&crate::render::raster::Corner) -> f32| {
        corners
            .iter()
            .map(get)
            .fold((f32::MAX, f32::MIN), |(low, high), v| {
                (low.min(v), high.max(v))
            })
    };
    let ((x0, x1), (y0, y1)) = (fold(|c| c.x), fold(|c| c.y));
    let (left, top) = (x0.floor(), y0.floor());
    let (width, height) = (
        (x1 - left).ceil() as usize + 1,
        (y1 - top).ceil() as usize + 1,
    );
    let lens = &prospect.drawn.intrinsics;
    let frame_w = (lens.width_px as usize * SAMPLES) as f32;
    let frame_h = (lens.height_px as usize * SAMPLES) as f32;
    if x1 < 0.0 || y1 < 0.0 || x0 > frame_w || y0 > frame_h {
        return Some((1, 0));
    }
    let mut mask = vec![false; width * height];
    for triangle in &mesh.triangles[object.triangles.clone()] {
        let Some(mut corners) = corners_of(triangle, object, &projected) else {
            continue;
        };
        if !faces_camera(&corners) {
            continue;
        }
        for corner in &mut corners {
            corner.x -= left;
            corner.y -= top;
        }
        walk(&corners, width, height, |x, y, _, _, _| {
            mask[y * width + x] = true
        });
    }
    let (mut all, mut inside) = (0, 0);
    for (at, _) in mask.iter().enumerate().filter(|(_, set)| **set) {
        let (x, y) = (left + (at % width) as f32, top + (at / width) as f32);
        all += 1;
        inside += u64::from(x >= 0.0 && y >= 0.0 && x < frame_w && y < frame_h);
    }
    Some((all, inside))
}

/// Every vehicle of which at least one sample of its silhouette lies in the frame.
pub(crate) fn sights(prospect: &Prospect) -> Vec<Sight> {
    let camera = prospect.camera;
    let seen = count_seen(prospect);
    let projector = Projector::new(prospect.drawn);
    let scale = SAMPLES as f64 * prospect.drawn.intrinsics.fx_px / camera.intrinsics.fx_px;
    let mut out = Vec::new();
    for object in &prospect.scene.objects {
        let Some(vehicle) = object.vehicle else {
            continue;
        };
        if !projector.may_see(object.center, object.radius) {
            continue;
        }
        let Some((all, inside)) = silhouette(prospect, object, &projector) else {
            continue;
        };
        let vehicle = vehicle as usize;
        let Some(oriented_box) = whole_box(prospect.scene, object, camera) else {
            continue;
        };
        if inside == 0 {
            continue;
        }
        let visible = seen[vehicle];
        let n = visible.map_or(0, |s| s.n);
        out.push(Sight {
            vehicle,
            visible_fraction: (n as f64 / all.max(1) as f64).min(1.0),
            truncated: inside < all,
            oriented_box,
            horizontal_box: visible.map(|s| {
                [
                    s.x0 as f64 / scale,
                    s.y0 as f64 / scale,
                    (s.x1 + 1) as f64 / scale,
                    (s.y1 + 1) as f64 / scale,
                ]
            }),
            front_direction_deg: front_direction(&prospect.vehicles[vehicle], camera),
        });
    }
    out
}

/// The projected corners of the vehicle's body (without mirrors and roof boxes).
fn body_pixels(scene: &Scene, object: &Object, camera: &Camera) -> Option<Vec<Vector2<f64>>> {
    let range = object.vertices.start..object.vertices.start + object.body_vertices;
    pixels(scene, range, camera)
}

/// The projections of vertices; `None` when one is behind the camera.
pub(crate) fn pixels(
    scene: &Scene,
    vertices: Range<usize>,
    camera: &Camera,
) -> Option<Vec<Vector2<f64>>> {
    scene.mesh.vertices[vertices]
        .iter()
        .map(|vertex| {
            let p = vertex.position;
            camera.pixel_from_enu(&Vector3::new(
                f64::from(p.x),
                f64::from(p.y),
                f64::from(p.z),
            ))
        })
        .collect()
}

fn whole_box(scene: &Scene, object: &Object, camera: &Camera) -> Option<[f64; 5]> {
    let pixels = body_pixels(scene, object, camera)?;
    Some(smallest_rectangle(&hull(&pixels)))
}

fn front_direction(vehicle: &Vehicle, camera: &Camera) -> f64 {
    let [east, north] = vehicle.center_in_enu;
    let half = vehicle.size_m()[0] / 2.0;
    let (sin, cos) = vehicle.front_azimuth_deg.to_radians().sin_cos();
    let center = camera.pixel_from_enu(&Vector3::new(east, north, 0.0));
    let front = camera.pixel_from_enu(&Vector3::new(east + half * sin, north + half * cos, 0.0));
    match (center, front) {
        (Some(a), Some(b)) => (b.x - a.x).atan2(a.y - b.y).to_degrees().rem_euclid(360.0),
        // Only vehicles wholly in front of the camera get here.
        _ => 0.0,
    }
}

/// Convex hull, counter-clockwise for y up (Andrew's monotone chain).
pub(crate) fn hull(points: &[Vector2<f64>]) -> Vec<Vector2<f64>> {
    let mut sorted = without_inner(points);
    sorted.sort_by(|a, b| a.x.total_cmp(&b.x).then(a.y.total_cmp(&b.y)));
    sorted.dedup();
    let cross = |o: &Vector2<f64>, a: &Vector2<f64>, b: &Vector2<f64>| (a - o).perp(&(b - o));
    let half = |points: &mut dyn Iterator<Item = Vector2<f64>>| {
        let mut chain: Vec<Vector2<f64>> = Vec::new();
        for p in points {
            while chain.len() >= 2
                && cross(&chain[chain.len() - 2], &chain[chain.len() - 1], &p) <= 0.0
            {
                chain.pop();
            }
            chain.push(p);
        }
        chain.pop();
        chain
    };
    let mut lower = half(&mut sorted.iter().copied());
    lower.extend(half(&mut sorted.iter().rev().copied()));
    lower
}

/// The points without most that lie inside the hull of all (Akl and Toussaint, 1978): sorting them
/// is what takes the time.
fn without_inner(points: &[Vector2<f64>]) -> Vec<Vector2<f64>> {
    const DIRECTIONS: [(f64, f64); 8] = [
        (1.0, 0.0),
        (1.0, 1.0),
        (0.0, 1.0),
        (-1.0, 1.0),
        (-1.0, 0.0),
        (-1.0, -1.0),
        (0.0, -1.0),
        (1.0, -1.0),
    ];
    let Some(&first) = points.first() else {
        return Vec::new();
    };
    let corners = DIRECTIONS.map(|(x, y)| {
        let start = (first.x * x + first.y * y, first);
        let farther = |best: (f64, Vector2<f64>), p: &Vector2<f64>| {
            let along = p.x * x + p.y * y;
            if along > best.0 { (along, *p) } else { best }
        };
        points.iter().fold(start, farther).1
    });
    let is_inner = |p: &Vector2<f64>| {
        (0..corners.len()).all(|i| {
            let (a, b) = (corners[i], corners[(i + 1) % corners.len()]);
            // An edge without length has nothing outside.
            a == b || (b - a).perp(&(p - a)) > 0.0
        })
    };
    let kept = points.iter().filter(|p| !is_inner(p));
    kept.copied().collect()
}

/// The rectangle of least area around a convex polygon: centre, long and short side, angle of the
/// long side from +x towards +y (clockwise on screen) in [-90, 90) degrees.
pub(crate) fn smallest_rectangle(polygon: &[Vector2<f64>]) -> [f64; 5] {
    let mut best = [0.0; 5];
    let mut best_area = f64::MAX;
    for i in 0..polygon.len() {
        let edge = polygon[(i + 1) % polygon.len()] - polygon[i];
        let length = edge.norm();
        if length < 1e-12 {
            continue;
        }
        let (u, v) = (edge / length, Vector2::new(-edge.y, edge.x) / length);
        let span = |axis: &Vector2<f64>| {
            polygon
                .iter()
                .map(|p| p.dot(axis))
                .fold((f64::MAX, f64::MIN), |(a, b), d| (a.min(d), b.max(d)))
        };
        let ((u0, u1), (v0, v1)) = (span(&u), span(&v));
        let area = (u1 - u0) * (v1 - v0);
        if area < best_area - 1e-9 {
            best_area = area;
            let center = u * ((u0 + u1) / 2.0) + v * ((v0 + v1) / 2.0);
            let (long, short, axis) = if u1 - u0 >= v1 - v0 {
                (u1 - u0, v1 - v0, u)
            } else {
                (v1 - v0, u1 - u0, v)
            };
            let angle = axis.y.atan2(axis.x).to_degrees();
            best = [
                center.x,
                center.y,
                long,
                short,
                (angle + 90.0).rem_euclid(180.0) - 90.0,
            ];
        }
    }
    best
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dice::Dice;

    /// However the points lie, those left out are no corners: every point lies within the hull, and
    /// its corners are points.
    #[test]
    fn the_hull_holds_all_points() {
        let mut dice = Dice::new(3, "hull", "");
        for n in [1, 2, 3, 4, 10, 500] {
            for flat in [1.0, 0.01, 0.0] {
                let mut draw = || Vector2::new(dice.normal(1.0), flat * dice.normal(1.0));
                let points: Vec<Vector2<f64>> = (0..n).map(|_| draw()).collect();
                let hull = hull(&points);
                assert!(hull.iter().all(|corner| points.contains(corner)));
                for (i, a) in hull.iter().enumerate() {
                    let edge = hull[(i + 1) % hull.len()] - a;
                    assert!(points.iter().all(|p| edge.perp(&(p - a)) >= -1e-9));
                }
                assert!(n < 3 || flat == 0.0 || hull.len() >= 3);
            }
        }
    }

    #[test]
    fn the_smallest_rectangle_of_a_turned_rectangle_is_itself() {
        for angle_deg in [-90.0_f64, -60.0, -10.0, 0.0, 33.0, 89.0] {
            let (sin, cos) = angle_deg.to_radians().sin_cos();
            let points: Vec<Vector2<f64>> = [
                (-30.0, -10.0),
                (30.0, -10.0),
                (30.0, 10.0),
                (-30.0, 10.0),
                (5.0, 2.0),
            ]
            .iter()
            .map(|(u, v)| Vector2::new(100.0 + u * cos - v * sin, 50.0 + u * sin + v * cos))
            .collect();
            let got = smallest_rectangle(&hull(&points));
            let expected = [100.0, 50.0, 60.0, 20.0, angle_deg];
            for (g, e) in got.iter().zip(&expected) {
                assert!((g - e).abs() < 1e-6, "{got:?} {expected:?}");
            }
        }
    }
}
