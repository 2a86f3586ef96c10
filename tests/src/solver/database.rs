//! COLMAP's database, as far as a mapper and its callers read it
//! (`src/colmap/scene/database_sqlite.cc`).

use rusqlite::{Connection, OptionalExtension, params};
use std::path::Path;

const TABLES: &str = "
CREATE TABLE IF NOT EXISTS cameras (
    camera_id INTEGER PRIMARY KEY AUTOINCREMENT NOT NULL, model INTEGER NOT NULL,
    width INTEGER NOT NULL, height INTEGER NOT NULL, params BLOB,
    prior_focal_length INTEGER NOT NULL);
CREATE TABLE IF NOT EXISTS images (
    image_id INTEGER PRIMARY KEY AUTOINCREMENT NOT NULL, name TEXT NOT NULL UNIQUE,
    camera_id INTEGER NOT NULL);
CREATE TABLE IF NOT EXISTS keypoints (
    image_id INTEGER PRIMARY KEY NOT NULL, rows INTEGER NOT NULL, cols INTEGER NOT NULL,
    data BLOB);
CREATE TABLE IF NOT EXISTS descriptors (
    image_id INTEGER PRIMARY KEY NOT NULL, rows INTEGER NOT NULL, cols INTEGER NOT NULL,
    data BLOB);
CREATE TABLE IF NOT EXISTS matches (
    pair_id INTEGER PRIMARY KEY NOT NULL, rows INTEGER NOT NULL, cols INTEGER NOT NULL,
    data BLOB);
CREATE TABLE IF NOT EXISTS two_view_geometries (
    pair_id INTEGER PRIMARY KEY NOT NULL, rows INTEGER NOT NULL, cols INTEGER NOT NULL,
    data BLOB, config INTEGER NOT NULL);
";
/// COLMAP's largest image id, by which pair ids are made.
const MAX_IMAGE_ID: i64 = 2_147_483_647;

/// A camera model's parameters.
#[derive(Clone, Debug)]
pub(super) struct Camera {
    pub(super) id: u32,
    /// COLMAP's number of the camera model.
    pub(super) model: u32,
    pub(super) size_px: [u32; 2],
    pub(super) parameters: Vec<f64>,
}

/// A photo of the database.
#[derive(Clone, Debug)]
pub(super) struct Image {
    pub(super) id: u32,
    pub(super) name: String,
    pub(super) camera_id: u32,
    pub(super) features: u32,
}

/// An open database.
pub(super) struct Database(Connection);

impl Database {
    pub(super) fn open(path: &Path) -> Self {
        let connection = Connection::open(path).expect("the database can be opened");
        // As COLMAP does.
        for (pragma, value) in [("journal_mode", "WAL"), ("synchronous", "OFF")] {
            connection
                .pragma_update(None, pragma, value)
                .expect("a setting of SQLite's");
        }
        connection
            .execute_batch(TABLES)
            .expect("the tables can be made");
        Self(connection)
    }

    pub(super) fn add_camera(&self, camera: &Camera) -> u32 {
        let bytes: Vec<u8> = camera
            .parameters
            .iter()
            .flat_map(|value| value.to_le_bytes())
            .collect();
        let [width, height] = camera.size_px;
        self.0
            .execute(
                "INSERT INTO cameras (model, width, height, params, prior_focal_length) \
                 VALUES (?1, ?2, ?3, ?4, 1)",
                params![camera.model, width, height, bytes],
            )
            .expect("a camera can be added");
        u32::try_from(self.0.last_insert_rowid()).expect("a small id")
    }

    pub(super) fn camera(&self, id: u32) -> Option<Camera> {
        self.0
            .query_row(
                "SELECT model, width, height, params FROM cameras WHERE camera_id = ?1",
                [id],
                |row| {
                    let bytes: Vec<u8> = row.get(3)?;
                    let values = bytes.chunks_exact(8).map(|value| {
                        f64::from_le_bytes(value.try_into().expect("eight bytes a number"))
                    });
                    Ok(Camera {
                        id,
                        model: row.get(0)?,
                        size_px: [row.get(1)?, row.get(2)?],
                        parameters: values.collect(),
                    })
                },
            )
            .optional()
            .expect("the cameras can be read")
    }

    pub(super) fn add_image(&self, name: &str, camera_id: u32, features: u32) {
        self.0
            .execute(
                "INSERT INTO images (name, camera_id) VALUES (?1, ?2)",
                params![name, camera_id],
            )
            .expect("a photo can be added");
        let id = self.0.last_insert_rowid();
        for table in ["keypoints", "descriptors"] {
            self.0
                .execute(
                    &format!("INSERT INTO {table} (image_id, rows, cols) VALUES (?1, ?2, 6)"),
                    params![id, features],
                )
                .expect("features can be added");
        }
    }

    pub(super) fn images(&self) -> Vec<Image> {
        let mut statement = self
            .0
            .prepare(
                "SELECT image_id, name, camera_id, rows FROM images JOIN keypoints \
                 USING (image_id) ORDER BY image_id",
            )
            .expect("the tables are there");
        statement
            .query_map([], |row| {
                Ok(Image {
                    id: row.get(0)?,
                    name: row.get(1)?,
                    camera_id: row.get(2)?,
                    features: row.get(3)?,
                })
            })
            .and_then(Iterator::collect)
            .expect("the photos can be read")
    }

    /// Adds pairs at once, or none of them: pairs that are there stay.
    pub(super) fn add_pairs(&mut self, pairs: &[(u32, u32, u32)]) {
        let transaction = self.0.transaction().expect("a transaction");
        for &(a, b, inliers) in pairs {
            let pair_id = MAX_IMAGE_ID * i64::from(a.min(b)) + i64::from(a.max(b));
            for (table, columns) in [
                ("matches", "(pair_id, rows, cols) VALUES (?1, ?2, 2)"),
                (
                    "two_view_geometries",
                    "(pair_id, rows, cols, config) VALUES (?1, ?2, 2, 2)",
                ),
            ] {
                transaction
                    .execute(
                        &format!("INSERT OR IGNORE INTO {table} {columns}"),
                        params![pair_id, inliers],
                    )
                    .expect("a pair can be added");
            }
        }
        transaction.commit().expect("the pairs can be kept");
    }

    pub(super) fn n_verified_pairs(&self) -> u32 {
        self.0
            .query_row(
                "SELECT COUNT(*) FROM two_view_geometries WHERE rows > 0",
                [],
                |row| row.get(0),
            )
            .expect("the pairs can be counted")
    }
}
