//! Aider.
//!
//! A project has one history file, to which every chat is appended; a session is one chat of it. What the client writes
//! there, and what makes it load a foreign session, is in `README.md` beside this file.

mod chats;
mod clock;
mod commits;
mod dialect;
mod discover;
mod edits;
mod log;
mod read;
mod record;
mod shell;
mod stretch;
#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "tests make their own files")]
mod tests;
mod turn;
mod usage;
#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "tests make their own files")]
mod voice_tests;
mod wire;
mod write;
#[cfg(test)]
mod write_tests;

use std::ops::ControlFlow;
use std::path::Path;

use carryover_core::transcript::{Action, Call, Entry, EntryKey, Header};

use crate::formats::file::{MAX_SETTINGS, read_text};
use crate::{
    Agent, AgentError, Base, Bookmark, Env, Facts, Found, Limits, ModelWindow, PathRule, Sink, Source, Store,
    TargetView, WritePlan, WriteRequest, Writer,
};

/// Aider, 0.86.
pub(crate) struct Aider;

static FACTS: Facts = Facts {
    id: "aider",
    name: "Aider",
    aliases: &[],
    binaries: &["aider"],
    start: &["aider", "--read", "{file}"],
    packages: &["aider-chat"],
    stores: &[PathRule { on: &[], base: Base::Project, path: &[] }],
    tracks: &[&[".aider.chat.history*.md"]],
    limits: Limits::Worded,
    // It reads those files only that its configuration names.
    keeps_plan_mode: false,
    settings: &[],
    instruction_files: &[],
    versions_seen: ("0.86.2", "0.86.2"),
    windows: &[
        ModelWindow { prefix: "claude-", tokens: 200_000 },
        ModelWindow { prefix: "anthropic/", tokens: 200_000 },
        ModelWindow { prefix: "sonnet", tokens: 200_000 },
        ModelWindow { prefix: "opus", tokens: 200_000 },
        ModelWindow { prefix: "gpt-5", tokens: 272_000 },
        ModelWindow { prefix: "openai/gpt-5", tokens: 272_000 },
        ModelWindow { prefix: "gemini", tokens: 1_000_000 },
        ModelWindow { prefix: "deepseek", tokens: 128_000 },
    ],
    windows_as_of: "2026-11-15",
    default_window: 128_000,
    resume_budget: crate::UNKNOWN_RESUME_BUDGET,
};

impl Agent for Aider {
    fn facts(&self) -> &'static Facts {
        &FACTS
    }

    fn stores(&self, env: &Env) -> Vec<Store> {
        discover::stores(FACTS.store_candidates(env), env)
    }

    fn ignore_line(&self) -> Option<&'static str> {
        Some(".aider*")
    }

    fn recognise(&self, path: &Path, head: &[u8]) -> Option<Source> {
        let text = String::from_utf8_lossy(head);
        let started = text.lines().any(|line| line.starts_with(wire::STARTED));
        (started || discover::is_history(path)).then(|| Source { path: path.to_path_buf(), key: None })
    }

    fn discover(&self, store: &Store, found: &mut dyn FnMut(Found) -> ControlFlow<()>) -> Result<(), AgentError> {
        discover::discover(store, found)
    }

    fn sessions_in(&self, _store: &Store, file: &Path) -> Result<Vec<Found>, AgentError> {
        discover::chats_in(file)
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

    /// The model has no tools here: it writes its edits into its replies, and the client carries them out.
    fn action(&self, call: &Call, _outcome: Option<&str>) -> Action {
        match call.tool.as_str() {
            commits::TOOL => commits::action(call),
            edits::TOOL => edits::action(call),
            shell::TOOL => shell::action(call),
            _ => Action::Other,
        }
    }

    fn current_model(&self, store: &Store) -> Option<String> {
        let file = store.root.join(".aider.conf.yml");
        let text = read_text(&file, MAX_SETTINGS).ok()?;
        let value = text.lines().find_map(|line| line.strip_prefix("model:"))?;
        let value = value.split(" #").next().unwrap_or(value).trim().trim_matches(['"', '\'']);
        (!value.is_empty()).then(|| value.to_owned())
    }

    fn writer(&self) -> Option<&dyn Writer> {
        Some(self)
    }
}

impl Writer for Aider {
    fn plan(&self, request: &WriteRequest<'_>, target: &TargetView<'_>) -> Result<WritePlan, AgentError> {
        write::plan(request, target)
    }
}
