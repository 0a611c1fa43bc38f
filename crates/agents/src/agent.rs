//! The interface of an agent.

use std::fmt;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use carryover_core::time::Timestamp;
use carryover_core::transcript::{
    Action, Answer, Call, Entry, EntryKey, Fact, Header, Outcome, Refusal, RejectedRecord, SessionId, TranscriptBuilder,
};
use serde::{Deserialize, Serialize};

use crate::formats::{jsonl, refusal};
use crate::{AgentError, Env, Facts, LifeSign, ResumeCommand, SettingsView, TargetView, WritePlan, WriteRequest};

/// One coding agent. Each of the traits that it is made of is the matter of one file in its folder.
pub trait Agent: Discovery + Reader + Dialect + Send + Sync {
    /// Facts about it that are known without looking.
    fn facts(&self) -> &'static Facts;

    /// The stores that exist in these surroundings.
    fn stores(&self, env: &Env) -> Vec<Store> {
        let candidates = self.facts().store_candidates(env);
        candidates.into_iter().filter(|root| root.is_dir()).map(|root| Store { root }).collect()
    }

    /// The line that its client puts on a project's own list of what git ignores, where it keeps sessions with the work.
    fn ignore_line(&self) -> Option<&'static str> {
        None
    }

    /// The model that the next session would use, as far as the user's settings tell.
    fn current_model(&self, at: &SettingsView<'_>) -> Option<String> {
        let _ = at;
        None
    }

    /// The window of a model, where the user's settings tell it: the client goes by that.
    fn configured_window(&self, at: &SettingsView<'_>, model: Option<&str>) -> Option<u64> {
        let _ = (at, model);
        None
    }

    /// The command by which its client goes on with a session of its own, from the folder that it was in. None where the
    /// client has no way, or where the name is none that could be typed: it comes from a store, and becomes an argument.
    fn resume_command(&self, source: &Source, id: &SessionId, project: &Path) -> Option<ResumeCommand> {
        let _ = source;
        let form = &self.facts().resume;
        (!form.argv.is_empty() && is_plain_name(&id.0)).then(|| form.command(&id.0, project))
    }

    /// Sessions in a store that its client keeps from being read: they are counted, and never guessed at.
    fn unreadable_sessions(&self, store: &Store) -> Option<UnreadableSessions> {
        let _ = store;
        None
    }

    /// Where this reads files that were captured from an agent, in that agent's stead: the same reader, which masks nothing.
    /// Its records are not such as the agent's client wrote.
    fn as_captured(&self) -> Option<&'static dyn Agent> {
        None
    }

    /// Present where sessions can be written so that the client's own resume loads them.
    fn writer(&self) -> Option<&dyn Writer> {
        None
    }

    /// Present where sessions can be written into the databases of an editor, which is done for who has asked for it.
    fn editor_writer(&self) -> Option<&dyn EditorWriter> {
        None
    }
}

impl dyn Agent + '_ {
    /// Whether sessions can be written for it so that its client loads them, in a word for tables.
    pub fn describe_native(&self) -> &'static str {
        match (self.writer(), self.editor_writer()) {
            (Some(_), _) => "yes",
            (None, Some(_)) => "on request",
            (None, None) => "no",
        }
    }
}

/// Whether a session's name is safe as an argument: no option, no space, nothing that a shell or a client reads into it.
pub(crate) fn is_plain_name(name: &str) -> bool {
    let plain = |letter: char| letter.is_ascii_alphanumeric() || "-_.:@".contains(letter);
    !name.is_empty() && !name.starts_with('-') && name.chars().all(plain)
}

/// Takes a session that was found, and says whether more are wanted.
pub type FoundCallback<'a> = &'a mut dyn FnMut(FoundSession) -> ControlFlow<()>;

/// Finds sessions (`discover.rs`).
pub trait Discovery {
    /// Whether a loose file is a session of this agent, judged by its name and its first bytes.
    fn recognises(&self, path: &Path, head: &[u8]) -> bool;

    /// Tells every session of a store, from heads, tails and indexes alone. No order is promised.
    fn list_sessions(&self, store: &Store, found: FoundCallback<'_>) -> Result<(), AgentError>;

    /// The sessions in one file of a store, as `discover` would tell them: for a watcher, which knows the file that
    /// changed. Where a file holds many, those that changed long ago may be left out.
    fn sessions_in(&self, store: &Store, file: &Path) -> Result<Vec<FoundSession>, AgentError> {
        discover_in(self, store, file)
    }
}

/// Discovers a whole store for the sessions of one file.
pub(crate) fn discover_in<D: Discovery + ?Sized>(
    agent: &D,
    store: &Store,
    file: &Path,
) -> Result<Vec<FoundSession>, AgentError> {
    let mut found = Vec::new();
    let told = agent.list_sessions(store, &mut |session| {
        found.extend(Some(session).filter(|session| session.source.path == file));
        ControlFlow::Continue(())
    });
    // Other files that could not be opened are not its fault.
    if found.is_empty() {
        told?;
    }
    Ok(found)
}

/// Reads sessions (`read.rs`). Where nothing else is said, a session is a file, and a key points to bytes of it.
pub trait Reader {
    /// A bookmark shortly before the end of a session, for who wants to know its last entries only.
    fn bookmark_near_end(&self, source: &Source) -> Result<Bookmark, AgentError> {
        let _ = source;
        Ok(Bookmark::Start)
    }

    /// Reads a session from a bookmark on, up to its last whole record, and says where to go on later.
    ///
    /// Reading in two steps gives what reading at once gives.
    fn read_session(&self, source: &Source, from: &Bookmark, sink: &mut dyn Sink) -> Result<Bookmark, AgentError>;

    /// Reads the entries of one record again, whole.
    fn reload_entries(&self, header: &Header, key: EntryKey) -> Result<Vec<Entry>, AgentError>;

    /// The text of one record as its agent wrote it.
    fn read_record(&self, header: &Header, key: EntryKey) -> Result<String, AgentError> {
        jsonl::read_record(header, key)
    }

    /// The files around a session that are its own besides those that its header names: folders of outputs, of notes.
    fn companion_files(&self, source: &Source) -> Vec<PathBuf> {
        let _ = source;
        Vec::new()
    }

    /// A session that shares its file with others, as a document of its own. `None` where it has files of its own, which
    /// are then what is to be kept of it.
    fn export_session(&self, source: &Source) -> Result<Option<ExportedSession>, AgentError> {
        let _ = source;
        Ok(None)
    }

    /// The states of files that the store still holds, of those that a record of kept file states names.
    fn file_states(&self, header: &Header, key: EntryKey) -> Vec<FileState> {
        let _ = (header, key);
        Vec::new()
    }
}

/// Knows what this agent's calls and outcomes mean (`dialect.rs`).
pub trait Dialect {
    /// The meaning of a call. `outcome` is the record of its outcome, where some agents tell more than in the call.
    fn action(&self, call: &Call, outcome: Option<&str>) -> Action;

    /// The user's answers to a call that put questions; `outcome` is the record of its outcome.
    fn answers(&self, call: &Call, outcome: &str) -> Vec<Answer> {
        let _ = (call, outcome);
        Vec::new()
    }

    /// Whether an outcome says that the user turned the call down, and in which words. Clients put it in a tool's place.
    fn refusal(&self, outcome: &Outcome) -> Option<Refusal> {
        refusal::find_common_refusal(outcome)
    }

    /// Takes off what this agent's own harness wraps around what a call gave back; the next agent wraps it anew.
    fn strip_harness_text(&self, outcome: &mut Outcome) {
        let _ = outcome;
    }
}

/// Decides how a session is written (`write.rs`); touches nothing, may look at the target's store.
pub trait Writer {
    fn plan(&self, request: &WriteRequest<'_>, target: &TargetView<'_>) -> Result<WritePlan, AgentError>;

    /// Plans a session of this agent's own that moves as a whole: every record as its client wrote it, also what the client
    /// itself had said, but for what ties it to its old place. Its client then goes on as it would have there. None where
    /// the agent's sessions cannot be moved so, or this one cannot.
    fn plan_own(
        &self,
        own: &OwnSession<'_>,
        request: &WriteRequest<'_>,
        target: &TargetView<'_>,
    ) -> Result<Option<WritePlan>, AgentError> {
        let _ = (own, request, target);
        Ok(None)
    }
}

/// A session as its own client wrote it.
#[derive(Debug, Clone, Copy)]
pub struct OwnSession<'a> {
    pub source: &'a Source,
    /// The store that it lies in, or what came along of it.
    pub root: &'a Path,
    pub header: &'a Header,
    /// The home folder that its records speak of.
    pub old_home: Option<&'a Path>,
}

impl<F: Fn(&WriteRequest<'_>, &TargetView<'_>) -> Result<WritePlan, AgentError>> Writer for F {
    fn plan(&self, request: &WriteRequest<'_>, target: &TargetView<'_>) -> Result<WritePlan, AgentError> {
        self(request, target)
    }
}

/// Writes into an editor's own databases, on request only and while it is closed.
pub trait EditorWriter: Writer {
    /// Whether the editor knows a project in this store: there it would look for a session.
    fn knows_project(&self, store: &Store, project: &Path) -> bool;

    /// By what it is seen that the editor runs whose database this is.
    fn life_signs(&self, database: &Path) -> Vec<LifeSign>;

    /// How a person gets to the session there, in words.
    fn opening_advice(&self) -> &'static str;
}

/// Sessions that cannot be read by design, with the reason.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct UnreadableSessions {
    pub count: usize,
    pub reason: &'static str,
}

/// Where an agent keeps its sessions.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Store {
    pub root: PathBuf,
}

/// One session in a store, or a loose file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Source {
    pub path: PathBuf,
    /// The session inside a store that holds several in one file.
    pub key: Option<String>,
}

impl Source {
    /// A file that is one session, or whose newest one is meant.
    pub fn file(path: &Path) -> Self {
        Self { path: path.to_path_buf(), key: None }
    }
}

/// A session taken out of a file that it shares with others: the same reader reads it as a loose file.
#[derive(Clone, PartialEq, Eq)]
pub struct ExportedSession {
    /// What a file with it is called.
    pub name: &'static str,
    /// The document in pieces that change one by one; put together, they are all of it.
    pub pieces: Vec<Vec<u8>>,
    /// It is what its client would have written, were it the only session of the file.
    pub stands_alone: bool,
}

/// Prints lengths only: transcript text stays out of logs and errors.
impl fmt::Debug for ExportedSession {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "ExportedSession({} in {} pieces)", self.name, self.pieces.len())
    }
}

/// A file as it once was, kept by a client for going back to it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileState {
    /// As its client names it.
    pub path: String,
    /// The client's name for this state of it.
    pub name: String,
    pub content: String,
}

/// Whether a client has the session open.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Liveness {
    Live,
    NotLive,
    Unknown,
}

/// A session as a listing shows it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FoundSession {
    pub source: Source,
    pub id: SessionId,
    pub title: Option<String>,
    pub project: Option<PathBuf>,
    pub branch: Option<String>,
    pub started_at: Option<Timestamp>,
    pub updated_at: Option<Timestamp>,
    /// Exact, or not known without reading it all.
    pub messages: Option<u64>,
    pub bytes: u64,
    pub model: Option<String>,
    pub live: Liveness,
    /// Records were there, but none that we know: the format has drifted.
    pub drifted: bool,
}

/// Where a later reading goes on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Bookmark {
    #[default]
    Start,
    /// Read up to this byte; `head` is a digest of the file's beginning, by which a replaced file is noticed.
    Appended { offset: u64, head: u64 },
    /// Read so many records of a store that rewrites its past; `digest` is of what they were.
    Rows { count: u64, digest: u64 },
}

/// Takes what a reader finds. Stores that rewrite their past need more than append.
pub trait Sink {
    /// Whether what stands before the last compaction is wanted whole. Where it is not, a reader may tell it by kinds
    /// and places only, which spares most of the work on a long session.
    fn wants_full_history(&self) -> bool {
        true
    }

    fn learn(&mut self, fact: Fact) -> ControlFlow<()>;
    fn put(&mut self, entry: Entry) -> ControlFlow<()>;
    fn retract(&mut self, from: EntryKey) -> ControlFlow<()>;
    fn reject(&mut self, rejected: RejectedRecord) -> ControlFlow<()>;

    /// Takes back everything: the session is told anew.
    fn retract_all(&mut self) -> ControlFlow<()> {
        self.retract(EntryKey { file: 0, offset: 0, part: 0, length: 0 })
    }
}

impl Sink for TranscriptBuilder {
    fn wants_full_history(&self) -> bool {
        self.keeps_everything()
    }

    fn learn(&mut self, fact: Fact) -> ControlFlow<()> {
        self.learn(fact)
    }

    fn put(&mut self, entry: Entry) -> ControlFlow<()> {
        self.put(entry)
    }

    fn retract(&mut self, from: EntryKey) -> ControlFlow<()> {
        self.retract(from)
    }

    fn reject(&mut self, rejected: RejectedRecord) -> ControlFlow<()> {
        self.reject(rejected)
    }
}
