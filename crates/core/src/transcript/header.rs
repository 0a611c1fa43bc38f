//! Facts of a session as a whole.

use std::fmt;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use super::{Condition, Conditions, StartSetting, StartSettings};
use crate::time::Timestamp;

/// The id that an agent gave to a session.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct SessionId(pub String);

impl SessionId {
    /// The first eight characters, as listings show it. Ids that begin with the time share those eight within a
    /// minute, so listings take more where that is not enough.
    pub fn short(&self) -> &str {
        self.0.get(..8).unwrap_or(&self.0)
    }
}

impl fmt::Display for SessionId {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.0)
    }
}

/// Which of several titles wins; a later one of the same rank replaces an earlier.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub enum TitleRank {
    #[default]
    None,
    FirstPrompt,
    Generated,
    Given,
}

/// How much a session's agent was allowed to do without asking, from strict to loose.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Permission {
    Plan,
    #[default]
    Ask,
    AcceptEdits,
    Everything,
}

/// How a client treats calls that have no outcome when it resumes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Closing {
    /// They are left out.
    Drop,
    /// They are answered with this text.
    Answer(&'static str),
    /// Left out, except at the very end, where they are answered with this text.
    AnswerAtEnd(&'static str),
}

/// The header of a transcript.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Header {
    pub agent: &'static str,
    pub session: SessionId,
    pub title: Option<String>,
    pub title_rank: TitleRank,
    /// The working directory, the last one that was recorded.
    pub project: Option<PathBuf>,
    pub branch: Option<String>,
    /// The model, the last one that was recorded.
    pub model: Option<String>,
    /// All models that were recorded, in the order in which they first were.
    pub models: Vec<String>,
    pub client_version: Option<String>,
    pub started_at: Option<Timestamp>,
    pub updated_at: Option<Timestamp>,
    pub permission: Permission,
    /// How it was begun; told, and never used.
    pub start_settings: StartSettings,
    /// What it goes on under; told, and never used.
    pub conditions: Conditions,
    pub closing: Option<Closing>,
    /// The client says that the last turn was still going on, whatever was said in it.
    pub is_turn_open: bool,
    /// The session whose sub-agent this is.
    pub parent: Option<SessionId>,
    /// The files of sub-agents' conversations, each readable as a session of its own.
    pub children: Vec<PathBuf>,
    /// The files that keys point into; the first is the session's own.
    pub files: Vec<PathBuf>,
}

/// One thing that a reader learnt about the session as a whole.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Fact {
    Session(SessionId),
    Title(TitleRank, String),
    Project(PathBuf),
    Branch(String),
    Model(String),
    /// A model that some reply is of, while the session goes on with another.
    UsedModel(String),
    ClientVersion(String),
    StartedAt(Timestamp),
    Permission(Permission),
    StartSetting(StartSetting),
    Condition(Condition),
    Closing(Closing),
    TurnOpen(bool),
    Parent(SessionId),
    Child(PathBuf),
    File(PathBuf),
}

impl Header {
    /// Takes in one more fact; later ones win.
    pub fn learn(&mut self, fact: Fact) {
        match fact {
            Fact::Session(id) => self.session = id,
            Fact::Title(rank, title) => {
                if rank == TitleRank::FirstPrompt {
                    self.start_settings.note_prompt(&title);
                }
                self.learn_title(rank, title);
            }
            Fact::Project(path) => self.project = Some(path),
            Fact::Branch(branch) => self.branch = Some(branch),
            Fact::Model(model) => {
                self.learn_model(model.clone());
                self.model = Some(model);
            }
            Fact::UsedModel(model) => self.learn_model(model),
            Fact::ClientVersion(version) => self.client_version = Some(version),
            Fact::StartedAt(at) => self.started_at = Some(at),
            Fact::Permission(permission) => self.permission = permission,
            Fact::StartSetting(begin) => {
                self.conditions.learn_setting(&begin);
                self.start_settings.learn(begin);
            }
            Fact::Condition(condition) => self.learn_condition(condition),
            Fact::Closing(closing) => self.closing = Some(closing),
            Fact::TurnOpen(is_open) => self.is_turn_open = is_open,
            Fact::Parent(id) => self.parent = Some(id),
            Fact::Child(path) => self.children.push(path),
            Fact::File(path) => self.files.push(path),
        }
    }

    fn learn_condition(&mut self, condition: Condition) {
        if let Condition::Tools(tools) = &condition {
            let names = tools.iter().map(|tool| tool.name.clone()).collect();
            self.start_settings.learn(StartSetting::Tools(names));
        }
        self.conditions.learn(condition);
    }

    fn learn_model(&mut self, model: String) {
        // A file that names a new one in every line is no session.
        const MAX_MODELS: usize = 100;
        if self.models.len() < MAX_MODELS && !self.models.contains(&model) {
            self.models.push(model);
        }
    }

    fn learn_title(&mut self, rank: TitleRank, title: String) {
        // The first prompt is the one title that an earlier record decides.
        let wins = rank > self.title_rank || (rank == self.title_rank && rank != TitleRank::FirstPrompt);
        if wins {
            self.title = Some(title);
            self.title_rank = rank;
        }
    }

    /// Notes that something happened then.
    pub fn note_time(&mut self, at: Timestamp) {
        self.started_at.get_or_insert(at);
        if self.updated_at.is_none_or(|last| last < at) {
            self.updated_at = Some(at);
        }
    }
}
