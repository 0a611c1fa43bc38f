//! The material of a resume prompt, from either source: a history with its brief, or a file that was written earlier.
//!
//! Lines in it are ready to be shown: on one line each, quoted, and labelled with who said them. Passages are as they were
//! said, and messages are masked when they are shown.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use super::escape::{
    flatten_text, format_item, inline_code, label_service_words, label_tool_output, quote_inline, text_end, time_suffix,
};
use super::lines;
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
    /// Lines about the task beside its words: a shorter prompt after it, what that answers, the first request.
    pub about_task: Vec<String>,
    pub plan: Vec<String>,
    /// The newest first, as all that may be cut short.
    pub decisions: Vec<String>,
    pub problems: Vec<String>,
    pub questions: Vec<String>,
    /// The agent's own account of what was compacted.
    pub summary: Vec<String>,
    /// The user's prompts beside the task, the latest first.
    pub earlier_prompts: Vec<EarlierPrompt>,
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
pub struct EarlierPrompt {
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
    Actions(Vec<super::resume::diff::DiffPiece<'a>>),
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
    pub content: MessageContent<'a>,
}

/// The words of a message; those of calls are made only when they are shown.
#[derive(Debug, Clone)]
pub enum MessageContent<'a> {
    Text(&'a str),
    Call(&'a CallEvent),
    Result {
        tool: &'a str,
        text: &'a str,
    },
    /// The service's answer in the place of a reply.
    Failure(&'a str),
}

impl Message<'_> {
    /// A call on one line; of the last ones, with the end of what came back.
    pub(super) fn call_line(&self, is_last: bool, quoting: Quoting) -> String {
        let mask = |text: &str| quoting.quote_line(text, 400);
        match &self.content {
            MessageContent::Text(text) => quote_inline(&mask(text), 160),
            MessageContent::Failure(text) => label_service_words(&mask(text), 120),
            MessageContent::Result { tool, text } => {
                format!("{}: {}", inline_code(tool, 40), label_tool_output(&mask(text), 120))
            }
            MessageContent::Call(call) => {
                let subject = quoting.quote_passage(&call.action.subject(), 400);
                format!(
                    "{} {}{}",
                    flatten_text(&call.tool, 40),
                    inline_code(&subject, 160),
                    call_end(call, is_last, quoting)
                )
            }
        }
    }
}

fn call_end(call: &CallEvent, is_last: bool, quoting: Quoting) -> String {
    if let Some(refusal) = &call.refusal {
        let said = refusal
            .words
            .as_deref()
            .map(|words| format!(", who said {}", quote_inline(&quoting.quote_passage(words, 400), 240)));
        return format!(", turned down by the user{}", said.unwrap_or_default());
    }
    let Some(end) = &call.end else { return ", no outcome".to_owned() };
    let word = match end.status {
        Status::Done | Status::Ended if is_last && matches!(call.action, Action::Run { .. }) => {
            return quote_output(&end.text, quoting);
        }
        Status::Done | Status::Ended => return String::new(),
        Status::Failed => ", failed",
        Status::Interrupted => ", interrupted",
    };
    let exit = end.exit_code.map(|code| format!(" with exit code {code}")).unwrap_or_default();
    format!("{word}{exit}{}", quote_output(&end.text, quoting))
}

/// The output of a call: its beginning and its end.
fn quote_output(text: &str, quoting: Quoting) -> String {
    let passage = quoting.quote_passage(text, 240);
    if passage.is_empty() { String::new() } else { format!("; {}", label_tool_output(&passage, 300)) }
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
            earlier_prompts: Vec::new(),
            standing: Vec::new(),
            drift: Vec::new(),
            files: Vec::new(),
            git: Vec::new(),
            context: Vec::new(),
            overview: Vec::new(),
            messages: Vec::new(),
        }
    }

    /// Collects the material from a brief, its history and the project.
    pub fn from_brief(
        brief: &'a Brief,
        history: &'a History,
        workspace: &'a Workspace,
        agent_name: &str,
        quoting: Quoting,
    ) -> Self {
        let git = workspace.git.as_ref().or(brief.git.as_ref());
        let newest = |items: &[Item]| items.iter().rev().map(|one| format_item(one, 400)).collect::<Vec<_>>();
        let (messages, keys) = collect_messages(history);
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
            task: task_passage(brief),
            about_task: about_task(brief),
            plan: plan_lines(brief),
            decisions: answers.map(|one| lines::format_decision(one, 400)).collect(),
            problems: problem_lines(brief),
            questions: newest(&brief.questions),
            summary: brief.summary.iter().map(|part| lines::with_time(part, 1_200)).collect(),
            earlier_prompts: earlier_prompts(brief, &keys),
            standing: standing_passages(brief),
            drift: lines::drift_lines(brief, 200),
            files: changed_files(brief, history, workspace),
            git: lines::git_lines(brief, 12, 100),
            context: context_parts(workspace),
            overview: overview_lines(brief),
            messages,
            ..Self::empty(agent_name, &brief.session.0, brief.made_at.to_string(), quoting)
        }
    }
}

/// The length at which the task is cut, in characters.
pub(super) const TASK_CHARS: usize = 6_000;

fn task_passage(brief: &Brief) -> Option<Passage> {
    let request = brief.task.request.as_ref();
    let since = |request: &Item| match brief.task.follow_up {
        Some(_) => lines::prompts_since(brief, request),
        None => String::new(),
    };
    let said = request.map(|request| Passage {
        by: format!("the user{}{}", time_suffix(request.at), since(request)),
        text: request.text.clone(),
    });
    said.or_else(|| brief.title.as_ref().map(|title| Passage { by: "its title".to_owned(), text: title.clone() }))
}

fn last_prompt(brief: &Brief) -> Option<Passage> {
    let said = brief.task.follow_up.as_ref()?;
    Some(Passage { by: format!("the user's last prompt{}", time_suffix(said.at)), text: said.text.clone() })
}

fn about_task(brief: &Brief) -> Vec<String> {
    let task = &brief.task;
    let reply = task.in_reply_to.as_ref().map(|reply| {
        format!(
            "Before the user's last prompt the agent said, at the end{}: {}",
            time_suffix(reply.at),
            quote_inline(text_end(&reply.text, 600), 700)
        )
    });
    let began = task.began_with.as_ref().map(|said| {
        format!("The first request that the user typed{}: {}", time_suffix(said.at), format_item(said, 1_200))
    });
    [reply, began].into_iter().flatten().collect()
}

fn plan_lines(brief: &Brief) -> Vec<String> {
    let told = |word: &str, items: &[Item]| {
        items
            .iter()
            .map(|step| format!("{word}{}: {}", time_suffix(step.at), format_item(step, 240)))
            .collect::<Vec<_>>()
    };
    let plan = &brief.plan;
    [told("in progress", &plan.in_progress), told("left", &plan.left), told("done", &plan.done)].concat()
}

/// Prompts of a captured session that are told beside the conversation, and what each is cut at, in characters.
const MAX_EARLIER_PROMPTS: usize = 200;
const EARLIER_PROMPT_CHARS: usize = 3_000;

/// The user's words that are told nowhere else, the latest first.
fn earlier_prompts(brief: &Brief, keys: &BTreeMap<EntryKey, usize>) -> Vec<EarlierPrompt> {
    let task = &brief.task;
    let told: Vec<&Item> = [&task.request, &task.follow_up].into_iter().flatten().collect();
    let others = brief.requests.iter().rev().filter(|said| !told.iter().any(|told| told.entries == said.entries));
    let place = |said: &Item| said.entries.first().and_then(|key| keys.get(key)).copied();
    others
        .filter_map(|said| Some(EarlierPrompt { message: place(said)?, at: said.at, text: said.text.clone() }))
        .collect()
}

/// Prompts that a captured session told before its last one, the latest first, each once.
pub(super) fn prompts_before_last(messages: &[Message<'_>], quoting: Quoting) -> Vec<EarlierPrompt> {
    let mut seen = BTreeSet::new();
    let prompts = messages.iter().enumerate().rev().filter(|(_, message)| message.role == Role::User);
    let said = prompts.skip(1).take(MAX_EARLIER_PROMPTS).filter_map(|(index, message)| match message.content {
        MessageContent::Text(text) if seen.insert(text) => Some(EarlierPrompt {
            message: index,
            at: message.at,
            text: quoting.quote_passage(text, EARLIER_PROMPT_CHARS),
        }),
        _ => None,
    });
    said.collect()
}

fn standing_passages(brief: &Brief) -> Vec<Passage> {
    let said = brief.decisions.iter().filter(|one| one.kind == DecisionKind::Said);
    said.map(|one| Passage { by: format!("the user{}", time_suffix(one.what.at)), text: one.what.text.clone() })
        .collect()
}

/// Commands that still fail first, then approaches that were tried in vain.
fn problem_lines(brief: &Brief) -> Vec<String> {
    let mut lines: Vec<String> =
        brief.failing.iter().rev().map(|one| format!("still failing: {}", lines::format_failing(one, 400))).collect();
    lines.extend(brief.tests.iter().map(|run| format!("tests: {}", lines::format_test_run(run, 200))));
    lines.extend(brief.failed.iter().rev().map(|one| lines::format_approach(one, 240)));
    lines
}

fn changed_files<'a>(brief: &Brief, history: &'a History, workspace: &Workspace) -> Vec<FileView<'a>> {
    let mut pieces = super::resume::diff::collect_pieces(history, &workspace.root);
    let changed = brief.files.iter().filter(|file| file.change != FileChange::Read);
    changed
        .map(|file| {
            let text = pieces.remove(file.path.as_str()).map_or(DiffSource::None, DiffSource::Actions);
            let change = lines::format_file_change(file, 120);
            FileView { path: file.path.clone(), change, language: fence_language(&file.path), text }
        })
        .collect()
}

/// The name of the language in a file's fence, by the file's ending.
pub(super) fn fence_language(path: &str) -> &'static str {
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

fn context_parts(workspace: &Workspace) -> Vec<ContextPart<'_>> {
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
    // A person's own are for the agent that they were written for.
    let memory = workspace.memory.iter().filter(|file| !file.is_private && !file.text.trim().is_empty());
    parts.extend(memory.map(|file| ContextPart {
        heading: format!("Instructions in {}", inline_code(&file.path, 60)),
        text: Cow::Borrowed(&file.text),
    }));
    parts
}

fn overview_lines(brief: &Brief) -> Vec<String> {
    let mut lines = Vec::new();
    let times: Vec<String> = [("began", brief.started_at), ("last active", brief.updated_at)]
        .iter()
        .filter_map(|(word, at): &(&str, Option<Timestamp>)| at.map(|at| format!("{word} {at}")))
        .collect();
    if !times.is_empty() {
        lines.push(times.join(", "));
    }
    if let Some(model) = &brief.model {
        lines.push(format!("model {}", inline_code(model, 60)));
    }
    if !brief.tools.is_empty() {
        lines.push(format!("tools, most used first: {}", inline_code(&brief.tools.join(", "), 200)));
    }
    let read = brief.files.iter().filter(|file| file.change == FileChange::Read);
    let read: Vec<&str> = read.take(15).map(|file| file.path.as_str()).collect();
    if !read.is_empty() {
        lines.push(format!("files that its tools read: {}", inline_code(&read.join(", "), 400)));
    }
    lines.extend(brief.commands.iter().rev().take(8).map(|run| format!("ran {}", lines::format_command(run, 160))));
    lines.extend(brief.todos.iter().rev().take(8).map(|one| format!("added in a file: {}", format_item(one, 160))));
    lines.extend(brief.references.iter().rev().take(8).map(|one| format!("named: {}", format_item(one, 160))));
    lines
}

/// Prompts, replies and summaries as they are, calls as what stands between them; and which message an entry is.
fn collect_messages(history: &History) -> (Vec<Message<'_>>, BTreeMap<EntryKey, usize>) {
    let (mut messages, mut keys) = (Vec::new(), BTreeMap::new());
    for step in history.steps.iter().skip(history.context_from()) {
        if let Some(message) = event_message(&step.event, step.at) {
            if message.role == Role::User {
                keys.insert(step.key, messages.len());
            }
            messages.push(message);
        }
    }
    (messages, keys)
}

fn event_message(event: &Event, at: Option<Timestamp>) -> Option<Message<'_>> {
    let (role, words) = match event {
        Event::Prompt { text, .. } => (Role::User, MessageContent::Text(text)),
        Event::Reply { text } => (Role::Agent, MessageContent::Text(text)),
        Event::Summary { text } => (Role::Summary, MessageContent::Text(text)),
        Event::Call(call) => (Role::Tool, MessageContent::Call(call)),
        Event::Failure(failure) => (Role::Tool, MessageContent::Failure(&failure.message)),
        Event::Attached { .. } | Event::Reasoning { .. } => return None,
    };
    let is_empty = matches!(words, MessageContent::Text(text) if text.trim().is_empty());
    (!is_empty).then_some(Message { role, at, content: words })
}
