//! GitHub Copilot CLI.
//!
//! A session is a folder: `events.jsonl` is the truth, in the order of its lines, and `workspace.yaml` is what the
//! client lists. What it writes and what makes it load a foreign session is in `README.md` beside this file.

mod assets;
mod dialect;
mod discover;
mod events;
mod history;
pub(crate) mod hooks;
mod memory;
mod outcome;
mod prompt;
mod read;
mod record;
mod recording;
#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "tests make their own files")]
mod tests;
mod usage;
mod wire;
mod workspace;
mod write;
#[cfg(test)]
mod write_tests;

use crate::formats::file::read_setting;
use crate::{Agent, Facts, LimitForm, ModelWindow, PathBase, PathRule, ResumeForm, SettingsView, Writer};

/// Copilot CLI, 1.0.
pub(crate) struct CopilotCli;

static FACTS: Facts = Facts {
    id: "copilot-cli",
    name: "GitHub Copilot CLI",
    aliases: &["copilot"],
    binaries: &["copilot"],
    start: &["copilot", "-i", "{prompt}"],
    resume: ResumeForm::anywhere(&["copilot", "--resume={id}"]),
    packages: &["@github/copilot"],
    stores: &[
        PathRule { on: &[], base: PathBase::Variable("COPILOT_HOME"), path: &[] },
        PathRule { on: &[], base: PathBase::Home, path: &[".copilot"] },
    ],
    session_patterns: &[&["session-state", "*", "events.jsonl"]],
    limits: LimitForm::Recorded,
    memory: memory::MEMORY,
    versions_seen: ("1.0.102", "1.0.102"),
    // The client itself records these as `context_token_limit`.
    windows: &[
        ModelWindow { prefix: "claude-opus-4.6", tokens: 936_000 },
        ModelWindow { prefix: "claude-sonnet-4.5", tokens: 168_000 },
        ModelWindow { prefix: "gpt-4.1", tokens: 64_000 },
        ModelWindow { prefix: "gpt-5.4", tokens: 922_000 },
    ],
    windows_checked_on: "2026-11-15",
    hooks: Some(&hooks::HOOKS),
    recording: Some(recording::find_services),
    usual_modes: &["interactive", "allow all: off"],
    ..Facts::USUAL
};

impl Agent for CopilotCli {
    fn facts(&self) -> &'static Facts {
        &FACTS
    }

    fn current_model(&self, at: &SettingsView<'_>) -> Option<String> {
        at.var("COPILOT_MODEL").or_else(|| read_setting(&at.store.root.join("settings.json"), "/model"))
    }

    fn writer(&self) -> Option<&dyn Writer> {
        Some(&write::plan_session)
    }
}
