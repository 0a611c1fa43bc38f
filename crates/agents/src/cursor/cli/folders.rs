//! The folders of sessions: a database, and a note that tells enough for a listing.

use std::path::{Path, PathBuf};

use carryover_core::transcript::SessionId;
use serde::Deserialize;

use super::drift::{self, Look};
use super::store::{OpenedStore, read_name};
use crate::cursor::lenient::{self, Lenient};
use crate::cursor::session::Session;
use crate::formats::file::{self, MAX_NOTE_BYTES, modified_at};
use crate::formats::sqlite;
use crate::{AgentError, FoundSession, Liveness, Source};

pub(super) const STORE_NAME: &str = "store.db";
const NOTE_NAME: &str = "meta.json";

#[derive(Deserialize, Default)]
#[serde(default, rename_all = "camelCase")]
struct WireNote {
    created_at_ms: Lenient<f64>,
    updated_at_ms: Lenient<f64>,
    cwd: Lenient<PathBuf>,
    title: Lenient<String>,
}

/// The folder of a session.
#[derive(Debug, Clone)]
pub(in crate::cursor) struct ChatFolder {
    pub id: String,
    pub path: PathBuf,
}

impl ChatFolder {
    fn from_path(path: PathBuf) -> Option<Self> {
        let id = path.file_name()?.to_str()?.to_owned();
        Some(Self { id, path })
    }

    pub(in crate::cursor) fn store(&self) -> PathBuf {
        self.path.join(STORE_NAME)
    }

    /// What the note says.
    pub(in crate::cursor) fn read_note(&self) -> Session {
        read_note(&self.path).unwrap_or_default()
    }
}

/// The sessions of the command line client and of its ACP server: below a folder for each project, and below one for all.
pub(in crate::cursor) fn list_chat_folders(client: &Path) -> Vec<ChatFolder> {
    let below = |folder: &Path| -> Vec<PathBuf> {
        let entries = fs_err::read_dir(folder).into_iter().flatten().filter_map(Result::ok);
        let mut paths: Vec<PathBuf> = entries.map(|entry| entry.path()).collect();
        paths.sort();
        paths
    };
    let of_projects = below(&client.join("chats")).into_iter().flat_map(|project| below(&project));
    let all = of_projects.chain(below(&client.join("acp-sessions")));
    all.filter_map(ChatFolder::from_path).collect()
}

/// The id of the session whose store this is, where it is one of the command line client's.
pub(in crate::cursor) fn chat_id(store: &Path) -> Option<String> {
    let folder = store.parent()?;
    let is_named = |path: &Path, name: &str| path.file_name().is_some_and(|found| found == name);
    let is_chat = is_named(folder.parent()?, "acp-sessions") || is_named(folder.parent()?.parent()?, "chats");
    (is_chat && is_named(store, STORE_NAME)).then(|| folder.file_name()?.to_str().map(str::to_owned)).flatten()
}

/// A session as a listing shows it; `None` where nothing was said in it yet, for then there is no database.
pub(in crate::cursor) fn read_chat(folder: &ChatFolder) -> Result<Option<FoundSession>, AgentError> {
    let path = folder.store();
    let Ok(metadata) = fs_err::symlink_metadata(&path) else { return Ok(None) };
    file::check_regular(&path)?;
    let log = fs_err::metadata(sqlite::companion_path(&path, "-wal")).ok();
    let changed = log.as_ref().and_then(modified_at).max(modified_at(&metadata));
    let note = read_note(&folder.path);
    // Older clients wrote no note: then the database tells as much. Whether its form is known is looked at of the newest.
    let (session, drifted) = if let Some(note) = note { (note, false) } else { read_stored(&path)? };
    Ok(Some(FoundSession {
        source: Source { path, key: None },
        id: SessionId(folder.id.clone()),
        title: session.title,
        project: session.project,
        branch: session.branch,
        started_at: session.started,
        updated_at: session.updated.or(changed),
        messages: None,
        bytes: metadata.len(),
        model: session.model,
        live: Liveness::Unknown,
        drifted,
    }))
}

/// What a database tells of its session, and whether its form is not known.
fn read_stored(path: &Path) -> Result<(Session, bool), AgentError> {
    sqlite::read_database(path, &mut |connection| {
        let session = OpenedStore::open(connection, path)?.map(|opened| opened.session);
        Ok((session.unwrap_or_default(), drift::look(connection, path)? == Look::Drifted))
    })
}

/// What stands beside a store: its note, and its id, which is the folder's name.
pub(super) fn read_beside(store: &Path) -> Session {
    let folder = store.parent().unwrap_or(store);
    read_note(folder).unwrap_or_default()
}

fn read_note(folder: &Path) -> Option<Session> {
    let text = file::read_text(&folder.join(NOTE_NAME), MAX_NOTE_BYTES).ok()?;
    let note: WireNote = serde_json::from_str(&text).ok()?;
    Some(Session {
        title: note.title.0.as_deref().and_then(read_name),
        project: note.cwd.0.filter(|cwd| !cwd.as_os_str().is_empty()),
        started: note.created_at_ms.0.and_then(lenient::time),
        updated: note.updated_at_ms.0.and_then(lenient::time),
        ..Session::default()
    })
}
