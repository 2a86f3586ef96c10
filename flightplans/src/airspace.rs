//! Where the drone may be, and how it gets from one place to another without leaving that: every
//! leg is checked along its whole length, not only at its ends.

use crate::plan::Reason;
use crate::plane::{self, Place};
use crate::site::{KeepOut, Site};
use crate::spec::PlanSpec;

/// Corners of the ways around are set this much further out than the clearance asks.
const CORNER_OVER_CLEARANCE: f64 = 1.12;
/// Ways around are looked for past this many places about each corner of a zone.
const PLACES_ABOUT_CORNER: usize = 8;

/// A place and a height above take-off, metres.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Station {
    /// East, north.
    pub(crate) place: Place,
    /// Height above take-off.
    pub(crate) height_m: f64,
}

/// The limits of a site and a spec together.
#[derive(Clone, Debug)]
pub(crate) struct Airspace<'a> {
    site: &'a Site,
    line_of_sight_m: f64,
    clearance_m: f64,
    max_height_m: f64,
    /// Corners of the ways around zones and of the fence's dents.
    corners: Vec<Place>,
    /// Those of them that a way leads to from home, and home.
    reached: Vec<Place>,
}

impl<'a> Airspace<'a> {
    /// The airspace of a site.
    #[must_use]
    pub(crate) fn of(site: &'a Site, spec: &PlanSpec) -> Self {
        let limit = site
            .max_height
            .map_or(f64::INFINITY, calibration::Metres::get);
        let mut airspace = Self {
            site,
            line_of_sight_m: spec.airspace.line_of_sight_m,
            clearance_m: spec.airspace.clearance_m,
            max_height_m: spec.airspace.max_height_m.min(limit),
            corners: Vec::new(),
            reached: Vec::new(),
        };
        airspace.corners = airspace.ways_around();
        airspace.reached = airspace.reached_from_home();
        airspace
    }

    /// The line of sight about home.
    #[must_use]
    pub(crate) fn line_of_sight_m(&self) -> f64 {
        self.line_of_sight_m
    }

    /// Why a station may not be flown to; empty when it may.
    #[must_use]
    pub(crate) fn faults(&self, at: &Station) -> Vec<Reason> {
        let mut reasons = Vec::new();
        if at.height_m > self.max_height_m {
            reasons.push(Reason::AboveMaxHeight {
                height_m: at.height_m,
                limit_m: self.max_height_m,
            });
        }
        let distance_m = (at.place - self.site.home).norm().hypot(at.height_m);
        if distance_m > self.line_of_sight_m {
            reasons.push(Reason::BeyondLineOfSight {
                distance_m,
                limit_m: self.line_of_sight_m,
            });
        }
        if let Some(fence) = &self.site.fence {
            let border_m = fence.border_distance(&at.place);
            if !fence.contains(&at.place) {
                reasons.push(Reason::OutsideFence { beyond_m: border_m });
            } else if border_m < self.clearance_m {
                reasons.push(self.too_near("the fence", border_m));
            }
        }
        for zone in self.zones_at(at.height_m) {
            let border_m = zone.region.border_distance(&at.place);
            if zone.region.contains(&at.place) {
                reasons.push(self.too_near(&zone.name, 0.0));
            } else if border_m < self.clearance_m {
                reasons.push(self.too_near(&zone.name, border_m));
            }
        }
        reasons
    }

    fn too_near(&self, to: &str, distance_m: f64) -> Reason {
        Reason::NoClearance {
            to: to.to_owned(),
            distance_m,
            needed_m: self.clearance_m,
        }
    }

    /// Zones that reach up to a height, less the clearance.
    fn zones_at(&self, height_m: f64) -> impl Iterator<Item = &KeepOut> {
        let lowest_free = height_m - self.clearance_m;
        self.site
            .keep_outs
            .iter()
            .filter(move |zone| zone.top.is_none_or(|top| top.get() > lowest_free))
    }

    /// Whether a straight leg keeps clear of zones and inside the fence along its whole length.
    /// The line of sight is a ball about home, so its ends decide.
    #[must_use]
    pub(crate) fn is_clear(&self, from: &Place, to: &Place, lowest_m: f64) -> bool {
        let keeps_fence = self.site.fence.as_ref().is_none_or(|fence| {
            fence.contains(from)
                && fence.border_to_segment(from, to)
                    >= self.clearance_m.min(
                        // Home may lie nearer to the fence than a path would be laid.
                        fence.border_distance(from).min(fence.border_distance(to)),
                    ) * (1.0 - 1e-9)
        });
        keeps_fence
            && self.zones_at(lowest_m).all(|zone| {
                let nearest = zone
                    .region
                    .border_distance(from)
                    .min(zone.region.border_distance(to));
                !zone.region.contains(from)
                    && zone.region.border_to_segment(from, to)
                        >= self.clearance_m.min(nearest) * (1.0 - 1e-9)
            })
    }

    /// The corners to pass on the shortest clear way; empty when it is straight. `None` when there
    /// is no way.
    #[must_use]
    pub(crate) fn way(&self, from: &Station, to: &Station) -> Option<Vec<Place>> {
        let lowest_m = from.height_m.min(to.height_m);
        if self.is_clear(&from.place, &to.place, lowest_m) {
            return Some(Vec::new());
        }
        self.shortest(&from.place, &to.place, lowest_m)
    }

    /// Whether any way leads from home to a station.
    #[must_use]
    pub(crate) fn is_reachable(&self, to: &Station) -> bool {
        self.reached
            .iter()
            .any(|node| self.is_clear(node, &to.place, to.height_m))
    }

    /// Near the ground, where every zone counts.
    fn reached_from_home(&self) -> Vec<Place> {
        let mut reached = vec![self.site.home];
        let mut left = self.corners.clone();
        let mut at = 0;
        while at < reached.len() {
            let here = reached[at];
            let (seen, unseen): (Vec<Place>, Vec<Place>) = left
                .into_iter()
                .partition(|corner| self.is_clear(&here, corner, 0.0));
            reached.extend(seen);
            left = unseen;
            at += 1;
        }
        reached
    }

    /// Dijkstra over the corners; node 0 is the start, the last one the end.
    fn shortest(&self, from: &Place, to: &Place, lowest_m: f64) -> Option<Vec<Place>> {
        let nodes: Vec<Place> = std::iter::once(*from)
            .chain(self.corners.iter().copied())
            .chain([*to])
            .collect();
        let end = nodes.len() - 1;
        let mut distance = vec![f64::INFINITY; nodes.len()];
        let mut before = vec![0; nodes.len()];
        let mut is_done = vec![false; nodes.len()];
        distance[0] = 0.0;
        while !is_done[end] {
            let here = (0..nodes.len())
                .filter(|node| !is_done[*node] && distance[*node].is_finite())
                .min_by(|a, b| distance[*a].total_cmp(&distance[*b]))?;
            is_done[here] = true;
            for next in 0..nodes.len() {
                let length = distance[here] + (nodes[next] - nodes[here]).norm();
                if !is_done[next]
                    && length < distance[next]
                    && self.is_clear(&nodes[here], &nodes[next], lowest_m)
                {
                    distance[next] = length;
                    before[next] = here;
                }
            }
        }
        let mut corners = Vec::new();
        let mut at = before[end];
        while at != 0 {
            corners.push(nodes[at]);
            at = before[at];
        }
        corners.reverse();
        Some(corners)
    }

    /// Places about the corners of zones and of the fence where a path may turn.
    fn ways_around(&self) -> Vec<Place> {
        let reach = self.clearance_m.max(0.5) * CORNER_OVER_CLEARANCE;
        let zones = self
            .site
            .keep_outs
            .iter()
            .flat_map(|zone| zone.region.outer.iter());
        let fence = self
            .site
            .fence
            .iter()
            .flat_map(|fence| fence.rings().flatten());
        zones
            .chain(fence)
            .flat_map(|corner| {
                (0..PLACES_ABOUT_CORNER).map(move |step| {
                    let angle = step as f64 * std::f64::consts::TAU / PLACES_ABOUT_CORNER as f64;
                    corner + plane::towards(angle) * reach
                })
            })
            .filter(|place| {
                // At the ground every zone counts.
                self.faults(&Station {
                    place: *place,
                    height_m: 0.0,
                })
                .is_empty()
            })
            .collect()
    }
}

#[cfg(test)]
mod tests;
