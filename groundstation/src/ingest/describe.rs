//! What was taken, sorted out: duplicates, strays, flights and cameras.

use super::bodies::Bodies;
use super::cameras::{self, CameraKey, upright_size};
use super::duplicates::{self, Likeness};
use super::flights::{self, Shot};
use super::take::Taken;
use super::{Scene, ScenePhoto, SceneSchema, SetAside, SetAsideCode, SourceBundle, clock};
use crate::scene::PhotoId;
use jiff::tz::TimeZone;
use record::Capture;
use std::collections::{BTreeMap, BTreeSet};

/// Sorts out what was taken; what is not kept joins `set_aside`.
pub(super) fn describe(
    mut taken: Vec<Taken>,
    set_aside: &mut Vec<SetAside>,
    zone: Option<(String, TimeZone)>,
    bundles: Vec<SourceBundle>,
) -> Scene {
    taken.sort_by(|a, b| (&a.name, &a.photo_id).cmp(&(&b.name, &b.photo_id)));
    taken.dedup_by(|b, a| a.name == b.name && a.photo_id == b.photo_id);
    let (zone_name, zone) = zone.unzip();
    if let Some(zone) = &zone {
        for photo in &mut taken {
            photo.capture = photo.capture.clone().with_zone(zone);
        }
    }
    let (unique, names) = without_same_bytes(taken, set_aside);
    let unique = without_strays(without_copies(unique, set_aside), set_aside);
    set_aside.sort();
    set_aside.dedup();
    assemble(unique, &names, zone_name, bundles)
}

/// One of each photo, and all names of each.
fn without_same_bytes(
    taken: Vec<Taken>,
    set_aside: &mut Vec<SetAside>,
) -> (Vec<Taken>, BTreeMap<PhotoId, Vec<String>>) {
    let mut names: BTreeMap<PhotoId, Vec<String>> = BTreeMap::new();
    let mut unique: Vec<Taken> = Vec::new();
    for photo in taken {
        let known = names.entry(photo.photo_id.clone()).or_default();
        if let Some(first) = known.first() {
            set_aside.push(SetAside {
                name: photo.name.clone(),
                code: SetAsideCode::Duplicate,
                reason: format!("the same bytes as {first}"),
            });
            known.push(photo.name);
        } else {
            known.push(photo.name.clone());
            unique.push(photo);
        }
    }
    (unique, names)
}

fn without_copies(unique: Vec<Taken>, set_aside: &mut Vec<SetAside>) -> Vec<Taken> {
    let likenesses: Vec<Likeness<'_>> = unique
        .iter()
        .map(|photo| Likeness {
            capture: &photo.capture,
            brightness: &photo.brightness,
            bytes: photo.bytes,
        })
        .collect();
    let copy_of = duplicates::copies(&likenesses);
    for (photo, original) in unique.iter().zip(&copy_of) {
        if let Some(original) = original {
            set_aside.push(SetAside {
                name: photo.name.clone(),
                code: SetAsideCode::Duplicate,
                reason: format!(
                    "the same picture as {} (same time, place and brightness), encoded differently",
                    unique[*original].name
                ),
            });
        }
    }
    let mut copies = copy_of.into_iter();
    let mut kept = unique;
    kept.retain(|_| copies.next().flatten().is_none());
    kept
}

/// Pictures among the photos that no camera has marked and that have no photo's size: screenshots,
/// video stills, pictures made by programs. They would spoil nothing but be counted as missing.
/// Where no picture is marked, all are kept.
fn without_strays(photos: Vec<Taken>, set_aside: &mut Vec<SetAside>) -> Vec<Taken> {
    let size = |capture: &Capture| {
        let (a, b) = (capture.width_px, capture.height_px);
        (a.min(b), a.max(b))
    };
    let sizes: BTreeSet<(u32, u32)> = photos
        .iter()
        .filter(|photo| is_marked_by_a_camera(&photo.capture))
        .map(|photo| size(&photo.capture))
        .collect();
    if sizes.is_empty() {
        return photos;
    }
    let (kept, strays): (Vec<Taken>, Vec<Taken>) = photos.into_iter().partition(|photo| {
        is_marked_by_a_camera(&photo.capture) || sizes.contains(&size(&photo.capture))
    });
    set_aside.extend(strays.into_iter().map(|photo| SetAside {
        reason: format!(
            "no camera has left a mark in it (no maker, time, position or angles) and no photo \
             has its size of {} x {} pixels: a screenshot or a still",
            photo.capture.width_px, photo.capture.height_px
        ),
        code: SetAsideCode::Foreign,
        name: photo.name,
    }));
    kept
}

fn is_marked_by_a_camera(capture: &Capture) -> bool {
    capture.camera.make.is_some()
        || capture.camera.model.is_some()
        || capture.local_time.is_some()
        || !capture.times.is_empty()
        || capture.position.is_some()
        || capture.gimbal.is_some()
}

fn assemble(
    unique: Vec<Taken>,
    names: &BTreeMap<PhotoId, Vec<String>>,
    zone: Option<String>,
    bundles: Vec<SourceBundle>,
) -> Scene {
    let captures: Vec<&Capture> = unique.iter().map(|photo| &photo.capture).collect();
    let bodies = Bodies::of(&captures);
    let times_s = clock::seconds(&captures, &bodies);
    let shots: Vec<Shot<'_>> = unique
        .iter()
        .enumerate()
        .map(|(idx, photo)| Shot {
            name: &photo.name,
            body: bodies.body(idx),
            serial: bodies.serial(bodies.body(idx)),
            time_s: times_s[idx],
            capture: &photo.capture,
        })
        .collect();
    let (flights, placed) = flights::tell_apart(&shots);
    let keys = cameras::keys(&captures, &bodies);
    let mut by_key: BTreeMap<&CameraKey, Vec<&Capture>> = BTreeMap::new();
    for (key, capture) in keys.iter().zip(&captures) {
        by_key.entry(key).or_default().push(capture);
    }
    let camera_idx: BTreeMap<&CameraKey, usize> = by_key
        .keys()
        .enumerate()
        .map(|(idx, key)| (*key, idx))
        .collect();
    let photos = placed
        .iter()
        .map(|&(idx, flight)| {
            let photo = &unique[idx];
            let (width_px, height_px) = upright_size(&photo.capture);
            ScenePhoto {
                photo_id: photo.photo_id.clone(),
                names: names.get(&photo.photo_id).cloned().unwrap_or_default(),
                bytes: photo.bytes,
                width_px,
                height_px,
                camera: camera_idx[&keys[idx]],
                flight,
                capture: photo.capture.clone(),
            }
        })
        .collect();
    Scene {
        schema: SceneSchema,
        zone,
        photos,
        cameras: by_key
            .iter()
            .map(|(key, captures)| cameras::group(key, captures))
            .collect(),
        intervals: flights::intervals(&shots, &placed),
        flights,
        bundles,
    }
}
