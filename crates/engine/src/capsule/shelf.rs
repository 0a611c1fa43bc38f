//! Capsules that lie where they are looked for: in our own folder, and in the one that a command is given in.

use std::path::{Path, PathBuf};

use super::Capsule;
use super::manifest::Manifest;
use crate::context::Context;
use crate::sessions::list::ListedSession;
use crate::sessions::read::session_start;

const FOLDER: &str = "capsules";
/// How the name of a packed capsule ends.
pub const FILE_END: &str = ".tar.zst";

/// A capsule, and where it is.
#[derive(Debug, Clone)]
pub struct ShelvedCapsule {
    pub path: PathBuf,
    pub manifest: Manifest,
}

/// The folder for capsules.
pub fn folder_path(context: &Context) -> PathBuf {
    context.home.join(FOLDER)
}

/// Where a capsule is put if nobody says where.
pub fn default_path(context: &Context, manifest: &Manifest) -> PathBuf {
    folder_path(context).join(format!("{}-{}{FILE_END}", manifest.source.agent, manifest.id))
}

/// The capsules that are found, the newest first; what only looks like one is left out.
pub fn list_capsules(context: &Context) -> Vec<ShelvedCapsule> {
    let mut found: Vec<ShelvedCapsule> = Vec::new();
    for folder in [folder_path(context), context.cwd.clone()] {
        for path in list_paths(&folder) {
            let Ok(capsule) = Capsule::open(&path) else { continue };
            if !found.iter().any(|other| other.manifest.id == capsule.manifest.id) {
                found.push(ShelvedCapsule { path, manifest: capsule.manifest });
            }
        }
    }
    found.sort_by(|a, b| b.manifest.created_at.cmp(&a.manifest.created_at).then_with(|| a.path.cmp(&b.path)));
    found
}

fn list_paths(folder: &Path) -> Vec<PathBuf> {
    let Ok(entries) = fs_err::read_dir(folder) else { return Vec::new() };
    let paths = entries.flatten().map(|entry| entry.path());
    let is_packed = |path: &Path| path.file_name().is_some_and(|name| name.to_string_lossy().ends_with(FILE_END));
    let is_laid_out = |path: &Path| path.join("manifest.json").is_file() && path.join("boundary.json").is_file();
    let mut paths: Vec<PathBuf> = paths.filter(|path| is_packed(path) || is_laid_out(path)).collect();
    paths.sort();
    paths
}

/// The capsules whose id, or whose session's id, begins with a word.
pub fn find_capsules(context: &Context, word: &str) -> Vec<ShelvedCapsule> {
    const MIN_BYTES: usize = 4;
    let mut found = list_capsules(context);
    let fits = |manifest: &Manifest| manifest.id.starts_with(word) || manifest.source.session_id.starts_with(word);
    found.retain(|capsule| word.len() >= MIN_BYTES && fits(&capsule.manifest));
    found
}

/// The version of the client that a session is of, as its beginning tells it.
pub fn client_version(session: &ListedSession) -> Option<String> {
    session_start(session.agent, &session.found.source).ok()?.header.client_version
}
