//! Where changes are seen: by the system's word where it gives one, else by looking.
//!
//! Folders are watched one by one and never with all that is below them: some stores are whole trees of other people's
//! folders, and the system lets a user watch only so many.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use notify::event::ModifyKind;
use notify::{Event, EventKind, RecommendedWatcher, RecursiveMode, Watcher as _};

use super::change_queue::ChangeQueue;
use crate::own::files::Stamp;

/// How many folders the system is asked to watch; some let a user have no more than 8192 for all programs.
const MAX_WATCHED_FOLDERS: usize = 2048;

pub(super) struct FsWatcher {
    system: Option<RecommendedWatcher>,
    watched: BTreeSet<PathBuf>,
    /// The folders that the system does not watch for us, with what was in them.
    polled: BTreeMap<PathBuf, BTreeMap<PathBuf, Stamp>>,
    free_watches: usize,
}

impl FsWatcher {
    pub(super) fn open(inbox: &Arc<ChangeQueue>) -> Self {
        Self::with_limit(inbox, MAX_WATCHED_FOLDERS)
    }

    pub(super) fn with_limit(inbox: &Arc<ChangeQueue>, room: usize) -> Self {
        let inbox = Arc::clone(inbox);
        let system = notify::recommended_watcher(move |told: notify::Result<Event>| match told {
            Ok(event) if event.need_rescan() => inbox.mark_lost(),
            Ok(event) if is_change(event.kind) => inbox.add_paths(event.paths),
            Ok(_) => {}
            Err(_) => inbox.mark_lost(),
        });
        // Without the system's help there is looking.
        Self { system: system.ok(), watched: BTreeSet::new(), polled: BTreeMap::new(), free_watches: room }
    }

    /// Watches folders; where there are more than can be, those that changed last. Says how many are new.
    pub(super) fn watch(&mut self, mut folders: Vec<PathBuf>) -> usize {
        let before = self.watched.len() + self.polled.len();
        folders.retain(|folder| !self.watched.contains(folder) && !self.polled.contains_key(folder));
        if folders.len() > self.free_watches {
            folders.sort_by_cached_key(|folder| {
                std::cmp::Reverse(Stamp::from_path(folder).map_or(0, |stamp| stamp.mtime_ms))
            });
        }
        for folder in folders {
            let system = self.system.as_mut().filter(|_| self.free_watches > 0);
            let watched = system.is_some_and(|system| system.watch(&folder, RecursiveMode::NonRecursive).is_ok());
            if watched {
                self.free_watches -= 1;
                self.watched.insert(folder);
            } else if folder.is_dir() {
                let files = stamp_entries(&folder);
                self.polled.insert(folder, files);
            }
        }
        self.watched.len() + self.polled.len() - before
    }

    /// A folder that is gone; the system has let go of it by itself.
    pub(super) fn unwatch(&mut self, folder: &Path) {
        self.polled.remove(folder);
        if self.watched.remove(folder) {
            self.free_watches += 1;
            if let Some(system) = &mut self.system {
                // It says that there is no such folder, or that it had let go of it.
                let _: notify::Result<()> = system.unwatch(folder);
            }
        }
    }

    /// Paths that changed in the folders that the system does not watch.
    pub(super) fn poll_changes(&mut self) -> Vec<PathBuf> {
        let mut changed = Vec::new();
        self.polled.retain(|folder, before| {
            let now = stamp_entries(folder);
            changed.extend(
                now.iter().filter(|(path, stamp)| before.get(*path) != Some(stamp)).map(|(path, _)| path.clone()),
            );
            changed.extend(before.keys().filter(|path| !now.contains_key(*path)).cloned());
            *before = now;
            folder.is_dir()
        });
        changed
    }
}

/// Reading is no change, and ours would be told to us as well.
fn is_change(kind: EventKind) -> bool {
    !matches!(kind, EventKind::Access(_) | EventKind::Modify(ModifyKind::Metadata(_)))
}

fn stamp_entries(folder: &Path) -> BTreeMap<PathBuf, Stamp> {
    let listing = fs_err::read_dir(folder).into_iter().flatten().filter_map(Result::ok);
    listing.filter_map(|entry| Some((entry.path(), Stamp::from_path(&entry.path()).ok()?))).collect()
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::own::files::write_private;

    #[test]
    fn the_system_tells_of_writes_and_not_of_reads() {
        let folder = tempfile::tempdir().unwrap();
        let root = fs_err::canonicalize(folder.path()).unwrap();
        let inbox = Arc::new(ChangeQueue::default());
        let mut folders = FsWatcher::open(&inbox);
        folders.watch(vec![root.clone()]);
        write_private(&root.join("a"), b"a").unwrap();
        let mut told = BTreeSet::new();
        while !told.contains(&root.join("a")) {
            let changes = inbox.wait(Duration::from_secs(20));
            assert!(!changes.changed.is_empty(), "nothing was told");
            told.extend(changes.changed);
        }
        fs_err::read(root.join("a")).unwrap();
        let changes = inbox.wait(Duration::from_millis(300));
        assert!(changes.changed.iter().all(|path| told.contains(path)), "{changes:?}");
    }

    #[test]
    fn folders_without_room_are_looked_at() {
        let folder = tempfile::tempdir().unwrap();
        let inbox = Arc::new(ChangeQueue::default());
        let mut folders = FsWatcher::with_limit(&inbox, 0);
        write_private(&folder.path().join("a"), b"a").unwrap();
        folders.watch(vec![folder.path().to_owned()]);
        assert_eq!(folders.poll_changes(), Vec::<PathBuf>::new());
        write_private(&folder.path().join("a"), b"more").unwrap();
        write_private(&folder.path().join("b"), b"b").unwrap();
        assert_eq!(folders.poll_changes(), [folder.path().join("a"), folder.path().join("b")]);
        assert_eq!(folders.poll_changes(), Vec::<PathBuf>::new());
        fs_err::remove_file(folder.path().join("b")).unwrap();
        assert_eq!(folders.poll_changes(), [folder.path().join("b")]);
    }
}
