//! Ids that stay: a vehicle keeps the id of the earlier vehicle with which it shares most members,
//! else of one that stood where it stands.

use super::{Entities, EntityId};
use crate::detect::DetectionId;
use calibration::Point;
use calibration::frames::Enu;
use std::collections::{BTreeMap, BTreeSet};

/// A vehicle as far as ids go.
pub(super) struct Nameless<'a> {
    /// The detection that founded it.
    pub(super) founder: &'a DetectionId,
    /// Its detections.
    pub(super) members: Vec<&'a DetectionId>,
    /// Where it stands.
    pub(super) place: Point<Enu>,
}

/// An id, and the earlier ids that have gone into it.
pub(super) struct Named {
    pub(super) entity_id: EntityId,
    pub(super) aliases: Vec<EntityId>,
}

/// An earlier vehicle this near is the same one where members say nothing (new detections), metres.
const SAME_PLACE_M: f64 = 1.0;

/// Names vehicles.
pub(super) fn name(vehicles: &[Nameless<'_>], before: Option<&Entities>) -> Vec<Named> {
    let earlier = before.map_or(&[][..], |entities| &entities.entities);
    let mut kept: Vec<Option<usize>> = vec![None; vehicles.len()];
    let mut heir: Vec<Option<usize>> = vec![None; earlier.len()];
    let mut shared = by_members(vehicles, before);
    shared.sort_by_key(|&(n, vehicle, known)| (std::cmp::Reverse(n), vehicle, known));
    for &(_, vehicle, known) in &shared {
        if kept[vehicle].is_none() && heir[known].is_none() {
            kept[vehicle] = Some(known);
            heir[known] = Some(vehicle);
        }
    }
    // What shares members with a vehicle that has another id has gone into it.
    let mut gone: Vec<Vec<usize>> = vec![Vec::new(); vehicles.len()];
    for &(_, vehicle, known) in &shared {
        if heir[known].is_none() {
            heir[known] = Some(vehicle);
            gone[vehicle].push(known);
        }
    }
    by_place(vehicles, before, &mut kept, &mut heir);
    let mut taken: BTreeSet<EntityId> = earlier
        .iter()
        .flat_map(|entity| std::iter::once(&entity.entity_id).chain(&entity.aliases))
        .cloned()
        .collect();
    let named = vehicles.iter().enumerate().map(|(idx, vehicle)| {
        let entity_id = match kept[idx] {
            Some(known) => earlier[known].entity_id.clone(),
            None => {
                // The founder may have founded a vehicle that now lives on under its id.
                let mut fresh = EntityId::founded_by(vehicle.founder);
                while !taken.insert(fresh.clone()) {
                    fresh = fresh.branched();
                }
                fresh
            }
        };
        let mut aliases: Vec<EntityId> = kept[idx]
            .iter()
            .flat_map(|&known| earlier[known].aliases.iter().cloned())
            .chain(gone[idx].iter().flat_map(|&known| {
                let entity = &earlier[known];
                std::iter::once(&entity.entity_id)
                    .chain(&entity.aliases)
                    .cloned()
            }))
            .collect();
        aliases.sort();
        aliases.dedup();
        Named { entity_id, aliases }
    });
    named.collect()
}

/// Shared members: how many, of which vehicle and which earlier one.
fn by_members(vehicles: &[Nameless<'_>], before: Option<&Entities>) -> Vec<(usize, usize, usize)> {
    let mut owner: BTreeMap<&DetectionId, usize> = BTreeMap::new();
    for (idx, entity) in before.iter().flat_map(|e| &e.entities).enumerate() {
        for member in &entity.members {
            owner.insert(&member.detection_id, idx);
        }
    }
    let mut shared: BTreeMap<(usize, usize), usize> = BTreeMap::new();
    for (vehicle, nameless) in vehicles.iter().enumerate() {
        for id in &nameless.members {
            if let Some(&known) = owner.get(id) {
                *shared.entry((vehicle, known)).or_default() += 1;
            }
        }
    }
    shared
        .into_iter()
        .map(|((vehicle, known), n)| (n, vehicle, known))
        .collect()
}

/// Pairs of what is left, the nearest first.
fn by_place(
    vehicles: &[Nameless<'_>],
    before: Option<&Entities>,
    kept: &mut [Option<usize>],
    heir: &mut [Option<usize>],
) {
    let cell = |at: &Point<Enu>| [at.x(), at.y()].map(|v| (v / SAME_PLACE_M).floor() as i64);
    let mut by_cell: BTreeMap<[i64; 2], Vec<usize>> = BTreeMap::new();
    for (known, entity) in before.iter().flat_map(|e| &e.entities).enumerate() {
        if heir[known].is_none() {
            by_cell.entry(cell(&entity.point)).or_default().push(known);
        }
    }
    let mut near = Vec::new();
    for (vehicle, nameless) in vehicles
        .iter()
        .enumerate()
        .filter(|(v, _)| kept[*v].is_none())
    {
        let [x, y] = cell(&nameless.place);
        for (dx, dy) in (-1..=1).flat_map(|dx| (-1..=1).map(move |dy| (dx, dy))) {
            for &known in by_cell.get(&[x + dx, y + dy]).into_iter().flatten() {
                let at = before.map(|e| e.entities[known].point);
                let apart = at.map_or(f64::INFINITY, |at| {
                    (at.vector.xy() - nameless.place.vector.xy()).norm()
                });
                if apart <= SAME_PLACE_M {
                    near.push((apart, vehicle, known));
                }
            }
        }
    }
    near.sort_by(|a, b| a.0.total_cmp(&b.0).then((a.1, a.2).cmp(&(b.1, b.2))));
    for (_, vehicle, known) in near {
        if kept[vehicle].is_none() && heir[known].is_none() {
            kept[vehicle] = Some(known);
            heir[known] = Some(vehicle);
        }
    }
}

impl EntityId {
    /// Another id for a vehicle split off from one that keeps this id.
    fn branched(&self) -> Self {
        Self(crate::scene::files::sha256(format!("{} split", self.0).as_bytes())[..12].to_owned())
    }
}
