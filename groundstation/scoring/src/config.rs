//! A question's configuration as files hold it, and the rule that it and its reference make.

use crate::boxes::{Convention, HorizontalBox};
use crate::decimal::Decimal;
use crate::gps::Place;
use crate::label::LabelPair;
use crate::number::{NumberFormat, NumberRule, NumberScore};
use crate::rule::{CountScore, Rule};
use crate::taxonomy::AnswerType;
use serde::{Deserialize, Serialize};
use serde_json::{Number, Value};

/// How a box question's responses are written, as files say it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ConventionName {
    /// 0 to 1000.
    #[default]
    Norm1000,
    /// 0 to 100.
    Norm100,
    /// Pixels of the target image.
    Pixel,
}

/// The field `config` of a question. It decides everything; nothing is inferred from a response.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case", deny_unknown_fields)]
pub enum Config {
    /// Brand and model.
    LabelPair {},
    /// A count.
    Count {
        /// How it scores.
        #[serde(default)]
        score: CountScore,
    },
    /// One of several texts.
    Choice {
        /// All that are legal.
        candidates: Vec<String>,
    },
    /// A number.
    Number {
        /// How it scores.
        score: NumberScore,
        /// What it must look like.
        #[serde(default)]
        format: NumberFormat,
        /// The least that is legal.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        min: Option<Number>,
        /// The most that is legal.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        max: Option<Number>,
        /// Whether it must be above zero.
        #[serde(default)]
        positive: bool,
        /// After how much it repeats.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        period: Option<Number>,
        /// Whether any turn is legal and only the remainder counts; the range no longer applies.
        #[serde(default)]
        normalize: bool,
    },
    /// A horizontal box.
    Box {
        /// How responses are written.
        #[serde(default)]
        convention: ConventionName,
        /// The target image's width, pixels; needed for pixels.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        width: Option<u32>,
        /// The target image's height, pixels; needed for pixels.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        height: Option<u32>,
    },
    /// A place.
    Gps {},
}

/// Why a configuration and a reference make no rule. The question is at fault, never a response.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum RuleError {
    /// The reference has the wrong form.
    #[error("reference {found}: expected {expected}")]
    Reference {
        /// What it is.
        found: String,
        /// What it must be.
        expected: &'static str,
    },
    /// Mean relative accuracy with a reference that is not above zero.
    #[error("reference {0}: mean relative accuracy needs one above zero")]
    ReferenceNotPositive(String),
    /// A choice whose reference is no candidate.
    #[error("reference {0:?}: it is none of the candidates")]
    ReferenceNotACandidate(String),
    /// A box that is none on the grid of 0 to 1000.
    #[error("reference {found}: it {reason}")]
    ReferenceBox {
        /// What it is.
        found: String,
        /// Why it is no box.
        reason: crate::Invalid,
    },
    /// A period that is not above zero.
    #[error("config.period {0}: expected a number above zero")]
    Period(String),
    /// Pixels without the image's size.
    #[error("config: the convention pixel needs width and height, in pixels, above zero")]
    NoImageSize,
    /// The least above the most.
    #[error("config: min {min} is above max {max}")]
    Range {
        /// The least.
        min: String,
        /// The most.
        max: String,
    },
}

impl Config {
    /// What responses must be.
    #[must_use]
    pub fn answer(&self) -> AnswerType {
        match self {
            Self::LabelPair {} => AnswerType::LabelPair,
            Self::Count { .. } => AnswerType::Count,
            Self::Choice { .. } => AnswerType::Choice,
            Self::Number { .. } => AnswerType::Number,
            Self::Box { .. } => AnswerType::Box,
            Self::Gps {} => AnswerType::Gps,
        }
    }

    /// The same with boxes in the convention that a model was declared to use.
    #[must_use]
    pub fn with_convention(mut self, declared: ConventionName) -> Self {
        if let Self::Box { convention, .. } = &mut self {
            *convention = declared;
        }
        self
    }
}

impl Rule {
    /// The rule of a configuration and its reference. Numbers of a reference are texts or JSON numbers.
    ///
    /// # Errors
    /// When they do not fit.
    pub fn new(config: &Config, reference: &Value) -> Result<Self, RuleError> {
        match config {
            Config::LabelPair {} => label_pair(reference),
            Config::Count { score } => Ok(Self::Count {
                score: *score,
                reference: count(reference)?,
            }),
            Config::Choice { candidates } => choice(candidates, reference),
            Config::Number { .. } => number(config, reference),
            Config::Box {
                convention,
                width,
                height,
            } => Ok(Self::Box {
                convention: convention_of(*convention, *width, *height)?,
                reference: horizontal_box(reference)?,
            }),
            Config::Gps {} => place(reference),
        }
    }
}

fn wrong(reference: &Value, expected: &'static str) -> RuleError {
    RuleError::Reference {
        found: reference.to_string(),
        expected,
    }
}

fn label_pair(reference: &Value) -> Result<Rule, RuleError> {
    let text = |key: &str| reference.get(key).and_then(Value::as_str);
    match (text("brand"), text("model")) {
        (Some(brand), Some(model)) => Ok(Rule::LabelPair(LabelPair::new(brand, model))),
        _ => Err(wrong(reference, "an object with the texts brand and model")),
    }
}

fn count(reference: &Value) -> Result<u64, RuleError> {
    let of_text = || reference.as_str()?.parse().ok();
    let count = reference.as_u64().or_else(of_text);
    count.ok_or_else(|| wrong(reference, "a count, 0 or more"))
}

fn choice(candidates: &[String], reference: &Value) -> Result<Rule, RuleError> {
    let right = reference
        .as_str()
        .ok_or_else(|| wrong(reference, "one of the candidates"))?;
    let place = candidates.iter().position(|candidate| candidate == right);
    Ok(Rule::Choice {
        candidates: candidates.to_vec(),
        reference: place.ok_or_else(|| RuleError::ReferenceNotACandidate(right.to_owned()))?,
    })
}

/// A JSON number, or a text that is one.
fn decimal(value: &Value) -> Option<Decimal> {
    match value {
        Value::Number(number) => Decimal::parse(&number.to_string()).ok(),
        Value::String(text) => Decimal::parse(text).ok(),
        _ => None,
    }
}

/// The elements of an array of `N` numbers.
fn decimals<const N: usize>(reference: &Value) -> Option<[Decimal; N]> {
    let values = reference.as_array()?.iter().map(decimal);
    values.collect::<Option<Vec<_>>>()?.try_into().ok()
}

fn bound(number: &Option<Number>) -> Option<Decimal> {
    let text = number.as_ref()?.to_string();
    Some(Decimal::parse(&text).expect("a JSON number of 64 bits is finite"))
}

fn number(config: &Config, reference: &Value) -> Result<Rule, RuleError> {
    let Config::Number {
        score,
        format,
        min,
        max,
        positive,
        period,
        normalize,
    } = config
    else {
        return Err(wrong(reference, "the configuration of a number"));
    };
    let value = decimal(reference).ok_or_else(|| wrong(reference, "a number"))?;
    if *score == NumberScore::Mra && !value.is_positive() {
        return Err(RuleError::ReferenceNotPositive(reference.to_string()));
    }
    let rule = NumberRule {
        score: *score,
        format: *format,
        min: bound(min),
        max: bound(max),
        is_positive: *positive,
        period: bound(period),
        is_normalized: *normalize,
        reference: value,
    };
    if let (Some(written), Some(period)) = (period, &rule.period)
        && !period.is_positive()
    {
        return Err(RuleError::Period(written.to_string()));
    }
    if let (Some(low), Some(high)) = (min, max)
        && rule.min > rule.max
    {
        return Err(RuleError::Range {
            min: low.to_string(),
            max: high.to_string(),
        });
    }
    Ok(Rule::Number(rule))
}

fn convention_of(
    name: ConventionName,
    width: Option<u32>,
    height: Option<u32>,
) -> Result<Convention, RuleError> {
    match name {
        ConventionName::Norm1000 => Ok(Convention::Norm1000),
        ConventionName::Norm100 => Ok(Convention::Norm100),
        ConventionName::Pixel => match (width, height) {
            (Some(width @ 1..), Some(height @ 1..)) => Ok(Convention::Pixel { width, height }),
            _ => Err(RuleError::NoImageSize),
        },
    }
}

fn horizontal_box(reference: &Value) -> Result<HorizontalBox, RuleError> {
    let edges = decimals(reference).ok_or_else(|| {
        wrong(
            reference,
            "four numbers: x1, y1, x2, y2 on the grid of 0 to 1000",
        )
    })?;
    HorizontalBox::new(edges, Convention::Norm1000.limits()).map_err(|reason| {
        RuleError::ReferenceBox {
            found: reference.to_string(),
            reason,
        }
    })
}

fn place(reference: &Value) -> Result<Rule, RuleError> {
    let place = decimals::<2>(reference)
        .map(|degrees| degrees.map(|value| value.to_f64()))
        .and_then(|[latitude, longitude]| Place::new(latitude, longitude));
    place.map(Rule::Gps).ok_or_else(|| {
        wrong(
            reference,
            "latitude -90 to 90 and longitude -180 to 180, degrees",
        )
    })
}
