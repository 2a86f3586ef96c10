//! Detections made elsewhere: the JSON lines that `onboard detect` writes.

use super::PhotoDetections;
use crate::ingest::Scene;
use detector::{Detection, EngineReport, read_json_line, suppress};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// Two boxes of one photo that overlap more than this are one vehicle.
const MAX_IOU: f64 = 0.3;

/// What was read.
pub(super) struct Imported {
    pub(super) photos: Vec<PhotoDetections>,
    pub(super) model_sha256: String,
    pub(super) engine: EngineReport,
}

/// What is wrong with a file of detections. Nothing of a file with a fault is used.
#[derive(Debug, thiserror::Error)]
pub enum ImportError {
    /// It cannot be read.
    #[error("cannot read {}: {source}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
    /// A line is wrong.
    #[error("{}, line {line}: {what}", path.display())]
    Line {
        /// The file.
        path: PathBuf,
        /// Counted from 1.
        line: usize,
        /// What was found and what was expected.
        what: String,
    },
    /// Nothing in it.
    #[error("{} holds no detections; expected JSON lines of `onboard detect`", path.display())]
    Empty {
        /// The file.
        path: PathBuf,
    },
}

pub(super) fn read(path: &Path, scene: &Scene) -> Result<Imported, ImportError> {
    let text = std::fs::read_to_string(path).map_err(|source| ImportError::Read {
        path: path.to_owned(),
        source,
    })?;
    let mut by_photo: BTreeMap<usize, Vec<Detection>> = BTreeMap::new();
    let mut made_by: Option<(String, EngineReport)> = None;
    for (idx, line) in text
        .lines()
        .enumerate()
        .filter(|(_, line)| !line.trim().is_empty())
    {
        let fault = |what: String| ImportError::Line {
            path: path.to_owned(),
            line: idx + 1,
            what,
        };
        let read = read_json_line(line).map_err(|error| fault(error.to_string()))?;
        let photo = photo_of(scene, &read.photo).map_err(fault)?;
        let expected = (scene.photos[photo].width_px, scene.photos[photo].height_px);
        let found = (read.found.width_px, read.found.height_px);
        if found != expected {
            return Err(fault(format!(
                "boxes for a picture of {} x {} px, but {} is {} x {} px when upright; detect \
                 again on the original photo",
                found.0, found.1, read.photo, expected.0, expected.1
            )));
        }
        for detection in &read.found.detections {
            if !(detection.score.is_finite() && (0.0..=1.0).contains(&detection.score)) {
                return Err(fault(format!(
                    "a score of {}; scores are numbers from 0 to 1",
                    detection.score
                )));
            }
        }
        if let Some(detection) = read.found.detections.iter().find(|d| !fits(d, found)) {
            let oriented = &detection.oriented_box;
            return Err(fault(format!(
                "a box of {:.0} px at {:.0}, {:.0} in a picture of {} x {} px",
                oriented.long_side_px(),
                oriented.centre().x,
                oriented.centre().y,
                found.0,
                found.1
            )));
        }
        match &made_by {
            None => made_by = Some((read.model_sha256, read.engine)),
            Some((model, _)) if *model == read.model_sha256 => {}
            Some((model, _)) => {
                return Err(fault(format!(
                    "made by model {}, the lines before by {model}; one file holds one model's \
                     detections",
                    read.model_sha256
                )));
            }
        }
        if by_photo.insert(photo, read.found.detections).is_some() {
            return Err(fault(format!("{} occurs a second time", read.photo)));
        }
    }
    let Some((model_sha256, engine)) = made_by else {
        return Err(ImportError::Empty {
            path: path.to_owned(),
        });
    };
    let n_missing = scene.photos.len() - by_photo.len();
    if n_missing > 0 {
        tracing::warn!(
            "{} says nothing of {n_missing} of {} photos: taken as photos without vehicles",
            path.display(),
            scene.photos.len()
        );
    }
    let photos = scene
        .photos
        .iter()
        .enumerate()
        .map(|(idx, photo)| PhotoDetections {
            photo_id: photo.photo_id.clone(),
            width_px: photo.width_px,
            height_px: photo.height_px,
            detections: in_order(by_photo.get(&idx).map_or(&[], Vec::as_slice)),
            warnings: Vec::new(),
        })
        .collect();
    Ok(Imported {
        photos,
        model_sha256,
        engine,
    })
}

/// Whether a box can be of a vehicle that a picture of this size shows.
fn fits(detection: &Detection, (width, height): (u32, u32)) -> bool {
    let (width, height) = (f64::from(width), f64::from(height));
    let oriented = &detection.oriented_box;
    let (centre, side) = (oriented.centre(), oriented.long_side_px());
    let near = |at: f64, size: f64| (-0.5 * size..=1.5 * size).contains(&at);
    near(centre.x, width) && near(centre.y, height) && side <= 2.0 * width.max(height)
}

/// The photo of a name: the whole relative name, else the last part where that is unique.
fn photo_of(scene: &Scene, name: &str) -> Result<usize, String> {
    let whole: Vec<usize> = (0..scene.photos.len())
        .filter(|&idx| scene.photos[idx].names.iter().any(|known| known == name))
        .collect();
    let last_part = |text: &str| {
        text.rsplit(['/', '\\'])
            .next()
            .unwrap_or_default()
            .to_owned()
    };
    let found = if whole.is_empty() {
        let wanted = last_part(name);
        (0..scene.photos.len())
            .filter(|&idx| {
                scene.photos[idx]
                    .names
                    .iter()
                    .any(|known| last_part(known) == wanted)
            })
            .collect()
    } else {
        whole
    };
    match found[..] {
        [idx] => Ok(idx),
        [] => Err(format!("the scene has no photo {name}")),
        _ => Err(format!(
            "the scene has {} photos {name}; give its folder, too",
            found.len()
        )),
    }
}

/// In descending score, ties by place, doubles of one vehicle removed.
fn in_order(detections: &[Detection]) -> Vec<Detection> {
    let boxes: Vec<_> = detections
        .iter()
        .map(|detection| detection.oriented_box)
        .collect();
    let scores: Vec<f64> = detections.iter().map(|detection| detection.score).collect();
    suppress(&boxes, &scores, MAX_IOU)
        .into_iter()
        .map(|idx| detections[idx])
        .collect()
}
