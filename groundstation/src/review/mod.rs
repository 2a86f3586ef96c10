//! The review log: what people decided about a scene, one event a line, never changed.
//!
//! An event sets one thing: `kind` says what, `target` of which, `before` what it was, `after` what
//! it is from now on. The state is the fold of all events; an event whose `before` is not the state
//! is refused when it is written, so two people cannot overwrite each other unseen. What was
//! decided is taken back by the inverse event: the same with `before` and `after` exchanged.

mod fold;
mod log;

pub use fold::{MEMBER, PAIR, Reviewed, VEHICLE, fold, pair_target};
pub use log::{Proposal, ReviewError, ReviewLog, State};

use crate::schema::schema_tag;
use serde::{Deserialize, Serialize};
use serde_json::Value;

schema_tag!(
    /// Marks an event.
    EventSchema,
    "review-event/1"
);

/// The log's name in the scene's folder.
pub const REVIEW_FILE: &str = "review.jsonl";

/// One decision.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Event {
    /// `review-event/1`.
    pub schema: EventSchema,
    /// Its number, from 1 without gaps.
    pub seq: u64,
    /// Its name: a digest of what it says and of the name of the event before it, so that a log
    /// that was edited shows it.
    pub event_id: String,
    /// When it was written, UTC.
    pub utc: String,
    /// Who decided.
    pub who: String,
    /// Where it was entered.
    pub source: Source,
    /// The number the sheet or page gave it: sent twice, it counts once.
    pub client_seq: Option<u64>,
    /// What is set.
    pub kind: String,
    /// Of which.
    pub target: String,
    /// What it was; null for nothing.
    pub before: Value,
    /// What it is from now on; null for nothing.
    pub after: Value,
    /// The event that this one takes back.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub undoes: Option<String>,
}

/// Where a decision was entered.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Source {
    /// A table that was read in.
    Sheet,
    /// The review page, or a command.
    Page,
}
