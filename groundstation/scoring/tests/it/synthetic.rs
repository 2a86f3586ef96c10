//! An invented evaluation of the paper's size or smaller: questions, answers and what models said.

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{RngCore, SeedableRng};
use std::fmt::Write as _;

/// Records of the full collection by component: 35,491, in the proportions that the paper's numbers imply.
const RECORDS: [(&str, &str, usize); 22] = [
    ("SC", "count", 960),
    ("SR", "grid", 480),
    ("SR", "extreme", 480),
    ("WU", "weather", 480),
    ("VH", "heading", 209),
    ("LW", "length", 650),
    ("LW", "width", 650),
    ("HT", "height", 650),
    ("RD", "nearest", 57),
    ("RD", "farthest", 38),
    ("AD", "distance", 2_400),
    ("CC", "union", 1_541),
    ("CC", "intersection", 1_541),
    ("CC", "difference", 1_542),
    ("CG", "target", 1_442),
    ("RI", "target", 1_417),
    ("CP", "height", 480),
    ("CP", "pitch", 480),
    ("PC", "azimuth", 403),
    ("PC", "elevation", 403),
    ("CL", "gps", 480),
    ("CH", "hour", 480),
];
const VIEWS: usize = 18_228;
const VEHICLES: usize = 325;
const SCENES: usize = 10;

const BRANDS: [&str; 8] = [
    "BYD",
    "Tesla",
    "Citroën",
    "Škoda",
    "GAC AION",
    "Mercedes-Benz",
    "Geely",
    "MG",
];
const MODELS: [&str; 6] = [
    "Han",
    "Model Y",
    "C5 Aircross",
    "Octavia  RS",
    "Y Plus",
    "4",
];
const WEATHER: [&str; 5] = ["sunny", "cloudy", "overcast", "rainy", "foggy"];

/// The three files of an evaluation.
pub(crate) struct Files {
    pub(crate) questions: String,
    pub(crate) answers: String,
    pub(crate) predictions: String,
    /// Questions, and as many responses of each model.
    pub(crate) n_questions: usize,
}

/// A question as the generator knows it.
struct Invented {
    id: String,
    right: Right,
}

enum Right {
    Label(usize, usize),
    Count(u32),
    Hour(u32),
    Choice(usize),
    /// Thousandths.
    Number(i64),
    Box([u32; 4]),
    Place(i64, i64),
}

struct Dice(ChaCha8Rng);

impl Dice {
    fn below(&mut self, n: u32) -> u32 {
        self.0.next_u32() % n
    }

    fn place(&mut self, n: usize) -> usize {
        self.0.next_u32() as usize % n
    }

    fn within(&mut self, low: i64, high: i64) -> i64 {
        low + i64::from(self.0.next_u32()) % (high - low + 1)
    }
}

/// Invents an evaluation with one of `divisor` of the paper's records and some models.
pub(crate) fn invent(divisor: usize, n_models: usize) -> Files {
    let mut dice = Dice(ChaCha8Rng::seed_from_u64(35_491));
    let mut files = Files {
        questions: String::new(),
        answers: String::new(),
        predictions: String::new(),
        n_questions: 0,
    };
    let mut invented = Vec::new();
    for view in 0..VIEWS / divisor {
        let n_vehicles = (VEHICLES / divisor).max(SCENES);
        let vehicle = view % n_vehicles;
        let right = Right::Label(vehicle % BRANDS.len(), vehicle % MODELS.len());
        let more = format!(r#","vehicle":"v{vehicle}""#);
        files.ask(
            &mut dice,
            &mut invented,
            vehicle % SCENES,
            ("BI", "", right, &more),
        );
    }
    for (task, component, n) in RECORDS {
        for _ in 0..(n / divisor).max(SCENES) {
            let right = right_of(&mut dice, task, component);
            let scene = invented.len() % SCENES;
            files.ask(
                &mut dice,
                &mut invented,
                scene,
                (task, component, right, ""),
            );
        }
    }
    files.n_questions = invented.len();
    for model in 0..n_models {
        for question in &invented {
            let skill = 20 + 60 * model as u32 / n_models.max(1) as u32;
            let said = respond(&mut dice, &question.right, skill);
            let said = serde_json::to_string(&said).expect("a text");
            let id = &question.id;
            writeln!(
                files.predictions,
                r#"{{"model":"model-{model:02}","id":"{id}","response":{said}}}"#
            )
            .expect("a String takes everything");
        }
    }
    files
}

impl Files {
    fn ask(
        &mut self,
        dice: &mut Dice,
        invented: &mut Vec<Invented>,
        scene: usize,
        (task, component, right, more): (&str, &str, Right, &str),
    ) {
        let id = format!("q{:05}", invented.len());
        let schema = |name: &str| {
            if invented.is_empty() {
                format!(r#""schema":"{name}/1","#)
            } else {
                String::new()
            }
        };
        let named = if component.is_empty() {
            String::new()
        } else {
            format!(r#""component":"{component}","#)
        };
        writeln!(
            self.questions,
            r#"{{{}"id":"{id}","scene":"scene-{scene}","task":"{task}",{named}"config":{}}}"#,
            schema("score-questions"),
            config_of(task, component),
        )
        .expect("a String takes everything");
        let height = dice.within(1, 125);
        let pitch = [-30, -45, -60, -90, -74][dice.place(5)];
        writeln!(
            self.answers,
            r#"{{{}"id":"{id}","reference":{},"height_above_takeoff_m":{height},"pitch_deg":{pitch},"captured_utc":"2026-10-0{}T09:00:00Z"{more}}}"#,
            schema("score-answers"),
            reference_of(&right),
            9 - scene.min(8),
        )
        .expect("a String takes everything");
        invented.push(Invented { id, right });
    }
}

fn config_of(task: &str, component: &str) -> &'static str {
    match (task, component) {
        ("BI", _) => r#"{"type":"label_pair"}"#,
        ("SC" | "CC", _) => r#"{"type":"count","score":"mra"}"#,
        ("WU", _) => {
            r#"{"type":"choice","candidates":["sunny","cloudy","overcast","rainy","foggy"]}"#
        }
        ("VH", _) | (_, "azimuth") => {
            r#"{"type":"number","score":"angle","min":0,"max":360,"period":360,"normalize":true}"#
        }
        ("LW" | "HT", _) => r#"{"type":"number","score":"mra","positive":true}"#,
        ("AD", _) | ("CP", "height") => r#"{"type":"number","score":"mra","min":0}"#,
        (_, "pitch" | "elevation") => r#"{"type":"number","score":"angle","min":0,"max":90}"#,
        ("CL", _) => r#"{"type":"gps"}"#,
        ("CH", _) => r#"{"type":"number","score":"exact","format":"integer","min":0,"max":23}"#,
        _ => r#"{"type":"box","width":5472,"height":3648}"#,
    }
}

fn right_of(dice: &mut Dice, task: &str, component: &str) -> Right {
    match (task, component) {
        ("SC" | "CC", _) => Right::Count(dice.below(40) + 1),
        ("WU", _) => Right::Choice(dice.place(WEATHER.len())),
        ("VH", _) | (_, "azimuth") => Right::Number(dice.within(0, 3_599) * 100),
        ("LW" | "HT", _) => Right::Number(dice.within(1_400, 5_200) * 1_000),
        ("AD", _) | ("CP", "height") => Right::Number(dice.within(20_000, 150_000)),
        (_, "pitch" | "elevation") => Right::Number(dice.within(100, 900) * 100),
        ("CL", _) => Right::Place(
            dice.within(-80_000_000, 80_000_000),
            dice.within(-170_000_000, 170_000_000),
        ),
        ("CH", _) => Right::Hour(dice.below(24)),
        _ => {
            let (x, y) = (dice.below(900), dice.below(900));
            Right::Box([x, y, x + 20 + dice.below(80), y + 20 + dice.below(80)])
        }
    }
}

/// Thousandths as people write them.
fn decimal(thousandths: i64) -> String {
    let text = format!(
        "{}.{:03}",
        thousandths.abs() / 1_000,
        thousandths.abs() % 1_000
    );
    let sign = if thousandths < 0 { "-" } else { "" };
    format!("{sign}{}", text.trim_end_matches('0').trim_end_matches('.'))
}

fn degrees(millionths: i64) -> String {
    let sign = if millionths < 0 { "-" } else { "" };
    format!(
        "{sign}{}.{:06}",
        millionths.abs() / 1_000_000,
        millionths.abs() % 1_000_000
    )
}

fn reference_of(right: &Right) -> String {
    match right {
        Right::Label(brand, model) => {
            format!(
                r#"{{"brand":"{}","model":"{}"}}"#,
                BRANDS[*brand], MODELS[*model]
            )
        }
        Right::Count(n) | Right::Hour(n) => n.to_string(),
        Right::Choice(i) => format!("{:?}", WEATHER[*i]),
        Right::Number(value) => format!("{:?}", decimal(*value)),
        Right::Box(edges) => format!("{edges:?}"),
        Right::Place(latitude, longitude) => {
            format!("[{},{}]", degrees(*latitude), degrees(*longitude))
        }
    }
}

/// What a model says: right, near, far or nonsense.
fn respond(dice: &mut Dice, right: &Right, skill_percent: u32) -> String {
    if dice.below(100) < 4 {
        return [
            "",
            "I cannot tell.",
            "[1,2",
            "{\"brand\": ",
            "nan",
            "12 cars",
        ][dice.place(6)]
        .to_owned();
    }
    let is_good = dice.below(100) < skill_percent;
    let off = |dice: &mut Dice, near: i64, far: i64| {
        let most = if is_good { near } else { far };
        dice.within(-most, most)
    };
    match right {
        Right::Label(brand, model) => {
            let miss = |dice: &mut Dice, i: usize, n: usize| {
                if is_good { i } else { (i + dice.place(n)) % n }
            };
            let brand = BRANDS[miss(dice, *brand, BRANDS.len())];
            let model = MODELS[miss(dice, *model, MODELS.len())];
            match dice.below(4) {
                0 => format!(
                    "```json\n{{\"brand\": \"{}\", \"model\": \"{model}\"}}\n```",
                    brand.to_uppercase()
                ),
                1 => format!(
                    "{{\"brand\": \"{brand}\", \"model\": \" {model} \", \"confidence\": 0.7}}"
                ),
                2 if model == "4" => format!("{{\"brand\":\"{brand}\",\"model\":4}}"),
                _ => format!("{{\"brand\":\"{brand}\",\"model\":\"{model}\"}}"),
            }
        }
        Right::Count(n) => (i64::from(*n) + off(dice, 2, 20)).max(0).to_string(),
        Right::Hour(n) if is_good => n.to_string(),
        Right::Hour(_) => dice.below(24).to_string(),
        Right::Choice(i) if is_good => format!(" {}\n", WEATHER[*i]),
        Right::Choice(_) => WEATHER[dice.place(WEATHER.len())].to_owned(),
        Right::Number(value) => {
            // Whole percents of the value now and then: errors that are exactly a threshold.
            let error = match dice.below(3) {
                0 => *value * off(dice, 10, 60) / 100,
                1 => off(dice, 6, 60) * 1_000,
                _ => off(dice, 4_000, 90_000),
            };
            decimal(*value + error)
        }
        Right::Box(edges) => {
            let moved = edges.map(|edge| (i64::from(edge) + off(dice, 9, 60)).clamp(0, 1_000));
            format!("[{}, {}, {}, {}]", moved[0], moved[1], moved[2], moved[3])
        }
        Right::Place(latitude, longitude) => format!(
            "[{}, {}]",
            degrees(*latitude + off(dice, 200_000, 5_000_000)),
            degrees(*longitude + off(dice, 200_000, 5_000_000))
        ),
    }
}
