//! Looking around in a project: what the distiller wants to know of it.

mod git;
mod name;
mod tree;

use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

use carryover_agents::AGENTS;
use carryover_core::distill::{FileNow, History, Roots, Workspace};
use carryover_core::time::Timestamp;

use crate::context::Context;
use crate::file;
use crate::project::resolve;

pub(crate) use git::ignores;
pub use git::is_tracked;

/// Files that are read for their functions; the newest are enough.
const MAX_FILES: usize = 200;
const MAX_TEXT: u64 = 512 << 10;
const MAX_MEMORY: u64 = 64 << 10;

/// The facts of a project that a session's brief needs; what cannot be seen is left out.
pub fn look(context: &Context, project: &Path, history: &History) -> Workspace {
    Workspace {
        root: project.display().to_string(),
        name: name::of(project),
        git: git::look(context, project, history.header.started_at),
        tree: tree::of(project),
        memory: memory(project),
        files: files(project, history),
    }
}

/// The instruction files of all agents, each once.
fn memory(project: &Path) -> Vec<(String, String)> {
    let mut names: Vec<&str> = AGENTS.iter().flat_map(|agent| agent.facts().instruction_files).copied().collect();
    let mut seen = std::collections::BTreeSet::new();
    names.retain(|name| seen.insert(*name));
    names
        .into_iter()
        .filter_map(|name| Some((name.to_owned(), text(project, &project.join(name), MAX_MEMORY)?)))
        .collect()
}

fn files(project: &Path, history: &History) -> Vec<FileNow> {
    let touched = history.touched_files();
    let newest = touched.len().saturating_sub(MAX_FILES);
    let roots = Roots::of(history, &project.display().to_string());
    touched[newest..].iter().map(|path| file_now(project, &roots, path)).collect()
}

fn file_now(project: &Path, roots: &Roots, path: &str) -> FileNow {
    let place = place(project, roots, path);
    let metadata = fs_err::metadata(&place).ok();
    let exists = metadata.is_some();
    let metadata = metadata.filter(std::fs::Metadata::is_file);
    let modified = metadata.as_ref().and_then(|metadata| metadata.modified().ok());
    let since = modified.and_then(|at| at.duration_since(UNIX_EPOCH).ok());
    FileNow {
        path: path.to_owned(),
        exists,
        modified_at: since.and_then(|since| i64::try_from(since.as_millis()).ok()).map(Timestamp::from_millis),
        text: metadata.and_then(|_| text(project, &place, MAX_TEXT)),
    }
}

/// Where a file of the session is now: a session that goes on elsewhere takes its files along.
fn place(project: &Path, roots: &Roots, path: &str) -> PathBuf {
    project.join(roots.relative(path))
}

/// The text of a file; none where it is too long or no text. A link of the project's that leads out of it is not
/// followed: whoever made the project may not have the file that it names read.
fn text(project: &Path, path: &Path, limit: u64) -> Option<String> {
    if path.starts_with(project) && !resolve(path).starts_with(resolve(project)) {
        return None;
    }
    let bytes = file::read_bounded(path, limit).ok()??;
    String::from_utf8(bytes).ok()
}
