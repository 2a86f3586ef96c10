//! Where the shared test photos are.

use std::io::Write as _;
use std::path::PathBuf;

/// A folder below `../shared/data` (relative to the repository; `OVERLOOK_SHARED` overrides the
/// `../shared` part). `None`, with a line on stderr, when the shared data is not on this machine.
///
/// # Panics
/// When the shared data is there, but not this folder.
pub(crate) fn data(name: &str) -> Option<PathBuf> {
    let shared = std::env::var_os("OVERLOOK_SHARED").map_or_else(
        || PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared")),
        PathBuf::from,
    );
    let data = shared.join("data");
    if !data.is_dir() {
        // Past the test harness, which swallows what passing tests print.
        std::io::stderr()
            .write_all(b"skipped: shared/data absent\n")
            .unwrap();
        return None;
    }
    let found = data.join(name);
    assert!(found.exists(), "{} is missing", found.display());
    Some(found)
}
