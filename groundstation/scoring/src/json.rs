//! As much JSON (RFC 8259) as responses need: the first object in a text, and arrays of numbers, each
//! number as it is written.
//!
//! Texts of models are hostile by accident. Nothing here allocates before a text has proved to be JSON,
//! nesting is limited, and the work grows with the length of the text, whatever is in it.

mod scan;

use scan::{Kind, Scanner};
use std::borrow::Cow;

/// Objects and arrays may be nested this deep, less one. It is what bounds the work: from every `{` of
/// a text that never closes them, reading stops after as many levels.
pub const MAX_DEPTH: u8 = 128;

/// The values of two keys in the first JSON object of a text.
///
/// Every `{` is tried from left to right; the first that opens a whole object decides, whatever
/// follows it. Of a repeated key the last value counts. A missing key and `null` are the empty text, a
/// string is itself, anything else its text as written.
#[must_use]
pub fn first_object<'a>(text: &'a str, keys: [&str; 2]) -> Option<[Cow<'a, str>; 2]> {
    let mut from = 0;
    while let Some(at) = text[from..].find('{') {
        let start = from + at;
        if let Some(found) = object_at(text, start, keys) {
            return Some(found);
        }
        from = start + 1;
    }
    None
}

fn object_at<'a>(text: &'a str, start: usize, keys: [&str; 2]) -> Option<[Cow<'a, str>; 2]> {
    let mut found = [None, None];
    let mut scanner = Scanner::new(text, start);
    scanner.object(MAX_DEPTH, &mut |key, value| {
        if let Some(i) = keys.iter().position(|wanted| key.is(wanted)) {
            found[i] = Some(value);
        }
    })?;
    Some(found.map(|value| value.map_or(Cow::Borrowed(""), |value| value.text())))
}

/// The numbers, as written, of a text that is nothing but a JSON array of `N` numbers.
///
/// # Errors
/// What else it is.
pub fn numbers<const N: usize>(text: &str) -> Result<[&str; N], NotNumbers> {
    let mut found = [""; N];
    let mut n_found = 0;
    let mut has_other = false;
    let mut scanner = Scanner::new(text, 0);
    let array = scanner.array(MAX_DEPTH, &mut |value| {
        has_other |= value.kind != Kind::Number;
        if let Some(place) = found.get_mut(n_found) {
            *place = value.written;
        }
        n_found += 1;
    });
    if array.is_none() || !scanner.is_at_end() {
        return Err(NotNumbers::NotAnArray);
    }
    if has_other {
        return Err(NotNumbers::OtherValues);
    }
    if n_found != N {
        return Err(NotNumbers::Length(n_found));
    }
    Ok(found)
}

/// Why a text is no array of numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NotNumbers {
    /// It is not a JSON array, or not alone.
    NotAnArray,
    /// It holds something other than numbers.
    OtherValues,
    /// It holds this many.
    Length(usize),
}

#[cfg(test)]
mod tests;
