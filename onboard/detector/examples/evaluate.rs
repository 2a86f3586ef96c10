//! Figures of a model on rendered scenes (`simulator render`) and on the Songdo photos: those of
//! the model card.
//!
//! `cargo run --release -p detector --example evaluate -- [--model FILE] [--engine ort|rten]
//! [--songdo DIR --car-px N] [--overlay DIR] [SCENE ...]`

use calibration::camera::Lens;
use calibration::frames::{Camera, Enu};
use calibration::{CameraModel, Metres, Pixel, Radians, Rotation};
use detector::{
    DetectOptions, Detector, EngineChoice, EngineOptions, EvaluatedPhoto, Evaluation,
    HorizontalBox, ModelOverrides, OrientedBox, Photo, ScaleChoice, TruthBox, ViewGeometry,
    draw_overlay, encode_jpeg, evaluate,
};
use nalgebra::{Quaternion, UnitQuaternion};
use serde::Deserialize;
use std::error::Error;
use std::path::{Path, PathBuf};

/// Length of a car in the Songdo photos, pixels: measured once, so that one scale is fixed.
const SONGDO_CAR_PX: f64 = 96.0;
/// Seen less than this, a vehicle need not be found; less than the second, it is not there.
const VISIBLE_ENOUGH: f64 = 0.5;
const BARELY_VISIBLE: f64 = 0.02;
/// Vehicles with a shorter side below this need not be found, pixels (the benchmark's own rule).
const SHORTEST_SIDE_PX: f64 = 12.0;
/// Low, so that the whole precision-recall curve is seen.
const MIN_SCORE: f64 = 0.03;

#[derive(Deserialize)]
struct Truth {
    photos: Vec<TruthPhoto>,
    views: Vec<TruthView>,
}

#[derive(Deserialize)]
struct TruthPhoto {
    file: String,
    camera_from_enu: Pose,
    center_in_enu_m: [f64; 3],
    pitch_deg: f64,
    intrinsics: Intrinsics,
}

#[derive(Deserialize)]
struct Pose {
    rotation_wxyz: [f64; 4],
}

#[derive(Deserialize)]
struct Intrinsics {
    width_px: u32,
    height_px: u32,
    fx_px: f64,
    fy_px: f64,
    cx_px: f64,
    cy_px: f64,
    k1: f64,
    k2: f64,
    p1: f64,
    p2: f64,
}

#[derive(Deserialize)]
struct TruthView {
    photo: String,
    visible_fraction: f64,
    oriented_box: [f64; 5],
    /// `None` where nothing of the vehicle is seen.
    horizontal_box: Option<[f64; 4]>,
}

struct Arguments {
    model: Option<PathBuf>,
    engine: EngineChoice,
    songdo: Option<PathBuf>,
    car_px: f64,
    overlay: Option<PathBuf>,
    scenes: Vec<PathBuf>,
}

fn arguments() -> Result<Arguments, Box<dyn Error>> {
    let mut found = Arguments {
        model: None,
        engine: EngineChoice::Auto,
        songdo: None,
        car_px: 28.0,
        overlay: None,
        scenes: Vec::new(),
    };
    let mut words = std::env::args().skip(1);
    while let Some(word) = words.next() {
        let mut value = || words.next().ok_or(format!("{word} needs a value"));
        match word.as_str() {
            "--model" => found.model = Some(value()?.into()),
            "--songdo" => found.songdo = Some(value()?.into()),
            "--car-px" => found.car_px = value()?.parse()?,
            "--overlay" => found.overlay = Some(value()?.into()),
            "--engine" => {
                found.engine = match value()?.as_str() {
                    "ort" => EngineChoice::OnnxRuntime,
                    "rten" => EngineChoice::Rten,
                    _ => EngineChoice::Auto,
                }
            }
            _ => found.scenes.push(word.into()),
        }
    }
    Ok(found)
}

fn view_of(photo: &TruthPhoto) -> Result<ViewGeometry, Box<dyn Error>> {
    let lens = &photo.intrinsics;
    let [w, x, y, z] = photo.camera_from_enu.rotation_wxyz;
    let quaternion = UnitQuaternion::try_new(Quaternion::new(w, x, y, z), 1e-9)
        .ok_or("a rotation without length")?;
    let camera_from_enu: Rotation<Camera, Enu> = Rotation::from_quaternion(quaternion);
    Ok(ViewGeometry {
        camera: CameraModel {
            width: lens.width_px,
            height: lens.height_px,
            fx: lens.fx_px,
            fy: lens.fy_px,
            cx: lens.cx_px,
            cy: lens.cy_px,
            lens: Lens::BrownConrady {
                k1: lens.k1,
                k2: lens.k2,
                p1: lens.p1,
                p2: lens.p2,
                k3: 0.0,
            },
        },
        camera_from_enu,
        height_above_ground: Metres(photo.center_in_enu_m[2]),
    })
}

fn truth_box(view: &TruthView) -> Option<TruthBox> {
    let [x, y, long, short, degrees] = view.oriented_box;
    let [x1_px, y1_px, x2_px, y2_px] = view.horizontal_box?;
    let centre = Pixel::new(x, y);
    Some(TruthBox {
        oriented_box: OrientedBox::new(centre, long, short, Radians::from_degrees(degrees)),
        horizontal_box: HorizontalBox {
            x1_px,
            y1_px,
            x2_px,
            y2_px,
        },
        ignored: view.visible_fraction < VISIBLE_ENOUGH || short < SHORTEST_SIDE_PX,
    })
    .filter(|_| view.visible_fraction >= BARELY_VISIBLE)
}

fn search(
    detector: &mut Detector,
    path: &Path,
    view: Option<&ViewGeometry>,
    options: &DetectOptions,
    overlay: Option<&Path>,
) -> Result<Vec<detector::Detection>, Box<dyn Error>> {
    let bytes = std::fs::read(path)?;
    let found = detector.detect_encoded(&bytes, view, options)?;
    if let Some(folder) = overlay {
        let photo = Photo::decode(&bytes)?;
        let threshold = detector.info().score_threshold;
        let sure: Vec<_> = found
            .detections
            .iter()
            .copied()
            .filter(|detection| detection.score >= threshold)
            .collect();
        std::fs::create_dir_all(folder)?;
        let parent = path.parent().and_then(Path::file_name).unwrap_or_default();
        let name = format!(
            "{}-{}",
            parent.to_string_lossy(),
            path.file_name().unwrap_or_default().to_string_lossy()
        );
        std::fs::write(
            folder.join(name),
            encode_jpeg(&draw_overlay(&photo.image, 1.0, &sure))?,
        )?;
    }
    Ok(found.detections)
}

fn scene(
    detector: &mut Detector,
    folder: &Path,
    overlay: Option<&Path>,
) -> Result<Vec<EvaluatedPhoto>, Box<dyn Error>> {
    let text = std::fs::read_to_string(folder.join("truth.json"))?;
    let truth: Truth = serde_json::from_str(&text)?;
    let options = DetectOptions {
        score_threshold: Some(MIN_SCORE),
        ..DetectOptions::default()
    };
    let mut photos = Vec::new();
    for photo in &truth.photos {
        let view = view_of(photo)?;
        let path = folder.join(&photo.file);
        photos.push(EvaluatedPhoto {
            detections: search(detector, &path, Some(&view), &options, overlay)?,
            truth: truth
                .views
                .iter()
                .filter(|view| view.photo == photo.file)
                .filter_map(truth_box)
                .collect(),
            height_m: Some(photo.center_in_enu_m[2]),
            downward_pitch_deg: Some(-photo.pitch_deg),
        });
    }
    Ok(photos)
}

/// Hand-made oriented boxes: per line a class and four corners in pixels.
fn songdo(
    detector: &mut Detector,
    folder: &Path,
    car_px: f64,
    overlay: Option<&Path>,
) -> Result<Vec<EvaluatedPhoto>, Box<dyn Error>> {
    let mut names: Vec<PathBuf> = std::fs::read_dir(folder.join("labels_obb"))?
        .map(|entry| entry.map(|entry| entry.path()))
        .collect::<Result<_, _>>()?;
    names.sort();
    let options = DetectOptions {
        score_threshold: Some(MIN_SCORE),
        scale: ScaleChoice::Factor(car_px / SONGDO_CAR_PX),
        ..DetectOptions::default()
    };
    let mut photos = Vec::new();
    for labels in names {
        let stem = labels.file_stem().unwrap_or_default().to_string_lossy();
        let path = folder.join(format!("images/{stem}.jpg"));
        let mut truth = Vec::new();
        for line in std::fs::read_to_string(&labels)?.lines() {
            let numbers: Vec<f64> = line
                .split_whitespace()
                .map(str::parse)
                .collect::<Result<_, _>>()?;
            let &[class, x1, y1, x2, y2, x3, y3, x4, y4] = numbers.as_slice() else {
                return Err(format!("not a class and four corners: {line}").into());
            };
            let oriented_box = OrientedBox::new(
                Pixel::new((x1 + x2 + x3 + x4) / 4.0, (y1 + y2 + y3 + y4) / 4.0),
                (x2 - x1).hypot(y2 - y1),
                (x3 - x2).hypot(y3 - y2),
                Radians((y2 - y1).atan2(x2 - x1)),
            );
            if let Some(oriented_box) = oriented_box {
                truth.push(TruthBox {
                    oriented_box: Some(oriented_box),
                    horizontal_box: oriented_box.hull(),
                    // Motorcycles are no vehicles of ours.
                    ignored: class == 3.0,
                });
            }
        }
        photos.push(EvaluatedPhoto {
            detections: search(detector, &path, None, &options, overlay)?,
            truth,
            height_m: None,
            downward_pitch_deg: Some(90.0),
        });
    }
    Ok(photos)
}

fn print(name: &str, found: &Evaluation) {
    let line = |label: &str, precision: &detector::Precision| {
        println!(
            "  {label:<10} AP50 {:.3}  AP50-95 {:.3}  best F1 {:.3} at {:.2}  recall {:.3}",
            precision.ap50,
            precision.ap50_95,
            precision.best_f1,
            precision.best_f1_score.unwrap_or(f64::NAN),
            precision.recall
        );
    };
    println!(
        "{name}: {} photos, {} vehicles",
        found.photos, found.vehicles
    );
    if let Some(oriented) = &found.oriented {
        line("oriented", oriented);
    }
    line("upright", &found.horizontal);
    if let Some(errors) = found.angle_errors {
        println!(
            "  angle median {:.2} deg, 90 % below {:.2} deg; doubles {}",
            errors.median_deg, errors.p90_deg, found.doubles
        );
    }
    if let Some(errors) = found.corner_errors {
        println!("  corners {:.4} of the long side", errors.sigma);
    }
    for group in &found.groups {
        println!(
            "    {:?}: {} vehicles, AP50 {:.3}, recall {:.3}, angle {:.2} deg",
            group.group,
            group.vehicles,
            group.oriented_ap50,
            group.oriented_recall,
            group
                .angle_errors
                .map_or(f64::NAN, |errors| errors.median_deg)
        );
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    let arguments = arguments()?;
    let engine = EngineOptions {
        engine: arguments.engine,
        ..EngineOptions::default()
    };
    let mut detector = match &arguments.model {
        Some(path) => Detector::load(path, &ModelOverrides::default(), &engine)?,
        None => Detector::built_in(&engine)?,
    };
    let info = detector.info();
    println!(
        "{} on {} {}",
        info.sha256, info.engine.name, info.engine.version
    );
    let overlay = arguments.overlay.as_deref();
    if let Some(folder) = &arguments.songdo {
        let photos = songdo(&mut detector, folder, arguments.car_px, overlay)?;
        print("Songdo", &evaluate(&photos));
    }
    let mut photos = Vec::new();
    for folder in &arguments.scenes {
        photos.extend(scene(&mut detector, folder, overlay)?);
    }
    if !photos.is_empty() {
        print("rendered, all", &evaluate(&photos));
        for (name, from, to) in [
            ("rendered, 20-60 m", 15.0, 62.0),
            ("rendered, 60-120 m", 62.0, 125.0),
        ] {
            let chosen: Vec<_> = photos
                .iter()
                .filter(|photo| photo.height_m.is_some_and(|h| h >= from && h < to))
                .cloned()
                .collect();
            print(name, &evaluate(&chosen));
        }
    }
    Ok(())
}
