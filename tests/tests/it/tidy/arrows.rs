//! Which crate may use which.

use super::assert_none;
use super::workspace::{ALL_KINDS, WORKSPACE};

/// Every crate of ours, and the crates of ours that it may use, be it only in its tests.
/// `simulator` has none: its truth must be able to disagree with the product.
const MAY_USE: [(&str, &[&str]); 10] = [
    ("calibration", &[]),
    ("console", &[]),
    ("detector", &["calibration"]),
    ("flightplans", &["calibration"]),
    (
        "groundstation",
        &["calibration", "console", "detector", "record", "scoring"],
    ),
    (
        "onboard",
        &[
            "calibration",
            "console",
            "detector",
            "flightplans",
            "record",
        ],
    ),
    ("record", &["calibration"]),
    ("scoring", &[]),
    ("simulator", &[]),
    ("tests", &[]),
];

/// Crates that end up on the drone's computer, where only libc is.
const WITHOUT_SYSTEM_LIBRARIES: [&str; 6] = [
    "calibration",
    "console",
    "detector",
    "flightplans",
    "onboard",
    "record",
];

#[test]
fn crates_use_only_those_they_may() {
    let mut offences = Vec::new();
    for package in WORKSPACE.ours() {
        let Some((_, allowed)) = MAY_USE.iter().find(|(name, _)| *name == package.name) else {
            offences.push(format!("{} has no row in MAY_USE", package.name));
            continue;
        };
        for used in WORKSPACE.direct(package) {
            if used.is_ours && !allowed.contains(&used.name.as_str()) {
                offences.push(format!("{} uses {}", package.name, used.name));
            }
        }
    }
    assert_none("crates use others that they may not", &offences);
}

#[test]
fn every_row_is_a_crate() {
    let ours = WORKSPACE.ours();
    for (name, _) in MAY_USE {
        assert!(ours.iter().any(|package| package.name == name), "{name}");
    }
}

#[test]
fn what_flies_needs_neither_opencv_nor_clang() {
    let mut offences = Vec::new();
    for name in WITHOUT_SYSTEM_LIBRARIES {
        for used in WORKSPACE.closure(&[name], &ALL_KINDS) {
            if ["opencv", "clang"]
                .iter()
                .any(|word| used.name.starts_with(word))
            {
                offences.push(format!("{name} needs {}", used.name));
            }
        }
    }
    assert_none("system libraries where only libc is", &offences);
}

#[test]
fn opencv_is_the_ground_station_s_alone() {
    let mut users = WORKSPACE.ours();
    users.retain(|package| {
        let direct = WORKSPACE.direct(package);
        direct.iter().any(|used| used.name == "opencv")
    });
    let users: Vec<_> = users.iter().map(|package| package.name.as_str()).collect();
    assert_eq!(users, ["groundstation"]);
}
