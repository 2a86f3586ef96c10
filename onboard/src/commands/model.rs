//! `onboard model inspect`: what a model is and how fast it is here.

use super::{EngineArgs, load};
use clap::Args;
use console::{ExitStatus, print_json};
use detector::{
    DetectOptions, Detector, DetectorError, ModelInfo, RgbImage, ScaleChoice, SelfTest,
};
use serde::Serialize;
use std::path::PathBuf;
use std::time::Instant;

/// The photo that is timed: 12 megapixels in which cars are this long, as from 60 metres.
const PHOTO_PX: (u32, u32) = (4000, 3000);
const CAR_IN_PHOTO_PX: f64 = 220.0;

/// Arguments of `model inspect`.
#[derive(Debug, Args)]
pub struct InspectArgs {
    /// The ONNX model; without it ours, which is built in.
    model: Option<PathBuf>,
    #[command(flatten)]
    engine: EngineArgs,
    /// Print one JSON object.
    #[arg(long)]
    json: bool,
}

#[derive(Serialize)]
struct Report<'a> {
    schema: &'static str,
    model: &'a ModelInfo,
    timed: Timed,
    self_test: SelfTest,
}

/// One photo, decoded, from pixels to boxes.
#[derive(Serialize)]
struct Timed {
    photo_width_px: u32,
    photo_height_px: u32,
    car_px: f64,
    tiles: usize,
    first_run_s: f64,
    run_s: f64,
}

pub(super) fn inspect(args: &InspectArgs) -> anyhow::Result<ExitStatus> {
    let engine = args.engine.options(args.engine.n_threads());
    let mut detector = load(args.model.as_ref(), &engine)?;
    let timed = time(&mut detector)?;
    let self_test = detector.self_test()?;
    let report = Report {
        schema: "model/1",
        model: detector.info(),
        timed,
        self_test,
    };
    if args.json {
        print_json(&report)?;
    } else {
        print(&report);
    }
    Ok(ExitStatus::Done)
}

fn time(detector: &mut Detector) -> Result<Timed, DetectorError> {
    let (width, height) = PHOTO_PX;
    let grey = RgbImage::new(width, height, vec![114; (width * height * 3) as usize])?;
    let factor = detector.info().car_range.best_px / CAR_IN_PHOTO_PX;
    let options = DetectOptions {
        scale: ScaleChoice::Factor(factor),
        ..DetectOptions::default()
    };
    let mut run = || {
        let started = Instant::now();
        let found = detector.detect(&grey, None, &options)?;
        Ok::<_, DetectorError>((started.elapsed().as_secs_f64(), found.tiles))
    };
    let (first_run_s, tiles) = run()?;
    let (run_s, _) = run()?;
    Ok(Timed {
        photo_width_px: width,
        photo_height_px: height,
        car_px: CAR_IN_PHOTO_PX,
        tiles,
        first_run_s,
        run_s,
    })
}

fn print(report: &Report<'_>) {
    let model = report.model;
    let row = |label: &str, value: String| println!("{label:<14} {value}");
    let unknown = || "not stated".to_owned();
    row("sha256", model.sha256.clone());
    row(
        "description",
        model.description.clone().unwrap_or_else(unknown),
    );
    row("licence", model.license.clone().unwrap_or_else(unknown));
    row("opset", model.opset.map_or_else(unknown, |n| n.to_string()));
    row("output", model.layout.to_string());
    row("input", input_in_words(model));
    row(
        "cars",
        format!(
            "best {:.0} px long in the input, {:.0} to {:.0} px work",
            model.car_range.best_px, model.car_range.shortest_px, model.car_range.longest_px
        ),
    );
    row("min score", format!("{}", model.score_threshold));
    for (index, class) in model.classes.iter().enumerate() {
        let meaning = match class.class {
            Some(class) => format!("{class:?}"),
            None => "ignored".to_owned(),
        };
        row(
            if index == 0 { "classes" } else { "" },
            format!("{index} {} -> {meaning}", class.name),
        );
    }
    let engine = &model.engine;
    let library = match &engine.library {
        Some(path) => format!(", {}", path.display()),
        None => String::new(),
    };
    let runs = format!(
        "{} {} on {}{library}",
        engine.name, engine.version, engine.provider
    );
    row("engine", runs);
    for reason in &engine.passed_over {
        row("", format!("passed over: {reason}"));
    }
    let timed = &report.timed;
    row(
        "one photo",
        format!(
            "{:.3} s ({} x {} px decoded, cars {:.0} px long, {} tiles; the first {:.3} s)",
            timed.run_s,
            timed.photo_width_px,
            timed.photo_height_px,
            timed.car_px,
            timed.tiles,
            timed.first_run_s
        ),
    );
    row("self-test", self_test_in_words(&report.self_test));
    if report.self_test.is_doubtful() {
        eprintln!("{}", doubt_in_words(&report.self_test));
    }
}

/// How a model did on the picture that is built in.
pub(super) fn self_test_in_words(tested: &SelfTest) -> String {
    let angle = tested.angle_error_deg.map_or_else(String::new, |error| {
        format!(", long sides {error:.1} degrees off (median)")
    });
    format!(
        "{} of the {} vehicles of a rendered picture found, {} wrong boxes{angle}",
        tested.found, tested.vehicles, tested.wrong
    )
}

/// What to do about a model that did badly there.
pub(super) fn doubt_in_words(tested: &SelfTest) -> String {
    format!(
        "the model may be broken: {}. Half-precision and INT8 conversions, other colours or another \
         scale do that; look at --overlay pictures, or measure it with `groundstation detect eval`",
        self_test_in_words(tested)
    )
}

fn input_in_words(model: &ModelInfo) -> String {
    let input = &model.input;
    let side = |fixed: Option<u32>| match fixed {
        Some(px) => px.to_string(),
        None => format!("any multiple of {}", input.multiple),
    };
    let numbers = if input.half { "16-bit" } else { "32-bit" };
    format!(
        "{}: {} x {} px (width x height), {numbers} floats, {:?}",
        input.name,
        side(input.width),
        side(input.height),
        model.normalisation.order
    )
}
