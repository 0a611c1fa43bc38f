//! Files as they were before the agent changed them, which the client keeps for going back.

use std::collections::BTreeMap;
use std::path::{Component, Path, PathBuf};

use carryover_core::transcript::{EntryKey, Header};
use serde::Deserialize;

use crate::FileState;
use crate::formats::{file, jsonl};

/// The client keeps no larger ones, and a transcript has no use for them.
const MAX_FILE_BYTES: u64 = 10 << 20;

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct WireSnapshot {
    #[serde(default)]
    snapshot: Option<WireTracked>,
    #[serde(default)]
    tracking_path: Option<String>,
    #[serde(default)]
    backup: Option<WireBackup>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct WireTracked {
    #[serde(default)]
    tracked_file_backups: BTreeMap<String, WireBackup>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct WireBackup {
    /// None where the file was not there yet.
    #[serde(default)]
    backup_file_name: Option<String>,
}

/// The states that a record names and that are still there, as text.
pub(super) fn read_states(header: &Header, key: EntryKey) -> Vec<FileState> {
    let Some(folder) = history_folder(header, key) else { return Vec::new() };
    let record =
        jsonl::read_record(header, key).ok().and_then(|record| serde_json::from_str::<WireSnapshot>(&record).ok());
    let Some(record) = record else { return Vec::new() };
    let tracked = record.snapshot.into_iter().flat_map(|snapshot| snapshot.tracked_file_backups);
    let named = tracked.chain(record.tracking_path.zip(record.backup));
    named.filter_map(|(path, backup)| read_state(&folder, path, backup.backup_file_name?)).collect()
}

fn read_state(folder: &Path, path: String, name: String) -> Option<FileState> {
    // A name is one name: a session that was given to us must not have other files read.
    let mut parts = Path::new(&name).components();
    if !matches!((parts.next(), parts.next()), (Some(Component::Normal(_)), None)) {
        return None;
    }
    let kept = folder.join(&name);
    let is_link = fs_err::symlink_metadata(&kept).is_ok_and(|metadata| metadata.is_symlink());
    let content = (!is_link).then(|| file::read_text(&kept, MAX_FILE_BYTES).ok()).flatten()?;
    Some(FileState { path, name, content })
}

/// Beside the folder of projects, by the name of the session.
fn history_folder(header: &Header, key: EntryKey) -> Option<PathBuf> {
    let session = header.files.get(usize::from(key.file))?;
    let projects = session.parent()?.parent().filter(|folder| folder.ends_with("projects"))?;
    Some(projects.parent()?.join("file-history").join(session.file_stem()?))
}
