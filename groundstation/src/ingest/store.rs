//! The ingest itself: read in parallel, store durably, describe.

use super::describe::describe;
use super::site::{SiteError, zone_of_site};
use super::sources::{self, Candidate, SourceError};
use super::take::{Outcome, Taken, Taker};
use super::{ROOM, SCENE_FILE, SET_ASIDE_FILE, Scene, SetAside, SourceBundle};
use crate::opencv;
use crate::scene::{MadeFrom, RoomOutput, RoomState, SceneError, SceneFolder, files};
use crate::statistics::median;
use calibration::{Geodetic, LocalOrigin, Metres};
use console::{Cancel, Interrupted, Progress};
use jiff::tz::TimeZone;
use rayon::prelude::*;
use record::capture::Position;
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

/// Raised when ingest itself changes what it makes of the same files.
const REVISION: u32 = 1;

/// How to ingest.
#[derive(Clone, Debug, Default)]
pub struct IngestConfig {
    /// The site's IANA time zone.
    pub zone: Option<String>,
    /// The site's GeoJSON, whose features may name the zone instead.
    pub site: Option<PathBuf>,
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
    /// The site's file.
    #[error(transparent)]
    Site(#[from] SiteError),
    /// The zone's name.
    #[error(
        "\"{name}\" is not an IANA time zone such as Europe/Berlin; see the TZ column of the zone \
         list of your system (timedatectl list-timezones)"
    )]
    UnknownZone {
        /// What was given.
        name: String,
    },
    /// Photos of another place.
    #[error(
        "the photos of {source_name} lie {away_km:.0} km from this scene's; make a scene of their \
         own"
    )]
    AnotherSite {
        /// What was named.
        source_name: String,
        /// How far.
        away_km: f64,
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
            Self::Source(error) => error.is_input_fault(),
            Self::Site(_)
            | Self::UnknownZone { .. }
            | Self::AnotherSite { .. }
            | Self::NoPhotos { .. } => true,
            Self::Interrupted(_) => false,
        }
    }
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
    let zone = zone_of(config, before.as_ref().map(|(scene, _)| scene))?;
    let progress = progress("ingest", quiet);
    let found = sources::find(source, scene.root(), &mut |bundle, done, total| {
        progress.note(&format!("verifying {}", bundle.display()));
        progress.set_total(total);
        progress.set(done);
    })?;
    progress.note("");
    progress.set_total(found.candidates.len() as u64);
    progress.set(0);
    let outcomes = take_all(scene, &found.candidates, config, &progress, cancel)?;
    let n_files = found.candidates.len() + found.set_aside.len();
    let (mut known_photos, mut set_aside, mut bundles) = again(scene, before);
    let n_known = known_photos.len();
    let mut newly_aside = found.set_aside;
    for outcome in outcomes {
        match outcome {
            Outcome::Taken(photo) => known_photos.push(*photo),
            Outcome::SetAside(aside) => newly_aside.push(aside),
        }
    }
    forget_taken(&mut set_aside, &known_photos);
    set_aside.extend(newly_aside);
    // A bundle that comes again is what it is now: it may have been sealed in the meantime.
    bundles.retain(|known| found.bundles.iter().all(|found| found.name != known.name));
    bundles.extend(found.bundles);
    bundles.sort_by(|a, b| a.name.cmp(&b.name));
    refuse_another_site(&known_photos, n_known, source)?;
    let result = describe(known_photos, &mut set_aside, zone, bundles);
    if result.photos.is_empty() {
        return Err(IngestError::NoPhotos {
            source_name: source.display().to_string(),
            n_files,
            reasons: in_words_with_names(&set_aside),
        });
    }
    let output = publish(scene, &result, &set_aside)?;
    progress.finish(&outcome_in_words(&result, &set_aside));
    Ok((output, result, set_aside))
}

/// Photos of one scene lie within this of each other, metres.
const SITE_REACH_M: f64 = 5_000.0;

/// Photos that come later must be of the scene's site: the first `n_known` say where it is.
fn refuse_another_site(photos: &[Taken], n_known: usize, source: &Path) -> Result<(), IngestError> {
    let middle = |photos: &[Taken]| {
        let coordinate = |of: fn(&Position) -> f64| {
            let positions = photos.iter().filter_map(|p| p.capture.position.as_ref());
            median(&mut positions.map(of).collect::<Vec<f64>>())
        };
        Geodetic::from_degrees(
            coordinate(|p| p.latitude.to_degrees())?,
            coordinate(|p| p.longitude.to_degrees())?,
            Metres(0.0),
        )
    };
    let (known, new) = photos.split_at(n_known);
    if let (Some(here), Some(there)) = (middle(known), middle(new)) {
        let away_m = LocalOrigin::new(here)
            .enu_from_geodetic(there)
            .vector
            .norm();
        if away_m > SITE_REACH_M {
            return Err(IngestError::AnotherSite {
                source_name: source.display().to_string(),
                away_km: away_m / 1000.0,
            });
        }
    }
    Ok(())
}

/// A file that was set aside once and is taken now (copied whole this time) is no longer set
/// aside; duplicates among what is taken are found anew.
fn forget_taken(set_aside: &mut Vec<SetAside>, taken: &[Taken]) {
    let names: BTreeSet<&str> = taken.iter().map(|photo| photo.name.as_str()).collect();
    set_aside.retain(|aside| !names.contains(aside.name.as_str()));
}

fn outcome_in_words(result: &Scene, set_aside: &[SetAside]) -> String {
    let n_unsealed = result.bundles.iter().filter(|b| !b.is_sealed).count();
    let unsealed = match n_unsealed {
        0 => String::new(),
        n => format!("; {n} of {} bundles without a seal", result.bundles.len()),
    };
    format!(
        "{} photos, {} flights, {} cameras; {}{unsealed}",
        result.photos.len(),
        result.flights.len(),
        result.cameras.len(),
        in_words(set_aside)
    )
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

/// The zone that is asked for, else the site's, else the one the scene has.
fn zone_of(
    config: &IngestConfig,
    before: Option<&Scene>,
) -> Result<Option<(String, TimeZone)>, IngestError> {
    let of_site = config.site.as_deref().map(zone_of_site).transpose()?;
    let asked = config.zone.clone().or(of_site);
    let name = asked.or_else(|| before.and_then(|scene| scene.zone.clone()));
    name.map(|name| match TimeZone::get(&name) {
        Ok(zone) => Ok((name, zone)),
        Err(_) => Err(IngestError::UnknownZone { name }),
    })
    .transpose()
}

fn take_all(
    scene: &SceneFolder,
    candidates: &[Candidate],
    config: &IngestConfig,
    progress: &Progress,
    cancel: &Cancel,
) -> Result<Vec<Outcome>, IngestError> {
    opencv::use_one_thread();
    files::create_dirs(scene.storage(), &scene.cache_path().join("thumbnails"))
        .map_err(SceneError::from)?;
    let taker = Taker {
        scene,
        config,
        claimed: Mutex::default(),
    };
    candidates
        .par_iter()
        .map(|candidate| {
            cancel.check()?;
            let outcome = taker.take(candidate)?;
            progress.step();
            Ok(outcome)
        })
        .collect()
}

/// What a scene already has: its photos as if they were read again, what was set aside, and the
/// bundles.
fn again(
    scene: &SceneFolder,
    before: Option<(Scene, Vec<SetAside>)>,
) -> (Vec<Taken>, Vec<SetAside>, Vec<SourceBundle>) {
    let Some((known, set_aside)) = before else {
        return Default::default();
    };
    let photos = known.photos.iter().flat_map(|photo| {
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
    });
    (photos.collect(), set_aside, known.bundles)
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
    let bundles = list(
        result
            .bundles
            .iter()
            .map(|b| {
                format!(
                    "{} {}",
                    b.name,
                    b.root_hash.as_deref().unwrap_or("unsealed")
                )
            })
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
    .input("set_aside", &aside)
    .input("bundles", &bundles);
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

/// Files named by a message about all of them.
const NAMED: usize = 5;

fn in_words_with_names(set_aside: &[SetAside]) -> String {
    let mut text = in_words(set_aside);
    for aside in set_aside.iter().take(NAMED) {
        text.push_str(&format!("\n  {}: {}", aside.name, aside.reason));
    }
    if set_aside.len() > NAMED {
        text.push_str(&format!("\n  and {} more", set_aside.len() - NAMED));
    }
    text
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
