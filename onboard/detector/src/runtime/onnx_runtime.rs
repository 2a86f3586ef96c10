//! ONNX Runtime through `ort`, loaded at run time.
//!
//! `ort` panics when it has to find the library itself, so no call of it may come before
//! `init_from` has succeeded here.

use super::{EngineOptions, EngineReport, Provider, Session, SessionSource, Tensor, library};
use crate::error::DetectorError;
use crate::onnx::ElementType;
use half::f16;
use ort::ep::{self, ExecutionProvider, ExecutionProviderDispatch};
use ort::session::builder::{GraphOptimizationLevel, SessionBuilder};
use ort::value::{DynValue, TensorElementType, TensorRef};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

const NAME: &str = "onnxruntime";

/// The library and its environment: one per process, as ONNX Runtime wants it.
#[derive(Clone)]
struct Loaded {
    environment: ort::environment::Environment,
    path: PathBuf,
    version: String,
}

static LOADED: Mutex<Option<Loaded>> = Mutex::new(None);

pub(super) fn start(
    source: &SessionSource<'_>,
    options: &EngineOptions,
    threads: usize,
) -> Result<(Box<dyn Session>, EngineReport), DetectorError> {
    let loaded = load(options.library.as_deref())?;
    let refused = |error: ort::Error| DetectorError::EngineLoad {
        engine: NAME,
        reason: error.to_string(),
    };
    let (providers, provider, passed_over) = choose_providers(&options.providers);
    let mut builder = builder(&loaded, threads, &providers).map_err(refused)?;
    for (name, bytes) in source.external_data {
        builder = builder
            .with_external_initializer_file_in_memory(name, Arc::clone(bytes))
            .map_err(|error| refused(error.into()))?;
    }
    let session = builder.commit_from_memory(source.bytes).map_err(refused)?;
    let report = EngineReport {
        name: NAME.to_owned(),
        version: loaded.version,
        provider: provider.to_owned(),
        library: Some(loaded.path),
        passed_over,
    };
    let session = OnnxRuntime {
        session,
        input: source.input.to_owned(),
        input_element: source.input_element,
        outputs: source.outputs.to_vec(),
    };
    Ok((Box::new(session), report))
}

/// Loads the library on the first call; later calls get the same one.
fn load(option: Option<&Path>) -> Result<Loaded, DetectorError> {
    let mut slot = LOADED.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(loaded) = &*slot {
        return Ok(loaded.clone());
    }
    let mut reasons = Vec::new();
    for path in library::candidates(option) {
        match ort::init_from(&path) {
            Ok(builder) => {
                let environment = builder
                    .with_name("overlook")
                    .with_telemetry(false)
                    .build()
                    .map_err(|error| DetectorError::NoEngine {
                        reasons: vec![format!("ONNX Runtime does not start: {error}")],
                    })?;
                let loaded = Loaded {
                    environment,
                    version: version_of(&path),
                    path,
                };
                *slot = Some(loaded.clone());
                return Ok(loaded);
            }
            Err(error) => reasons.push(load_reason(&error)),
        }
    }
    reasons.dedup();
    Err(DetectorError::NoEngine {
        reasons: vec![format!(
            "ONNX Runtime is not installed or too old ({})",
            reasons.join("; ")
        )],
    })
}

fn load_reason(error: &ort::LoadDynamicError) -> String {
    error.to_string().replace('\n', " ")
}

/// The full version where the file's name carries it, else the minor version the library tells.
fn version_of(path: &Path) -> String {
    let resolved = std::fs::canonicalize(path).unwrap_or_else(|_| path.to_path_buf());
    let in_name = resolved
        .file_name()
        .and_then(|name| name.to_str())
        .and_then(|name| name.split_once(".so."))
        .map(|(_, version)| version.to_owned())
        .filter(|version| version.contains('.'));
    in_name.unwrap_or_else(|| match ort::util::probe(path) {
        Some(minor) => format!("1.{minor}"),
        None => "unknown".to_owned(),
    })
}

/// The providers to register, the one that will run, and what was passed over.
fn choose_providers(
    wanted: &[Provider],
) -> (Vec<ExecutionProviderDispatch>, &'static str, Vec<String>) {
    let mut passed_over = Vec::new();
    for provider in wanted {
        let (name, available, dispatch) = match provider {
            Provider::Cpu => return (Vec::new(), "cpu", passed_over),
            Provider::Cuda => (
                "cuda",
                ep::CUDA::is_available(),
                ep::CUDA::default().build(),
            ),
            Provider::TensorRt => (
                "tensorrt",
                ep::TensorRT::is_available(),
                ep::TensorRT::default().with_fp16(true).build(),
            ),
        };
        if matches!(available, Ok(true)) {
            return (vec![dispatch.error_on_failure()], name, passed_over);
        }
        passed_over.push(format!("this ONNX Runtime library has no {name} provider"));
    }
    (Vec::new(), "cpu", passed_over)
}

fn builder(
    loaded: &Loaded,
    threads: usize,
    providers: &[ExecutionProviderDispatch],
) -> Result<SessionBuilder, ort::Error> {
    let builder = ort::session::Session::builder(&loaded.environment)?
        .with_optimization_level(GraphOptimizationLevel::Level3)?
        .with_intra_threads(threads)?
        // Spinning wins a little alone and loses much beside other work, which is the normal case.
        .with_intra_op_spinning(false)?
        .with_execution_providers(providers)?;
    Ok(builder)
}

struct OnnxRuntime {
    session: ort::session::Session,
    input: String,
    input_element: ElementType,
    outputs: Vec<String>,
}

impl Session for OnnxRuntime {
    fn run(&mut self, shape: [usize; 4], values: &[f32]) -> Result<Vec<Tensor>, DetectorError> {
        let failed = |error: ort::Error| DetectorError::EngineRun {
            engine: NAME,
            reason: error.to_string(),
        };
        let halves: Vec<f16>;
        let input = match self.input_element {
            ElementType::Float16 => {
                halves = values.iter().map(|&value| f16::from_f32(value)).collect();
                ort::inputs![self.input.as_str() =>
                    TensorRef::from_array_view((shape, halves.as_slice())).map_err(failed)?]
            }
            _ => ort::inputs![self.input.as_str() =>
                TensorRef::from_array_view((shape, values)).map_err(failed)?],
        };
        let answered = self.session.run(input).map_err(failed)?;
        self.outputs
            .iter()
            .map(|name| {
                let value = answered.get(name).ok_or_else(|| DetectorError::EngineRun {
                    engine: NAME,
                    reason: format!("the output {name} is missing"),
                })?;
                widened(value).map_err(failed)
            })
            .collect()
    }
}

/// Values as 32-bit floats, whatever number type the model answers in.
fn widened(value: &DynValue) -> Result<Tensor, ort::Error> {
    let (shape, values): (_, Vec<f32>) = match value.dtype().tensor_type() {
        Some(TensorElementType::Float16) => {
            let (shape, values) = value.try_extract_tensor::<f16>()?;
            (shape, values.iter().map(|value| value.to_f32()).collect())
        }
        // Counts and class indices: far below 2^24, where f32 stops being exact.
        Some(TensorElementType::Int64) => {
            let (shape, values) = value.try_extract_tensor::<i64>()?;
            (shape, values.iter().map(|&value| value as f32).collect())
        }
        Some(TensorElementType::Int32) => {
            let (shape, values) = value.try_extract_tensor::<i32>()?;
            (shape, values.iter().map(|&value| value as f32).collect())
        }
        _ => {
            let (shape, values) = value.try_extract_tensor::<f32>()?;
            (shape, values.to_vec())
        }
    };
    let shape = shape
        .iter()
        .map(|&size| usize::try_from(size).unwrap_or(0))
        .collect();
    Ok(Tensor { shape, values })
}
