//! Rows of JSONL files: which line, which field, what was found and what was expected.

use serde_json::{Map, Value};

/// A row that cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("line {line}, {field}: found {found}, expected {expected}")]
pub struct RowError {
    /// The line, from 1; in a table without lines the row.
    pub line: usize,
    /// The field or column; `line` when the whole line is at fault.
    pub field: String,
    /// What is there, cut when it is long.
    pub found: String,
    /// What must be there.
    pub expected: String,
}

impl RowError {
    /// An error in a field.
    #[must_use]
    pub fn new(line: usize, field: &str, found: &str, expected: impl Into<String>) -> Self {
        Self {
            line,
            field: field.to_owned(),
            found: shortened(found),
            expected: expected.into(),
        }
    }
}

/// At most as much of a text as fits beside other words.
fn shortened(text: &str) -> String {
    const MAX_CHARS: usize = 80;
    let mut chars = text.chars();
    let start: String = chars.by_ref().take(MAX_CHARS).collect();
    if chars.next().is_some() {
        format!("{start}...")
    } else {
        start
    }
}

/// An object in a line.
pub(crate) struct Row {
    line: usize,
    fields: Map<String, Value>,
}

impl Row {
    /// The objects of a JSONL text whose first one names its schema; empty lines are passed over.
    pub(crate) fn of_jsonl<'a>(
        text: &'a str,
        schema: &'static str,
    ) -> impl Iterator<Item = Result<Self, RowError>> + 'a {
        let lines = text.lines().enumerate();
        let lines = lines.filter(|(_, line)| !line.trim().is_empty());
        lines.enumerate().map(move |(n_before, (i, line))| {
            let row = Self::parse(i + 1, line)?;
            row.check_schema(schema, n_before == 0)?;
            Ok(row)
        })
    }

    pub(crate) fn parse(line: usize, text: &str) -> Result<Self, RowError> {
        match serde_json::from_str(text) {
            Ok(Value::Object(fields)) => Ok(Self { line, fields }),
            Ok(other) => Err(RowError::new(line, "line", &other.to_string(), "an object")),
            Err(error) => {
                let expected = format!("a JSON object ({error})");
                Err(RowError::new(line, "line", text, expected))
            }
        }
    }

    fn check_schema(&self, schema: &str, is_first: bool) -> Result<(), RowError> {
        match self.fields.get("schema") {
            None if !is_first => Ok(()),
            Some(Value::String(found)) if found == schema => Ok(()),
            _ => Err(self.wrong("schema", format!("{schema:?}"))),
        }
    }

    pub(crate) fn get(&self, field: &str) -> Option<&Value> {
        self.fields.get(field).filter(|value| !value.is_null())
    }

    pub(crate) fn wrong(&self, field: &str, expected: impl Into<String>) -> RowError {
        let found = self.fields.get(field);
        let found = found.map_or_else(|| "nothing".to_owned(), Value::to_string);
        RowError::new(self.line, field, &found, expected)
    }

    pub(crate) fn text(&self, field: &str) -> Result<String, RowError> {
        let text = self.optional_text(field)?;
        text.ok_or_else(|| self.wrong(field, "a text"))
    }

    pub(crate) fn optional_text(&self, field: &str) -> Result<Option<String>, RowError> {
        match self.get(field) {
            None => Ok(None),
            Some(Value::String(text)) if !text.is_empty() => Ok(Some(text.clone())),
            Some(_) => Err(self.wrong(field, "a text that is not empty")),
        }
    }

    pub(crate) fn line(&self) -> usize {
        self.line
    }
}
