//! What the drone believes about itself: true values with the errors of its sensors.

use crate::dice::Dice;
use crate::poses::PlannedPhoto;
use nalgebra::Vector3;
use serde::{Deserialize, Serialize};

/// Sizes of the errors; all standard deviations unless said otherwise.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct ErrorSpec {
    /// GPS position along each horizontal axis, metres. First-order Gauss-Markov.
    pub gps_sigma_m: f64,
    /// Its correlation time, seconds.
    pub gps_correlation_s: f64,
    /// Height above take-off: steady in one flight, metres.
    pub height_offset_sigma_m: f64,
    /// Height above take-off: drift within a flight, metres; correlated over 300 s.
    pub height_drift_sigma_m: f64,
    /// Height above the sea: steady in one flight, metres (pressure and datum).
    pub absolute_height_sigma_m: f64,
    /// Gimbal yaw and pitch, photo by photo, degrees; roll has half.
    pub gimbal_sigma_deg: f64,
    /// Gimbal yaw: steady over the whole capture, degrees.
    pub yaw_offset_sigma_deg: f64,
    /// Camera clock against UTC, seconds, steady over the capture.
    pub clock_sigma_s: f64,
}

impl Default for ErrorSpec {
    /// As a consumer drone: 1.5 m, 0.5 m in height together, 1 degree, a few degrees of yaw.
    fn default() -> Self {
        Self {
            gps_sigma_m: 1.5,
            gps_correlation_s: 120.0,
            height_offset_sigma_m: 0.4,
            height_drift_sigma_m: 0.3,
            absolute_height_sigma_m: 15.0,
            gimbal_sigma_deg: 1.0,
            yaw_offset_sigma_deg: 2.5,
            clock_sigma_s: 1.5,
        }
    }
}

impl ErrorSpec {
    /// No error at all.
    pub const NONE: Self = Self {
        gps_sigma_m: 0.0,
        gps_correlation_s: 120.0,
        height_offset_sigma_m: 0.0,
        height_drift_sigma_m: 0.0,
        absolute_height_sigma_m: 0.0,
        gimbal_sigma_deg: 0.0,
        yaw_offset_sigma_deg: 0.0,
        clock_sigma_s: 0.0,
    };
}

/// Correlation time of the barometer's drift, seconds.
const HEIGHT_CORRELATION_S: f64 = 300.0;

/// What one photo's metadata will say.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Reading {
    /// Believed position, east-north-up; z is what the satellites would say, used for nothing
    /// but the absolute height.
    pub(crate) position_in_enu: Vector3<f64>,
    pub(crate) height_above_takeoff_m: f64,
    /// Added to the true height above the sea.
    pub(crate) absolute_height_error_m: f64,
    pub(crate) gimbal_yaw_deg: f64,
    pub(crate) gimbal_pitch_deg: f64,
    pub(crate) gimbal_roll_deg: f64,
    pub(crate) flight_yaw_deg: f64,
    pub(crate) flight_pitch_deg: f64,
    pub(crate) flight_roll_deg: f64,
    /// Camera clock minus UTC.
    pub(crate) clock_error_s: f64,
}

/// A first-order Gauss-Markov process.
struct Drift {
    sigma: f64,
    correlation_s: f64,
    value: f64,
}

impl Drift {
    fn new(sigma: f64, correlation_s: f64, dice: &mut Dice) -> Self {
        Self {
            sigma,
            correlation_s,
            value: dice.normal(sigma),
        }
    }

    fn after(&mut self, seconds: f64, dice: &mut Dice) -> f64 {
        let kept = (-seconds / self.correlation_s.max(1e-6)).exp();
        self.value = kept * self.value + dice.normal(self.sigma) * (1.0 - kept * kept).sqrt();
        self.value
    }
}

/// To [-180, 180).
pub(crate) fn wrapped_deg(angle: f64) -> f64 {
    (angle + 180.0).rem_euclid(360.0) - 180.0
}

/// Readings of a whole plan, in its order.
pub(crate) fn read_sensors(photos: &[PlannedPhoto], spec: &ErrorSpec, seed: u64) -> Vec<Reading> {
    let mut dice = Dice::new(seed, "sensors", "");
    let yaw_offset = dice.normal(spec.yaw_offset_sigma_deg);
    let clock_error_s = dice.normal(spec.clock_sigma_s);
    let mut east = Drift::new(spec.gps_sigma_m, spec.gps_correlation_s, &mut dice);
    let mut north = Drift::new(spec.gps_sigma_m, spec.gps_correlation_s, &mut dice);
    let mut drift = Drift::new(spec.height_drift_sigma_m, HEIGHT_CORRELATION_S, &mut dice);
    let (mut flight, mut last, mut offset, mut absolute) = (0, 0.0, 0.0, 0.0);
    photos
        .iter()
        .map(|photo| {
            if photo.flight != flight {
                flight = photo.flight;
                let mut dice = Dice::new(seed, "flight errors", &flight.to_string());
                offset = dice.normal(spec.height_offset_sigma_m);
                absolute = dice.normal(spec.absolute_height_sigma_m);
            }
            let elapsed = (photo.seconds - last).max(0.0);
            last = photo.seconds;
            let truth = photo.camera_from_enu.center_in_enu();
            let (de, dn) = (
                east.after(elapsed, &mut dice),
                north.after(elapsed, &mut dice),
            );
            let height_error = offset + drift.after(elapsed, &mut dice);
            let mut angle = |share: f64| dice.normal(spec.gimbal_sigma_deg * share);
            let (yaw_error, pitch_error, roll_error) = (angle(1.0), angle(1.0), angle(0.5));
            Reading {
                position_in_enu: truth + Vector3::new(de, dn, 0.0),
                height_above_takeoff_m: truth.z + height_error,
                absolute_height_error_m: absolute + height_error,
                gimbal_yaw_deg: wrapped_deg(photo.yaw_deg + yaw_offset + yaw_error),
                gimbal_pitch_deg: (photo.pitch_deg + pitch_error).max(-90.0),
                gimbal_roll_deg: photo.roll_deg + roll_error,
                flight_yaw_deg: wrapped_deg(photo.yaw_deg + yaw_offset + dice.normal(1.5)),
                flight_pitch_deg: dice.normal(2.0),
                flight_roll_deg: dice.normal(2.0),
                clock_error_s,
            }
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::camera::CameraFromEnu;

    fn photos(n: u32, every_s: f64) -> Vec<PlannedPhoto> {
        (0..n)
            .map(|i| PlannedPhoto {
                camera_from_enu: CameraFromEnu::looking(
                    &Vector3::new(0.0, 0.0, 60.0),
                    0.0,
                    -60.0,
                    0.0,
                ),
                yaw_deg: 0.0,
                pitch_deg: -60.0,
                roll_deg: 0.0,
                nominal_height_m: 60.0,
                nominal_pitch_deg: 60.0,
                link: false,
                flight: 1,
                seconds: f64::from(i) * every_s,
            })
            .collect()
    }

    /// The horizontal error has the stated size and correlation: at one correlation time it is
    /// 1/e, bounded from both sides over many seeds.
    #[test]
    fn gps_error_is_as_large_and_as_slow_as_stated() {
        let spec = ErrorSpec::default();
        let (mut variance, mut covariance, mut n) = (0.0_f64, 0.0, 0.0);
        for seed in 0..400 {
            let readings = read_sensors(&photos(2, 120.0), &spec, seed);
            for axis in 0..2 {
                let (a, b) = (
                    readings[0].position_in_enu[axis],
                    readings[1].position_in_enu[axis],
                );
                variance += (a * a + b * b) / 2.0;
                covariance += a * b;
                n += 1.0;
            }
        }
        let sigma = (variance / n).sqrt();
        assert!((1.35..1.65).contains(&sigma), "{sigma}");
        let correlation: f64 = covariance / variance;
        assert!((0.27..0.47).contains(&correlation), "{correlation}");
    }

    #[test]
    fn without_errors_the_truth_is_read() {
        for reading in read_sensors(&photos(5, 7.0), &ErrorSpec::NONE, 3) {
            assert_eq!(reading.gimbal_pitch_deg, -60.0);
            assert!((reading.position_in_enu - Vector3::new(0.0, 0.0, 60.0)).norm() < 1e-9);
            assert!((reading.height_above_takeoff_m - 60.0).abs() < 1e-9);
        }
    }
}
