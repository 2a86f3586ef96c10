//! Reading and writing the log.

use super::{Event, EventSchema, REVIEW_FILE, Source};
use crate::scene::{SceneError, SceneFolder, files};
use console::canonical_json;
use record::{Clock, Storage, StorageError, write_durably};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// What is wrong with a log or an event.
#[derive(Debug, thiserror::Error)]
pub enum ReviewError {
    /// The scene.
    #[error(transparent)]
    Scene(#[from] SceneError),
    /// The disk refuses.
    #[error(transparent)]
    Storage(#[from] StorageError),
    /// The log cannot be read.
    #[error("cannot read {}: {source}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
    /// A line before the last is no event, or does not follow the one before it.
    #[error("{}, line {line}: {what}; restore the file from a copy", path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// From 1.
        line: usize,
        /// What was found.
        what: String,
    },
    /// The scene was opened to look at.
    #[error("{} was opened to read; a review needs the scene's lock", root.display())]
    NotLocked {
        /// The scene.
        root: PathBuf,
    },
    /// Somebody else decided in the meantime.
    #[error(
        "{kind} of {target} is {found} by now, not {expected}; look at it again before deciding"
    )]
    Stale {
        /// What was to be set.
        kind: String,
        /// Of which.
        target: String,
        /// What it was taken to be.
        expected: Value,
        /// What it is.
        found: Value,
    },
    /// There is no such event.
    #[error("there is no event {event_id} in {}", path.display())]
    UnknownEvent {
        /// The file.
        path: PathBuf,
        /// The name.
        event_id: String,
    },
    /// A field makes no sense.
    #[error("{field} {found:?}: expected {expected}")]
    Field {
        /// The field.
        field: &'static str,
        /// What it holds.
        found: String,
        /// What it should.
        expected: &'static str,
    },
}

impl ReviewError {
    /// Whether the input (rather than this program or the machine) is at fault.
    #[must_use]
    pub fn is_input_fault(&self) -> bool {
        match self {
            Self::Scene(error) => error.is_input_fault(),
            Self::Storage(_) | Self::Read { .. } | Self::NotLocked { .. } => false,
            Self::Damaged { .. }
            | Self::Stale { .. }
            | Self::UnknownEvent { .. }
            | Self::Field { .. } => true,
        }
    }
}

/// What somebody wants to decide.
#[derive(Clone, Debug, PartialEq)]
pub struct Proposal {
    /// Who.
    pub who: String,
    /// Where it was entered.
    pub source: Source,
    /// The number the sheet or page gave it.
    pub client_seq: Option<u64>,
    /// What is set.
    pub kind: String,
    /// Of which.
    pub target: String,
    /// What it is taken to be; null for nothing.
    pub before: Value,
    /// What it is to be.
    pub after: Value,
}

/// What holds: by kind and target. What was set to null is not in it.
pub type State = BTreeMap<(String, String), Value>;

/// A scene's log.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ReviewLog {
    events: Vec<Event>,
    /// What a power cut left of an event that was being written: it was never confirmed to anybody.
    torn: Option<String>,
    /// The last line is whole but for its end.
    unended: bool,
}

impl ReviewLog {
    /// Reads a scene's log; a scene without one has no events. A last line that a power cut tore is
    /// left out.
    ///
    /// # Errors
    /// [`ReviewError::Damaged`] for anything else that is no event.
    pub fn read(folder: &SceneFolder) -> Result<Self, ReviewError> {
        let path = folder.root().join(REVIEW_FILE);
        match std::fs::read(&path) {
            Ok(bytes) => Self::parse(&bytes, &path),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(Self::default()),
            Err(source) => Err(ReviewError::Read { path, source }),
        }
    }

    fn parse(bytes: &[u8], path: &Path) -> Result<Self, ReviewError> {
        let mut log = Self::default();
        let ended = bytes.is_empty() || bytes.ends_with(b"\n");
        let lines: Vec<&[u8]> = bytes
            .split(|byte| *byte == b'\n')
            .filter(|line| !line.is_empty())
            .collect();
        for (idx, line) in lines.iter().enumerate() {
            let is_last = idx + 1 == lines.len();
            let outcome = serde_json::from_slice::<Event>(line)
                .map_err(|error| error.to_string())
                .and_then(|event| log.follows(&event).map(|()| event));
            match outcome {
                Ok(event) => {
                    log.unended = is_last && !ended;
                    log.events.push(event);
                }
                Err(_) if is_last && !ended => {
                    log.torn = Some(String::from_utf8_lossy(line).into_owned());
                }
                Err(what) => {
                    return Err(ReviewError::Damaged {
                        path: path.to_owned(),
                        line: idx + 1,
                        what,
                    });
                }
            }
        }
        Ok(log)
    }

    /// Whether an event continues the log.
    fn follows(&self, event: &Event) -> Result<(), String> {
        let expected = self.events.len() as u64 + 1;
        if event.seq != expected {
            return Err(format!("event {} where {expected} is expected", event.seq));
        }
        if event.event_id != self.name_of(event) {
            return Err(format!(
                "event {} is not what was written: its name does not fit what it says",
                event.seq
            ));
        }
        Ok(())
    }

    fn name_of(&self, event: &Event) -> String {
        let before = self.events.last().map_or("", |last| last.event_id.as_str());
        let said = json!([
            before,
            event.seq,
            event.utc,
            event.who,
            event.source,
            event.client_seq,
            event.kind,
            event.target,
            event.before,
            event.after,
            event.undoes,
        ]);
        let text = canonical_json(&said).expect("a JSON value");
        files::sha256(text.as_bytes())[..16].to_owned()
    }

    /// All events, the oldest first.
    #[must_use]
    pub fn events(&self) -> &[Event] {
        &self.events
    }

    /// What a power cut left of an event that was never confirmed.
    #[must_use]
    pub fn torn(&self) -> Option<&str> {
        self.torn.as_deref()
    }

    /// What holds after all events.
    #[must_use]
    pub fn state(&self) -> State {
        let mut state = State::new();
        for event in &self.events {
            let key = (event.kind.clone(), event.target.clone());
            match &event.after {
                Value::Null => {
                    state.remove(&key);
                }
                after => {
                    state.insert(key, after.clone());
                }
            }
        }
        state
    }

    /// Writes a decision. Sent a second time (the same person, source and number) it is not written
    /// again, and what was written is returned.
    ///
    /// # Errors
    /// [`ReviewError::Stale`] when `before` is not what holds, [`ReviewError::NotLocked`] when the
    /// scene was opened to read, or the disk's; the log on disk is then as it was.
    pub fn append(
        &mut self,
        folder: &SceneFolder,
        clock: &dyn Clock,
        proposal: Proposal,
    ) -> Result<Event, ReviewError> {
        check(&proposal)?;
        self.write(folder, folder.storage(), clock, proposal, None)
    }

    /// Takes an event back by its inverse.
    ///
    /// # Errors
    /// [`ReviewError::UnknownEvent`]; [`ReviewError::Stale`] when a later event has set the same
    /// thing: take that one back first.
    pub fn undo(
        &mut self,
        folder: &SceneFolder,
        clock: &dyn Clock,
        event_id: &str,
        who: &str,
    ) -> Result<Event, ReviewError> {
        let Some(event) = self.events.iter().find(|event| event.event_id == event_id) else {
            return Err(ReviewError::UnknownEvent {
                path: folder.root().join(REVIEW_FILE),
                event_id: event_id.to_owned(),
            });
        };
        let inverse = Proposal {
            who: who.to_owned(),
            source: Source::Page,
            client_seq: None,
            kind: event.kind.clone(),
            target: event.target.clone(),
            before: event.after.clone(),
            after: event.before.clone(),
        };
        check(&inverse)?;
        let undoes = Some(event_id.to_owned());
        self.write(folder, folder.storage(), clock, inverse, undoes)
    }

    fn write(
        &mut self,
        folder: &SceneFolder,
        storage: &dyn Storage,
        clock: &dyn Clock,
        proposal: Proposal,
        undoes: Option<String>,
    ) -> Result<Event, ReviewError> {
        if !folder.is_locked() {
            return Err(ReviewError::NotLocked {
                root: folder.root().to_owned(),
            });
        }
        let known = self.events.iter().find(|event| {
            proposal.client_seq.is_some()
                && (event.client_seq, event.source, &event.who)
                    == (proposal.client_seq, proposal.source, &proposal.who)
        });
        if let Some(event) = known {
            return Ok(event.clone());
        }
        let key = (proposal.kind.clone(), proposal.target.clone());
        let found = self.state().remove(&key).unwrap_or(Value::Null);
        if found != proposal.before {
            return Err(ReviewError::Stale {
                kind: proposal.kind,
                target: proposal.target,
                expected: proposal.before,
                found,
            });
        }
        let mut event = Event {
            schema: EventSchema,
            seq: self.events.len() as u64 + 1,
            event_id: String::new(),
            utc: clock.utc_now().to_string(),
            who: proposal.who,
            source: proposal.source,
            client_seq: proposal.client_seq,
            kind: proposal.kind,
            target: proposal.target,
            before: proposal.before,
            after: proposal.after,
            undoes,
        };
        event.event_id = self.name_of(&event);
        self.put(storage, folder.root(), &event)?;
        self.events.push(event.clone());
        Ok(event)
    }

    /// At the end of the file; where a power cut left half a line, the file is written anew without
    /// it.
    fn put(
        &mut self,
        storage: &dyn Storage,
        root: &Path,
        event: &Event,
    ) -> Result<(), ReviewError> {
        let path = root.join(REVIEW_FILE);
        let line = |event: &Event| {
            let text = canonical_json(event).expect("an event is a plain struct");
            format!("{text}\n")
        };
        if self.torn.is_some() || self.unended {
            let all: String = self.events.iter().chain([event]).map(line).collect();
            write_durably(storage, &path, all.as_bytes())?;
            (self.torn, self.unended) = (None, false);
            return Ok(());
        }
        let is_new = !path.exists();
        let mut file = storage.append(&path)?;
        if let Err(error) = file
            .write_all(line(event).as_bytes())
            .and_then(|()| file.sync())
        {
            // Some of the line may be there: the next event is written with the file anew.
            self.unended = true;
            return Err(error.into());
        }
        if is_new {
            storage.sync_dir(root)?;
        }
        Ok(())
    }
}

fn check(proposal: &Proposal) -> Result<(), ReviewError> {
    let is_word = |text: &str| {
        !text.is_empty()
            && text
                .bytes()
                .all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'_')
    };
    let field = |field, found: &str, expected| {
        let found = found.to_owned();
        Err(ReviewError::Field {
            field,
            found,
            expected,
        })
    };
    if proposal.who.trim().is_empty() {
        return field("who", &proposal.who, "the name of the person who decides");
    }
    if !is_word(&proposal.kind) {
        return field("kind", &proposal.kind, "a word of a-z, 0-9 and _");
    }
    if proposal.target.trim().is_empty() {
        return field("target", &proposal.target, "what the decision is about");
    }
    super::fold::check(proposal)
}

#[cfg(test)]
mod tests;
