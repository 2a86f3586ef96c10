//! What the fake solver does.

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::path::PathBuf;

/// A solver's whole behaviour.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Script {
    /// Which COLMAP it is, such as `3.8`, `3.13.0` or `4.2.1`: decides the names of its options.
    pub version: String,
    /// Whether it was built for graphics cards.
    pub cuda: bool,
    /// What is true of the photos, by their digests.
    pub truth: PathBuf,
    /// Every call is noted here, one JSON list of arguments a line.
    pub calls: PathBuf,
    /// Behaviour when asked for help or for options.
    pub help: Behaviour,
    /// Behaviour of `feature_extractor`.
    pub features: Behaviour,
    /// Behaviour of `matches_importer`.
    pub matching: Behaviour,
    /// Behaviour of `mapper`.
    pub mapping: Behaviour,
    /// Photos that cannot be read.
    pub unreadable: Vec<String>,
    /// Photos with next to no features.
    pub featureless: Vec<String>,
    /// Photos that match no other.
    pub unmatched: Vec<String>,
    /// Photos whose pixels a viewer has turned: degrees clockwise.
    pub turned_deg: BTreeMap<String, f64>,
    /// What the mapper makes; the largest need not come first.
    pub models: Vec<Model>,
    /// What it makes with the focal length held, where that is something else.
    pub models_with_fixed_focal: Option<Vec<Model>>,
}

/// How a command behaves.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Behaviour {
    /// Only in these calls of the command, counted from 1; in all when empty.
    pub only_calls: Vec<usize>,
    /// Said first.
    pub lines: Vec<String>,
    /// Time taken before anything is done, seconds.
    pub seconds: f64,
    /// Does this much of its work and then hangs (a database keeps it as COLMAP's would).
    pub hangs_after: Option<usize>,
    /// Hangs in a way that only a kill ends.
    pub is_stubborn: bool,
    /// Does none of its work.
    pub does_nothing: bool,
    /// Says nothing at all.
    pub is_silent: bool,
    /// How it ends.
    pub end: End,
}

/// How a command ends.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub enum End {
    /// As its work calls for.
    #[default]
    Natural,
    /// With this code, whatever it did.
    Code(i32),
    /// By this signal.
    Signal(i32),
}

/// One reconstruction.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Model {
    /// Its photos; empty means all that can be posed.
    pub photos: Vec<String>,
    /// Scale of the solver's frame: its units a metre.
    pub scale: f64,
    /// Turn of the solver's frame, a rotation vector in degrees.
    pub turn_deg: [f64; 3],
    /// Error of each camera's place, metres (one sigma a axis).
    pub noise_m: f64,
    /// Error of each camera's rotation, degrees (one sigma a axis).
    pub noise_deg: f64,
    /// Left and right exchanged.
    pub is_mirrored: bool,
    /// Cameras look up at the points.
    pub is_upside_down: bool,
    /// Places and rotations have nothing to do with the truth.
    pub is_scrambled: bool,
    /// Focal length found over the true one; the points lie as much deeper.
    pub focal_factor: f64,
    /// Points tried.
    pub n_points: usize,
    /// What is wrong with its files.
    pub damage: Option<Damage>,
}

/// What is wrong with a model's files.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Damage {
    /// `images.bin` ends in the middle.
    CutShort,
    /// `images.bin` holds a number that is none.
    NotANumber,
    /// `points3D.bin` is missing.
    Missing,
    /// `cameras.bin` states an endless number of cameras.
    EndlessCount,
    /// `images.bin` names a photo that was never given.
    StrangePhoto,
}

impl Default for Model {
    fn default() -> Self {
        Self {
            photos: Vec::new(),
            scale: 0.2,
            turn_deg: [40.0, -70.0, 110.0],
            noise_m: 0.02,
            noise_deg: 0.02,
            is_mirrored: false,
            is_upside_down: false,
            is_scrambled: false,
            focal_factor: 1.0,
            n_points: 600,
            damage: None,
        }
    }
}

impl Model {
    /// A model of some photos only.
    #[must_use]
    pub fn of(photos: &[String]) -> Self {
        Self {
            photos: photos.to_vec(),
            ..Self::default()
        }
    }
}

impl Script {
    /// A solver that does all it should.
    #[must_use]
    pub fn well_behaved(truth: PathBuf, calls: PathBuf) -> Self {
        Self {
            version: "3.8".to_owned(),
            cuda: false,
            truth,
            calls,
            help: Behaviour::default(),
            features: Behaviour::default(),
            matching: Behaviour::default(),
            mapping: Behaviour::default(),
            unreadable: Vec::new(),
            featureless: Vec::new(),
            unmatched: Vec::new(),
            turned_deg: BTreeMap::new(),
            models: vec![Model::default()],
            models_with_fixed_focal: None,
        }
    }
}

impl Behaviour {
    /// Whether it holds for the command's call of this number, from 1.
    pub(super) fn is_for(&self, call: usize) -> bool {
        self.only_calls.is_empty() || self.only_calls.contains(&call)
    }

    /// Hangs at once.
    #[must_use]
    pub fn hang() -> Self {
        Self {
            hangs_after: Some(0),
            ..Self::default()
        }
    }

    /// Does nothing and ends so.
    #[must_use]
    pub fn fail(end: End, line: &str) -> Self {
        Self {
            lines: vec![line.to_owned()],
            does_nothing: true,
            end,
            ..Self::default()
        }
    }
}
