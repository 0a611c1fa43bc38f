//! What is forgotten is nowhere in our own folder any more.

use std::path::Path;

use carryover_agents::Agent;
use carryover_core::time::Timestamp;
use carryover_core::transcript::SessionId;
use rusqlite::Connection;

use super::fake::{ALPHA, BETA, BOTH};
use super::ledger::{count_found, count_rows, open_ledger, update};
use super::world::{World, undo_fake};
use crate::ledger::forget::{Forget, Forgotten};
use crate::ledger::{HandoffRecord, HookRecord, Ledger, LedgerError, file_path};
use crate::sessions::copies::SessionRef;

const SECRET: &str = "qzxvorbital";

/// A world with a session that is to be forgotten, one that is to stay, and a copy of the first.
fn make_world() -> World {
    let mut world = World::new();
    let filler = "some words that are packed ".repeat(40);
    let secret: Vec<String> =
        (0..12).map(|n| format!(r#"{{"t":"prompt","s":"{SECRET} step{n}q {filler}"}}"#)).collect();
    let secret: Vec<&str> = secret.iter().map(String::as_str).collect();
    world.write_session(&ALPHA, "aaaa1111", &format!(r#","title":"The {SECRET} matter""#), &secret);
    // Much more stays than goes: an index that loses a large part of itself is written anew without being told to.
    let plain: Vec<String> = (0..900).map(|n| format!(r#"{{"t":"prompt","s":"plain number{n}q"}}"#)).collect();
    let plain: Vec<&str> = plain.iter().map(String::as_str).chain([r#"{"t":"prompt","s":"giraffe"}"#]).collect();
    world.write_session(&ALPHA, "bbbb2222", "", &plain);
    world.resume("aaaa1111", &BETA);
    update(&world, BOTH);
    record_events(&world);
    world
}

/// A handoff and an event of the session that is to be forgotten, and of the one that is to stay.
fn record_events(world: &World) {
    let mut ledger = open_ledger(world);
    for (session, word) in [("aaaa1111", SECRET), ("bbbb2222", "giraffe")] {
        let text = format!("# Handoff\n{}", format!("{word} and what was said of it\n").repeat(20));
        ledger.record_handoff(&make_handoff(world, session, &text)).unwrap();
        let folder = if word == SECRET { "project/.carryover" } else { "ours" };
        world.write_file(&format!("{folder}/handoff.md"), &text);
        ledger.record_hook_event(&make_event(world, session, world.context.env.now)).unwrap();
    }
}

fn make_handoff(world: &World, session: &str, text: &str) -> HandoffRecord {
    HandoffRecord {
        project: world.path("project"),
        agent: ALPHA.facts().id.to_owned(),
        session: SessionId(session.to_owned()),
        at: world.context.env.now,
        text: text.to_owned(),
    }
}

fn make_event(world: &World, session: &str, at: Timestamp) -> HookRecord {
    HookRecord {
        agent: ALPHA.facts().id.to_owned(),
        kind: "turn-end".to_owned(),
        session: Some(SessionId(session.to_owned())),
        folder: Some(world.path("project")),
        at,
    }
}

/// How many handoffs, events and links between sessions are kept.
fn count_records(world: &World) -> [i64; 3] {
    ["handoff", "hook_event", "lineage"].map(|table| count_rows(world, &format!("SELECT count(*) FROM {table}")))
}

/// Bytes by which what was stored of a session would be known again: its words, and pieces of everything packed.
fn stored_traces(world: &World) -> Vec<Vec<u8>> {
    let connection = Connection::open_in_memory().unwrap();
    let attach = format!("ATTACH '{}' AS l", file_path(&world.context).display());
    connection.execute_batch(&attach).unwrap();
    let mut traces = vec![SECRET.as_bytes().to_vec(), SECRET.as_bytes()[4..].to_vec()];
    for query in [
        "SELECT bytes FROM l.chunk WHERE file IN (SELECT f.id FROM l.file f JOIN l.session s ON s.id = f.session WHERE s.title LIKE '%matter%')",
        "SELECT text FROM l.entry WHERE typeof(text) = 'blob' AND session IN (SELECT id FROM l.session WHERE title LIKE '%matter%')",
        "SELECT text FROM l.handoff WHERE typeof(text) = 'blob' AND session = 'aaaa1111'",
    ] {
        let mut query = connection.prepare(query).unwrap();
        let blobs: Vec<Vec<u8>> = query.query_map([], |row| row.get(0)).unwrap().map(Result::unwrap).collect();
        assert!(!blobs.is_empty());
        for blob in blobs {
            // The head of a frame is alike in all; what follows is not.
            traces.extend(blob.windows(24).skip(16).step_by(100).map(<[u8]>::to_vec));
        }
    }
    traces
}

/// The files of our own folder that hold one of these.
fn find_traces(folder: &Path, traces: &[Vec<u8>]) -> Vec<String> {
    let mut found = Vec::new();
    for entry in fs_err::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(find_traces(&path, traces));
            continue;
        }
        let bytes = fs_err::read(&path).unwrap();
        let holds = |trace: &Vec<u8>| bytes.windows(trace.len()).any(|window| window == &trace[..]);
        found.extend(traces.iter().any(holds).then(|| path.display().to_string()));
    }
    found
}

fn forget(world: &World, what: &Forget) -> Forgotten {
    open_ledger(world).forget(&world.context, what).unwrap()
}

#[test]
fn what_is_forgotten_leaves_no_byte_and_is_not_taken_in_again() {
    let world = make_world();
    let traces = stored_traces(&world);
    assert!(find_traces(&world.context.home, &traces).len() >= 2, "the ledger, and the journal's title");
    let scopes = open_ledger(&world).sessions_to_forget(&Forget::All).unwrap();
    let secret: Vec<_> = scopes.into_iter().filter(|session| session.title.is_some()).collect();
    assert_eq!(secret.len(), 2, "the session and its copy");
    assert_eq!(count_records(&world), [2, 2, 1]);
    for session in secret {
        let forgotten = forget(&world, &Forget::Session(Box::new(session.clone())));
        assert_eq!(forgotten.sessions, [session]);
    }
    // A ledger that is open has a log beside it.
    let _reader = Ledger::open_for_reading(&world.context).unwrap();
    assert_eq!(find_traces(&world.context.home, &traces), [""; 0]);
    assert_eq!((count_found(&world, SECRET), count_found(&world, "giraffe")), (0, 1));
    assert_eq!(count_records(&world), [1, 1, 0]);
    assert!(!world.path("project/.carryover/handoff.md").exists() && world.path("ours/handoff.md").exists());
    // Somebody who has not heard of it yet tells it again.
    let mut ledger = open_ledger(&world);
    ledger.record_handoff(&make_handoff(&world, "aaaa1111", &SECRET.repeat(40))).unwrap();
    ledger.record_hook_event(&make_event(&world, "aaaa1111", world.context.env.now)).unwrap();
    drop(ledger);
    let report = update(&world, BOTH);
    assert_eq!((report.changed, count_found(&world, SECRET)), (0, 0), "their stores still hold them");
    assert_eq!(count_records(&world), [1, 1, 0], "the journal still names both sessions");
    assert_eq!(find_traces(&world.context.home, &traces), [""; 0]);
}

#[test]
fn all_of_it_is_forgotten() {
    let world = make_world();
    let traces = stored_traces(&world);
    let forgotten = forget(&world, &Forget::All);
    assert_eq!(forgotten.sessions.len(), 3);
    assert_eq!(find_traces(&world.context.home, &traces), [""; 0]);
    assert_eq!(count_records(&world), [0, 0, 0]);
    assert_eq!((count_found(&world, "giraffe"), update(&world, BOTH).changed), (0, 0));
}

#[test]
fn a_project_or_a_time_is_forgotten() {
    let world = make_world();
    let elsewhere = forget(&world, &Forget::Project(world.path("home")));
    assert!(elsewhere.sessions.is_empty() && count_found(&world, "giraffe") == 1);
    let early = forget(&world, &Forget::Before(Timestamp::from_millis(0)));
    assert!(early.sessions.is_empty());
    assert_eq!(count_records(&world), [2, 2, 1]);
    // Of a session that the ledger does not have yet.
    open_ledger(&world).record_handoff(&make_handoff(&world, "cccc3333", "so far")).unwrap();
    let here = forget(&world, &Forget::Project(world.path("project")));
    assert_eq!((here.sessions.len(), count_found(&world, "giraffe")), (3, 0));
    assert_eq!(count_records(&world), [0, 0, 0]);
    let world = make_world();
    let later = world.context.env.now.plus_millis(i64::MAX / 4);
    assert_eq!(forget(&world, &Forget::Before(later)).sessions.len(), 3);
    assert_eq!(count_records(&world), [0, 0, 0]);
}

#[test]
fn a_reader_in_the_way_is_told_and_not_waited_for() {
    let world = make_world();
    let reader = Connection::open_in_memory().unwrap();
    let attach = format!("ATTACH '{}' AS l; BEGIN", file_path(&world.context).display());
    reader.execute_batch(&attach).unwrap();
    reader.query_row("SELECT count(*) FROM l.session", [], |_| Ok(())).unwrap();
    let mut ledger = open_ledger(&world);
    ledger.wait_for_nobody();
    let error = ledger.forget(&world.context, &Forget::All).unwrap_err();
    assert!(matches!(error, LedgerError::Busy { .. }), "{error}");
    reader.execute_batch("ROLLBACK").unwrap();
    assert_eq!(ledger.forget(&world.context, &Forget::All).unwrap().sessions.len(), 0, "it is gone from the tables");
    let traces = [SECRET.as_bytes().to_vec()];
    assert_eq!(find_traces(&world.context.home, &traces), [""; 0]);
}

#[test]
fn the_last_handoffs_of_a_project_and_the_events_of_a_month_are_kept() {
    let world = World::new();
    let mut ledger = open_ledger(&world);
    for number in 0..25 {
        let text = format!("handoff {number}");
        ledger.record_handoff(&make_handoff(&world, "aaaa1111", &text)).unwrap();
        // The same once more is no other one.
        ledger.record_handoff(&make_handoff(&world, "aaaa1111", &text)).unwrap();
    }
    let texts: Vec<String> = ledger.list_handoffs().unwrap().into_iter().map(|handoff| handoff.text).collect();
    assert_eq!(texts, (5..25).rev().map(|number| format!("handoff {number}")).collect::<Vec<_>>());
    let days = |days: i64| world.context.env.now.plus_millis(days * 86_400_000);
    for day in [-31, -29, 0] {
        ledger.record_hook_event(&make_event(&world, "aaaa1111", days(day))).unwrap();
    }
    assert_eq!(count_rows(&world, "SELECT count(*) FROM hook_event"), 2);
    assert_eq!(ledger.last_hook_events().unwrap(), [make_event(&world, "aaaa1111", days(0))]);
}

#[test]
fn where_a_session_came_from_and_went_is_known_from_the_journals() {
    let mut world = World::new();
    world.write_sample();
    let there = world.resume("aaaa1111", &BETA);
    let back = world.resume(&there.session.0, &ALPHA);
    update(&world, BOTH);
    let named = |agent: &dyn Agent, id: &str| SessionRef {
        agent: agent.facts().id.to_owned(),
        session: SessionId(id.to_owned()),
    };
    let lineage_of = |session: &SessionRef| {
        let links = open_ledger(&world).lineage_of(session).unwrap();
        links.into_iter().map(|link| (link.source, link.target)).collect::<Vec<_>>()
    };
    let first = named(&ALPHA, "aaaa1111");
    let (second, third) = (named(&BETA, &there.session.0), named(&ALPHA, &back.session.0));
    let mut links = lineage_of(&second);
    links.sort();
    assert_eq!(links, [(first.clone(), second.clone()), (second.clone(), third.clone())]);
    assert_eq!(lineage_of(&third).len(), 2);
    undo_fake(&world.context, None, false).unwrap();
    update(&world, BOTH);
    assert_eq!(lineage_of(&first), [(first.clone(), second)]);
    assert_eq!(lineage_of(&third), []);
}
