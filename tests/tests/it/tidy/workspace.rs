//! What `cargo metadata` says of the workspace and everything it depends on.

use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::process::Command;
use std::sync::LazyLock;

/// What binaries are made for. Naming them keeps crates of other systems, which may not be
/// downloaded, out of the answer, and makes it the same on both.
const PLATFORMS: [&str; 2] = ["x86_64-unknown-linux-gnu", "aarch64-unknown-linux-gnu"];

/// How one package depends on another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Normal,
    Build,
    Dev,
}

pub(super) const ALL_KINDS: [Kind; 3] = [Kind::Normal, Kind::Build, Kind::Dev];

/// A package, ours or another's.
pub(super) struct Package {
    pub(super) name: String,
    pub(super) version: String,
    pub(super) licence: Option<String>,
    pub(super) repository: Option<String>,
    /// A crate of this workspace.
    pub(super) is_ours: bool,
    /// The manifest's fields as Cargo resolved them.
    pub(super) manifest: Value,
    depends_on: Vec<(String, Vec<Kind>)>,
}

/// The packages by their id.
pub(super) struct Workspace(BTreeMap<String, Package>);

pub(super) static WORKSPACE: LazyLock<Workspace> = LazyLock::new(Workspace::read);

impl Workspace {
    fn read() -> Self {
        let mut command = Command::new(env!("CARGO"));
        command
            .args(["metadata", "--offline", "--locked", "--format-version", "1"])
            .current_dir(super::root());
        for platform in PLATFORMS {
            command.args(["--filter-platform", platform]);
        }
        let output = command.output().expect("Cargo runs this test");
        assert!(
            output.status.success(),
            "cargo metadata (`cargo fetch` helps when a download is missing): {}",
            String::from_utf8_lossy(&output.stderr)
        );
        let metadata: Value = serde_json::from_slice(&output.stdout).expect("Cargo prints JSON");
        let depends_on: BTreeMap<&str, Vec<(String, Vec<Kind>)>> =
            list(&metadata["resolve"]["nodes"])
                .map(|node| {
                    (
                        text(&node["id"]),
                        list(&node["deps"]).map(dependency).collect(),
                    )
                })
                .collect();
        let members: BTreeSet<&str> = list(&metadata["workspace_members"]).map(text).collect();
        let package = |manifest: &Value| {
            let id = text(&manifest["id"]);
            let package = Package {
                name: text(&manifest["name"]).to_owned(),
                version: text(&manifest["version"]).to_owned(),
                licence: manifest["license"].as_str().map(str::to_owned),
                repository: manifest["repository"].as_str().map(str::to_owned),
                is_ours: members.contains(id),
                manifest: manifest.clone(),
                depends_on: depends_on[id].clone(),
            };
            (id.to_owned(), package)
        };
        Self(list(&metadata["packages"]).map(package).collect())
    }

    /// All packages, sorted by name and version.
    pub(super) fn packages(&self) -> Vec<&Package> {
        sorted(self.0.values())
    }

    pub(super) fn ours(&self) -> Vec<&Package> {
        sorted(self.0.values().filter(|package| package.is_ours))
    }

    /// What a package depends on itself.
    pub(super) fn direct(&self, package: &Package) -> Vec<&Package> {
        sorted(package.depends_on.iter().map(|(id, _)| &self.0[id]))
    }

    /// What crates of ours depend on, directly and through others, over edges of these kinds (dev
    /// edges of the crates themselves only); the crates included.
    pub(super) fn closure(&self, names: &[&str], kinds: &[Kind]) -> Vec<&Package> {
        let mut reached = BTreeSet::new();
        let mut waiting: Vec<&str> = self
            .0
            .iter()
            .filter(|(_, package)| package.is_ours && names.contains(&package.name.as_str()))
            .map(|(id, _)| id.as_str())
            .collect();
        assert_eq!(waiting.len(), names.len(), "{names:?} are crates of ours");
        while let Some(id) = waiting.pop() {
            if reached.insert(id) {
                let wanted = self.0[id].depends_on.iter();
                waiting.extend(
                    wanted
                        .filter(|(_, edge)| edge.iter().any(|kind| kinds.contains(kind)))
                        .map(|(id, _)| id.as_str()),
                );
            }
        }
        sorted(reached.iter().map(|id| &self.0[*id]))
    }
}

fn sorted<'a>(packages: impl Iterator<Item = &'a Package>) -> Vec<&'a Package> {
    let mut packages: Vec<_> = packages.collect();
    packages.sort_by(|a, b| (&a.name, &a.version).cmp(&(&b.name, &b.version)));
    packages
}

fn dependency(edge: &Value) -> (String, Vec<Kind>) {
    let kinds = list(&edge["dep_kinds"]).map(|kind| match kind["kind"].as_str() {
        None => Kind::Normal,
        Some("build") => Kind::Build,
        Some("dev") => Kind::Dev,
        Some(other) => panic!("Cargo has a new kind of dependency: {other}"),
    });
    (text(&edge["pkg"]).to_owned(), kinds.collect())
}

pub(super) fn list(value: &Value) -> impl Iterator<Item = &Value> {
    value.as_array().expect("cargo metadata's format 1").iter()
}

pub(super) fn text(value: &Value) -> &str {
    value.as_str().expect("cargo metadata's format 1")
}
