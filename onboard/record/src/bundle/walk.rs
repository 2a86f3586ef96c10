//! The files of a bag as they lie on the disk. Links and special files are refused: what they
//! point to is not part of the bag.

use crate::error::BundleError;
use std::collections::BTreeMap;
use std::fs::{self, Metadata};
use std::path::Path;

/// Deepest folder below the bag.
const MAX_DEPTH: usize = 64;

/// A file on the disk.
#[derive(Clone, Copy, Debug)]
pub(super) struct Found {
    pub(super) n_bytes: u64,
}

/// Every file below `root`, by its path relative to it with `/` between folders.
pub(super) fn files(root: &Path) -> Result<BTreeMap<String, Found>, BundleError> {
    let mut found = BTreeMap::new();
    let mut open = vec![(root.to_owned(), String::new(), 0)];
    while let Some((folder, below, depth)) = open.pop() {
        let read_error = |source| BundleError::Read {
            path: folder.clone(),
            source,
        };
        for entry in fs::read_dir(&folder).map_err(read_error)? {
            let entry = entry.map_err(read_error)?;
            let name = entry.file_name();
            let Some(name) = name.to_str() else {
                return Err(BundleError::UnsafePath {
                    place: folder.display().to_string(),
                    found: name.to_string_lossy().into_owned(),
                    problem: "is not UTF-8",
                });
            };
            let relative = if below.is_empty() {
                name.to_owned()
            } else {
                format!("{below}/{name}")
            };
            // The entry's own kind: a link is not followed.
            let metadata = fs::symlink_metadata(entry.path()).map_err(read_error)?;
            if metadata.is_dir() {
                if depth >= MAX_DEPTH {
                    return Err(BundleError::UnsafePath {
                        place: folder.display().to_string(),
                        found: relative,
                        problem: "is nested too deeply",
                    });
                }
                open.push((entry.path(), relative, depth + 1));
            } else if metadata.is_file() {
                let n_bytes = metadata.len();
                found.insert(relative, Found { n_bytes });
            } else {
                return Err(BundleError::NotAFile {
                    path: relative.into(),
                    kind: kind_of(&metadata),
                });
            }
        }
    }
    Ok(found)
}

pub(super) fn kind_of(metadata: &Metadata) -> &'static str {
    if metadata.is_symlink() {
        "symbolic link"
    } else if metadata.is_dir() {
        "folder"
    } else {
        "special file"
    }
}
