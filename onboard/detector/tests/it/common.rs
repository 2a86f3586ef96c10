//! What several tests need: engines, shared data, small pictures.

use detector::{EngineChoice, EngineOptions, RgbImage};
use std::path::PathBuf;

/// The built-in engine: always there, so that tests do not depend on an installation.
pub(crate) fn rten() -> EngineOptions {
    EngineOptions {
        engine: EngineChoice::Rten,
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
