//! The windows that the editor knows: a folder of storage for each, with a note of the folder that is worked in.

use std::path::{Path, PathBuf};

use serde::Deserialize;

use crate::cursor::places::{DATABASE_NAME, path_from_uri};
use crate::formats::file::{self, MAX_NOTE_BYTES};

/// The storage of a window.
#[derive(Debug)]
pub(super) struct Workspace {
    /// The name of its folder, by which conversations name it.
    pub id: String,
    pub project: Option<PathBuf>,
    pub database: PathBuf,
}

#[derive(Deserialize)]
struct WireWorkspace {
    folder: Option<String>,
    /// A file that names several folders.
    workspace: Option<String>,
}

/// All windows that have a database, in the order of their names.
pub(super) fn list_workspaces(editor: &Path) -> Vec<Workspace> {
    let Ok(entries) = fs_err::read_dir(editor.join("workspaceStorage")) else { return Vec::new() };
    let mut folders: Vec<PathBuf> = entries.filter_map(Result::ok).map(|entry| entry.path()).collect();
    folders.sort();
    folders.iter().filter_map(|folder| Workspace::from_folder(folder)).collect()
}

impl Workspace {
    fn from_folder(folder: &Path) -> Option<Self> {
        let database = folder.join(DATABASE_NAME);
        let id = folder.file_name()?.to_str()?.to_owned();
        fs_err::symlink_metadata(&database).ok()?;
        Some(Self { id, project: read_project(folder), database })
    }
}

/// The folder that is worked in by a window with this storage.
pub(super) fn read_project(folder: &Path) -> Option<PathBuf> {
    let text = file::read_text(&folder.join("workspace.json"), MAX_NOTE_BYTES).ok()?;
    let note: WireWorkspace = serde_json::from_str(&text).ok()?;
    let of_file = || path_from_uri(&note.workspace?)?.parent().map(Path::to_path_buf);
    note.folder.as_deref().and_then(path_from_uri).or_else(of_file)
}

/// The folders that were worked in.
pub(in crate::cursor) fn list_projects(editor: &Path) -> impl Iterator<Item = PathBuf> {
    list_workspaces(editor).into_iter().filter_map(|workspace| workspace.project)
}
