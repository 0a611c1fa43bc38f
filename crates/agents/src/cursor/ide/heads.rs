//! Listing conversations from the editor's indexes, of which every generation has its own. No bubble is read but those of a
//! few that changed last, to see that the format is still known.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use carryover_core::plain::one_line;
use carryover_core::transcript::SessionId;
use rusqlite::{Connection, OptionalExtension as _};
use serde::Deserialize;
use serde_json::value::RawValue;

use super::chat;
use super::composer::{self, Look};
use super::values::{self, Table};
use super::workspaces::{self, Workspace};
use crate::cursor::copies::Weight;
use crate::cursor::lenient::{self, Lenient};
use crate::cursor::places::{global_database, path_from_uri};
use crate::cursor::session::{Session, time_from_millis};
use crate::formats::sqlite;
use crate::formats::unopened::UnopenedFiles;
use crate::{FoundSession, Liveness, Source};

/// The key of the list of conversations: in a window's database up to 2.x, in the shared one since 3.0.
const WINDOW_INDEX_KEY: &str = "composer.composerData";
pub(in crate::cursor) const SHARED_INDEX_KEY: &str = "composer.composerHeaders";

/// The table that takes its place since 3.12.
pub(in crate::cursor) const INDEX_TABLE: &str = "composerHeaders";

/// How many conversations of a database may be in use at a time.
const MAX_RECENT_SESSIONS: usize = 16;

/// How many of those that changed last are looked into, to see that their format is known.
const SESSIONS_CHECKED: usize = 3;

/// A place that is not a conversation yet.
const DRAFT_ID: &str = "empty-state-draft";

/// Which conversations are wanted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::cursor) enum SessionScope<'a> {
    All,
    /// Those in this database that changed last.
    RecentIn(&'a Path),
}

impl SessionScope<'_> {
    fn covers(self, database: &Path) -> bool {
        match self {
            Self::All => true,
            Self::RecentIn(file) => file == database,
        }
    }
}

/// A conversation in an index.
#[derive(Debug, Clone, Default)]
pub(super) struct Head {
    pub session: Session,
    /// The window that it is of.
    pub workspace: Option<String>,
    /// A sub-agent's, or nothing yet.
    is_hidden: bool,
}

#[derive(Deserialize)]
struct WireIndex<'a> {
    #[serde(borrow, default, rename = "allComposers")]
    composers: Vec<&'a RawValue>,
}

/// A conversation as indexes, and the conversations themselves, describe it.
#[derive(Deserialize, Default)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct WireHead {
    composer_id: Lenient<String>,
    name: Lenient<String>,
    created_at: Lenient<f64>,
    last_updated_at: Lenient<f64>,
    created_on_branch: Lenient<String>,
    unified_mode: Lenient<String>,
    is_draft: Lenient<bool>,
    is_best_of_n_subcomposer: Lenient<bool>,
    workspace_identifier: Lenient<WireWorkspaceRef>,
    subagent_info: Lenient<WireSubagent>,
}

#[derive(Deserialize)]
struct WireWorkspaceRef {
    id: Option<String>,
    #[serde(default)]
    uri: Lenient<WireUri>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct WireUri {
    fs_path: Option<String>,
    external: Option<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct WireSubagent {
    #[serde(alias = "parentAgentId")]
    parent_composer_id: Option<String>,
}

impl WireHead {
    pub(super) fn into_head(self) -> Head {
        let place = self.workspace_identifier.0;
        let uri = place.as_ref().and_then(|place| place.uri.0.as_ref());
        let path = uri.and_then(|uri| uri.fs_path.clone().map(PathBuf::from));
        let project = path.or_else(|| uri.and_then(|uri| path_from_uri(uri.external.as_deref()?)));
        let parent = self.subagent_info.0.and_then(|info| info.parent_composer_id);
        let id = self.composer_id.0.unwrap_or_default();
        let is_hidden = id == DRAFT_ID
            || self.is_draft.0 == Some(true)
            || self.is_best_of_n_subcomposer.0 == Some(true)
            || parent.is_some();
        let session = Session {
            title: self.name.0.map(|name| one_line(&name, 200)).filter(|name| !name.is_empty()),
            project,
            branch: self.created_on_branch.0.filter(|branch| !branch.is_empty()),
            mode: self.unified_mode.0,
            started: self.created_at.0.and_then(lenient::time),
            updated: self.last_updated_at.0.and_then(lenient::time),
            parent,
            id,
            ..Session::default()
        };
        Head { session, workspace: place.and_then(|place| place.id), is_hidden }
    }
}

/// Those of some conversations that are, with words in them, in the editor's shared database, and how much of each.
pub(in crate::cursor) fn find_held<'i>(database: &Path, ids: &BTreeSet<&'i str>) -> BTreeMap<&'i str, Weight> {
    let find = |connection: &Connection| {
        let mut held = BTreeMap::new();
        if Table::Disk.is_in(connection)? {
            for id in ids {
                held.extend(composer::weigh(connection, id)?.map(|weight| (*id, weight)));
            }
        }
        Ok(held)
    };
    sqlite::read_database(database, &mut |connection| find(connection)).unwrap_or_default()
}

/// The conversations of the editor with this folder.
pub(in crate::cursor) fn list_sessions(
    editor: &Path,
    scope: SessionScope<'_>,
    unopened: &mut UnopenedFiles,
) -> Vec<FoundSession> {
    let workspaces = workspaces::list_workspaces(editor);
    let mut index = Index::default();
    let global = global_database(editor);
    let mut all = Vec::new();
    let mut used = BTreeSet::new();
    for workspace in &workspaces {
        if !unopened.can_read(&workspace.database) {
            continue;
        }
        let looked = sqlite::read_database(&workspace.database, &mut |connection| {
            let heads = read_index(connection, WINDOW_INDEX_KEY)?;
            let wanted = scope.covers(&workspace.database);
            Ok((heads, if wanted { chat::list_chats(connection, workspace)? } else { Vec::new() }))
        });
        let Some((heads, chats)) = unopened.ok_or_note(looked) else { continue };
        if !heads.is_empty() || chats.iter().any(|found| found.source.key.as_deref() != Some(chat::PROMPTS_KEY)) {
            used.insert(workspace.id.clone());
        }
        index.add_all(heads, Some(workspace));
        all.extend(chats);
    }
    let has_global = fs_err::symlink_metadata(&global).is_ok();
    let mut is_all_known = !has_global;
    if has_global && unopened.can_read(&global) {
        let looked = sqlite::read_database(&global, &mut |connection| {
            // A copy, for the database may have to be looked into again.
            let mut heads = index.clone();
            heads.read_shared(connection, &workspaces)?;
            let known: BTreeSet<String> = heads.heads.values().filter_map(|head| head.workspace.clone()).collect();
            let is_wanted = scope.covers(&global);
            let found = if is_wanted {
                heads.find_sessions(connection, &global, scope)?
            } else {
                FoundConversations::default()
            };
            Ok((known, found))
        });
        if let Some((known, found)) = unopened.ok_or_note(looked) {
            is_all_known = true;
            used.extend(known);
            all.extend(found.sessions);
            if found.is_damaged {
                unopened.ok_or_note(Err::<(), _>(values::damage_error(&global)));
            }
        }
    }
    // What was typed is told where nothing else is left of a window, if that is known.
    all.retain(|found| {
        let of = |workspace: &&Workspace| workspace.database == found.source.path;
        let is_left = || workspaces.iter().find(of).is_none_or(|workspace| !used.contains(&workspace.id));
        found.source.key.as_deref() != Some(chat::PROMPTS_KEY) || (is_all_known && is_left())
    });
    all
}

/// The conversations that indexes name, each once.
#[derive(Debug, Clone, Default)]
struct Index {
    heads: BTreeMap<String, Head>,
}

impl Index {
    fn add_all(&mut self, heads: Vec<Head>, workspace: Option<&Workspace>) {
        for mut head in heads {
            if let Some(workspace) = workspace {
                head.workspace.get_or_insert_with(|| workspace.id.clone());
                head.session.project = head.session.project.take().or_else(|| workspace.project.clone());
            }
            match self.heads.get_mut(&head.session.id) {
                Some(known) => {
                    known.is_hidden |= head.is_hidden;
                    known.workspace = known.workspace.take().or(head.workspace);
                    known.session.complete(head.session);
                }
                None => drop(self.heads.insert(head.session.id.clone(), head)),
            }
        }
    }

    /// Takes in what the shared database knows: the newest index first, and of conversations that are in none what they say
    /// of themselves.
    fn read_shared(&mut self, connection: &Connection, workspaces: &[Workspace]) -> rusqlite::Result<()> {
        let of_windows = std::mem::take(self);
        self.add_all(read_table(connection)?, None);
        self.add_all(read_index(connection, SHARED_INDEX_KEY)?, None);
        self.add_all(of_windows.heads.into_values().collect(), None);
        for id in values::list_keys(connection, "composerData:")? {
            if !self.heads.contains_key(&id) {
                let head = composer::read_head(connection, &id)?;
                self.add_all(head.into_iter().collect(), None);
            }
        }
        for head in self.heads.values_mut().filter(|head| head.session.project.is_none()) {
            let of = workspaces.iter().find(|workspace| head.workspace.as_ref() == Some(&workspace.id));
            head.session.project = of.and_then(|workspace| workspace.project.clone());
        }
        Ok(())
    }

    fn find_sessions(
        self,
        connection: &Connection,
        database: &Path,
        scope: SessionScope<'_>,
    ) -> rusqlite::Result<FoundConversations> {
        if !Table::Disk.is_in(connection)? {
            let sessions = unknown_database(connection, database)?.into_iter().collect();
            return Ok(FoundConversations { sessions, is_damaged: false });
        }
        let mut heads: Vec<Head> = self.heads.into_values().filter(|head| !head.is_hidden).collect();
        heads.sort_by_key(|head| std::cmp::Reverse(head.session.updated.or(head.session.started)));
        if scope != SessionScope::All {
            heads.truncate(MAX_RECENT_SESSIONS);
        }
        let mut found = FoundConversations::default();
        let mut unkept = Vec::new();
        for head in heads {
            let sessions = &mut found.sessions;
            if composer::has_words(connection, &head.session.id)? {
                let is_checked = sessions.len() < SESSIONS_CHECKED;
                let look = if is_checked { composer::look(connection, &head.session.id)? } else { Look::Known };
                found.is_damaged |= look == Look::Damaged;
                sessions.push(make_found(head.session, database, look == Look::Drifted));
            } else if head.session.title.is_some() && sessions.is_empty() {
                unkept.push(head.session);
            }
        }
        // Conversations that have a name and no words, and not one that has any: they are kept elsewhere by now. So are those
        // that name what was said, where older ones still have it.
        if found.sessions.is_empty() && !unkept.is_empty() {
            found.sessions.push(make_found(drifted_session(database), database, true));
        } else {
            for session in unkept.into_iter().take(SESSIONS_CHECKED) {
                if composer::names_bubbles(connection, &session.id)? {
                    found.sessions.push(make_found(session, database, true));
                }
            }
        }
        Ok(found)
    }
}

/// The conversations of a database.
#[derive(Default)]
struct FoundConversations {
    sessions: Vec<FoundSession>,
    /// The database is damaged where one of those is that changed last.
    is_damaged: bool,
}

fn read_index(connection: &Connection, key: &str) -> rusqlite::Result<Vec<Head>> {
    let Some(text) = values::read_text(connection, Table::Items, key)? else { return Ok(Vec::new()) };
    let Ok(index) = serde_json::from_str::<WireIndex<'_>>(&text) else { return Ok(Vec::new()) };
    Ok(index.composers.iter().filter_map(|raw| parse_head(raw.get())).collect())
}

fn parse_head(text: &str) -> Option<Head> {
    let head = serde_json::from_str::<WireHead>(text).ok()?.into_head();
    (!head.session.id.is_empty()).then_some(head)
}

/// The table of conversations, by those of its columns that are there.
fn read_table(connection: &Connection) -> rusqlite::Result<Vec<Head>> {
    let columns = sqlite::table_columns(connection, INDEX_TABLE)?;
    let has = |name: &str| columns.iter().any(|column| column == name);
    if !has("composerId") {
        return Ok(Vec::new());
    }
    let column = |name: &str| if has(name) { name.to_owned() } else { "NULL".to_owned() };
    let wanted = ["value", "workspaceId", "createdAt", "lastUpdatedAt", "isSubagent"].map(column);
    let query = format!("SELECT composerId, {} FROM {INDEX_TABLE}", wanted.join(", "));
    let mut query = connection.prepare(&query)?;
    let mut rows = query.query([])?;
    let mut heads = Vec::new();
    loop {
        match rows.next() {
            Ok(Some(row)) => heads.extend(head_from_row(row)?),
            Ok(None) => return Ok(heads),
            // The conversations themselves tell as much.
            Err(error) if values::is_damage(&error) => return Ok(heads),
            Err(error) => return Err(error),
        }
    }
}

fn head_from_row(row: &rusqlite::Row<'_>) -> rusqlite::Result<Option<Head>> {
    let Ok(id) = row.get_ref(0)?.as_str().map(str::to_owned) else { return Ok(None) };
    let bytes = row.get_ref(1)?.as_bytes().unwrap_or_default();
    let told: WireHead = serde_json::from_slice(bytes).unwrap_or_default();
    let mut head = told.into_head();
    head.is_hidden |= id == DRAFT_ID || row.get_ref(5)?.as_i64().is_ok_and(|is_subagent| is_subagent != 0);
    head.workspace = row.get_ref(2)?.as_str().ok().map(str::to_owned).or(head.workspace);
    let time = |column| Ok::<_, rusqlite::Error>(row.get_ref(column)?.as_i64().ok().and_then(time_from_millis));
    head.session.started = head.session.started.or(time(3)?);
    head.session.updated = time(4)?.or(head.session.updated);
    head.session.id = id;
    Ok(Some(head))
}

/// A database without the table of conversations, as we know it, in which something else keeps them.
fn unknown_database(connection: &Connection, database: &Path) -> rusqlite::Result<Option<FoundSession>> {
    // A table of that name has other columns by now.
    let is_other = !sqlite::table_columns(connection, Table::Disk.name())?.is_empty();
    let is_empty = "SELECT NOT EXISTS (SELECT 1 FROM cursorDiskKV)";
    if is_other && !connection.query_row(is_empty, [], |row| row.get::<_, bool>(0))? {
        return Ok(Some(make_found(drifted_session(database), database, true)));
    }
    let query = "SELECT m.name FROM sqlite_master AS m, pragma_table_info(m.name) AS c
                 WHERE m.type = 'table' AND c.name = 'key' AND m.name NOT IN ('ItemTable', 'cursorDiskKV')";
    let tables: Vec<String> =
        connection.prepare(query)?.query_map([], |row| row.get(0))?.collect::<rusqlite::Result<_>>()?;
    for table in tables {
        let query = format!(
            "SELECT 1 FROM \"{}\" WHERE key >= 'composerData:' AND key < 'composerData;' LIMIT 1",
            table.replace('"', "\"\"")
        );
        if connection.query_row(&query, [], |row| row.get::<_, i64>(0)).optional()?.is_some() {
            return Ok(Some(make_found(drifted_session(database), database, true)));
        }
    }
    Ok(None)
}

fn drifted_session(database: &Path) -> Session {
    let id = database.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    Session { id, ..Session::default() }
}

pub(super) fn make_found(session: Session, database: &Path, drifted: bool) -> FoundSession {
    FoundSession {
        source: Source { path: database.to_owned(), key: Some(session.id.clone()) },
        title: session.title,
        project: session.project,
        branch: session.branch,
        started_at: session.started,
        updated_at: session.updated.or(session.started),
        messages: None,
        // Not known without reading all of it.
        bytes: 0,
        model: session.model,
        live: Liveness::Unknown,
        drifted,
        id: SessionId(session.id),
    }
}

/// What is known of one conversation as a whole: its own words first, then what indexes add.
pub(super) fn read_session(
    connection: &Connection,
    database: &Path,
    id: &str,
    document: &str,
) -> rusqlite::Result<Session> {
    let own: WireHead = serde_json::from_str(document).unwrap_or_default();
    let mut index = Index::default();
    let mut head = own.into_head();
    id.clone_into(&mut head.session.id);
    index.add_all(vec![head], None);
    let of_it = |head: &Head| head.session.id == id;
    index.add_all(read_table(connection)?.into_iter().filter(of_it).collect(), None);
    index.add_all(read_index(connection, SHARED_INDEX_KEY)?.into_iter().filter(of_it).collect(), None);
    let Head { mut session, workspace, .. } = index.heads.remove(id).unwrap_or_default();
    if session.project.is_none() || session.title.is_none() {
        session.complete(find_in_windows(database, id, workspace.as_deref()));
    }
    Ok(session)
}

/// What the window of a conversation knows of it.
fn find_in_windows(database: &Path, id: &str, workspace: Option<&str>) -> Session {
    let editor = database.parent().and_then(Path::parent).unwrap_or(database);
    for window in workspaces::list_workspaces(editor) {
        if workspace == Some(window.id.as_str()) {
            return Session { project: window.project, ..Session::default() };
        }
        let named = sqlite::read_database(&window.database, &mut |connection| read_index(connection, WINDOW_INDEX_KEY));
        let found = named.unwrap_or_default().into_iter().find(|head| head.session.id == id);
        if let Some(head) = found {
            return Session { project: head.session.project.or(window.project), ..head.session };
        }
    }
    Session::default()
}

/// The conversation that changed last.
pub(super) fn find_newest(connection: &Connection, database: &Path) -> rusqlite::Result<Option<String>> {
    if !Table::Disk.is_in(connection)? {
        return Ok(None);
    }
    let mut index = Index::default();
    index.read_shared(connection, &[])?;
    let found = index.find_sessions(connection, database, SessionScope::RecentIn(database))?;
    Ok(found.sessions.into_iter().next().map(|found| found.id.0))
}
