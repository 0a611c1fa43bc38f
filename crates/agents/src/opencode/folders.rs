//! The store of clients before 1.2: one file for each session, message and part. Later ones took it over into their
//! database, or leave it where it is.

use std::collections::BTreeSet;
use std::io;
use std::path::{Path, PathBuf};

use super::pile::Pile;
use super::stored_session::{Found, Head, Named, Raw, Session, StoredSession, Weight};
use super::wire::WireSession;
use crate::AgentError;
use crate::formats::jsonl::{self, MAX_RECORD};
use crate::formats::unopened::Unopened;
use crate::formats::{file, ids};

/// A session's file is in here, in a folder of its project.
const SESSIONS: &str = "session";

/// A session in folders of files.
pub(super) struct Folders {
    file: PathBuf,
    /// The folder that holds those of sessions, messages and parts.
    storage: PathBuf,
}

impl Folders {
    /// A session's own file, by its place: `storage/session/<project>/<session>.json`.
    pub(super) fn of(file: &Path) -> Option<Self> {
        let sessions = file.parent()?.parent()?;
        let storage = sessions.parent()?;
        let is_named = |folder: &Path, name: &str| folder.file_name().is_some_and(|folder| folder == name);
        let ours = is_named(sessions, SESSIONS) && is_named(storage, "storage");
        ours.then(|| Self { file: file.to_owned(), storage: storage.to_owned() })
    }

    fn id(&self) -> String {
        self.file.file_stem().unwrap_or_default().to_string_lossy().into_owned()
    }

    /// When a message was made, for its order; names come next, which count up with time.
    fn created(raw: &Raw) -> i64 {
        let Raw::Text(text) = raw else { return 0 };
        let info: Result<super::wire::WireInfo<'_>, _> = serde_json::from_str(text);
        info.ok().and_then(|info| info.time.created).unwrap_or(0)
    }
}

/// The sessions of a store that are kept in this way, but for those that are known already.
pub(super) fn sessions(
    root: &Path,
    known: &BTreeSet<String>,
    unopened: &mut Unopened,
) -> Result<Vec<(PathBuf, Session)>, AgentError> {
    let mut found = Vec::new();
    let folder = root.join("storage").join(SESSIONS);
    for project in listed(&folder) {
        for file in listed(&project) {
            if file.extension().is_none_or(|end| end != "json") || !unopened.passes(&file) {
                continue;
            }
            let bytes = jsonl::read_head(&file, 64 << 10)?;
            let Ok(info) = serde_json::from_slice::<WireSession<'_>>(&bytes) else { continue };
            if info.parent.is_none() && !known.contains(&info.id) {
                found.push((file.clone(), Session::of(info)));
            }
        }
    }
    Ok(found)
}

/// The newest messages of such a session, to see that they are known.
pub(super) fn newest(root: &Path, session: &str, count: usize) -> Vec<Raw> {
    let files = listed(&root.join("storage").join("message").join(session));
    files.iter().rev().take(count).map(|file| raw(file)).collect()
}

/// What is in a folder, by name; nothing where it is not there.
fn listed(folder: &Path) -> Vec<PathBuf> {
    let Ok(entries) = fs_err::read_dir(folder) else { return Vec::new() };
    let mut paths: Vec<PathBuf> = entries.filter_map(Result::ok).map(|entry| entry.path()).collect();
    paths.sort();
    paths
}

fn raw(path: &Path) -> Raw {
    match file::read(path, MAX_RECORD as u64).map(String::from_utf8) {
        Ok(Ok(text)) => Raw::Text(text),
        Ok(Err(_)) => Raw::Bad("not UTF-8"),
        Err(error) if error.kind() == io::ErrorKind::FileTooLarge => Raw::Bad("the record is longer than 64 MiB"),
        Err(_) => Raw::Bad("its file cannot be read"),
    }
}

fn records(folder: &Path) -> Vec<Named> {
    let is_json = |file: &PathBuf| file.extension().is_some_and(|end| end == "json");
    let name = |file: &PathBuf| file.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    listed(folder).iter().filter(|file| is_json(file)).map(|file| Named { id: name(file), raw: raw(file) }).collect()
}

/// By what a change of the parts is noticed, without reading them.
fn stamp(folder: &Path) -> u64 {
    let mut stamp = 0;
    for file in listed(folder) {
        let Ok(metadata) = fs_err::metadata(&file) else { continue };
        let at = metadata.modified().ok().and_then(|at| jiff::Timestamp::try_from(at).ok());
        let told = format!("{} {} {at:?}", file.display(), metadata.len());
        stamp = ids::digest_on(stamp, told.as_bytes());
    }
    stamp
}

impl StoredSession for Folders {
    fn session(&self) -> rusqlite::Result<Option<Session>> {
        let Raw::Text(text) = raw(&self.file) else { return Ok(None) };
        Ok(serde_json::from_str::<WireSession<'_>>(&text).ok().map(Session::of))
    }

    fn heads(&self) -> rusqlite::Result<Vec<Head>> {
        let mut messages = records(&self.storage.join("message").join(self.id()));
        messages.sort_by_cached_key(|message| (Self::created(&message.raw), message.id.clone()));
        let head = |message: Named| {
            let own = match &message.raw {
                Raw::Text(text) => ids::digest(text),
                Raw::Bad(_) => 0,
            };
            let parts = stamp(&self.storage.join("part").join(&message.id));
            Head { message, stamp: ids::digest_on(own, &parts.to_le_bytes()) }
        };
        Ok(messages.into_iter().map(head).collect())
    }

    fn parts(&self, message: &str, pile: &mut Pile) -> rusqlite::Result<Option<Weight>> {
        pile.extend(&records(&self.storage.join("part").join(message)));
        Ok(None)
    }

    fn message(&self, digest: u64) -> rusqlite::Result<Option<Found>> {
        let messages = records(&self.storage.join("message").join(self.id()));
        let Some(message) = messages.into_iter().find(|message| ids::digest(&message.id) == digest) else {
            return Ok(None);
        };
        let mut parts = Pile::default();
        self.parts(&message.id, &mut parts)?;
        Ok(Some(Found { message, parts }))
    }
}
