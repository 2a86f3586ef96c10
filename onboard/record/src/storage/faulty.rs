//! A test double of [`Storage`]: it works on real files below one folder, keeps account of what a
//! power cut would leave of them, and fails at chosen steps.

use super::{Operation, Storage, StorageError, StorageFile};
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Read as _, Seek as _, SeekFrom, Write as _};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

/// What happens at a chosen step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Injected {
    /// The disk is full (ENOSPC). A write stores the first half of its bytes.
    DiskFull,
    /// The disk fails (EIO). A failed sync loses what it should have made durable, for good.
    DiskFailure,
    /// The power goes: only what was durable stays, and every later step fails until
    /// [`FaultyStorage::power_on`].
    PowerCut,
}

/// A file or folder, whatever its names are.
#[derive(Debug)]
enum Node {
    Folder,
    File {
        /// The bytes a power cut leaves.
        durable: Vec<u8>,
        /// A sync failed: later ones report success and make nothing durable, as Linux does.
        sync_failed: bool,
    },
}

type NodeId = usize;
/// Names in folders: what each folder holds.
type Names = BTreeMap<(NodeId, OsString), NodeId>;

const ROOT: NodeId = 0;
const ENOSPC: i32 = 28;
const EIO: i32 = 5;

#[derive(Debug)]
struct State {
    root: PathBuf,
    nodes: Vec<Node>,
    live: Names,
    durable: Names,
    n_steps: u64,
    plan: BTreeMap<u64, Injected>,
    powered: bool,
}

/// A storage below one folder that loses what was not made durable and fails on request. Files
/// that others write there are left alone, and count as durable from the moment they are touched
/// through the storage.
#[derive(Clone, Debug)]
pub struct FaultyStorage {
    state: Arc<Mutex<State>>,
}

impl FaultyStorage {
    /// Works below `root`, an existing folder. Everything in it counts as durable.
    #[must_use]
    pub fn new(root: &Path) -> Self {
        Self {
            state: Arc::new(Mutex::new(State {
                root: root.to_owned(),
                nodes: vec![Node::Folder],
                live: Names::new(),
                durable: Names::new(),
                n_steps: 0,
                plan: BTreeMap::new(),
                powered: true,
            })),
        }
    }

    /// Lets step number `step` (counted from 0 over all operations) fail.
    pub fn fail_at(&self, step: u64, fault: Injected) {
        self.with_state(|state| {
            state.plan.insert(step, fault);
        });
    }

    /// How many steps were taken: each create, write, sync, rename, link, removal and folder
    /// counts as one.
    #[must_use]
    pub fn n_steps(&self) -> u64 {
        self.with_state(|state| state.n_steps)
    }

    /// Cuts the power now: the folder is left as a disk would be found afterwards.
    ///
    /// # Panics
    /// When the real folder cannot be put into that state.
    pub fn cut_power(&self) {
        self.with_state(State::cut_power);
    }

    /// Switches the power on again; nothing else changes.
    pub fn power_on(&self) {
        self.with_state(|state| state.powered = true);
    }

    fn with_state<T>(&self, work: impl FnOnce(&mut State) -> T) -> T {
        // A poisoned lock means that a test already failed elsewhere.
        let mut state = match self.state.lock() {
            Ok(state) => state,
            Err(poisoned) => poisoned.into_inner(),
        };
        work(&mut state)
    }

    fn step<T>(
        &self,
        operation: Operation,
        path: &Path,
        work: impl FnOnce(&mut State) -> io::Result<T>,
    ) -> Result<T, StorageError> {
        self.with_state(|state| state.take_step().and_then(|()| work(state)))
            .map_err(StorageError::at(operation, path))
    }
}

impl State {
    fn take_step(&mut self) -> io::Result<()> {
        if !self.powered {
            return Err(io::Error::other("the power is off"));
        }
        let step = self.n_steps;
        self.n_steps += 1;
        match self.plan.get(&step) {
            None => Ok(()),
            Some(Injected::DiskFull) => Err(io::Error::from_raw_os_error(ENOSPC)),
            Some(Injected::DiskFailure) => Err(io::Error::from_raw_os_error(EIO)),
            Some(Injected::PowerCut) => {
                self.cut_power();
                Err(io::Error::other("the power is off"))
            }
        }
    }

    /// The folder and name of `path`, and what is there.
    fn locate(&mut self, path: &Path) -> io::Result<(NodeId, OsString, Option<NodeId>)> {
        let below = path.strip_prefix(&self.root).map_err(|_| {
            io::Error::new(io::ErrorKind::InvalidInput, "outside the storage's root")
        })?;
        let names: Vec<OsString> = below.iter().map(OsString::from).collect();
        let Some((last, folders)) = names.split_last() else {
            return Err(io::Error::new(
                io::ErrorKind::InvalidInput,
                "the storage's root itself",
            ));
        };
        let mut folder = ROOT;
        let mut at = self.root.clone();
        for name in folders {
            at.push(name);
            folder = self
                .known(folder, name, &at)?
                .ok_or_else(|| io::Error::from(io::ErrorKind::NotFound))?;
        }
        let node = self.known(folder, last, path)?;
        Ok((folder, last.clone(), node))
    }

    /// The node of a name, adopting what others put on the disk as durable.
    fn known(
        &mut self,
        folder: NodeId,
        name: &OsString,
        path: &Path,
    ) -> io::Result<Option<NodeId>> {
        let key = (folder, name.clone());
        if let Some(node) = self.live.get(&key) {
            return Ok(Some(*node));
        }
        let node = match fs::symlink_metadata(path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(error),
            Ok(found) if found.is_dir() => Node::Folder,
            Ok(_) => Node::File {
                durable: fs::read(path)?,
                sync_failed: false,
            },
        };
        let id = self.add(node);
        self.live.insert(key.clone(), id);
        self.durable.insert(key, id);
        Ok(Some(id))
    }

    fn add(&mut self, node: Node) -> NodeId {
        self.nodes.push(node);
        self.nodes.len() - 1
    }

    fn folder_id(&mut self, path: &Path) -> io::Result<NodeId> {
        if path == self.root {
            return Ok(ROOT);
        }
        self.locate(path)?
            .2
            .ok_or_else(|| io::Error::from(io::ErrorKind::NotFound))
    }

    fn sync_dir(&mut self, path: &Path) -> io::Result<()> {
        let folder = self.folder_id(path)?;
        self.durable.retain(|(of, _), _| *of != folder);
        let now_durable: Vec<_> = self
            .live
            .iter()
            .filter(|((of, _), _)| *of == folder)
            .map(|(key, node)| (key.clone(), *node))
            .collect();
        self.durable.extend(now_durable);
        Ok(())
    }

    fn cut_power(&mut self) {
        self.powered = false;
        let root = self.root.clone();
        for path in tree(&self.live, ROOT, &root).into_iter().rev() {
            // A folder in which others keep files stays.
            let _ = fs::remove_file(&path.1).or_else(|_| fs::remove_dir(&path.1));
        }
        for (node, path) in tree(&self.durable, ROOT, &root) {
            match &self.nodes[node] {
                Node::Folder if path.is_dir() => {}
                Node::Folder => fs::create_dir(&path).expect("parents come before children"),
                Node::File { durable, .. } => {
                    fs::write(&path, durable).expect("the folder was just made");
                }
            }
        }
        self.live = self.durable.clone();
    }
}

/// Everything below a folder, parents before children.
fn tree(names: &Names, folder: NodeId, path: &Path) -> Vec<(NodeId, PathBuf)> {
    let mut found = Vec::new();
    for ((of, name), node) in names {
        if *of == folder {
            let at = path.join(name);
            found.push((*node, at.clone()));
            found.extend(tree(names, *node, &at));
        }
    }
    found
}

struct FaultyFile {
    storage: FaultyStorage,
    file: File,
    node: NodeId,
    path: PathBuf,
}

impl StorageFile for FaultyFile {
    fn write_all(&mut self, bytes: &[u8]) -> Result<(), StorageError> {
        let file = &mut self.file;
        self.storage
            .with_state(|state| match state.take_step() {
                Err(error) if error.kind() == io::ErrorKind::StorageFull => {
                    file.write_all(&bytes[..bytes.len() / 2])?;
                    Err(error)
                }
                Err(error) => Err(error),
                Ok(()) => file.write_all(bytes),
            })
            .map_err(StorageError::at(Operation::Write, &self.path))
    }

    fn sync(&mut self) -> Result<(), StorageError> {
        let (file, node) = (&mut self.file, self.node);
        self.storage
            .with_state(|state| {
                let taken = state.take_step();
                let powered = state.powered;
                let Node::File {
                    durable,
                    sync_failed,
                } = &mut state.nodes[node]
                else {
                    return Err(io::Error::other("a folder was opened as a file"));
                };
                if taken.is_err() && powered {
                    *sync_failed = true;
                }
                taken?;
                if !*sync_failed {
                    durable.clear();
                    file.seek(SeekFrom::Start(0))?;
                    file.read_to_end(durable)?;
                }
                Ok(())
            })
            .map_err(StorageError::at(Operation::Sync, &self.path))
    }
}

impl FaultyStorage {
    fn file(&self, file: File, node: NodeId, path: &Path) -> Box<dyn StorageFile> {
        Box::new(FaultyFile {
            storage: self.clone(),
            file,
            node,
            path: path.to_owned(),
        })
    }
}

impl Storage for FaultyStorage {
    fn create_new(&self, path: &Path) -> Result<Box<dyn StorageFile>, StorageError> {
        let (file, node) = self.step(Operation::Create, path, |state| {
            let (folder, name, _) = state.locate(path)?;
            let file = OpenOptions::new()
                .read(true)
                .write(true)
                .create_new(true)
                .open(path)?;
            let node = state.add(Node::File {
                durable: Vec::new(),
                sync_failed: false,
            });
            state.live.insert((folder, name), node);
            Ok((file, node))
        })?;
        Ok(self.file(file, node, path))
    }

    fn append(&self, path: &Path) -> Result<Box<dyn StorageFile>, StorageError> {
        let (file, node) = self.step(Operation::Append, path, |state| {
            let (folder, name, known) = state.locate(path)?;
            let file = OpenOptions::new()
                .read(true)
                .append(true)
                .create(true)
                .open(path)?;
            let node = known.unwrap_or_else(|| {
                let node = state.add(Node::File {
                    durable: Vec::new(),
                    sync_failed: false,
                });
                state.live.insert((folder, name), node);
                node
            });
            Ok((file, node))
        })?;
        Ok(self.file(file, node, path))
    }

    fn sync_dir(&self, path: &Path) -> Result<(), StorageError> {
        self.step(Operation::SyncDir, path, |state| state.sync_dir(path))
    }

    fn rename(&self, from: &Path, to: &Path) -> Result<(), StorageError> {
        self.step(Operation::Rename, to, |state| {
            let (from_folder, from_name, node) = state.locate(from)?;
            let (to_folder, to_name, _) = state.locate(to)?;
            let node = node.ok_or_else(|| io::Error::from(io::ErrorKind::NotFound))?;
            fs::rename(from, to)?;
            state.live.remove(&(from_folder, from_name));
            state.live.insert((to_folder, to_name), node);
            Ok(())
        })
    }

    fn hard_link(&self, from: &Path, to: &Path) -> Result<(), StorageError> {
        self.step(Operation::HardLink, to, |state| {
            let (_, _, node) = state.locate(from)?;
            let (folder, name, _) = state.locate(to)?;
            let node = node.ok_or_else(|| io::Error::from(io::ErrorKind::NotFound))?;
            fs::hard_link(from, to)?;
            state.live.insert((folder, name), node);
            Ok(())
        })
    }

    fn remove(&self, path: &Path) -> Result<(), StorageError> {
        self.step(Operation::Remove, path, |state| {
            let (folder, name, _) = state.locate(path)?;
            fs::remove_file(path)?;
            state.live.remove(&(folder, name));
            Ok(())
        })
    }

    fn create_dir(&self, path: &Path) -> Result<(), StorageError> {
        self.step(Operation::CreateDir, path, |state| {
            let (folder, name, _) = state.locate(path)?;
            fs::create_dir(path)?;
            let node = state.add(Node::Folder);
            state.live.insert((folder, name), node);
            Ok(())
        })
    }
}
