//! Which camera, on which drone, saved by which program, and what kind of picture.

use super::container::Header;
use super::exif::ExifTags;
use super::values::{Block, CameraIdentity, PhotoKind, Source, Stated};
use super::xmp::{Namespace, Xmp};
use exif::Tag;
use std::path::Path;

/// Programs that turn, resize or re-save photos, as they name themselves in the Software tag.
const EDITORS: [&str; 18] = [
    "windows photo",
    "windows live",
    "photos",
    "photoshop",
    "lightroom",
    "gimp",
    "picasa",
    "acdsee",
    "irfanview",
    "xnview",
    "paint",
    "snapseed",
    "imagemagick",
    "darktable",
    "affinity",
    "faststone",
    "capture one",
    "google",
];

/// DJI thermal cameras name their palette in the image description.
const THERMAL_PALETTES: [&str; 10] = [
    "WhiteHot",
    "BlackHot",
    "Fulgurite",
    "IronRed",
    "HotIron",
    "Medical",
    "Arctic",
    "Rainbow1",
    "Rainbow2",
    "Tint",
];

/// Raw thermal data of 640 x 512 pixels fills this many bytes of APP3 segments; depth previews of
/// ordinary photos do not come near.
const MIN_THERMAL_APP3_BYTES: u64 = 300_000;

pub(super) fn camera(exif: &ExifTags, xmp: &Xmp) -> CameraIdentity {
    let from_exif = |tag, key| {
        exif.text(tag)
            .map(|text| Stated::new(text, Source::exif(key)))
    };
    let from_xmp = |namespace, names: &[&str]| {
        xmp.text(namespace, names)
            .map(|(text, source)| Stated::new(text.to_owned(), source))
    };
    CameraIdentity {
        make: from_exif(Tag::Make, "Make").or_else(|| from_xmp(Namespace::Tiff, &["Make"])),
        model: from_exif(Tag::Model, "Model").or_else(|| from_xmp(Namespace::Tiff, &["Model"])),
        lens: from_exif(Tag::LensModel, "LensModel")
            .or_else(|| from_xmp(Namespace::Aux, &["Lens"])),
        camera_serial: serial(from_xmp(Namespace::Dji, &["CameraSerialNumber"])).or_else(|| {
            serial(
                exif.camera_serial()
                    .map(|text| Stated::new(text, Source::exif("CameraSerialNumber"))),
            )
        }),
        body_serial: serial(from_exif(Tag::BodySerialNumber, "BodySerialNumber"))
            .or_else(|| serial(from_xmp(Namespace::Aux, &["SerialNumber"])))
            .or_else(|| {
                serial(from_xmp(
                    Namespace::ExifEx,
                    &["BodySerialNumber", "SerialNumber"],
                ))
            }),
        drone_model: from_xmp(Namespace::Dji, &["DroneModel"]),
        drone_serial: serial(from_xmp(Namespace::Dji, &["DroneSerialNumber", "DroneID"]))
            .or_else(|| serial(from_xmp(Namespace::Skydio, &["VehicleId"])))
            .or_else(|| serial(from_xmp(Namespace::Parrot, &["SerialNumber"]))),
    }
}

/// A serial number; firmware without one writes zeros.
fn serial(stated: Option<Stated<String>>) -> Option<Stated<String>> {
    stated.filter(|serial| !serial.value.chars().all(|c| c == '0'))
}

/// Whether a program of that name edits photos. Firmware names itself by version numbers.
pub(super) fn is_editor(software: &str) -> bool {
    let software = software.to_lowercase();
    EDITORS.iter().any(|editor| software.contains(editor))
}

/// What kind of picture it is, and what says so.
pub(super) fn kind(
    header: &Header,
    xmp: &Xmp,
    description: Option<&str>,
    make: &str,
    known_thermal: bool,
) -> Stated<PhotoKind> {
    let panorama = [
        (Namespace::GPano, "ProjectionType"),
        (Namespace::Parrot, "PanoramaType"),
    ];
    for (namespace, name) in panorama {
        if let Some((_, source)) = xmp.text(namespace, &[name]) {
            return Stated::new(PhotoKind::Panorama, source);
        }
    }
    thermal_evidence(header, xmp, description, make, known_thermal).map_or_else(
        || Stated::new(PhotoKind::Photo, Source::new(Block::Assumption, "")),
        |source| Stated::new(PhotoKind::Thermal, source),
    )
}

fn thermal_evidence(
    header: &Header,
    xmp: &Xmp,
    description: Option<&str>,
    make: &str,
    known_thermal: bool,
) -> Option<Source> {
    let stated = [
        (Namespace::Dji, "ImageSource", "InfraredCamera"),
        (Namespace::Skydio, "CameraSource", "INFRARED"),
        (Namespace::Flir, "BandName", "LWIR"),
        (Namespace::Dji, "BandName", "LWIR"),
        (Namespace::Camera, "BandName", "LWIR"),
    ];
    for (namespace, name, value) in stated {
        if let Some((text, source)) = xmp.text(namespace, &[name])
            && text.eq_ignore_ascii_case(value)
        {
            return Some(source);
        }
    }
    if header.has_flir {
        return Some(Source::new(Block::Jpeg, "FLIR segment"));
    }
    if make == "dji" && header.app3_bytes >= MIN_THERMAL_APP3_BYTES {
        return Some(Source::new(Block::Jpeg, "thermal data in APP3"));
    }
    if make == "dji" && description.is_some_and(|text| THERMAL_PALETTES.contains(&text)) {
        return Some(Source::exif("ImageDescription"));
    }
    known_thermal.then(|| Source::new(Block::CameraTable, "thermal camera"))
}

/// The kind that a file's name gives away: DJI names thermal twins `..._T.JPG`, and panorama
/// parts `PANO_...` or `DJI_..._PANO`.
pub(super) fn kind_by_name(path: &Path) -> Option<PhotoKind> {
    let stem = path.file_stem()?.to_str()?.to_ascii_uppercase();
    if stem.starts_with("DJI_") && stem.ends_with("_T") {
        return Some(PhotoKind::Thermal);
    }
    (stem.starts_with("DJI_") && stem.ends_with("_PANO")).then_some(PhotoKind::Panorama)
}
