//! Which triangle is seen where: a depth buffer with four samples a pixel.
//!
//! Corners are projected with lens distortion and edges drawn straight between them; meshes are
//! cut finely enough for that (`mesh::MAX_PIECE_M`). The shadow and height maps use the same
//! triangle walker.

use crate::camera::Camera;
use crate::scene::foliage::{MASK_SIDE, N_MASKS};
use crate::scene::mesh::{Mesh, Triangle};
use crate::scene::{Object, Scene};
use crate::vec3::V3;

/// Samples along each side of a pixel.
pub(crate) const SAMPLES: usize = 2;

/// A corner on the sample grid with what is interpolated over the triangle.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Corner {
    pub(crate) x: f32,
    pub(crate) y: f32,
    /// Inverse depth, or height: linear over the triangle.
    pub(crate) value: f32,
}

/// Calls `visit(column, row, value, b1, b2)` for each sample centre inside a triangle, where b1
/// and b2 are the weights of the second and third corner. Both windings are walked.
pub(crate) fn walk(
    corners: &[Corner; 3],
    width: usize,
    height: usize,
    mut visit: impl FnMut(usize, usize, f32, f32, f32),
) {
    let [a, b, c] = corners;
    // Small triangles often hold no sample at all: that is found out first.
    let low = |p: f32, q: f32, r: f32| whole_above((p.min(q).min(r) - 0.5).max(0.0));
    let high =
        |p: f32, q: f32, r: f32, n: usize| whole_below((p.max(q).max(r) - 0.5).min(n as f32 - 1.0));
    let (x0, x1) = (low(a.x, b.x, c.x), high(a.x, b.x, c.x, width));
    let (y0, y1) = (low(a.y, b.y, c.y), high(a.y, b.y, c.y, height));
    if x0 > x1 || y0 > y1 {
        return;
    }
    let area = (b.x - a.x) * (c.y - a.y) - (c.x - a.x) * (b.y - a.y);
    if area.abs() < 1e-9 || !area.is_finite() {
        return;
    }
    let inverse = 1.0 / area;
    // Barycentric weights and their steps.
    let (b1_dx, b1_dy) = ((c.y - a.y) * inverse, -(c.x - a.x) * inverse);
    let (b2_dx, b2_dy) = (-(b.y - a.y) * inverse, (b.x - a.x) * inverse);
    let (start_x, start_y) = (x0 + 0.5 - a.x, y0 + 0.5 - a.y);
    let mut row_b1 = start_x * b1_dx + start_y * b1_dy;
    let mut row_b2 = start_x * b2_dx + start_y * b2_dy;
    let (dv1, dv2) = (b.value - a.value, c.value - a.value);
    let columns = (x1 - x0) as usize;
    for row in y0 as usize..=y1 as usize {
        // The part of the row inside all three half planes.
        let (mut from, mut to) = (0.0_f32, columns as f32);
        clip(row_b1, b1_dx, &mut from, &mut to);
        clip(row_b2, b2_dx, &mut from, &mut to);
        clip(1.0 - row_b1 - row_b2, -b1_dx - b2_dx, &mut from, &mut to);
        if from <= to {
            let first = whole_above(from) as usize;
            let last = to as usize;
            for step in first..=last {
                if step > columns {
                    break;
                }
                let b1 = row_b1 + step as f32 * b1_dx;
                let b2 = row_b2 + step as f32 * b2_dx;
                visit(
                    x0 as usize + step,
                    row,
                    a.value + b1 * dv1 + b2 * dv2,
                    b1,
                    b2,
                );
            }
        }
        row_b1 += b1_dy;
        row_b2 += b2_dy;
    }
}

/// The whole number at or above one that is not negative, without a call into the maths library.
fn whole_above(x: f32) -> f32 {
    let cut = x as i32 as f32;
    if cut < x { cut + 1.0 } else { cut }
}

/// The whole number at or below, likewise; for numbers above -1 or else some number below 0.
fn whole_below(x: f32) -> f32 {
    if x < 0.0 { -1.0 } else { x as i32 as f32 }
}

/// Narrows [from, to] to where `start + step * t` is not negative.
fn clip(start: f32, step: f32, from: &mut f32, to: &mut f32) {
    if step > 1e-12 {
        *from = from.max(-start / step);
    } else if step < -1e-12 {
        *to = to.min(-start / step);
    } else if start < 0.0 {
        *to = -1.0;
    }
}

/// Whether a leaf's mask holds leaf at barycentric weights.
pub(crate) fn leaf_here(
    masks: &[[u32; MASK_SIDE]; N_MASKS],
    locals: &[V3; 3],
    b1: f32,
    b2: f32,
) -> bool {
    let b0 = 1.0 - b1 - b2;
    let u = b0 * locals[0].x + b1 * locals[1].x + b2 * locals[2].x;
    let v = b0 * locals[0].y + b1 * locals[1].y + b2 * locals[2].y;
    let column = ((u * MASK_SIDE as f32) as usize).min(MASK_SIDE - 1);
    let row = ((v * MASK_SIDE as f32) as usize).min(MASK_SIDE - 1);
    masks[locals[0].z as usize % N_MASKS][row] >> column & 1 == 1
}

/// A camera ready for many single-precision projections.
#[derive(Clone, Debug)]
pub(crate) struct Projector {
    rows: [[f32; 3]; 3],
    translation: [f32; 3],
    fx: f32,
    fy: f32,
    cx: f32,
    cy: f32,
    k: [f32; 4],
    /// Beyond this square of the tangent of the angle to the axis nothing is drawn.
    max_r2: f32,
    /// Tangents of the frame's borders, for culling.
    half_tan: f32,
}

impl Projector {
    pub(crate) fn new(camera: &Camera) -> Self {
        let lens = &camera.intrinsics;
        let m = camera.camera_from_enu.rotation.to_rotation_matrix();
        let t = camera.camera_from_enu.translation_m;
        let row = |i: usize| [m[(i, 0)] as f32, m[(i, 1)] as f32, m[(i, 2)] as f32];
        let half_x = lens.cx_px.max(f64::from(lens.width_px) - lens.cx_px) / lens.fx_px;
        let half_y = lens.cy_px.max(f64::from(lens.height_px) - lens.cy_px) / lens.fy_px;
        let half_tan = (half_x.hypot(half_y) * 1.12) as f32;
        Self {
            rows: [row(0), row(1), row(2)],
            translation: [t.x as f32, t.y as f32, t.z as f32],
            fx: lens.fx_px as f32,
            fy: lens.fy_px as f32,
            cx: lens.cx_px as f32,
            cy: lens.cy_px as f32,
            k: [
                lens.k1 as f32,
                lens.k2 as f32,
                lens.p1 as f32,
                lens.p2 as f32,
            ],
            max_r2: (half_tan * 1.7).powi(2),
            half_tan,
        }
    }

    fn in_camera(&self, p: V3) -> [f32; 3] {
        let row = |i: usize| {
            let r = &self.rows[i];
            r[0] * p.x + r[1] * p.y + r[2] * p.z + self.translation[i]
        };
        [row(0), row(1), row(2)]
    }

    /// Pixel and inverse depth; `None` behind the camera or far outside the frame.
    pub(crate) fn project(&self, p: V3) -> Option<Corner> {
        let [x, y, z] = self.in_camera(p);
        if z < 0.2 {
            return None;
        }
        let inverse = 1.0 / z;
        let (u, v) = (x * inverse, y * inverse);
        let r2 = u * u + v * v;
        if r2 > self.max_r2 {
            return None;
        }
        let [k1, k2, p1, p2] = self.k;
        let radial = 1.0 + r2 * (k1 + r2 * k2);
        let du = u * radial + 2.0 * p1 * u * v + p2 * (r2 + 2.0 * u * u);
        let dv = v * radial + p1 * (r2 + 2.0 * v * v) + 2.0 * p2 * u * v;
        Some(Corner {
            x: self.fx * du + self.cx,
            y: self.fy * dv + self.cy,
            value: inverse,
        })
    }

    /// Whether a ball may be in the frame (a cone about the axis).
    pub(crate) fn may_see(&self, center: V3, radius: f32) -> bool {
        let [x, y, z] = self.in_camera(center);
        if z < -radius {
            return false;
        }
        let off_axis = x.hypot(y);
        // Distance to the cone's side.
        (off_axis - z * self.half_tan) <= radius * (1.0 + self.half_tan * self.half_tan).sqrt()
    }
}

/// What every sample sees.
#[derive(Debug, Default)]
pub(crate) struct SampleBuffer {
    pub(crate) width: usize,
    pub(crate) height: usize,
    inverse_depth: Vec<f32>,
    /// Number of the triangle plus one; 0 where the ground or the sky is seen.
    pub(crate) triangle: Vec<u32>,
}

impl SampleBuffer {
    /// Everything that is in the frame, nearest first.
    pub(crate) fn draw(
        scene: &Scene,
        masks: &[[u32; MASK_SIDE]; N_MASKS],
        camera: &Camera,
        projector: &Projector,
    ) -> Self {
        Self::draw_some(scene, masks, camera, projector, |_| true)
    }

    /// As [`Self::draw`], but only the objects that are wanted.
    pub(crate) fn draw_some(
        scene: &Scene,
        masks: &[[u32; MASK_SIDE]; N_MASKS],
        camera: &Camera,
        projector: &Projector,
        wanted: impl Fn(&Object) -> bool,
    ) -> Self {
        let width = camera.intrinsics.width_px as usize * SAMPLES;
        let height = camera.intrinsics.height_px as usize * SAMPLES;
        let mut buffer = Self {
            width,
            height,
            inverse_depth: vec![0.0; width * height],
            triangle: vec![0; width * height],
        };
        let mut scratch: Vec<Option<Corner>> = Vec::new();
        for object in &scene.objects {
            if projector.may_see(object.center, object.radius) && wanted(object) {
                buffer.draw_object(&scene.mesh, object, masks, projector, &mut scratch);
            }
        }
        buffer
    }

    /// Depth of what a sample sees, metres along the axis; `None` where it is the ground or the sky.
    pub(crate) fn depth(&self, column: usize, row: usize) -> Option<f64> {
        let inverse = f64::from(self.inverse_depth[row * self.width + column]);
        (inverse > 0.0).then(|| 1.0 / inverse)
    }

    fn draw_object(
        &mut self,
        mesh: &Mesh,
        object: &Object,
        masks: &[[u32; MASK_SIDE]; N_MASKS],
        projector: &Projector,
        scratch: &mut Vec<Option<Corner>>,
    ) {
        project_all(mesh, object, projector, SAMPLES as f32, scratch);
        let (width, height) = (self.width, self.height);
        for number in object.triangles.clone() {
            let triangle = &mesh.triangles[number];
            let Some(corners) = corners_of(triangle, object, scratch) else {
                continue;
            };
            if !object.leafy && !faces_camera(&corners) {
                continue;
            }
            let locals = if object.leafy {
                triangle.corners.map(|c| mesh.vertices[c as usize].local)
            } else {
                [V3::ZERO; 3]
            };
            walk(&corners, width, height, |x, y, value, b1, b2| {
                let at = y * width + x;
                if value > self.inverse_depth[at]
                    && (!object.leafy || leaf_here(masks, &locals, b1, b2))
                {
                    self.inverse_depth[at] = value;
                    self.triangle[at] = number as u32 + 1;
                }
            });
        }
    }
}

/// Corners seen counter-clockwise from the camera; rows run downwards, hence the sign.
pub(crate) fn faces_camera(corners: &[Corner; 3]) -> bool {
    let [a, b, c] = corners;
    (b.x - a.x) * (c.y - a.y) - (c.x - a.x) * (b.y - a.y) < 0.0
}

/// Projects an object's vertices to a grid of `scale` samples a pixel.
pub(crate) fn project_all(
    mesh: &Mesh,
    object: &Object,
    projector: &Projector,
    scale: f32,
    out: &mut Vec<Option<Corner>>,
) {
    out.clear();
    out.extend(mesh.vertices[object.vertices.clone()].iter().map(|vertex| {
        projector.project(vertex.position).map(|c| Corner {
            x: c.x * scale,
            y: c.y * scale,
            value: c.value,
        })
    }));
}

/// The projected corners of a triangle, if all three are usable.
pub(crate) fn corners_of(
    triangle: &Triangle,
    object: &Object,
    projected: &[Option<Corner>],
) -> Option<[Corner; 3]> {
    let get = |k: usize| projected[triangle.corners[k] as usize - object.vertices.start];
    Some([get(0)?, get(1)?, get(2)?])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn count(corners: [(f32, f32); 3]) -> usize {
        let corners = corners.map(|(x, y)| Corner {
            x,
            y,
            value: x + 2.0 * y,
        });
        let mut n = 0;
        walk(&corners, 40, 30, |x, y, value, _, _| {
            let expected = (x as f32 + 0.5) + 2.0 * (y as f32 + 0.5);
            assert!((value - expected).abs() < 1e-3);
            n += 1;
        });
        n
    }

    #[test]
    fn covers_the_samples_inside_whatever_the_winding() {
        // A right triangle with legs of 10: 45 centres strictly inside, 10 on the long side.
        let n = count([(0.0, 0.0), (10.0, 0.0), (0.0, 10.0)]);
        assert!((45..=55).contains(&n), "{n}");
        assert_eq!(n, count([(0.0, 0.0), (0.0, 10.0), (10.0, 0.0)]));
        // Clipped by the frame.
        assert_eq!(
            count([(-100.0, -100.0), (300.0, -100.0), (-100.0, 300.0)]),
            40 * 30
        );
        assert_eq!(count([(50.0, 5.0), (60.0, 5.0), (50.0, 9.0)]), 0);
    }
}
