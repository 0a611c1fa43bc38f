//! `OpenClaw`.
//!
//! Sessions are events in a database of each of the user's agents; before 2026.7.2 they were files of the same records.
//! The client's formats, and what makes it load a foreign session, are described in `README.md` beside this file.

mod branch;
mod database_storage;
mod dialect;
mod discover;
mod events;
mod export;
mod file_storage;
mod injected_text;
mod memory;
mod outcome;
mod raw;
mod read;
mod record;
mod session_writer;
mod stored_session;
#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "tests make their own files")]
mod tests;
mod wire;
mod write;

use std::path::Path;

use carryover_core::transcript::SessionId;

use crate::agent::is_plain_name;
use crate::formats::file::{self, MAX_SETTINGS_BYTES};
use crate::settings::{find_model_window, read_json};
use crate::{
    Agent, Facts, LimitForm, ModelWindow, PathBase, PathRule, Placement, ResumeCommand, ResumeForm, SettingsView,
    Source, Writer,
};

/// The client as of 2026.9, and its older stores.
pub(crate) struct OpenClaw;

static FACTS: Facts = Facts {
    id: "openclaw",
    name: "OpenClaw",
    aliases: &["claw"],
    binaries: &["openclaw"],
    start: &["openclaw", "chat", "--message", "{prompt}"],
    // The name of a session is its key, by which the client knows it, and not its id.
    resume: ResumeForm::anywhere(&["openclaw", "tui", "--local", "--session", "{id}"]),
    packages: &["openclaw"],
    stores: &[
        PathRule { on: &[], base: PathBase::Variable("OPENCLAW_STATE_DIR"), path: &[] },
        PathRule { on: &[], base: PathBase::Home, path: &[".openclaw"] },
    ],
    session_patterns: &[&["agents", "*", "agent", "openclaw-agent.sqlite"], &["agents", "*", "sessions", "*.jsonl"]],
    limits: LimitForm::TextOnly,
    settings: &["openclaw.json"],
    memory: memory::MEMORY,
    // The file of its workspace: it is told by a person where that is.
    placement: Some(Placement::Block { file: "AGENTS.md", follows_pointers: true }),
    versions_seen: ("2026.9.6", "2026.9.6"),
    windows: &[
        ModelWindow { prefix: "claude-", tokens: 200_000 },
        ModelWindow { prefix: "gpt-5", tokens: 272_000 },
        ModelWindow { prefix: "gpt-6", tokens: 272_000 },
        ModelWindow { prefix: "gemini-", tokens: 1_048_576 },
    ],
    windows_checked_on: "2026-11-15",
    ..Facts::USUAL
};

impl Agent for OpenClaw {
    fn facts(&self) -> &'static Facts {
        &FACTS
    }

    fn current_model(&self, at: &SettingsView<'_>) -> Option<String> {
        let text = file::read_text(&at.store.root.join("openclaw.json"), MAX_SETTINGS_BYTES).ok()?;
        // It may hold comments; then the model is not known beforehand.
        let config: wire::WireConfig = serde_json::from_str(&text).ok()?;
        let model = match config.agents.defaults.model? {
            wire::WireModel::Name(model) => model,
            wire::WireModel::Choice { primary } => primary,
        };
        Some(model.split_once('/').map_or(model.clone(), |(_, model)| model.to_owned()))
    }

    fn configured_window(&self, at: &SettingsView<'_>, model: Option<&str>) -> Option<u64> {
        let config = read_json(&at.store.root.join("openclaw.json"))?;
        let providers = config.pointer("/models/providers")?.as_object()?.values();
        let models = providers.filter_map(|provider| provider.get("models")?.as_array()).flatten();
        find_model_window(models, model?, &["/contextTokens", "/contextWindow"])
    }

    fn resume_command(&self, source: &Source, id: &SessionId, project: &Path) -> Option<ResumeCommand> {
        let key = discover::find_session_key(source, &id.0).filter(|key| is_plain_name(key))?;
        Some(FACTS.resume.command(&key, project))
    }

    fn writer(&self) -> Option<&dyn Writer> {
        Some(&write::plan_session)
    }
}
