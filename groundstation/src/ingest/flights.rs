//! Flights: photos between one take-off and the next landing share an error of their heights.

use jiff::Timestamp;
use record::Capture;
use serde::{Deserialize, Serialize};

/// A longer pause is another flight (a battery change takes longer).
const GAP_S: f64 = 240.0;
/// The drone resets the take-off height and takes the absolute one from pressure: a step of their
/// difference is another take-off.
const TAKEOFF_STEP_M: f64 = 2.0;

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
    /// Absolute minus take-off height: constant within a flight.
    fn takeoff_m(&self) -> Option<f64> {
        let absolute = self
            .capture
            .height_above_sea_level
            .as_ref()
            .or(self.capture.height_above_ellipsoid.as_ref())?;
        let above = self.capture.height_above_takeoff.as_ref()?;
        Some(absolute.height.get() - above.height.get())
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
    let mut flights: Vec<Flight> = Vec::new();
    let mut placed = Vec::new();
    let mut before: Option<&Shot<'_>> = None;
    for idx in order {
        let shot = &shots[idx];
        if let Some(reason) = new_flight(before, shot) {
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

/// Why a shot begins a new flight; `None` when it does not.
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
            return Some(format!("a pause of {:.0} minutes", (b - a) / 60.0));
        }
        (Some(_), None) => return Some("photos without a time".to_owned()),
        _ => {}
    }
    let (a, b) = (before.takeoff_m()?, shot.takeoff_m()?);
    ((a - b).abs() > TAKEOFF_STEP_M)
        .then(|| format!("a step of {:.1} m of the take-off height", b - a))
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
    let median_s = crate::pose::align::median(&mut gaps)?;
    Some(Intervals {
        capture_minutes: (last - first) / 60.0,
        median_s,
        min_s: *gaps.first()?,
        max_s: *gaps.last()?,
    })
}
