//! Which sessions belong to a project.
//!
//! Worktrees of one repository are one project. Which repository a worktree is of is read from git's own files; git is not
//! asked. A folder that merely claims to be a worktree of another is none: the repository has to name it, too.

use std::collections::HashMap;
use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};

use carryover_agents::formats::file;

/// git's files that hold one path are no longer than that.
const MAX_LINK_BYTES: u64 = 8 << 10;

/// The project that is asked about, and what was already found out about others.
pub(crate) struct ProjectMatcher {
    asked: PathBuf,
    repository: Option<Repository>,
    /// By the letters of a path: listings ask for thousands, and to compare paths by their parts is slow.
    known: HashMap<OsString, bool>,
    repositories: HashMap<OsString, Option<Repository>>,
}

/// A repository by the folder that all its worktrees share; where none is known to be shared, by its root.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Repository(PathBuf);

impl ProjectMatcher {
    pub(crate) fn new(project: &Path) -> Self {
        let asked = resolve_path(project);
        let mut matcher = Self { asked, repository: None, known: HashMap::new(), repositories: HashMap::new() };
        matcher.repository = matcher.find_repository(&matcher.asked.clone());
        matcher
    }

    /// Whether a session with that project belongs here: the same folder, one above or below in the repository, or one
    /// in another worktree of it.
    pub(crate) fn matches(&mut self, project: &Path) -> bool {
        if let Some(known) = self.known.get(project.as_os_str()) {
            return *known;
        }
        let holds = self.is_same_project(&resolve_path(project));
        self.known.insert(project.into(), holds);
        holds
    }

    fn is_same_project(&mut self, project: &Path) -> bool {
        if project == self.asked {
            return true;
        }
        let other = self.find_repository(project);
        other.is_some() && other == self.repository
    }

    /// The repository that a folder lies in; each folder is looked at once.
    fn find_repository(&mut self, folder: &Path) -> Option<Repository> {
        let mut passed = Vec::new();
        let mut found = None;
        for above in folder.ancestors() {
            if let Some(known) = self.repositories.get(above.as_os_str()) {
                found.clone_from(known);
                break;
            }
            passed.push(above);
            if above.join(".git").exists() {
                found = Some(Repository(shared_folder(above)));
                break;
            }
        }
        for above in passed {
            self.repositories.insert(above.into(), found.clone());
        }
        found
    }
}

/// The path as the file system knows it; a folder that is gone stays as it was written.
pub(crate) fn resolve_path(path: &Path) -> PathBuf {
    fs_err::canonicalize(path).unwrap_or_else(|_| path.to_owned())
}

/// The real file behind a name in a project, which need not be there; none where that would lie outside.
pub(crate) fn resolve_inside(project: &Path, name: &str) -> io::Result<Option<PathBuf>> {
    let file = project.join(name);
    let existing = file.ancestors().find(|above| above.symlink_metadata().is_ok()).unwrap_or(project);
    let real = fs_err::canonicalize(existing)?;
    if !real.starts_with(resolve_path(project)) {
        return Ok(None);
    }
    let rest = file.strip_prefix(existing).unwrap_or_else(|_| Path::new(""));
    Ok(Some(if rest.as_os_str().is_empty() { real } else { real.join(rest) }))
}

/// The project in which the handoff of sessions in a folder is published: the root of its repository or worktree, else
/// the folder itself. A home that is a repository is no project, and neither is
/// anything above it, or a folder that is everybody's.
pub(crate) fn published_project(home: &Path, folder: &Path) -> Option<PathBuf> {
    let (home, folder) = (resolve_path(home), resolve_path(folder));
    let is_above_home = |place: &Path| home.starts_with(place);
    let root = repository_root(&folder).filter(|root| !is_above_home(root)).unwrap_or(folder);
    (root.is_dir() && !is_above_home(&root) && !is_open_to_all(&root)).then_some(root)
}

/// Whether anybody can put files into a folder, as into one for temporary files.
#[cfg(unix)]
fn is_open_to_all(folder: &Path) -> bool {
    use std::os::unix::fs::MetadataExt;
    fs_err::metadata(folder).is_ok_and(|metadata| metadata.mode() & 0o002 != 0)
}

#[cfg(not(unix))]
fn is_open_to_all(_: &Path) -> bool {
    false
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

/// What a checkout shares with the other worktrees of its repository.
fn shared_folder(root: &Path) -> PathBuf {
    let git = root.join(".git");
    if git.is_dir() {
        return resolve_path(&git);
    }
    linked_repository(root, &git).unwrap_or_else(|| root.to_owned())
}

/// The repository that a worktree is linked to: `.git` names `<repository>/worktrees/<name>`, where a file names that
/// `.git`. A submodule's lies in `modules`, and is a repository of its own.
fn linked_repository(root: &Path, git: &Path) -> Option<PathBuf> {
    let text = file::read_text(git, MAX_LINK_BYTES).ok()?;
    let own_folder = fs_err::canonicalize(root.join(text.strip_prefix("gitdir:")?.trim())).ok()?;
    let worktrees = own_folder.parent().filter(|parent| parent.ends_with("worktrees"))?;
    let back = file::read_text(&own_folder.join("gitdir"), MAX_LINK_BYTES).ok()?;
    let back = fs_err::canonicalize(own_folder.join(back.trim())).ok()?;
    (back == resolve_path(git)).then(|| worktrees.parent().map(Path::to_owned))?
}
