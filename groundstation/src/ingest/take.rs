//! One file: read, checked, and its original stored under its digest.

use super::cameras::orientation_of;
use super::sources::{Candidate, SourceError};
use super::store::{IngestConfig, IngestError};
use super::{SetAside, SetAsideCode};
use crate::opencv;
use crate::scene::{PhotoId, SceneError, SceneFolder, files};
use record::capture::PhotoKind;
use record::{Capture, PhotoError, read_capture_file};
use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::sync::{Mutex, PoisonError};

/// Longer side of thumbnails, pixels.
const THUMBNAIL_PX: u32 = 320;
/// What a simulator knows of its photos.
const TRUTH_FILE: &str = "truth.json";

/// A photo that was read and stored.
pub(super) struct Taken {
    pub(super) name: String,
    pub(super) photo_id: PhotoId,
    pub(super) bytes: u64,
    pub(super) capture: Capture,
    /// See [`opencv::brightness_grid`].
    pub(super) brightness: Vec<u8>,
}

/// What became of a file.
pub(super) enum Outcome {
    Taken(Box<Taken>),
    SetAside(SetAside),
}

/// Takes files into a scene; shared by the threads that do so.
pub(super) struct Taker<'a> {
    pub(super) scene: &'a SceneFolder,
    pub(super) config: &'a IngestConfig,
    /// Photos that a thread has stored or is storing: copies in one source are met at once.
    pub(super) claimed: Mutex<BTreeSet<PhotoId>>,
}

impl Taker<'_> {
    /// Reads one file. Only its beginning is read until that is a photo's: videos lie about too.
    pub(super) fn take(&self, candidate: &Candidate) -> Result<Outcome, IngestError> {
        let aside = |code, reason: String| {
            Ok(Outcome::SetAside(SetAside {
                name: candidate.name.clone(),
                code,
                reason,
            }))
        };
        if candidate.name.rsplit('/').next() == Some(TRUTH_FILE) {
            return aside(
                SetAsideCode::Truth,
                "what a simulator knows; not read".to_owned(),
            );
        }
        let capture = match read_capture_file(&candidate.path) {
            Ok(capture) => capture,
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
        let bytes = match fs::read(&candidate.path) {
            Ok(bytes) => bytes,
            Err(error) => return aside(SetAsideCode::Unreadable, error.to_string()),
        };
        let digest = files::sha256(&bytes);
        refuse_changed(candidate, &digest)?;
        if let Some(reason) = cut_short(&bytes) {
            return aside(SetAsideCode::Unreadable, reason);
        }
        let (brightness, thumbnail) = match small_pictures(&bytes, &capture) {
            Ok(made) => made,
            Err(error) => return aside(SetAsideCode::Unreadable, error.to_string()),
        };
        let photo_id = PhotoId::from_sha256(digest);
        if self.claim(&photo_id) {
            self.store_original(&photo_id, &candidate.path, &bytes)?;
            self.store_thumbnail(&photo_id, &thumbnail)?;
        }
        Ok(Outcome::Taken(Box::new(Taken {
            name: candidate.name.clone(),
            photo_id,
            bytes: bytes.len() as u64,
            capture,
            brightness,
        })))
    }

    /// Whether the caller is the first with this photo.
    fn claim(&self, photo_id: &PhotoId) -> bool {
        self.claimed
            .lock()
            // A panic of another thread leaves a set that is still right.
            .unwrap_or_else(PoisonError::into_inner)
            .insert(photo_id.clone())
    }

    /// Puts the original under its digest: sharing blocks with the source where the disk can, else
    /// by hard link if asked, else copied. One that is there already must be what its name says.
    fn store_original(
        &self,
        photo_id: &PhotoId,
        source: &Path,
        bytes: &[u8],
    ) -> Result<(), SceneError> {
        let target = self.scene.photo_path(photo_id);
        if target.exists() && files::sha256_of_file(&target)? == photo_id.as_str() {
            return Ok(());
        }
        let storage = self.scene.storage();
        if self.config.hard_link && storage.hard_link(source, &target).is_ok() {
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

    /// Whole or not at all, but not worth a wait for the disk: it can be made again.
    fn store_thumbnail(&self, photo_id: &PhotoId, jpeg: &[u8]) -> Result<(), SceneError> {
        let path = self.scene.thumbnail_path(photo_id);
        if path.exists() {
            return Ok(());
        }
        let part = path.with_extension("part");
        // Left by an interrupted run.
        let _ = fs::remove_file(&part);
        let storage = self.scene.storage();
        storage.create_new(&part)?.write_all(jpeg)?;
        storage.rename(&part, &path)?;
        Ok(())
    }
}

/// The brightness grid and the thumbnail: what proves that the picture can be decoded.
fn small_pictures(
    bytes: &[u8],
    capture: &Capture,
) -> Result<(Vec<u8>, Vec<u8>), opencv::PictureError> {
    let longer_side = capture.width_px.max(capture.height_px);
    let jpeg = opencv::thumbnail(bytes, longer_side, orientation_of(capture), THUMBNAIL_PX)?;
    Ok((opencv::brightness_grid(&jpeg)?, jpeg))
}

/// A bundle's file must still be what was verified.
fn refuse_changed(candidate: &Candidate, found: &str) -> Result<(), SourceError> {
    match &candidate.expected_sha256 {
        Some(expected) if expected != found => Err(SourceError::ChangedMeanwhile {
            path: candidate.path.clone(),
            expected: expected.clone(),
            found: found.to_owned(),
        }),
        _ => Ok(()),
    }
}

/// Why a JPEG's picture data is not all there: no end-of-image marker after its scan began.
/// (Decoders fill such pictures with grey and call it a warning.) The small picture inside the
/// metadata, which has such markers too, is not looked at.
fn cut_short(bytes: &[u8]) -> Option<String> {
    let has_end = scan_start(bytes)
        .is_some_and(|scan| bytes[scan..].windows(2).any(|pair| pair == [0xFF, 0xD9]));
    (!has_end).then(|| {
        format!(
            "the picture ends in the middle, after {} bytes",
            bytes.len()
        )
    })
}

/// Where the first scan of the picture begins: segments are skipped by their lengths.
fn scan_start(bytes: &[u8]) -> Option<usize> {
    const START_OF_SCAN: u8 = 0xDA;
    let mut at = 2;
    loop {
        // Any number of fill bytes may stand before a marker.
        while *bytes.get(at)? == 0xFF && *bytes.get(at + 1)? == 0xFF {
            at += 1;
        }
        let [mark, kind, high, low] = *bytes.get(at..at + 4)?.first_chunk()?;
        match (mark, kind) {
            (0xFF, START_OF_SCAN) => return Some(at),
            // Markers without a length.
            (0xFF, 0x01 | 0xD0..=0xD8) => at += 2,
            (0xFF, _) => at += 2 + usize::from(u16::from_be_bytes([high, low])),
            // Cameras leave stray bytes between segments; decoders skip them, too.
            _ => at += 1,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A start, one metadata segment that holds a whole small picture, and a scan.
    fn photo() -> Vec<u8> {
        let small = [0xFF, 0xD8, 0xFF, 0xDA, 0, 2, 7, 0xFF, 0xD9];
        let mut bytes = vec![0xFF, 0xD8, 0xFF, 0xE1, 0, 2 + small.len() as u8];
        bytes.extend(small);
        bytes.extend([0xFF, 0xFF, 0xDA, 0, 2, 1, 2, 0xFF, 0x00, 3, 0xFF, 0xD9]);
        bytes
    }

    #[test]
    fn a_picture_cut_anywhere_is_noticed_in_spite_of_the_small_one_inside() {
        let whole = photo();
        assert_eq!(cut_short(&whole), None);
        assert_eq!(cut_short(&[&whole[..], b"trailer"].concat()), None);
        for length in 0..whole.len() {
            assert!(cut_short(&whole[..length]).is_some(), "{length} bytes");
        }
    }
}
