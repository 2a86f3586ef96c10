//! What a perfect reviewer would enter after a visit to the site, as sheets.

use crate::error::SimulatorError;
use crate::truth::{Truth, ViewTruth};
use crate::vehicles::catalogue;
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;

/// The sheets, by file name.
pub const FILES: [&str; 5] = [
    "catalogue.csv",
    "vehicles.csv",
    "visibility.csv",
    "photos.csv",
    "scene.csv",
];

/// Whether a reviewer sees a vehicle in a photo.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Visibility {
    Yes,
    /// Hidden, or too small to be boxed.
    No,
    /// A quarter to a half of it is seen.
    Doubt,
}

/// A vehicle counts as visible where at least half of its silhouette is seen and its shorter side
/// has at least this many pixels.
const MIN_SHORT_SIDE_PX: f64 = 12.0;

fn visibility(view: &ViewTruth) -> Visibility {
    let boxable = view.oriented_box[3] >= MIN_SHORT_SIDE_PX;
    match view.visible_fraction {
        f if f >= 0.5 && boxable => Visibility::Yes,
        f if (0.25..0.5).contains(&f) => Visibility::Doubt,
        _ => Visibility::No,
    }
}

/// Whether a reviewer who boxed what is visible would still see a vehicle without a box.
fn leaves_unboxed(view: &ViewTruth) -> bool {
    view.visible_fraction >= 0.25 && visibility(view) != Visibility::Yes
}

/// Quoted where commas, quotes or line ends ask for it (RFC 4180).
fn cell(text: &str) -> String {
    if text.contains([',', '"', '\n', '\r']) {
        format!("\"{}\"", text.replace('"', "\"\""))
    } else {
        text.to_owned()
    }
}

fn row(out: &mut String, cells: &[String]) {
    let cells: Vec<String> = cells.iter().map(|c| cell(c)).collect();
    // Writing to a string cannot fail.
    let _ = writeln!(out, "{}", cells.join(","));
}

fn catalogue_sheet() -> String {
    let mut out = "brand,model,year,length_mm,width_mm,height_mm,source,retrieved\n".to_owned();
    for m in catalogue() {
        let numbers =
            [u32::from(m.year), m.length_mm, m.width_mm, m.height_mm].map(|n| n.to_string());
        let [year, length, width, height] = numbers;
        let source = "simulator catalogue".to_owned();
        row(
            &mut out,
            &[
                m.brand.clone(),
                m.model.clone(),
                year,
                length,
                width,
                height,
                source,
                "2026-01-01".to_owned(),
            ],
        );
    }
    out
}

fn vehicle_sheet(truth: &Truth) -> String {
    let mut out =
        "vehicle_id,brand,model,front_azimuth_deg,centre_east_m,centre_north_m,excluded\n"
            .to_owned();
    for v in &truth.vehicles {
        row(
            &mut out,
            &[
                v.id.clone(),
                v.brand.clone(),
                v.model.clone(),
                v.front_azimuth_deg.to_string(),
                v.center_in_enu_m[0].to_string(),
                v.center_in_enu_m[1].to_string(),
                "no".to_owned(),
            ],
        );
    }
    out
}

fn visibility_sheet(truth: &Truth, digests: &BTreeMap<&str, &str>) -> String {
    let mut out = "file,sha256,vehicle_id,visible,x1,y1,x2,y2\n".to_owned();
    for view in &truth.views {
        let word = match visibility(view) {
            Visibility::Yes => "yes",
            Visibility::No => "no",
            Visibility::Doubt => "doubt",
        };
        let corners = view
            .horizontal_box
            .map_or([const { String::new() }; 4], |b| b.map(|v| v.to_string()));
        let digest = digests
            .get(view.photo.as_str())
            .copied()
            .unwrap_or_default();
        let mut cells = vec![
            view.photo.clone(),
            digest.to_owned(),
            view.vehicle.clone(),
            word.to_owned(),
        ];
        cells.extend(corners);
        row(&mut out, &cells);
    }
    out
}

fn photo_sheet(truth: &Truth) -> String {
    let mut out = "file,sha256,all_vehicles_boxed\n".to_owned();
    for photo in &truth.photos {
        let unboxed = truth
            .views
            .iter()
            .any(|view| view.photo == photo.file && leaves_unboxed(view));
        let word = if unboxed { "no" } else { "yes" };
        row(
            &mut out,
            &[photo.file.clone(), photo.sha256.clone(), word.to_owned()],
        );
    }
    out
}

fn scene_sheet(truth: &Truth) -> String {
    let mut out = "weather,notes\n".to_owned();
    let notes = format!(
        "simulated site of seed {}, {} vehicles",
        truth.seed,
        truth.vehicles.len()
    );
    row(&mut out, &[truth.site.weather.word().to_owned(), notes]);
    out
}

/// Writes the five sheets of [`FILES`] into a folder, which is made if need be.
///
/// # Errors
/// When the disk refuses.
pub fn write_facts(truth: &Truth, folder: &Path) -> Result<(), SimulatorError> {
    std::fs::create_dir_all(folder).map_err(|source| SimulatorError::Write {
        file: folder.to_owned(),
        source,
    })?;
    let digests: BTreeMap<&str, &str> = truth
        .photos
        .iter()
        .map(|p| (p.file.as_str(), p.sha256.as_str()))
        .collect();
    let sheets = [
        catalogue_sheet(),
        vehicle_sheet(truth),
        visibility_sheet(truth, &digests),
        photo_sheet(truth),
        scene_sheet(truth),
    ];
    for (name, text) in FILES.iter().zip(sheets) {
        let file = folder.join(name);
        std::fs::write(&file, text).map_err(|source| SimulatorError::Write { file, source })?;
    }
    Ok(())
}
