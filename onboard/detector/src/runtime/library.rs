//! Where ONNX Runtime's library is looked for.

use std::path::{Path, PathBuf};

/// Environment variable that names the library file or its folder; looked at after the option and
/// before everything else.
pub const LIBRARY_VARIABLE: &str = "OVERLOOK_ONNXRUNTIME";

/// Folder that `make setup` fills, looked for in every parent of the running program.
const SETUP_FOLDER: &str = ".setup/onnxruntime";

const FILE_PREFIX: &str = "libonnxruntime.so";

/// Library files to try, in order. A named file or folder (by option or variable) ends the list:
/// who names one wants that one.
pub(super) fn candidates(option: Option<&Path>) -> Vec<PathBuf> {
    let variable = std::env::var_os(LIBRARY_VARIABLE).filter(|value| !value.is_empty());
    if let Some(named) = option
        .map(Path::to_path_buf)
        .or(variable.map(PathBuf::from))
    {
        let inside = libraries_in(&named);
        return if inside.is_empty() {
            vec![named]
        } else {
            inside
        };
    }
    let mut found = Vec::new();
    if let Ok(program) = std::env::current_exe() {
        for (depth, folder) in program.ancestors().skip(1).enumerate() {
            if depth == 0 {
                found.extend(libraries_in(folder));
            }
            found.extend(libraries_in(&folder.join(SETUP_FOLDER)));
        }
    }
    // A bare name goes through the system's own search (ld.so.cache, LD_LIBRARY_PATH).
    found.push(PathBuf::from(FILE_PREFIX));
    found.push(PathBuf::from("libonnxruntime.so.1"));
    found
}

/// `libonnxruntime.so*` in a folder, the plain name first, then the newest version.
fn libraries_in(folder: &Path) -> Vec<PathBuf> {
    let Ok(entries) = std::fs::read_dir(folder) else {
        return Vec::new();
    };
    let mut found: Vec<(Vec<u64>, PathBuf)> = entries
        .flatten()
        .filter_map(|entry| {
            let name = entry.file_name().into_string().ok()?;
            let version = name.strip_prefix(FILE_PREFIX)?;
            let parts = version
                .split('.')
                .filter(|part| !part.is_empty())
                .map(str::parse::<u64>)
                .collect::<Result<Vec<_>, _>>()
                .ok()?;
            Some((parts, entry.path()))
        })
        .collect();
    found.sort_by(|(a, _), (b, _)| (!a.is_empty(), b).cmp(&(!b.is_empty(), a)));
    found.into_iter().map(|(_, path)| path).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plain_name_first_then_the_newest() {
        let folder = tempfile::tempdir().unwrap();
        for name in [
            "libonnxruntime.so.1.9.0",
            "libonnxruntime.so.1.32.0",
            "libonnxruntime.so",
            "libonnxruntime.so.bak",
            "libonnxruntime_providers_shared.so",
        ] {
            std::fs::write(folder.path().join(name), b"").unwrap();
        }
        let names: Vec<_> = candidates(Some(folder.path()))
            .into_iter()
            .map(|path| path.file_name().unwrap().to_string_lossy().into_owned())
            .collect();
        assert_eq!(
            names,
            [
                "libonnxruntime.so",
                "libonnxruntime.so.1.32.0",
                "libonnxruntime.so.1.9.0"
            ]
        );
    }

    #[test]
    fn a_named_file_is_the_only_candidate() {
        let named = Path::new("/nowhere/libonnxruntime.so");
        assert_eq!(candidates(Some(named)), [named]);
    }
}
