//! Looking around in a project: what the distiller wants to know of it.

mod git;
mod name;
mod tree;

use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

use carryover_agents::Facts;
use carryover_core::distill::{CurrentFile, History, Roots, Workspace};
use carryover_core::time::Timestamp;

use crate::context::Context;
use crate::memory::captured::read_texts;
use crate::own::files;
use crate::sessions::project::resolve_path;

pub use git::is_tracked;
pub(crate) use git::{FilterOverrides, GitQuery, find_repository, ignores_file, ignores_folder, list_kept_from_git};

/// Files that are read for their functions; the newest are enough.
const MAX_FILES: usize = 200;
const MAX_TEXT_BYTES: u64 = 512 << 10;

/// The facts of a project that the brief of an agent's session needs; what cannot be seen is left out. Instructions that
/// are there and are not read are told.
pub fn inspect_project(
    context: &Context,
    facts: &Facts,
    project: &Path,
    history: &History,
    warnings: &mut Vec<String>,
) -> Workspace {
    Workspace {
        root: project.display().to_string(),
        name: name::for_project(project),
        git: git::inspect_repository(context, project, history.header.started_at),
        tree: tree::list_lines(project),
        memory: read_texts(context, facts, project, warnings),
        files: touched_files(project, history),
    }
}

fn touched_files(project: &Path, history: &History) -> Vec<CurrentFile> {
    let touched = history.touched_files();
    let newest = touched.len().saturating_sub(MAX_FILES);
    let roots = Roots::from_history(history, &project.display().to_string());
    touched[newest..].iter().map(|path| file_now(project, &roots, path)).collect()
}

fn file_now(project: &Path, roots: &Roots, path: &str) -> CurrentFile {
    let place = current_path(project, roots, path);
    let metadata = fs_err::metadata(&place).ok();
    let exists = metadata.is_some();
    let metadata = metadata.filter(std::fs::Metadata::is_file);
    let modified = metadata.as_ref().and_then(|metadata| metadata.modified().ok());
    let since = modified.and_then(|at| at.duration_since(UNIX_EPOCH).ok());
    CurrentFile {
        path: path.to_owned(),
        exists,
        modified_at: since.and_then(|since| i64::try_from(since.as_millis()).ok()).map(Timestamp::from_millis),
        text: metadata.and_then(|_| read_inside(project, &place, MAX_TEXT_BYTES)),
    }
}

/// Where a file of the session is now: a session that goes on elsewhere takes its files along.
fn current_path(project: &Path, roots: &Roots, path: &str) -> PathBuf {
    project.join(roots.relative_path(path))
}

/// The text of a file; none where it is too long or no text. A link of the project's that leads out of it is not
/// followed: whoever made the project may not have the file that it names read.
fn read_inside(project: &Path, path: &Path, limit: u64) -> Option<String> {
    if leads_out(project, path) {
        return None;
    }
    let bytes = files::read_bounded(path, limit).ok()??;
    String::from_utf8(bytes).ok()
}

fn leads_out(project: &Path, path: &Path) -> bool {
    path.starts_with(project) && !resolve_path(path).starts_with(resolve_path(project))
}
