//! A merge model from candidates whose truth is known.

use super::features::Features;
use super::model::{INPUTS, MergeModel, Term, Training, sigmoid};
use nalgebra::{DMatrix, DVector};
use serde::Serialize;

/// A candidate whose truth is known.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Case {
    /// Index of its scene: cases of one scene are left out together.
    pub scene: usize,
    /// What is known of it.
    pub features: Features,
    /// Whether it is one vehicle.
    pub is_one: bool,
}

/// Why there is no model.
#[derive(Debug, thiserror::Error)]
pub enum FitError {
    /// Not enough to learn from.
    #[error(
        "found {n_one} candidates that are one vehicle and {n_two} that are two; {MIN_CASES} of each \
         are needed: give more scenes"
    )]
    TooFew {
        /// One vehicle.
        n_one: usize,
        /// Two.
        n_two: usize,
    },
}

const MIN_CASES: usize = 20;
/// Pull towards zero on standardised inputs.
const RIDGE: f64 = 1.0;
const STEPS: usize = 50;
/// Scenes that are left out at a time.
const FOLDS: usize = 5;
/// Inputs that hardly vary in training say nothing.
const MIN_SPREAD: f64 = 1e-6;
/// Bins of a reliability diagram.
const BINS: usize = 10;

/// A model and how well it predicts what it was not fitted on.
pub struct Fitted {
    /// Fitted on all cases.
    pub model: MergeModel,
    /// Probabilities of cases by models that did not see their scene.
    pub held_out: Reliability,
    /// The same cases by the co-visibility model alone.
    pub start: Reliability,
}

/// How well probabilities hold.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Reliability {
    /// Cases.
    pub n: usize,
    /// Mean squared error of the probabilities.
    pub brier: f64,
    /// Mean difference between the predicted and the true share, over bins by their size.
    pub calibration_error: f64,
    /// Bins of a tenth each, from 0.
    pub bins: Vec<ReliabilityBin>,
}

/// A bin.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct ReliabilityBin {
    /// Cases.
    pub n: usize,
    /// Mean predicted probability.
    pub predicted: f64,
    /// Share that is one vehicle.
    pub observed: f64,
}

/// Compares probabilities with what is true.
#[must_use]
pub fn reliability(pairs: &[(f64, bool)]) -> Reliability {
    let mut bins = vec![ReliabilityBin::default(); BINS];
    let mut brier = 0.0;
    for &(probability, is_one) in pairs {
        let bin = &mut bins[((probability * BINS as f64) as usize).min(BINS - 1)];
        bin.n += 1;
        bin.predicted += probability;
        bin.observed += f64::from(is_one);
        brier += (probability - f64::from(is_one)).powi(2);
    }
    let n = pairs.len().max(1) as f64;
    let off: f64 = bins
        .iter()
        .map(|bin| (bin.predicted - bin.observed).abs())
        .sum();
    for bin in bins.iter_mut().filter(|bin| bin.n > 0) {
        bin.predicted /= bin.n as f64;
        bin.observed /= bin.n as f64;
    }
    Reliability {
        n: pairs.len(),
        brier: brier / n,
        calibration_error: off / n,
        bins,
    }
}

/// Fits a model; `training` is completed with what was found.
///
/// # Errors
/// [`FitError`].
pub fn fit(cases: &[Case], training: Training) -> Result<Fitted, FitError> {
    let n_one = cases.iter().filter(|case| case.is_one).count();
    let n_two = cases.len() - n_one;
    if n_one.min(n_two) < MIN_CASES {
        return Err(FitError::TooFew { n_one, n_two });
    }
    let mut left_out = Vec::with_capacity(cases.len());
    for fold in 0..FOLDS {
        let is_out = |case: &&Case| case.scene % FOLDS == fold;
        let (out, rest): (Vec<&Case>, Vec<&Case>) = cases.iter().partition(is_out);
        if rest.iter().any(|case| case.is_one) && rest.iter().any(|case| !case.is_one) {
            let model = regress(&rest, Training::default());
            left_out.extend(
                out.iter()
                    .map(|c| (model.probability(&c.features), c.is_one)),
            );
        }
    }
    let held_out = reliability(&left_out);
    let start = MergeModel::start();
    let by_start: Vec<(f64, bool)> = cases
        .iter()
        .map(|case| (start.probability(&case.features), case.is_one))
        .collect();
    let training = Training {
        candidates: cases.len(),
        one_vehicle: n_one,
        brier: rounded(held_out.brier),
        calibration_error: rounded(held_out.calibration_error),
        ..training
    };
    let all: Vec<&Case> = cases.iter().collect();
    Ok(Fitted {
        model: regress(&all, training),
        held_out,
        start: reliability(&by_start),
    })
}

fn rounded(value: f64) -> f64 {
    (value * 1e5).round() / 1e5
}

/// Penalised maximum likelihood by Newton steps.
fn regress(cases: &[&Case], training: Training) -> MergeModel {
    let n = cases.len();
    let raw = |case: &Case| INPUTS.map(|(_, value)| value(&case.features));
    let rows: Vec<_> = cases.iter().map(|case| raw(case)).collect();
    let moments: Vec<(f64, f64)> = (0..INPUTS.len())
        .map(|input| {
            let mean = rows.iter().map(|row| row[input]).sum::<f64>() / n as f64;
            let square = rows
                .iter()
                .map(|row| (row[input] - mean).powi(2))
                .sum::<f64>();
            (mean, (square / n as f64).sqrt())
        })
        .collect();
    let used: Vec<usize> = (0..INPUTS.len())
        .filter(|&input| moments[input].1 > MIN_SPREAD)
        .collect();
    let x = DMatrix::from_fn(n, used.len() + 1, |row, column| match column {
        0 => 1.0,
        _ => {
            let input = used[column - 1];
            (rows[row][input] - moments[input].0) / moments[input].1
        }
    });
    let y = DVector::from_iterator(n, cases.iter().map(|case| f64::from(case.is_one)));
    let weights = newton(&x, &y);
    let terms = used.iter().enumerate().map(|(column, &input)| Term {
        feature: INPUTS[input].0.to_owned(),
        mean: rounded(moments[input].0),
        spread: rounded(moments[input].1).max(MIN_SPREAD),
        weight: rounded(weights[column + 1]),
    });
    MergeModel::new(training, rounded(weights[0]), terms.collect())
}

fn newton(x: &DMatrix<f64>, y: &DVector<f64>) -> DVector<f64> {
    let mut weights = DVector::zeros(x.ncols());
    let ridge = DMatrix::from_fn(x.ncols(), x.ncols(), |row, column| {
        // The intercept is free.
        if row == column && row > 0 { RIDGE } else { 0.0 }
    });
    for _ in 0..STEPS {
        let p = (x * &weights).map(sigmoid);
        let gradient = x.transpose() * (y - &p) - &ridge * &weights;
        let mut weighted = x.clone();
        for (mut row, p) in weighted.row_iter_mut().zip(p.iter()) {
            row *= (p * (1.0 - p)).max(1e-9);
        }
        let curvature = x.transpose() * weighted + &ridge;
        let Some(step) = curvature.lu().solve(&gradient) else {
            break;
        };
        weights += &step;
        if step.norm() < 1e-9 {
            break;
        }
    }
    weights
}

#[cfg(test)]
mod tests {
    use super::super::features::{Group, Scale, features};
    use super::*;
    use crate::seeded;
    use nalgebra::{Matrix2, Vector2};

    fn group(east: f64, photos: Vec<usize>) -> Group {
        Group {
            place: Vector2::new(east, 0.0),
            covariance: Matrix2::identity() * 0.01,
            expected: (0..40).collect(),
            photos,
            length_m: Some(4.5),
            axis_deg: Some(0.0),
            depression_deg: 50.0,
            seen_s: None,
            colour: None,
        }
    }

    /// Probabilities fitted on a known law come out as that law has them.
    #[test]
    fn a_known_law_is_found_again() {
        let mut rng = seeded::rng(1, "test", "merge model");
        let scale = Scale {
            epsilon_m: 2.0,
            recall: 0.8,
        };
        let cases: Vec<Case> = (0..4000)
            .map(|idx| {
                let apart = 3.0 * seeded::unit(&mut rng);
                let features = features(
                    &group(0.0, (0..20).collect()),
                    &group(apart, vec![30]),
                    &scale,
                );
                let law = sigmoid(4.0 - 3.0 * apart);
                Case {
                    scene: idx % 10,
                    features,
                    is_one: seeded::unit(&mut rng) < law,
                }
            })
            .collect();
        let fitted = fit(&cases, Training::default()).expect("enough cases");
        assert!(
            fitted.held_out.calibration_error < 0.04,
            "{:?}",
            fitted.held_out
        );
        assert!(fitted.held_out.brier < fitted.start.brier);
        for apart in [0.3, 1.0, 1.5, 2.5] {
            let of = features(
                &group(0.0, (0..20).collect()),
                &group(apart, vec![30]),
                &scale,
            );
            let (found, law) = (fitted.model.probability(&of), sigmoid(4.0 - 3.0 * apart));
            assert!((found - law).abs() < 0.08, "{apart} m: {found} {law}");
        }
        let text = fitted.model.to_toml();
        let again: MergeModel = toml::from_str(&text).expect("what was written");
        assert_eq!(again, fitted.model);
    }

    #[test]
    fn the_model_that_ships_is_one() {
        let model = MergeModel::shipped();
        assert!(model.training.candidates > 200);
        assert!(!model.training.description.is_empty());
    }

    #[test]
    fn too_little_is_refused() {
        assert!(matches!(
            fit(&[], Training::default()),
            Err(FitError::TooFew { n_one: 0, n_two: 0 })
        ));
    }
}
