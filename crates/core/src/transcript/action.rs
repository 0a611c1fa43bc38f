//! The meaning of a call, whatever its tool is called.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

/// The meaning of a call. Texts borrow from the call's input where they can.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Action {
    /// A shell command.
    Run {
        command: String,
        workdir: Option<String>,
    },
    /// A file read, whole or from a line on.
    Read {
        path: String,
        offset: Option<u64>,
        limit: Option<u64>,
    },
    /// An image shown to the model.
    View {
        path: String,
    },
    /// A file written whole.
    Write {
        path: String,
        content: String,
    },
    /// Changes to files.
    Edit(Vec<Change>),
    /// A search in file contents.
    Grep {
        pattern: String,
        path: Option<String>,
        glob: Option<String>,
    },
    /// A search for file names.
    Glob {
        pattern: String,
        path: Option<String>,
    },
    Fetch {
        url: String,
    },
    /// The whole plan as it now stands.
    Plan(Vec<PlanStep>),
    /// A change of one step of a plan that is kept step by step.
    Step(StepChange),
    /// Work given to a sub-agent.
    Delegate {
        prompt: String,
        description: Option<String>,
    },
    /// Questions put to the user.
    Ask(Vec<Question>),
    /// A plan that is laid before the user to be approved.
    Propose {
        plan: String,
    },
    /// Everything else, MCP tools among it.
    Other,
}

/// A question put to the user by a tool.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Question {
    pub text: String,
    /// The answers that the user could choose from.
    pub options: Vec<String>,
}

/// The user's answer to a question that a tool put.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Answer {
    pub question: String,
    pub answer: String,
}

/// A change of one file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Change {
    Add { path: String, content: String },
    Update { path: String, moved_to: Option<String>, hunks: Vec<Hunk> },
    Delete { path: String },
}

/// One replacement in a file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Hunk {
    /// Where to look, as the patch names it (a function's head, say).
    pub context: Option<String>,
    pub old: String,
    pub new: String,
    /// Every occurrence, not just one.
    pub everywhere: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StepState {
    Pending,
    InProgress,
    Done,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlanStep {
    pub text: String,
    pub state: StepState,
}

/// A change of one step of a plan.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StepChange {
    /// A new step, which is pending. The name by which it is changed later stands in the outcome, not in the call.
    Add {
        id: Option<String>,
        text: String,
    },
    Update {
        id: String,
        text: Option<String>,
        state: Option<StepState>,
    },
    Drop {
        id: String,
    },
}

/// The user turned a call down.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Refusal {
    /// The user's words with it, where the client asks for them.
    pub words: Option<String>,
}

impl Action {
    /// The word for it in reports and JSON.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Run { .. } => "run",
            Self::Read { .. } => "read",
            Self::View { .. } => "view",
            Self::Write { .. } => "write",
            Self::Edit(_) => "edit",
            Self::Grep { .. } | Self::Glob { .. } => "search",
            Self::Fetch { .. } => "fetch",
            Self::Plan(_) | Self::Step(_) => "plan",
            Self::Delegate { .. } => "delegate",
            Self::Ask(_) => "ask",
            Self::Propose { .. } => "propose",
            Self::Other => "other",
        }
    }

    /// Its subject (a command, a path, a pattern), for one line of a report.
    pub fn subject(&self) -> Cow<'_, str> {
        match self {
            Self::Run { command, .. } => command.into(),
            Self::Read { path, .. } | Self::View { path } | Self::Write { path, .. } => path.into(),
            Self::Edit(changes) => changes.iter().map(Change::path).collect::<Vec<_>>().join(", ").into(),
            Self::Grep { pattern, .. } | Self::Glob { pattern, .. } => pattern.into(),
            Self::Fetch { url } => url.into(),
            Self::Plan(steps) => format!("{} steps", steps.len()).into(),
            Self::Delegate { prompt, description } => description.as_deref().unwrap_or(prompt).into(),
            Self::Ask(questions) => questions.iter().map(|one| one.text.as_str()).collect::<Vec<_>>().join("; ").into(),
            Self::Propose { plan } => plan.into(),
            // No agent can spell it in another's tools, so it goes by its tool's name and input as any other call does.
            Self::Step(_) | Self::Other => "".into(),
        }
    }
}

impl Change {
    pub fn path(&self) -> &str {
        match self {
            Self::Add { path, .. } | Self::Update { path, .. } | Self::Delete { path } => path,
        }
    }
}
