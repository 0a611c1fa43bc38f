//! The files that a file continues: a fork that of another session, a revert the earlier file of its own.
//!
//! Neither copies anything. The new file's first record names the file that it continues and where in it that ends.

use std::collections::BTreeSet;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use super::meta::{WireBase, WireMeta};
use super::rollout;
use crate::AgentError;
use crate::formats::jsonl::{self, Line};

/// Every revert adds one; nobody reverts that often.
const MAX_BASES: usize = 255;

/// A file whose beginning another one continues.
#[derive(Debug)]
pub(super) struct BaseFile {
    pub(super) path: PathBuf,
    pub(super) meta: WireMeta,
    /// Whether it is an earlier file of the same session.
    pub(super) is_own: bool,
    /// Where it was left.
    pub(super) end: WireBase,
}

impl BaseFile {
    /// Whether a record came after it was left.
    pub(super) fn ends_before(&self, ordinal: Option<u64>, offset: u64) -> bool {
        match (ordinal, self.end.end_ordinal_exclusive, self.end.end_byte_offset) {
            (Some(ordinal), Some(end), _) => ordinal >= end,
            (_, _, Some(end)) => offset >= end,
            _ => false,
        }
    }
}

/// The files that a file continues, nearest first. Bases are sought among `files`; a circle is ended where it closes.
pub(super) fn find_bases(path: &Path, files: &[PathBuf]) -> Result<Vec<BaseFile>, AgentError> {
    let mut bases: Vec<BaseFile> = Vec::new();
    let WireMeta { id: own, base: mut next, .. } = read_meta(path)?;
    while let Some(end) = next.take() {
        let is_meant = |path: &&PathBuf| rollout::parse_name(path).is_some_and(|name| name.file == end.thread_id);
        let file = rollout::newest_file(files.iter().filter(is_meant));
        let (Some(file), true) = (file, bases.len() < MAX_BASES) else {
            return Err(AgentError::MissingBase { path: path.to_owned(), missing: end.thread_id });
        };
        if file == path || bases.iter().any(|base| base.path == *file) {
            break;
        }
        let meta = read_meta(file)?;
        next.clone_from(&meta.base);
        bases.push(BaseFile { path: file.clone(), is_own: meta.id == own, meta, end });
    }
    Ok(bases)
}

/// Which file of a session is in use: the newest that no other one continues.
pub(super) fn current_file<'a>(of_session: &[&'a PathBuf]) -> Option<&'a PathBuf> {
    if let [one] = of_session {
        return Some(one);
    }
    // A file that cannot be read names none; whoever reads the session says so.
    let base_of = |path: &&PathBuf| read_meta(path).ok()?.base.map(|base| base.thread_id);
    let continued: BTreeSet<String> = of_session.iter().filter_map(base_of).collect();
    let is_last = |path: &&PathBuf| rollout::parse_name(path).is_some_and(|name| !continued.contains(name.file));
    let files = || of_session.iter().copied();
    rollout::newest_file(files().filter(is_last)).or_else(|| rollout::newest_file(files()))
}

/// A file's first record; one that is something else tells nothing.
fn read_meta(path: &Path) -> Result<WireMeta, AgentError> {
    let mut meta = None;
    jsonl::scan_records(
        path,
        0,
        |line: Line<'_>| Some(WireMeta::parse(line.bytes)),
        |found| {
            meta = found;
            ControlFlow::Break(())
        },
    )?;
    Ok(meta.unwrap_or_default())
}
