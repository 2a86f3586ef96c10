//! A second run where it can help, and which of two results is kept.

use super::assemble::Assembled;
use super::posed::{Level, PosedScene};
use super::run::PoseError;
use super::solver::{SolveError, Solved};

/// Focal lengths further from the prior than this are doubted.
const MAX_FOCAL_CHANGE: f64 = 0.05;
/// Heights above ground further from the heights above take-off than this are doubted.
const MAX_HEIGHT_RATIO_OFF: f64 = 0.15;

/// Whether focal length or height says that self-calibration went astray.
pub(super) fn focal_is_doubtful(posed: &PosedScene) -> bool {
    let focal = posed
        .cameras
        .iter()
        .filter_map(|camera| camera.focal_change)
        .any(|change| change.abs() > MAX_FOCAL_CHANGE);
    let height = posed
        .alignment
        .as_ref()
        .and_then(|alignment| alignment.height_ratio)
        .is_some_and(|ratio| (ratio - 1.0).abs() > MAX_HEIGHT_RATIO_OFF);
    focal || height
}

/// The better of a first result and of what a second run made; `solved` becomes the second run's,
/// with the stages of both. A second run that fails takes nothing from the first.
pub(super) fn second(
    mut first: Result<Assembled, String>,
    solved: &mut Solved,
    again: Result<Solved, SolveError>,
    what: &str,
    assemble: impl Fn(&Solved) -> Result<Assembled, String>,
) -> Result<Result<Assembled, String>, PoseError> {
    match again {
        Ok(mut again) => {
            again
                .stages
                .splice(0..0, std::mem::take(&mut solved.stages));
            *solved = again;
            Ok(better(first, assemble(solved), what))
        }
        Err(SolveError::Interrupted(interrupted)) => Err(interrupted.into()),
        Err(error) => match &mut first {
            Ok(kept) => {
                let remark = format!("a second run, {what}, failed: {error}");
                kept.posed.remarks.push(remark);
                Ok(first)
            }
            Err(_) => Err(error.into()),
        },
    }
}

/// The better of two results by what the gates say; the other is reported.
fn better(
    first: Result<Assembled, String>,
    second: Result<Assembled, String>,
    what: &str,
) -> Result<Assembled, String> {
    match (first, second) {
        (Ok(mut first), Ok(mut second)) => {
            let (a, b) = (rank(&first.posed), rank(&second.posed));
            let other = if b < a { &first.posed } else { &second.posed };
            let remark = format!(
                "solved twice, the second time {what}: {} kept; the other had {}",
                if b < a { "the second" } else { "the first" },
                in_short(other)
            );
            let kept = if b < a { &mut second } else { &mut first };
            kept.posed.remarks.push(remark);
            Ok(if b < a { second } else { first })
        }
        (Ok(mut kept), Err(refusal)) => {
            let remark = format!("solved a second time {what}; that was refused: {refusal}");
            kept.posed.remarks.push(remark);
            Ok(kept)
        }
        (Err(refusal), Ok(mut kept)) => {
            let remark = format!("the first solution was refused ({refusal}); solved again {what}");
            kept.posed.remarks.push(remark);
            Ok(kept)
        }
        (Err(first), Err(_)) => Err(first),
    }
}

/// Smaller is better: the verdict, then photos left out, then doubts about focal length and height.
fn rank(posed: &PosedScene) -> (Level, usize, u64) {
    let left_out = posed.photos.len() - posed.n_solved();
    let focal = posed
        .cameras
        .iter()
        .filter_map(|c| c.focal_change)
        .map(f64::abs)
        .sum::<f64>();
    let height = posed
        .alignment
        .as_ref()
        .and_then(|a| a.height_ratio)
        .map_or(0.0, |ratio| (ratio - 1.0).abs());
    (
        posed.verdict.level,
        left_out,
        (1e6 * (focal + height)) as u64,
    )
}

fn in_short(posed: &PosedScene) -> String {
    let focal: Vec<String> = posed
        .cameras
        .iter()
        .filter_map(|c| c.focal_change)
        .map(|change| format!("{:+.1} %", 100.0 * change))
        .collect();
    let ratio = posed
        .alignment
        .as_ref()
        .and_then(|a| a.height_ratio)
        .map_or_else(|| "unknown".to_owned(), |ratio| format!("{ratio:.3}"));
    format!(
        "{} of {} photos, focal length {}, height ratio {ratio}",
        posed.n_solved(),
        posed.photos.len(),
        focal.join(" and ")
    )
}
