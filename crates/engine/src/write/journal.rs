//! The record of each resume, so that it can be read back, superseded, taken back, and found again on the way home.
//!
//! `resumes/<id>.json` is small and read often; `resumes/<id>.lineage.json` is as long as the session and read only when
//! that session is resumed.

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};

use carryover_agents::JsonHolder;
use carryover_core::time::Timestamp;
use carryover_core::transcript::{EntryKey, SessionId};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::context::Context;
use crate::conversations::status::StatusNote;
use crate::handoff::pointer::Pointer;
use crate::own::files;
use crate::own::fingerprint::Fingerprint;
use crate::write::disk::Disk;
use crate::write::replaced::ReplacedFile;

const SCHEMA: &str = "carryover.journal/1";
/// The same shape, as it was called before what `resume --json` prints had that name for itself.
const EARLIER_SCHEMA: &str = "carryover.resume/1";
const LINEAGE_SCHEMA: &str = "carryover.lineage/1";
/// Whose the source of a session is that was brought back from the ledger.
pub(crate) const FROM_LEDGER: &str = "ledger";
/// Whose target the standing pointers in a project are: nobody's session.
pub(crate) const STANDING_POINTERS: &str = "handoff";
/// Whose target a conversation is that was saved in its project.
pub const SAVED_CONVERSATION: &str = "conversation";
/// Whose target a folder is that the files of a capsule were put into.
pub(crate) const RESTORED_WORKSPACE: &str = "workspace";
/// No session is put into more values of others.
const MAX_BACKUPS: usize = 16;
const LINEAGE_SUFFIX: &str = ".lineage";
const WORKSPACE_SUFFIX: &str = ".workspace";
const MAX_BYTES: u64 = 256 << 20;

/// How far a resume came.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum State {
    /// Begun; if nobody is at it, it was cut short.
    Writing,
    Done,
    Undone,
}

/// How the messages of a saved conversation were sealed. It stays on this machine.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct SealedNote {
    /// The SHA-256 of what was sealed, by which we know that nothing has changed.
    pub(crate) plain: String,
    /// The public keys that it was sealed for; none where it was a passphrase.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) recipients: Vec<String>,
}

/// Files that were put into a folder, told by a journal of their own: what is in it is in `resumes/<id>.workspace.json`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct WorkspaceNote {
    pub(crate) files: usize,
    /// The resume whose session goes on there, by its id; none before it is written.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) resume: Option<String>,
}

/// A session of an agent, by name.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct SessionRef {
    pub agent: String,
    pub session: SessionId,
}

/// A file as we left it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct WrittenFile {
    pub(crate) path: PathBuf,
    pub(crate) size: u64,
    pub(crate) digest: Fingerprint,
    /// Others need it as much as we do: it goes when nothing else is left in its folder.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(crate) shared: bool,
}

impl WrittenFile {
    pub(crate) fn from_bytes(path: &Path, bytes: &[u8]) -> Self {
        Self { path: path.to_owned(), size: bytes.len() as u64, digest: Fingerprint::from_bytes(bytes), shared: false }
    }
}

/// Rows of ours in a client's own index.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Rows {
    pub(crate) database: PathBuf,
    pub(crate) table: String,
    pub(crate) column: String,
    pub(crate) value: String,
    /// Whether the value is only what the column begins with.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(crate) is_prefix: bool,
    /// As we left them, where they are the session itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) left: Option<Fingerprint>,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(crate) is_session: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) owner: Option<Owner>,
    /// Set where the row is its client's, and one member of the JSON in it is ours.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) member: Option<Member>,
}

/// A member of ours, or an element, in JSON that a row of a client's holds.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Member {
    pub(crate) column: String,
    pub(crate) path: Vec<String>,
    #[serde(default)]
    pub(crate) holder: JsonHolder<String>,
    pub(crate) name: String,
    /// The JSON that the row was begun with, where it was not there before.
    pub(crate) empty: String,
    pub(crate) is_row_new: bool,
    /// Set where sessions share it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) referrer: Option<Referrer>,
}

/// The member by which a session refers to what it shares, in the object that another row holds.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Referrer {
    pub(crate) row: String,
    pub(crate) name: String,
}

/// The row that rows of ours belong to, in a client's own index.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Owner {
    pub(crate) table: String,
    pub(crate) column: String,
    /// The column in which others name it.
    pub(crate) by: String,
    /// Those that were there before: they stay.
    pub(crate) before: Vec<String>,
}

/// Lines of ours in a client's own index.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Lines {
    pub(crate) file: PathBuf,
    pub(crate) containing: String,
    /// The file whose lock the client holds while it writes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) lock: Option<PathBuf>,
    /// It was not there before.
    #[serde(default)]
    pub(crate) is_lock_new: bool,
}

/// A block of ours in a file that others write, too.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Block {
    pub(crate) file: PathBuf,
    /// The block as we left it.
    pub(crate) left: Fingerprint,
    /// The rest that we wrote there, where the file was not there before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) rest: Option<Fingerprint>,
    /// Which of the pointers in the block is meant.
    #[serde(default)]
    pub(crate) pointer: Pointer,
}

/// A line of ours in the project's own list of what git ignores.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct IgnoreLine {
    pub(crate) file: PathBuf,
    /// The text put at its end: the line, and the line break that the one before it lacked.
    pub(crate) added: String,
}

/// One resume.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Journal {
    pub(crate) schema: String,
    pub(crate) id: String,
    /// Counts up: times can be equal, and clocks go back.
    pub(crate) number: u64,
    pub(crate) state: State,
    pub(crate) at: Timestamp,
    pub(crate) source: SessionRef,
    /// What the source calls itself, where it is a file that is known by its place.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) source_name: Option<SessionId>,
    pub(crate) target: SessionRef,
    /// The session's title, masked: a journal outlives the session.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) title: Option<String>,
    pub(crate) project: PathBuf,
    /// The file that holds the session.
    pub(crate) session_file: PathBuf,
    /// The session inside that file, where it holds several.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) session_key: Option<String>,
    pub(crate) files: Vec<WrittenFile>,
    /// Folders that did not exist before, outermost first.
    pub(crate) folders: Vec<PathBuf>,
    /// Files that were there before, as they were: they are put back, and not removed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) replaced: Vec<ReplacedFile>,
    /// The status of a conversation that goes on with this.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) status: Option<StatusNote>,
    pub(crate) rows: Vec<Rows>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) lines: Vec<Lines>,
    /// Where a brief was left instead of a session.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) blocks: Vec<Block>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) ignored: Option<IgnoreLine>,
    /// It stands in an editor's own database, which is touched only while the editor is closed.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(crate) is_in_editor: bool,
    /// The files of instructions that were looked at for standing pointers, whether they got one or not.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) pointer_files: Vec<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) sealed: Option<SealedNote>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) workspace: Option<WorkspaceNote>,
}

/// A file that entries were taken from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct SourceFile {
    pub(crate) path: PathBuf,
    pub(crate) length: u64,
    pub(crate) head: Fingerprint,
}

/// A session that entries were taken from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Ancestor {
    pub(crate) agent: String,
    pub(crate) path: PathBuf,
    pub(crate) key: Option<String>,
    pub(crate) files: Vec<SourceFile>,
}

/// An entry that was carried, where it came from, and where it went.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Origin {
    /// Index of the ancestor.
    pub(crate) from: usize,
    pub(crate) key: EntryKey,
    pub(crate) check: Fingerprint,
    /// The answer that the client would have given, where the entry is one; the key is then that of the call.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) answer: Option<String>,
    /// Where the records that hold it begin in the written session; none where it was not carried.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) at: Vec<u64>,
}

/// Where everything in a written session came from, in order, with what was not written.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Lineage {
    pub(crate) schema: String,
    pub(crate) ancestors: Vec<Ancestor>,
    pub(crate) origins: Vec<Origin>,
    /// The live records as they were read back, where records have names and no places: all others came later, and one
    /// that says something else now is no longer ours.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub(crate) written: BTreeMap<u64, Fingerprint>,
}

impl Lineage {
    pub(crate) fn new(ancestors: Vec<Ancestor>, origins: Vec<Origin>) -> Self {
        Self { schema: LINEAGE_SCHEMA.to_owned(), ancestors, origins, written: BTreeMap::new() }
    }

    /// Keeps the places of records that the target's model would see. What was written for display only was not
    /// carried, and comes back from its source.
    pub(crate) fn keep_live(&mut self, live: &BTreeMap<u64, Fingerprint>) {
        for origin in &mut self.origins {
            origin.at.retain(|offset| live.contains_key(offset));
        }
    }

    /// The lineage of a resume, where it is still there and whole.
    pub(crate) fn load(context: &Context, id: &str) -> Option<Self> {
        let lineage: Self = load_json(&lineage_path(context, id))?;
        let whole = lineage.origins.iter().all(|origin| origin.from < lineage.ancestors.len());
        (lineage.schema == LINEAGE_SCHEMA && whole).then_some(lineage)
    }
}

impl Journal {
    pub(crate) fn schema_name() -> String {
        SCHEMA.to_owned()
    }

    /// One that has just begun and left nothing yet.
    pub(crate) fn begin(context: &Context, source: SessionRef, target: SessionRef, project: &Path) -> Self {
        let (id, number) = next_id(context);
        Self {
            schema: Self::schema_name(),
            id,
            number,
            state: State::Writing,
            at: context.env.now,
            source,
            source_name: None,
            target,
            title: None,
            project: project.to_owned(),
            session_file: PathBuf::new(),
            session_key: None,
            files: Vec::new(),
            folders: Vec::new(),
            replaced: Vec::new(),
            status: None,
            rows: Vec::new(),
            lines: Vec::new(),
            blocks: Vec::new(),
            ignored: None,
            is_in_editor: false,
            pointer_files: Vec::new(),
            sealed: None,
            workspace: None,
        }
    }

    /// Whether it keeps the pointers that stay in a project for as long as handoffs are published: they are taken back
    /// with the installation, and not by who takes back a resume.
    pub(crate) fn is_standing(&self) -> bool {
        self.target.agent == STANDING_POINTERS
    }

    /// Whether it tells of files that were put into a folder, which are taken back only where that is asked for.
    pub(crate) fn is_workspace(&self) -> bool {
        self.target.agent == RESTORED_WORKSPACE
    }

    /// Whether it tells of a conversation that was saved in its project.
    pub(crate) fn is_saved(&self) -> bool {
        self.target.agent == SAVED_CONVERSATION
    }

    /// Whether something that it left is in a folder.
    pub(crate) fn has_files_in(&self, folder: &Path) -> bool {
        let blocks = self.blocks.iter().map(|block| &block.file);
        let replaced = self.replaced.iter().map(|before| &before.path);
        self.files.iter().map(|left| &left.path).chain(blocks).chain(replaced).any(|file| file.starts_with(folder))
    }

    pub(crate) fn to_bytes(&self) -> io::Result<Vec<u8>> {
        Ok(serde_json::to_vec_pretty(self)?)
    }
}

pub(crate) fn folder_path(context: &Context) -> PathBuf {
    folder_in(&context.home)
}

/// The same, of a folder of ours.
pub(crate) fn folder_in(home: &Path) -> PathBuf {
    home.join("resumes")
}

pub(crate) fn file_path(context: &Context, id: &str) -> PathBuf {
    folder_path(context).join(format!("{id}.json"))
}

pub(crate) fn write(disk: &mut dyn Disk, context: &Context, journal: &Journal) -> io::Result<()> {
    disk.write_own(&file_path(context, &journal.id), &journal.to_bytes()?)
}

pub(crate) fn lineage_path(context: &Context, id: &str) -> PathBuf {
    folder_path(context).join(format!("{id}{LINEAGE_SUFFIX}.json"))
}

pub(crate) fn workspace_path(context: &Context, id: &str) -> PathBuf {
    folder_path(context).join(format!("{id}{WORKSPACE_SUFFIX}.json"))
}

/// The note of which of its files were put in their places so far.
pub(crate) fn placed_path(context: &Context, id: &str) -> PathBuf {
    folder_path(context).join(format!("{id}{WORKSPACE_SUFFIX}.placed"))
}

/// Copies of files that were there before, and that git could not bring back.
pub(crate) fn copies_path(context: &Context, id: &str) -> PathBuf {
    folder_path(context).join(format!("{id}{WORKSPACE_SUFFIX}.before"))
}

/// The copy of a value of an editor's as it was before ours was added to it.
pub(crate) fn backup_path(context: &Context, id: &str, number: usize) -> PathBuf {
    context.home.join("backups").join(format!("{id}-{number}.json"))
}

/// All of them that a resume has left.
pub(crate) fn list_backups(context: &Context, id: &str) -> Vec<PathBuf> {
    (0..MAX_BACKUPS).map(|number| backup_path(context, id, number)).filter(|path| path.is_file()).collect()
}

pub(crate) fn load_json<T: DeserializeOwned>(path: &Path) -> Option<T> {
    let bytes = files::read_bounded(path, MAX_BYTES).ok()??;
    serde_json::from_slice(&bytes).ok()
}

/// Every resume that is known, newest first. Files that are not ours or broken are passed over; `doctor` and `undo` name
/// them.
pub(crate) fn read_all(context: &Context) -> Vec<Journal> {
    let mut journals: Vec<Journal> = list_ids(context).iter().filter_map(|id| read_by_id(context, id)).collect();
    journals.sort_by_key(|journal| std::cmp::Reverse(journal.number));
    journals
}

/// The id and the number of the next resume. The id is easy to type: the first eight digits of the seed.
pub(crate) fn next_id(context: &Context) -> (String, u64) {
    let number = read_all(context).first().map_or(1, |newest| newest.number + 1);
    let short = |seed: u128| format!("{:08x}", seed >> 96);
    let mut seed = context.seed;
    while file_path(context, &short(seed)).exists() {
        seed = seed.wrapping_add(1 << 96);
    }
    (short(seed), number)
}

/// One resume; `None` where its file is missing or broken.
pub(crate) fn read_by_id(context: &Context, id: &str) -> Option<Journal> {
    let journal: Journal = load_json(&file_path(context, id))?;
    let lines = journal.lines.iter().flat_map(|lines| std::iter::once(&lines.file).chain(&lines.lock));
    let databases = journal.rows.iter().map(|rows| &rows.database);
    let blocks = journal.blocks.iter().map(|block| &block.file);
    let ignored = journal.ignored.iter().map(|ignored| &ignored.file);
    let replaced = journal.replaced.iter().map(|before| &before.path);
    let files = journal.files.iter().map(|left| &left.path).chain(blocks).chain(ignored).chain(replaced);
    let paths = files.chain(&journal.folders).chain(lines).chain(databases);
    let known = [SCHEMA, EARLIER_SCHEMA].contains(&journal.schema.as_str());
    let sound = known && journal.id == id && paths.into_iter().all(|path| path.is_absolute());
    sound.then_some(journal)
}

/// The ids of journals that are there and cannot be read.
pub(crate) fn unreadable_ids(context: &Context) -> Vec<String> {
    let mut ids: Vec<String> = list_ids(context).into_iter().filter(|id| read_by_id(context, id).is_none()).collect();
    ids.sort();
    ids
}

/// The ids for which there is a file.
pub(crate) fn list_ids(context: &Context) -> Vec<String> {
    let Ok(files) = fs_err::read_dir(folder_path(context)) else { return Vec::new() };
    let names = files.flatten().filter_map(|file| file.file_name().into_string().ok());
    let ids = names.filter_map(|name| name.strip_suffix(".json").map(str::to_owned));
    let is_beside = |id: &String| id.ends_with(LINEAGE_SUFFIX) || id.ends_with(WORKSPACE_SUFFIX);
    ids.filter(|id| !is_beside(id) && !id.starts_with('.')).collect()
}

/// Held while anything is written or taken back: two at once could each undo what the other does.
pub(crate) struct Lock {
    _file: std::fs::File,
}

impl Lock {
    /// Waits for others to finish; they are bounded in time.
    pub(crate) fn acquire(context: &Context) -> io::Result<Self> {
        let file = Self::open_file(context)?;
        file.lock()?;
        Ok(Self { _file: file })
    }

    /// Takes it only if nobody else has it.
    pub(crate) fn try_acquire(context: &Context) -> Option<Self> {
        let file = Self::open_file(context).ok()?;
        file.try_lock().ok()?;
        Some(Self { _file: file })
    }

    fn open_file(context: &Context) -> io::Result<std::fs::File> {
        let folder = folder_path(context);
        files::create_private_folder(&folder)?;
        let mut options = std::fs::OpenOptions::new();
        options.create(true).truncate(false).write(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        let path = folder.join(".lock");
        options.open(&path).map_err(|source| files::error_with_path(&path, source))
    }
}
