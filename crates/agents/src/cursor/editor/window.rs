//! The window in which the editor has a project open: a folder of storage, by whose name conversations are known to be of the
//! project.

use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::cursor::ide::{Workspace, list_workspaces};
use crate::cursor::places::path_from_uri;

/// A window that has one folder of this machine open.
pub(super) struct Window {
    /// The name of its storage.
    pub(super) id: String,
    /// The folder, as the editor writes its address.
    address: String,
}

impl Window {
    /// The window of a project. Of several, as after the folder was made anew, the one that was used last counts.
    pub(super) fn find(editor: &Path, project: &Path) -> Option<Self> {
        let used = |window: &Workspace| {
            let data = fs_err::metadata(&window.database).ok();
            (data.and_then(|data| data.modified().ok()), window.id.clone())
        };
        let meant = |window: &Workspace| {
            let folder = window.folder.as_deref().and_then(path_from_uri);
            folder.is_some_and(|folder| is_same_place(&folder, project))
        };
        let found = list_workspaces(editor).into_iter().filter(meant).max_by_key(used)?;
        Some(Self { id: found.id, address: found.folder? })
    }

    /// How conversations and projects name the window.
    pub(super) fn identifier(&self) -> Value {
        json!({ "id": self.id, "uri": address_json(&self.address) })
    }

    /// The folder, without those that it is in.
    pub(super) fn folder_name(&self) -> String {
        let name = self.folder().and_then(|folder| Some(folder.file_name()?.to_string_lossy().into_owned()));
        name.unwrap_or_else(|| "/".to_owned())
    }

    /// Whether a path is the folder of this window.
    pub(super) fn is_folder(&self, path: &str) -> bool {
        self.folder().is_some_and(|folder| is_same_place(Path::new(path), &folder))
    }

    fn folder(&self) -> Option<PathBuf> {
        path_from_uri(&self.address)
    }
}

/// A window may name its folder by a link, or in other letters where that makes no difference.
fn is_same_place(known: &Path, project: &Path) -> bool {
    known == project || fs_err::canonicalize(known).is_ok_and(|known| known == project)
}

/// An address in its parts, as the editor keeps it.
fn address_json(address: &str) -> Value {
    let path = path_from_uri(address).unwrap_or_default().to_string_lossy().into_owned();
    let has_drive = path.get(1..2) == Some(":");
    let (shown, slashed) = if has_drive { (path.replace('/', "\\"), format!("/{path}")) } else { (path.clone(), path) };
    json!({ "$mid": 1, "fsPath": shown, "external": address, "path": slashed, "scheme": "file" })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_told_in_the_parts_that_the_editor_keeps() {
        let parts = |address| address_json(address).to_string();
        insta::assert_snapshot!(parts("file:///home/a%20b"), @r#"{"$mid":1,"fsPath":"/home/a b","external":"file:///home/a%20b","path":"/home/a b","scheme":"file"}"#);
        insta::assert_snapshot!(parts("file:///c%3A/x/y"), @r#"{"$mid":1,"fsPath":"c:\\x\\y","external":"file:///c%3A/x/y","path":"/c:/x/y","scheme":"file"}"#);
    }
}
