//! Searching a photo: levels, tiles, network, merging.

use crate::detection::{Detection, VehicleClass};
use crate::error::DetectorError;
use crate::input;
use crate::layout::{Candidate, Layout};
use crate::merge;
use crate::model::{Model, ModelInfo};
use crate::oriented_box::{HorizontalBox, OrientedBox};
use crate::overrides::ModelOverrides;
use crate::photo::Photo;
use crate::rgb::{self, RgbImage};
use crate::runtime::EngineOptions;
use crate::scale::{
    self, CAR_LENGTH_M, Keep, LONGEST_VEHICLE_M, Level, ScaleBasis, ScaleChoice, ScalePlan,
    ViewGeometry,
};
use crate::tiles::{self, Span};
use calibration::{Pixel, Radians};
use serde::{Deserialize, Serialize};
use std::fmt;
use std::path::Path;
use std::time::{Duration, Instant};

/// Our own model, built in.
const BUILT_IN: &[u8] = include_bytes!("../models/overlook-vehicles.onnx");

/// A box this close to the photo's edge is cut by it, pixels.
const EDGE_PX: f64 = 1.5;
/// Where the scale is known, a vehicle's box is between these many cars long: the smallest car seen
/// end-on from a low pitch is half a car, an articulated bus four; the rest is for wrong heights.
const PLAUSIBLE_CARS_LONG: std::ops::RangeInclusive<f64> = 0.4..=5.0;
/// Above this resampling factor per car length the photo itself is blurred for the model.
const BLURRED_BELOW: f64 = 0.5;

/// How to search.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct DetectOptions {
    /// Boxes below this are dropped; `None` takes the model's own threshold.
    pub score_threshold: Option<f64>,
    /// Two boxes that overlap more than this (intersection over union) are one vehicle.
    pub max_iou: f64,
    /// Sizes to search at.
    pub scale: ScaleChoice,
    /// Longest side of a tile for models that take any size, pixels.
    pub tile_px: u32,
}

impl Default for DetectOptions {
    fn default() -> Self {
        Self {
            score_threshold: None,
            max_iou: 0.3,
            scale: ScaleChoice::Auto,
            tile_px: 1024,
        }
    }
}

/// Something the user should know about a photo's result.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "kind")]
pub enum Warning {
    /// Height or attitude unknown: several sizes were tried, which is slower and less sure.
    NoView,
    /// Cars are expected outside of the sizes the model works at, even after resampling.
    CarsOutOfRange {
        /// Expected length in the photo, shortest.
        shortest_px: f64,
        /// Expected length in the photo, longest.
        longest_px: f64,
    },
    /// A tile came back with as many boxes as the model can give: some may be missing.
    ModelLimit {
        /// The model's limit per tile.
        limit: usize,
        /// How many tiles hit it.
        tiles: usize,
    },
    /// The model gave boxes without length; they were dropped.
    ImpossibleBoxes {
        /// How many.
        count: usize,
    },
    /// Nothing of the photo shows ground near enough.
    NothingToSearch,
}

impl fmt::Display for Warning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoView => write!(
                f,
                "height or attitude unknown: searched at several sizes, which is slower and less sure"
            ),
            Self::CarsOutOfRange {
                shortest_px,
                longest_px,
            } => write!(
                f,
                "a car is {shortest_px:.0} to {longest_px:.0} px long in this photo; the far ones \
                 are too small for the model"
            ),
            Self::ModelLimit { limit, tiles } => write!(
                f,
                "{tiles} tiles came back with {limit} boxes, the most the model gives: some \
                 vehicles may be missing"
            ),
            Self::ImpossibleBoxes { count } => {
                write!(
                    f,
                    "{count} boxes of the model had sides of no length and were dropped"
                )
            }
            Self::NothingToSearch => {
                write!(f, "no ground near enough is seen: nothing was searched")
            }
        }
    }
}

/// The vehicles of one photo and how they were found.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Detections {
    /// Width of the photo that the boxes refer to, the right way up.
    pub width_px: u32,
    /// Its height.
    pub height_px: u32,
    /// The file's EXIF orientation (1 to 8), already applied; `None` when the caller decoded.
    pub exif_orientation: Option<u8>,
    /// In descending score; ties by x, then y.
    pub detections: Vec<Detection>,
    /// The sizes searched.
    pub plan: ScalePlan,
    /// Tiles run.
    pub tiles: usize,
    /// What to know about it.
    pub warnings: Vec<Warning>,
}

/// A model with an engine, ready for photos.
pub struct Detector {
    model: Model,
    threads: usize,
}

impl Detector {
    /// Our own small model, which is built in.
    ///
    /// # Errors
    /// [`DetectorError`] when no engine runs it.
    pub fn built_in(engine: &EngineOptions) -> Result<Self, DetectorError> {
        Self::from_bytes(BUILT_IN, &ModelOverrides::default(), engine)
    }

    /// A model from its file.
    ///
    /// # Errors
    /// [`DetectorError`] when the file cannot be read, is no model of a known layout, or no engine
    /// runs it.
    pub fn load(
        path: &Path,
        overrides: &ModelOverrides,
        engine: &EngineOptions,
    ) -> Result<Self, DetectorError> {
        Ok(Self::new(Model::load(path, overrides, engine)?, engine))
    }

    /// A model from bytes in memory.
    ///
    /// # Errors
    /// As [`Detector::load`].
    pub fn from_bytes(
        bytes: &[u8],
        overrides: &ModelOverrides,
        engine: &EngineOptions,
    ) -> Result<Self, DetectorError> {
        let model = Model::from_bytes(bytes, None, overrides, engine)?;
        Ok(Self::new(model, engine))
    }

    fn new(model: Model, engine: &EngineOptions) -> Self {
        let threads = engine.threads.unwrap_or_else(|| {
            std::thread::available_parallelism().map_or(1, std::num::NonZeroUsize::get)
        });
        Self { model, threads }
    }

    /// What is loaded and what runs it.
    #[must_use]
    pub fn info(&self) -> &ModelInfo {
        &self.model.info
    }

    /// How much neighbouring tiles share, pixels of the network's input: the longest vehicle fits
    /// in it.
    #[must_use]
    pub fn tile_overlap_px(&self) -> u32 {
        let longest_car_px = self.model.info.car_range.longest_px;
        tiles::overlap_for(LONGEST_VEHICLE_M / CAR_LENGTH_M * longest_car_px)
    }

    /// How long the network takes for one grey tile, its first run (which prepares memory) not
    /// counted. `tile_px` is the tile's side where the model takes any size.
    ///
    /// # Errors
    /// [`DetectorError`] when the model fails.
    pub fn time_one_tile(&mut self, tile_px: u32) -> Result<Duration, DetectorError> {
        let shape = self.model.info.input.shape_for(tile_px, tile_px);
        let values = vec![0.5; shape.iter().product()];
        self.model.run(shape, &values, 1.0)?;
        let started = Instant::now();
        self.model.run(shape, &values, 1.0)?;
        Ok(started.elapsed())
    }

    /// Finds the vehicles of a photo. With `view` the photo is searched at the sizes that height
    /// and attitude predict; without it at several.
    ///
    /// # Errors
    /// [`DetectorError`] when the view belongs to another size of picture, an option is out of
    /// range, or the model fails on a tile.
    pub fn detect(
        &mut self,
        photo: &RgbImage,
        view: Option<&ViewGeometry>,
        options: &DetectOptions,
    ) -> Result<Detections, DetectorError> {
        let size = (photo.width(), photo.height());
        let plan = self.plan(size, view, options)?;
        let picture = Picture {
            image: photo,
            size,
            reduction: 1,
        };
        self.search(&picture, view, options, plan)
    }

    /// Finds the vehicles in a photo file: decodes it the right way up, with no more detail than
    /// the search needs.
    ///
    /// # Errors
    /// As [`Detector::detect`], and when the file cannot be decoded.
    pub fn detect_encoded(
        &mut self,
        bytes: &[u8],
        view: Option<&ViewGeometry>,
        options: &DetectOptions,
    ) -> Result<Detections, DetectorError> {
        let header = Photo::header(bytes)?;
        let plan = self.plan((header.width, header.height), view, options)?;
        let finest = plan.levels.iter().fold(0.0, |finest: f64, level| {
            finest.max(level.factor.0).max(level.factor.1)
        });
        let photo = Photo::decode_for(bytes, finest)?;
        let picture = Picture {
            image: &photo.image,
            size: (photo.width, photo.height),
            reduction: photo.reduction,
        };
        let mut found = self.search(&picture, view, options, plan)?;
        found.exif_orientation = Some(header.exif_orientation);
        Ok(found)
    }

    fn plan(
        &self,
        size: (u32, u32),
        view: Option<&ViewGeometry>,
        options: &DetectOptions,
    ) -> Result<ScalePlan, DetectorError> {
        let info = &self.model.info;
        let input = (
            info.input.width.unwrap_or(options.tile_px),
            info.input.height.unwrap_or(options.tile_px),
        );
        scale::plan(size, view, options.scale, &info.car_range, input)
    }

    fn search(
        &mut self,
        photo: &Picture<'_>,
        view: Option<&ViewGeometry>,
        options: &DetectOptions,
        plan: ScalePlan,
    ) -> Result<Detections, DetectorError> {
        let min_score = self.checked_score(options)?;
        let mut found = Found::default();
        for level in &plan.levels {
            self.search_level(photo, view, level, options, min_score, &mut found)?;
        }
        if found.detections.is_empty() && found.impossible > 0 {
            return Err(DetectorError::ImpossibleBoxes {
                count: found.impossible,
            });
        }
        let warnings = self.warnings(&plan, &found);
        Ok(Detections {
            width_px: photo.size.0,
            height_px: photo.size.1,
            exif_orientation: None,
            detections: merged(found.detections, options.max_iou),
            plan,
            tiles: found.tiles,
            warnings,
        })
    }

    fn checked_score(&self, options: &DetectOptions) -> Result<f64, DetectorError> {
        let score = options
            .score_threshold
            .unwrap_or(self.model.info.score_threshold);
        let checks = [
            ("score threshold", score, 0.0..=1.0, "0 to 1"),
            ("largest overlap", options.max_iou, 0.0..=1.0, "0 to 1"),
            (
                "tile size",
                f64::from(options.tile_px),
                128.0..=8192.0,
                "128 to 8192",
            ),
        ];
        for (option, found, range, expected) in checks {
            if !range.contains(&found) {
                return Err(DetectorError::Option {
                    option,
                    found,
                    expected,
                });
            }
        }
        Ok(score)
    }

    fn search_level(
        &mut self,
        photo: &Picture<'_>,
        view: Option<&ViewGeometry>,
        level: &Level,
        options: &DetectOptions,
        min_score: f64,
        found: &mut Found,
    ) -> Result<(), DetectorError> {
        let reduction = f64::from(photo.reduction);
        let origin = (
            level.region.x1_px / reduction,
            level.region.y1_px / reduction,
        );
        let factor = (level.factor.0 * reduction, level.factor.1 * reduction);
        // Rounding errors of the product must not add a column.
        let scaled_side =
            |length: f64, factor: f64| (length * factor - 1e-6).ceil().max(1.0) as u32;
        let size = (
            scaled_side(level.region.x2_px - level.region.x1_px, level.factor.0),
            scaled_side(level.region.y2_px - level.region.y1_px, level.factor.1),
        );
        let scaled = rgb::resample(photo.image, origin, factor, size, self.threads);
        let input = &self.model.info.input;
        let overlap = self.tile_overlap_px();
        let longest =
            |fixed: Option<u32>| fixed.unwrap_or(options.tile_px.next_multiple_of(input.multiple));
        let columns = tiles::spans(scaled.width(), longest(input.width), overlap);
        let rows = tiles::spans(scaled.height(), longest(input.height), overlap);
        for row in &rows {
            for column in &columns {
                let tile = (column, row);
                let candidates = self.run_tile(&scaled, tile, level.centred, min_score, found)?;
                for candidate in candidates {
                    if let Some(detection) = self.placed(&candidate, tile, level, photo, view) {
                        found.detections.push(detection);
                    }
                }
            }
        }
        Ok(())
    }

    /// Runs the network on one tile; boxes come in pixels of the level.
    fn run_tile(
        &mut self,
        scaled: &RgbImage,
        tile: (&Span, &Span),
        centred: bool,
        min_score: f64,
        found: &mut Found,
    ) -> Result<Vec<Candidate>, DetectorError> {
        let info = &self.model.info;
        let shape = info.input.shape_for(tile.0.length, tile.1.length);
        let size = (shape[3], shape[2]);
        let corner = input::corner_of(tile, size, centred);
        let mut values = Vec::with_capacity(shape.iter().product());
        input::fill(&mut values, scaled, tile, corner, size, &info.normalisation);
        // A batch of fixed size is filled up with zeros.
        values.resize(shape.iter().product(), 0.0);
        let shift = info.pixel_origin.shift_px();
        let (dx, dy) = (
            f64::from(tile.0.start) - f64::from(corner.0) + shift,
            f64::from(tile.1.start) - f64::from(corner.1) + shift,
        );
        let decoded = self.model.run(shape, &values, min_score)?;
        found.tiles += 1;
        found.full_tiles += usize::from(decoded.full);
        found.impossible += decoded.impossible;
        Ok(decoded
            .candidates
            .into_iter()
            .filter_map(|candidate| {
                Some(Candidate {
                    oriented_box: candidate.oriented_box.scaled_and_moved(1.0, dx, dy)?,
                    ..candidate
                })
            })
            .collect())
    }

    /// A tile's box as a detection in the photo; `None` when another tile or level is responsible
    /// for it, or it is no vehicle, or it lies outside the photo.
    fn placed(
        &self,
        candidate: &Candidate,
        (column, row): (&Span, &Span),
        level: &Level,
        photo: &Picture<'_>,
        view: Option<&ViewGeometry>,
    ) -> Option<Detection> {
        let in_level = candidate.oriented_box;
        let centre = in_level.centre();
        let owned = (column.core_from..=column.core_to).contains(&centre.x)
            && (row.core_from..=row.core_to).contains(&centre.y);
        if !owned {
            return None;
        }
        let class = self.class_of(candidate.class)?;
        let oriented_box = in_photo(&in_level, level)?;
        let kept = match level.keep {
            Keep::All => true,
            Keep::LengthBetween {
                shortest_px,
                longest_px,
            } => (shortest_px..=longest_px).contains(&in_level.long_side_px()),
            Keep::CarsBetween {
                shortest_px,
                longest_px,
            } => view?.car_px(oriented_box.centre()).is_some_and(|car| {
                let cars_long = oriented_box.long_side_px() / car;
                (shortest_px..=longest_px).contains(&car)
                    && PLAUSIBLE_CARS_LONG.contains(&cars_long)
            }),
        };
        if !kept {
            return None;
        }
        let hull = oriented_box.hull();
        Some(Detection {
            oriented_box,
            horizontal_box: hull.clipped(photo.size.0, photo.size.1)?,
            class,
            score: candidate.score,
            truncated: is_cut(&hull, photo.size),
            corner_sigma_px: self
                .model
                .info
                .corner_sigma
                .map(|share| share * oriented_box.long_side_px()),
        })
    }

    fn class_of(&self, index: usize) -> Option<VehicleClass> {
        self.model.info.classes.get(index)?.class
    }

    fn warnings(&self, plan: &ScalePlan, found: &Found) -> Vec<Warning> {
        let mut warnings = Vec::new();
        if plan.basis == ScaleBasis::Pyramid {
            warnings.push(Warning::NoView);
        }
        if plan.levels.is_empty() {
            warnings.push(Warning::NothingToSearch);
        }
        if let Some((shortest_px, longest_px)) = plan.expected_car_px {
            let wanted = self.model.info.car_range.shortest_px * BLURRED_BELOW;
            if shortest_px < wanted {
                warnings.push(Warning::CarsOutOfRange {
                    shortest_px,
                    longest_px,
                });
            }
        }
        if let (Layout::Rows { limit: Some(limit) }, 1..) =
            (self.model.info.layout, found.full_tiles)
        {
            warnings.push(Warning::ModelLimit {
                limit,
                tiles: found.full_tiles,
            });
        }
        if found.impossible > 0 {
            warnings.push(Warning::ImpossibleBoxes {
                count: found.impossible,
            });
        }
        warnings
    }
}

/// A photo in memory, perhaps reduced.
struct Picture<'a> {
    image: &'a RgbImage,
    /// Of the whole photo, pixels.
    size: (u32, u32),
    /// Photo pixels per pixel of the image.
    reduction: u32,
}

/// What the tiles gave so far.
#[derive(Default)]
struct Found {
    detections: Vec<Detection>,
    tiles: usize,
    full_tiles: usize,
    impossible: usize,
}

/// A level's box in photo pixels. Where the photo was stretched a rectangle comes back as a
/// parallelogram; it is replaced by the rectangle with the same long axis and area.
fn in_photo(in_level: &OrientedBox, level: &Level) -> Option<OrientedBox> {
    let (fx, fy) = level.factor;
    let (sin, cos) = in_level.angle().get().sin_cos();
    let along = (cos / fx, sin / fy);
    let growth = along.0.hypot(along.1);
    OrientedBox::new(
        Pixel::new(
            in_level.centre().x / fx + level.region.x1_px,
            in_level.centre().y / fy + level.region.y1_px,
        ),
        in_level.long_side_px() * growth,
        in_level.short_side_px() / (fx * fy * growth),
        Radians(along.1.atan2(along.0)),
    )
}

fn is_cut(hull: &HorizontalBox, (width, height): (u32, u32)) -> bool {
    hull.x1_px < EDGE_PX
        || hull.y1_px < EDGE_PX
        || hull.x2_px > f64::from(width) - EDGE_PX
        || hull.y2_px > f64::from(height) - EDGE_PX
}

fn merged(detections: Vec<Detection>, max_iou: f64) -> Vec<Detection> {
    let boxes: Vec<OrientedBox> = detections.iter().map(|d| d.oriented_box).collect();
    let scores: Vec<f64> = detections.iter().map(|d| d.score).collect();
    merge::suppress(&boxes, &scores, max_iou)
        .into_iter()
        .map(|index| detections[index])
        .collect()
}

#[cfg(test)]
mod tests;
