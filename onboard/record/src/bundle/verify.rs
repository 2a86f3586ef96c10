//! Proves a bag: every file listed is there with its digest, and nothing else is.

use super::manifest::{Algorithm, Manifest};
use super::{Bundle, SEAL_FILE, Seal, hex};
use sha2::{Digest, Sha256, Sha512};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

/// Bytes hashed between two calls of the progress callback.
const CHUNK_BYTES: usize = 1 << 20;
/// The tag manifest that the seal's root hash is of.
const ROOT_MANIFEST: &str = "tagmanifest-sha256.txt";

/// How far a verification has come.
#[derive(Clone, Copy, Debug)]
pub struct Progress<'a> {
    /// The file being read, relative to the bag.
    pub path: &'a str,
    /// Files done.
    pub n_files_done: u64,
    /// Files to do.
    pub n_files: u64,
    /// Bytes done.
    pub n_bytes_done: u64,
    /// Bytes to do.
    pub n_bytes: u64,
}

/// One thing that is wrong with a bag.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Problem {
    /// A file's bytes are not those that were listed.
    Changed {
        /// The file, relative to the bag.
        path: String,
        /// Digest listed.
        expected: String,
        /// Digest of what is there.
        found: String,
    },
    /// A listed file is not there.
    Missing {
        /// The file, relative to the bag.
        path: String,
    },
    /// A file is there that no manifest lists.
    Extra {
        /// The file, relative to the bag.
        path: String,
    },
    /// A file is in one manifest and not in another.
    NotInManifest {
        /// The file, relative to the bag.
        path: String,
        /// The manifest that lacks it.
        manifest: String,
    },
    /// A file could not be read to its end.
    Unreadable {
        /// The file, relative to the bag.
        path: String,
        /// What the operating system said.
        problem: String,
    },
    /// `Payload-Oxum` in `bag-info.txt` is not the size and number of the payload files.
    PayloadOxum {
        /// As stated.
        expected: String,
        /// Bytes and files there.
        found: String,
    },
    /// The bag is sealed, but has no tag manifest with SHA-256 to seal.
    NothingSealed,
    /// The seal is for another tag manifest.
    RootHash {
        /// The seal's root hash.
        expected: String,
        /// The tag manifest's hash.
        found: String,
    },
    /// The seal's signature is wrong.
    Signature {
        /// In which way.
        problem: &'static str,
    },
}

impl Problem {
    /// The file it is about, if it is about one.
    #[must_use]
    pub fn path(&self) -> Option<&str> {
        match self {
            Problem::Changed { path, .. }
            | Problem::Missing { path }
            | Problem::Extra { path }
            | Problem::NotInManifest { path, .. }
            | Problem::Unreadable { path, .. } => Some(path),
            Problem::RootHash { .. } | Problem::NothingSealed => Some(ROOT_MANIFEST),
            Problem::Signature { .. } => Some(SEAL_FILE),
            Problem::PayloadOxum { .. } => Some("bag-info.txt"),
        }
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let short = |digest: &str| digest[..digest.len().min(12)].to_owned();
        match self {
            Problem::Changed {
                path,
                expected,
                found,
            } => write!(
                f,
                "{path:?} was changed (digest {}..., listed {}...)",
                short(found),
                short(expected)
            ),
            Problem::Missing { path } => write!(f, "{path:?} is missing"),
            Problem::Extra { path } => write!(f, "{path:?} is not listed"),
            Problem::NotInManifest { path, manifest } => {
                write!(f, "{path:?} is not in {manifest}")
            }
            Problem::Unreadable { path, problem } => {
                write!(f, "{path:?} cannot be read: {problem}")
            }
            Problem::PayloadOxum { expected, found } => {
                write!(
                    f,
                    "bag-info.txt states Payload-Oxum {expected}, found {found}"
                )
            }
            Problem::NothingSealed => write!(f, "sealed, but {ROOT_MANIFEST} is not there"),
            Problem::RootHash { expected, found } => write!(
                f,
                "the seal is for another {ROOT_MANIFEST} (hash {}..., sealed {}...)",
                short(found),
                short(expected)
            ),
            Problem::Signature { problem } => write!(f, "{SEAL_FILE}: {problem}"),
        }
    }
}

/// Everything that is wrong with a bag, sorted.
#[derive(Debug)]
pub struct VerifyReport {
    /// The bag's folder.
    pub root: PathBuf,
    /// What is wrong; never empty.
    pub problems: Vec<Problem>,
    /// How many files were read.
    pub n_files: u64,
}

impl fmt::Display for VerifyReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{} is not what was bagged: {} problems in {} files",
            self.root.display(),
            self.problems.len(),
            self.n_files
        )?;
        for problem in &self.problems {
            write!(f, "\n  {problem}")?;
        }
        Ok(())
    }
}

impl std::error::Error for VerifyReport {}

/// A bag of which every byte was proved.
#[derive(Debug)]
pub struct VerifiedBag {
    root: PathBuf,
    /// SHA-256 where listed, else SHA-512, in hex, by path relative to the bag.
    payload: BTreeMap<String, String>,
}

impl VerifiedBag {
    /// The bag's folder.
    #[must_use]
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// Payload files, sorted: path relative to the bag (`data/...`) and digest in lower-case hex
    /// (SHA-256 where the bag lists it, else SHA-512).
    pub fn payload(&self) -> impl Iterator<Item = (&str, &str)> {
        self.payload
            .iter()
            .map(|(path, digest)| (path.as_str(), digest.as_str()))
    }

    /// Where a payload file lies on the disk.
    #[must_use]
    pub fn path_of(&self, payload_path: &str) -> PathBuf {
        self.root.join(payload_path)
    }
}

/// A bag that was proved and whose seal fits it.
#[derive(Debug)]
pub struct SealedBundle {
    bag: VerifiedBag,
    seal: Box<Seal>,
}

impl SealedBundle {
    /// The seal.
    #[must_use]
    pub fn seal(&self) -> &Seal {
        &self.seal
    }

    /// The proved files.
    #[must_use]
    pub fn bag(&self) -> &VerifiedBag {
        &self.bag
    }
}

/// What a verification proved.
#[derive(Debug)]
pub enum VerifiedBundle {
    /// Whole and sealed.
    Sealed(SealedBundle),
    /// Whole, but without a seal: a bag of someone else, or one whose sealing was cut short.
    Unsealed(VerifiedBag),
}

impl Bundle {
    /// Reads every file of the bag and proves it, telling `progress` after each chunk.
    ///
    /// # Errors
    /// When any file was changed, is missing or was added, or when the seal does not fit: the
    /// report names each.
    pub fn verify(
        self,
        progress: &mut dyn FnMut(Progress<'_>),
    ) -> Result<VerifiedBundle, VerifyReport> {
        let mut problems = Vec::new();
        self.check_lists(&mut problems);
        let n_files = self.check_digests(&mut problems, progress);
        self.check_seal(&mut problems);
        if !problems.is_empty() {
            problems.sort();
            problems.dedup();
            return Err(VerifyReport {
                root: self.root,
                problems,
                n_files,
            });
        }
        let weakest = self.payload_manifests.into_iter().next();
        let bag = VerifiedBag {
            root: self.root,
            payload: weakest.map(|manifest| manifest.digests).unwrap_or_default(),
        };
        Ok(match self.seal {
            Some(seal) => VerifiedBundle::Sealed(SealedBundle { bag, seal }),
            None => VerifiedBundle::Unsealed(bag),
        })
    }

    /// Files against lists: missing, extra, in one manifest only, and the stated totals.
    fn check_lists(&self, problems: &mut Vec<Problem>) {
        for manifests in [&self.payload_manifests, &self.tag_manifests] {
            let listed: BTreeSet<&String> = manifests
                .iter()
                .flat_map(|manifest| manifest.digests.keys())
                .collect();
            for path in listed {
                if !self.found.contains_key(path) {
                    problems.push(Problem::Missing { path: path.clone() });
                }
                for manifest in manifests {
                    if !manifest.digests.contains_key(path) {
                        problems.push(Problem::NotInManifest {
                            path: path.clone(),
                            manifest: manifest.name.clone(),
                        });
                    }
                }
            }
        }
        for path in self.found.keys() {
            let is_listed = |manifests: &[Manifest]| {
                manifests
                    .iter()
                    .any(|manifest| manifest.digests.contains_key(path))
            };
            let is_extra = if path.starts_with("data/") {
                !is_listed(&self.payload_manifests)
            } else {
                // Bags of others may have tag files that nothing lists; ours list all of them.
                self.seal.is_some()
                    && path != SEAL_FILE
                    && !path.starts_with("tagmanifest-")
                    && !is_listed(&self.tag_manifests)
            };
            if is_extra {
                problems.push(Problem::Extra { path: path.clone() });
            }
        }
        self.check_oxum(problems);
    }

    fn check_oxum(&self, problems: &mut Vec<Problem>) {
        let Some(expected) = self.info("Payload-Oxum") else {
            return;
        };
        let payload = || {
            self.found
                .iter()
                .filter(|(path, _)| path.starts_with("data/"))
        };
        let n_bytes: u64 = payload().map(|(_, file)| file.n_bytes).sum();
        let found = format!("{n_bytes}.{}", payload().count());
        if expected != found {
            problems.push(Problem::PayloadOxum {
                expected: expected.to_owned(),
                found,
            });
        }
    }

    /// Hashes every listed file that is there; returns how many.
    fn check_digests(
        &self,
        problems: &mut Vec<Problem>,
        progress: &mut dyn FnMut(Progress<'_>),
    ) -> u64 {
        let mut expected: BTreeMap<&str, Vec<(Algorithm, &str)>> = BTreeMap::new();
        for manifest in self.payload_manifests.iter().chain(&self.tag_manifests) {
            for (path, digest) in &manifest.digests {
                if self.found.contains_key(path) {
                    let digests = expected.entry(path).or_default();
                    digests.push((manifest.algorithm, digest));
                }
            }
        }
        let mut state = Progress {
            path: "",
            n_files_done: 0,
            n_files: expected.len() as u64,
            n_bytes_done: 0,
            n_bytes: expected.keys().map(|path| self.found[*path].n_bytes).sum(),
        };
        let mut chunk = vec![0; CHUNK_BYTES];
        for (path, digests) in expected {
            state.path = path;
            let algorithms: Vec<_> = digests.iter().map(|(algorithm, _)| *algorithm).collect();
            let found = hash(
                &self.root.join(path),
                &algorithms,
                &mut chunk,
                &mut |n_bytes| {
                    state.n_bytes_done += n_bytes;
                    progress(state);
                },
            );
            state.n_files_done += 1;
            progress(state);
            match found {
                Ok(found) => problems.extend(found.into_iter().zip(digests).filter_map(
                    |(found, (_, expected))| {
                        (found != expected).then(|| Problem::Changed {
                            path: path.to_owned(),
                            expected: expected.to_owned(),
                            found,
                        })
                    },
                )),
                Err(error) => problems.push(Problem::Unreadable {
                    path: path.to_owned(),
                    problem: error.to_string(),
                }),
            }
        }
        state.n_files_done
    }

    fn check_seal(&self, problems: &mut Vec<Problem>) {
        let Some(seal) = &self.seal else {
            return;
        };
        if let Some(problem) = seal.signature_problem() {
            problems.push(Problem::Signature { problem });
        }
        let has_root = self
            .tag_manifests
            .iter()
            .any(|manifest| manifest.name == ROOT_MANIFEST);
        if !has_root {
            problems.push(Problem::NothingSealed);
            return;
        }
        let mut chunk = vec![0; CHUNK_BYTES];
        let path = self.root.join(ROOT_MANIFEST);
        match hash(&path, &[Algorithm::Sha256], &mut chunk, &mut |_| {}) {
            Ok(found) if found[0] == seal.root_sha256 => {}
            Ok(mut found) => problems.push(Problem::RootHash {
                expected: seal.root_sha256.clone(),
                found: found.swap_remove(0),
            }),
            Err(error) => problems.push(Problem::Unreadable {
                path: ROOT_MANIFEST.to_owned(),
                problem: error.to_string(),
            }),
        }
    }
}

/// Digests of a file in hex, one per algorithm, in one pass.
fn hash(
    path: &Path,
    algorithms: &[Algorithm],
    chunk: &mut [u8],
    progress: &mut dyn FnMut(u64),
) -> io::Result<Vec<String>> {
    let mut file = File::open(path)?;
    let mut hashers: Vec<Hasher> = algorithms.iter().map(|a| Hasher::new(*a)).collect();
    loop {
        let n_bytes = match file.read(chunk) {
            Ok(0) => break,
            Ok(n_bytes) => n_bytes,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(error),
        };
        for hasher in &mut hashers {
            hasher.update(&chunk[..n_bytes]);
        }
        progress(n_bytes as u64);
    }
    Ok(hashers.into_iter().map(Hasher::finish).collect())
}

enum Hasher {
    Sha256(Sha256),
    Sha512(Sha512),
}

impl Hasher {
    fn new(algorithm: Algorithm) -> Self {
        match algorithm {
            Algorithm::Sha256 => Hasher::Sha256(Sha256::new()),
            Algorithm::Sha512 => Hasher::Sha512(Sha512::new()),
        }
    }

    fn update(&mut self, bytes: &[u8]) {
        match self {
            Hasher::Sha256(hasher) => hasher.update(bytes),
            Hasher::Sha512(hasher) => hasher.update(bytes),
        }
    }

    fn finish(self) -> String {
        match self {
            Hasher::Sha256(hasher) => hex(&hasher.finalize()),
            Hasher::Sha512(hasher) => hex(&hasher.finalize()),
        }
    }
}
