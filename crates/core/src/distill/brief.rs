//! The distiller's findings. Every item is verbatim words or a fact of structure, and says where it is recorded.

use serde::Serialize;

use super::{Commit, Git};
use crate::time::{Timestamp, text};
use crate::transcript::{EntryKey, SessionId, as_references};

/// Whose words an item is made of: only the user's and the agent's may become instructions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Voice {
    User,
    Agent,
    /// Output of a tool: to be quoted, bounded and labelled.
    Tool,
    /// The answer of the service behind the agent, in the place of a reply.
    Service,
    /// Seen in the project's folder.
    Workspace,
}

/// One finding.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Item {
    pub text: String,
    pub voice: Voice,
    #[serde(serialize_with = "text::perhaps")]
    pub at: Option<Timestamp>,
    /// The entries that it comes from.
    #[serde(serialize_with = "as_references")]
    pub entries: Vec<EntryKey>,
}

/// How the session stands, by structure alone.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum StateKind {
    /// Nothing was said.
    Empty,
    /// The agent had finished its turn and waits for the user.
    Waiting,
    /// The agent was in the middle of a turn.
    MidTurn,
    /// The last prompt got no answer.
    Unanswered,
    /// A question of a tool, or a plan that was laid before the user, has no answer.
    AskedUser,
    /// The user stopped the agent.
    Interrupted,
    /// A limit stopped it.
    Limit,
    /// An error of the service stopped it.
    ServiceError,
}

/// How the session stands.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct State {
    pub kind: StateKind,
    #[serde(serialize_with = "text::perhaps")]
    pub at: Option<Timestamp>,
    /// When a limit ends.
    #[serde(serialize_with = "text::perhaps")]
    pub until: Option<Timestamp>,
    /// The point at which it stopped: the call, the question, the service's words.
    pub detail: Option<Item>,
    /// The last lines that came back from the call it stopped at.
    pub output: Option<Item>,
    /// Prompts that the user typed ahead and the agent never saw.
    pub queued: Vec<Item>,
    /// Whether the context was cleared on the way: what was said before is nobody's task any more.
    pub cleared: bool,
}

/// The user's request, and the prompts that belong to it.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub struct Task {
    /// The last request of substance.
    pub request: Option<Item>,
    /// A shorter prompt that came after it.
    pub follow_up: Option<Item>,
    /// The agent's words before the shorter prompt, or before the request.
    pub in_reply_to: Option<Item>,
    /// The request with which the present context began, where that is another.
    pub began_with: Option<Item>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum DecisionKind {
    /// The user answered a question of a tool.
    Answered,
    /// The user approved a plan.
    Approved,
    /// The user turned down a call.
    Refused,
    /// A sentence of the user's that ranks as standing.
    Said,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Decision {
    pub kind: DecisionKind,
    /// The question that was asked; where a call was turned down, the user's words with it.
    pub question: Option<String>,
    #[serde(flatten)]
    pub what: Item,
    /// Of sentences, how they rank where room is short.
    #[serde(skip)]
    pub rank: u32,
}

/// A command whose last run failed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct FailingCommand {
    /// The command as it ran, or the call.
    #[serde(flatten)]
    pub what: Item,
    pub exit_code: Option<i32>,
    pub runs: usize,
    /// The lines of the output that tell the error.
    pub output: Vec<String>,
}

/// Something that was tried and did not work, or was taken back.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct FailedApproach {
    #[serde(flatten)]
    pub what: Item,
    pub kind: ApproachKind,
    /// How often it was tried.
    pub tries: usize,
    /// Of failures, a line of the last output; of edits, what took them back.
    pub detail: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum ApproachKind {
    /// The same aim was tried in several ways, and each failed.
    Failed,
    /// An edit was taken back.
    TakenBack,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum FileChange {
    Created,
    /// Written whole; whether it was there before is not recorded.
    Written,
    Modified,
    Deleted,
    /// Moved to another path.
    Moved,
    Read,
}

/// How a run of tests ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum TestResult {
    Passed,
    Failed,
    /// It came to an end, and nothing tells which.
    Unknown,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct TouchedFile {
    /// Relative to the project where it is inside, else as the session named it.
    pub path: String,
    pub change: FileChange,
    #[serde(serialize_with = "text::perhaps")]
    pub at: Option<Timestamp>,
    /// Functions and classes that were changed.
    pub symbols: Vec<String>,
    /// How the last run of tests ended that names the file and came after its last change.
    pub tests: Option<TestResult>,
    #[serde(serialize_with = "as_references")]
    pub entries: Vec<EntryKey>,
}

/// The last run of tests.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct TestRun {
    /// The command as it ran.
    #[serde(flatten)]
    pub what: Item,
    pub result: TestResult,
    /// The runner's own counts: `12 passed, 1 failed`.
    pub counts: Option<String>,
    /// Whether files were changed after it.
    pub edited_since: bool,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct CommandRun {
    /// As it ran the last time.
    pub command: String,
    pub runs: usize,
    pub failures: usize,
    /// How it ended the last time; none where the agent does not tell.
    pub exit_code: Option<i32>,
    pub failed: bool,
    /// Whether anything tells how it ended the last time.
    #[serde(rename = "end_known")]
    pub is_end_known: bool,
    /// The counts of a test run, in one line: `12 passed, 1 failed`.
    pub tests: Option<String>,
    #[serde(serialize_with = "text::perhaps")]
    pub at: Option<Timestamp>,
    #[serde(serialize_with = "as_references")]
    pub entries: Vec<EntryKey>,
}

/// The plan as the agent's own tool left it.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub struct Plan {
    pub done: Vec<Item>,
    pub in_progress: Vec<Item>,
    pub left: Vec<Item>,
}

/// Changes since the session ended, of which it does not know.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub struct Drift {
    /// Commits after the session's end.
    pub commits: Vec<Commit>,
    /// Files that were changed, or are gone, after the session last saw them.
    pub files: Vec<Item>,
}

/// A brief: what the next agent has to know.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Brief {
    pub agent: &'static str,
    #[serde(rename = "session_id")]
    pub session: SessionId,
    pub title: Option<String>,
    pub project: Option<String>,
    pub model: Option<String>,
    #[serde(serialize_with = "text::perhaps")]
    pub started_at: Option<Timestamp>,
    #[serde(serialize_with = "text::perhaps")]
    /// When something last happened; none where only the beginning is recorded.
    pub updated_at: Option<Timestamp>,
    /// When the brief was made.
    #[serde(serialize_with = "text::known")]
    pub made_at: Timestamp,
    /// Prompts of the user and replies.
    pub messages: usize,
    /// Names of the tools that were used, most used first.
    pub tools: Vec<String>,
    pub state: State,
    pub task: Task,
    /// The user's prompts, in order.
    pub requests: Vec<Item>,
    /// The agent's last messages, in order.
    pub last_words: Vec<Item>,
    pub plan: Plan,
    pub decisions: Vec<Decision>,
    /// In the order of the last failure.
    pub failing: Vec<FailingCommand>,
    pub failed: Vec<FailedApproach>,
    pub questions: Vec<Item>,
    /// The agent's own account, where the context was compacted: what it called pending or next.
    pub summary: Vec<Item>,
    /// The most recently touched first.
    pub files: Vec<TouchedFile>,
    pub todos: Vec<Item>,
    pub tests: Option<TestRun>,
    pub commands: Vec<CommandRun>,
    pub references: Vec<Item>,
    /// The step of the plan that was in progress, or the prompt that got no answer.
    pub next: Option<Item>,
    pub git: Option<Git>,
    /// Commits that were made during the session.
    pub commits: Vec<Commit>,
    pub drift: Drift,
}
