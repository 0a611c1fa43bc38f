//! Homes as they are on a user's machine, copied from the fixtures.

use std::path::{Path, PathBuf};

use carryover_core::transcript::{Transcript, TranscriptBuilder};

use crate::cursor::Cursor;
use crate::fixtures;
use crate::{Bookmark, FoundSession, Source};

pub(super) const EDITOR: &str = ".config/Cursor/User";
pub(super) const CLIENT: &str = ".cursor";

/// The conversation of the command line client, and of the SDK.
pub(super) const CHAT_ID: &str = "d6176300-924c-5a88-839c-ec4925f5e2c5";
/// The conversation of the editor since 3.12.
pub(super) const COMPOSER_ID: &str = "fec1c9c0-240b-5e4c-8176-5f0c1eba699c";

/// A folder of the fixtures as a home.
pub(super) fn fixture_home(name: &str) -> PathBuf {
    fixtures::fixture_path(&Cursor, name)
}

/// A home with copies of some fixtures, which may be changed.
pub(super) fn copied_home(names: &[&str]) -> tempfile::TempDir {
    let home = tempfile::tempdir().unwrap();
    for name in names {
        copy_tree(&fixture_home(name), home.path());
    }
    home
}

fn copy_tree(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let target = to.join(entry.file_name());
        if entry.file_type().unwrap().is_dir() {
            copy_tree(&entry.path(), &target);
        } else {
            std::fs::copy(entry.path(), target).unwrap();
        }
    }
}

pub(super) fn global_database(home: &Path) -> PathBuf {
    home.join(EDITOR).join("globalStorage/state.vscdb")
}

/// All sessions of both stores of a home.
pub(super) fn list(home: &Path) -> Vec<FoundSession> {
    let stores = [CLIENT, EDITOR].map(|root| home.join(root));
    let there = stores.iter().filter(|root| root.is_dir());
    there.flat_map(|root| fixtures::list_sessions(&Cursor, root)).collect()
}

pub(super) fn read_source(source: &Source) -> Transcript {
    fixtures::read_from(&Cursor, source, TranscriptBuilder::new("cursor").keeping_everything(), &Bookmark::Start).0
}

/// The one session of a home.
pub(super) fn read_only(home: &Path) -> Transcript {
    let found = list(home);
    assert_eq!(found.len(), 1, "{found:?}");
    read_source(&found[0].source)
}

/// A listed session in a line.
pub(super) fn told(found: &FoundSession) -> String {
    let time = |at: Option<carryover_core::time::Timestamp>| at.map_or_else(|| "-".to_owned(), |at| at.to_string());
    let project = found.project.as_ref().map_or_else(|| "-".to_owned(), |project| project.display().to_string());
    let title = found.title.as_deref().unwrap_or("-");
    format!("{} | {title} | {project} | {} | {}", found.id, time(found.started_at), time(found.updated_at))
}

/// The one store of the command line client's or the SDK's in a home.
pub(super) fn store_file(home: &Path) -> PathBuf {
    let root = home.join(CLIENT);
    let mut found = Vec::new();
    let mut folders = vec![root];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap().map(Result::unwrap) {
            match entry.path() {
                path if path.is_dir() => folders.push(path),
                path if path.ends_with("store.db") => found.push(path),
                _ => {}
            }
        }
    }
    assert_eq!(found.len(), 1, "{found:?}");
    found.remove(0)
}

/// Runs statements in a database.
pub(super) fn execute(database: &Path, statements: &str) {
    let owner = rusqlite::Connection::open(database).unwrap();
    owner.execute_batch(statements).unwrap();
    owner.close().unwrap();
}

/// Changes what the note of a store says.
pub(super) fn change_meta(store: &Path, change: impl Fn(&str) -> String) {
    let owner = rusqlite::Connection::open(store).unwrap();
    let hex: String = owner.query_row("SELECT value FROM meta", [], |row| row.get(0)).unwrap();
    let bytes = crate::cursor::cli::from_hex(&hex).unwrap();
    let text = change(std::str::from_utf8(&bytes).unwrap());
    owner.execute("UPDATE meta SET value = ?1", [crate::cursor::cli::to_hex(text.as_bytes())]).unwrap();
    owner.close().unwrap();
}

/// Makes a store of the command line client's for a session with these messages, which begin with who says them.
pub(super) fn make_store(home: &Path, project: &str, id: &str, updated: i64, messages: &[&str]) -> PathBuf {
    use crate::cursor::cli::{BLOB_TABLE_SQL, FieldWriter, META_TABLE_SQL, blob_name, from_hex, to_hex};
    let folder = home.join(CLIENT).join("chats").join(project).join(id);
    std::fs::create_dir_all(&folder).unwrap();
    let note = serde_json::json!({ "schemaVersion": 1, "cwd": "/p", "hasConversation": true, "updatedAtMs": updated });
    std::fs::write(folder.join("meta.json"), note.to_string()).unwrap();
    let owner = rusqlite::Connection::open(folder.join("store.db")).unwrap();
    owner.execute_batch(&format!("{BLOB_TABLE_SQL}; {META_TABLE_SQL}")).unwrap();
    let add = |data: &[u8]| {
        owner.execute("INSERT OR REPLACE INTO blobs VALUES (?1, ?2)", (blob_name(data), data)).unwrap();
        from_hex(&blob_name(data)).unwrap()
    };
    let mut root = FieldWriter::default();
    for message in messages {
        let (role, text) = message.split_once(": ").unwrap();
        let text = if role == "user" { format!("<user_query>\n{text}\n</user_query>") } else { text.to_owned() };
        let message = serde_json::json!({ "role": role, "content": [{ "type": "text", "text": text }] });
        root.write_bytes(1, &add(message.to_string().as_bytes()));
    }
    add(&root.bytes);
    let meta = serde_json::json!({ "agentId": id, "latestRootBlobId": blob_name(&root.bytes), "name": "New Agent" });
    owner.execute("INSERT INTO meta VALUES ('0', ?1)", [to_hex(meta.to_string().as_bytes())]).unwrap();
    owner.close().unwrap();
    folder.join("store.db")
}

/// Compacts the session of a store: a summary takes the place of its messages, which go into an archive.
pub(super) fn compact(store: &Path) {
    use crate::cursor::cli::{FieldWriter, blob_name, to_hex};
    let owner = rusqlite::Connection::open(store).unwrap();
    let add = |data: &[u8]| {
        owner.execute("INSERT OR REPLACE INTO blobs VALUES (?1, ?2)", (blob_name(data), data)).unwrap();
        (0..32).map(|at| u8::from_str_radix(&blob_name(data)[2 * at..2 * at + 2], 16).unwrap()).collect::<Vec<u8>>()
    };
    let messages: Vec<Vec<u8>> = owner
        .prepare("SELECT data FROM blobs WHERE substr(CAST(data AS TEXT), 1, 8) = '{\"role\":' ORDER BY rowid")
        .unwrap()
        .query_map([], |row| row.get(0))
        .unwrap()
        .collect::<rusqlite::Result<_>>()
        .unwrap();
    let mut archive = FieldWriter::default();
    messages[2..].iter().for_each(|message| archive.write_bytes(1, &add(message)));
    let summary = br#"{"role":"user","content":"Files were listed.","providerOptions":{"cursor":{"isSummary":true}}}"#;
    let prompt = br#"{"role":"user","content":[{"type":"text","text":"<user_query>\nAnd now?\n</user_query>"}]}"#;
    let mut root = FieldWriter::default();
    for message in [messages[0].as_slice(), summary, prompt, prompt] {
        root.write_bytes(1, &add(message));
    }
    root.write_bytes(13, &add(&archive.bytes));
    add(&root.bytes);
    let hex: String = owner.query_row("SELECT value FROM meta", [], |row| row.get(0)).unwrap();
    let bytes: Vec<u8> =
        (0..hex.len() / 2).map(|at| u8::from_str_radix(&hex[2 * at..2 * at + 2], 16).unwrap()).collect();
    let mut meta: serde_json::Value = serde_json::from_slice(&bytes).unwrap();
    meta["latestRootBlobId"] = blob_name(&root.bytes).into();
    let hex = to_hex(meta.to_string().as_bytes());
    owner.execute("UPDATE meta SET value = ?1", [hex]).unwrap();
    owner.close().unwrap();
}
