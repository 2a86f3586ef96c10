//! What a model answers with: recognised from shapes and class names, never guessed.

mod decode;

use crate::error::DetectorError;
use crate::onnx::{OnnxFile, TensorInfo};
use serde::{Deserialize, Serialize};
use std::fmt;

pub(crate) use decode::{Candidate, Decoded, decode};

/// A layout of outputs that we read. Coordinates are pixels of the network's input, angles radians
/// (clockwise on screen), whichever side comes first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Layout {
    /// `[batch, 4 + classes + 1, candidates]`: cx, cy, w, h, class scores, angle. Doubles are still
    /// in it. YOLO v8, 11, 12 and 26 exported without suppression; our own model.
    Raw {
        /// Number of classes.
        classes: usize,
    },
    /// `[batch, rows, 7]`: cx, cy, w, h, score, class, angle; rows that hold nothing have the
    /// score 0. YOLO exported with suppression inside, and end-to-end YOLO 26.
    Rows {
        /// At most this many boxes per tile, where the file says so.
        limit: Option<usize>,
    },
    /// `[batch, candidates, 5]` with cx, cy, w, h, angle and `[batch, candidates, classes]` with
    /// scores. MMRotate exported without suppression.
    BoxesAndScores {
        /// Number of classes.
        classes: usize,
    },
    /// `[batch, candidates, 5 + classes + 180]`: cx, cy, long side, short side, objectness, class
    /// scores, one score per whole degree from -90. yolov5_obb.
    AngleBins {
        /// Number of classes.
        classes: usize,
    },
    /// `[candidates, 5]` with cx, cy, w, h, angle, `[candidates]` scores, `[candidates]` labels and
    /// how many of them count. oriented-det.
    Counted {
        /// Number of classes.
        classes: usize,
    },
}

impl fmt::Display for Layout {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Raw { classes } => write!(
                f,
                "raw [batch, 4 + {classes} + 1, candidates], doubles removed here"
            ),
            Self::Rows { limit: Some(limit) } => {
                write!(f, "rows [batch, {limit}, 7], at most {limit} boxes a tile")
            }
            Self::Rows { limit: None } => write!(f, "rows [batch, rows, 7]"),
            Self::BoxesAndScores { classes } => write!(
                f,
                "[batch, candidates, 5] and [batch, candidates, {classes}] (MMRotate)"
            ),
            Self::AngleBins { classes } => write!(
                f,
                "angle bins [batch, candidates, 5 + {classes} + 180] (yolov5_obb)"
            ),
            Self::Counted { classes } => write!(
                f,
                "boxes, scores, labels ({classes} classes) and their count (oriented-det)"
            ),
        }
    }
}

/// What would have fitted, for refusals.
const SUPPORTED: &str = "oriented-box models with [batch, 4 + classes + 1, candidates] (YOLO raw), \
     [batch, rows, 7] (YOLO with suppression inside or end-to-end), [batch, candidates, 5] and \
     [batch, candidates, classes] (MMRotate without suppression), \
     [batch, candidates, 5 + classes + 180] (yolov5_obb), or oriented-det's four outputs";

/// More rows than this are candidates rather than results.
const MOST_ROWS: usize = 5000;
/// yolov5_obb tells angles by the best of so many one-degree bins.
const ANGLE_BINS: usize = 180;
/// Names of oriented-det's outputs, in the order they are decoded.
const COUNTED_OUTPUTS: [&str; 4] = [
    "pre_nms_boxes",
    "pre_nms_scores",
    "pre_nms_labels",
    "pre_nms_count",
];

/// A recognised layout and the outputs to ask for, in the order of decoding.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Recognised {
    pub(crate) layout: Layout,
    pub(crate) outputs: Vec<String>,
}

/// Finds the layout of a model's outputs.
///
/// # Errors
/// [`DetectorError::Layout`] with what was found, [`DetectorError::ClassNamesMissing`] when only
/// the class names could decide.
pub(crate) fn recognise(
    file: &OnnxFile,
    class_names: Option<&[String]>,
) -> Result<Recognised, DetectorError> {
    let classes = class_names.map(<[String]>::len);
    if let Some(task) = file.metadata.get("task").filter(|task| *task != "obb") {
        return Err(refusal(
            file,
            &format!("the file says its task is \"{task}\", not oriented boxes (\"obb\")"),
        ));
    }
    match file.outputs.as_slice() {
        [output] => Ok(Recognised {
            layout: recognise_single(file, output, classes)?,
            outputs: vec![output.name.clone()],
        }),
        [first, second] => recognise_pair(file, first, second, classes),
        outputs => {
            let has = |name: &&str| outputs.iter().any(|output| output.name == **name);
            match classes {
                Some(classes) if COUNTED_OUTPUTS.iter().all(has) => Ok(Recognised {
                    layout: Layout::Counted { classes },
                    outputs: COUNTED_OUTPUTS.map(str::to_owned).to_vec(),
                }),
                None if COUNTED_OUTPUTS.iter().all(has) => Err(names_missing(&outputs[0])),
                _ => Err(refusal(file, "unknown outputs")),
            }
        }
    }
}

fn refusal(file: &OnnxFile, why: &str) -> DetectorError {
    DetectorError::Layout {
        found: format!("{}; {why}", describe(file)),
        supported: SUPPORTED,
    }
}

fn names_missing(output: &TensorInfo) -> DetectorError {
    DetectorError::ClassNamesMissing {
        shape: output.shape.clone().unwrap_or_default(),
    }
}

fn recognise_single(
    file: &OnnxFile,
    output: &TensorInfo,
    classes: Option<usize>,
) -> Result<Layout, DetectorError> {
    let Some([_, middle, last]) = output.shape.as_deref() else {
        return Err(refusal(file, "the output has not three axes"));
    };
    let few_rows = middle.is_none_or(|rows| rows <= MOST_ROWS);
    if *last == Some(7) && few_rows {
        return Ok(Layout::Rows { limit: *middle });
    }
    if *last == Some(8) {
        return Err(refusal(file, "corner polygons (PP-YOLOE-R) are not read"));
    }
    let Some(classes) = classes else {
        return Err(names_missing(output));
    };
    if *middle == Some(classes + 5) {
        Ok(Layout::Raw { classes })
    } else if *last == Some(5 + classes + ANGLE_BINS) {
        Ok(Layout::AngleBins { classes })
    } else if *middle == Some(classes + 4) {
        Err(refusal(
            file,
            "as many channels as a model of upright boxes has: it knows no angles",
        ))
    } else {
        let needed = classes + 5;
        Err(refusal(
            file,
            &format!("{classes} class names would need {needed} channels"),
        ))
    }
}

fn recognise_pair(
    file: &OnnxFile,
    first: &TensorInfo,
    second: &TensorInfo,
    classes: Option<usize>,
) -> Result<Recognised, DetectorError> {
    let last = |tensor: &TensorInfo| match tensor.shape.as_deref() {
        Some([_, _, last]) => *last,
        _ => None,
    };
    for (boxes, scores) in [(first, second), (second, first)] {
        match (last(boxes), last(scores), classes) {
            (Some(5), Some(found), Some(classes)) if found == classes => {
                return Ok(Recognised {
                    layout: Layout::BoxesAndScores { classes },
                    outputs: vec![boxes.name.clone(), scores.name.clone()],
                });
            }
            (Some(5), Some(_), None) => return Err(names_missing(scores)),
            (Some(8), _, _) => {
                return Err(refusal(file, "corner polygons (PP-YOLOE-R) are not read"));
            }
            _ => {}
        }
    }
    Err(refusal(file, "two outputs that are not boxes and scores"))
}

/// Whether the file tells enough about its outputs for [`recognise`].
pub(crate) fn shapes_are_stated(file: &OnnxFile) -> bool {
    file.outputs
        .iter()
        .all(|output| match output.shape.as_deref() {
            Some([_, middle, last]) => middle.is_some() || last.is_some(),
            Some(_) => true,
            None => false,
        })
}

/// Inputs and outputs in one line.
pub(crate) fn describe(file: &OnnxFile) -> String {
    let list = |tensors: &[TensorInfo]| {
        let each: Vec<String> = tensors
            .iter()
            .map(|tensor| {
                let axes = tensor.shape.as_ref().map(|shape| {
                    shape
                        .iter()
                        .map(|size| size.map_or("?".to_owned(), |size| size.to_string()))
                        .collect::<Vec<_>>()
                        .join(", ")
                });
                let axes = axes.unwrap_or_else(|| "shape unknown".to_owned());
                format!("{} {:?} [{axes}]", tensor.name, tensor.element)
            })
            .collect();
        if each.is_empty() {
            "none".to_owned()
        } else {
            each.join(", ")
        }
    };
    format!(
        "inputs {}; outputs {}",
        list(&file.inputs),
        list(&file.outputs)
    )
}
