//! What can go wrong, and who is at fault.

use std::path::PathBuf;

/// Why a model cannot be used or a photo cannot be searched.
#[derive(Debug, thiserror::Error)]
pub enum DetectorError {
    /// The model file could not be read.
    #[error("cannot read the model {}: {source}", path.display())]
    ModelRead {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
    /// The bytes are no ONNX model.
    #[error("not an ONNX model: {found}")]
    NotOnnx {
        /// What was found instead.
        found: String,
    },
    /// Weights live in another file that is not there, or not in the model's folder.
    #[error(
        "the model keeps weights in {}, which cannot be read; copy it beside the model",
        path.display()
    )]
    ExternalDataMissing {
        /// Where the file should be.
        path: PathBuf,
    },
    /// The model uses an operator that no engine of ours has.
    #[error(
        "the model uses the operator {operator} of the domain \"{domain}\", which stock ONNX \
         Runtime does not have; export it again {advice}"
    )]
    CustomOperator {
        /// Its type.
        operator: String,
        /// Its domain.
        domain: String,
        /// What to do about it.
        advice: &'static str,
    },
    /// The model's inputs or outputs are none that we know.
    #[error("unknown model layout: {found}. Supported: {supported}")]
    Layout {
        /// Inputs and outputs as found, and why they do not fit.
        found: String,
        /// What would fit.
        supported: &'static str,
    },
    /// The outputs fit an oriented-box layout only if the class names are known, and they are not.
    #[error(
        "the model says nothing about its classes, and its output {shape:?} does not tell an angle \
         from a class; give the class names"
    )]
    ClassNamesMissing {
        /// The output's shape.
        shape: Vec<Option<usize>>,
    },
    /// A model without a class that is a vehicle.
    #[error("none of the model's classes is a vehicle: {names:?}")]
    NoVehicleClass {
        /// The class names found.
        names: Vec<String>,
    },
    /// No engine could be started.
    #[error("no inference engine works: {}", reasons.join("; "))]
    NoEngine {
        /// One sentence per engine tried.
        reasons: Vec<String>,
    },
    /// An engine refused the model.
    #[error("{engine} cannot load the model: {reason}")]
    EngineLoad {
        /// The engine's name.
        engine: &'static str,
        /// Its message.
        reason: String,
    },
    /// An engine failed while running.
    #[error("{engine} failed while running the model: {reason}")]
    EngineRun {
        /// The engine's name.
        engine: &'static str,
        /// Its message.
        reason: String,
    },
    /// The model answered with something else than it declares.
    #[error("the model's output has the shape {found:?}, expected {expected}")]
    OutputShape {
        /// Found at run time.
        found: Vec<usize>,
        /// Expected from the file.
        expected: String,
    },
    /// The model answered with numbers that are none.
    #[error("{count} of {total} values of the model's output are not finite")]
    OutputNotFinite {
        /// How many.
        count: usize,
        /// Of how many.
        total: usize,
    },
    /// The model answers in shares of its input's side.
    #[error(
        "the model's boxes are shares of the picture (0 to 1) instead of pixels of its input; export \
         it again without normalised coordinates"
    )]
    OutputNotPixels,
    /// All boxes found have sides that are not positive.
    #[error("all {count} boxes of the model's output have sides of no length")]
    ImpossibleBoxes {
        /// How many.
        count: usize,
    },
    /// A file beside the model that cannot be understood.
    #[error("cannot read the model's description {}: {reason}", path.display())]
    Sidecar {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        reason: String,
    },
    /// A file that is no picture we read, or is damaged.
    #[error("cannot decode the photo: {reason}")]
    PhotoDecode {
        /// What the decoder said.
        reason: String,
    },
    /// A picture with too many pixels.
    #[error("the photo has {width}x{height} pixels; {limit} in all is the most that is read")]
    PhotoTooLarge {
        /// Its width.
        width: u32,
        /// Its height.
        height: u32,
        /// The most pixels read.
        limit: u64,
    },
    /// A line of a file that holds no detections, or those of another version.
    #[error("not a line of detections: {reason}")]
    DetectionsLine {
        /// What is wrong with it.
        reason: String,
    },
    /// An overlay picture that cannot be written.
    #[error("cannot encode the overlay: {reason}")]
    OverlayEncode {
        /// What the encoder said.
        reason: String,
    },
    /// Pixels that do not make the picture they claim.
    #[error("a picture of {width}x{height} RGB needs {expected} bytes, got {found}")]
    PixelCount {
        /// Claimed width.
        width: u32,
        /// Claimed height.
        height: u32,
        /// Bytes needed.
        expected: usize,
        /// Bytes given.
        found: usize,
    },
    /// A view that belongs to another picture.
    #[error(
        "the camera describes {camera_width}x{camera_height} pixels, the picture has \
         {width}x{height}"
    )]
    ViewOfAnotherSize {
        /// The camera's image width.
        camera_width: u32,
        /// The camera's image height.
        camera_height: u32,
        /// The picture's width.
        width: u32,
        /// The picture's height.
        height: u32,
    },
    /// An option out of its range.
    #[error("{option} is {found}, expected {expected}")]
    Option {
        /// Which.
        option: &'static str,
        /// The value given.
        found: f64,
        /// The range.
        expected: &'static str,
    },
}

impl DetectorError {
    /// Whether the input (model, photo, option) is at fault rather than this program or machine.
    #[must_use]
    pub fn is_input_fault(&self) -> bool {
        !matches!(
            self,
            Self::NoEngine { .. } | Self::EngineRun { .. } | Self::PixelCount { .. }
        )
    }
}
