//! `groundstation process`: every room in turn. What is done already is not done again.

use super::cluster::GroupOptions;
use super::{Cli, IngestOptions, ModelOptions, PoseOptions, print_entities, print_verdict};
use crate::anchor::{AnchorConfig, anchor};
use crate::detect::detect;
use crate::entity::cluster_scene;
use crate::ingest::ingest;
use crate::pose::pose;
use crate::report::report;
use clap::Args;
use console::{Cancel, ExitStatus};
use std::path::PathBuf;

/// Arguments of `process`.
#[derive(Debug, Args)]
pub struct ProcessArgs {
    /// A folder of photos, a bundle, or a photo.
    pub source: PathBuf,
    /// The scene's folder; made if it does not exist.
    pub scene: PathBuf,
    #[command(flatten)]
    ingest: IngestOptions,
    #[command(flatten)]
    pose: PoseOptions,
    #[command(flatten)]
    model: ModelOptions,
    #[command(flatten)]
    group: GroupOptions,
}

pub(super) fn run(args: &ProcessArgs, cli: &Cli, cancel: &Cancel) -> anyhow::Result<ExitStatus> {
    let pose_config = args.pose.config()?;
    let detect_config = args.model.config()?;
    let folder = super::open_or_create(&args.source, &args.scene, cli)?;
    ingest(
        &args.source,
        &folder,
        &args.ingest.config(),
        cli.quiet,
        cancel,
    )?;
    // Poses first: they tell how large a car is in each photo.
    let (_, posed) = pose(&folder, &pose_config, cli.quiet, cancel)?;
    cancel.check()?;
    let (_, found) = detect(&folder, &detect_config, cli.quiet, cancel)?;
    cancel.check()?;
    anchor(&folder, &AnchorConfig::default())?;
    let (_, entities) = cluster_scene(&folder, &args.group.config()?)?;
    let page = report(&folder, None, cli.quiet, cancel)?;
    print_verdict(&posed);
    print_entities(&entities);
    for failed in &found.summary.failed {
        eprintln!("{}: {}", failed.name, failed.reason);
    }
    println!("report: {}", page.display());
    if !found.summary.failed.is_empty() {
        return Ok(ExitStatus::Input);
    }
    Ok(ExitStatus::Done)
}
