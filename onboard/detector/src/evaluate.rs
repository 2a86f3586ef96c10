//! How good detections are against truth: average precision for oriented and upright boxes, angle
//! errors, doubles, and the same by size of vehicle, height and pitch.
//!
//! Average precision is the area under the precision-recall curve after precision has been made
//! non-increasing (continuous, not sampled at 11 or 101 points). Detections are matched in
//! descending score to the free truth they overlap most, if by at least the threshold. What lies on
//! ignored truth counts neither way.

use crate::detection::Detection;
use crate::oriented_box::{HorizontalBox, OrientedBox};
use serde::{Deserialize, Serialize};

/// Thresholds of the averaged figure: 0.50, 0.55, ..., 0.95.
const THRESHOLDS: [f64; 10] = [0.5, 0.55, 0.6, 0.65, 0.7, 0.75, 0.8, 0.85, 0.9, 0.95];
/// A detection with this share of its area on ignored truth is ignored too.
const IGNORED_SHARE: f64 = 0.5;
/// A second detection that overlaps a truth this much, with the score of a serious one, is a
/// double.
const DOUBLE_IOU: f64 = 0.5;

/// A vehicle as it should be found.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct TruthBox {
    /// The whole vehicle; `None` where only an upright box is known.
    pub oriented_box: Option<OrientedBox>,
    /// The upright box, clipped to the photo.
    pub horizontal_box: HorizontalBox,
    /// Neither right nor wrong to find: hidden too much, too small, or no vehicle of ours.
    pub ignored: bool,
}

/// Standard deviations per median of absolute errors, for normal errors.
const DEVIATIONS_PER_MEDIAN: f64 = 1.4826;

/// A photo's detections and truth, with where it was taken from for the groups.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct EvaluatedPhoto {
    /// What was found.
    pub detections: Vec<Detection>,
    /// What is there.
    pub truth: Vec<TruthBox>,
    /// Height above ground, metres.
    pub height_m: Option<f64>,
    /// Downward pitch, degrees: 90 is the nadir.
    pub downward_pitch_deg: Option<f64>,
}

/// A point of the precision-recall curve.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct CurvePoint {
    /// Detections with at least this score.
    pub score: f64,
    /// Share of them that are right.
    pub precision: f64,
    /// Share of the vehicles that are found.
    pub recall: f64,
}

/// Figures for one kind of box.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Precision {
    /// Average precision at an intersection over union of 0.5.
    pub ap50: f64,
    /// Mean over 0.50, 0.55, ..., 0.95.
    pub ap50_95: f64,
    /// Highest F1 of the curve at 0.5.
    pub best_f1: f64,
    /// The score where it is reached; `None` without detections.
    pub best_f1_score: Option<f64>,
    /// Recall of all detections at 0.5.
    pub recall: f64,
    /// The curve at 0.5, in descending score.
    pub curve: Vec<CurvePoint>,
}

/// Errors of the long side's direction among detections that hit at 0.5, degrees in [0, 90].
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct AngleErrors {
    /// Hits measured.
    pub count: usize,
    /// Median.
    pub median_deg: f64,
    /// Nine of ten are below.
    pub p90_deg: f64,
}

/// How far the corners of detections that hit at 0.5 lie from the true ones.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct CornerErrors {
    /// Hits measured.
    pub count: usize,
    /// Standard deviation along x and along y, as a share of the true long side: 1.4826 times the
    /// median of absolute errors, so that boxes which are wrong altogether do not count.
    pub sigma: f64,
}

/// What groups a part of the evaluation.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "by")]
pub enum Group {
    /// Long side of the vehicle's box in the photo, pixels, from (included) to (excluded; `None` is
    /// without end).
    Size {
        /// From.
        from_px: f64,
        /// To.
        to_px: Option<f64>,
    },
    /// Height above ground, metres.
    Height {
        /// From.
        from_m: f64,
        /// To.
        to_m: Option<f64>,
    },
    /// Downward pitch, degrees.
    Pitch {
        /// From.
        from_deg: f64,
        /// To.
        to_deg: Option<f64>,
    },
}

/// Figures of one group.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct GroupResult {
    /// Which.
    pub group: Group,
    /// Vehicles in it.
    pub vehicles: usize,
    /// Average precision of oriented boxes at 0.5.
    pub oriented_ap50: f64,
    /// Share of its vehicles found at 0.5.
    pub oriented_recall: f64,
    /// Angle errors; `None` without hits.
    pub angle_errors: Option<AngleErrors>,
}

/// The whole evaluation.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Evaluation {
    /// Photos.
    pub photos: usize,
    /// Vehicles to find.
    pub vehicles: usize,
    /// Oriented boxes; `None` where the truth has none.
    pub oriented: Option<Precision>,
    /// Upright boxes.
    pub horizontal: Precision,
    /// Angle errors; `None` without hits.
    pub angle_errors: Option<AngleErrors>,
    /// Corner errors; `None` without hits.
    pub corner_errors: Option<CornerErrors>,
    /// Detections beyond the first on the same vehicle, among those above the best F1's score.
    pub doubles: usize,
    /// By size, height and pitch; empty groups are left out.
    pub groups: Vec<GroupResult>,
}

/// Lower ends of the size groups, pixels.
const SIZES_PX: [f64; 7] = [0.0, 16.0, 32.0, 64.0, 128.0, 256.0, f64::MAX];
/// Lower ends of the height groups, metres.
const HEIGHTS_M: [f64; 5] = [0.0, 20.0, 60.0, 120.0, f64::MAX];
/// Lower ends of the pitch groups, degrees: the benchmark's bins and what lies beside them.
const PITCHES_DEG: [f64; 6] = [0.0, 22.5, 37.5, 52.5, 75.0, 90.1];

/// Evaluates photos together.
#[must_use]
pub fn evaluate(photos: &[EvaluatedPhoto]) -> Evaluation {
    let all: Vec<&EvaluatedPhoto> = photos.iter().collect();
    let has_oriented = photos
        .iter()
        .flat_map(|photo| &photo.truth)
        .any(|truth| truth.oriented_box.is_some() && !truth.ignored);
    let horizontal = precision(&all, Kind::Horizontal, None);
    let oriented = has_oriented.then(|| precision(&all, Kind::Oriented, None));
    let serious = oriented.as_ref().unwrap_or(&horizontal).best_f1_score;
    Evaluation {
        photos: photos.len(),
        vehicles: count_vehicles(&all, None),
        horizontal,
        angle_errors: angle_errors(&all, None),
        corner_errors: corner_errors(&all),
        doubles: serious.map_or(0, |score| doubles(&all, score)),
        groups: if has_oriented {
            groups(&all)
        } else {
            Vec::new()
        },
        oriented,
    }
}

fn groups(photos: &[&EvaluatedPhoto]) -> Vec<GroupResult> {
    let within = |from: f64, to: f64, value: Option<f64>| {
        value.is_some_and(|value| value >= from && value < to)
    };
    let mut results = Vec::new();
    for ends in SIZES_PX.windows(2) {
        let (from_px, to_px) = (ends[0], ends[1]);
        let group = Group::Size {
            from_px,
            to_px: finite(to_px),
        };
        results.extend(group_result(group, photos, Some((from_px, to_px))));
    }
    for ends in HEIGHTS_M.windows(2) {
        let (from_m, to_m) = (ends[0], ends[1]);
        let chosen: Vec<_> = photos
            .iter()
            .copied()
            .filter(|photo| within(from_m, to_m, photo.height_m))
            .collect();
        results.extend(group_result(
            Group::Height {
                from_m,
                to_m: finite(to_m),
            },
            &chosen,
            None,
        ));
    }
    for ends in PITCHES_DEG.windows(2) {
        let (from_deg, to_deg) = (ends[0], ends[1]);
        let chosen: Vec<_> = photos
            .iter()
            .copied()
            .filter(|photo| within(from_deg, to_deg, photo.downward_pitch_deg))
            .collect();
        results.extend(group_result(
            Group::Pitch {
                from_deg,
                to_deg: finite(to_deg),
            },
            &chosen,
            None,
        ));
    }
    results
}

fn finite(end: f64) -> Option<f64> {
    (end < f64::MAX).then_some(end)
}

fn group_result(group: Group, photos: &[&EvaluatedPhoto], size: SizeRange) -> Option<GroupResult> {
    let vehicles = count_vehicles(photos, size);
    if vehicles == 0 {
        return None;
    }
    let found = precision(photos, Kind::Oriented, size);
    Some(GroupResult {
        group,
        vehicles,
        oriented_ap50: found.ap50,
        oriented_recall: found.recall,
        angle_errors: angle_errors(photos, size),
    })
}

/// Long sides that count, from (included) to (excluded); the others are ignored.
type SizeRange = Option<(f64, f64)>;

#[derive(Clone, Copy, PartialEq)]
enum Kind {
    Oriented,
    Horizontal,
}

fn long_side(truth: &TruthBox) -> f64 {
    truth.oriented_box.map_or_else(
        || {
            let hull = truth.horizontal_box;
            (hull.x2_px - hull.x1_px).max(hull.y2_px - hull.y1_px)
        },
        |oriented| oriented.long_side_px(),
    )
}

fn counts(truth: &TruthBox, kind: Kind, size: SizeRange) -> bool {
    let in_range = size.is_none_or(|(from, to)| {
        let side = long_side(truth);
        side >= from && side < to
    });
    let known = kind == Kind::Horizontal || truth.oriented_box.is_some();
    !truth.ignored && known && in_range
}

fn count_vehicles(photos: &[&EvaluatedPhoto], size: SizeRange) -> usize {
    photos
        .iter()
        .flat_map(|photo| &photo.truth)
        .filter(|truth| counts(truth, Kind::Horizontal, size))
        .count()
}

fn overlap(detection: &Detection, truth: &TruthBox, kind: Kind) -> f64 {
    match (kind, &truth.oriented_box) {
        (Kind::Oriented, Some(oriented)) => detection.oriented_box.iou(oriented),
        _ => detection.horizontal_box.iou(&truth.horizontal_box),
    }
}

/// What became of a detection.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Outcome {
    /// It hit the truth with this index.
    Hit(usize),
    Miss,
    Ignored,
}

/// Outcomes of a photo's detections, in descending score.
fn matched(
    photo: &EvaluatedPhoto,
    kind: Kind,
    threshold: f64,
    size: SizeRange,
) -> Vec<(f64, Outcome, usize)> {
    let mut order: Vec<usize> = (0..photo.detections.len()).collect();
    order.sort_by(|&a, &b| {
        let score = |index: usize| photo.detections[index].score;
        score(b).total_cmp(&score(a)).then(a.cmp(&b))
    });
    let mut taken = vec![false; photo.truth.len()];
    order
        .into_iter()
        .map(|index| {
            let detection = &photo.detections[index];
            let best = photo
                .truth
                .iter()
                .enumerate()
                .filter(|(at, truth)| !taken[*at] && !truth.ignored)
                .map(|(at, truth)| (overlap(detection, truth, kind), at))
                .filter(|(iou, _)| *iou >= threshold)
                .max_by(|a, b| a.0.total_cmp(&b.0).then(b.1.cmp(&a.1)));
            let outcome = match best {
                Some((_, at)) => {
                    taken[at] = true;
                    if counts(&photo.truth[at], kind, size) {
                        Outcome::Hit(at)
                    } else {
                        Outcome::Ignored
                    }
                }
                None if is_on_ignored(detection, photo) || !fits(detection, size) => {
                    Outcome::Ignored
                }
                None => Outcome::Miss,
            };
            (detection.score, outcome, index)
        })
        .collect()
}

fn fits(detection: &Detection, size: SizeRange) -> bool {
    size.is_none_or(|(from, to)| {
        let side = detection.oriented_box.long_side_px();
        side >= from && side < to
    })
}

fn is_on_ignored(detection: &Detection, photo: &EvaluatedPhoto) -> bool {
    photo
        .truth
        .iter()
        .filter(|truth| truth.ignored)
        .any(|truth| {
            let (common, area) = match &truth.oriented_box {
                Some(oriented) => (
                    detection.oriented_box.intersection_area(oriented),
                    detection.oriented_box.area(),
                ),
                None => (
                    detection
                        .horizontal_box
                        .intersection(&truth.horizontal_box)
                        .map_or(0.0, |part| part.area()),
                    detection.horizontal_box.area(),
                ),
            };
            common >= IGNORED_SHARE * area
        })
}

fn curve_at(
    photos: &[&EvaluatedPhoto],
    kind: Kind,
    threshold: f64,
    size: SizeRange,
) -> Vec<CurvePoint> {
    let wanted = photos
        .iter()
        .flat_map(|photo| &photo.truth)
        .filter(|truth| counts(truth, kind, size))
        .count();
    let mut outcomes: Vec<(f64, bool)> = photos
        .iter()
        .flat_map(|photo| matched(photo, kind, threshold, size))
        .filter(|(_, outcome, _)| *outcome != Outcome::Ignored)
        .map(|(score, outcome, _)| (score, outcome != Outcome::Miss))
        .collect();
    outcomes.sort_by(|a, b| b.0.total_cmp(&a.0));
    let mut hits = 0;
    outcomes
        .iter()
        .enumerate()
        .map(|(index, &(score, hit))| {
            hits += usize::from(hit);
            CurvePoint {
                score,
                precision: hits as f64 / (index + 1) as f64,
                recall: if wanted == 0 {
                    0.0
                } else {
                    hits as f64 / wanted as f64
                },
            }
        })
        .collect()
}

/// Area under the curve with precision made non-increasing from the right.
fn area_under(curve: &[CurvePoint]) -> f64 {
    let mut highest: f64 = 0.0;
    let mut area = 0.0;
    for (index, point) in curve.iter().enumerate().rev() {
        highest = highest.max(point.precision);
        let before = if index == 0 {
            0.0
        } else {
            curve[index - 1].recall
        };
        area += (point.recall - before) * highest;
    }
    area
}

fn precision(photos: &[&EvaluatedPhoto], kind: Kind, size: SizeRange) -> Precision {
    let curve = curve_at(photos, kind, THRESHOLDS[0], size);
    let areas: Vec<f64> = THRESHOLDS
        .iter()
        .map(|&threshold| area_under(&curve_at(photos, kind, threshold, size)))
        .collect();
    let f1 = |point: &CurvePoint| {
        let sum = point.precision + point.recall;
        if sum > 0.0 {
            2.0 * point.precision * point.recall / sum
        } else {
            0.0
        }
    };
    let best = curve.iter().max_by(|a, b| f1(a).total_cmp(&f1(b)));
    Precision {
        ap50: areas[0],
        ap50_95: areas.iter().sum::<f64>() / areas.len() as f64,
        best_f1: best.map_or(0.0, f1),
        best_f1_score: best.map(|point| point.score),
        recall: curve.last().map_or(0.0, |point| point.recall),
        curve,
    }
}

/// Found and true boxes of the hits at 0.5.
fn hits(photos: &[&EvaluatedPhoto], size: SizeRange) -> Vec<(OrientedBox, OrientedBox)> {
    let of_photo = |photo: &&EvaluatedPhoto| {
        let outcomes = matched(photo, Kind::Oriented, THRESHOLDS[0], size);
        outcomes
            .into_iter()
            .filter_map(|(_, outcome, index)| match outcome {
                Outcome::Hit(at) => Some((
                    photo.detections[index].oriented_box,
                    photo.truth[at].oriented_box?,
                )),
                Outcome::Miss | Outcome::Ignored => None,
            })
            .collect::<Vec<_>>()
    };
    photos.iter().flat_map(of_photo).collect()
}

fn corner_errors(photos: &[&EvaluatedPhoto]) -> Option<CornerErrors> {
    let hits = hits(photos, None);
    let mut errors: Vec<f64> = hits
        .iter()
        .flat_map(|(found, truth)| {
            let share = 1.0 / truth.long_side_px();
            corner_distances(found, truth).map(move |error| (error * share).abs())
        })
        .collect();
    errors.sort_by(f64::total_cmp);
    let median = *errors.get(errors.len() / 2)?;
    Some(CornerErrors {
        count: hits.len(),
        sigma: DEVIATIONS_PER_MEDIAN * median,
    })
}

/// The errors along x and y of the four corners, counted from the corner that fits best: a box has
/// no front.
fn corner_distances(found: &OrientedBox, truth: &OrientedBox) -> impl Iterator<Item = f64> + use<> {
    let (found, truth) = (found.corners(), truth.corners());
    let turned = move |by: usize| {
        (0..4).flat_map(move |at| {
            let (found, truth) = (found[(at + by) % 4], truth[at]);
            [found.x - truth.x, found.y - truth.y]
        })
    };
    let squares = |by: usize| turned(by).map(|error| error * error).sum::<f64>();
    let best = (0..4).min_by(|&a, &b| squares(a).total_cmp(&squares(b)));
    turned(best.unwrap_or(0))
}

fn angle_errors(photos: &[&EvaluatedPhoto], size: SizeRange) -> Option<AngleErrors> {
    let mut errors: Vec<f64> = hits(photos, size)
        .iter()
        .map(|(found, truth)| found.axis_difference(truth).to_degrees())
        .collect();
    errors.sort_by(f64::total_cmp);
    let at = |share: f64| errors[((errors.len() - 1) as f64 * share).round() as usize];
    (!errors.is_empty()).then(|| AngleErrors {
        count: errors.len(),
        median_deg: at(0.5),
        p90_deg: at(0.9),
    })
}

/// Detections with at least this score beyond the first on each vehicle.
fn doubles(photos: &[&EvaluatedPhoto], score: f64) -> usize {
    photos
        .iter()
        .flat_map(|photo| photo.truth.iter().map(move |truth| (photo, truth)))
        .map(|(photo, truth)| {
            let on_it = photo
                .detections
                .iter()
                .filter(|detection| detection.score >= score)
                .filter(|detection| overlap(detection, truth, Kind::Oriented) >= DOUBLE_IOU)
                .count();
            on_it.saturating_sub(1)
        })
        .sum()
}

#[cfg(test)]
mod tests;
