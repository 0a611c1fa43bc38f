//! What a session does while a watcher looks on, and which sessions are not in use.

use std::path::PathBuf;

use serde_json::json;

use super::fake::{ALPHA, BETA};
use super::watching::{LONG_AGO, WatcherThread};
use super::world::World;
use crate::watch::{CallSummary, Doing, Event};

/// A session of the first fake agent, and a watcher that looks at both.
fn watch_session(head: &str, records: &[&str]) -> (World, PathBuf, WatcherThread) {
    let world = World::new();
    let path = world.write_session(&ALPHA, "aaaa1111", head, records);
    world.write_session(&BETA, "bbbb2222", "", &[r#"{"t":"prompt","s":"quiet"}"#]);
    let watching = start(&world);
    (world, path, watching)
}

fn start(world: &World) -> WatcherThread {
    WatcherThread::start_with(world, LONG_AGO, vec![&ALPHA, &BETA], 3600)
}

fn call(action: &'static str, subject: &str) -> CallSummary {
    CallSummary { action, subject: subject.to_owned() }
}

#[test]
fn what_a_session_does_follows_its_newest_entries() {
    let (_world, path, mut watching) = watch_session("", &[r#"{"t":"reply","s":"before"}"#]);
    let run = call("run", r#"{"command":"cargo test"}"#);
    let steps: [(&str, Doing); 8] = [
        (r#"{"t":"prompt","s":"go"}"#, Doing::Prompted),
        (r#"{"t":"think","s":"hm"}"#, Doing::Thinking),
        (r#"{"t":"call","id":"1","tool":"sh","input":{"command":"cargo test"}}"#, Doing::Calling(run.clone())),
        (r#"{"t":"out","id":"1","s":"no","failed":true}"#, Doing::Called { call: run, failed: true }),
        (r#"{"t":"call","id":"2","tool":"weather","input":{}}"#, Doing::Calling(call("other", "weather"))),
        (r#"{"t":"reply","s":"All  of\nit is done."}"#, Doing::Replied { text: "All of it is done.".into() }),
        (r#"{"t":"reply","s":"  "}"#, Doing::Replied { text: "All of it is done.".into() }),
        (r#"{"t":"compact"}"#, Doing::Compacted),
    ];
    for (record, expected) in steps {
        World::append_lines(&path, &[record]);
        assert_eq!(watching.wait_for_active("aaaa1111").doing, expected, "{record}");
    }
    watching.finish();
}

#[test]
fn of_parallel_calls_the_one_that_still_runs_is_told() {
    let (_world, path, mut watching) = watch_session("", &[]);
    let calls =
        r#"{"items":[{"t":"call","id":"1","tool":"one","input":{}},{"t":"call","id":"2","tool":"two","input":{}}]}"#;
    World::append_lines(&path, &[calls]);
    assert_eq!(watching.wait_for_active("aaaa1111").doing, Doing::Calling(call("other", "two")));
    World::append_lines(&path, &[r#"{"t":"out","id":"2","s":"ok"}"#]);
    assert_eq!(watching.wait_for_active("aaaa1111").doing, Doing::Calling(call("other", "one")));
    World::append_lines(&path, &[r#"{"t":"out","id":"1","s":"ok"}"#]);
    let ended = Doing::Called { call: call("other", "one"), failed: false };
    assert_eq!(watching.wait_for_active("aaaa1111").doing, ended);
    watching.finish();
}

#[test]
fn keys_and_escapes_in_a_command_are_not_told() {
    let (_world, path, mut watching) = watch_session("", &[]);
    let command = format!(
        "curl -H 'x-api-key: {}'\u{1b}[2J\n--next",
        concat!("sk-ant-", "api03-abcdefghijklmnopqrstuvwxyz0123456789")
    );
    let record = json!({ "t": "call", "id": "1", "tool": "sh", "input": { "command": command } }).to_string();
    World::append_lines(&path, &[&record]);
    let Doing::Calling(told) = watching.wait_for_active("aaaa1111").doing else { panic!("it runs") };
    assert!(told.subject.contains("curl -H") && told.subject.contains("--next"), "{told:?}");
    assert!(!told.subject.contains("abcdefgh") && !told.subject.contains('\u{1b}'), "{told:?}");
    watching.finish();
}

#[test]
fn a_copy_of_ours_is_in_use_when_somebody_goes_on_in_it() {
    let mut world = World::new();
    world.write_sample();
    world.write_session(&BETA, "bbbb2222", "", &[]);
    let mut watching = start(&world);
    let report = world.resume("aaaa1111", &BETA);
    let copy = report.session.0.clone();
    // Its file comes after that of the copy, and is looked at after it.
    world.write_session(&BETA, "zzzz", "", &[r#"{"t":"prompt","s":"mine"}"#]);
    watching.wait_for_active("zzzz");
    let is_copy = |event: &Event| matches!(event, Event::Active(activity) if activity.session.0 == copy);
    assert!(!watching.seen.iter().any(is_copy), "{:?}", watching.seen);
    let path = world.path(&format!("home/.beta/sessions/{copy}.beta.jsonl"));
    World::append_lines(&path, &[r#"{"t":"prompt","s":"and on"}"#]);
    assert_eq!(watching.wait_for_active(&copy).doing, Doing::Prompted);
    watching.finish();
}

#[test]
fn a_session_that_is_open_is_in_use_however_old() {
    let (_world, _path, mut watching) = watch_session(r#","live":true,"at":5"#, &[r#"{"t":"reply","s":"well?"}"#]);
    assert_eq!(watching.wait_for_active("aaaa1111").doing, Doing::Replied { text: "well?".into() });
    watching.finish();
}
