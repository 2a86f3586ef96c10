//! The ingest itself: read in parallel, store durably, describe.

use super::cameras::{self, CameraKey, orientation_of, upright_size};
use super::duplicates::{self, Likeness};
use super::flights::{self, Shot};
use super::sources::{self, Candidate, SourceError};
use super::{
    ROOM, SCENE_FILE, SET_ASIDE_FILE, Scene, ScenePhoto, SceneSchema, SetAside, SetAsideCode,
    SourceBundle,
};
use crate::opencv;
use crate::scene::{MadeFrom, PhotoId, RoomOutput, RoomState, SceneError, SceneFolder, files};
use console::{Cancel, Interrupted, Progress};
use jiff::tz::TimeZone;
use rayon::prelude::*;
use record::capture::PhotoKind;
use record::{Capture, PhotoError, read_capture};
use serde::Serialize;
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

/// Raised when ingest itself changes what it makes of the same files.
const REVISION: u32 = 1;
/// Longer side of thumbnails, pixels.
const THUMBNAIL_PX: u32 = 320;

/// How to ingest.
#[derive(Clone, Debug, Default)]
pub struct IngestConfig {
    /// The site's IANA time zone.
    pub zone: Option<String>,
    /// Share the originals' bytes by hard links where the disk cannot share them otherwise. Only
    /// for originals that nobody will edit.
    pub hard_link: bool,
}

/// Why nothing was ingested.
#[derive(Debug, thiserror::Error)]
pub enum IngestError {
    /// The source.
    #[error(transparent)]
    Source(#[from] SourceError),
    /// The scene's folder.
    #[error(transparent)]
    Scene(#[from] SceneError),
    /// The zone's name.
    #[error(
        "\"{name}\" is not an IANA time zone such as Europe/Berlin; see the TZ column of the zone \
         list of your system (timedatectl list-timezones)"
    )]
    UnknownZone {
        /// What was given.
        name: String,
    },
    /// Nothing usable.
    #[error("{source_name} holds no photo that can be used: {n_files} files, {reasons}")]
    NoPhotos {
        /// What was named.
        source_name: String,
        /// Files looked at.
        n_files: usize,
        /// What they were, in words.
        reasons: String,
    },
    /// The user stopped it.
    #[error(transparent)]
    Interrupted(#[from] Interrupted),
}

impl IngestError {
    /// Whether the input (rather than this program or the machine) is at fault.
    #[must_use]
    pub fn is_input_fault(&self) -> bool {
        match self {
            Self::Scene(error) => error.is_input_fault(),
            Self::Source(_) | Self::UnknownZone { .. } | Self::NoPhotos { .. } => true,
            Self::Interrupted(_) => false,
        }
    }
}

/// A photo that was read and stored.
struct Taken {
    name: String,
    photo_id: PhotoId,
    bytes: u64,
    capture: Capture,
    brightness: Vec<u8>,
}

/// What became of a file.
enum Outcome {
    Taken(Box<Taken>),
    SetAside(SetAside),
}

#[derive(Serialize)]
struct Config<'a> {
    zone: Option<&'a str>,
}

/// Takes the photos of `source` into the scene, beside those it already has.
///
/// # Errors
/// [`IngestError`]; single bad files are set aside, not errors.
pub fn ingest(
    source: &Path,
    scene: &SceneFolder,
    config: &IngestConfig,
    quiet: bool,
    cancel: &Cancel,
) -> Result<(RoomOutput, Scene, Vec<SetAside>), IngestError> {
    let before = current(scene)?;
    let zone_name = config
        .zone
        .clone()
        .or_else(|| before.as_ref().and_then(|(scene, _)| scene.zone.clone()));
    let zone = zone_name.as_deref().map(zone_by_name).transpose()?;
    let progress = progress("ingest", quiet);
    let found = sources::find(source, &mut |bundle, done, total| {
        progress.note(&format!("verifying {}", bundle.display()));
        progress.set_total(total);
        progress.set(done);
    })?;
    progress.set_total(found.candidates.len() as u64);
    progress.set(0);
    let outcomes = read_all(scene, &found.candidates, config, &progress, cancel)?;
    let mut set_aside = before
        .as_ref()
        .map_or_else(Vec::new, |(_, aside)| aside.clone());
    let mut taken = Vec::new();
    for outcome in outcomes {
        match outcome {
            Outcome::Taken(photo) => taken.push(*photo),
            Outcome::SetAside(aside) => set_aside.push(aside),
        }
    }
    if let Some((known, _)) = &before {
        taken.extend(again(scene, known));
    }
    let mut bundles: Vec<SourceBundle> = found.bundles;
    bundles.extend(before.into_iter().flat_map(|(known, _)| known.bundles));
    bundles.sort_by(|a, b| a.name.cmp(&b.name));
    bundles.dedup();
    let result = describe(taken, &mut set_aside, zone_name, zone.as_ref(), bundles);
    if result.photos.is_empty() {
        return Err(IngestError::NoPhotos {
            source_name: source.display().to_string(),
            n_files: found.candidates.len(),
            reasons: in_words(&set_aside),
        });
    }
    let output = publish(scene, &result, &set_aside)?;
    progress.finish(&format!(
        "{} photos, {} flights, {} cameras; {}",
        result.photos.len(),
        result.flights.len(),
        result.cameras.len(),
        in_words(&set_aside)
    ));
    Ok((output, result, set_aside))
}

fn progress(title: &str, quiet: bool) -> Progress {
    if quiet {
        Progress::silent(title, 0)
    } else {
        Progress::new(title, 0)
    }
}

/// The scene as it is now, and what was set aside so far.
fn current(scene: &SceneFolder) -> Result<Option<(Scene, Vec<SetAside>)>, SceneError> {
    match scene.current(ROOM)? {
        None => Ok(None),
        Some(output) => Ok(Some((
            output.read_json(SCENE_FILE)?,
            output.read_json(SET_ASIDE_FILE)?,
        ))),
    }
}

fn zone_by_name(name: &str) -> Result<TimeZone, IngestError> {
    TimeZone::get(name).map_err(|_| IngestError::UnknownZone {
        name: name.to_owned(),
    })
}

fn read_all(
    scene: &SceneFolder,
    candidates: &[Candidate],
    config: &IngestConfig,
    progress: &Progress,
    cancel: &Cancel,
) -> Result<Vec<Outcome>, IngestError> {
    opencv::use_one_thread();
    files::create_dirs(scene.storage(), &scene.cache_path().join("thumbnails"))
        .map_err(SceneError::from)?;
    candidates
        .par_iter()
        .map(|candidate| {
            cancel.check()?;
            let outcome = read_one(scene, candidate, config)?;
            progress.step();
            Ok(outcome)
        })
        .collect()
}

fn read_one(
    scene: &SceneFolder,
    candidate: &Candidate,
    config: &IngestConfig,
) -> Result<Outcome, IngestError> {
    let aside = |code, reason: String| {
        Ok(Outcome::SetAside(SetAside {
            name: candidate.name.clone(),
            code,
            reason,
        }))
    };
    if candidate.name.rsplit('/').next() == Some("truth.json") {
        return aside(
            SetAsideCode::Truth,
            "what a simulator knows; not read".to_owned(),
        );
    }
    let bytes = match fs::read(&candidate.path) {
        Ok(bytes) => bytes,
        Err(error) => return aside(SetAsideCode::Unreadable, error.to_string()),
    };
    let capture = match read_capture(&bytes) {
        Ok(capture) => capture.with_file_name(&candidate.path),
        Err(error @ PhotoError::NotJpeg { .. }) => {
            return aside(SetAsideCode::Foreign, error.to_string());
        }
        Err(error) => return aside(SetAsideCode::Unreadable, error.to_string()),
    };
    match capture.kind.value {
        PhotoKind::Photo => {}
        PhotoKind::Thermal => {
            return aside(SetAsideCode::Thermal, "a thermal picture".to_owned());
        }
        PhotoKind::Panorama => {
            return aside(SetAsideCode::Panorama, "a stitched panorama".to_owned());
        }
    }
    if let Some(reason) = cut_short(&bytes) {
        return aside(SetAsideCode::Unreadable, reason);
    }
    let longer_side = capture.width_px.max(capture.height_px);
    let thumbnail = opencv::thumbnail(&bytes, longer_side, orientation_of(&capture), THUMBNAIL_PX)
        .and_then(|jpeg| Ok((opencv::brightness_grid(&jpeg)?, jpeg)));
    let (brightness, thumbnail) = match thumbnail {
        Ok(made) => made,
        Err(error) => return aside(SetAsideCode::Unreadable, error.to_string()),
    };
    let photo_id = PhotoId::from_sha256(files::sha256(&bytes));
    store_original(scene, &photo_id, &candidate.path, &bytes, config)?;
    store_thumbnail(scene, &photo_id, &thumbnail)?;
    Ok(Outcome::Taken(Box::new(Taken {
        name: candidate.name.clone(),
        photo_id,
        bytes: bytes.len() as u64,
        capture,
        brightness,
    })))
}

/// Why a JPEG's picture data is not all there: no end-of-image marker after its last scan began.
/// (Decoders fill such pictures with grey and call it a warning.)
fn cut_short(bytes: &[u8]) -> Option<String> {
    let scan = bytes.windows(2).position(|pair| pair == [0xFF, 0xDA])?;
    let has_end = bytes[scan..].windows(2).any(|pair| pair == [0xFF, 0xD9]);
    (!has_end).then(|| {
        format!(
            "the picture ends in the middle, after {} bytes",
            bytes.len()
        )
    })
}

/// Puts the original under its digest: sharing blocks with the source where the disk can, else by
/// hard link if asked, else copied.
fn store_original(
    scene: &SceneFolder,
    photo_id: &PhotoId,
    source: &Path,
    bytes: &[u8],
    config: &IngestConfig,
) -> Result<(), SceneError> {
    let target = scene.photo_path(photo_id);
    if target
        .metadata()
        .is_ok_and(|known| known.len() == bytes.len() as u64)
    {
        return Ok(());
    }
    let storage = scene.storage();
    if config.hard_link && storage.hard_link(source, &target).is_ok() {
        return Ok(());
    }
    let part = target.with_extension("reflink");
    // Left by an interrupted run.
    let _ = fs::remove_file(&part);
    if reflink_copy::reflink(source, &part).is_ok() {
        storage.rename(&part, &target)?;
        return Ok(());
    }
    record::write_durably(storage, &target, bytes)?;
    Ok(())
}

fn store_thumbnail(scene: &SceneFolder, photo_id: &PhotoId, jpeg: &[u8]) -> Result<(), SceneError> {
    let path = scene.thumbnail_path(photo_id);
    if !path.exists() {
        let mut file = scene.storage().create_new(&path)?;
        file.write_all(jpeg)?;
    }
    Ok(())
}

/// The photos a scene already has, as if they were read again.
fn again(scene: &SceneFolder, known: &Scene) -> Vec<Taken> {
    known
        .photos
        .iter()
        .flat_map(|photo| {
            let brightness = fs::read(scene.thumbnail_path(&photo.photo_id))
                .ok()
                .and_then(|jpeg| opencv::brightness_grid(&jpeg).ok())
                .unwrap_or_default();
            photo.names.iter().map(move |name| Taken {
                name: name.clone(),
                photo_id: photo.photo_id.clone(),
                bytes: photo.bytes,
                capture: photo.capture.clone(),
                brightness: brightness.clone(),
            })
        })
        .collect()
}

/// Sorts out duplicates, flights and cameras.
fn describe(
    mut taken: Vec<Taken>,
    set_aside: &mut Vec<SetAside>,
    zone_name: Option<String>,
    zone: Option<&TimeZone>,
    bundles: Vec<SourceBundle>,
) -> Scene {
    taken.sort_by(|a, b| (&a.name, &a.photo_id).cmp(&(&b.name, &b.photo_id)));
    taken.dedup_by(|b, a| a.name == b.name && a.photo_id == b.photo_id);
    if let Some(zone) = zone {
        for photo in &mut taken {
            photo.capture = photo.capture.clone().with_zone(zone);
        }
    }
    let mut names: BTreeMap<PhotoId, Vec<String>> = BTreeMap::new();
    let mut unique: Vec<Taken> = Vec::new();
    for photo in taken {
        let known = names.entry(photo.photo_id.clone()).or_default();
        if let Some(first) = known.first() {
            let reason = format!("the same bytes as {first}");
            let code = SetAsideCode::Duplicate;
            set_aside.push(SetAside {
                name: photo.name.clone(),
                code,
                reason,
            });
            known.push(photo.name);
        } else {
            known.push(photo.name.clone());
            unique.push(photo);
        }
    }
    let unique = without_copies(unique, set_aside);
    set_aside.sort();
    set_aside.dedup();
    assemble(unique, &names, zone_name, bundles)
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
            let reason = format!(
                "the same picture as {} (same time, place and brightness), encoded differently",
                unique[*original].name
            );
            let code = SetAsideCode::Duplicate;
            set_aside.push(SetAside {
                name: photo.name.clone(),
                code,
                reason,
            });
        }
    }
    let is_copy: Vec<bool> = copy_of.iter().map(Option::is_some).collect();
    unique
        .into_iter()
        .zip(is_copy)
        .filter(|(_, copy)| !copy)
        .map(|(photo, _)| photo)
        .collect()
}

fn assemble(
    unique: Vec<Taken>,
    names: &BTreeMap<PhotoId, Vec<String>>,
    zone: Option<String>,
    bundles: Vec<SourceBundle>,
) -> Scene {
    let shots: Vec<Shot<'_>> = unique
        .iter()
        .map(|photo| Shot {
            name: &photo.name,
            key: CameraKey::of(&photo.capture),
            capture: &photo.capture,
        })
        .collect();
    let (flights, placed) = flights::tell_apart(&shots);
    let mut by_key: BTreeMap<&CameraKey, Vec<&Capture>> = BTreeMap::new();
    for shot in &shots {
        by_key.entry(&shot.key).or_default().push(shot.capture);
    }
    let cameras: Vec<_> = by_key
        .iter()
        .map(|(key, captures)| cameras::group(key, captures))
        .collect();
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
                camera: camera_idx[&shots[idx].key],
                flight,
                capture: photo.capture.clone(),
            }
        })
        .collect();
    let intervals = flights::intervals(&shots, &placed);
    Scene {
        schema: SceneSchema,
        zone,
        photos,
        cameras,
        flights,
        intervals,
        bundles,
    }
}

fn publish(
    scene: &SceneFolder,
    result: &Scene,
    set_aside: &[SetAside],
) -> Result<RoomOutput, SceneError> {
    let list = |values: Vec<String>| files::sha256(values.join("\n").as_bytes());
    let photos = list(
        result
            .photos
            .iter()
            .map(|photo| format!("{} {}", photo.photo_id.as_str(), photo.names.join("|")))
            .collect(),
    );
    let aside = list(
        set_aside
            .iter()
            .map(|a| format!("{} {}", a.name, a.reason))
            .collect(),
    );
    let made_from = MadeFrom::new(
        ROOM,
        REVISION,
        &Config {
            zone: result.zone.as_deref(),
        },
    )
    .input("photos", &photos)
    .input("set_aside", &aside);
    let output = match scene.room(made_from)? {
        RoomState::Done(output) => output,
        RoomState::Needed(mut publishing) => {
            publishing.write_json(SCENE_FILE, result)?;
            publishing.write_json(SET_ASIDE_FILE, &set_aside)?;
            scene.storage().sync_dir(&scene.root().join("photos"))?;
            publishing.publish()?
        }
    };
    index(scene, &output, result, set_aside)?;
    Ok(output)
}

fn index(
    scene: &SceneFolder,
    output: &RoomOutput,
    result: &Scene,
    set_aside: &[SetAside],
) -> Result<(), SceneError> {
    let tables = ["photo", "photo_name", "set_aside"];
    scene.update_index(ROOM, &output.made_from_digest(), &tables, |transaction| {
        for photo in &result.photos {
            let capture = &photo.capture;
            let time = capture.time();
            transaction.execute(
                "INSERT INTO photo VALUES (?1,?2,?3,?4,?5,?6,?7,?8,?9,?10,?11,?12)",
                rusqlite::params![
                    photo.photo_id.as_str(),
                    photo.width_px,
                    photo.height_px,
                    photo.bytes as i64,
                    photo.flight as i64,
                    photo.camera as i64,
                    time.map(|t| t.utc.to_string()),
                    time.map(|t| t.plus_minus.get()),
                    capture.position.as_ref().map(|p| p.latitude.to_degrees()),
                    capture.position.as_ref().map(|p| p.longitude.to_degrees()),
                    capture
                        .height_above_takeoff
                        .as_ref()
                        .map(|h| h.height.get()),
                    capture
                        .gimbal
                        .as_ref()
                        .map(|g| g.attitude.pitch.to_degrees()),
                ],
            )?;
            for name in &photo.names {
                transaction.execute(
                    "INSERT INTO photo_name VALUES (?1, ?2)",
                    [photo.photo_id.as_str(), name],
                )?;
            }
        }
        for aside in set_aside {
            transaction.execute(
                "INSERT INTO set_aside VALUES (?1, ?2, ?3)",
                [aside.name.as_str(), aside.code.as_str(), &aside.reason],
            )?;
        }
        Ok(())
    })
}

/// What was set aside, counted, in words.
#[must_use]
pub(crate) fn in_words(set_aside: &[SetAside]) -> String {
    if set_aside.is_empty() {
        return "nothing set aside".to_owned();
    }
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for aside in set_aside {
        *counts.entry(aside.code.as_str()).or_default() += 1;
    }
    let parts: Vec<String> = counts
        .iter()
        .map(|(code, count)| format!("{count} {code}"))
        .collect();
    format!("{} set aside ({})", set_aside.len(), parts.join(", "))
}
