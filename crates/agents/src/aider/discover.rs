//! Listing the chats of the history files in a folder.

use std::io;
use std::path::{Path, PathBuf};

use super::chats::{self, Chat, Opening};
use super::read::{file_utc_offset, started_at};
use super::{Aider, clock, wire};
use crate::formats::unopened::UnopenedFiles;
use crate::{AgentError, Discovery, Env, FoundCallback, FoundSession, Liveness, Source, Store};

/// The variable that names another history file.
const HISTORY_FILE_VARIABLE: &str = "AIDER_CHAT_HISTORY_FILE";

/// The folders, and the files named otherwise, in which chats are.
pub(super) fn find_stores(candidates: Vec<PathBuf>, env: &Env) -> Vec<Store> {
    let mut roots = Vec::new();
    for folder in candidates {
        // The client keeps its files at the root of the repository that it is started in.
        let root = folder.ancestors().find(|above| above.join(".git").exists()).map(Path::to_path_buf);
        let named = env.path_var(HISTORY_FILE_VARIABLE).map(|file| folder.join(file)).filter(|file| file.is_file());
        roots.extend([Some(folder), root, named].into_iter().flatten());
    }
    let mut seen = std::collections::BTreeSet::new();
    roots.retain(|root| seen.insert(root.clone()) && !history_files(root).is_empty());
    roots.into_iter().map(|root| Store { root }).collect()
}

/// The history files of a store: one that we wrote stands beside the client's.
fn history_files(root: &Path) -> Vec<PathBuf> {
    if root.is_file() {
        return vec![root.to_path_buf()];
    }
    let Ok(listing) = fs_err::read_dir(root) else { return Vec::new() };
    let paths = listing.filter_map(Result::ok).map(|entry| entry.path());
    let mut files: Vec<PathBuf> = paths.filter(|path| is_history_file(path)).collect();
    files.sort();
    files
}

/// Refuses a link that leads out of its folder. A clone can bring one to any other file, whose text would be told as a
/// session's.
fn check_inside(folder: &Path, file: &Path) -> io::Result<()> {
    let real = |path: &Path| fs_err::canonicalize(path).ok();
    let named = file == folder;
    let inside = || real(file).zip(real(folder)).is_some_and(|(file, folder)| file.starts_with(folder));
    if named || inside() {
        return Ok(());
    }
    let message = format!("{} is a link out of its folder, which is not followed", file.display());
    Err(io::Error::new(io::ErrorKind::InvalidInput, message))
}

/// Whether a file is named like a history.
fn is_history_file(path: &Path) -> bool {
    let name = path.file_name().map(|name| name.to_string_lossy()).unwrap_or_default();
    name.starts_with(".aider.chat.history") && name.ends_with(".md")
}

impl Discovery for Aider {
    fn recognises(&self, path: &Path, head: &[u8]) -> bool {
        let text = String::from_utf8_lossy(head);
        let started = text.lines().any(|line| line.starts_with(wire::CHAT_START));
        started || is_history_file(path)
    }

    fn list_sessions(&self, store: &Store, found: FoundCallback<'_>) -> Result<(), AgentError> {
        let mut unopened = UnopenedFiles::default();
        for path in history_files(&store.root) {
            if unopened.ok_or_note(check_inside(&store.root, &path)).is_none() || !unopened.can_read(&path) {
                continue;
            }
            for chat in unopened.ok_or_note(sessions_in_file(&path)).into_iter().flatten() {
                if found(chat).is_break() {
                    return Ok(());
                }
            }
        }
        unopened.into_result()
    }

    fn sessions_in(&self, store: &Store, file: &Path) -> Result<Vec<FoundSession>, AgentError> {
        check_inside(&store.root, file)?;
        sessions_in_file(file)
    }
}

/// The chats of one file.
fn sessions_in_file(path: &Path) -> Result<Vec<FoundSession>, AgentError> {
    let chats = chats::read_chats(path)?;
    let known = chats.iter().any(|chat| chat.started.is_some());
    // Answers without questions: the marks of what the user says have changed.
    let answers_only = !chats.iter().any(|chat| chat.spoken);
    let newest = chats::find_session(&chats, None).and_then(|session| session.first());
    let place = HistoryFile { path, resolved: chats::resolve_folder(path), utc_offset_seconds: file_utc_offset(path) };
    let mut found = Vec::new();
    for session in chats::split_sessions(&chats) {
        let [chat, ..] = session else { continue };
        let spoken = session.iter().any(|chat| chat.spoken);
        let drifted = !spoken && (!known || (answers_only && chat.opening == Opening::Unasked));
        if spoken || drifted {
            found.push(place.describe_session(session, chat, drifted, Some(chat) == newest));
        }
    }
    Ok(found)
}

/// The properties that all chats of a file share.
struct HistoryFile<'a> {
    path: &'a Path,
    resolved: PathBuf,
    utc_offset_seconds: i64,
}

impl HistoryFile<'_> {
    fn describe_session(&self, session: &[Chat], chat: &Chat, drifted: bool, newest: bool) -> FoundSession {
        let started_at = started_at(chat, self.utc_offset_seconds);
        // Of the other chats it is only known when they began.
        let modified = if newest || started_at.is_none() { clock::modified_at(self.path) } else { None };
        FoundSession {
            source: Source { path: self.path.to_path_buf(), key: Some(chat.key.clone()) },
            id: chats::session_id(&self.resolved, &chat.key),
            title: chat.title().map(str::to_owned),
            project: self.path.parent().map(Path::to_path_buf),
            branch: None,
            started_at,
            updated_at: modified.or(started_at),
            messages: None,
            bytes: session.iter().map(|chat| chat.end - chat.offset).sum(),
            model: session.iter().rev().find_map(|chat| chat.model.clone()),
            live: Liveness::Unknown,
            drifted,
        }
    }
}
