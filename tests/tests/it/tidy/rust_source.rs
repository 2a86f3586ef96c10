//! Rust source as text: without comments and literals, and without its tests.

/// The source with comments, strings and characters blanked out, line by line as it was.
pub(super) fn code_of(source: &str) -> String {
    let characters: Vec<char> = source.chars().collect();
    let mut code = String::with_capacity(source.len());
    let mut at = 0;
    while at < characters.len() {
        let rest = &characters[at..];
        let skipped = comment(rest)
            .or_else(|| raw_string(rest, characters[..at].last()))
            .or_else(|| string(rest))
            .or_else(|| character(rest));
        match skipped {
            Some(length) => {
                let lines = rest[..length].iter().filter(|c| **c == '\n');
                code.push(' ');
                code.extend(lines);
                at += length;
            }
            None => {
                code.push(rest[0]);
                at += 1;
            }
        }
    }
    code
}

fn starts_with(rest: &[char], text: &str) -> bool {
    text.chars()
        .enumerate()
        .all(|(i, c)| rest.get(i) == Some(&c))
}

fn comment(rest: &[char]) -> Option<usize> {
    if starts_with(rest, "//") {
        return Some(rest.iter().position(|c| *c == '\n').unwrap_or(rest.len()));
    }
    if !starts_with(rest, "/*") {
        return None;
    }
    let mut depth = 0;
    let mut at = 0;
    while at < rest.len() {
        if starts_with(&rest[at..], "/*") {
            depth += 1;
            at += 2;
        } else if starts_with(&rest[at..], "*/") {
            depth -= 1;
            at += 2;
            if depth == 0 {
                return Some(at);
            }
        } else {
            at += 1;
        }
    }
    Some(rest.len())
}

fn raw_string(rest: &[char], before: Option<&char>) -> Option<usize> {
    if rest[0] != 'r' || before.is_some_and(|c| *c == '_' || (c.is_alphanumeric() && *c != 'b')) {
        return None;
    }
    let n_hashes = rest[1..].iter().take_while(|c| **c == '#').count();
    if rest.get(1 + n_hashes) != Some(&'"') {
        return None;
    }
    let end: String = std::iter::once('"')
        .chain(std::iter::repeat_n('#', n_hashes))
        .collect();
    let mut at = 2 + n_hashes;
    while at < rest.len() && !starts_with(&rest[at..], &end) {
        at += 1;
    }
    Some((at + end.len()).min(rest.len()))
}

fn string(rest: &[char]) -> Option<usize> {
    (rest[0] == '"').then(|| quoted(rest, '"'))
}

/// A character; a lifetime is none.
fn character(rest: &[char]) -> Option<usize> {
    let is_character =
        rest[0] == '\'' && (rest.get(1) == Some(&'\\') || rest.get(2) == Some(&'\''));
    is_character.then(|| quoted(rest, '\''))
}

fn quoted(rest: &[char], end: char) -> usize {
    let mut at = 1;
    while at < rest.len() && rest[at] != end {
        at += if rest[at] == '\\' { 2 } else { 1 };
    }
    (at + 1).min(rest.len())
}

/// The words of blanked code: names, `::`, and every other sign by itself.
pub(super) fn words_of(code: &str) -> Vec<&str> {
    let is_name = |c: char| c.is_alphanumeric() || c == '_';
    let mut words = Vec::new();
    let mut rest = code.trim_start();
    while let Some(first) = rest.chars().next() {
        let length = if is_name(first) {
            rest.find(|c| !is_name(c)).unwrap_or(rest.len())
        } else if rest.starts_with("::") {
            2
        } else {
            first.len_utf8()
        };
        words.push(&rest[..length]);
        rest = rest[length..].trim_start();
    }
    words
}

/// The code without items marked `#[cfg(test)]`, as rustfmt lays them out: an item ends at the
/// first line with the same indentation that closes it.
pub(super) fn without_tests(code: &str) -> String {
    let mut kept = String::new();
    let mut lines = code.lines();
    while let Some(line) = lines.next() {
        if line.trim() != "#[cfg(test)]" {
            kept.push_str(line);
            kept.push('\n');
            continue;
        }
        let indentation = &line[..line.len() - line.trim_start().len()];
        for item in lines.by_ref() {
            let ends = item.trim_end().ends_with(';') || item.trim_end().ends_with('}');
            if ends && item.starts_with(indentation) && !item[indentation.len()..].starts_with(' ')
            {
                break;
            }
        }
    }
    kept
}

/// Whether a file holds tests, benchmarks or examples only.
pub(super) fn is_test_file(path: &str) -> bool {
    let mut folders = path.split('/').skip(1);
    path.ends_with("/tests.rs")
        || folders.any(|folder| ["tests", "benches", "examples"].contains(&folder))
}

#[test]
fn comments_and_literals_are_blanked() {
    for (source, expected) in [
        ("a // b \"c\nd", "a  \nd"),
        ("a /* b /* c */ d */ e", "a   e"),
        ("a(\"b // \\\" c\") d", "a( ) d"),
        ("r#\"a \" b\"# c", "  c"),
        ("for_r\"x\"", "for_r "),
        ("f('\"', '\\'', b'x') g", "f( ,  , b ) g"),
        ("fn f<'a>(x: &'a str) {}", "fn f<'a>(x: &'a str) {}"),
        ("\"a\nb\" c", " \n c"),
    ] {
        assert_eq!(code_of(source), expected, "{source}");
    }
}

#[test]
fn tests_are_left_out() {
    let source =
        "a\n#[cfg(test)]\nmod tests;\nb\n#[cfg(test)]\nmod tests {\n    fn f() {\n    }\n}\nc\n";
    assert_eq!(without_tests(source), "a\nb\nc\n");
    let nested =
        "impl A {\n    #[cfg(test)]\n    fn f() {\n        g();\n    }\n    fn h() {}\n}\n";
    assert_eq!(without_tests(nested), "impl A {\n    fn h() {}\n}\n");
}

#[test]
fn test_files_are_known_by_their_place() {
    for (path, expected) in [
        ("calibration/src/lens.rs", false),
        ("calibration/src/camera/tests.rs", true),
        ("calibration/tests/it/main.rs", true),
        ("calibration/benches/geometry.rs", true),
        ("tests/src/lib.rs", false),
        ("tests/tests/it/main.rs", true),
        ("tests/simulator/src/main.rs", false),
        ("tests/simulator/tests/it/main.rs", true),
    ] {
        assert_eq!(is_test_file(path), expected, "{path}");
    }
}
