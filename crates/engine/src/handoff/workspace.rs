//! Looking around in a project: what the distiller wants to know of it.

mod git;
mod name;
mod tree;

use std::io;
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

use carryover_agents::AGENTS;
use carryover_agents::formats::file::read_text;
use carryover_core::distill::{CurrentFile, History, Roots, Workspace};
use carryover_core::time::Timestamp;

use crate::context::Context;
use crate::own::files;
use crate::sessions::project::resolve_path;

pub use git::is_tracked;
pub(crate) use git::{FilterOverrides, GitQuery, ignores_file, ignores_folder};

/// Files that are read for their functions; the newest are enough.
const MAX_FILES: usize = 200;
const MAX_TEXT_BYTES: u64 = 512 << 10;
const MAX_MEMORY_BYTES: u64 = 256 << 10;

/// The facts of a project that a session's brief needs; what cannot be seen is left out. Instructions that are there and
/// are not read are told.
pub fn inspect_project(context: &Context, project: &Path, history: &History, warnings: &mut Vec<String>) -> Workspace {
    Workspace {
        root: project.display().to_string(),
        name: name::for_project(project),
        git: git::inspect_repository(context, project, history.header.started_at),
        tree: tree::list_lines(project),
        memory: read_memory(project, warnings),
        files: touched_files(project, history),
    }
}

/// The instruction files of all agents, each once.
fn read_memory(project: &Path, warnings: &mut Vec<String>) -> Vec<(String, String)> {
    let mut names: Vec<&str> = AGENTS.iter().flat_map(|agent| agent.facts().instruction_files).copied().collect();
    let mut seen = std::collections::BTreeSet::new();
    names.retain(|name| seen.insert(*name));
    let mut memory = Vec::new();
    for name in names {
        match read_instructions(project, name) {
            Ok(text) => memory.extend(text.map(|text| (name.to_owned(), text))),
            Err(reason) => warnings.push(reason),
        }
    }
    memory
}

/// The text of an instruction file, where there is one; the error says why it is not read.
fn read_instructions(project: &Path, name: &str) -> Result<Option<String>, String> {
    let path = project.join(name);
    if leads_out(project, &path) {
        return Err(format!("{name} leads out of the project and is not read"));
    }
    match read_text(&path, MAX_MEMORY_BYTES) {
        Ok(text) => Ok(Some(text)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error.to_string()),
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
