//! Listing sessions: from the editor's own list, and from the files that are not on it.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};

use carryover_core::plain::one_line;
use carryover_core::time::Timestamp;
use carryover_core::transcript::{Body, Entry, Opaque, SessionId};

use super::index::{self, IndexEntry, SessionIndex};
use super::turn::time_from_millis;
use super::workspace::Workspace;
use super::{CopilotVscode, conversation, hook_transcript, read, session_file};
use crate::formats::file::modified_at;
use crate::formats::jsonl::{self, EndsScan};
use crate::formats::unopened::UnopenedFiles;
use crate::{AgentError, Discovery, FoundCallback, FoundSession, Liveness, Source, Store};

/// A larger file that is not on the list is told without its title.
const MAX_SCANNED_BYTES: u64 = 4 << 20;

/// So many of the newest sessions are looked into although the list tells them: it does not tell whether they are understood.
const MAX_CHECKED: usize = 3;

/// How the first line of a log begins.
const LOG_HEAD: &[u8] = br#"{"kind":0"#;

/// The folder for windows without a workspace, and the one that older editors used for them.
const EMPTY_WINDOW_FOLDER: &str = "emptyWindowChatSessions";
const NO_WORKSPACE: &str = "no-workspace";

/// A folder with sessions.
struct SessionFolder {
    path: PathBuf,
    /// The folder with the list of them.
    listed_in: PathBuf,
    workspace: Workspace,
}

impl Discovery for CopilotVscode {
    fn recognises(&self, _path: &Path, head: &[u8]) -> bool {
        let text = String::from_utf8_lossy(head);
        let text = text.trim_start();
        let is_session = || text.contains("\"requests\"") || text.contains("\"creationDate\"");
        let is_log = text.as_bytes().starts_with(LOG_HEAD) && is_session();
        let is_document = text.starts_with('{') && text.contains("\"responderUsername\"") && is_session();
        is_log || is_document || hook_transcript::is_ours(text)
    }

    fn list_sessions(&self, store: &Store, found: FoundCallback<'_>) -> Result<(), AgentError> {
        let mut unopened = UnopenedFiles::default();
        let mut sessions: BTreeMap<SessionId, FoundSession> = BTreeMap::new();
        for folder in session_folders(&store.root, &mut unopened) {
            let index = unopened.ok_or_note(index::read_index(&folder.listed_in)).unwrap_or_default();
            for path in session_files(&folder.path, &mut unopened) {
                if let Some(session) = unopened.ok_or_note(look_at_file(&path, &index, &folder.workspace)).flatten() {
                    keep_newest(&mut sessions, session);
                }
            }
        }
        check_newest(&mut sessions);
        for path in transcript_files(&store.root, &mut unopened) {
            if let Some(session) = unopened.ok_or_note(hook_transcript::scan_session(store, &path)).flatten() {
                sessions.entry(session.id.clone()).or_insert(session);
            }
        }
        // Who wants no more has what it wanted.
        let _ = sessions.into_values().try_for_each(found);
        unopened.into_result()
    }

    fn sessions_in(&self, store: &Store, file: &Path) -> Result<Vec<FoundSession>, AgentError> {
        if hook_transcript::is_transcript(file) {
            let is_told = hook_transcript::better_files(file).iter().any(|better| better.exists());
            return if is_told {
                Ok(Vec::new())
            } else {
                Ok(hook_transcript::scan_session(store, file)?.into_iter().collect())
            };
        }
        if !session_file::is_log(file) && file.with_extension("jsonl").exists() {
            return Ok(Vec::new());
        }
        let folder = folder_of_file(&store.root, file);
        // A list that cannot be read costs the title that it would tell.
        let index = index::read_index(&folder.listed_in).unwrap_or_default();
        // It has just changed, and the list may not know that yet.
        let fresh = if is_small(file)? { scan_file(file, &folder.workspace)? } else { None };
        let Some(mut fresh) = fresh else {
            return Ok(look_at_file(file, &index, &folder.workspace)?.into_iter().collect());
        };
        fresh.title = index.get(&fresh.id.0).and_then(|entry| entry.title.clone()).or(fresh.title);
        Ok(vec![fresh])
    }
}

/// Every folder of a store that holds sessions.
fn session_folders(root: &Path, unopened: &mut UnopenedFiles) -> Vec<SessionFolder> {
    let global = root.join("globalStorage");
    let without = |path: PathBuf| SessionFolder { path, listed_in: global.clone(), workspace: Workspace::default() };
    let mut folders = vec![without(global.join(EMPTY_WINDOW_FOLDER)), without(global.join("transferredChatSessions"))];
    for entry in unopened.ok_or_note(fs_err::read_dir(root.join("workspaceStorage"))).into_iter().flatten() {
        let Some(folder) = unopened.ok_or_note(entry).map(|entry| entry.path()) else { continue };
        let path = folder.join("chatSessions");
        if folder.ends_with(NO_WORKSPACE) {
            folders.push(without(path));
        } else if path.is_dir() {
            let workspace = Workspace::in_folder(&folder).unwrap_or_default();
            folders.push(SessionFolder { path, listed_in: folder, workspace });
        }
    }
    folders
}

/// The folder of one session's file.
fn folder_of_file(root: &Path, file: &Path) -> SessionFolder {
    let path = file.parent().unwrap_or(root).to_path_buf();
    let above = path.parent().unwrap_or(root);
    let listed_in = if above.ends_with(NO_WORKSPACE) { root.join("globalStorage") } else { above.to_path_buf() };
    SessionFolder { workspace: Workspace::in_folder(above).unwrap_or_default(), listed_in, path }
}

/// The file of each session in a folder: where it has two, the log is the newer.
fn session_files(folder: &Path, unopened: &mut UnopenedFiles) -> Vec<PathBuf> {
    let mut files: BTreeMap<PathBuf, PathBuf> = BTreeMap::new();
    for entry in unopened.ok_or_note(fs_err::read_dir(folder)).into_iter().flatten() {
        let Some(path) = unopened.ok_or_note(entry).map(|entry| entry.path()) else { continue };
        let is_log = session_file::is_log(&path);
        if !is_log && path.extension().is_none_or(|end| end != "json") || !unopened.can_read(&path) {
            continue;
        }
        let name = path.with_extension("");
        if is_log || !files.contains_key(&name) {
            files.insert(name, path);
        }
    }
    files.into_values().collect()
}

/// The transcripts of sessions that are told by nothing better.
fn transcript_files(root: &Path, unopened: &mut UnopenedFiles) -> Vec<PathBuf> {
    let workspaces = unopened.ok_or_note(fs_err::read_dir(root.join("workspaceStorage"))).into_iter().flatten();
    let folders: Vec<PathBuf> = workspaces
        .filter_map(Result::ok)
        .map(|workspace| workspace.path().join(super::EXTENSION_FOLDER).join("transcripts"))
        .collect();
    let files = folders.iter().filter_map(|folder| unopened.ok_or_note(fs_err::read_dir(folder))).flatten();
    let files: Vec<PathBuf> = files.filter_map(Result::ok).map(|file| file.path()).collect();
    let is_alone = |path: &PathBuf| !hook_transcript::better_files(path).iter().any(|better| better.exists());
    files.into_iter().filter(|path| session_file::is_log(path) && unopened.can_read(path) && is_alone(path)).collect()
}

/// A folder that becomes part of a workspace takes copies of its sessions along, under their names.
fn keep_newest(sessions: &mut BTreeMap<SessionId, FoundSession>, session: FoundSession) {
    match sessions.get(&session.id) {
        Some(known) if known.updated_at >= session.updated_at => {}
        _ => drop(sessions.insert(session.id.clone(), session)),
    }
}

/// Looks whether the newest sessions are in a shape that we know.
fn check_newest(sessions: &mut BTreeMap<SessionId, FoundSession>) {
    let is_checked = |session: &&mut FoundSession| is_small(&session.source.path).unwrap_or_default();
    let mut newest: Vec<&mut FoundSession> = sessions.values_mut().collect();
    newest.sort_unstable_by_key(|session| Reverse(session.updated_at));
    for session in newest.into_iter().filter(is_checked).take(MAX_CHECKED) {
        // One that cannot be read is told by whoever reads it.
        let looked = scan_file(&session.source.path, &Workspace::default());
        session.drifted |= looked.is_ok_and(|found| found.is_some_and(|found| found.drifted));
    }
}

fn is_small(path: &Path) -> io::Result<bool> {
    Ok(fs_err::metadata(path)?.len() <= MAX_SCANNED_BYTES)
}

/// A session as the list tells it, or as its file does. One of another agent's, and one in which nothing was said, is none.
fn look_at_file(path: &Path, index: &SessionIndex, workspace: &Workspace) -> Result<Option<FoundSession>, AgentError> {
    let entry = index.get(&read::session_id(path).0);
    if entry.is_some_and(|entry| entry.is_external == Some(true)) {
        return Ok(None);
    }
    let listed = entry.filter(|entry| entry.is_empty != Some(true));
    if listed.is_some() && has_known_head(path)? {
        return Ok(Some(found_session(path, listed, workspace)?));
    }
    if is_small(path)? { scan_file(path, workspace) } else { Ok(Some(found_session(path, listed, workspace)?)) }
}

/// Whether a file begins as it should; one that does not is looked at as a whole.
fn has_known_head(path: &Path) -> io::Result<bool> {
    let head = jsonl::read_head(path, 16)?;
    Ok(if session_file::is_log(path) { head.starts_with(LOG_HEAD) } else { head.trim_ascii_start().starts_with(b"{") })
}

/// A session as far as it is known without looking into its file.
fn found_session(path: &Path, listed: Option<&IndexEntry>, workspace: &Workspace) -> io::Result<FoundSession> {
    let metadata = fs_err::metadata(path)?;
    let (started_at, updated_at) = listed.map(listed_times).unwrap_or_default();
    let title = listed.and_then(|entry| entry.title.as_deref()).map(|title| one_line(title, 200));
    Ok(FoundSession {
        source: Source::file(path),
        id: read::session_id(path),
        title: title.filter(|title| !title.is_empty()),
        project: workspace.project.clone(),
        branch: None,
        started_at,
        updated_at: updated_at.or_else(|| modified_at(&metadata)),
        messages: None,
        bytes: metadata.len(),
        model: None,
        live: Liveness::Unknown,
        drifted: false,
    })
}

fn listed_times(entry: &IndexEntry) -> (Option<Timestamp>, Option<Timestamp>) {
    let timing = entry.timing.as_ref();
    let started = timing.and_then(|timing| timing.created).map(time_from_millis);
    let ended = timing.and_then(|timing| timing.last_request_ended).map(time_from_millis);
    (started, ended.max(entry.last_message_date.map(time_from_millis)))
}

/// A session as its file tells it.
fn scan_file(path: &Path, workspace: &Workspace) -> Result<Option<FoundSession>, AgentError> {
    let metadata = fs_err::metadata(path)?;
    let file = session_file::read_file(path, 0)?;
    if file.end == 0 {
        // Nothing is whole yet.
        return Ok(None);
    }
    // What is left of a session beside its requests, such as what was being typed, is no session that we know.
    let unknown = file.rejected.len() + file.now.unknown_kinds.len() + usize::from(!file.now.is_known);
    let mut asked = Asked::default();
    let mut ends = EndsScan { unknown, ..EndsScan::default() };
    for record in conversation::read_records(&file.now).into_iter().filter(|record| !record.entries.is_empty()) {
        let is_puzzle =
            |body: &Body| matches!(body, Body::Opaque(opaque) if opaque.is_puzzling() || *opaque == Opaque::Rejected);
        let is_known = !record.entries.iter().all(|entry| is_puzzle(&entry.body));
        asked.note(&record.entries);
        let titles = record.entries.iter().filter_map(conversation::title_from_prompt);
        let facts = titles.chain(record.facts).collect();
        ends.scan_record(is_known, &record.entries, facts);
    }
    let own_folder = file.now.session.working_directory.as_deref();
    let own_project = own_folder.and_then(|_| Workspace::of_session(path, own_folder).project);
    let project = own_project.or_else(|| workspace.project.clone());
    let session = ends.is_session(true).then(|| ends.into_found(path, &metadata, read::session_id(path)));
    Ok(session.map(|session| FoundSession { project, drifted: session.drifted || asked.is_lost(), ..session }))
}

/// Whether the words of any prompt were found: answers alone are half a conversation.
#[derive(Default)]
struct Asked {
    with_words: bool,
    without: bool,
}

impl Asked {
    /// A prompt comes first in its request; what is attached to it follows.
    fn note(&mut self, entries: &[Entry]) {
        match entries.first().map(|entry| &entry.body) {
            Some(Body::Prompt(_)) => self.with_words = true,
            Some(Body::Opaque(Opaque::Wordless)) => self.without = true,
            _ => {}
        }
    }

    fn is_lost(&self) -> bool {
        self.without && !self.with_words
    }
}

/// Whether any session of the extension's is in a folder of the editor's: the editor alone says nothing of it.
pub(super) fn has_sessions(root: &Path) -> bool {
    let global = root.join("globalStorage");
    if global.join(super::EXTENSION_FOLDER.to_lowercase()).is_dir() || global.join(EMPTY_WINDOW_FOLDER).is_dir() {
        return true;
    }
    let workspaces = fs_err::read_dir(root.join("workspaceStorage")).into_iter().flatten().filter_map(Result::ok);
    let has_any = |workspace: PathBuf| {
        workspace.join("chatSessions").is_dir() || workspace.join(super::EXTENSION_FOLDER).is_dir()
    };
    workspaces.map(|workspace| workspace.path()).any(has_any)
}
