//! What every crate's manifest says, and the profiles.

use super::workspace::{WORKSPACE, list, text};
use super::{assert_none, read, root};
use std::path::Path;
use toml::Value;

const EDITION: &str = "2024";
const RUST_VERSION: &str = "1.95";
const LICENCE: &str = "Apache-2.0 OR MIT";

/// Inner loops of dependencies that the default profile must optimise fully: a name, or the
/// beginning of names.
const HEAVY: [&str; 4] = ["image", "rten", "sha2", "zune-"];

fn toml_of(path: &Path) -> Value {
    let text = std::fs::read_to_string(path).expect("Cargo has just read it");
    toml::from_str(&text).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

#[test]
fn every_crate_takes_the_workspace_s_settings() {
    let mut offences = Vec::new();
    for package in WORKSPACE.ours() {
        let manifest = &package.manifest;
        let name = &package.name;
        for (key, wanted) in [
            ("edition", EDITION),
            ("rust_version", RUST_VERSION),
            ("license", LICENCE),
        ] {
            if manifest[key] != wanted {
                offences.push(format!("{name}: {key} is {}", manifest[key]));
            }
        }
        let written = toml_of(Path::new(text(&manifest["manifest_path"])));
        let inherits = |table: &Value| table.get("workspace") == Some(&Value::Boolean(true));
        if !written.get("lints").is_some_and(inherits) {
            offences.push(format!("{name}: [lints] workspace = true is missing"));
        }
        if text(&manifest["description"]).is_empty() {
            offences.push(format!("{name}: no description"));
        }
    }
    assert_none("manifests that go their own way", &offences);
}

#[test]
fn one_test_binary_per_crate() {
    let mut offences = Vec::new();
    for package in WORKSPACE.ours() {
        let targets = list(&package.manifest["targets"]);
        for target in targets.filter(|target| target["kind"][0] == "test") {
            if target["name"] != "it" {
                offences.push(format!("{}: {}", package.name, target["name"]));
            }
        }
    }
    assert_none("test binaries other than tests/it", &offences);
}

#[test]
fn the_toolchain_is_the_user_s() {
    for name in ["rust-toolchain", "rust-toolchain.toml"] {
        assert!(!root().join(name).exists(), "{name}");
    }
}

#[test]
fn the_default_profile_runs_real_scenes() {
    let manifest: Value = toml::from_str(&read("Cargo.toml")).unwrap();
    let dev = &manifest["profile"]["dev"];
    assert_eq!(dev["opt-level"].as_integer(), Some(2));
    assert_eq!(dev["debug"].as_str(), Some("line-tables-only"));
    let mut offences = Vec::new();
    for package in WORKSPACE.packages() {
        let name = package.name.as_str();
        let is_heavy = HEAVY
            .iter()
            .any(|heavy| name == *heavy || (name.starts_with(heavy) && *heavy != "image"));
        let level = dev["package"].get(name).map(|own| &own["opt-level"]);
        if is_heavy && level != Some(&Value::Integer(3)) {
            offences.push(format!("{name}: {level:?}"));
        }
    }
    assert_none("heavy dependencies without opt-level 3", &offences);
}
