//! What files must say and what no tracked file may hold.

use super::rust_source::{code_of, is_test_file, without_tests};
use super::{assert_none, read, root, tracked_files, tracked_rust_files};

const MAX_FILE_BYTES: u64 = 4 << 20;

/// Tracked files that are looked into. Lock files hold addresses that their tools put there, and
/// the rules themselves must write down what they look for.
fn searched_files() -> impl Iterator<Item = (String, String)> {
    let is_searched = |path: &String| {
        !(path.ends_with(".lock")
            || path.ends_with("package-lock.json")
            || path.starts_with("tests/tests/it/tidy"))
    };
    tracked_files().into_iter().filter(is_searched).map(|path| {
        let bytes = std::fs::read(root().join(&path)).expect("a tracked file can be read");
        let text = String::from_utf8_lossy(&bytes).into_owned();
        (path, text)
    })
}

/// `path:line` of every line that holds one of some texts.
fn lines_with(path: &str, text: &str, wanted: &[String]) -> Vec<String> {
    text.lines()
        .enumerate()
        .filter_map(|(i, line)| {
            let found = wanted
                .iter()
                .find(|wanted| line.contains(wanted.as_str()))?;
            Some(format!("{path}:{}: {found}", i + 1))
        })
        .collect()
}

#[test]
fn every_source_file_says_what_it_is_for() {
    let mut offences = tracked_files();
    offences.retain(|path| {
        let opening = match path.rsplit('.').next() {
            // A module's own tests, in a file beside it, are introduced by the module.
            Some("rs") if !path.ends_with("/tests.rs") => "//! ",
            Some("py") => "\"\"\"",
            _ => return false,
        };
        let text = read(path);
        let first = text
            .lines()
            .find(|line| !line.trim().is_empty() && !line.starts_with("#!"));
        !first.is_some_and(|line| line.starts_with(opening))
    });
    assert_none("files without a module doc", &offences);
}

#[test]
fn only_tests_unwrap() {
    let mut offences = Vec::new();
    for path in tracked_rust_files().filter(|path| !is_test_file(path)) {
        let code = without_tests(&code_of(&read(&path)));
        if code.contains(".unwrap()") {
            offences.push(path);
        }
    }
    assert_none("unwrap() outside tests", &offences);
}

#[test]
fn nothing_is_left_for_later() {
    let notes = ["TODO", "FIXME"].map(str::to_owned);
    let macros = ["dbg!", "todo!", "unimplemented!"].map(str::to_owned);
    let mut offences = Vec::new();
    let is_text = |text: &str| !text.contains(char::REPLACEMENT_CHARACTER);
    for (path, text) in searched_files().filter(|(_, text)| is_text(text)) {
        offences.extend(lines_with(&path, &text, &notes));
        if path.ends_with(".rs") {
            offences.extend(lines_with(&path, &code_of(&text), &macros));
        }
    }
    assert_none("notes and stubs for later", &offences);
}

#[test]
fn no_machine_is_named() {
    let folders = ["work", "root", "farm"].map(|name| format!("/{name}/"));
    let homes = ["/home", "/Users", "/tmp/target"].map(|start| start.to_owned() + "/");
    let hosts = [
        ["static.crates", ".io"],
        ["index.crates", ".io"],
        ["pypi", ".org"],
        ["pythonhosted", ".org"],
        ["registry.npm", "js.org"],
        ["deb.deb", "ian.org"],
    ]
    .map(|parts| parts.concat());
    let wanted: Vec<String> = folders.into_iter().chain(homes).chain(hosts).collect();
    let mut offences = Vec::new();
    for (path, text) in searched_files() {
        offences.extend(lines_with(&path, &text, &wanted));
    }
    assert_none("paths of a machine and registries' hosts", &offences);
}

#[test]
fn the_repository_speaks_of_itself_alone() {
    let wanted = [
        "assistant",
        "chatbot",
        "co-authored-by",
        "generated with",
        "as requested",
        "this session",
        "the issue says",
        "the brief",
    ]
    .map(str::to_owned);
    let mut offences = Vec::new();
    for (path, text) in searched_files() {
        offences.extend(lines_with(&path, &text.to_lowercase(), &wanted));
    }
    assert_none("words about how a file came to be", &offences);
}

#[test]
fn tracked_files_are_small() {
    let mut offences = tracked_files();
    offences.retain(|path| {
        std::fs::metadata(root().join(path)).is_ok_and(|file| file.len() > MAX_FILE_BYTES)
    });
    assert_none("tracked files over 4 MiB", &offences);
}
