//! Where an agent works, and which folders around it belong to the same repository: what is farther up is the user's own.

use std::path::{Path, PathBuf};

use carryover_agents::{Env, Facts, MemoryFile, MemoryPlace};

use crate::handoff::workspace::find_repository;
use crate::sessions::project::{published_project, resolve_path};

/// A folder and what is around it, as the file system knows them.
pub(crate) struct Ground {
    pub(super) project: PathBuf,
    /// The root of the repository; the folder itself where there is none, or where it is a home that the repository is in.
    pub(super) root: PathBuf,
    /// The root of the repository, whatever else is in it.
    repository: Option<PathBuf>,
    pub(super) home: PathBuf,
}

impl Ground {
    pub(crate) fn new(env: &Env, project: &Path) -> Self {
        let (project, home) = (resolve_path(project), resolve_path(&env.home));
        let repository = find_repository(&project).map(Path::to_owned);
        let root = repository.clone().filter(|root| published_project(&home, &project).as_ref() == Some(root));
        Self { root: root.unwrap_or_else(|| project.clone()), repository, project, home }
    }

    /// The folders in which an agent looks for a file, the outermost first.
    pub(super) fn folders(&self, env: &Env, facts: &Facts, file: &MemoryFile) -> Vec<PathBuf> {
        if file.place == MemoryPlace::Project {
            return file.reach.folders(&self.project, self.repository.as_deref(), &self.home);
        }
        file.root(facts, env, &self.project).into_iter().collect()
    }

    /// A file's path as that agent's store knows it, with stars.
    pub(super) fn pattern(&self, facts: &Facts, file: &MemoryFile) -> String {
        file.path_for(facts, self.repository.as_deref().unwrap_or(&self.project))
    }

    /// A path from the repository's root on; none where it is not in that.
    pub(super) fn inside(&self, path: &Path) -> Option<String> {
        Some(path.strip_prefix(&self.root).ok()?.to_str()?.replace('\\', "/"))
    }

    /// How a path is told: from the project on, in the repository; else from the home on.
    pub(super) fn name_of(&self, path: &Path) -> String {
        let up = self.project.ancestors().position(|above| path.starts_with(above));
        let above = up.and_then(|up| self.project.ancestors().nth(up));
        match (up, above) {
            (Some(up), Some(above)) if path.starts_with(&self.root) => {
                let rest = path.strip_prefix(above).unwrap_or(path).display().to_string().replace('\\', "/");
                "../".repeat(up) + &rest
            }
            _ => match path.strip_prefix(&self.home) {
                Ok(rest) => format!("~/{}", rest.display()),
                Err(_) => path.display().to_string(),
            },
        }
    }
}
