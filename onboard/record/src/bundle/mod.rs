//! The sealed scene bundle: a BagIt bag (RFC 8493) with `SEALED.json` beside it.
//!
//! [`open_bundle`] reads what the bag says about itself; [`Bundle::verify`] reads every file and
//! proves it. Bags of others are read too: BagIt 0.97 and 1.0, manifests with SHA-256 or SHA-512.
//! A bag without `SEALED.json` can be proved whole, but it is not a sealed bundle.

mod manifest;
mod seal;
mod verify;
mod walk;

pub use manifest::Algorithm;
pub use seal::{Seal, SealSignature};
pub use verify::{Problem, Progress, SealedBundle, VerifiedBag, VerifiedBundle, VerifyReport};

use crate::error::BundleError;
use manifest::{BagVersion, Manifest};
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use walk::Found;

/// Largest `bagit.txt`, `bag-info.txt` or `SEALED.json` that is read.
const MAX_TAG_FILE_BYTES: u64 = 1 << 20;
/// Largest manifest that is read: about a million files.
const MAX_MANIFEST_BYTES: u64 = 256 << 20;
/// The seal's file name.
const SEAL_FILE: &str = "SEALED.json";

/// A bag whose manifests were read and make sense; its files are not proved yet.
#[derive(Debug)]
pub struct Bundle {
    root: PathBuf,
    /// Payload manifests, strongest last.
    payload_manifests: Vec<Manifest>,
    /// Tag manifests, strongest last.
    tag_manifests: Vec<Manifest>,
    info: BTreeMap<String, String>,
    seal: Option<Box<Seal>>,
    /// Every file of the bag as it lies on the disk.
    found: BTreeMap<String, Found>,
}

/// Reads the bag in the folder `path`: its declaration, manifests and seal, and which files are
/// there. Nothing is hashed yet.
///
/// # Errors
/// When the folder is no bag, names paths outside itself, holds links, has only manifests that
/// prove nothing (MD5, SHA-1), or a seal that cannot be read.
pub fn open_bundle(path: &Path) -> Result<Bundle, BundleError> {
    let Some(declaration) = read_tag_file(path, "bagit.txt", MAX_TAG_FILE_BYTES)? else {
        return Err(BundleError::NotABag {
            path: path.to_owned(),
        });
    };
    let version = BagVersion::from_declaration(&declaration)?;
    let found = walk::files(path)?;
    let (payload_manifests, weak) = read_manifests(path, &found, "manifest-", version)?;
    if payload_manifests.is_empty() {
        return Err(if weak.is_empty() {
            BundleError::NoManifest
        } else {
            BundleError::WeakAlgorithm {
                found: weak.join(", "),
            }
        });
    }
    let (tag_manifests, _) = read_manifests(path, &found, "tagmanifest-", version)?;
    let info = match read_tag_file(path, "bag-info.txt", MAX_TAG_FILE_BYTES)? {
        Some(text) => manifest::bag_info(&text),
        None => BTreeMap::new(),
    };
    let seal = match read_tag_file(path, SEAL_FILE, MAX_TAG_FILE_BYTES)? {
        Some(text) => Some(Box::new(Seal::parse(&text)?)),
        None => None,
    };
    Ok(Bundle {
        root: path.to_owned(),
        payload_manifests,
        tag_manifests,
        info,
        seal,
        found,
    })
}

impl Bundle {
    /// The bag's folder.
    #[must_use]
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// The seal, if the bag has one.
    #[must_use]
    pub fn seal(&self) -> Option<&Seal> {
        self.seal.as_deref()
    }

    /// A value of `bag-info.txt`; repeated labels are joined by line breaks.
    #[must_use]
    pub fn info(&self, label: &str) -> Option<&str> {
        self.info.get(label).map(String::as_str)
    }

    /// Paths of the payload files as the manifest lists them, sorted, with `/` between folders and
    /// relative to the bag (`data/...`).
    pub fn payload_paths(&self) -> impl Iterator<Item = &str> {
        self.strongest().digests.keys().map(String::as_str)
    }

    fn strongest(&self) -> &Manifest {
        self.payload_manifests
            .last()
            .expect("open_bundle refuses bags without a manifest")
    }
}

/// The manifests with trusted algorithms whose names start with `prefix`, weakest first, and the
/// names of the other algorithms.
fn read_manifests(
    root: &Path,
    found: &BTreeMap<String, Found>,
    prefix: &str,
    version: BagVersion,
) -> Result<(Vec<Manifest>, Vec<String>), BundleError> {
    let mut manifests = Vec::new();
    let mut weak = Vec::new();
    for name in found.keys() {
        let Some(algorithm) = name
            .strip_prefix(prefix)
            .and_then(|rest| rest.strip_suffix(".txt"))
        else {
            continue;
        };
        let Some(algorithm) = Algorithm::by_name(algorithm) else {
            weak.push(algorithm.to_owned());
            continue;
        };
        let text = read_tag_file(root, name, MAX_MANIFEST_BYTES)?.unwrap_or_default();
        manifests.push(Manifest::parse(name, algorithm, &text, version)?);
    }
    manifests.sort_by_key(|manifest| manifest.algorithm);
    Ok((manifests, weak))
}

/// The text of a tag file in the bag's folder; nothing when it is not there.
fn read_tag_file(root: &Path, name: &str, limit_bytes: u64) -> Result<Option<String>, BundleError> {
    let path = root.join(name);
    let read_error = |source| BundleError::Read {
        path: path.clone(),
        source,
    };
    let metadata = match fs::symlink_metadata(&path) {
        Ok(metadata) => metadata,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(read_error(error)),
    };
    if !metadata.is_file() {
        return Err(BundleError::NotAFile {
            path: name.into(),
            kind: walk::kind_of(&metadata),
        });
    }
    if metadata.len() > limit_bytes {
        return Err(BundleError::TooLarge {
            path: name.into(),
            found_bytes: metadata.len(),
            limit_bytes,
        });
    }
    let bytes = fs::read(&path).map_err(read_error)?;
    String::from_utf8(bytes)
        .map(Some)
        .map_err(|error| read_error(std::io::Error::new(std::io::ErrorKind::InvalidData, error)))
}

/// Bytes as lower-case hex digits.
fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
