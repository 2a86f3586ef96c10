//! Times of the detector's parts: suppression, decoding, one tile, and a 20 MP photo from file to
//! boxes with each engine. Prints medians; nothing is asserted.
//!
//! `OVERLOOK_BENCH_PHOTO` names a JPEG to use instead of a generated one, `OVERLOOK_BENCH_MODEL` a
//! model to compare with Python on the same tiles instead of the built-in one (`peers.py`, run by
//! `OVERLOOK_PYTHON`; what is not installed there is said to be skipped).

use calibration::{CameraModel, Metres, Pixel, Radians, Rotation};
use detector::{
    DetectOptions, Detector, EngineChoice, EngineOptions, ModelOverrides, OrientedBox, Photo,
    RgbImage, ScaleChoice, ViewGeometry, encode_jpeg, suppress,
};
use nalgebra::Matrix3;
use serde_json::{Value, json};
use std::hint::black_box;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

const RUNS: usize = 7;

/// Prints the median time of a few calls, milliseconds.
fn measure<T>(name: &str, work: impl FnMut() -> T) {
    println!("{name:<60} {:>9.2} ms", median_s(work) * 1e3);
}

/// The median time of a few calls, seconds.
fn median_s<T>(mut work: impl FnMut() -> T) -> f64 {
    let mut times: Vec<f64> = (0..RUNS)
        .map(|_| {
            let start = Instant::now();
            black_box(work());
            start.elapsed().as_secs_f64()
        })
        .collect();
    times.sort_by(f64::total_cmp);
    times[RUNS / 2]
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

/// The photo at this factor is some tiles of 1024 pixels.
const PEER_FACTOR: f64 = 0.4;
const PEER_TILE_PX: u32 = 1024;

/// The same model on the same tiles here and in Python, one after the other, each in a process of
/// its own so that its peak memory is its own.
fn bench_peers(photo_file: &[u8]) {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let photo = folder.path().join("photo.jpg");
    std::fs::write(&photo, photo_file).expect("the temporary folder is writable");
    let built_in = Path::new(env!("CARGO_MANIFEST_DIR")).join("models/overlook-vehicles.onnx");
    let model = std::env::var_os("OVERLOOK_BENCH_MODEL").map_or(built_in, PathBuf::from);
    let this = std::env::current_exe().expect("the system knows this program's file");
    let Some(ours) =
        figures(Command::new(this).args(["ours".as_ref(), model.as_os_str(), photo.as_os_str()]))
    else {
        return;
    };
    println!("{} tiles of {PEER_TILE_PX} px, with peers:", ours["tiles"]);
    show_figures("ours", &ours);
    let python = std::env::var("OVERLOOK_PYTHON").unwrap_or_else(|_| "python3".to_owned());
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("benches/peers.py");
    for (part, name) in [
        ("bare", "bare ONNX Runtime loop"),
        ("sahi", "Ultralytics with SAHI"),
    ] {
        let mut command = Command::new(&python);
        command.arg(&script).arg(part).args([&model, &photo]);
        command.args([PEER_FACTOR.to_string(), PEER_TILE_PX.to_string()]);
        command.args([ours["overlap_px"].to_string(), threads().to_string()]);
        let Some(theirs) = figures(&mut command) else {
            continue;
        };
        show_figures(name, &theirs);
        if theirs.get("skipped").is_some() {
            continue;
        }
        for key in ["file_to_boxes_s", "after_decode_s", "peak_mb"] {
            if let (Some(ours), Some(theirs)) = (ours[key].as_f64(), theirs[key].as_f64()) {
                println!("    {key}: ours is {:.2} of it", ours / theirs);
            }
        }
    }
}

fn threads() -> usize {
    std::thread::available_parallelism().map_or(1, std::num::NonZeroUsize::get)
}

/// The JSON object a program prints; what went wrong is printed instead.
fn figures(command: &mut Command) -> Option<Value> {
    let name = command.get_program().to_string_lossy().into_owned();
    let output = match command.output() {
        Ok(output) => output,
        Err(error) => {
            println!("  {name} does not start: {error}");
            return None;
        }
    };
    let text = String::from_utf8_lossy(&output.stdout);
    let figures = text
        .lines()
        .last()
        .and_then(|line| serde_json::from_str(line).ok());
    if figures.is_none() {
        println!(
            "  {name}: {}",
            String::from_utf8_lossy(&output.stderr).trim()
        );
    }
    figures
}

fn show_figures(name: &str, figures: &Value) {
    println!("  {name}: {figures}");
}

/// Our part of the comparison, as a process of its own.
fn ours(model: &Path, photo: &Path) {
    let engine = EngineOptions {
        engine: EngineChoice::OnnxRuntime,
        ..EngineOptions::default()
    };
    let mut detector = Detector::load(model, &ModelOverrides::default(), &engine)
        .expect("the model and ONNX Runtime are there");
    let options = DetectOptions {
        scale: ScaleChoice::Factor(PEER_FACTOR),
        tile_px: PEER_TILE_PX,
        ..DetectOptions::default()
    };
    let file = std::fs::read(photo).expect("the photo was just written");
    let mut tiles = 0;
    let file_to_boxes_s = median_s(|| {
        let found = detector.detect_encoded(&file, None, &options);
        tiles = found.expect("the photo is whole").tiles;
    });
    // Before the whole photo is held in memory for the second figure.
    let peak_mb = peak_memory_mb();
    let decoded = Photo::decode(&file).expect("the photo is whole");
    let after_decode_s = median_s(|| detector.detect(&decoded.image, None, &options));
    let overlap_px = detector.tile_overlap_px();
    println!(
        "{}",
        json!({
            "tiles": tiles,
            "overlap_px": overlap_px,
            "file_to_boxes_s": file_to_boxes_s,
            "after_decode_s": after_decode_s,
            "peak_mb": peak_mb,
        })
    );
}

/// The most memory this process has used so far, megabytes, as Linux tells it.
fn peak_memory_mb() -> Option<f64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find(|line| line.starts_with("VmHWM:"))?;
    let kilobytes: f64 = line.split_whitespace().nth(1)?.parse().ok()?;
    Some(kilobytes / 1024.0)
}

fn main() {
    let words: Vec<String> = std::env::args().collect();
    if let [_, part, model, photo] = words.as_slice()
        && part == "ours"
    {
        return ours(Path::new(model), Path::new(photo));
    }
    let bytes = match std::env::var_os("OVERLOOK_BENCH_PHOTO") {
        Some(path) => std::fs::read(path).expect("the named photo is readable"),
        None => generated_photo(),
    };
    // `-- peers` runs that part alone.
    if words.iter().any(|word| word == "peers") {
        bench_peers(&bytes);
        return print_peak_memory();
    }
    bench_suppression();
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
    bench_peers(&bytes);
    print_peak_memory();
}

fn print_peak_memory() {
    if let Some(peak) = peak_memory_mb() {
        println!("peak memory of this process, everything above: {peak:.0} MB");
    }
}
