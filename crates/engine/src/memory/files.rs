//! The files of one agent that are there.

use std::path::{Path, PathBuf};

use carryover_agents::{Env, Facts, MemoryFile, MemoryPlace, matches_pattern};

/// Rules of one kind that are more are not all looked at.
const MAX_FILES: usize = 100;
/// Folders that are nested deeper are not looked into.
const MAX_DEPTH: usize = 8;
/// A longer file is no instruction.
pub(crate) const MAX_BYTES: u64 = 4 << 20;

/// A file that is there.
#[derive(Debug, Clone)]
pub struct FoundFile {
    pub file: &'static MemoryFile,
    /// From the project on; of a user's own file, from `~` on.
    pub name: String,
    pub path: PathBuf,
    /// The file for which the agent passes it over.
    pub hidden_by: Option<&'static str>,
}

/// The files of an agent that are there, in the order in which it is told of them.
pub fn find_files(env: &Env, facts: &Facts, project: &Path) -> Vec<FoundFile> {
    let mut found = Vec::new();
    for file in facts.memory.files {
        let Some(root) = file.root(facts, env, project) else { continue };
        let hidden_by = file.unless.iter().find(|other| root.join(other).is_file()).copied();
        for name in expand_pattern(&root, file.path) {
            let path = root.join(&name);
            let name = if file.place == MemoryPlace::Project { name } else { shorten_home(env, &path) };
            found.push(FoundFile { file, name, path, hidden_by });
        }
    }
    found
}

fn shorten_home(env: &Env, path: &Path) -> String {
    match path.strip_prefix(&env.home) {
        Ok(rest) => format!("~/{}", rest.display()),
        Err(_) => path.display().to_string(),
    }
}

/// The names of files that fit a path with stars, sorted.
pub(crate) fn expand_pattern(root: &Path, pattern: &str) -> Vec<String> {
    let parts: Vec<&str> = pattern.split('/').collect();
    let mut found = Vec::new();
    collect_matches(root, "", &parts, MAX_DEPTH, &mut found);
    found.sort();
    found.dedup();
    found
}

fn collect_matches(root: &Path, folder: &str, parts: &[&str], depth: usize, found: &mut Vec<String>) {
    let Some((part, rest)) = parts.split_first() else { return };
    if found.len() >= MAX_FILES {
        return;
    }
    if *part == "**" {
        collect_matches(root, folder, rest, depth, found);
        if depth > 0 {
            for name in list_names(&root.join(folder), std::fs::FileType::is_dir) {
                collect_matches(root, &join_name(folder, &name), parts, depth - 1, found);
            }
        }
        return;
    }
    let is_last = rest.is_empty();
    let names = if part.contains('*') {
        list_names(&root.join(folder), |kind| if is_last { !kind.is_dir() } else { kind.is_dir() })
    } else {
        vec![(*part).to_owned()]
    };
    for name in names.into_iter().filter(|name| matches_pattern(part, name)) {
        let path = join_name(folder, &name);
        if !is_last {
            collect_matches(root, &path, rest, depth, found);
        } else if found.len() < MAX_FILES && root.join(&path).exists() {
            // Something else of that name is told by who reads it.
            found.push(path);
        }
    }
}

fn join_name(folder: &str, name: &str) -> String {
    if folder.is_empty() { name.to_owned() } else { format!("{folder}/{name}") }
}

/// The names in a folder, as far as they are text. Links to folders are not followed: they may lead in circles.
fn list_names(folder: &Path, wanted: impl Fn(&std::fs::FileType) -> bool) -> Vec<String> {
    let Ok(entries) = fs_err::read_dir(folder) else { return Vec::new() };
    let fitting = entries.flatten().filter(|entry| entry.file_type().is_ok_and(|kind| wanted(&kind)));
    let mut names: Vec<String> = fitting.filter_map(|entry| entry.file_name().into_string().ok()).collect();
    names.sort();
    names
}

#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "tests make their own files")]
mod tests {
    use super::*;

    #[test]
    fn stars_stand_for_letters_and_folders() {
        let folder = tempfile::tempdir().unwrap();
        for name in ["rules/a.mdc", "rules/b.md", "rules/deep/er/c.mdc", "other/d.mdc", "A.md"] {
            let path = folder.path().join(name);
            fs_err::create_dir_all(path.parent().unwrap()).unwrap();
            fs_err::write(path, "x").unwrap();
        }
        let expand = |pattern: &str| expand_pattern(folder.path(), pattern);
        assert_eq!(expand("rules/**/*.mdc"), ["rules/a.mdc", "rules/deep/er/c.mdc"]);
        assert_eq!(expand("rules/*.mdc"), ["rules/a.mdc"]);
        assert_eq!(expand("A.md"), ["A.md"]);
        assert_eq!(expand("B.md"), [""; 0]);
        assert_eq!(expand("*s"), [""; 0], "a folder is no rule");
    }
}
