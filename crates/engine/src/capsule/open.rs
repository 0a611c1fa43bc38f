//! Opening a capsule: its manifest at a glance, all of it once it was verified.

use std::collections::BTreeSet;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use super::CapsuleError;
use super::boundary::Boundary;
use super::container::{Container, ReadSeek, Walk};
use super::digest::Hashing;
use super::manifest::{BOUNDARY, MANIFEST, Manifest, MemberRecord, RAW, SNAPSHOT, TRANSCRIPT, WORKSPACE};
use super::staging::StagingFolder;
use super::workspace::{
    Placement, RestoreInto, RestoredFiles, RestoredWorkspace, WorkspaceDrift, WorkspaceRecord, compare_workspace,
    note_restored, restore_workspace, verify_snapshot,
};
use crate::context::Context;
use crate::own::private;

/// In our own folder: what is unpacked to be read.
pub(super) const IMPORT_FOLDER: &str = "importing";

/// A capsule of which the manifest was read, and nothing else.
pub struct Capsule {
    container: Container,
    pub manifest: Manifest,
}

/// A capsule that is what its manifest says, and that harms nobody who unpacks it.
pub struct VerifiedCapsule {
    container: Container,
    pub manifest: Manifest,
    pub boundary: Boundary,
    pub workspace: WorkspaceRecord,
}

impl Capsule {
    /// Opens a file or a folder.
    pub fn open(path: &Path) -> Result<Self, CapsuleError> {
        Self::from_container(Container::open(path)?)
    }

    /// Opens one that is somewhere else, packed: in memory, or decrypted into a temporary file.
    pub fn from_reader(stream: impl ReadSeek + 'static) -> Result<Self, CapsuleError> {
        Self::from_container(Container::from_stream(stream)?)
    }

    fn from_container(mut container: Container) -> Result<Self, CapsuleError> {
        let mut manifest = None;
        container.walk(&mut |name, _, content| {
            // The first member is the manifest, whatever the form.
            debug_assert_eq!(name, MANIFEST);
            manifest = Some(Manifest::parse(&read_document(name, content)?)?);
            Ok(Walk::Stop)
        })?;
        let manifest = manifest.ok_or_else(|| CapsuleError::NoCapsule("it is empty".into()))?;
        Ok(Self { container, manifest })
    }

    /// What it says of its session and of its workspace; what else is in it is not looked at.
    pub fn read_documents(&mut self) -> Result<(Boundary, WorkspaceRecord), CapsuleError> {
        let mut check = Check::new(&self.manifest, self.container.packed_bytes());
        self.container.walk(&mut |name, size, content| {
            if [BOUNDARY, WORKSPACE].contains(&name) {
                check.take_member(name, size, content)?;
            }
            let is_done = check.boundary.is_some() && check.workspace.is_some();
            Ok(if is_done { Walk::Stop } else { Walk::GoOn })
        })?;
        let missing = |name| move || CapsuleError::damaged(name, "is missing");
        Ok((check.boundary.ok_or_else(missing(BOUNDARY))?, check.workspace.ok_or_else(missing(WORKSPACE))?))
    }

    /// Looks through all of it: names, lengths, digests, and every entry of the workspace. Nothing is unpacked.
    pub fn verify(self) -> Result<VerifiedCapsule, CapsuleError> {
        let Self { mut container, manifest } = self;
        let mut check = Check::new(&manifest, container.packed_bytes());
        container.walk(&mut |name, size, content| check.take_member(name, size, content).map(|()| Walk::GoOn))?;
        let (boundary, workspace) = check.finish()?;
        Ok(VerifiedCapsule { container, manifest, boundary, workspace })
    }
}

/// A verification under way.
struct Check<'a> {
    manifest: &'a Manifest,
    seen: BTreeSet<String>,
    boundary: Option<Boundary>,
    workspace: Option<WorkspaceRecord>,
    /// Files and bytes of the snapshot.
    files: Option<(u64, u64)>,
    /// How long the whole capsule is, if it is packed: what is packed twice unpacks to no more for it.
    outer: Option<u64>,
}

impl<'a> Check<'a> {
    fn new(manifest: &'a Manifest, outer: Option<u64>) -> Self {
        Self { manifest, seen: BTreeSet::new(), boundary: None, workspace: None, files: None, outer }
    }

    fn take_member(&mut self, name: &str, size: u64, content: &mut dyn Read) -> Result<(), CapsuleError> {
        if !self.seen.insert(name.to_owned()) {
            return Err(CapsuleError::refused(name.as_bytes(), "comes twice"));
        }
        if name == MANIFEST {
            let again = Manifest::parse(&read_document(name, content)?)?;
            let is_same = again == *self.manifest;
            return if is_same { Ok(()) } else { Err(CapsuleError::damaged(name, "changed while it was read")) };
        }
        let record = self.manifest.find(name);
        let record = record.ok_or_else(|| CapsuleError::refused(name.as_bytes(), "is not in the manifest"))?;
        if record.bytes != size {
            return Err(CapsuleError::damaged(name, "is not as long as the manifest says"));
        }
        let mut hashing = Hashing::new(content);
        match name {
            BOUNDARY | WORKSPACE => {
                let bytes = read_document(name, &mut hashing)?;
                check_digest(record, hashing)?;
                self.take_document(name, &bytes)
            }
            SNAPSHOT => {
                let found = verify_snapshot(&mut hashing, self.outer.map_or(size, |outer| outer.min(size)))?;
                io::copy(&mut hashing, &mut io::sink())?;
                check_digest(record, hashing)?;
                self.files = Some((found.files, found.bytes));
                Ok(())
            }
            _ => {
                io::copy(&mut hashing, &mut io::sink()).map_err(|error| unreadable(name, error))?;
                check_digest(record, hashing)
            }
        }
    }

    fn take_document(&mut self, name: &str, bytes: &[u8]) -> Result<(), CapsuleError> {
        let broken = |_| CapsuleError::damaged(name, "has another form than it should");
        if name == BOUNDARY {
            let boundary: Boundary = serde_json::from_slice(bytes).map_err(broken)?;
            if boundary.config_hash != boundary.compute_hash() || boundary.config_hash != self.manifest.config_hash {
                return Err(CapsuleError::damaged(name, "does not have the digest that it names"));
            }
            self.boundary = Some(boundary);
        } else {
            let workspace: WorkspaceRecord = serde_json::from_slice(bytes).map_err(broken)?;
            workspace.check()?;
            self.workspace = Some(workspace);
        }
        Ok(())
    }

    fn finish(self) -> Result<(Boundary, WorkspaceRecord), CapsuleError> {
        if let Some(missing) = self.manifest.members.iter().find(|member| !self.seen.contains(&member.name)) {
            return Err(CapsuleError::damaged(&missing.name, "is missing"));
        }
        let missing = |name| move || CapsuleError::damaged(name, "is missing");
        let boundary = self.boundary.ok_or_else(missing(BOUNDARY))?;
        let workspace = self.workspace.ok_or_else(missing(WORKSPACE))?;
        if (workspace.files, workspace.bytes) != self.files.unwrap_or_default() {
            return Err(CapsuleError::damaged(SNAPSHOT, "does not hold what is said of it"));
        }
        Ok((boundary, workspace))
    }
}

fn check_digest<S>(record: &MemberRecord, hashing: Hashing<S>) -> Result<(), CapsuleError> {
    let (bytes, sha256, _) = hashing.finish();
    if bytes != record.bytes {
        return Err(CapsuleError::damaged(&record.name, "ends in the middle"));
    }
    if sha256 == record.sha256 { Ok(()) } else { Err(CapsuleError::damaged(&record.name, "has another digest")) }
}

/// Its length was checked before it is visited.
fn read_document(name: &str, content: &mut dyn Read) -> Result<Vec<u8>, CapsuleError> {
    let mut bytes = Vec::new();
    content.read_to_end(&mut bytes).map_err(|error| unreadable(name, error))?;
    Ok(bytes)
}

fn unreadable(name: &str, error: io::Error) -> CapsuleError {
    super::metered::explain_read(error, name, 0)
}

/// Whether the source's own records are laid out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum RawRecords {
    Taken,
    Left,
}

/// What of a capsule was laid out to be read.
pub(super) struct LaidOut {
    /// Removed when nobody reads it any more.
    _folder: StagingFolder,
    pub transcript: PathBuf,
    /// The source's own record of the session.
    pub raw_session: Option<PathBuf>,
    pub raw_root: PathBuf,
}

impl VerifiedCapsule {
    /// Unpacks the transcript into a folder of ours, and the source's own records where they are asked for.
    pub(super) fn lay_out(&mut self, context: &Context, with: RawRecords) -> Result<LaidOut, CapsuleError> {
        let folder = StagingFolder::create(context, IMPORT_FOLDER)?;
        let manifest = &self.manifest;
        let takes_raw = with == RawRecords::Taken;
        let is_wanted = |name: &str| name == TRANSCRIPT || (takes_raw && name.starts_with(RAW));
        let mut n_left = manifest.members.iter().filter(|member| is_wanted(&member.name)).count();
        self.container.walk(&mut |name, _, content| {
            if is_wanted(name) {
                let record = manifest.find(name);
                let record = record.ok_or_else(|| CapsuleError::refused(name.as_bytes(), "is not in the manifest"))?;
                let mut hashing = Hashing::new(content);
                io::copy(&mut hashing, &mut private::open_file(&folder.path().join(name))?)?;
                check_digest(record, hashing)?;
                n_left = n_left.saturating_sub(1);
            }
            Ok(if n_left == 0 { Walk::Stop } else { Walk::GoOn })
        })?;
        let transcript = folder.path().join(TRANSCRIPT);
        let raw_session = manifest.raw_session.as_ref().filter(|_| takes_raw).map(|name| folder.path().join(name));
        let raw_root = folder.path().join(RAW);
        Ok(LaidOut { _folder: folder, transcript, raw_session, raw_root })
    }

    /// Compares the workspace with a folder.
    pub fn compare_workspace(&mut self, context: &Context, folder: &Path) -> Result<WorkspaceDrift, CapsuleError> {
        let record = self.workspace.clone();
        let drift = self.with_snapshot(|stream, packed| compare_workspace(context, stream, packed, &record, folder))?;
        Ok(drift.unwrap_or_default())
    }

    /// Puts the workspace into a folder; nothing where there is none.
    pub(super) fn restore_workspace(
        &mut self,
        context: &Context,
        placement: Placement<'_>,
    ) -> Result<Option<RestoredWorkspace>, CapsuleError> {
        let record = self.workspace.clone();
        self.with_snapshot(|stream, packed| restore_workspace(context, stream, packed, &record, placement))
    }

    /// Notes what that would write; none where it could not be taken back.
    pub(super) fn note_restored(
        &mut self,
        context: &Context,
        folder: &Path,
        into: RestoreInto,
        force: bool,
    ) -> Result<Option<RestoredFiles>, CapsuleError> {
        let record = self.workspace.clone();
        let noted =
            self.with_snapshot(|stream, packed| note_restored(context, stream, packed, &record, folder, into, force))?;
        Ok(noted.flatten())
    }

    fn with_snapshot<T>(
        &mut self,
        use_it: impl FnOnce(&mut dyn Read, u64) -> Result<T, CapsuleError>,
    ) -> Result<Option<T>, CapsuleError> {
        let mut used = None;
        let mut use_it = Some(use_it);
        let outer = self.container.packed_bytes();
        self.container.walk(&mut |name, size, content| {
            if name != SNAPSHOT {
                return Ok(Walk::GoOn);
            }
            used =
                use_it.take().map(|use_it| use_it(content, outer.map_or(size, |outer| outer.min(size)))).transpose()?;
            Ok(Walk::Stop)
        })?;
        Ok(used)
    }

    /// Whether files came along.
    pub fn has_files(&self) -> bool {
        self.manifest.find(SNAPSHOT).is_some()
    }
}
