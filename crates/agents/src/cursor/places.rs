//! The two folders in which conversations are kept, found from each other: the editor's own, and `~/.cursor`.

use std::path::{Path, PathBuf};

use md5::{Digest as _, Md5};

/// The editor's folder below the home, by system.
const EDITOR_FOLDERS: [&[&str]; 3] = [
    &[".config", "Cursor", "User"],
    &["Library", "Application Support", "Cursor", "User"],
    &["AppData", "Roaming", "Cursor", "User"],
];

const CLIENT_FOLDER: &str = ".cursor";

/// The folders that belong together, as far as they are there.
#[derive(Debug, Default)]
pub(super) struct Places {
    /// The editor's `User`, with its databases.
    pub editor: Option<PathBuf>,
    /// `~/.cursor`, with what the command line client and the SDK keep, and the transcripts of all.
    pub client: Option<PathBuf>,
}

impl Places {
    /// The folders around a store, or around a file in one.
    pub(super) fn around(path: &Path) -> Self {
        let Some(home) = path.ancestors().find_map(find_home) else { return Self::default() };
        let editors = EDITOR_FOLDERS.iter().map(|folder| home.join(folder.iter().collect::<PathBuf>()));
        let client = home.join(CLIENT_FOLDER);
        Self {
            editor: editors.into_iter().find(|folder| folder.is_dir()),
            client: Some(client).filter(|it| it.is_dir()),
        }
    }

    /// The database that all windows of the editor share.
    pub(super) fn global_database(&self) -> Option<PathBuf> {
        self.editor.as_deref().map(global_database).filter(|path| path.is_file())
    }
}

fn find_home(folder: &Path) -> Option<&Path> {
    if folder.file_name()? == CLIENT_FOLDER {
        return folder.parent();
    }
    let editor = EDITOR_FOLDERS.iter().find(|names| folder.ends_with(names.iter().collect::<PathBuf>()))?;
    folder.ancestors().nth(editor.len())
}

/// The database that all windows share, in the editor's folder.
pub(super) fn global_database(editor: &Path) -> PathBuf {
    editor.join("globalStorage").join(DATABASE_NAME)
}

/// How each database of the editor is called.
pub(super) const DATABASE_NAME: &str = "state.vscdb";

/// The folder of the command line client for the sessions of a project.
pub(super) fn chats_folder(client: &Path, project: &str) -> PathBuf {
    let digest: [u8; 16] = Md5::digest(project.as_bytes()).into();
    client.join("chats").join(format!("{:032x}", u128::from_be_bytes(digest)))
}

/// The name of a project's folder below `~/.cursor/projects`: letters and digits stay, a dash stands for whatever is between.
pub(super) fn project_slug(project: &str) -> String {
    let words = project.split(|letter: char| !letter.is_ascii_alphanumeric()).filter(|word| !word.is_empty());
    words.collect::<Vec<_>>().join("-")
}

/// The path that an address names, where it is one of this machine.
pub(super) fn path_from_uri(uri: &str) -> Option<PathBuf> {
    let path = uri.strip_prefix("file://")?;
    let mut bytes = Vec::with_capacity(path.len());
    let mut rest = path.as_bytes();
    while let [first, after @ ..] = rest {
        let escaped = (*first == b'%').then(|| after.get(..2)).flatten();
        let code = escaped.and_then(|digits| u8::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok());
        bytes.push(code.unwrap_or(*first));
        rest = if code.is_some() { &after[2..] } else { after };
    }
    let path = String::from_utf8(bytes).ok()?;
    // `/c:/x` is a drive.
    let has_drive = path.starts_with('/') && path.get(2..3) == Some(":");
    Some(PathBuf::from(if has_drive { &path[1..] } else { &path }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_project_has_the_folders_that_the_client_would_make() {
        assert_eq!(project_slug("/home/dev/work/demo-app"), "home-dev-work-demo-app");
        assert_eq!(project_slug("/a//b_c.d/"), "a-b-c-d");
        let folder = chats_folder(Path::new("/h/.cursor"), "/home/dev/work/demo-app");
        assert_eq!(folder, Path::new("/h/.cursor/chats/d99f037927a1f89c0a3ef335b87589ff"));
    }

    #[test]
    fn addresses_name_paths() {
        let path = |uri| path_from_uri(uri).map(|path| path.display().to_string());
        assert_eq!(path("file:///home/a%20b/%C3%BC").as_deref(), Some("/home/a b/ü"));
        assert_eq!(path("file:///c%3A/x").as_deref(), Some("c:/x"));
        assert_eq!(path("file:///100%/%zz").as_deref(), Some("/100%/%zz"));
        assert_eq!(path("vscode-remote://ssh/home"), None);
    }
}
