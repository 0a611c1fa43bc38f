//! What a resume prompt is made of, wherever it comes from: a history with its brief, or a file that was written earlier.
//!
//! Lines in it are ready to be shown: on one line each, quoted, and labelled with who said them. Passages are as they were
//! said, and messages are masked when they are shown.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use super::lines;
use super::words::{at, code, end_of, flat, from_service, from_tool, item, quote};
use crate::distill::{Brief, CallEvent, DecisionKind, Event, FileChange, History, Item, Quoting, Workspace};
use crate::time::Timestamp;
use crate::transcript::{Action, EntryKey, Status};

/// Everything that a resume prompt may say.
#[derive(Debug, Clone)]
pub struct Material<'a> {
    pub agent_name: String,
    pub session: String,
    /// When it was captured.
    pub made_at: String,
    /// When something last happened in it: with the year, which other times are told without.
    pub last_active: Option<Timestamp>,
    pub project: Option<String>,
    pub project_name: Option<String>,
    pub branch: Option<String>,
    pub quoting: Quoting,
    pub state: Vec<String>,
    /// A prompt that came after the task and is too short to stand alone.
    pub last_prompt: Option<Passage>,
    pub task: Option<Passage>,
    /// What belongs to the task beside its words: a shorter prompt after it, what that answers, the first request.
    pub about_task: Vec<String>,
    pub plan: Vec<String>,
    /// The newest first, as all that may be cut short.
    pub decisions: Vec<String>,
    pub problems: Vec<String>,
    pub questions: Vec<String>,
    /// The agent's own account of what was compacted.
    pub summary: Vec<String>,
    /// What the user said beside the task, the latest first.
    pub said: Vec<Said>,
    /// Sentences of the user's that rank as standing, for where their prompt is not quoted.
    pub standing: Vec<Passage>,
    pub drift: Vec<String>,
    pub files: Vec<FileView<'a>>,
    pub git: Vec<String>,
    pub context: Vec<ContextPart<'a>>,
    pub overview: Vec<String>,
    /// In the order in which they were said.
    pub messages: Vec<Message<'a>>,
}

/// Somebody's words on several lines.
#[derive(Debug, Clone)]
pub struct Passage {
    /// Who said it and when, for the heading.
    pub by: String,
    pub text: String,
}

/// A prompt of the user's, masked.
#[derive(Debug, Clone)]
pub struct Said {
    /// Which of the messages it is.
    pub message: usize,
    pub at: Option<Timestamp>,
    pub text: String,
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
    pub at: Option<Timestamp>,
    pub words: Words<'a>,
}

/// The words of a message; those of calls are made only when they are shown.
#[derive(Debug, Clone)]
pub enum Words<'a> {
    Text(&'a str),
    Call(&'a CallEvent),
    Result {
        tool: &'a str,
        text: &'a str,
    },
    /// What the service answered instead of a reply.
    Failure(&'a str),
}

impl Message<'_> {
    /// A call on one line; of the last ones, with the end of what came back.
    pub(super) fn call_line(&self, is_last: bool, quoting: Quoting) -> String {
        let mask = |text: &str| quoting.line(text, 400);
        match &self.words {
            Words::Text(text) => quote(&mask(text), 160),
            Words::Failure(text) => from_service(&mask(text), 120),
            Words::Result { tool, text } => format!("{}: {}", code(tool, 40), from_tool(&mask(text), 120)),
            Words::Call(call) => {
                let subject = quoting.passage(&call.action.subject(), 400);
                format!("{} {}{}", flat(&call.tool, 40), code(&subject, 160), call_end(call, is_last, quoting))
            }
        }
    }
}

fn call_end(call: &CallEvent, is_last: bool, quoting: Quoting) -> String {
    if let Some(refusal) = &call.refusal {
        let said =
            refusal.words.as_deref().map(|words| format!(", who said {}", quote(&quoting.passage(words, 400), 240)));
        return format!(", turned down by the user{}", said.unwrap_or_default());
    }
    let Some(end) = &call.end else { return ", no outcome".to_owned() };
    let word = match end.status {
        Status::Done if is_last && matches!(call.action, Action::Run { .. }) => return output(&end.text, quoting),
        Status::Done => return String::new(),
        Status::Failed => ", failed",
        Status::Interrupted => ", interrupted",
    };
    let exit = end.exit_code.map(|code| format!(" with exit code {code}")).unwrap_or_default();
    format!("{word}{exit}{}", output(&end.text, quoting))
}

/// What came back: its beginning and its end.
fn output(text: &str, quoting: Quoting) -> String {
    let passage = quoting.passage(text, 240);
    if passage.is_empty() { String::new() } else { format!("; {}", from_tool(&passage, 300)) }
}

impl<'a> Material<'a> {
    /// Material without anything in it yet.
    pub(super) fn empty(agent_name: &str, session: &str, made_at: String, quoting: Quoting) -> Self {
        Self {
            agent_name: agent_name.to_owned(),
            session: session.to_owned(),
            made_at,
            last_active: None,
            project: None,
            project_name: None,
            branch: None,
            quoting,
            state: Vec::new(),
            last_prompt: None,
            task: None,
            about_task: Vec::new(),
            plan: Vec::new(),
            decisions: Vec::new(),
            problems: Vec::new(),
            questions: Vec::new(),
            summary: Vec::new(),
            said: Vec::new(),
            standing: Vec::new(),
            drift: Vec::new(),
            files: Vec::new(),
            git: Vec::new(),
            context: Vec::new(),
            overview: Vec::new(),
            messages: Vec::new(),
        }
    }

    /// What a brief, its history and the project give.
    pub fn of(
        brief: &'a Brief,
        history: &'a History,
        workspace: &'a Workspace,
        agent_name: &str,
        quoting: Quoting,
    ) -> Self {
        let git = workspace.git.as_ref().or(brief.git.as_ref());
        let newest = |items: &[Item]| items.iter().rev().map(|one| item(one, 400)).collect::<Vec<_>>();
        let (messages, keys) = messages(history);
        let answers = brief.decisions.iter().filter(|one| one.kind != DecisionKind::Said);
        Self {
            project: brief.project.clone().or_else(|| Some(workspace.root.clone()).filter(|root| !root.is_empty())),
            project_name: workspace.name.clone(),
            branch: git
                .and_then(|git| git.branch.clone())
                .or_else(|| history.header.branch.clone().filter(|branch| branch != "HEAD")),
            state: lines::state_lines(brief, 600),
            last_active: brief.updated_at,
            last_prompt: last_prompt(brief),
            task: task(brief),
            about_task: about_task(brief),
            plan: plan(brief),
            decisions: answers.map(|one| lines::decision(one, 400)).collect(),
            problems: problems(brief),
            questions: newest(&brief.questions),
            summary: brief.summary.iter().map(|part| lines::dated(part, 1_200)).collect(),
            said: said(brief, &keys),
            standing: standing(brief),
            drift: lines::drift_lines(brief, 200),
            files: files(brief, history, workspace),
            git: lines::git_lines(brief, 12, 100),
            context: context(workspace),
            overview: overview(brief),
            messages,
            ..Self::empty(agent_name, &brief.session.0, brief.made_at.to_string(), quoting)
        }
    }
}

/// What the task is cut at, in characters.
pub(super) const TASK_CHARS: usize = 6_000;

fn task(brief: &Brief) -> Option<Passage> {
    let request = brief.task.request.as_ref();
    let since = |request: &Item| match brief.task.follow_up {
        Some(_) => lines::prompts_since(brief, request),
        None => String::new(),
    };
    let said = request.map(|request| Passage {
        by: format!("the user{}{}", at(request.at), since(request)),
        text: request.text.clone(),
    });
    said.or_else(|| brief.title.as_ref().map(|title| Passage { by: "its title".to_owned(), text: title.clone() }))
}

fn last_prompt(brief: &Brief) -> Option<Passage> {
    let said = brief.task.follow_up.as_ref()?;
    Some(Passage { by: format!("the user's last prompt{}", at(said.at)), text: said.text.clone() })
}

fn about_task(brief: &Brief) -> Vec<String> {
    let task = &brief.task;
    let reply = task.in_reply_to.as_ref().map(|reply| {
        format!(
            "Before the user's last prompt the agent said, at the end{}: {}",
            at(reply.at),
            quote(end_of(&reply.text, 600), 700)
        )
    });
    let began = task
        .began_with
        .as_ref()
        .map(|said| format!("The first request that the user typed{}: {}", at(said.at), item(said, 1_200)));
    [reply, began].into_iter().flatten().collect()
}

fn plan(brief: &Brief) -> Vec<String> {
    let told = |word: &str, items: &[Item]| {
        items.iter().map(|step| format!("{word}{}: {}", at(step.at), item(step, 240))).collect::<Vec<_>>()
    };
    let plan = &brief.plan;
    [told("in progress", &plan.in_progress), told("left", &plan.left), told("done", &plan.done)].concat()
}

/// Prompts of a captured session that are told beside the conversation, and what each is cut at, in characters.
const MAX_SAID: usize = 200;
const SAID_CHARS: usize = 3_000;

/// The user's words that are told nowhere else, the latest first.
fn said(brief: &Brief, keys: &BTreeMap<EntryKey, usize>) -> Vec<Said> {
    let task = &brief.task;
    let told: Vec<&Item> = [&task.request, &task.follow_up].into_iter().flatten().collect();
    let others = brief.requests.iter().rev().filter(|said| !told.iter().any(|told| told.entries == said.entries));
    let place = |said: &Item| said.entries.first().and_then(|key| keys.get(key)).copied();
    others.filter_map(|said| Some(Said { message: place(said)?, at: said.at, text: said.text.clone() })).collect()
}

/// Prompts that a captured session told before its last one, the latest first, each once.
pub(super) fn said_before_last(messages: &[Message<'_>], quoting: Quoting) -> Vec<Said> {
    let mut seen = BTreeSet::new();
    let prompts = messages.iter().enumerate().rev().filter(|(_, message)| message.role == Role::User);
    let said = prompts.skip(1).take(MAX_SAID).filter_map(|(index, message)| match message.words {
        Words::Text(text) if seen.insert(text) => {
            Some(Said { message: index, at: message.at, text: quoting.passage(text, SAID_CHARS) })
        }
        _ => None,
    });
    said.collect()
}

fn standing(brief: &Brief) -> Vec<Passage> {
    let said = brief.decisions.iter().filter(|one| one.kind == DecisionKind::Said);
    said.map(|one| Passage { by: format!("the user{}", at(one.what.at)), text: one.what.text.clone() }).collect()
}

/// What is still failing first, then what was tried in vain.
fn problems(brief: &Brief) -> Vec<String> {
    let mut lines: Vec<String> =
        brief.failing.iter().rev().map(|one| format!("still failing: {}", lines::failing(one, 400))).collect();
    lines.extend(brief.tests.iter().map(|run| format!("tests: {}", lines::test_run(run, 200))));
    lines.extend(brief.failed.iter().rev().map(|one| lines::approach(one, 240)));
    lines
}

fn files<'a>(brief: &Brief, history: &'a History, workspace: &Workspace) -> Vec<FileView<'a>> {
    let mut pieces = super::resume::diff::pieces(history, &workspace.root);
    let changed = brief.files.iter().filter(|file| file.change != FileChange::Read);
    changed
        .map(|file| {
            let text = pieces.remove(file.path.as_str()).map_or(DiffSource::None, DiffSource::Actions);
            let change = lines::file_change(file, 120);
            FileView { path: file.path.clone(), change, language: language(&file.path), text }
        })
        .collect()
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
    let mut lines = Vec::new();
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
        lines.push(format!("files that its tools read: {}", code(&read.join(", "), 400)));
    }
    lines.extend(brief.commands.iter().rev().take(8).map(|run| format!("ran {}", lines::command(run, 160))));
    lines.extend(brief.todos.iter().rev().take(8).map(|one| format!("added in a file: {}", item(one, 160))));
    lines.extend(brief.references.iter().rev().take(8).map(|one| format!("named: {}", item(one, 160))));
    lines
}

/// Prompts, replies and summaries as they are, calls as what stands between them; and which message an entry is.
fn messages(history: &History) -> (Vec<Message<'_>>, BTreeMap<EntryKey, usize>) {
    let (mut messages, mut keys) = (Vec::new(), BTreeMap::new());
    for step in history.steps.iter().skip(history.context_from()) {
        if let Some(message) = of_event(&step.event, step.at) {
            if message.role == Role::User {
                keys.insert(step.key, messages.len());
            }
            messages.push(message);
        }
    }
    (messages, keys)
}

fn of_event(event: &Event, at: Option<Timestamp>) -> Option<Message<'_>> {
    let (role, words) = match event {
        Event::Prompt { text, .. } => (Role::User, Words::Text(text)),
        Event::Reply { text } => (Role::Agent, Words::Text(text)),
        Event::Summary { text } => (Role::Summary, Words::Text(text)),
        Event::Call(call) => (Role::Tool, Words::Call(call)),
        Event::Failure(failure) => (Role::Tool, Words::Failure(&failure.message)),
        Event::Attached { .. } | Event::Reasoning { .. } => return None,
    };
    let is_empty = matches!(words, Words::Text(text) if text.trim().is_empty());
    (!is_empty).then_some(Message { role, at, words })
}
