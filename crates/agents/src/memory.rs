//! Files that tell an agent's model something before anybody has said a word: instructions, rules, notes. Plain data, as
//! far as it is known.

use std::path::{Path, PathBuf};

use crate::{Env, Facts};

/// Everything that an agent is told by files.
#[derive(Debug, Clone, Copy)]
pub struct Memory {
    /// Of those in a project, the one that it reads before all others comes first.
    pub files: &'static [MemoryFile],
    /// How one of them takes in another: what stands before that one's path, on a line of its own.
    pub import: Option<&'static str>,
}

impl Memory {
    /// Nothing is known.
    pub const NONE: Self = Self { files: &[], import: None };
}

/// Where a path begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MemoryPlace {
    Project,
    /// The agent's own store.
    Store,
    Home,
}

/// One file, or several of a kind.
#[derive(Debug, Clone, Copy)]
pub struct MemoryFile {
    pub place: MemoryPlace,
    /// With slashes. A `*` stands for any letters of a name, `**` for any folders.
    pub path: &'static str,
    /// When it is read, where that is not always so.
    pub when: Option<&'static str>,
    /// It is passed over where one of these is there, in the same place.
    pub unless: &'static [&'static str],
    /// Those in the folders above count, too.
    pub is_read_above: bool,
    /// Those in the folders below count, too, once the agent gets there.
    pub is_read_below: bool,
    /// A person's own: nothing of it is to be committed.
    pub is_private: bool,
}

impl MemoryFile {
    /// A file of a project, read at every start.
    pub const fn in_project(path: &'static str) -> Self {
        Self {
            place: MemoryPlace::Project,
            path,
            when: None,
            unless: &[],
            is_read_above: false,
            is_read_below: false,
            is_private: false,
        }
    }

    /// A user's file, in the agent's own store.
    pub const fn in_store(path: &'static str) -> Self {
        Self { place: MemoryPlace::Store, is_private: true, ..Self::in_project(path) }
    }

    /// A user's file elsewhere in the home.
    pub const fn in_home(path: &'static str) -> Self {
        Self { place: MemoryPlace::Home, is_private: true, ..Self::in_project(path) }
    }

    #[must_use]
    pub const fn when(self, when: &'static str) -> Self {
        Self { when: Some(when), ..self }
    }

    #[must_use]
    pub const fn unless(self, unless: &'static [&'static str]) -> Self {
        Self { unless, ..self }
    }

    #[must_use]
    pub const fn read_above(self) -> Self {
        Self { is_read_above: true, ..self }
    }

    #[must_use]
    pub const fn read_below(self) -> Self {
        Self { is_read_below: true, ..self }
    }

    #[must_use]
    pub const fn private(self) -> Self {
        Self { is_private: true, ..self }
    }

    /// Whether it is one file, with a name of its own.
    pub fn is_single(&self) -> bool {
        !self.path.contains('*')
    }

    /// What is to be known of it besides its path, in words.
    pub fn notes(&self) -> Vec<String> {
        let is_own = self.is_private && self.place == MemoryPlace::Project;
        let mut notes: Vec<String> = is_own.then(|| "private".to_owned()).into_iter().collect();
        notes.extend(self.when.map(str::to_owned));
        notes.extend((!self.unless.is_empty()).then(|| format!("not beside {}", self.unless.join(", "))));
        let folders = match (self.is_read_above, self.is_read_below) {
            (true, true) => Some("above and below"),
            (true, false) => Some("above"),
            (false, true) => Some("below"),
            (false, false) => None,
        };
        notes.extend(folders.map(|folders| format!("also in folders {folders}")));
        notes
    }

    /// The folder that its path begins in; none where the agent has no store.
    pub fn root(&self, facts: &Facts, env: &Env, project: &Path) -> Option<PathBuf> {
        match self.place {
            MemoryPlace::Project => Some(project.to_owned()),
            MemoryPlace::Home => Some(env.home.clone()),
            MemoryPlace::Store => facts.store_candidates(env).into_iter().next(),
        }
    }
}

impl Facts {
    /// The files of a project from which it takes instructions at every start.
    pub fn instruction_files(&self) -> impl Iterator<Item = &'static str> + use<> {
        let is_plain = |file: &&MemoryFile| {
            file.place == MemoryPlace::Project && file.when.is_none() && !file.is_private && file.is_single()
        };
        self.memory.files.iter().filter(is_plain).map(|file| file.path)
    }
}

#[cfg(test)]
mod tests {
    use crate::all_facts;

    use super::*;

    #[test]
    fn paths_are_plain_and_a_file_is_passed_over_only_for_one_that_is_known() {
        for facts in all_facts() {
            for file in facts.memory.files {
                let is_plain = |part: &str| !part.is_empty() && part != "." && part != "..";
                assert!(file.path.split('/').all(is_plain), "{} {}", facts.id, file.path);
                let knows = |path: &&str| {
                    facts.memory.files.iter().any(|other| other.path == *path && other.place == file.place)
                };
                assert!(file.unless.iter().all(knows), "{} {}", facts.id, file.path);
                assert!(file.place == MemoryPlace::Project || file.is_private, "{} {}", facts.id, file.path);
            }
        }
    }

    #[test]
    fn something_is_known_of_everybody() {
        for facts in all_facts() {
            assert!(!facts.memory.files.is_empty(), "{}", facts.id);
        }
    }
}
