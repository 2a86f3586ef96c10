use super::*;

fn jsonl(text: &str) -> Result<Predictions<'_>, RowError> {
    let mut found = Predictions::new();
    read_jsonl(text, None, &mut found)?;
    Ok(found)
}

fn from_csv(text: &str) -> Result<Predictions<'_>, RowError> {
    let mut found = Predictions::new();
    read_csv(text, None, &mut found)?;
    Ok(found)
}

fn pairs<'a>(predictions: &'a Predictions<'_>, model: &str) -> Vec<(&'a str, Option<&'a str>)> {
    let rows = predictions[model].iter();
    rows.map(|row| (row.id.as_ref(), row.response.as_deref()))
        .collect()
}

#[test]
fn both_formats_say_the_same() {
    let lines = r#"
{"model":"m","id":"q1","response":"{\"brand\":\"A\"}\nsure"}

{"model":"n","id":"q1","response":"","status":"empty","tokens":7}
{"model":"m","id":"q2","response":null,"status":"timeout"}
"#;
    let table = "\u{feff}id,model,status,response\r\nq1,m,,\"{\"\"brand\"\":\"\"A\"\"}\nsure\"\r\n\
                 q1,n,empty,\r\nq2,m,timeout,\r\n";
    let (a, b) = (jsonl(lines).unwrap(), from_csv(table).unwrap());
    assert_eq!(a, b);
    assert_eq!(
        pairs(&a, "m"),
        [("q1", Some("{\"brand\":\"A\"}\nsure")), ("q2", None)]
    );
    assert_eq!(pairs(&a, "n"), [("q1", Some(""))]);
}

#[track_caller]
fn check(error: RowError, expected: &str) {
    assert_eq!(error.to_string(), expected);
}

#[test]
fn errors_name_line_field_found_and_expected() {
    let first = r#"{"model":"m","id":"q1","response":"1"}"#;
    let error = |line: &str| jsonl(&format!("{first}\n\n{line}")).unwrap_err();
    check(
        error(r#"{"model":"m","id":7,"response":"1"}"#),
        "line 3, id: found 7, expected a text",
    );
    check(
        error(r#"{"model":"m","response":"1"}"#),
        "line 3, id: found nothing, expected the id of a question, a text",
    );
    check(
        error(r#"{"model":"m","id":"q2","response":42}"#),
        "line 3, response: found 42, expected a text",
    );
    check(
        error(r#"{"model":"m","id":"q2"}"#),
        "line 3, response: found nothing, expected the text that was returned, \"\" for an empty one; without any, no row",
    );
    check(
        error(r#"{"id":"q2","response":"1"}"#),
        "line 3, model: found nothing, expected the model's name, in the row or as an argument",
    );
    check(
        error(r#"{"model":"m","id":"q2","response":"1","status":"ok"}"#),
        "line 3, status: found ok, expected one of answer, empty, truncated, refused, infra_error, timeout",
    );
    assert!(
        error(r#"{"model":"m","id":"q2""#)
            .to_string()
            .starts_with("line 3, line: found {\"model\"")
    );
    check(error("[1]"), "line 3, line: found [1], expected an object");
}

#[test]
fn errors_of_tables_name_line_and_column() {
    let error = |text: &str| from_csv(text).unwrap_err();
    check(
        error("id,answer\nq1,1\n"),
        "line 1, header: found id,answer, expected a column response",
    );
    check(
        error("id,model,response\nq1,m,\"a\nb\"\nq2,m\n"),
        "line 4, line: found 2 cells, expected 3, as in the header",
    );
    check(
        error("id,model,response\n,m,1\n"),
        "line 2, id: found nothing, expected the id of a question",
    );
}
