//! The snapshot: a packed archive with the files of a workspace (`tree/`) and with what is staged (`index/`).

use std::collections::{BTreeSet, HashSet};
use std::io::{self, BufRead, BufReader, BufWriter, Read, Write};
use std::ops::ControlFlow;
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Stdio};
use std::sync::atomic::{AtomicU64, Ordering};

use carryover_agents::formats::file::open_regular;
use carryover_agents::formats::ordered_pool::map_ordered;
use zstd::zstd_safe::CParameter;

use super::super::CapsuleError;
use super::super::container::{file_header, n_threads};
use super::super::counting::{Counting, pad_packed};
use super::super::digest::Hashing;
use super::super::limits;
use super::super::manifest::{MemberRecord, SNAPSHOT};
use super::super::member_path::{check_link, check_workspace_path, decode_path, encode_path};
use super::super::tar_walk::{EntryKind, TarEntry, TarStream, walk_tar};
use super::bare_layout::{BareLayouts, REASON};
use super::collect::{Collected, StagedBlob};
use super::git_state::Repository;
use super::looked_file::{FileContent, LookedFile, TOO_MUCH, look_at_file};
use super::secret_scan::holds_secret;
use super::{LeftOut, StagedChange, WorkspaceRecord, path_or_odd};

pub(super) const TREE: &[u8] = b"tree/";
pub(super) const INDEX: &[u8] = b"index/";
const LEVEL: i32 = 3;
const BUFFER_BYTES: usize = 256 << 10;
/// So long are the parts that are packed one by one, on average; the shortest that the packer knows.
const JOB_BYTES: u32 = 512 << 10;
/// What is staged is held as a whole.
const MAX_BLOB_BYTES: u64 = 64 << 20;
const MAX_TREE_BYTES: u64 = limits::MAX_TOTAL_BYTES / 2;

/// What a snapshot was found to hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(in crate::capsule) struct SnapshotSummary {
    pub(in crate::capsule) files: u64,
    pub(in crate::capsule) bytes: u64,
}

type Packer = tar::Builder<Counting<zstd::Encoder<'static, Hashing<BufWriter<fs_err::File>>>>>;

/// Writes the files that were collected; those that may not leave are named in the record.
pub(in crate::capsule) fn write_snapshot(
    mut collected: Collected<'_>,
    redact: bool,
    out: fs_err::File,
) -> Result<(WorkspaceRecord, MemberRecord), CapsuleError> {
    collected.withhold_repositories();
    if redact {
        collected.withhold_secret_names();
        collected.record.mask_names();
    }
    let mut packer = zstd::Encoder::new(Hashing::new(BufWriter::with_capacity(BUFFER_BYTES, out)), LEVEL)?;
    packer.multithread(n_threads())?;
    // Cut where the content says so: what changes in one file leaves most of the packed bytes as they were, and a remote that
    // has them need not be sent them again.
    packer.set_parameter(CParameter::JobSize(JOB_BYTES))?;
    packer.set_parameter(CParameter::RSyncable(true))?;
    let mut writer = SnapshotWriter {
        archive: tar::Builder::new(Counting::new(packer)),
        redact,
        left_out: Vec::new(),
        summary: SnapshotSummary::default(),
    };
    // Sorted: what is staged comes before the files, and the same workspace gives the same bytes.
    if let Some(repository) = &collected.repository {
        writer.write_staged(repository, &collected.staged, &mut collected.record)?;
    }
    for path in &collected.folders {
        writer.write_folder(path)?;
    }
    writer.write_tree(&collected.root, &collected.tree)?;
    let SnapshotWriter { archive, left_out, summary, .. } = writer;
    let (unpacked_bytes, packer) = archive.into_inner()?.finish();
    let mut hashing = packer.finish()?;
    pad_packed(hashing.n_bytes(), unpacked_bytes, &mut hashing)?;
    let (packed_bytes, sha256, out) = hashing.finish();
    out.into_inner().map_err(io::IntoInnerError::into_error)?;
    let mut record = collected.record;
    (record.files, record.bytes) = (summary.files, summary.bytes);
    record.left_out.extend(left_out);
    record.left_out.sort();
    record.remarks.sort();
    Ok((record, MemberRecord { name: SNAPSHOT.to_owned(), bytes: packed_bytes, sha256 }))
}

struct SnapshotWriter {
    archive: Packer,
    redact: bool,
    left_out: Vec<LeftOut>,
    summary: SnapshotSummary,
}

impl SnapshotWriter {
    fn leave_out(&mut self, path: &[u8], reason: &str) {
        self.left_out.push(LeftOut::from_bytes(path, reason));
    }

    /// Looking for secrets takes longer than packing does, so files are looked at a few ahead.
    fn write_tree(&mut self, root: &Path, tree: &BTreeSet<Vec<u8>>) -> Result<(), CapsuleError> {
        let (mut waiting, mut written, redact) = (tree.iter(), Ok(()), self.redact);
        // What cannot be taken any more need not be looked at.
        let left = AtomicU64::new(MAX_TREE_BYTES - self.summary.bytes.min(MAX_TREE_BYTES));
        map_ordered(
            || waiting.next(),
            |path| (path, look_at_file(root, path, left.load(Ordering::Relaxed), redact)),
            |(path, looked)| {
                written = looked.and_then(|looked| self.write_looked(path, looked));
                left.store(MAX_TREE_BYTES - self.summary.bytes.min(MAX_TREE_BYTES), Ordering::Relaxed);
                if written.is_ok() { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
            },
        );
        written
    }

    fn write_looked(&mut self, path: &[u8], looked: LookedFile) -> Result<(), CapsuleError> {
        let (stat, content) = match looked {
            LookedFile::Gone => return Ok(()),
            LookedFile::LeftOut(reason) => {
                self.leave_out(path, reason);
                return Ok(());
            }
            LookedFile::Link(target) => return self.write_link(path, &target),
            LookedFile::File(stat, content) => (stat, content),
        };
        let length = content.n_bytes();
        if self.summary.bytes + length > MAX_TREE_BYTES || self.summary.files >= limits::MAX_FILES {
            self.leave_out(path, TOO_MUCH);
            return Ok(());
        }
        let header = file_header(stat.mode, stat.modified_seconds, length);
        match content {
            FileContent::Held(bytes) => self.append_file(TREE, path, header, length, &bytes[..]),
            FileContent::InPlace { path: place, .. } => {
                let mut content = open_regular(&place)?.take(length);
                self.append_file(TREE, path, header, length, &mut content)?;
                let is_whole = content.limit() == 0;
                if is_whole { Ok(()) } else { Err(CapsuleError::Changed(place)) }
            }
        }
    }

    fn append_file(
        &mut self,
        below: &[u8],
        path: &[u8],
        mut header: tar::Header,
        size: u64,
        content: impl Read,
    ) -> Result<(), CapsuleError> {
        self.archive.append_data(&mut header, path_or_odd(&[below, path].concat()), content)?;
        self.summary.files += u64::from(below == TREE);
        self.summary.bytes += size;
        Ok(())
    }

    fn write_link(&mut self, path: &[u8], target: &Path) -> Result<(), CapsuleError> {
        let mut header = file_header(0o777, 0, 0);
        header.set_entry_type(tar::EntryType::Symlink);
        self.archive.append_link(&mut header, path_or_odd(&[TREE, path].concat()), target)?;
        self.summary.files += 1;
        Ok(())
    }

    fn write_folder(&mut self, path: &[u8]) -> Result<(), CapsuleError> {
        let mut header = file_header(0o755, 0, 0);
        header.set_entry_type(tar::EntryType::Directory);
        let path = path_or_odd(&[TREE, path, b"/"].concat());
        Ok(self.archive.append_data(&mut header, path, io::empty())?)
    }

    /// Writes what is staged, as git holds it.
    fn write_staged(
        &mut self,
        repository: &Repository<'_>,
        staged: &[StagedBlob],
        record: &mut WorkspaceRecord,
    ) -> Result<(), CapsuleError> {
        if staged.is_empty() {
            return Ok(());
        }
        let mut blobs = BlobReader::start(repository)?;
        let mut omitted = HashSet::new();
        for StagedBlob { path, mode, id } in staged {
            let content = blobs.read(id)?;
            let reason = match &content {
                None => Some("what is staged is too long, or not there"),
                Some(content) if self.redact && holds_secret(content) => Some("what is staged holds secrets"),
                Some(content) if mode == "120000" => check_link(path, content).err(),
                Some(_) => None,
            };
            match (reason, content) {
                (None, Some(content)) => {
                    let length = content.len() as u64;
                    self.append_file(INDEX, path, file_header(0o644, 0, length), length, &content[..])?;
                }
                (reason, _) => {
                    self.leave_out(path, reason.unwrap_or_default());
                    omitted.insert(encode_path(path));
                }
            }
        }
        for change in record.changes.iter_mut().filter(|change| omitted.contains(&change.path)) {
            change.staged = Some(StagedChange::Omitted);
        }
        Ok(())
    }
}

/// Asks git for contents, one after the other.
pub(super) struct BlobReader {
    child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
}

impl BlobReader {
    pub(super) fn start(repository: &Repository<'_>) -> Result<Self, CapsuleError> {
        let mut command = repository.query.unfiltered_command(&repository.filters, &["cat-file", "--batch"]);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut child = command.spawn()?;
        let failed = || CapsuleError::Git("be asked for what is staged");
        let (input, output) = (child.stdin.take().ok_or_else(failed)?, child.stdout.take().ok_or_else(failed)?);
        Ok(Self { child, input, output: BufReader::new(output) })
    }

    /// A content; none where it is not there, or too long to be held.
    pub(super) fn read(&mut self, id: &str) -> Result<Option<Vec<u8>>, CapsuleError> {
        writeln!(self.input, "{id}")?;
        self.input.flush()?;
        let mut line = String::new();
        (&mut self.output).take(1_000).read_line(&mut line)?;
        let size = line.trim_end().rsplit_once(' ').and_then(|(_, size)| size.parse::<u64>().ok());
        let Some(size) = size else { return Ok(None) };
        let mut content = (&mut self.output).take(size + 1);
        if size > MAX_BLOB_BYTES {
            io::copy(&mut content, &mut io::sink())?;
            return Ok(None);
        }
        let mut bytes = Vec::new();
        content.read_to_end(&mut bytes)?;
        let is_whole = bytes.pop().is_some() && bytes.len() as u64 == size;
        if is_whole { Ok(Some(bytes)) } else { Err(CapsuleError::Git("tell what is staged")) }
    }
}

impl Drop for BlobReader {
    fn drop(&mut self) {
        self.child.kill().ok();
        self.child.wait().ok();
    }
}

/// One entry of a snapshot, checked.
pub(super) struct SnapshotEntry<'a> {
    /// In the tree, else in the index.
    pub(super) in_tree: bool,
    pub(super) path: &'a [u8],
    pub(super) entry: TarEntry<'a>,
}

/// Visits every entry of a snapshot, having checked it; and what all of them are together.
pub(super) fn walk_snapshot<R: Read>(
    stream: R,
    packed: u64,
    visit: &mut dyn FnMut(SnapshotEntry<'_>) -> Result<(), CapsuleError>,
) -> Result<SnapshotSummary, CapsuleError> {
    let mut unpacked = zstd::Decoder::with_buffer(BufReader::with_capacity(BUFFER_BYTES, stream))?;
    unpacked.window_log_max(limits::WINDOW_LOG)?;
    let limit = limits::max_unpacked(packed);
    let tar = TarStream { stream: unpacked, name: SNAPSHOT, packed, limit, max_entries: limits::MAX_FILES };
    let mut checks = PathChecks::default();
    let mut summary = SnapshotSummary::default();
    walk_tar(tar, &mut |entry| {
        let (in_tree, path) = match (entry.path.strip_prefix(TREE), entry.path.strip_prefix(INDEX)) {
            (Some(path), _) => (true, path),
            (_, Some(path)) if entry.kind == EntryKind::File => (false, path),
            _ => return Err(CapsuleError::refused(entry.path, "is no part of a workspace")),
        };
        check_workspace_path(path).map_err(|reason| CapsuleError::refused(path, reason))?;
        if let EntryKind::Link(target) = &entry.kind {
            check_link(path, target).map_err(|reason| CapsuleError::refused(path, reason))?;
        }
        checks.add(entry.path, entry.kind == EntryKind::Folder)?;
        summary.files += u64::from(in_tree && entry.kind != EntryKind::Folder);
        summary.bytes = summary.bytes.saturating_add(entry.size);
        if summary.bytes > limit {
            return Err(CapsuleError::Bomb { packed, limit });
        }
        visit(SnapshotEntry { in_tree, path, entry })
    })?;
    Ok(summary)
}

/// Looks through a snapshot, and unpacks nothing.
pub(in crate::capsule) fn verify_snapshot(stream: impl Read, packed: u64) -> Result<SnapshotSummary, CapsuleError> {
    walk_snapshot(stream, packed, &mut |_| Ok(()))
}

/// Paths that were met: none comes twice, none is below something that is no folder, and no folder is a repository.
struct PathChecks {
    files: HashSet<Vec<u8>>,
    folders: HashSet<Vec<u8>>,
    layouts: BareLayouts,
    /// How long all of the names are that are held.
    n_bytes: usize,
    /// Two names that differ in case only are one on this system.
    folds_case: bool,
}

impl Default for PathChecks {
    fn default() -> Self {
        let folds_case = cfg!(any(target_os = "macos", windows));
        Self { files: HashSet::new(), folders: HashSet::new(), layouts: BareLayouts::default(), n_bytes: 0, folds_case }
    }
}

impl PathChecks {
    fn add(&mut self, path: &[u8], is_folder: bool) -> Result<(), CapsuleError> {
        let folded = self.folds_case.then(|| String::from_utf8_lossy(path).to_lowercase().into_bytes());
        let path = folded.as_deref().unwrap_or(path);
        let is_met = self.files.contains(path) || (!is_folder && self.folders.contains(path));
        if is_met {
            return Err(CapsuleError::refused(path, "comes twice"));
        }
        let slashes = path.iter().enumerate().filter(|(_, byte)| **byte == b'/').map(|(at, _)| at);
        for above in slashes.map(|at| &path[..at]).collect::<Vec<_>>().into_iter().rev() {
            if self.files.contains(above) {
                return Err(CapsuleError::refused(path, "is below something that is no folder"));
            }
            if !self.folders.insert(above.to_vec()) {
                break;
            }
            self.count_name(above)?;
            self.note_layout(above, true)?;
        }
        self.count_name(path)?;
        self.note_layout(path, is_folder)?;
        let list = if is_folder { &mut self.folders } else { &mut self.files };
        if list.insert(path.to_vec()) || is_folder { Ok(()) } else { Err(CapsuleError::refused(path, "comes twice")) }
    }

    /// Folders in folders in folders cost their names over and over.
    fn count_name(&mut self, path: &[u8]) -> Result<(), CapsuleError> {
        self.n_bytes += path.len();
        let is_fine = self.n_bytes <= limits::MAX_NAMES_BYTES;
        if is_fine { Ok(()) } else { Err(CapsuleError::refused(path, "is a name too many")) }
    }

    fn note_layout(&mut self, path: &[u8], is_folder: bool) -> Result<(), CapsuleError> {
        if self.layouts.note(path, is_folder) {
            let above = path.iter().rposition(|byte| *byte == b'/').map_or(path, |slash| &path[..slash]);
            return Err(CapsuleError::refused(above, REASON));
        }
        Ok(())
    }
}

/// The path of a change, which was checked when it was read.
pub(super) fn change_path(path: &str) -> Result<Vec<u8>, CapsuleError> {
    decode_path(path).ok_or_else(|| CapsuleError::refused(path.as_bytes(), "is no path"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_differ_in_case_only_are_one_where_the_system_has_it_so() {
        for folds_case in [false, true] {
            let mut checks = PathChecks { folds_case, ..PathChecks::default() };
            checks.add(b"Read/Me", false).unwrap();
            assert_eq!(checks.add(b"read/me", false).is_err(), folds_case);
            assert_eq!(checks.add(b"READ/me/x", false).is_err(), folds_case);
        }
    }

    #[test]
    fn folders_in_folders_end_where_their_names_become_too_long() {
        let mut checks = PathChecks::default();
        let deep = |number: usize| format!("{number}/{}x", "a/".repeat(1_500)).into_bytes();
        let taken = (0..300_000).take_while(|number| checks.add(&deep(*number), false).is_ok()).count();
        assert!((10..1_000).contains(&taken), "{taken}");
        let mut checks = PathChecks::default();
        let usual =
            |number: usize| format!("packages/part-{}/source/module-{}/file-{number}.rs", number / 3_000, number / 50);
        assert!((0..300_000).all(|number| checks.add(usual(number).as_bytes(), false).is_ok()));
    }
}
