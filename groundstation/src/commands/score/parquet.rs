//! Predictions from Parquet: flat columns of text, uncompressed or with Snappy, as pandas and `datasets`
//! write them.

use super::evaluate::wrong_row;
use ::parquet::errors::ParquetError;
use ::parquet::file::reader::{FileReader, SerializedFileReader};
use ::parquet::record::{Field, Row};
use ::parquet::schema::types::Type;
use bytes::Bytes;
use console::InputError;
use scoring::RowError;
use scoring::predictions::{PredictionRow, Predictions, add};
use std::borrow::Cow;
use std::path::Path;
use std::sync::Arc;

/// The columns that are read; the first two must be there.
const COLUMNS: [&str; 4] = ["id", "response", "model", "status"];

/// Adds the rows of a file. Rows are counted from 1.
pub(super) fn read_parquet(
    path: &Path,
    bytes: Bytes,
    model: Option<&str>,
    into: &mut Predictions<'_>,
) -> anyhow::Result<()> {
    let wrong = |error: ParquetError| {
        let expected = "expected flat columns of text, uncompressed or with Snappy";
        InputError(format!("{}: {error}; {expected}", path.display()))
    };
    let reader = SerializedFileReader::new(bytes).map_err(wrong)?;
    let schema = reader.metadata().file_metadata().schema().clone();
    let columns = columns_of(&schema).map_err(|error| wrong_row(path, &error))?;
    let projection = Type::group_type_builder(schema.name()).with_fields(columns);
    let projection = projection.build().map_err(wrong)?;
    let rows = reader.get_row_iter(Some(projection)).map_err(wrong)?;
    for (i, row) in rows.enumerate() {
        let stored = prediction(i + 1, &row.map_err(wrong)?);
        stored
            .and_then(|stored| add(i + 1, stored, model, into))
            .map_err(|error| wrong_row(path, &error))?;
    }
    Ok(())
}

/// The columns that are read, where they are there.
fn columns_of(schema: &Type) -> Result<Vec<Arc<Type>>, RowError> {
    let fields = schema.get_fields();
    let names: Vec<&str> = fields.iter().map(|field| field.name()).collect();
    for name in &COLUMNS[..2] {
        if !names.contains(name) {
            let expected = format!("a column {name}");
            return Err(RowError::new(0, "columns", &names.join(","), expected));
        }
    }
    let wanted = fields
        .iter()
        .filter(|field| COLUMNS.contains(&field.name()));
    Ok(wanted.cloned().collect())
}

fn prediction(number: usize, row: &Row) -> Result<PredictionRow<'static>, RowError> {
    let mut found = [const { None }; COLUMNS.len()];
    for (name, field) in row.get_column_iter() {
        let Some(place) = COLUMNS.iter().position(|column| column == name) else {
            continue;
        };
        found[place] = match field {
            Field::Null => None,
            Field::Str(text) => Some(Cow::Owned(text.clone())),
            other => return Err(RowError::new(number, name, &other.to_string(), "a text")),
        };
    }
    let [id, response, model, status] = found;
    Ok(PredictionRow {
        id: id.unwrap_or_default(),
        response,
        model,
        status,
    })
}
