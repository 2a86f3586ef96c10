//! What several tests need: engines, shared data, small pictures.

use detector::{EngineChoice, EngineOptions, LIBRARY_VARIABLE, RgbImage};
use std::path::{Path, PathBuf};

/// The built-in engine: always there, so that tests do not depend on an installation.
pub(crate) fn rten() -> EngineOptions {
    EngineOptions {
        engine: EngineChoice::Rten,
        ..EngineOptions::default()
    }
}

/// ONNX Runtime's library, from the environment or the setup folder.
pub(crate) fn onnx_runtime_library() -> PathBuf {
    let named = std::env::var_os(LIBRARY_VARIABLE).map(PathBuf::from);
    let setup = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../.setup/onnxruntime");
    let place = named.unwrap_or(setup);
    if place.is_file() {
        return place;
    }
    let mut found: Vec<PathBuf> = std::fs::read_dir(&place)
        .into_iter()
        .flatten()
        .flatten()
        .map(|entry| entry.path())
        .filter(|path| path.to_string_lossy().contains("libonnxruntime.so"))
        .collect();
    found.sort();
    found.pop().unwrap_or_else(|| {
        panic!(
            "ONNX Runtime's library is not in {}: `make setup` installs it",
            place.display()
        )
    })
}

/// ONNX Runtime.
pub(crate) fn onnx_runtime() -> EngineOptions {
    EngineOptions {
        engine: EngineChoice::OnnxRuntime,
        library: Some(onnx_runtime_library()),
        ..EngineOptions::default()
    }
}

/// A file of the shared test data; `None`, with a line on stderr, when the folder is absent.
pub(crate) fn shared(path: &str) -> Option<PathBuf> {
    let folder = std::env::var_os("OVERLOOK_SHARED").map_or_else(
        || PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../shared"),
        PathBuf::from,
    );
    if !folder.join("data").is_dir() {
        eprintln!("skipped: shared/data absent");
        return None;
    }
    Some(folder.join("data").join(path))
}

pub(crate) fn read_photo(path: &std::path::Path) -> RgbImage {
    let photo = image::open(path).expect("the photo decodes").into_rgb8();
    RgbImage::new(photo.width(), photo.height(), photo.into_raw())
        .expect("the decoder gives whole pixels")
}
