//! UASF: the canonical transcript as a list of events.
//!
//! The format has no event for some things: a deletion is an edit to nothing, and calls of other tools are searches
//! with the tool's name.

use serde::{Deserialize, Serialize};

use super::material::{DiffSource, FileView, Material, Message, Passage, Role, Words, language, said_before_last};
use super::words::code;
use crate::distill::{CallEnd, Event, History, Quoting};
use crate::transcript::{Action, Change, Status};

/// The version of the format that is written.
const UASF_VERSION: &str = "1.0";

/// A transcript.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Uasf {
    pub session: UasfSession,
    pub events: Vec<UasfEvent>,
}

/// What is known of the session as a whole; what is not known is empty.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct UasfSession {
    pub id: String,
    pub agent: String,
    pub model: String,
    pub cwd: String,
    pub git_branch: Option<String>,
    pub started_at: String,
    pub version: String,
}

/// One event; its kind is in `type`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum UasfEvent {
    UserMessage { content: String },
    AssistantText { content: String },
    Thinking { content: String },
    FileRead { path: String, content: Option<String> },
    FileEdit { path: String, old: String, new: String },
    FileWrite { path: String, content: String },
    ShellCommand { command: String, output: Option<String>, exit_code: Option<i32> },
    CodeSearch { tool: String, query: String, results: Option<String> },
    Error { message: String },
    FileSnapshot { path: String, content: String },
}

/// Writes a story as UASF.
pub fn uasf(history: &History) -> Uasf {
    let header = &history.header;
    let first = history.steps.iter().find_map(|step| step.at);
    let session = UasfSession {
        id: header.session.0.clone(),
        agent: header.agent.to_owned(),
        model: header.model.clone().unwrap_or_default(),
        cwd: header.project.as_ref().map(|path| path.to_string_lossy().into_owned()).unwrap_or_default(),
        git_branch: header.branch.clone(),
        started_at: header.started_at.or(first).map(|at| at.to_string()).unwrap_or_default(),
        version: UASF_VERSION.to_owned(),
    };
    let mut events = Vec::new();
    for step in &history.steps {
        push_event(&mut events, &step.event);
    }
    Uasf { session, events }
}

fn push_event(events: &mut Vec<UasfEvent>, event: &Event) {
    events.push(match event {
        Event::Prompt { text, .. } | Event::Attached { text } => UasfEvent::UserMessage { content: text.clone() },
        Event::Reply { text } | Event::Summary { text } => UasfEvent::AssistantText { content: text.clone() },
        Event::Reasoning { text } => UasfEvent::Thinking { content: text.clone() },
        Event::Failure(failure) => UasfEvent::Error { message: failure.message.clone() },
        Event::Call(call) => return push_call(events, &call.tool, &call.action, call.end.as_ref()),
    });
}

fn push_call(events: &mut Vec<UasfEvent>, tool: &str, action: &Action, end: Option<&CallEnd>) {
    let output = end.map(|end| end.text.clone());
    match action {
        Action::Run { command, .. } => {
            let exit_code = end.and_then(|end| end.exit_code);
            events.push(UasfEvent::ShellCommand { command: command.clone(), output, exit_code });
            return;
        }
        Action::Read { path, .. } | Action::View { path } => {
            events.push(UasfEvent::FileRead { path: path.clone(), content: output });
        }
        Action::Write { path, content } => {
            events.push(UasfEvent::FileWrite { path: path.clone(), content: content.clone() });
        }
        Action::Edit(changes) => changes.iter().for_each(|change| push_change(events, change)),
        other => {
            let query = other.subject().into_owned();
            events.push(UasfEvent::CodeSearch { tool: tool.to_owned(), query, results: output });
        }
    }
    if let Some(end) = end.filter(|end| end.status != Status::Done) {
        events.push(UasfEvent::Error { message: end.text.clone() });
    }
}

fn push_change(events: &mut Vec<UasfEvent>, change: &Change) {
    match change {
        Change::Add { path, content } => {
            events.push(UasfEvent::FileWrite { path: path.clone(), content: content.clone() });
        }
        Change::Delete { path } => {
            events.push(UasfEvent::FileEdit { path: path.clone(), old: String::new(), new: String::new() });
        }
        Change::Update { path, hunks, .. } => {
            let edit = |hunk: &crate::transcript::Hunk| UasfEvent::FileEdit {
                path: path.clone(),
                old: hunk.old.clone(),
                new: hunk.new.clone(),
            };
            events.extend(hunks.iter().map(edit));
        }
    }
}

impl Uasf {
    /// What a resume prompt is made of: nothing is distilled in this format, so the last request stands for the task.
    pub fn material(&self, agent_name: &str, made_at: &str, quoting: Quoting) -> Material<'_> {
        let requests: Vec<&str> = self.events.iter().filter_map(UasfEvent::request).collect();
        let task =
            requests.last().map(|text| Passage { by: "the user".to_owned(), text: quoting.passage(text, 6_000) });
        let messages: Vec<Message<'_>> = self.events.iter().filter_map(UasfEvent::message).collect();
        Material {
            project: Some(self.session.cwd.clone()).filter(|cwd| !cwd.is_empty()),
            branch: self.session.git_branch.clone(),
            task,
            said: said_before_last(&messages, quoting),
            problems: self.events.iter().rev().filter_map(|event| event.problem(quoting)).take(20).collect(),
            files: self.files(),
            overview: vec![format!("{} events, model {}", self.events.len(), code(&self.session.model, 60))],
            messages,
            ..Material::empty(agent_name, &self.session.id, made_at.to_owned(), quoting)
        }
    }

    /// The files that were written, the latest first, each once.
    fn files(&self) -> Vec<FileView<'_>> {
        let mut seen = std::collections::BTreeSet::new();
        let view = |event: &'_ UasfEvent| -> Option<(String, &'static str)> {
            match event {
                UasfEvent::FileWrite { path, .. } => Some((path.clone(), "written")),
                UasfEvent::FileEdit { path, .. } => Some((path.clone(), "modified")),
                _ => None,
            }
        };
        let mut files = Vec::new();
        for event in self.events.iter().rev() {
            let Some((path, change)) = view(event) else { continue };
            if !seen.insert(path.clone()) {
                continue;
            }
            let text = match event {
                UasfEvent::FileWrite { content, .. } => DiffSource::Ready(content),
                UasfEvent::FileEdit { new, .. } => DiffSource::Ready(new),
                _ => DiffSource::None,
            };
            files.push(FileView { language: language(&path), path, change: change.to_owned(), text });
        }
        files
    }
}

impl UasfEvent {
    fn request(&self) -> Option<&str> {
        match self {
            Self::UserMessage { content } if !content.trim().is_empty() => Some(content),
            _ => None,
        }
    }

    fn problem(&self, quoting: Quoting) -> Option<String> {
        match self {
            Self::Error { message } => Some(code(&quoting.passage(message, 400), 240)),
            Self::ShellCommand { command, exit_code: Some(exit), .. } if *exit != 0 => {
                Some(format!("{} ended with {exit}", code(&quoting.passage(command, 400), 160)))
            }
            _ => None,
        }
    }

    fn message(&self) -> Option<Message<'_>> {
        let (role, words) = match self {
            Self::UserMessage { content } => (Role::User, Words::Text(content)),
            Self::AssistantText { content } => (Role::Agent, Words::Text(content)),
            Self::ShellCommand { command, .. } => (Role::Tool, Words::Result { tool: "shell", text: command }),
            Self::FileRead { path, .. } => (Role::Tool, Words::Result { tool: "read", text: path }),
            Self::FileWrite { path, .. } => (Role::Tool, Words::Result { tool: "write", text: path }),
            Self::FileEdit { path, .. } => (Role::Tool, Words::Result { tool: "edit", text: path }),
            Self::CodeSearch { tool, query, .. } => (Role::Tool, Words::Result { tool, text: query }),
            Self::Error { message } => (Role::Tool, Words::Result { tool: "error", text: message }),
            Self::Thinking { .. } | Self::FileSnapshot { .. } => return None,
        };
        Some(Message { role, at: None, words })
    }
}
