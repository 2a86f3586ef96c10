//! `groundstation review`: open questions, decisions, decisions taken back.

use super::Cli;
use super::stored::Stored;
use crate::entity::{Entities, MergeReview, Suggestion};
use crate::review::{Event, PAIR, Proposal, ReviewLog, Source, fold};
use crate::scene::SceneFolder;
use clap::{Args, Subcommand, ValueEnum};
use console::{ExitStatus, print_json};
use record::SystemClock;
use serde::Serialize;
use serde_json::Value;
use std::path::PathBuf;

/// Arguments of `review`.
#[derive(Debug, Args)]
pub struct ReviewArgs {
    #[command(subcommand)]
    command: ReviewCommand,
}

#[derive(Debug, Subcommand)]
enum ReviewCommand {
    /// What is to be decided: pairs that may be one vehicle with their probability, and what looks
    /// unusual.
    List(ListArgs),
    /// What was decided, the oldest first.
    Log(ListArgs),
    /// Write down a decision.
    Record(RecordArgs),
    /// Take a decision back.
    Undo(UndoArgs),
}

#[derive(Debug, Args)]
struct ListArgs {
    /// The scene's folder.
    scene: PathBuf,
    /// Print one JSON object.
    #[arg(long)]
    json: bool,
}

#[derive(Debug, Args)]
struct RecordArgs {
    /// The scene's folder.
    scene: PathBuf,
    /// Who decides.
    #[arg(long)]
    who: String,
    /// What is decided: pair (two vehicles: same or different), member (a detection: a vehicle's id
    /// or none), vehicle (confirmed or not_a_vehicle), or anything else.
    #[arg(long)]
    kind: String,
    /// Of which: ID+ID for a pair, an id else.
    #[arg(long)]
    target: String,
    /// What it is from now on: a word, JSON, or null to take it back.
    #[arg(long)]
    after: String,
    /// Where it was entered.
    #[arg(long, value_enum, default_value = "page")]
    source: SourceName,
    /// The number the sheet or page gave it; sent twice, it counts once.
    #[arg(long)]
    client_seq: Option<u64>,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum SourceName {
    Sheet,
    Page,
}

#[derive(Debug, Args)]
struct UndoArgs {
    /// The scene's folder.
    scene: PathBuf,
    /// The event's name, from `review log`.
    event: String,
    /// Who decides.
    #[arg(long)]
    who: String,
}

#[derive(Serialize)]
struct Open<'a> {
    schema: &'static str,
    events: usize,
    torn: Option<&'a str>,
    pairs: &'a [MergeReview],
    suggestions: &'a [Suggestion],
    not_followed: &'a [String],
}

#[derive(Serialize)]
struct Events<'a> {
    schema: &'static str,
    torn: Option<&'a str>,
    events: &'a [Event],
}

pub(super) fn run(args: &ReviewArgs, cli: &Cli) -> anyhow::Result<ExitStatus> {
    match &args.command {
        ReviewCommand::List(args) => list(args)?,
        ReviewCommand::Log(args) => show_log(args)?,
        ReviewCommand::Record(args) => record(args, cli)?,
        ReviewCommand::Undo(args) => {
            let folder = super::open(&args.scene, cli)?;
            let mut log = ReviewLog::read(&folder)?;
            let event = log.undo(&folder, &SystemClock::new(), &args.event, &args.who)?;
            print_event(&event);
        }
    }
    Ok(ExitStatus::Done)
}

fn list(args: &ListArgs) -> anyhow::Result<()> {
    let folder = SceneFolder::open_to_read(&args.scene)?;
    let log = ReviewLog::read(&folder)?;
    let found = Stored::entities(&folder)?;
    let (entities, not_followed): (Entities, Vec<String>) = if log.events().is_empty() {
        (found, Vec::new())
    } else {
        let stored = Stored::read(&folder)?;
        let reviewed = fold(&found, &log.state(), &stored.material());
        (reviewed.entities, reviewed.not_followed)
    };
    if args.json {
        print_json(&Open {
            schema: "review-open/1",
            events: log.events().len(),
            torn: log.torn(),
            pairs: &entities.reviews,
            suggestions: &entities.suggestions,
            not_followed: &not_followed,
        })?;
        return Ok(());
    }
    for pair in &entities.reviews {
        println!(
            "{:.0} %: {} and {} are one vehicle ({:.1} m apart, {} and {} photos, {} show the place of \
             both)",
            100.0 * pair.probability,
            pair.a.as_str(),
            pair.b.as_str(),
            pair.features.distance_m,
            pair.features.n_a,
            pair.features.n_b,
            pair.features.n_covisible
        );
    }
    for suggestion in &entities.suggestions {
        let ids: Vec<&str> = suggestion.entity_ids.iter().map(|id| id.as_str()).collect();
        println!(
            "{}: {}: {}",
            word(&suggestion.kind),
            ids.join(", "),
            suggestion.evidence
        );
    }
    for reason in &not_followed {
        println!("not followed: {reason}");
    }
    println!(
        "{} pairs and {} suggestions to look at, {} events so far",
        entities.reviews.len(),
        entities.suggestions.len(),
        log.events().len()
    );
    Ok(())
}

/// As it is in files.
fn word(value: &impl Serialize) -> String {
    match serde_json::to_value(value) {
        Ok(Value::String(word)) => word.replace('_', " "),
        _ => String::new(),
    }
}

fn show_log(args: &ListArgs) -> anyhow::Result<()> {
    let folder = SceneFolder::open_to_read(&args.scene)?;
    let log = ReviewLog::read(&folder)?;
    if args.json {
        print_json(&Events {
            schema: "review-log/1",
            torn: log.torn(),
            events: log.events(),
        })?;
        return Ok(());
    }
    for event in log.events() {
        print_event(event);
    }
    if log.torn().is_some() {
        println!("the last line was torn while it was written; it does not count");
    }
    Ok(())
}

fn record(args: &RecordArgs, cli: &Cli) -> anyhow::Result<()> {
    let folder = super::open(&args.scene, cli)?;
    let mut log = ReviewLog::read(&folder)?;
    let target = match args.target.split_once('+') {
        // Whichever is named first.
        Some((a, b)) if args.kind == PAIR && b < a => format!("{b}+{a}"),
        _ => args.target.clone(),
    };
    let key = (args.kind.clone(), target.clone());
    let proposal = Proposal {
        who: args.who.clone(),
        source: match args.source {
            SourceName::Sheet => Source::Sheet,
            SourceName::Page => Source::Page,
        },
        client_seq: args.client_seq,
        kind: args.kind.clone(),
        target,
        before: log.state().remove(&key).unwrap_or(Value::Null),
        after: serde_json::from_str(&args.after).unwrap_or_else(|_| args.after.clone().into()),
    };
    let event = log.append(&folder, &SystemClock::new(), proposal)?;
    print_event(&event);
    Ok(())
}

fn print_event(event: &Event) {
    println!(
        "{} {} {} {}: {} of {} was {}, is {}{}",
        event.seq,
        event.event_id,
        event.utc,
        event.who,
        event.kind,
        event.target,
        event.before,
        event.after,
        event
            .undoes
            .as_ref()
            .map_or(String::new(), |id| format!(" (takes {id} back)"))
    );
}
