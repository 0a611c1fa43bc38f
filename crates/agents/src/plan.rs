//! A write as data: what would be added, what it would lose, how to take it back.

use std::path::{Path, PathBuf};

use carryover_core::time::Timestamp;
use carryover_core::transcript::{Action, Entry, Permission, SessionId};
use serde::{Deserialize, Serialize};

use crate::{Env, Store, Version};

/// One entry of the live context, ready to be written: blobs are in memory (`Place::Inline`), meanings are known.
#[derive(Debug, Clone)]
pub struct CarriedEntry {
    pub entry: Entry,
    /// Whose entry it is: the agent that first wrote it, not the one that it was last carried through.
    pub agent: &'static str,
    /// The meaning of a call; `Action::Other` for everything else.
    pub action: Action,
    /// The record as its agent wrote it, where that agent is the target: it is written back, not translated.
    pub native: Option<String>,
    /// Something of it was cut to fit.
    pub clipped: bool,
}

/// A session that is to be written.
#[derive(Debug)]
pub struct WriteRequest<'a> {
    pub entries: &'a [CarriedEntry],
    /// Stands for the older part of the session that did not fit; the target's own compaction carries it.
    pub brief: Option<&'a str>,
    pub title: Option<&'a str>,
    /// Where the user will go on: an existing, resolved directory.
    pub project: &'a Path,
    /// Where the session was; paths below it are moved to `project` where they are data.
    pub old_project: Option<&'a Path>,
    pub branch: Option<&'a str>,
    pub source_agent: &'static str,
    pub source_model: Option<&'a str>,
    pub started_at: Timestamp,
    /// The permission of the session's agent; the copy may do as much or less.
    pub permission: Permission,
    /// The estimated tokens of all that is carried.
    pub tokens: u64,
    /// Randomness as a parameter: ids are made from it by counting up.
    pub seed: u128,
    /// Set where it is a sub-agent's conversation that comes back with the session that it belongs to. Only agents whose
    /// sessions lie in one database together with those of their sub-agents are asked for that.
    pub sub_agent: Option<SubAgentLink<'a>>,
}

/// What ties a sub-agent's conversation to the session that started it.
#[derive(Debug, Clone, Copy)]
pub struct SubAgentLink<'a> {
    /// Its own id, by which that session knows it.
    pub id: &'a SessionId,
    /// The session above it.
    pub parent: &'a SessionId,
}

/// The parts of the target that a writer may look at.
#[derive(Debug)]
pub struct TargetView<'a> {
    pub env: &'a Env,
    pub store: &'a Store,
    /// The installed client, if there is one.
    pub program: Option<&'a Path>,
    pub version: Option<Version>,
}

/// Which entry a written record holds, for the way back.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WrittenEntry {
    /// Index into the request's entries.
    pub entry: usize,
    /// Where the record begins in the written session, or the digest of its name: what the key of a read entry holds.
    pub offset: u64,
}

/// Which records hold which entries.
pub type Origins = Vec<WrittenEntry>;

/// The reason of losses among which nothing is that was said.
pub const NOT_CONVERSATION: &str = "they are not the conversation, and stay behind";

/// Something that the target cannot hold.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Loss {
    pub what: &'static str,
    pub count: usize,
    pub reason: &'static str,
}

/// One step of a write.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum WriteOp {
    /// A new file; it must not exist. Written beside its place, synced, renamed.
    Create { path: PathBuf, bytes: Vec<u8>, private: bool, modified: Timestamp },
    /// A small file that the sessions of a project share: made where there is none, and gone with the last of them.
    CreateShared { path: PathBuf, bytes: Vec<u8>, modified: Timestamp },
    /// A line at the end of an index that its client only ever appends to.
    AppendLine { lines: SessionLines, line: String },
    /// A row in an editor's own database, or a member of the JSON that a row of it holds.
    AddRow(NewRow),
    /// A vendor's own command, which makes the session known to its client or puts it there in the first place.
    Run(VendorCommand),
}

/// Stands in the arguments and variables of a command for the private folder that is made for it and removed after it.
pub const TEMPORARY_FOLDER: &str = "{temporary}";

/// A vendor's own command.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct VendorCommand {
    pub program: PathBuf,
    pub args: Vec<String>,
    pub vars: Vec<(String, String)>,
    /// Where it is run; by default nowhere in particular.
    pub cwd: Option<PathBuf>,
    /// Files that are handed to it, by name, in its private folder.
    pub files: Vec<(String, Vec<u8>)>,
    /// The session is there through this command only: if it fails, so does the write. The failure of any other is a
    /// warning: the session is there, and its own id resumes it.
    pub required: bool,
    /// Lines to send, each only after the answer to the one before has come (`None`: no answer is awaited).
    pub dialogue: Vec<(String, Option<String>)>,
    pub reason: &'static str,
    /// How to take back what it adds.
    pub inverse: Inverse,
}

/// How what a command added is taken back.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Inverse {
    /// Rows of ours in the client's own indexes.
    pub rows: Vec<SessionRows>,
    /// Lines of ours in indexes that it only ever appends to.
    pub lines: Vec<SessionLines>,
}

/// Rows that belong to one session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SessionRows {
    pub database: PathBuf,
    pub table: &'static str,
    pub column: &'static str,
    pub value: String,
    /// Whether the value is only what the column begins with, as where each part of a session is a row.
    pub is_prefix: bool,
    /// Whether they are the session itself: if they change, somebody has gone on in it.
    pub is_session: bool,
    /// The row that they belong to, which the command makes where there is none: it goes with the last that does.
    pub owner: Option<OwnerRow>,
    /// Set where the row is its client's, and one member of the JSON in it is the session's.
    pub member: Option<JsonMember>,
}

/// One member of an object, or one element of an array, in the JSON that a row holds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JsonMember {
    /// The column that holds the JSON.
    pub column: &'static str,
    /// The names that lead from the root to the object or array.
    pub path: &'static [&'static str],
    pub holder: JsonHolder,
    pub name: String,
    /// The JSON of a row in which nobody has put anything yet: with it one begins that is not there, and ends.
    pub empty: &'static str,
    /// Set where sessions share it: it may be there already, and goes with the last that refers to it.
    pub referrer: Option<JsonReferrer>,
}

/// How a session refers to what it shares with others: by a member of the object that another row of the same table holds,
/// whose value is the name of what is shared.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JsonReferrer {
    /// The value by which that row is known.
    pub row: &'static str,
    /// The session's member there.
    pub name: String,
}

/// What holds something of a session's in JSON, and how it is known there by a name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum JsonHolder<Field = &'static str> {
    /// An object: the name is a member's.
    #[default]
    Object,
    /// An array of texts: the name is one of them.
    Texts,
    /// An array of objects: this field of one of them is the name.
    Objects(Field),
}

impl<Field> JsonHolder<Field> {
    /// The same with another kind of text.
    pub fn map<'a, Other>(&'a self, change: impl FnOnce(&'a Field) -> Other) -> JsonHolder<Other> {
        match self {
            Self::Object => JsonHolder::Object,
            Self::Texts => JsonHolder::Texts,
            Self::Objects(field) => JsonHolder::Objects(change(field)),
        }
    }
}

/// Something that is put into a database; nothing of it may be there yet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewRow {
    pub rows: SessionRows,
    pub content: RowContent,
}

/// What is put there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RowContent {
    /// A row of its own: the columns besides the one by which it is known.
    Cells(RowCells),
    /// Several rows of their own: what follows the value by which they are known, and the other columns of each.
    Parts(Vec<(String, RowCells)>),
    /// The member's value, as JSON.
    Json(String),
}

/// Columns of a row, with their values.
pub type RowCells = Vec<(&'static str, CellValue)>;

/// The value of a column.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CellValue {
    Null,
    Integer(i64),
    Text(String),
}

/// By what it is seen that an editor runs: it keeps its databases in memory then, and writes over what others put there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LifeSign {
    /// A process whose program has one of these names, without an ending.
    Program(&'static [&'static str]),
    /// A process whose program is in a folder of this name.
    ProgramFolder(&'static str),
    /// A file that holds the number of its process for as long as it runs.
    PidFile(PathBuf),
}

/// A row that rows of several sessions belong to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OwnerRow {
    pub table: &'static str,
    pub column: &'static str,
    /// The column in which others name it, in whatever table.
    pub referring_column: &'static str,
}

/// Lines that belong to one session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SessionLines {
    pub file: PathBuf,
    /// Text that every line about the session holds, and no other does.
    pub marker: String,
    /// The file by whose lock the client keeps two writers apart; it goes where the command first made it.
    pub lock: Option<PathBuf>,
}

/// How the user goes on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ResumeCommand {
    pub argv: Vec<String>,
    /// The directory that the client must be started in.
    pub cwd: PathBuf,
    /// Whether the client finds the session from there only.
    pub needs_cwd: bool,
}

/// A write, decided and not yet done.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WritePlan {
    pub session: SessionId,
    /// The file that holds the session, for reading it back.
    pub file: PathBuf,
    /// The session inside that file, where it holds several.
    pub key: Option<String>,
    pub ops: Vec<WriteOp>,
    pub resume: ResumeCommand,
    /// Entries whose tool was spelt in the target's own.
    pub translated: usize,
    pub losses: Vec<Loss>,
    pub origins: Origins,
}
