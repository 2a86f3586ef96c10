//! A solver's reconstruction in its own frame, and the reader of COLMAP's binary model.
//!
//! Format: COLMAP's `src/colmap/scene/reconstruction_io_binary.cc`, unchanged from 3.x to 4.x:
//! little endian; `cameras.bin`, `images.bin` (registered images only; quaternion w, x, y, z and
//! translation of `camera_from_world`; names end with NUL; 2D points carry a 3D point id, -1 for
//! none), `points3D.bin`. From 3.12 on `rigs.bin` and `frames.bin` lie beside them and are not
//! needed. COLMAP counts pixels as we do: the first pixel's centre is (0.5, 0.5).

use calibration::frames::{Camera, Solution};
use calibration::{CameraModel, Lens, Pixel, Point, Rigid, Rotation};
use nalgebra::{Quaternion, UnitQuaternion, Vector3};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// One connected reconstruction: cameras, photos and points in a frame of the solver's choice.
#[derive(Clone, Debug, Default)]
pub struct Model {
    /// Intrinsics by the solver's camera id.
    pub cameras: BTreeMap<u32, CameraModel>,
    /// The registered photos, sorted by name.
    pub photos: Vec<ModelPhoto>,
    /// Triangulated points.
    pub points: Vec<ModelPoint>,
}

/// A registered photo.
#[derive(Clone, Debug)]
pub struct ModelPhoto {
    /// The name the solver was given.
    pub name: String,
    /// Key into [`Model::cameras`].
    pub camera_id: u32,
    /// Pose.
    pub camera_from_solution: Rigid<Camera, Solution>,
}

/// A triangulated point and where it was seen.
#[derive(Clone, Debug)]
pub struct ModelPoint {
    /// Position.
    pub point_in_solution: Point<Solution>,
    /// Mean reprojection error, pixels, where the solver computed it.
    pub error_px: Option<f64>,
    /// Observations: index into [`Model::photos`] and the pixel.
    pub track: Vec<(usize, Pixel)>,
}

/// What is wrong with a model on disk.
#[derive(Debug, thiserror::Error)]
pub enum ModelError {
    /// A file of the model cannot be read.
    #[error("cannot read {}: {source}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
    /// A file ends early or says impossible things.
    #[error("{}: {what} at byte {offset}; the solver's model is damaged or of another format", path.display())]
    Malformed {
        /// The file.
        path: PathBuf,
        /// Where.
        offset: usize,
        /// What was found.
        what: String,
    },
}

impl Model {
    /// Reads `cameras.bin`, `images.bin` and `points3D.bin` of a folder and checks that they fit
    /// together: every reference exists, every number is finite, every rotation has length one.
    ///
    /// # Errors
    /// [`ModelError`] naming the file and the byte.
    pub fn read(folder: &Path) -> Result<Self, ModelError> {
        let cameras = read_cameras(&folder.join("cameras.bin"))?;
        let mut images = read_images(&folder.join("images.bin"), &cameras)?;
        images.sort_by(|a, b| a.photo.name.cmp(&b.photo.name));
        let index: BTreeMap<u32, usize> = images
            .iter()
            .enumerate()
            .map(|(idx, image)| (image.id, idx))
            .collect();
        let points = read_points(&folder.join("points3D.bin"), &images, &index)?;
        let photos = images.into_iter().map(|image| image.photo).collect();
        Ok(Self {
            cameras,
            photos,
            points,
        })
    }

    /// Mean observations per point; `None` without points.
    #[must_use]
    pub fn mean_track_length(&self) -> Option<f64> {
        let observations: usize = self.points.iter().map(|p| p.track.len()).sum();
        (!self.points.is_empty()).then(|| observations as f64 / self.points.len() as f64)
    }

    /// Mean reprojection error over points, pixels; `None` without points.
    #[must_use]
    pub fn mean_reprojection_px(&self) -> Option<f64> {
        let errors: Vec<f64> = self.points.iter().filter_map(|p| p.error_px).collect();
        (!errors.is_empty()).then(|| errors.iter().sum::<f64>() / errors.len() as f64)
    }
}

struct Image {
    id: u32,
    photo: ModelPhoto,
    pixels: Vec<Pixel>,
}

/// More of anything in one model than this is damage, not data.
const MAX_COUNT: u64 = 100_000_000;

struct Cursor<'a> {
    path: &'a Path,
    bytes: &'a [u8],
    offset: usize,
}

impl<'a> Cursor<'a> {
    fn malformed(&self, what: impl Into<String>) -> ModelError {
        ModelError::Malformed {
            path: self.path.to_owned(),
            offset: self.offset,
            what: what.into(),
        }
    }

    fn take<const N: usize>(&mut self) -> Result<[u8; N], ModelError> {
        let end = self.offset + N;
        let Some(slice) = self.bytes.get(self.offset..end) else {
            return Err(self.malformed("the file ends too early"));
        };
        let mut array = [0; N];
        array.copy_from_slice(slice);
        self.offset = end;
        Ok(array)
    }

    fn u32(&mut self) -> Result<u32, ModelError> {
        Ok(u32::from_le_bytes(self.take()?))
    }

    fn u64(&mut self) -> Result<u64, ModelError> {
        Ok(u64::from_le_bytes(self.take()?))
    }

    fn f64(&mut self) -> Result<f64, ModelError> {
        let value = f64::from_le_bytes(self.take()?);
        if value.is_finite() {
            Ok(value)
        } else {
            Err(self.malformed(format!("{value}")))
        }
    }

    /// A count of items of at least `item_bytes` each: more than fit in the file is damage.
    fn count(&mut self, item_bytes: usize) -> Result<usize, ModelError> {
        let count = self.u64()?;
        let left = (self.bytes.len() - self.offset) as u64;
        if count > MAX_COUNT || count.saturating_mul(item_bytes as u64) > left {
            return Err(self.malformed(format!("a count of {count} with {left} bytes left")));
        }
        Ok(usize::try_from(count).expect("at most MAX_COUNT"))
    }

    fn name(&mut self) -> Result<String, ModelError> {
        let rest = &self.bytes[self.offset..];
        let Some(length) = rest.iter().position(|&byte| byte == 0) else {
            return Err(self.malformed("a photo name without its end"));
        };
        let name = std::str::from_utf8(&rest[..length])
            .map_err(|_| self.malformed("a photo name that is not UTF-8"))?
            .to_owned();
        self.offset += length + 1;
        Ok(name)
    }

    fn end(&self) -> Result<(), ModelError> {
        if self.offset == self.bytes.len() {
            Ok(())
        } else {
            Err(self.malformed(format!("{} bytes too many", self.bytes.len() - self.offset)))
        }
    }
}

fn with_file<T>(
    path: &Path,
    parse: impl FnOnce(&mut Cursor<'_>) -> Result<T, ModelError>,
) -> Result<T, ModelError> {
    let bytes = std::fs::read(path).map_err(|source| ModelError::Read {
        path: path.to_owned(),
        source,
    })?;
    let mut cursor = Cursor {
        path,
        bytes: &bytes,
        offset: 0,
    };
    let value = parse(&mut cursor)?;
    cursor.end()?;
    Ok(value)
}

fn read_cameras(path: &Path) -> Result<BTreeMap<u32, CameraModel>, ModelError> {
    with_file(path, |cursor| {
        let mut cameras = BTreeMap::new();
        for _ in 0..cursor.count(24)? {
            let id = cursor.u32()?;
            let model = cursor.u32()?;
            let width = cursor.u64()?;
            let height = cursor.u64()?;
            let size = |value: u64| u32::try_from(value).ok().filter(|&v| v > 0);
            let (Some(width), Some(height)) = (size(width), size(height)) else {
                return Err(cursor.malformed(format!("an image of {width} x {height}")));
            };
            cameras.insert(id, read_camera(cursor, model, width, height)?);
        }
        Ok(cameras)
    })
}

/// Camera model ids and parameter orders: COLMAP's `sensor/models.h`.
fn read_camera(
    cursor: &mut Cursor<'_>,
    model: u32,
    width: u32,
    height: u32,
) -> Result<CameraModel, ModelError> {
    let n_params = match model {
        0 => 3,
        1 | 2 => 4,
        3 | 8 | 9 => 5,
        4 | 5 => 8,
        6 => 12,
        _ => return Err(cursor.malformed(format!("camera model {model}, which we cannot read"))),
    };
    let p = (0..n_params)
        .map(|_| cursor.f64())
        .collect::<Result<Vec<_>, _>>()?;
    let brown = |k1, k2, p1, p2, k3| Lens::BrownConrady { k1, k2, p1, p2, k3 };
    let (fx, fy, cx, cy, lens) = match model {
        0 => (p[0], p[0], p[1], p[2], Lens::PINHOLE),
        1 => (p[0], p[1], p[2], p[3], Lens::PINHOLE),
        2 => (p[0], p[0], p[1], p[2], brown(p[3], 0.0, 0.0, 0.0, 0.0)),
        3 => (p[0], p[0], p[1], p[2], brown(p[3], p[4], 0.0, 0.0, 0.0)),
        4 => (p[0], p[1], p[2], p[3], brown(p[4], p[5], p[6], p[7], 0.0)),
        5 => {
            let lens = Lens::Fisheye {
                k1: p[4],
                k2: p[5],
                k3: p[6],
                k4: p[7],
            };
            (p[0], p[1], p[2], p[3], lens)
        }
        6 if p[9..].iter().all(|&k| k == 0.0) => {
            (p[0], p[1], p[2], p[3], brown(p[4], p[5], p[6], p[7], p[8]))
        }
        6 => return Err(cursor.malformed("a FULL_OPENCV camera with k4..k6, which we cannot use")),
        8 => (
            p[0],
            p[0],
            p[1],
            p[2],
            Lens::Fisheye {
                k1: p[3],
                k2: 0.0,
                k3: 0.0,
                k4: 0.0,
            },
        ),
        _ => (
            p[0],
            p[0],
            p[1],
            p[2],
            Lens::Fisheye {
                k1: p[3],
                k2: p[4],
                k3: 0.0,
                k4: 0.0,
            },
        ),
    };
    if fx <= 0.0 || fy <= 0.0 {
        return Err(cursor.malformed(format!("a focal length of {fx} x {fy} px")));
    }
    Ok(CameraModel {
        width,
        height,
        fx,
        fy,
        cx,
        cy,
        lens,
    })
}

fn read_images(
    path: &Path,
    cameras: &BTreeMap<u32, CameraModel>,
) -> Result<Vec<Image>, ModelError> {
    with_file(path, |cursor| {
        let mut images = Vec::new();
        for _ in 0..cursor.count(64)? {
            let id = cursor.u32()?;
            let [w, x, y, z] = [cursor.f64()?, cursor.f64()?, cursor.f64()?, cursor.f64()?];
            let Some(quaternion) = UnitQuaternion::try_new(Quaternion::new(w, x, y, z), 1e-6)
            else {
                return Err(cursor.malformed("a rotation of length zero"));
            };
            let translation = Vector3::new(cursor.f64()?, cursor.f64()?, cursor.f64()?);
            let camera_id = cursor.u32()?;
            let name = cursor.name()?;
            if !cameras.contains_key(&camera_id) {
                return Err(cursor.malformed(format!("photo {name} of unknown camera {camera_id}")));
            }
            let n_pixels = cursor.count(24)?;
            let mut pixels = Vec::with_capacity(n_pixels);
            for _ in 0..n_pixels {
                pixels.push(Pixel::new(cursor.f64()?, cursor.f64()?));
                cursor.u64()?;
            }
            let camera_from_solution =
                Rigid::new(Rotation::from_quaternion(quaternion), translation);
            images.push(Image {
                id,
                photo: ModelPhoto {
                    name,
                    camera_id,
                    camera_from_solution,
                },
                pixels,
            });
        }
        Ok(images)
    })
}

fn read_points(
    path: &Path,
    images: &[Image],
    index: &BTreeMap<u32, usize>,
) -> Result<Vec<ModelPoint>, ModelError> {
    with_file(path, |cursor| {
        let n_points = cursor.count(43)?;
        let mut points = Vec::with_capacity(n_points);
        for _ in 0..n_points {
            cursor.u64()?;
            let point = Point::new(cursor.f64()?, cursor.f64()?, cursor.f64()?);
            cursor.take::<3>()?;
            // COLMAP writes -1 (and some versions NaN) for an error it has not computed.
            let error = f64::from_le_bytes(cursor.take()?);
            let mut track = Vec::new();
            for _ in 0..cursor.count(8)? {
                let (image_id, pixel_idx) = (cursor.u32()?, cursor.u32()?);
                let pixel = index
                    .get(&image_id)
                    .and_then(|&idx| Some((idx, *images[idx].pixels.get(pixel_idx as usize)?)));
                let Some(seen) = pixel else {
                    return Err(cursor.malformed(format!("no feature {pixel_idx} of {image_id}")));
                };
                track.push(seen);
            }
            let error_px = (error.is_finite() && error >= 0.0).then_some(error);
            points.push(ModelPoint {
                point_in_solution: point,
                error_px,
                track,
            });
        }
        Ok(points)
    })
}
