//! Crops of every vehicle, as small JPEGs inside the page.

use super::Material;
use crate::entity::{Entity, Member};
use crate::ingest::orientation_of;
use crate::opencv::{self, Picture};
use crate::scene::SceneFolder;
use console::{Cancel, Interrupted, Progress};
use rayon::prelude::*;
use std::collections::BTreeMap;
use std::fs;

/// Side of a crop, pixels.
const CROP_PX: u32 = 96;
/// A crop shows this many box lengths.
const CROP_LENGTHS: f64 = 1.7;
/// Crops per confirmed and unconfirmed vehicle.
const MAX_CROPS: usize = 18;
const MAX_UNCONFIRMED_CROPS: usize = 4;
/// Unconfirmed vehicles shown.
pub(super) const MAX_UNCONFIRMED: usize = 60;

/// A crop in the page.
#[derive(Clone, Debug)]
pub(super) struct Crop {
    /// `data:` address of the picture.
    pub(super) data: String,
    /// The photo's name, height, distance.
    pub(super) title: String,
}

/// Crops per shown vehicle, in the order of the entities.
pub(super) fn cut(
    material: &Material<'_>,
    folder: &SceneFolder,
    progress: &Progress,
    cancel: &Cancel,
) -> Result<Vec<Vec<Crop>>, Interrupted> {
    let mut wanted: BTreeMap<usize, Vec<(usize, &Member)>> = BTreeMap::new();
    for (number, entity) in shown(material).enumerate() {
        for member in picked(entity) {
            wanted
                .entry(member.photo)
                .or_default()
                .push((number, member));
        }
    }
    progress.set_total(wanted.len() as u64);
    opencv::use_one_thread();
    let cut: Vec<Vec<(usize, usize, Crop)>> = wanted
        .par_iter()
        .map(|(&photo, members)| {
            cancel.check()?;
            let crops = crops_of(material, folder, photo, members);
            progress.step();
            Ok(crops)
        })
        .collect::<Result<_, Interrupted>>()?;
    let mut by_vehicle: Vec<Vec<(usize, Crop)>> = shown(material).map(|_| Vec::new()).collect();
    for (number, photo, crop) in cut.into_iter().flatten() {
        by_vehicle[number].push((photo, crop));
    }
    Ok(by_vehicle
        .into_iter()
        .map(|mut crops| {
            crops.sort_by_key(|(photo, _)| *photo);
            crops.into_iter().map(|(_, crop)| crop).collect()
        })
        .collect())
}

/// The vehicles that the page shows: all confirmed ones, some of the others.
pub(super) fn shown<'m>(material: &'m Material<'_>) -> impl Iterator<Item = &'m Entity> {
    let n_confirmed = material
        .entities
        .entities
        .iter()
        .filter(|entity| entity.is_confirmed)
        .count();
    material
        .entities
        .entities
        .iter()
        .take(n_confirmed + MAX_UNCONFIRMED)
}

/// Members spread evenly over all.
fn picked(entity: &Entity) -> impl Iterator<Item = &Member> {
    let most = if entity.is_confirmed {
        MAX_CROPS
    } else {
        MAX_UNCONFIRMED_CROPS
    };
    let n = entity.members.len();
    let taken = n.min(most);
    (0..taken).map(move |idx| &entity.members[idx * n / taken])
}

fn crops_of(
    material: &Material<'_>,
    folder: &SceneFolder,
    photo: usize,
    members: &[(usize, &Member)],
) -> Vec<(usize, usize, Crop)> {
    let scene_photo = &material.scene.photos[photo];
    let picture = fs::read(folder.photo_path(&scene_photo.photo_id))
        .ok()
        .and_then(|bytes| {
            opencv::decode_upright(&bytes, orientation_of(&scene_photo.capture)).ok()
        });
    let Some(picture) = picture else {
        return Vec::new();
    };
    members
        .iter()
        .filter_map(|&(number, member)| {
            crop(material, &picture, photo, member).map(|crop| (number, photo, crop))
        })
        .collect()
}

fn crop(material: &Material<'_>, picture: &Picture, photo: usize, member: &Member) -> Option<Crop> {
    let detection = &material.detections.photos[photo].detections[member.detection];
    let oriented = &detection.oriented_box;
    let side = (CROP_LENGTHS * oriented.long_side_px()).max(16.0);
    let centre = [oriented.centre().x, oriented.centre().y];
    let jpeg = opencv::crop_jpeg(picture, centre, side, CROP_PX).ok()?;
    let title = format!(
        "{}: score {:.2}, {:.0} px long, {:.2} m from the vehicle's middle",
        material.scene.photos[photo].name(),
        detection.score,
        oriented.long_side_px(),
        member.distance_m
    );
    Some(Crop {
        data: format!("data:image/jpeg;base64,{}", base64(&jpeg)),
        title,
    })
}

/// RFC 4648, with padding.
fn base64(bytes: &[u8]) -> String {
    const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for chunk in bytes.chunks(3) {
        let value = chunk
            .iter()
            .fold(0_u32, |sum, &byte| sum << 8 | u32::from(byte))
            << (8 * (3 - chunk.len()));
        for digit in 0..4 {
            if digit <= chunk.len() {
                text.push(char::from(
                    ALPHABET[(value >> (18 - 6 * digit)) as usize & 63],
                ));
            } else {
                text.push('=');
            }
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::base64;

    /// RFC 4648, section 10.
    #[test]
    fn base64_as_in_the_standard() {
        for (plain, coded) in [
            ("", ""),
            ("f", "Zg=="),
            ("fo", "Zm8="),
            ("foo", "Zm9v"),
            ("foob", "Zm9vYg=="),
            ("fooba", "Zm9vYmE="),
            ("foobar", "Zm9vYmFy"),
        ] {
            assert_eq!(base64(plain.as_bytes()), coded);
        }
    }
}
