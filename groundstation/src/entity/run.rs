//! The entity room at its edge.

use super::cluster::{Item, ThresholdBasis, cluster, information};
use super::{ENTITIES_FILE, Entities, EntitiesSchema, Entity, EntityId, Member, ROOM};
use crate::anchor::{self, Anchor};
use crate::detect::{self, DetectionId, SceneDetections};
use crate::pose;
use crate::pose::posed::{MadeBy, PosedScene};
use crate::scene::{MadeFrom, RoomOutput, RoomState, SceneError, SceneFolder};
use crate::statistics::median;
use calibration::Point;
use calibration::frames::Enu;
use nalgebra::{Matrix2, Vector2};
use serde::Serialize;
use std::collections::BTreeMap;

/// Raised when the room itself changes what it makes of the same inputs.
const REVISION: u32 = 3;
/// Photos that must show a vehicle before it is confirmed.
const MIN_PHOTOS: usize = 3;
/// And this share of what the scene's vehicles are usually shown in.
const MIN_SHARE_OF_MEDIAN: f64 = 0.10;
/// And this share of the photos whose picture holds its place: a roof window that a detector takes
/// for a vehicle now and then is in many. (Of a rendered scene's 45 vehicles each was found in 40 %
/// and more, trees and vans before some of them.)
const MIN_SHARE_IN_VIEW: f64 = 0.2;
/// A vehicle is told from this many pixels across on.
const MIN_ACROSS_PX: f64 = 10.0;
/// And is this wide.
const ACROSS_M: f64 = 1.8;

/// How to cluster.
#[derive(Clone, Copy, Debug, Default, Serialize)]
pub struct EntityConfig {
    /// Distance threshold, metres; found from the scene by default.
    pub epsilon_m: Option<f64>,
}

/// Why there are no entities.
#[derive(Debug, thiserror::Error)]
pub enum EntityError {
    /// The scene.
    #[error(transparent)]
    Scene(#[from] SceneError),
    /// The threshold makes no sense.
    #[error("--epsilon {found}: expected a distance in metres, above 0 and at most 50")]
    Epsilon {
        /// What was given.
        found: f64,
    },
}

impl EntityError {
    /// Whether the input (rather than this program or the machine) is at fault.
    #[must_use]
    pub fn is_input_fault(&self) -> bool {
        match self {
            Self::Scene(error) => error.is_input_fault(),
            Self::Epsilon { .. } => true,
        }
    }
}

/// Joins a scene's detections into vehicles.
///
/// # Errors
/// [`EntityError`].
pub fn cluster_scene(
    folder: &SceneFolder,
    config: &EntityConfig,
) -> Result<(RoomOutput, Entities), EntityError> {
    if let Some(found) = config.epsilon_m
        && !(found > 0.0 && found <= 50.0)
    {
        return Err(EntityError::Epsilon { found });
    }
    let (posed_output, posed, _) = pose::current(folder)?;
    let (detected_output, detections) = detect::current(folder)?;
    let (anchored_output, _, anchors) = anchor::current(folder)?;
    let made_from = MadeFrom::new(ROOM, REVISION, config)
        .input("poses", posed_output.file_digest(pose::POSE_FILE)?)
        .input(
            "anchors",
            anchored_output.file_digest(anchor::ANCHORS_FILE)?,
        )
        .input(
            "detections",
            detected_output.file_digest(detect::DETECTIONS_FILE)?,
        );
    match folder.room(made_from)? {
        RoomState::Done(output) => {
            let entities: Entities = output.read_json(ENTITIES_FILE)?;
            index(folder, &output, &entities)?;
            Ok((output, entities))
        }
        RoomState::Needed(mut publishing) => {
            let before: Option<Entities> = match folder.current(ROOM)? {
                Some(output) => Some(output.read_json(ENTITIES_FILE)?),
                None => None,
            };
            let entities = join(&anchors, &detections, &posed, config, before.as_ref());
            publishing.write_json(ENTITIES_FILE, &entities)?;
            let output = publishing.publish()?;
            index(folder, &output, &entities)?;
            Ok((output, entities))
        }
    }
}

/// The room's computation. Ids are kept from `before` where members are.
pub(super) fn join(
    anchors: &[Anchor],
    detections: &SceneDetections,
    posed: &PosedScene,
    config: &EntityConfig,
    before: Option<&Entities>,
) -> Entities {
    let placed: Vec<(&Anchor, Item)> = anchors
        .iter()
        .filter_map(|anchor| {
            let placed = anchor.placed.as_ref()?;
            let [xx, xy, yy] = placed.covariance_m2;
            let score = detections.photos[anchor.photo].detections[anchor.detection].score;
            let item = Item {
                photo: anchor.photo,
                detection: anchor.detection,
                place: placed.point.vector.xy(),
                covariance: Matrix2::new(xx, xy, xy, yy),
                score,
            };
            Some((anchor, item))
        })
        .collect();
    let items: Vec<Item> = placed.iter().map(|(_, item)| item.clone()).collect();
    let clusters = cluster(&items, config.epsilon_m);
    let confirmed_from_photos = confirmed_from(&clusters.members);
    let founders: Vec<&DetectionId> = clusters
        .members
        .iter()
        .map(|members| &placed[members[0]].0.detection_id)
        .collect();
    let member_ids: Vec<Vec<&DetectionId>> = clusters
        .members
        .iter()
        .map(|members| {
            members
                .iter()
                .map(|&idx| &placed[idx].0.detection_id)
                .collect()
        })
        .collect();
    let ids = keep_ids(&founders, &member_ids, before);
    let mut entities: Vec<Entity> = clusters
        .members
        .iter()
        .zip(ids)
        .map(|(members, entity_id)| {
            let mut found = entity(entity_id, members, &placed);
            found.n_in_view = n_in_view(&found.point, posed).max(found.members.len());
            let share = found.members.len() as f64 / found.n_in_view as f64;
            found.is_confirmed =
                found.members.len() >= confirmed_from_photos && share >= MIN_SHARE_IN_VIEW;
            found
        })
        .collect();
    entities.sort_by(|a, b| {
        b.is_confirmed
            .cmp(&a.is_confirmed)
            .then(b.members.len().cmp(&a.members.len()))
            .then(a.entity_id.cmp(&b.entity_id))
    });
    Entities {
        schema: EntitiesSchema,
        threshold: clusters.threshold,
        confirmed_from_photos,
        entities,
        n_without_anchor: anchors.len() - placed.len(),
        warnings: warnings(&clusters.threshold, posed),
    }
}

fn warnings(threshold: &super::Threshold, posed: &PosedScene) -> Vec<String> {
    let mut warnings = Vec::new();
    if let MadeBy::Priors { .. } = posed.made_by {
        warnings.push(
            "poses are approximate: vehicles side by side cannot be told apart, review everything"
                .to_owned(),
        );
    }
    if !threshold.is_separable && threshold.basis != ThresholdBasis::Given {
        warnings.push(format!(
            "identities are not separable: three sigma of the anchors are {:.1} m, vehicles stand \
             {:.1} m apart",
            threshold.three_sigma_m,
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

/// Photos whose picture holds a place, near enough to tell a vehicle there. What stands between is
/// not known.
fn n_in_view(place: &Point<Enu>, posed: &PosedScene) -> usize {
    posed
        .photos
        .iter()
        .filter(|photo| {
            let Some(pose) = &photo.pose else {
                return false;
            };
            let camera = posed.camera_of(photo);
            let in_camera = pose.camera_from_enu * *place;
            let across_px = camera.fx * ACROSS_M / in_camera.vector.norm();
            across_px >= MIN_ACROSS_PX
                && camera
                    .pixel_from_camera(in_camera)
                    .is_some_and(|pixel| camera.contains(pixel))
        })
        .count()
}

/// A vehicle of its members; how many photos could show it is still to be counted.
fn entity(entity_id: EntityId, members: &[usize], placed: &[(&Anchor, Item)]) -> Entity {
    let mut sum = Matrix2::zeros();
    let mut weighted = Vector2::zeros();
    let mut heights: Vec<f64> = Vec::new();
    for &idx in members {
        let (anchor, item) = &placed[idx];
        let information = information(&item.covariance);
        sum += information;
        weighted += information * item.place;
        heights.extend(anchor.placed.as_ref().map(|p| p.point.z()));
    }
    let covariance = sum.try_inverse().unwrap_or_else(Matrix2::identity);
    let centre = covariance * weighted;
    let up = median(&mut heights).unwrap_or(0.0);
    let mut list: Vec<Member> = members
        .iter()
        .map(|&idx| {
            let (anchor, item) = &placed[idx];
            Member {
                detection_id: anchor.detection_id.clone(),
                photo: anchor.photo,
                detection: anchor.detection,
                distance_m: (item.place - centre).norm(),
            }
        })
        .collect();
    list.sort_by_key(|member| (member.photo, member.detection));
    Entity {
        entity_id,
        point: Point::new(centre.x, centre.y, up),
        sigma_m: covariance.symmetric_eigenvalues().max().max(0.0).sqrt(),
        is_confirmed: false,
        n_in_view: 0,
        members: list,
    }
}

/// An id per vehicle: the earlier vehicle's with which it shares the most members, each earlier
/// id used once, else a new one from its founder.
fn keep_ids(
    founders: &[&DetectionId],
    members: &[Vec<&DetectionId>],
    before: Option<&Entities>,
) -> Vec<EntityId> {
    let mut owner: BTreeMap<&DetectionId, usize> = BTreeMap::new();
    let earlier = before.map_or(&[][..], |entities| &entities.entities);
    for (idx, entity) in earlier.iter().enumerate() {
        for member in &entity.members {
            owner.insert(&member.detection_id, idx);
        }
    }
    let mut shared: BTreeMap<(usize, usize), usize> = BTreeMap::new();
    for (vehicle, list) in members.iter().enumerate() {
        for id in list {
            if let Some(&known) = owner.get(id) {
                *shared.entry((vehicle, known)).or_default() += 1;
            }
        }
    }
    let mut by_count: Vec<((usize, usize), usize)> = shared.into_iter().collect();
    by_count.sort_by_key(|&(pair, count)| (std::cmp::Reverse(count), pair));
    let mut ids: Vec<Option<EntityId>> = vec![None; members.len()];
    let mut used = vec![false; earlier.len()];
    for ((vehicle, known), _) in by_count {
        if ids[vehicle].is_none() && !used[known] {
            ids[vehicle] = Some(earlier[known].entity_id.clone());
            used[known] = true;
        }
    }
    let taken: std::collections::BTreeSet<EntityId> = ids.iter().flatten().cloned().collect();
    ids.into_iter()
        .zip(founders)
        .map(|(id, founder)| {
            id.unwrap_or_else(|| {
                let fresh = EntityId::founded_by(founder);
                // The founder may have founded a vehicle that now lives on under its id.
                if taken.contains(&fresh) {
                    fresh.branched()
                } else {
                    fresh
                }
            })
        })
        .collect()
}

impl EntityId {
    /// Another id for a vehicle split off from one that keeps this id.
    fn branched(&self) -> Self {
        Self(crate::scene::files::sha256(format!("{} split", self.0).as_bytes())[..12].to_owned())
    }
}

/// The current vehicles of a scene.
///
/// # Errors
/// [`SceneError::Missing`] when the room has not run.
pub fn current(folder: &SceneFolder) -> Result<(RoomOutput, Entities), SceneError> {
    let output = folder.required(ROOM, "cluster")?;
    let entities = output.read_json(ENTITIES_FILE)?;
    Ok((output, entities))
}

fn index(folder: &SceneFolder, output: &RoomOutput, entities: &Entities) -> Result<(), SceneError> {
    let tables = ["entity", "entity_member"];
    folder.update_index(ROOM, &output.made_from_digest(), &tables, |transaction| {
        for entity in &entities.entities {
            transaction.execute(
                "INSERT INTO entity VALUES (?1,?2,?3,?4,?5,?6)",
                rusqlite::params![
                    entity.entity_id.as_str(),
                    entity.point.x(),
                    entity.point.y(),
                    entity.point.z(),
                    entity.members.len() as i64,
                    entity.is_confirmed,
                ],
            )?;
            for member in &entity.members {
                transaction.execute(
                    "INSERT INTO entity_member VALUES (?1, ?2)",
                    [entity.entity_id.as_str(), member.detection_id.as_str()],
                )?;
            }
        }
        Ok(())
    })
}
