//! Pairs by predicted footprint against every photo with every other, on a rendered scene and, where
//! the shared photos are there, on a real one: photos registered, seconds per stage, ratio. And the
//! time of everything but the solver.

use std::path::{Path, PathBuf};
use std::time::Instant;
use tests::binaries::{run, text};
use tests::pairing::compare;

fn main() {
    // `cargo test --benches` runs this with `--test`: nothing to check there.
    if std::env::args().any(|argument| argument == "--test") {
        return;
    }
    let scratch = tempfile::tempdir().expect("a temporary folder");
    let rendered = scratch.path().join("rendered");
    let render = [
        "render",
        "--seed",
        "11",
        "--photos",
        "60",
        "--size",
        "1600x1200",
        "--out",
    ];
    let started = Instant::now();
    let _ = run("simulator", &[&render[..], &[text(&rendered)]].concat());
    println!(
        "rendering 60 photos of 1600x1200: {:.1} s",
        started.elapsed().as_secs_f64()
    );
    measure(
        "rendered, 60 photos of 1600x1200",
        &rendered,
        scratch.path(),
    );
    let shared = std::env::var_os("OVERLOOK_SHARED").map(PathBuf::from);
    match shared
        .map(|root| root.join("data/sheffield"))
        .filter(|folder| folder.is_dir())
    {
        Some(folder) => measure("sheffield, 86 photos of 800x600", &folder, scratch.path()),
        None => println!("skipped: shared/data absent"),
    }
}

fn measure(name: &str, photos: &Path, scratch: &Path) {
    println!("\n{name}");
    let work = scratch.join(name);
    println!("{}", compare(photos, &work, &[]));
    let scene = work.join("by-footprint");
    for step in ["detect", "anchor", "cluster", "report"] {
        let started = Instant::now();
        let _ = run("groundstation", &["--quiet", step, text(&scene)]);
        println!("{step}: {:.1} s", started.elapsed().as_secs_f64());
    }
}
