//! Planning a history file that the client restores.
//!
//! The client loads a whole file, so a session gets a file of its own beside the project's, and the project's is left
//! alone. Whatever the model is to see stands there as words of the user or of the model; a line of the client's keeps
//! two messages of the model apart, and is not sent.

use std::collections::BTreeMap;
use std::path::Path;

use carryover_core::plain::one_line;
use carryover_core::transcript::{Blob, Body, Call, CallId, Origin, Outcome, Part};

use super::dialect::{self, ProjectPaths};
use super::{FACTS, chats, clock, wire};
use crate::formats::ids::Ids;
use crate::formats::losses::count_loss;
use crate::formats::request::{project_relocation, project_text};
use crate::formats::session_lines::WrittenFile;
use crate::{
    AgentError, CarriedEntry, Loss, Origins, ResumeCommand, TargetView, WritePlan, WriteRequest, WrittenEntry,
};

/// The client summarises a history that is longer than this, and by default that is very little.
const MIN_HISTORY_TOKENS: u64 = 8_192;

/// Plans the file.
pub(super) fn plan_session(request: &WriteRequest<'_>, target: &TargetView<'_>) -> Result<WritePlan, AgentError> {
    let project = project_text(request, FACTS.name)?;
    let name = history_name(request);
    let file = request.project.join(&name);
    let started = clock::format_local(request.started_at, &target.env.zone);
    let mut page = HistoryWriter::new(request, project, &started);
    page.write_entries();
    let session = chats::session_id(&chats::resolve_folder(&file), &started);
    let written = WrittenFile {
        bytes: page.text.into_bytes(),
        origins: page.origins,
        losses: page.losses,
        translated: page.translated,
    };
    let resume = restore_command(&name, request.tokens, request.project);
    Ok(written.into_plan(target, session, file, resume))
}

/// A history beside that of the project, which is left alone.
pub(super) fn history_name(request: &WriteRequest<'_>) -> String {
    let name = Ids::new(request.seed).next_uuid();
    format!(".aider.chat.history.{}.md", name.get(..8).unwrap_or(&name))
}

/// The history is given room to be sent as it is, and to grow by as much again before the client summarises it.
pub(super) fn restore_command(name: &str, tokens: u64, project: &Path) -> ResumeCommand {
    let room = tokens.saturating_mul(2).max(MIN_HISTORY_TOKENS).next_multiple_of(1024);
    let mut command = FACTS.resume.command(name, project);
    command.argv.extend(["--max-chat-history-tokens".to_owned(), room.to_string()]);
    command
}

/// Who spoke last.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Speaker {
    Client,
    User,
    Model,
}

/// The file in the making.
struct HistoryWriter<'a> {
    request: &'a WriteRequest<'a>,
    home: ProjectPaths<'a>,
    text: String,
    last: Speaker,
    calls: BTreeMap<CallId, usize>,
    origins: Origins,
    losses: Vec<Loss>,
    translated: usize,
}

impl<'a> HistoryWriter<'a> {
    fn new(request: &'a WriteRequest<'a>, project: &'a str, started: &str) -> Self {
        let moves = project_relocation(request, project);
        let carried = format!("{} from {}, begun {}", wire::CARRIED_NOTICE, request.source_agent, request.started_at);
        let mut text = format!("\n{}{started}\n\n{}", wire::CHAT_START, wire::console_line(&carried));
        if let Some(title) = request.title {
            text.push_str(&wire::console_line(&format!("{}{}", wire::TITLE_START, one_line(title, 200))));
        }
        Self {
            request,
            home: ProjectPaths { project, moves },
            text,
            last: Speaker::Client,
            calls: BTreeMap::new(),
            origins: Vec::new(),
            losses: Vec::new(),
            translated: 0,
        }
    }

    fn write_entries(&mut self) {
        if let Some(brief) = self.request.brief {
            self.write_summary(brief, None);
        }
        for (index, carried) in self.request.entries.iter().enumerate() {
            self.write_entry(carried, index);
        }
    }

    fn write_entry(&mut self, carried: &CarriedEntry, index: usize) {
        match &carried.entry.body {
            Body::Prompt(parts) => {
                let text = self.render_parts(parts);
                let hook = carried.entry.origin == Origin::Hook;
                let text = if hook { format!("<hook>\n{text}\n</hook>") } else { text };
                self.write_user(&text, Some(index));
            }
            Body::Summary(parts) => {
                let text = self.render_parts(parts);
                self.write_summary(&text, Some(index));
            }
            Body::Reply(parts) => {
                let text = self.render_parts(parts);
                self.write_model("Reply", &text, Some(index));
            }
            Body::Reasoning(reasoning) => self.write_thoughts(&reasoning.text, index),
            Body::Call(call) => self.write_call(call, carried, index),
            Body::Outcome(outcome) => self.write_outcome(outcome, index),
            Body::Compacted(_) | Body::Rewound { .. } | Body::Failure(_) | Body::Note(_) | Body::Opaque(_) => {}
        }
    }

    fn render_parts(&mut self, parts: &[Part]) -> String {
        dialect::parts_text(parts, |blob: &Blob| {
            let what = if blob.is_image() { "images" } else { "files" };
            count_loss(&mut self.losses, what, "the history holds text alone; a line stands in their place");
        })
    }

    fn write_call(&mut self, call: &Call, carried: &CarriedEntry, index: usize) {
        count_loss(&mut self.losses, "calls", "the client knows no tools: they are told in words");
        let number = self.calls.len() + 1;
        self.calls.insert(call.id.clone(), number);
        let (text, own) = dialect::describe_call(number, call, &carried.action, self.home);
        self.translated += usize::from(own);
        self.write_model(&format!("Call {number}: {}", call.tool), &text, Some(index));
    }

    fn write_outcome(&mut self, outcome: &Outcome, index: usize) {
        count_loss(&mut self.losses, "outcomes", "the client knows no tools: they are told in words");
        let number = self.calls.get(&outcome.call).copied();
        let text = self.render_parts(&outcome.parts);
        let text = dialect::describe_outcome(number, outcome, &text);
        self.write_model("Result", &text, Some(index));
    }

    /// Words of the user's. The client knows two messages of theirs by the blank line between them.
    fn write_user(&mut self, text: &str, index: Option<usize>) {
        if text.trim().is_empty() {
            return;
        }
        self.text.push('\n');
        self.note_origin(index);
        self.text.push_str(&wire::user_lines(text));
        self.last = Speaker::User;
    }

    /// Words of the model's. Two messages of its need a line of the client's between them.
    fn write_model(&mut self, kind: &str, text: &str, index: Option<usize>) {
        let text = trim_blank_start(text);
        if text.is_empty() {
            return;
        }
        if self.last == Speaker::Model {
            self.text.push_str(&wire::console_line(kind));
        }
        self.text.push('\n');
        self.note_origin(index);
        let (text, guarded) = wire::guard_marks(text);
        for _ in 0..guarded {
            let reason = "the client would drop them, for their first letters: a tab stands behind those";
            count_loss(&mut self.losses, "exact lines", reason);
        }
        self.text.extend([text.trim_end(), "\n\n"]);
        self.last = Speaker::Model;
    }

    /// The client's own form of what it has summarised, with the answer that it makes up for it.
    fn write_summary(&mut self, text: &str, index: Option<usize>) {
        self.write_user(&format!("{}\n{text}", wire::SUMMARY_START), index);
        self.write_model("Reply", wire::SUMMARY_REPLY, None);
    }

    /// For whoever opens the file; what the client says itself is not sent.
    fn write_thoughts(&mut self, text: &str, index: usize) {
        if text.trim().is_empty() {
            return count_loss(&mut self.losses, "reasoning", "sealed by its vendor, with no text to show");
        }
        count_loss(&mut self.losses, "reasoning", "it stands in the history, and is not sent to the model");
        self.text.push('\n');
        self.note_origin(Some(index));
        self.text.push_str(&wire::console_lines(wire::THOUGHTS_LINE, text));
        self.last = Speaker::Client;
    }

    fn note_origin(&mut self, index: Option<usize>) {
        let offset = self.text.len() as u64;
        self.origins.extend(index.map(|entry| WrittenEntry { entry, offset }));
    }
}

/// The text from its first line that is not blank: there the reader takes a message to begin.
fn trim_blank_start(text: &str) -> &str {
    let mut rest = text;
    while let Some((line, below)) = rest.split_once('\n') {
        if !line.as_bytes().trim_ascii().is_empty() {
            return rest;
        }
        rest = below;
    }
    if rest.trim().is_empty() { "" } else { rest }
}
