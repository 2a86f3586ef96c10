//! The command `simulator`.

use clap::{Args, Parser, Subcommand, ValueEnum};
use jiff::Timestamp;
use simulator::dataset::{DatasetSpec, Progress, render_dataset};
use simulator::facts::write_facts;
use simulator::processed::{NoiseSpec, ProcessedSpec, noise_help, write_scene};
use simulator::truth::Truth;
use simulator::{SimulatorError, SiteKind, Weather};
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Instant;

/// A world with known truth.
#[derive(Parser)]
#[command(name = "simulator", version)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Renders drone photos of a car park with their truth.
    Render(Box<RenderArgs>),
    /// Writes a scene as the ground station has it after ingest, pose and detect, from truth with
    /// errors of stated size; nothing is rendered, solved or detected.
    Scene(Box<SceneArgs>),
    /// Writes what a perfect reviewer would enter, as sheets.
    Facts(FactsArgs),
}

#[derive(Clone, Copy, ValueEnum)]
enum Kind {
    Perpendicular,
    Herringbone,
    Street,
    Gravel,
}

#[derive(Clone, Copy, ValueEnum)]
enum Sky {
    Clear,
    Hazy,
    Overcast,
}

#[derive(Args)]
struct WorldArgs {
    /// Everything random follows from it.
    #[arg(long)]
    seed: u64,
    /// How many photos.
    #[arg(long, default_value_t = 60)]
    photos: usize,
    /// Picture size in pixels.
    #[arg(long, default_value = "1600x1200", value_parser = parse_size)]
    size: [u32; 2],
    /// Metres between the centres of neighbouring places in a row, 2.5 to 8.
    #[arg(long)]
    spacing: Option<f64>,
    /// How many vehicles; by default 20 to 60.
    #[arg(long)]
    cars: Option<usize>,
    /// Heights above take-off, metres.
    #[arg(long, value_delimiter = ',', default_value = "30,60,100")]
    heights: Vec<f64>,
    /// Downward pitches, degrees.
    #[arg(long, value_delimiter = ',', default_value = "30,45,60,90")]
    pitches: Vec<f64>,
    /// Kind of car park; by default as the seed has it.
    #[arg(long, value_enum)]
    site: Option<Kind>,
    /// Sky; by default as the seed has it.
    #[arg(long, value_enum)]
    weather: Option<Sky>,
    /// Time of the first photo, as 2026-05-12T10:00:00Z; by default as the seed has it.
    #[arg(long)]
    start: Option<Timestamp>,
    /// Threads; 0 takes all. The output does not depend on it.
    #[arg(long, default_value_t = 0)]
    threads: usize,
    /// One JSON object on stdout at the end.
    #[arg(long)]
    json: bool,
}

#[derive(Args)]
#[command(allow_negative_numbers = true)]
struct RenderArgs {
    /// Folder for the photos and truth.json; new, empty or an earlier output.
    #[arg(long)]
    out: PathBuf,
    #[command(flatten)]
    world: WorldArgs,
    #[command(flatten)]
    errors: ErrorArgs,
    /// Share of photos without XMP, 0 to 1.
    #[arg(long, default_value_t = 0.0)]
    without_xmp: f64,
    /// Share of photos without a position, 0 to 1.
    #[arg(long, default_value_t = 0.0)]
    without_gps: f64,
    /// JPEG quality.
    #[arg(long, default_value_t = 92)]
    quality: u8,
}

#[derive(Args)]
#[command(allow_negative_numbers = true)]
struct SceneArgs {
    /// Folder for the scene, with truth.json inside; new, empty or an earlier output.
    #[arg(long)]
    out: PathBuf,
    #[command(flatten)]
    world: WorldArgs,
    #[arg(long, value_name = "SPEC", help = noise_help())]
    noise: Option<NoiseSpec>,
}

#[derive(Args)]
struct ErrorArgs {
    /// GPS error along each horizontal axis, metres (standard deviation).
    #[arg(long)]
    gps_sigma: Option<f64>,
    /// Correlation time of the GPS error, seconds.
    #[arg(long)]
    gps_correlation: Option<f64>,
    /// Error of the height above take-off that is steady in a flight, metres.
    #[arg(long)]
    height_offset_sigma: Option<f64>,
    /// Drift of the height above take-off, metres.
    #[arg(long)]
    height_drift_sigma: Option<f64>,
    /// Error of the height above the sea that is steady in a flight, metres.
    #[arg(long)]
    absolute_height_sigma: Option<f64>,
    /// Gimbal error photo by photo, degrees.
    #[arg(long)]
    gimbal_sigma: Option<f64>,
    /// Steady error of the gimbal's yaw, degrees.
    #[arg(long)]
    yaw_offset_sigma: Option<f64>,
    /// Steady error of the camera's clock, seconds.
    #[arg(long)]
    clock_sigma: Option<f64>,
}

#[derive(Args)]
struct FactsArgs {
    /// The truth.json of a rendered folder.
    #[arg(long)]
    truth: PathBuf,
    /// Folder for the sheets.
    #[arg(long)]
    out: PathBuf,
    /// One JSON object on stdout at the end.
    #[arg(long)]
    json: bool,
}

fn parse_size(text: &str) -> Result<[u32; 2], String> {
    let parts: Vec<u32> = text
        .split('x')
        .filter_map(|part| part.parse().ok())
        .collect();
    match parts[..] {
        [width, height] if text.matches('x').count() == 1 => Ok([width, height]),
        _ => Err("write it as width x height in pixels, such as 1600x1200".to_owned()),
    }
}

fn world_spec(args: &WorldArgs) -> DatasetSpec {
    let mut spec = DatasetSpec::new(args.seed);
    spec.site.kind = args.site.map(|kind| match kind {
        Kind::Perpendicular => SiteKind::Perpendicular,
        Kind::Herringbone => SiteKind::Herringbone,
        Kind::Street => SiteKind::Street,
        Kind::Gravel => SiteKind::Gravel,
    });
    spec.site.weather = args.weather.map(|sky| match sky {
        Sky::Clear => Weather::Clear,
        Sky::Hazy => Weather::Hazy,
        Sky::Overcast => Weather::Overcast,
    });
    spec.site.n_vehicles = args.cars;
    spec.site.spacing_m = args.spacing;
    spec.site.start = args.start;
    spec.n_photos = args.photos;
    spec.heights_m.clone_from(&args.heights);
    spec.pitches_deg.clone_from(&args.pitches);
    spec.size_px = args.size;
    spec.threads = args.threads;
    spec
}

fn spec_of(args: &RenderArgs) -> DatasetSpec {
    let mut spec = world_spec(&args.world);
    spec.share_without_xmp = args.without_xmp;
    spec.share_without_gps = args.without_gps;
    spec.quality = args.quality;
    let wishes = &args.errors;
    for (target, wish) in [
        (&mut spec.errors.gps_sigma_m, wishes.gps_sigma),
        (&mut spec.errors.gps_correlation_s, wishes.gps_correlation),
        (
            &mut spec.errors.height_offset_sigma_m,
            wishes.height_offset_sigma,
        ),
        (
            &mut spec.errors.height_drift_sigma_m,
            wishes.height_drift_sigma,
        ),
        (
            &mut spec.errors.absolute_height_sigma_m,
            wishes.absolute_height_sigma,
        ),
        (&mut spec.errors.gimbal_sigma_deg, wishes.gimbal_sigma),
        (
            &mut spec.errors.yaw_offset_sigma_deg,
            wishes.yaw_offset_sigma,
        ),
        (&mut spec.errors.clock_sigma_s, wishes.clock_sigma),
    ] {
        if let Some(value) = wish {
            *target = value;
        }
    }
    spec
}

fn render(args: &RenderArgs) -> Result<(), SimulatorError> {
    let begun = Instant::now();
    let progress = |event: Progress| match event {
        Progress::World { n_vehicles } => eprintln!("world: {n_vehicles} vehicles"),
        Progress::Stage => eprintln!("stage ready after {:.1} s", begun.elapsed().as_secs_f64()),
        Progress::Photos { done, of } => {
            if done % 10 == 0 || done == of {
                eprintln!(
                    "photo {done} of {of}, {:.1} s",
                    begun.elapsed().as_secs_f64()
                );
            }
        }
    };
    let truth = render_dataset(&spec_of(args), &args.out, &progress)?;
    if args.world.json {
        let summary = serde_json::json!({
            "schema": "simulator-render/1",
            "folder": args.out,
            "photos": truth.photos.len(),
            "vehicles": truth.vehicles.len(),
            "views": truth.views.len(),
            "flights": truth.photos.last().map_or(0, |p| p.flight),
            "site": truth.site.kind,
            "weather": truth.site.weather,
            "seconds": begun.elapsed().as_secs_f64(),
        });
        println!("{summary}");
    }
    Ok(())
}

fn scene(args: &SceneArgs) -> Result<(), SimulatorError> {
    let begun = Instant::now();
    let spec = ProcessedSpec {
        dataset: world_spec(&args.world),
        noise: args.noise.unwrap_or_default(),
    };
    let truth = write_scene(&spec, &args.out)?;
    if args.world.json {
        let detections = truth.processed.iter().flat_map(|p| &p.detections);
        let summary = serde_json::json!({
            "schema": "simulator-scene/1",
            "folder": args.out,
            "photos": truth.photos.len(),
            "vehicles": truth.vehicles.len(),
            "views": truth.views.len(),
            "detections": detections.map(Vec::len).sum::<usize>(),
            "flights": truth.photos.last().map_or(0, |p| p.flight),
            "site": truth.site.kind,
            "seconds": begun.elapsed().as_secs_f64(),
        });
        println!("{summary}");
    }
    Ok(())
}

fn facts(args: &FactsArgs) -> Result<(), SimulatorError> {
    let truth = Truth::read(&args.truth)?;
    write_facts(&truth, &args.out)?;
    if args.json {
        let summary = serde_json::json!({
            "schema": "simulator-facts/1",
            "folder": args.out,
            "vehicles": truth.vehicles.len(),
            "views": truth.views.len(),
        });
        println!("{summary}");
    }
    Ok(())
}

/// The sentence with its causes.
fn explain(error: &SimulatorError) -> String {
    let mut text = format!("simulator: {error}");
    let mut cause = std::error::Error::source(error);
    while let Some(inner) = cause {
        text.push_str(&format!(": {inner}"));
        cause = inner.source();
    }
    text
}

/// A panic is our fault: after its message the program ends with code 2, whichever thread it was.
fn end_with_two_on_panic() {
    let print = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |info| {
        print(info);
        std::process::exit(2);
    }));
}

fn main() -> ExitCode {
    end_with_two_on_panic();
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => {
            let code = if error.use_stderr() { 1 } else { 0 };
            // Nothing sensible is left to do when the terminal is gone.
            let _ = error.print();
            return ExitCode::from(code);
        }
    };
    let outcome = match &cli.command {
        Command::Render(args) => render(args),
        Command::Scene(args) => scene(args),
        Command::Facts(args) => facts(args),
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{}", explain(&error));
            ExitCode::from(if error.input_at_fault() { 1 } else { 2 })
        }
    }
}
