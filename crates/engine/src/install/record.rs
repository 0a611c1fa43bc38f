//! `install.json`: what was chosen, and everything that was written where.
//!
//! It is written before the files that it names, so that whatever is interrupted can be taken back.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::error::InstallError;
use super::json_entries::MadeMembers;
use super::read_list::MadeList;
use crate::own::files;
use crate::own::fingerprint::Fingerprint;
use crate::write::disk::Disk;

pub const SCHEMA: &str = "carryover.install/1";
const MAX_BYTES: u64 = 4 << 20;

/// The folder for copies of files as they were before us.
pub(super) fn backup_folder(home: &Path) -> PathBuf {
    home.join("backups")
}

/// The record's file.
pub fn file_path(home: &Path) -> PathBuf {
    home.join("install.json")
}

#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct InstallRecord {
    schema: String,
    /// Our program, as hooks call it.
    pub program: String,
    /// The agents that were chosen, whether they were there or not.
    pub agents: Vec<String>,
    /// How the next agent opens with a handoff, where that was chosen.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub protocol: Option<String>,
    /// Whether agents without hooks shall read the handoff at every start.
    #[serde(default)]
    pub uses_read_lists: bool,
    /// Whether agents that keep commands in files shall have ours.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub uses_commands: bool,
    /// Whether the daemon shall be a service.
    #[serde(default)]
    pub uses_service: bool,
    pub files: Vec<FileRecord>,
}

impl Default for InstallRecord {
    fn default() -> Self {
        Self {
            schema: SCHEMA.to_owned(),
            program: String::new(),
            agents: Vec::new(),
            protocol: None,
            uses_read_lists: false,
            uses_commands: false,
            uses_service: false,
            files: Vec::new(),
        }
    }
}

/// The form of what we wrote into a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum FileKind {
    /// Entries among those of others.
    Entries,
    /// A file that is ours alone.
    OwnFile,
    /// A command of ours, in a file of its own.
    Command,
    /// An item in a list of files to read.
    ReadList,
}

/// One file that we wrote into.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileRecord {
    /// The agent's id, or `SERVICE`.
    pub owner: String,
    pub kind: FileKind,
    /// As the agent names it; where it is a link, what it leads to was written.
    pub path: PathBuf,
    /// The client's version by which the events were chosen.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub events: Vec<String>,
    /// The file without us; none where it was not there.
    pub(crate) before: Option<Fingerprint>,
    pub(crate) after: Fingerprint,
    /// The name of the copy that holds the bytes of `before`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub backup: Option<String>,
    /// Folders that were made for it, the outermost first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub folders: Vec<PathBuf>,
    #[serde(default)]
    pub made: MadeMembers,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub made_list: Option<MadeList>,
}

/// The owner of the daemon's service file.
pub const SERVICE: &str = "daemon";

impl InstallRecord {
    /// The record of an earlier installation.
    pub fn load(home: &Path) -> Result<Option<Self>, InstallError> {
        let path = file_path(home);
        let Some(bytes) = files::read_bounded(&path, MAX_BYTES)? else { return Ok(None) };
        let wrong = |source| InstallError::Record { path: path.clone(), source };
        let record: Self = serde_json::from_slice(&bytes).map_err(wrong)?;
        if record.schema == SCHEMA {
            Ok(Some(record))
        } else {
            Err(wrong(serde::de::Error::custom("its schema is another one")))
        }
    }

    pub(super) fn save(&self, home: &Path, disk: &mut dyn Disk) -> Result<(), InstallError> {
        let mut text = serde_json::to_string_pretty(self).map_err(std::io::Error::other)?;
        text.push('\n');
        Ok(disk.write_own(&file_path(home), text.as_bytes())?)
    }

    /// What was written for somebody, in one form.
    pub(super) fn find_file(&self, owner: &str, kind: FileKind) -> Option<&FileRecord> {
        self.files.iter().find(|file| file.owner == owner && file.kind == kind)
    }

    /// Notes a file, in the place of what was noted for the same path.
    pub(super) fn put_file(&mut self, file: FileRecord) {
        match self.files.iter_mut().find(|known| known.owner == file.owner && known.path == file.path) {
            Some(known) => *known = file,
            None => self.files.push(file),
        }
    }

    /// Forgets a file, and gives the folders that were made for it. Those that hold another one of ours go with that.
    pub(super) fn forget_file(&mut self, file: &FileRecord) -> Vec<PathBuf> {
        let is_it = |known: &FileRecord| known.owner == file.owner && known.path == file.path;
        let Some(at) = self.files.iter().position(is_it) else { return Vec::new() };
        let folders = self.files.remove(at).folders;
        for folder in folders.iter().rev() {
            let inside = self.files.iter_mut().find(|known| known.path.starts_with(folder));
            if let Some(heir) = inside.filter(|heir| !heir.folders.contains(folder)) {
                heir.folders.insert(0, folder.clone());
            }
        }
        folders
    }
}
