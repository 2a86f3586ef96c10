//! Reading boxes out of a model's outputs.

use super::{ANGLE_BINS, Layout};
use crate::error::DetectorError;
use crate::oriented_box::OrientedBox;
use crate::runtime::Tensor;
use calibration::{Pixel, Radians};

/// A box as the network gives it, in pixels of its input.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Candidate {
    pub(crate) oriented_box: OrientedBox,
    pub(crate) class: usize,
    pub(crate) score: f64,
}

/// The boxes of one picture.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Decoded {
    pub(crate) candidates: Vec<Candidate>,
    /// Boxes with a sufficient score whose sides are not positive.
    pub(crate) impossible: usize,
    /// Whether every row that the model can fill is filled.
    pub(crate) full: bool,
}

impl Decoded {
    fn push(&mut self, [x, y, w, h, angle]: [f32; 5], class: usize, score: f32) {
        let oriented_box = OrientedBox::new(
            Pixel::new(f64::from(x), f64::from(y)),
            f64::from(w),
            f64::from(h),
            Radians(f64::from(angle)),
        );
        match oriented_box {
            Some(oriented_box) => self.candidates.push(Candidate {
                oriented_box,
                class,
                score: f64::from(score).min(1.0),
            }),
            None => self.impossible += 1,
        }
    }
}

/// Coordinates up to this are shares of the input's side rather than pixels.
const LARGEST_SHARE: f64 = 1.5;
/// One box inside the top left pixel can be; so many with all coordinates there cannot.
const ENOUGH_TO_JUDGE: usize = 3;

/// Reads the boxes of picture `item` of a batch with scores of at least `min_score`.
///
/// # Errors
/// [`DetectorError::OutputShape`] when an output is not what the file declares,
/// [`DetectorError::OutputNotFinite`] when it holds NaN or infinities,
/// [`DetectorError::OutputNotPixels`] when the coordinates are shares of the input's side.
pub(crate) fn decode(
    layout: Layout,
    outputs: &[Tensor],
    item: usize,
    min_score: f64,
) -> Result<Decoded, DetectorError> {
    for output in outputs {
        let count = output.values.iter().filter(|v| !v.is_finite()).count();
        if count > 0 {
            return Err(DetectorError::OutputNotFinite {
                count,
                total: output.values.len(),
            });
        }
    }
    let decoded = match layout {
        Layout::Raw { classes } => decode_raw(&Plane::of(outputs, 0, item)?, classes, min_score),
        Layout::Rows { limit } => decode_rows(&Plane::of(outputs, 0, item)?, limit, min_score),
        Layout::BoxesAndScores { classes } => decode_pair(
            &Plane::of(outputs, 0, item)?,
            &Plane::of(outputs, 1, item)?,
            classes,
            min_score,
        ),
        Layout::AngleBins { classes } => {
            decode_bins(&Plane::of(outputs, 0, item)?, classes, min_score)
        }
        Layout::Counted { classes } => decode_counted(outputs, classes, min_score),
    }?;
    let is_share = |candidate: &Candidate| {
        let centre = candidate.oriented_box.centre();
        candidate.oriented_box.long_side_px() <= LARGEST_SHARE
            && centre.x <= LARGEST_SHARE
            && centre.y <= LARGEST_SHARE
    };
    if decoded.candidates.len() >= ENOUGH_TO_JUDGE && decoded.candidates.iter().all(is_share) {
        return Err(DetectorError::OutputNotPixels);
    }
    Ok(decoded)
}

/// One picture's part of an output with three axes.
struct Plane<'a> {
    rows: usize,
    columns: usize,
    values: &'a [f32],
}

impl<'a> Plane<'a> {
    fn of(outputs: &'a [Tensor], index: usize, item: usize) -> Result<Self, DetectorError> {
        let output = output_at(outputs, index)?;
        match output.shape.as_slice() {
            &[batch, rows, columns]
                if item < batch && output.values.len() == batch * rows * columns =>
            {
                let size = rows * columns;
                Ok(Self {
                    rows,
                    columns,
                    values: &output.values[item * size..(item + 1) * size],
                })
            }
            found => Err(DetectorError::OutputShape {
                found: found.to_vec(),
                expected: "three axes, the first of the batch".to_owned(),
            }),
        }
    }

    fn row(&self, index: usize) -> &'a [f32] {
        &self.values[index * self.columns..(index + 1) * self.columns]
    }

    fn needs(&self, fits: bool, expected: &str) -> Result<(), DetectorError> {
        if fits {
            Ok(())
        } else {
            Err(DetectorError::OutputShape {
                found: vec![self.rows, self.columns],
                expected: expected.to_owned(),
            })
        }
    }
}

fn output_at(outputs: &[Tensor], index: usize) -> Result<&Tensor, DetectorError> {
    outputs
        .get(index)
        .ok_or_else(|| DetectorError::OutputShape {
            found: Vec::new(),
            expected: format!("an output number {}", index + 1),
        })
}

fn decode_raw(plane: &Plane<'_>, classes: usize, min_score: f64) -> Result<Decoded, DetectorError> {
    plane.needs(
        plane.rows == classes + 5,
        &format!("{} channels", classes + 5),
    )?;
    let mut best: Vec<(usize, f32)> = vec![(0, f32::MIN); plane.columns];
    for class in 0..classes {
        for (best, &score) in best.iter_mut().zip(plane.row(4 + class)) {
            if score > best.1 {
                *best = (class, score);
            }
        }
    }
    let mut decoded = Decoded::default();
    for (index, &(class, score)) in best.iter().enumerate() {
        if f64::from(score) >= min_score {
            let numbers = [0, 1, 2, 3, 4 + classes].map(|row| plane.row(row)[index]);
            decoded.push(numbers, class, score);
        }
    }
    Ok(decoded)
}

fn decode_rows(
    plane: &Plane<'_>,
    limit: Option<usize>,
    min_score: f64,
) -> Result<Decoded, DetectorError> {
    plane.needs(plane.columns == 7, "seven columns")?;
    let mut decoded = Decoded::default();
    let mut filled = 0;
    for row in (0..plane.rows).map(|index| plane.row(index)) {
        // Unused rows carry real numbers with the score 0.
        let (score, class) = (row[4], row[5]);
        if score <= 0.0 || class < 0.0 {
            continue;
        }
        filled += 1;
        if f64::from(score) >= min_score {
            decoded.push(
                [row[0], row[1], row[2], row[3], row[6]],
                class as usize,
                score,
            );
        }
    }
    decoded.full = limit.is_some_and(|limit| filled >= limit);
    Ok(decoded)
}

fn decode_pair(
    boxes: &Plane<'_>,
    scores: &Plane<'_>,
    classes: usize,
    min_score: f64,
) -> Result<Decoded, DetectorError> {
    boxes.needs(boxes.columns == 5, "five columns")?;
    scores.needs(
        scores.columns == classes && scores.rows == boxes.rows,
        &format!("{} rows of {classes} scores", boxes.rows),
    )?;
    let mut decoded = Decoded::default();
    for index in 0..boxes.rows {
        let (class, score) = best_of(scores.row(index));
        if f64::from(score) >= min_score {
            let row = boxes.row(index);
            decoded.push([row[0], row[1], row[2], row[3], row[4]], class, score);
        }
    }
    Ok(decoded)
}

fn decode_bins(
    plane: &Plane<'_>,
    classes: usize,
    min_score: f64,
) -> Result<Decoded, DetectorError> {
    let columns = 5 + classes + ANGLE_BINS;
    plane.needs(plane.columns == columns, &format!("{columns} columns"))?;
    let mut decoded = Decoded::default();
    for row in (0..plane.rows).map(|index| plane.row(index)) {
        let (class, class_score) = best_of(&row[5..5 + classes]);
        let score = row[4] * class_score;
        if f64::from(score) >= min_score {
            let (bin, _) = best_of(&row[5 + classes..]);
            let angle = (bin as f32 - 90.0).to_radians();
            decoded.push([row[0], row[1], row[2], row[3], angle], class, score);
        }
    }
    Ok(decoded)
}

fn decode_counted(
    outputs: &[Tensor],
    classes: usize,
    min_score: f64,
) -> Result<Decoded, DetectorError> {
    let [boxes, scores, labels, count] = [0, 1, 2, 3].map(|index| output_at(outputs, index));
    let (boxes, scores, labels, count) = (boxes?, scores?, labels?, count?);
    let counted = count.values.first().map_or(0, |&n| n.max(0.0) as usize);
    let available = boxes.values.len() / 5;
    let fits = boxes.shape.last() == Some(&5)
        && counted <= available
        && scores.values.len() == available
        && labels.values.len() == available;
    if !fits {
        return Err(DetectorError::OutputShape {
            found: boxes.shape.clone(),
            expected: format!("{counted} rows of five with a score and a label each"),
        });
    }
    let mut decoded = Decoded {
        full: counted == available,
        ..Decoded::default()
    };
    for index in 0..counted {
        let (score, label) = (scores.values[index], labels.values[index]);
        if f64::from(score) >= min_score && label >= 0.0 && (label as usize) < classes {
            let row = &boxes.values[index * 5..index * 5 + 5];
            decoded.push(
                [row[0], row[1], row[2], row[3], row[4]],
                label as usize,
                score,
            );
        }
    }
    Ok(decoded)
}

/// Index and value of the largest number; the first of equals.
fn best_of(scores: &[f32]) -> (usize, f32) {
    let mut best = (0, f32::MIN);
    for (index, &score) in scores.iter().enumerate() {
        if score > best.1 {
            best = (index, score);
        }
    }
    best
}
