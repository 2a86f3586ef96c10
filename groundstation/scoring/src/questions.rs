//! Questions with their answers: what responses are scored against.
//!
//! `questions.jsonl` (schema `score-questions/1`) is public: `id`, `scene`, `task`, `component`, `config`.
//! `answers.jsonl` (schema `score-answers/1`) is not: `id`, `reference`, and where they are known `vehicle`
//! (which physical vehicle a recognition crop shows), `height_above_takeoff_m`, `pitch_deg` and
//! `captured_utc`. A recognition question has the task BI and no component: its response feeds both
//! components of BI and, through its vehicle's vote, both of BV.

use crate::bins::{HeightBin, PitchBin};
use crate::config::{Config, ConventionName};
use crate::decimal::Decimal;
use crate::label::LabelPair;
use crate::rows::{Row, RowError};
use crate::rule::Rule;
use crate::taxonomy::{AnswerType, Component, Task};
use jiff::Timestamp;
use serde_json::Value;
use std::collections::{BTreeMap, HashMap};

/// The schema of questions.
pub const QUESTIONS_SCHEMA: &str = "score-questions/1";
/// The schema of answers.
pub const ANSWERS_SCHEMA: &str = "score-answers/1";

/// What a question's response feeds.
#[derive(Clone, Debug)]
pub enum Asked {
    /// One component.
    Component(Component, Rule),
    /// All four of recognition.
    View {
        /// The right label and how a response is read.
        rule: Rule,
        /// The vehicle, as a place in [`QuestionSet::vehicles`].
        vehicle: usize,
    },
}

/// A question with its answer.
#[derive(Clone, Debug)]
pub struct Question {
    /// Its id.
    pub id: String,
    /// Its scene, as a place in [`QuestionSet::scenes`].
    pub scene: usize,
    /// What its response feeds.
    pub asked: Asked,
    /// The bin of the capture's height, if known.
    pub height: Option<HeightBin>,
    /// The bin of the capture's pitch, if known.
    pub pitch: Option<PitchBin>,
}

/// A physical vehicle whose views are asked about.
#[derive(Clone, Debug)]
pub struct Vehicle {
    /// Its id within the scene.
    pub id: String,
    /// Its scene, as a place in [`QuestionSet::scenes`].
    pub scene: usize,
    /// What it is.
    pub label: LabelPair,
    /// Its views, as places in [`QuestionSet::questions`].
    pub views: Vec<usize>,
}

/// All questions of an evaluation.
#[derive(Clone, Debug, Default)]
pub struct QuestionSet {
    /// The questions, in the order of their file.
    pub questions: Vec<Question>,
    /// The scenes, in the order of capture, then of their ids.
    pub scenes: Vec<String>,
    /// The vehicles of recognition questions.
    pub vehicles: Vec<Vehicle>,
    by_id: HashMap<String, usize>,
}

/// Why questions and answers make no set. The line is one of the file that is named.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum QuestionsError {
    /// A row of the questions.
    #[error("questions: {0}")]
    Questions(RowError),
    /// A row of the answers.
    #[error("answers: {0}")]
    Answers(RowError),
    /// There is no question.
    #[error("questions: there is none")]
    Empty,
}

/// A row of the answers.
struct AnswerRow {
    line: usize,
    reference: Value,
    vehicle: Option<String>,
    height: Option<HeightBin>,
    pitch: Option<PitchBin>,
    captured: Option<Timestamp>,
}

impl QuestionSet {
    /// Reads both files. `declared` is the convention in which a model writes boxes, where it is not that
    /// of the questions.
    ///
    /// # Errors
    /// Naming the line and the field that is at fault.
    pub fn read(
        questions: &str,
        answers: &str,
        declared: Option<ConventionName>,
    ) -> Result<Self, QuestionsError> {
        let mut answers = read_answers(answers).map_err(QuestionsError::Answers)?;
        let mut builder = Builder::default();
        for row in Row::of_jsonl(questions, QUESTIONS_SCHEMA) {
            let row = row.map_err(QuestionsError::Questions)?;
            builder.add(&row, &mut answers, declared)?;
        }
        if let Some((id, answer)) = answers.into_iter().min_by_key(|(_, answer)| answer.line) {
            let expected = "the id of a question";
            let error = RowError::new(answer.line, "id", &format!("{id:?}"), expected);
            return Err(QuestionsError::Answers(error));
        }
        builder.finish()
    }

    /// The place of a question.
    #[must_use]
    pub fn find(&self, id: &str) -> Option<usize> {
        self.by_id.get(id).copied()
    }
}

fn read_answers(text: &str) -> Result<HashMap<String, AnswerRow>, RowError> {
    let mut answers = HashMap::new();
    for row in Row::of_jsonl(text, ANSWERS_SCHEMA) {
        let row = row?;
        let id = row.text("id")?;
        let number = |field: &str| -> Result<Option<Decimal>, RowError> {
            let Some(value) = row.get(field) else {
                return Ok(None);
            };
            let text = value
                .as_str()
                .map_or_else(|| value.to_string(), str::to_owned);
            let number = Decimal::parse(&text).map_err(|_| row.wrong(field, "a number"))?;
            Ok(Some(number))
        };
        let captured = row.optional_text("captured_utc")?.map(|text| text.parse());
        let captured = captured.transpose();
        let wrong_time =
            |_: jiff::Error| row.wrong("captured_utc", "an instant such as 2026-10-01T09:30:00Z");
        let answer = AnswerRow {
            line: row.line(),
            reference: row
                .get("reference")
                .cloned()
                .ok_or_else(|| row.wrong("reference", "the right answer"))?,
            vehicle: row.optional_text("vehicle")?,
            height: number("height_above_takeoff_m")?
                .as_ref()
                .and_then(HeightBin::of),
            pitch: number("pitch_deg")?.as_ref().and_then(PitchBin::of),
            captured: captured.map_err(wrong_time)?,
        };
        if answers.insert(id, answer).is_some() {
            return Err(row.wrong("id", "each id once"));
        }
    }
    Ok(answers)
}

/// A set in the making.
#[derive(Default)]
struct Builder {
    set: QuestionSet,
    scenes: HashMap<String, usize>,
    captured: BTreeMap<usize, Timestamp>,
    vehicles: HashMap<(usize, String), usize>,
}

impl Builder {
    fn add(
        &mut self,
        row: &Row,
        answers: &mut HashMap<String, AnswerRow>,
        declared: Option<ConventionName>,
    ) -> Result<(), QuestionsError> {
        let question = QuestionRow::read(row, declared).map_err(QuestionsError::Questions)?;
        if self.set.by_id.contains_key(&question.id) {
            return Err(QuestionsError::Questions(row.wrong("id", "each id once")));
        }
        let answer = answers.remove(&question.id).ok_or_else(|| {
            QuestionsError::Questions(row.wrong("id", "one that the answers have too"))
        })?;
        let rule = Rule::new(&question.config, &answer.reference).map_err(|error| {
            let found = answer.reference.to_string();
            let expected = format!("a reference for {}: {error}", question.id);
            QuestionsError::Answers(RowError::new(answer.line, "reference", &found, expected))
        })?;
        let scene = self.scene(question.scene, answer.captured);
        let asked = match question.component {
            Some(component) => Asked::Component(component, rule),
            None => self
                .view(rule, scene, &answer)
                .map_err(QuestionsError::Answers)?,
        };
        let place = self.set.questions.len();
        self.set.by_id.insert(question.id.clone(), place);
        self.set.questions.push(Question {
            id: question.id,
            scene,
            asked,
            height: answer.height,
            pitch: answer.pitch,
        });
        Ok(())
    }

    fn scene(&mut self, id: String, captured: Option<Timestamp>) -> usize {
        let n_scenes = self.scenes.len();
        let scene = *self.scenes.entry(id).or_insert(n_scenes);
        if let Some(time) = captured {
            let earliest = self.captured.entry(scene).or_insert(time);
            *earliest = time.min(*earliest);
        }
        scene
    }

    fn view(&mut self, rule: Rule, scene: usize, answer: &AnswerRow) -> Result<Asked, RowError> {
        let wrong =
            |field, found: &str, expected| RowError::new(answer.line, field, found, expected);
        let Rule::LabelPair(label) = &rule else {
            return Err(wrong(
                "reference",
                &answer.reference.to_string(),
                "a brand and a model",
            ));
        };
        let id = answer.vehicle.clone();
        let id =
            id.ok_or_else(|| wrong("vehicle", "nothing", "the vehicle that the crop shows"))?;
        let place = self.set.questions.len();
        let n_vehicles = self.set.vehicles.len();
        let vehicle = *self
            .vehicles
            .entry((scene, id.clone()))
            .or_insert(n_vehicles);
        if vehicle == n_vehicles {
            self.set.vehicles.push(Vehicle {
                id,
                scene,
                label: label.clone(),
                views: Vec::new(),
            });
        }
        let known = &mut self.set.vehicles[vehicle];
        if known.label != *label {
            let found = answer.reference.to_string();
            return Err(wrong(
                "reference",
                &found,
                "the label of the vehicle's other views",
            ));
        }
        known.views.push(place);
        Ok(Asked::View { rule, vehicle })
    }

    /// Puts the scenes into the order of capture. Unknown times come first, then ids decide.
    fn finish(mut self) -> Result<QuestionSet, QuestionsError> {
        if self.set.questions.is_empty() {
            return Err(QuestionsError::Empty);
        }
        let mut order: Vec<(Option<Timestamp>, String, usize)> = self
            .scenes
            .into_iter()
            .map(|(id, scene)| (self.captured.get(&scene).copied(), id, scene))
            .collect();
        order.sort();
        let mut new_place = vec![0; order.len()];
        for (place, (_, _, scene)) in order.iter().enumerate() {
            new_place[*scene] = place;
        }
        let questions = self
            .set
            .questions
            .iter_mut()
            .map(|question| &mut question.scene);
        let vehicles = self
            .set
            .vehicles
            .iter_mut()
            .map(|vehicle| &mut vehicle.scene);
        questions
            .chain(vehicles)
            .for_each(|scene| *scene = new_place[*scene]);
        self.set.scenes = order.into_iter().map(|(_, id, _)| id).collect();
        Ok(self.set)
    }
}

/// A row of the questions.
struct QuestionRow {
    id: String,
    scene: String,
    /// None for recognition, whose responses feed several.
    component: Option<Component>,
    config: Config,
}

impl QuestionRow {
    fn read(row: &Row, declared: Option<ConventionName>) -> Result<Self, RowError> {
        let id = row.text("id")?;
        let scene = row.text("scene")?;
        let task = row.text("task")?;
        let task = Task::find(&task).ok_or_else(|| row.wrong("task", "one of the 17 tasks"))?;
        let config = row
            .get("config")
            .ok_or_else(|| row.wrong("config", "an object"))?;
        let config: Config = serde_json::from_value(config.clone())
            .map_err(|error| row.wrong("config", format!("a configuration ({error})")))?;
        let component = component_of(row, task)?;
        let needed = component.map_or(AnswerType::LabelPair, Component::answer);
        if config.answer() != needed {
            let expected = format!("the type {:?} for {task}", needed.id());
            return Err(row.wrong("config", expected));
        }
        let config = match declared {
            Some(convention) => config.with_convention(convention),
            None => config,
        };
        Ok(Self {
            id,
            scene,
            component,
            config,
        })
    }
}

fn component_of(row: &Row, task: Task) -> Result<Option<Component>, RowError> {
    let name = row.optional_text("component")?;
    if task.is_recognition() {
        if task == Task::BV {
            let expected = "BI: a view's response feeds BI and BV";
            return Err(row.wrong("task", expected));
        }
        return match name {
            None => Ok(None),
            Some(_) => Err(row.wrong("component", "none: a view's response feeds all four")),
        };
    }
    let components: Vec<&str> = task.components().map(Component::name).collect();
    let found = name.and_then(|name| Component::find(task, &name));
    let expected = || row.wrong("component", format!("one of {}", components.join(", ")));
    found.map(Some).ok_or_else(expected)
}
