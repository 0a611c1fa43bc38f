//! GitHub Copilot CLI.
//!
//! A session is a folder: `events.jsonl` is the truth, in the order of its lines, and `workspace.yaml` is what the
//! client lists. What it writes and what makes it load a foreign session is in `README.md` beside this file.

mod assets;
mod dialect;
mod discover;
mod events;
mod history;
mod outcome;
mod prompt;
mod read;
mod record;
#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "tests make their own files")]
mod tests;
mod usage;
mod wire;
mod workspace;
mod write;
#[cfg(test)]
mod write_tests;

use std::borrow::Cow;
use std::ops::ControlFlow;
use std::path::Path;

use carryover_core::transcript::{Action, Answer, Body, Call, Entry, EntryKey, Header, Outcome};

use crate::{
    Agent, AgentError, Base, Bookmark, Facts, Found, Limits, ModelWindow, PathRule, Sink, Source, Store, TargetView,
    WritePlan, WriteRequest, Writer,
};

/// Copilot CLI, 1.0.
pub(crate) struct CopilotCli;

static FACTS: Facts = Facts {
    id: "copilot-cli",
    name: "GitHub Copilot CLI",
    aliases: &["copilot"],
    binaries: &["copilot"],
    start: &["copilot", "-i", "{prompt}"],
    packages: &["@github/copilot"],
    stores: &[
        PathRule { on: &[], base: Base::Variable("COPILOT_HOME"), path: &[] },
        PathRule { on: &[], base: Base::Home, path: &[".copilot"] },
    ],
    tracks: &[&["session-state", "*", "events.jsonl"]],
    limits: Limits::Recorded,
    keeps_plan_mode: false,
    settings: &[],
    instruction_files: &["AGENTS.md", ".github/copilot-instructions.md", "CLAUDE.md", "GEMINI.md"],
    versions_seen: ("1.0.102", "1.0.102"),
    // What the client itself records as `context_token_limit`.
    windows: &[
        ModelWindow { prefix: "claude-opus-4.6", tokens: 936_000 },
        ModelWindow { prefix: "claude-sonnet-4.5", tokens: 168_000 },
        ModelWindow { prefix: "gpt-4.1", tokens: 64_000 },
        ModelWindow { prefix: "gpt-5.4", tokens: 922_000 },
    ],
    windows_as_of: "2026-11-15",
    default_window: 128_000,
    resume_budget: crate::UNKNOWN_RESUME_BUDGET,
};

impl Agent for CopilotCli {
    fn facts(&self) -> &'static Facts {
        &FACTS
    }

    fn recognise(&self, path: &Path, head: &[u8]) -> Option<Source> {
        let text = String::from_utf8_lossy(head);
        let first = text.lines().find(|line| !line.trim().is_empty())?;
        let ours = first.contains("\"session.start\"") && first.contains("\"copilotVersion\"");
        (ours || history::is_history(head)).then(|| Source { path: path.to_path_buf(), key: None })
    }

    fn discover(&self, store: &Store, found: &mut dyn FnMut(Found) -> ControlFlow<()>) -> Result<(), AgentError> {
        discover::discover(store, found)
    }

    fn sessions_in(&self, _store: &Store, file: &Path) -> Result<Vec<Found>, AgentError> {
        Ok(discover::look(file)?.into_iter().collect())
    }

    fn near_end(&self, source: &Source) -> Result<Bookmark, AgentError> {
        read::near_end(source)
    }

    fn read(&self, source: &Source, from: &Bookmark, sink: &mut dyn Sink) -> Result<Bookmark, AgentError> {
        read::read(source, from, sink)
    }

    fn reload(&self, header: &Header, key: EntryKey) -> Result<Vec<Entry>, AgentError> {
        read::reload(header, key)
    }

    fn record(&self, header: &Header, key: EntryKey) -> Result<String, AgentError> {
        read::raw(header, key)
    }

    fn is_unknown(&self, body: &Body) -> bool {
        matches!(body, Body::Opaque(Cow::Owned(kind)) if !record::is_known_kind(kind) || discover::is_new_talk(kind))
    }

    fn action(&self, call: &Call, outcome: Option<&str>) -> Action {
        dialect::action(call, outcome)
    }

    fn answers(&self, call: &Call, outcome: &str) -> Vec<Answer> {
        dialect::answers(call, outcome)
    }

    fn strip(&self, outcome: &mut Outcome) {
        outcome::strip(outcome);
    }

    fn current_model(&self, store: &Store) -> Option<String> {
        #[derive(serde::Deserialize)]
        struct WireSettings {
            model: Option<String>,
        }
        let text = fs_err::read_to_string(store.root.join("settings.json")).ok()?;
        serde_json::from_str::<WireSettings>(&text).ok()?.model
    }

    fn writer(&self) -> Option<&dyn Writer> {
        Some(self)
    }
}

impl Writer for CopilotCli {
    fn plan(&self, request: &WriteRequest<'_>, target: &TargetView<'_>) -> Result<WritePlan, AgentError> {
        write::plan(request, target)
    }
}
