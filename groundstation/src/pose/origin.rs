//! The origin of a scene's frame, fixed by the first run that has one.

use crate::scene::{SceneError, SceneFolder};
use calibration::LocalOrigin;
use record::write_durably;
use serde::{Deserialize, Serialize};
use std::fs;

/// Where the scene keeps its origin, fixed at the first pose run.
const ORIGIN_FILE: &str = "origin.json";

#[derive(Serialize, Deserialize)]
struct OriginFile {
    schema: String,
    origin: LocalOrigin,
}

/// The stored origin, if there is one.
pub(super) fn stored_origin(folder: &SceneFolder) -> Result<Option<LocalOrigin>, SceneError> {
    let path = folder.root().join(ORIGIN_FILE);
    match fs::read_to_string(&path) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
        Err(source) => Err(SceneError::Read { path, source }),
        Ok(text) => serde_json::from_str::<OriginFile>(&text)
            .map(|file| Some(file.origin))
            .map_err(|error| SceneError::DamagedOrigin {
                path,
                what: error.to_string(),
            }),
    }
}

/// Fixes the scene's origin once and for all.
pub(super) fn store_origin(folder: &SceneFolder, origin: &LocalOrigin) -> Result<(), SceneError> {
    let path = folder.root().join(ORIGIN_FILE);
    if path.exists() {
        return Ok(());
    }
    let file = OriginFile {
        schema: "scene-origin/1".to_owned(),
        origin: *origin,
    };
    let text = console::canonical_json(&file).expect("a plain struct");
    write_durably(folder.storage(), &path, format!("{text}\n").as_bytes())?;
    Ok(())
}
