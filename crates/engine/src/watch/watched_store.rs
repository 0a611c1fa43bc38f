//! The meaning of a path in a store: a file with sessions, a folder on the way to one, or nothing to us.

use std::path::{Path, PathBuf};

use carryover_agents::{Agent, Store, matches_pattern};

/// The suffix of the log beside an `SQLite` database, which is where changes show first.
const LOG_SUFFIX: &str = "-wal";

/// A store that is watched.
pub(crate) struct WatchedStore {
    pub(super) agent: &'static dyn Agent,
    pub(super) store: Store,
    /// The store is one file.
    is_file: bool,
}

#[derive(Debug, PartialEq, Eq)]
pub(super) enum PathKind {
    /// A file that holds sessions.
    SessionFile(PathBuf),
    Folder,
    Unrelated,
}

impl WatchedStore {
    pub(crate) fn new(agent: &'static dyn Agent, store: Store) -> Self {
        let is_file = store.root.is_file();
        Self { agent, store, is_file }
    }

    pub(super) fn classify_path(&self, path: &Path) -> PathKind {
        let file = strip_log_suffix(path);
        if self.is_file {
            return if file == self.store.root { PathKind::SessionFile(file) } else { PathKind::Unrelated };
        }
        let Ok(inside) = file.strip_prefix(&self.store.root) else { return PathKind::Unrelated };
        let names: Option<Vec<&str>> = inside.iter().map(|name| name.to_str()).collect();
        let Some(names) = names else { return PathKind::Unrelated };
        let mut place = PathKind::Unrelated;
        for track in self.agent.facts().session_patterns {
            let on_it =
                names.len() <= track.len() && names.iter().zip(*track).all(|(name, part)| matches_pattern(part, name));
            if on_it && names.len() == track.len() {
                return PathKind::SessionFile(file);
            }
            if on_it {
                place = PathKind::Folder;
            }
        }
        place
    }

    /// The files with sessions in them.
    pub(crate) fn session_files(&self) -> Vec<PathBuf> {
        if self.is_file { vec![self.store.root.clone()] } else { self.scan_below(&self.store.root).1 }
    }

    /// The folders in which changes show.
    pub(super) fn list_folders(&self) -> Vec<PathBuf> {
        if self.is_file {
            return self.store.root.parent().map(Path::to_owned).into_iter().collect();
        }
        self.scan_below(&self.store.root).0
    }

    /// A folder with those below it that lead to sessions, and the files with sessions in them.
    pub(super) fn scan_below(&self, folder: &Path) -> (Vec<PathBuf>, Vec<PathBuf>) {
        let (mut folders, mut files) = (vec![folder.to_owned()], Vec::new());
        let mut next = 0;
        while next < folders.len() {
            // A folder that vanished or may not be read has nothing to tell.
            let listing = fs_err::read_dir(&folders[next]).into_iter().flatten().filter_map(Result::ok);
            for path in listing.map(|entry| entry.path()) {
                match self.classify_path(&path) {
                    PathKind::SessionFile(file) => files.push(file),
                    PathKind::Folder if path.is_dir() => folders.push(path),
                    PathKind::Folder | PathKind::Unrelated => {}
                }
            }
            next += 1;
        }
        files.dedup();
        (folders, files)
    }
}

/// A database stands for its log.
fn strip_log_suffix(path: &Path) -> PathBuf {
    let name = path.file_name().and_then(|name| name.to_str()).and_then(|name| name.strip_suffix(LOG_SUFFIX));
    name.map_or_else(|| path.to_owned(), |name| path.with_file_name(name))
}

/// The file beside a database in which its changes show first.
pub(super) fn log_path(path: &Path) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(LOG_SUFFIX);
    PathBuf::from(name)
}
