//! The folder that is worked in, which the editor names beside the sessions.

use std::path::{Path, PathBuf};

use serde::Deserialize;

use super::uri::local_path_buf;
use crate::formats::file;

/// Where a session's work is.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub(super) struct Workspace {
    /// On this machine.
    pub project: Option<PathBuf>,
    /// On another one, by its address.
    pub remote: Option<String>,
}

#[derive(Deserialize)]
struct WireWorkspace {
    folder: Option<String>,
    /// A file that names several folders.
    #[serde(alias = "configuration")]
    workspace: Option<String>,
}

impl WireWorkspace {
    fn read(folder: &Path) -> Option<Self> {
        let text = file::read_text(&folder.join("workspace.json"), file::MAX_NOTE_BYTES).ok()?;
        serde_json::from_str(&text).ok()
    }
}

#[derive(Deserialize)]
struct WireFolders {
    folders: Vec<WireFolder>,
}

#[derive(Deserialize)]
struct WireFolder {
    path: String,
}

impl Workspace {
    /// The workspace of a session's file; `own_folder` is one that the session itself names.
    pub(super) fn of_session(path: &Path, own_folder: Option<&str>) -> Self {
        let own = own_folder.map(Self::from_folder).unwrap_or_default();
        if own != Self::default() {
            return own;
        }
        // The files are in a folder of the workspace's own, or in one of the extension's there.
        let above = path.ancestors().skip(2).take(2);
        above.into_iter().find_map(Self::in_folder).unwrap_or_default()
    }

    /// The workspace whose sessions a folder holds.
    pub(super) fn in_folder(folder: &Path) -> Option<Self> {
        let told = WireWorkspace::read(folder)?;
        match (told.folder, told.workspace) {
            (Some(folder), _) => Some(Self::from_folder(&folder)),
            (None, Some(file)) => Some(Self::from_file(&file)),
            (None, None) => None,
        }
    }

    /// The folder on this machine that a workspace is, where it is one.
    pub(super) fn single_folder(folder: &Path) -> Option<PathBuf> {
        local_path_buf(&WireWorkspace::read(folder)?.folder?)
    }

    fn from_folder(address: &str) -> Self {
        match local_path_buf(address) {
            Some(project) => Self { project: Some(project), remote: None },
            None => Self { project: None, remote: Some(address.to_owned()).filter(|address| !address.is_empty()) },
        }
    }

    /// The first folder of a workspace of several; its own where it cannot be read.
    fn from_file(address: &str) -> Self {
        let Some(path) = local_path_buf(address) else { return Self::from_folder(address) };
        let folder = path.parent().unwrap_or(&path).to_path_buf();
        let text = file::read_text(&path, file::MAX_SETTINGS_BYTES).unwrap_or_default();
        let named = serde_json::from_str::<WireFolders>(&text).ok();
        let first = named.and_then(|named| named.folders.into_iter().next());
        let project = first.map_or_else(|| folder.clone(), |first| folder.join(first.path));
        Self { project: Some(project), remote: None }
    }
}
