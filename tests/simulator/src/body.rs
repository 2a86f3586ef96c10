//! Vehicle bodies: cross-sections lofted along the length, wheels, mirrors, beds and boxes.
//!
//! The shell's local coordinates are `(s, t, y)`: `s` from 0 at the front bumper to 1 at the
//! rear, `t` around the section (0 sill, 5 foot of the side glass, 7 roof edge, 10 middle of the
//! roof), `y` metres to the left. Shading finds glass, lights and joints by them, so their edges
//! are sharp whatever the mesh.

use crate::mesh::{Mesh, Stand};
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

/// Longitudinal shape: places along the length (0 front, 1 rear) and heights as shares of the
/// vehicle's height.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Profile {
    top: &'static [(f32, f32)],
    /// Foot of the windscreen.
    pub(crate) cowl: f32,
    /// Top of the windscreen.
    pub(crate) screen_top: f32,
    /// Rear end of the roof.
    pub(crate) roof_end: f32,
    /// Foot of the rear window.
    pub(crate) glass_end: f32,
    belt_front: f32,
    belt_rear: f32,
    roof_half_width: f32,
    clearance_m: f32,
    /// Axles.
    pub(crate) axles: [f32; 2],
    pub(crate) wheel_radius_m: f32,
    /// Pillars between side windows.
    pub(crate) pillars: &'static [f32],
}

const HATCHBACK: Profile = Profile {
    top: &[
        (0.0, 0.34),
        (0.008, 0.44),
        (0.03, 0.53),
        (0.07, 0.585),
        (0.15, 0.63),
        (0.235, 0.665),
        (0.32, 0.80),
        (0.405, 0.935),
        (0.46, 0.975),
        (0.56, 1.0),
        (0.70, 0.99),
        (0.80, 0.955),
        (0.87, 0.86),
        (0.945, 0.70),
        (0.975, 0.62),
        (0.992, 0.50),
        (1.0, 0.36),
    ],
    cowl: 0.235,
    screen_top: 0.41,
    roof_end: 0.81,
    glass_end: 0.94,
    belt_front: 0.64,
    belt_rear: 0.69,
    roof_half_width: 0.70,
    clearance_m: 0.16,
    axles: [0.20, 0.82],
    wheel_radius_m: 0.31,
    pillars: &[0.56, 0.73],
};
const SALOON: Profile = Profile {
    top: &[
        (0.0, 0.34),
        (0.008, 0.43),
        (0.03, 0.52),
        (0.07, 0.575),
        (0.17, 0.63),
        (0.27, 0.665),
        (0.35, 0.80),
        (0.425, 0.94),
        (0.47, 0.98),
        (0.55, 1.0),
        (0.64, 0.98),
        (0.705, 0.93),
        (0.78, 0.82),
        (0.855, 0.725),
        (0.92, 0.71),
        (0.965, 0.685),
        (0.99, 0.55),
        (1.0, 0.38),
    ],
    cowl: 0.27,
    screen_top: 0.43,
    roof_end: 0.70,
    glass_end: 0.85,
    belt_front: 0.64,
    belt_rear: 0.69,
    roof_half_width: 0.69,
    clearance_m: 0.15,
    axles: [0.19, 0.79],
    wheel_radius_m: 0.325,
    pillars: &[0.54, 0.68],
};
const ESTATE: Profile = Profile {
    top: &[
        (0.0, 0.34),
        (0.008, 0.43),
        (0.03, 0.52),
        (0.07, 0.57),
        (0.16, 0.62),
        (0.26, 0.655),
        (0.34, 0.79),
        (0.41, 0.92),
        (0.46, 0.965),
        (0.56, 1.0),
        (0.75, 0.99),
        (0.88, 0.95),
        (0.925, 0.86),
        (0.965, 0.70),
        (0.982, 0.60),
        (0.994, 0.48),
        (1.0, 0.36),
    ],
    cowl: 0.26,
    screen_top: 0.415,
    roof_end: 0.885,
    glass_end: 0.962,
    belt_front: 0.63,
    belt_rear: 0.68,
    roof_half_width: 0.70,
    clearance_m: 0.15,
    axles: [0.19, 0.79],
    wheel_radius_m: 0.325,
    pillars: &[0.54, 0.69, 0.80],
};
const SUV: Profile = Profile {
    top: &[
        (0.0, 0.36),
        (0.006, 0.48),
        (0.022, 0.575),
        (0.06, 0.63),
        (0.15, 0.665),
        (0.245, 0.69),
        (0.32, 0.81),
        (0.39, 0.925),
        (0.44, 0.97),
        (0.55, 1.0),
        (0.74, 0.99),
        (0.86, 0.955),
        (0.91, 0.86),
        (0.958, 0.70),
        (0.978, 0.60),
        (0.993, 0.48),
        (1.0, 0.36),
    ],
    cowl: 0.245,
    screen_top: 0.40,
    roof_end: 0.865,
    glass_end: 0.95,
    belt_front: 0.655,
    belt_rear: 0.70,
    roof_half_width: 0.72,
    clearance_m: 0.21,
    axles: [0.19, 0.80],
    wheel_radius_m: 0.365,
    pillars: &[0.54, 0.70],
};
const MPV: Profile = Profile {
    top: &[
        (0.0, 0.33),
        (0.008, 0.43),
        (0.03, 0.51),
        (0.09, 0.575),
        (0.185, 0.63),
        (0.27, 0.78),
        (0.35, 0.92),
        (0.41, 0.97),
        (0.55, 1.0),
        (0.78, 0.985),
        (0.90, 0.945),
        (0.94, 0.84),
        (0.968, 0.68),
        (0.984, 0.57),
        (0.995, 0.46),
        (1.0, 0.34),
    ],
    cowl: 0.19,
    screen_top: 0.36,
    roof_end: 0.905,
    glass_end: 0.963,
    belt_front: 0.60,
    belt_rear: 0.64,
    roof_half_width: 0.74,
    clearance_m: 0.16,
    axles: [0.19, 0.81],
    wheel_radius_m: 0.325,
    pillars: &[0.50, 0.68, 0.82],
};
const VAN: Profile = Profile {
    top: &[
        (0.0, 0.24),
        (0.006, 0.33),
        (0.025, 0.40),
        (0.08, 0.46),
        (0.15, 0.515),
        (0.20, 0.70),
        (0.245, 0.89),
        (0.285, 0.96),
        (0.36, 0.99),
        (0.5, 1.0),
        (0.85, 0.995),
        (0.965, 0.98),
        (0.984, 0.93),
        (0.992, 0.70),
        (0.997, 0.48),
        (1.0, 0.26),
    ],
    cowl: 0.15,
    screen_top: 0.26,
    roof_end: 0.972,
    glass_end: 0.993,
    belt_front: 0.50,
    belt_rear: 0.50,
    roof_half_width: 0.83,
    clearance_m: 0.19,
    axles: [0.175, 0.79],
    wheel_radius_m: 0.34,
    pillars: &[0.33, 0.55, 0.77],
};
const PICKUP: Profile = Profile {
    top: &[
        (0.0, 0.36),
        (0.006, 0.47),
        (0.022, 0.56),
        (0.06, 0.605),
        (0.15, 0.64),
        (0.235, 0.665),
        (0.29, 0.80),
        (0.345, 0.93),
        (0.39, 0.98),
        (0.46, 1.0),
        (0.55, 0.985),
        (0.585, 0.93),
        (0.605, 0.78),
        (0.622, 0.645),
        (0.66, 0.635),
        (0.97, 0.635),
        (0.992, 0.60),
        (1.0, 0.40),
    ],
    cowl: 0.235,
    screen_top: 0.35,
    roof_end: 0.58,
    glass_end: 0.615,
    belt_front: 0.635,
    belt_rear: 0.645,
    roof_half_width: 0.73,
    clearance_m: 0.23,
    axles: [0.175, 0.785],
    wheel_radius_m: 0.38,
    pillars: &[0.47],
};
const BUS: Profile = Profile {
    top: &[
        (0.0, 0.20),
        (0.002, 0.40),
        (0.006, 0.62),
        (0.018, 0.88),
        (0.035, 0.945),
        (0.06, 0.965),
        (0.15, 0.97),
        (0.5, 0.97),
        (0.95, 0.965),
        (0.985, 0.93),
        (0.993, 0.70),
        (0.998, 0.45),
        (1.0, 0.22),
    ],
    cowl: 0.003,
    screen_top: 0.02,
    roof_end: 0.975,
    glass_end: 0.992,
    belt_front: 0.45,
    belt_rear: 0.45,
    roof_half_width: 0.92,
    clearance_m: 0.25,
    axles: [0.22, 0.74],
    wheel_radius_m: 0.48,
    pillars: &[0.12, 0.27, 0.42, 0.57, 0.72, 0.87],
};
/// The cab of a truck, as a shell of its own whose length is a share of the truck's.
const CAB: Profile = Profile {
    top: &[
        (0.0, 0.25),
        (0.01, 0.42),
        (0.05, 0.52),
        (0.12, 0.72),
        (0.22, 0.93),
        (0.34, 0.99),
        (0.6, 1.0),
        (0.95, 0.98),
        (0.985, 0.90),
        (1.0, 0.35),
    ],
    cowl: 0.05,
    screen_top: 0.24,
    roof_end: 0.96,
    glass_end: 0.99,
    belt_front: 0.50,
    belt_rear: 0.50,
    roof_half_width: 0.84,
    clearance_m: 0.30,
    axles: [0.45, 3.2],
    wheel_radius_m: 0.42,
    pillars: &[0.80],
};
const CAB_LENGTH_SHARE: f32 = 0.28;
const CAB_HEIGHT_SHARE: f32 = 0.74;

/// Half width along the length, as a share of the full half width.
const PLAN: [(f32, f32); 12] = [
    (0.0, 0.70),
    (0.006, 0.80),
    (0.02, 0.885),
    (0.05, 0.945),
    (0.12, 0.985),
    (0.22, 1.0),
    (0.78, 1.0),
    (0.90, 0.98),
    (0.955, 0.94),
    (0.985, 0.865),
    (0.995, 0.80),
    (1.0, 0.74),
];
const PLAN_BOXY: [(f32, f32); 8] = [
    (0.0, 0.82),
    (0.004, 0.90),
    (0.015, 0.96),
    (0.04, 0.99),
    (0.10, 1.0),
    (0.97, 1.0),
    (0.992, 0.975),
    (1.0, 0.93),
];

impl Body {
    pub(crate) fn profile(self) -> &'static Profile {
        match self {
            Self::Hatchback => &HATCHBACK,
            Self::Saloon => &SALOON,
            Self::Estate => &ESTATE,
            Self::Suv => &SUV,
            Self::Mpv => &MPV,
            Self::Van => &VAN,
            Self::Pickup => &PICKUP,
            Self::Truck => &CAB,
            Self::Bus => &BUS,
        }
    }

    fn plan(self) -> &'static [(f32, f32)] {
        if matches!(self, Self::Van | Self::Truck | Self::Bus) {
            &PLAN_BOXY
        } else {
            &PLAN
        }
    }
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

fn mirrors(mesh: &mut Mesh, stand: &Stand, x: f32, z: f32, half_width: f32, finish: u16) {
    for side in [-1.0_f32, 1.0] {
        let center = v3(x, side * (half_width + 0.06), z);
        mesh.ellipsoid(stand, center, v3(0.075, 0.105, 0.07), finish);
    }
}

fn pickup_bed(
    mesh: &mut Mesh,
    stand: &Stand,
    front_x: f32,
    length: f32,
    half_width: f32,
    height: f32,
    f: &BodyFinishes,
) {
    let (x0, x1) = (front_x - 0.645 * length, front_x - 0.965 * length);
    let (half, rim, floor) = (half_width * 0.90, 0.625 * height, 0.40 * height);
    let p = |x: f32, y: f32, z: f32| stand.point(v3(x, y, z));
    let d = |x: f32, y: f32, z: f32| stand.direction(v3(x, y, z));
    let up = v3(0.0, 0.0, rim - floor);
    let long = x0 - x1;
    mesh.panel(
        p(x1, -half, floor),
        d(long, 0.0, 0.0),
        d(0.0, 2.0 * half, 0.0),
        (0.0, 0.0),
        4.0,
        f.trim,
    );
    mesh.panel(
        p(x1, half, floor),
        d(long, 0.0, 0.0),
        up,
        (0.0, 0.0),
        3.0,
        f.trim,
    );
    mesh.panel(
        p(x0, -half, floor),
        d(-long, 0.0, 0.0),
        up,
        (0.0, 0.0),
        1.0,
        f.trim,
    );
    mesh.panel(
        p(x0, half, floor),
        d(0.0, -2.0 * half, 0.0),
        up,
        (0.0, 0.0),
        2.0,
        f.trim,
    );
    mesh.panel(
        p(x1, -half, floor),
        d(0.0, 2.0 * half, 0.0),
        up,
        (0.0, 0.0),
        0.0,
        f.paint,
    );
    // The rim around the opening.
    let edge = half_width * 0.99 - half;
    for side in [-1.0_f32, 1.0] {
        let y = if side > 0.0 { half } else { -half - edge };
        mesh.panel(
            p(x1, y, rim + 0.012),
            d(long, 0.0, 0.0),
            d(0.0, edge, 0.0),
            (0.0, 0.0),
            4.0,
            f.paint,
        );
    }
}

/// The whole vehicle on level ground at its place. Returns how many of the first vertices belong
/// to the body proper (mirrors come after them and are left out of boxes and sizes).
pub(crate) fn add_vehicle(mesh: &mut Mesh, vehicle: &Vehicle, finishes: &BodyFinishes) -> usize {
    let [length, width, height] = vehicle.size_m().map(|v| v as f32);
    let heading = (90.0 - vehicle.front_azimuth_deg).to_radians() as f32;
    let [east, north] = vehicle.center_in_enu.map(|v| v as f32);
    let stand = Stand::new(east, north, 0.0, heading);
    let body = vehicle.model.body;
    let profile = body.profile();
    let half_width = width / 2.0;
    let front_x = length / 2.0;
    let (shell_length, shell_height) = if body == Body::Truck {
        (length * CAB_LENGTH_SHARE, height * CAB_HEIGHT_SHARE)
    } else {
        (length, height)
    };
    let open_top = (body == Body::Pickup && !vehicle.look.covered_bed).then_some((0.64, 0.975));
    let shell = Shell {
        profile,
        plan: body.plan(),
        front_x,
        length: shell_length,
        half_width: if body == Body::Truck {
            half_width * 0.95
        } else {
            half_width
        },
        height: shell_height,
        open_top,
    };
    shell.add(mesh, &stand, finishes.shell);
    let axle_xs = profile.axles.map(|a| front_x - a * shell_length);
    match body {
        Body::Truck => truck_box(mesh, &stand, length, half_width, height, finishes),
        Body::Bus => bus_roof(mesh, &stand, length, half_width, height, vehicle, finishes),
        Body::Pickup if open_top.is_some() => {
            pickup_bed(mesh, &stand, front_x, length, half_width, height, finishes);
        }
        _ => {}
    }
    wheels(
        mesh,
        &stand,
        &axle_xs,
        profile.wheel_radius_m,
        half_width,
        finishes.wheel,
    );
    if vehicle.look.roof_box && !body.is_large() {
        let center = v3(front_x - 0.60 * length, 0.25 * half_width, height - 0.03);
        mesh.ellipsoid(&stand, center, v3(0.85, 0.36, 0.20), finishes.trim);
    }
    let body_vertices = mesh.vertices.len();
    let mirror_x = front_x - (profile.cowl + 0.045) * shell_length;
    let mirror_z = (profile.belt_front + 0.05) * shell_height;
    mirrors(
        mesh,
        &stand,
        mirror_x,
        mirror_z,
        shell.half_width,
        finishes.paint,
    );
    body_vertices
}

fn truck_box(
    mesh: &mut Mesh,
    stand: &Stand,
    length: f32,
    half_width: f32,
    height: f32,
    f: &BodyFinishes,
) {
    let box_length = length * (1.0 - CAB_LENGTH_SHARE) - 0.12;
    let floor = 0.95;
    let center = v3(-length / 2.0 + box_length / 2.0, 0.0, floor);
    mesh.cuboid(
        stand,
        center,
        v3(box_length, 2.0 * half_width, height - floor),
        f.cargo,
        f.cargo,
    );
    let chassis = v3(-0.1, 0.0, 0.45);
    mesh.cuboid(
        stand,
        chassis,
        v3(length * 0.92, half_width * 1.1, 0.5),
        f.trim,
        f.trim,
    );
}

fn bus_roof(
    mesh: &mut Mesh,
    stand: &Stand,
    length: f32,
    half_width: f32,
    height: f32,
    vehicle: &Vehicle,
    f: &BodyFinishes,
) {
    let top = height * 0.965;
    let unit = v3(2.4, half_width * 1.3, height - top);
    let shift = if vehicle.look.sunroof { 0.12 } else { -0.15 };
    mesh.cuboid(stand, v3(shift * length, 0.0, top), unit, f.cargo, f.cargo);
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
