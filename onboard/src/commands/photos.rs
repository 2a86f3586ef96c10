//! Which photos are meant, and what each is called in the results.

use console::InputError;
use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::{Path, PathBuf};

/// Endings of files that are taken from folders; a file named itself is taken whatever its ending.
const ENDINGS: [&str; 3] = ["jpg", "jpeg", "png"];

/// One photo to search.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct PhotoFile {
    /// Where it lies.
    pub(super) path: PathBuf,
    /// Its name in the results, with `/` between folders: relative to the folder named, else the
    /// file's own name.
    pub(super) name: String,
    /// What files made from it are called, without ending: the name without its ending where that
    /// is unique.
    pub(super) stem: String,
}

/// The photos that the arguments name, sorted by name within each folder, none twice.
///
/// # Errors
/// [`InputError`] when a path does not exist, two photos have one name, or there is none.
pub(super) fn collect(paths: &[PathBuf]) -> anyhow::Result<Vec<PhotoFile>> {
    let mut found: Vec<(PathBuf, String)> = Vec::new();
    for path in paths {
        if path.is_dir() {
            for file in files_below(path)? {
                let name = name_below(path, &file);
                found.push((file, name));
            }
        } else if path.exists() {
            let name = path.file_name().unwrap_or(path.as_os_str());
            found.push((path.clone(), name.to_string_lossy().into_owned()));
        } else {
            return Err(InputError(format!("{} does not exist", path.display())).into());
        }
    }
    let mut seen = BTreeSet::new();
    found.retain(|(path, _)| seen.insert(path.canonicalize().unwrap_or_else(|_| path.clone())));
    if found.is_empty() {
        let wanted = "no photos there (.jpg, .jpeg or .png)";
        let named: Vec<String> = paths.iter().map(|p| p.display().to_string()).collect();
        return Err(InputError(format!("{}: {wanted}", named.join(", "))).into());
    }
    named(found)
}

fn named(found: Vec<(PathBuf, String)>) -> anyhow::Result<Vec<PhotoFile>> {
    let mut paths_by_name: BTreeMap<&str, &Path> = BTreeMap::new();
    let mut n_by_stem: BTreeMap<String, usize> = BTreeMap::new();
    for (path, name) in &found {
        if let Some(other) = paths_by_name.insert(name, path) {
            return Err(InputError(format!(
                "{} and {} would both be called {name}; name the folder above them instead",
                other.display(),
                path.display()
            ))
            .into());
        }
        *n_by_stem.entry(without_ending(name)).or_default() += 1;
    }
    Ok(found
        .iter()
        .map(|(path, name)| {
            let stem = without_ending(name);
            PhotoFile {
                path: path.clone(),
                name: name.clone(),
                stem: if n_by_stem[&stem] == 1 {
                    stem
                } else {
                    name.clone()
                },
            }
        })
        .collect())
}

fn without_ending(name: &str) -> String {
    let from = name.rfind('/').map_or(0, |slash| slash + 1);
    match name[from..].rfind('.') {
        Some(dot) if dot > 0 => name[..from + dot].to_owned(),
        _ => name.to_owned(),
    }
}

fn name_below(folder: &Path, file: &Path) -> String {
    let parts = file.strip_prefix(folder).unwrap_or(file).components();
    let parts: Vec<_> = parts
        .map(|part| part.as_os_str().to_string_lossy())
        .collect();
    parts.join("/")
}

fn files_below(folder: &Path) -> anyhow::Result<Vec<PathBuf>> {
    let entries: io::Result<Vec<PathBuf>> = std::fs::read_dir(folder)
        .and_then(|entries| entries.map(|entry| Ok(entry?.path())).collect());
    let mut entries =
        entries.map_err(|error| InputError(format!("{}: {error}", folder.display())))?;
    entries.sort();
    let mut files = Vec::new();
    for entry in entries {
        if entry.is_dir() && !entry.is_symlink() {
            files.extend(files_below(&entry)?);
        } else if entry.is_file() && has_photo_ending(&entry) {
            files.push(entry);
        }
    }
    Ok(files)
}

fn has_photo_ending(path: &Path) -> bool {
    let ending = path.extension().unwrap_or_default().to_string_lossy();
    ENDINGS.contains(&ending.to_lowercase().as_str())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stems_lose_their_ending_unless_that_makes_two_the_same() {
        let file = |name: &str| (PathBuf::from(name), name.to_owned());
        let found = named(vec![
            file("a/x.JPG"),
            file("b/x.jpg"),
            file("b/x.png"),
            file("c.d/y"),
            file(".jpg"),
        ]);
        let stems: Vec<String> = found.unwrap().into_iter().map(|p| p.stem).collect();
        assert_eq!(stems, ["a/x", "b/x.jpg", "b/x.png", "c.d/y", ".jpg"]);
    }
}
