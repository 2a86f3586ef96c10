//! Outputs of rooms on disk: `rooms/<room>/<made from>/` with `made_from.json`, and `current`.

use crate::error::SimulatorError;
use serde_json::{Map, Value, json};
use sha2::{Digest, Sha256};
use std::path::Path;

/// Lower-case hex of a SHA-256.
pub(super) fn sha256(bytes: &[u8]) -> String {
    Sha256::digest(bytes)
        .iter()
        .map(|byte| format!("{byte:02x}"))
        .collect()
}

/// Writes a file and the folders above it.
pub(super) fn write_file(file: &Path, bytes: &[u8]) -> Result<(), SimulatorError> {
    let write = |source| SimulatorError::Write {
        file: file.to_owned(),
        source,
    };
    if let Some(folder) = file.parent() {
        std::fs::create_dir_all(folder).map_err(write)?;
    }
    std::fs::write(file, bytes).map_err(write)
}

/// An output: what it was made from, and its files.
pub(super) struct RoomOutput<'a> {
    pub(super) room: &'a str,
    /// Digests by name.
    pub(super) inputs: Value,
    pub(super) config: Value,
    /// Texts by name.
    pub(super) files: Vec<(&'a str, String)>,
}

/// JSON with sorted keys on one line.
pub(super) fn line(value: &Value) -> String {
    format!("{value}\n")
}

impl RoomOutput<'_> {
    /// Writes it and makes it the current one. The folder is named by the first 16 digits of the
    /// digest of all that it was made from.
    pub(super) fn write(&self, scene: &Path) -> Result<(), SimulatorError> {
        let mut made_from = json!({
            "schema": "made-from/1",
            "room": self.room,
            "revision": 1,
            "tool_version": env!("CARGO_PKG_VERSION"),
            "inputs": self.inputs,
            "config": self.config,
        });
        let name = sha256(made_from.to_string().as_bytes())[..16].to_owned();
        let room = scene.join("rooms").join(self.room);
        let mut digests = Map::new();
        for (file, text) in &self.files {
            digests.insert((*file).to_owned(), sha256(text.as_bytes()).into());
            write_file(&room.join(&name).join(file), text.as_bytes())?;
        }
        made_from["outputs"] = digests.into();
        let stated = line(&made_from);
        write_file(&room.join(&name).join("made_from.json"), stated.as_bytes())?;
        write_file(&room.join("current"), format!("{name}\n").as_bytes())
    }
}
