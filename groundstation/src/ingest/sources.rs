//! What lies in the folder to be ingested: loose files and bundles, in a fixed order.

use super::{SetAside, SetAsideCode, SourceBundle};
use record::bundle::{VerifiedBundle, VerifyReport, open_bundle};
use record::{BundleError, Fault};
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// The file that makes a folder a bag.
const BAG_FILE: &str = "bagit.txt";
/// The folder of a bag that holds what was bagged.
const PAYLOAD: &str = "data/";
/// What makes a folder a scene of ours.
const SCENE_PARTS: [&str; 3] = ["scene.sqlite", "rooms", "photos"];
/// Hex digits of a SHA-256.
const SHA256_DIGITS: usize = 64;

/// A file to look at.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Candidate {
    /// Path relative to the source, with `/` between folders.
    pub(super) name: String,
    pub(super) path: PathBuf,
    /// What a verified bundle lists for it.
    pub(super) expected_sha256: Option<String>,
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
    /// A bundle in it cannot be opened.
    #[error("the bundle {} is refused: {source}", path.display())]
    Bundle {
        /// The bundle's folder.
        path: PathBuf,
        /// What is wrong with it.
        source: BundleError,
    },
    /// A bundle in it is not what was bagged.
    #[error(
        "a bundle is refused: {0}; take it from the drone's card again, or take its photos \
             from its folder data if you must"
    )]
    Changed(VerifyReport),
    /// A file of a bundle was changed between its verification and its reading.
    #[error("{} was changed while it was being read: SHA-256 {found}, listed {expected}", path.display())]
    ChangedMeanwhile {
        /// The file.
        path: PathBuf,
        /// Digest that the bundle lists.
        expected: String,
        /// Digest of what was read.
        found: String,
    },
}

impl SourceError {
    /// Whether the source (rather than this program or the machine) is at fault.
    #[must_use]
    pub fn is_input_fault(&self) -> bool {
        match self {
            Self::Bundle { source, .. } => source.fault() == Fault::Input,
            Self::Missing { .. }
            | Self::Read { .. }
            | Self::Changed(_)
            | Self::ChangedMeanwhile { .. } => true,
        }
    }
}

/// Everything to look at, sorted by name, the bundles among it, and what is not looked at.
#[derive(Debug, Default)]
pub(super) struct Found {
    pub(super) candidates: Vec<Candidate>,
    pub(super) bundles: Vec<SourceBundle>,
    pub(super) set_aside: Vec<SetAside>,
}

/// Receives how far the verification of a bundle is: its folder, bytes done and bytes in all.
pub(super) type OnBundle<'a> = dyn FnMut(&Path, u64, u64) + 'a;

/// Walks a source. Bundles are verified on the way: one flipped byte refuses the whole ingest.
/// The scene that is being filled is left out where it lies in the source.
pub(super) fn find(
    source: &Path,
    scene_root: &Path,
    on_bundle: &mut OnBundle<'_>,
) -> Result<Found, SourceError> {
    let mut walk = Walk {
        scene_root: scene_root.canonicalize().ok(),
        above: BTreeSet::new(),
        found: Found::default(),
        on_bundle,
    };
    if source.is_dir() {
        let read = |error| SourceError::Read {
            path: source.to_owned(),
            source: error,
        };
        // Nothing can be done without the source itself; parts of it are set aside.
        fs::read_dir(source).map_err(read)?;
        walk.folder(source, "")?;
    } else if source.exists() {
        let name = source.file_name().map(|n| n.to_string_lossy().into_owned());
        walk.file(source.to_owned(), name.unwrap_or_default());
    } else {
        return Err(SourceError::Missing {
            path: source.to_owned(),
        });
    }
    let mut found = walk.found;
    found.candidates.sort();
    Ok(found)
}

struct Walk<'a> {
    scene_root: Option<PathBuf>,
    /// The folders that the walk is in, without links, against loops.
    above: BTreeSet<PathBuf>,
    found: Found,
    on_bundle: &'a mut OnBundle<'a>,
}

impl Walk<'_> {
    fn folder(&mut self, folder: &Path, prefix: &str) -> Result<(), SourceError> {
        let real = match folder.canonicalize() {
            Ok(real) => real,
            Err(error) => {
                self.set_aside(prefix, SetAsideCode::Unreadable, error.to_string());
                return Ok(());
            }
        };
        if self.scene_root.as_ref() == Some(&real) {
            return Ok(());
        }
        if SCENE_PARTS.iter().all(|part| real.join(part).exists()) {
            let reason = "a scene that was made earlier: not searched".to_owned();
            self.set_aside(prefix, SetAsideCode::Foreign, reason);
            return Ok(());
        }
        if !self.above.insert(real.clone()) {
            let reason = "a link back to a folder above it".to_owned();
            self.set_aside(prefix, SetAsideCode::Foreign, reason);
            return Ok(());
        }
        let outcome = if folder.join(BAG_FILE).is_file() {
            self.bundle(folder, prefix)
        } else {
            self.entries(folder, prefix)
        };
        self.above.remove(&real);
        outcome
    }

    fn entries(&mut self, folder: &Path, prefix: &str) -> Result<(), SourceError> {
        let entries = fs::read_dir(folder).and_then(Iterator::collect::<std::io::Result<Vec<_>>>);
        let entries = match entries {
            Ok(entries) => entries,
            Err(error) => {
                self.set_aside(prefix, SetAsideCode::Unreadable, error.to_string());
                return Ok(());
            }
        };
        for entry in entries {
            let name = format!("{prefix}{}", entry.file_name().to_string_lossy());
            let path = entry.path();
            if path.is_dir() {
                self.folder(&path, &format!("{name}/"))?;
            } else {
                self.file(path, name);
            }
        }
        Ok(())
    }

    /// Pipes and devices are never opened: reading them may not end.
    fn file(&mut self, path: PathBuf, name: String) {
        match path.metadata() {
            Ok(metadata) if metadata.is_file() => self.found.candidates.push(Candidate {
                name,
                path,
                expected_sha256: None,
            }),
            Ok(_) => {
                let reason = "neither a file nor a folder".to_owned();
                self.set_aside(&name, SetAsideCode::Foreign, reason);
            }
            Err(error) => self.set_aside(&name, SetAsideCode::Unreadable, error.to_string()),
        }
    }

    fn bundle(&mut self, folder: &Path, prefix: &str) -> Result<(), SourceError> {
        let refused = |source| SourceError::Bundle {
            path: folder.to_owned(),
            source,
        };
        let bundle = open_bundle(folder).map_err(refused)?;
        let on_bundle = &mut self.on_bundle;
        let verified = bundle
            .verify(&mut |progress| on_bundle(folder, progress.n_bytes_done, progress.n_bytes))
            .map_err(SourceError::Changed)?;
        let (bag, root_hash) = match &verified {
            VerifiedBundle::Sealed(sealed) => {
                (sealed.bag(), Some(sealed.seal().root_sha256.clone()))
            }
            VerifiedBundle::Unsealed(bag) => (bag, None),
        };
        self.found.bundles.push(SourceBundle {
            name: name_of(folder, prefix),
            is_sealed: root_hash.is_some(),
            root_hash,
        });
        for (payload_path, digest) in bag.payload() {
            let name = payload_path.strip_prefix(PAYLOAD).unwrap_or(payload_path);
            self.found.candidates.push(Candidate {
                name: format!("{prefix}{name}"),
                path: bag.path_of(payload_path),
                expected_sha256: (digest.len() == SHA256_DIGITS).then(|| digest.to_owned()),
            });
        }
        Ok(())
    }

    fn set_aside(&mut self, name: &str, code: SetAsideCode, reason: String) {
        self.found.set_aside.push(SetAside {
            name: name.trim_end_matches('/').to_owned(),
            code,
            reason,
        });
    }
}

/// A bundle's name: its path in the source, or the source's own name.
fn name_of(folder: &Path, prefix: &str) -> String {
    let inner = prefix.trim_end_matches('/');
    if inner.is_empty() {
        let own = folder.canonicalize().unwrap_or_else(|_| folder.to_owned());
        own.file_name()
            .map(|name| name.to_string_lossy().into_owned())
            .unwrap_or_default()
    } else {
        inner.to_owned()
    }
}
