//! How good identities are: dense rows by order and refinement, with true and with detectors' boxes;
//! rendered photos through the detector that ships; poses from GPS and gimbal alone. Takes some
//! twenty minutes, most of them for rendering; an argument says how many scenes are rendered.

use serde_json::Value;
use std::path::Path;
use tests::binaries::{run, text};
use tests::evaluate::number;

/// Seeds of dense rows, of scenes with poses from GPS, and scenes that are rendered.
const DENSE_SEEDS: std::ops::RangeInclusive<u64> = 1..=10;
const RAW_SEEDS: std::ops::RangeInclusive<u64> = 301..=320;
const RENDERED_FROM: u64 = 201;
const N_RENDERED: u64 = 10;

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    // `cargo test --benches` runs this with `--test`: nothing to check there.
    if arguments.iter().any(|argument| argument == "--test") {
        return;
    }
    let n_rendered = arguments.iter().find_map(|argument| argument.parse().ok());
    dense_rows();
    raw_poses();
    rendered(n_rendered.unwrap_or(N_RENDERED));
}

fn simulated(folder: &Path, seed: u64, options: &[&str]) {
    let seed = seed.to_string();
    let out = ["scene", "--seed", &seed, "--out", text(folder)];
    let _ = run("simulator", &[&out[..], options].concat());
}

const DENSE: [&str; 10] = [
    "--spacing",
    "2.5",
    "--photos",
    "150",
    "--heights",
    "20,60,90,120",
    "--site",
    "perpendicular",
    "--cars",
    "60",
];

fn evaluated(scene: &Path, boxes: &str, options: &[&str]) -> Value {
    if boxes == "detected" {
        let _ = run("groundstation", &["--quiet", "anchor", text(scene)]);
        let cluster = ["--quiet", "cluster", text(scene)];
        let _ = run("groundstation", &[&cluster[..], options].concat());
    }
    let truth = scene.join("truth.json");
    let ask = [
        "--quiet",
        "evaluate",
        text(scene),
        "--truth",
        text(&truth),
        "--boxes",
        boxes,
        "--json",
    ];
    let printed = run("groundstation", &[&ask[..], options].concat());
    serde_json::from_str(&printed).expect("one JSON object")
}

/// Numbers of several scenes.
struct Pool(Vec<Value>);

impl Pool {
    fn of(&self, path: &str) -> Vec<f64> {
        self.0
            .iter()
            .map(|v| number(v.pointer(path).expect(path)))
            .collect()
    }

    fn mean(&self, path: &str) -> f64 {
        self.of(path).iter().sum::<f64>() / self.0.len() as f64
    }

    fn least(&self, path: &str) -> f64 {
        self.of(path).into_iter().fold(f64::INFINITY, f64::min)
    }

    fn sum(&self, path: &str) -> f64 {
        self.of(path).iter().sum()
    }

    fn confirmed_per_vehicle(&self) -> f64 {
        self.sum("/count/confirmed") / self.sum("/count/visible_vehicles")
    }

    /// Along principal axes, of all scenes together.
    fn within_one_sigma(&self, of: &str) -> f64 {
        let sum = |key: &str| self.sum(&format!("/{of}/{key}"));
        sum("within_one_sigma") / (2.0 * sum("n"))
    }

    fn print(&self, name: &str) {
        println!(
            "{name:<34} F1 {:.4} (worst {:.4}), B-cubed {:.4}, V {:.4}, AssA {:.4}, IDF1 {:.4}; {:.3} \
             confirmed per vehicle; per 100 vehicles {:.1} merged, {:.1} split",
            self.mean("/pairwise_f1"),
            self.least("/pairwise_f1"),
            self.mean("/b_cubed_f1"),
            self.mean("/v_measure"),
            self.mean("/ass_a"),
            self.mean("/idf1"),
            self.confirmed_per_vehicle(),
            self.mean("/errors/merges_per_100_vehicles"),
            self.mean("/errors/splits_per_100_vehicles"),
        );
        assert_eq!(self.sum("/cannot_link_violations"), 0.0);
    }
}

/// The paper's order, the other one, and both with the assignment; merges apart.
const WAYS: [(&str, &[&str]); 5] = [
    ("as the paper", &["--refine", "0", "--merge-from", "1.1"]),
    (
        "geometry first",
        &[
            "--refine",
            "0",
            "--merge-from",
            "1.1",
            "--order",
            "geometry",
        ],
    ),
    ("as the paper, assigned", &["--merge-from", "1.1"]),
    ("as the paper, merged", &["--refine", "0"]),
    ("as the paper, assigned, merged", &[]),
];

const NOISES: [(&str, &str); 2] = [
    ("a good solution and detector", "pose=0.03"),
    (
        "a weak one",
        "pose=0.15,angle=0.1,box=3,size=0.06,miss=0.15,false=0.05",
    ),
];

fn dense_rows() {
    let scratch = tempfile::tempdir().expect("a temporary folder");
    for (level, noise) in NOISES {
        println!(
            "\n2.5 m rows, 30 to 90 degrees, 20 to 120 m, {} seeds: {level}",
            DENSE_SEEDS.count()
        );
        let scenes: Vec<_> = DENSE_SEEDS
            .map(|seed| {
                let folder = scratch.path().join(format!("dense {noise} {seed}"));
                simulated(&folder, seed, &[&DENSE[..], &["--noise", noise]].concat());
                folder
            })
            .collect();
        let is_good = noise == NOISES[0].1;
        for (name, options) in WAYS {
            let pool = |boxes| {
                Pool(
                    scenes
                        .iter()
                        .map(|scene| evaluated(scene, boxes, options))
                        .collect(),
                )
            };
            let detected = pool("detected");
            detected.print(name);
            if options.is_empty() {
                let truth = pool("truth");
                truth.print("true boxes, assigned, merged");
                println!(
                    "sigmas: {:.3} of anchors within one, {:.3} of vehicles; vehicles off by {:.3} m",
                    detected.within_one_sigma("anchor_sigmas"),
                    detected.within_one_sigma("entity_sigmas"),
                    detected.mean("/entity_position/median_m"),
                );
                if is_good {
                    assert!(detected.mean("/pairwise_f1") >= 0.93);
                    assert!(truth.mean("/pairwise_f1") >= 0.97);
                }
                assert!((0.95..=1.05).contains(&detected.confirmed_per_vehicle()));
            }
        }
    }
}

fn raw_poses() {
    println!(
        "\nposes from GPS and gimbal alone, {} seeds",
        RAW_SEEDS.count()
    );
    let scratch = tempfile::tempdir().expect("a temporary folder");
    let results = RAW_SEEDS.map(|seed| {
        let folder = scratch.path().join(seed.to_string());
        simulated(&folder, seed, &["--photos", "60"]);
        let _ = run(
            "groundstation",
            &["--quiet", "pose", text(&folder), "--engine", "priors"],
        );
        evaluated(&folder, "detected", &[])
    });
    let pool = Pool(results.collect());
    pool.print("whatever it is");
    let share = pool.within_one_sigma("anchor_sigmas");
    println!("{share:.3} of anchors' principal axes within one sigma, the common error apart");
    let common = ["/alignment/east_m", "/alignment/north_m"].map(|path| {
        let squares = pool.of(path).iter().map(|v| v * v).sum::<f64>();
        (squares / pool.0.len() as f64).sqrt()
    });
    println!(
        "in common {:.2} m east, {:.2} m north (rms), {:.2} m stated",
        common[0],
        common[1],
        pool.mean("/alignment/stated_shift_sigma_m")
    );
    assert!((0.60..=0.76).contains(&share), "{share}");
}

fn rendered(n: u64) {
    println!(
        "\nrendered photos, 6 m spacing, detector that ships, poses as a solver has them: {n} scenes"
    );
    let scratch = tempfile::tempdir().expect("a temporary folder");
    let options = ["--spacing", "6", "--photos", "60", "--cars", "45"];
    let results = (RENDERED_FROM..RENDERED_FROM + n).map(|seed| {
        let (photos, found, scene) = (
            scratch.path().join(format!("photos {seed}")),
            scratch.path().join(format!("found {seed}")),
            scratch.path().join(format!("scene {seed}")),
        );
        let name = seed.to_string();
        let render = ["render", "--seed", &name, "--out", text(&photos)];
        let _ = run("simulator", &[&render[..], &options].concat());
        simulated(&scene, seed, &options);
        let _ = run("onboard", &["detect", text(&photos), "--out", text(&found)]);
        let lines = found.join("detections.jsonl");
        let import = [
            "--quiet",
            "detect",
            text(&scene),
            "--detections",
            text(&lines),
        ];
        let _ = run("groundstation", &import);
        let result = evaluated(&scene, "detected", &[]);
        let count = ["confirmed", "visible_vehicles"].map(|key| number(&result["count"][key]));
        println!(
            "{seed}: F1 {:.4}, {} confirmed of {}, recall {:.3}, precision {:.3}",
            number(&result["pairwise_f1"]),
            count[0],
            count[1],
            number(&result["detection"]["recall"]),
            number(&result["detection"]["precision"])
        );
        assert!(
            (count[0] - count[1]).abs() <= (0.1 * count[1]).max(2.0),
            "{count:?}"
        );
        result
    });
    let pool = Pool(results.collect());
    pool.print("pooled");
    assert!(pool.mean("/pairwise_f1") >= 0.98);
    assert!((0.95..=1.05).contains(&pool.confirmed_per_vehicle()));
    println!(
        "{:.3} of anchors' principal axes within one sigma",
        pool.within_one_sigma("anchor_sigmas")
    );
}
