//! The files of one agent that are there.

use std::path::{Path, PathBuf};

use carryover_agents::{Env, Facts, MemoryFile, MemoryPlace, matches_pattern};

use crate::memory::ground::Ground;
use crate::own::files;
use crate::sessions::project::resolve_path;

/// Rules of one kind that are more are not all looked at.
const MAX_FILES: usize = 100;
/// Folders that are nested deeper are not looked into.
const MAX_DEPTH: usize = 8;
/// A longer file is no instruction.
pub(crate) const MAX_BYTES: u64 = 4 << 20;

/// Whose a file is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Owner {
    /// In the folder in which the agent works.
    Project,
    /// In a folder above it, in the same repository.
    Above,
    /// The user's: in the home, or above the repository.
    User,
}

/// A file that is there.
#[derive(Debug, Clone)]
pub struct FoundFile {
    pub file: &'static MemoryFile,
    /// From the project on; of a user's own file, from `~` on.
    pub name: String,
    pub path: PathBuf,
    pub owner: Owner,
    /// The file for which the agent passes it over.
    pub hidden_by: Option<String>,
    /// When it is read, where that is not at every start.
    pub when: Option<&'static str>,
}

/// The files of an agent that are there, in the order in which it is told of them.
pub fn find_files(env: &Env, facts: &Facts, project: &Path) -> Vec<FoundFile> {
    let ground = Ground::new(env, project);
    let found = facts.memory.files.iter().flat_map(|file| find_kind(env, facts, &ground, file));
    let (shared, own): (Vec<_>, Vec<_>) = found.partition(|found| found.file.place == MemoryPlace::Project);
    // A home that the project is in may have one that every project has.
    let is_own = |found: &FoundFile| own.iter().any(|own| resolve_path(&own.path) == resolve_path(&found.path));
    let mut found: Vec<FoundFile> = shared.into_iter().filter(|found| !is_own(found)).collect();
    found.extend(own);
    found
}

/// The files of one kind.
fn find_kind(env: &Env, facts: &Facts, ground: &Ground, file: &'static MemoryFile) -> Vec<FoundFile> {
    let folders = ground.folders(env, facts, file);
    let pattern = ground.pattern(facts, file);
    let mut found = Vec::new();
    for folder in &folders {
        let owner = match file.place {
            MemoryPlace::Project if *folder == ground.project => Owner::Project,
            MemoryPlace::Project if folder.starts_with(&ground.root) => Owner::Above,
            _ => Owner::User,
        };
        let alone = std::slice::from_ref(folder);
        let hidden_by = find_other(ground, file, if file.is_passed_over_everywhere { &folders } else { alone });
        for name in expand_pattern(folder, &pattern) {
            let path = folder.join(&name);
            let name = ground.name_of(&path);
            let when = file.when.or_else(|| file.front_matter?.when(&read_lossy(&path)));
            found.push(FoundFile { file, name, path, owner, hidden_by: hidden_by.clone(), when });
        }
    }
    found
}

/// The nearest file for which one of a kind is passed over.
fn find_other(ground: &Ground, file: &MemoryFile, folders: &[PathBuf]) -> Option<String> {
    let others = folders.iter().rev().flat_map(|folder| file.unless.iter().map(move |other| (folder, *other)));
    let (folder, other) = others.into_iter().find(|(folder, other)| folder.join(other).is_file())?;
    if file.place == MemoryPlace::Project { Some(ground.name_of(&folder.join(other))) } else { Some(other.to_owned()) }
}

/// What a rule says about itself; one that cannot be read says nothing.
fn read_lossy(path: &Path) -> String {
    let bytes = files::read_bounded(path, MAX_BYTES).ok().flatten().unwrap_or_default();
    String::from_utf8_lossy(&bytes).into_owned()
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
    use carryover_agents::{FrontMatter, Memory, Reach};

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

    fn env_at(home: &Path) -> Env {
        Env {
            home: home.to_owned(),
            now: carryover_core::time::Timestamp::from_millis(0),
            os: carryover_agents::Os::Linux,
            zone: jiff::tz::TimeZone::UTC,
            stores: std::collections::BTreeMap::default(),
            projects: Vec::new(),
            vars: std::collections::BTreeMap::default(),
        }
    }

    const RULES: MemoryFile = MemoryFile::in_project("rules/*.md").with_front_matter(FrontMatter::Paths);
    static FACTS: Facts = Facts {
        memory: Memory {
            files: &[
                MemoryFile::in_project("A.md").read_in(Reach::All),
                MemoryFile::in_project("B.md").read_in(Reach::Repository),
                MemoryFile::in_project("C.md").unless_anywhere(&["B.md"]).read_in(Reach::All),
                RULES.read_in(Reach::RootAndHere),
                MemoryFile::in_home("notes/{project}/M.md"),
                MemoryFile::in_home("w/A.md"),
            ],
            project_folder: Some(|root| root.file_name().unwrap_or_default().to_string_lossy().into_owned()),
            ..Memory::NONE
        },
        ..Facts::USUAL
    };

    #[test]
    fn files_above_count_as_far_as_the_agent_looks_and_are_private_above_the_repository() {
        let home = tempfile::tempdir().unwrap();
        for name in ["A.md", "w/A.md", "w/r/A.md", "w/r/s/A.md", "w/B.md", "w/r/B.md", "w/r/C.md", "w/r/.git/x"]
            .into_iter()
            .chain(["w/r/s/rules/a.md", "w/r/rules/a.md", "w/rules/a.md", "notes/r/M.md", "notes/s/M.md"])
        {
            let path = home.path().join(name);
            fs_err::create_dir_all(path.parent().unwrap()).unwrap();
            fs_err::write(path, "x").unwrap();
        }
        fs_err::write(home.path().join("w/r/s/rules/b.md"), "---\npaths: src\n---\nx").unwrap();
        let found = find_files(&env_at(home.path()), &FACTS, &home.path().join("w/r/s"));
        let told: Vec<_> = found.iter().map(|found| (found.name.as_str(), found.owner)).collect();
        assert_eq!(
            told,
            [
                ("~/A.md", Owner::User),
                ("../A.md", Owner::Above),
                ("A.md", Owner::Project),
                ("../B.md", Owner::Above),
                ("../C.md", Owner::Above),
                ("../rules/a.md", Owner::Above),
                ("rules/a.md", Owner::Project),
                ("rules/b.md", Owner::Project),
                ("~/notes/r/M.md", Owner::User),
                ("~/w/A.md", Owner::User),
            ]
        );
        assert_eq!(found[4].hidden_by.as_deref(), Some("../B.md"));
        assert!(found[6].when.is_none() && found[7].when.is_some());
    }
}
