//! A rollout's file: its name, and where in a store such files are.

use std::io;
use std::path::{Path, PathBuf};

use carryover_core::time::Timestamp;
use jiff::tz::TimeZone;

use crate::formats::jsonl;

/// The folders of a store that hold rollouts.
pub(super) const ROLLOUT_FOLDERS: [&str; 2] = ["sessions", ARCHIVE_FOLDER];
pub(super) const ARCHIVE_FOLDER: &str = "archived_sessions";

/// The ids in a file name: `rollout-2026-11-15T00-56-21-<session>.jsonl`, perhaps compressed.
///
/// After a revert the session is followed by the new file's own id: `…-<session>_<file>.jsonl`. The first file's id is
/// that of the session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct RolloutName<'a> {
    pub(super) session: &'a str,
    pub(super) file: &'a str,
}

pub(super) fn parse_name(path: &Path) -> Option<RolloutName<'_>> {
    let name = path.file_name()?.to_str()?;
    let stem = name.strip_suffix(".jsonl.zst").or_else(|| name.strip_suffix(".jsonl"))?;
    let ids = stem.strip_prefix("rollout-")?.get("2026-11-15T00-56-21-".len()..)?;
    let (session, file) = ids.split_once('_').unwrap_or((ids, ids));
    (!session.is_empty()).then_some(RolloutName { session, file })
}

/// The session in a file name.
pub(super) fn session_id(path: &Path) -> Option<&str> {
    parse_name(path).map(|name| name.session)
}

/// The file in which a new session belongs; the client names folders by local time.
pub(super) fn path_for(root: &Path, started_at: Timestamp, zone: &TimeZone, id: &str) -> PathBuf {
    let instant = jiff::Timestamp::from_millisecond(started_at.millis()).unwrap_or(jiff::Timestamp::UNIX_EPOCH);
    let local = instant.to_zoned(zone.clone());
    let day = local.strftime("%Y/%m/%d").to_string();
    let mut path = root.join(ROLLOUT_FOLDERS[0]);
    path.extend(day.split('/'));
    path.join(format!("rollout-{}-{id}.jsonl", local.strftime("%Y-%m-%dT%H-%M-%S")))
}

/// The store that a file stands in; a loose file has none.
pub(super) fn store_root(path: &Path) -> Option<&Path> {
    let folder = path
        .ancestors()
        .skip(1)
        .find(|folder| folder.file_name().is_some_and(|name| ROLLOUT_FOLDERS.iter().any(|known| name == *known)))?;
    folder.parent()
}

/// Every rollout of a store.
pub(super) fn list_all(root: &Path) -> io::Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    for folder in ROLLOUT_FOLDERS {
        collect_rollouts(&root.join(folder), 0, &mut found)?;
    }
    Ok(found)
}

/// The files that a file may refer to: those of its store, or those beside a loose one.
pub(super) fn list_around(path: &Path) -> io::Result<Vec<PathBuf>> {
    if let Some(root) = store_root(path) {
        return list_all(root);
    }
    let mut files = Vec::new();
    if let Some(folder) = path.parent() {
        collect_rollouts(folder, MAX_DEPTH, &mut files)?;
    }
    Ok(files)
}

/// The newest of some files. Their ids begin with the time of their making, which is not local as that in the name is;
/// of a file and its compressed copy, the file is the one that is written to.
pub(super) fn newest_file<'a>(files: impl IntoIterator<Item = &'a PathBuf>) -> Option<&'a PathBuf> {
    let age = |path: &&PathBuf| (parse_name(path).map(|name| name.file.to_owned()), !jsonl::is_compressed(path));
    files.into_iter().max_by_key(age)
}

/// Year, month, day, and one to spare.
const MAX_DEPTH: usize = 4;

fn collect_rollouts(folder: &Path, depth: usize, found: &mut Vec<PathBuf>) -> io::Result<()> {
    let listing = match fs_err::read_dir(folder) {
        Ok(listing) => listing,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(error),
    };
    for entry in listing {
        let entry = entry?;
        let path = entry.path();
        let is_session = session_id(&path).is_some();
        if entry.file_type()?.is_dir() && !is_session {
            if depth < MAX_DEPTH {
                collect_rollouts(&path, depth + 1, found)?;
            }
        } else if is_session {
            found.push(path);
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_hold_the_session() {
        let name = |name: &str| session_id(Path::new(name)).map(str::to_owned);
        assert_eq!(name("rollout-2026-11-15T00-56-21-01a1dcb4-8ab4.jsonl").as_deref(), Some("01a1dcb4-8ab4"));
        assert_eq!(name("x/rollout-2026-11-15T00-56-21-01a1.jsonl.zst").as_deref(), Some("01a1"));
        assert_eq!(name("rollout-2026-11-15T00-56-21-01a1_02b2.jsonl").as_deref(), Some("01a1"));
        let of_revert = parse_name(Path::new("rollout-2026-11-15T00-56-21-01a1_02b2.jsonl"));
        assert_eq!(of_revert, Some(RolloutName { session: "01a1", file: "02b2" }));
        assert_eq!(name("rollout-2026.jsonl"), None);
        assert_eq!(name("history.jsonl"), None);
    }

    #[test]
    fn folders_are_named_by_local_time() {
        let zone = TimeZone::fixed(jiff::tz::offset(-5));
        let at = Timestamp::parse("2026-11-15T02:00:00Z").unwrap();
        let path = path_for(Path::new("root"), at, &zone, "id");
        let expected = Path::new("root/sessions/2026/11/14/rollout-2026-11-14T21-00-00-id.jsonl");
        assert_eq!(path, expected);
        assert_eq!(store_root(&path), Some(Path::new("root")));
        assert_eq!(store_root(Path::new("loose.jsonl")), None);
    }
}
