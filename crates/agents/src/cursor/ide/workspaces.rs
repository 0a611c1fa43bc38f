//! The windows that the editor knows: a folder of storage for each, with a note of the folder that is worked in.

use std::path::{Path, PathBuf};

use serde::Deserialize;

use crate::cursor::places::{DATABASE_NAME, path_from_uri};
use crate::formats::file::{self, MAX_NOTE_BYTES};

/// The storage of a window.
#[derive(Debug)]
pub(in crate::cursor) struct Workspace {
    /// The name of its folder, by which conversations name it.
    pub id: String,
    pub project: Option<PathBuf>,
    /// The address of the one folder that is open in it.
    pub folder: Option<String>,
    pub database: PathBuf,
}

#[derive(Deserialize)]
struct WireWorkspace {
    folder: Option<String>,
    /// A file that names several folders.
    workspace: Option<String>,
}

/// All windows that have a database, in the order of their names.
pub(in crate::cursor) fn list_workspaces(editor: &Path) -> Vec<Workspace> {
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
        let note = WireWorkspace::read(folder);
        let project = note.as_ref().and_then(WireWorkspace::project);
        Some(Self { id, project, folder: note.and_then(|note| note.folder), database })
    }
}

impl WireWorkspace {
    fn read(folder: &Path) -> Option<Self> {
        let text = file::read_text(&folder.join("workspace.json"), MAX_NOTE_BYTES).ok()?;
        serde_json::from_str(&text).ok()
    }

    /// The folder that is worked in.
    fn project(&self) -> Option<PathBuf> {
        let of_file = || path_from_uri(self.workspace.as_deref()?)?.parent().map(Path::to_path_buf);
        self.folder.as_deref().and_then(path_from_uri).or_else(of_file)
    }
}

/// The folder that is worked in by a window with this storage.
pub(super) fn read_project(folder: &Path) -> Option<PathBuf> {
    WireWorkspace::read(folder)?.project()
}

/// The folders that were worked in.
pub(in crate::cursor) fn list_projects(editor: &Path) -> impl Iterator<Item = PathBuf> {
    list_workspaces(editor).into_iter().filter_map(|workspace| workspace.project)
}
