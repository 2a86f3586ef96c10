//! JSON that is the same for the same value: sorted keys, shortest floats.

use serde::Serialize;
use std::io::{self, Write};

/// Canonical JSON: object keys sorted, floats in their shortest form, no spaces.
///
/// # Errors
/// When the value cannot be represented in JSON (a map with non-string keys).
pub fn canonical_json(value: &impl Serialize) -> Result<String, serde_json::Error> {
    // serde_json's Value keeps objects in a BTreeMap, which sorts the keys.
    serde_json::to_string(&serde_json::to_value(value)?)
}

/// Prints the one object of `--json` on stdout, with a line end.
///
/// # Errors
/// When stdout cannot be written (a closed pipe is not an error).
pub fn print_json(value: &impl Serialize) -> io::Result<()> {
    let text = serde_json::to_string_pretty(&serde_json::to_value(value)?)?;
    let mut stdout = io::stdout().lock();
    match writeln!(stdout, "{text}") {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        outcome => outcome,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Serialize)]
    struct Unsorted {
        zebra: f64,
        apple: f64,
    }

    #[test]
    fn keys_are_sorted_and_floats_short() {
        let text = canonical_json(&Unsorted {
            zebra: 0.1,
            apple: 1e21,
        });
        assert_eq!(
            text.expect("plain struct"),
            r#"{"apple":1e+21,"zebra":0.1}"#
        );
    }
}
