//! Codex CLI: one rollout file a session, read from the bare lines of 0.20 to the paginated ones of 0.166.

mod base;
mod begun;
mod code;
mod command;
mod config;
mod dialect;
mod discover;
mod display;
mod item;
mod log;
mod meta;
mod native;
mod outcome;
pub(crate) mod patch;
mod peek;
mod read;
mod record;
mod rollout;
mod script;
mod speech;
mod titles;
mod usage;
mod voice;
mod wire;
mod write;

#[cfg(test)]
mod tests;

use std::ops::ControlFlow;
use std::path::Path;

use carryover_core::transcript::{Action, Answer, Call, Entry, EntryKey, Header, Outcome};

use crate::formats::jsonl;
use crate::{
    Agent, AgentError, Base, Bookmark, Facts, Found, Limits, ModelWindow, PathRule, Sink, Source, Store, TargetView,
    WritePlan, WriteRequest, Writer,
};

/// Codex CLI, 0.20 to 0.166.
pub(crate) struct Codex;

static FACTS: Facts = Facts {
    id: "codex",
    name: "Codex CLI",
    aliases: &["codex-cli"],
    binaries: &["codex"],
    start: &["codex", "{prompt}"],
    packages: &["@openai/codex"],
    stores: &[
        PathRule { on: &[], base: Base::Variable("CODEX_HOME"), path: &[] },
        PathRule { on: &[], base: Base::Home, path: &[".codex"] },
    ],
    tracks: &[&["sessions", "*", "*", "*", "rollout-*.jsonl"]],
    limits: Limits::Recorded,
    keeps_plan_mode: false,
    settings: &["config.toml"],
    instruction_files: &["AGENTS.md"],
    versions_seen: ("0.20.0", "0.166.0"),
    // What the client itself records as `model_context_window`.
    windows: &[ModelWindow { prefix: "gpt-5", tokens: 258_400 }, ModelWindow { prefix: "gpt-6", tokens: 258_400 }],
    windows_as_of: "2026-11-15",
    default_window: 258_400,
    resume_budget: 120_000,
};

impl Agent for Codex {
    fn facts(&self) -> &'static Facts {
        &FACTS
    }

    fn recognise(&self, path: &Path, head: &[u8]) -> Option<Source> {
        discover::recognise(path, head)
    }

    fn discover(&self, store: &Store, found: &mut dyn FnMut(Found) -> ControlFlow<()>) -> Result<(), AgentError> {
        discover::discover(store, found)
    }

    fn sessions_in(&self, store: &Store, file: &Path) -> Result<Vec<Found>, AgentError> {
        Ok(discover::session_in(store, file)?.into_iter().collect())
    }

    fn near_end(&self, source: &Source) -> Result<Bookmark, AgentError> {
        let offset = jsonl::near_end(&source.path)?;
        Ok(Bookmark::Appended { offset, head: jsonl::head_digest(&source.path, offset)? })
    }

    fn read(&self, source: &Source, from: &Bookmark, sink: &mut dyn Sink) -> Result<Bookmark, AgentError> {
        read::read(source, from, sink)
    }

    fn reload(&self, header: &Header, key: EntryKey) -> Result<Vec<Entry>, AgentError> {
        read::reload(header, key)
    }

    fn record(&self, header: &Header, key: EntryKey) -> Result<String, AgentError> {
        Ok(jsonl::record(read::file_of(header, key)?, key.offset, u64::from(key.length))?)
    }

    fn action(&self, call: &Call, _outcome: Option<&str>) -> Action {
        dialect::action(call)
    }

    fn answers(&self, call: &Call, outcome: &str) -> Vec<Answer> {
        dialect::answers(call, outcome)
    }

    fn strip(&self, outcome: &mut Outcome) {
        outcome::strip(outcome);
    }

    fn current_model(&self, store: &Store) -> Option<String> {
        config::Config::of(&store.root).model
    }

    fn writer(&self) -> Option<&dyn Writer> {
        Some(self)
    }
}

impl Writer for Codex {
    fn plan(&self, request: &WriteRequest<'_>, target: &TargetView<'_>) -> Result<WritePlan, AgentError> {
        write::plan(request, target)
    }
}
