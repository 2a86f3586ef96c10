//! Vehicle bodies: cross-sections lofted along the length, wheels, mirrors, beds and boxes.
//!
//! The shell's local coordinates are `(s, t, y)`: `s` from 0 at the front bumper to 1 at the
//! rear, `t` around the section (0 sill, 5 foot of the side glass, 7 roof edge, 10 middle of the
//! roof), `y` metres to the left. Shading finds glass, lights and joints by them, so their edges
//! are sharp whatever the mesh.

use super::mesh::{Mesh, Stand};
use super::profiles::{CAB_HEIGHT_SHARE, CAB_LENGTH_SHARE, Profile};
use crate::vec3::{V3, lerp, smoothstep, v3};
use crate::vehicles::{Body, Vehicle};

/// Finish numbers of a vehicle's parts; the shell's and the wheels' look up the vehicle.
#[derive(Clone, Copy, Debug)]
pub(crate) struct BodyFinishes {
    pub(crate) shell: u16,
    pub(crate) wheel: u16,
    pub(crate) paint: u16,
    pub(crate) trim: u16,
    pub(crate) cargo: u16,
    pub(crate) lamp: u16,
}

/// Through the points without overshoot (monotone cubic, Fritsch and Carlson 1980).
fn curve(points: &[(f32, f32)], x: f32) -> f32 {
    let last = points.len() - 1;
    if x <= points[0].0 {
        return points[0].1;
    }
    if x >= points[last].0 {
        return points[last].1;
    }
    let i = points
        .iter()
        .rposition(|p| p.0 <= x)
        .unwrap_or(0)
        .min(last - 1);
    let slope = |k: usize| (points[k + 1].1 - points[k].1) / (points[k + 1].0 - points[k].0);
    let tangent = |k: usize| {
        if k == 0 || k == last {
            return slope(k.min(last - 1));
        }
        let (before, after) = (slope(k - 1), slope(k));
        if before * after <= 0.0 {
            0.0
        } else {
            2.0 * before * after / (before + after)
        }
    };
    let h = points[i + 1].0 - points[i].0;
    let t = (x - points[i].0) / h;
    let (t2, t3) = (t * t, t * t * t);
    points[i].1 * (2.0 * t3 - 3.0 * t2 + 1.0)
        + points[i + 1].1 * (3.0 * t2 - 2.0 * t3)
        + h * tangent(i) * (t3 - 2.0 * t2 + t)
        + h * tangent(i + 1) * (t3 - t2)
}

/// Points of one half section.
const SECTION: usize = 11;

/// One half section at `s`: (y, z) in metres from sill to the middle of the roof.
fn section(
    profile: &Profile,
    plan: &[(f32, f32)],
    s: f32,
    half_width: f32,
    height: f32,
) -> [(f32, f32); SECTION] {
    let top = curve(profile.top, s) * height;
    let half = curve(plan, s) * half_width;
    let belt_line = lerp(profile.belt_front, profile.belt_rear, s) * height;
    // At the ends the skirt rises to the bumper's lower edge.
    let lift = 0.10 * (smoothstep(0.035, 0.0, s) + smoothstep(0.97, 1.0, s));
    let sill = (profile.clearance_m + lift).min(top * 0.7);
    let shoulder = belt_line
        .min(top - 0.035 * height.min(1.6))
        .max(sill + 0.05);
    let cabin = smoothstep(0.0, 0.22 * height.min(1.7), top - belt_line);
    let roof = profile.roof_half_width;
    let hood = |y: f32, share: f32| (y, shoulder + (top - shoulder) * share);
    let house = |y: f32, z: f32| (y, z);
    let drop = 0.05 * height.min(1.6);
    let mix = |a: (f32, f32), b: (f32, f32)| (half * lerp(a.0, b.0, cabin), lerp(a.1, b.1, cabin));
    let body_mid = lerp(sill, shoulder, 0.55);
    let glass_mid = lerp(shoulder, top - drop, 0.5);
    [
        (half * 0.90, sill),
        (half * 0.965, sill + 0.06 * (shoulder - sill)),
        (half * 0.99, lerp(sill, shoulder, 0.25)),
        (half, body_mid),
        (half * 0.975, lerp(sill, shoulder, 0.92)),
        mix(
            hood(0.93, 0.12),
            house(0.925, shoulder + 0.02 * (top - shoulder)),
        ),
        mix(
            hood(0.84, 0.50),
            house(lerp(0.925, roof + 0.05, 0.5), glass_mid),
        ),
        mix(hood(0.72, 0.74), house(roof + 0.05, top - drop)),
        mix(hood(0.56, 0.88), house(roof - 0.04, top - 0.35 * drop)),
        mix(hood(0.30, 0.97), house(roof * 0.5, top - 0.08 * drop)),
        mix(hood(0.0, 1.0), house(0.0, top)),
    ]
}

fn stations(profile: &Profile) -> Vec<f32> {
    let mut places: Vec<f32> = profile.top.iter().map(|p| p.0).collect();
    places.extend([0.003, 0.015, 0.05, 0.11, 0.65, 0.985]);
    places.extend((1..20).map(|i| i as f32 / 20.0));
    places.sort_by(f32::total_cmp);
    places.dedup_by(|a, b| (*a - *b).abs() < 0.0025);
    places
}

struct Shell<'a> {
    profile: &'a Profile,
    plan: &'static [(f32, f32)],
    /// Front end along the vehicle's x axis, metres.
    front_x: f32,
    length: f32,
    half_width: f32,
    height: f32,
    /// Stations between which the top is left open (a bed).
    open_top: Option<(f32, f32)>,
}

impl Shell<'_> {
    fn add(&self, mesh: &mut Mesh, stand: &Stand, finish: u16) {
        let places = stations(self.profile);
        let sections: Vec<_> = places
            .iter()
            .map(|&s| section(self.profile, self.plan, s, self.half_width, self.height))
            .collect();
        let ring = 2 * SECTION - 1;
        let point = |i: usize, j: usize| {
            let mirrored = j >= SECTION;
            let k = if mirrored { ring - 1 - j } else { j };
            let (y, z) = sections[i][k];
            v3(
                self.front_x - places[i] * self.length,
                if mirrored { -y } else { y },
                z,
            )
        };
        let first = mesh.vertices.len() as u32;
        for i in 0..places.len() {
            for j in 0..ring {
                let (i0, i1) = (i.saturating_sub(1), (i + 1).min(places.len() - 1));
                let (j0, j1) = (j.saturating_sub(1), (j + 1).min(ring - 1));
                let backwards = point(i1, j) - point(i0, j);
                let around = point(i, j1) - point(i, j0);
                let normal = backwards.cross(around).unit();
                let p = point(i, j);
                let t = if j >= SECTION { ring - 1 - j } else { j } as f32;
                mesh.vertex(
                    stand.point(p),
                    stand.direction(normal),
                    v3(places[i], t, p.y),
                );
            }
        }
        for i in 0..places.len() - 1 {
            for j in 0..ring - 1 {
                let inner = (5..ring - 6).contains(&j);
                if let Some((from, to)) = self.open_top
                    && inner
                    && places[i] >= from
                    && places[i + 1] <= to
                {
                    continue;
                }
                let a = first + (i * ring + j) as u32;
                let d = a + ring as u32;
                mesh.triangle(a, d + 1, a + 1, finish);
                mesh.triangle(a, d, d + 1, finish);
            }
        }
        self.caps(mesh, stand, finish, first, places.len(), ring);
    }

    /// Mirrors reach 0.165 m beyond each side.
    fn mirrors(&self, mesh: &mut Mesh, stand: &Stand, finish: u16) {
        let x = self.front_x - (self.profile.cowl + 0.045) * self.length;
        let z = (self.profile.belt_front + 0.05) * self.height;
        for side in [-1.0_f32, 1.0] {
            let center = v3(x, side * (self.half_width + 0.06), z);
            mesh.ellipsoid(stand, center, v3(0.075, 0.105, 0.07), finish);
        }
    }

    /// Closes front and rear with fans.
    fn caps(&self, mesh: &mut Mesh, stand: &Stand, finish: u16, first: u32, n: usize, ring: usize) {
        for (row, direction, s) in [(0, 1.0, 0.0), (n - 1, -1.0, 1.0)] {
            let normal = stand.direction(v3(direction, 0.0, 0.0));
            let from = first + (row * ring) as u32;
            let start = mesh.vertices.len() as u32;
            let mut middle = V3::ZERO;
            for j in 0..ring as u32 {
                let mut corner = mesh.vertices[(from + j) as usize];
                corner.normal = normal;
                middle += corner.position * (1.0 / ring as f32);
                mesh.vertices.push(corner);
            }
            let center = mesh.vertex(middle, normal, v3(s, 2.0, 0.0));
            for j in 0..ring as u32 - 1 {
                let (a, b) = (start + j, start + j + 1);
                if row == 0 {
                    mesh.triangle(center, a, b, finish);
                } else {
                    mesh.triangle(center, b, a, finish);
                }
            }
        }
    }
}

fn wheels(mesh: &mut Mesh, stand: &Stand, xs: &[f32], radius: f32, half_width: f32, finish: u16) {
    for &x in xs {
        for side in [-1.0_f32, 1.0] {
            let outer = side * (half_width * 0.985);
            let inner = side * (half_width - 0.24);
            let n = 18;
            let face = stand.direction(v3(0.0, side, 0.0));
            let center = mesh.vertex(
                stand.point(v3(x, outer, radius)),
                face,
                v3(0.0, 0.0, radius),
            );
            let first = mesh.vertices.len() as u32;
            for i in 0..=n {
                let angle = std::f32::consts::TAU * i as f32 / n as f32;
                let (u, w) = (angle.cos() * radius, angle.sin() * radius);
                let tread = stand.direction(v3(angle.cos(), 0.0, angle.sin()));
                mesh.vertex(
                    stand.point(v3(x + u, outer, radius + w)),
                    face,
                    v3(u, w, radius),
                );
                mesh.vertex(
                    stand.point(v3(x + u, outer, radius + w)),
                    tread,
                    v3(u, w, radius),
                );
                mesh.vertex(
                    stand.point(v3(x + u, inner, radius + w)),
                    tread,
                    v3(u, w, radius),
                );
            }
            for i in 0..n {
                let a = first + 3 * i;
                if side > 0.0 {
                    mesh.triangle(center, a + 3, a, finish);
                    mesh.triangle(a + 1, a + 4, a + 5, finish);
                    mesh.triangle(a + 1, a + 5, a + 2, finish);
                } else {
                    mesh.triangle(center, a, a + 3, finish);
                    mesh.triangle(a + 1, a + 5, a + 4, finish);
                    mesh.triangle(a + 1, a + 2, a + 5, finish);
                }
            }
        }
    }
}

/// The open bed of a pick-up: floor, four inner walls, the rim.
fn pickup_bed(mesh: &mut Mesh, stand: &Stand, size: [f32; 3], f: &BodyFinishes) {
    let [length, width, height] = size;
    let front_x = length / 2.0;
    let (x0, x1) = (front_x - 0.645 * length, front_x - 0.965 * length);
    let (half, rim, floor) = (width * 0.45, 0.625 * height, 0.40 * height);
    let (long, up) = (x0 - x1, v3(0.0, 0.0, rim - floor));
    let mut panel = |corner: V3, along: V3, upward: V3, finish: u16| {
        let (corner, along) = (stand.point(corner), stand.direction(along));
        mesh.panel(
            corner,
            along,
            stand.direction(upward),
            (0.0, 0.0),
            4.0,
            finish,
        );
    };
    let (forth, left) = (v3(long, 0.0, 0.0), v3(0.0, 2.0 * half, 0.0));
    panel(v3(x1, -half, floor), forth, left, f.trim);
    panel(v3(x1, half, floor), forth, up, f.trim);
    panel(v3(x0, -half, floor), -forth, up, f.trim);
    panel(v3(x0, half, floor), -left, up, f.trim);
    panel(v3(x1, -half, floor), left, up, f.paint);
    let edge = width * 0.495 - half;
    for y in [half, -half - edge] {
        panel(v3(x1, y, rim + 0.012), forth, v3(0.0, edge, 0.0), f.paint);
    }
}

/// The whole vehicle on level ground at its place. Returns the number of vertices up to the end
/// of the body proper: accessories (mirrors, roof boxes), which boxes and sizes leave out, come
/// after them.
pub(crate) fn add_vehicle(mesh: &mut Mesh, vehicle: &Vehicle, finishes: &BodyFinishes) -> usize {
    let size = vehicle.size_m().map(|v| v as f32);
    let [length, width, height] = size;
    let heading = (90.0 - vehicle.front_azimuth_deg).to_radians() as f32;
    let [east, north] = vehicle.center_in_enu.map(|v| v as f32);
    let stand = Stand::new(east, north, 0.0, heading);
    let body = vehicle.model.body;
    let profile = body.profile();
    let is_truck = body == Body::Truck;
    let open_bed = body == Body::Pickup && !vehicle.look.covered_bed;
    let shell = Shell {
        profile,
        plan: body.plan(),
        front_x: length / 2.0,
        length: if is_truck {
            length * CAB_LENGTH_SHARE
        } else {
            length
        },
        half_width: if is_truck { width * 0.475 } else { width / 2.0 },
        height: if is_truck {
            height * CAB_HEIGHT_SHARE
        } else {
            height
        },
        open_top: open_bed.then_some((0.64, 0.975)),
    };
    shell.add(mesh, &stand, finishes.shell);
    match body {
        Body::Truck => truck_box(mesh, &stand, size, finishes),
        Body::Bus => bus_roof(mesh, &stand, size, vehicle.look.sunroof, finishes),
        Body::Pickup if open_bed => pickup_bed(mesh, &stand, size, finishes),
        _ => {}
    }
    let axles = profile
        .axles
        .map(|axle| shell.front_x - axle * shell.length);
    wheels(
        mesh,
        &stand,
        &axles,
        profile.wheel_radius_m,
        width / 2.0,
        finishes.wheel,
    );
    let end_of_body = mesh.vertices.len();
    shell.mirrors(mesh, &stand, finishes.paint);
    if vehicle.look.roof_box && !body.is_large() {
        let center = v3(shell.front_x - 0.60 * length, 0.12 * width, height - 0.03);
        mesh.ellipsoid(&stand, center, v3(0.85, 0.36, 0.20), finishes.trim);
    }
    end_of_body
}

fn truck_box(mesh: &mut Mesh, stand: &Stand, size: [f32; 3], f: &BodyFinishes) {
    let [length, width, height] = size;
    let box_length = length * (1.0 - CAB_LENGTH_SHARE) - 0.12;
    let floor = 0.95;
    let center = v3((box_length - length) / 2.0, 0.0, floor);
    mesh.cuboid(
        stand,
        center,
        v3(box_length, width, height - floor),
        f.cargo,
        f.cargo,
    );
    let chassis = v3(length * 0.92, width * 0.55, 0.5);
    mesh.cuboid(stand, v3(-0.1, 0.0, 0.45), chassis, f.trim, f.trim);
}

/// The air conditioner, ahead or behind, and two hatches.
fn bus_roof(mesh: &mut Mesh, stand: &Stand, size: [f32; 3], ahead: bool, f: &BodyFinishes) {
    let [length, width, height] = size;
    let top = height * 0.965;
    let unit = v3(2.4, width * 0.65, height - top);
    let x = length * if ahead { 0.12 } else { -0.15 };
    mesh.cuboid(stand, v3(x, 0.0, top), unit, f.lamp, f.lamp);
    for place in [-0.33_f32, 0.36] {
        mesh.cuboid(
            stand,
            v3(place * length, 0.0, top),
            v3(0.75, 0.75, 0.05),
            f.lamp,
            f.lamp,
        );
    }
}
