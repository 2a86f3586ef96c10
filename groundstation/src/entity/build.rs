//! The room's computation: anchored detections to vehicles.

use super::cluster::{Item, cluster};
use super::footprint::{Footing, footprint};
use super::ids::{self, Named, Nameless};
use super::place::Place;
use super::suggest::{self, Suggestion, Watched};
use super::threshold::{Threshold, ThresholdBasis};
use super::visibility::{Obstacles, Sight};
use super::{
    Entities, EntitiesSchema, Entity, EntityConfig, EntityId, EntityVisibility, Member, MergeReview,
};
use crate::anchor::{Anchor, Placed};
use crate::detect::SceneDetections;
use crate::merges::{Candidate, Group, Scale, merge};
use crate::pose::posed::{MadeBy, PosedScene, SparsePoint};
use crate::statistics::median;
use calibration::Point;
use nalgebra::Matrix2;
use rayon::prelude::*;
use std::collections::BTreeMap;

/// Photos that must show a vehicle before it is confirmed.
const MIN_PHOTOS: usize = 3;
/// And this share of what the scene's vehicles are usually shown in.
const MIN_SHARE_OF_MEDIAN: f64 = 0.10;
/// And this share of the photos whose picture holds its place: a roof window that a detector takes
/// for a vehicle now and then is in many. (Of a rendered scene's 45 vehicles each was found in 40 %
/// and more, trees and vans before some of them.)
const MIN_SHARE_IN_VIEW: f64 = 0.2;
/// And this share of what is usual of the photos that should show it. (On rendered scenes vehicles
/// are at 0.73 and more, trees and roofs between 0.2 and 0.6.)
const MIN_SHARE_OF_RECALL: f64 = 0.55;
/// A place that is less sure than this share of the threshold is none.
const MAX_SIGMA_EPSILONS: f64 = 0.4;
/// What the share of photos with a detection is taken to be at least and at most.
const RECALL: std::ops::RangeInclusive<f64> = 0.3..=0.95;

/// What vehicles are made of.
#[derive(Clone, Copy)]
pub struct Material<'a> {
    /// Where the detections are.
    pub anchors: &'a [Anchor],
    /// The detections.
    pub detections: &'a SceneDetections,
    /// The cameras.
    pub posed: &'a PosedScene,
    /// The sparse points.
    pub points: &'a [SparsePoint],
    /// What stands on the ground: [`crate::anchor::AnchorSummary::obstacles_m`].
    pub obstacles_m: &'a [[f64; 3]],
    /// When each photo was taken, seconds on one clock; `None` where it does not say.
    pub seconds: &'a [Option<f64>],
}

/// A detection with a place.
pub(super) struct Piece<'a> {
    pub(super) anchor: &'a Anchor,
    pub(super) placed: &'a Placed,
    pub(super) item: Item,
    /// Whether the picture's edge cuts it.
    pub(super) is_cut: bool,
}

impl<'a> Material<'a> {
    fn pieces(&self) -> Vec<Piece<'a>> {
        let mut pieces: Vec<Piece<'a>> = self
            .anchors
            .iter()
            .filter_map(|anchor| {
                let placed = anchor.placed.as_ref()?;
                let [xx, xy, yy] = placed.covariance_m2;
                let found = &self.detections.photos[anchor.photo].detections[anchor.detection];
                let item = Item {
                    photo: anchor.photo,
                    detection: anchor.detection,
                    place: placed.point.vector.xy(),
                    covariance: Matrix2::new(xx, xy, xy, yy),
                    score: found.score,
                };
                Some(Piece {
                    anchor,
                    placed,
                    item,
                    is_cut: found.truncated,
                })
            })
            .collect();
        pieces.sort_by_key(|piece| (piece.item.photo, piece.item.detection));
        pieces
    }
}

/// Groups of detections, before anything is said of vehicles.
pub struct Grouped {
    /// How near a detection had to be.
    pub threshold: Threshold,
    /// Photo and detection of each group's members, the founder first.
    pub members: Vec<Vec<(usize, usize)>>,
    /// What is known of each group.
    pub groups: Vec<Group>,
    /// What is typical of the scene.
    pub scale: Scale,
}

/// Groups a scene's detections without joining groups: what a merge model is fitted on.
#[must_use]
pub fn group(material: &Material<'_>, config: &EntityConfig) -> Grouped {
    let pieces = material.pieces();
    let stage = stage(material, &pieces, config);
    let key = |idx: &usize| (pieces[*idx].item.photo, pieces[*idx].item.detection);
    Grouped {
        threshold: stage.threshold,
        members: stage
            .members
            .iter()
            .map(|m| m.iter().map(key).collect())
            .collect(),
        groups: stage.groups,
        scale: stage.scale,
    }
}

/// Groups and what is known of them.
struct Stage {
    threshold: Threshold,
    members: Vec<Vec<usize>>,
    groups: Vec<Group>,
    scale: Scale,
}

fn stage(material: &Material<'_>, pieces: &[Piece<'_>], config: &EntityConfig) -> Stage {
    let items: Vec<Item> = pieces.iter().map(|piece| piece.item.clone()).collect();
    let clusters = cluster(&items, &config.cluster);
    let enough = confirmed_from(&clusters.members);
    let places: Vec<Place> = clusters
        .members
        .iter()
        .map(|m| Place::of(m, pieces))
        .collect();
    let solid = (places.iter().zip(&clusters.members)).filter(|(_, m)| m.len() >= enough);
    let blocks = solid.map(|(place, _)| place.block()).collect();
    let obstacles = Obstacles::new(blocks, material.obstacles_m);
    let expected: Vec<Vec<usize>> = places
        .par_iter()
        .map(|place| {
            let sights = obstacles.sights(&place.block(), material.posed);
            sights
                .iter()
                .filter(|s| s.is_expected())
                .map(|s| s.photo)
                .collect()
        })
        .collect();
    let (mut n_found, mut n_expected) = (0, 0);
    for (members, expected) in clusters.members.iter().zip(&expected) {
        if members.len() >= enough {
            n_found += members.len().min(expected.len());
            n_expected += expected.len();
        }
    }
    let recall = n_found as f64 / n_expected.max(1) as f64;
    let groups = (places.iter().zip(&clusters.members).zip(expected))
        .map(|((place, members), expected)| {
            place.group(members, pieces, expected, material.seconds)
        })
        .collect();
    Stage {
        scale: Scale {
            epsilon_m: clusters.threshold.epsilon_m,
            recall: recall.clamp(*RECALL.start(), *RECALL.end()),
        },
        threshold: clusters.threshold,
        members: clusters.members,
        groups,
    }
}

/// The room's computation. Ids are kept from `before` where members are, else where places are.
#[must_use]
pub fn join(
    material: &Material<'_>,
    config: &EntityConfig,
    before: Option<&Entities>,
) -> (Entities, Vec<EntityVisibility>) {
    let pieces = material.pieces();
    let mut stage = stage(material, &pieces, config);
    let merged = merge(
        &stage.groups,
        &stage.scale,
        &config.merge_model,
        config.merge_from,
    );
    for (idx, &into) in merged.into.iter().enumerate() {
        if into != idx {
            let members = std::mem::take(&mut stage.members[idx]);
            stage.members[into].extend(members);
        }
    }
    let places: Vec<Place> = stage
        .members
        .iter()
        .map(|m| Place::of(m, &pieces))
        .collect();
    let live: Vec<usize> = (0..places.len())
        .filter(|&idx| !stage.members[idx].is_empty())
        .collect();
    let nameless: Vec<Nameless<'_>> = live
        .iter()
        .map(|&idx| Nameless {
            founder: &pieces[stage.members[idx][0]].anchor.detection_id,
            members: stage.members[idx]
                .iter()
                .map(|&m| &pieces[m].anchor.detection_id)
                .collect(),
            place: Point::new(places[idx].place.x, places[idx].place.y, places[idx].up),
        })
        .collect();
    let mut entity_ids: Vec<Option<EntityId>> = vec![None; places.len()];
    let mut vehicles = Vec::with_capacity(live.len());
    for (&idx, named) in live.iter().zip(ids::name(&nameless, before)) {
        entity_ids[idx] = Some(named.entity_id.clone());
        vehicles.push(Vehicle {
            named,
            members: &stage.members[idx],
            confirmed: None,
        });
    }
    let reviews = (merged.open.iter())
        .filter(|open| open.probability >= config.review_from)
        .filter_map(|open| review(open, &entity_ids))
        .collect();
    let joined = merged
        .joined
        .iter()
        .filter_map(|done| {
            let into = entity_ids[merged.into[done.a]].clone()?;
            Some(MergeReview {
                a: into.clone(),
                b: into,
                probability: done.probability,
                features: done.features,
            })
        })
        .collect();
    let enough = confirmed_from(&stage.members);
    let built = assemble(material, &pieces, &vehicles, enough, &stage.scale);
    let mut warnings = warnings(&stage.threshold, material.posed);
    suggest::warn(&built.suggestions, &mut warnings);
    let entities = Entities {
        schema: EntitiesSchema,
        threshold: stage.threshold,
        confirmed_from_photos: enough,
        n_without_anchor: material.anchors.len() - pieces.len(),
        warnings,
        recall: stage.scale.recall,
        joined,
        reviews,
        suggestions: built.suggestions,
        entities: built.entities,
    };
    (entities, built.visibility)
}

/// A vehicle's members as a review has them.
#[derive(Clone, Debug, PartialEq)]
pub struct Regrouped {
    /// Its id.
    pub entity_id: EntityId,
    /// Ids that have gone into it.
    pub aliases: Vec<EntityId>,
    /// Photo and detection of each member.
    pub members: Vec<(usize, usize)>,
    /// Whether it is a vehicle, where that was decided.
    pub confirmed: Option<bool>,
}

/// Vehicles of members that were decided; what was said of the scene as a whole stays.
#[must_use]
pub fn regroup(
    material: &Material<'_>,
    before: &Entities,
    groups: Vec<Regrouped>,
) -> (Entities, Vec<EntityVisibility>) {
    let pieces = material.pieces();
    let at: BTreeMap<(usize, usize), usize> = (pieces.iter().enumerate())
        .map(|(idx, piece)| ((piece.item.photo, piece.item.detection), idx))
        .collect();
    let members: Vec<Vec<usize>> = (groups.iter())
        .map(|group| {
            group
                .members
                .iter()
                .filter_map(|key| at.get(key).copied())
                .collect()
        })
        .collect();
    let vehicles: Vec<Vehicle<'_>> = (groups.into_iter().zip(&members))
        .filter(|(_, members)| !members.is_empty())
        .map(|(group, members)| Vehicle {
            named: Named {
                entity_id: group.entity_id,
                aliases: group.aliases,
            },
            members,
            confirmed: group.confirmed,
        })
        .collect();
    let scale = Scale {
        epsilon_m: before.threshold.epsilon_m,
        recall: before.recall,
    };
    let built = assemble(
        material,
        &pieces,
        &vehicles,
        before.confirmed_from_photos,
        &scale,
    );
    let entities = Entities {
        entities: built.entities,
        suggestions: built.suggestions,
        ..before.clone()
    };
    (entities, built.visibility)
}

/// Named members.
struct Vehicle<'a> {
    named: Named,
    members: &'a [usize],
    confirmed: Option<bool>,
}

struct Built {
    entities: Vec<Entity>,
    visibility: Vec<EntityVisibility>,
    suggestions: Vec<Suggestion>,
}

/// Everything that is known of vehicles whose members are settled.
fn assemble(
    material: &Material<'_>,
    pieces: &[Piece<'_>],
    vehicles: &[Vehicle<'_>],
    enough: usize,
    scale: &Scale,
) -> Built {
    let places: Vec<Place> = vehicles
        .iter()
        .map(|v| Place::of(v.members, pieces))
        .collect();
    let solid = vehicles
        .iter()
        .zip(&places)
        .filter(|(v, _)| v.members.len() >= enough);
    let blocks = solid.map(|(_, place)| place.block()).collect();
    let obstacles = Obstacles::new(blocks, material.obstacles_m);
    let footing = Footing::new(material, pieces);
    let mut built: Vec<(&[usize], Entity, Vec<Sight>)> = vehicles
        .par_iter()
        .zip(&places)
        .map(|(vehicle, place)| {
            let sights = obstacles.sights(&place.block(), material.posed);
            let mut entity = entity(vehicle, pieces, place);
            entity.n_in_view = sights.len().max(entity.members.len());
            entity.n_expected = sights.iter().filter(|sight| sight.is_expected()).count();
            entity.is_confirmed = vehicle
                .confirmed
                .unwrap_or_else(|| is_confirmed(&entity, enough, scale));
            entity.footprint = footprint(vehicle.members, place.axis_deg, &footing);
            (vehicle.members, entity, sights)
        })
        .collect();
    built.sort_by(|(_, a, _), (_, b, _)| {
        b.is_confirmed
            .cmp(&a.is_confirmed)
            .then(b.members.len().cmp(&a.members.len()))
            .then(a.entity_id.cmp(&b.entity_id))
    });
    let watched: Vec<Watched<'_>> = built
        .iter()
        .map(|(members, entity, sights)| {
            let members = members.iter().map(|&m| &pieces[m]).collect();
            Watched::new(entity, members, sights, material.seconds)
        })
        .collect();
    let suggestions = suggest::suggest(&watched, scale);
    let (mut entities, mut visibility) = (Vec::new(), Vec::new());
    for (_, entity, photos) in built {
        visibility.push(EntityVisibility {
            entity_id: entity.entity_id.clone(),
            photos,
        });
        entities.push(entity);
    }
    Built {
        entities,
        visibility,
        suggestions,
    }
}

fn review(open: &Candidate, entity_ids: &[Option<EntityId>]) -> Option<MergeReview> {
    Some(MergeReview {
        a: entity_ids[open.a].clone()?,
        b: entity_ids[open.b].clone()?,
        probability: open.probability,
        features: open.features,
    })
}

/// Enough photos, in number, as a share of those that hold its place, and of those that should show
/// it; and its place is known.
fn is_confirmed(entity: &Entity, enough: usize, scale: &Scale) -> bool {
    let n = entity.members.len() as f64;
    let of = |n_photos: usize| n / n_photos.max(1) as f64;
    entity.members.len() >= enough
        && of(entity.n_in_view) >= MIN_SHARE_IN_VIEW
        && of(entity.n_expected) >= MIN_SHARE_OF_RECALL * scale.recall
        && entity.sigma_m <= MAX_SIGMA_EPSILONS * scale.epsilon_m
}

fn warnings(threshold: &Threshold, posed: &PosedScene) -> Vec<String> {
    let mut warnings = Vec::new();
    if let MadeBy::Priors { .. } = posed.made_by {
        warnings.push(
            "poses are approximate, review everything: vehicles side by side cannot be told apart"
                .to_owned(),
        );
    }
    if !threshold.is_separable && threshold.basis != ThresholdBasis::Given {
        warnings.push(format!(
            "identities are not separable: three sigma of the anchors are {:.1} m, vehicles stand \
             {:.1} m apart; review every vehicle with a neighbour",
            threshold
                .three_sigma_m
                .max(3.0 * threshold.scatter_m.unwrap_or(0.0)),
            threshold.spacing_m.unwrap_or(0.0)
        ));
    }
    warnings
}

/// Photos a vehicle must be seen in: three, or a tenth of what is usual. A scene of two photos
/// confirms nothing.
fn confirmed_from(members: &[Vec<usize>]) -> usize {
    let mut supports: Vec<f64> = members
        .iter()
        .filter(|m| m.len() >= MIN_PHOTOS)
        .map(|m| m.len() as f64)
        .collect();
    let usual = median(&mut supports).unwrap_or(0.0);
    MIN_PHOTOS.max((MIN_SHARE_OF_MEDIAN * usual).ceil() as usize)
}

/// A vehicle of its members; what is known of it beyond its place is still to be filled in.
fn entity(vehicle: &Vehicle<'_>, pieces: &[Piece<'_>], place: &Place) -> Entity {
    let mut list: Vec<Member> = vehicle
        .members
        .iter()
        .map(|&idx| {
            let Piece { anchor, item, .. } = &pieces[idx];
            Member {
                detection_id: anchor.detection_id.clone(),
                photo: anchor.photo,
                detection: anchor.detection,
                distance_m: (item.place - place.place).norm(),
            }
        })
        .collect();
    list.sort_by_key(|member| (member.photo, member.detection));
    let covariance = place.covariance;
    Entity {
        entity_id: vehicle.named.entity_id.clone(),
        point: Point::new(place.place.x, place.place.y, place.up),
        sigma_m: covariance.symmetric_eigenvalues().max().max(0.0).sqrt(),
        covariance_m2: [covariance[(0, 0)], covariance[(0, 1)], covariance[(1, 1)]],
        footprint: None,
        aliases: vehicle.named.aliases.clone(),
        is_confirmed: false,
        n_in_view: 0,
        n_expected: 0,
        members: list,
    }
}
