//! Worked cases: a line of JSON says what is asked and what is right; [`check_case`] says what differs.

use crate::aggregate::Aggregate;
use crate::bins::{HeightBin, PitchBin};
use crate::config::Config;
use crate::correlation::{pearson, spearman};
use crate::count::{Count, CountErrors};
use crate::coverage::Coverage;
use crate::decimal::Decimal;
use crate::label::LabelPair;
use crate::live::{advance, is_admissible, public_not_before};
use crate::rule::Rule;
use crate::taxonomy::{Component, Group, Task};
use crate::text::normalize_label;
use crate::vehicles::{ExpectedVehicle, score_vehicles};
use jiff::Timestamp;
use jiff::civil::Date;
use serde::Deserialize;
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;

/// Numbers may differ by this much.
const TOLERANCE: f64 = 1e-9;

/// A line of a file of worked cases.
#[derive(Clone, Debug, Deserialize)]
struct Case {
    id: String,
    #[serde(flatten)]
    question: Question,
}

/// What is asked, by kind.
#[derive(Clone, Debug, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
enum Question {
    Record(Box<Record>),
    Rule {
        config: Config,
        reference: Value,
        expected: Value,
    },
    Aggregate {
        components: BTreeMap<String, Vec<f64>>,
        expected: Value,
    },
    CountAux {
        items: Vec<(u64, String)>,
        expected: Value,
    },
    HeightBin {
        height: Value,
        expected: Value,
    },
    PitchBin {
        pitch: Value,
        expected: Value,
    },
    Bv {
        vehicles: BTreeMap<String, VehicleCase>,
        predictions: Vec<(String, String)>,
        expected: Value,
    },
    Correlation {
        x: Vec<f64>,
        y: Vec<f64>,
        expected: Value,
    },
    Coverage {
        expected_ids: Vec<String>,
        predictions: Vec<(String, String)>,
        expected: Value,
    },
    Admission {
        previous_release: Option<Timestamp>,
        release: Timestamp,
        capture_times: Vec<Timestamp>,
        expected: Value,
    },
    Embargo {
        first: Date,
        retire: Date,
        expected: Value,
    },
    Fifo {
        window: Vec<String>,
        admitted: BTreeMap<String, Admission>,
        new: String,
        expected: Value,
    },
    Normalize {
        text: String,
        expected: Value,
    },
}

#[derive(Clone, Debug, Deserialize)]
struct Record {
    task: String,
    component: String,
    config: Config,
    reference: Value,
    response: String,
    expected_score: f64,
    expected_valid: bool,
}

#[derive(Clone, Debug, Deserialize)]
struct VehicleCase {
    brand: String,
    model: String,
    views: Vec<String>,
}

/// When a scene was admitted: a number or a time that sorts as text.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(untagged)]
enum Admission {
    Number(i64),
    Text(String),
}

/// What came of a worked case.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CheckedCase {
    /// The case's id; empty when the line is no case.
    pub id: String,
    /// What differs, each in a line; empty when nothing does.
    pub differences: Vec<String>,
}

/// Works a case out and compares. A line that is no case is a difference too.
#[must_use]
pub fn check_case(line: &str) -> CheckedCase {
    match serde_json::from_str::<Case>(line) {
        Ok(case) => {
            let mut differences = Vec::new();
            match work_out(&case.question) {
                Ok((expected, found)) => compare("", &expected, &found, &mut differences),
                Err(problem) => differences.push(problem),
            }
            CheckedCase {
                id: case.id,
                differences,
            }
        }
        Err(error) => CheckedCase {
            id: String::new(),
            differences: vec![format!("is no worked case: {error}")],
        },
    }
}

/// What is expected and what is found.
fn work_out(question: &Question) -> Result<(Value, Value), String> {
    let (expected, found) = match question {
        Question::Record(record) => return work_out_record(record),
        Question::Rule {
            config,
            reference,
            expected,
        } => {
            let is_legal = Rule::new(config, reference).is_ok();
            (expected, json!({ "is_legal": is_legal }))
        }
        Question::Aggregate {
            components,
            expected,
        } => (expected, aggregate(components)?),
        Question::CountAux { items, expected } => (expected, count_statistics(items)),
        Question::HeightBin { height, expected } => {
            let bin = HeightBin::of(&decimal(height)?).map(|bin| bin.to_string());
            (expected, json!({ "bin": bin }))
        }
        Question::PitchBin { pitch, expected } => {
            let bin = PitchBin::of(&decimal(pitch)?).map(PitchBin::centre_deg);
            (expected, json!({ "bin": bin }))
        }
        Question::Bv {
            vehicles,
            predictions,
            expected,
        } => (expected, vote(vehicles, predictions)),
        Question::Correlation { x, y, expected } => (
            expected,
            json!({ "pearson": pearson(x, y), "spearman": spearman(x, y) }),
        ),
        Question::Coverage {
            expected_ids,
            predictions,
            expected,
        } => (expected, coverage(expected_ids, predictions)),
        Question::Admission {
            previous_release,
            release,
            capture_times,
            expected,
        } => {
            let admissible = is_admissible(*previous_release, *release, capture_times);
            (expected, json!({ "admissible": admissible }))
        }
        Question::Embargo {
            first,
            retire,
            expected,
        } => {
            let date = public_not_before(*first, *retire).map_err(|error| error.to_string())?;
            (expected, json!({ "public_not_before": date.to_string() }))
        }
        Question::Fifo {
            window,
            admitted,
            new,
            expected,
        } => {
            let (window, retired) =
                advance(window, admitted, new).ok_or("no scene can leave this window")?;
            (expected, json!({ "window": window, "retired": retired }))
        }
        Question::Normalize { text, expected } => {
            (expected, json!({ "label": normalize_label(text) }))
        }
    };
    Ok((expected.clone(), found))
}

fn work_out_record(record: &Record) -> Result<(Value, Value), String> {
    let component = Task::find(&record.task)
        .and_then(|task| Component::find(task, &record.component))
        .ok_or_else(|| {
            format!(
                "{}/{}: there is no such component",
                record.task, record.component
            )
        })?;
    if component.answer() != record.config.answer() {
        let (wanted, found) = (component.answer().id(), record.config.answer().id());
        return Err(format!(
            "config.type is {found}; {component} needs {wanted}"
        ));
    }
    let rule = Rule::new(&record.config, &record.reference).map_err(|error| error.to_string())?;
    let judgement = rule.judge(&record.response);
    let brand = judgement
        .brand_points
        .filter(|_| component.name() == "brand");
    let points = brand.unwrap_or(judgement.points);
    let expected = json!({ "score": record.expected_score, "valid": record.expected_valid });
    let found = json!({ "score": points.value(), "valid": judgement.answer.is_ok() });
    Ok((expected, found))
}

fn decimal(value: &Value) -> Result<Decimal, String> {
    let text = value
        .as_str()
        .map_or_else(|| value.to_string(), str::to_owned);
    Decimal::parse(&text).map_err(|_| format!("{value}: expected a number"))
}

fn aggregate(components: &BTreeMap<String, Vec<f64>>) -> Result<Value, String> {
    if let Some(id) = components.keys().find(|id| Component::by_id(id).is_none()) {
        return Err(format!("{id}: there is no such component"));
    }
    let aggregate = Aggregate::of_components(|component| {
        let scores = components.get(&component.to_string())?;
        (!scores.is_empty()).then(|| scores.iter().sum::<f64>() / scores.len() as f64)
    });
    let by_id = |rows: Vec<(String, Option<f64>)>| {
        Value::Object(
            rows.into_iter()
                .map(|(id, mean)| (id, json!(mean)))
                .collect(),
        )
    };
    let components = Component::all().map(|c| (c.to_string(), aggregate.component(c)));
    let tasks = Task::ALL.map(|task| (task.id().to_owned(), aggregate.task(task)));
    let groups = Group::ALL.map(|group| (group.id().to_owned(), aggregate.group(group)));
    Ok(json!({
        "components": by_id(components.collect()),
        "tasks": by_id(tasks.to_vec()),
        "groups": by_id(groups.to_vec()),
        "overall": aggregate.overall(),
        "common": aggregate.common(),
        "diagnostic": aggregate.diagnostic(),
    }))
}

fn count_statistics(items: &[(u64, String)]) -> Value {
    let mut errors = CountErrors::default();
    for (reference, response) in items {
        errors.add(*reference, Count::parse(response.trim()).ok());
    }
    let found = errors.statistics();
    json!({
        "n": found.n,
        "valid": found.n_valid,
        "invalid": found.n - found.n_valid,
        "exact": found.exact,
        "mae": found.mean_absolute_error,
        "rmse": found.root_mean_squared_error,
    })
}

fn coverage(expected_ids: &[String], predictions: &[(String, String)]) -> Value {
    let coverage = Coverage::of(
        expected_ids.iter().map(String::as_str),
        predictions.iter().map(|(id, _)| id.as_str()),
    );
    json!({
        "official": coverage.is_complete(),
        "missing": coverage.missing,
        "duplicates": coverage.duplicates,
        "unknown": coverage.unknown,
    })
}

fn vote(vehicles: &BTreeMap<String, VehicleCase>, predictions: &[(String, String)]) -> Value {
    let expected = vehicles.iter().map(|(id, vehicle)| ExpectedVehicle {
        id: id.clone(),
        label: LabelPair::new(&vehicle.brand, &vehicle.model),
        views: vehicle.views.clone(),
    });
    let expected: Vec<ExpectedVehicle> = expected.collect();
    let responses = predictions
        .iter()
        .map(|(id, response)| (id.as_str(), response.as_str()));
    let found = score_vehicles(&expected, responses);
    let ties: Vec<String> = found.ties.iter().map(ToString::to_string).collect();
    json!({
        "brand": found.brand,
        "pair": found.pair,
        "task": found.brand.zip(found.pair).map(|(brand, pair)| (brand + pair) / 2.0),
        "incomplete": found.incomplete,
        "duplicates": found.coverage.duplicates,
        "unknown": found.coverage.unknown,
        "ties": ties,
    })
}

/// Names every place where what is found differs from what is expected; what nobody expects is not
/// looked at.
fn compare(path: &str, expected: &Value, found: &Value, differences: &mut Vec<String>) {
    match (expected, found) {
        (Value::Object(expected), Value::Object(found)) => {
            compare_objects(path, expected, found, differences);
        }
        (Value::Number(a), Value::Number(b)) if are_near(a.as_f64(), b.as_f64()) => {}
        (a, b) if a == b => {}
        _ => differences.push(format!("{path}: found {found}, expected {expected}")),
    }
}

fn compare_objects(
    path: &str,
    expected: &Map<String, Value>,
    found: &Map<String, Value>,
    differences: &mut Vec<String>,
) {
    for (key, expected) in expected {
        let path = if path.is_empty() {
            key.clone()
        } else {
            format!("{path}.{key}")
        };
        match found.get(key) {
            Some(found) => compare(&path, expected, found, differences),
            None => differences.push(format!("{path}: nothing is found, expected {expected}")),
        }
    }
}

fn are_near(a: Option<f64>, b: Option<f64>) -> bool {
    a.zip(b).is_some_and(|(a, b)| (a - b).abs() <= TOLERANCE)
}
