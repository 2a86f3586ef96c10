//! What a model answers with: recognised from shapes and class names, never guessed, and decoded
//! into boxes of the network's input.

use crate::error::DetectorError;
use crate::onnx::{OnnxFile, TensorInfo};
use crate::oriented_box::OrientedBox;
use crate::runtime::Tensor;
use calibration::{Pixel, Radians};
use serde::{Deserialize, Serialize};

/// A layout of outputs that we read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Layout {
    /// One output `[batch, 4 + classes + 1, candidates]`: cx, cy, w, h, class scores, angle.
    /// Doubles are still in it.
    Raw {
        /// Number of classes.
        classes: usize,
    },
    /// One output `[batch, rows, 7]`: cx, cy, w, h, score, class, angle; rows that hold nothing
    /// have the score 0. From models with suppression inside and from end-to-end models.
    Rows {
        /// At most this many boxes per tile, where the file says so.
        limit: Option<usize>,
    },
}

/// What would have fitted, for refusals.
const SUPPORTED: &str = "oriented-box exports with one output: [batch, 4 + classes + 1, \
                         candidates] (raw) or [batch, rows, 7] (suppression inside, end-to-end)";

/// More rows than this are candidates rather than results.
const MOST_ROWS: usize = 5000;

/// Finds the layout of a model's outputs.
///
/// # Errors
/// [`DetectorError::Layout`] with what was found, [`DetectorError::ClassNamesMissing`] when only
/// the class names could decide.
pub(crate) fn recognise(
    file: &OnnxFile,
    class_names: Option<&[String]>,
) -> Result<Layout, DetectorError> {
    let refuse = |why: &str| DetectorError::Layout {
        found: format!("{}; {why}", describe(file)),
        supported: SUPPORTED,
    };
    if let Some(task) = file.metadata.get("task").filter(|task| *task != "obb") {
        return Err(refuse(&format!(
            "the file says its task is \"{task}\", not oriented boxes (\"obb\")"
        )));
    }
    let [output] = file.outputs.as_slice() else {
        return Err(refuse("more than one output"));
    };
    let Some([_, middle, last]) = output.shape.as_deref() else {
        return Err(refuse("the output has not three axes"));
    };
    let names = class_names.map(<[String]>::len);
    let is_rows = *last == Some(7) && middle.is_none_or(|rows| rows <= MOST_ROWS);
    let could_be_raw = middle.is_some_and(|channels| channels >= 6) && *last != Some(7);
    match (names, *middle) {
        _ if is_rows => Ok(Layout::Rows { limit: *middle }),
        (Some(classes), Some(channels)) if channels == classes + 5 => Ok(Layout::Raw { classes }),
        (Some(classes), Some(channels)) if channels == classes + 4 => Err(refuse(
            "as many channels as a model of upright boxes has: it knows no angles",
        )),
        (None, _) if could_be_raw => Err(DetectorError::ClassNamesMissing {
            shape: vec![output.shape.as_ref().and_then(|s| s[0]), *middle, *last],
        }),
        (Some(classes), _) => Err(refuse(&format!(
            "{classes} class names would need {} channels",
            classes + 5
        ))),
        _ => Err(refuse("the axes fit nothing")),
    }
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
        each.join(", ")
    };
    format!(
        "inputs {}; outputs {}",
        list(&file.inputs),
        list(&file.outputs)
    )
}

/// A box as the network gives it, in pixels of its input.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Candidate {
    pub(crate) oriented_box: OrientedBox,
    pub(crate) class: usize,
    pub(crate) score: f64,
}

/// Reads the boxes of tile `item` of a batch with scores of at least `min_score`.
///
/// # Errors
/// [`DetectorError::OutputShape`] when the output is not what the file declares,
/// [`DetectorError::OutputNotFinite`] when it holds NaN or infinities.
pub(crate) fn decode(
    layout: Layout,
    output: &Tensor,
    item: usize,
    min_score: f64,
) -> Result<Vec<Candidate>, DetectorError> {
    let wrong = |expected: &str| DetectorError::OutputShape {
        found: output.shape.clone(),
        expected: expected.to_owned(),
    };
    let &[batch, middle, last] = output.shape.as_slice() else {
        return Err(wrong("three axes"));
    };
    if item >= batch || output.values.len() != batch * middle * last {
        return Err(wrong("one entry per picture"));
    }
    let values = &output.values[item * middle * last..(item + 1) * middle * last];
    let not_finite = values.iter().filter(|value| !value.is_finite()).count();
    if not_finite > 0 {
        return Err(DetectorError::OutputNotFinite {
            count: not_finite,
            total: values.len(),
        });
    }
    match layout {
        Layout::Raw { classes } if middle == classes + 5 => {
            Ok(decode_raw(values, classes, last, min_score))
        }
        Layout::Raw { classes } => Err(wrong(&format!("{} channels", classes + 5))),
        Layout::Rows { .. } if last == 7 => Ok(decode_rows(values, min_score)),
        Layout::Rows { .. } => Err(wrong("seven columns")),
    }
}

fn decode_raw(values: &[f32], classes: usize, count: usize, min_score: f64) -> Vec<Candidate> {
    let channel = |index: usize| &values[index * count..(index + 1) * count];
    let mut best: Vec<(usize, f32)> = vec![(0, f32::MIN); count];
    for class in 0..classes {
        for (best, &score) in best.iter_mut().zip(channel(4 + class)) {
            if score > best.1 {
                *best = (class, score);
            }
        }
    }
    best.iter()
        .enumerate()
        .filter(|(_, (_, score))| f64::from(*score) >= min_score)
        .filter_map(|(index, &(class, score))| {
            candidate(
                [0, 1, 2, 3, 4 + classes].map(|row| channel(row)[index]),
                class,
                score,
            )
        })
        .collect()
}

fn decode_rows(values: &[f32], min_score: f64) -> Vec<Candidate> {
    values
        .chunks_exact(7)
        // Unused rows carry real numbers with the score 0.
        .filter(|row| row[4] > 0.0 && f64::from(row[4]) >= min_score)
        .filter_map(|row| {
            let class = (row[5] >= 0.0).then_some(row[5] as usize)?;
            candidate([row[0], row[1], row[2], row[3], row[6]], class, row[4])
        })
        .collect()
}

/// `None` for boxes without positive sides, which some networks emit for noise.
fn candidate([x, y, w, h, angle]: [f32; 5], class: usize, score: f32) -> Option<Candidate> {
    let oriented_box = OrientedBox::new(
        Pixel::new(f64::from(x), f64::from(y)),
        f64::from(w),
        f64::from(h),
        Radians(f64::from(angle)),
    )?;
    Some(Candidate {
        oriented_box,
        class,
        score: f64::from(score).min(1.0),
    })
}
