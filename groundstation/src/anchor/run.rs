//! The anchor room at its edge.

use super::place::{self, AnchorConfig, Covisible, Surroundings, is_inside, is_solved};
use super::{ANCHORS_FILE, Anchor, AnchorSchema, AnchorSummary, Method, ROOM, SUMMARY_FILE};
use crate::detect::{self, DetectionId, PhotoDetections, SceneDetections};
use crate::ingest::{self, Scene};
use crate::pose;
use crate::pose::posed::{PosedScene, SparsePoint};
use crate::scene::{MadeFrom, RoomOutput, RoomState, SceneError, SceneFolder};
use calibration::Pixel;
use detector::Detection;
use rayon::prelude::*;

/// Raised when the room itself changes what it makes of the same inputs.
const REVISION: u32 = 5;
/// A point lies on a vehicle when this share of its observations lies in boxes.
const ON_VEHICLE_SHARE: f64 = 0.34;

/// Why there are no anchors.
#[derive(Debug, thiserror::Error)]
pub enum AnchorError {
    /// The scene.
    #[error(transparent)]
    Scene(#[from] SceneError),
    /// Poses, detections and photos do not belong together.
    #[error("the {what} were made for other photos; run `groundstation {command}` again")]
    Stale {
        /// What.
        what: &'static str,
        /// The command that makes it again.
        command: &'static str,
    },
}

impl AnchorError {
    /// Whether the input (rather than this program or the machine) is at fault.
    #[must_use]
    pub fn is_input_fault(&self) -> bool {
        match self {
            Self::Scene(error) => error.is_input_fault(),
            Self::Stale { .. } => true,
        }
    }
}

/// Places every detection of a scene.
///
/// # Errors
/// [`AnchorError`]; a detection without a place is not an error.
pub fn anchor(
    folder: &SceneFolder,
    config: &AnchorConfig,
) -> Result<(RoomOutput, AnchorSummary, Vec<Anchor>), AnchorError> {
    let ingested = folder.required(ingest::ROOM, "ingest")?;
    let scene: Scene = ingested.read_json(ingest::SCENE_FILE)?;
    let (posed_output, posed, points) = pose::current(folder)?;
    let (detected_output, detections) = detect::current(folder)?;
    if posed.photos.len() != scene.photos.len()
        || posed
            .photos
            .iter()
            .zip(&scene.photos)
            .any(|(a, b)| a.photo_id != b.photo_id)
    {
        return Err(AnchorError::Stale {
            what: "poses",
            command: "pose",
        });
    }
    if !detect::fits(&scene, &detections) {
        return Err(AnchorError::Stale {
            what: "detections",
            command: "detect",
        });
    }
    let made_from = MadeFrom::new(ROOM, REVISION, config)
        .input("poses", posed_output.file_digest(pose::POSE_FILE)?)
        .input("points", posed_output.file_digest(pose::POINTS_FILE)?)
        .input(
            "detections",
            detected_output.file_digest(detect::DETECTIONS_FILE)?,
        );
    match folder.room(made_from)? {
        RoomState::Done(output) => {
            let (summary, anchors) = read(&output)?;
            index(folder, &output, &anchors)?;
            Ok((output, summary, anchors))
        }
        RoomState::Needed(mut publishing) => {
            let (summary, anchors) = place_all(&posed, &points, &detections, config);
            publishing.write_json(SUMMARY_FILE, &summary)?;
            publishing.write_json_lines(ANCHORS_FILE, &anchors)?;
            let output = publishing.publish()?;
            index(folder, &output, &anchors)?;
            Ok((output, summary, anchors))
        }
    }
}

/// The room's computation: a place, or the reason why there is none, for every detection, by photo
/// and number.
#[must_use]
pub fn place_all(
    posed: &PosedScene,
    points: &[SparsePoint],
    detections: &SceneDetections,
    config: &AnchorConfig,
) -> (AnchorSummary, Vec<Anchor>) {
    let on_vehicles = on_vehicles(points, &detections.photos);
    let surroundings = Surroundings::of(posed, points, &on_vehicles);
    let covisible = Covisible::by_photo(points, posed.photos.len());
    let nothing_seen = Covisible { seen: Vec::new() };
    let model = &detections.summary.model_sha256;
    let anchors: Vec<Anchor> = detections
        .photos
        .par_iter()
        .enumerate()
        .flat_map_iter(|(idx, photo)| {
            let posed_photo = &posed.photos[idx];
            let doubles = doubles(&photo.detections);
            let camera = posed.camera_of(posed_photo);
            let (surroundings, covisible, nothing_seen) =
                (&surroundings, &covisible, &nothing_seen);
            photo
                .detections
                .iter()
                .enumerate()
                .map(move |(number, detection)| {
                    let outcome = match &posed_photo.pose {
                        _ if doubles[number].is_some() => Err(format!(
                            "it is a second box of the vehicle of box {}",
                            doubles[number].unwrap_or(0)
                        )),
                        None => Err("its photo has no pose".to_owned()),
                        Some(pose) => {
                            let seen = if is_solved(pose) {
                                &covisible[idx]
                            } else {
                                nothing_seen
                            };
                            place::place(detection, camera, pose, seen, surroundings, config)
                        }
                    };
                    let (placed, reason) = match outcome {
                        Ok(placed) => (Some(placed), None),
                        Err(reason) => (None, Some(reason)),
                    };
                    Anchor {
                        detection_id: DetectionId::new(&photo.photo_id, model, number),
                        photo: idx,
                        detection: number,
                        placed,
                        reason,
                    }
                })
        })
        .collect();
    (summarise(&anchors, &surroundings, posed), anchors)
}

/// Boxes of one photo that overlap by more than this are of one vehicle.
const DOUBLE_IOU: f64 = 0.5;

/// For each box the surer one whose vehicle it shows again. Detectors leave few; a file of
/// somebody else's may be full of them, and two boxes of one photo are never one vehicle.
fn doubles(detections: &[Detection]) -> Vec<Option<usize>> {
    let boxes: Vec<_> = detections.iter().map(|d| d.oriented_box).collect();
    let scores: Vec<f64> = detections.iter().map(|d| d.score).collect();
    let kept = detector::suppress(&boxes, &scores, DOUBLE_IOU);
    let mut first = vec![None; boxes.len()];
    if kept.len() == boxes.len() {
        return first;
    }
    let mut is_kept = vec![false; boxes.len()];
    for &idx in &kept {
        is_kept[idx] = true;
    }
    for idx in (0..boxes.len()).filter(|&idx| !is_kept[idx]) {
        let overlap = |other: usize| boxes[idx].iou(&boxes[other]);
        let nearest = kept.iter().copied();
        first[idx] = nearest.max_by(|&a, &b| overlap(a).total_cmp(&overlap(b)));
    }
    first
}

fn summarise(anchors: &[Anchor], surroundings: &Surroundings, posed: &PosedScene) -> AnchorSummary {
    let count = |method: Method| {
        anchors
            .iter()
            .filter(|a| a.placed.as_ref().is_some_and(|p| p.method == method))
            .count()
    };
    AnchorSummary {
        schema: AnchorSchema,
        n_sparse_points: count(Method::SparsePoints),
        n_surface: count(Method::Surface),
        n_plane: count(Method::Plane),
        n_none: anchors.iter().filter(|a| a.placed.is_none()).count(),
        ground_m: surroundings.ground.cells(),
        obstacles_m: surroundings.obstacles.clone(),
        common_sigma: place::common_sigma(posed),
    }
}

/// Which sparse points lie on detected vehicles.
fn on_vehicles(points: &[SparsePoint], photos: &[PhotoDetections]) -> Vec<bool> {
    points
        .par_iter()
        .map(|point| {
            let inside = point
                .track
                .iter()
                .filter(|&&(photo, x, y)| {
                    let pixel = Pixel::new(f64::from(x), f64::from(y));
                    photos.get(photo).is_some_and(|found| {
                        found.detections.iter().any(|d| {
                            let hull = &d.horizontal_box;
                            (hull.x1_px..=hull.x2_px).contains(&pixel.x)
                                && (hull.y1_px..=hull.y2_px).contains(&pixel.y)
                                && is_inside(&d.oriented_box, pixel, 1.0)
                        })
                    })
                })
                .count();
            inside as f64 >= ON_VEHICLE_SHARE * point.track.len() as f64
        })
        .collect()
}

fn read(output: &RoomOutput) -> Result<(AnchorSummary, Vec<Anchor>), SceneError> {
    Ok((
        output.read_json(SUMMARY_FILE)?,
        output.read_json_lines(ANCHORS_FILE)?,
    ))
}

/// The current anchors of a scene.
///
/// # Errors
/// [`SceneError::Missing`] when the room has not run.
pub fn current(
    folder: &SceneFolder,
) -> Result<(RoomOutput, AnchorSummary, Vec<Anchor>), SceneError> {
    let output = folder.required(ROOM, "anchor")?;
    let (summary, anchors) = read(&output)?;
    Ok((output, summary, anchors))
}

fn index(folder: &SceneFolder, output: &RoomOutput, anchors: &[Anchor]) -> Result<(), SceneError> {
    folder.update_index(
        ROOM,
        &output.made_from_digest(),
        &["anchor"],
        |transaction| {
            let mut insert =
                transaction.prepare("INSERT INTO anchor VALUES (?1,?2,?3,?4,?5,?6,?7,?8)")?;
            for anchor in anchors {
                let placed = anchor.placed.as_ref();
                let sigmas = placed.map(super::Placed::principal_sigmas_m);
                insert.execute(rusqlite::params![
                    anchor.detection_id.as_str(),
                    placed.map_or("none", |p| p.method.as_str()),
                    placed.map(|p| p.point.x()),
                    placed.map(|p| p.point.y()),
                    placed.map(|p| p.point.z()),
                    sigmas.map(|s| s.0),
                    sigmas.map(|s| s.1),
                    anchor.reason,
                ])?;
            }
            Ok(())
        },
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use calibration::Radians;
    use detector::{OrientedBox, VehicleClass};

    fn found(x: f64, score: f64) -> Detection {
        let oriented_box = OrientedBox::new(Pixel::new(x, 50.0), 40.0, 20.0, Radians(0.0));
        let oriented_box = oriented_box.expect("a box");
        Detection {
            oriented_box,
            horizontal_box: oriented_box.hull(),
            class: VehicleClass::Vehicle,
            score,
            truncated: false,
            corner_sigma_px: None,
        }
    }

    /// Case 41: the surer of two boxes of one vehicle is placed, the other says whose it is.
    #[test]
    fn a_second_box_names_the_first() {
        let boxes = [found(50.0, 0.6), found(53.0, 0.9), found(120.0, 0.5)];
        assert_eq!(doubles(&boxes), [Some(1), None, None]);
        assert_eq!(doubles(&boxes[1..]), [None, None]);
    }
}
