//! pi.
//!
//! A session is one file of records that name their parent; the last record is the leaf. What the client writes and
//! what makes it load a foreign session is in `README.md` beside this file.

mod dialect;
mod discover;
mod edits;
mod hooks;
mod memory;
mod outcome;
mod questions;
mod read;
mod record;
mod record_numbers;
mod recording;
mod settings;
#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "tests make their own files")]
mod tests;
mod wire;
mod write;
#[cfg(test)]
mod write_tests;

use settings::Settings;

use crate::settings::{find_model_window, read_json};

use crate::{Agent, Env, Facts, LimitForm, ModelWindow, PathBase, PathRule, ResumeForm, SettingsView, Store, Writer};

/// pi, 0.27 to 0.87.
pub(crate) struct Pi;

static FACTS: Facts = Facts {
    id: "pi",
    name: "pi",
    binaries: &["pi"],
    start: &["pi", "{prompt}"],
    resume: ResumeForm::in_project(&["pi", "--session", "{id}"]),
    packages: &["@earendil-works/pi-coding-agent", "@mariozechner/pi-coding-agent"],
    stores: &[
        PathRule { on: &[], base: PathBase::Variable("PI_CODING_AGENT_DIR"), path: &[] },
        PathRule { on: &[], base: PathBase::Home, path: &[".pi", "agent"] },
    ],
    session_patterns: &[&["sessions", "*", "*.jsonl"]],
    limits: LimitForm::TextOnly,
    settings: &["settings.json"],
    memory: memory::MEMORY,
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
    windows_checked_on: "2026-11-15",
    hooks: Some(&hooks::HOOKS),
    recording: Some(recording::find_services),
    ..Facts::USUAL
};

impl Agent for Pi {
    fn facts(&self) -> &'static Facts {
        &FACTS
    }

    fn stores(&self, env: &Env) -> Vec<Store> {
        settings::list_stores(FACTS.store_candidates(env), env)
    }

    fn current_model(&self, at: &SettingsView<'_>) -> Option<String> {
        Settings::load(&at.store.root).default_model
    }

    fn configured_window(&self, at: &SettingsView<'_>, model: Option<&str>) -> Option<u64> {
        let listed = read_json(&at.store.root.join("models.json"))?;
        let providers = listed.get("providers")?.as_object()?.values();
        let models = providers.filter_map(|provider| provider.get("models")?.as_array()).flatten();
        find_model_window(models, model?, &["/contextWindow"])
    }

    fn writer(&self) -> Option<&dyn Writer> {
        Some(&write::plan_session)
    }
}
