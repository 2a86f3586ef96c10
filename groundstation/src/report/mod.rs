//! One self-contained page about a scene: map, residuals, matrix, contact sheets, what was set
//! aside.

mod crops;
mod map;
mod plots;
mod svg;

use crate::anchor::{self, Anchor, AnchorSummary};
use crate::detect::{self, SceneDetections};
use crate::entity::{self, Entities, Entity};
use crate::ingest::{self, Scene, SetAside};
use crate::pose;
use crate::pose::posed::{Level, MadeBy, PoseSource, PosedPhoto, PosedScene, SparsePoint};
use crate::pose::priors::VerticalDatum;
use crate::scene::{SceneError, SceneFolder};
use askama::Template;
use console::{Cancel, Interrupted, Progress};
use record::write_durably;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// Why there is no report.
#[derive(Debug, thiserror::Error)]
pub enum ReportError {
    /// The scene.
    #[error(transparent)]
    Scene(#[from] SceneError),
    /// The page's template.
    #[error("cannot fill in the report: {0}")]
    Template(#[from] askama::Error),
    /// The page cannot be written.
    #[error(transparent)]
    Storage(#[from] record::StorageError),
    /// The page has no place there.
    #[error("cannot write the report to {}: it {what}", path.display())]
    Target {
        /// What was named.
        path: PathBuf,
        /// What is wrong with it.
        what: &'static str,
    },
    /// The user stopped it.
    #[error(transparent)]
    Interrupted(#[from] Interrupted),
}

impl ReportError {
    /// Whether the input (rather than this program or the machine) is at fault.
    #[must_use]
    pub fn is_input_fault(&self) -> bool {
        match self {
            Self::Scene(error) => error.is_input_fault(),
            Self::Target { .. } => true,
            Self::Template(_) | Self::Storage(_) | Self::Interrupted(_) => false,
        }
    }
}

/// Everything a report shows.
struct Material<'a> {
    scene: &'a Scene,
    set_aside: &'a [SetAside],
    posed: &'a PosedScene,
    points: &'a [SparsePoint],
    detections: &'a SceneDetections,
    anchored: &'a AnchorSummary,
    anchors: &'a [Anchor],
    entities: &'a Entities,
}

impl Material<'_> {
    fn datum_in_words(&self) -> &'static str {
        match self.posed.datum {
            VerticalDatum::TakeOff => "take-off",
            VerticalDatum::Ground => "the ground",
        }
    }
}

/// Writes the report of a scene to `path` (default `SCENE/report.html`) and says where it is.
///
/// # Errors
/// [`ReportError`]; [`SceneError::Missing`] names the room that has not run.
pub fn report(
    folder: &SceneFolder,
    path: Option<&Path>,
    quiet: bool,
    cancel: &Cancel,
) -> Result<PathBuf, ReportError> {
    let ingested = folder.required(ingest::ROOM, "ingest")?;
    let scene: Scene = ingested.read_json(ingest::SCENE_FILE)?;
    let set_aside: Vec<SetAside> = ingested.read_json(ingest::SET_ASIDE_FILE)?;
    let (_, posed, points) = pose::current(folder)?;
    let (_, detections) = detect::current(folder)?;
    let (_, anchored, anchors) = anchor::current(folder)?;
    let (_, entities) = entity::current(folder)?;
    let material = Material {
        scene: &scene,
        set_aside: &set_aside,
        posed: &posed,
        points: &points,
        detections: &detections,
        anchored: &anchored,
        anchors: &anchors,
        entities: &entities,
    };
    let progress = if quiet {
        Progress::silent("report", 0)
    } else {
        Progress::new("report", 0)
    };
    let crops = crops::cut(&material, folder, &progress, cancel)?;
    let title = folder
        .root()
        .canonicalize()
        .ok()
        .and_then(|root| Some(root.file_name()?.to_string_lossy().into_owned()))
        .unwrap_or_else(|| "scene".to_owned());
    let page = page(&material, &title, crops).render()?;
    let path = path.map_or_else(|| folder.root().join("report.html"), Path::to_owned);
    check_target(&path)?;
    write_durably(folder.storage(), &path, page.as_bytes())?;
    progress.finish(&path.display().to_string());
    Ok(path)
}

/// The page may replace a page, and nothing but a file.
fn check_target(path: &Path) -> Result<(), ReportError> {
    let refuse = |what| {
        Err(ReportError::Target {
            path: path.to_owned(),
            what,
        })
    };
    if path.metadata().is_ok_and(|found| !found.is_file()) {
        return refuse("is no file");
    }
    let parent = path.parent().filter(|p| !p.as_os_str().is_empty());
    if parent.is_some_and(|parent| !parent.is_dir()) {
        return refuse("is in a folder that does not exist");
    }
    Ok(())
}

#[derive(Template)]
#[template(path = "report.html")]
struct Page<'a> {
    title: &'a str,
    version: &'static str,
    level: &'static str,
    summary: &'a str,
    facts: Vec<(&'static str, String)>,
    gates: Vec<GateRow<'a>>,
    map: String,
    residual_map: String,
    residual_series: String,
    matrix: plots::Matrix,
    vehicles: Vec<VehicleRow<'a>>,
    n_not_shown: usize,
    warnings: Vec<String>,
    cameras: Vec<CameraRow>,
    flights: Vec<FlightRow>,
    stages: Vec<(&'static str, String)>,
    left_out: Vec<(String, String)>,
    all_solved: bool,
    without_place: Vec<(String, usize)>,
    set_aside: &'a [SetAside],
}

struct GateRow<'a> {
    level: &'static str,
    name: &'a str,
    found: &'a str,
    good: &'a str,
    advice: &'a str,
}

struct VehicleRow<'a> {
    number: usize,
    entity: &'a Entity,
    place: String,
    crops: Vec<crops::Crop>,
}

struct CameraRow {
    name: String,
    photos: usize,
    size: String,
    before: String,
    after: String,
    source: String,
}

struct FlightRow {
    number: usize,
    photos: usize,
    first: String,
    last: String,
    began_with: String,
    offset: String,
}

fn level_name(level: Level) -> &'static str {
    match level {
        Level::Good => "good",
        Level::Doubtful => "doubtful",
        Level::Bad => "bad",
    }
}

fn page<'a>(material: &'a Material<'a>, title: &'a str, crops: Vec<Vec<crops::Crop>>) -> Page<'a> {
    let verdict = &material.posed.verdict;
    let vehicles: Vec<VehicleRow<'a>> = crops::shown(material)
        .zip(crops)
        .enumerate()
        .map(|(idx, (entity, crops))| VehicleRow {
            number: idx + 1,
            entity,
            place: format!(
                "{:.1} m east, {:.1} m north, within {:.2} m",
                entity.point.x(),
                entity.point.y(),
                entity.sigma_m
            ),
            crops,
        })
        .collect();
    Page {
        title,
        version: env!("CARGO_PKG_VERSION"),
        level: level_name(verdict.level),
        summary: &verdict.summary,
        facts: facts(material),
        gates: verdict
            .gates
            .iter()
            .map(|gate| GateRow {
                level: level_name(gate.level),
                name: &gate.name,
                found: &gate.found,
                good: &gate.good,
                advice: &gate.advice,
            })
            .collect(),
        map: map::draw(material),
        residual_map: plots::residual_map(material),
        residual_series: plots::residual_series(material),
        matrix: plots::matrix(material),
        n_not_shown: material.entities.entities.len() - vehicles.len(),
        vehicles,
        warnings: warnings(material),
        cameras: cameras(material),
        flights: flights(material),
        stages: material
            .posed
            .stages
            .iter()
            .map(|stage| (stage.stage.title(), format!("{:.1} s", stage.seconds)))
            .collect(),
        left_out: left_out(material),
        all_solved: material.posed.n_solved() == material.posed.photos.len(),
        without_place: without_place(material),
        set_aside: material.set_aside,
    }
}

/// Photos that are not posed from the images, with their reason.
fn left_out(material: &Material<'_>) -> Vec<(String, String)> {
    let is_solved = |posed: &PosedPhoto| {
        posed
            .pose
            .as_ref()
            .is_some_and(|pose| pose.source == PoseSource::Solved)
    };
    material
        .posed
        .photos
        .iter()
        .zip(&material.scene.photos)
        .filter(|(posed, _)| !is_solved(posed))
        .filter_map(|(posed, photo)| Some((photo.name().to_owned(), posed.reason.clone()?)))
        .collect()
}

/// Why detections have no place, the most frequent reason first; numbers in the reasons are left
/// out.
fn without_place(material: &Material<'_>) -> Vec<(String, usize)> {
    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    for reason in material.anchors.iter().filter_map(|a| a.reason.as_deref()) {
        let words = reason
            .split(' ')
            .map(|word| match word.trim_end_matches(',').parse::<f64>() {
                Ok(_) => "...",
                Err(_) => word,
            });
        let general = words.collect::<Vec<_>>().join(" ");
        *counts.entry(general).or_default() += 1;
    }
    let mut list: Vec<(String, usize)> = counts.into_iter().collect();
    list.sort_by(|a, b| b.1.cmp(&a.1).then(a.0.cmp(&b.0)));
    list
}

fn warnings(material: &Material<'_>) -> Vec<String> {
    let mut warnings = material.entities.warnings.clone();
    warnings.extend(material.posed.remarks.iter().cloned());
    if material.scene.zone.is_none() {
        warnings.push(
            "the site's time zone is unknown: give --zone at ingest (local hours cannot be asked \
             for without it)"
                .to_owned(),
        );
    }
    let summary = &material.detections.summary;
    if summary.n_without_scale > 0 {
        warnings.push(format!(
            "{} photos were searched for vehicles at several sizes, because their height or angle \
             is unknown",
            summary.n_without_scale
        ));
    }
    for failed in &summary.failed {
        warnings.push(format!(
            "{} could not be searched: {}",
            failed.name, failed.reason
        ));
    }
    for bundle in material
        .scene
        .bundles
        .iter()
        .filter(|bundle| !bundle.is_sealed)
    {
        warnings.push(format!("the bundle {} carries no seal", bundle.name));
    }
    warnings
}

fn facts(material: &Material<'_>) -> Vec<(&'static str, String)> {
    let posed = material.posed;
    let mut facts = vec![(
        "photos",
        format!(
            "{}, {} posed from the images",
            posed.photos.len(),
            posed.n_solved()
        ),
    )];
    facts.push((
        "poses made by",
        match &posed.made_by {
            MadeBy::Solver { engine } => format!("{} {}", engine.name, engine.version),
            MadeBy::Priors { .. } => "GPS and gimbal only".to_owned(),
        },
    ));
    if let Some(origin) = &posed.origin {
        let place = origin.geodetic();
        facts.push((
            "origin of the map",
            format!(
                "{:.6}, {:.6} degrees; heights above {}",
                place.latitude().to_degrees(),
                place.longitude().to_degrees(),
                material.datum_in_words()
            ),
        ));
    }
    if let Some(alignment) = &posed.alignment {
        alignment_facts(alignment, &mut facts);
    }
    if let Some(intervals) = &material.scene.intervals {
        facts.push((
            "capture",
            format!(
                "{:.1} minutes, {:.1} s between photos (median)",
                intervals.capture_minutes, intervals.median_s
            ),
        ));
    }
    facts.push((
        "time zone",
        material
            .scene
            .zone
            .clone()
            .unwrap_or_else(|| "unknown".to_owned()),
    ));
    vehicle_facts(material, &mut facts);
    facts
}

fn alignment_facts(
    alignment: &crate::pose::posed::AlignmentReport,
    facts: &mut Vec<(&'static str, String)>,
) {
    let stats = |stats: &Option<crate::pose::posed::ResidualStats>| {
        stats.map_or_else(
            || "not measured".to_owned(),
            |s| {
                format!(
                    "{:.2} m rms, {:.2} median, {:.2} max",
                    s.rms_m, s.median_m, s.max_m
                )
            },
        )
    };
    facts.push(("horizontal residual to GPS", stats(&alignment.horizontal)));
    facts.push(("vertical residual", stats(&alignment.vertical)));
    let sigma = &alignment.sigma;
    facts.push((
        "the map as a whole is right within",
        format!(
            "{:.2} m horizontally, {:.2} degrees of turn, {:.2} % of length (one sigma)",
            sigma.shift_horizontal_m,
            sigma.yaw_deg,
            100.0 * sigma.scale
        ),
    ));
    if let Some(height) = alignment.height_above_ground_m {
        facts.push((
            "cameras above the ground (median)",
            format!("{height:.1} m"),
        ));
    }
    if let Some(yaw) = alignment.gimbal_yaw_offset_deg {
        facts.push((
            "solution's yaw minus the gimbal's",
            format!(
                "{:+.1} degrees, spread {:.1}",
                yaw.median_deg, yaw.spread_deg
            ),
        ));
    }
    facts.push((
        "sparse points",
        format!(
            "{}, {} photos each",
            alignment.n_points,
            alignment
                .mean_track_length
                .map_or_else(|| "?".to_owned(), |l| format!("{l:.1}"))
        ),
    ));
}

fn vehicle_facts(material: &Material<'_>, facts: &mut Vec<(&'static str, String)>) {
    let summary = &material.detections.summary;
    facts.push((
        "detections",
        format!(
            "{} by {} {}",
            summary.n_detections, summary.engine.name, summary.engine.version
        ),
    ));
    let anchored = material.anchored;
    facts.push((
        "anchors",
        format!(
            "{} on ground measured at the vehicle, {} on the ground surface, {} on the assumed \
             plane, {} without",
            anchored.n_sparse_points, anchored.n_surface, anchored.n_plane, anchored.n_none
        ),
    ));
    let entities = material.entities;
    let confirmed = entities.entities.iter().filter(|e| e.is_confirmed).count();
    facts.push((
        "vehicles",
        format!(
            "{confirmed} confirmed (seen in {} photos or more and in a fifth of those that hold their \
             place), {} more that may be doubles or \
             false alarms",
            entities.confirmed_from_photos,
            entities.entities.len() - confirmed
        ),
    ));
    let threshold = &entities.threshold;
    facts.push((
        "joined within",
        format!(
            "{:.2} m (vehicles stand {} apart, anchors are good to {:.2} m at three sigma)",
            threshold.epsilon_m,
            threshold
                .spacing_m
                .map_or_else(|| "?".to_owned(), |s| format!("{s:.1} m")),
            threshold.three_sigma_m
        ),
    ));
}

fn cameras(material: &Material<'_>) -> Vec<CameraRow> {
    let text = |value: &Option<String>| value.clone().unwrap_or_else(|| "?".to_owned());
    material
        .scene
        .cameras
        .iter()
        .zip(&material.posed.cameras)
        .map(|(camera, posed)| CameraRow {
            name: format!("{} {}", text(&camera.make), text(&camera.model)),
            photos: camera.n_photos,
            size: format!("{} x {}", camera.prior.width, camera.prior.height),
            before: format!("{:.1} ± {:.1} px", camera.prior.fx, camera.focal_sigma_px),
            after: posed.focal_change.map_or_else(
                || "as before".to_owned(),
                |change| format!("{:.1} px ({:+.2} %)", posed.solved.fx, 100.0 * change),
            ),
            source: match &camera.source {
                ingest::PriorSource::Profile { id } => format!("profile {id}"),
                ingest::PriorSource::Photo { source } => source.clone(),
            },
        })
        .collect()
}

fn flights(material: &Material<'_>) -> Vec<FlightRow> {
    let time = |utc: &Option<jiff::Timestamp>| {
        utc.map_or_else(
            || "unknown".to_owned(),
            |utc| utc.strftime("%F %T UTC").to_string(),
        )
    };
    material
        .scene
        .flights
        .iter()
        .enumerate()
        .map(|(idx, flight)| FlightRow {
            number: idx + 1,
            photos: flight.n_photos,
            first: time(&flight.first_utc),
            last: time(&flight.last_utc),
            began_with: flight.began_with.clone(),
            offset: material
                .posed
                .alignment
                .as_ref()
                .and_then(|alignment| alignment.flight_offsets_m.get(idx))
                .map_or_else(String::new, |o| {
                    format!("{:+.2}, {:+.2}, {:+.2} m", o[0], o[1], o[2])
                }),
        })
        .collect()
}
