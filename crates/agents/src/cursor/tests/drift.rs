//! Stores whose form has changed: sessions are there, nothing in them is understood, and a listing says so.

use rusqlite::Connection;

use super::homes::{
    CLIENT, change_meta, copied_home, execute, fixture_home, global_database, list, read_source, store_file,
};
use crate::cursor::Cursor;
use crate::cursor::cli::{FieldWriter, blob_name};
use crate::{Discovery, Store};

/// Renames something in the database that all windows share, in keys or in values.
fn replace_in_editor(home: &std::path::Path, column: &str, old: &str, new: &str) {
    let change = format!(
        "UPDATE cursorDiskKV SET {column} = replace(CAST({column} AS TEXT), '{old}', '{new}') WHERE {column} IS NOT NULL"
    );
    execute(&global_database(home), &change);
}

/// Gives every field of a root another number.
fn renumber_root(store: &std::path::Path) {
    let owner = Connection::open(store).unwrap();
    change_meta(store, |meta| {
        let start = meta.find("latestRootBlobId\":\"").unwrap() + 19;
        let old = &meta[start..start + 64];
        let root: Vec<u8> = owner.query_row("SELECT data FROM blobs WHERE id = ?1", [old], |row| row.get(0)).unwrap();
        let mut other = FieldWriter::default();
        // Names of messages and turns alone: 34 bytes each.
        for field in root.chunks(34).take_while(|field| field.len() == 34 && field[1] == 32) {
            other.write_bytes(u64::from(field[0] >> 3) + 50, &field[2..]);
        }
        owner.execute("INSERT INTO blobs VALUES (?1, ?2)", (blob_name(&other.bytes), &other.bytes)).unwrap();
        meta.replace(old, &blob_name(&other.bytes))
    });
}

/// Whether a home's one session, or what stands for all of them, is said to have drifted.
fn is_drift_told(home: &std::path::Path) -> bool {
    let found = list(home);
    !found.is_empty() && found.iter().all(|found| found.drifted)
}

#[test]
fn a_form_that_is_known_has_not_drifted() {
    for name in ["ide-legacy", "ide-2.x", "ide-3.0", "ide-3.12", "cli", "sdk"] {
        assert!(list(&fixture_home(name)).iter().all(|found| !found.drifted), "{name}");
    }
}

/// What somebody makes of a store.
type Change = fn(&std::path::Path);

#[test]
fn a_store_of_the_command_line_client_in_another_form_is_told() {
    let changes: [(&str, Change); 9] = [
        ("fields of the root", renumber_root),
        ("the name of the root", |store| change_meta(store, |meta| meta.replace("latestRootBlobId", "rootHash"))),
        ("a root that is gone", |store| execute(store, "DELETE FROM blobs WHERE substr(data, 1, 2) = x'0a20'")),
        ("no blobs", |store| execute(store, "DELETE FROM blobs")),
        ("names of blobs", |store| execute(store, "UPDATE blobs SET id = 'sha256:' || id")),
        ("the key of the note", |store| execute(store, "UPDATE meta SET key = 'root'")),
        ("tables", |store| execute(store, "ALTER TABLE blobs RENAME TO objects")),
        ("columns", |store| execute(store, "ALTER TABLE blobs RENAME COLUMN data TO bytes")),
        ("roles of messages", |store| {
            let change = "UPDATE blobs SET data = replace(CAST(data AS TEXT), '\"role\"', '\"speaker\"')
                          WHERE substr(data, 1, 1) = x'7b'";
            execute(store, change);
        }),
    ];
    for (what, change) in changes {
        for has_note in [true, false] {
            let home = copied_home(&["cli"]);
            let store = store_file(home.path());
            change(&store);
            if !has_note {
                std::fs::remove_file(store.with_file_name("meta.json")).unwrap();
            }
            assert!(is_drift_told(home.path()), "{what}, with a note: {has_note}");
        }
    }
}

#[test]
fn a_session_that_has_just_begun_has_not_drifted() {
    let home = copied_home(&["cli"]);
    let store = store_file(home.path());
    change_meta(&store, |meta| {
        let start = meta.find("latestRootBlobId\":\"").unwrap() + 19;
        format!("{}{}", &meta[..start], &meta[start + 64..])
    });
    execute(&store, "DELETE FROM blobs");
    assert!(list(home.path()).iter().all(|found| !found.drifted));
    // Before its owner has made the tables.
    std::fs::write(&store, "").unwrap();
    assert!(list(home.path()).iter().all(|found| !found.drifted));
}

#[test]
fn a_root_that_leads_to_nothing_is_told_where_the_session_is_read() {
    let home = copied_home(&["cli"]);
    execute(&store_file(home.path()), "DELETE FROM blobs WHERE substr(data, 1, 2) = x'0a20'");
    let transcript = read_source(&list(home.path())[0].source);
    assert_eq!(transcript.rejected.len(), 1);
    assert_eq!(transcript.rejected[0].reason, "the store names it, and does not hold it");
}

#[test]
fn an_index_of_the_sdk_in_another_form_is_told() {
    for (what, change) in [
        ("the table of agents", "ALTER TABLE agents RENAME TO workers"),
        ("the key of an agent", "ALTER TABLE agents RENAME COLUMN agent_id TO id"),
        ("ids, and with them folders", "UPDATE agents SET agent_id = 'v2-' || agent_id"),
        ("the column of checkpoints", "ALTER TABLE agents RENAME COLUMN latest_checkpoint_ref_json TO head_json"),
        (
            "the key of the checkpoint",
            "UPDATE agents SET latest_checkpoint_ref_json = replace(latest_checkpoint_ref_json, 'blobId', 'hash')",
        ),
    ] {
        let home = copied_home(&["sdk"]);
        let index = store_file(home.path()).ancestors().nth(3).unwrap().join("index.db");
        execute(&index, "PRAGMA foreign_keys = OFF");
        execute(&index, change);
        assert!(is_drift_told(home.path()), "{what}");
    }
}

#[test]
#[cfg(unix)]
fn an_index_that_cannot_be_opened_is_told() {
    let home = copied_home(&["sdk"]);
    let index = store_file(home.path()).ancestors().nth(3).unwrap().join("index.db");
    std::fs::remove_file(&index).unwrap();
    assert!(std::process::Command::new("mkfifo").arg(&index).status().unwrap().success());
    let store = Store { root: home.path().join(CLIENT) };
    let told = Cursor.list_sessions(&store, &mut |_| std::ops::ControlFlow::Continue(()));
    assert!(told.is_err_and(|error| error.to_string().contains("index.db")));
}

#[test]
fn a_conversation_of_the_editor_in_another_form_is_told() {
    for (what, column, old, new) in [
        ("the list of bubbles", "value", "fullConversationHeadersOnly", "orderedMessages"),
        ("names in the list", "value", "\"bubbleId\"", "\"messageId\""),
        ("keys of bubbles", "key", "bubbleId:", "message:"),
        ("keys of conversations", "key", "composerData:", "conversation:"),
    ] {
        for name in ["ide-3.12", "ide-2.x"] {
            let home = copied_home(&[name]);
            replace_in_editor(home.path(), column, old, new);
            assert!(is_drift_told(home.path()), "{name}: {what}");
        }
    }
    for change in [
        "ALTER TABLE cursorDiskKV RENAME TO records",
        "ALTER TABLE cursorDiskKV RENAME COLUMN key TO name",
        "ALTER TABLE cursorDiskKV RENAME COLUMN value TO body",
    ] {
        let home = copied_home(&["ide-3.12"]);
        execute(&global_database(home.path()), change);
        assert!(is_drift_told(home.path()), "{change}");
    }
}

#[test]
fn new_conversations_in_another_form_are_told_beside_older_ones() {
    let home = copied_home(&["ide-3.12"]);
    execute(
        &global_database(home.path()),
        r#"INSERT INTO composerHeaders (composerId, lastUpdatedAt, value)
               VALUES ('c9', 4102444800000, '{"composerId":"c9","name":"In another form"}');
           INSERT INTO cursorDiskKV VALUES ('composerData:c9',
               '{"composerId":"c9","fullConversationHeadersOnly":[{"bubbleId":"b1","type":1}]}');
           INSERT INTO cursorDiskKV VALUES ('message:c9:b1', '{"type":1,"text":"hello"}');"#,
    );
    let mut found: Vec<_> = list(home.path()).into_iter().map(|found| (found.title, found.drifted)).collect();
    found.sort();
    let title = |text: &str| Some(text.to_owned());
    assert_eq!(found, [(title("In another form"), true), (title("Rename greet to hello"), false)]);
}

#[test]
fn what_a_conversation_in_another_form_holds_is_read_in_the_order_of_its_times() {
    let whole = read_source(&list(&fixture_home("ide-3.12"))[0].source);
    let home = copied_home(&["ide-3.12"]);
    replace_in_editor(home.path(), "value", "fullConversationHeadersOnly", "orderedMessages");
    let transcript = read_source(&list(home.path())[0].source);
    assert_eq!(transcript.rejected.len(), 1);
    assert!(transcript.rejected[0].reason.ends_with("so they are in the order of their times"));
    assert!(transcript.entries.len() >= whole.entries.len());
}
