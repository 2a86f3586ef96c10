//! `groundstation pose` with the fake solver.

mod engines;
mod interruption;
mod models;
mod positions;
mod registration;
mod settings;
mod shift;

use tests::workbench::Poses;

/// The poses are approximate and say why.
#[track_caller]
fn assert_from_priors(poses: &Poses, because: &str) {
    let made_by = &poses.json["made_by"];
    assert_eq!(made_by["kind"], "priors", "{made_by}");
    let said = made_by["because"].as_str().expect("a reason");
    assert!(said.contains(because), "because {said}");
    assert_eq!(poses.json["verdict"]["level"], "bad");
    let summary = poses.json["verdict"]["summary"]
        .as_str()
        .expect("a sentence");
    assert!(summary.contains("approximate"), "{summary}");
}
