//! Triangle meshes in the east-north-up frame, and builders for the plain solids that props and
//! buildings are made of.

use crate::vec3::{V3, v3};

/// A corner. `local` are coordinates the finish works in (metres on a face, or what a builder
/// says).
#[derive(Clone, Copy, Debug)]
pub(crate) struct Vertex {
    pub(crate) position: V3,
    pub(crate) normal: V3,
    pub(crate) local: V3,
}

/// Three corners, counter-clockwise seen from outside, and which finish they wear.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Triangle {
    pub(crate) corners: [u32; 3],
    pub(crate) finish: u16,
}

/// Triangles with their corners.
#[derive(Clone, Debug, Default)]
pub(crate) struct Mesh {
    pub(crate) vertices: Vec<Vertex>,
    pub(crate) triangles: Vec<Triangle>,
}

/// Where a thing stands: its own x axis points along `heading` (radians counter-clockwise from
/// east), z stays up.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Stand {
    pub(crate) x: f32,
    pub(crate) y: f32,
    pub(crate) z: f32,
    cos: f32,
    sin: f32,
}

impl Stand {
    pub(crate) fn new(x: f32, y: f32, z: f32, heading: f32) -> Self {
        let (sin, cos) = heading.sin_cos();
        Self { x, y, z, cos, sin }
    }

    pub(crate) fn point(&self, p: V3) -> V3 {
        let d = self.direction(p);
        v3(self.x + d.x, self.y + d.y, self.z + d.z)
    }

    pub(crate) fn direction(&self, d: V3) -> V3 {
        v3(
            d.x * self.cos - d.y * self.sin,
            d.x * self.sin + d.y * self.cos,
            d.z,
        )
    }
}

/// Large faces are cut into pieces of at most this size, so that straight screen edges follow the
/// lens distortion.
const MAX_PIECE_M: f32 = 3.5;

impl Mesh {
    pub(crate) fn vertex(&mut self, position: V3, normal: V3, local: V3) -> u32 {
        self.vertices.push(Vertex {
            position,
            normal,
            local,
        });
        (self.vertices.len() - 1) as u32
    }

    pub(crate) fn triangle(&mut self, a: u32, b: u32, c: u32, finish: u16) {
        self.triangles.push(Triangle {
            corners: [a, b, c],
            finish,
        });
    }

    /// A parallelogram from a corner along two edges (counter-clockwise from outside), cut into
    /// pieces. Local coordinates run from `uv` in metres along the edges; local z is `tag`.
    pub(crate) fn panel(
        &mut self,
        corner: V3,
        along: V3,
        up: V3,
        uv: (f32, f32),
        tag: f32,
        finish: u16,
    ) {
        let (length, height) = (along.length(), up.length());
        if length < 1e-4 || height < 1e-4 {
            return;
        }
        let normal = along.cross(up).unit();
        let n_u = (length / MAX_PIECE_M).ceil().max(1.0) as u32;
        let n_v = (height / MAX_PIECE_M).ceil().max(1.0) as u32;
        let first = self.vertices.len() as u32;
        for j in 0..=n_v {
            for i in 0..=n_u {
                let (s, t) = (i as f32 / n_u as f32, j as f32 / n_v as f32);
                let local = v3(uv.0 + s * length, uv.1 + t * height, tag);
                self.vertex(corner + along * s + up * t, normal, local);
            }
        }
        for j in 0..n_v {
            for i in 0..n_u {
                let a = first + j * (n_u + 1) + i;
                let (b, c, d) = (a + 1, a + n_u + 2, a + n_u + 1);
                self.triangle(a, b, c, finish);
                self.triangle(a, c, d, finish);
            }
        }
    }

    /// A flat triangle; local coordinates are metres along its first edge and across.
    pub(crate) fn gable(&mut self, a: V3, b: V3, c: V3, tag: f32, finish: u16) {
        let normal = (b - a).cross(c - a).unit();
        let u = (b - a).unit();
        let v = normal.cross(u);
        let ids = [a, b, c].map(|p| {
            let d = p - a;
            self.vertex(p, normal, v3(d.dot(u), d.dot(v), tag))
        });
        self.triangle(ids[0], ids[1], ids[2], finish);
    }

    /// An upright box about a centre on its floor, without its bottom. Local z tells the face:
    /// 0 to 3 the sides (front +x, left +y, back, right), 4 the top.
    pub(crate) fn cuboid(&mut self, stand: &Stand, center: V3, size: V3, side: u16, top: u16) {
        let (hx, hy) = (size.x / 2.0, size.y / 2.0);
        let at = |x: f32, y: f32, z: f32| stand.point(center + v3(x, y, z));
        let along = |x: f32, y: f32, z: f32| stand.direction(v3(x, y, z));
        let up = v3(0.0, 0.0, size.z);
        self.panel(
            at(hx, -hy, 0.0),
            along(0.0, size.y, 0.0),
            up,
            (0.0, 0.0),
            0.0,
            side,
        );
        self.panel(
            at(hx, hy, 0.0),
            along(-size.x, 0.0, 0.0),
            up,
            (0.0, 0.0),
            1.0,
            side,
        );
        self.panel(
            at(-hx, hy, 0.0),
            along(0.0, -size.y, 0.0),
            up,
            (0.0, 0.0),
            2.0,
            side,
        );
        self.panel(
            at(-hx, -hy, 0.0),
            along(size.x, 0.0, 0.0),
            up,
            (0.0, 0.0),
            3.0,
            side,
        );
        let (x_edge, y_edge) = (along(size.x, 0.0, 0.0), along(0.0, size.y, 0.0));
        self.panel(at(-hx, -hy, size.z), x_edge, y_edge, (-hx, -hy), 4.0, top);
    }

    /// A closed prism between two points with regular cross-section; thin things as poles.
    pub(crate) fn rod(
        &mut self,
        from: V3,
        to: V3,
        radius_from: f32,
        radius_to: f32,
        sides: u32,
        finish: u16,
    ) {
        let axis = (to - from).unit();
        let helper = if axis.z.abs() < 0.9 {
            V3::UP
        } else {
            v3(1.0, 0.0, 0.0)
        };
        let u = helper.cross(axis).unit();
        let v = axis.cross(u);
        let first = self.vertices.len() as u32;
        let length = (to - from).length();
        for i in 0..=sides {
            let angle = std::f32::consts::TAU * i as f32 / sides as f32;
            let n = u * angle.cos() + v * angle.sin();
            self.vertex(from + n * radius_from, n, v3(angle * radius_from, 0.0, 0.0));
            self.vertex(to + n * radius_to, n, v3(angle * radius_from, length, 0.0));
        }
        for i in 0..sides {
            let a = first + 2 * i;
            self.triangle(a, a + 2, a + 3, finish);
            self.triangle(a, a + 3, a + 1, finish);
        }
        let cap = self.vertex(to, axis, v3(0.0, 0.0, 1.0));
        for i in 0..sides {
            let a = self.vertices[(first + 2 * i + 1) as usize].position;
            let b = self.vertices[(first + 2 * i + 3) as usize].position;
            let a = self.vertex(a, axis, v3(0.0, 0.0, 1.0));
            let b = self.vertex(b, axis, v3(0.0, 0.0, 1.0));
            self.triangle(cap, a, b, finish);
        }
    }

    /// A ball squeezed to three radii; what would lie under the stand's ground is flattened to it.
    pub(crate) fn ellipsoid(&mut self, stand: &Stand, center: V3, radii: V3, finish: u16) {
        let (rings, sides) = (8_u32, 12_u32);
        let first = self.vertices.len() as u32;
        for j in 0..=rings {
            let polar = std::f32::consts::PI * j as f32 / rings as f32;
            for i in 0..=sides {
                let angle = std::f32::consts::TAU * i as f32 / sides as f32;
                let d = v3(
                    polar.sin() * angle.cos(),
                    polar.sin() * angle.sin(),
                    -polar.cos(),
                );
                let mut p = center + d.times(radii);
                p.z = p.z.max(0.0);
                let n = v3(d.x / radii.x, d.y / radii.y, d.z / radii.z).unit();
                self.vertex(stand.point(p), stand.direction(n), d);
            }
        }
        for j in 0..rings {
            for i in 0..sides {
                let a = first + j * (sides + 1) + i;
                let d = a + sides + 1;
                self.triangle(a, a + 1, d + 1, finish);
                self.triangle(a, d + 1, d, finish);
            }
        }
    }
}
