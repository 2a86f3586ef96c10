//! What looks unusual about vehicles, with its evidence: moving ones, ones that moved, bays that
//! changed their vehicle, stacked levels, half-seen ones, singletons. Nothing is decided here.

use super::build::Piece;
use super::visibility::Sight;
use super::{Entity, EntityId};
use crate::merges::Scale;
use nalgebra::Vector2;
use serde::{Deserialize, Serialize};

/// Something to look at.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Suggestion {
    /// What it may be.
    pub kind: SuggestionKind,
    /// The vehicles concerned, in the order of time where there is one.
    pub entity_ids: Vec<EntityId>,
    /// Why, in words.
    pub evidence: String,
}

/// What may be the case.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SuggestionKind {
    /// One vehicle driving by: single detections along a line.
    Moving,
    /// One vehicle that stood in two places one after the other.
    Moved,
    /// Two vehicles that stood in one place one after the other.
    BaySwap,
    /// Vehicles above each other.
    Levels,
    /// A vehicle that most photos cut or hide.
    HalfSeen,
    /// Seen in one photo only.
    Singleton,
}

/// A vehicle as it was seen over time.
pub(super) struct Watched<'a> {
    entity: &'a Entity,
    members: Vec<&'a Piece<'a>>,
    /// Times of its detections, sorted, seconds.
    seen_s: Vec<f64>,
    /// Times of photos that should show it, sorted.
    expected_s: Vec<f64>,
    times: Vec<Option<f64>>,
}

impl<'a> Watched<'a> {
    pub(super) fn new(
        entity: &'a Entity,
        members: Vec<&'a Piece<'a>>,
        sights: &[Sight],
        seconds: &[Option<f64>],
    ) -> Self {
        let sorted = |list: &mut dyn Iterator<Item = f64>| {
            let mut list: Vec<f64> = list.collect();
            list.sort_by(f64::total_cmp);
            list
        };
        let expected = sights.iter().filter(|sight| sight.is_expected());
        Self {
            entity,
            seen_s: sorted(&mut members.iter().filter_map(|m| seconds[m.item.photo])),
            expected_s: sorted(&mut expected.filter_map(|sight| seconds[sight.photo])),
            times: members.iter().map(|m| seconds[m.item.photo]).collect(),
            members,
        }
    }

    fn place(&self) -> Vector2<f64> {
        self.entity.point.vector.xy()
    }

    fn suggestion(&self, kind: SuggestionKind, evidence: String) -> Suggestion {
        Suggestion {
            kind,
            entity_ids: vec![self.entity.entity_id.clone()],
            evidence,
        }
    }
}

/// Everything that looks unusual, by kind.
pub(super) fn suggest(watched: &[Watched<'_>], scale: &Scale) -> Vec<Suggestion> {
    let moving = moving(watched);
    let mut suggestions = moved(watched, scale);
    for one in watched {
        suggestions.extend(bay_swap(one));
        suggestions.extend(levels(one));
        suggestions.extend(half_seen(one));
        let drives = moving
            .iter()
            .any(|s| s.entity_ids.contains(&one.entity.entity_id));
        if one.members.len() == 1 && !drives {
            let evidence = format!(
                "seen in 1 of {} photos that should show it",
                one.entity.n_expected.max(1)
            );
            suggestions.push(one.suggestion(SuggestionKind::Singleton, evidence));
        }
    }
    suggestions.extend(moving);
    suggestions.sort_by(|a, b| {
        (a.kind, &a.entity_ids, &a.evidence).cmp(&(b.kind, &b.entity_ids, &b.evidence))
    });
    suggestions
}

/// Vehicles above each other are worth a warning of the whole scene.
pub(super) fn warn(suggestions: &[Suggestion], warnings: &mut Vec<String>) {
    let n = suggestions
        .iter()
        .filter(|s| s.kind == SuggestionKind::Levels)
        .count();
    if n > 0 {
        warnings.push(format!(
            "{n} vehicles have detections at heights that differ by more than {LEVEL_M} m: on several \
             levels places on the map are not enough"
        ));
    }
}

/// Detections of one vehicle that differ more in height stand on different levels, metres.
const LEVEL_M: f64 = 1.8;
/// Where heights are known this well.
const LEVEL_SIGMA_M: f64 = 0.6;

fn levels(one: &Watched<'_>) -> Option<Suggestion> {
    let heights = || {
        let known = one
            .members
            .iter()
            .filter(|m| m.placed.vertical_sigma_m < LEVEL_SIGMA_M);
        known.map(|m| m.placed.point.z())
    };
    let low = heights().reduce(f64::min)?;
    let high = heights().reduce(f64::max)?;
    (high - low > LEVEL_M).then(|| {
        let evidence = format!("its detections lie at heights from {low:.1} to {high:.1} m");
        one.suggestion(SuggestionKind::Levels, evidence)
    })
}

/// A share of detections cut by the picture's edge that is unusual.
const CUT_SHARE: f64 = 0.5;

fn half_seen(one: &Watched<'_>) -> Option<Suggestion> {
    let n = one.members.len();
    let n_cut = one.members.iter().filter(|m| m.is_cut).count();
    let evidence = if n_cut as f64 > CUT_SHARE * n as f64 {
        format!("the edge of the picture cuts it in {n_cut} of {n} photos")
    } else if n > 1 && one.entity.n_expected == 0 {
        format!("no photo should show half of it, {n} do")
    } else {
        return None;
    };
    Some(one.suggestion(SuggestionKind::HalfSeen, evidence))
}

/// Detections on each side of a swap.
const SWAP_SIDE: usize = 3;
/// Lengths that differ by this share are of different vehicles, where the difference is this many
/// times its standard error.
const SWAP_SHARE: f64 = 0.12;
const SWAP_SIGMAS: f64 = 6.0;
/// Boxes seen from steeper than this show the length, degrees.
const SWAP_STEEP_DEG: f64 = 50.0;

/// Lengths that are of one kind up to some time and of another from then on.
fn bay_swap(one: &Watched<'_>) -> Option<Suggestion> {
    let mut lengths: Vec<(f64, f64)> = (one.members.iter().zip(&one.times))
        .filter_map(|(member, time)| {
            let outline = member.placed.outline?;
            let is_steep = outline.depression_deg >= SWAP_STEEP_DEG && !member.is_cut;
            is_steep.then_some(((*time)?, outline.along_m.max(0.1).ln()))
        })
        .collect();
    lengths.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.total_cmp(&b.1)));
    let n = lengths.len();
    let moments = |part: &[(f64, f64)]| {
        let mean = part.iter().map(|p| p.1).sum::<f64>() / part.len() as f64;
        let square = part.iter().map(|p| (p.1 - mean).powi(2)).sum::<f64>();
        (mean, square)
    };
    let mut best: Option<(f64, usize, f64)> = None;
    for at in SWAP_SIDE..=n.saturating_sub(SWAP_SIDE) {
        let ((before, s0), (after, s1)) = (moments(&lengths[..at]), moments(&lengths[at..]));
        let spread = ((s0 + s1) / (n - 2) as f64).max(0.02 * 0.02);
        let error = (spread * (1.0 / at as f64 + 1.0 / (n - at) as f64)).sqrt();
        let sigmas = (after - before).abs() / error;
        if best.is_none_or(|(known, ..)| sigmas > known) {
            best = Some((sigmas, at, after - before));
        }
    }
    let (sigmas, at, step) = best?;
    (sigmas >= SWAP_SIGMAS && step.abs() >= (1.0 + SWAP_SHARE).ln()).then(|| {
        let evidence = format!(
            "{:.0} % {} from {:.0} s after its first detection on ({at} boxes before, {} after, \
             {sigmas:.0} sigma)",
            100.0 * (step.abs().exp() - 1.0),
            if step > 0.0 { "longer" } else { "shorter" },
            lengths[at].0 - lengths[0].0,
            n - at
        );
        one.suggestion(SuggestionKind::BaySwap, evidence)
    })
}

/// Detections and missing ones that make standing somewhere for a while believable.
const MOVED_SEEN: usize = 3;
const MOVED_MISSED: usize = 4;
/// A vehicle is in most photos that should show it while it is there.
const MOVED_SHARE: f64 = 0.6;

/// When a vehicle came and left: `None` where it was there all the time, or seldom seen.
fn stay(one: &Watched<'_>) -> Option<(Option<f64>, Option<f64>)> {
    let (first, last) = (one.seen_s.first()?, one.seen_s.last()?);
    if one.seen_s.len() < MOVED_SEEN {
        return None;
    }
    let during = one
        .expected_s
        .iter()
        .filter(|t| (*first..=*last).contains(*t))
        .count();
    if (one.seen_s.len() as f64) < MOVED_SHARE * during as f64 {
        return None;
    }
    let before = one.expected_s.iter().filter(|t| *t < first).count();
    let after = one.expected_s.iter().filter(|t| *t > last).count();
    Some((
        (before >= MOVED_MISSED).then_some(*first),
        (after >= MOVED_MISSED).then_some(*last),
    ))
}

/// Vehicles that left before others of their size came.
fn moved(watched: &[Watched<'_>], scale: &Scale) -> Vec<Suggestion> {
    let stays: Vec<_> = watched.iter().map(stay).collect();
    let mut suggestions = Vec::new();
    for (gone, gone_stay) in watched.iter().zip(&stays) {
        let Some((_, Some(left))) = gone_stay else {
            continue;
        };
        for (new, new_stay) in watched.iter().zip(&stays) {
            let Some((Some(came), _)) = new_stay else {
                continue;
            };
            let apart_m = (gone.place() - new.place()).norm();
            if came <= left || apart_m <= scale.epsilon_m {
                continue;
            }
            let lengths = gone
                .entity
                .footprint
                .as_ref()
                .zip(new.entity.footprint.as_ref());
            let Some((a, b)) = lengths.map(|(a, b)| (a.length_m, b.length_m)) else {
                continue;
            };
            if (a / b).ln().abs() > (1.0 + SWAP_SHARE).ln() {
                continue;
            }
            suggestions.push(Suggestion {
                kind: SuggestionKind::Moved,
                entity_ids: vec![gone.entity.entity_id.clone(), new.entity.entity_id.clone()],
                evidence: format!(
                    "the first was last seen {:.0} s before the second was first seen, {apart_m:.0} m \
                     away; lengths {a:.1} and {b:.1} m",
                    came - left
                ),
            });
        }
    }
    suggestions
}

/// Detections on a line of one vehicle that drives by.
const MOVING_SEEN: usize = 4;
/// How fast, metres per second.
const MOVING_SPEED: std::ops::Range<f64> = 1.0..25.0;
/// Between detections, seconds.
const MOVING_GAP_S: f64 = 60.0;
/// How far off the line, metres, beside three sigma.
const MOVING_OFF_M: f64 = 1.0;
/// Detections looked at after each one.
const MOVING_WINDOW: usize = 24;

/// Chains of single detections without sparse points that lie on a line at a steady speed.
fn moving(watched: &[Watched<'_>]) -> Vec<Suggestion> {
    let mut single: Vec<(f64, &Watched<'_>)> = watched
        .iter()
        .filter(|one| one.members.len() == 1 && one.members[0].placed.n_points == 0)
        .filter_map(|one| Some((one.times[0]?, one)))
        .collect();
    single.sort_by(|a, b| {
        a.0.total_cmp(&b.0)
            .then(a.1.entity.entity_id.cmp(&b.1.entity.entity_id))
    });
    let mut used = vec![false; single.len()];
    let mut suggestions = Vec::new();
    for first in 0..single.len() {
        for second in first + 1..single.len().min(first + MOVING_WINDOW) {
            if used[first] || used[second] {
                continue;
            }
            let chain = chain(&single, &used, first, second);
            if chain.len() < MOVING_SEEN {
                continue;
            }
            for &idx in &chain {
                used[idx] = true;
            }
            suggestions.push(drive(&single, &chain));
        }
    }
    suggestions
}

fn chain(single: &[(f64, &Watched<'_>)], used: &[bool], first: usize, second: usize) -> Vec<usize> {
    let (t0, a) = &single[first];
    let (t1, b) = &single[second];
    let (gap, way) = (t1 - t0, b.place() - a.place());
    if gap <= 0.0 || gap > MOVING_GAP_S || !MOVING_SPEED.contains(&(way.norm() / gap)) {
        return Vec::new();
    }
    let mut chain = vec![first, second];
    let mut last = *t1;
    for next in second + 1..single.len().min(second + MOVING_WINDOW) {
        let (t, one) = &single[next];
        if *t - last > MOVING_GAP_S {
            break;
        }
        let predicted = a.place() + way * ((t - t0) / gap);
        let off = (one.place() - predicted).norm();
        if !used[next] && *t > last && off <= MOVING_OFF_M + 3.0 * one.entity.sigma_m {
            chain.push(next);
            last = *t;
        }
    }
    chain
}

fn drive(single: &[(f64, &Watched<'_>)], chain: &[usize]) -> Suggestion {
    let ((t0, a), (t1, b)) = (&single[chain[0]], &single[chain[chain.len() - 1]]);
    let way = b.place() - a.place();
    Suggestion {
        kind: SuggestionKind::Moving,
        entity_ids: chain
            .iter()
            .map(|&idx| single[idx].1.entity.entity_id.clone())
            .collect(),
        evidence: format!(
            "{} single detections on a line at {:.1} m/s towards {:.0} degrees, none with sparse \
             points: its front is that way",
            chain.len(),
            way.norm() / (t1 - t0),
            way.x.atan2(way.y).to_degrees().rem_euclid(360.0)
        ),
    }
}

#[cfg(test)]
mod tests;
