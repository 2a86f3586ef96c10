//! How good a scene's identities are against what is true.

mod agreement;
mod errors;
mod matching;
mod truth;

pub use agreement::{Agreement, agreement};
pub use errors::{AlignmentError, Calibration, PositionErrors};
pub use matching::{Matching, match_photo};
pub use truth::{TrueVehicle, TrueView, Truth, TruthError};

use crate::anchor::{Anchor, CommonAnchorSigma};
use crate::detect::SceneDetections;
use crate::entity::{Entities, Entity, EntityVisibility};
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};

/// Photos that must show a vehicle before it can be asked of a scene.
const COUNTED_FROM_PHOTOS: usize = 3;

/// Everything that was measured.
#[derive(Clone, Debug, Serialize)]
pub struct Evaluation {
    /// `identity-evaluation/1`.
    pub schema: &'static str,
    /// Whose boxes were grouped: `detected` or `truth`.
    pub boxes: &'static str,
    /// How the groups agree with the vehicles.
    #[serde(flatten)]
    pub agreement: Agreement,
    /// Two boxes of one photo in one entity: must be 0.
    pub cannot_link_violations: usize,
    /// How many there are.
    pub count: Count,
    /// What a reviewer would have to mend.
    pub errors: Mistakes,
    /// How the boxes fit the truth.
    pub detection: DetectionShare,
    /// What all anchors have in common.
    pub alignment: Option<AlignmentError>,
    /// How far confirmed entities are from their vehicles, the common error taken off.
    pub entity_position: Option<PositionErrors>,
    /// The same of single anchors.
    pub anchor_position: Option<PositionErrors>,
    /// Whether stated sigmas of anchors hold, the common error taken off.
    pub anchor_sigmas: Option<Calibration>,
    /// The same of confirmed entities.
    pub entity_sigmas: Option<Calibration>,
    /// Whether vehicles are seen where they should be.
    pub visibility: Option<VisibilityShare>,
    /// Length, width and axis of confirmed entities against their vehicles.
    pub shape: Option<ShapeErrors>,
}

/// Counts of vehicles.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Count {
    /// Vehicles of the truth.
    pub vehicles: usize,
    /// Those visible in three photos or more: what can be asked for.
    pub visible_vehicles: usize,
    /// Entities.
    pub entities: usize,
    /// Confirmed ones.
    pub confirmed: usize,
    /// Confirmed entities over visible vehicles, less one.
    pub count_error: f64,
    /// Confirmed entities over visible vehicles.
    pub confirmed_per_vehicle: f64,
}

/// What is wrong, in numbers of corrections.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Mistakes {
    /// Vehicles that have the better part of their detections in an entity that already is
    /// another's.
    pub merges: usize,
    /// Entities too many for the vehicles they are of.
    pub splits: usize,
    /// The same among confirmed entities.
    pub confirmed_splits: usize,
    /// Confirmed entities of nothing that is a vehicle.
    pub confirmed_of_nothing: usize,
    /// Detections that are neither with their vehicle's entity nor in one of its splits.
    pub strays: usize,
    /// Merges per 100 vehicles.
    pub merges_per_100_vehicles: f64,
    /// Splits per 100 vehicles.
    pub splits_per_100_vehicles: f64,
    /// Splits of confirmed entities per 100 vehicles.
    pub confirmed_splits_per_100_vehicles: f64,
}

/// How the boxes fit the truth.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct DetectionShare {
    /// Detections in photos that the truth knows.
    pub detections: usize,
    /// Of these with a true box.
    pub matched: usize,
    /// Vehicles visible in a photo, photo by photo.
    pub visible: usize,
    /// Of these found.
    pub visible_found: usize,
    /// Found over visible.
    pub recall: f64,
    /// Matched over detections.
    pub precision: f64,
}

/// Predicted against true visibility of confirmed entities, photo by photo.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct VisibilityShare {
    /// Photos that should show a vehicle.
    pub predicted: usize,
    /// Photos in which a vehicle is visible.
    pub visible: usize,
    /// Both.
    pub agreed: usize,
    /// Both over predicted.
    pub precision: f64,
    /// Both over visible.
    pub recall: f64,
}

/// Sizes and axes against the truth.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct ShapeErrors {
    /// Entities compared.
    pub n: usize,
    /// Median of the absolute errors of lengths, metres.
    pub length_median_m: f64,
    /// Mean error of lengths, found minus true, metres.
    pub length_bias_m: f64,
    /// Mean error of widths, metres.
    pub width_bias_m: f64,
    /// Share of lengths within one stated sigma.
    pub length_within_one_sigma: f64,
    /// Median of the absolute errors of widths, metres.
    pub width_median_m: f64,
    /// Share of widths within one stated sigma.
    pub width_within_one_sigma: f64,
    /// Median of the absolute errors of axes, degrees.
    pub axis_median_deg: f64,
    /// Share of axes within one stated sigma.
    pub axis_within_one_sigma: f64,
    /// Fronts suggested.
    pub fronts_suggested: usize,
    /// Of these right (within 90 degrees).
    pub fronts_right: usize,
}

/// What is compared.
pub struct Compared<'a> {
    /// What all places have in common, as stated with the anchors.
    pub common_sigma: Option<CommonAnchorSigma>,
    /// The boxes.
    pub detections: &'a SceneDetections,
    /// Their places.
    pub anchors: &'a [Anchor],
    /// The vehicles found.
    pub entities: &'a Entities,
    /// Where they should be seen, in their order.
    pub visibility: &'a [EntityVisibility],
    /// What is true.
    pub truth: &'a Truth,
}

/// Detections of photos the truth knows, with their true vehicle and their entity.
pub struct Labelled {
    /// Photo and detection.
    pub keys: Vec<(usize, usize)>,
    /// Index of the true vehicle; `None` for a box of nothing.
    pub vehicles: Vec<Option<usize>>,
    /// Index of the entity; `None` without an anchor.
    pub entities: Vec<Option<usize>>,
}

impl Labelled {
    /// Labels a scene's detections.
    #[must_use]
    pub fn of(compared: &Compared<'_>, matched: &Matching) -> Self {
        let mut entity_of: BTreeMap<(usize, usize), usize> = BTreeMap::new();
        for (idx, entity) in compared.entities.entities.iter().enumerate() {
            for member in &entity.members {
                entity_of.insert((member.photo, member.detection), idx);
            }
        }
        let mut labelled = Self {
            keys: Vec::new(),
            vehicles: Vec::new(),
            entities: Vec::new(),
        };
        for (&key, &vehicle) in &matched.vehicle_of {
            labelled.keys.push(key);
            labelled.vehicles.push(vehicle);
            labelled.entities.push(entity_of.get(&key).copied());
        }
        labelled
    }

    /// Pairs (found, true) of group numbers; what has no group is alone.
    fn groups(&self, n_entities: usize, n_vehicles: usize) -> Vec<(usize, usize)> {
        (0..self.keys.len())
            .map(|at| {
                (
                    self.entities[at].unwrap_or(n_entities + at),
                    self.vehicles[at].unwrap_or(n_vehicles + at),
                )
            })
            .collect()
    }
}

/// Compares a scene's vehicles with the truth.
#[must_use]
pub fn evaluate(compared: &Compared<'_>, boxes: &'static str) -> Evaluation {
    let matched = Matching::of(compared.detections, compared.truth);
    let labelled = Labelled::of(compared, &matched);
    let entities = &compared.entities.entities;
    let groups = labelled.groups(entities.len(), compared.truth.vehicles.len());
    let errors = errors::Errors::of(compared, &matched);
    let owners = errors::owners(entities, &matched);
    Evaluation {
        schema: "identity-evaluation/1",
        boxes,
        agreement: agreement(&groups),
        cannot_link_violations: entities.iter().map(violations).sum(),
        count: count(compared),
        errors: mistakes(entities, &labelled, &owners, compared.truth),
        detection: matched.share(compared.truth),
        alignment: errors.as_ref().map(|errors| errors.alignment),
        entity_position: errors.as_ref().and_then(|errors| errors.entity_position()),
        anchor_position: errors.as_ref().and_then(|errors| errors.anchor_position()),
        anchor_sigmas: errors.as_ref().and_then(|errors| errors.anchor_sigmas()),
        entity_sigmas: errors.as_ref().and_then(|errors| errors.entity_sigmas()),
        visibility: visibility(compared, &owners),
        shape: errors::shape(compared, &owners),
    }
}

fn visibility(compared: &Compared<'_>, owners: &[Option<usize>]) -> Option<VisibilityShare> {
    let truth = compared.truth;
    let mut seen: BTreeSet<(usize, usize)> = BTreeSet::new();
    for (photo, views) in truth.views.iter().enumerate() {
        let visible = views.iter().flatten().filter(|view| view.is_visible());
        seen.extend(visible.map(|view| (view.vehicle, photo)));
    }
    let (mut predicted, mut visible, mut agreed) = (0, 0, 0);
    for ((entity, owner), sights) in
        (compared.entities.entities.iter().zip(owners)).zip(compared.visibility)
    {
        let (Some(owner), true) = (owner, entity.is_confirmed) else {
            continue;
        };
        visible += seen.range((*owner, 0)..(*owner + 1, 0)).count();
        for sight in sights.photos.iter().filter(|sight| sight.is_expected()) {
            predicted += 1;
            agreed += usize::from(seen.contains(&(*owner, sight.photo)));
        }
    }
    (predicted > 0 && visible > 0).then(|| VisibilityShare {
        predicted,
        visible,
        agreed,
        precision: agreed as f64 / predicted as f64,
        recall: agreed as f64 / visible as f64,
    })
}

fn violations(entity: &Entity) -> usize {
    let photos: BTreeSet<usize> = entity.members.iter().map(|member| member.photo).collect();
    entity.members.len() - photos.len()
}

fn count(compared: &Compared<'_>) -> Count {
    let entities = &compared.entities.entities;
    let confirmed = entities.iter().filter(|entity| entity.is_confirmed).count();
    let counts = compared.truth.visible_counts();
    let visible_vehicles = counts.iter().filter(|&&n| n >= COUNTED_FROM_PHOTOS).count();
    let confirmed_per_vehicle = confirmed as f64 / visible_vehicles.max(1) as f64;
    Count {
        vehicles: compared.truth.vehicles.len(),
        visible_vehicles,
        entities: entities.len(),
        confirmed,
        count_error: confirmed_per_vehicle - 1.0,
        confirmed_per_vehicle,
    }
}

fn mistakes(
    entities: &[Entity],
    labelled: &Labelled,
    owners: &[Option<usize>],
    truth: &Truth,
) -> Mistakes {
    let mut by_vehicle: BTreeMap<usize, BTreeMap<usize, usize>> = BTreeMap::new();
    for (vehicle, entity) in labelled.vehicles.iter().zip(&labelled.entities) {
        if let (Some(vehicle), Some(entity)) = (vehicle, entity) {
            *by_vehicle
                .entry(*vehicle)
                .or_default()
                .entry(*entity)
                .or_insert(0) += 1;
        }
    }
    let home = |counts: &BTreeMap<usize, usize>| {
        counts
            .iter()
            .max_by_key(|&(entity, n)| (n, std::cmp::Reverse(entity)))
            .map(|(entity, _)| *entity)
    };
    let homes: BTreeSet<usize> = by_vehicle.values().filter_map(home).collect();
    let merges = by_vehicle.len() - homes.len();
    let splits_among = |chosen: &dyn Fn(&Entity) -> bool| {
        let mut owned: BTreeMap<usize, usize> = BTreeMap::new();
        for (entity, owner) in entities.iter().zip(owners) {
            if let (Some(owner), true) = (owner, chosen(entity)) {
                *owned.entry(*owner).or_insert(0) += 1;
            }
        }
        owned.values().map(|n| n - 1).sum::<usize>()
    };
    let splits = splits_among(&|_| true);
    let confirmed_splits = splits_among(&|entity| entity.is_confirmed);
    let strays = (labelled.vehicles.iter().zip(&labelled.entities))
        .filter(|(vehicle, entity)| match (vehicle, entity) {
            (Some(_), Some(entity)) => owners[*entity] != **vehicle,
            _ => false,
        })
        .count();
    let confirmed_of_nothing = (entities.iter().zip(owners))
        .filter(|(entity, owner)| entity.is_confirmed && owner.is_none())
        .count();
    let per_100 = |n: usize| 100.0 * n as f64 / truth.vehicles.len().max(1) as f64;
    Mistakes {
        merges,
        splits,
        confirmed_splits,
        confirmed_of_nothing,
        strays,
        merges_per_100_vehicles: per_100(merges),
        splits_per_100_vehicles: per_100(splits),
        confirmed_splits_per_100_vehicles: per_100(confirmed_splits),
    }
}
