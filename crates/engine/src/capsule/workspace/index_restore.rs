//! Staging again what was staged.

use std::collections::BTreeMap;
use std::io::{self, Read, Write};
use std::path::PathBuf;
use std::process::Stdio;

use super::super::CapsuleError;
use super::super::open::IMPORT_FOLDER;
use super::super::staging::StagingFolder;
use super::git_state::Repository;
use super::snapshot::change_path;
use super::{StagedChange, WorkspaceRecord};
use crate::context::Context;

const COULD_NOT: CapsuleError = CapsuleError::Git("stage what was staged");

/// Contents that wait to be staged, as numbered files of ours.
pub(super) struct IndexBlobs {
    folder: StagingFolder,
    by_path: BTreeMap<Vec<u8>, PathBuf>,
}

impl IndexBlobs {
    pub(super) fn new(context: &Context) -> Result<Self, CapsuleError> {
        Ok(Self { folder: StagingFolder::create(context, IMPORT_FOLDER)?, by_path: BTreeMap::new() })
    }

    pub(super) fn take_in(&mut self, path: &[u8], content: &mut dyn Read) -> Result<(), CapsuleError> {
        let place = self.folder.path().join(self.by_path.len().to_string());
        io::copy(content, &mut fs_err::File::create(&place)?)?;
        self.by_path.insert(path.to_vec(), place);
        Ok(())
    }

    /// Brings the index of a checkout into the state that it was in; false where nothing was staged.
    pub(super) fn stage(&self, repository: &Repository<'_>, record: &WorkspaceRecord) -> Result<bool, CapsuleError> {
        let ids = self.write_blobs(repository)?;
        let mut lines = Vec::new();
        for change in &record.changes {
            let path = change_path(&change.path)?;
            let entry = match &change.staged {
                Some(StagedChange::Written { mode }) => {
                    let id =
                        ids.get(&path).ok_or_else(|| CapsuleError::refused(&path, "is staged, and has no content"))?;
                    format!("{mode} {id} 0\t")
                }
                Some(StagedChange::Deleted) => format!("0 {} 0\t", repository.null_id()),
                Some(StagedChange::Omitted) | None => continue,
            };
            lines.extend_from_slice(entry.as_bytes());
            lines.extend_from_slice(&path);
            lines.push(0);
        }
        if !lines.is_empty() {
            run_git(repository, &["update-index", "-z", "--index-info"], lines)?;
        }
        Ok(record.changes.iter().any(|change| change.staged.is_some()))
    }

    /// Puts the contents among git's own; their names by their paths.
    fn write_blobs(&self, repository: &Repository<'_>) -> Result<BTreeMap<Vec<u8>, String>, CapsuleError> {
        if self.by_path.is_empty() {
            return Ok(BTreeMap::new());
        }
        let mut places = Vec::new();
        for place in self.by_path.values() {
            // Quoted where a name of our own folder has a line in it.
            places.extend_from_slice(
                place.to_str().filter(|place| !place.contains(['\n', '"'])).ok_or(COULD_NOT)?.as_bytes(),
            );
            places.push(b'\n');
        }
        let told = run_git(repository, &["hash-object", "-w", "--no-filters", "--stdin-paths"], places)?;
        let told = String::from_utf8(told).map_err(|_| COULD_NOT)?;
        let ids: Vec<&str> = told.lines().collect();
        let is_id = |id: &&str| id.len() >= 40 && id.bytes().all(|byte| byte.is_ascii_hexdigit());
        if ids.len() != self.by_path.len() || !ids.iter().all(is_id) {
            return Err(COULD_NOT);
        }
        Ok(self.by_path.keys().cloned().zip(ids.into_iter().map(str::to_owned)).collect())
    }
}

pub(super) fn run_git(repository: &Repository<'_>, args: &[&str], input: Vec<u8>) -> Result<Vec<u8>, CapsuleError> {
    let mut command = repository.query.unfiltered_command(&repository.filters, args);
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn()?;
    let writing = child.stdin.take().map(|mut stdin| std::thread::spawn(move || stdin.write_all(&input)));
    let output = child.wait_with_output()?;
    let is_told = writing.is_some_and(|writing| writing.join().is_ok_and(|written| written.is_ok()));
    if output.status.success() && is_told { Ok(output.stdout) } else { Err(COULD_NOT) }
}
