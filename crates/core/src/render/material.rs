//! What a resume prompt is made of, wherever it comes from: a story with its brief, or a file that was written earlier.
//!
//! Lines in it are ready to be shown: on one line each, and quoted where their words are not the user's or the agent's.

use std::borrow::Cow;

use super::words::{clip, code, from_tool, item, line};
use crate::distill::{Brief, Deed, Ended, FileChange, Item, Story, TestState, Workspace};
use crate::time::Timestamp;
use crate::transcript::{Action, Status};

/// Everything that a resume prompt may say.
#[derive(Debug, Clone, Default)]
pub struct Material<'a> {
    pub agent_name: String,
    pub session: String,
    /// When it was captured.
    pub made_at: String,
    pub project: Option<String>,
    pub project_name: Option<String>,
    pub branch: Option<String>,
    pub goal: Option<String>,
    pub in_progress: Vec<String>,
    pub next: Option<String>,
    pub remaining: Vec<String>,
    pub done: Vec<String>,
    /// The newest first, as all that may be cut short.
    pub decisions: Vec<String>,
    pub problems: Vec<String>,
    pub questions: Vec<String>,
    /// What the user said beside the task and the decisions.
    pub said: Vec<String>,
    /// What the agent explained, and said last.
    pub remarks: Vec<String>,
    pub drift: Vec<String>,
    pub files: Vec<FileView<'a>>,
    pub context: Vec<ContextPart<'a>>,
    pub overview: Vec<String>,
    /// In the order in which they were said.
    pub messages: Vec<Message<'a>>,
}

/// A file that the session changed.
#[derive(Debug, Clone)]
pub struct FileView<'a> {
    pub path: String,
    pub change: String,
    pub language: &'static str,
    pub text: DiffSource<'a>,
}

/// Where the text of a change comes from; made only when there is room for it.
#[derive(Debug, Clone)]
pub enum DiffSource<'a> {
    Actions(Vec<super::resume::diff::Piece<'a>>),
    Ready(&'a str),
    None,
}

/// One part of the project's context: a heading, and what stands in its fence.
#[derive(Debug, Clone)]
pub struct ContextPart<'a> {
    pub heading: String,
    pub text: Cow<'a, str>,
}

/// Who said something.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    User,
    Agent,
    /// A summary that a compaction left.
    Summary,
    Tool,
}

/// Something that was said or done.
#[derive(Debug, Clone)]
pub struct Message<'a> {
    pub role: Role,
    pub words: Words<'a>,
}

/// The words of a message; those of calls are made only when they are shown.
#[derive(Debug, Clone)]
pub enum Words<'a> {
    Text(&'a str),
    Call { tool: &'a str, action: &'a Action, ended: Option<&'a Ended> },
    Result { tool: &'a str, text: &'a str },
}

impl Message<'_> {
    /// A call on one line.
    pub(super) fn call_line(&self) -> String {
        match &self.words {
            Words::Text(text) => line(text, 160),
            Words::Result { tool, text } => format!("{}: {}", code(tool, 40), from_tool(text, 120)),
            Words::Call { tool, action, ended } => {
                let subject = action.subject();
                let mut out = format!("{} {}", line(tool, 40), code(&clip(&subject, 400), 120));
                match ended {
                    None => out += ", no outcome",
                    Some(ended) if ended.status == Status::Done => {}
                    Some(ended) => {
                        out += if ended.status == Status::Failed { ", failed" } else { ", interrupted" };
                        if let Some(exit) = ended.exit_code {
                            out += &format!(" ({exit})");
                        }
                        out += &format!("; {}", from_tool(last_line(&ended.text), 120));
                    }
                }
                out
            }
        }
    }
}

/// The end of an output says how it went.
fn last_line(text: &str) -> &str {
    text.trim_end().lines().next_back().unwrap_or("")
}

impl<'a> Material<'a> {
    /// What a brief, its story and the project give.
    pub fn of(brief: &'a Brief, story: &'a Story, workspace: &'a Workspace, agent_name: &str) -> Self {
        let lines = |items: &[Item]| items.iter().map(|one| item(one, 240)).collect::<Vec<_>>();
        let newest = |items: &[Item]| items.iter().rev().map(|one| item(one, 240)).collect::<Vec<_>>();
        let git = workspace.git.as_ref().or(brief.git.as_ref());
        Self {
            agent_name: agent_name.to_owned(),
            session: brief.session.0.clone(),
            made_at: brief.made_at.to_string(),
            project: brief.project.clone().or_else(|| Some(workspace.root.clone()).filter(|root| !root.is_empty())),
            project_name: workspace.name.clone(),
            branch: git.and_then(|git| git.branch.clone()).or_else(|| story.header.branch.clone()),
            goal: brief.task.as_ref().map(|task| item(task, 1_500)).or(brief.title.as_deref().map(|t| line(t, 300))),
            in_progress: lines(&brief.in_progress),
            next: brief.next.as_ref().map(|next| item(next, 600)),
            remaining: lines(&brief.remaining),
            done: newest(&brief.done),
            decisions: decisions(brief),
            problems: problems(brief),
            questions: newest(&brief.questions),
            said: said(brief),
            remarks: newest(&brief.remarks),
            drift: drift(brief),
            files: files(brief, story, workspace),
            context: context(workspace),
            overview: overview(brief),
            messages: messages(story),
        }
    }
}

fn decisions(brief: &Brief) -> Vec<String> {
    let one = |decision: &crate::distill::Decision| match &decision.reason {
        Some(reason) => format!("{} (why: {})", item(&decision.what, 300), line(reason, 200)),
        None => item(&decision.what, 300),
    };
    brief.decisions.iter().rev().map(one).collect()
}

/// So many of the user's words are told beside the conversation.
const SAID: usize = 60;

/// The user's words that are told nowhere else: no extractor knows all the ways in which people say what they want.
fn said(brief: &Brief) -> Vec<String> {
    let is_told = |said: &&Item| {
        let told = |what: &Item, more: usize| {
            what.cites.iter().any(|key| said.cites.contains(key)) && (what.text.len() + more) * 5 >= said.text.len() * 4
        };
        let reason = |decision: &crate::distill::Decision| decision.reason.as_ref().map_or(0, String::len);
        brief.task.iter().any(|task| told(task, 0))
            || brief.decisions.iter().any(|decision| told(&decision.what, reason(decision)))
    };
    brief.requests.iter().rev().filter(|said| !is_told(said)).take(SAID).map(|said| item(said, 240)).collect()
}

/// What stands in the way first, then what was tried in vain, then what was overcome.
fn problems(brief: &Brief) -> Vec<String> {
    let mut lines = Vec::new();
    if let Some(limit) = &brief.limit {
        let reset = limit.resets_at.map(|at| format!(" until {at}")).unwrap_or_default();
        lines.push(format!("stopped at a limit{reset}: {}", item(&limit.what, 160)));
    }
    lines.extend(brief.blockers.iter().rev().map(|blocker| format!("unresolved: {}", item(blocker, 300))));
    lines.extend(brief.failed.iter().rev().map(|failed| {
        let reason = failed.reason.as_deref().map(|reason| format!("; {}", from_tool(reason, 200)));
        let tries = if failed.tries > 1 { format!(" ({} tries)", failed.tries) } else { String::new() };
        format!("tried and given up: {}{tries}{}", item(&failed.what, 200), reason.unwrap_or_default())
    }));
    lines.extend(brief.errors.iter().rev().map(|error| match &error.resolution {
        Some(resolution) => format!("seen: {}; resolved by: {}", item(&error.what, 200), item(resolution, 160)),
        None => format!("seen: {}", item(&error.what, 200)),
    }));
    lines
}

fn drift(brief: &Brief) -> Vec<String> {
    let mut lines: Vec<String> = brief.drift.files.iter().map(|changed| item(changed, 200)).collect();
    lines.extend(brief.drift.commits.iter().map(|commit| {
        let id: String = commit.id.chars().take(10).collect();
        format!("commit {} at {}: {}", code(&id, 12), commit.at, code(&commit.subject, 120))
    }));
    lines
}

fn files<'a>(brief: &Brief, story: &'a Story, workspace: &Workspace) -> Vec<FileView<'a>> {
    let mut pieces = super::resume::diff::pieces(story, &workspace.root);
    let changed = brief.files.iter().filter(|file| file.change != FileChange::Read);
    changed
        .map(|file| {
            let mut change = change_word(file.change).to_owned();
            if let Some(at) = file.at {
                change += &format!(" {at}");
            }
            match file.tests {
                Some(TestState::Passing) => change += ", tests pass",
                Some(TestState::Failing) => change += ", tests fail",
                None => {}
            }
            let text = pieces.remove(file.path.as_str()).map_or(DiffSource::None, DiffSource::Actions);
            FileView { path: file.path.clone(), change, language: language(&file.path), text }
        })
        .collect()
}

pub(super) fn change_word(change: FileChange) -> &'static str {
    match change {
        FileChange::Created => "created",
        FileChange::Modified => "modified",
        FileChange::Deleted => "deleted",
        FileChange::Read => "read",
    }
}

/// What the fence of a file is called, by the file's ending.
pub(super) fn language(path: &str) -> &'static str {
    let ending = path.rsplit(['/', '\\']).next().and_then(|name| name.rsplit_once('.')).map_or("", |(_, end)| end);
    match ending.to_ascii_lowercase().as_str() {
        "rs" => "rust",
        "py" => "python",
        "ts" | "tsx" | "mts" => "typescript",
        "js" | "jsx" | "mjs" | "cjs" => "javascript",
        "go" => "go",
        "java" => "java",
        "c" | "h" => "c",
        "cc" | "cpp" | "cxx" | "hpp" => "cpp",
        "rb" => "ruby",
        "sh" | "bash" => "sh",
        "json" => "json",
        "toml" => "toml",
        "yaml" | "yml" => "yaml",
        "md" => "markdown",
        "html" => "html",
        "css" => "css",
        "sql" => "sql",
        _ => "",
    }
}

fn context(workspace: &Workspace) -> Vec<ContextPart<'_>> {
    let mut parts = Vec::new();
    let mut add = |heading: String, text: Cow<'static, str>| {
        if !text.trim().is_empty() {
            parts.push(ContextPart { heading, text });
        }
    };
    if let Some(git) = &workspace.git {
        add("Git status".to_owned(), git.status.join("\n").into());
        add("Uncommitted changes".to_owned(), git.diff_stat.join("\n").into());
        let log = git.log.iter().take(10).map(|commit| {
            let id: String = commit.id.chars().take(10).collect();
            format!("{id} {}", commit.subject)
        });
        add("Latest commits".to_owned(), log.collect::<Vec<_>>().join("\n").into());
    }
    let tree: Vec<&str> = workspace.tree.iter().take(40).map(String::as_str).collect();
    let more = workspace.tree.len().saturating_sub(40);
    let rest = if more > 0 { format!("\n[… {more} more]") } else { String::new() };
    add("Project structure".to_owned(), (tree.join("\n") + &rest).into());
    let memory = workspace.memory.iter();
    parts.extend(memory.filter(|(_, text)| !text.trim().is_empty()).map(|(name, text)| ContextPart {
        heading: format!("Instructions in {}", code(name, 60)),
        text: Cow::Borrowed(text),
    }));
    parts
}

fn overview(brief: &Brief) -> Vec<String> {
    let mut lines = vec![format!("{} messages", brief.messages)];
    let times: Vec<String> = [("began", brief.started_at), ("last active", brief.updated_at)]
        .iter()
        .filter_map(|(word, at): &(&str, Option<Timestamp>)| at.map(|at| format!("{word} {at}")))
        .collect();
    if !times.is_empty() {
        lines.push(times.join(", "));
    }
    if let Some(model) = &brief.model {
        lines.push(format!("model {}", code(model, 60)));
    }
    if !brief.tools.is_empty() {
        lines.push(format!("tools, most used first: {}", code(&brief.tools.join(", "), 200)));
    }
    let read = brief.files.iter().filter(|file| file.change == FileChange::Read);
    let read: Vec<&str> = read.take(15).map(|file| file.path.as_str()).collect();
    if !read.is_empty() {
        lines.push(format!("files that were only read: {}", code(&read.join(", "), 400)));
    }
    if let Some(first) = brief.requests.first() {
        lines.push(format!("first request: {}", item(first, 300)));
    }
    if let Some(last) = brief.requests.last().filter(|_| brief.requests.len() > 1) {
        lines.push(format!("latest request: {}", item(last, 300)));
    }
    lines.extend(brief.commands.iter().rev().take(8).map(|run| {
        let end = match (&run.tests, run.failed) {
            (Some(tests), _) => format!(": {}", line(tests, 80)),
            (None, true) => ": failed".to_owned(),
            (None, false) => String::new(),
        };
        format!("ran {}{end}", code(&run.command, 120))
    }));
    lines.extend(brief.action_items.iter().take(8).map(|one| format!("to do: {}", item(one, 160))));
    lines.extend(brief.references.iter().rev().take(8).map(|one| format!("see {}", item(one, 160))));
    lines
}

/// Prompts, replies and summaries as they are, calls as what stands between them.
fn messages(story: &Story) -> Vec<Message<'_>> {
    story.steps.iter().filter_map(|step| of_deed(&step.deed)).collect()
}

fn of_deed(deed: &Deed) -> Option<Message<'_>> {
    let (role, words) = match deed {
        Deed::Prompt { text, .. } => (Role::User, Words::Text(text)),
        Deed::Reply { text } => (Role::Agent, Words::Text(text)),
        Deed::Summary { text } => (Role::Summary, Words::Text(text)),
        Deed::Call { tool, action, ended } => (Role::Tool, Words::Call { tool, action, ended: ended.as_ref() }),
        Deed::Failure(failure) => (Role::Tool, Words::Result { tool: "service", text: &failure.message }),
        Deed::Attached { .. } | Deed::Reasoning { .. } => return None,
    };
    let empty = matches!(words, Words::Text(text) if text.trim().is_empty());
    (!empty).then_some(Message { role, words })
}
