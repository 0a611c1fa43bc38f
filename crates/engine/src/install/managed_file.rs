//! One file of somebody else's: planned to be changed or given back, and that done in one step.
//!
//! Planning reads and decides; only `apply` writes, and only where the file is still as it was when it was read.

use std::io;
use std::path::{Path, PathBuf};

use super::error::InstallError;
use super::record::{FileKind, FileRecord, InstallRecord, backup_folder};
use crate::context::Context;
use crate::own::files;
use crate::own::fingerprint::Fingerprint;
use crate::write::disk::Disk;

/// Larger than any settings that people write.
const MAX_BYTES: u64 = 8 << 20;

/// A file as it is now.
#[derive(Debug)]
pub(super) struct FoundFile {
    /// As it is named.
    pub(super) path: PathBuf,
    /// Without links: what is written.
    real: PathBuf,
    bytes: Option<Vec<u8>>,
}

impl FoundFile {
    /// Looks at a file, which need not be there.
    pub(super) fn read(path: &Path) -> Result<Self, InstallError> {
        let missing = |error: &io::Error| error.kind() == io::ErrorKind::NotFound;
        let metadata = match fs_err::symlink_metadata(path) {
            Err(error) if missing(&error) => {
                return Ok(Self { path: path.to_owned(), real: path.to_owned(), bytes: None });
            }
            metadata => metadata?,
        };
        let real = match fs_err::canonicalize(path) {
            Err(error) if missing(&error) && metadata.is_symlink() => {
                return Err(InstallError::BrokenLink(path.to_owned()));
            }
            real => real?,
        };
        if !fs_err::metadata(&real)?.is_file() {
            return Err(InstallError::NotAFile(path.to_owned()));
        }
        let bytes = files::read_bounded(&real, MAX_BYTES)?;
        Ok(Self { path: path.to_owned(), real, bytes })
    }

    pub(super) fn text(&self) -> Result<&str, InstallError> {
        let bytes = self.bytes.as_deref().unwrap_or_default();
        std::str::from_utf8(bytes).map_err(|_| InstallError::NotText(self.path.clone()))
    }

    pub(super) fn is_there(&self) -> bool {
        self.bytes.is_some()
    }

    pub(super) fn fingerprint(&self) -> Option<Fingerprint> {
        self.bytes.as_deref().map(Fingerprint::from_bytes)
    }

    /// Refuses a file that its owner has closed: replacing it would be possible all the same.
    fn check_writable(&self) -> Result<(), InstallError> {
        match fs_err::metadata(&self.real) {
            Ok(metadata) if metadata.permissions().readonly() => Err(InstallError::ReadOnly(self.path.clone())),
            _ => Ok(()),
        }
    }

    /// The folders that are missing above it, the outermost first.
    fn missing_folders(&self) -> Vec<PathBuf> {
        let above = self.real.ancestors().skip(1);
        let mut missing: Vec<PathBuf> = above.take_while(|folder| !folder.exists()).map(Path::to_owned).collect();
        missing.reverse();
        missing
    }
}

/// A change of one file: planned, not done.
#[derive(Debug)]
pub(super) struct FileChange {
    found: FoundFile,
    /// The bytes that it shall have; none where it shall go.
    wanted: Option<Vec<u8>>,
    /// The record that holds afterwards; none where nothing of ours is left.
    after: Option<FileRecord>,
    earlier: Option<FileRecord>,
    /// The copy to be kept, with its name.
    backup: Option<(String, Vec<u8>)>,
    /// It was changed by somebody since we wrote it.
    pub(super) was_edited: bool,
}

/// How a file of somebody's becomes one with us in it.
pub(super) struct PutRequest<'a> {
    pub(super) record: FileRecord,
    pub(super) text: String,
    /// The text without us, for a file that has changed since we wrote it or that we do not know.
    pub(super) without_us: &'a str,
}

impl FileChange {
    /// Plans to write a file with us in it.
    pub(super) fn put(
        context: &Context,
        found: FoundFile,
        earlier: Option<&FileRecord>,
        request: PutRequest<'_>,
    ) -> Result<Self, InstallError> {
        let PutRequest { mut record, text, without_us } = request;
        let current = found.fingerprint();
        let is_as_we_left_it = earlier.is_some_and(|earlier| current == Some(earlier.after));
        record.after = Fingerprint::from_bytes(text.as_bytes());
        let mut backup = None;
        match earlier {
            Some(earlier) if is_as_we_left_it => {
                record.before = earlier.before;
                record.backup.clone_from(&earlier.backup);
            }
            _ if !found.is_there() || (without_us.trim().is_empty() && is_made_by_us(earlier)) => record.before = None,
            _ => {
                let bytes = without_us.as_bytes().to_vec();
                record.before = Some(Fingerprint::from_bytes(&bytes));
                let name = backup_name(context, &record);
                record.backup = Some(name.clone());
                backup = Some((name, bytes));
            }
        }
        record.folders = match earlier {
            Some(earlier) if found.is_there() => earlier.folders.clone(),
            _ => found.missing_folders(),
        };
        let change = Self {
            was_edited: earlier.is_some() && !is_as_we_left_it,
            earlier: earlier.cloned(),
            wanted: Some(text.into_bytes()),
            after: Some(record),
            backup,
            found,
        };
        if change.changes_file() {
            change.found.check_writable()?;
        }
        Ok(change)
    }

    /// Plans to take ourselves out: the exact bytes where the file is as we left it, else what `remove` leaves of it.
    pub(super) fn give_back(
        context: &Context,
        earlier: &FileRecord,
        remove: impl FnOnce(&str) -> Result<String, InstallError>,
    ) -> Result<Self, InstallError> {
        let found = FoundFile::read(&earlier.path)?;
        let current = found.fingerprint();
        let was_edited = found.is_there() && current != Some(earlier.after) && current != earlier.before;
        let mut backup = None;
        let wanted = match &found.bytes {
            None => None,
            Some(bytes) if current == earlier.before => Some(bytes.clone()),
            Some(_) if !was_edited && earlier.before.is_none() => None,
            Some(bytes) if matches!(earlier.kind, FileKind::OwnFile | FileKind::Command) => {
                if was_edited {
                    backup = Some((backup_name(context, earlier), bytes.clone()));
                }
                None
            }
            Some(_) => {
                if let Some(bytes) = read_backup(context, earlier).filter(|_| !was_edited) {
                    Some(bytes)
                } else {
                    let text = remove(found.text()?)?;
                    (!(earlier.before.is_none() && text.trim().is_empty())).then(|| text.into_bytes())
                }
            }
        };
        let change = Self { found, wanted, after: None, earlier: Some(earlier.clone()), backup, was_edited };
        if change.changes_file() {
            change.found.check_writable()?;
        }
        Ok(change)
    }

    /// Says that the file is ours alone: there is nothing to be given back. What somebody wrote into it is kept.
    pub(super) fn forget_before(&mut self, context: &Context) {
        let edited = self.found.bytes.clone().filter(|_| self.was_edited && self.changes_file());
        if let Some(after) = &mut self.after {
            after.before = None;
            after.backup = None;
            self.backup = edited.map(|bytes| (backup_name(context, after), bytes));
        }
    }

    /// Whether a byte of the file becomes another.
    pub(super) fn changes_file(&self) -> bool {
        self.found.bytes != self.wanted
    }

    pub(super) fn path(&self) -> &Path {
        &self.found.path
    }

    /// The name of the copy that is kept, where somebody may need it.
    pub(super) fn backup_name(&self) -> Option<&str> {
        self.backup.as_ref().map(|(name, _)| name.as_str())
    }

    /// Does it: the copy first, then the record, then the file.
    pub(super) fn apply(
        &self,
        context: &Context,
        record: &mut InstallRecord,
        disk: &mut dyn Disk,
    ) -> Result<(), InstallError> {
        if let Some((name, bytes)) = &self.backup {
            disk.write_own(&backup_folder(&context.home).join(name), bytes)?;
        }
        if let Some(after) = &self.after {
            record.put_file(after.clone());
            record.save(&context.home, disk)?;
        }
        if self.changes_file() {
            self.write(context, disk)?;
        }
        if self.after.is_none()
            && let Some(earlier) = &self.earlier
        {
            let folders = record.forget_file(earlier);
            for folder in folders.iter().rev().filter(|_| self.wanted.is_none()) {
                // One that holds something else stays.
                disk.remove_folder(folder).ok();
            }
            self.drop_backup(context, earlier, disk);
            record.save(&context.home, disk)?;
        }
        Ok(())
    }

    fn write(&self, context: &Context, disk: &mut dyn Disk) -> Result<(), InstallError> {
        if FoundFile::read(&self.found.path)?.bytes != self.found.bytes {
            return Err(InstallError::Changed(self.found.path.clone()));
        }
        let Some(bytes) = &self.wanted else { return Ok(disk.remove_file(&self.found.path)?) };
        for folder in self.found.missing_folders() {
            disk.create_folder(&folder, false)?;
        }
        Ok(disk.replace_shared(&self.found.real, bytes, &context.env.home)?)
    }

    /// A copy of what the file holds again is of no use to anybody.
    fn drop_backup(&self, context: &Context, earlier: &FileRecord, disk: &mut dyn Disk) {
        let is_same = self.wanted.as_deref().map(Fingerprint::from_bytes) == earlier.before;
        if let Some(name) = earlier.backup.as_ref().filter(|_| is_same) {
            disk.remove_file(&backup_folder(&context.home).join(name)).ok();
        }
    }
}

fn is_made_by_us(earlier: Option<&FileRecord>) -> bool {
    earlier.is_some_and(|earlier| earlier.before.is_none())
}

/// The bytes of a file before us, if they are still what they were.
fn read_backup(context: &Context, earlier: &FileRecord) -> Option<Vec<u8>> {
    let name = earlier.backup.as_deref().filter(|name| !name.contains(['/', '\\']))?;
    let bytes = files::read_bounded(&backup_folder(&context.home).join(name), MAX_BYTES).ok()??;
    (Some(Fingerprint::from_bytes(&bytes)) == earlier.before).then_some(bytes)
}

/// `<owner>-<file>-<milliseconds>`: a copy never replaces an earlier one.
fn backup_name(context: &Context, record: &FileRecord) -> String {
    let file = record.path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let base = format!("{}-{}-{}", record.owner, file.trim_start_matches('.'), context.env.now.millis());
    let is_free = |name: &String| !backup_folder(&context.home).join(name).exists();
    let numbered = (2..).map(|number| format!("{base}-{number}"));
    std::iter::once(base.clone()).chain(numbered).find(is_free).unwrap_or(base)
}
