//! Codex CLI: one rollout file a session, read from the bare lines of 0.20 to the paginated ones of 0.166.

mod base;
mod call_translator;
mod code_mode;
mod command;
mod config;
mod dialect;
mod discover;
mod display;
mod hooks;
mod item;
mod memory;
mod meta;
mod moved_record;
mod native;
mod outcome;
mod own_session;
pub(crate) mod patch;
mod peek;
mod read;
mod record;
mod recording;
mod rollout;
mod rollout_log;
mod rollout_writer;
mod start_settings;
mod text_source;
mod titles;
mod usage;
mod wire;
mod write;

#[cfg(test)]
mod tests;

use std::path::Path;

use carryover_core::transcript::SessionId;

use crate::agent::is_plain_name;
use crate::{
    Agent, CommandFiles, CommandForm, Facts, LimitForm, ModelWindow, PORTIONS_READING_ADVICE, PathBase, PathRule,
    ResumeCommand, ResumeForm, SettingsView, Source, Writer,
};

/// Codex CLI, 0.20 to 0.166.
pub(crate) struct Codex;

static FACTS: Facts = Facts {
    id: "codex",
    name: "Codex CLI",
    aliases: &["codex-cli"],
    binaries: &["codex"],
    start: &["codex", "{prompt}"],
    resume: ResumeForm::anywhere(&["codex", "resume", "{id}"]),
    packages: &["@openai/codex"],
    stores: &[
        PathRule { on: &[], base: PathBase::Variable("CODEX_HOME"), path: &[] },
        PathRule { on: &[], base: PathBase::Home, path: &[".codex"] },
    ],
    session_patterns: &[&["sessions", "*", "*", "*", "rollout-*.jsonl"]],
    limits: LimitForm::Recorded,
    settings: &["config.toml"],
    memory: memory::MEMORY,
    versions_seen: ("0.20.0", "0.166.0"),
    // The client itself records them as `model_context_window`.
    windows: &[ModelWindow { prefix: "gpt-5", tokens: 258_400 }, ModelWindow { prefix: "gpt-6", tokens: 258_400 }],
    windows_checked_on: "2026-11-15",
    default_window: 258_400,
    resume_budget: 120_000,
    reading_advice: PORTIONS_READING_ADVICE,
    hooks: Some(&hooks::HOOKS),
    recording: Some(recording::find_services),
    // 0.166 knows no prompts in files any more.
    commands: Some(&CommandFiles {
        folders: &[
            PathRule { on: &[], base: PathBase::Project, path: &[".agents", "skills"] },
            PathRule { on: &[], base: PathBase::Project, path: &[".codex", "skills"] },
            PathRule { on: &[], base: PathBase::Variable("CODEX_HOME"), path: &["skills"] },
            PathRule { on: &[], base: PathBase::Home, path: &[".codex", "skills"] },
            PathRule { on: &[], base: PathBase::Home, path: &[".agents", "skills"] },
        ],
        own_folders: &[
            PathRule { on: &[], base: PathBase::Variable("CODEX_HOME"), path: &["skills"] },
            PathRule { on: &[], base: PathBase::Home, path: &[".codex", "skills"] },
        ],
        form: CommandForm::Skill,
        are_calls_written_down: false,
    }),
    // The thread of a sub-agent is no session; then the session is named, since 0.166.
    session_variables: &["CODEX_THREAD_ID", "CODEX_SESSION_ID"],
    tool_servers: &[
        PathRule { on: &[], base: PathBase::Project, path: &[".codex", "config.toml"] },
        PathRule { on: &[], base: PathBase::Variable("CODEX_HOME"), path: &["config.toml"] },
        PathRule { on: &[], base: PathBase::Home, path: &[".codex", "config.toml"] },
    ],
    ..Facts::USUAL
};

impl Agent for Codex {
    fn facts(&self) -> &'static Facts {
        &FACTS
    }

    fn current_model(&self, at: &SettingsView<'_>) -> Option<String> {
        config::Config::from_store(&at.store.root).model
    }

    fn configured_window(&self, at: &SettingsView<'_>, _model: Option<&str>) -> Option<u64> {
        config::Config::from_store(&at.store.root).window
    }

    fn resume_command(&self, source: &Source, id: &SessionId, project: &Path) -> Option<ResumeCommand> {
        // The client refuses to go on with a session that it has put away.
        let is_archived = source.path.iter().any(|folder| folder == rollout::ARCHIVE_FOLDER);
        (!is_archived && is_plain_name(&id.0)).then(|| FACTS.resume.command(&id.0, project))
    }

    fn writer(&self) -> Option<&dyn Writer> {
        Some(self)
    }
}
