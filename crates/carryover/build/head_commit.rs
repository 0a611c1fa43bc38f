//! The commit that a source tree is at, where it is a git repository.
//!
//! Nothing here fails: a source archive has no repository, and a machine may have no git.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// How much of a commit's id is told.
const ID_DIGITS: usize = 7;

/// The commit and its day, such as `8e7734c 2026-11-18`. A repository further up is not ours and is not asked.
pub(crate) fn describe_head(root: &Path) -> Option<String> {
    let folder = git_folder(root)?;
    let output = Command::new("git")
        .arg("--git-dir")
        .arg(folder)
        // Plumbing: no settings of the user's change what it prints.
        .args(["rev-list", "--max-count=1", "--format=%H %cs", "HEAD"])
        .output()
        .ok()
        .filter(|output| output.status.success())?;
    let text = String::from_utf8(output.stdout).ok()?;
    let (id, day) = text.lines().nth(1)?.split_once(' ')?;
    Some(format!("{} {day}", id.get(..ID_DIGITS)?))
}

/// The files of which one changes when another commit is checked out or made. Cargo would run a build script again and
/// again for a file that is not there, so only those that are.
pub(crate) fn files_that_tell_head(root: &Path) -> Vec<PathBuf> {
    let Some(folder) = git_folder(root) else { return Vec::new() };
    let head = folder.join("HEAD");
    let branch = fs::read_to_string(&head).unwrap_or_default();
    // A worktree keeps its own HEAD and shares its branches.
    let shared = fs::read_to_string(folder.join("commondir")).map_or(folder.clone(), |path| folder.join(path.trim()));
    // The log of HEAD tells also of the first commit on a branch that was packed away.
    let mut files = vec![head, folder.join("logs/HEAD")];
    if let Some(branch) = branch.trim().strip_prefix("ref: ") {
        let loose = shared.join(branch);
        files.push(if loose.is_file() { loose } else { shared.join("packed-refs") });
    }
    files.retain(|path| path.is_file());
    files
}

/// The repository's own folder; in a worktree or a submodule, `.git` is a file that names it.
fn git_folder(root: &Path) -> Option<PathBuf> {
    let path = root.join(".git");
    if path.is_dir() {
        return Some(path);
    }
    let text = fs::read_to_string(path).ok()?;
    Some(root.join(text.trim().strip_prefix("gitdir: ")?))
}
