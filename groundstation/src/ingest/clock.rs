//! Photos' times on one clock. A photo without GPS often has no exact time either, only what the
//! camera's clock showed in an unknown zone: beside photos of the same drone that have both, that
//! is as good as theirs.

use super::Scene;
use super::bodies::Bodies;
use crate::statistics::median;
use jiff::tz::TimeZone;
use record::Capture;
use std::collections::BTreeMap;

/// A time better than this needs no help from the camera's own clock: zones are whole quarters of
/// an hour.
const SURE_S: f64 = 450.0;

/// Seconds since 1970 UTC per photo, as well as it is known; `None` where a photo carries no time.
/// Within one drone's photos the order and the gaps are right even where the zone is unknown.
pub(super) fn seconds(captures: &[&Capture], bodies: &Bodies) -> Vec<Option<f64>> {
    let best = |capture: &Capture| {
        let time = capture.time()?;
        Some((
            time.utc.as_duration().as_secs_f64(),
            time.plus_minus.get() <= SURE_S,
        ))
    };
    let mut ahead_s: BTreeMap<usize, Vec<f64>> = BTreeMap::new();
    for (idx, capture) in captures.iter().enumerate() {
        if let (Some((utc_s, true)), Some(shown_s)) = (best(capture), shown_s(capture)) {
            let of_body = ahead_s.entry(bodies.body(idx)).or_default();
            of_body.push(utc_s - shown_s);
        }
    }
    let ahead_s: BTreeMap<usize, f64> = ahead_s
        .into_iter()
        .filter_map(|(body, mut all)| Some((body, median(&mut all)?)))
        .collect();
    captures
        .iter()
        .enumerate()
        .map(|(idx, capture)| {
            let (utc_s, is_sure) = best(capture)?;
            match (shown_s(capture), ahead_s.get(&bodies.body(idx))) {
                (Some(shown_s), Some(ahead_s)) if !is_sure => Some(shown_s + ahead_s),
                _ => Some(utc_s),
            }
        })
        .collect()
}

/// [`seconds`] of a scene's photos.
pub(crate) fn scene_seconds(scene: &Scene) -> Vec<Option<f64>> {
    let captures: Vec<&Capture> = scene.photos.iter().map(|photo| &photo.capture).collect();
    seconds(&captures, &Bodies::of(&captures))
}

/// What the camera's clock showed, taken as UTC.
fn shown_s(capture: &Capture) -> Option<f64> {
    let local = capture.local_time.as_ref()?;
    let instant = local.shown.to_zoned(TimeZone::UTC).ok()?;
    Some(instant.timestamp().as_duration().as_secs_f64())
}
