//! Where changes are seen: by the system's word where it gives one, else by looking.
//!
//! Folders are watched one by one and never with all that is below them: some stores are whole trees of other people's
//! folders, and the system lets a user watch only so many.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use notify::event::ModifyKind;
use notify::{Event, EventKind, RecommendedWatcher, RecursiveMode, Watcher as _};

use super::inbox::Inbox;
use crate::own::files::Stamp;

/// How many folders the system is asked to watch; some let a user have no more than 8192 for all programs.
const MAX_WATCHED: usize = 2048;

pub(super) struct FsWatcher {
    system: Option<RecommendedWatcher>,
    watched: BTreeSet<PathBuf>,
    /// The folders that the system does not watch for us, with what was in them.
    looked_at: BTreeMap<PathBuf, BTreeMap<PathBuf, Stamp>>,
    room: usize,
}

impl FsWatcher {
    pub(super) fn open(inbox: &Arc<Inbox>) -> Self {
        Self::with_room(inbox, MAX_WATCHED)
    }

    pub(super) fn with_room(inbox: &Arc<Inbox>, room: usize) -> Self {
        let inbox = Arc::clone(inbox);
        let system = notify::recommended_watcher(move |told: notify::Result<Event>| match told {
            Ok(event) if event.need_rescan() => inbox.lose(),
            Ok(event) if is_change(event.kind) => inbox.change(event.paths),
            Ok(_) => {}
            Err(_) => inbox.lose(),
        });
        // Without the system's help there is looking.
        Self { system: system.ok(), watched: BTreeSet::new(), looked_at: BTreeMap::new(), room }
    }

    /// Watches folders; where there are more than can be, those that changed last. Says how many are new.
    pub(super) fn watch(&mut self, mut folders: Vec<PathBuf>) -> usize {
        let before = self.watched.len() + self.looked_at.len();
        folders.retain(|folder| !self.watched.contains(folder) && !self.looked_at.contains_key(folder));
        if folders.len() > self.room {
            folders.sort_by_cached_key(|folder| std::cmp::Reverse(Stamp::of(folder).map_or(0, |stamp| stamp.mtime_ms)));
        }
        for folder in folders {
            let system = self.system.as_mut().filter(|_| self.room > 0);
            let watched = system.is_some_and(|system| system.watch(&folder, RecursiveMode::NonRecursive).is_ok());
            if watched {
                self.room -= 1;
                self.watched.insert(folder);
            } else if folder.is_dir() {
                let files = look(&folder);
                self.looked_at.insert(folder, files);
            }
        }
        self.watched.len() + self.looked_at.len() - before
    }

    /// A folder that is gone; the system has let go of it by itself.
    pub(super) fn forget(&mut self, folder: &Path) {
        self.looked_at.remove(folder);
        if self.watched.remove(folder) {
            self.room += 1;
            if let Some(system) = &mut self.system {
                // It says that there is no such folder, or that it had let go of it.
                let _: notify::Result<()> = system.unwatch(folder);
            }
        }
    }

    /// What changed in the folders that the system does not watch.
    pub(super) fn look(&mut self) -> Vec<PathBuf> {
        let mut changed = Vec::new();
        self.looked_at.retain(|folder, before| {
            let now = look(folder);
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

fn look(folder: &Path) -> BTreeMap<PathBuf, Stamp> {
    let listing = fs_err::read_dir(folder).into_iter().flatten().filter_map(Result::ok);
    listing.filter_map(|entry| Some((entry.path(), Stamp::of(&entry.path()).ok()?))).collect()
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
        let inbox = Arc::new(Inbox::default());
        let mut fs_watcher = FsWatcher::open(&inbox);
        fs_watcher.watch(vec![root.clone()]);
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
        let inbox = Arc::new(Inbox::default());
        let mut fs_watcher = FsWatcher::with_room(&inbox, 0);
        write_private(&folder.path().join("a"), b"a").unwrap();
        fs_watcher.watch(vec![folder.path().to_owned()]);
        assert_eq!(fs_watcher.look(), Vec::<PathBuf>::new());
        write_private(&folder.path().join("a"), b"more").unwrap();
        write_private(&folder.path().join("b"), b"b").unwrap();
        assert_eq!(fs_watcher.look(), [folder.path().join("a"), folder.path().join("b")]);
        assert_eq!(fs_watcher.look(), Vec::<PathBuf>::new());
        fs_err::remove_file(folder.path().join("b")).unwrap();
        assert_eq!(fs_watcher.look(), [folder.path().join("b")]);
    }
}
