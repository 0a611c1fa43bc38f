//! Planning a history file that the client restores.
//!
//! The client loads a whole file, so a session gets a file of its own beside the project's, and the project's is left
//! alone. Whatever the model is to see stands there as words of the user or of the model; a line of the client's keeps
//! two messages of the model apart, and is not sent.

use std::collections::BTreeMap;

use carryover_core::plain::one_line;
use carryover_core::transcript::{Blob, Body, Call, CallId, Origin, Outcome, Part};

use super::dialect::{self, Home};
use super::{FACTS, chats, clock, wire};
use crate::formats::ids::Ids;
use crate::formats::losses::count_loss;
use crate::formats::request::{project_move, project_text};
use crate::formats::session_lines::WrittenFile;
use crate::{AgentError, Carried, Loss, Origins, ResumeCommand, TargetView, WritePlan, WriteRequest, WrittenAs};

/// The client summarises a history that is longer than this, and by default that is very little.
const LEAST_HISTORY: u64 = 8_192;

/// Plans the file.
pub(super) fn plan(request: &WriteRequest<'_>, target: &TargetView<'_>) -> Result<WritePlan, AgentError> {
    let project = project_text(request, FACTS.name)?;
    let name = Ids::new(request.seed).uuid();
    let name = format!(".aider.chat.history.{}.md", name.get(..8).unwrap_or(&name));
    let file = request.project.join(&name);
    let started = clock::local(request.started_at, &target.env.zone);
    let mut page = Page::new(request, project, &started);
    page.write();
    let session = chats::id(&chats::resolved(&file), &started);
    let written = WrittenFile {
        bytes: page.text.into_bytes(),
        origins: page.origins,
        losses: page.losses,
        translated: page.translated,
    };
    let cwd = request.project.to_path_buf();
    let resume = ResumeCommand { argv: argv(&name, request.tokens), cwd, needs_cwd: true };
    Ok(written.into_plan(target, session, file, resume))
}

/// The history is given room to be sent as it is, and to grow by as much again before the client summarises it.
fn argv(name: &str, tokens: u64) -> Vec<String> {
    let room = tokens.saturating_mul(2).max(LEAST_HISTORY).next_multiple_of(1024);
    let room = room.to_string();
    let words = ["aider", "--chat-history-file", name, "--restore-chat-history", "--max-chat-history-tokens", &room];
    words.map(str::to_owned).to_vec()
}

/// Who spoke last.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Voice {
    Client,
    User,
    Model,
}

/// The file in the making.
struct Page<'a> {
    request: &'a WriteRequest<'a>,
    home: Home<'a>,
    text: String,
    last: Voice,
    calls: BTreeMap<CallId, usize>,
    origins: Origins,
    losses: Vec<Loss>,
    translated: usize,
}

impl<'a> Page<'a> {
    fn new(request: &'a WriteRequest<'a>, project: &'a str, started: &str) -> Self {
        let moves = project_move(request, project);
        let carried = format!("{} from {}, begun {}", wire::CARRIED, request.source_agent, request.started_at);
        let mut text = format!("\n{}{started}\n\n{}", wire::STARTED, wire::console_line(&carried));
        if let Some(title) = request.title {
            text.push_str(&wire::console_line(&format!("{}{}", wire::TITLE, one_line(title, 200))));
        }
        Self {
            request,
            home: Home { project, moves },
            text,
            last: Voice::Client,
            calls: BTreeMap::new(),
            origins: Vec::new(),
            losses: Vec::new(),
            translated: 0,
        }
    }

    fn write(&mut self) {
        if let Some(brief) = self.request.brief {
            self.summary(brief, None);
        }
        for (index, carried) in self.request.entries.iter().enumerate() {
            self.entry(carried, index);
        }
    }

    fn entry(&mut self, carried: &Carried, index: usize) {
        match &carried.entry.body {
            Body::Prompt(parts) => {
                let text = self.words(parts);
                let hook = carried.entry.origin == Origin::Hook;
                let text = if hook { format!("<hook>\n{text}\n</hook>") } else { text };
                self.user(&text, Some(index));
            }
            Body::Summary(parts) => {
                let text = self.words(parts);
                self.summary(&text, Some(index));
            }
            Body::Reply(parts) => {
                let text = self.words(parts);
                self.model("Reply", &text, Some(index));
            }
            Body::Reasoning(reasoning) => self.thoughts(&reasoning.text, index),
            Body::Call(call) => self.call(call, carried, index),
            Body::Outcome(outcome) => self.outcome(outcome, index),
            Body::Compacted(_) | Body::Rewound { .. } | Body::Failure(_) | Body::Note(_) | Body::Opaque(_) => {}
        }
    }

    fn words(&mut self, parts: &[Part]) -> String {
        dialect::text(parts, |blob: &Blob| {
            let what = if blob.is_image() { "images" } else { "files" };
            count_loss(&mut self.losses, what, "the history holds text alone; a line stands in their place");
        })
    }

    fn call(&mut self, call: &Call, carried: &Carried, index: usize) {
        count_loss(&mut self.losses, "calls", "the client knows no tools: they are told in words");
        let number = self.calls.len() + 1;
        self.calls.insert(call.id.clone(), number);
        let (text, own) = dialect::call(number, call, &carried.action, self.home);
        self.translated += usize::from(own);
        self.model(&format!("Call {number}: {}", call.tool), &text, Some(index));
    }

    fn outcome(&mut self, outcome: &Outcome, index: usize) {
        count_loss(&mut self.losses, "outcomes", "the client knows no tools: they are told in words");
        let number = self.calls.get(&outcome.call).copied();
        let text = self.words(&outcome.parts);
        let text = dialect::outcome(number, outcome, &text);
        self.model("Result", &text, Some(index));
    }

    /// Words of the user's. The client knows two messages of theirs by the blank line between them.
    fn user(&mut self, text: &str, index: Option<usize>) {
        if text.trim().is_empty() {
            return;
        }
        self.text.push('\n');
        self.note(index);
        self.text.push_str(&wire::user_lines(text));
        self.last = Voice::User;
    }

    /// Words of the model's. Two messages of its need a line of the client's between them.
    fn model(&mut self, kind: &str, text: &str, index: Option<usize>) {
        let text = without_blank_lines_before(text);
        if text.is_empty() {
            return;
        }
        if self.last == Voice::Model {
            self.text.push_str(&wire::console_line(kind));
        }
        self.text.push('\n');
        self.note(index);
        let (text, guarded) = wire::guard(text);
        for _ in 0..guarded {
            let reason = "the client would drop them, for their first letters: a tab stands behind those";
            count_loss(&mut self.losses, "exact lines", reason);
        }
        self.text.extend([text.trim_end(), "\n\n"]);
        self.last = Voice::Model;
    }

    /// The client's own form of what it has summarised, with the answer that it makes up for it.
    fn summary(&mut self, text: &str, index: Option<usize>) {
        self.user(&format!("{}\n{text}", wire::SUMMARY), index);
        self.model("Reply", wire::ACKNOWLEDGED, None);
    }

    /// For whoever opens the file; what the client says itself is not sent.
    fn thoughts(&mut self, text: &str, index: usize) {
        if text.trim().is_empty() {
            return count_loss(&mut self.losses, "reasoning", "sealed by its vendor, with no text to show");
        }
        count_loss(&mut self.losses, "reasoning", "it stands in the history, and is not sent to the model");
        self.text.push('\n');
        self.note(Some(index));
        self.text.push_str(&wire::console_lines(wire::THOUGHTS, text));
        self.last = Voice::Client;
    }

    fn note(&mut self, index: Option<usize>) {
        let offset = self.text.len() as u64;
        self.origins.extend(index.map(|entry| WrittenAs { entry, offset }));
    }
}

/// What the reader takes for the beginning of a message.
fn without_blank_lines_before(text: &str) -> &str {
    let mut rest = text;
    while let Some((line, below)) = rest.split_once('\n') {
        if !line.as_bytes().trim_ascii().is_empty() {
            return rest;
        }
        rest = below;
    }
    if rest.trim().is_empty() { "" } else { rest }
}
