//! What lies in the folder to be ingested: loose files and bundles, in a fixed order.

use std::fs;
use std::path::{Path, PathBuf};

use super::SourceBundle;

/// A folder tree deeper than this is a loop of links.
const MAX_DEPTH: usize = 32;

/// A file to look at.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Candidate {
    /// Path relative to the source, with `/` between folders.
    pub(super) name: String,
    pub(super) path: PathBuf,
}

/// Why a source cannot be ingested.
#[derive(Debug, thiserror::Error)]
pub enum SourceError {
    /// There is nothing of that name.
    #[error("{} does not exist; name a photo, a folder of photos or a sealed bundle", path.display())]
    Missing {
        /// What was named.
        path: PathBuf,
    },
    /// It cannot be read.
    #[error("cannot read {}: {source}", path.display())]
    Read {
        /// Folder or file.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
}

/// Everything to look at, sorted by name, and the bundles among it.
#[derive(Debug, Default)]
pub(super) struct Found {
    pub(super) candidates: Vec<Candidate>,
    pub(super) bundles: Vec<SourceBundle>,
}

/// Walks a source. Bundles are verified on the way: one flipped byte refuses the whole ingest.
pub(super) fn find(
    source: &Path,
    on_bundle: &mut dyn FnMut(&Path, u64, u64),
) -> Result<Found, SourceError> {
    let mut found = Found::default();
    if source.is_file() {
        let name = source.file_name().map(|n| n.to_string_lossy().into_owned());
        let name = name.unwrap_or_default();
        found.candidates.push(Candidate {
            name,
            path: source.to_owned(),
        });
        return Ok(found);
    }
    if !source.is_dir() {
        return Err(SourceError::Missing {
            path: source.to_owned(),
        });
    }
    walk(source, "", 0, &mut found, on_bundle)?;
    found.candidates.sort();
    Ok(found)
}

fn walk(
    folder: &Path,
    prefix: &str,
    depth: usize,
    found: &mut Found,
    on_bundle: &mut dyn FnMut(&Path, u64, u64),
) -> Result<(), SourceError> {
    if depth > MAX_DEPTH {
        return Ok(());
    }
    let read = |source| SourceError::Read {
        path: folder.to_owned(),
        source,
    };
    for entry in fs::read_dir(folder).map_err(read)? {
        let entry = entry.map_err(read)?;
        let name = format!("{prefix}{}", entry.file_name().to_string_lossy());
        let path = entry.path();
        if path.is_dir() {
            walk(&path, &format!("{name}/"), depth + 1, found, on_bundle)?;
        } else {
            found.candidates.push(Candidate { name, path });
        }
    }
    Ok(())
}
