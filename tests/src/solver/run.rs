//! The fake solver's commands.

use super::database::{Camera, Database};
use super::model::{self, Posed};
use super::script::{Behaviour, End, Model, Script};
use super::{SCRIPT, options};
use crate::world::{PhotoTruth, Truth};
use nalgebra::{UnitQuaternion, Vector3};
use nix::sys::signal::{Signal, raise};
use std::collections::BTreeMap;
use std::fs::{self, OpenOptions};
use std::io::Write;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::time::Duration;

/// Features of an ordinary photo, and of one with next to none.
const FEATURES: u32 = 1200;
const FEW_FEATURES: u32 = 7;
/// Inliers of a verified pair.
const INLIERS: u32 = 150;

/// Answers a call. `arguments` are those after the program's name.
///
/// # Panics
/// When there is no script, or it or the truth cannot be read.
#[must_use]
pub fn run(arguments: &[String]) -> ExitCode {
    let path = std::env::var_os(SCRIPT).unwrap_or_else(|| panic!("{SCRIPT} names no script"));
    let text = fs::read_to_string(path).expect("the script can be read");
    let script: Script = serde_json::from_str(&text).expect("the script is a script");
    let command = arguments.first().map_or("help", String::as_str);
    let behaviour = match command {
        "feature_extractor" if !asks_for_help(arguments) => &script.features,
        "matches_importer" => &script.matching,
        "mapper" => &script.mapping,
        _ => &script.help,
    };
    let call = note_call(&script, command, arguments);
    let usual = Behaviour::default();
    let behaviour = if behaviour.is_for(call) {
        behaviour
    } else {
        &usual
    };
    for line in &behaviour.lines {
        println!("{line}");
    }
    std::thread::sleep(Duration::from_secs_f64(behaviour.seconds));
    if behaviour.hangs_after == Some(0) {
        hang(behaviour);
    }
    let code = if behaviour.does_nothing {
        0
    } else {
        let solver = Solver {
            script: &script,
            behaviour,
        };
        solver.answer(command, arguments)
    };
    match behaviour.end {
        End::Natural => ExitCode::from(code),
        End::Code(code) => ExitCode::from(u8::try_from(code).expect("codes are 0 to 255")),
        End::Signal(signal) => {
            let signal = Signal::try_from(signal).expect("a signal's number");
            // Rust's own handler of memory faults lets the first one pass and is gone then.
            for _ in 0..2 {
                raise(signal).expect("a process can signal itself");
            }
            ExitCode::FAILURE
        }
    }
}

fn asks_for_help(arguments: &[String]) -> bool {
    arguments.iter().any(|argument| argument == "--help")
}

/// Notes a call and returns its number among those of the same command, from 1.
fn note_call(script: &Script, command: &str, arguments: &[String]) -> usize {
    let before = fs::read_to_string(&script.calls).unwrap_or_default();
    let is_same = |line: &&str| {
        let earlier: Vec<String> = serde_json::from_str(line).expect("a list of arguments");
        earlier.first().is_some_and(|first| first == command)
            && asks_for_help(&earlier) == asks_for_help(arguments)
    };
    let number = before.lines().filter(is_same).count() + 1;
    let mut file = OpenOptions::new()
        .create(true)
        .append(true)
        .open(&script.calls)
        .expect("the list of calls can be written");
    // In one piece: the test may be reading.
    let line = format!("{}\n", serde_json::json!(arguments));
    file.write_all(line.as_bytes())
        .expect("the list of calls can be written");
    number
}

/// Never returns: as a shell that sleeps, deaf to everything but a kill where asked. It goes by
/// itself after five minutes, should a test lose it.
fn hang(behaviour: &Behaviour) -> ! {
    let deaf = if behaviour.is_stubborn {
        "trap '' TERM INT HUP; "
    } else {
        ""
    };
    // The search path of a test holds no `sleep`.
    let script = format!("{deaf}for i in $(/usr/bin/seq 300); do /bin/sleep 1; done");
    let error = Command::new("/bin/sh").args(["-c", &script]).exec();
    panic!("cannot start a shell: {error}");
}

struct Solver<'a> {
    script: &'a Script,
    behaviour: &'a Behaviour,
}

impl Solver<'_> {
    fn say(&self, line: &str) {
        if !self.behaviour.is_silent {
            println!("{line}");
        }
    }

    /// Hangs once so many items were done, if the script says so.
    fn hang_after(&self, n_done: usize) {
        if self.behaviour.hangs_after == Some(n_done) {
            hang(self.behaviour);
        }
    }

    fn answer(&self, command: &str, arguments: &[String]) -> u8 {
        if matches!(command, "help" | "-h" | "--help") {
            return self.help();
        }
        let Some(known) = options::known(command, &self.script.version) else {
            self.say(&format!("ERROR: Command `{command}` not recognized."));
            return 1;
        };
        if asks_for_help(arguments) {
            self.say("Options can either be specified via command-line or in a .ini project file.");
            for name in known {
                self.say(&format!("  --{name} arg"));
            }
            return 0;
        }
        match options::parse(command, &self.script.version, &arguments[1..]) {
            Err(problem) => {
                self.say(&format!("ERROR: {problem}"));
                1
            }
            Ok(options) => match command {
                "feature_extractor" => self.extract(&options),
                "matches_importer" => self.match_pairs(&options),
                _ => self.map(&options),
            },
        }
    }

    fn help(&self) -> u8 {
        let cuda = if self.script.cuda { "with" } else { "without" };
        self.say(&format!(
            "COLMAP {} -- Structure-from-Motion and Multi-View Stereo",
            self.script.version
        ));
        self.say(&format!(
            "              (Commit Unknown on Unknown {cuda} CUDA)"
        ));
        0
    }

    fn extract(&self, options: &BTreeMap<String, String>) -> u8 {
        let database = Database::open(Path::new(&options["database_path"]));
        let names = fs::read_to_string(&options["image_list_path"]).expect("a list of photos");
        let names: Vec<&str> = names.lines().filter(|name| !name.is_empty()).collect();
        let known: Vec<String> = database.images().into_iter().map(|i| i.name).collect();
        let photos = Photos::of(self.script, Path::new(&options["image_path"]));
        let mut camera_id = options
            .get("ImageReader.existing_camera_id")
            .map(|id| id.parse().expect("an id is a number"));
        for (idx, name) in names.iter().enumerate() {
            self.hang_after(idx);
            self.say(&format!("Processed file [{}/{}]", idx + 1, names.len()));
            if known.iter().any(|known| known == name) {
                continue;
            }
            let Some(photo) = photos.readable(name) else {
                self.say(&format!("  ERROR: Failed to read image file {name}"));
                continue;
            };
            // COLMAP makes a camera for the first new photo of a call, unless one is named.
            let camera_id = *camera_id.get_or_insert_with(|| {
                let size_px = [photo.intrinsics.width_px, photo.intrinsics.height_px];
                database.add_camera(&camera_of(options, size_px))
            });
            let features = if self.script.featureless.contains(&photo.file) {
                FEW_FEATURES
            } else {
                FEATURES
            };
            database.add_image(name, camera_id, features);
        }
        0
    }

    fn match_pairs(&self, options: &BTreeMap<String, String>) -> u8 {
        let mut database = Database::open(Path::new(&options["database_path"]));
        let work = Path::new(&options["database_path"]).with_file_name("photos");
        let photos = Photos::of(self.script, &work);
        let images = database.images();
        let text = fs::read_to_string(&options["match_list_path"]).expect("a list of pairs");
        let mut pairs = Vec::new();
        for (idx, line) in text.lines().enumerate() {
            self.hang_after(idx);
            let names: Vec<&str> = line.split_whitespace().collect();
            let found: Vec<_> = names
                .iter()
                .filter_map(|name| images.iter().find(|image| image.name == **name))
                .collect();
            let [a, b] = found[..] else {
                self.say(&format!(
                    "ERROR: Image {} does not exist.",
                    names.join(" or ")
                ));
                continue;
            };
            let is_alone = |name: &str| {
                let file = photos.readable(name).map(|photo| photo.file.clone());
                file.is_none_or(|file| self.script.unmatched.contains(&file))
            };
            let is_blank = a.features.min(b.features) < FEATURES;
            let fails = is_blank || is_alone(&a.name) || is_alone(&b.name);
            pairs.push((a.id, b.id, if fails { 0 } else { INLIERS }));
        }
        self.say("Matching block [1/1]");
        database.add_pairs(&pairs);
        0
    }

    fn map(&self, options: &BTreeMap<String, String>) -> u8 {
        let database = Database::open(Path::new(&options["database_path"]));
        let output = PathBuf::from(&options["output_path"]);
        let photos = Photos::of(self.script, Path::new(&options["image_path"]));
        let is_fixed = options
            .get("Mapper.ba_refine_focal_length")
            .is_some_and(|flag| flag == "0");
        let models = match &self.script.models_with_fixed_focal {
            Some(models) if is_fixed => models,
            _ => &self.script.models,
        };
        let mut n_written = 0;
        if database.n_verified_pairs() > 0 {
            for model in models {
                let posed = photos.posed(&database, model, self.script);
                if posed.len() < 2 {
                    continue;
                }
                for (idx, photo) in posed.iter().enumerate() {
                    self.hang_after(idx);
                    self.say(&format!(
                        "Registering image #{} ({})",
                        photo.image_id,
                        idx + 1
                    ));
                }
                let cameras = solved_cameras(&database, &posed, model, is_fixed);
                let folder = output.join(n_written.to_string());
                model::write(&folder, model, &posed, &cameras, 7 + n_written);
                n_written += 1;
            }
        }
        if n_written == 0 {
            self.say("ERROR: failed to create sparse model");
            return 1;
        }
        0
    }
}

/// COLMAP's numbers and parameter counts of the camera models that anybody asks for.
fn camera_of(options: &BTreeMap<String, String>, size_px: [u32; 2]) -> Camera {
    let (model, n_parameters) = match options["ImageReader.camera_model"].as_str() {
        "SIMPLE_RADIAL" => (2, 4),
        "OPENCV" => (4, 8),
        "OPENCV_FISHEYE" => (5, 8),
        "FULL_OPENCV" => (6, 12),
        other => panic!("camera model {other}"),
    };
    let parameters: Vec<f64> = options["ImageReader.camera_params"]
        .split(',')
        .map(|value| value.parse().expect("parameters are numbers"))
        .collect();
    assert_eq!(
        parameters.len(),
        n_parameters,
        "parameters of the camera model"
    );
    Camera {
        id: 0,
        model,
        size_px,
        parameters,
    }
}

/// The cameras of the posed photos: with the true focal length times the script's factor where it
/// may be changed, without distortion.
fn solved_cameras(
    database: &Database,
    posed: &[Posed],
    script: &Model,
    is_fixed: bool,
) -> Vec<Camera> {
    let mut cameras: BTreeMap<u32, Camera> = BTreeMap::new();
    for photo in posed {
        cameras.entry(photo.camera_id).or_insert_with(|| {
            let mut camera = database
                .camera(photo.camera_id)
                .expect("a camera of its own");
            let focal = photo.intrinsics.fx_px * script.focal_factor;
            if !is_fixed {
                camera.parameters[0] = focal;
                // All but SIMPLE_RADIAL have a second focal length.
                if camera.model != 2 {
                    camera.parameters[1] = focal;
                }
            }
            camera
        });
    }
    cameras.into_values().collect()
}

/// What is true of the photos that the solver sees under its own names.
struct Photos {
    folder: PathBuf,
    unreadable: Vec<String>,
    by_digest: BTreeMap<String, PhotoTruth>,
}

impl Photos {
    fn of(script: &Script, folder: &Path) -> Self {
        let text = fs::read_to_string(&script.truth).expect("the truth can be read");
        let truth: Truth = serde_json::from_str(&text).expect("the truth is of schema truth/1");
        let by_digest = truth
            .photos
            .into_iter()
            .map(|photo| (photo.sha256.clone(), photo));
        Self {
            folder: folder.to_owned(),
            unreadable: script.unreadable.clone(),
            by_digest: by_digest.collect(),
        }
    }

    /// The truth of a photo: the solver's name is a link to a file named by the digest.
    fn readable(&self, name: &str) -> Option<&PhotoTruth> {
        let file = self.folder.join(name).canonicalize().ok()?;
        let digest = file.file_stem()?.to_str()?;
        self.by_digest
            .get(digest)
            .filter(|photo| !self.unreadable.contains(&photo.file))
    }

    /// The photos of a model: of those asked for, the ones that match others.
    fn posed(&self, database: &Database, model: &Model, script: &Script) -> Vec<Posed> {
        let images = database.images().into_iter();
        images
            .filter_map(|image| {
                let truth = self.readable(&image.name)?;
                let is_asked_for = model.photos.is_empty() || model.photos.contains(&truth.file);
                let is_alone = script.unmatched.contains(&truth.file);
                if !is_asked_for || is_alone || image.features < FEATURES {
                    return None;
                }
                let turned = script.turned_deg.get(&truth.file).copied().unwrap_or(0.0);
                let turn = UnitQuaternion::from_axis_angle(&Vector3::z_axis(), turned.to_radians());
                Some(Posed {
                    image_id: image.id,
                    name: image.name,
                    camera_id: image.camera_id,
                    camera_from_enu: turn * truth.camera_from_enu.rotation(),
                    centre: truth.camera_from_enu.centre(),
                    intrinsics: truth.intrinsics,
                })
            })
            .collect()
    }
}
