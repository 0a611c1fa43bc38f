//! Which folder of the store belongs to which project.
//!
//! A register maps projects to short names, and a marker in the named folder maps back. Clients from before the
//! register named the folder by a hash of the project's path.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};

use crate::formats::file::{self, MAX_NOTE_BYTES, MAX_SETTINGS_BYTES};

/// The file in a project's folder that names the project.
pub(super) const MARKER_FILE: &str = ".project_root";

/// The hash by which the client names a project, in hexadecimal.
pub(super) fn hash_name(name: &str) -> String {
    Sha256::digest(name)
        .iter()
        .flat_map(|byte| [byte >> 4, byte & 15])
        .filter_map(|digit| char::from_digit(digit.into(), 16))
        .collect()
}

#[derive(serde::Deserialize, Default)]
struct WireRegister {
    #[serde(default)]
    projects: BTreeMap<String, String>,
}

/// The projects of a store by the names of their folders.
#[derive(Debug, Default)]
pub(super) struct ProjectRegister {
    by_project: BTreeMap<String, String>,
}

impl ProjectRegister {
    pub(super) fn load(root: &Path) -> Self {
        let text = file::read_text(&root.join("projects.json"), MAX_SETTINGS_BYTES).unwrap_or_default();
        let wire: WireRegister = serde_json::from_str(&text).unwrap_or_default();
        // The client throws a register away in which a name is not of this form.
        let sound = wire.projects.values().all(|name| is_folder_name(name));
        Self { by_project: if sound { wire.projects } else { BTreeMap::new() } }
    }

    /// The project whose folder has this name: by its marker, by the register, or by its hash.
    fn find_project(&self, folder: &Path) -> Option<PathBuf> {
        if let Some(marked) = read_marker(folder) {
            return Some(marked);
        }
        let name = folder.file_name()?.to_str()?;
        let named = self.by_project.iter().find(|(_, known)| known.as_str() == name);
        let hashed = || self.by_project.iter().find(|(project, _)| hash_name(project) == name);
        named.or_else(hashed).map(|(project, _)| PathBuf::from(project))
    }

    /// The folder's name for a project: the register's, or the one that the client would give it.
    pub(super) fn name_for(&self, root: &Path, project: &str) -> String {
        if let Some(name) = self.by_project.get(project) {
            return name.clone();
        }
        let base = make_slug(project);
        let taken = |name: &str| {
            let other = self.by_project.values().any(|known| known == name);
            other || folder_owners(root, name).any(|owner| owner != Path::new(project))
        };
        let numbered = (1..).map(|count| format!("{base}-{count}"));
        std::iter::once(base.clone()).chain(numbered).find(|name| !taken(name)).unwrap_or(base)
    }
}

/// Who has marked the two folders of that name.
fn folder_owners(root: &Path, name: &str) -> impl Iterator<Item = PathBuf> {
    ["tmp", "history"].map(|part| root.join(part).join(name)).into_iter().filter_map(|folder| read_marker(&folder))
}

fn read_marker(folder: &Path) -> Option<PathBuf> {
    let text = file::read_text(&folder.join(MARKER_FILE), MAX_NOTE_BYTES).ok()?;
    let path = text.trim();
    (!path.is_empty()).then(|| PathBuf::from(path))
}

fn is_folder_name(name: &str) -> bool {
    !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-')
}

/// The name that the client makes of a project's last folder.
fn make_slug(project: &str) -> String {
    let last = Path::new(project).file_name().map(|name| name.to_string_lossy().to_lowercase()).unwrap_or_default();
    let letters = last.chars().map(|c| if c.is_ascii_lowercase() || c.is_ascii_digit() { c } else { ' ' });
    let words = letters.collect::<String>();
    let name = words.split_whitespace().collect::<Vec<_>>().join("-");
    if name.is_empty() { "project".to_owned() } else { name }
}

/// The project of a folder of the store.
pub(super) fn find_by_folder(register: &ProjectRegister, folder: &Path) -> Option<PathBuf> {
    register.find_project(folder)
}

/// The project of a session, by where its file stands: `<root>/tmp/<name>/chats/…`.
pub(super) fn find_by_session(path: &Path) -> Option<PathBuf> {
    let chats = path.ancestors().skip(1).find(|folder| folder.file_name().is_some_and(|name| name == "chats"))?;
    let folder = chats.parent()?;
    let root = folder.parent()?.parent()?;
    ProjectRegister::load(root).find_project(folder)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_made_as_the_client_makes_them() {
        assert_eq!(make_slug("/home/u/My_Repo.v2"), "my-repo-v2");
        assert_eq!(make_slug("/home/u/--日本--"), "project");
        assert_eq!(make_slug("/"), "project");
    }
}
