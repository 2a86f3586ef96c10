//! Damaged input: never a panic, never over a second, never over 200 MB.
//!
//! Stable Rust, no fuzzer: a corpus of small files built here, the inputs that crashed other EXIF
//! readers, and the headers of real photos, each bent in seeded ways. `OVERLOOK_FUZZ_INPUTS` sets
//! how many bent inputs are tried.

use crate::shared;
use rand_chacha::ChaCha8Rng;
use rand_core::{RngCore, SeedableRng};
use record::read_capture;
use sha2::{Digest, Sha256};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::{Duration, Instant};

const DEFAULT_INPUTS: u64 = 60_000;
const MAX_TIME: Duration = Duration::from_secs(1);
const MAX_GROWTH_KB: u64 = 200 * 1024;
/// A header's worth of a real photo.
const HEADER_BYTES: usize = 96 * 1024;

fn seeded(purpose: &str, item: u64) -> ChaCha8Rng {
    let mut hash = Sha256::new();
    hash.update(b"record fuzz 1");
    hash.update(purpose.as_bytes());
    hash.update(item.to_le_bytes());
    ChaCha8Rng::from_seed(hash.finalize().into())
}

/// The most memory this process ever had, from the kernel.
fn peak_kb() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status
        .lines()
        .find(|line| line.starts_with("VmHWM:"))
        .unwrap();
    line.split_whitespace().nth(1).unwrap().parse().unwrap()
}

fn segment(marker: u8, body: &[u8]) -> Vec<u8> {
    let length = u16::try_from(body.len() + 2).unwrap().to_be_bytes();
    [&[0xFF, marker][..], &length, body].concat()
}

/// Small files that reach each parser.
fn built_corpus() -> Vec<Vec<u8>> {
    let frame = segment(0xC0, &[8, 0, 30, 0, 40, 1, 1, 0x11, 0]);
    let jpeg = |segments: &[Vec<u8>]| {
        let mut bytes = vec![0xFF, 0xD8];
        bytes.extend(segments.concat());
        bytes.extend_from_slice(&frame);
        bytes.extend([0xFF, 0xDA, 0, 8]);
        bytes
    };
    let xmp = |text: &str| {
        segment(
            0xE1,
            &[b"http://ns.adobe.com/xap/1.0/\0", text.as_bytes()].concat(),
        )
    };
    // Make, a maker note of two floats and a GPS directory, big-endian.
    let tiff = b"Exif\0\0MM\0*\0\0\0\x08\0\x03\
        \x01\x0F\0\x02\0\0\0\x04DJI\0\
        \x87\x69\0\x04\0\0\0\x01\0\0\0\x32\
        \x88\x25\0\x04\0\0\0\x01\0\0\0\x62\
        \0\0\0\0\
        \0\x01\x92\x7C\0\x07\0\0\0\x1A\0\0\0\x44\0\0\0\0\
        \0\x02\0\x09\0\x0B\0\0\0\x01\xC2\x96\x33\x33\0\x0A\0\x0B\0\0\0\x01\x42\xAA\x99\x9A\
        \0\x02\0\x02\0\x05\0\0\0\x03\0\0\0\x80\0\x04\0\x05\0\0\0\x03\0\0\0\x80\0\0\0\0\
        \0\0\0\x1C\0\0\0\x01\0\0\0\x02\0\0\0\x01\0\0\0\x1E\0\0\0\x01";
    let digest = "0123456789ABCDEF0123456789ABCDEF";
    let extended = |offset: u32, full: u32, data: &[u8]| {
        let head = [&full.to_be_bytes()[..], &offset.to_be_bytes()].concat();
        let id = b"http://ns.adobe.com/xmp/extension/\0";
        segment(0xE1, &[&id[..], digest.as_bytes(), &head, data].concat())
    };
    vec![
        Vec::new(),
        vec![0xFF],
        vec![0xFF, 0xD8],
        vec![0xFF, 0xD8, 0xFF],
        vec![0xFF; 300],
        b"II*\0\x08\0\0\0\xFF\xFF".to_vec(),
        jpeg(&[]),
        jpeg(&[segment(0xE1, tiff)]),
        jpeg(&[xmp("<x:xmpmeta xmlns:x='adobe:ns:meta/'><rdf:RDF \
            xmlns:rdf='http://www.w3.org/1999/02/22-rdf-syntax-ns#'><rdf:Description \
            xmlns:drone-dji='http://www.dji.com/drone-dji/1.0/' drone-dji:GpsLatitude='+47.5' \
            drone-dji:GpsLongtitude='8' drone-dji:GimbalPitchDegree='-90' \
            drone-dji:GimbalYawDegree='1' drone-dji:RtkFlag='50' drone-dji:DewarpData=\
            '2022-03-02;1973,1955,-19,-11,-0.4,0.3,0.004,0.004,-0.2' \
            drone-dji:UTCAtExposure='2022-07-23T07:12:22.87'><drone-dji:A><rdf:Seq><rdf:li>1\
            </rdf:li></rdf:Seq></drone-dji:A></rdf:Description></rdf:RDF></x:xmpmeta>")]),
        jpeg(&[
            xmp("<rdf:RDF><rdf:Description drone-dji:RelativeAltitude=\"+1"),
            segment(0xE3, &[0; 64]),
        ]),
        jpeg(&[extended(0, 8, b"<a:b>"), extended(5, 8, b"c&x")]),
        jpeg(&[extended(u32::MAX, u32::MAX, b"x"), segment(0xE1, b"FLIR\0")]),
    ]
}

/// Built files, crashers of other readers and real headers, each where it is there.
fn corpus() -> Vec<Vec<u8>> {
    let mut corpus = built_corpus();
    for folder in [
        "metadata/fuzz",
        "metadata/other_drones",
        "metadata/dji_thermal",
        "metadata/exif_samples/invalid",
    ] {
        let Some(folder) = shared::data(folder) else {
            continue;
        };
        let mut paths: Vec<_> = std::fs::read_dir(folder)
            .unwrap()
            .map(|entry| entry.unwrap().path())
            .collect();
        paths.sort();
        for path in paths {
            let mut bytes = std::fs::read(&path).unwrap();
            bytes.truncate(HEADER_BYTES);
            corpus.push(bytes);
        }
    }
    corpus
}

fn below(rng: &mut ChaCha8Rng, n: usize) -> usize {
    // The bias of a remainder does not matter here.
    rng.next_u32() as usize % n.max(1)
}

/// One to eight changes: bits, bytes, numbers, cuts, repeats and pieces of other inputs.
fn bend(corpus: &[Vec<u8>], rng: &mut ChaCha8Rng) -> Vec<u8> {
    let mut bytes = corpus[below(rng, corpus.len())].clone();
    for _ in 0..=below(rng, 8) {
        let at = below(rng, bytes.len());
        let end = (at + 1 + below(rng, 64)).min(bytes.len());
        match below(rng, 8) {
            0 if !bytes.is_empty() => bytes[at] ^= 1 << below(rng, 8),
            1 if !bytes.is_empty() => bytes[at] = rng.next_u32() as u8,
            2 if end > at => bytes[at..end].fill([0, 0xFF, 0x7F, b'<'][below(rng, 4)]),
            3 => bytes.truncate(at),
            4 => drop(bytes.drain(at..end)),
            5 => {
                let again = bytes[at..end].to_vec();
                bytes.splice(at..at, again);
            }
            6 => {
                let other = &corpus[below(rng, corpus.len())];
                let from = below(rng, other.len());
                let to = (from + below(rng, 4096)).min(other.len());
                bytes.splice(at..at, other[from..to].iter().copied());
            }
            _ => {
                let tricky: &[&[u8]] = &[
                    b"<rdf:li>",
                    b"</",
                    b"&#0;",
                    b"&#x10FFFF;",
                    b"\"",
                    b"\xFF\xE1\xFF\xFF",
                    b"\xFF\xC0\0\x02",
                    b"1e999",
                    b"-",
                    b"xmlns:DJI=\"http://www.dji.com\" ",
                    b"\xF0\x9F",
                    b"<![CDATA[",
                    b"<!--",
                    b"<!DOCTYPE a [",
                    b"<?",
                ];
                bytes.splice(at..end, tricky[below(rng, tricky.len())].iter().copied());
            }
        }
    }
    bytes
}

/// Reads one input within its bounds; the capture must also print and serialise.
fn check(bytes: &[u8], name: &str) {
    let started = Instant::now();
    let done = catch_unwind(AssertUnwindSafe(|| {
        if let Ok(capture) = read_capture(bytes) {
            let json = serde_json::to_string(&capture).unwrap();
            assert!(!json.contains("null,null,null,null,null,null,null,null,null,null"));
            let finite = capture.focal_hints.iter().all(|hint| {
                hint.focal_px.is_finite() && hint.focal_px > 0.0 && hint.sigma_px > 0.0
            });
            assert!(finite && !capture.rows().is_empty());
        }
    }));
    let took = started.elapsed();
    assert!(done.is_ok(), "{name} panicked ({} bytes)", bytes.len());
    assert!(
        took < MAX_TIME,
        "{name} took {took:?} ({} bytes)",
        bytes.len()
    );
}

#[test]
fn damaged_files_never_panic_stall_or_swell() {
    let corpus = corpus();
    let before_kb = peak_kb();
    let n_inputs = std::env::var("OVERLOOK_FUZZ_INPUTS")
        .ok()
        .and_then(|text| text.parse().ok())
        .unwrap_or(DEFAULT_INPUTS);
    for (item, bytes) in corpus.iter().enumerate() {
        check(bytes, &format!("corpus item {item}"));
        for cut in [0.1, 0.5, 0.9] {
            check(
                &bytes[..(bytes.len() as f64 * cut) as usize],
                &format!("corpus item {item} cut"),
            );
        }
    }
    for item in 0..n_inputs {
        let bytes = bend(&corpus, &mut seeded("bend", item));
        check(&bytes, &format!("bent input {item}"));
    }
    let growth_kb = peak_kb() - before_kb;
    println!(
        "{} corpus files, {n_inputs} bent inputs, {growth_kb} kB of growth",
        corpus.len()
    );
    assert!(growth_kb < MAX_GROWTH_KB, "{growth_kb} kB");
}

#[test]
fn a_large_file_is_read_by_its_header_alone() {
    // A header, then 300 MB of picture data (zeros that take no room on the disk).
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("large.jpg");
    let before_kb = peak_kb();
    let mut bytes = vec![0xFF, 0xD8];
    bytes.extend(segment(0xC0, &[8, 0, 30, 0, 40, 1, 1, 0x11, 0]));
    bytes.extend([0xFF, 0xDA]);
    std::fs::write(&path, &bytes).unwrap();
    let file = std::fs::OpenOptions::new().write(true).open(&path).unwrap();
    file.set_len(300 << 20).unwrap();
    let started = Instant::now();
    let capture = record::read_capture_file(&path).unwrap();
    assert_eq!((capture.width_px, capture.height_px), (40, 30));
    assert!(started.elapsed() < MAX_TIME);
    assert!(peak_kb() - before_kb < MAX_GROWTH_KB);
}
