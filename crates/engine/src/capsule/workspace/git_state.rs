//! The state of a repository: what is tracked, staged, changed and new, as git tells it in bytes.

use std::collections::BTreeMap;
use std::path::Path;

use carryover_core::plain::one_line;
use serde::{Deserialize, Serialize};

use super::super::CapsuleError;
use crate::context::Context;
use crate::handoff::workspace::{FilterOverrides, GitQuery, find_repository};

const STATUS_ARGS: &[&str] = &[
    "status",
    "--porcelain=v2",
    "-z",
    "--untracked-files=all",
    "--ignore-submodules=all",
    "--no-renames",
    "--no-ahead-behind",
];
/// Everything below a folder that is not ignored.
const KEPT_ARGS: &[&str] = &["ls-files", "--cached", "--others", "--exclude-standard", "-z"];
/// With a letter before each, which tells what git was told to overlook.
const MARKED_LIST_ARGS: &[&str] = &["ls-files", "--stage", "-v", "-z"];
const PLAIN_MARK: &str = "H";
/// The letter of a file that need not be there; small letters are those of files that are taken for unchanged.
const SKIPPED_MARK: u8 = b'S';
const SUBMODULE_MODE: &str = "160000";

/// A repository that can be asked about its files.
pub(super) struct Repository<'a> {
    pub(super) query: GitQuery<'a>,
    pub(super) filters: FilterOverrides,
    pub(super) commit: Option<String>,
    pub(super) branch: Option<String>,
}

/// A path that differs from the commit.
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "each is told by git on its own")]
pub(super) struct ChangedPath {
    pub(super) path: Vec<u8>,
    pub(super) staged: Option<Staged>,
    pub(super) is_deleted: bool,
    /// It has several versions in the index, which are not taken.
    pub(super) is_unmerged: bool,
    /// Git was told that it will be added, and nothing more.
    pub(super) is_intended: bool,
    /// Git does not know it.
    pub(super) is_new: bool,
}

impl ChangedPath {
    fn new(path: Vec<u8>) -> Self {
        Self { path, staged: None, is_deleted: false, is_unmerged: false, is_intended: false, is_new: false }
    }
}

/// An entry of an index.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct IndexEntry {
    pub(crate) mode: String,
    pub(crate) id: String,
    /// It is neither in conflict nor one that git was told to overlook.
    pub(crate) is_plain: bool,
}

/// The paths of an index: files, and submodules apart.
pub(super) struct TrackedPaths {
    pub(super) files: Vec<Vec<u8>>,
    pub(super) submodules: Vec<Vec<u8>>,
    /// Those of the files whose changes git does not tell.
    pub(super) overlooked: Vec<Overlooked>,
}

/// A file that git was told to overlook.
pub(super) struct Overlooked {
    pub(super) path: Vec<u8>,
    pub(super) id: String,
    /// It need not be there at all, as in a sparse checkout.
    pub(super) may_be_missing: bool,
}

/// What stands in the index in the place of what the commit has.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Staged {
    Blob { mode: String, id: String },
    Deleted,
}

impl<'a> Repository<'a> {
    /// The repository that is in this folder; none where there is none, or no git.
    pub(super) fn open(context: &'a Context, root: &'a Path) -> Option<Self> {
        let query = GitQuery::new(context, root).filter(|query| query.root() == root && query.is_own())?;
        let filters = query.disable_filters()?;
        Some(Self::with_query(query.with_patience(), filters))
    }

    /// The repository that decides what is ignored in this folder, which may be one above it; none where there is none. One that
    /// cannot be asked is an error: what it ignores would be taken for what it keeps.
    pub(super) fn find(context: &'a Context, folder: &'a Path) -> Result<Option<Self>, CapsuleError> {
        if find_repository(folder).is_none() {
            return Ok(None);
        }
        let unasked = |reason: &str| CapsuleError::Unasked { folder: folder.to_owned(), reason: one_line(reason, 300) };
        let query = GitQuery::new(context, folder).ok_or_else(|| unasked("no git is found on the PATH"))?;
        if !query.is_own() {
            let complaint = query.complaint();
            let elsewhere = "its repository lies elsewhere, and does not say that it belongs here";
            return Err(unasked(complaint.as_deref().unwrap_or(elsewhere)));
        }
        let filters = query.disable_filters();
        let filters = filters.ok_or_else(|| unasked("its settings name files elsewhere, or filters of an odd name"))?;
        Ok(Some(Self::with_query(query.with_patience(), filters)))
    }

    fn with_query(query: GitQuery<'a>, filters: FilterOverrides) -> Self {
        let line =
            |args: &[&str]| query.ask(args).map(|answer| answer.trim().to_owned()).filter(|line| !line.is_empty());
        let commit = line(&["rev-parse", "--verify", "--quiet", "HEAD^{commit}"]);
        let branch = line(&["branch", "--show-current"]);
        Self { query, filters, commit, branch }
    }

    /// The name of no object, as long as the names of objects are here.
    pub(super) fn null_id(&self) -> String {
        "0".repeat(self.commit.as_ref().map_or(40, String::len))
    }

    /// Whether it is in this folder, and not in one above it.
    pub(super) fn is_at(&self, folder: &Path) -> bool {
        self.query.root() == folder
    }

    /// Everything below its folder that it does not ignore; what ends in a slash is a repository of its own.
    pub(super) fn kept_paths(&self) -> Result<Vec<Vec<u8>>, CapsuleError> {
        let told = self.query.ask_bytes(&self.filters, KEPT_ARGS).ok_or(CapsuleError::Git("list its files"))?;
        let paths = told.split(|byte| *byte == 0).filter(|path| !path.is_empty());
        Ok(paths.map(<[u8]>::to_vec).collect())
    }

    /// The paths that differ from the commit, new ones included.
    pub(super) fn changed_paths(&self) -> Result<Vec<ChangedPath>, CapsuleError> {
        let told = self.query.ask_bytes(&self.filters, STATUS_ARGS);
        let told = told.ok_or(CapsuleError::Git("tell what was changed"))?;
        parse_status(&told).ok_or(CapsuleError::Git("tell what was changed in words that are understood"))
    }

    /// The entries of the index, by path.
    pub(super) fn index_entries(&self) -> Result<BTreeMap<Vec<u8>, IndexEntry>, CapsuleError> {
        const COULD_NOT: CapsuleError = CapsuleError::Git("list its files");
        let told = self.query.ask_bytes(&self.filters, MARKED_LIST_ARGS).ok_or(COULD_NOT)?;
        let mut entries = BTreeMap::new();
        for record in told.split(|byte| *byte == 0).filter(|record| !record.is_empty()) {
            let tab = record.iter().position(|byte| *byte == b'\t').ok_or(COULD_NOT)?;
            let head = std::str::from_utf8(&record[..tab]).map_err(|_| COULD_NOT)?;
            let [mark, mode, id, stage] = head.split(' ').collect::<Vec<_>>().try_into().map_err(|_| COULD_NOT)?;
            let is_plain = mark == PLAIN_MARK && stage == "0";
            entries
                .insert(record[tab + 1..].to_vec(), IndexEntry { mode: mode.to_owned(), id: id.to_owned(), is_plain });
        }
        Ok(entries)
    }

    /// The bytes of a blob; none where git does not give them.
    pub(super) fn read_blob(&self, id: &str) -> Option<Vec<u8>> {
        let is_id = id.len() >= 40 && id.bytes().all(|byte| byte.is_ascii_hexdigit());
        self.query.ask_bytes(&self.filters, &["cat-file", "blob", id]).filter(|_| is_id)
    }

    /// The paths that are tracked.
    pub(super) fn tracked_paths(&self) -> Result<TrackedPaths, CapsuleError> {
        const COULD_NOT: CapsuleError = CapsuleError::Git("list its files");
        let told = self.query.ask_bytes(&self.filters, MARKED_LIST_ARGS).ok_or(COULD_NOT)?;
        let mut tracked = TrackedPaths { files: Vec::new(), submodules: Vec::new(), overlooked: Vec::new() };
        for record in told.split(|byte| *byte == 0).filter(|record| !record.is_empty()) {
            let tab = record.iter().position(|byte| *byte == b'\t').ok_or(COULD_NOT)?;
            let (mark, path) = (record[0], record[tab + 1..].to_vec());
            if word(record, 1) == Some(SUBMODULE_MODE) {
                tracked.submodules.push(path);
                continue;
            }
            let may_be_missing = mark.eq_ignore_ascii_case(&SKIPPED_MARK);
            if may_be_missing || mark.is_ascii_lowercase() {
                let id = word(record, 2).ok_or(COULD_NOT)?.to_owned();
                tracked.overlooked.push(Overlooked { path: path.clone(), id, may_be_missing });
            }
            tracked.files.push(path);
        }
        tracked.files.dedup();
        Ok(tracked)
    }
}

/// The commit that a folder is at, where it is in a repository.
pub(in crate::capsule) fn head_commit(context: &Context, folder: &Path) -> Option<String> {
    let query = GitQuery::new(context, folder).filter(GitQuery::is_own)?;
    let told = query.ask(&["rev-parse", "--verify", "--quiet", "HEAD^{commit}"])?;
    Some(told.trim().to_owned()).filter(|commit| !commit.is_empty())
}

/// Takes the answer apart; none where it is not of the form that we asked for.
fn parse_status(told: &[u8]) -> Option<Vec<ChangedPath>> {
    let mut changed = Vec::new();
    for record in told.split(|byte| *byte == 0).filter(|record| !record.is_empty()) {
        match record[0] {
            b'1' if is_submodule(record)? => {}
            b'1' => changed.push(parse_changed(record)?),
            b'u' => {
                let path = nth_field(record, 10)?.to_vec();
                changed.push(ChangedPath { is_unmerged: true, ..ChangedPath::new(path) });
            }
            b'?' => {
                changed.push(ChangedPath { is_new: true, ..ChangedPath::new(record.get(2..)?.to_vec()) });
            }
            _ => return None,
        }
    }
    changed.sort_by(|a, b| (&a.path, a.staged.is_none()).cmp(&(&b.path, b.staged.is_none())));
    // What was taken out of the index and is still there is told twice.
    changed.dedup_by(|again, first| {
        let is_same = again.path == first.path;
        first.is_deleted &= !is_same;
        is_same
    });
    Some(changed)
}

/// `1 XY sub mH mI mW hH hI path`
fn parse_changed(record: &[u8]) -> Option<ChangedPath> {
    let [state, index_mode, index_id] = [word(record, 1)?, word(record, 4)?, word(record, 7)?];
    let (in_index, in_tree) = (state.chars().next()?, state.chars().nth(1)?);
    let staged = match in_index {
        '.' => None,
        'D' => Some(Staged::Deleted),
        _ => Some(Staged::Blob { mode: index_mode.to_owned(), id: index_id.to_owned() }),
    };
    // Where it is there all the same, it is told once more, as new.
    let is_deleted = in_tree == 'D' || in_index == 'D';
    let is_intended = (in_index, in_tree) == ('.', 'A');
    Some(ChangedPath { staged, is_deleted, is_intended, ..ChangedPath::new(nth_field(record, 8)?.to_vec()) })
}

fn is_submodule(record: &[u8]) -> Option<bool> {
    Some(word(record, 2)?.starts_with('S') || word(record, 4)? == SUBMODULE_MODE)
}

/// One field of a record.
fn word(record: &[u8], n: usize) -> Option<&str> {
    std::str::from_utf8(nth_field(record, n)?.split(|byte| *byte == b' ').next()?).ok()
}

/// The rest of a record from its n-th field on.
fn nth_field(record: &[u8], n: usize) -> Option<&[u8]> {
    let mut rest = record;
    for _ in 0..n {
        let space = rest.iter().position(|byte| *byte == b' ')?;
        rest = &rest[space + 1..];
    }
    Some(rest)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_of_change_is_told_apart() {
        let told = b"1 .M N... 100644 100644 100644 aa aa a b.txt\x001 A. N... 000000 100755 100755 00 cc new\0\
            1 D. N... 100644 000000 000000 aa 00 gone\x001 .M S..U 160000 160000 160000 aa aa sub\0\
            u UU N... 100644 100644 100644 100644 a b c both\0? odd\xff name\0\
            1 D. N... 100644 000000 000000 aa 00 kept\0? kept\0\
            1 .A N... 000000 000000 100644 00 00 soon\0";
        let changed = parse_status(told).unwrap();
        let names: Vec<_> = changed.iter().map(|changed| String::from_utf8_lossy(&changed.path).into_owned()).collect();
        assert_eq!(names, ["a b.txt", "both", "gone", "kept", "new", "odd\u{fffd} name", "soon"]);
        assert!(changed[6].is_intended && !changed[4].is_intended);
        assert!(changed[5].is_new && !changed[3].is_new && !changed[0].is_new);
        assert_eq!(changed[0].staged, None);
        assert!(changed[1].is_unmerged);
        assert_eq!((&changed[2].staged, changed[2].is_deleted), (&Some(Staged::Deleted), true));
        assert_eq!((&changed[3].staged, changed[3].is_deleted), (&Some(Staged::Deleted), false));
        assert_eq!(changed[4].staged, Some(Staged::Blob { mode: "100755".into(), id: "cc".into() }));
        assert_eq!(parse_status(b"nonsense\0"), None);
    }
}
