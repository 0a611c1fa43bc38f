//! A rollout's file: its name, and where in a store such files are.

use std::io;
use std::path::{Path, PathBuf};

use carryover_core::time::Timestamp;
use jiff::tz::TimeZone;

/// The folders of a store that hold rollouts.
pub(super) const FOLDERS: [&str; 2] = ["sessions", "archived_sessions"];

/// The session in a file name: `rollout-2026-11-15T00-56-21-<id>.jsonl`, perhaps compressed.
///
/// After a revert the id is followed by that of the new file: `…-<id>_<file>.jsonl`.
pub(super) fn session_in(path: &Path) -> Option<&str> {
    let name = path.file_name()?.to_str()?;
    let stem = name.strip_suffix(".jsonl.zst").or_else(|| name.strip_suffix(".jsonl"))?;
    let id = stem.strip_prefix("rollout-")?.get("2026-11-15T00-56-21-".len()..)?;
    let id = id.split('_').next().unwrap_or(id);
    (!id.is_empty()).then_some(id)
}

/// The file in which a new session belongs; the client names folders by local time.
pub(super) fn path_for(root: &Path, started_at: Timestamp, zone: &TimeZone, id: &str) -> PathBuf {
    let instant = jiff::Timestamp::from_millisecond(started_at.millis()).unwrap_or(jiff::Timestamp::UNIX_EPOCH);
    let local = instant.to_zoned(zone.clone());
    let day = local.strftime("%Y/%m/%d").to_string();
    let mut path = root.join(FOLDERS[0]);
    path.extend(day.split('/'));
    path.join(format!("rollout-{}-{id}.jsonl", local.strftime("%Y-%m-%dT%H-%M-%S")))
}

/// The store that a file stands in; a loose file has none.
pub(super) fn root_of(path: &Path) -> Option<&Path> {
    let folder = path
        .ancestors()
        .skip(1)
        .find(|folder| folder.file_name().is_some_and(|name| FOLDERS.iter().any(|known| name == *known)))?;
    folder.parent()
}

/// Every rollout of a store.
pub(super) fn all(root: &Path) -> io::Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    for folder in FOLDERS {
        gather(&root.join(folder), 0, &mut found)?;
    }
    Ok(found)
}

/// The file of a session, looked for in the store, or beside a loose file.
pub(super) fn find(beside: &Path, session: &str) -> io::Result<Option<PathBuf>> {
    let mut files = Vec::new();
    if let Some(root) = root_of(beside) {
        files = all(root)?;
    } else if let Some(folder) = beside.parent() {
        gather(folder, MAX_DEPTH, &mut files)?;
    }
    // Reverted sessions have several files; the newest one is in use, and names sort by time.
    Ok(files.into_iter().filter(|path| session_in(path) == Some(session)).max())
}

/// Year, month, day, and one to spare.
const MAX_DEPTH: usize = 4;

fn gather(folder: &Path, depth: usize, found: &mut Vec<PathBuf>) -> io::Result<()> {
    let listing = match fs_err::read_dir(folder) {
        Ok(listing) => listing,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(error),
    };
    for entry in listing {
        let entry = entry?;
        let path = entry.path();
        if entry.file_type()?.is_dir() {
            if depth < MAX_DEPTH {
                gather(&path, depth + 1, found)?;
            }
        } else if session_in(&path).is_some() {
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
        let name = |name: &str| session_in(Path::new(name)).map(str::to_owned);
        assert_eq!(name("rollout-2026-11-15T00-56-21-01a1dcb4-8ab4.jsonl").as_deref(), Some("01a1dcb4-8ab4"));
        assert_eq!(name("x/rollout-2026-11-15T00-56-21-01a1.jsonl.zst").as_deref(), Some("01a1"));
        assert_eq!(name("rollout-2026-11-15T00-56-21-01a1_02b2.jsonl").as_deref(), Some("01a1"));
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
        assert_eq!(root_of(&path), Some(Path::new("root")));
        assert_eq!(root_of(Path::new("loose.jsonl")), None);
    }
}
