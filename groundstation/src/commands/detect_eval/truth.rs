//! Truth as others write it: the simulator, COCO, and folders of label files.

use calibration::{Pixel, Radians};
use clap::ValueEnum;
use console::InputError;
use detector::{
    DetectionsLine, EvaluatedPhoto, HorizontalBox, OrientedBox, TruthBox, VehicleClass,
};
use serde::Deserialize;
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// Seen less than this, a vehicle need not be found; less than the second, it is not there.
const VISIBLE_ENOUGH: f64 = 0.5;
const BARELY_VISIBLE: f64 = 0.02;
/// Vehicles with a shorter side below this need not be found, pixels: the benchmark's own rule.
const SHORTEST_SIDE_PX: f64 = 12.0;
/// Corners up to here are shares of the picture's sides (a cut vehicle may reach beyond 1).
const LARGEST_SHARE: f64 = 2.0;
/// The schema of the simulator's truth that this version reads.
const SIMULATOR_SCHEMA: &str = "truth/1";

/// How a truth is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum TruthFormat {
    /// truth.json of `simulator render`.
    Simulator,
    /// COCO annotations; oriented where the segmentation has four corners.
    Coco,
    /// A folder of text files: four corners, class, difficult.
    Dota,
    /// A folder of text files: class, four corners (shares of the sides, or pixels).
    YoloObb,
}

/// A photo's truth.
#[derive(Clone, Debug)]
pub(super) struct TruthPhoto {
    pub(super) name: String,
    pub(super) vehicles: Vec<TrueVehicle>,
    pub(super) height_m: Option<f64>,
    pub(super) downward_pitch_deg: Option<f64>,
}

/// One vehicle as a file has it.
#[derive(Clone, Debug)]
pub(super) struct TrueVehicle {
    shape: Shape,
    ignored: bool,
}

#[derive(Clone, Debug)]
enum Shape {
    /// Both boxes in pixels.
    Both(OrientedBox, HorizontalBox),
    /// An upright box in pixels.
    Upright(HorizontalBox),
    /// Four corners in pixels.
    Corners([Pixel; 4]),
    /// Four corners as shares of the picture's sides.
    Shares([Pixel; 4]),
}

impl TruthPhoto {
    /// Joined with what was found in it.
    pub(super) fn with_detections(self, line: &DetectionsLine) -> anyhow::Result<EvaluatedPhoto> {
        let size = (line.found.width_px, line.found.height_px);
        let truth = self
            .vehicles
            .into_iter()
            .map(|vehicle| {
                vehicle.in_photo(size).ok_or_else(|| {
                    InputError(format!("{}: a box without length", self.name)).into()
                })
            })
            .collect::<anyhow::Result<Vec<Option<TruthBox>>>>()?;
        Ok(EvaluatedPhoto {
            detections: line.found.detections.clone(),
            truth: truth.into_iter().flatten().collect(),
            height_m: self.height_m,
            downward_pitch_deg: self.downward_pitch_deg,
        })
    }
}

impl TrueVehicle {
    /// In pixels of a photo of this size; `Some(None)` when it lies outside, `None` when it is no
    /// box.
    fn in_photo(self, (width, height): (u32, u32)) -> Option<Option<TruthBox>> {
        let (oriented_box, horizontal_box) = match self.shape {
            Shape::Both(oriented, upright) => (Some(oriented), Some(upright)),
            Shape::Upright(upright) => (None, upright.clipped(width, height)),
            Shape::Corners(corners) => {
                let oriented = from_corners(&corners)?;
                (Some(oriented), oriented.hull().clipped(width, height))
            }
            Shape::Shares(corners) => {
                let (width_px, height_px) = (f64::from(width), f64::from(height));
                let corners = corners.map(|c| Pixel::new(c.x * width_px, c.y * height_px));
                let oriented = from_corners(&corners)?;
                (Some(oriented), oriented.hull().clipped(width, height))
            }
        };
        Some(horizontal_box.map(|horizontal_box| TruthBox {
            oriented_box,
            horizontal_box,
            ignored: self.ignored,
        }))
    }
}

/// The rectangle with the corners' centre, mean side lengths and first side's direction.
fn from_corners(corners: &[Pixel; 4]) -> Option<OrientedBox> {
    let mean = |values: [f64; 4]| values.iter().sum::<f64>() / 4.0;
    let side = |from: usize, to: usize| {
        let (a, b) = (corners[from], corners[to]);
        (b.x - a.x, b.y - a.y)
    };
    // Opposite sides run the other way.
    let (first, third) = (side(0, 1), side(3, 2));
    let along = ((first.0 + third.0) / 2.0, (first.1 + third.1) / 2.0);
    let (second, fourth) = (side(1, 2), side(0, 3));
    let across = ((second.0 + fourth.0) / 2.0, (second.1 + fourth.1) / 2.0);
    OrientedBox::new(
        Pixel::new(mean(corners.map(|c| c.x)), mean(corners.map(|c| c.y))),
        along.0.hypot(along.1),
        across.0.hypot(across.1),
        Radians(along.1.atan2(along.0)),
    )
}

/// Reads one truth.
///
/// # Errors
/// [`InputError`] naming the file, what was found and what is expected.
pub(super) fn read(
    path: &Path,
    format: Option<TruthFormat>,
    ignored_classes: &[String],
) -> anyhow::Result<Vec<TruthPhoto>> {
    let fault = |what: String| InputError(format!("{}: {what}", path.display()));
    if path.is_dir() {
        return match format {
            None | Some(TruthFormat::Dota | TruthFormat::YoloObb) => {
                read_labels(path, format, ignored_classes)
            }
            Some(_) => Err(fault("a folder; expected a JSON file".to_owned()).into()),
        };
    }
    let text = std::fs::read_to_string(path).map_err(|error| fault(error.to_string()))?;
    let value: Value = serde_json::from_str(&text).map_err(|error| fault(error.to_string()))?;
    let format = match format {
        Some(format) => format,
        None if value.get("annotations").is_some() => TruthFormat::Coco,
        None if value.get("views").is_some() => TruthFormat::Simulator,
        None => {
            let expected = "neither a simulator's truth nor COCO (no views, no annotations)";
            return Err(fault(expected.to_owned()).into());
        }
    };
    let read = match format {
        TruthFormat::Simulator => simulator(value),
        TruthFormat::Coco => coco(value, ignored_classes),
        TruthFormat::Dota | TruthFormat::YoloObb => {
            Err("a file; expected a folder of text files".to_owned())
        }
    };
    read.map_err(|what| fault(what).into())
}

#[derive(Deserialize)]
struct SimulatorTruth {
    schema: String,
    photos: Vec<SimulatorPhoto>,
    views: Vec<SimulatorView>,
}

#[derive(Deserialize)]
struct SimulatorPhoto {
    file: String,
    center_in_enu_m: [f64; 3],
    pitch_deg: f64,
}

#[derive(Deserialize)]
struct SimulatorView {
    photo: String,
    visible_fraction: f64,
    oriented_box: [f64; 5],
    /// `None` where nothing of the vehicle is seen.
    horizontal_box: Option<[f64; 4]>,
}

fn simulator(value: Value) -> Result<Vec<TruthPhoto>, String> {
    let truth: SimulatorTruth = serde_json::from_value(value).map_err(|error| error.to_string())?;
    if truth.schema != SIMULATOR_SCHEMA {
        let found = truth.schema;
        return Err(format!(
            "its schema is {found}; this version reads {SIMULATOR_SCHEMA}"
        ));
    }
    let mut vehicles: BTreeMap<String, Vec<TrueVehicle>> = BTreeMap::new();
    for view in truth.views {
        let seen = view.visible_fraction >= BARELY_VISIBLE;
        let Some([x1_px, y1_px, x2_px, y2_px]) = view.horizontal_box.filter(|_| seen) else {
            continue;
        };
        let [x, y, long, short, degrees] = view.oriented_box;
        let angle = Radians::from_degrees(degrees);
        let oriented = OrientedBox::new(Pixel::new(x, y), long, short, angle)
            .ok_or_else(|| format!("{}: a box without length", view.photo))?;
        let upright = HorizontalBox {
            x1_px,
            y1_px,
            x2_px,
            y2_px,
        };
        vehicles.entry(view.photo).or_default().push(TrueVehicle {
            shape: Shape::Both(oriented, upright),
            ignored: view.visible_fraction < VISIBLE_ENOUGH || short < SHORTEST_SIDE_PX,
        });
    }
    let photos = truth.photos.into_iter().map(|photo| TruthPhoto {
        vehicles: vehicles.remove(&photo.file).unwrap_or_default(),
        name: photo.file,
        height_m: Some(photo.center_in_enu_m[2]),
        downward_pitch_deg: Some(-photo.pitch_deg),
    });
    Ok(photos.collect())
}

#[derive(Deserialize)]
struct Coco {
    images: Vec<CocoImage>,
    annotations: Vec<CocoAnnotation>,
    #[serde(default)]
    categories: Vec<CocoCategory>,
}

#[derive(Deserialize)]
struct CocoImage {
    id: u64,
    file_name: String,
}

#[derive(Deserialize)]
struct CocoCategory {
    id: u64,
    name: String,
}

#[derive(Deserialize)]
struct CocoAnnotation {
    image_id: u64,
    category_id: u64,
    bbox: [f64; 4],
    #[serde(default)]
    segmentation: Value,
    #[serde(default)]
    iscrowd: u8,
}

fn coco(value: Value, ignored_classes: &[String]) -> Result<Vec<TruthPhoto>, String> {
    let truth: Coco = serde_json::from_value(value).map_err(|error| error.to_string())?;
    let names: BTreeMap<u64, &str> = truth
        .categories
        .iter()
        .map(|category| (category.id, category.name.as_str()))
        .collect();
    let mut vehicles: BTreeMap<u64, Vec<TrueVehicle>> = BTreeMap::new();
    for annotation in &truth.annotations {
        let number = annotation.category_id.to_string();
        let name = names.get(&annotation.category_id).copied();
        let class = Class::of(name.unwrap_or(&number), Some(&number), ignored_classes);
        if class == Class::Other {
            continue;
        }
        let [x, y, width, height] = annotation.bbox;
        let upright = HorizontalBox {
            x1_px: x,
            y1_px: y,
            x2_px: x + width,
            y2_px: y + height,
        };
        let corners = four_corners(&annotation.segmentation);
        vehicles
            .entry(annotation.image_id)
            .or_default()
            .push(TrueVehicle {
                shape: corners.map_or(Shape::Upright(upright), Shape::Corners),
                ignored: class == Class::Ignored || annotation.iscrowd != 0,
            });
    }
    let photos = truth.images.into_iter().map(|image| TruthPhoto {
        name: image.file_name,
        vehicles: vehicles.remove(&image.id).unwrap_or_default(),
        height_m: None,
        downward_pitch_deg: None,
    });
    Ok(photos.collect())
}

/// The four corners of a segmentation that is one quadrilateral.
fn four_corners(segmentation: &Value) -> Option<[Pixel; 4]> {
    let [polygon] = segmentation.as_array()?.as_slice() else {
        return None;
    };
    let numbers: Vec<f64> = polygon
        .as_array()?
        .iter()
        .map(Value::as_f64)
        .collect::<Option<_>>()?;
    corners_of(&numbers)
}

fn corners_of(numbers: &[f64]) -> Option<[Pixel; 4]> {
    let &[x1, y1, x2, y2, x3, y3, x4, y4] = numbers else {
        return None;
    };
    Some([
        Pixel::new(x1, y1),
        Pixel::new(x2, y2),
        Pixel::new(x3, y3),
        Pixel::new(x4, y4),
    ])
}

/// What a class of the truth means here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Class {
    Vehicle,
    /// Neither right nor wrong to find.
    Ignored,
    /// No vehicle of ours.
    Other,
}

impl Class {
    /// A class without a name that is known to be another thing counts as a vehicle: label files of
    /// one class have numbers only.
    fn of(name: &str, number: Option<&str>, ignored: &[String]) -> Self {
        let is_ignored = |text: &str| ignored.iter().any(|other| other.eq_ignore_ascii_case(text));
        if is_ignored(name) || number.is_some_and(is_ignored) {
            Self::Ignored
        } else if name.parse::<u64>().is_ok() || VehicleClass::from_model_name(name).is_some() {
            Self::Vehicle
        } else {
            Self::Other
        }
    }
}

fn read_labels(
    folder: &Path,
    format: Option<TruthFormat>,
    ignored_classes: &[String],
) -> anyhow::Result<Vec<TruthPhoto>> {
    let fault = |path: &Path, what: &str| InputError(format!("{}: {what}", path.display()));
    let mut files: Vec<PathBuf> = std::fs::read_dir(folder)
        .and_then(|entries| entries.map(|entry| Ok(entry?.path())).collect())
        .map_err(|error: std::io::Error| fault(folder, &error.to_string()))?;
    files.retain(|path| path.extension().is_some_and(|ending| ending == "txt"));
    files.retain(|path| path.file_name().is_some_and(|name| name != "classes.txt"));
    files.sort();
    if files.is_empty() {
        return Err(fault(folder, "no .txt files in it").into());
    }
    files
        .iter()
        .map(|path| {
            let text =
                std::fs::read_to_string(path).map_err(|error| fault(path, &error.to_string()))?;
            let mut vehicles = Vec::new();
            for (index, line) in text.lines().enumerate() {
                let read = label(line, format, ignored_classes)
                    .map_err(|what| fault(path, &format!("line {}: {what}", index + 1)))?;
                vehicles.extend(read);
            }
            Ok(TruthPhoto {
                name: path
                    .file_name()
                    .unwrap_or_default()
                    .to_string_lossy()
                    .into_owned(),
                vehicles,
                height_m: None,
                downward_pitch_deg: None,
            })
        })
        .collect()
}

/// One line of a label file; `None` for headings and other classes.
fn label(
    line: &str,
    format: Option<TruthFormat>,
    ignored_classes: &[String],
) -> Result<Option<TrueVehicle>, String> {
    let words: Vec<&str> = line.split_whitespace().collect();
    // DOTA's files begin with `imagesource:...` and `gsd:...`.
    if words.len() < 2 && line.split_once(':').is_some_and(|_| words.len() == 1) || words.is_empty()
    {
        return Ok(None);
    }
    let numbers = |words: &[&str]| -> Option<Vec<f64>> {
        words.iter().map(|word| word.parse().ok()).collect()
    };
    let class_is_last = match format {
        Some(TruthFormat::Dota) => true,
        Some(_) => false,
        None => words.len() > 8 && words[8].parse::<f64>().is_err(),
    };
    let read = if class_is_last {
        (
            words.get(8),
            words.get(..8),
            words.get(9).is_some_and(|word| *word != "0"),
        )
    } else {
        (words.first(), words.get(1..9), false)
    };
    let (Some(class), Some(corners), is_difficult) = read else {
        return Err(format!(
            "{} words; expected a class and four corners",
            words.len()
        ));
    };
    let corners = numbers(corners)
        .and_then(|numbers| corners_of(&numbers))
        .filter(|corners| corners.iter().all(|c| c.x.is_finite() && c.y.is_finite()))
        .ok_or("the corners are no eight numbers")?;
    let class = Class::of(class, None, ignored_classes);
    if class == Class::Other {
        return Ok(None);
    }
    let is_shares = !class_is_last
        && corners
            .iter()
            .all(|c| c.x.abs() <= LARGEST_SHARE && c.y.abs() <= LARGEST_SHARE);
    Ok(Some(TrueVehicle {
        shape: if is_shares {
            Shape::Shares(corners)
        } else {
            Shape::Corners(corners)
        },
        ignored: class == Class::Ignored || is_difficult,
    }))
}
