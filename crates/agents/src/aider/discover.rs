//! Listing the chats of the history files in a folder.

use std::io;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use super::chats::{self, Chat, Opening};
use super::read::{ahead, started_at};
use super::{Aider, clock, wire};
use crate::formats::unopened::Unopened;
use crate::{AgentError, Discovery, Env, Found, Liveness, Source, Store};

/// The variable that names another history file.
const VARIABLE: &str = "AIDER_CHAT_HISTORY_FILE";

/// The folders, and the files named otherwise, in which chats are.
pub(super) fn stores(candidates: Vec<PathBuf>, env: &Env) -> Vec<Store> {
    let mut roots = Vec::new();
    for folder in candidates {
        // The client keeps its files at the root of the repository that it is started in.
        let root = folder.ancestors().find(|above| above.join(".git").exists()).map(Path::to_path_buf);
        let named = env.path_var(VARIABLE).map(|file| folder.join(file)).filter(|file| file.is_file());
        roots.extend([Some(folder), root, named].into_iter().flatten());
    }
    let mut seen = std::collections::BTreeSet::new();
    roots.retain(|root| seen.insert(root.clone()) && !files(root).is_empty());
    roots.into_iter().map(|root| Store { root }).collect()
}

/// The history files of a store: one that we wrote stands beside the client's.
fn files(root: &Path) -> Vec<PathBuf> {
    if root.is_file() {
        return vec![root.to_path_buf()];
    }
    let Ok(listing) = fs_err::read_dir(root) else { return Vec::new() };
    let paths = listing.filter_map(Result::ok).map(|entry| entry.path());
    let mut files: Vec<PathBuf> = paths.filter(|path| is_history(path)).collect();
    files.sort();
    files
}

/// Refuses a link that leads out of its folder. A clone can bring one to any other file, whose text would be told as a
/// session's.
fn stays_inside(folder: &Path, file: &Path) -> io::Result<()> {
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
fn is_history(path: &Path) -> bool {
    let name = path.file_name().map(|name| name.to_string_lossy()).unwrap_or_default();
    name.starts_with(".aider.chat.history") && name.ends_with(".md")
}

impl Discovery for Aider {
    fn recognises(&self, path: &Path, head: &[u8]) -> bool {
        let text = String::from_utf8_lossy(head);
        let started = text.lines().any(|line| line.starts_with(wire::STARTED));
        started || is_history(path)
    }

    fn discover(&self, store: &Store, found: &mut dyn FnMut(Found) -> ControlFlow<()>) -> Result<(), AgentError> {
        let mut unopened = Unopened::default();
        for path in files(&store.root) {
            if unopened.take(stays_inside(&store.root, &path)).is_none() || !unopened.passes(&path) {
                continue;
            }
            for chat in unopened.take(chats_in(&path)).into_iter().flatten() {
                if found(chat).is_break() {
                    return Ok(());
                }
            }
        }
        unopened.end()
    }

    fn sessions_in(&self, _store: &Store, file: &Path) -> Result<Vec<Found>, AgentError> {
        chats_in(file)
    }
}

/// The chats of one file.
fn chats_in(path: &Path) -> Result<Vec<Found>, AgentError> {
    let chats = chats::chats(path)?;
    let known = chats.iter().any(|chat| chat.started.is_some());
    // Answers without questions: the marks of what the user says have changed.
    let answers_only = !chats.iter().any(|chat| chat.spoken);
    let newest = chats::find(&chats, None).and_then(|session| session.first());
    let place = Place { path, resolved: chats::resolved(path), ahead: ahead(path) };
    let mut found = Vec::new();
    for session in chats::sessions(&chats) {
        let [chat, ..] = session else { continue };
        let spoken = session.iter().any(|chat| chat.spoken);
        let drifted = !spoken && (!known || (answers_only && chat.opening == Opening::Unasked));
        if spoken || drifted {
            found.push(place.look(session, chat, drifted, Some(chat) == newest));
        }
    }
    Ok(found)
}

/// What is the same for all chats of a file.
struct Place<'a> {
    path: &'a Path,
    resolved: PathBuf,
    ahead: i64,
}

impl Place<'_> {
    fn look(&self, session: &[Chat], chat: &Chat, drifted: bool, newest: bool) -> Found {
        let started_at = started_at(chat, self.ahead);
        // Of the other chats it is only known when they began.
        let modified = if newest || started_at.is_none() { clock::modified(self.path) } else { None };
        Found {
            source: Source { path: self.path.to_path_buf(), key: Some(chat.key.clone()) },
            id: chats::id(&self.resolved, &chat.key),
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
