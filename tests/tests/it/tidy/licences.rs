//! Licences of everything the workspace depends on, tests and build scripts included.

use super::assert_none;
use super::workspace::WORKSPACE;

const ALLOWED: [&str; 10] = [
    "Apache-2.0",
    "BSD-2-Clause",
    "BSD-3-Clause",
    "BSL-1.0",
    "CC0-1.0",
    "CDLA-Permissive-2.0",
    "ISC",
    "MIT",
    "Unicode-3.0",
    "Zlib",
];

/// A crate whose licence is not on the list, or not in its manifest, and why it may be used.
struct Exception {
    name: &'static str,
    reason: &'static str,
}

const EXCEPTIONS: [Exception; 0] = [];

/// Whether an SPDX expression can be met with allowed licences only: one side of every OR, both
/// sides of every AND. An old-style slash is an OR. A licence WITH an exception is another licence.
fn is_allowed(expression: &str) -> Result<bool, String> {
    let spaced = expression
        .replace('/', " OR ")
        .replace('(', " ( ")
        .replace(')', " ) ");
    let words: Vec<&str> = spaced.split_whitespace().collect();
    let mut rest = words.as_slice();
    let allowed = any_of(&mut rest)?;
    match rest.first() {
        None => Ok(allowed),
        Some(word) => Err(format!("{word} is out of place in {expression}")),
    }
}

fn any_of(rest: &mut &[&str]) -> Result<bool, String> {
    let mut allowed = all_of(rest)?;
    while take(rest, "OR") {
        allowed |= all_of(rest)?;
    }
    Ok(allowed)
}

fn all_of(rest: &mut &[&str]) -> Result<bool, String> {
    let mut allowed = licence(rest)?;
    while take(rest, "AND") {
        allowed &= licence(rest)?;
    }
    Ok(allowed)
}

fn licence(rest: &mut &[&str]) -> Result<bool, String> {
    if take(rest, "(") {
        let allowed = any_of(rest)?;
        return if take(rest, ")") {
            Ok(allowed)
        } else {
            Err("a bracket stays open".to_owned())
        };
    }
    let word = match rest.split_first() {
        Some((word, after)) if !["OR", "AND", "WITH", ")"].contains(word) => {
            *rest = after;
            *word
        }
        found => {
            return Err(format!(
                "expected a licence, found {:?}",
                found.map(|f| f.0)
            ));
        }
    };
    if take(rest, "WITH") {
        licence(rest)?;
        return Ok(false);
    }
    Ok(ALLOWED.contains(&word))
}

fn take(rest: &mut &[&str], word: &str) -> bool {
    match rest.split_first() {
        Some((first, after)) if *first == word => {
            *rest = after;
            true
        }
        _ => false,
    }
}

#[test]
fn expressions_are_read_as_spdx_says() {
    for (expression, expected) in [
        ("MIT", Some(true)),
        ("GPL-3.0-only", Some(false)),
        ("GPL-3.0-only OR MIT", Some(true)),
        ("MIT/Apache-2.0", Some(true)),
        ("MIT AND GPL-3.0-only", Some(false)),
        ("MIT OR GPL-3.0-only AND ISC", Some(true)),
        ("(MIT OR GPL-3.0-only) AND ISC", Some(true)),
        ("(MIT OR ISC) AND GPL-3.0-only", Some(false)),
        ("GPL-2.0-only WITH Classpath-exception-2.0", Some(false)),
        ("Apache-2.0 WITH LLVM-exception OR MIT", Some(true)),
        ("", None),
        ("MIT OR", None),
        ("(MIT", None),
        ("MIT)", None),
        ("MIT Apache-2.0", None),
    ] {
        assert_eq!(is_allowed(expression).ok(), expected, "{expression}");
    }
}

#[test]
fn dependencies_have_allowed_licences() {
    let mut offences = Vec::new();
    for package in WORKSPACE.packages() {
        let allowed = match &package.licence {
            Some(expression) => is_allowed(expression),
            None => Err("no licence in its manifest".to_owned()),
        };
        let is_exception = EXCEPTIONS
            .iter()
            .any(|exception| exception.name == package.name);
        let licence = package.licence.as_deref().unwrap_or_default();
        match allowed {
            Ok(true) if is_exception => {
                offences.push(format!("{} needs no exception", package.name));
            }
            Ok(true) => {}
            _ if is_exception => {}
            Ok(false) => offences.push(format!("{}: {licence}", package.name)),
            Err(error) => offences.push(format!("{}: {licence}: {error}", package.name)),
        }
    }
    assert_none("licences that are not allowed", &offences);
}

#[test]
fn exceptions_have_a_reason_and_a_crate() {
    let packages = WORKSPACE.packages();
    for exception in EXCEPTIONS {
        assert!(!exception.reason.is_empty(), "{}", exception.name);
        let in_use = packages
            .iter()
            .any(|package| package.name == exception.name);
        assert!(in_use, "{} is gone", exception.name);
    }
}
