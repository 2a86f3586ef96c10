//! What COLMAP's database says of features and matches.
//!
//! Schema: COLMAP's `src/colmap/scene/database_sqlite.cc`; `pair_id = 2147483647 * smaller image
//! id + larger image id`.

use super::SolveError;
use rusqlite::{Connection, OpenFlags};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
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

/// How many pairs have been matched so far; `None` while the database is busy or not there.
pub(super) fn matched_pairs(path: &Path) -> Option<u64> {
    let connection = Connection::open_with_flags(path, OpenFlags::SQLITE_OPEN_READ_ONLY).ok()?;
    let count: i64 = connection
        .query_row("SELECT COUNT(*) FROM two_view_geometries", [], |row| {
            row.get(0)
        })
        .ok()?;
    u64::try_from(count).ok()
}
