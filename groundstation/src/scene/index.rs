//! `scene.sqlite`: what is queryable, loaded from the rooms' outputs. It can be deleted and is
//! filled again by the next run of each room; the rooms' own files are what counts.

use super::{SceneError, SceneFolder};
use rusqlite::{Connection, Transaction};
use std::path::Path;
use std::time::Duration;

/// `user_version` of the database.
const VERSION: i64 = 1;

const TABLES: &str = "
CREATE TABLE IF NOT EXISTS room (
    room TEXT PRIMARY KEY, made_from TEXT NOT NULL) STRICT;
CREATE TABLE IF NOT EXISTS photo (
    photo_id TEXT PRIMARY KEY, width_px INTEGER NOT NULL, height_px INTEGER NOT NULL,
    bytes INTEGER NOT NULL, flight INTEGER NOT NULL, camera INTEGER NOT NULL,
    utc TEXT, utc_plus_minus_s REAL, latitude_deg REAL, longitude_deg REAL,
    height_above_takeoff_m REAL, pitch_deg REAL) STRICT;
CREATE TABLE IF NOT EXISTS photo_name (
    photo_id TEXT NOT NULL, name TEXT NOT NULL, PRIMARY KEY (photo_id, name)) STRICT;
CREATE TABLE IF NOT EXISTS set_aside (
    name TEXT NOT NULL, code TEXT NOT NULL, reason TEXT NOT NULL) STRICT;
CREATE TABLE IF NOT EXISTS detection (
    detection_id TEXT PRIMARY KEY, photo_id TEXT NOT NULL, class TEXT NOT NULL,
    score REAL NOT NULL, x_px REAL NOT NULL, y_px REAL NOT NULL, long_px REAL NOT NULL,
    short_px REAL NOT NULL, angle_deg REAL NOT NULL, truncated INTEGER NOT NULL) STRICT;
CREATE INDEX IF NOT EXISTS detection_by_photo ON detection (photo_id);
CREATE TABLE IF NOT EXISTS pose (
    photo_id TEXT PRIMARY KEY, source TEXT NOT NULL, east_m REAL, north_m REAL, up_m REAL,
    horizontal_residual_m REAL, vertical_residual_m REAL, reason TEXT) STRICT;
CREATE TABLE IF NOT EXISTS anchor (
    detection_id TEXT PRIMARY KEY, method TEXT NOT NULL, east_m REAL, north_m REAL, up_m REAL,
    major_sigma_m REAL, minor_sigma_m REAL, reason TEXT) STRICT;
CREATE TABLE IF NOT EXISTS entity (
    entity_id TEXT PRIMARY KEY, east_m REAL NOT NULL, north_m REAL NOT NULL, up_m REAL NOT NULL,
    photos INTEGER NOT NULL, confirmed INTEGER NOT NULL) STRICT;
CREATE TABLE IF NOT EXISTS entity_member (
    entity_id TEXT NOT NULL, detection_id TEXT NOT NULL,
    PRIMARY KEY (entity_id, detection_id)) STRICT;
";

fn open(path: &Path) -> rusqlite::Result<Connection> {
    let connection = Connection::open(path)?;
    connection.busy_timeout(Duration::from_secs(10))?;
    connection.pragma_update(None, "journal_mode", "WAL")?;
    connection.pragma_update(None, "synchronous", "FULL")?;
    Ok(connection)
}

fn index_error(path: &Path) -> impl FnOnce(rusqlite::Error) -> SceneError + '_ {
    |source| SceneError::Index {
        path: path.to_owned(),
        source,
    }
}

/// Makes the database, or checks that this program can use the one that is there.
pub(super) fn create(path: &Path) -> Result<(), SceneError> {
    let connection = open(path).map_err(index_error(path))?;
    let found: i64 = connection
        .query_row("PRAGMA user_version", [], |row| row.get(0))
        .map_err(index_error(path))?;
    if found > VERSION {
        return Err(SceneError::NewerSchema {
            path: path.to_owned(),
            found: format!("version {found}"),
            expected: format!("version {VERSION}"),
        });
    }
    connection
        .execute_batch(TABLES)
        .map_err(index_error(path))?;
    connection
        .pragma_update(None, "user_version", VERSION)
        .map_err(index_error(path))
}

impl SceneFolder {
    /// Brings the index up to date with a room's current output: `fill` puts the rows into the
    /// tables, which have been emptied, unless they already show this very output.
    ///
    /// # Errors
    /// [`SceneError::Index`].
    pub fn update_index(
        &self,
        room: &str,
        made_from: &str,
        tables: &[&str],
        fill: impl FnOnce(&Transaction<'_>) -> rusqlite::Result<()>,
    ) -> Result<(), SceneError> {
        let path = self.index_path();
        let run = || -> rusqlite::Result<()> {
            let mut connection = open(&path)?;
            let shown: Option<String> = connection
                .query_row(
                    "SELECT made_from FROM room WHERE room = ?1",
                    [room],
                    |row| row.get(0),
                )
                .map(Some)
                .or_else(|error| match error {
                    rusqlite::Error::QueryReturnedNoRows => Ok(None),
                    other => Err(other),
                })?;
            if shown.as_deref() == Some(made_from) {
                return Ok(());
            }
            let transaction = connection.transaction()?;
            for table in tables {
                transaction.execute(&format!("DELETE FROM {table}"), [])?;
            }
            fill(&transaction)?;
            transaction.execute(
                "INSERT INTO room (room, made_from) VALUES (?1, ?2) \
                 ON CONFLICT (room) DO UPDATE SET made_from = excluded.made_from",
                [room, made_from],
            )?;
            transaction.commit()
        };
        run().map_err(index_error(&path))
    }
}
