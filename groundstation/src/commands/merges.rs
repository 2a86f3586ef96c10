//! `groundstation merges fit`: a merge model from scenes whose vehicles are known.

use super::stored::Stored;
use crate::entity::{self, Entities, EntityConfig, EntityId, Grouped, Material};
use crate::evaluate::{Matching, Truth};
use crate::merges::{Candidate, Case, Fitted, MergeModel, Reliability, Training, candidates, fit};
use crate::review::{PAIR, ReviewLog, State, fold, pair_target};
use crate::scene::SceneFolder;
use clap::{Args, Subcommand};
use console::{ExitStatus, InputError, print_json};
use record::{DiskStorage, write_durably};
use serde::Serialize;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// Arguments of `merges`.
#[derive(Debug, Args)]
pub struct MergesArgs {
    #[command(subcommand)]
    command: MergesCommand,
}

#[derive(Debug, Subcommand)]
enum MergesCommand {
    /// Fit a model on scenes whose vehicles are known, from a simulator (SCENE/truth.json) or from
    /// review (SCENE/review.jsonl), and print how well its probabilities hold.
    Fit(FitArgs),
    /// Print the model that is built in.
    Show,
}

/// Arguments of `merges fit`.
#[derive(Debug, Args)]
struct FitArgs {
    /// Scenes up to their anchors.
    #[arg(required = true)]
    scenes: Vec<PathBuf>,
    /// Where to write the model; an existing file is replaced.
    #[arg(long, value_name = "FILE.toml")]
    out: PathBuf,
    /// What the scenes are, for those who read the model.
    #[arg(long, value_name = "TEXT", default_value = "")]
    describe: String,
    /// Print one JSON object.
    #[arg(long)]
    json: bool,
}

#[derive(Serialize)]
struct Report<'a> {
    schema: &'static str,
    training: &'a Training,
    held_out: &'a Reliability,
    start: &'a Reliability,
    model: &'a MergeModel,
}

pub(super) fn run(args: &MergesArgs) -> anyhow::Result<ExitStatus> {
    match &args.command {
        MergesCommand::Show => print!("{}", MergeModel::shipped().to_toml()),
        MergesCommand::Fit(args) => fit_on(args)?,
    }
    Ok(ExitStatus::Done)
}

fn fit_on(args: &FitArgs) -> anyhow::Result<()> {
    let mut training = Training {
        description: args.describe.clone(),
        ..Training::default()
    };
    let mut cases = Vec::new();
    for (number, root) in args.scenes.iter().enumerate() {
        let folder = SceneFolder::open_to_read(root)?;
        let stored = Stored::read(&folder)?;
        let material = stored.material();
        let grouped = entity::group(&material, &EntityConfig::default());
        let open = candidates(&grouped.groups, &grouped.scale, &MergeModel::start());
        let truth = root.join("truth.json");
        let labels = if truth.exists() {
            training.simulated_scenes += 1;
            let truth = Truth::read(&truth, &stored.scene, &stored.posed)?;
            by_truth(&grouped, &Matching::of(&stored.detections, &truth), &open)
        } else {
            let log = ReviewLog::read(&folder)?;
            if log.events().is_empty() {
                let what =
                    "has neither truth.json nor review.jsonl: nothing says what is one vehicle";
                return Err(InputError(format!("{} {what}", root.display())).into());
            }
            training.reviewed_scenes += 1;
            by_review(
                &grouped,
                &Stored::entities(&folder)?,
                &log.state(),
                &material,
                &open,
            )
        };
        cases.extend(open.iter().zip(labels).filter_map(|(candidate, is_one)| {
            Some(Case {
                scene: number,
                features: candidate.features,
                is_one: is_one?,
            })
        }));
    }
    let fitted = fit(&cases, training)?;
    write(&args.out, &fitted.model)?;
    if args.json {
        print_json(&Report {
            schema: "merge-fit/1",
            training: &fitted.model.training,
            held_out: &fitted.held_out,
            start: &fitted.start,
            model: &fitted.model,
        })?;
    } else {
        print(&fitted);
    }
    Ok(())
}

fn write(path: &Path, model: &MergeModel) -> anyhow::Result<()> {
    let text = format!(
        "# Which groups of detections are one vehicle: written by `groundstation merges fit`.\n{}",
        model.to_toml()
    );
    write_durably(&DiskStorage, path, text.as_bytes())?;
    Ok(())
}

/// The vehicle most of a group's detections are of; `None` for a group of nothing.
fn owner(members: &[(usize, usize)], matched: &Matching) -> Option<usize> {
    let mut counts: BTreeMap<usize, usize> = BTreeMap::new();
    for key in members {
        if let Some(Some(vehicle)) = matched.vehicle_of.get(key) {
            *counts.entry(*vehicle).or_insert(0) += 1;
        }
    }
    let most = counts
        .into_iter()
        .max_by_key(|&(vehicle, n)| (n, std::cmp::Reverse(vehicle)));
    most.map(|(vehicle, _)| vehicle)
}

/// Two groups of nothing say nothing.
fn by_truth(grouped: &Grouped, matched: &Matching, open: &[Candidate]) -> Vec<Option<bool>> {
    let owners: Vec<Option<usize>> = grouped
        .members
        .iter()
        .map(|members| owner(members, matched))
        .collect();
    let label = |candidate: &Candidate| match (owners[candidate.a], owners[candidate.b]) {
        (None, None) => None,
        (a, b) => Some(a == b),
    };
    open.iter().map(label).collect()
}

/// Groups are of the vehicles that have them after review; a pair counts where it was decided, or
/// where both are of one vehicle that was decided to be one.
fn by_review(
    grouped: &Grouped,
    entities: &Entities,
    state: &State,
    material: &Material<'_>,
    open: &[Candidate],
) -> Vec<Option<bool>> {
    let found = homes(grouped, entities);
    let reviewed = homes(grouped, &fold(entities, state, material).entities);
    let label = |candidate: &Candidate| {
        let (a, b) = (found[candidate.a].as_ref()?, found[candidate.b].as_ref()?);
        let key = (PAIR.to_owned(), pair_target(a, b));
        match state.get(&key).and_then(|value| value.as_str()) {
            Some("same") => Some(reviewed[candidate.a] == reviewed[candidate.b]),
            Some("different") => Some(false),
            _ => None,
        }
    };
    open.iter().map(label).collect()
}

/// The vehicle that has a group's founder.
fn homes(grouped: &Grouped, entities: &Entities) -> Vec<Option<EntityId>> {
    let mut of: BTreeMap<(usize, usize), &EntityId> = BTreeMap::new();
    for entity in &entities.entities {
        for member in &entity.members {
            of.insert((member.photo, member.detection), &entity.entity_id);
        }
    }
    let home = |members: &Vec<(usize, usize)>| members.first().and_then(|key| of.get(key).copied());
    grouped
        .members
        .iter()
        .map(|members| home(members).cloned())
        .collect()
}

fn print(fitted: &Fitted) {
    let training = &fitted.model.training;
    println!(
        "{} candidates of {} simulated and {} reviewed scenes, {} of them one vehicle",
        training.candidates,
        training.simulated_scenes,
        training.reviewed_scenes,
        training.one_vehicle
    );
    println!(
        "on scenes that were left out ({} candidates):",
        fitted.held_out.n
    );
    print_diagram(&fitted.held_out);
    println!("by the co-visibility model alone:");
    print_diagram(&fitted.start);
    println!("terms, log odds per spread:");
    for term in &fitted.model.terms {
        println!("  {:<18} {:+.2}", term.feature, term.weight);
    }
}

fn print_diagram(found: &Reliability) {
    println!("  predicted   candidates  mean   true   0         0.5         1");
    for (idx, bin) in found.bins.iter().enumerate() {
        if bin.n == 0 {
            continue;
        }
        let bar = "#".repeat((20.0 * bin.observed).round() as usize);
        let low = idx as f64 / found.bins.len() as f64;
        println!(
            "  {low:.1} to {:.1}  {:>10}  {:.3}  {:.3}  {bar}",
            low + 0.1,
            bin.n,
            bin.predicted,
            bin.observed
        );
    }
    println!(
        "  Brier score {:.4}, mean error of probabilities {:.4}",
        found.brier, found.calibration_error
    );
}
