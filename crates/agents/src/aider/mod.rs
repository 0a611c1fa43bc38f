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
mod read;
mod record;
mod request_log;
mod segment;
mod shell;
#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "tests make their own files")]
mod speaker_tests;
#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "tests make their own files")]
mod tests;
mod turn;
mod usage;
mod wire;
mod write;
#[cfg(test)]
mod write_tests;

use crate::formats::file::{MAX_SETTINGS_BYTES, read_text};
use crate::{Agent, Env, Facts, LimitForm, ModelWindow, PathBase, PathRule, Store, Writer};

/// Aider, 0.86.
pub(crate) struct Aider;

static FACTS: Facts = Facts {
    id: "aider",
    name: "Aider",
    binaries: &["aider"],
    start: &["aider", "--read", "{file}"],
    packages: &["aider-chat"],
    stores: &[PathRule { on: &[], base: PathBase::Project, path: &[] }],
    session_patterns: &[&[".aider.chat.history*.md"]],
    limits: LimitForm::TextOnly,
    // It reads those files only that its configuration names.
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
    windows_checked_on: "2026-11-15",
    ..Facts::USUAL
};

impl Agent for Aider {
    fn facts(&self) -> &'static Facts {
        &FACTS
    }

    fn stores(&self, env: &Env) -> Vec<Store> {
        discover::find_stores(FACTS.store_candidates(env), env)
    }

    fn ignore_line(&self) -> Option<&'static str> {
        Some(".aider*")
    }

    fn current_model(&self, store: &Store) -> Option<String> {
        let file = store.root.join(".aider.conf.yml");
        let text = read_text(&file, MAX_SETTINGS_BYTES).ok()?;
        let value = text.lines().find_map(|line| line.strip_prefix("model:"))?;
        let value = value.split(" #").next().unwrap_or(value).trim().trim_matches(['"', '\'']);
        (!value.is_empty()).then(|| value.to_owned())
    }

    fn writer(&self) -> Option<&dyn Writer> {
        Some(&write::plan_session)
    }
}
