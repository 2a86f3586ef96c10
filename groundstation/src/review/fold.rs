//! Decisions about identities, laid over the vehicles that were found.

use super::log::{Proposal, ReviewError, State};
use crate::entity::{Entities, EntityId, EntityVisibility, Material, Regrouped, regroup};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

/// Whether two vehicles are one: target [`pair_target`], value `same` or `different`.
pub const PAIR: &str = "pair";
/// Which vehicle a detection is of: target its id, value a vehicle's id, or `none`.
pub const MEMBER: &str = "member";
/// What a vehicle is: target its id, value `confirmed` or `not_a_vehicle`.
pub const VEHICLE: &str = "vehicle";

/// The target of a decision about two vehicles, whichever is named first.
#[must_use]
pub fn pair_target(a: &EntityId, b: &EntityId) -> String {
    let (a, b) = (a.min(b), a.max(b));
    format!("{}+{}", a.as_str(), b.as_str())
}

/// Values of kinds that are known are checked; other kinds are other rooms'.
pub(super) fn check(proposal: &Proposal) -> Result<(), ReviewError> {
    let expected: (&'static str, &[&str]) = match proposal.kind.as_str() {
        PAIR => ("same, different or null", &["same", "different"]),
        VEHICLE => (
            "confirmed, not_a_vehicle or null",
            &["confirmed", "not_a_vehicle"],
        ),
        _ => return Ok(()),
    };
    let is_known = match &proposal.after {
        Value::Null => true,
        Value::String(word) => expected.1.contains(&word.as_str()),
        _ => false,
    };
    if is_known {
        return Ok(());
    }
    Err(ReviewError::Field {
        field: "after",
        found: proposal.after.to_string(),
        expected: expected.0,
    })
}

/// Vehicles after review.
pub struct Reviewed {
    /// The vehicles.
    pub entities: Entities,
    /// Where they should be seen.
    pub visibility: Vec<EntityVisibility>,
    /// Decisions that could not be followed, with the reason.
    pub not_followed: Vec<String>,
}

/// Lays decisions over vehicles: detections moved, then vehicles joined, then confirmed or
/// rejected. Two detections of one photo never come together, whatever was decided: such a decision
/// is listed.
#[must_use]
pub fn fold(entities: &Entities, state: &State, material: &Material<'_>) -> Reviewed {
    let mut not_followed = Vec::new();
    let mut groups: Vec<Regrouped> = entities
        .entities
        .iter()
        .map(|entity| Regrouped {
            entity_id: entity.entity_id.clone(),
            aliases: entity.aliases.clone(),
            members: entity
                .members
                .iter()
                .map(|m| (m.photo, m.detection))
                .collect(),
            confirmed: None,
        })
        .collect();
    let mut home: BTreeMap<String, usize> = BTreeMap::new();
    for (idx, group) in groups.iter().enumerate() {
        for id in std::iter::once(&group.entity_id).chain(&group.aliases) {
            home.insert(id.as_str().to_owned(), idx);
        }
    }
    move_members(entities, state, &home, &mut groups, &mut not_followed);
    let mut into: Vec<usize> = (0..groups.len()).collect();
    for ((_, target), value) in of_kind(state, PAIR) {
        if value != "same" {
            continue;
        }
        let ids = target.split_once('+');
        let Some((a, b)) = ids.and_then(|(a, b)| Some((*home.get(a)?, *home.get(b)?))) else {
            not_followed.push(format!(
                "{target} are the same: there are no such vehicles any more"
            ));
            continue;
        };
        let (a, b) = (into[a], into[b]);
        if a == b {
            continue;
        }
        if let Some(photo) = common_photo(&groups[a], &groups[b]) {
            not_followed.push(format!("{target} are the same: photo {photo} shows both"));
            continue;
        }
        let (kept, gone) = if groups[a].members.len() >= groups[b].members.len() {
            (a, b)
        } else {
            (b, a)
        };
        let members = std::mem::take(&mut groups[gone].members);
        let mut aliases = std::mem::take(&mut groups[gone].aliases);
        aliases.push(groups[gone].entity_id.clone());
        groups[kept].members.extend(members);
        groups[kept].aliases.extend(aliases);
        groups[kept].aliases.sort();
        for target in into.iter_mut().filter(|target| **target == gone) {
            *target = kept;
        }
    }
    for ((_, target), value) in of_kind(state, VEHICLE) {
        match home.get(target) {
            Some(&idx) => groups[into[idx]].confirmed = Some(value == "confirmed"),
            None => not_followed.push(format!("{target} is {value}: there is no such vehicle")),
        }
    }
    groups.retain(|group| !group.members.is_empty());
    let (mut entities, visibility) = regroup(material, entities, groups);
    let decided = |pair: &crate::entity::MergeReview| {
        let key = (PAIR.to_owned(), pair_target(&pair.a, &pair.b));
        state.contains_key(&key)
    };
    entities.reviews.retain(|pair| !decided(pair));
    Reviewed {
        entities,
        visibility,
        not_followed,
    }
}

fn of_kind<'a>(
    state: &'a State,
    kind: &'a str,
) -> impl Iterator<Item = (&'a (String, String), &'a Value)> {
    state.iter().filter(move |((of, _), _)| of == kind)
}

fn move_members(
    entities: &Entities,
    state: &State,
    home: &BTreeMap<String, usize>,
    groups: &mut [Regrouped],
    not_followed: &mut Vec<String>,
) {
    let mut at: BTreeMap<&str, (usize, (usize, usize))> = BTreeMap::new();
    for (idx, entity) in entities.entities.iter().enumerate() {
        for member in &entity.members {
            at.insert(
                member.detection_id.as_str(),
                (idx, (member.photo, member.detection)),
            );
        }
    }
    for ((_, target), value) in of_kind(state, MEMBER) {
        let Some(&(from, key)) = at.get(target.as_str()) else {
            not_followed.push(format!(
                "{target} is of {value}: there is no such detection"
            ));
            continue;
        };
        let to = value.as_str().unwrap_or("");
        match home.get(to) {
            Some(&idx)
                if groups[idx]
                    .members
                    .iter()
                    .any(|m| m.0 == key.0 && *m != key) =>
            {
                not_followed.push(format!(
                    "{target} is of {to}: it has another box of that photo"
                ));
                continue;
            }
            None if to != "none" => {
                not_followed.push(format!("{target} is of {value}: there is no such vehicle"));
                continue;
            }
            _ => {}
        }
        groups[from].members.retain(|member| *member != key);
        if let Some(&idx) = home.get(to) {
            groups[idx].members.push(key);
        }
    }
}

/// A photo that shows both.
fn common_photo(a: &Regrouped, b: &Regrouped) -> Option<usize> {
    let photos: BTreeSet<usize> = a.members.iter().map(|member| member.0).collect();
    b.members
        .iter()
        .map(|member| member.0)
        .find(|photo| photos.contains(photo))
}
