//! Databases that their owner is using, or that are damaged.

use rusqlite::Connection;

use super::homes::{COMPOSER_ID, EDITOR, copied_home, global_database, list, read_source};
use crate::cursor::Cursor;
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

#[test]
fn a_damaged_page_costs_what_is_on_it() {
    let home = copied_home(&["ide-3.12"]);
    let path = global_database(home.path());
    let bytes = std::fs::read(&path).unwrap();
    let whole = read_source(&source(home.path())).entries.len();
    let (mut read, mut failed) = (0, 0);
    for page in 1..bytes.len() / 4096 {
        let mut damaged = bytes.clone();
        damaged[page * 4096..(page + 1) * 4096].fill(0xff);
        std::fs::write(&path, damaged).unwrap();
        let store = Store { root: home.path().join(EDITOR) };
        let listed = Cursor.list_sessions(&store, &mut |_| std::ops::ControlFlow::Continue(()));
        let mut builder = carryover_core::transcript::TranscriptBuilder::new("cursor");
        match crate::Reader::read_session(&Cursor, &source(home.path()), &crate::Bookmark::Start, &mut builder) {
            Ok(_) => {
                let transcript = builder.finish();
                assert!(
                    transcript.entries.len() >= whole / 2 || !transcript.rejected.is_empty() || listed.is_err(),
                    "page {page}"
                );
                read += 1;
            }
            Err(_) => failed += 1,
        }
    }
    assert!(read > failed, "{read} of {}", read + failed);
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
