//! A model as loaded: what it is, what it takes, what its classes mean.

use crate::detection::VehicleClass;
use crate::error::DetectorError;
use crate::layout::{self, Decoded, Layout};
use crate::literal;
use crate::onnx::{ElementType, OnnxFile};
use crate::overrides::{ModelOverrides, Normalisation, PixelOrigin};
use crate::runtime::{
    self, EngineOptions, EngineReport, ExternalData, Session, SessionSource, Tensor,
};
use crate::scale::CarRange;
use serde::Serialize;
use sha2::{Digest, Sha256};
use std::path::{Component, Path};
use std::sync::Arc;

/// Keys of our own in a model's metadata.
const KEY_BEST_CAR: &str = "overlook_best_car_px";
const KEY_CAR_RANGE: &str = "overlook_car_px_range";
const KEY_SCORE: &str = "overlook_score_threshold";
const KEY_CORNER_SIGMA: &str = "overlook_corner_sigma";
const KEY_PIXEL_ORIGIN: &str = "overlook_pixel_origin";

/// Score below which a model's boxes are noise, where it does not say so itself.
const DEFAULT_SCORE: f64 = 0.25;
/// Height and width of a free-size input are multiples of this where the model does not say.
const DEFAULT_STRIDE: u32 = 32;
/// Side of the empty picture that tells a model's output sizes.
const PROBE_PX: u32 = 256;

/// A model's input.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct InputSpec {
    /// Its name.
    pub name: String,
    /// Pictures per run, where fixed.
    pub batch: Option<usize>,
    /// Height in pixels, where fixed.
    pub height: Option<u32>,
    /// Width in pixels, where fixed.
    pub width: Option<u32>,
    /// Whether it takes 16-bit floats.
    pub half: bool,
    /// Free sizes must be multiples of this, pixels.
    pub multiple: u32,
}

impl InputSpec {
    /// The input's shape for a picture of at least this size, where the model leaves it free.
    pub(crate) fn shape_for(&self, width: u32, height: u32) -> [usize; 4] {
        let side = |fixed: Option<u32>, wanted: u32| {
            fixed.unwrap_or(wanted.next_multiple_of(self.multiple)) as usize
        };
        [
            self.batch.unwrap_or(1),
            3,
            side(self.height, height),
            side(self.width, width),
        ]
    }
}

/// A class of a model and what it means here.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ModelClass {
    /// The model's name for it.
    pub name: String,
    /// Ours; `None` when it is no vehicle and ignored.
    pub class: Option<VehicleClass>,
}

/// Everything known about a loaded model.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ModelInfo {
    /// SHA-256 of the file (and of the weights beside it, where they are apart), hex.
    pub sha256: String,
    /// Version of its operator set.
    pub opset: Option<u64>,
    /// What it calls itself.
    pub description: Option<String>,
    /// Licence as it states it.
    pub license: Option<String>,
    /// How it answers.
    pub layout: Layout,
    /// What it takes.
    pub input: InputSpec,
    /// Its classes.
    pub classes: Vec<ModelClass>,
    /// How bytes become its numbers.
    pub normalisation: Normalisation,
    /// Where it puts the coordinate 0.
    pub pixel_origin: PixelOrigin,
    /// Lengths of a car it sees well.
    pub car_range: CarRange,
    /// Score below which its boxes are noise.
    pub score_threshold: f64,
    /// Standard deviation of its boxes' corners along x and along y, as a share of the box's long
    /// side; `None` where nobody measured it.
    pub corner_sigma: Option<f64>,
    /// What runs it.
    pub engine: EngineReport,
}

/// A model ready to run.
pub(crate) struct Model {
    pub(crate) info: ModelInfo,
    session: Box<dyn Session>,
    /// Which of the session's outputs are decoded, in the layout's order.
    outputs: Vec<usize>,
}

impl Model {
    pub(crate) fn load(
        path: &Path,
        overrides: &ModelOverrides,
        options: &EngineOptions,
    ) -> Result<Self, DetectorError> {
        let bytes = std::fs::read(path).map_err(|source| DetectorError::ModelRead {
            path: path.to_path_buf(),
            source,
        })?;
        let overrides = overrides.clone().or(ModelOverrides::read_beside(path)?);
        Self::from_bytes(&bytes, Some(path), &overrides, options)
    }

    pub(crate) fn from_bytes(
        bytes: &[u8],
        path: Option<&Path>,
        overrides: &ModelOverrides,
        options: &EngineOptions,
    ) -> Result<Self, DetectorError> {
        let mut file = OnnxFile::parse(bytes)?;
        refuse_custom_operators(&file)?;
        let external_data = read_external_data(&file, path)?;
        let input = input_spec(&file)?;
        let outputs: Vec<String> = file.outputs.iter().map(|o| o.name.clone()).collect();
        let source = SessionSource {
            bytes,
            opset: file.opset,
            external_data: &external_data,
            input: &input.name,
            input_element: if input.half {
                ElementType::Float16
            } else {
                ElementType::Float32
            },
            outputs: &outputs,
        };
        let (mut session, engine) = runtime::start(&source, options)?;
        if !layout::shapes_are_stated(&file) {
            fill_shapes(&mut file, session.as_mut(), &input)?;
        }
        let names = overrides
            .class_names
            .clone()
            .or_else(|| literal::class_names(file.metadata.get("names")?));
        let recognised = layout::recognise(&file, names.as_deref())?;
        tracing::info!(
            engine = engine.name,
            version = engine.version,
            provider = engine.provider,
            "model loaded"
        );
        let known = Known {
            sha256: digest(bytes, &external_data),
            layout: recognised.layout,
            classes: map_classes(names.unwrap_or_default())?,
            input,
            engine,
        };
        let info = known.with_stated(&file, overrides);
        let outputs = order_of(&recognised.outputs, &outputs);
        Ok(Self {
            info,
            session,
            outputs,
        })
    }

    /// A model whose network is a test's own.
    #[cfg(test)]
    pub(crate) fn with_session(info: ModelInfo, session: Box<dyn Session>) -> Self {
        Self {
            info,
            session,
            outputs: vec![0],
        }
    }

    /// Runs one batch and decodes its first picture.
    pub(crate) fn run(
        &mut self,
        shape: [usize; 4],
        values: &[f32],
        min_score: f64,
    ) -> Result<Decoded, DetectorError> {
        let mut answered: Vec<Option<Tensor>> = self
            .session
            .run(shape, values)?
            .into_iter()
            .map(Some)
            .collect();
        let outputs: Vec<Tensor> = self
            .outputs
            .iter()
            .filter_map(|&index| answered.get_mut(index)?.take())
            .collect();
        layout::decode(self.info.layout, &outputs, 0, min_score)
    }
}

/// What loading found out about a model.
struct Known {
    sha256: String,
    layout: Layout,
    classes: Vec<ModelClass>,
    input: InputSpec,
    engine: EngineReport,
}

impl Known {
    /// Adds what the file and the user state.
    fn with_stated(self, file: &OnnxFile, overrides: &ModelOverrides) -> ModelInfo {
        ModelInfo {
            sha256: self.sha256,
            opset: file.opset,
            description: file.metadata.get("description").cloned(),
            license: file.metadata.get("license").cloned(),
            layout: self.layout,
            input: self.input,
            classes: self.classes,
            normalisation: overrides.normalisation.unwrap_or_default(),
            pixel_origin: overrides.pixel_origin.unwrap_or_else(|| pixel_origin(file)),
            car_range: overrides.car_range.unwrap_or_else(|| car_range(file)),
            score_threshold: overrides
                .score_threshold
                .or_else(|| number(file, KEY_SCORE))
                .unwrap_or(DEFAULT_SCORE),
            corner_sigma: overrides
                .corner_sigma
                .or_else(|| number(file, KEY_CORNER_SIGMA))
                .filter(|share| is_corner_sigma(*share)),
            engine: self.engine,
        }
    }
}

/// Whether a share of the long side can be the deviation of a corner.
pub(crate) fn is_corner_sigma(share: f64) -> bool {
    share > 0.0 && share < 1.0
}

/// SHA-256 of the model's file, followed by the files of weights beside it.
fn digest(bytes: &[u8], external_data: &[ExternalData]) -> String {
    let mut total = Sha256::new();
    total.update(bytes);
    for (_, weights) in external_data {
        total.update(weights);
    }
    hex(&total.finalize())
}

/// Positions of the wanted names among all.
fn order_of(wanted: &[String], all: &[String]) -> Vec<usize> {
    wanted
        .iter()
        .filter_map(|name| all.iter().position(|other| other == name))
        .collect()
}

/// Runs an empty picture to learn the output sizes that the file leaves open.
fn fill_shapes(
    file: &mut OnnxFile,
    session: &mut dyn Session,
    input: &InputSpec,
) -> Result<(), DetectorError> {
    let shape = input.shape_for(PROBE_PX, PROBE_PX);
    let values = vec![0.0; shape.iter().product()];
    let answered = session.run(shape, &values)?;
    for (output, tensor) in file.outputs.iter_mut().zip(answered) {
        let stated = output.shape.take().unwrap_or_default();
        let sizes = tensor.shape.iter().enumerate();
        output.shape = Some(
            sizes
                .map(|(axis, &size)| stated.get(axis).copied().flatten().or(Some(size)))
                .collect(),
        );
    }
    Ok(())
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn refuse_custom_operators(file: &OnnxFile) -> Result<(), DetectorError> {
    let Some((operator, domain)) = file.custom_operators.first() else {
        return Ok(());
    };
    let advice = if operator.contains("NMS") {
        "without suppression (boxes and scores as outputs)"
    } else {
        "with standard operators only"
    };
    Err(DetectorError::CustomOperator {
        operator: operator.clone(),
        domain: domain.clone(),
        advice,
    })
}

/// Reads the weights beside a model. Only files in its own folder or below: a model from elsewhere
/// must not name any file of the system.
fn read_external_data(
    file: &OnnxFile,
    path: Option<&Path>,
) -> Result<Vec<ExternalData>, DetectorError> {
    let folder = path.and_then(Path::parent).unwrap_or(Path::new(""));
    let read = |name: &String| {
        let wanted = folder.join(name);
        let is_below = Path::new(name)
            .components()
            .all(|part| matches!(part, Component::Normal(_)));
        let bytes = (path.is_some() && is_below)
            .then(|| std::fs::read(&wanted).ok())
            .flatten();
        match bytes {
            Some(bytes) => Ok((name.clone(), Arc::from(bytes))),
            None => Err(DetectorError::ExternalDataMissing { path: wanted }),
        }
    };
    file.external_files.iter().map(read).collect()
}

fn map_classes(names: Vec<String>) -> Result<Vec<ModelClass>, DetectorError> {
    let classes: Vec<ModelClass> = names
        .into_iter()
        .map(|name| ModelClass {
            class: VehicleClass::from_model_name(&name),
            name,
        })
        .collect();
    if classes.iter().all(|class| class.class.is_none()) {
        return Err(DetectorError::NoVehicleClass {
            names: classes.into_iter().map(|class| class.name).collect(),
        });
    }
    Ok(classes)
}

fn input_spec(file: &OnnxFile) -> Result<InputSpec, DetectorError> {
    let refuse = |why: &str| DetectorError::Layout {
        found: format!("{}; {why}", layout::describe(file)),
        supported: "one image input [batch, 3, height, width] of 32- or 16-bit floats",
    };
    let [input] = file.inputs.as_slice() else {
        return Err(refuse("not exactly one input"));
    };
    let half = match input.element {
        ElementType::Float32 => false,
        ElementType::Float16 => true,
        _ => return Err(refuse("the input takes no floats")),
    };
    let Some([batch, channels, height, width]) = input.shape.as_deref() else {
        return Err(refuse("the input has not four axes"));
    };
    if channels.is_some_and(|channels| channels != 3) {
        return Err(refuse("the input has not three channels in second place"));
    }
    let side = |size: &Option<usize>| match size {
        Some(size) => u32::try_from(*size)
            .map(Some)
            .map_err(|_| refuse("the input is larger than any picture")),
        None => Ok(None),
    };
    let multiple = number(file, "stride").map_or(DEFAULT_STRIDE, |n| (n as u32).clamp(1, 256));
    Ok(InputSpec {
        name: input.name.clone(),
        batch: *batch,
        height: side(height)?,
        width: side(width)?,
        half,
        multiple,
    })
}

fn number(file: &OnnxFile, key: &str) -> Option<f64> {
    let found = literal::numbers(file.metadata.get(key)?)?;
    found.into_iter().reduce(f64::max)
}

fn pixel_origin(file: &OnnxFile) -> PixelOrigin {
    match file.metadata.get(KEY_PIXEL_ORIGIN).map(String::as_str) {
        Some("centre") => PixelOrigin::Centre,
        _ => PixelOrigin::Corner,
    }
}

fn car_range(file: &OnnxFile) -> CarRange {
    let range = file
        .metadata
        .get(KEY_CAR_RANGE)
        .and_then(|text| literal::numbers(text));
    match (number(file, KEY_BEST_CAR), range.as_deref()) {
        (Some(best_px), Some(&[shortest_px, longest_px])) => Some(CarRange {
            best_px,
            shortest_px,
            longest_px,
        }),
        _ => None,
    }
    .filter(CarRange::is_usable)
    .unwrap_or_default()
}
