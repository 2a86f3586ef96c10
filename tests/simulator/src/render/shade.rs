//! The light a surface sends to the camera.

use crate::ground::Ground;
use crate::noise::{lattice_unit, octaves, value_noise};
use crate::render::light::Light;
use crate::render::paintwork::{ShellPoint, shell_surfel, wheel_surfel};
use crate::render::shadow::Shadows;
use crate::scene::{Finish, SiteFrame};
use crate::vec3::{V3, lerp, smoothstep, v3};
use crate::vehicles::Vehicle;

/// Surface properties at one point.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Surfel {
    /// Diffuse reflectance, linear.
    pub(crate) albedo: V3,
    /// Mirror reflectance seen straight on.
    pub(crate) f0: f32,
    /// Sharpness of the sun's highlight.
    pub(crate) shine: f32,
    /// Share of metallic flakes: a broad highlight in the paint's own colour.
    pub(crate) flake: f32,
}

impl Surfel {
    fn matte(albedo: V3) -> Self {
        Self {
            albedo,
            f0: 0.0,
            shine: 1.0,
            flake: 0.0,
        }
    }
}

/// A point seen by the camera.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Hit {
    pub(crate) point: V3,
    pub(crate) normal: V3,
    /// The finish's own coordinates.
    pub(crate) local: V3,
    /// Unit vector to the camera.
    pub(crate) to_camera: V3,
    /// Size of the pixel there, square to the view, metres.
    pub(crate) footprint_m: f32,
}

/// What shading needs to know.
pub(crate) struct Shader<'a> {
    pub(crate) light: &'a Light,
    pub(crate) shadows: &'a Shadows,
    pub(crate) ground: &'a Ground,
    pub(crate) site: &'a SiteFrame,
    pub(crate) vehicles: &'a [Vehicle],
}

impl Shader<'_> {
    /// Radiance of the ground at a point, for a footprint.
    pub(crate) fn ground(&self, x: f32, y: f32, footprint_m: f32, to_camera: V3) -> V3 {
        let (u, v) = self.site.site_from_enu(x, y);
        let look = self.ground.look(u, v, footprint_m);
        let sun = self.shadows.sun_on_ground(x, y, footprint_m);
        let sky = self.shadows.sky_on_ground(x, y, footprint_m);
        let light = self.light.sun * (self.light.to_sun.z * sun) + self.light.sky * sky;
        let mut out = look.albedo.times(light);
        if look.gloss > 0.0 {
            let grazing = (1.0 - to_camera.z).max(0.0).powi(5);
            let mirror = (-to_camera).mirrored_at(V3::UP);
            out += self.light.environment(mirror) * (look.gloss * 0.35 * grazing * sky);
        }
        out
    }

    /// Radiance of an object's surface.
    pub(crate) fn surface(&self, finish: &Finish, hit: &Hit) -> V3 {
        if let Finish::Leaf { tint } = *finish {
            return self.leaf(tint, hit);
        }
        let surfel = self.surfel(finish, hit);
        let n = hit.normal;
        let toward_sun = n.dot(self.light.to_sun);
        let sun = if toward_sun > 0.0 && self.light.sun.x > 0.0 {
            self.shadows.sun_on(hit.point, n)
        } else {
            0.0
        };
        // Low down, neighbours and the ground hide sky; under trees the ground map knows.
        let column = lerp(
            self.shadows.sky_on_ground(hit.point.x, hit.point.y, 0.3),
            1.0,
            0.35,
        );
        let open = lerp(0.55, 1.0, smoothstep(0.0, 1.3, hit.point.z))
            * lerp(column, 1.0, smoothstep(0.6, 2.4, hit.point.z));
        let sky = self.light.sky * (open * (0.5 + 0.5 * n.z));
        let bounce = self.light.bounce * ((0.5 - 0.5 * n.z) * lerp(0.4, 1.0, sun) * open);
        let mut out = surfel
            .albedo
            .times(self.light.sun * (toward_sun.max(0.0) * sun) + sky + bounce);
        if surfel.f0 > 0.0 {
            out += self.gloss(&surfel, hit, sun, open);
        }
        out
    }

    fn gloss(&self, surfel: &Surfel, hit: &Hit, sun: f32, open: f32) -> V3 {
        let n = hit.normal;
        let facing = n.dot(hit.to_camera).clamp(0.0, 1.0);
        let fresnel =
            surfel.f0 + (1.0 - surfel.f0) * (1.0 - facing).powi(5) * (surfel.f0 * 18.0).min(1.0);
        let mirror = (-hit.to_camera).mirrored_at(n);
        let mut out = self.light.environment(mirror) * (fresnel * open);
        if sun > 0.0 {
            let half = (hit.to_camera + self.light.to_sun).unit();
            let along = n.dot(half).max(0.0);
            let lobe = along.powf(surfel.shine) * (surfel.shine + 2.0) * 0.02;
            let haze = along.powi(36) * 0.9;
            out += self.light.sun * (sun * fresnel * (lobe + haze));
            if surfel.flake > 0.0 {
                let broad = along.powi(14) * surfel.flake * 0.55;
                out += self.light.sun.times(surfel.albedo) * (sun * broad);
            }
        }
        out
    }

    fn leaf(&self, tint: V3, hit: &Hit) -> V3 {
        let inside = hit.local.z.fract();
        let shade = 0.75
            + 0.5
                * lattice_unit(
                    (hit.local.z * 4096.0) as i32,
                    (hit.normal.x * 800.0) as i32,
                    9,
                );
        let vein = 1.0
            + 0.18
                * value_noise(
                    hit.local.x * 7.0,
                    hit.local.y * 7.0,
                    (hit.local.z * 977.0) as u32,
                );
        let albedo = tint * (shade * vein);
        let toward = hit.normal.dot(self.light.to_sun);
        // Leaves pass light as well as reflect it, and scatter within the crown.
        let wrapped = (0.35 + 0.65 * toward).max(0.0) + 0.25 * (-toward).max(0.0);
        let sun = if self.light.sun.x > 0.0 {
            self.shadows
                .sun_on(hit.point + v3(0.0, 0.0, 0.12), hit.normal * 2.0)
        } else {
            0.0
        };
        let depth = lerp(0.35, 1.1, inside);
        let direct = self.light.sun * (wrapped * lerp(0.10, 1.0, sun) * 1.05);
        let ambient = self.light.sky * ((0.6 + 0.4 * hit.normal.z) * depth * 1.25);
        albedo.times(direct * lerp(0.55, 1.0, inside) + ambient) * 1.3
    }

    fn surfel(&self, finish: &Finish, hit: &Hit) -> Surfel {
        let foot = hit.footprint_m;
        let (u, v, tag) = (hit.local.x, hit.local.y, hit.local.z);
        match *finish {
            Finish::Shell { vehicle } => {
                let at = ShellPoint {
                    s: u,
                    t: v,
                    y: tag,
                    z: hit.point.z,
                    footprint_m: foot,
                };
                shell_surfel(&self.vehicles[vehicle as usize], &at)
            }
            Finish::Wheel { vehicle } => {
                wheel_surfel(&self.vehicles[vehicle as usize].look, u, v, tag)
            }
            Finish::Paint { vehicle } => {
                let look = &self.vehicles[vehicle as usize].look;
                Surfel {
                    albedo: look.paint,
                    f0: 0.05,
                    shine: 400.0,
                    flake: look.metallic,
                }
            }
            Finish::Plain { albedo, gloss } => {
                let n = octaves(
                    hit.point.x + hit.point.z,
                    hit.point.y,
                    1.5,
                    0.02,
                    0.7,
                    foot,
                    3,
                );
                Surfel {
                    albedo: albedo * (1.0 + 0.12 * n),
                    f0: gloss * 0.3,
                    shine: 60.0,
                    flake: 0.0,
                }
            }
            Finish::Wall { color, seed } => wall(color, seed, u, v, tag, foot),
            Finish::BlankWall { color, seed } => Surfel::matte(plaster(color, seed, u, v, foot)),
            Finish::Tiles { color, seed } => tiles(color, seed, u, v, foot),
            Finish::FlatRoof { color, seed } => flat_roof(color, seed, u, v, tag, foot),
            Finish::Corrugated { color, seed } => corrugated(color, seed, u, v, tag, foot),
            Finish::Canvas { color, stripe } => {
                let pick = (u * 2.2).rem_euclid(2.0) < 1.0;
                let n = octaves(u, v, 0.8, 0.05, 0.6, foot, 7);
                Surfel::matte((if pick { color } else { stripe }) * (1.0 + 0.08 * n))
            }
            Finish::Solar => solar(u, v, foot),
            Finish::Glass => Surfel {
                albedo: v3(0.015, 0.02, 0.022),
                f0: 0.07,
                shine: 900.0,
                flake: 0.0,
            },
            Finish::Water => Surfel {
                albedo: v3(0.05, 0.22, 0.28),
                f0: 0.03,
                shine: 300.0,
                flake: 0.0,
            },
            Finish::Planks { color, seed } => planks(color, seed, u, v, tag, foot),
            Finish::Leaf { tint } => Surfel::matte(tint),
        }
    }
}

fn plaster(color: V3, seed: u32, u: f32, v: f32, foot: f32) -> V3 {
    let n = octaves(u, v * 0.6, 4.0, 0.05, 0.65, foot, seed);
    let streaks = octaves(u * 3.0, v * 0.25, 1.5, 0.1, 0.6, foot, seed ^ 5);
    color * (1.0 + 0.07 * n + 0.06 * streaks)
}

const STOREY_M: f32 = 2.9;

fn wall(color: V3, seed: u32, u: f32, v: f32, tag: f32, foot: f32) -> Surfel {
    let column_width = 2.4 + (seed % 7) as f32 * 0.2;
    let (column, storey) = ((u / column_width).floor(), (v / STOREY_M).floor());
    let (x, y) = (u - (column + 0.5) * column_width, v - storey * STOREY_M);
    let here = lattice_unit(column as i32 + 40 * tag as i32, storey as i32, seed);
    let half = 0.45 + 0.25 * (seed % 3) as f32 * 0.5;
    let window = here > 0.22 && x.abs() < half && (0.9..2.25).contains(&y);
    if window {
        let rim = x.abs() > half - 0.07 || !(0.97..=2.18).contains(&y) || x.abs() < 0.03;
        if rim && foot < 0.3 {
            return Surfel::matte(V3::splat(0.5));
        }
        let blind = here > 0.8;
        let albedo = if blind {
            V3::splat(0.25)
        } else {
            v3(0.02, 0.024, 0.028)
        };
        return Surfel {
            albedo,
            f0: 0.08,
            shine: 900.0,
            flake: 0.0,
        };
    }
    let mut albedo = plaster(color, seed, u, v, foot);
    if color.x > color.z * 1.7 && foot < 0.08 {
        // Brick courses.
        let course = (v / 0.075).rem_euclid(1.0);
        albedo = albedo * if course < 0.16 { 1.25 } else { 1.0 };
    }
    if v < 0.5 {
        albedo = albedo * 0.6;
    }
    Surfel::matte(albedo)
}

fn tiles(color: V3, seed: u32, u: f32, v: f32, foot: f32) -> Surfel {
    let (row, column) = ((v / 0.34).floor(), (u / 0.24).floor());
    let each = lattice_unit(column as i32, row as i32, seed) - 0.5;
    let fade = smoothstep(0.30, 0.08, foot);
    let course = (v / 0.34 - row).min(0.22) / 0.22;
    let curve = ((u / 0.24) * std::f32::consts::TAU).sin();
    let old = octaves(u, v, 5.0, 0.3, 0.7, foot, seed ^ 1);
    let moss = smoothstep(
        0.5,
        1.0,
        octaves(u * 0.7, v, 2.5, 0.15, 0.7, foot, seed ^ 2),
    );
    let value = 1.0 + 0.16 * old + fade * (0.35 * each + 0.12 * curve - 0.35 * (1.0 - course));
    let albedo = (color * value.max(0.2)).mix(v3(0.06, 0.07, 0.035), 0.45 * moss);
    Surfel {
        albedo,
        f0: 0.015,
        shine: 12.0,
        flake: 0.0,
    }
}

fn flat_roof(color: V3, seed: u32, u: f32, v: f32, tag: f32, foot: f32) -> Surfel {
    if tag < 3.5 {
        return Surfel::matte(plaster(color, seed, u, v, foot));
    }
    let n = octaves(u, v, 11.0, 0.3, 0.72, foot, seed);
    let grit = octaves(u, v, 0.25, 0.02, 0.9, foot, seed ^ 3);
    let edge = (u / 1.05)
        .rem_euclid(1.0)
        .min(1.0 - (u / 1.05).rem_euclid(1.0))
        * 1.05;
    let seam =
        (1.0 - edge / 0.03_f32.max(foot * 0.5)).clamp(0.0, 1.0) * (0.03 / 0.03_f32.max(foot * 0.5));
    let pond = smoothstep(
        0.45,
        0.9,
        octaves(u + 50.0, v, 6.0, 0.5, 0.6, foot, seed ^ 4),
    );
    let value = 1.0 + 0.15 * n + 0.12 * grit - 0.25 * seam - 0.28 * pond;
    Surfel {
        albedo: color * value.max(0.2),
        f0: 0.01,
        shine: 10.0,
        flake: 0.0,
    }
}

fn corrugated(color: V3, seed: u32, u: f32, v: f32, tag: f32, foot: f32) -> Surfel {
    let ribs = if foot < 0.12 {
        0.16 * (u * 22.0).sin()
    } else {
        0.0
    };
    let rust = smoothstep(0.62, 1.0, octaves(u, v, 1.8, 0.04, 0.75, foot, seed));
    let n = octaves(u, v, 3.0, 0.2, 0.6, foot, seed ^ 1);
    let ribs = if tag > 3.5 { ribs * 0.6 } else { ribs };
    let albedo = (color * (1.0 + ribs + 0.1 * n)).mix(v3(0.16, 0.07, 0.035), 0.7 * rust);
    Surfel {
        albedo,
        f0: 0.03,
        shine: 40.0,
        flake: 0.0,
    }
}

fn solar(u: f32, v: f32, foot: f32) -> Surfel {
    let (x, y) = ((u / 1.0).rem_euclid(1.0), (v / 1.65).rem_euclid(1.0));
    let frame = !(0.035..=0.965).contains(&x) || !(0.02..=0.98).contains(&y);
    if frame && foot < 0.15 {
        return Surfel {
            albedo: V3::splat(0.3),
            f0: 0.05,
            shine: 100.0,
            flake: 0.0,
        };
    }
    let cell = ((u * 6.2).sin().abs() < 0.09 || (v * 6.2).sin().abs() < 0.09) && foot < 0.05;
    let albedo = if cell {
        v3(0.05, 0.06, 0.09)
    } else {
        v3(0.010, 0.014, 0.034)
    };
    Surfel {
        albedo,
        f0: 0.05,
        shine: 800.0,
        flake: 0.0,
    }
}

fn planks(color: V3, seed: u32, u: f32, v: f32, tag: f32, foot: f32) -> Surfel {
    let across = if tag > 3.5 { v } else { u };
    let board = (across / 0.13).floor();
    let each = lattice_unit(board as i32, tag as i32, seed) - 0.5;
    let gap = (across / 0.13 - board < 0.09) && foot < 0.06;
    let grain = octaves(u * 2.0, v * 2.0, 0.8, 0.05, 0.7, foot, seed);
    let value = 1.0 + 0.3 * each * smoothstep(0.2, 0.05, foot) + 0.12 * grain;
    Surfel::matte(color * if gap { 0.25 } else { value })
}
