//! The actions of the model, without saying with which client's tool.

use super::{Expect, Nature};

/// The kinds of action.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ActionKind {
    Say,
    /// A reply with letters from several scripts, an emoji and quotes.
    SayUnicode,
    Think,
    Run,
    RunFailing,
    /// A command that prints 40 KB.
    RunLong,
    Read,
    /// Changes the file that the `Read` with the same key showed.
    Edit,
    Write,
    Search,
    Plan,
    /// A tool of an MCP server.
    Mcp,
    /// A tool that no client has; the client answers with an error.
    Unknown,
    Delegate,
    ViewImage,
}

impl ActionKind {
    /// The facts that such an action plants: what they are about, and of which nature.
    pub(super) const fn planted_facts(self) -> &'static [(&'static str, Nature)] {
        match self {
            Self::Say => &[("say", Nature::Reply)],
            Self::SayUnicode => &[("say unicode", Nature::Reply)],
            Self::Think => &[("think", Nature::Reasoning)],
            Self::Run => &[("run: command", Nature::Call), ("run: output", Nature::Outcome)],
            Self::RunFailing => &[("failing run: command", Nature::Call), ("failing run: output", Nature::Outcome)],
            Self::RunLong => &[
                ("long output: first line", Nature::Outcome),
                ("long output: middle", Nature::Outcome),
                ("long output: last line", Nature::Outcome),
            ],
            Self::Read => &[("read: content", Nature::Outcome)],
            Self::Edit => &[("edit: new text", Nature::Call)],
            Self::Write => &[("write: content", Nature::Call)],
            Self::Search => &[("search: pattern", Nature::Call), ("search: match", Nature::Outcome)],
            Self::Plan => &[("plan: step", Nature::Call)],
            Self::Mcp => &[("mcp: argument", Nature::Call), ("mcp: answer", Nature::Outcome)],
            Self::Unknown => &[("unknown tool: argument", Nature::Call)],
            Self::Delegate => &[
                ("delegate: task", Nature::Call),
                ("delegate: inner command", Nature::SubAgent),
                ("delegate: report", Nature::Outcome),
            ],
            Self::ViewImage => &[],
        }
    }

    pub(super) fn is_call(self) -> bool {
        !matches!(self, Self::Say | Self::SayUnicode | Self::Think)
    }

    /// The expectation for one of its facts in a part of the scenario where `otherwise` holds.
    pub(super) fn expect_fact(self, nature: Nature, otherwise: Expect) -> Expect {
        match (self, nature) {
            (_, Nature::SubAgent) => Expect::Ghost,
            // Whether old reasoning is sent again is each client's own policy.
            // So is how much of a big output is kept, and what becomes of a call to a tool that is not there.
            (_, Nature::Reasoning) | (Self::RunLong | Self::Unknown, _) if otherwise == Expect::Live => {
                Expect::AsClient
            }
            _ => otherwise,
        }
    }
}

/// One action with the words that it plants, in the order of [`ActionKind::planted_facts`].
#[derive(Clone, Debug)]
pub struct Action {
    pub what: ActionKind,
    /// Names its files and its call, so that both are the same in every run.
    pub key: String,
    pub words: Vec<String>,
}

impl Action {
    /// One that plants nothing, to ask what a client has tools for.
    pub(super) fn without_words(what: ActionKind) -> Self {
        Self { what, key: String::new(), words: Vec::new() }
    }

    pub(crate) fn word(&self, index: usize) -> &str {
        self.words.get(index).map_or("", String::as_str)
    }

    /// The file, relative to the project, that the action works on.
    pub(crate) fn file_path(&self) -> String {
        let extension = if self.what == ActionKind::ViewImage { "png" } else { "txt" };
        format!("data/{}.{extension}", self.key)
    }

    /// An edit works on the file of the read before it, but is a call of its own.
    pub(crate) fn call_key(&self) -> String {
        let suffix = if self.what == ActionKind::Edit { "_edit" } else { "" };
        format!("{}{suffix}", self.key)
    }
}
