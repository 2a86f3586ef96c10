//! Small photos, and the binary run on them.

use image::codecs::jpeg::JpegEncoder;
use image::{ExtendedColorType, ImageEncoder};
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::Command;

/// What a run of the program said.
pub(crate) struct Ran {
    pub(crate) code: i32,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Ran {
    /// The one JSON object on stdout.
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.stdout)
            .unwrap_or_else(|error| panic!("{error}: {}\n{}", self.stdout, self.stderr))
    }
}

/// Runs the program with the built-in engine, so that results do not depend on what is installed.
pub(crate) fn onboard<I: AsRef<std::ffi::OsStr>>(args: impl IntoIterator<Item = I>) -> Ran {
    let output = Command::new(env!("CARGO_BIN_EXE_onboard"))
        .args(args)
        .output()
        .unwrap();
    Ran {
        code: output.status.code().unwrap_or(-1),
        stdout: String::from_utf8(output.stdout).unwrap(),
        stderr: String::from_utf8(output.stderr).unwrap(),
    }
}

/// `onboard detect` on paths, with more words behind.
pub(crate) fn detect(photos: &[&Path], out: &Path, more: &[&str]) -> Ran {
    let mut words: Vec<PathBuf> = vec!["detect".into(), "--runtime".into(), "rten".into()];
    words.extend(photos.iter().map(|path| path.to_path_buf()));
    words.extend(["--out".into(), out.to_path_buf()]);
    words.extend(more.iter().map(PathBuf::from));
    onboard(words)
}

/// A grey picture with some texture, as JPEG.
pub(crate) fn jpeg(width: u32, height: u32) -> Vec<u8> {
    let pixels: Vec<u8> = (0..width * height)
        .flat_map(|at| {
            let level = 100 + (at * 7 % 31) as u8;
            [level, level, level]
        })
        .collect();
    encode(&pixels, width, height, ExtendedColorType::Rgb8)
}

pub(crate) fn encode(pixels: &[u8], width: u32, height: u32, kind: ExtendedColorType) -> Vec<u8> {
    let mut bytes = Vec::new();
    JpegEncoder::new_with_quality(&mut bytes, 90)
        .write_image(pixels, width, height, kind)
        .unwrap();
    bytes
}

/// A JPEG with an EXIF block of one tag: the orientation.
pub(crate) fn with_orientation(jpeg: &[u8], orientation: u8) -> Vec<u8> {
    let mut exif = b"Exif\0\0II*\0\x08\0\0\0\x01\0".to_vec();
    // Tag 0x0112, a 16-bit number, one of them; then no further directory.
    exif.extend([
        0x12,
        0x01,
        3,
        0,
        1,
        0,
        0,
        0,
        orientation,
        0,
        0,
        0,
        0,
        0,
        0,
        0,
    ]);
    with_app1(jpeg, &exif)
}

/// A JPEG with an XMP packet of DJI's that tells height and gimbal angles, and EXIF with a 35 mm
/// equivalent focal length.
pub(crate) fn with_pose(jpeg: &[u8], height_m: f64, pitch_deg: f64) -> Vec<u8> {
    let xmp = format!(
        "http://ns.adobe.com/xap/1.0/\0<x:xmpmeta xmlns:x=\"adobe:ns:meta/\">\
         <rdf:RDF xmlns:rdf=\"http://www.w3.org/1999/02/22-rdf-syntax-ns#\">\
         <rdf:Description xmlns:drone-dji=\"http://www.dji.com/drone-dji/1.0/\" \
         drone-dji:RelativeAltitude=\"{height_m:+.2}\" drone-dji:GimbalRollDegree=\"+0.00\" \
         drone-dji:GimbalYawDegree=\"+10.00\" drone-dji:GimbalPitchDegree=\"{pitch_deg:+.2}\"/>\
         </rdf:RDF></x:xmpmeta>"
    );
    // IFD0 with Make, and the EXIF directory with FocalLengthIn35mmFilm 24.
    let mut exif = b"Exif\0\0II*\0\x08\0\0\0\x02\0".to_vec();
    exif.extend([0x0f, 0x01, 2, 0, 4, 0, 0, 0]);
    exif.extend(b"DJI\0");
    exif.extend([0x69, 0x87, 4, 0, 1, 0, 0, 0, 38, 0, 0, 0, 0, 0, 0, 0]);
    exif.extend([1, 0, 0x05, 0xa4, 3, 0, 1, 0, 0, 0, 24, 0, 0, 0, 0, 0, 0, 0]);
    with_app1(&with_app1(jpeg, xmp.as_bytes()), &exif)
}

fn with_app1(jpeg: &[u8], payload: &[u8]) -> Vec<u8> {
    let length = u16::try_from(payload.len() + 2).unwrap().to_be_bytes();
    let mut bytes = jpeg[..2].to_vec();
    bytes.extend([0xff, 0xe1]);
    bytes.extend(length);
    bytes.extend(payload);
    bytes.extend(&jpeg[2..]);
    bytes
}

/// The folder of real data; without it the test says so and passes.
pub(crate) fn shared(below: &str) -> Option<PathBuf> {
    let root = std::env::var_os("OVERLOOK_SHARED").map_or_else(
        || Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared"),
        PathBuf::from,
    );
    if !root.join("data").exists() {
        eprintln!("skipped: shared/data absent");
        return None;
    }
    Some(root.join("data").join(below))
}
