//! `groundstation inspect`: what photos say about themselves, as a table or as JSON.

use clap::Args;
use console::{ExitStatus, InputError, print_json};
use record::{Capture, read_capture_file};
use serde::Serialize;
use std::path::{Path, PathBuf};

/// Arguments of `inspect`.
#[derive(Debug, Args)]
pub struct InspectArgs {
    /// Photos or folders of photos.
    #[arg(required = true)]
    pub paths: Vec<PathBuf>,
    /// Print one JSON object instead of tables.
    #[arg(long)]
    pub json: bool,
}

#[derive(Serialize)]
struct Report {
    schema: &'static str,
    photos: Vec<Entry>,
    unreadable: Vec<Unreadable>,
}

#[derive(Serialize)]
struct Entry {
    path: String,
    capture: Capture,
}

#[derive(Serialize)]
struct Unreadable {
    path: String,
    reason: String,
}

pub(super) fn run(args: &InspectArgs) -> anyhow::Result<ExitStatus> {
    let mut report = Report {
        schema: "inspect/1",
        photos: Vec::new(),
        unreadable: Vec::new(),
    };
    for path in &args.paths {
        if !path.exists() {
            return Err(InputError(format!("{} does not exist", path.display())).into());
        }
        for file in files_in(path)? {
            let path = file.display().to_string();
            match read_capture_file(&file) {
                Ok(capture) => report.photos.push(Entry { path, capture }),
                Err(error) => {
                    report.unreadable.push(Unreadable {
                        path,
                        reason: error.to_string(),
                    });
                }
            }
        }
    }
    if args.json {
        print_json(&report)?;
    } else {
        print_tables(&report);
    }
    // A folder may hold other things; nothing readable at all is the input's fault.
    let nothing = report.photos.is_empty();
    if nothing && report.unreadable.is_empty() {
        eprintln!("no photos found: JPEG files (.jpg, .jpeg) are looked for");
    }
    Ok(if nothing {
        ExitStatus::Input
    } else {
        ExitStatus::Done
    })
}

fn files_in(path: &Path) -> anyhow::Result<Vec<PathBuf>> {
    if !path.is_dir() {
        return Ok(vec![path.to_owned()]);
    }
    let mut entries: Vec<PathBuf> = std::fs::read_dir(path)?
        .map(|entry| Ok(entry?.path()))
        .collect::<std::io::Result<_>>()?;
    entries.sort();
    let mut files = Vec::new();
    for entry in entries {
        if entry.is_dir() && !entry.is_symlink() {
            files.extend(files_in(&entry)?);
        } else if entry.is_file() {
            files.push(entry);
        }
    }
    Ok(files)
}

fn print_tables(report: &Report) {
    for entry in &report.photos {
        println!("{}", entry.path);
        for row in entry.capture.rows() {
            let uncertainty = if row.uncertainty.is_empty() {
                String::new()
            } else {
                format!(" ± {}", row.uncertainty)
            };
            let source = if row.source.is_empty() {
                String::new()
            } else {
                format!("  [{}]", row.source)
            };
            println!("  {:<24} {}{uncertainty}{source}", row.label, row.value);
        }
    }
    for unreadable in &report.unreadable {
        eprintln!("{}: {}", unreadable.path, unreadable.reason);
    }
}
