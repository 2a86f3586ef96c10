//! `onboard plan`, as a crew runs it.

use crate::common::onboard;
use serde_json::Value;
use std::path::{Path, PathBuf};

fn sites() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../flightplans/sites")
}

fn words(parts: &[&str]) -> Vec<String> {
    parts.iter().map(|part| (*part).to_owned()).collect()
}

/// `plan` of the compact site with more words behind.
fn plan(out: &Path, more: &[&str]) -> crate::common::Ran {
    let site = sites().join("compact-lot.kml");
    let mut all = words(&["plan", "--site", site.to_str().unwrap()]);
    all.extend(words(&["--out", out.to_str().unwrap()]));
    all.extend(words(more));
    onboard(all)
}

#[test]
fn a_site_becomes_a_plan_with_all_exports() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    let spec = at("spec.toml");
    std::fs::write(
        &spec,
        "schema = \"plan-spec/1\"\n[autopilot]\nmax_items = 60\n",
    )
    .unwrap();
    let report = at("plan.html");
    let exports: Vec<String> = ["qgc", "waypoints", "kml", "geojson", "wpml", "csv"]
        .iter()
        .map(|format| format!("{format}={}", at(&format!("export.{format}"))))
        .collect();
    let mut more = vec![
        "--camera", "dji-m3e", "--spec", &spec, "--report", &report, "--json",
    ];
    for export in &exports {
        more.extend(["--export", export]);
    }
    let out = folder.path().join("plan.json");
    let ran = plan(&out, &more);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    let summary = ran.json();
    assert_eq!(summary["schema"], "plan-summary/1");
    assert_eq!(summary["is_covered"], true);
    for path in summary["written"].as_array().unwrap() {
        assert!(
            Path::new(path.as_str().unwrap()).metadata().unwrap().len() > 100,
            "{path}"
        );
    }
    // What an autopilot cannot hold in one file is numbered.
    assert!(folder.path().join("export-1.qgc").exists());
    assert!(folder.path().join("export.kml").exists());
    let plan_json: Value = serde_json::from_slice(&std::fs::read(&out).unwrap()).unwrap();
    assert_eq!(plan_json["schema"], "flight-plan/1");

    let again = folder.path().join("again.json");
    let ran = plan(
        &again,
        &[
            "--camera",
            "dji-m3e",
            "--spec",
            &spec,
            "--repeat",
            out.to_str().unwrap(),
        ],
    );
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    assert!(
        ran.stdout.contains("photos on one battery"),
        "{}",
        ran.stdout
    );
    let second: Value = serde_json::from_slice(&std::fs::read(&again).unwrap()).unwrap();
    assert!(second["made_from"]["repeats_sha256"].is_string());
}

#[test]
fn faults_of_the_input_end_with_1_and_say_what_would_do() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("plan.json");
    let blind = folder.path().join("blind.toml");
    std::fs::write(
        &blind,
        "schema = \"plan-spec/1\"\n[gimbal]\npitch_max_deg = -95\npitch_min_deg = -99\n",
    )
    .unwrap();
    let ids = "dji-fc300s";
    let kmz = format!("wpml={}", folder.path().join("x.kmz").display());
    for (more, expected) in [
        (&["--camera", "nikon"][..], ids),
        (&["--camera", "absent.toml"], "absent.toml"),
        (
            &["--camera", "dji-m3e", "--spec", "absent.toml"],
            "absent.toml",
        ),
        (&["--camera", "dji-m3e", "--export", "shp=x"], "waypoints"),
        (&["--camera", "dji-m3e", "--export", "qgc"], "FORMAT=PATH"),
        (
            &["--camera", "dji-m3e", "--terrain", "absent.hgt"],
            "absent.hgt",
        ),
        (
            &["--camera", "dji-m3e", "--repeat", "absent.json"],
            "absent.json",
        ),
        (
            &["--camera", "dji-m3e", "--spec", blind.to_str().unwrap()],
            "gimbal pitch",
        ),
        (&["--camera", "dji-fc6310", "--export", &kmz], "DJI"),
    ] {
        let ran = plan(&out, more);
        assert_eq!(ran.code, 1, "{more:?}: {}", ran.stderr);
        assert!(ran.stderr.contains(expected), "{more:?}: {}", ran.stderr);
        assert!(!out.exists(), "{more:?}");
    }
}
