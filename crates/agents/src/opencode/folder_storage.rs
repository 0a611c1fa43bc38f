//! The store of clients before 1.2: one file for each session, message and part. Later ones took it over into their
//! database, or leave it where it is.

use std::collections::BTreeSet;
use std::io;
use std::path::{Path, PathBuf};

use super::part_buffer::PartBuffer;
use super::stored_session::{FoundMessage, MessageHead, NamedRecord, PartsSummary, RawRecord, Session, StoredSession};
use super::wire::WireSession;
use crate::AgentError;
use crate::formats::jsonl::{self, MAX_RECORD_BYTES};
use crate::formats::unopened::UnopenedFiles;
use crate::formats::{file, ids};

/// A session's file is in here, in a folder of its project.
const SESSIONS_FOLDER: &str = "session";

/// A session in folders of files.
pub(super) struct FolderStorage {
    file: PathBuf,
    /// The folder that holds those of sessions, messages and parts.
    storage: PathBuf,
}

impl FolderStorage {
    /// A session's own file, by its place: `storage/session/<project>/<session>.json`.
    pub(super) fn from_path(file: &Path) -> Option<Self> {
        let sessions = file.parent()?.parent()?;
        let storage = sessions.parent()?;
        let is_named = |folder: &Path, name: &str| folder.file_name().is_some_and(|folder| folder == name);
        let ours = is_named(sessions, SESSIONS_FOLDER) && is_named(storage, "storage");
        ours.then(|| Self { file: file.to_owned(), storage: storage.to_owned() })
    }

    fn session_id(&self) -> String {
        self.file.file_stem().unwrap_or_default().to_string_lossy().into_owned()
    }

    /// When a message was made, for its order; names come next, which count up with time.
    fn created_millis(raw: &RawRecord) -> i64 {
        let RawRecord::Text(text) = raw else { return 0 };
        let info: Result<super::wire::WireInfo<'_>, _> = serde_json::from_str(text);
        info.ok().and_then(|info| info.time.created).unwrap_or(0)
    }
}

/// The sessions of a store that are kept in this way, but for those that are known already.
pub(super) fn read_sessions(
    root: &Path,
    known: &BTreeSet<String>,
    unopened: &mut UnopenedFiles,
) -> Result<Vec<(PathBuf, Session)>, AgentError> {
    let mut found = Vec::new();
    let folder = root.join("storage").join(SESSIONS_FOLDER);
    for project in list_folder(&folder) {
        for file in list_folder(&project) {
            if file.extension().is_none_or(|end| end != "json") || !unopened.can_read(&file) {
                continue;
            }
            let bytes = jsonl::read_head(&file, 64 << 10)?;
            let Ok(info) = serde_json::from_slice::<WireSession<'_>>(&bytes) else { continue };
            if info.parent.is_none() && !known.contains(&info.id) {
                found.push((file.clone(), Session::from_wire(info)));
            }
        }
    }
    Ok(found)
}

/// The newest messages of such a session, to see that they are known.
pub(super) fn newest_messages(root: &Path, session: &str, count: usize) -> Vec<RawRecord> {
    let files = list_folder(&root.join("storage").join("message").join(session));
    files.iter().rev().take(count).map(|file| read_raw(file)).collect()
}

/// The paths in a folder, by name; none where it is not there.
fn list_folder(folder: &Path) -> Vec<PathBuf> {
    let Ok(entries) = fs_err::read_dir(folder) else { return Vec::new() };
    let mut paths: Vec<PathBuf> = entries.filter_map(Result::ok).map(|entry| entry.path()).collect();
    paths.sort();
    paths
}

fn read_raw(path: &Path) -> RawRecord {
    match file::read_bytes(path, MAX_RECORD_BYTES as u64).map(String::from_utf8) {
        Ok(Ok(text)) => RawRecord::Text(text),
        Ok(Err(_)) => RawRecord::Unreadable("not UTF-8"),
        Err(error) if error.kind() == io::ErrorKind::FileTooLarge => {
            RawRecord::Unreadable("the record is longer than 64 MiB")
        }
        Err(_) => RawRecord::Unreadable("its file cannot be read"),
    }
}

fn read_records(folder: &Path) -> Vec<NamedRecord> {
    let is_json = |file: &PathBuf| file.extension().is_some_and(|end| end == "json");
    let name = |file: &PathBuf| file.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    list_folder(folder)
        .iter()
        .filter(|file| is_json(file))
        .map(|file| NamedRecord { id: name(file), raw: read_raw(file) })
        .collect()
}

/// By what a change of the parts is noticed, without reading them.
fn stamp_folder(folder: &Path) -> u64 {
    let mut stamp = 0;
    for file in list_folder(folder) {
        let Ok(metadata) = fs_err::metadata(&file) else { continue };
        let at = metadata.modified().ok().and_then(|at| jiff::Timestamp::try_from(at).ok());
        let told = format!("{} {} {at:?}", file.display(), metadata.len());
        stamp = ids::extend_digest(stamp, told.as_bytes());
    }
    stamp
}

impl StoredSession for FolderStorage {
    fn read_session(&self) -> rusqlite::Result<Option<Session>> {
        let RawRecord::Text(text) = read_raw(&self.file) else { return Ok(None) };
        Ok(serde_json::from_str::<WireSession<'_>>(&text).ok().map(Session::from_wire))
    }

    fn session_record(&self) -> rusqlite::Result<Option<String>> {
        Ok(match read_raw(&self.file) {
            RawRecord::Text(text) => Some(text),
            RawRecord::Unreadable(_) => None,
        })
    }

    fn read_heads(&self) -> rusqlite::Result<Vec<MessageHead>> {
        let mut messages = read_records(&self.storage.join("message").join(self.session_id()));
        messages.sort_by_cached_key(|message| (Self::created_millis(&message.raw), message.id.clone()));
        let head = |message: NamedRecord| {
            let own = match &message.raw {
                RawRecord::Text(text) => ids::digest_name(text),
                RawRecord::Unreadable(_) => 0,
            };
            let parts = stamp_folder(&self.storage.join("part").join(&message.id));
            MessageHead { message, stamp: ids::extend_digest(own, &parts.to_le_bytes()) }
        };
        Ok(messages.into_iter().map(head).collect())
    }

    fn read_parts(&self, message: &str, pile: &mut PartBuffer) -> rusqlite::Result<Option<PartsSummary>> {
        pile.extend(&read_records(&self.storage.join("part").join(message)));
        Ok(None)
    }

    fn find_message(&self, digest: u64) -> rusqlite::Result<Option<FoundMessage>> {
        let messages = read_records(&self.storage.join("message").join(self.session_id()));
        let Some(message) = messages.into_iter().find(|message| ids::digest_name(&message.id) == digest) else {
            return Ok(None);
        };
        let mut parts = PartBuffer::default();
        self.read_parts(&message.id, &mut parts)?;
        Ok(Some(FoundMessage { message, parts }))
    }
}
