//! What is true of a scene's photos: as much of a `truth.json` (schema `truth/1`) as identities
//! need.

use crate::ingest::Scene;
use crate::pose::posed::PosedScene;
use calibration::{Geodetic, Pixel, Radians};
use detector::OrientedBox;
use nalgebra::{Rotation2, Vector2};
use serde::Deserialize;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

const SCHEMA: &str = "truth/1";
/// A vehicle counts as visible from this share of its silhouette and this width of its box on.
const MIN_VISIBLE: f64 = 0.5;
const MIN_SHORT_SIDE_PX: f64 = 12.0;

/// What is wrong with a truth.
#[derive(Debug, thiserror::Error)]
pub enum TruthError {
    /// It cannot be read.
    #[error("cannot read {}: {source}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
    /// It is no truth.
    #[error("{} is no truth: {source}; expected a truth.json of the simulator", path.display())]
    Json {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        source: serde_json::Error,
    },
    /// It is of another schema.
    #[error("{} is of schema {found:?}; this program reads {SCHEMA:?}", path.display())]
    Schema {
        /// The file.
        path: PathBuf,
        /// Its schema.
        found: String,
    },
    /// A view's vehicle is not listed.
    #[error("{}: the view in {photo} is of {vehicle}, which is none of its vehicles", path.display())]
    UnknownVehicle {
        /// The file.
        path: PathBuf,
        /// The photo.
        photo: String,
        /// The vehicle.
        vehicle: String,
    },
    /// It is of other photos.
    #[error("{} knows none of the scene's {n_photos} photos, neither by digest nor by name", path.display())]
    OtherPhotos {
        /// The file.
        path: PathBuf,
        /// Photos of the scene.
        n_photos: usize,
    },
}

#[derive(Deserialize)]
struct SchemaOnly {
    #[serde(default)]
    schema: String,
}

#[derive(Deserialize)]
struct TruthFile {
    site: SiteFile,
    photos: Vec<PhotoFile>,
    vehicles: Vec<VehicleFile>,
    views: Vec<ViewFile>,
    processed: Option<ProcessedFile>,
}

#[derive(Deserialize)]
struct SiteFile {
    origin: PlaceFile,
}

#[derive(Deserialize)]
struct PlaceFile {
    latitude_deg: f64,
    longitude_deg: f64,
}

#[derive(Deserialize)]
struct PhotoFile {
    file: String,
    sha256: String,
}

#[derive(Deserialize)]
struct VehicleFile {
    id: String,
    length_mm: f64,
    width_mm: f64,
    center_in_enu_m: [f64; 3],
    front_azimuth_deg: f64,
}

#[derive(Deserialize)]
struct ViewFile {
    photo: String,
    vehicle: String,
    visible_fraction: f64,
    truncated: bool,
    oriented_box: [f64; 5],
}

#[derive(Deserialize)]
struct ProcessedFile {
    shift_m: [f64; 3],
    turn_deg: f64,
}

/// A scene's truth, by the scene's photos.
#[derive(Clone, Debug)]
pub struct Truth {
    /// The vehicles.
    pub vehicles: Vec<TrueVehicle>,
    /// Per photo of the scene the vehicles seen in it; `None` for a photo the truth does not know.
    pub views: Vec<Option<Vec<TrueView>>>,
    /// What brings a place of the truth's map to where the scene would have it without errors of
    /// its own: a turn anticlockwise, radians, and then a shift, metres.
    scene_from_truth: (f64, Vector2<f64>),
}

/// A vehicle.
#[derive(Clone, Debug)]
pub struct TrueVehicle {
    /// Its id in the truth.
    pub id: String,
    /// The middle of its footprint, east and north in the truth's frame, metres.
    pub place: Vector2<f64>,
    /// Length without mirrors, metres.
    pub length_m: f64,
    /// Width without mirrors, metres.
    pub width_m: f64,
    /// Where its front points, clockwise from north.
    pub front: Radians,
}

/// A vehicle in a photo.
#[derive(Clone, Copy, Debug)]
pub struct TrueView {
    /// Index of the vehicle.
    pub vehicle: usize,
    /// Its whole box.
    pub oriented_box: OrientedBox,
    /// The share of its silhouette that is seen.
    pub visible_fraction: f64,
    /// Whether the frame cuts it.
    pub truncated: bool,
}

impl TrueView {
    /// Whether a reviewer would say that it is visible.
    #[must_use]
    pub fn is_visible(&self) -> bool {
        self.visible_fraction >= MIN_VISIBLE
            && self.oriented_box.short_side_px() >= MIN_SHORT_SIDE_PX
    }
}

impl Truth {
    /// Reads a truth for a scene's photos, which are known by their digest, else by their name.
    ///
    /// # Errors
    /// [`TruthError`].
    pub fn read(path: &Path, scene: &Scene, posed: &PosedScene) -> Result<Self, TruthError> {
        let text = std::fs::read_to_string(path).map_err(|source| TruthError::Read {
            path: path.to_owned(),
            source,
        })?;
        let json = |source| TruthError::Json {
            path: path.to_owned(),
            source,
        };
        let SchemaOnly { schema } = serde_json::from_str(&text).map_err(json)?;
        if schema != SCHEMA {
            return Err(TruthError::Schema {
                path: path.to_owned(),
                found: schema,
            });
        }
        let file: TruthFile = serde_json::from_str(&text).map_err(json)?;
        let views = views_by_photo(path, &file, scene)?;
        Ok(Self {
            scene_from_truth: scene_from_truth(&file, posed),
            vehicles: file.vehicles.into_iter().map(TrueVehicle::from).collect(),
            views,
        })
    }

    /// Where a vehicle would be on the scene's map without the scene's own errors.
    #[must_use]
    pub fn place_in_scene(&self, vehicle: usize) -> Vector2<f64> {
        let (turn, shift) = self.scene_from_truth;
        Rotation2::new(turn) * self.vehicles[vehicle].place + shift
    }

    /// Where its front points there, clockwise from north.
    #[must_use]
    pub fn front_in_scene(&self, vehicle: usize) -> Radians {
        self.vehicles[vehicle].front - Radians(self.scene_from_truth.0)
    }

    /// In how many photos of the scene each vehicle is visible.
    #[must_use]
    pub fn visible_counts(&self) -> Vec<usize> {
        let mut counts = vec![0; self.vehicles.len()];
        for view in self.views.iter().flatten().flatten() {
            counts[view.vehicle] += usize::from(view.is_visible());
        }
        counts
    }
}

impl From<VehicleFile> for TrueVehicle {
    fn from(file: VehicleFile) -> Self {
        let [east, north, _] = file.center_in_enu_m;
        Self {
            id: file.id,
            place: Vector2::new(east, north),
            length_m: file.length_mm / 1000.0,
            width_m: file.width_mm / 1000.0,
            front: Radians::from_degrees(file.front_azimuth_deg),
        }
    }
}

fn scene_from_truth(file: &TruthFile, posed: &PosedScene) -> (f64, Vector2<f64>) {
    if let Some(processed) = &file.processed
        && matches!(&posed.made_by, crate::pose::posed::MadeBy::Solver { engine } if engine.name == "simulator")
    {
        let [east, north, _] = processed.shift_m;
        return (processed.turn_deg.to_radians(), Vector2::new(east, north));
    }
    let place = &file.site.origin;
    let shift = posed.origin.as_ref().and_then(|origin| {
        let height = origin.geodetic().height_above_ellipsoid;
        let place = Geodetic::from_degrees(place.latitude_deg, place.longitude_deg, height)?;
        Some(origin.enu_from_geodetic(place).vector.xy())
    });
    (0.0, shift.unwrap_or_else(Vector2::zeros))
}

fn views_by_photo(
    path: &Path,
    file: &TruthFile,
    scene: &Scene,
) -> Result<Vec<Option<Vec<TrueView>>>, TruthError> {
    let by_digest: BTreeMap<&str, usize> = (scene.photos.iter().enumerate())
        .map(|(idx, photo)| (photo.photo_id.as_str(), idx))
        .collect();
    let by_name: BTreeMap<&str, usize> = (scene.photos.iter().enumerate())
        .flat_map(|(idx, photo)| photo.names.iter().map(move |name| (name.as_str(), idx)))
        .collect();
    let mut views: Vec<Option<Vec<TrueView>>> = vec![None; scene.photos.len()];
    let mut photos: BTreeMap<&str, usize> = BTreeMap::new();
    for photo in &file.photos {
        let known = by_digest
            .get(photo.sha256.as_str())
            .or_else(|| by_name.get(photo.file.as_str()));
        if let Some(&idx) = known {
            views[idx] = Some(Vec::new());
            photos.insert(&photo.file, idx);
        }
    }
    if photos.is_empty() {
        return Err(TruthError::OtherPhotos {
            path: path.to_owned(),
            n_photos: scene.photos.len(),
        });
    }
    let vehicles: BTreeMap<&str, usize> = (file.vehicles.iter().enumerate())
        .map(|(idx, vehicle)| (vehicle.id.as_str(), idx))
        .collect();
    for view in &file.views {
        let Some(&photo) = photos.get(view.photo.as_str()) else {
            continue;
        };
        let Some(&vehicle) = vehicles.get(view.vehicle.as_str()) else {
            return Err(TruthError::UnknownVehicle {
                path: path.to_owned(),
                photo: view.photo.clone(),
                vehicle: view.vehicle.clone(),
            });
        };
        let [x, y, long, short, angle] = view.oriented_box;
        let oriented =
            OrientedBox::new(Pixel::new(x, y), long, short, Radians::from_degrees(angle));
        if let (Some(oriented_box), Some(list)) = (oriented, &mut views[photo]) {
            list.push(TrueView {
                vehicle,
                oriented_box,
                visible_fraction: view.visible_fraction,
                truncated: view.truncated,
            });
        }
    }
    Ok(views)
}
