//! A picture with known vehicles, which every model should find most of: what a quantised model or
//! wrong colours have broken shows before the flight.

use crate::detect::{DetectOptions, Detector};
use crate::error::DetectorError;
use crate::evaluate::{EvaluatedPhoto, TruthBox, evaluate};
use crate::oriented_box::OrientedBox;
use crate::photo::Photo;
use crate::scale::ScaleChoice;
use calibration::{Pixel, Radians};
use serde::{Deserialize, Serialize};

/// A rendered car park of this project's simulator, from 60 m and 70 degrees down, and the true
/// boxes in it (centre x and y, long and short side in pixels, angle in degrees); those cut or
/// much hidden are ignored.
const PICTURE: &[u8] = include_bytes!("../models/self-test.jpg");
const TRUTH: &str = include_str!("../models/self-test.json");
/// Models that work find nearly all; one that is broken finds next to nothing, or turns the boxes.
const ENOUGH_FOUND: f64 = 0.6;
const MOST_ANGLE_ERROR_DEG: f64 = 6.0;

#[derive(Deserialize)]
struct Truth {
    vehicles: Vec<[f64; 5]>,
    ignored: Vec<[f64; 5]>,
}

/// How a model did on the picture that is built in.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct SelfTest {
    /// Vehicles in the picture.
    pub vehicles: usize,
    /// How many were found, at an intersection over union of 0.5.
    pub found: usize,
    /// Boxes where there is no vehicle.
    pub wrong: usize,
    /// Median error of the long side's direction, degrees; `None` where nothing was found.
    pub angle_error_deg: Option<f64>,
}

impl SelfTest {
    /// Whether the model found too little, or turned it, to be trusted without a look.
    #[must_use]
    pub fn is_doubtful(&self) -> bool {
        (self.found as f64) < ENOUGH_FOUND * self.vehicles as f64
            || self
                .angle_error_deg
                .is_none_or(|error| error > MOST_ANGLE_ERROR_DEG)
    }
}

impl Detector {
    /// Runs the model on the picture that is built in, at the model's best scale and score.
    ///
    /// # Errors
    /// [`DetectorError`] when the model fails on it.
    pub fn self_test(&mut self) -> Result<SelfTest, DetectorError> {
        let truth: Truth = serde_json::from_str(TRUTH).expect("it is part of the program");
        let car_px = median_length(&truth.vehicles);
        let options = DetectOptions {
            scale: ScaleChoice::Factor(self.info().car_range.best_px / car_px),
            ..DetectOptions::default()
        };
        let picture = Photo::decode(PICTURE)?;
        let found = self.detect(&picture.image, None, &options)?;
        let evaluated = evaluate(&[EvaluatedPhoto {
            detections: found.detections,
            truth: boxes(&truth),
            height_m: None,
            downward_pitch_deg: None,
        }]);
        let vehicles = evaluated.vehicles;
        // The curve's last point: all boxes above the model's own score.
        let last = evaluated.oriented.as_ref().and_then(|o| o.curve.last());
        let n_found = last.map_or(0, |last| (last.recall * vehicles as f64).round() as usize);
        let n_boxes = last.map_or(0, |last| (n_found as f64 / last.precision).round() as usize);
        Ok(SelfTest {
            vehicles,
            found: n_found,
            wrong: n_boxes.saturating_sub(n_found),
            angle_error_deg: evaluated.angle_errors.map(|errors| errors.median_deg),
        })
    }
}

fn median_length(boxes: &[[f64; 5]]) -> f64 {
    let mut lengths: Vec<f64> = boxes.iter().map(|row| row[2]).collect();
    lengths.sort_by(f64::total_cmp);
    lengths[lengths.len() / 2]
}

fn boxes(truth: &Truth) -> Vec<TruthBox> {
    let oriented = |row: &[f64; 5]| {
        let [x, y, along, across, degrees] = *row;
        OrientedBox::new(
            Pixel::new(x, y),
            along,
            across,
            Radians::from_degrees(degrees),
        )
        .expect("it is part of the program")
    };
    let marked = |rows: &[[f64; 5]], ignored: bool| -> Vec<TruthBox> {
        rows.iter()
            .map(oriented)
            .map(|oriented_box| TruthBox {
                oriented_box: Some(oriented_box),
                horizontal_box: oriented_box.hull(),
                ignored,
            })
            .collect()
    };
    [marked(&truth.vehicles, false), marked(&truth.ignored, true)].concat()
}
