//! Responses of models, from JSONL or CSV.
//!
//! Each row has an `id`, a `response` (the text as the model returned it, untouched) and, where a file
//! holds several models, a `model`. A `status` may say that nothing was returned: `infra_error` and
//! `timeout` are no answers, and their questions stay missing instead of scoring zero.

use crate::rows::{Row, RowError};
use rayon::prelude::*;
use serde::Deserialize;
use std::borrow::Cow;
use std::collections::BTreeMap;

/// A response.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Prediction<'a> {
    /// The question's id.
    pub id: Cow<'a, str>,
    /// The text; `None` when nothing was returned.
    pub response: Option<Cow<'a, str>>,
}

/// Responses by model.
pub type Predictions<'a> = BTreeMap<String, Vec<Prediction<'a>>>;

/// A row as it is stored.
#[derive(Clone, Debug, Deserialize)]
pub struct PredictionRow<'a> {
    /// The question's id.
    #[serde(borrow)]
    pub id: Cow<'a, str>,
    /// The text that was returned.
    #[serde(borrow, default)]
    pub response: Option<Cow<'a, str>>,
    /// The model, where rows name it.
    #[serde(borrow, default)]
    pub model: Option<Cow<'a, str>>,
    /// What became of the request, where rows say it.
    #[serde(borrow, default)]
    pub status: Option<Cow<'a, str>>,
}

/// What a status may be, and whether a text was returned with it.
const STATUSES: [(&str, bool); 6] = [
    ("answer", true),
    ("empty", true),
    ("truncated", true),
    ("refused", true),
    ("infra_error", false),
    ("timeout", false),
];

/// Lines handed to a thread at once.
const CHUNK_LINES: usize = 4096;

/// Adds the responses of a JSONL text. `model` names the rows that name none.
///
/// # Errors
/// Naming the line and the field that is at fault.
pub fn read_jsonl<'a>(
    text: &'a str,
    model: Option<&str>,
    into: &mut Predictions<'a>,
) -> Result<(), RowError> {
    let lines: Vec<(usize, &str)> = text
        .lines()
        .enumerate()
        .filter(|(_, line)| !line.trim().is_empty())
        .map(|(i, line)| (i + 1, line))
        .collect();
    let chunks: Vec<Result<Vec<PredictionRow>, RowError>> = lines
        .par_chunks(CHUNK_LINES)
        .map(|chunk| {
            chunk
                .iter()
                .map(|(line, text)| stored(*line, text))
                .collect()
        })
        .collect();
    let mut rows = lines.iter();
    for chunk in chunks {
        for stored in chunk? {
            let (line, _) = rows.next().expect("a row for each line");
            add(*line, stored, model, into)?;
        }
    }
    Ok(())
}

/// Reads a line; what is wrong with it is looked for only when something is.
fn stored(line: usize, text: &str) -> Result<PredictionRow<'_>, RowError> {
    serde_json::from_str(text).map_err(|error| {
        let row = match Row::parse(line, text) {
            Ok(row) => row,
            Err(error) => return error,
        };
        let is_text = |field: &&str| row.get(field).is_none_or(serde_json::Value::is_string);
        if row.get("id").is_none() {
            return row.wrong("id", "the id of a question, a text");
        }
        let fields = ["id", "response", "model", "status"];
        match fields.into_iter().find(|field| !is_text(field)) {
            Some(field) => row.wrong(field, "a text"),
            None => RowError::new(line, "line", text, error.to_string()),
        }
    })
}

/// Adds a row of a table. `line` is its line, or where there are no lines its number, from 1; `model` names
/// a row that names none.
///
/// # Errors
/// Naming the line and the field that is at fault.
pub fn add<'a>(
    line: usize,
    stored: PredictionRow<'a>,
    model: Option<&str>,
    into: &mut Predictions<'a>,
) -> Result<(), RowError> {
    let wrong =
        |field, found: &str, expected: &str| Err(RowError::new(line, field, found, expected));
    if stored.id.is_empty() {
        return wrong("id", "nothing", "the id of a question");
    }
    let status = stored.status.as_deref().filter(|status| !status.is_empty());
    let is_returned = match status {
        None => true,
        Some(status) => match STATUSES.iter().find(|(known, _)| *known == status) {
            Some((_, is_returned)) => *is_returned,
            None => {
                let known = STATUSES.map(|(known, _)| known).join(", ");
                return wrong("status", status, &format!("one of {known}"));
            }
        },
    };
    let response = match (is_returned, stored.response) {
        (false, _) => None,
        (true, Some(response)) => Some(response),
        (true, None) if status.is_some_and(|status| status != "answer") => Some(Cow::Borrowed("")),
        (true, None) => {
            let expected = "the text that was returned, \"\" for an empty one; without any, no row";
            return wrong("response", "nothing", expected);
        }
    };
    let named = stored
        .model
        .as_deref()
        .filter(|name| !name.is_empty())
        .or(model);
    let Some(name) = named else {
        return wrong(
            "model",
            "nothing",
            "the model's name, in the row or as an argument",
        );
    };
    let prediction = Prediction {
        id: stored.id,
        response,
    };
    match into.get_mut(name) {
        Some(predictions) => predictions.push(prediction),
        None => drop(into.insert(name.to_owned(), vec![prediction])),
    }
    Ok(())
}

/// Adds the responses of a CSV text (RFC 4180) with a header. `model` names the rows that name none.
///
/// # Errors
/// Naming the line and the column that is at fault.
pub fn read_csv(
    text: &str,
    model: Option<&str>,
    into: &mut Predictions<'_>,
) -> Result<(), RowError> {
    // Excel begins its CSV files with a byte-order mark.
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let mut reader = csv::ReaderBuilder::new()
        .flexible(true)
        .from_reader(text.as_bytes());
    let header = reader
        .headers()
        .map_err(|error| RowError::new(1, "line", &error.to_string(), "a CSV header"))?
        .clone();
    let column = |name: &str| header.iter().position(|column| column.trim() == name);
    let needed = |name: &'static str| {
        let found: Vec<&str> = header.iter().collect();
        let error = || RowError::new(1, "header", &found.join(","), format!("a column {name}"));
        column(name).ok_or_else(error)
    };
    let (id, response) = (needed("id")?, needed("response")?);
    let (model_column, status) = (column("model"), column("status"));
    for record in reader.records() {
        let record = record.map_err(|error| {
            let line = error.position().map_or(0, csv::Position::line);
            let line = usize::try_from(line).unwrap_or(usize::MAX);
            RowError::new(line, "line", &error.to_string(), "a CSV row")
        })?;
        let line = record.position().map_or(0, csv::Position::line);
        let line = usize::try_from(line).unwrap_or(usize::MAX);
        if record.len() != header.len() {
            let found = format!("{} cells", record.len());
            let expected = format!("{}, as in the header", header.len());
            return Err(RowError::new(line, "line", &found, expected));
        }
        let owned = |place: usize| record.get(place).map(|cell| Cow::Owned(cell.to_owned()));
        let stored = PredictionRow {
            id: owned(id).unwrap_or_default(),
            response: owned(response),
            model: model_column.and_then(owned),
            status: status.and_then(owned),
        };
        add(line, stored, model, into)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests;
