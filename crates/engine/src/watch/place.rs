//! What a path means in a store: a file with sessions, a folder on the way to one, or nothing to us.

use std::path::{Path, PathBuf};

use carryover_agents::{Agent, Store, fits};

/// What `SQLite` adds to a database's name for its log, which is where changes show first.
const LOG: &str = "-wal";

/// A store that is watched.
pub(super) struct Watched {
    pub(super) agent: &'static dyn Agent,
    pub(super) store: Store,
    /// The store is one file.
    is_file: bool,
}

/// What a path is.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Place {
    /// A file that holds sessions.
    Sessions(PathBuf),
    Folder,
    Elsewhere,
}

impl Watched {
    pub(super) fn new(agent: &'static dyn Agent, store: Store) -> Self {
        let is_file = store.root.is_file();
        Self { agent, store, is_file }
    }

    pub(super) fn place(&self, path: &Path) -> Place {
        let file = without_log(path);
        if self.is_file {
            return if file == self.store.root { Place::Sessions(file) } else { Place::Elsewhere };
        }
        let Ok(inside) = file.strip_prefix(&self.store.root) else { return Place::Elsewhere };
        let names: Option<Vec<&str>> = inside.iter().map(|name| name.to_str()).collect();
        let Some(names) = names else { return Place::Elsewhere };
        let mut place = Place::Elsewhere;
        for track in self.agent.facts().tracks {
            let on_it = names.len() <= track.len() && names.iter().zip(*track).all(|(name, part)| fits(part, name));
            if on_it && names.len() == track.len() {
                return Place::Sessions(file);
            }
            if on_it {
                place = Place::Folder;
            }
        }
        place
    }

    /// The folders in which changes show.
    pub(super) fn folders(&self) -> Vec<PathBuf> {
        if self.is_file {
            return self.store.root.parent().map(Path::to_owned).into_iter().collect();
        }
        self.below(&self.store.root).0
    }

    /// A folder with those below it that lead to sessions, and the files with sessions in them.
    pub(super) fn below(&self, folder: &Path) -> (Vec<PathBuf>, Vec<PathBuf>) {
        let (mut folders, mut files) = (vec![folder.to_owned()], Vec::new());
        let mut next = 0;
        while next < folders.len() {
            // A folder that vanished or may not be read has nothing to tell.
            let listing = fs_err::read_dir(&folders[next]).into_iter().flatten().filter_map(Result::ok);
            for path in listing.map(|entry| entry.path()) {
                match self.place(&path) {
                    Place::Sessions(file) => files.push(file),
                    Place::Folder if path.is_dir() => folders.push(path),
                    Place::Folder | Place::Elsewhere => {}
                }
            }
            next += 1;
        }
        files.dedup();
        (folders, files)
    }
}

/// A database stands for its log.
fn without_log(path: &Path) -> PathBuf {
    let name = path.file_name().and_then(|name| name.to_str()).and_then(|name| name.strip_suffix(LOG));
    name.map_or_else(|| path.to_owned(), |name| path.with_file_name(name))
}

/// The file beside a database in which its changes show first.
pub(super) fn log_of(path: &Path) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(LOG);
    PathBuf::from(name)
}
