//! Agents of the SDK: an index of them for each project, and a store for each, whose folder is named by a digest of the id.

use std::path::{Path, PathBuf};

use carryover_core::time::Timestamp;
use carryover_core::transcript::SessionId;
use rusqlite::Connection;
use serde_json::Value;

use super::folders::STORE_NAME;
use super::store::{blob_name, read_name};
use crate::cursor::session::Session;
use crate::formats::sqlite;
use crate::formats::unopened::UnopenedFiles;
use crate::{FoundSession, Liveness, Source};

const INDEX_NAME: &str = "index.db";

/// An agent in the index.
#[derive(Debug)]
pub(super) struct Agent {
    pub session: Session,
    /// The root of its store, which the store itself does not know.
    pub root: Option<String>,
}

/// The agent whose store this is, where it is one of an index.
pub(super) fn find_agent(store: &Path) -> Option<Agent> {
    let folder = store.parent()?;
    let index = folder.parent()?.parent()?.join(INDEX_NAME);
    let agents = sqlite::read_database(&index, &mut read_index).ok()?;
    agents.into_iter().find(|agent| folder.file_name().is_some_and(|name| *name == *folder_name(&agent.session.id)))
}

/// The agents of every project.
pub(in crate::cursor) fn list_agents(client: &Path, unopened: &mut UnopenedFiles) -> Vec<FoundSession> {
    let mut found = Vec::new();
    for index in list_indexes(client) {
        let looked = sqlite::read_database(&index, &mut read_index);
        let agents = unopened.ok_or_note(looked).unwrap_or_default();
        let listed = agents.into_iter().filter_map(|agent| agent.into_found(&index));
        found.extend(listed.filter(|found| unopened.can_read(&found.source.path)));
    }
    found
}

fn list_indexes(client: &Path) -> Vec<PathBuf> {
    let below = |folder: PathBuf| fs_err::read_dir(folder).into_iter().flatten().filter_map(Result::ok);
    let projects = below(client.join("projects"));
    let stores = projects.flat_map(|project| below(project.path().join("sdk-agent-store")));
    let mut indexes: Vec<PathBuf> =
        stores.map(|store| store.path().join(INDEX_NAME)).filter(|it| it.is_file()).collect();
    indexes.sort();
    indexes
}

fn folder_name(agent: &str) -> String {
    format!("agent-{}", blob_name(agent.as_bytes()))
}

fn read_index(connection: &Connection) -> rusqlite::Result<Vec<Agent>> {
    let columns = sqlite::table_columns(connection, "agents")?;
    let has = |name: &str| columns.iter().any(|column| column == name);
    if !has("agent_id") {
        return Ok(Vec::new());
    }
    let wanted = ["workspace_ref", "name", "latest_checkpoint_ref_json", "created_at", "updated_at"];
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
        Ok(Agent { session, root: text(3)?.as_deref().and_then(find_root) })
    })?;
    rows.collect()
}

/// The root that a checkpoint names, under one of two names.
fn find_root(checkpoint: &str) -> Option<String> {
    let checkpoint: Value = serde_json::from_str(checkpoint).ok()?;
    ["rootBlobId", "blobId"].iter().find_map(|name| checkpoint[name].as_str().map(str::to_owned))
}

impl Agent {
    fn into_found(self, index: &Path) -> Option<FoundSession> {
        let folder = index.parent()?.join("agents").join(folder_name(&self.session.id));
        let path = folder.join(STORE_NAME);
        let metadata = fs_err::metadata(&path).ok()?;
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
