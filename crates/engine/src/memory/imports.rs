//! Which files a file of instructions takes in: words that begin with `@` and name a file that is there.

use std::path::{Path, PathBuf};

use carryover_agents::{Env, Facts, ImportPlaces, MemoryPlace};

use crate::memory::files::{FoundFile, MAX_BYTES, Owner, find_files};
use crate::memory::ground::Ground;
use crate::memory::privacy::is_settings;
use crate::own::files;
use crate::sessions::project::resolve_path;

/// So many files on the way from the first one: agents that take files in follow no more.
const MAX_DEPTH: usize = 5;
/// A project that has more of them is not looked at any further.
const MAX_FILES: usize = 100;

/// A file that is taken in by another one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ImportedFile {
    /// As files are told, without links.
    pub name: String,
    pub path: PathBuf,
    /// The file that names it.
    pub through: String,
    /// A user's own file takes it in.
    pub is_users: bool,
    /// When the one that the agent reads by itself is read, where that is not at every start.
    pub when: Option<&'static str>,
}

/// The files that an agent is told of by others.
pub fn find_imported(env: &Env, facts: &Facts, project: &Path) -> Vec<ImportedFile> {
    let found = find_files(env, facts, project);
    follow_imports(&Ground::new(env, project), facts, &found)
}

/// The files that an agent's files take in, those that these take in among them; each once.
pub(crate) fn follow_imports(ground: &Ground, facts: &Facts, found: &[FoundFile]) -> Vec<ImportedFile> {
    if facts.memory.import.is_none() {
        return Vec::new();
    }
    let starts: Vec<&FoundFile> =
        found.iter().filter(|found| found.hidden_by.is_none() && !found.file.is_alone).collect();
    let known = starts.iter().map(|found| resolve_path(&found.path)).collect();
    let mut walk = ImportWalk { ground, places: facts.memory.imports_from, known, imported: Vec::new() };
    for start in starts {
        walk.follow(start);
    }
    walk.imported
}

struct ImportWalk<'a> {
    ground: &'a Ground,
    places: ImportPlaces,
    known: Vec<PathBuf>,
    imported: Vec<ImportedFile>,
}

impl ImportWalk<'_> {
    fn follow(&mut self, start: &FoundFile) {
        let is_users = start.owner == Owner::User;
        let is_above = is_users && start.file.place == MemoryPlace::Project;
        let real = resolve_path(&start.path);
        let folder = start.path.parent().map(resolve_path);
        let within = match self.places {
            ImportPlaces::Work if is_users && !is_above => None,
            ImportPlaces::Work => Some(self.ground.project.clone()),
            ImportPlaces::Repository if is_users => folder.clone(),
            ImportPlaces::Repository => Some(self.ground.root.clone()),
        };
        // What is not in the project, nobody who made it may have read; others may have put a link above it.
        let place = if is_above { folder } else { Some(self.ground.root.clone()).filter(|_| !is_users) };
        if is_secret(&real) || place.is_some_and(|place| !real.starts_with(place)) {
            return;
        }
        let home = within.is_none().then_some(self.ground.home.as_path());
        let root = &self.ground.root;
        let mut level = vec![(start.name.clone(), real)];
        for _ in 0..MAX_DEPTH {
            let mut next = Vec::new();
            for (through, file) in level {
                for path in read_imports(&file, home) {
                    let is_within = within.as_ref().is_none_or(|within| path.starts_with(within));
                    // A user's own file may lead into the project; from there nothing leads out of it.
                    let leads_out = file.starts_with(root) && !path.starts_with(root);
                    if !is_within || leads_out || is_secret(&path) || self.known.contains(&path) {
                        continue;
                    }
                    if self.imported.len() == MAX_FILES {
                        return;
                    }
                    self.known.push(path.clone());
                    let (name, through) = (self.ground.name_of(&path), through.clone());
                    next.push((name.clone(), path.clone()));
                    let is_users = is_users && !(is_above && path.starts_with(root));
                    self.imported.push(ImportedFile { name, path, through, is_users, when: start.when });
                }
            }
            level = next;
        }
    }
}

fn is_secret(path: &Path) -> bool {
    is_settings(&path.display().to_string())
}

/// The real files that a file takes in; none where it is too long or no text.
fn read_imports(path: &Path, home: Option<&Path>) -> Vec<PathBuf> {
    let bytes = files::read_bounded(path, MAX_BYTES).ok().flatten().unwrap_or_default();
    String::from_utf8(bytes).map(|text| find_imports(&text, path, home)).unwrap_or_default()
}

/// The real files that a text names for import, from a home on where that counts. What stands in code is no import.
pub(super) fn find_imports(text: &str, file: &Path, home: Option<&Path>) -> Vec<PathBuf> {
    let Some(folder) = file.parent() else { return Vec::new() };
    let place = |name: &str| match (name.strip_prefix("~/"), home) {
        (Some(rest), Some(home)) => home.join(rest),
        _ => folder.join(name),
    };
    let mut is_code = false;
    let mut found = Vec::new();
    for line in text.lines() {
        if line.trim_start().starts_with("```") {
            is_code = !is_code;
        }
        if is_code {
            continue;
        }
        let named = line.split_whitespace().filter_map(|word| word.strip_prefix('@')).filter(|name| !name.is_empty());
        found.extend(named.map(place).filter(|path| path.is_file()).map(|path| resolve_path(&path)));
    }
    found
}

/// A file's path as another one names it, with slashes. Both are in one project.
pub(super) fn relative_path(project: &Path, from: &Path, to: &Path) -> String {
    let folder = from.parent().and_then(|folder| folder.strip_prefix(project).ok());
    let up = folder.map_or(0, |folder| folder.components().count());
    let name = to.strip_prefix(project).unwrap_or(to);
    let parts = std::iter::repeat_n("..".to_owned(), up)
        .chain(name.components().map(|part| part.as_os_str().to_string_lossy().into_owned()));
    parts.collect::<Vec<_>>().join("/")
}

#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "tests make their own files")]
mod tests {
    use super::*;

    #[test]
    fn words_that_name_a_file_are_imports_but_not_in_code() {
        let folder = tempfile::tempdir().unwrap();
        let root = resolve_path(folder.path());
        for name in ["A.md", "B.md", "C.md"] {
            fs_err::write(root.join(name), "x").unwrap();
        }
        let text = "@A.md\nsee @./B.md for more\n```\n@C.md\n```\n`@C.md` and me@C.md and @nobody\n";
        assert_eq!(find_imports(text, &root.join("own.md"), None), [root.join("A.md"), root.join("B.md")]);
    }

    #[test]
    fn a_path_is_told_from_the_file_that_names_it() {
        let path = |from: &str, to: &str| relative_path("/p".as_ref(), from.as_ref(), to.as_ref());
        assert_eq!(path("/p/C.md", "/p/A.md"), "A.md");
        assert_eq!(path("/p/.c/C.md", "/p/A.md"), "../A.md");
        assert_eq!(path("/p/C.md", "/p/.g/i.md"), ".g/i.md");
    }
}
