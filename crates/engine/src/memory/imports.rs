//! Which files a file of instructions takes in: words that begin with `@` and name a file that is there.

use std::path::{Path, PathBuf};

use carryover_agents::{Env, Facts, MemoryPlace};

use crate::memory::files::{MAX_BYTES, find_files};
use crate::memory::privacy::{is_readable, is_settings};
use crate::own::files;
use crate::sessions::project::resolve_path;

/// So many files on the way from the first one: agents that take files in follow no more.
const MAX_DEPTH: usize = 5;
/// A project that has more of them is not looked at any further.
const MAX_FILES: usize = 100;

/// A file that may take others in.
pub(crate) struct ImportingFile {
    pub(crate) name: String,
    pub(crate) path: PathBuf,
}

/// A file of the project that another one takes in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ImportedFile {
    /// From the project on, without links.
    pub name: String,
    /// The file that names it.
    pub through: String,
    /// The one that the agent reads by itself.
    pub(crate) start: String,
}

/// The files of a project that an agent is told of by others.
pub fn find_imported(env: &Env, facts: &Facts, project: &Path) -> Vec<ImportedFile> {
    let is_read = |found: &super::files::FoundFile| {
        found.hidden_by.is_none() && found.file.place == MemoryPlace::Project && facts.memory.import.is_some()
    };
    let found = find_files(env, facts, project).into_iter().filter(is_read);
    follow_imports(project, found.map(|found| ImportingFile { name: found.name, path: found.path }).collect())
}

/// The files of a project that some of its files take in, those that these take in among them; each once.
pub(crate) fn follow_imports(project: &Path, starts: Vec<ImportingFile>) -> Vec<ImportedFile> {
    let root = resolve_path(project);
    let mut known: Vec<PathBuf> = starts.iter().map(|file| resolve_path(&file.path)).collect();
    let mut imported: Vec<ImportedFile> = Vec::new();
    let mut level: Vec<(String, ImportingFile)> = starts
        .into_iter()
        .filter(|file| is_readable(&root, &file.name))
        .map(|file| (file.name.clone(), file))
        .collect();
    for _ in 0..MAX_DEPTH {
        let mut next = Vec::new();
        for (start, file) in level {
            for path in read_imports(&file.path) {
                let name = path.strip_prefix(&root).ok().and_then(Path::to_str).map(|name| name.replace('\\', "/"));
                // What is not in the project, nobody who made it may have read.
                let Some(name) = name.filter(|name| !is_settings(name) && !known.contains(&path)) else { continue };
                if imported.len() == MAX_FILES {
                    return imported;
                }
                known.push(path.clone());
                imported.push(ImportedFile { name: name.clone(), through: file.name.clone(), start: start.clone() });
                next.push((start.clone(), ImportingFile { name, path }));
            }
        }
        level = next;
    }
    imported
}

/// The real files that a file takes in; none where it is too long or no text.
fn read_imports(path: &Path) -> Vec<PathBuf> {
    let path = resolve_path(path);
    let bytes = files::read_bounded(&path, MAX_BYTES).ok().flatten().unwrap_or_default();
    String::from_utf8(bytes).map(|text| find_imports(&text, &path)).unwrap_or_default()
}

/// The real files that a text names for import. What stands in code is no import.
pub(super) fn find_imports(text: &str, file: &Path) -> Vec<PathBuf> {
    let Some(folder) = file.parent() else { return Vec::new() };
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
        found.extend(named.map(|name| folder.join(name)).filter(|path| path.is_file()).map(|path| resolve_path(&path)));
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
        assert_eq!(find_imports(text, &root.join("own.md")), [root.join("A.md"), root.join("B.md")]);
    }

    #[test]
    fn a_path_is_told_from_the_file_that_names_it() {
        let path = |from: &str, to: &str| relative_path("/p".as_ref(), from.as_ref(), to.as_ref());
        assert_eq!(path("/p/C.md", "/p/A.md"), "A.md");
        assert_eq!(path("/p/.c/C.md", "/p/A.md"), "../A.md");
        assert_eq!(path("/p/C.md", "/p/.g/i.md"), ".g/i.md");
    }
}
