//! Databases that their owner is using, or that are damaged.

use carryover_core::transcript::Body;
use rusqlite::Connection;

use super::homes::{COMPOSER_ID, EDITOR, copied_home, execute, global_database, list, read_source};
use crate::cursor::Cursor;
use crate::fixtures::{self, ImageCounts};
use crate::{Discovery, Source, Store};

fn source(home: &std::path::Path) -> Source {
    Source { path: global_database(home), key: Some(COMPOSER_ID.to_owned()) }
}

fn file_names(home: &std::path::Path) -> Vec<String> {
    let files = std::fs::read_dir(home.join(EDITOR).join("globalStorage")).unwrap();
    let mut names: Vec<String> = files.map(|file| file.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

#[test]
fn the_owner_writes_while_we_read_and_nothing_is_left_behind() {
    let home = copied_home(&["ide-3.12"]);
    let n_entries = read_source(&source(home.path())).entries.len();
    assert_eq!(file_names(home.path()), ["state.vscdb"]);
    for mode in ["DELETE", "WAL"] {
        let owner = Connection::open(global_database(home.path())).unwrap();
        owner.busy_timeout(std::time::Duration::ZERO).unwrap();
        owner.query_row(&format!("PRAGMA journal_mode = {mode}"), [], |_| Ok(())).unwrap();
        // Before the owner has said that it is done, and after.
        owner.execute_batch("BEGIN IMMEDIATE; INSERT INTO ItemTable VALUES ('x', 1)").unwrap();
        let beside = file_names(home.path());
        assert_eq!(list(home.path()).len(), 1, "{mode}");
        assert_eq!(read_source(&source(home.path())).entries.len(), n_entries, "{mode}");
        assert_eq!(file_names(home.path()), beside, "{mode}");
        owner.execute_batch("COMMIT").unwrap();
        assert_eq!(list(home.path()).len(), 1, "{mode}");
        owner.execute_batch("DELETE FROM ItemTable WHERE key = 'x'; PRAGMA wal_checkpoint(TRUNCATE)").unwrap();
        assert_eq!(read_source(&source(home.path())).entries.len(), n_entries, "{mode}");
        owner.close().unwrap();
        assert_eq!(file_names(home.path()), ["state.vscdb"], "{mode}");
    }
}

/// What is had of a session, and what is told of the rest.
fn read_told(home: &std::path::Path) -> String {
    let store = Store { root: home.join(EDITOR) };
    let listed = Cursor.list_sessions(&store, &mut |_| std::ops::ControlFlow::Continue(()));
    let listing = if listed.is_err() { "the listing tells" } else { "listed" };
    let mut builder = carryover_core::transcript::TranscriptBuilder::new("cursor");
    if crate::Reader::read_session(&Cursor, &source(home), &crate::Bookmark::Start, &mut builder).is_err() {
        return format!("{listing}, not read");
    }
    let transcript = builder.finish();
    let said = transcript.entries.iter().filter(|entry| !matches!(entry.body, Body::Opaque(_) | Body::Note(_)));
    format!("{listing}, {} read, {} rejected", said.count(), transcript.rejected.len())
}

#[test]
fn a_damaged_page_costs_what_is_on_it_and_is_told() {
    let home = copied_home(&["ide-3.12"]);
    let path = global_database(home.path());
    let bytes = std::fs::read(&path).unwrap();
    let whole = read_told(home.path());
    let mut told = vec![format!("none: {whole}")];
    for page in 1..bytes.len() / 4096 {
        let mut damaged = bytes.clone();
        damaged[page * 4096..(page + 1) * 4096].fill(0xff);
        std::fs::write(&path, damaged).unwrap();
        told.push(format!("{}: {}", page + 1, read_told(home.path())));
    }
    // The second and third are settings, the sixth and seventh an index of conversations, which tell themselves as much. The
    // fourth and fifth lead to everything else. The eighth and ninth hold the document that names the bubbles: without it the
    // one that was taken back is told as well. The last holds nothing of a conversation.
    insta::assert_snapshot!(told.join("\n"), @"
    none: listed, 12 read, 0 rejected
    2: listed, 12 read, 0 rejected
    3: listed, 12 read, 0 rejected
    4: the listing tells, 0 read, 12 rejected
    5: the listing tells, not read
    6: listed, 12 read, 0 rejected
    7: listed, 12 read, 0 rejected
    8: the listing tells, 13 read, 1 rejected
    9: the listing tells, 12 read, 2 rejected
    10: listed, 10 read, 2 rejected
    11: listed, 10 read, 1 rejected
    12: listed, 10 read, 1 rejected
    13: listed, 10 read, 1 rejected
    14: listed, 10 read, 2 rejected
    15: listed, 11 read, 3 rejected
    16: listed, 12 read, 0 rejected
    ");
}

#[test]
fn a_document_that_is_damaged_or_too_long_costs_the_order_and_no_words() {
    let live = |home: &std::path::Path| {
        let transcript = read_source(&source(home));
        let reasons: Vec<&str> = transcript.rejected.iter().map(|rejected| rejected.reason).collect();
        (fixtures::live_context(&Cursor, &transcript, ImageCounts::Everywhere), reasons.join(", "))
    };
    let whole = live(copied_home(&["ide-3.12"]).path()).0;
    let id = COMPOSER_ID;
    for (value, reason) in [
        ("'{\"name\": \"cut'".to_owned(), "cannot be read"),
        ("zeroblob(67108865)".to_owned(), "cannot be read"),
        ("NULL".to_owned(), "is empty"),
    ] {
        let home = copied_home(&["ide-3.12"]);
        let change = format!("UPDATE cursorDiskKV SET value = {value} WHERE key = 'composerData:{id}'");
        execute(&global_database(home.path()), &change);
        let (words, told) = live(home.path());
        assert!(told.contains(reason) && told.contains("in the order of their times"), "{value}: {told}");
        assert!(whole.lines().all(|line| words.contains(line)), "{value}: {words}");
        assert_eq!(words.lines().next(), whole.lines().next());
    }
}

#[test]
fn a_database_that_is_none_is_told_and_the_others_are_listed() {
    let home = copied_home(&["ide-3.12", "ide-legacy"]);
    let window = home.path().join(EDITOR).join("workspaceStorage/f60eaa1a7303de19f0f50085edb2ecfb/state.vscdb");
    std::fs::write(&window, "not a database, but long enough to be looked at as one").unwrap();
    let mut found = Vec::new();
    let store = Store { root: home.path().join(EDITOR) };
    let told = Cursor.list_sessions(&store, &mut |session| {
        found.push(session.id.0);
        std::ops::ControlFlow::Continue(())
    });
    assert!(told.is_err_and(|error| error.to_string().contains("state.vscdb")));
    assert_eq!(found.len(), 2, "a chat of the other window, and the shared database: {found:?}");
}
