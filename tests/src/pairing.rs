//! Pairs by predicted footprint against every photo with every other: what each registers, and what
//! each costs. For `make bench`.

use crate::binaries::program;
use serde_json::Value;
use std::collections::BTreeMap;
use std::fmt;
use std::fs;
use std::path::Path;
use std::process::Command;

/// One way to choose pairs.
#[derive(Clone, Debug, PartialEq)]
pub struct Posing {
    /// Photos of the scene.
    pub n_photos: usize,
    /// Photos posed from the images.
    pub n_solved: usize,
    /// Rms of the horizontal residuals, metres.
    pub horizontal_rms_m: Option<f64>,
    /// Seconds of wall time per stage of the solver, runs of one stage added up.
    pub seconds: BTreeMap<String, f64>,
}

/// Both ways on the same photos.
#[derive(Clone, Debug, PartialEq)]
pub struct Comparison {
    /// Pairs by footprint.
    pub by_footprint: Posing,
    /// Every photo with every other.
    pub exhaustive: Posing,
}

impl Comparison {
    /// Time of everything the solver does, exhaustive over by footprint.
    #[must_use]
    pub fn ratio(&self) -> f64 {
        self.exhaustive.total_s() / self.by_footprint.total_s()
    }
}

impl Posing {
    fn total_s(&self) -> f64 {
        self.seconds.values().sum()
    }
}

impl fmt::Display for Comparison {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (name, posing) in [
            ("by footprint", &self.by_footprint),
            ("exhaustive", &self.exhaustive),
        ] {
            write!(
                f,
                "{name:<13} {} of {} photos",
                posing.n_solved, posing.n_photos
            )?;
            if let Some(rms_m) = posing.horizontal_rms_m {
                write!(f, ", {rms_m:.2} m rms to GPS")?;
            }
            for (stage, seconds) in &posing.seconds {
                write!(f, ", {stage} {seconds:.1} s")?;
            }
            writeln!(f)?;
        }
        write!(f, "exhaustive over by footprint: {:.2}", self.ratio())
    }
}

/// Ingests `photos` into scenes under `work` and poses them both ways with the solver on the search
/// path; `options` go to both runs of `groundstation pose`.
///
/// # Panics
/// When a command fails, with what it said.
#[must_use]
pub fn compare(photos: &Path, work: &Path, options: &[&str]) -> Comparison {
    // Of two runs in one scene the second would find the first one's features.
    let posing = |name: &str, more: &[&str]| {
        let scene = work.join(name);
        let scene_text = scene.display().to_string();
        run(&["ingest", &photos.display().to_string(), &scene_text]);
        run(&[&["pose", &scene_text], options, more].concat());
        read(&scene)
    };
    Comparison {
        by_footprint: posing("by-footprint", &[]),
        exhaustive: posing("exhaustive", &["--exhaustive"]),
    }
}

fn run(arguments: &[&str]) {
    let output = Command::new(program("groundstation"))
        .args(arguments)
        .output()
        .expect("groundstation starts");
    assert!(
        output.status.success(),
        "groundstation {}: {}",
        arguments.join(" "),
        String::from_utf8_lossy(&output.stderr)
    );
}

fn read(scene: &Path) -> Posing {
    let room = scene.join("rooms").join("pose");
    let current = fs::read_to_string(room.join("current")).expect("the scene was posed");
    let text = fs::read_to_string(room.join(current.trim()).join("pose.json"));
    let posed: Value = serde_json::from_str(&text.expect("poses")).expect("poses are JSON");
    let photos = posed["photos"].as_array().expect("a list of photos");
    let is_solved = |photo: &&Value| photo["pose"]["source"] == "solved";
    let mut seconds = BTreeMap::new();
    for stage in posed["stages"].as_array().into_iter().flatten() {
        let name = stage["stage"].as_str().unwrap_or_default().to_owned();
        *seconds.entry(name).or_insert(0.0) += stage["seconds"].as_f64().unwrap_or(0.0);
    }
    Posing {
        n_photos: photos.len(),
        n_solved: photos.iter().filter(is_solved).count(),
        horizontal_rms_m: posed["alignment"]["horizontal"]["rms_m"].as_f64(),
        seconds,
    }
}
