//! Gemini CLI.
//!
//! A session is a log that is replayed: messages are added, replaced, taken back, or set anew as a whole. What the
//! client writes and what makes it load a foreign session is in `README.md` beside this file.

mod answer;
mod boilerplate;
mod dialect;
mod discover;
mod failure;
mod message;
mod native;
mod project;
mod prompt;
mod read;
mod record;
mod replay;
#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "tests make their own files")]
mod tests;
mod usage;
mod wire;
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

/// Gemini CLI, 0.61.
pub(crate) struct GeminiCli;

static FACTS: Facts = Facts {
    id: "gemini-cli",
    name: "Gemini CLI",
    aliases: &["gemini"],
    binaries: &["gemini"],
    start: &["gemini", "-i", "{prompt}"],
    packages: &["@google/gemini-cli"],
    stores: &[
        PathRule { on: &[], base: Base::Variable("GEMINI_CLI_HOME"), path: &[".gemini"] },
        PathRule { on: &[], base: Base::Home, path: &[".gemini"] },
    ],
    tracks: &[&["tmp", "*", "chats", "session-*"]],
    limits: Limits::Worded,
    keeps_plan_mode: false,
    settings: &["projects.json"],
    instruction_files: &["GEMINI.md"],
    versions_seen: ("0.61.0", "0.61.0"),
    windows: &[
        ModelWindow { prefix: "gemini-", tokens: 1_048_576 },
        ModelWindow { prefix: "gemma-4-", tokens: 256_000 },
    ],
    windows_as_of: "2026-11-15",
    default_window: 1_048_576,
    resume_budget: crate::UNKNOWN_RESUME_BUDGET,
};

impl Agent for GeminiCli {
    fn facts(&self) -> &'static Facts {
        &FACTS
    }

    fn recognise(&self, path: &Path, head: &[u8]) -> Option<Source> {
        let text = String::from_utf8_lossy(&head[..head.len().min(2_048)]);
        let ours =
            text.trim_start().starts_with('{') && text.contains("\"sessionId\"") && text.contains("\"projectHash\"");
        ours.then(|| Source { path: path.to_path_buf(), key: None })
    }

    fn discover(&self, store: &Store, found: &mut dyn FnMut(Found) -> ControlFlow<()>) -> Result<(), AgentError> {
        discover::discover(store, found)
    }

    fn sessions_in(&self, store: &Store, file: &Path) -> Result<Vec<Found>, AgentError> {
        Ok(discover::session_in(store, file)?.into_iter().collect())
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
        let Body::Opaque(Cow::Owned(kind)) = body else { return false };
        !kind.contains('/') && !matches!(kind.as_str(), "info" | "warning" | "message")
    }

    fn action(&self, call: &Call, outcome: Option<&str>) -> Action {
        dialect::action(call, outcome)
    }

    fn answers(&self, call: &Call, outcome: &str) -> Vec<Answer> {
        answer::answers(call, outcome)
    }

    fn strip(&self, outcome: &mut Outcome) {
        boilerplate::strip(outcome);
    }

    fn current_model(&self, store: &Store) -> Option<String> {
        #[derive(serde::Deserialize)]
        struct Settings {
            model: Option<Model>,
        }
        #[derive(serde::Deserialize)]
        struct Model {
            name: Option<String>,
        }
        let text = fs_err::read_to_string(store.root.join("settings.json")).ok()?;
        serde_json::from_str::<Settings>(&text).ok()?.model?.name
    }
    fn writer(&self) -> Option<&dyn Writer> {
        Some(self)
    }
}

impl Writer for GeminiCli {
    fn plan(&self, request: &WriteRequest<'_>, target: &TargetView<'_>) -> Result<WritePlan, AgentError> {
        write::plan(request, target)
    }
}
