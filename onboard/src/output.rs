//! A folder of results that appears whole or not at all, and never at the cost of other files.
//!
//! Results are written into a folder aside, which takes the target's name at the end. A target that
//! exists must be empty or hold nothing but an earlier result, unchanged: its list of files with
//! their digests tells.

use record::{DiskStorage, Storage, StorageError, write_durably};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

/// The file that lists the others.
pub const SUMMARY_FILE: &str = "summary.json";

/// Why results cannot be written.
#[derive(Debug, thiserror::Error)]
pub enum OutputError {
    /// Something that is not ours lies in the way.
    #[error(
        "{} is in the way: {what}. Nothing was written; name another folder, or move it away",
        path.display()
    )]
    InTheWay {
        /// The file or folder.
        path: PathBuf,
        /// What it is.
        what: &'static str,
    },
    /// It cannot be looked at.
    #[error("cannot look into {}: {source}", path.display())]
    Read {
        /// The file or folder.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// It cannot be written.
    #[error(transparent)]
    Storage(#[from] StorageError),
    /// The summary has no JSON form.
    #[error("the summary cannot be written as JSON: {0}")]
    Json(#[from] serde_json::Error),
}

impl OutputError {
    /// Whether the input (rather than this program or the machine) is at fault.
    #[must_use]
    pub fn is_input_fault(&self) -> bool {
        matches!(self, Self::InTheWay { .. } | Self::Read { .. })
    }
}

/// A file of a result, as the summary lists it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ListedFile {
    /// Its name, with `/` between folders.
    pub name: String,
    /// SHA-256 of its bytes, hex.
    pub sha256: String,
}

/// What is needed of an earlier summary.
#[derive(Deserialize)]
struct EarlierSummary {
    schema: String,
    files: Vec<ListedFile>,
}

/// A result being written.
pub struct OutputFolder {
    target: PathBuf,
    aside: PathBuf,
    kept: PathBuf,
    /// Held while this result is written; where it lies, and that it is to be removed.
    lock: (PathBuf, fs::File),
    schema_name: &'static str,
    folders: Mutex<BTreeSet<PathBuf>>,
    files: Mutex<BTreeMap<String, String>>,
}

impl OutputFolder {
    /// Begins a result that will be at `target`; `schema_name` (without version) marks summaries of
    /// its kind.
    ///
    /// # Errors
    /// [`OutputError::InTheWay`] when something else is there, others when the disk refuses.
    pub fn begin(target: &Path, schema_name: &'static str) -> Result<Self, OutputError> {
        check(target, schema_name)?;
        let name = target.file_name().ok_or_else(|| OutputError::InTheWay {
            path: target.to_owned(),
            what: "it has no name of its own",
        })?;
        let parent = parent_of(target);
        fs::create_dir_all(parent).map_err(read_error(parent))?;
        let lock_path = parent.join(hidden(name, "lock"));
        let lock = locked(&lock_path)?;
        let aside = parent.join(hidden(name, "part"));
        if aside.exists() {
            // Of a run that was killed.
            fs::remove_dir_all(&aside).map_err(read_error(&aside))?;
        }
        DiskStorage.create_dir(&aside)?;
        Ok(Self {
            target: target.to_owned(),
            folders: Mutex::new(BTreeSet::from([aside.clone()])),
            aside,
            kept: parent.join(hidden(name, "kept")),
            lock: (lock_path, lock),
            schema_name,
            files: Mutex::default(),
        })
    }

    /// Writes one file; `name` has `/` between folders. May be called from several threads.
    ///
    /// # Errors
    /// When the disk refuses.
    pub fn write(&self, name: &str, bytes: &[u8]) -> Result<(), OutputError> {
        let path = self.aside.join(name);
        self.make_folder(parent_of(&path))?;
        write_durably(&DiskStorage, &path, bytes)?;
        let mut files = self.files.lock().unwrap_or_else(PoisonError::into_inner);
        files.insert(name.to_owned(), sha256(bytes));
        Ok(())
    }

    /// Keeps something for the next run, should this one not get to its end. Only whole notes are
    /// read back, but a power cut may take the latest.
    ///
    /// # Errors
    /// When the disk refuses.
    pub fn keep(&self, name: &str, text: &str) -> Result<(), OutputError> {
        if !self.kept.exists() {
            // Another thread may be faster.
            match DiskStorage.create_dir(&self.kept) {
                Err(_) if self.kept.exists() => {}
                made => made?,
            }
        }
        let path = self.kept.join(name);
        let part = path.with_extension("part");
        let failed = read_error(&part);
        fs::write(&part, text).map_err(failed)?;
        Ok(DiskStorage.rename(&part, &path)?)
    }

    /// What an earlier run, which did not get to its end, kept under this name.
    #[must_use]
    pub fn kept(&self, name: &str) -> Option<String> {
        fs::read_to_string(self.kept.join(name)).ok()
    }

    fn make_folder(&self, folder: &Path) -> Result<(), OutputError> {
        let mut known = self.folders.lock().unwrap_or_else(PoisonError::into_inner);
        let mut missing = Vec::new();
        let mut at = folder;
        while !known.contains(at) {
            missing.push(at.to_owned());
            at = parent_of(at);
        }
        for folder in missing.into_iter().rev() {
            DiskStorage.create_dir(&folder)?;
            DiskStorage.sync_dir(parent_of(&folder))?;
            known.insert(folder);
        }
        Ok(())
    }

    /// The files written so far, sorted by name.
    #[must_use]
    pub fn files(&self) -> Vec<ListedFile> {
        let files = self.files.lock().unwrap_or_else(PoisonError::into_inner);
        files
            .iter()
            .map(|(name, sha256)| ListedFile {
                name: name.clone(),
                sha256: sha256.clone(),
            })
            .collect()
    }

    /// Writes the summary (which must hold [`Self::files`] as `files`) and puts the result in its
    /// place.
    ///
    /// # Errors
    /// When the disk refuses, or something was put in the way meanwhile.
    pub fn publish(self, summary: &impl Serialize) -> Result<(), OutputError> {
        let mut text = serde_json::to_string_pretty(&serde_json::to_value(summary)?)?;
        text.push('\n');
        self.write(SUMMARY_FILE, text.as_bytes())?;
        check(&self.target, self.schema_name)?;
        let parent = parent_of(&self.target).to_owned();
        let name = self.target.file_name().unwrap_or_default();
        let old = parent.join(hidden(name, "old"));
        let had_old = self.target.exists();
        if had_old {
            DiskStorage.rename(&self.target, &old)?;
        }
        DiskStorage.rename(&self.aside, &self.target)?;
        DiskStorage.sync_dir(&parent)?;
        if had_old {
            fs::remove_dir_all(&old).map_err(read_error(&old))?;
        }
        if self.kept.exists() {
            fs::remove_dir_all(&self.kept).map_err(read_error(&self.kept))?;
        }
        Ok(())
    }
}

impl Drop for OutputFolder {
    /// A result that was not finished leaves nothing behind but what is kept for the next run.
    fn drop(&mut self) {
        if self.aside.exists()
            && let Err(error) = fs::remove_dir_all(&self.aside)
        {
            tracing::warn!("cannot remove {}: {error}", self.aside.display());
        }
        let (path, file) = &self.lock;
        // Its name goes first: who waits for it must not get one that is about to vanish.
        if let Err(error) = fs::remove_file(path).and_then(|()| file.unlock()) {
            tracing::warn!("cannot remove {}: {error}", path.display());
        }
    }
}

/// A name beside the target.
fn hidden(name: &std::ffi::OsStr, what: &str) -> String {
    format!(".{}.{what}", name.to_string_lossy())
}

/// The lock of a result that is being written; the system frees it when a process ends in any way.
fn locked(path: &Path) -> Result<fs::File, OutputError> {
    let file = fs::File::create(path).map_err(read_error(path))?;
    file.try_lock().map_err(|error| match error {
        fs::TryLockError::WouldBlock => OutputError::InTheWay {
            path: path.to_owned(),
            what: "another run writes the same result",
        },
        fs::TryLockError::Error(source) => read_error(path)(source),
    })?;
    Ok(file)
}

fn parent_of(path: &Path) -> &Path {
    match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    }
}

fn sha256(bytes: &[u8]) -> String {
    let digest = Sha256::digest(bytes);
    digest.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn read_error(path: &Path) -> impl FnOnce(io::Error) -> OutputError {
    let path = path.to_owned();
    move |source| OutputError::Read { path, source }
}

/// Whether a result may take the target's place: it is not there, empty, or an earlier result that
/// nobody has touched.
fn check(target: &Path, schema_name: &str) -> Result<(), OutputError> {
    let in_the_way = |path: &Path, what| OutputError::InTheWay {
        path: path.to_owned(),
        what,
    };
    let meta = match target.symlink_metadata() {
        Ok(meta) => meta,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(read_error(target)(error)),
    };
    if !meta.is_dir() {
        return Err(in_the_way(target, "it is no folder"));
    }
    let present = files_below(target)?;
    if present.is_empty() {
        return Ok(());
    }
    let Some(listed) = earlier_files(target, schema_name) else {
        return Err(in_the_way(target, "it holds files of others"));
    };
    for path in present {
        let below = path.strip_prefix(target).unwrap_or(&path);
        if below == Path::new(SUMMARY_FILE) {
            continue;
        }
        let Some(digest) = listed.get(below) else {
            return Err(in_the_way(&path, "it is not from an earlier run"));
        };
        let bytes = fs::read(&path).map_err(read_error(&path))?;
        if sha256(&bytes) != *digest {
            return Err(in_the_way(&path, "it was changed since an earlier run"));
        }
    }
    Ok(())
}

/// The files that the earlier result at `target` lists; `None` when there is none of this kind.
fn earlier_files(target: &Path, schema_name: &str) -> Option<BTreeMap<PathBuf, String>> {
    let text = fs::read_to_string(target.join(SUMMARY_FILE)).ok()?;
    let summary: EarlierSummary = serde_json::from_str(&text).ok()?;
    let (name, _) = summary.schema.split_once('/')?;
    (name == schema_name).then(|| {
        summary
            .files
            .into_iter()
            .map(|file| (PathBuf::from(file.name), file.sha256))
            .collect()
    })
}

/// Everything in a folder that is not itself a folder, at any depth.
fn files_below(folder: &Path) -> Result<Vec<PathBuf>, OutputError> {
    let mut files = Vec::new();
    for entry in fs::read_dir(folder).map_err(read_error(folder))? {
        let entry = entry.map_err(read_error(folder))?;
        let kind = entry.file_type().map_err(read_error(folder))?;
        if kind.is_dir() {
            files.extend(files_below(&entry.path())?);
        } else {
            files.push(entry.path());
        }
    }
    Ok(files)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn write_result(target: &Path, file: &str, bytes: &[u8]) -> Result<(), OutputError> {
        let folder = OutputFolder::begin(target, "kind")?;
        folder.write(file, bytes)?;
        let summary = json!({ "schema": "kind/1", "files": folder.files() });
        folder.publish(&summary)
    }

    fn names(folder: &Path) -> Vec<String> {
        let mut names: Vec<String> = fs::read_dir(folder)
            .unwrap()
            .map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned())
            .collect();
        names.sort();
        names
    }

    #[test]
    fn a_result_replaces_an_earlier_one_as_a_whole() {
        let home = tempfile::tempdir().unwrap();
        let target = home.path().join("new/out");
        write_result(&target, "a/b.txt", b"one").unwrap();
        write_result(&target, "c.txt", b"two").unwrap();
        assert_eq!(names(&target), ["c.txt", SUMMARY_FILE]);
        assert_eq!(names(target.parent().unwrap()), ["out"]);
    }

    #[test]
    fn files_of_others_stop_it_before_anything_is_written() {
        let home = tempfile::tempdir().unwrap();
        let target = home.path().join("out");
        write_result(&target, "a.txt", b"one").unwrap();
        let refused = |expected: &str| {
            let error = write_result(&target, "b.txt", b"two").unwrap_err();
            assert!(error.is_input_fault());
            assert!(error.to_string().contains(expected), "{error}");
            assert!(!target.join("b.txt").exists());
            assert_eq!(names(home.path()), ["out"]);
        };
        fs::write(target.join("notes.txt"), "mine").unwrap();
        refused("not from an earlier run");
        fs::remove_file(target.join("notes.txt")).unwrap();
        fs::write(target.join("a.txt"), "corrected by hand").unwrap();
        refused("changed since");
        fs::remove_file(target.join(SUMMARY_FILE)).unwrap();
        refused("files of others");
        fs::remove_dir_all(&target).unwrap();
        fs::write(&target, "a file").unwrap();
        refused("no folder");
    }

    #[test]
    fn what_is_kept_is_there_until_a_run_ends() {
        let home = tempfile::tempdir().unwrap();
        let target = home.path().join("out");
        let first = OutputFolder::begin(&target, "kind").unwrap();
        first.keep("a.json", "found").unwrap();
        drop(first);
        assert_eq!(names(home.path()), [".out.kept"]);
        let second = OutputFolder::begin(&target, "kind").unwrap();
        assert_eq!(second.kept("a.json").as_deref(), Some("found"));
        assert_eq!(second.kept("b.json"), None);
        let summary = json!({ "schema": "kind/1", "files": second.files() });
        second.publish(&summary).unwrap();
        assert_eq!(names(home.path()), ["out"]);
    }

    #[test]
    fn two_runs_do_not_write_one_result() {
        let home = tempfile::tempdir().unwrap();
        let target = home.path().join("out");
        let first = OutputFolder::begin(&target, "kind").unwrap();
        let error = OutputFolder::begin(&target, "kind").err().unwrap();
        assert!(error.to_string().contains("another run"), "{error}");
        drop(first);
        OutputFolder::begin(&target, "kind").unwrap();
    }

    #[test]
    fn what_a_killed_run_left_goes() {
        let home = tempfile::tempdir().unwrap();
        fs::create_dir(home.path().join(".out.part")).unwrap();
        fs::write(home.path().join(".out.part/a.txt"), "half").unwrap();
        write_result(&home.path().join("out"), "b.txt", b"one").unwrap();
        assert_eq!(names(home.path()), ["out"]);
        assert_eq!(names(&home.path().join("out")), ["b.txt", SUMMARY_FILE]);
    }

    #[test]
    fn what_is_not_finished_leaves_nothing() {
        let home = tempfile::tempdir().unwrap();
        let folder = OutputFolder::begin(&home.path().join("out"), "kind").unwrap();
        folder.write("a.txt", b"one").unwrap();
        drop(folder);
        assert!(names(home.path()).is_empty());
    }
}
