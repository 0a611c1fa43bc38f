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

use carryover_core::transcript::{Action, Answer, Call, Outcome};

use crate::{Agent, Base, Dialect, Facts, Limits, ModelWindow, PathRule, Store, Writer};

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
    settings: &["config.toml"],
    instruction_files: &["AGENTS.md"],
    versions_seen: ("0.20.0", "0.166.0"),
    // What the client itself records as `model_context_window`.
    windows: &[ModelWindow { prefix: "gpt-5", tokens: 258_400 }, ModelWindow { prefix: "gpt-6", tokens: 258_400 }],
    windows_as_of: "2026-11-15",
    default_window: 258_400,
    resume_budget: 120_000,
    ..Facts::USUAL
};

impl Agent for Codex {
    fn facts(&self) -> &'static Facts {
        &FACTS
    }

    fn current_model(&self, store: &Store) -> Option<String> {
        config::Config::of(&store.root).model
    }

    fn writer(&self) -> Option<&dyn Writer> {
        Some(&write::plan)
    }
}

impl Dialect for Codex {
    fn action(&self, call: &Call, _outcome: Option<&str>) -> Action {
        dialect::action(call)
    }

    fn answers(&self, call: &Call, outcome: &str) -> Vec<Answer> {
        dialect::answers(call, outcome)
    }

    fn strip(&self, outcome: &mut Outcome) {
        outcome::strip(outcome);
    }
}
