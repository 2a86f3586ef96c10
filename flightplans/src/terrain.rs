//! The ground's heights from files: SRTM tiles (`.hgt`) and GeoTIFF. Heights in such files are
//! above the sea (EGM96 for SRTM); only differences to the ground at home are used, so the datum
//! does not matter as long as it is one.

mod geotiff;
mod hgt;

use crate::error::PlanError;
use crate::plane::Place;
use crate::site::{LonLat, Site};
use std::path::{Path, PathBuf};

/// The ground's shape about a site.
#[derive(Clone, Debug)]
pub enum Relief {
    /// Level ground at take-off height.
    Flat,
    /// From terrain files.
    Model {
        /// The tiles, in the order of their names.
        tiles: Vec<Raster>,
        /// Above the sea at home.
        home_m: f64,
    },
}

/// Heights on a grid of longitudes and latitudes.
#[derive(Clone, Debug, PartialEq)]
pub struct Raster {
    /// The file's name.
    pub name: String,
    /// Longitude of the first column's samples, degrees.
    pub west_deg: f64,
    /// Latitude of the first row's samples, degrees; rows go south.
    pub north_deg: f64,
    /// Between columns.
    pub step_longitude_deg: f64,
    /// Between rows.
    pub step_latitude_deg: f64,
    /// Samples a row.
    pub columns: usize,
    /// Rows.
    pub rows: usize,
    /// Heights row by row; `None` where the file has a void.
    pub heights_m: Vec<Option<f32>>,
}

impl Raster {
    /// The height between the four samples around; `None` outside and where one of them that counts
    /// is a void.
    #[must_use]
    pub fn height_m(&self, at: &LonLat) -> Option<f64> {
        let x = (at.longitude_deg - self.west_deg) / self.step_longitude_deg;
        let y = (self.north_deg - at.latitude_deg) / self.step_latitude_deg;
        let (right, bottom) = ((self.columns - 1) as f64, (self.rows - 1) as f64);
        if !((0.0..=right).contains(&x) && (0.0..=bottom).contains(&y)) {
            return None;
        }
        let (column, row) = (
            (x.floor() as usize).min(self.columns.saturating_sub(2)),
            (y.floor() as usize).min(self.rows.saturating_sub(2)),
        );
        let (dx, dy) = (x - column as f64, y - row as f64);
        let mut sum = 0.0;
        for (step_row, step_column, weight) in [
            (0, 0, (1.0 - dx) * (1.0 - dy)),
            (0, 1, dx * (1.0 - dy)),
            (1, 0, (1.0 - dx) * dy),
            (1, 1, dx * dy),
        ] {
            if weight > 0.0 {
                let index = (row + step_row) * self.columns + column + step_column;
                sum += weight * f64::from((*self.heights_m.get(index)?)?);
            }
        }
        Some(sum)
    }
}

impl Relief {
    /// Terrain from files, or from all `.hgt`, `.tif` and `.tiff` files of folders.
    ///
    /// # Errors
    /// A file cannot be read or is no terrain; or the ground at home is not known from any.
    pub fn load(paths: &[PathBuf], site: &Site) -> Result<Self, PlanError> {
        let mut tiles = Vec::new();
        for path in files(paths)? {
            tiles.push(raster(&path)?);
        }
        let home = site.degrees(&site.home);
        let home_m = height_m(&tiles, &home).ok_or_else(|| PlanError::Malformed {
            path: paths.first().cloned().unwrap_or_default(),
            expected: "terrain of this site",
            found: format!(
                "the height at home (latitude {:.5}, longitude {:.5}) is missing; the files cover {}",
                home.latitude_deg,
                home.longitude_deg,
                extents(&tiles)
            ),
        })?;
        Ok(Self::Model { tiles, home_m })
    }

    /// Ground height at a place above that at home; `None` where it is not known.
    #[must_use]
    pub fn above_home(&self, site: &Site, place: &Place) -> Option<f64> {
        match self {
            Self::Flat => Some(0.0),
            Self::Model { tiles, home_m } => {
                // Decimetres: terrain is not known better, and ids of poses stay short.
                height_m(tiles, &site.degrees(place))
                    .map(|height| ((height - home_m) * 10.0).round() / 10.0)
            }
        }
    }

    /// Names of the files.
    #[must_use]
    pub fn names(&self) -> Vec<String> {
        match self {
            Self::Flat => Vec::new(),
            Self::Model { tiles, .. } => tiles.iter().map(|tile| tile.name.clone()).collect(),
        }
    }

    /// The ground at home above the sea.
    #[must_use]
    pub fn home_m(&self) -> Option<f64> {
        match self {
            Self::Flat => None,
            Self::Model { home_m, .. } => Some(*home_m),
        }
    }
}

fn height_m(tiles: &[Raster], at: &LonLat) -> Option<f64> {
    tiles.iter().find_map(|tile| tile.height_m(at))
}

fn extents(tiles: &[Raster]) -> String {
    let one = |tile: &Raster| {
        let south = tile.north_deg - (tile.rows - 1) as f64 * tile.step_latitude_deg;
        let east = tile.west_deg + (tile.columns - 1) as f64 * tile.step_longitude_deg;
        format!(
            "{} (latitude {south:.3} to {:.3}, longitude {:.3} to {east:.3})",
            tile.name, tile.north_deg, tile.west_deg
        )
    };
    if tiles.is_empty() {
        return "nothing".to_owned();
    }
    tiles.iter().map(one).collect::<Vec<_>>().join(", ")
}

fn extension(path: &Path) -> String {
    path.extension()
        .map(|extension| extension.to_string_lossy().to_lowercase())
        .unwrap_or_default()
}

fn files(paths: &[PathBuf]) -> Result<Vec<PathBuf>, PlanError> {
    let mut found = Vec::new();
    for path in paths {
        let read_error = |source| PlanError::Read {
            path: path.clone(),
            source,
        };
        if !path.is_dir() {
            found.push(path.clone());
            continue;
        }
        for entry in std::fs::read_dir(path).map_err(read_error)? {
            let file = entry.map_err(read_error)?.path();
            if ["hgt", "tif", "tiff"].contains(&extension(&file).as_str()) {
                found.push(file);
            }
        }
    }
    found.sort();
    Ok(found)
}

fn raster(path: &Path) -> Result<Raster, PlanError> {
    let bytes = std::fs::read(path).map_err(|source| PlanError::Read {
        path: path.to_owned(),
        source,
    })?;
    let name = path
        .file_name()
        .map(|name| name.to_string_lossy().into_owned())
        .unwrap_or_default();
    let read = match extension(path).as_str() {
        "hgt" => hgt::read(&bytes, &name),
        _ => geotiff::read(&bytes, &name),
    };
    read.map_err(|found| PlanError::Malformed {
        path: path.to_owned(),
        expected: "terrain (SRTM .hgt or GeoTIFF in degrees)",
        found,
    })
}
