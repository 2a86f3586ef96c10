//! Every file of ours is written through [`Storage`]: one place that knows what survives a power
//! cut, and a test double that takes away what would not.
//!
//! The rules it stands for: a file's bytes are durable after [`StorageFile::sync`]; its name (a
//! creation, rename, link or removal) after [`Storage::sync_dir`] of the folder that holds it. A
//! failed sync is final: the kernel may drop the pages and report success the next time, so the
//! file must be written again.

mod faulty;
#[cfg(test)]
mod tests;

pub use faulty::{FaultyStorage, Injected};

use std::ffi::OsString;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Read as _, Write as _};
use std::path::{Path, PathBuf};
use thiserror::Error;

/// What was being done to a file when it failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operation {
    /// Creating a file that must not exist yet.
    Create,
    /// Opening a file to write at its end.
    Append,
    /// Writing bytes.
    Write,
    /// Making a file's bytes durable.
    Sync,
    /// Making a folder's names durable.
    SyncDir,
    /// Giving a file or folder another name.
    Rename,
    /// Giving a file a second name.
    HardLink,
    /// Reading the source of a copy.
    Read,
    /// Removing a file.
    Remove,
    /// Creating a folder.
    CreateDir,
}

impl std::fmt::Display for Operation {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Operation::Create => "create",
            Operation::Append => "open to append",
            Operation::Write => "write",
            Operation::Sync => "make durable",
            Operation::SyncDir => "make durable the names in",
            Operation::Rename => "rename to",
            Operation::HardLink => "link to",
            Operation::Read => "read",
            Operation::Remove => "remove",
            Operation::CreateDir => "create the folder",
        })
    }
}

/// An operation on a file or folder that failed.
#[derive(Debug, Error)]
#[error("cannot {operation} {path}: {source}", path = path.display())]
pub struct StorageError {
    /// What was being done.
    pub operation: Operation,
    /// To which file or folder (the new name for renames and links).
    pub path: PathBuf,
    /// What the operating system said.
    pub source: io::Error,
}

impl StorageError {
    /// Whether the disk (or the quota) is full.
    #[must_use]
    pub fn is_disk_full(&self) -> bool {
        matches!(
            self.source.kind(),
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded
        )
    }

    fn at(operation: Operation, path: &Path) -> impl FnOnce(io::Error) -> Self {
        let path = path.to_owned();
        move |source| Self {
            operation,
            path,
            source,
        }
    }
}

/// An open file of a [`Storage`].
pub trait StorageFile: Send {
    /// Writes all of `bytes` at the end. After an error some of them may have been written.
    ///
    /// # Errors
    /// When the disk is full or failing.
    fn write_all(&mut self, bytes: &[u8]) -> Result<(), StorageError>;

    /// Makes everything written so far durable.
    ///
    /// # Errors
    /// When the disk is failing. The file must then be given up and written again.
    fn sync(&mut self) -> Result<(), StorageError>;
}

/// Where files are written. All paths are used as given; nothing is created implicitly.
pub trait Storage: Send + Sync {
    /// Creates an empty file.
    ///
    /// # Errors
    /// When the name is taken, the folder is missing or the disk refuses.
    fn create_new(&self, path: &Path) -> Result<Box<dyn StorageFile>, StorageError>;

    /// Opens an existing file, or creates an empty one, to write at its end.
    ///
    /// # Errors
    /// When the folder is missing or the disk refuses.
    fn append(&self, path: &Path) -> Result<Box<dyn StorageFile>, StorageError>;

    /// Makes the names in a folder durable: what was created, renamed, linked and removed in it.
    ///
    /// # Errors
    /// When there is no such folder or the disk is failing.
    fn sync_dir(&self, path: &Path) -> Result<(), StorageError>;

    /// Gives a file or folder another name on the same disk; a file at `to` is replaced at once.
    ///
    /// # Errors
    /// When `from` is missing or the disk refuses.
    fn rename(&self, from: &Path, to: &Path) -> Result<(), StorageError>;

    /// Gives a file a second name on the same disk.
    ///
    /// # Errors
    /// When `to` is taken, the file system has no hard links, or the disk refuses.
    fn hard_link(&self, from: &Path, to: &Path) -> Result<(), StorageError>;

    /// Removes a file.
    ///
    /// # Errors
    /// When it is missing or the disk refuses.
    fn remove(&self, path: &Path) -> Result<(), StorageError>;

    /// Creates one folder.
    ///
    /// # Errors
    /// When the name is taken, its parent is missing or the disk refuses.
    fn create_dir(&self, path: &Path) -> Result<(), StorageError>;

    /// Copies a file's bytes into a new file and makes them durable (the name is not: sync the
    /// folder). Returns how many bytes were copied.
    ///
    /// # Errors
    /// When `from` cannot be read, `to` is taken or the disk refuses; a partial copy is removed.
    fn copy(&self, from: &Path, to: &Path) -> Result<u64, StorageError> {
        let mut source = File::open(from).map_err(StorageError::at(Operation::Read, from))?;
        let mut target = self.create_new(to)?;
        let copied = copy_into(&mut source, from, target.as_mut());
        if copied.is_err() {
            drop(target);
            // The first error is the one to report; a part that stays behind is refused next time.
            let _ = self.remove(to);
        }
        copied
    }
}

/// Bytes moved per write in [`Storage::copy`].
const COPY_CHUNK_BYTES: usize = 1 << 20;

fn copy_into(
    source: &mut File,
    from: &Path,
    target: &mut dyn StorageFile,
) -> Result<u64, StorageError> {
    let mut chunk = vec![0; COPY_CHUNK_BYTES];
    let mut copied = 0;
    loop {
        let n_bytes = match source.read(&mut chunk) {
            Ok(0) => break,
            Ok(n_bytes) => n_bytes,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(StorageError::at(Operation::Read, from)(error)),
        };
        target.write_all(&chunk[..n_bytes])?;
        copied += n_bytes as u64;
    }
    target.sync()?;
    Ok(copied)
}

/// Puts `bytes` at `path` so that after a power cut either the old file or the whole new one is
/// there: written aside as `NAME.part`, made durable, renamed, and the folder made durable.
/// A part left by an earlier run is replaced.
///
/// # Errors
/// When the disk is full or failing; the old file is then untouched, except after an error of the
/// last step, where the new one is in place but may not survive a power cut.
pub fn write_durably(storage: &dyn Storage, path: &Path, bytes: &[u8]) -> Result<(), StorageError> {
    let part = part_path(path);
    if part.symlink_metadata().is_ok() {
        storage.remove(&part)?;
    }
    let written = storage.create_new(&part).and_then(|mut file| {
        file.write_all(bytes)?;
        file.sync()
    });
    if let Err(error) = written.and_then(|()| storage.rename(&part, path)) {
        // The first error is the one to report; a part that stays behind is replaced next time.
        let _ = storage.remove(&part);
        return Err(error);
    }
    storage.sync_dir(folder_of(path))
}

fn part_path(path: &Path) -> PathBuf {
    let mut name = path.file_name().map_or_else(OsString::new, OsString::from);
    name.push(".part");
    path.with_file_name(name)
}

fn folder_of(path: &Path) -> &Path {
    match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    }
}

/// The machine's disks.
#[derive(Clone, Copy, Debug, Default)]
pub struct DiskStorage;

struct DiskFile {
    file: File,
    path: PathBuf,
}

impl StorageFile for DiskFile {
    fn write_all(&mut self, bytes: &[u8]) -> Result<(), StorageError> {
        self.file
            .write_all(bytes)
            .map_err(StorageError::at(Operation::Write, &self.path))
    }

    fn sync(&mut self) -> Result<(), StorageError> {
        self.file
            .sync_all()
            .map_err(StorageError::at(Operation::Sync, &self.path))
    }
}

impl Storage for DiskStorage {
    fn create_new(&self, path: &Path) -> Result<Box<dyn StorageFile>, StorageError> {
        let file = OpenOptions::new()
            .write(true)
            .create_new(true)
            .open(path)
            .map_err(StorageError::at(Operation::Create, path))?;
        Ok(Box::new(DiskFile {
            file,
            path: path.to_owned(),
        }))
    }

    fn append(&self, path: &Path) -> Result<Box<dyn StorageFile>, StorageError> {
        let file = OpenOptions::new()
            .append(true)
            .create(true)
            .open(path)
            .map_err(StorageError::at(Operation::Append, path))?;
        Ok(Box::new(DiskFile {
            file,
            path: path.to_owned(),
        }))
    }

    fn sync_dir(&self, path: &Path) -> Result<(), StorageError> {
        File::open(path)
            .and_then(|folder| folder.sync_all())
            .map_err(StorageError::at(Operation::SyncDir, path))
    }

    fn rename(&self, from: &Path, to: &Path) -> Result<(), StorageError> {
        fs::rename(from, to).map_err(StorageError::at(Operation::Rename, to))
    }

    fn hard_link(&self, from: &Path, to: &Path) -> Result<(), StorageError> {
        fs::hard_link(from, to).map_err(StorageError::at(Operation::HardLink, to))
    }

    fn remove(&self, path: &Path) -> Result<(), StorageError> {
        fs::remove_file(path).map_err(StorageError::at(Operation::Remove, path))
    }

    fn create_dir(&self, path: &Path) -> Result<(), StorageError> {
        fs::create_dir(path).map_err(StorageError::at(Operation::CreateDir, path))
    }
}
