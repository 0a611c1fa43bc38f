//! Agents of the SDK: an index of them for each project, and a store for each, whose folder is named by a digest of the id.

use std::path::{Path, PathBuf};

use carryover_core::time::Timestamp;
use carryover_core::transcript::SessionId;
use rusqlite::Connection;
use serde_json::Value;

use super::drift::has_tables;
use super::folders::STORE_NAME;
use super::runs::{Run, list_runs};
use super::store::{blob_name, read_name};
use crate::cursor::session::Session;
use crate::formats::file::{self, modified_at};
use crate::formats::sqlite;
use crate::formats::unopened::UnopenedFiles;
use crate::{FoundSession, Liveness, Source};

const INDEX_NAME: &str = "index.db";

/// The column that says where an agent stopped.
const CHECKPOINT_COLUMN: &str = "latest_checkpoint_ref_json";

/// An agent in the index.
#[derive(Debug)]
pub(super) struct Agent {
    pub session: Session,
    pub checkpoint: Checkpoint,
}

/// Where an agent stopped: the root of its store, which the store itself does not know.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Checkpoint {
    /// Nothing was said yet.
    None,
    Root(String),
    /// There is one, of a form that we do not know.
    Unknown,
}

/// The agent whose store this is, where it is one of an index, and its runs.
pub(super) fn find_agent(store: &Path) -> Option<(Agent, Vec<Run>)> {
    let folder = store.parent()?;
    let index = folder.parent()?.parent()?.join(INDEX_NAME);
    file::check_regular(&index).ok()?;
    let found = sqlite::read_database(&index, &mut |connection| {
        let agents = read_index(connection)?.unwrap_or_default();
        let is_wanted = |agent: &Agent| folder.file_name().is_some_and(|name| *name == *folder_name(&agent.session.id));
        let Some(agent) = agents.into_iter().find(is_wanted) else { return Ok(None) };
        let runs = list_runs(connection, &agent.session.id)?;
        Ok(Some((agent, runs)))
    });
    found.ok().flatten()
}

/// The agents of every project.
pub(in crate::cursor) fn list_agents(client: &Path, unopened: &mut UnopenedFiles) -> Vec<FoundSession> {
    let mut all = Vec::new();
    for index in list_indexes(client) {
        if !unopened.can_read(&index) {
            continue;
        }
        let Some(agents) = unopened.ok_or_note(sqlite::read_database(&index, &mut read_index)) else { continue };
        let is_unknown = agents.as_ref().is_none_or(|agents| !agents.is_empty());
        let found: Vec<FoundSession> =
            agents.into_iter().flatten().filter_map(|agent| agent.into_found(&index)).collect();
        if found.is_empty() && is_unknown {
            all.extend(describe_unknown(&index));
        }
        all.extend(found.into_iter().filter(|found| unopened.can_read(&found.source.path)));
    }
    all
}

fn list_indexes(client: &Path) -> Vec<PathBuf> {
    let below = |folder: PathBuf| fs_err::read_dir(folder).into_iter().flatten().filter_map(Result::ok);
    let projects = below(client.join("projects"));
    let stores = projects.flat_map(|project| below(project.path().join("sdk-agent-store")));
    let mut indexes: Vec<PathBuf> = stores.map(|store| store.path().join(INDEX_NAME)).collect();
    indexes.retain(|index| fs_err::symlink_metadata(index).is_ok());
    indexes.sort();
    indexes
}

/// Stores that no agent of their index has, as one session of a form that is not known.
fn describe_unknown(index: &Path) -> Option<FoundSession> {
    let folders = fs_err::read_dir(index.parent()?.join("agents")).ok()?.filter_map(Result::ok);
    let stores = folders.filter_map(|folder| fs_err::metadata(folder.path().join(STORE_NAME)).ok());
    let changed = stores.map(|store| modified_at(&store)).max()?;
    let project = index.ancestors().nth(3)?.file_name()?.to_string_lossy().into_owned();
    Some(FoundSession {
        source: Source { path: index.to_owned(), key: None },
        id: SessionId(format!("sdk-{project}")),
        title: None,
        project: None,
        branch: None,
        started_at: None,
        updated_at: changed,
        messages: None,
        bytes: 0,
        model: None,
        live: Liveness::Unknown,
        drifted: true,
    })
}

fn folder_name(agent: &str) -> String {
    format!("agent-{}", blob_name(agent.as_bytes()))
}

/// The agents of an index; `None` where it is of another form.
fn read_index(connection: &Connection) -> rusqlite::Result<Option<Vec<Agent>>> {
    let columns = sqlite::table_columns(connection, "agents")?;
    let has = |name: &str| columns.iter().any(|column| column == name);
    if !has("agent_id") {
        return Ok((!has_tables(connection)?).then(Vec::new));
    }
    let unsaid = if has(CHECKPOINT_COLUMN) { Checkpoint::None } else { Checkpoint::Unknown };
    let wanted = ["workspace_ref", "name", CHECKPOINT_COLUMN, "created_at", "updated_at"];
    let wanted = wanted.map(|name| if has(name) { name } else { "NULL" });
    let mut query = connection.prepare(&format!("SELECT agent_id, {} FROM agents", wanted.join(", ")))?;
    let rows = query.query_map([], |row| {
        let text = |column| Ok::<_, rusqlite::Error>(row.get_ref(column)?.as_str().ok().map(str::to_owned));
        let time = |text: Option<String>| text.as_deref().and_then(Timestamp::parse);
        let session = Session {
            id: text(0)?.unwrap_or_default(),
            project: text(1)?.map(PathBuf::from).filter(|path| path.is_absolute()),
            title: text(2)?.as_deref().and_then(read_name),
            started: time(text(4)?),
            updated: time(text(5)?),
            ..Session::default()
        };
        let checkpoint = text(3)?.map_or_else(|| unsaid.clone(), |checkpoint| read_checkpoint(&checkpoint));
        Ok(Agent { session, checkpoint })
    })?;
    rows.collect::<rusqlite::Result<_>>().map(Some)
}

/// A checkpoint names the root under one of two names.
fn read_checkpoint(checkpoint: &str) -> Checkpoint {
    let checkpoint: Value = serde_json::from_str(checkpoint).unwrap_or_default();
    let root = ["rootBlobId", "blobId"].iter().find_map(|name| checkpoint[name].as_str().map(str::to_owned));
    root.map_or(Checkpoint::Unknown, Checkpoint::Root)
}

impl Agent {
    fn into_found(self, index: &Path) -> Option<FoundSession> {
        let folder = index.parent()?.join("agents").join(folder_name(&self.session.id));
        let path = folder.join(STORE_NAME);
        // Also of a link that leads nowhere, which is told.
        let metadata = fs_err::symlink_metadata(&path).ok()?;
        let session = self.session;
        Some(FoundSession {
            source: Source { path, key: None },
            title: session.title,
            project: session.project,
            branch: None,
            started_at: session.started,
            updated_at: session.updated,
            messages: None,
            bytes: metadata.len(),
            model: None,
            live: Liveness::Unknown,
            drifted: false,
            id: SessionId(session.id),
        })
    }
}
