//! `onboard plan`: from a site polygon to a capture plan and its exports.

use anyhow::Context;
use calibration::{CameraProfile, profiles};
use clap::Args;
use console::{Cancel, ExitStatus, Progress, print_json};
use flightplans::export::{Format, export};
use flightplans::{FlightPlan, PlanError, PlanSpec, Relief, Request, Site, report};
use record::{DiskStorage, write_durably};
use serde::Serialize;
use sha2::{Digest, Sha256};
use std::path::{Path, PathBuf};

/// Arguments of `plan`.
#[derive(Debug, Args)]
pub struct PlanArgs {
    /// The site: GeoJSON, KML, or a QGroundControl plan's polygons.
    #[arg(long)]
    site: PathBuf,
    /// The camera: id of a profile that comes with the program, or the path of one.
    #[arg(long)]
    camera: String,
    /// What is asked for (TOML); without it three heights, four pitches, three views.
    #[arg(long)]
    spec: Option<PathBuf>,
    /// Terrain tiles (SRTM .hgt, GeoTIFF in degrees) or folders of them; without it flat ground is
    /// assumed.
    #[arg(long, value_name = "PATH")]
    terrain: Vec<PathBuf>,
    /// Where the plan goes.
    #[arg(long, value_name = "PLAN.json")]
    out: PathBuf,
    /// The plan for another program: qgc, waypoints, kml, geojson, wpml or csv. What an autopilot
    /// cannot hold in one file becomes PATH with -1, -2, ... before its ending.
    #[arg(long, value_name = "FORMAT=PATH", value_parser = export_arg)]
    export: Vec<(Format, PathBuf)>,
    /// A page with map, matrix and profile.
    #[arg(long, value_name = "PLAN.html")]
    report: Option<PathBuf>,
    /// Rounds of the search for a shorter flight, instead of the spec's: 20 take part of a second,
    /// 5000 a minute or two.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(0..=100_000))]
    rounds: Option<u32>,
    /// An earlier plan of the site, whose cells are kept.
    #[arg(long, value_name = "PLAN.json")]
    repeat: Option<PathBuf>,
    /// When it is to be flown, such as 2026-06-21T10:00:00Z: for the sun.
    #[arg(long, value_name = "UTC")]
    at: Option<jiff::Timestamp>,
    /// Print one JSON object.
    #[arg(long)]
    json: bool,
}

#[derive(Serialize)]
struct Summary<'a> {
    schema: &'static str,
    plan: &'a Path,
    written: &'a [PathBuf],
    time: &'a flightplans::plan::TimeRecord,
    matching: &'a flightplans::plan::Matching,
    is_covered: bool,
    n_infeasible: usize,
    assumptions: &'a [String],
    warnings: &'a [String],
}

fn export_arg(text: &str) -> Result<(Format, PathBuf), String> {
    let formats = || Format::names().join(", ");
    let (name, path) = text
        .split_once('=')
        .filter(|(_, path)| !path.is_empty())
        .ok_or_else(|| format!("expected FORMAT=PATH with FORMAT one of {}", formats()))?;
    let format = Format::from_name(name)
        .ok_or_else(|| format!("unknown format {name:?}, expected one of {}", formats()))?;
    Ok((format, path.into()))
}

pub(super) fn run(args: &PlanArgs, quiet: bool, cancel: &Cancel) -> anyhow::Result<ExitStatus> {
    let site = Site::load(&args.site)?;
    let profile = camera(&args.camera)?;
    let mut spec = match &args.spec {
        Some(path) => PlanSpec::load(path)?,
        None => PlanSpec::default(),
    };
    spec.search.rounds = args.rounds.unwrap_or(spec.search.rounds);
    let relief = match args.terrain.as_slice() {
        [] => Relief::Flat,
        paths => Relief::load(paths, &site)?,
    };
    let earlier = args.repeat.as_deref().map(earlier).transpose()?;
    let progress = progress(quiet, spec.search.rounds);
    let goes_on = |done: u32, _: u32| {
        progress.set(u64::from(done));
        !cancel.is_requested()
    };
    let plan = flightplans::plan(&Request {
        site: &site,
        profile: &profile,
        spec: &spec,
        relief: &relief,
        repeat: earlier
            .as_ref()
            .map(|(plan, digest)| (plan, digest.clone())),
        at: args.at,
        progress: Some(&goes_on),
    })?;
    progress.finish(&format!("{} photos", plan.time.n_photos));
    if cancel.is_requested() {
        eprintln!("interrupted; nothing was written");
        return Ok(ExitStatus::Interrupted);
    }
    let written = write_all(args, &plan)?;
    if args.json {
        print_json(&summary(args, &plan, &written))?;
    } else {
        print(&plan, &written);
    }
    Ok(ExitStatus::Done)
}

/// Quick plans need none.
const MIN_SHOWN_ROUNDS: u32 = 100;

fn progress(quiet: bool, rounds: u32) -> Progress {
    let (title, total) = ("search", u64::from(rounds));
    if quiet || rounds < MIN_SHOWN_ROUNDS {
        Progress::silent(title, total)
    } else {
        Progress::new(title, total)
    }
}

fn camera(wanted: &str) -> anyhow::Result<CameraProfile> {
    if let Some(profile) = profiles::by_id(wanted) {
        return Ok(profile.clone());
    }
    let path = Path::new(wanted);
    if path.exists() || wanted.ends_with(".toml") {
        return Ok(CameraProfile::load(path)?);
    }
    let known: Vec<&str> = profiles::shipped()
        .iter()
        .map(|profile| profile.id.as_str())
        .collect();
    Err(PlanError::UnknownCamera {
        wanted: wanted.to_owned(),
        known: known.join(", "),
    }
    .into())
}

fn earlier(path: &Path) -> anyhow::Result<(FlightPlan, String)> {
    let bytes = std::fs::read(path).map_err(|source| PlanError::Read {
        path: path.to_owned(),
        source,
    })?;
    let digest = Sha256::digest(&bytes)
        .iter()
        .map(|byte| format!("{byte:02x}"))
        .collect();
    Ok((FlightPlan::parse(&bytes, path)?, digest))
}

/// Everything is made before anything is written.
fn write_all(args: &PlanArgs, plan: &FlightPlan) -> anyhow::Result<Vec<PathBuf>> {
    let mut files = vec![(args.out.clone(), plan.to_json().into_bytes())];
    for (format, path) in &args.export {
        let parts = export(plan, *format)?;
        let n_parts = parts.len();
        for (index, bytes) in parts.into_iter().enumerate() {
            let path = if n_parts == 1 {
                path.clone()
            } else {
                numbered(path, index + 1)
            };
            files.push((path, bytes));
        }
    }
    if let Some(path) = &args.report {
        files.push((path.clone(), report::html(plan).into_bytes()));
    }
    let mut written = Vec::new();
    for (path, bytes) in files {
        write_durably(&DiskStorage, &path, &bytes)
            .with_context(|| format!("writing {}", path.display()))?;
        written.push(path);
    }
    Ok(written)
}

/// `plan.waypoints` as `plan-2.waypoints`.
fn numbered(path: &Path, number: usize) -> PathBuf {
    let stem = path.file_stem().unwrap_or_default().to_string_lossy();
    let ending = path
        .extension()
        .map(|ending| format!(".{}", ending.to_string_lossy()))
        .unwrap_or_default();
    path.with_file_name(format!("{stem}-{number}{ending}"))
}

fn n_infeasible(plan: &FlightPlan) -> usize {
    plan.cells.len() - plan.planned().count()
}

fn summary<'a>(args: &'a PlanArgs, plan: &'a FlightPlan, written: &'a [PathBuf]) -> Summary<'a> {
    Summary {
        schema: "plan-summary/1",
        plan: &args.out,
        written,
        time: &plan.time,
        matching: &plan.matching,
        is_covered: plan.coverage.is_complete,
        n_infeasible: n_infeasible(plan),
        assumptions: &plan.assumptions,
        warnings: &plan.warnings,
    }
}

fn print(plan: &FlightPlan, written: &[PathBuf]) {
    let minutes = |seconds: f64| {
        let whole = seconds.round() as u64;
        format!("{}:{:02} min", whole / 60, whole % 60)
    };
    let time = &plan.time;
    let batteries = match time.n_batteries {
        1 => "one battery".to_owned(),
        n => format!("{n} batteries"),
    };
    println!(
        "{} photos on {}: {} from the first to the last, {} from take-off to landing, {:.0} m",
        time.n_photos,
        batteries,
        minutes(time.first_to_last_photo_s),
        minutes(time.flight_s),
        time.path_m
    );
    let least = plan.coverage.bins.iter().map(|bin| bin.min_views).min();
    println!(
        "every point is seen at least {} times in every bin; {} of the photos link others",
        least.unwrap_or(0),
        plan.matching.n_linking
    );
    if n_infeasible(plan) > 0 {
        println!(
            "{} cells cannot be flown; the plan names the reasons",
            n_infeasible(plan)
        );
    }
    for assumption in &plan.assumptions {
        println!("assumed: {assumption}");
    }
    for warning in &plan.warnings {
        println!("warning: {warning}");
    }
    for path in written {
        println!("wrote {}", path.display());
    }
}
