//! Reads known properties out of text that is no XML: `prefix:Name="value"` and
//! `<prefix:Name>value<`, for the prefixes that are understood. One pass, linear in the text.

use super::{MAX_PROPERTIES, MAX_VALUE_BYTES, Namespace, by_prefix};

/// Longest prefix that is known, in bytes.
const MAX_PREFIX_BYTES: usize = 16;

/// Namespace, `prefix:Name`, name and raw value of every known property found.
pub(super) fn known_properties(text: &str) -> Vec<(Namespace, &str, &str, &str)> {
    let bytes = text.as_bytes();
    let mut found = Vec::new();
    for (colon, _) in bytes.iter().enumerate().filter(|(_, byte)| **byte == b':') {
        if found.len() >= MAX_PROPERTIES {
            break;
        }
        let start = bytes[..colon]
            .iter()
            .rev()
            .take(MAX_PREFIX_BYTES)
            .take_while(|byte| is_name(**byte))
            .count();
        let start = colon - start;
        let n_name = bytes[colon + 1..]
            .iter()
            .take_while(|byte| is_name(**byte))
            .count();
        let end = colon + 1 + n_name;
        // Only ASCII was stepped over, so these are character boundaries.
        let (prefix, name) = (&text[start..colon], &text[colon + 1..end]);
        let Some(namespace) = by_prefix(prefix) else {
            continue;
        };
        if name.is_empty() {
            continue;
        }
        if let Some(value) = value_after(&text[end..]) {
            found.push((namespace, &text[start..end], name, value));
        }
    }
    found
}

fn is_name(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-'
}

/// The value after a name: quoted after `=`, or up to the next tag after `>`.
fn value_after(rest: &str) -> Option<&str> {
    let rest = rest.trim_start();
    let limit = |text: &'_ str| text.floor_char_boundary(MAX_VALUE_BYTES);
    if let Some(element) = rest.strip_prefix('>') {
        let element = &element[..limit(element)];
        return element.find('<').map(|end| &element[..end]);
    }
    let quoted = rest.strip_prefix('=')?.trim_start();
    let quote = quoted.chars().next().filter(|c| matches!(c, '"' | '\''))?;
    let inner = &quoted[1..];
    let inner = &inner[..limit(inner)];
    let end = inner.find([quote, '<', '>'])?;
    Some(&inner[..end])
}
