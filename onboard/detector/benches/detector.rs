//! Times of the detector's parts: suppression, decoding, one tile, and a 20 MP photo from file to
//! boxes with each engine. Prints medians; nothing is asserted.
//!
//! `OVERLOOK_BENCH_PHOTO` names a JPEG to use instead of a generated one.

use calibration::{CameraModel, Metres, Pixel, Radians, Rotation};
use detector::{
    DetectOptions, Detector, EngineChoice, EngineOptions, OrientedBox, Photo, RgbImage,
    ScaleChoice, ViewGeometry, encode_jpeg, suppress,
};
use nalgebra::Matrix3;
use std::hint::black_box;
use std::time::Instant;

const RUNS: usize = 7;

/// Prints the median time of a few calls, milliseconds.
fn measure<T>(name: &str, mut work: impl FnMut() -> T) {
    let mut times: Vec<f64> = (0..RUNS)
        .map(|_| {
            let start = Instant::now();
            black_box(work());
            start.elapsed().as_secs_f64() * 1e3
        })
        .collect();
    times.sort_by(f64::total_cmp);
    println!("{name:<60} {:>9.2} ms", times[RUNS / 2]);
}

/// Numbers in 0..1 from a fixed sequence (splitmix64).
struct Sequence(u64);

impl Sequence {
    fn next(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ (z >> 31)) >> 11) as f64 / (1u64 << 53) as f64
    }
}

/// `places` vehicles of 42 x 19 px on a square of `side` pixels, each `copies` times.
fn candidates(places: usize, copies: usize, side: f64) -> (Vec<OrientedBox>, Vec<f64>) {
    let mut sequence = Sequence(1);
    let mut boxes = Vec::new();
    let mut scores = Vec::new();
    for _ in 0..places {
        let (x, y) = (sequence.next() * side, sequence.next() * side);
        let angle = sequence.next() * 3.0;
        for _ in 0..copies {
            let centre = Pixel::new(x + sequence.next() * 3.0, y + sequence.next() * 3.0);
            boxes.extend(OrientedBox::new(centre, 42.0, 19.0, Radians(angle)));
            scores.push(sequence.next());
        }
    }
    (boxes, scores)
}

fn bench_suppression() {
    for (name, places, copies) in [
        ("suppress 3,000: 300 vehicles ten times", 300, 10),
        ("suppress 3,000 spread", 3000, 1),
        ("suppress 30,000: 3,000 vehicles ten times", 3000, 10),
        ("suppress 30,000 stacked on one place", 1, 30_000),
    ] {
        let (boxes, scores) = candidates(places, copies, 1024.0);
        measure(name, || suppress(&boxes, &scores, 0.3));
    }
}

/// A photo of 20 MP with the fine detail that makes JPEG files of some megabytes.
fn generated_photo() -> Vec<u8> {
    let (width, height) = (5280u32, 3956u32);
    let mut sequence = Sequence(2);
    let mut pixels = Vec::with_capacity((width * height * 3) as usize);
    for y in 0..height {
        for x in 0..width {
            let wave = (f64::from(x) / 37.0).sin() * 30.0 + (f64::from(y) / 53.0).cos() * 30.0;
            let level = (110.0 + wave + sequence.next() * 24.0) as u8;
            pixels.extend([level, level.wrapping_add(4), level.wrapping_sub(6)]);
        }
    }
    let picture = RgbImage::new(width, height, pixels).expect("the size is the one generated");
    encode_jpeg(&picture).expect("the size is within JPEG's")
}

/// Straight down from 60 m with a 24 mm equivalent lens.
fn nadir_view(photo: &Photo) -> ViewGeometry {
    let down = Matrix3::new(1.0, 0.0, 0.0, 0.0, -1.0, 0.0, 0.0, 0.0, -1.0);
    ViewGeometry {
        camera: CameraModel::pinhole(photo.width, photo.height, 0.71 * f64::from(photo.width)),
        camera_from_enu: Rotation::from_matrix(&down),
        height_above_ground: Metres(60.0),
    }
}

fn main() {
    bench_suppression();
    let bytes = match std::env::var_os("OVERLOOK_BENCH_PHOTO") {
        Some(path) => std::fs::read(path).expect("the named photo is readable"),
        None => generated_photo(),
    };
    println!("photo: {:.1} MB", bytes.len() as f64 / 1e6);
    measure("decode all", || Photo::decode(&bytes));
    let photo = Photo::decode(&bytes).expect("the photo is whole");
    let view = nadir_view(&photo);
    for engine in [EngineChoice::OnnxRuntime, EngineChoice::Rten] {
        let options = EngineOptions {
            engine,
            ..EngineOptions::default()
        };
        let mut detector = match Detector::built_in(&options) {
            Ok(detector) => detector,
            Err(error) => {
                println!("{engine:?}: {error}");
                continue;
            }
        };
        let tile = RgbImage::new(1024, 1024, vec![90; 1024 * 1024 * 3]).expect("the size fits");
        let whole = DetectOptions {
            scale: ScaleChoice::Factor(1.0),
            ..DetectOptions::default()
        };
        measure(&format!("{engine:?}: one tile of 1024x1024"), || {
            detector.detect(&tile, None, &whole)
        });
        let search = DetectOptions::default();
        measure(&format!("{engine:?}: file to boxes, scale known"), || {
            detector.detect_encoded(&bytes, Some(&view), &search)
        });
        measure(
            &format!("{engine:?}: decoded to boxes, scale known"),
            || detector.detect(&photo.image, Some(&view), &search),
        );
        measure(&format!("{engine:?}: file to boxes, scale unknown"), || {
            detector.detect_encoded(&bytes, None, &search)
        });
    }
}
