//! At which sizes a photo is searched: every model has a size of car it sees best, so the photo is
//! resampled until cars have that size, per band of distance on oblique photos.

mod turned;

use crate::error::DetectorError;
use crate::oriented_box::HorizontalBox;
use calibration::frames::{Camera, Enu};
use calibration::{CameraModel, Direction, Metres, Pixel, Point, Rotation};
use nalgebra::Vector3;
use serde::{Deserialize, Serialize};

/// The car that sizes are quoted for, metres.
pub const CAR_LENGTH_M: f64 = 4.5;
/// The longest vehicle that must not be cut by a tile: a city bus with some to spare, metres.
pub(crate) const LONGEST_VEHICLE_M: f64 = 13.0;
/// Cars shorter than this in the photo itself are not there to be found, pixels.
const SMALLEST_CAR_PX: f64 = 10.0;
/// Enlarging shows nothing new; beyond this it only costs.
const MAX_FACTOR: f64 = 2.5;
/// Each band may hold cars from this much below to above the best size.
const WIDEST_BAND: f64 = 1.7;
/// Boxes of neighbouring bands are kept this far into each other; merging removes the doubles.
const BAND_OVERLAP: f64 = 1.12;
/// A pyramid step without knowledge of the scale.
const PYRAMID_STEP: f64 = 2.0;
/// The pyramid starts where a car of this share of the photo's longer side is just long enough: from
/// 150 m with a usual lens a car is twice as long, and finer levels cost four times as much each.
const SMALLEST_CAR_SHARE: f64 = 0.01;
/// The pyramid ends when the photo's longer side is shorter than this many car lengths: no photo
/// of a site is that close.
const SHORTEST_SIDE_IN_CARS: f64 = 8.0;
/// Samples along the photo's longer side when the distances are looked up.
const GRID: u32 = 64;

/// Where a photo was taken from, as far as scale is concerned.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ViewGeometry {
    /// The camera, for the photo's own size.
    pub camera: CameraModel,
    /// Its attitude.
    pub camera_from_enu: Rotation<Camera, Enu>,
    /// How far the ground, taken as level, lies below the camera.
    pub height_above_ground: Metres,
}

impl ViewGeometry {
    /// Length in the photo of a car that stands on the ground at this pixel, across the line of
    /// sight, pixels. `None` above the horizon and outside the lens's field.
    #[must_use]
    pub fn car_px(&self, pixel: Pixel) -> Option<f64> {
        let enu_from_camera = self.camera_from_enu.inverse();
        let ray = enu_from_camera * self.camera.ray_from_pixel(pixel)?;
        let range = self.height_above_ground.get() / -ray.z();
        if !(range.is_finite() && range > 0.0) {
            return None;
        }
        // Level and across the view; at the nadir any level direction is.
        let across = Vector3::new(ray.y(), -ray.x(), 0.0)
            .try_normalize(1e-9)
            .unwrap_or(Vector3::x());
        let end = |sign: f64| {
            let point = ray.vector * range + across * (sign * CAR_LENGTH_M / 2.0);
            let in_camera = self.camera_from_enu * Direction::from_vector(point);
            self.camera
                .pixel_from_camera(Point::from_vector(in_camera.vector))
        };
        let (a, b) = (end(-1.0)?, end(1.0)?);
        Some((a.x - b.x).hypot(a.y - b.y))
    }
}

/// How the sizes to search at are chosen.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ScaleChoice {
    /// From the view's geometry; a pyramid without it.
    #[default]
    Auto,
    /// The whole photo scaled by this factor.
    Factor(f64),
    /// The whole photo in one run, as frameworks do it by default; small cars of large photos are
    /// lost that way.
    WholePhoto(Fit),
}

/// How a whole photo is brought to the network's size.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Fit {
    /// Same scale along both axes, centred, the rest padded with grey.
    Letterbox,
    /// Stretched to fill it.
    Stretch,
}

/// Where the sizes came from: say so to the user, since a pyramid is slower and less sure.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ScaleBasis {
    /// Height and attitude of the camera were known.
    View,
    /// Nothing was known: several sizes were tried.
    Pyramid,
    /// The caller gave the factor.
    Given,
}

/// Lengths of a car in the network's input between which a model works, pixels.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct CarRange {
    /// Where it works best.
    pub best_px: f64,
    /// The shortest.
    pub shortest_px: f64,
    /// The longest.
    pub longest_px: f64,
}

impl CarRange {
    /// Whether the three lengths are positive and in order.
    pub(crate) fn is_usable(&self) -> bool {
        self.shortest_px > 0.0
            && self.shortest_px <= self.best_px
            && self.best_px <= self.longest_px
            && self.longest_px.is_finite()
    }
}

impl Default for CarRange {
    /// Measured for the oriented YOLO nano models on real 4K photos.
    fn default() -> Self {
        Self {
            best_px: 36.0,
            shortest_px: 14.0,
            longest_px: 60.0,
        }
    }
}

/// One size at which a part of the photo is searched.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Level {
    /// Network pixels per photo pixel along x and y.
    pub factor: (f64, f64),
    /// The part of the photo, whole pixels.
    pub region: HorizontalBox,
    /// What is kept of the boxes found here.
    pub keep: Keep,
    /// Whether the picture lies in the middle of a larger input rather than in its first corner.
    pub centred: bool,
}

impl Level {
    fn new(factor: f64, region: HorizontalBox, keep: Keep) -> Self {
        Self {
            factor: (factor, factor),
            region,
            keep,
            centred: false,
        }
    }
}

/// Which boxes of a level count.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Keep {
    /// All.
    All,
    /// Those whose centre lies where a car is this long in the photo.
    CarsBetween {
        /// Shortest, photo pixels.
        shortest_px: f64,
        /// Longest, photo pixels.
        longest_px: f64,
    },
    /// Those that are themselves this long in the network's input.
    LengthBetween {
        /// Shortest, network pixels.
        shortest_px: f64,
        /// Longest, network pixels.
        longest_px: f64,
    },
}

/// All levels of a photo.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ScalePlan {
    /// Where the sizes came from.
    pub basis: ScaleBasis,
    /// What to search.
    pub levels: Vec<Level>,
    /// Cars between these lengths are expected in the photo, photo pixels; unknown without a view.
    pub expected_car_px: Option<(f64, f64)>,
    /// Share of the photo that is left out: sky, and ground too far away to show cars.
    pub skipped_share: f64,
}

/// Chooses the levels for a photo of the given size; `input` is the network's size, or what to
/// take for it where it is free.
pub(crate) fn plan(
    size: (u32, u32),
    view: Option<&ViewGeometry>,
    choice: ScaleChoice,
    range: &CarRange,
    input: (u32, u32),
) -> Result<ScalePlan, DetectorError> {
    match (choice, view) {
        (ScaleChoice::Factor(factor), _) => {
            if !(1e-3..=16.0).contains(&factor) {
                return Err(DetectorError::Option {
                    option: "scale factor",
                    found: factor,
                    expected: "0.001 to 16",
                });
            }
            Ok(given(Level::new(factor, whole(size), Keep::All)))
        }
        (ScaleChoice::WholePhoto(fit), _) => Ok(given(whole_photo(size, fit, input))),
        (ScaleChoice::Auto, Some(view)) => {
            let camera = (view.camera.width, view.camera.height);
            if camera != size {
                return Err(DetectorError::ViewOfAnotherSize {
                    camera_width: camera.0,
                    camera_height: camera.1,
                    width: size.0,
                    height: size.1,
                });
            }
            Ok(from_view(size, view, range))
        }
        (ScaleChoice::Auto, None) => Ok(pyramid(size, range)),
    }
}

fn whole(size: (u32, u32)) -> HorizontalBox {
    HorizontalBox {
        x1_px: 0.0,
        y1_px: 0.0,
        x2_px: f64::from(size.0),
        y2_px: f64::from(size.1),
    }
}

fn given(level: Level) -> ScalePlan {
    ScalePlan {
        basis: ScaleBasis::Given,
        levels: vec![level],
        expected_car_px: None,
        skipped_share: 0.0,
    }
}

fn whole_photo(size: (u32, u32), fit: Fit, input: (u32, u32)) -> Level {
    let x = f64::from(input.0) / f64::from(size.0);
    let y = f64::from(input.1) / f64::from(size.1);
    let factor = match fit {
        Fit::Letterbox => (x.min(y), x.min(y)),
        Fit::Stretch => (x, y),
    };
    Level {
        factor,
        region: whole(size),
        keep: Keep::All,
        centred: true,
    }
}

/// Halves from full size (or what is enough) down, each level trusted only for boxes of the sizes the model is good at.
fn pyramid(size: (u32, u32), range: &CarRange) -> ScalePlan {
    let longer = f64::from(size.0.max(size.1));
    let first = (range.shortest_px / (SMALLEST_CAR_SHARE * longer)).min(1.0);
    let mut factors = vec![first];
    loop {
        let next = factors[factors.len() - 1] / PYRAMID_STEP;
        if longer * next < SHORTEST_SIDE_IN_CARS * range.best_px {
            break;
        }
        factors.push(next);
    }
    let half_step = PYRAMID_STEP.sqrt() * BAND_OVERLAP;
    let levels = factors
        .iter()
        .enumerate()
        .map(|(index, &factor)| {
            let keep = Keep::LengthBetween {
                // Nothing is larger than full size for small cars, nor smaller than the last level
                // for large ones.
                shortest_px: if index == 0 {
                    0.0
                } else {
                    range.best_px / half_step
                },
                longest_px: if index + 1 == factors.len() {
                    f64::MAX
                } else {
                    range.best_px * half_step * LONGEST_VEHICLE_M / CAR_LENGTH_M
                },
            };
            Level::new(factor, whole(size), keep)
        })
        .collect();
    ScalePlan {
        basis: ScaleBasis::Pyramid,
        levels,
        expected_car_px: None,
        skipped_share: 0.0,
    }
}

/// Length of a car at the middle of each cell of a coarse grid over the photo.
struct Sampled {
    cells: Vec<(HorizontalBox, f64)>,
    skipped_share: f64,
}

fn sample(size: (u32, u32), view: &ViewGeometry) -> Sampled {
    let step = f64::from(size.0.max(size.1).div_ceil(GRID).max(1));
    let (width, height) = (f64::from(size.0), f64::from(size.1));
    let (mut cells, mut skipped) = (Vec::new(), 0.0);
    let mut y = 0.0;
    while y < height {
        let mut x = 0.0;
        while x < width {
            let cell = HorizontalBox {
                x1_px: x,
                y1_px: y,
                x2_px: (x + step).min(width),
                y2_px: (y + step).min(height),
            };
            let middle = Pixel::new(
                (cell.x1_px + cell.x2_px) / 2.0,
                (cell.y1_px + cell.y2_px) / 2.0,
            );
            match view.car_px(middle).filter(|&car| car >= SMALLEST_CAR_PX) {
                Some(car) => cells.push((cell, car)),
                None => skipped += cell.area(),
            }
            x += step;
        }
        y += step;
    }
    Sampled {
        cells,
        skipped_share: skipped / (width * height),
    }
}

fn from_view(size: (u32, u32), view: &ViewGeometry, range: &CarRange) -> ScalePlan {
    let sampled = sample(size, view);
    let shortest = sampled.cells.iter().map(|c| c.1).fold(f64::MAX, f64::min);
    let longest = sampled.cells.iter().map(|c| c.1).fold(0.0, f64::max);
    if sampled.cells.is_empty() {
        return ScalePlan {
            basis: ScaleBasis::View,
            levels: Vec::new(),
            expected_car_px: None,
            skipped_share: 1.0,
        };
    }
    let widest = WIDEST_BAND.min(range.longest_px / range.shortest_px);
    let bands = ((longest / shortest).ln() / widest.ln()).ceil().max(1.0);
    let step = (longest / shortest).powf(1.0 / bands);
    let levels = (0..bands as i32)
        .filter_map(|band| {
            let from = shortest * step.powi(band) / BAND_OVERLAP;
            let to = shortest * step.powi(band + 1) * BAND_OVERLAP;
            let factor = (range.best_px / (from * to).sqrt()).min(MAX_FACTOR);
            let region = region_of(&sampled.cells, from, to, size)?;
            let keep = Keep::CarsBetween {
                shortest_px: from,
                longest_px: to,
            };
            Some(Level::new(factor, region, keep))
        })
        .collect();
    ScalePlan {
        basis: ScaleBasis::View,
        levels,
        expected_car_px: Some((shortest, longest)),
        skipped_share: sampled.skipped_share,
    }
}

/// The rectangle around all cells of a band, wide enough for vehicles on its rim.
fn region_of(
    cells: &[(HorizontalBox, f64)],
    from: f64,
    to: f64,
    size: (u32, u32),
) -> Option<HorizontalBox> {
    let margin = to * LONGEST_VEHICLE_M / CAR_LENGTH_M / 2.0;
    let hull = cells
        .iter()
        .filter(|(_, car)| (from..=to).contains(car))
        .map(|(cell, _)| *cell)
        .reduce(|a, b| HorizontalBox {
            x1_px: a.x1_px.min(b.x1_px),
            y1_px: a.y1_px.min(b.y1_px),
            x2_px: a.x2_px.max(b.x2_px),
            y2_px: a.y2_px.max(b.y2_px),
        })?;
    HorizontalBox {
        x1_px: (hull.x1_px - margin).floor(),
        y1_px: (hull.y1_px - margin).floor(),
        x2_px: (hull.x2_px + margin).ceil(),
        y2_px: (hull.y2_px + margin).ceil(),
    }
    .clipped(size.0, size.1)
}

#[cfg(test)]
mod tests;
