//! The renderer: a stage built once for a world, then pictures of it from any camera.

use crate::camera::{Camera, Intrinsics};
use crate::photo::jpeg::Picture;
use crate::scene::foliage::{MASK_SIDE, N_MASKS, leaf_masks};
use crate::scene::{Finish, Scene, SiteFrame, build};
use crate::site::World;
use crate::vec3::{V3, v3};
use light::Light;
use nalgebra::Vector2;
use raster::{Projector, SAMPLES, SampleBuffer};
use rayon::prelude::*;
use shade::{Hit, Shader};
use shadow::Shadows;

pub use film::Film;
use film::{Exposure, develop};

mod film;
mod light;
mod paintwork;
pub(crate) mod raster;
mod shade;
mod shadow;

/// A world ready to be photographed: meshes, shadow maps and light.
#[derive(Debug)]
pub struct Stage<'w> {
    world: &'w World,
    pub(crate) scene: Scene,
    pub(crate) masks: [[u32; MASK_SIDE]; N_MASKS],
    shadows: Shadows,
    light: Light,
    site: SiteFrame,
}

/// Directions of all pixels' centres in the camera frame, scaled to z = 1; the same for all
/// photos of one lens.
#[derive(Debug)]
pub struct RayTable {
    intrinsics: Intrinsics,
    rays: Vec<(f32, f32)>,
}

impl RayTable {
    /// Undistorts every pixel.
    #[must_use]
    pub fn new(intrinsics: &Intrinsics) -> Self {
        let width = intrinsics.width_px as usize;
        let rays = (0..intrinsics.height_px as usize)
            .into_par_iter()
            .flat_map_iter(|y| {
                (0..width).map(move |x| {
                    let pixel = Vector2::new(x as f64 + 0.5, y as f64 + 0.5);
                    let ray = intrinsics.ray_from_pixel(&pixel);
                    (ray.x as f32, ray.y as f32)
                })
            })
            .collect();
        Self {
            intrinsics: *intrinsics,
            rays,
        }
    }
}

/// What came out of one exposure.
#[derive(Debug)]
pub struct Photograph {
    /// The picture.
    pub picture: Picture,
    /// For each vehicle of the world the samples on which it is seen.
    pub(crate) samples: SampleBuffer,
}

/// Samples a pixel.
const N_SAMPLES: usize = SAMPLES * SAMPLES;

/// Steps along the line of sight into which a ground pixel seen at a slant is cut.
fn ground_steps(stretch: f32) -> usize {
    match stretch {
        s if s < 1.6 => 1,
        s if s < 3.2 => 2,
        s if s < 6.0 => 3,
        _ => 4,
    }
}

impl<'w> Stage<'w> {
    /// Meshes and maps of a world; takes a second or two.
    #[must_use]
    pub fn build(world: &'w World) -> Self {
        let masks = leaf_masks();
        let scene = build(world);
        let light = Light::new(world);
        let shadows = Shadows::new(&scene, &masks, light.to_sun);
        Self {
            world,
            scene,
            masks,
            shadows,
            light,
            site: SiteFrame::new(world.heading),
        }
    }

    /// The world.
    #[must_use]
    pub fn world(&self) -> &'w World {
        self.world
    }

    /// Takes a photo. The table must be of the camera's lens.
    #[must_use]
    pub fn photograph(&self, camera: &Camera, rays: &RayTable, film: &Film) -> Photograph {
        debug_assert_eq!(rays.intrinsics, camera.intrinsics);
        let projector = Projector::new(camera);
        let samples = SampleBuffer::draw(&self.scene, &self.masks, camera, &projector);
        let exposure = self.expose(camera, rays, &samples);
        Photograph {
            picture: develop(&exposure, film),
            samples,
        }
    }

    fn expose(&self, camera: &Camera, rays: &RayTable, samples: &SampleBuffer) -> Exposure {
        let lens = &camera.intrinsics;
        let (width, height) = (lens.width_px as usize, lens.height_px as usize);
        let eye = Eye::new(camera);
        let shader = Shader {
            light: &self.light,
            shadows: &self.shadows,
            ground: &self.world.ground,
            site: &self.site,
            vehicles: &self.world.vehicles,
        };
        let mut light = vec![V3::ZERO; width * height];
        for (y, line) in light.chunks_mut(width).enumerate() {
            for (x, out) in line.iter_mut().enumerate() {
                let ray = rays.rays[y * width + x];
                *out = self.pixel(&eye, &shader, samples, (x, y), ray);
            }
        }
        Exposure {
            width,
            height,
            light,
        }
    }

    /// Mean over a pixel's samples; each triangle in it is shaded once, but vehicle shells, whose
    /// glass and lamps have edges within triangles, at every sample.
    fn pixel(
        &self,
        eye: &Eye,
        shader: &Shader,
        samples: &SampleBuffer,
        (x, y): (usize, usize),
        ray: (f32, f32),
    ) -> V3 {
        let numbers: [u32; N_SAMPLES] = std::array::from_fn(|k| {
            let (column, row) = (x * SAMPLES + k % SAMPLES, y * SAMPLES + k / SAMPLES);
            samples.triangle[row * samples.width + column]
        });
        let mut color = V3::ZERO;
        let mut done = [false; N_SAMPLES];
        for k in 0..N_SAMPLES {
            if done[k] {
                continue;
            }
            let number = numbers[k];
            let alone = number > 0 && self.is_shell(number as usize - 1);
            let (mut n, mut dx, mut dy) = (0.0_f32, 0.0, 0.0);
            for m in k..N_SAMPLES {
                if numbers[m] == number && (m == k || !alone) {
                    done[m] = true;
                    n += 1.0;
                    dx += ((m % SAMPLES) as f32 + 0.5) / SAMPLES as f32 - 0.5;
                    dy += ((m / SAMPLES) as f32 + 0.5) / SAMPLES as f32 - 0.5;
                }
            }
            let ray = (ray.0 + dx / n * eye.pixel, ray.1 + dy / n * eye.pixel);
            let seen = if number == 0 {
                self.background(eye, shader, ray)
            } else {
                self.surface(eye, shader, ray, number as usize - 1)
            };
            color += seen * (n / N_SAMPLES as f32);
        }
        color
    }

    fn is_shell(&self, triangle: usize) -> bool {
        let finish = usize::from(self.scene.mesh.triangles[triangle].finish);
        matches!(self.scene.finishes[finish], Finish::Shell { .. })
    }

    fn background(&self, eye: &Eye, shader: &Shader, ray: (f32, f32)) -> V3 {
        let d = eye.direction(ray);
        let length = d.length();
        if d.z > -1e-3 * length {
            return self
                .light
                .through_air(self.light.environment(d * (1.0 / length)), 30_000.0);
        }
        let depth = -eye.center.z / d.z;
        let distance = depth * length;
        let across = depth * eye.pixel;
        let stretch = length / -d.z;
        let n = ground_steps(stretch);
        let along = across * stretch;
        let footprint = across.max(along / n as f32);
        let flat = (d.x * d.x + d.y * d.y).sqrt().max(1e-6);
        let (ux, uy) = (d.x / flat, d.y / flat);
        let (gx, gy) = (eye.center.x + depth * d.x, eye.center.y + depth * d.y);
        let to_camera = d * (-1.0 / length);
        let mut color = V3::ZERO;
        for k in 0..n {
            let step = along * ((k as f32 + 0.5) / n as f32 - 0.5);
            color += shader.ground(gx + ux * step, gy + uy * step, footprint, to_camera);
        }
        self.light.through_air(color * (1.0 / n as f32), distance)
    }

    fn surface(&self, eye: &Eye, shader: &Shader, ray: (f32, f32), number: usize) -> V3 {
        let triangle = &self.scene.mesh.triangles[number];
        let [a, b, c] = triangle
            .corners
            .map(|k| &self.scene.mesh.vertices[k as usize]);
        let d = eye.direction(ray);
        let (e1, e2) = (b.position - a.position, c.position - a.position);
        let plane = e1.cross(e2);
        let slope = plane.dot(d);
        let from = eye.center - a.position;
        // Edge-on triangles are taken at their first corner.
        let depth = if slope.abs() > 1e-9 {
            -plane.dot(from) / slope
        } else {
            from.length()
        };
        let q = from + d * depth;
        let area = plane.dot(plane).max(1e-18);
        let u = (q.cross(e2).dot(plane) / area).clamp(0.0, 1.0);
        let v = (e1.cross(q).dot(plane) / area).clamp(0.0, 1.0 - u);
        let w = 1.0 - u - v;
        let point = a.position * w + b.position * u + c.position * v;
        let length = d.length();
        let to_camera = d * (-1.0 / length);
        let normal = (a.normal * w + b.normal * u + c.normal * v).unit();
        let hit = Hit {
            point,
            normal,
            local: a.local * w + b.local * u + c.local * v,
            to_camera,
            footprint_m: (point - eye.center).length() / length * eye.pixel,
        };
        let color = shader.surface(&self.scene.finishes[usize::from(triangle.finish)], &hit);
        self.light.through_air(color, (point - eye.center).length())
    }
}

/// The camera in single precision.
struct Eye {
    center: V3,
    /// Camera axes in east-north-up.
    right: V3,
    down: V3,
    forward: V3,
    /// Size of a pixel at distance one.
    pixel: f32,
}

impl Eye {
    fn new(camera: &Camera) -> Self {
        let m = camera.camera_from_enu.rotation.to_rotation_matrix();
        let row = |i: usize| v3(m[(i, 0)] as f32, m[(i, 1)] as f32, m[(i, 2)] as f32);
        let c = camera.camera_from_enu.center_in_enu();
        Self {
            center: v3(c.x as f32, c.y as f32, c.z as f32),
            right: row(0),
            down: row(1),
            forward: row(2),
            pixel: (1.0 / camera.intrinsics.fx_px) as f32,
        }
    }

    fn direction(&self, ray: (f32, f32)) -> V3 {
        self.right * ray.0 + self.down * ray.1 + self.forward
    }
}

/// One picture of a world, for a caller that needs no second one.
#[must_use]
pub fn render(world: &World, camera: &Camera) -> Picture {
    let stage = Stage::build(world);
    let rays = RayTable::new(&camera.intrinsics);
    stage
        .photograph(camera, &rays, &Film::draw(world.seed, "single"))
        .picture
}
