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
mod memory;
mod own_session;
mod read;
mod record;
mod recording;
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

use std::path::Path;

use carryover_core::tokens::estimate_bytes;
use carryover_core::transcript::SessionId;

use crate::agent::is_plain_name;
use crate::formats::file::{MAX_SETTINGS_BYTES, read_text};
use crate::settings::read_json;
use crate::{
    Agent, Env, Facts, LimitForm, ModelWindow, PathBase, PathRule, ReadList, ResumeCommand, ResumeForm, SettingsView,
    Source, Store, Writer,
};

/// Aider, 0.86.
pub(crate) struct Aider;

static FACTS: Facts = Facts {
    id: "aider",
    name: "Aider",
    binaries: &["aider"],
    start: &["aider", "--read", "{file}"],
    // It has no ids: it restores all of a history file.
    resume: ResumeForm::in_project(&["aider", "--chat-history-file", "{id}", "--restore-chat-history"]),
    packages: &["aider-chat"],
    stores: &[PathRule { on: &[], base: PathBase::Project, path: &[] }],
    session_patterns: &[&[".aider.chat.history*.md"]],
    limits: LimitForm::TextOnly,
    memory: memory::MEMORY,
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
    read_list: Some(&ReadList {
        file: &[PathRule { on: &[], base: PathBase::Home, path: &[".aider.conf.yml"] }],
        key: "read",
    }),
    windows_checked_on: "2026-11-15",
    recording: Some(recording::find_services),
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

    fn current_model(&self, at: &SettingsView<'_>) -> Option<String> {
        let folders = [at.project, &at.store.root, &at.env.home];
        let configured =
            || folders.iter().find_map(|folder| configured_value(&folder.join(".aider.conf.yml"), "model"));
        at.var("AIDER_MODEL").or_else(configured)
    }

    fn configured_window(&self, at: &SettingsView<'_>, model: Option<&str>) -> Option<u64> {
        let folders = [at.project, &at.store.root, &at.env.home];
        folders.iter().find_map(|folder| {
            let known = read_json(&folder.join(".aider.model.metadata.json"))?;
            known.get(model?)?.get("max_input_tokens")?.as_u64().filter(|tokens| *tokens > 0)
        })
    }

    fn resume_command(&self, source: &Source, _id: &SessionId, project: &Path) -> Option<ResumeCommand> {
        let name = source.path.file_name()?.to_str().filter(|name| is_plain_name(name))?;
        let chats = chats::read_chats(&source.path).ok()?;
        let newest = chats::find_session(&chats, None)?;
        let is_newest = source.key.as_ref().is_none_or(|key| newest.iter().any(|chat| chat.key == *key));
        // All of the file is restored: whoever means an older chat would go on with a newer one.
        let end = usize::try_from(newest.last()?.end).ok()?;
        is_newest.then(|| write::restore_command(name, estimate_bytes(end), project))
    }

    fn writer(&self) -> Option<&dyn Writer> {
        Some(self)
    }
}

/// The model that a file of settings names.
fn configured_value(file: &Path, key: &str) -> Option<String> {
    let text = read_text(file, MAX_SETTINGS_BYTES).ok()?;
    let value = text.lines().find_map(|line| line.strip_prefix(key)?.strip_prefix(':'))?;
    let value = value.split(" #").next().unwrap_or(value).trim().trim_matches(['"', '\'']);
    (!value.is_empty()).then(|| value.to_owned())
}
