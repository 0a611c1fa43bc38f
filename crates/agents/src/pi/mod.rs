//! pi.
//!
//! A session is one file of records that name their parent; the last record is the leaf. What the client writes and
//! what makes it load a foreign session is in `README.md` beside this file.

mod dialect;
mod discover;
mod edits;
mod numbered;
mod outcome;
mod questions;
mod read;
mod record;
mod settings;
#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "tests make their own files")]
mod tests;
mod wire;
mod write;
#[cfg(test)]
mod write_tests;

use std::ops::ControlFlow;
use std::path::Path;

use carryover_core::transcript::{Action, Answer, Call, Entry, EntryKey, Header, Outcome};

use settings::Settings;

use crate::formats::jsonl;
use crate::formats::tree::owner;
use crate::{
    Agent, AgentError, Base, Bookmark, Env, Facts, Found, Limits, ModelWindow, PathRule, Sink, Source, Store,
    TargetView, WritePlan, WriteRequest, Writer,
};

/// pi, 0.27 to 0.87.
pub(crate) struct Pi;

static FACTS: Facts = Facts {
    id: "pi",
    name: "pi",
    aliases: &[],
    binaries: &["pi"],
    start: &["pi", "{prompt}"],
    packages: &["@earendil-works/pi-coding-agent", "@mariozechner/pi-coding-agent"],
    stores: &[
        PathRule { on: &[], base: Base::Variable("PI_CODING_AGENT_DIR"), path: &[] },
        PathRule { on: &[], base: Base::Home, path: &[".pi", "agent"] },
    ],
    tracks: &[&["sessions", "*", "*.jsonl"]],
    limits: Limits::Worded,
    keeps_plan_mode: false,
    settings: &["settings.json"],
    instruction_files: &["AGENTS.md", "CLAUDE.md"],
    versions_seen: ("0.27.9", "0.87.1"),
    // The client's own table, in its package `pi-ai`: what the vendors' own providers give.
    windows: &[
        ModelWindow { prefix: "claude-", tokens: 200_000 },
        ModelWindow { prefix: "claude-fable-5", tokens: 1_000_000 },
        ModelWindow { prefix: "claude-opus-4-6", tokens: 1_000_000 },
        ModelWindow { prefix: "claude-opus-4-7", tokens: 1_000_000 },
        ModelWindow { prefix: "claude-opus-4-8", tokens: 1_000_000 },
        ModelWindow { prefix: "claude-opus-5", tokens: 1_000_000 },
        ModelWindow { prefix: "claude-sonnet-4-5", tokens: 1_000_000 },
        ModelWindow { prefix: "claude-sonnet-4-6", tokens: 1_000_000 },
        ModelWindow { prefix: "claude-sonnet-5", tokens: 1_000_000 },
        ModelWindow { prefix: "deepseek-flash", tokens: 1_000_000 },
        ModelWindow { prefix: "deepseek-v4", tokens: 1_000_000 },
        ModelWindow { prefix: "gemini-", tokens: 1_048_576 },
        ModelWindow { prefix: "glm-4.7", tokens: 204_800 },
        ModelWindow { prefix: "glm-5", tokens: 200_000 },
        ModelWindow { prefix: "glm-5.2", tokens: 1_000_000 },
        ModelWindow { prefix: "glm-5.3", tokens: 1_000_000 },
        ModelWindow { prefix: "gpt-4.1", tokens: 1_047_576 },
        ModelWindow { prefix: "gpt-5", tokens: 400_000 },
        ModelWindow { prefix: "gpt-5-chat", tokens: 128_000 },
        ModelWindow { prefix: "gpt-5.2-chat", tokens: 128_000 },
        ModelWindow { prefix: "gpt-5.3-chat", tokens: 128_000 },
        ModelWindow { prefix: "gpt-5.3-codex-spark", tokens: 128_000 },
        ModelWindow { prefix: "gpt-5.4", tokens: 272_000 },
        ModelWindow { prefix: "gpt-5.4-mini", tokens: 400_000 },
        ModelWindow { prefix: "gpt-5.4-nano", tokens: 400_000 },
        ModelWindow { prefix: "gpt-5.5", tokens: 272_000 },
        ModelWindow { prefix: "gpt-5.6", tokens: 272_000 },
        ModelWindow { prefix: "gpt-6", tokens: 272_000 },
        ModelWindow { prefix: "grok-4", tokens: 500_000 },
        ModelWindow { prefix: "o1", tokens: 200_000 },
        ModelWindow { prefix: "o3", tokens: 200_000 },
        ModelWindow { prefix: "o4-mini", tokens: 200_000 },
    ],
    windows_as_of: "2026-11-15",
    default_window: 128_000,
    resume_budget: crate::UNKNOWN_RESUME_BUDGET,
};

impl Agent for Pi {
    fn facts(&self) -> &'static Facts {
        &FACTS
    }

    fn stores(&self, env: &Env) -> Vec<Store> {
        settings::stores(FACTS.store_candidates(env), env)
    }

    fn recognise(&self, path: &Path, head: &[u8]) -> Option<Source> {
        // Another client's files begin alike.
        let ours = discover::is_session(head) && !owner::has_several_agents(path, head);
        ours.then(|| Source { path: path.to_path_buf(), key: None })
    }

    fn discover(&self, store: &Store, found: &mut dyn FnMut(Found) -> ControlFlow<()>) -> Result<(), AgentError> {
        discover::discover(store, found)
    }

    fn sessions_in(&self, _store: &Store, file: &Path) -> Result<Vec<Found>, AgentError> {
        Ok(discover::look(file)?.into_iter().collect())
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
        read::raw(header, key)
    }

    fn action(&self, call: &Call, outcome: Option<&str>) -> Action {
        dialect::action(call, outcome)
    }

    fn answers(&self, call: &Call, outcome: &str) -> Vec<Answer> {
        questions::answers(call, outcome)
    }

    fn strip(&self, outcome: &mut Outcome) {
        outcome::strip(outcome);
    }

    fn current_model(&self, store: &Store) -> Option<String> {
        Settings::of(&store.root).default_model
    }

    fn writer(&self) -> Option<&dyn Writer> {
        Some(self)
    }
}

impl Writer for Pi {
    fn plan(&self, request: &WriteRequest<'_>, target: &TargetView<'_>) -> Result<WritePlan, AgentError> {
        write::plan(request, target)
    }
}
