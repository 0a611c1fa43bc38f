//! Folders that git would take for repositories, though they are files of a project: it reads the settings in them, which name
//! programs.

use std::collections::{BTreeSet, HashMap};
use std::path::Path;

use super::path_or_odd;

pub(super) const REASON: &str = "has the layout of a repository, and git would take it for one";

const HEAD: u8 = 1;
const OBJECTS: u8 = 2;
const REFS: u8 = 4;
/// Names the folder in which the other two are.
const ELSEWHERE: u8 = 8;

/// What was met of such folders.
#[derive(Default)]
pub(super) struct BareLayouts {
    /// By the folder, without regard to case.
    parts: HashMap<Vec<u8>, u8>,
}

impl BareLayouts {
    /// Notes a file or a folder; whether the folder that it is in has become a repository by it.
    pub(super) fn note(&mut self, path: &[u8], is_folder: bool) -> bool {
        let (above, name) = split_path(path);
        let Some(part) = find_part(name, is_folder) else { return false };
        let parts = self.parts.entry(above.to_ascii_lowercase()).or_default();
        *parts |= part;
        is_repository(*parts)
    }

    /// Notes what comes into a folder, with what stands there already: together they may be a repository. The answer is its
    /// path.
    pub(super) fn note_arrival<'p>(&mut self, root: &Path, path: &'p [u8], is_folder: bool) -> Option<&'p [u8]> {
        let slashes = path.iter().enumerate().filter(|(_, byte)| **byte == b'/').map(|(at, _)| (&path[..at], true));
        slashes.chain([(path, is_folder)]).find_map(|(path, is_folder)| {
            let (above, name) = split_path(path);
            find_part(name, is_folder)?;
            let is_whole = self.note(path, is_folder) || self.note_standing(root, above);
            is_whole.then_some(above)
        })
    }

    /// Notes what a folder holds.
    fn note_standing(&mut self, root: &Path, folder: &[u8]) -> bool {
        let Ok(there) = fs_err::read_dir(root.join(path_or_odd(folder))) else { return false };
        let mut is_whole = false;
        for entry in there.flatten() {
            let (name, is_folder) = (entry.file_name(), entry.file_type().is_ok_and(|kind| kind.is_dir()));
            is_whole |= self.note(&[folder, b"/", name.as_encoded_bytes()].concat(), is_folder);
        }
        is_whole
    }

    /// Notes a path and the folders that it is in.
    pub(super) fn note_all(&mut self, path: &[u8]) {
        self.note(path, false);
        let slashes = path.iter().enumerate().filter(|(_, byte)| **byte == b'/').map(|(at, _)| at);
        slashes.for_each(|at| {
            self.note(&path[..at], true);
        });
    }

    /// The folders that are repositories, in small letters.
    pub(super) fn into_folders(self) -> BTreeSet<Vec<u8>> {
        self.parts.into_iter().filter(|(_, parts)| is_repository(*parts)).map(|(folder, _)| folder).collect()
    }
}

fn split_path(path: &[u8]) -> (&[u8], &[u8]) {
    match path.iter().rposition(|byte| *byte == b'/') {
        Some(slash) => (&path[..slash], &path[slash + 1..]),
        None => (&b""[..], path),
    }
}

/// What a name makes of the folder that it is in.
fn find_part(name: &[u8], is_folder: bool) -> Option<u8> {
    match name.len() {
        4 if name.eq_ignore_ascii_case(b"refs") => Some(REFS),
        4 if name.eq_ignore_ascii_case(b"head") && !is_folder => Some(HEAD),
        7 if name.eq_ignore_ascii_case(b"objects") => Some(OBJECTS),
        9 if name.eq_ignore_ascii_case(b"commondir") && !is_folder => Some(ELSEWHERE),
        _ => None,
    }
}

fn is_repository(parts: u8) -> bool {
    let is_whole = |wanted: u8| parts & wanted == wanted;
    is_whole(HEAD | OBJECTS | REFS) || is_whole(HEAD | ELSEWHERE)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folders_are_told_by_what_git_looks_for() {
        let folders = |paths: &[&str]| {
            let mut layouts = BareLayouts::default();
            for path in paths {
                layouts.note_all(path.as_bytes());
            }
            layouts.into_folders()
        };
        assert_eq!(folders(&["HEAD", "objects/aa/bb", "refs/heads/main"]), BTreeSet::from([Vec::new()]));
        assert_eq!(folders(&["a/b/Head", "A/b/objects/x", "a/B/REFS/x", "c/HEAD"]), BTreeSet::from([b"a/b".to_vec()]));
        assert_eq!(folders(&["x/HEAD", "x/commondir"]), BTreeSet::from([b"x".to_vec()]));
        assert!(folders(&["HEAD", "objects/a", "src/refs/b", "head/x/refs/a"]).is_empty());
    }
}
