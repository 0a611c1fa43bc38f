//! Which sessions belong to a project.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// The project that is asked about, and what was already found out about others.
pub(crate) struct ProjectMatcher {
    asked: PathBuf,
    root: Option<PathBuf>,
    known: BTreeMap<PathBuf, bool>,
}

impl ProjectMatcher {
    pub(crate) fn new(project: &Path) -> Self {
        let asked = resolve_path(project);
        let root = repository_root(&asked);
        Self { asked, root, known: BTreeMap::new() }
    }

    /// Whether a session with that project belongs here: the same folder, or one above or below in the repository.
    pub(crate) fn matches(&mut self, project: &Path) -> bool {
        if let Some(known) = self.known.get(project) {
            return *known;
        }
        let holds = self.is_same_project(&resolve_path(project));
        self.known.insert(project.to_owned(), holds);
        holds
    }

    fn is_same_project(&self, project: &Path) -> bool {
        if project == self.asked {
            return true;
        }
        let Some(root) = &self.root else { return false };
        project.starts_with(root) && repository_root(project).is_none_or(|own| own == *root)
    }
}

/// The path as the file system knows it; a folder that is gone stays as it was written.
pub(crate) fn resolve_path(path: &Path) -> PathBuf {
    fs_err::canonicalize(path).unwrap_or_else(|_| path.to_owned())
}

/// A folder, and the root of the repository that it lies in.
pub(crate) fn with_repository_root(folder: &Path) -> Vec<PathBuf> {
    let root = repository_root(folder).filter(|root| root != folder);
    std::iter::once(folder.to_owned()).chain(root).collect()
}

/// The root of the repository or worktree that a folder lies in.
fn repository_root(folder: &Path) -> Option<PathBuf> {
    folder.ancestors().find(|above| above.join(".git").exists()).map(Path::to_owned)
}
