//! Which room of the ground station may use which, and that OpenCV stays in its module.

use super::rust_source::{code_of, words_of};
use super::{assert_none, read, tracked_rust_files};
use std::collections::BTreeSet;

const SOURCES: &str = "groundstation/src/";

/// Every top-level module, and the others it may use: a room the rooms before it, what is shared no
/// room. Data flows one way.
const MAY_USE: [(&str, &[&str]); 17] = [
    ("statistics", &[]),
    ("schema", &[]),
    ("seeded", &[]),
    ("opencv", &[]),
    ("assignment", &["seeded"]),
    ("merges", &["seeded", "statistics"]),
    ("scene", &["schema"]),
    ("ground", &["schema", "seeded", "statistics"]),
    (
        "ingest",
        &["opencv", "scene", "schema", "seeded", "statistics"],
    ),
    (
        "pose",
        &[
            "ground",
            "ingest",
            "opencv",
            "scene",
            "schema",
            "seeded",
            "statistics",
        ],
    ),
    (
        "detect",
        &[
            "ground",
            "ingest",
            "opencv",
            "pose",
            "scene",
            "schema",
            "seeded",
            "statistics",
        ],
    ),
    (
        "anchor",
        &[
            "detect",
            "ground",
            "ingest",
            "pose",
            "scene",
            "schema",
            "seeded",
            "statistics",
        ],
    ),
    (
        "entity",
        &[
            "anchor",
            "assignment",
            "detect",
            "ground",
            "ingest",
            "merges",
            "pose",
            "scene",
            "schema",
            "seeded",
            "statistics",
        ],
    ),
    (
        "report",
        &[
            "anchor",
            "detect",
            "entity",
            "ground",
            "ingest",
            "opencv",
            "pose",
            "scene",
            "schema",
            "seeded",
            "statistics",
        ],
    ),
    (
        "evaluate",
        &[
            "anchor",
            "assignment",
            "detect",
            "entity",
            "ingest",
            "pose",
            "statistics",
        ],
    ),
    ("review", &["entity", "scene", "schema"]),
    (
        "status",
        &["anchor", "detect", "entity", "ingest", "pose", "scene"],
    ),
];

/// The edge, which may use everything and which nothing may use.
const EDGE: &str = "commands";

/// The modules between the crate's root and a file, itself included; empty for lib.rs and main.rs.
fn module_of(path: &str) -> Vec<&str> {
    let inside = path.strip_prefix(SOURCES).expect("a file of the crate");
    let mut module: Vec<&str> = inside.trim_end_matches(".rs").split('/').collect();
    if ["lib", "main", "mod"].contains(module.last().expect("a file has a name")) {
        module.pop();
    }
    module
}

/// What a file names right after `crate::`, and after as many `super::` as lead to the root. A
/// `super` in a module inside the file counts for one more than it is; names that are no modules of
/// the root do not matter to the caller.
fn names_at_root<'a>(words: &[&'a str], module: &[&str]) -> BTreeSet<&'a str> {
    let mut names = BTreeSet::new();
    for (i, word) in words.iter().enumerate() {
        let before = i.checked_sub(1).map_or("", |before| words[before]);
        if ["::", "$"].contains(&before) {
            continue;
        }
        let n_up = match *word {
            "crate" => 1,
            "super" => module.len(),
            _ => continue,
        };
        let mut at = i;
        let mut n_found = 0;
        while words.get(at) == Some(word) && words.get(at + 1) == Some(&"::") {
            at += 2;
            n_found += 1;
        }
        if n_found == n_up && n_up > 0 {
            names.extend(first_names(&words[at..]));
        }
    }
    names
}

/// The name that begins a path, or those that begin each path of a list in braces.
fn first_names<'a>(words: &[&'a str]) -> Vec<&'a str> {
    if words.first() != Some(&"{") {
        return words.first().copied().into_iter().collect();
    }
    let mut names = Vec::new();
    let mut depth = 0;
    for pair in words.windows(2) {
        match pair[0] {
            "{" => depth += 1,
            "}" => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            break;
        }
        if depth == 1 && ["{", ","].contains(&pair[0]) && pair[1] != "}" {
            names.push(pair[1]);
        }
    }
    names
}

#[test]
fn rooms_use_only_those_before_them() {
    let mut offences = Vec::new();
    for path in tracked_rust_files().filter(|path| path.starts_with(SOURCES)) {
        let module = module_of(&path);
        let Some(room) = module.first().filter(|room| **room != EDGE) else {
            continue;
        };
        let Some((_, allowed)) = MAY_USE.iter().find(|(name, _)| name == room) else {
            offences.push(format!("{path}: {room} has no row in MAY_USE"));
            continue;
        };
        let code = code_of(&read(&path));
        for name in names_at_root(&words_of(&code), &module) {
            let is_module = name == EDGE || MAY_USE.iter().any(|(other, _)| *other == name);
            if is_module && name != *room && !allowed.contains(&name) {
                offences.push(format!("{path}: {room} uses {name}"));
            }
        }
    }
    assert_none("rooms use others that they may not", &offences);
}

#[test]
fn opencv_is_called_in_its_module_only() {
    let mut offences = Vec::new();
    for path in tracked_rust_files().filter(|path| path.starts_with("groundstation/")) {
        if path.starts_with("groundstation/src/opencv") {
            continue;
        }
        let code = code_of(&read(&path));
        if calls_the_opencv_crate(&words_of(&code)) {
            offences.push(path);
        }
    }
    assert_none(
        "calls of OpenCV outside groundstation/src/opencv.rs",
        &offences,
    );
}

/// Whether a path begins with the crate `opencv` and not with our module of that name.
fn calls_the_opencv_crate(words: &[&str]) -> bool {
    let imports_ours = words.windows(5).any(|part| {
        part[..3] == ["crate", "::", "opencv"]
            && (part[3] == ";" || (part[3] == "::" && part[4] == "{"))
    });
    (0..words.len()).any(|i| {
        let before = |n: usize| i.checked_sub(n).map_or("", |at| words[at]);
        let begins = words[i] == "opencv" && words.get(i + 1) == Some(&"::");
        begins
            && match (before(2), before(1)) {
                ("crate" | "super" | "groundstation", "::") => false,
                (_, "::") => true,
                (_, "use") => true,
                _ => !imports_ours,
            }
    })
}

#[test]
fn paths_to_the_root_are_found() {
    let check = |source: &str, module: &[&str], expected: &[&str]| {
        let found = names_at_root(&words_of(source), module);
        assert_eq!(found.into_iter().collect::<Vec<_>>(), expected, "{source}");
    };
    check("use crate::pose::Posed;", &["anchor"], &["pose"]);
    check("use crate::{a::{b, c}, d};", &["anchor"], &["a", "d"]);
    check("crate::a::f(); $crate::b::f()", &["anchor"], &["a"]);
    check("use super::a::B;", &["anchor"], &["a"]);
    check("use super::a::B;", &["anchor", "inner"], &[]);
    check(
        "use super::super::{a, b};",
        &["anchor", "inner"],
        &["a", "b"],
    );
    check("self::super::a", &["anchor"], &[]);
}

#[test]
fn calls_of_opencv_are_told_from_our_module_s() {
    for (source, expected) in [
        ("use opencv::core::Mat;", true),
        ("::opencv::core::Mat", true),
        ("opencv::core::norm(a)", true),
        ("crate::opencv::read(a)", false),
        ("use crate::opencv; opencv::read(a)", false),
        ("use crate::opencv::{self, Picture}; opencv::read(a)", false),
        ("let opencv = 1;", false),
    ] {
        assert_eq!(
            calls_the_opencv_crate(&words_of(source)),
            expected,
            "{source}"
        );
    }
}
