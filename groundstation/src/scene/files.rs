//! Small file operations through [`Storage`], and digests.

use super::SceneError;
use record::{Storage, StorageError};
use sha2::{Digest, Sha256};
use std::fmt::Write as _;
use std::fs::File;
use std::io::Read;
use std::path::Path;

/// Creates a folder and what is missing above it.
///
/// # Errors
/// What the disk says.
pub fn create_dirs(storage: &dyn Storage, path: &Path) -> Result<(), StorageError> {
    if path.is_dir() || path.as_os_str().is_empty() {
        return Ok(());
    }
    if let Some(parent) = path.parent() {
        create_dirs(storage, parent)?;
    }
    match storage.create_dir(path) {
        // Somebody else may have made it in the meantime.
        Err(_) if path.is_dir() => Ok(()),
        outcome => outcome,
    }
}

/// Lower-case hex of a SHA-256.
#[must_use]
pub fn hex(digest: &[u8]) -> String {
    digest
        .iter()
        .fold(String::with_capacity(2 * digest.len()), |mut text, byte| {
            write!(text, "{byte:02x}").expect("writing to a String does not fail");
            text
        })
}

/// SHA-256 of bytes.
#[must_use]
pub fn sha256(bytes: &[u8]) -> String {
    hex(&Sha256::digest(bytes))
}

/// SHA-256 of a file's bytes.
///
/// # Errors
/// [`SceneError::Read`].
pub fn sha256_of_file(path: &Path) -> Result<String, SceneError> {
    let read = |source| SceneError::Read {
        path: path.to_owned(),
        source,
    };
    let mut file = File::open(path).map_err(read)?;
    let mut hasher = Sha256::new();
    let mut chunk = vec![0; 1 << 20];
    loop {
        let n_bytes = file.read(&mut chunk).map_err(read)?;
        if n_bytes == 0 {
            return Ok(hex(&hasher.finalize()));
        }
        hasher.update(&chunk[..n_bytes]);
    }
}
