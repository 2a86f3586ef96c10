//! `groundstation status`.

use crate::scene::SceneFolder;
use crate::status::{State, Status, status};
use clap::Args;
use console::{ExitStatus, print_json};
use std::path::PathBuf;

/// Arguments of `status`.
#[derive(Debug, Args)]
pub struct StatusArgs {
    /// The scene's folder.
    pub scene: PathBuf,
    /// Print one JSON object.
    #[arg(long)]
    pub json: bool,
}

pub(super) fn run(args: &StatusArgs) -> anyhow::Result<ExitStatus> {
    let folder = SceneFolder::open_to_read(&args.scene)?;
    let found = status(&folder)?;
    if args.json {
        print_json(&found)?;
    } else {
        print(&found, &args.scene.display().to_string());
    }
    Ok(ExitStatus::Done)
}

fn print(found: &Status, scene: &str) {
    for room in &found.rooms {
        let state = match room.state {
            State::Done => "done",
            State::Stale => "stale",
            State::Missing => "not yet",
        };
        let made_from = room.made_from.as_deref().unwrap_or("");
        println!(
            "{:<8} {state:<8} {made_from:<18} {}",
            room.room,
            details(found, room.room)
        );
    }
    let scene = quoted(scene);
    match found.next {
        Some("ingest") => println!("next: groundstation ingest PHOTOS {scene}"),
        Some(command) => println!("next: groundstation {command} {scene}"),
        None => println!("next: nothing; groundstation report {scene} writes the page again"),
    }
}

/// As a shell takes it.
fn quoted(path: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "/._-+:@%".contains(c);
    if path.chars().all(is_plain) {
        path.to_owned()
    } else {
        format!("'{}'", path.replace('\'', "'\\''"))
    }
}

fn details(found: &Status, room: &str) -> String {
    match room {
        "ingest" => found.ingest.as_ref().map(|s| {
            format!(
                "{} photos, {} flights, {} cameras, {} set aside, zone {}",
                s.photos,
                s.flights,
                s.cameras,
                s.set_aside,
                s.zone.as_deref().unwrap_or("unknown")
            )
        }),
        "pose" => found.pose.as_ref().map(|s| {
            let rms = |value: Option<f64>| {
                value.map_or_else(|| "unknown".to_owned(), |metres| format!("{metres:.2} m"))
            };
            let without = match s.without_pose {
                0 => String::new(),
                n => format!(", {n} without a pose"),
            };
            format!(
                "{} of {} by {}{without}, residuals: {} horizontal, {} vertical",
                s.registered,
                s.photos,
                s.made_by,
                rms(s.horizontal_rms_m),
                rms(s.vertical_rms_m)
            )
        }),
        "detect" => found.detect.as_ref().map(|s| {
            format!(
                "{} detections, {} photos failed",
                s.detections, s.failed_photos
            )
        }),
        "anchor" => found
            .anchor
            .as_ref()
            .map(|s| format!("{} placed, {} without a place", s.placed, s.without)),
        "entity" => found.entity.as_ref().map(|s| {
            format!(
                "{} confirmed vehicles, {} to look at, joined within {:.2} m",
                s.confirmed, s.unconfirmed, s.epsilon_m
            )
        }),
        _ => None,
    }
    .unwrap_or_default()
}
