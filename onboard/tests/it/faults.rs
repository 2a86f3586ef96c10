//! Bad input: a clear error per photo, the others searched all the same, code 1 at the end.

use crate::common::{detect, encode, jpeg, onboard, with_orientation};
use image::codecs::png::PngEncoder;
use image::{ExtendedColorType, ImageEncoder};
use std::fs;
use std::path::Path;

/// JPEG with four planes, as print shops make it: a real one of 16 x 16 pixels is not needed, the
/// header's count of planes is what readers must cope with.
fn cmyk() -> Vec<u8> {
    fs::read(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/cmyk.jpg")).unwrap()
}

fn png_16_bit(width: u32, height: u32) -> Vec<u8> {
    let mut bytes = Vec::new();
    let values = vec![0x80; (width * height * 6) as usize];
    PngEncoder::new(&mut bytes)
        .write_image(&values, width, height, ExtendedColorType::Rgb16)
        .unwrap();
    bytes
}

#[test]
fn odd_photos_are_read_and_broken_ones_named() {
    let home = tempfile::tempdir().unwrap();
    let photos = home.path().join("photos");
    fs::create_dir(&photos).unwrap();
    let put = |name: &str, bytes: &[u8]| fs::write(photos.join(name), bytes).unwrap();
    let whole = jpeg(320, 240);
    put("1x1.jpg", &jpeg(1, 1));
    put("cmyk.jpg", &cmyk());
    put("deep.png", &png_16_bit(64, 48));
    put(
        "grey.jpg",
        &encode(&[90; 64 * 48], 64, 48, ExtendedColorType::L8),
    );
    put("turned.jpg", &with_orientation(&whole, 6));
    put(
        "wide.jpg",
        &encode(&vec![90; 30_000 * 8], 30_000, 8, ExtendedColorType::L8),
    );
    put("empty.jpg", b"");
    put("text.jpg", b"this is no picture at all");
    put("truncated.jpg", &whole[..whole.len() / 2]);
    let out = home.path().join("out");
    // More photos than threads: none may wait for a detector that its own thread has taken.
    let ran = detect(&[&photos], &out, &["--json", "--threads", "3"]);
    assert_eq!(ran.code, 1, "{}", ran.stderr);
    let summary = ran.json();
    let failed: Vec<&str> = summary["failed"]
        .as_array()
        .unwrap()
        .iter()
        .map(|photo| photo["photo"].as_str().unwrap())
        .collect();
    assert_eq!(failed, ["empty.jpg", "text.jpg", "truncated.jpg"]);
    for name in failed {
        assert!(ran.stderr.contains(name), "{name}: {}", ran.stderr);
    }
    assert!(ran.stderr.contains("ends before"), "{}", ran.stderr);
    let lines = fs::read_to_string(out.join("detections.jsonl")).unwrap();
    let found: Vec<_> = lines
        .lines()
        .map(|line| detector::read_json_line(line).unwrap())
        .collect();
    let size_of = |name: &str| {
        let line = found.iter().find(|line| line.photo == name).unwrap();
        (line.found.width_px, line.found.height_px)
    };
    assert_eq!(found.len(), 6);
    assert_eq!(size_of("turned.jpg"), (240, 320));
    assert_eq!(size_of("1x1.jpg"), (1, 1));
    assert_eq!(size_of("wide.jpg"), (30_000, 8));
}

#[test]
fn faults_of_the_call_are_code_1_and_say_what_is_expected() {
    let home = tempfile::tempdir().unwrap();
    let photo = home.path().join("a.jpg");
    fs::write(&photo, jpeg(32, 32)).unwrap();
    let out = home.path().join("out");
    let check = |photos: &[&Path], more: &[&str], expected: &str| {
        let ran = detect(photos, &out, more);
        assert_eq!(ran.code, 1, "{more:?}: {}", ran.stderr);
        assert!(ran.stderr.contains(expected), "{more:?}: {}", ran.stderr);
        assert!(!out.exists());
        assert!(ran.stdout.is_empty());
    };
    check(&[&home.path().join("none.jpg")], &[], "does not exist");
    check(&[&photo], &["--min-score", "7"], "0 to 1");
    check(&[&photo], &["--scale=-1"], "--scale");
    check(&[&photo], &["--height-above-ground", "0"], "1 to 5000");
    check(&[&photo], &["--format", "xml"], "jsonl");
    check(&[&photo], &["--model", "none.onnx"], "none.onnx");
    let model = photo.to_str().unwrap();
    check(&[&photo], &["--model", model], "not an ONNX model");
    let empty = home.path().join("empty");
    fs::create_dir(&empty).unwrap();
    check(&[&empty], &[], "no photos");
    assert_eq!(onboard(["detect"]).code, 1);
}

#[test]
fn an_engine_that_is_asked_for_and_absent_is_a_sentence() {
    let home = tempfile::tempdir().unwrap();
    let photo = home.path().join("a.jpg");
    fs::write(&photo, jpeg(32, 32)).unwrap();
    let ran = onboard([
        "detect".as_ref(),
        photo.as_os_str(),
        "--out".as_ref(),
        home.path().join("out").as_os_str(),
        "--runtime".as_ref(),
        "ort".as_ref(),
        "--onnxruntime".as_ref(),
        home.path().as_os_str(),
    ]);
    assert!([1, 2].contains(&ran.code), "{}", ran.stderr);
    assert!(ran.stderr.starts_with("error: "), "{}", ran.stderr);
    assert!(!ran.stderr.contains("panicked"), "{}", ran.stderr);
}
