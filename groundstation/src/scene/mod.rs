//! A scene on disk: originals, room outputs, an index that can be queried, and a lock.
//!
//! ```text
//! SCENE/scene.sqlite        what is queryable; rebuilt from the rooms' outputs
//! SCENE/photos/<sha256>.jpg originals, content-addressed
//! SCENE/rooms/<room>/<digest of inputs>/   with made_from.json; `current` names one
//! SCENE/cache/              may be deleted at any time
//! SCENE/lock  SCENE/log/
//! ```

pub mod files;
pub mod index;
pub mod room;

pub use room::{MadeFrom, Publishing, RoomOutput, RoomState};

use record::{DiskStorage, Storage, StorageError};
use serde::{Deserialize, Serialize};
use std::fs::{self, File, OpenOptions, TryLockError};
use std::path::{Path, PathBuf};

/// The SHA-256 of a photo's original bytes, 64 lower-case hex digits.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct PhotoId(String);

impl PhotoId {
    /// From the digest's hex digits.
    #[must_use]
    pub fn from_sha256(hex: String) -> Self {
        Self(hex)
    }

    /// All 64 digits.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The first 16 digits, as shown to people.
    #[must_use]
    pub fn short(&self) -> &str {
        self.0.get(..16).unwrap_or(&self.0)
    }
}

impl std::fmt::Display for PhotoId {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.short())
    }
}

/// What is wrong with a scene folder.
#[derive(Debug, thiserror::Error)]
pub enum SceneError {
    /// There is no scene.
    #[error("{} is not a scene; make one with `groundstation ingest PHOTOS {}`", root.display(), root.display())]
    NotAScene {
        /// The folder.
        root: PathBuf,
    },
    /// The folder holds other things.
    #[error("{} is not empty and not a scene: found {found}; name a new or an empty folder", root.display())]
    Occupied {
        /// The folder.
        root: PathBuf,
        /// Something that lies in it.
        found: String,
    },
    /// Another process works on it.
    #[error("another groundstation is working on {}; wait until it has finished", root.display())]
    Locked {
        /// The folder.
        root: PathBuf,
    },
    /// An earlier room has not run.
    #[error("{} has no {room} yet; run `groundstation {} {}` first", root.display(), with_source(command), root.display())]
    Missing {
        /// The folder.
        root: PathBuf,
        /// The room.
        room: &'static str,
        /// The command that makes it.
        command: &'static str,
    },
    /// A stored file is newer than this program.
    #[error("{} is of schema {found} and this program reads {expected}; use a newer groundstation", path.display())]
    NewerSchema {
        /// The file.
        path: PathBuf,
        /// Its schema.
        found: String,
        /// Ours.
        expected: String,
    },
    /// A stored file is damaged.
    #[error("{} is damaged: {what}; delete the folder of this room and run it again", path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// What was found.
        what: String,
    },
    /// The scene's origin is damaged.
    #[error(
        "{} is damaged: {what}; copy the \"origin\" of a pose.json in rooms/pose into it, or make the \
         scene again", path.display()
    )]
    DamagedOrigin {
        /// The file.
        path: PathBuf,
        /// What was found.
        what: String,
    },
    /// The disk refuses.
    #[error(transparent)]
    Storage(#[from] StorageError),
    /// Reading failed.
    #[error("cannot read {}: {source}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
    /// The index failed.
    #[error("cannot use {}: {source}; delete it, it is made again from the rooms' outputs", path.display())]
    Index {
        /// The database.
        path: PathBuf,
        /// What SQLite said.
        source: rusqlite::Error,
    },
}

/// A command with the arguments it has before the scene.
fn with_source(command: &str) -> &str {
    match command {
        "ingest" => "ingest PHOTOS",
        other => other,
    }
}

impl SceneError {
    /// Whether the input (rather than this program or the machine) is at fault.
    #[must_use]
    pub fn is_input_fault(&self) -> bool {
        match self {
            Self::NotAScene { .. }
            | Self::Occupied { .. }
            | Self::Locked { .. }
            | Self::Missing { .. }
            | Self::NewerSchema { .. } => true,
            Self::Read { source, .. } => source.kind() == std::io::ErrorKind::NotFound,
            Self::Damaged { .. }
            | Self::DamagedOrigin { .. }
            | Self::Storage(_)
            | Self::Index { .. } => false,
        }
    }
}

/// An opened scene folder.
#[derive(Debug)]
pub struct SceneFolder {
    root: PathBuf,
    storage: DiskStorage,
    /// Held for as long as the scene is written.
    lock: Option<File>,
}

/// The query index.
const INDEX_FILE: &str = "scene.sqlite";

impl SceneFolder {
    /// Opens a scene for writing; makes it in a new or empty folder.
    ///
    /// # Errors
    /// [`SceneError::Occupied`], [`SceneError::Locked`], or the disk's.
    pub fn create_or_open(root: &Path) -> Result<Self, SceneError> {
        if !is_scene(root) {
            if let Some(found) = first_entry(root)? {
                return Err(SceneError::Occupied {
                    root: root.to_owned(),
                    found,
                });
            }
            files::create_dirs(&DiskStorage, root)?;
        }
        let lock = lock(root)?;
        let scene = Self {
            root: root.to_owned(),
            storage: DiskStorage,
            lock: Some(lock),
        };
        for folder in ["photos", "rooms", "cache", "log"] {
            files::create_dirs(&scene.storage, &scene.root.join(folder))?;
        }
        index::create(&scene.index_path())?;
        Ok(scene)
    }

    /// Opens an existing scene for writing.
    ///
    /// # Errors
    /// [`SceneError::NotAScene`], [`SceneError::Locked`], or the disk's.
    pub fn open(root: &Path) -> Result<Self, SceneError> {
        if !is_scene(root) {
            return Err(SceneError::NotAScene {
                root: root.to_owned(),
            });
        }
        Self::create_or_open(root)
    }

    /// Opens an existing scene to look at; another process may be writing.
    ///
    /// # Errors
    /// [`SceneError::NotAScene`].
    pub fn open_to_read(root: &Path) -> Result<Self, SceneError> {
        if !is_scene(root) {
            return Err(SceneError::NotAScene {
                root: root.to_owned(),
            });
        }
        Ok(Self {
            root: root.to_owned(),
            storage: DiskStorage,
            lock: None,
        })
    }

    /// The scene's folder.
    #[must_use]
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// Whether the scene was opened to write: nobody else can at the same time.
    #[must_use]
    pub fn is_locked(&self) -> bool {
        self.lock.is_some()
    }

    /// Where everything is written.
    #[must_use]
    pub fn storage(&self) -> &dyn Storage {
        &self.storage
    }

    /// A photo's original.
    #[must_use]
    pub fn photo_path(&self, photo_id: &PhotoId) -> PathBuf {
        self.root
            .join("photos")
            .join(format!("{}.jpg", photo_id.as_str()))
    }

    /// A photo's thumbnail, which may not exist.
    #[must_use]
    pub fn thumbnail_path(&self, photo_id: &PhotoId) -> PathBuf {
        self.cache_path()
            .join("thumbnails")
            .join(format!("{}.jpg", photo_id.as_str()))
    }

    /// What may be deleted at any time.
    #[must_use]
    pub fn cache_path(&self) -> PathBuf {
        self.root.join("cache")
    }

    /// The query index.
    #[must_use]
    pub fn index_path(&self) -> PathBuf {
        self.root.join(INDEX_FILE)
    }

    /// Where a command logs.
    #[must_use]
    pub fn log_path(&self) -> PathBuf {
        self.root.join("log").join("groundstation.log")
    }
}

/// The index can be made again; the rooms' outputs are what makes a scene.
fn is_scene(root: &Path) -> bool {
    root.join(INDEX_FILE).exists() || root.join("rooms").join("ingest").is_dir()
}

fn first_entry(root: &Path) -> Result<Option<String>, SceneError> {
    let read = |source| SceneError::Read {
        path: root.to_owned(),
        source,
    };
    match fs::read_dir(root) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(read(error)),
        Ok(mut entries) => match entries.next() {
            None => Ok(None),
            Some(entry) => {
                let name = entry.map_err(read)?.file_name();
                Ok(Some(name.to_string_lossy().into_owned()))
            }
        },
    }
}

fn lock(root: &Path) -> Result<File, SceneError> {
    let path = root.join("lock");
    let read = |source| SceneError::Read {
        path: path.clone(),
        source,
    };
    let file = OpenOptions::new()
        .create(true)
        .truncate(false)
        .write(true)
        .open(&path)
        .map_err(read)?;
    match file.try_lock() {
        Ok(()) => Ok(file),
        Err(TryLockError::WouldBlock) => Err(SceneError::Locked {
            root: root.to_owned(),
        }),
        Err(TryLockError::Error(error)) => Err(read(error)),
    }
}
