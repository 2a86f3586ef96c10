//! Manifests, the declaration and `bag-info.txt`: the text files of BagIt (RFC 8493, sections 2.1
//! and 2.2).

use crate::error::BundleError;
use std::collections::BTreeMap;

/// A digest algorithm that proves a file unchanged, weakest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Algorithm {
    /// SHA-256, which our own bundles use.
    Sha256,
    /// SHA-512.
    Sha512,
}

impl Algorithm {
    pub(super) fn by_name(name: &str) -> Option<Self> {
        match name.to_ascii_lowercase().as_str() {
            "sha256" => Some(Algorithm::Sha256),
            "sha512" => Some(Algorithm::Sha512),
            _ => None,
        }
    }

    fn hex_digits(self) -> usize {
        match self {
            Algorithm::Sha256 => 64,
            Algorithm::Sha512 => 128,
        }
    }
}

/// What matters of the version in `bagit.txt`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum BagVersion {
    /// 0.97, which Python's `bagit` writes: only line breaks are percent-encoded in paths.
    Draft,
    /// 1.0: percent signs are encoded, too.
    One,
}

impl BagVersion {
    pub(super) fn from_declaration(text: &str) -> Result<Self, BundleError> {
        let wrong = |expected, found: &str| BundleError::Declaration {
            expected,
            found: found.chars().take(60).collect(),
        };
        let mut lines = text.lines();
        let first = lines.next().unwrap_or_default();
        let version = match first.trim_end() {
            "BagIt-Version: 1.0" => BagVersion::One,
            "BagIt-Version: 0.97" => BagVersion::Draft,
            _ => return Err(wrong("\"BagIt-Version: 1.0\" (or 0.97)", first)),
        };
        let second = lines.next().unwrap_or_default();
        let (label, value) = second.split_once(':').unwrap_or_default();
        if label != "Tag-File-Character-Encoding" || !value.trim().eq_ignore_ascii_case("utf-8") {
            return Err(wrong("\"Tag-File-Character-Encoding: UTF-8\"", second));
        }
        Ok(version)
    }

    /// The path that a manifest's text stands for.
    fn decoded(self, text: &str) -> String {
        let mut decoded = String::with_capacity(text.len());
        let mut rest = text;
        while let Some(at) = rest.find('%') {
            decoded.push_str(&rest[..at]);
            let code = rest.get(at + 1..at + 3).map(str::to_ascii_uppercase);
            let character = match code.as_deref() {
                Some("0D") => Some('\r'),
                Some("0A") => Some('\n'),
                Some("25") if self == BagVersion::One => Some('%'),
                _ => None,
            };
            // Other percent signs stand for themselves: writers of bags often leave them alone.
            let (character, n_bytes) = character.map_or(('%', 1), |character| (character, 3));
            decoded.push(character);
            rest = &rest[at + n_bytes..];
        }
        decoded.push_str(rest);
        decoded
    }
}

/// One manifest: digests in lower-case hex by path.
#[derive(Debug)]
pub(super) struct Manifest {
    pub(super) name: String,
    pub(super) algorithm: Algorithm,
    pub(super) digests: BTreeMap<String, String>,
}

impl Manifest {
    pub(super) fn parse(
        name: &str,
        algorithm: Algorithm,
        text: &str,
        version: BagVersion,
    ) -> Result<Self, BundleError> {
        let is_payload = name.starts_with("manifest-");
        let mut digests = BTreeMap::new();
        // Only line feeds end a line (with a carriage return before it, perhaps): a path may hold
        // other characters that look like line ends.
        for (line_idx, line) in text.split('\n').enumerate() {
            let line = line.strip_suffix('\r').unwrap_or(line);
            if line.is_empty() {
                continue;
            }
            let wrong = |problem: String| BundleError::ManifestLine {
                manifest: name.to_owned(),
                line: line_idx + 1,
                problem,
            };
            let (digest, path) = line
                .split_once([' ', '\t'])
                .ok_or_else(|| wrong("no blank between digest and path".to_owned()))?;
            if digest.len() != algorithm.hex_digits()
                || !digest.bytes().all(|byte| byte.is_ascii_hexdigit())
            {
                return Err(wrong(format!(
                    "{:?} is not a digest of {} hex digits",
                    digest.chars().take(80).collect::<String>(),
                    algorithm.hex_digits()
                )));
            }
            // Two blanks are usual; md5sum marks binary files with a star.
            let path = path.trim_start_matches([' ', '\t']);
            let path = path.strip_prefix('*').unwrap_or(path);
            let path = version.decoded(path);
            check_path(&path, is_payload).map_err(|problem| BundleError::UnsafePath {
                place: format!("{name} line {}", line_idx + 1),
                found: path.clone(),
                problem,
            })?;
            let digest = digest.to_ascii_lowercase();
            if let Some(other) = digests.insert(path.clone(), digest.clone())
                && other != digest
            {
                return Err(wrong(format!("{path:?} is listed twice, with two digests")));
            }
        }
        Ok(Self {
            name: name.to_owned(),
            algorithm,
            digests,
        })
    }
}

/// Refuses every path that is not plainly a file below the bag.
fn check_path(path: &str, is_payload: bool) -> Result<(), &'static str> {
    if path.is_empty() {
        return Err("is empty");
    }
    if path.starts_with(['/', '\\', '~']) || path.as_bytes().get(1) == Some(&b':') {
        return Err("is absolute");
    }
    if path.contains(['\0', '\\']) {
        return Err("contains a backslash or a NUL");
    }
    for part in path.split('/') {
        match part {
            ".." => return Err("leaves the bag"),
            "" | "." => return Err("has an empty part"),
            _ => {}
        }
    }
    let is_below_data = path.starts_with("data/");
    if is_payload && !is_below_data {
        return Err("is not below data/");
    }
    if !is_payload && is_below_data {
        return Err("is a payload file in a tag manifest");
    }
    Ok(())
}

/// The labels of `bag-info.txt`; a line that starts with a blank continues the one before.
pub(super) fn bag_info(text: &str) -> BTreeMap<String, String> {
    let mut info: BTreeMap<String, String> = BTreeMap::new();
    let mut last = None;
    for line in text.lines() {
        if line.starts_with([' ', '\t']) {
            if let Some(value) = last.as_ref().and_then(|label| info.get_mut(label)) {
                value.push(' ');
                value.push_str(line.trim());
            }
        } else if let Some((label, value)) = line.split_once(':') {
            let label = label.trim().to_owned();
            info.entry(label.clone())
                .and_modify(|before| {
                    before.push('\n');
                    before.push_str(value.trim());
                })
                .or_insert_with(|| value.trim().to_owned());
            last = Some(label);
        }
    }
    info
}

#[cfg(test)]
mod tests {
    use super::*;

    const DIGEST: &str = "ca978112ca1bbdcafac231b39a23dc4da786eff8147c4e72b9807785afee48bb";

    fn paths(text: &str, version: BagVersion) -> Result<Vec<String>, BundleError> {
        let name = "manifest-sha256.txt";
        Manifest::parse(name, Algorithm::Sha256, text, version)
            .map(|manifest| manifest.digests.into_keys().collect())
    }

    #[test]
    fn percent_signs_are_decoded_by_version() {
        let text = format!("{DIGEST}  data/a%25b%0Dc%0ad%20e%\n");
        assert_eq!(
            paths(&text, BagVersion::One).unwrap(),
            ["data/a%b\rc\nd%20e%"]
        );
        assert_eq!(
            paths(&text, BagVersion::Draft).unwrap(),
            ["data/a%25b\rc\nd%20e%"]
        );
    }

    #[test]
    fn lines_as_other_tools_write_them() {
        let upper = DIGEST.to_ascii_uppercase();
        let text = format!("{upper} data/one blank\r\n{DIGEST}\tdata/tab\n\n{DIGEST} *data/star");
        assert_eq!(
            paths(&text, BagVersion::One).unwrap(),
            ["data/one blank", "data/star", "data/tab"]
        );
    }

    #[test]
    fn unsafe_paths_and_broken_lines_are_refused() {
        for path in [
            "../x",
            "data/../../x",
            "data/..",
            "/etc/passwd",
            "data//x",
            "data/./x",
            "./data/x",
            "C:/x",
            "~/x",
            "data\\..\\x",
            "data/x\0y",
            "data/",
            "bagit.txt",
            "data/%0A/../../x",
        ] {
            let error = paths(&format!("{DIGEST}  {path}\n"), BagVersion::One).unwrap_err();
            assert!(
                matches!(error, BundleError::UnsafePath { .. }),
                "{path}: {error}"
            );
        }
        for line in [
            "abc  data/x",
            DIGEST,
            &format!("{}  data/x", &DIGEST[..63]),
            "x",
        ] {
            let error = paths(line, BagVersion::One).unwrap_err();
            assert!(
                matches!(error, BundleError::ManifestLine { line: 1, .. }),
                "{error}"
            );
        }
        let other = DIGEST.replace('c', "d");
        let twice = format!("{DIGEST}  data/x\n{other}  data/x\n");
        let error = paths(&twice, BagVersion::One).unwrap_err();
        assert!(
            matches!(error, BundleError::ManifestLine { line: 2, .. }),
            "{error}"
        );
    }

    #[test]
    fn declarations_and_info() {
        let version = BagVersion::from_declaration;
        let encoding = "Tag-File-Character-Encoding: UTF-8\n";
        assert_eq!(
            version(&format!("BagIt-Version: 1.0\n{encoding}")).unwrap(),
            BagVersion::One
        );
        assert!(version(&format!("BagIt-Version: 0.97\r\n{encoding}")).is_ok());
        assert!(version(&format!("BagIt-Version: 2.0\n{encoding}")).is_err());
        assert!(version("BagIt-Version: 1.0\nTag-File-Character-Encoding: UTF-16\n").is_err());
        assert!(version("").is_err());
        let info = bag_info("A: one\n  more\nB: x\nB: y\nno label\n");
        assert_eq!(info["A"], "one more");
        assert_eq!(info["B"], "x\ny");
    }
}
