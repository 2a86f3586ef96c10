//! What can go wrong when reading a photo or a bundle, and who can mend it.

use crate::storage::StorageError;
use std::path::PathBuf;
use thiserror::Error;

/// Who can mend a failure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// The file, folder or setting that was given.
    Input,
    /// This program or the machine it runs on.
    Ours,
}

impl Fault {
    /// The exit code of a command that ends with this fault: 1 for the input, 2 for ours.
    #[must_use]
    pub fn exit_code(self) -> u8 {
        match self {
            Fault::Input => 1,
            Fault::Ours => 2,
        }
    }
}

/// Why a file gave no [`crate::Capture`]. Damaged metadata inside a readable JPEG is not an
/// error: it becomes a remark of the capture.
#[derive(Debug, Error)]
pub enum PhotoError {
    /// The file is something else.
    #[error("not a JPEG photo: {found}")]
    NotJpeg {
        /// What its first bytes say it is.
        found: crate::capture::FileFormat,
    },
    /// A JPEG start without a frame header: there is no picture to decode.
    #[error("JPEG without a picture: no frame header in {scanned_bytes} bytes")]
    NoPicture {
        /// How far the header was read.
        scanned_bytes: u64,
    },
    /// The frame header states a side of zero pixels.
    #[error("JPEG frame of {width_px} x {height_px} pixels")]
    EmptyFrame {
        /// Stated width.
        width_px: u32,
        /// Stated height.
        height_px: u32,
    },
    /// The operating system did not give the bytes.
    #[error("cannot read {path}: {source}", path = path.display())]
    Read {
        /// The file that was asked for.
        path: PathBuf,
        /// What the operating system said.
        source: std::io::Error,
    },
}

impl PhotoError {
    /// Every photo error lies in the file that was given.
    #[must_use]
    pub fn fault(&self) -> Fault {
        Fault::Input
    }
}

/// Why a folder is no bundle that can be verified, or could not be read.
#[derive(Debug, Error)]
pub enum BundleError {
    /// The folder has no `bagit.txt`.
    #[error("{path} is not a bag: it has no bagit.txt", path = path.display())]
    NotABag {
        /// The folder.
        path: PathBuf,
    },
    /// `bagit.txt` does not say what RFC 8493 section 2.1.1 asks for.
    #[error("bagit.txt: expected {expected}, found {found:?}")]
    Declaration {
        /// The line or value the standard asks for.
        expected: &'static str,
        /// What is there (shortened).
        found: String,
    },
    /// The bag has manifests, but none with an algorithm that is trusted here.
    #[error(
        "the bag's only manifests use {found}: that no longer proves a file unchanged; \
         make the bag again with SHA-256 or SHA-512"
    )]
    WeakAlgorithm {
        /// The algorithms found, joined by commas.
        found: String,
    },
    /// The bag has no payload manifest at all.
    #[error("the bag has no manifest-sha256.txt or manifest-sha512.txt")]
    NoManifest,
    /// A line of a manifest is not a digest and a path.
    #[error("{manifest} line {line}: {problem}")]
    ManifestLine {
        /// The manifest's file name.
        manifest: String,
        /// Counted from 1.
        line: usize,
        /// What is wrong with it.
        problem: String,
    },
    /// A path that would leave the bag, or that cannot be a file of it.
    #[error("{place}: the path {found:?} {problem}")]
    UnsafePath {
        /// The manifest line or folder that names the path.
        place: String,
        /// The path as found.
        found: String,
        /// Why it is refused.
        problem: &'static str,
    },
    /// The bag holds something that is neither a file nor a folder.
    #[error("{path} is a {kind}: a bundle holds only files and folders", path = path.display())]
    NotAFile {
        /// Where it lies, relative to the bag.
        path: PathBuf,
        /// "symbolic link" or "special file".
        kind: &'static str,
    },
    /// `SEALED.json` is not a seal this version can read.
    #[error("SEALED.json: {problem}")]
    Seal {
        /// What is wrong with it.
        problem: String,
    },
    /// A file of the bag is larger than it can sensibly be.
    #[error("{path} has {found_bytes} bytes; at most {limit_bytes} are read", path = path.display())]
    TooLarge {
        /// The file, relative to the bag.
        path: PathBuf,
        /// Its size.
        found_bytes: u64,
        /// The limit.
        limit_bytes: u64,
    },
    /// The operating system did not give the bytes.
    #[error("cannot read {path}: {source}", path = path.display())]
    Read {
        /// The file or folder.
        path: PathBuf,
        /// What the operating system said.
        source: std::io::Error,
    },
}

impl BundleError {
    /// Every bundle error lies in the folder that was given.
    #[must_use]
    pub fn fault(&self) -> Fault {
        Fault::Input
    }
}

impl StorageError {
    /// A disk that is full, failing or read-only is not the input's fault.
    #[must_use]
    pub fn fault(&self) -> Fault {
        Fault::Ours
    }
}
