//! COLMAP's binary models (`src/colmap/scene/reconstruction_io_binary.cc`), made from truth with
//! the faults that a script asks for.

use super::database::Camera;
use super::script::{Damage, Model};
use crate::world::{IntrinsicsTruth, normal};
use nalgebra::{Matrix3, Rotation3, UnitQuaternion, Vector2, Vector3};
use rand_chacha::ChaCha8Rng;
use rand_core::{RngCore, SeedableRng};
use std::fs;
use std::path::Path;

/// A photo to be put into a model.
#[derive(Clone, Debug)]
pub(super) struct Posed {
    pub(super) image_id: u32,
    pub(super) name: String,
    pub(super) camera_id: u32,
    /// True, or what the pictures show to be true.
    pub(super) camera_from_enu: UnitQuaternion<f64>,
    /// True, metres.
    pub(super) centre: Vector3<f64>,
    pub(super) intrinsics: IntrinsicsTruth,
}

/// A point and who sees it: index of the photo, index among its pixels.
struct Point {
    place: Vector3<f64>,
    track: Vec<(usize, usize)>,
}

/// Errors of pixels (one sigma).
const PIXEL_SIGMA: f64 = 0.03;
/// More photos a point tell nothing more.
const MAX_TRACK: usize = 12;
/// Points reach so far beyond the cameras, metres.
const MARGIN_M: f64 = 20.0;

/// Writes a model of `photos` into a folder.
pub(super) fn write(
    folder: &Path,
    script: &Model,
    photos: &[Posed],
    cameras: &[Camera],
    seed: u64,
) {
    fs::create_dir_all(folder).expect("the output folder can be written");
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let (points, pixels) = see(photos, script.n_points, &mut rng);
    let world = World::of(script, photos);
    let mut moved: Vec<Posed> = photos.to_vec();
    for photo in &mut moved {
        world.move_photo(photo, &mut rng);
    }
    let pixels: Vec<Vec<(Vector2<f64>, u64)>> = pixels
        .into_iter()
        .zip(photos)
        .map(|(pixels, photo)| {
            let flip = |pixel: Vector2<f64>| {
                let width = f64::from(photo.intrinsics.width_px);
                if script.is_mirrored || script.is_upside_down {
                    Vector2::new(width - pixel.x, pixel.y)
                } else {
                    pixel
                }
            };
            pixels.into_iter().map(|(p, id)| (flip(p), id)).collect()
        })
        .collect();
    let mut files = [
        ("cameras.bin", cameras_file(cameras)),
        ("images.bin", images_file(&moved, &pixels)),
        ("points3D.bin", points_file(&points, &moved, &world)),
    ];
    if let Some(damage) = script.damage {
        harm(&mut files, damage, &moved);
    }
    for (name, bytes) in files {
        if !(script.damage == Some(Damage::Missing) && name == "points3D.bin") {
            fs::write(folder.join(name), bytes).expect("the output folder can be written");
        }
    }
}

/// Points on the ground and on vehicles, and the pixels at which each photo sees which.
#[allow(clippy::type_complexity, reason = "pixels with point ids, per photo")]
fn see(
    photos: &[Posed],
    n_points: usize,
    rng: &mut ChaCha8Rng,
) -> (Vec<Point>, Vec<Vec<(Vector2<f64>, u64)>>) {
    let mut pixels: Vec<Vec<(Vector2<f64>, u64)>> = vec![Vec::new(); photos.len()];
    let mut points: Vec<Point> = Vec::new();
    let low = photos
        .iter()
        .fold(Vector3::repeat(f64::MAX), |low, p| low.inf(&p.centre));
    let high = photos
        .iter()
        .fold(Vector3::repeat(f64::MIN), |high, p| high.sup(&p.centre));
    for _ in 0..n_points {
        let mut between = |low: f64, high: f64| {
            let unit = (rng.next_u64() >> 11) as f64 / (1_u64 << 53) as f64;
            low - MARGIN_M + (high - low + 2.0 * MARGIN_M) * unit
        };
        let (east, north) = (between(low.x, high.x), between(low.y, high.y));
        // One point in eight lies on something as high as a car.
        let up = if rng.next_u32().is_multiple_of(8) {
            1.4
        } else {
            0.0
        };
        let place = Vector3::new(east, north, up);
        let seen: Vec<(usize, Vector2<f64>)> = photos
            .iter()
            .enumerate()
            .filter_map(|(idx, photo)| Some((idx, pixel_of(photo, &place)?)))
            .take(MAX_TRACK)
            .collect();
        if seen.len() < 2 {
            continue;
        }
        let id = points.len() as u64 + 1;
        let track = seen.into_iter().map(|(idx, pixel)| {
            let wobble = Vector2::new(normal(rng), normal(rng)) * PIXEL_SIGMA;
            pixels[idx].push((pixel + wobble, id));
            (idx, pixels[idx].len() - 1)
        });
        let track = track.collect();
        points.push(Point { place, track });
    }
    (points, pixels)
}

/// Where a photo sees a place, if it is in the frame.
fn pixel_of(photo: &Posed, place: &Vector3<f64>) -> Option<Vector2<f64>> {
    let in_camera = photo.camera_from_enu * (place - photo.centre);
    if in_camera.z < 1.0 {
        return None;
    }
    let lens = photo.intrinsics;
    let pixel = in_camera.xy() / in_camera.z * lens.fx_px + Vector2::new(lens.cx_px, lens.cy_px);
    let size = Vector2::new(f64::from(lens.width_px), f64::from(lens.height_px));
    let is_inside = pixel.x > 0.0 && pixel.y > 0.0 && pixel.x < size.x && pixel.y < size.y;
    is_inside.then_some(pixel)
}

/// The solver's frame and its faults.
struct World<'a> {
    script: &'a Model,
    /// True heights are mirrored at this one, or stretched from it.
    pivot_m: f64,
    solution_from_enu: Rotation3<f64>,
}

impl<'a> World<'a> {
    fn of(script: &'a Model, photos: &[Posed]) -> Self {
        let heights: f64 = photos.iter().map(|photo| photo.centre.z).sum();
        let turn = Vector3::from(script.turn_deg.map(f64::to_radians));
        Self {
            script,
            pivot_m: heights / photos.len().max(1) as f64,
            solution_from_enu: Rotation3::from_scaled_axis(turn),
        }
    }

    /// Exchanges left and right, or up and down, of a place.
    fn mirror(&self) -> Matrix3<f64> {
        let mut signs = Vector3::repeat(1.0);
        if self.script.is_mirrored {
            signs.x = -1.0;
        } else if self.script.is_upside_down {
            signs.z = -1.0;
        }
        Matrix3::from_diagonal(&signs)
    }

    fn solution_from_enu(&self, place: &Vector3<f64>) -> Vector3<f64> {
        let pivot = Vector3::new(0.0, 0.0, self.pivot_m);
        let mirrored = self.mirror() * (place - pivot);
        self.solution_from_enu * mirrored * self.script.scale + Vector3::new(1.0, -2.0, 3.0)
    }

    fn point(&self, place: &Vector3<f64>) -> Vector3<f64> {
        let mut deep = *place;
        deep.z = self.pivot_m - (self.pivot_m - place.z) * self.script.focal_factor;
        self.solution_from_enu(&deep)
    }

    fn move_photo(&self, photo: &mut Posed, rng: &mut ChaCha8Rng) {
        let mut noise = |size: f64| Vector3::from_fn(|_, _| size * normal(rng));
        let script = self.script;
        if script.is_scrambled {
            photo.centre = noise(20.0);
            photo.camera_from_enu = UnitQuaternion::from_scaled_axis(noise(3.0));
        }
        let place = photo.centre + noise(script.noise_m);
        photo.centre = self.solution_from_enu(&place);
        let mirror = self.mirror();
        // A mirrored world is seen by mirrored cameras: x to the left, so that turns stay turns.
        let flip = Matrix3::from_diagonal(&Vector3::new(mirror.determinant(), 1.0, 1.0));
        let camera = flip * photo.camera_from_enu.to_rotation_matrix().matrix() * mirror;
        let camera = Rotation3::from_matrix_unchecked(camera);
        let camera = UnitQuaternion::from_rotation_matrix(&camera);
        let wobble = UnitQuaternion::from_scaled_axis(noise(script.noise_deg.to_radians()));
        let solution = UnitQuaternion::from_rotation_matrix(&self.solution_from_enu);
        photo.camera_from_enu = wobble * camera * solution.inverse();
    }
}

fn cameras_file(cameras: &[Camera]) -> Vec<u8> {
    let mut bytes = (cameras.len() as u64).to_le_bytes().to_vec();
    for camera in cameras {
        bytes.extend(camera.id.to_le_bytes());
        bytes.extend(camera.model.to_le_bytes());
        for side in camera.size_px {
            bytes.extend(u64::from(side).to_le_bytes());
        }
        for value in &camera.parameters {
            bytes.extend(value.to_le_bytes());
        }
    }
    bytes
}

fn images_file(photos: &[Posed], pixels: &[Vec<(Vector2<f64>, u64)>]) -> Vec<u8> {
    let mut bytes = (photos.len() as u64).to_le_bytes().to_vec();
    for (photo, pixels) in photos.iter().zip(pixels) {
        bytes.extend(photo.image_id.to_le_bytes());
        let q = photo.camera_from_enu;
        let translation = q * -photo.centre;
        for value in [q.w, q.i, q.j, q.k].iter().chain(translation.iter()) {
            bytes.extend(value.to_le_bytes());
        }
        bytes.extend(photo.camera_id.to_le_bytes());
        bytes.extend(photo.name.as_bytes());
        bytes.push(0);
        bytes.extend((pixels.len() as u64).to_le_bytes());
        for (pixel, point_id) in pixels {
            bytes.extend(pixel.x.to_le_bytes());
            bytes.extend(pixel.y.to_le_bytes());
            bytes.extend(point_id.to_le_bytes());
        }
    }
    bytes
}

fn points_file(points: &[Point], photos: &[Posed], world: &World<'_>) -> Vec<u8> {
    let mut bytes = (points.len() as u64).to_le_bytes().to_vec();
    for (idx, point) in points.iter().enumerate() {
        bytes.extend((idx as u64 + 1).to_le_bytes());
        for value in world.point(&point.place).iter() {
            bytes.extend(value.to_le_bytes());
        }
        bytes.extend([90, 90, 90]);
        bytes.extend(0.5_f64.to_le_bytes());
        bytes.extend((point.track.len() as u64).to_le_bytes());
        for &(photo, pixel) in &point.track {
            bytes.extend(photos[photo].image_id.to_le_bytes());
            bytes.extend((pixel as u32).to_le_bytes());
        }
    }
    bytes
}

/// Where the first photo's numbers begin in `images.bin`: after the count and its id.
const FIRST_NUMBER: usize = 12;

fn harm(files: &mut [(&str, Vec<u8>)], damage: Damage, photos: &[Posed]) {
    let file = |files: &mut [(&str, Vec<u8>)], name: &str| {
        let found = files.iter_mut().position(|(known, _)| *known == name);
        found.expect("the three files of a model")
    };
    let images = file(files, "images.bin");
    let images = &mut files[images].1;
    match damage {
        Damage::CutShort => images.truncate(images.len() / 2),
        Damage::NotANumber => {
            images[FIRST_NUMBER..FIRST_NUMBER + 8].copy_from_slice(&f64::NAN.to_le_bytes());
        }
        Damage::StrangePhoto => {
            let name = photos[0].name.as_bytes();
            let at = images.windows(name.len()).position(|part| part == name);
            images[at.expect("the first photo's name")] = b'x';
        }
        Damage::EndlessCount => {
            let cameras = file(files, "cameras.bin");
            files[cameras].1[..8].copy_from_slice(&u64::MAX.to_le_bytes());
        }
        Damage::Missing => {}
    }
}
