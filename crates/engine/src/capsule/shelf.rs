//! Capsules that lie where they are looked for: in our own folder, and in the one that a command is given in.

use std::io::{BufWriter, Read, Write};
use std::path::{Path, PathBuf};

use super::container::{Content, Member, PackedForm, write_archive};
use super::fidelity::Fidelity;
use super::manifest::{MANIFEST, Manifest, SNAPSHOT};
use super::{Capsule, CapsuleError};
use crate::context::Context;
use crate::own::files;
use crate::sessions::list::ListedSession;
use crate::sessions::read::session_start;

const FOLDER: &str = "capsules";
/// What a capsule says of itself stands behind its transcript and records.
const MAX_LOOKED_THROUGH: u64 = 64 << 20;
/// How the name of a packed capsule ends, where we choose it.
const FILE_END: &str = ".tar.zst";

/// A capsule, and where it is.
#[derive(Debug, Clone)]
pub struct ShelvedCapsule {
    pub path: PathBuf,
    pub manifest: Manifest,
}

impl ShelvedCapsule {
    /// What it lacks to be deterministic, by its own documents.
    pub fn read_fidelity(&self) -> Result<Fidelity, CapsuleError> {
        let members = self.manifest.members.iter().filter(|member| member.name != SNAPSHOT);
        if members.map(|member| member.bytes).fold(0, u64::saturating_add) > MAX_LOOKED_THROUGH {
            let lacks = vec!["too long to be looked through in a list; `carryover capsule inspect` tells".to_owned()];
            return Ok(Fidelity { lacks });
        }
        let (boundary, workspace) = Capsule::open(&self.path)?.read_documents()?;
        Ok(Fidelity::from_documents(&self.manifest, &boundary, &workspace))
    }
}

/// The folder for capsules.
pub fn folder_path(context: &Context) -> PathBuf {
    context.home.join(FOLDER)
}

/// Where a capsule is put if nobody says where.
pub fn default_path(context: &Context, manifest: &Manifest) -> PathBuf {
    // Capsules of others say whose they are in words of theirs.
    let is_plain = |agent: &str| agent.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-');
    let agent = Some(manifest.source.agent.as_str()).filter(|agent| is_plain(agent)).unwrap_or("capsule");
    folder_path(context).join(format!("{agent}-{}{FILE_END}", manifest.id))
}

/// The capsule on the shelf that has this very id.
pub fn find_on_shelf(context: &Context, id: &str) -> Option<ShelvedCapsule> {
    let paths = list_paths(&folder_path(context)).into_iter();
    // Its name says its id, unless somebody has named it anew.
    let named = paths.filter(|path| path.file_name().is_some_and(|name| name.to_string_lossy().contains(id)));
    let mut opened = named.filter_map(|path| Some((Capsule::open(&path).ok()?.manifest, path)));
    opened.find(|(manifest, _)| manifest.id == id).map(|(manifest, path)| ShelvedCapsule { path, manifest })
}

/// Packs members that lie one after another in a file of ours, verifies the capsule that they are, and puts it on the shelf. It
/// has the same bytes that it had where it was made.
pub(crate) fn shelve_members(
    context: &Context,
    members: &Path,
    is_expected: impl Fn(&Manifest) -> bool,
    manifest_bytes: u64,
    total_bytes: u64,
) -> Result<ShelvedCapsule, CapsuleError> {
    let mut bytes = Vec::new();
    fs_err::File::open(members)?.take(manifest_bytes).read_to_end(&mut bytes)?;
    let manifest = Manifest::parse(&bytes)?;
    if !is_expected(&manifest) {
        return Err(CapsuleError::damaged(MANIFEST, "is not that of the capsule that was looked for"));
    }
    let located = locate_members(members, &manifest, manifest_bytes);
    if located.iter().map(|member| member.content.len()).sum::<u64>() + manifest_bytes != total_bytes {
        return Err(CapsuleError::damaged(MANIFEST, "does not name as much as there is"));
    }
    let mut all = vec![Member { name: MANIFEST.to_owned(), content: Content::Bytes(bytes) }];
    all.extend(located);
    let path = default_path(context, &manifest);
    let folder = folder_path(context);
    files::create_private_folder(&folder)?;
    let mut file = files::create_temporary(&folder)?;
    write_archive(&all, manifest.modified_seconds(), BufWriter::new(file.as_file_mut()))?.flush()?;
    Capsule::open(file.path())?.verify()?;
    file.as_file().sync_all()?;
    file.persist(&path).map_err(|failed| failed.error)?;
    files::sync_folder(&folder)?;
    Ok(ShelvedCapsule { path, manifest })
}

fn locate_members(members: &Path, manifest: &Manifest, manifest_bytes: u64) -> Vec<Member> {
    let mut start = manifest_bytes;
    let locate = |record: &super::manifest::MemberRecord| {
        let content = Content::File { path: members.to_owned(), start, length: record.bytes };
        start = start.saturating_add(record.bytes);
        Member { name: record.name.clone(), content }
    };
    manifest.members.iter().map(locate).collect()
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
    let form = |path: &Path| path.file_name().and_then(|name| PackedForm::from_name(&name.to_string_lossy()));
    let is_laid_out = |path: &Path| path.join("manifest.json").is_file() && path.join("boundary.json").is_file();
    let mut paths: Vec<PathBuf> = paths.filter(|path| form(path).is_some() || is_laid_out(path)).collect();
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
