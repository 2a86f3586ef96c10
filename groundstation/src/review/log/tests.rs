//! The log on disk: torn lines, full disks, two people, edits.

use super::*;
use record::{FakeClock, SystemClock};

fn scene() -> (tempfile::TempDir, SceneFolder) {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let scene = SceneFolder::create_or_open(&folder.path().join("scene")).expect("a new scene");
    (folder, scene)
}

fn proposal(target: &str, before: Value, after: Value) -> Proposal {
    Proposal {
        who: "one".to_owned(),
        source: Source::Page,
        client_seq: None,
        kind: "colour".to_owned(),
        target: target.to_owned(),
        before,
        after,
    }
}

fn path(scene: &SceneFolder) -> PathBuf {
    scene.root().join(REVIEW_FILE)
}

#[test]
fn events_are_folded_and_taken_back() {
    let (_folder, scene) = scene();
    let clock = SystemClock::new();
    let mut log = ReviewLog::read(&scene).expect("none yet");
    let first = proposal("a", Value::Null, json!("red"));
    let first = log.append(&scene, &clock, first).expect("written");
    let second = proposal("a", json!("red"), json!("blue"));
    let second = log.append(&scene, &clock, second).expect("written");
    let key = ("colour".to_owned(), "a".to_owned());
    assert_eq!(log.state()[&key], "blue");
    assert!(matches!(
        log.append(&scene, &clock, proposal("a", json!("red"), json!("green"))),
        Err(ReviewError::Stale { .. })
    ));
    assert!(matches!(
        log.undo(&scene, &clock, &first.event_id, "two"),
        Err(ReviewError::Stale { .. })
    ));
    let back = log
        .undo(&scene, &clock, &second.event_id, "two")
        .expect("written");
    assert_eq!(back.undoes, Some(second.event_id));
    assert_eq!(log.state()[&key], "red");
    let _ = log
        .undo(&scene, &clock, &first.event_id, "two")
        .expect("written");
    assert!(log.state().is_empty());
    let read = ReviewLog::read(&scene).expect("what was written");
    assert_eq!(read, log);
    assert_eq!(read.events().len(), 4);
}

#[test]
fn an_event_sent_twice_counts_once() {
    let (_folder, scene) = scene();
    let clock = SystemClock::new();
    let mut log = ReviewLog::read(&scene).expect("none yet");
    let sent = Proposal {
        client_seq: Some(7),
        ..proposal("a", Value::Null, json!(1))
    };
    let first = log.append(&scene, &clock, sent.clone()).expect("written");
    assert_eq!(log.append(&scene, &clock, sent).expect("known"), first);
    assert_eq!(log.events().len(), 1);
}

/// Cut at every byte of the last line the log is read without it, and goes on.
#[test]
fn a_line_torn_by_a_power_cut_is_left_out() {
    let (_folder, scene) = scene();
    let clock = SystemClock::new();
    let mut log = ReviewLog::read(&scene).expect("none yet");
    let _ = log
        .append(&scene, &clock, proposal("a", Value::Null, json!(1)))
        .expect("written");
    let first = std::fs::read(path(&scene)).expect("a log");
    let _ = log
        .append(&scene, &clock, proposal("b", Value::Null, json!("\u{e9}")))
        .expect("written");
    let whole = std::fs::read(path(&scene)).expect("a log");
    for cut in first.len()..whole.len() {
        std::fs::write(path(&scene), &whole[..cut]).expect("a temporary folder");
        let mut log = ReviewLog::read(&scene).expect("what is whole");
        let n = if cut + 1 == whole.len() { 2 } else { 1 };
        assert_eq!(log.events().len(), n, "cut at {cut}");
        let next = proposal("c", Value::Null, json!(3));
        let _ = log.append(&scene, &clock, next).expect("written");
        let again = ReviewLog::read(&scene).expect("whole again");
        assert_eq!(again.events().len(), n + 1, "cut at {cut}");
        assert_eq!(again.torn(), None);
    }
}

#[test]
fn an_edited_log_is_refused() {
    let (_folder, scene) = scene();
    let clock = FakeClock::manual(jiff::Timestamp::UNIX_EPOCH);
    let mut log = ReviewLog::read(&scene).expect("none yet");
    for target in ["a", "b", "c"] {
        let _ = log
            .append(&scene, &clock, proposal(target, Value::Null, json!(1)))
            .expect("written");
    }
    let text = std::fs::read_to_string(path(&scene)).expect("a log");
    let without_second: String = text
        .lines()
        .enumerate()
        .filter(|(idx, _)| *idx != 1)
        .map(|(_, l)| format!("{l}\n"))
        .collect();
    for changed in [
        text.replacen("\"target\":\"b\"", "\"target\":\"x\"", 1),
        without_second,
        text.replacen("review-event/1", "review-event/9", 1),
        text.replacen('{', "", 1),
    ] {
        std::fs::write(path(&scene), changed).expect("a temporary folder");
        assert!(matches!(
            ReviewLog::read(&scene),
            Err(ReviewError::Damaged { .. })
        ));
    }
}

#[test]
fn a_second_writer_is_refused_and_a_reader_cannot_write() {
    let (_folder, scene) = scene();
    assert!(matches!(
        SceneFolder::open(scene.root()),
        Err(SceneError::Locked { .. })
    ));
    let reader = SceneFolder::open_to_read(scene.root()).expect("a scene");
    let mut log = ReviewLog::read(&reader).expect("none yet");
    let outcome = log.append(
        &reader,
        &SystemClock::new(),
        proposal("a", Value::Null, json!(1)),
    );
    assert!(matches!(outcome, Err(ReviewError::NotLocked { .. })));
}
