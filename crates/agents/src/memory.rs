//! Files that tell an agent's model something before anybody has said a word: instructions, rules, notes. Plain data, as
//! far as it is known.

mod front_matter;
mod reach;

use std::path::{Path, PathBuf};

use crate::{Env, Facts};

pub use front_matter::{FrontMatter, split as split_front_matter};
pub use reach::Reach;

/// Everything that an agent is told by files.
#[derive(Debug, Clone, Copy)]
pub struct Memory {
    /// Of those in a project, the one that it reads before all others comes first.
    pub files: &'static [MemoryFile],
    /// How one of them takes in another: what stands before that one's path, on a line of its own.
    pub import: Option<&'static str>,
    /// From where they may take in others.
    pub imports_from: ImportPlaces,
    /// The name of the folder that the agent's store has for a project: `{project}` in a path is that.
    pub project_folder: Option<fn(&Path) -> String>,
}

impl Memory {
    /// Nothing is known.
    pub const NONE: Self = Self { files: &[], import: None, imports_from: ImportPlaces::Work, project_folder: None };
}

/// From where files may take in others.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ImportPlaces {
    /// The project's, from the folder in which the agent works; a user's own, from anywhere, a home that is `~` included.
    Work,
    /// The project's, from its repository; a user's own, from the agent's store.
    Repository,
}

/// Stands in a path for the name that the agent's store has for a project.
const PROJECT_FOLDER: &str = "{project}";

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
#[expect(clippy::struct_excessive_bools, reason = "each is a fact of its own, and most are as usual")]
pub struct MemoryFile {
    pub place: MemoryPlace,
    /// With slashes. A `*` stands for any letters of a name, `**` for any folders.
    pub path: &'static str,
    /// When it is read, where that is not always so.
    pub when: Option<&'static str>,
    /// What the file itself says about that.
    pub front_matter: Option<FrontMatter>,
    /// It is passed over where one of these is there, in the same place.
    pub unless: &'static [&'static str],
    /// One of these in any folder that counts is enough for that.
    pub is_passed_over_everywhere: bool,
    /// In which folders besides the one where the agent works it counts.
    pub reach: Reach,
    /// Those in the folders below count, too, once the agent gets there.
    pub is_read_below: bool,
    /// A person's own: nothing of it is to be committed.
    pub is_private: bool,
    /// It takes no others in, though other files do.
    pub is_alone: bool,
}

impl MemoryFile {
    /// A file of a project, read at every start.
    pub const fn in_project(path: &'static str) -> Self {
        Self {
            place: MemoryPlace::Project,
            path,
            when: None,
            front_matter: None,
            unless: &[],
            is_passed_over_everywhere: false,
            reach: Reach::Here,
            is_read_below: false,
            is_private: false,
            is_alone: false,
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
    pub const fn unless_anywhere(self, unless: &'static [&'static str]) -> Self {
        Self { unless, is_passed_over_everywhere: true, ..self }
    }

    /// It says itself when it is read.
    #[must_use]
    pub const fn with_front_matter(self, front_matter: FrontMatter) -> Self {
        Self { front_matter: Some(front_matter), ..self }
    }

    #[must_use]
    pub const fn read_in(self, reach: Reach) -> Self {
        Self { reach, ..self }
    }

    #[must_use]
    pub const fn read_below(self) -> Self {
        Self { is_read_below: true, ..self }
    }

    #[must_use]
    pub const fn private(self) -> Self {
        Self { is_private: true, ..self }
    }

    #[must_use]
    pub const fn alone(self) -> Self {
        Self { is_alone: true, ..self }
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
        notes.extend(self.front_matter.map(|front_matter| front_matter.describe().to_owned()));
        let beside = if self.is_passed_over_everywhere { "not where there is" } else { "not beside" };
        notes.extend((!self.unless.is_empty()).then(|| format!("{beside} {}", self.unless.join(", "))));
        notes.extend(self.reach.describe().map(str::to_owned));
        notes.extend(self.is_read_below.then(|| "in folders below once it gets there".to_owned()));
        notes
    }

    /// The path, with the name that the agent's store has for a project.
    pub fn path_for(&self, facts: &Facts, project: &Path) -> String {
        match facts.memory.project_folder {
            Some(name) if self.path.contains(PROJECT_FOLDER) => self.path.replace(PROJECT_FOLDER, &name(project)),
            _ => self.path.to_owned(),
        }
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
                let is_users = file.place != MemoryPlace::Project;
                assert!(!is_users || (file.is_private && file.reach == Reach::Here), "{} {}", facts.id, file.path);
                let is_named = facts.memory.project_folder.is_some();
                assert!(is_named || !file.path.contains(PROJECT_FOLDER), "{} {}", facts.id, file.path);
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
