//! Room outputs on disk: written aside, renamed, described by what they were made from.

use super::{SceneError, SceneFolder, files};
use console::canonical_json;
use record::{Storage, write_durably};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

const SCHEMA: &str = "made-from/1";

/// What a room's output was made from. Its digest names the output's folder.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct MadeFrom {
    /// `made-from/1`.
    pub schema: String,
    /// The room.
    pub room: String,
    /// Raised whenever the room's own computation changes.
    pub revision: u32,
    /// The program's version.
    pub tool_version: String,
    /// Digests of the inputs by name.
    pub inputs: BTreeMap<String, String>,
    /// The configuration.
    pub config: Value,
    /// Digests of the files made; filled in when the output is published.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub outputs: BTreeMap<String, String>,
}

impl MadeFrom {
    /// For a room's run.
    ///
    /// # Panics
    /// Never: configurations are plain structs, which JSON can hold.
    #[must_use]
    pub fn new(room: &str, revision: u32, config: &impl Serialize) -> Self {
        Self {
            schema: SCHEMA.to_owned(),
            room: room.to_owned(),
            revision,
            tool_version: env!("CARGO_PKG_VERSION").to_owned(),
            inputs: BTreeMap::new(),
            config: serde_json::to_value(config).expect("configurations are plain structs"),
            outputs: BTreeMap::new(),
        }
    }

    /// Adds an input by its digest.
    #[must_use]
    pub fn input(mut self, name: &str, digest: &str) -> Self {
        self.inputs.insert(name.to_owned(), digest.to_owned());
        self
    }

    /// The first 16 hex digits of the SHA-256 of the canonical JSON, outputs left out.
    fn digest(&self) -> String {
        let without_outputs = Self {
            outputs: BTreeMap::new(),
            ..self.clone()
        };
        let text = canonical_json(&without_outputs).expect("a plain struct");
        files::sha256(text.as_bytes())[..16].to_owned()
    }
}

/// A published output of a room.
#[derive(Clone, Debug)]
pub struct RoomOutput {
    /// Its folder.
    pub folder: PathBuf,
    /// What it was made from.
    pub made_from: MadeFrom,
}

/// Whether a run with these inputs is needed.
pub enum RoomState<'a> {
    /// It exists and is the current one now.
    Done(RoomOutput),
    /// It has to be made.
    Needed(Publishing<'a>),
}

impl SceneFolder {
    /// Looks for an output made from exactly this; makes it the current one if it exists.
    ///
    /// # Errors
    /// What the disk says.
    pub fn room(&self, made_from: MadeFrom) -> Result<RoomState<'_>, SceneError> {
        let folder = self.room_path(&made_from.room).join(made_from.digest());
        if let Some(output) = read_output(&folder)? {
            self.make_current(&made_from.room, &folder)?;
            return Ok(RoomState::Done(output));
        }
        Ok(RoomState::Needed(Publishing::start(
            self, made_from, folder,
        )?))
    }

    /// The current output of a room, if it has run.
    ///
    /// # Errors
    /// When it is damaged.
    pub fn current(&self, room: &str) -> Result<Option<RoomOutput>, SceneError> {
        let pointer = self.room_path(room).join("current");
        let Ok(name) = fs::read_to_string(&pointer) else {
            return Ok(None);
        };
        let name = name.trim();
        if name.is_empty() || !name.bytes().all(|b| b.is_ascii_hexdigit()) {
            let what = format!("\"{name}\" is not the name of a folder");
            return Err(SceneError::Damaged {
                path: pointer,
                what,
            });
        }
        read_output(&self.room_path(room).join(name))
    }

    /// The current output of a room that must have run.
    ///
    /// # Errors
    /// [`SceneError::Missing`] with the command to run.
    pub fn required(
        &self,
        room: &'static str,
        command: &'static str,
    ) -> Result<RoomOutput, SceneError> {
        self.current(room)?.ok_or_else(|| SceneError::Missing {
            root: self.root().to_owned(),
            room,
            command,
        })
    }

    fn room_path(&self, room: &str) -> PathBuf {
        self.root().join("rooms").join(room)
    }

    fn make_current(&self, room: &str, folder: &Path) -> Result<(), SceneError> {
        let name = folder
            .file_name()
            .map(|n| n.to_string_lossy().into_owned())
            .unwrap_or_default();
        let pointer = self.room_path(room).join("current");
        if fs::read_to_string(&pointer).is_ok_and(|known| known.trim() == name) {
            return Ok(());
        }
        write_durably(self.storage(), &pointer, format!("{name}\n").as_bytes())?;
        Ok(())
    }
}

fn read_output(folder: &Path) -> Result<Option<RoomOutput>, SceneError> {
    let path = folder.join("made_from.json");
    let text = match fs::read_to_string(&path) {
        Ok(text) => text,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        Err(source) => return Err(SceneError::Read { path, source }),
    };
    newer_schema(&path, &text)?;
    let made_from: MadeFrom = parse(&path, &text)?;
    Ok(Some(RoomOutput {
        folder: folder.to_owned(),
        made_from,
    }))
}

fn parse<T: DeserializeOwned>(path: &Path, text: &str) -> Result<T, SceneError> {
    serde_json::from_str(text).map_err(|error| match newer_schema(path, text) {
        Err(newer) => newer,
        Ok(()) => SceneError::Damaged {
            path: path.to_owned(),
            what: error.to_string(),
        },
    })
}

/// All schemas of ours are of version 1; a later one was written by a newer program.
fn newer_schema(path: &Path, text: &str) -> Result<(), SceneError> {
    let schema = serde_json::from_str::<Value>(text)
        .ok()
        .and_then(|value| value["schema"].as_str().map(str::to_owned));
    let Some((name, version)) = schema.as_deref().and_then(|s| s.split_once('/')) else {
        return Ok(());
    };
    match version.parse::<u32>() {
        Ok(found) if found > 1 => Err(SceneError::NewerSchema {
            path: path.to_owned(),
            found: format!("{name}/{found}"),
            expected: format!("{name}/1"),
        }),
        _ => Ok(()),
    }
}

impl RoomOutput {
    /// The digest of one file the room made: the input of the rooms that read it.
    ///
    /// # Errors
    /// [`SceneError::Damaged`] when the room made no such file.
    pub fn file_digest(&self, name: &str) -> Result<&str, SceneError> {
        self.made_from
            .outputs
            .get(name)
            .map(String::as_str)
            .ok_or_else(|| SceneError::Damaged {
                path: self.folder.join("made_from.json"),
                what: format!("it lists no {name}"),
            })
    }

    /// The name of its folder, which is the digest of what it was made from.
    #[must_use]
    pub fn made_from_digest(&self) -> String {
        self.made_from.digest()
    }

    /// Reads a JSON file of the output.
    ///
    /// # Errors
    /// When it is missing or damaged.
    pub fn read_json<T: DeserializeOwned>(&self, name: &str) -> Result<T, SceneError> {
        let path = self.folder.join(name);
        parse(&path, &self.read_text(name)?)
    }

    /// Reads a file of JSON lines.
    ///
    /// # Errors
    /// When it is missing or damaged.
    pub fn read_json_lines<T: DeserializeOwned>(&self, name: &str) -> Result<Vec<T>, SceneError> {
        let path = self.folder.join(name);
        let text = self.read_text(name)?;
        text.lines()
            .enumerate()
            .map(|(idx, line)| {
                serde_json::from_str(line).map_err(|error| SceneError::Damaged {
                    path: path.clone(),
                    what: format!("line {}: {error}", idx + 1),
                })
            })
            .collect()
    }

    /// A file's text, which must be what the room wrote.
    fn read_text(&self, name: &str) -> Result<String, SceneError> {
        let path = self.folder.join(name);
        let damaged = |what: String| SceneError::Damaged {
            path: path.clone(),
            what,
        };
        let text = match fs::read_to_string(&path) {
            Ok(text) => text,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                return Err(damaged("it is missing".to_owned()));
            }
            Err(error) if error.kind() == std::io::ErrorKind::InvalidData => {
                return Err(damaged(error.to_string()));
            }
            Err(source) => return Err(SceneError::Read { path, source }),
        };
        if files::sha256(text.as_bytes()) != self.file_digest(name)? {
            newer_schema(&path, &text)?;
            return Err(damaged("it is not what the room wrote".to_owned()));
        }
        Ok(text)
    }
}

/// An output being written, in a folder beside its final place. Dropped without
/// [`Publishing::publish`], it leaves nothing that counts.
pub struct Publishing<'a> {
    scene: &'a SceneFolder,
    made_from: MadeFrom,
    part: PathBuf,
    folder: PathBuf,
}

impl<'a> Publishing<'a> {
    fn start(
        scene: &'a SceneFolder,
        made_from: MadeFrom,
        folder: PathBuf,
    ) -> Result<Self, SceneError> {
        let part = folder.with_extension("part");
        if part.exists() {
            // Left by an interrupted run: it was never an output.
            fs::remove_dir_all(&part).map_err(|source| SceneError::Read {
                path: part.clone(),
                source,
            })?;
        }
        files::create_dirs(scene.storage(), &part)?;
        Ok(Self {
            scene,
            made_from,
            part,
            folder,
        })
    }

    /// The digest of what it is made from; names its folder.
    #[must_use]
    pub fn made_from_digest(&self) -> String {
        self.made_from.digest()
    }

    /// Writes a JSON file.
    ///
    /// # Errors
    /// What the disk says.
    pub fn write_json(&mut self, name: &str, value: &impl Serialize) -> Result<(), SceneError> {
        let text = canonical_json(value).expect("room outputs are plain structs");
        self.write(name, format!("{text}\n").as_bytes())
    }

    /// Writes a file of JSON lines.
    ///
    /// # Errors
    /// What the disk says.
    pub fn write_json_lines<T: Serialize>(
        &mut self,
        name: &str,
        values: &[T],
    ) -> Result<(), SceneError> {
        let mut text = String::new();
        for value in values {
            text.push_str(&canonical_json(value).expect("room outputs are plain structs"));
            text.push('\n');
        }
        self.write(name, text.as_bytes())
    }

    /// Writes a file.
    ///
    /// # Errors
    /// What the disk says.
    pub fn write(&mut self, name: &str, bytes: &[u8]) -> Result<(), SceneError> {
        let mut file = self.scene.storage().create_new(&self.part.join(name))?;
        file.write_all(bytes)?;
        file.sync()?;
        self.made_from
            .outputs
            .insert(name.to_owned(), files::sha256(bytes));
        Ok(())
    }

    /// Puts the output in its place and makes it the current one.
    ///
    /// # Errors
    /// What the disk says.
    pub fn publish(self) -> Result<RoomOutput, SceneError> {
        let storage: &dyn Storage = self.scene.storage();
        let text = canonical_json(&self.made_from).expect("a plain struct");
        let mut file = storage.create_new(&self.part.join("made_from.json"))?;
        file.write_all(format!("{text}\n").as_bytes())?;
        file.sync()?;
        storage.sync_dir(&self.part)?;
        if self.folder.exists() {
            // Without made_from.json it was no output (else it would have been used).
            fs::remove_dir_all(&self.folder).map_err(|source| SceneError::Read {
                path: self.folder.clone(),
                source,
            })?;
        }
        storage.rename(&self.part, &self.folder)?;
        if let Some(parent) = self.folder.parent() {
            storage.sync_dir(parent)?;
        }
        self.scene
            .make_current(&self.made_from.room, &self.folder)?;
        Ok(RoomOutput {
            folder: self.folder,
            made_from: self.made_from,
        })
    }
}
