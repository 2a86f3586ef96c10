//! Labels as they are compared: case folded, trimmed, every run of white space one space.

use icu_casemap::CaseMapper;
use std::borrow::Cow;

/// A label as it is compared: full Unicode case folding, white space (Unicode `White_Space`) removed at
/// both ends and made one space inside. Nothing else: accents written in two characters stay two.
#[must_use]
pub fn normalize_label(label: &str) -> String {
    let folded = fold(label);
    let mut normal = String::with_capacity(folded.len());
    for word in folded.split_whitespace() {
        if !normal.is_empty() {
            normal.push(' ');
        }
        normal.push_str(word);
    }
    normal
}

fn fold(text: &str) -> Cow<'_, str> {
    if !text.is_ascii() {
        return CaseMapper::new().fold_string(text);
    }
    if text.bytes().any(|byte| byte.is_ascii_uppercase()) {
        Cow::Owned(text.to_ascii_lowercase())
    } else {
        Cow::Borrowed(text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_are_folded_not_lowercased() {
        for (label, expected) in [
            ("Mercedes-Benz", "mercedes-benz"),
            ("  Song \u{3000}\t PLUS\n", "song plus"),
            ("STRASSE", "strasse"),
            ("Straße", "strasse"),
            ("ΣΊΣΥΦΟΣ", "σίσυφοσ"),
            ("Σίσυφος", "σίσυφοσ"),
            ("\u{1e9e}", "ss"),
            ("\u{fb01}at", "fiat"),
            ("\u{13a0}", "\u{13a0}"),
            ("\u{feff}BYD", "\u{feff}byd"),
            ("a\u{1f}b", "a\u{1f}b"),
            ("", ""),
            (" \t ", ""),
        ] {
            assert_eq!(normalize_label(label), expected, "{label:?}");
        }
    }
}
