//! Gemini CLI.
//!
//! A session is a log that is replayed: messages are added, replaced, taken back, or set anew as a whole. What the
//! client writes and what makes it load a foreign session is in `README.md` beside this file.

mod answer;
mod boilerplate;
mod dialect;
mod discover;
mod failure;
mod hooks;
mod memory;
mod message;
mod moved_record;
mod native;
mod own_session;
mod project;
mod prompt;
mod read;
mod record;
mod recording;
mod replay;
#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "tests make their own files")]
mod tests;
mod usage;
mod wire;
mod write;
#[cfg(test)]
mod write_tests;

use crate::settings::first_setting;
use crate::{
    AgeClock, Agent, Cleanup, CommandFiles, CommandForm, Facts, LimitForm, ModelWindow, PathBase, PathRule, ResumeForm,
    RuleFiles, RuleForm, SettingsView, Writer,
};

/// Gemini CLI, 0.61.
pub(crate) struct GeminiCli;

static FACTS: Facts = Facts {
    id: "gemini-cli",
    name: "Gemini CLI",
    aliases: &["gemini"],
    binaries: &["gemini"],
    start: &["gemini", "-i", "{prompt}"],
    resume: ResumeForm::in_project(&["gemini", "--resume", "{id}"]),
    packages: &["@google/gemini-cli"],
    stores: &[
        PathRule { on: &[], base: PathBase::Variable("GEMINI_CLI_HOME"), path: &[".gemini"] },
        PathRule { on: &[], base: PathBase::Home, path: &[".gemini"] },
    ],
    session_patterns: &[&["tmp", "*", "chats", "session-*"]],
    limits: LimitForm::TextOnly,
    settings: &["projects.json"],
    memory: memory::MEMORY,
    versions_seen: ("0.61.0", "0.61.0"),
    windows: &[
        ModelWindow { prefix: "gemini-", tokens: 1_048_576 },
        ModelWindow { prefix: "gemma-4-", tokens: 256_000 },
    ],
    windows_checked_on: "2026-11-15",
    default_window: 1_048_576,
    hooks: Some(&hooks::HOOKS),
    cleanup: Some(Cleanup {
        settings: "settings.json",
        age: "/general/sessionRetention/maxAge",
        switch: Some("/general/sessionRetention/enabled"),
        default_days: 30,
        clock: AgeClock::LastUse,
    }),
    recording: Some(recording::find_services),
    commands: Some(&CommandFiles {
        folders: &[
            PathRule { on: &[], base: PathBase::Project, path: &[".gemini", "commands"] },
            PathRule { on: &[], base: PathBase::Variable("GEMINI_CLI_HOME"), path: &[".gemini", "commands"] },
            PathRule { on: &[], base: PathBase::Home, path: &[".gemini", "commands"] },
        ],
        own_folders: &[
            PathRule { on: &[], base: PathBase::Variable("GEMINI_CLI_HOME"), path: &[".gemini", "commands"] },
            PathRule { on: &[], base: PathBase::Home, path: &[".gemini", "commands"] },
        ],
        form: CommandForm::Toml,
        are_calls_written_down: false,
    }),
    tool_servers: &[
        PathRule { on: &[], base: PathBase::Project, path: &[".gemini", "settings.json"] },
        PathRule { on: &[], base: PathBase::Variable("GEMINI_CLI_HOME"), path: &[".gemini", "settings.json"] },
        PathRule { on: &[], base: PathBase::Home, path: &[".gemini", "settings.json"] },
    ],
    permission_rules: &[
        RuleFiles {
            places: &[
                PathRule { on: &[], base: PathBase::Project, path: &[".gemini", "settings.json"] },
                PathRule { on: &[], base: PathBase::Variable("GEMINI_CLI_HOME"), path: &[".gemini", "settings.json"] },
                PathRule { on: &[], base: PathBase::Home, path: &[".gemini", "settings.json"] },
            ],
            form: RuleForm::Lists(&["/tools/allowed", "/tools/exclude"]),
        },
        RuleFiles {
            places: &[
                PathRule { on: &[], base: PathBase::Project, path: &[".gemini", "policies", "auto-saved.toml"] },
                PathRule {
                    on: &[],
                    base: PathBase::Variable("GEMINI_CLI_HOME"),
                    path: &[".gemini", "policies", "auto-saved.toml"],
                },
                PathRule { on: &[], base: PathBase::Home, path: &[".gemini", "policies", "auto-saved.toml"] },
            ],
            form: RuleForm::Policies,
        },
    ],
    ..Facts::USUAL
};

impl Agent for GeminiCli {
    fn facts(&self) -> &'static Facts {
        &FACTS
    }

    fn current_model(&self, at: &SettingsView<'_>) -> Option<String> {
        let files = at.setting_files(&[".gemini/settings.json"], "settings.json");
        at.var("GEMINI_MODEL").or_else(|| first_setting(&files, "/model/name"))
    }

    fn writer(&self) -> Option<&dyn Writer> {
        Some(self)
    }
}
