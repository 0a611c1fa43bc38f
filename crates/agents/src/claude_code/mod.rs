//! Claude Code.
//!
//! A session is one file of records that name their parent; the last leaf decides the branch. What the client writes
//! and what makes it load a foreign session is in `README.md` beside this file.

mod answers;
mod attachment;
mod blocks;
mod boilerplate;
mod command;
mod dialect;
mod discover;
mod hooks;
mod kept_files;
mod memory;
mod moved_record;
mod own_session;
mod past;
mod prompt_sorter;
mod queue;
mod read;
mod record;
mod recording;
mod request_log;
mod slug;
#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "tests make their own files")]
mod speaker_tests;
#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "tests make their own files")]
mod tests;
mod usage;
mod wire;
mod write;
#[cfg(test)]
mod write_tests;

use carryover_core::transcript::Permission;

use crate::settings::first_setting;
use crate::{
    AgeClock, Agent, Cleanup, CommandFiles, CommandForm, Facts, LimitForm, ModelWindow, PORTIONS_READING_ADVICE,
    PathBase, PathRule, ResumeForm, RuleFiles, RuleForm, SettingsView, Writer,
};

/// Claude Code, 1.0 to 2.1.
pub(crate) struct ClaudeCode;

/// The client's own table, in 2.1.325. Some of the others take a million where they are asked for as `[1m]`.
const WINDOWS: &[ModelWindow] = &[
    ModelWindow { prefix: "claude-", tokens: 200_000 },
    ModelWindow { prefix: "claude-fable-5", tokens: 1_000_000 },
    ModelWindow { prefix: "claude-haiku-5-5", tokens: 1_000_000 },
    ModelWindow { prefix: "claude-opus-4-7", tokens: 1_000_000 },
    ModelWindow { prefix: "claude-opus-4-8", tokens: 1_000_000 },
    ModelWindow { prefix: "claude-opus-5", tokens: 1_000_000 },
    ModelWindow { prefix: "claude-sonnet-5", tokens: 1_000_000 },
];

static FACTS: Facts = Facts {
    id: "claude-code",
    name: "Claude Code",
    aliases: &["claude", "cc"],
    binaries: &["claude"],
    start: &["claude", "{prompt}"],
    resume: ResumeForm::in_project(&["claude", "--resume", "{id}"]),
    packages: &["@anthropic-ai/claude-code"],
    stores: &[
        PathRule { on: &[], base: PathBase::Variable("CLAUDE_CONFIG_DIR"), path: &[] },
        PathRule { on: &[], base: PathBase::Home, path: &[".claude"] },
    ],
    session_patterns: &[&["projects", "*", "*.jsonl"]],
    session_folders: &[own_session::TASKS],
    limits: LimitForm::TextOnly,
    keeps_plan_mode: true,
    memory: memory::MEMORY,
    versions_seen: ("1.0.128", "2.1.325"),
    windows: WINDOWS,
    windows_checked_on: "2026-11-15",
    default_window: 200_000,
    resume_budget: 120_000,
    reading_advice: PORTIONS_READING_ADVICE,
    hooks: Some(&hooks::HOOKS),
    // Seen on 2.1: a file of 31 days is gone seconds after the start, whatever the times inside.
    cleanup: Some(Cleanup {
        settings: "settings.json",
        age: "/cleanupPeriodDays",
        switch: None,
        default_days: 30,
        clock: AgeClock::FileTime,
    }),
    recording: Some(recording::find_services),
    commands: Some(&CommandFiles {
        folders: &[
            PathRule { on: &[], base: PathBase::Project, path: &[".claude", "commands"] },
            PathRule { on: &[], base: PathBase::Variable("CLAUDE_CONFIG_DIR"), path: &["commands"] },
            PathRule { on: &[], base: PathBase::Home, path: &[".claude", "commands"] },
        ],
        own_folders: &[
            PathRule { on: &[], base: PathBase::Variable("CLAUDE_CONFIG_DIR"), path: &["commands"] },
            PathRule { on: &[], base: PathBase::Home, path: &[".claude", "commands"] },
        ],
        form: CommandForm::Markdown,
        are_calls_written_down: true,
    }),
    session_variables: &["CLAUDE_CODE_SESSION_ID"],
    tool_servers: &[
        PathRule { on: &[], base: PathBase::Project, path: &[".mcp.json"] },
        PathRule { on: &[], base: PathBase::Project, path: &[".claude", "settings.json"] },
        PathRule { on: &[], base: PathBase::Home, path: &[".claude.json"] },
    ],
    permission_rules: &[RuleFiles {
        places: &[
            PathRule { on: &[], base: PathBase::Project, path: &[".claude", "settings.json"] },
            PathRule { on: &[], base: PathBase::Project, path: &[".claude", "settings.local.json"] },
            PathRule { on: &[], base: PathBase::Variable("CLAUDE_CONFIG_DIR"), path: &["settings.json"] },
            PathRule { on: &[], base: PathBase::Home, path: &[".claude", "settings.json"] },
        ],
        form: RuleForm::Lists(&["/permissions/allow", "/permissions/ask", "/permissions/deny"]),
    }],
    ..Facts::USUAL
};

impl Agent for ClaudeCode {
    fn facts(&self) -> &'static Facts {
        &FACTS
    }

    fn current_model(&self, at: &SettingsView<'_>) -> Option<String> {
        let files = at.setting_files(&[".claude/settings.local.json", ".claude/settings.json"], "settings.json");
        let in_settings = || first_setting(&files, "/env/ANTHROPIC_MODEL");
        at.var("ANTHROPIC_MODEL").or_else(in_settings).or_else(|| first_setting(&files, "/model"))
    }

    fn configured_window(&self, at: &SettingsView<'_>, _model: Option<&str>) -> Option<u64> {
        at.var("CLAUDE_CODE_DISABLE_1M_CONTEXT").map(|_| FACTS.default_window)
    }

    fn writer(&self) -> Option<&dyn Writer> {
        Some(self)
    }
}

fn parse_permission(mode: &str) -> Permission {
    match mode {
        "plan" => Permission::Plan,
        "acceptEdits" => Permission::AcceptEdits,
        "bypassPermissions" | "auto" | "dontAsk" => Permission::Everything,
        _ => Permission::Ask,
    }
}
