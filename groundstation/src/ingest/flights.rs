//! Flights: photos between one take-off and the next landing share an error of their heights.

use jiff::Timestamp;
use record::Capture;
use serde::{Deserialize, Serialize};

/// A longer pause is another flight (a battery change takes longer).
const GAP_S: f64 = 240.0;
/// The drone resets the take-off height and takes the absolute one from pressure: a step of their
/// difference is another take-off.
const TAKEOFF_STEP_M: f64 = 2.0;
/// Absolute heights may drift by metres from photo to photo: a step is so many times larger than
/// what is usual from one photo to the next.
const STEP_OVER_USUAL: f64 = 5.0;
/// A height above take-off that is exactly zero on a photo from the air was not measured.
const ZERO_HEIGHT_M: f64 = 0.05;

/// Photos of one flight.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Flight {
    /// Photos.
    pub n_photos: usize,
    /// First photo, where times are known.
    pub first_utc: Option<Timestamp>,
    /// Last photo.
    pub last_utc: Option<Timestamp>,
    /// Serial number of camera, body or aircraft, where known.
    pub serial: Option<String>,
    /// What told it from the flight before, in words.
    pub began_with: String,
}

/// Statistics of the time between consecutive photos of a flight.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Intervals {
    /// From the first photo of the scene to the last, minutes.
    pub capture_minutes: f64,
    /// Median seconds between photos of a flight.
    pub median_s: f64,
    /// Shortest.
    pub min_s: f64,
    /// Longest within a flight.
    pub max_s: f64,
}

/// A photo as flights are told apart: its drone, its time and what it says.
pub(super) struct Shot<'a> {
    pub(super) name: &'a str,
    /// The number of the drone that took it.
    pub(super) body: usize,
    /// That drone's serial number, where known.
    pub(super) serial: Option<&'a str>,
    /// Seconds since 1970 on the drone's clock.
    pub(super) time_s: Option<f64>,
    pub(super) capture: &'a Capture,
}

impl Shot<'_> {
    /// The height of the take-off point: absolute minus above take-off, constant within a flight.
    fn takeoff_m(&self) -> Option<f64> {
        let absolute = self
            .capture
            .height_above_sea_level
            .as_ref()
            .or(self.capture.height_above_ellipsoid.as_ref())?;
        let above = self.capture.height_above_takeoff.as_ref()?.height.get();
        (above.abs() > ZERO_HEIGHT_M).then(|| absolute.height.get() - above)
    }
}

/// Assigns each shot a flight; shots come back in the order of flight, time and name.
pub(super) fn tell_apart(shots: &[Shot<'_>]) -> (Vec<Flight>, Vec<(usize, usize)>) {
    let mut order: Vec<usize> = (0..shots.len()).collect();
    order.sort_by(|&a, &b| {
        let (a, b) = (&shots[a], &shots[b]);
        let time = |s: &Shot<'_>| s.time_s.unwrap_or(f64::INFINITY);
        (a.body.cmp(&b.body))
            .then(time(a).total_cmp(&time(b)))
            .then(a.name.cmp(b.name))
    });
    let in_order: Vec<&Shot<'_>> = order.iter().map(|&idx| &shots[idx]).collect();
    let steps = takeoff_steps(&in_order);
    let mut flights: Vec<Flight> = Vec::new();
    let mut placed = Vec::new();
    let mut before: Option<&Shot<'_>> = None;
    for (at, idx) in order.into_iter().enumerate() {
        let shot = &shots[idx];
        let step =
            || steps[at].map(|step_m| format!("a step of {step_m:.1} m of the take-off height"));
        if let Some(reason) = new_flight(before, shot).or_else(step) {
            flights.push(Flight {
                n_photos: 0,
                first_utc: None,
                last_utc: None,
                serial: shot.serial.map(str::to_owned),
                began_with: reason,
            });
        }
        let flight = flights
            .last_mut()
            .expect("the first shot always begins a flight");
        flight.n_photos += 1;
        let utc = shot.time_s.and_then(instant);
        flight.first_utc = flight.first_utc.or(utc);
        flight.last_utc = utc.or(flight.last_utc);
        placed.push((idx, flights.len() - 1));
        before = Some(shot);
    }
    in_time_order(flights, placed)
}

fn instant(seconds: f64) -> Option<Timestamp> {
    Timestamp::from_millisecond((1000.0 * seconds).round() as i64).ok()
}

/// Numbers the flights by their first photo.
fn in_time_order(
    flights: Vec<Flight>,
    placed: Vec<(usize, usize)>,
) -> (Vec<Flight>, Vec<(usize, usize)>) {
    let mut order: Vec<usize> = (0..flights.len()).collect();
    order.sort_by_key(|&idx| {
        (
            flights[idx].first_utc.is_none(),
            flights[idx].first_utc,
            idx,
        )
    });
    let mut new_number = vec![0; flights.len()];
    for (new, &old) in order.iter().enumerate() {
        new_number[old] = new;
    }
    let mut placed: Vec<(usize, usize)> = placed
        .into_iter()
        .map(|(idx, flight)| (idx, new_number[flight]))
        .collect();
    placed.sort_by_key(|&(_, flight)| flight);
    let sorted = order.into_iter().map(|idx| flights[idx].clone()).collect();
    (sorted, placed)
}

/// Why a shot begins a new flight whatever its heights say; `None` when it does not.
fn new_flight(before: Option<&Shot<'_>>, shot: &Shot<'_>) -> Option<String> {
    let Some(before) = before else {
        return Some("first photo".to_owned());
    };
    if before.body != shot.body {
        let serial = shot.serial.unwrap_or("unknown");
        return Some(format!("another drone or camera, serial {serial}"));
    }
    match (before.time_s, shot.time_s) {
        (Some(a), Some(b)) if b - a > GAP_S => {
            Some(format!("a pause of {:.0} minutes", (b - a) / 60.0))
        }
        (Some(_), None) => Some("photos without a time".to_owned()),
        _ => None,
    }
}

/// Per shot, by how much the take-off point has risen against the drone's shot before, where that
/// is a step: more than what is usual from shot to shot, and the next shot stays with it.
fn takeoff_steps(in_order: &[&Shot<'_>]) -> Vec<Option<f64>> {
    let mut steps = vec![None; in_order.len()];
    let known: Vec<(usize, usize, f64)> = in_order
        .iter()
        .enumerate()
        .filter_map(|(at, shot)| Some((at, shot.body, shot.takeoff_m()?)))
        .collect();
    for of_body in known.chunk_by(|a, b| a.1 == b.1) {
        let mut changes: Vec<f64> = of_body
            .windows(2)
            .map(|pair| (pair[1].2 - pair[0].2).abs())
            .collect();
        let usual_m = crate::statistics::median(&mut changes).unwrap_or(0.0);
        let limit_m = TAKEOFF_STEP_M.max(STEP_OVER_USUAL * usual_m);
        let mut takeoff_m = of_body[0].2;
        for (idx, &(at, _, found_m)) in of_body.iter().enumerate() {
            let stays = of_body
                .get(idx + 1)
                .is_none_or(|next| (next.2 - found_m).abs() <= limit_m);
            if (found_m - takeoff_m).abs() <= limit_m {
                takeoff_m = found_m;
            } else if stays {
                steps[at] = Some(found_m - takeoff_m);
                takeoff_m = found_m;
            }
        }
    }
    steps
}

/// Statistics over all flights; `None` without two photos of known time in one flight.
pub(super) fn intervals(shots: &[Shot<'_>], placed: &[(usize, usize)]) -> Option<Intervals> {
    let mut gaps: Vec<f64> = placed
        .windows(2)
        .filter(|pair| pair[0].1 == pair[1].1)
        .filter_map(|pair| Some(shots[pair[1].0].time_s? - shots[pair[0].0].time_s?))
        .collect();
    let times: Vec<f64> = shots.iter().filter_map(|shot| shot.time_s).collect();
    let first = times.iter().copied().fold(f64::INFINITY, f64::min);
    let last = times.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let median_s = crate::statistics::median(&mut gaps)?;
    Some(Intervals {
        capture_minutes: (last - first) / 60.0,
        median_s,
        min_s: *gaps.first()?,
        max_s: *gaps.last()?,
    })
}
