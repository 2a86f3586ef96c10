//! Inference engines behind one trait: ONNX Runtime where its library is installed, rten (pure
//! Rust, built in) everywhere.

mod library;
mod onnx_runtime;
mod pure_rust;

use crate::error::DetectorError;
use crate::onnx::ElementType;
use serde::{Deserialize, Serialize};
use std::path::PathBuf;
use std::sync::Arc;

pub use library::LIBRARY_VARIABLE;

/// Which engine to use.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EngineChoice {
    /// The first that works: ONNX Runtime, then rten.
    #[default]
    Auto,
    /// ONNX Runtime or nothing.
    #[serde(rename = "ort")]
    OnnxRuntime,
    /// The built-in engine.
    Rten,
}

/// Where ONNX Runtime computes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Provider {
    /// The processor.
    Cpu,
    /// An NVIDIA graphics processor through CUDA.
    Cuda,
    /// An NVIDIA graphics processor through TensorRT; the first run builds an engine, which takes
    /// minutes.
    TensorRt,
}

/// How to run a model.
#[derive(Clone, Debug, Default)]
pub struct EngineOptions {
    /// Which engine.
    pub engine: EngineChoice,
    /// ONNX Runtime's library file, or a folder that holds it. `None` searches beside the running
    /// program, in the setup folder, then where the system keeps libraries. A process loads the
    /// library once; the first one found stays.
    pub library: Option<PathBuf>,
    /// Threads per photo; `None` takes one per processor.
    pub threads: Option<usize>,
    /// Providers of ONNX Runtime in order of preference; empty means the processor. One that the
    /// library does not have is passed over, and the report says which one runs.
    pub providers: Vec<Provider>,
}

/// Which engine runs: part of the digest of everything computed with it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct EngineReport {
    /// `onnxruntime` or `rten`.
    pub name: String,
    /// Its version.
    pub version: String,
    /// Where it computes.
    pub provider: String,
    /// The library loaded, for ONNX Runtime.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub library: Option<PathBuf>,
    /// Engines and providers that were preferred but do not work here, each with its reason.
    #[serde(default)]
    pub passed_over: Vec<String>,
}

/// A tensor's shape and values, widened to 32-bit floats.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Tensor {
    pub(crate) shape: Vec<usize>,
    pub(crate) values: Vec<f32>,
}

/// A model loaded into an engine.
pub(crate) trait Session: Send {
    /// Runs one batch: `values` in NCHW order with the given shape. Outputs come in the order of
    /// the names given when the session was made.
    fn run(&mut self, shape: [usize; 4], values: &[f32]) -> Result<Vec<Tensor>, DetectorError>;
}

/// A file of weights by the name the model gives it.
pub(crate) type ExternalData = (String, Arc<[u8]>);

/// What a session is made from.
pub(crate) struct SessionSource<'a> {
    /// The model's bytes.
    pub(crate) bytes: &'a [u8],
    /// Version of its operator set.
    pub(crate) opset: Option<u64>,
    /// Weights that live beside it, by the name the model gives their file.
    pub(crate) external_data: &'a [ExternalData],
    /// Name of the image input.
    pub(crate) input: &'a str,
    /// Type of its elements.
    pub(crate) input_element: ElementType,
    /// Names of the outputs wanted.
    pub(crate) outputs: &'a [String],
}

/// Starts the first engine that works.
pub(crate) fn start(
    source: &SessionSource<'_>,
    options: &EngineOptions,
) -> Result<(Box<dyn Session>, EngineReport), DetectorError> {
    let threads = options.threads.unwrap_or_else(|| {
        std::thread::available_parallelism().map_or(1, std::num::NonZeroUsize::get)
    });
    match options.engine {
        EngineChoice::OnnxRuntime => onnx_runtime::start(source, options, threads),
        EngineChoice::Rten => pure_rust::start(source, threads),
        EngineChoice::Auto => match onnx_runtime::start(source, options, threads) {
            Ok(started) => Ok(started),
            Err(first) => match pure_rust::start(source, threads) {
                Ok((session, mut report)) => {
                    report.passed_over.push(first.to_string());
                    Ok((session, report))
                }
                Err(second) => Err(both_failed(first, second)),
            },
        },
    }
}

/// A model that both engines refuse is the model's fault; else the engines'.
fn both_failed(first: DetectorError, second: DetectorError) -> DetectorError {
    if matches!(first, DetectorError::EngineLoad { .. }) {
        return first;
    }
    if matches!(second, DetectorError::EngineLoad { .. }) {
        return second;
    }
    DetectorError::NoEngine {
        reasons: vec![first.to_string(), second.to_string()],
    }
}
