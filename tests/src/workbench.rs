//! A temporary folder with photos, a scene and a fake solver, and commands run on them.

use crate::binaries::program;
use crate::solver::{SCRIPT, Script};
use crate::world::{PoseTruth, Truth, World};
use nalgebra::Vector3;
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde_json::Value;
use std::collections::BTreeMap;
use std::fs;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// How long anything may take that a test waits for.
const LIMIT: Duration = Duration::from_secs(120);
const TICK: Duration = Duration::from_millis(20);

/// A folder to work in; gone when dropped.
pub struct Workbench {
    folder: TempDir,
    /// What is true of the photos.
    pub truth: Truth,
    /// What the solver does; written anew before each command.
    pub script: Script,
}

/// How a command ended.
#[derive(Clone, Debug)]
pub struct Done {
    /// Its exit code; `None` after a signal.
    pub code: Option<i32>,
    /// What it printed.
    pub stdout: String,
    /// What it said.
    pub stderr: String,
}

impl Done {
    /// Itself, if it ended with this code.
    ///
    /// # Panics
    /// When it did not, with all that it said.
    #[must_use]
    #[track_caller]
    pub fn with_code(self, code: i32) -> Self {
        assert_eq!(
            self.code,
            Some(code),
            "stdout:\n{}\nstderr:\n{}",
            self.stdout,
            self.stderr
        );
        self
    }
}

impl Workbench {
    /// A bench with the photos of a world and a solver that does all it should.
    ///
    /// # Panics
    /// When the temporary folder cannot be written.
    #[must_use]
    pub fn new(world: &World) -> Self {
        let folder = TempDir::new().expect("a temporary folder");
        fs::create_dir(folder.path().join("programs")).expect("a temporary folder");
        let truth = world.write(&folder.path().join("photos"));
        let script = Script::well_behaved(
            folder.path().join("truth.json"),
            folder.path().join("calls"),
        );
        let bench = Self {
            folder,
            truth,
            script,
        };
        bench.link_program("colmap", &program("fake_colmap"));
        bench
    }

    /// The bench's own folder.
    #[must_use]
    pub fn root(&self) -> &Path {
        self.folder.path()
    }

    /// The folder of photos.
    #[must_use]
    pub fn photos(&self) -> PathBuf {
        self.root().join("photos")
    }

    /// The scene.
    #[must_use]
    pub fn scene(&self) -> PathBuf {
        self.root().join("scene")
    }

    /// Puts a program on the search path, which holds nothing else.
    ///
    /// # Panics
    /// When it cannot be linked.
    pub fn link_program(&self, name: &str, target: &Path) {
        let link = self.program_path(name);
        // One of that name is replaced.
        let _ = fs::remove_file(&link);
        std::os::unix::fs::symlink(target, link).expect("a temporary folder");
    }

    /// Takes a program off the search path.
    ///
    /// # Panics
    /// When it is not there.
    pub fn remove_program(&self, name: &str) {
        fs::remove_file(self.program_path(name)).expect("the program is there");
    }

    /// Where a program of the search path lies.
    #[must_use]
    pub fn program_path(&self, name: &str) -> PathBuf {
        self.root().join("programs").join(name)
    }

    /// Solver calls so far: their arguments, help left out.
    ///
    /// # Panics
    /// When the list of calls is damaged.
    #[must_use]
    pub fn calls(&self) -> Vec<Vec<String>> {
        let text = fs::read_to_string(&self.script.calls).unwrap_or_default();
        text.lines()
            .map(|line| serde_json::from_str::<Vec<String>>(line).expect("a list of arguments"))
            .filter(|call| call[0] != "help" && !call.contains(&"--help".to_owned()))
            .collect()
    }

    /// How often the solver was called with a command.
    #[must_use]
    pub fn n_calls(&self, command: &str) -> usize {
        self.calls()
            .iter()
            .filter(|call| call[0] == command)
            .count()
    }

    /// `groundstation` with arguments, on the bench's search path and solver.
    ///
    /// # Panics
    /// When the bench cannot be written.
    #[must_use]
    pub fn groundstation(&self, arguments: &[&str]) -> Command {
        let write = |name: &str, text: String| {
            let path = self.root().join(name);
            fs::write(&path, text).expect("a temporary folder");
            path
        };
        let truth = serde_json::to_string(&self.truth).expect("plain structs");
        write("truth.json", truth);
        let script = serde_json::to_string(&self.script).expect("plain structs");
        let script = write("script.json", script);
        let mut command = Command::new(program("groundstation"));
        command
            .args(arguments)
            .env("PATH", self.root().join("programs"))
            .env(SCRIPT, script)
            .env_remove("RUST_BACKTRACE")
            .current_dir(self.root())
            .stdin(Stdio::null());
        command
    }

    /// Runs a command to its end.
    ///
    /// # Panics
    /// When it does not start.
    #[must_use]
    pub fn run(&self, arguments: &[&str]) -> Done {
        let output = self
            .groundstation(arguments)
            .output()
            .expect("groundstation starts");
        Done {
            code: output.status.code(),
            stdout: String::from_utf8_lossy(&output.stdout).into_owned(),
            stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
        }
    }

    /// Takes the photos into the scene.
    #[must_use]
    pub fn ingest(&self) -> Done {
        self.run(&["ingest", "photos", "scene"])
    }

    /// Poses the scene with more arguments.
    #[must_use]
    pub fn pose(&self, arguments: &[&str]) -> Done {
        self.run(&[&["pose", "scene"], arguments].concat())
    }

    /// A bench whose photos are ingested.
    ///
    /// # Panics
    /// When they are not.
    #[must_use]
    #[track_caller]
    pub fn ingested(world: &World) -> Self {
        let bench = Self::new(world);
        let _ = bench.ingest().with_code(0);
        bench
    }

    /// The folder of a room's current output.
    ///
    /// # Panics
    /// When there is none.
    #[must_use]
    #[track_caller]
    pub fn room(&self, room: &str) -> PathBuf {
        let rooms = self.scene().join("rooms").join(room);
        let current = fs::read_to_string(rooms.join("current"))
            .unwrap_or_else(|error| panic!("no current {room}: {error}"));
        rooms.join(current.trim())
    }

    /// A JSON file of a room's current output.
    ///
    /// # Panics
    /// When it is missing or no JSON.
    #[must_use]
    #[track_caller]
    pub fn room_json(&self, room: &str, file: &str) -> Value {
        let path = self.room(room).join(file);
        let text =
            fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        serde_json::from_str(&text).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
    }

    /// The current list of photos.
    #[must_use]
    #[track_caller]
    pub fn scene_json(&self) -> Value {
        self.room_json("ingest", "scene.json")
    }

    /// What was set aside: code and reason by name.
    ///
    /// # Panics
    /// When there is no list.
    #[must_use]
    #[track_caller]
    pub fn set_aside(&self) -> BTreeMap<String, (String, String)> {
        let list = self.room_json("ingest", "set_aside.json");
        let list = list.as_array().expect("a list");
        let text = |value: &Value| value.as_str().expect("text").to_owned();
        list.iter()
            .map(|aside| {
                let why = (text(&aside["code"]), text(&aside["reason"]));
                (text(&aside["name"]), why)
            })
            .collect()
    }

    /// The current poses.
    #[must_use]
    #[track_caller]
    pub fn poses(&self) -> Poses {
        Poses {
            json: self.room_json("pose", "pose.json"),
            scene: self.scene_json(),
        }
    }

    /// Starts a command.
    ///
    /// # Panics
    /// When it does not start.
    #[must_use]
    pub fn start(&self, arguments: &[&str]) -> Running {
        let child = self
            .groundstation(arguments)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("groundstation starts");
        Running(Some(child))
    }
}

/// Waits until something holds.
///
/// # Panics
/// When it does not within two minutes.
#[track_caller]
pub fn wait_until(what: &str, mut holds: impl FnMut() -> bool) {
    let started = Instant::now();
    while !holds() {
        assert!(started.elapsed() < LIMIT, "waited in vain until {what}");
        std::thread::sleep(TICK);
    }
}

/// A command that runs; interrupted, and with it its solver, by a test that fails.
pub struct Running(Option<Child>);

impl Running {
    /// Sends it a signal.
    ///
    /// # Panics
    /// When it is gone.
    pub fn signal(&self, signal: Signal) {
        kill(self.pid(), signal).expect("the command runs");
    }

    fn pid(&self) -> Pid {
        let child = self.0.as_ref().expect("taken at its end only");
        Pid::from_raw(i32::try_from(child.id()).expect("process ids are positive i32"))
    }

    /// Waits for its end.
    ///
    /// # Panics
    /// When it cannot be waited for.
    #[must_use]
    pub fn end(mut self) -> Done {
        let child = self.0.take().expect("taken here only");
        let output = child.wait_with_output().expect("our own child");
        Done {
            code: output.status.code().or_else(|| {
                // As a shell says it.
                output.status.signal().map(|signal| 128 + signal)
            }),
            stdout: String::from_utf8_lossy(&output.stdout).into_owned(),
            stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
        }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        if self.0.is_some() {
            // It may have ended by itself.
            let _ = kill(self.pid(), Signal::SIGTERM);
            if let Some(mut child) = self.0.take() {
                let _ = child.wait();
            }
        }
    }
}

/// The poses of a scene, as they are stored.
pub struct Poses {
    /// `pose.json`.
    pub json: Value,
    scene: Value,
}

impl Poses {
    /// Stored photos by the names they were found under.
    ///
    /// # Panics
    /// When the files do not fit together.
    #[must_use]
    pub fn photos(&self) -> BTreeMap<String, &Value> {
        let known = self.scene["photos"].as_array().expect("a list of photos");
        let posed = self.json["photos"].as_array().expect("a list of photos");
        assert_eq!(known.len(), posed.len());
        known
            .iter()
            .zip(posed)
            .map(|(known, posed)| {
                assert_eq!(known["photo_id"], posed["photo_id"]);
                let name = known["names"][0].as_str().expect("a name");
                (name.to_owned(), posed)
            })
            .collect()
    }

    /// A photo.
    ///
    /// # Panics
    /// When there is none of that name.
    #[must_use]
    #[track_caller]
    pub fn photo(&self, name: &str) -> &Value {
        self.photos()
            .get(name)
            .unwrap_or_else(|| panic!("no photo {name}"))
    }

    /// The photos posed from `solved` or from `priors`.
    #[must_use]
    pub fn with_source(&self, source: &str) -> Vec<String> {
        self.photos()
            .into_iter()
            .filter(|(_, photo)| photo["pose"]["source"] == source)
            .map(|(name, _)| name)
            .collect()
    }

    /// Remarks as one text.
    #[must_use]
    pub fn remarks(&self) -> String {
        self.json["remarks"].to_string()
    }

    /// The verdict's gate whose name begins so.
    ///
    /// # Panics
    /// When there is none.
    #[must_use]
    #[track_caller]
    pub fn gate(&self, name: &str) -> &Value {
        let gates = self.json["verdict"]["gates"].as_array().expect("gates");
        gates
            .iter()
            .find(|gate| {
                gate["name"]
                    .as_str()
                    .is_some_and(|text| text.starts_with(name))
            })
            .unwrap_or_else(|| panic!("no gate {name} in {gates:?}"))
    }

    /// Places found minus true, metres east, north and up, by name, after what all have in common
    /// was taken off (the frame's origin is the middle of GPS positions, which err).
    ///
    /// # Panics
    /// When no photo has a pose.
    #[must_use]
    pub fn place_errors(&self, truth: &Truth) -> BTreeMap<String, Vector3<f64>> {
        let mut errors = self.places_against(truth);
        let common = self.common_error(truth);
        for error in errors.values_mut() {
            *error -= common;
        }
        errors
    }

    /// What [`Self::place_errors`] takes off: the mean of places found minus true, each in its own
    /// frame.
    ///
    /// # Panics
    /// When no photo has a pose.
    #[must_use]
    pub fn common_error(&self, truth: &Truth) -> Vector3<f64> {
        let errors = self.places_against(truth);
        assert!(!errors.is_empty(), "no photo has a pose");
        errors.values().sum::<Vector3<f64>>() / errors.len() as f64
    }

    fn places_against(&self, truth: &Truth) -> BTreeMap<String, Vector3<f64>> {
        let photos = self.photos();
        truth
            .photos
            .iter()
            .filter_map(|photo| {
                let pose = pose_of(photos.get(&photo.file)?)?;
                Some((
                    photo.file.clone(),
                    pose.centre() - photo.camera_from_enu.centre(),
                ))
            })
            .collect()
    }

    /// Rms of [`Self::place_errors`].
    #[must_use]
    pub fn place_rms_m(&self, truth: &Truth) -> f64 {
        let errors = self.place_errors(truth);
        let sum: f64 = errors.values().map(Vector3::norm_squared).sum();
        (sum / errors.len() as f64).sqrt()
    }

    /// Angles between the cameras' true optical axes and those found, degrees, by name.
    #[must_use]
    pub fn axis_errors_deg(&self, truth: &Truth) -> BTreeMap<String, f64> {
        let photos = self.photos();
        let axis = |pose: &PoseTruth| pose.rotation().inverse() * Vector3::z();
        truth
            .photos
            .iter()
            .filter_map(|photo| {
                let pose = pose_of(photos.get(&photo.file)?)?;
                let off = axis(&pose).angle(&axis(&photo.camera_from_enu));
                Some((photo.file.clone(), off.to_degrees()))
            })
            .collect()
    }
}

/// A stored pose.
fn pose_of(photo: &Value) -> Option<PoseTruth> {
    let pose = photo["pose"].get("camera_from_enu")?;
    let numbers = |value: &Value| -> Vec<f64> {
        let list = value.as_array().expect("numbers");
        list.iter().map(|v| v.as_f64().expect("a number")).collect()
    };
    Some(PoseTruth {
        rotation_wxyz: numbers(&pose["quaternion_wxyz"])
            .try_into()
            .expect("four numbers"),
        translation_m: numbers(&pose["translation_m"])
            .try_into()
            .expect("three numbers"),
    })
}
