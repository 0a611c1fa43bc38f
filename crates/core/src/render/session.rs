//! `session.json`: the Portable Session Format 1.0.
//!
//! It holds what was said and what came back, and no inputs of tools: a prompt can be made of it, a session cannot.

use serde::{Deserialize, Serialize};

use super::escape::{quote_inline, safe_line};
use super::lines;
use super::material::{
    ContextPart, DiffSource, FileView, Material, Message, MessageContent, Passage, Role, fence_language,
    prompts_before_last,
};
use super::resume::diff;
use crate::distill::{Brief, Event, FileChange, History, Item, MemoryText, Quoting, Step, TouchedFile, Workspace};
use crate::time::Timestamp;
use crate::tokens::estimate;

/// A file's changes are kept up to so many characters.
const DIFF_CHARS: usize = 20_000;

/// The version of the format; others are not read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum FormatVersion {
    #[serde(rename = "1.0")]
    V1,
}

/// A captured session.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SessionJson {
    pub version: FormatVersion,
    /// The id of an agent.
    pub source: String,
    pub captured_at: String,
    pub session_id: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session_started_at: Option<String>,
    pub project: Project,
    pub conversation: Conversation,
    pub files_changed: Vec<ChangedFile>,
    pub decisions: Vec<String>,
    pub blockers: Vec<String>,
    pub task: Task,
}

#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Project {
    pub path: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub git_branch: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub git_status: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub git_log: Option<Vec<String>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub structure: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub memory_file_contents: Option<String>,
    /// The files that told the model something: those above and, with their contents, a person's own.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub memory_files: Vec<CapturedFile>,
}

/// A file that told the model something.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct CapturedFile {
    pub path: String,
    /// None where something in it was masked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sha256: Option<String>,
    pub bytes: u64,
    /// A person's own, which is not the project's.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub private: bool,
    /// When it is read, where that is not always so: nobody knows whether it was.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub when: Option<String>,
    /// Its text, where it is private: what goes into a prompt is the project's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub content: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Conversation {
    pub message_count: usize,
    pub estimated_tokens: u64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub summary: Option<String>,
    pub messages: Vec<ConversationMessage>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ConversationRole {
    User,
    Assistant,
    System,
    Tool,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ConversationMessage {
    pub role: ConversationRole,
    pub content: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool_name: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timestamp: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub token_count: Option<u64>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ChangeType {
    Created,
    Modified,
    Deleted,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ChangedFile {
    pub path: String,
    pub change_type: ChangeType,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub diff: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub language: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Task {
    pub description: String,
    pub completed: Vec<String>,
    pub remaining: Vec<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub in_progress: Option<String>,
    pub blockers: Vec<String>,
}

/// Captures a session in the portable format.
pub fn session_json(brief: &Brief, history: &History, workspace: &Workspace, quoting: Quoting) -> SessionJson {
    let texts = |items: &[Item]| items.iter().map(|item| item.text.clone()).collect::<Vec<_>>();
    let failing = brief.failing.iter().map(|one| lines::format_failing(one, 600));
    let failed = brief.failed.iter().map(|one| lines::format_approach(one, 400));
    let failing: Vec<String> = failing.collect();
    SessionJson {
        version: FormatVersion::V1,
        source: brief.agent.to_owned(),
        captured_at: brief.made_at.to_string(),
        session_id: brief.session.0.clone(),
        session_started_at: brief.started_at.map(|at| at.to_string()),
        project: make_project(brief, workspace),
        conversation: make_conversation(history, quoting),
        files_changed: files_changed(brief, history, workspace, quoting),
        decisions: brief.decisions.iter().map(|one| lines::format_decision(one, 1_000)).collect(),
        blockers: failing.iter().cloned().chain(failed).collect(),
        task: Task {
            description: task_text(brief),
            completed: texts(&brief.plan.done),
            remaining: texts(&brief.plan.left),
            in_progress: brief.plan.in_progress.first().map(|item| item.text.clone()),
            blockers: failing.into_iter().chain(texts(&brief.questions)).collect(),
        },
    }
}

fn task_text(brief: &Brief) -> String {
    let request = brief.task.request.as_ref().map(|request| request.text.clone());
    request.or_else(|| brief.title.clone()).unwrap_or_default()
}

fn make_project(brief: &Brief, workspace: &Workspace) -> Project {
    let git = workspace.git.as_ref().or(brief.git.as_ref());
    let joined = |lines: &[String]| (!lines.is_empty()).then(|| lines.join("\n"));
    let shared = workspace.memory.iter().filter(|file| !file.is_private);
    let memory: Vec<String> = shared.map(|file| format!("# {}\n\n{}", file.path, file.text)).collect();
    let log = git.map(|git| git.log.iter().take(10).map(commit_line).collect::<Vec<_>>());
    Project {
        path: brief.project.clone().unwrap_or_else(|| workspace.root.clone()),
        name: workspace.name.clone(),
        git_branch: git.and_then(|git| git.branch.clone()),
        git_status: git.map(|git| git.status.join("\n")),
        git_log: log.filter(|log| !log.is_empty()),
        structure: joined(&workspace.tree),
        memory_file_contents: (!memory.is_empty()).then(|| memory.join("\n\n")),
        memory_files: workspace.memory.iter().map(captured_file).collect(),
    }
}

fn captured_file(file: &MemoryText) -> CapturedFile {
    CapturedFile {
        path: file.path.clone(),
        sha256: file.sha256.clone(),
        bytes: file.bytes,
        private: file.is_private,
        when: file.when.map(str::to_owned),
        content: file.is_private.then(|| file.text.clone()),
    }
}

fn commit_line(commit: &crate::distill::Commit) -> String {
    let id: String = commit.id.chars().take(10).collect();
    format!("{id} {}", commit.subject)
}

fn make_conversation(history: &History, quoting: Quoting) -> Conversation {
    let messages: Vec<ConversationMessage> =
        history.steps.iter().filter_map(|step| make_message(history, step, quoting)).collect();
    Conversation {
        message_count: history.n_messages,
        estimated_tokens: messages.iter().map(|message| estimate(&message.content)).sum(),
        summary: None,
        messages,
    }
}

fn make_message(history: &History, step: &Step, quoting: Quoting) -> Option<ConversationMessage> {
    let timestamp = step.at.map(|at| at.to_string());
    let token_count = history.reply_tokens.get(&step.key).copied();
    let mask = |text: &str| quoting.mask(text).into_owned();
    let (role, content, tool_name) = match &step.event {
        Event::Prompt { text, .. } => (ConversationRole::User, mask(text), None),
        Event::Reply { text } => (ConversationRole::Assistant, mask(text), None),
        Event::Attached { text } | Event::Summary { text } => (ConversationRole::System, mask(text), None),
        Event::Failure(failure) => (ConversationRole::System, mask(&failure.message), None),
        Event::Call(call) => {
            let output = call.end.as_ref().map_or("", |end| end.text.as_str());
            let subject = call.action.subject();
            let gap = if subject.is_empty() || output.is_empty() { "" } else { "\n" };
            (ConversationRole::Tool, mask(&format!("{subject}{gap}{output}")), Some(call.tool.clone()))
        }
        Event::Reasoning { .. } => return None,
    };
    Some(ConversationMessage { role, content, tool_name, timestamp, token_count })
}

fn files_changed(brief: &Brief, history: &History, workspace: &Workspace, quoting: Quoting) -> Vec<ChangedFile> {
    let mut pieces = diff::collect_pieces(history, &workspace.root);
    let mut file = |file: &TouchedFile| {
        let change_type = match file.change {
            FileChange::Created => ChangeType::Created,
            FileChange::Written | FileChange::Modified => ChangeType::Modified,
            FileChange::Deleted | FileChange::Moved => ChangeType::Deleted,
            FileChange::Read => return None,
        };
        let language = fence_language(&file.path);
        let diff =
            pieces.remove(&file.path).map(|pieces| diff::render_changes(&pieces, language, DIFF_CHARS, quoting).0);
        let language = (!language.is_empty()).then(|| language.to_owned());
        Some(ChangedFile { path: file.path.clone(), change_type, diff, language })
    };
    brief.files.iter().filter_map(&mut file).collect()
}

impl SessionJson {
    /// The material of a resume prompt. Who said a line is no longer known of most, so they are quoted as they are.
    pub fn to_material(&self, agent_name: &str, quoting: Quoting) -> Material<'_> {
        let mask = |text: &String| quoting.quote_passage(text, 2_000);
        let listed = |word: &str, texts: &[String]| {
            texts.iter().map(|text| format!("{word}: {}", quote_inline(&mask(text), 240))).collect::<Vec<_>>()
        };
        let lines = |texts: &[String]| texts.iter().map(|text| safe_line(&mask(text), 600)).collect::<Vec<_>>();
        let is_question = |text: &&String| !self.blockers.contains(text);
        let questions: Vec<String> = self.task.blockers.iter().filter(is_question).cloned().collect();
        let task = Some(quoting.quote_passage(&self.task.description, 6_000)).filter(|task| !task.is_empty());
        let messages: Vec<Message<'_>> =
            self.conversation.messages.iter().map(ConversationMessage::to_message).collect();
        Material {
            project: Some(self.project.path.clone()),
            project_name: self.project.name.clone(),
            branch: self.project.git_branch.clone(),
            task: task.map(|text| Passage { by: "as it was captured".to_owned(), text }),
            plan: [
                listed("in progress", self.task.in_progress.as_slice()),
                listed("left", &self.task.remaining),
                listed("done", &self.task.completed),
            ]
            .concat(),
            decisions: lines(&self.decisions),
            problems: lines(&self.blockers),
            last_active: self.conversation.messages.iter().rev().find_map(ConversationMessage::parsed_time),
            questions: questions.iter().map(|text| quote_inline(&mask(text), 400)).collect(),
            files: self.files_changed.iter().map(ChangedFile::to_view).collect(),
            context: self.project.context_parts(),
            overview: self.conversation.overview_lines(quoting),
            earlier_prompts: prompts_before_last(&messages, quoting),
            messages,
            ..Material::empty(agent_name, &self.session_id, safe_line(&self.captured_at, 40), quoting)
        }
    }
}

impl ChangedFile {
    fn to_view(&self) -> FileView<'_> {
        let change = match self.change_type {
            ChangeType::Created => FileChange::Created,
            ChangeType::Modified => FileChange::Modified,
            ChangeType::Deleted => FileChange::Deleted,
        };
        let text = self.diff.as_deref().map_or(DiffSource::None, DiffSource::Ready);
        // A diff and a whole file look different at the first line.
        let is_diff = self.diff.as_deref().is_some_and(|diff| diff.starts_with(['@', '+', '-']));
        let language = if is_diff { "diff" } else { fence_language(&self.path) };
        FileView { path: self.path.clone(), change: lines::change_word(change).to_owned(), language, text }
    }
}

impl Project {
    fn context_parts(&self) -> Vec<ContextPart<'_>> {
        let part = |heading: &str, text: &str| {
            (!text.trim().is_empty()).then(|| ContextPart { heading: heading.to_owned(), text: text.to_owned().into() })
        };
        let log = self.git_log.as_ref().map(|log| log.join("\n"));
        let tree = self.structure.as_ref().map(|tree| tree.lines().take(40).collect::<Vec<_>>().join("\n"));
        [
            self.git_status.as_deref().and_then(|text| part("Git status", text)),
            log.as_deref().and_then(|text| part("Latest commits", text)),
            tree.as_deref().and_then(|text| part("Project structure", text)),
            self.memory_file_contents.as_deref().and_then(|text| part("Instructions in the project", text)),
        ]
        .into_iter()
        .flatten()
        .collect()
    }
}

impl Conversation {
    fn overview_lines(&self, quoting: Quoting) -> Vec<String> {
        let told = |text: &str, width: usize| quote_inline(&quoting.quote_passage(text, width), width);
        let mut lines = vec![format!("{} messages, about {} tokens", self.message_count, self.estimated_tokens)];
        lines.extend(self.summary.iter().map(|summary| format!("summary: {}", told(summary, 600))));
        let users = || self.messages.iter().filter(|message| message.role == ConversationRole::User);
        lines.extend(users().next().map(|first| format!("first request: {}", told(&first.content, 300))));
        let last = users().next_back().filter(|_| users().count() > 1);
        lines.extend(last.map(|last| format!("latest request: {}", told(&last.content, 300))));
        lines
    }
}

impl ConversationMessage {
    fn parsed_time(&self) -> Option<Timestamp> {
        self.timestamp.as_deref().and_then(Timestamp::parse)
    }

    fn to_message(&self) -> Message<'_> {
        let text = self.content.as_str();
        let (role, words) = match self.role {
            ConversationRole::User => (Role::User, MessageContent::Text(text)),
            ConversationRole::Assistant => (Role::Agent, MessageContent::Text(text)),
            ConversationRole::System => (Role::Summary, MessageContent::Text(text)),
            ConversationRole::Tool => {
                (Role::Tool, MessageContent::Result { tool: self.tool_name.as_deref().unwrap_or("tool"), text })
            }
        };
        Message { role, at: self.parsed_time(), content: words }
    }
}
