//! How long moving takes: a drone that speeds up and brakes, and a gimbal that turns meanwhile.

use crate::spec::{Flight, Gimbal, PlanSpec};

/// Seconds to go a distance from rest to rest: speed up, cruise, brake.
#[must_use]
pub(crate) fn rest_to_rest_s(distance_m: f64, speed_mps: f64, acceleration_mps2: f64) -> f64 {
    let ramps_m = speed_mps * speed_mps / acceleration_mps2;
    if distance_m <= ramps_m {
        2.0 * (distance_m / acceleration_mps2).sqrt()
    } else {
        distance_m / speed_mps + speed_mps / acceleration_mps2
    }
}

/// The speeds of a drone with its gimbal and camera.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Motion {
    cruise_mps: f64,
    acceleration_mps2: f64,
    climb_mps: f64,
    descend_mps: f64,
    yaw_rate_deg_s: f64,
    pitch_rate_deg_s: f64,
    settle_s: f64,
    interval_s: f64,
}

/// Where the camera is and looks: height above take-off, yaw clockwise from north, gimbal pitch
/// (up positive), degrees.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Aim {
    /// Height above take-off, metres.
    pub(crate) height_m: f64,
    /// Clockwise from north, degrees.
    pub(crate) yaw_deg: f64,
    /// Up positive, degrees.
    pub(crate) pitch_deg: f64,
}

impl Motion {
    /// The motion that a spec describes, with the longest of the shutter intervals.
    #[must_use]
    pub(crate) fn of(spec: &PlanSpec, profile_interval_s: Option<f64>) -> Self {
        let Flight {
            cruise_mps,
            acceleration_mps2,
            climb_mps,
            descend_mps,
            yaw_rate_deg_s,
            settle_s,
            ..
        } = spec.flight;
        let Gimbal {
            pitch_rate_deg_s, ..
        } = spec.gimbal;
        Self {
            cruise_mps,
            acceleration_mps2,
            climb_mps,
            descend_mps,
            yaw_rate_deg_s,
            pitch_rate_deg_s,
            settle_s,
            interval_s: spec
                .camera
                .min_interval_s
                .max(profile_interval_s.unwrap_or(0.0)),
        }
    }

    /// Shortest time between two photos.
    #[must_use]
    pub(crate) fn interval_s(&self) -> f64 {
        self.interval_s
    }

    /// Standing still before a photo.
    #[must_use]
    pub(crate) fn settle_s(&self) -> f64 {
        self.settle_s
    }

    /// Fastest on the map.
    #[must_use]
    pub(crate) fn cruise_mps(&self) -> f64 {
        self.cruise_mps
    }

    /// Speeding up and braking.
    #[must_use]
    pub(crate) fn acceleration_mps2(&self) -> f64 {
        self.acceleration_mps2
    }

    /// Straight up from rest to rest, or down for a negative rise.
    #[must_use]
    pub(crate) fn vertical_s(&self, rise_m: f64) -> f64 {
        let speed = if rise_m > 0.0 {
            self.climb_mps
        } else {
            self.descend_mps
        };
        rest_to_rest_s(rise_m.abs(), speed, self.acceleration_mps2)
    }

    /// Along a straight path on the map, rising meanwhile.
    #[must_use]
    pub(crate) fn straight_s(&self, distance_m: f64, rise_m: f64) -> f64 {
        rest_to_rest_s(distance_m, self.cruise_mps, self.acceleration_mps2)
            .max(self.vertical_s(rise_m))
    }

    /// From one photo to the next: moving along a path of straight legs (with a stop at each
    /// corner), turning and pointing meanwhile, then settling; never sooner than the camera can
    /// fire again.
    #[must_use]
    pub(crate) fn between_photos_s(&self, legs_m: &[f64], from: &Aim, to: &Aim) -> f64 {
        let moving = self.travel_s(legs_m, to.height_m - from.height_m);
        let turning = turn_deg(from.yaw_deg, to.yaw_deg) / self.yaw_rate_deg_s;
        let pointing = (to.pitch_deg - from.pitch_deg).abs() / self.pitch_rate_deg_s;
        let busy = moving.max(turning).max(pointing);
        let settled = if busy > 0.0 {
            busy + self.settle_s
        } else {
            0.0
        };
        settled.max(self.interval_s)
    }

    /// Along a path of straight legs; the rise is spread over it.
    #[must_use]
    pub(crate) fn travel_s(&self, legs_m: &[f64], rise_m: f64) -> f64 {
        let level: f64 = legs_m
            .iter()
            .map(|leg| rest_to_rest_s(*leg, self.cruise_mps, self.acceleration_mps2))
            .sum();
        level.max(self.vertical_s(rise_m))
    }
}

/// The smaller angle between two headings, degrees in [0, 180].
#[must_use]
pub(crate) fn turn_deg(from_deg: f64, to_deg: f64) -> f64 {
    ((to_deg - from_deg + 180.0).rem_euclid(360.0) - 180.0).abs()
}

/// How far clockwise one heading lies from another, degrees in [0, 360).
#[must_use]
pub(crate) fn turn_right_deg(from_deg: f64, to_deg: f64) -> f64 {
    (to_deg - from_deg).rem_euclid(360.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hand_worked_times() {
        for (distance, expected) in [(0.0, 0.0), (8.0, 4.0), (32.0, 8.0), (112.0, 18.0)] {
            assert!(
                (rest_to_rest_s(distance, 8.0, 2.0) - expected).abs() < 1e-12,
                "{distance}"
            );
        }
        assert_eq!(turn_deg(350.0, 20.0), 30.0);
        assert_eq!(turn_deg(0.0, 180.0), 180.0);
        let motion = Motion::of(&PlanSpec::default(), Some(0.7));
        let aim = |height_m, yaw_deg, pitch_deg| Aim {
            height_m,
            yaw_deg,
            pitch_deg,
        };
        // Gimbal alone: 15 degrees at 30 a second, settle 1.5: the shutter's 2 s.
        let same_spot =
            motion.between_photos_s(&[], &aim(30.0, 0.0, -60.0), &aim(30.0, 0.0, -45.0));
        assert_eq!(same_spot, 2.0);
        // A half turn: 4 s and 1.5.
        let turned = motion.between_photos_s(&[], &aim(30.0, 0.0, -60.0), &aim(30.0, 180.0, -60.0));
        assert_eq!(turned, 5.5);
        // Nothing moved: the shutter alone.
        let again = motion.between_photos_s(&[0.0], &aim(30.0, 0.0, -60.0), &aim(30.0, 0.0, -60.0));
        assert_eq!(again, 2.0);
    }
}
