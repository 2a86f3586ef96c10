//! What COLMAP's database says of features and matches.
//!
//! Schema: COLMAP's `src/colmap/scene/database_sqlite.cc`; `pair_id = 2147483647 * smaller image
//! id + larger image id`.

use super::SolveError;
use rusqlite::{Connection, OpenFlags};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, HashSet};
use std::fs;
use std::path::Path;

const MAX_IMAGE_ID: i64 = 2_147_483_647;

/// Features and pairs of a whole job.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct DatabaseStats {
    /// By the name the solver was given.
    pub photos: BTreeMap<String, PhotoStats>,
}

/// Features and pairs of one photo.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PhotoStats {
    /// Features found.
    pub features: u64,
    /// Other photos that match it and survived the geometric check.
    pub verified_pairs: u64,
}

/// Reads the statistics.
pub(super) fn stats(path: &Path) -> Result<DatabaseStats, SolveError> {
    read(path).map_err(|source| SolveError::Database {
        path: path.to_owned(),
        source,
    })
}

fn read(path: &Path) -> rusqlite::Result<DatabaseStats> {
    let connection = Connection::open_with_flags(path, OpenFlags::SQLITE_OPEN_READ_ONLY)?;
    let mut names = BTreeMap::new();
    let mut photos = BTreeMap::new();
    let mut statement = connection.prepare(
        "SELECT images.image_id, images.name, COALESCE(keypoints.rows, 0) \
         FROM images LEFT JOIN keypoints USING (image_id)",
    )?;
    let mut rows = statement.query([])?;
    while let Some(row) = rows.next()? {
        let (id, name, features): (i64, String, i64) = (row.get(0)?, row.get(1)?, row.get(2)?);
        let features = u64::try_from(features).unwrap_or(0);
        photos.insert(
            name.clone(),
            PhotoStats {
                features,
                verified_pairs: 0,
            },
        );
        names.insert(id, name);
    }
    let mut statement =
        connection.prepare("SELECT pair_id FROM two_view_geometries WHERE rows > 0")?;
    let mut rows = statement.query([])?;
    while let Some(row) = rows.next()? {
        let pair_id: i64 = row.get(0)?;
        for image_id in [pair_id / MAX_IMAGE_ID, pair_id % MAX_IMAGE_ID] {
            if let Some(photo) = names.get(&image_id).and_then(|name| photos.get_mut(name)) {
                photo.verified_pairs += 1;
            }
        }
    }
    Ok(DatabaseStats { photos })
}

/// What a database of an interrupted run already holds, so that it is not made again.
#[derive(Clone, Debug, Default)]
pub(super) struct Progress {
    photos: BTreeMap<String, KnownPhoto>,
    pairs: HashSet<i64>,
}

#[derive(Clone, Copy, Debug)]
struct KnownPhoto {
    image_id: i64,
    camera_id: i64,
    has_features: bool,
}

impl Progress {
    /// Reads it; nothing where there is no database yet.
    pub(super) fn read(path: &Path) -> Result<Self, SolveError> {
        if !path.exists() {
            return Ok(Self::default());
        }
        read_progress(path).map_err(|source| SolveError::Database {
            path: path.to_owned(),
            source,
        })
    }

    /// Whether a photo's features were looked for, found or not.
    pub(super) fn has_features(&self, name: &str) -> bool {
        self.photos
            .get(name)
            .is_some_and(|photo| photo.has_features)
    }

    /// The solver's camera of a photo that it knows.
    pub(super) fn camera_of(&self, name: &str) -> Option<i64> {
        self.photos.get(name).map(|photo| photo.camera_id)
    }

    /// Whether two photos were matched, with success or without.
    pub(super) fn is_matched(&self, a: &str, b: &str) -> bool {
        let (Some(a), Some(b)) = (self.photos.get(a), self.photos.get(b)) else {
            return false;
        };
        let (low, high) = (a.image_id.min(b.image_id), a.image_id.max(b.image_id));
        self.pairs.contains(&(MAX_IMAGE_ID * low + high))
    }
}

fn read_progress(path: &Path) -> rusqlite::Result<Progress> {
    let connection = Connection::open_with_flags(path, OpenFlags::SQLITE_OPEN_READ_ONLY)?;
    let mut statement = connection.prepare(
        "SELECT images.name, images.image_id, images.camera_id, keypoints.image_id IS NOT NULL \
         FROM images LEFT JOIN keypoints USING (image_id)",
    )?;
    let photos = statement
        .query_map([], |row| {
            let photo = KnownPhoto {
                image_id: row.get(1)?,
                camera_id: row.get(2)?,
                has_features: row.get(3)?,
            };
            Ok((row.get(0)?, photo))
        })?
        .collect::<rusqlite::Result<_>>()?;
    let mut statement = connection.prepare("SELECT pair_id FROM two_view_geometries")?;
    let pairs = statement
        .query_map([], |row| row.get(0))?
        .collect::<rusqlite::Result<_>>()?;
    Ok(Progress { photos, pairs })
}

/// Removes a database that cannot be used: COLMAP writes without waiting for the disk, so that a
/// power cut can leave half a page, and a kill at its very start leaves no tables. What it held is
/// made again.
pub(super) fn remove_unsound(path: &Path) -> std::io::Result<()> {
    if !path.exists() {
        return Ok(());
    }
    let why = match soundness(path) {
        Ok(said) if said == "ok" => return Ok(()),
        Ok(said) => said,
        Err(error) => error.to_string(),
    };
    tracing::warn!("{} is not sound and is made again: {why}", path.display());
    for ending in ["", "-wal", "-shm", "-journal"] {
        let mut file = path.as_os_str().to_owned();
        file.push(ending);
        match fs::remove_file(&file) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
    }
    Ok(())
}

fn soundness(path: &Path) -> rusqlite::Result<String> {
    // Writable, so that SQLite can put back what an interrupted writer left.
    let connection = Connection::open_with_flags(path, OpenFlags::SQLITE_OPEN_READ_WRITE)?;
    for table in ["images", "keypoints", "two_view_geometries"] {
        connection.query_row(&format!("SELECT COUNT(*) FROM {table}"), [], |_| Ok(()))?;
    }
    connection.query_row("PRAGMA quick_check(1)", [], |row| row.get(0))
}
