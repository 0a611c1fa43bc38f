//! Cursor.
//!
//! Conversations are rows of the editor's databases, stores of the command line client and of the SDK, and transcripts of all
//! of them: one conversation may be in several. What is known of each, and from where, is in `README.md` beside this file.

mod cli;
mod copies;
mod dialect;
mod discover;
mod editor;
mod export;
mod failure;
mod hooks;
mod ide;
mod lenient;
mod memory;
mod merge;
mod places;
mod read;
mod record;
mod session;
#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "tests make their own files")]
mod tests;
mod transcript;
mod write;

use std::path::Path;

use carryover_core::transcript::SessionId;

use crate::agent::is_plain_name;
use crate::target::EDITOR_BUDGET_TOKENS;
use crate::{
    Agent, EditorWriter, Evidence, Facts, ModelWindow, Os, PathBase, PathRule, Placement, ResumeCommand, ResumeForm,
    Source, Store, UnreadableSessions, Writer,
};

/// The editor and its command line client.
pub(crate) struct Cursor;

/// Front matter by which a rule holds for every request.
const FRONT_MATTER: &str =
    "---\ndescription: Where an earlier session in another agent stopped\nalwaysApply: true\n---\n\n";

static FACTS: Facts = Facts {
    id: "cursor",
    name: "Cursor",
    binaries: &["cursor", "cursor-agent"],
    resume: ResumeForm::in_project(&["cursor-agent", "--resume={id}"]),
    stores: &[
        // Before the editor's, for that is where sessions are written.
        PathRule { on: &[], base: PathBase::Home, path: &[".cursor"] },
        PathRule {
            on: &[Os::MacOs],
            base: PathBase::Home,
            path: &["Library", "Application Support", "Cursor", "User"],
        },
        PathRule { on: &[Os::Linux], base: PathBase::Home, path: &[".config", "Cursor", "User"] },
        PathRule { on: &[Os::Windows], base: PathBase::Variable("APPDATA"), path: &["Cursor", "User"] },
    ],
    // Databases of windows hold what older editors said, and nothing that changes.
    session_patterns: &[
        &["chats", "*", "*", "store.db"],
        &["acp-sessions", "*", "store.db"],
        &["projects", "*", "agent-transcripts", "*", "*.jsonl"],
        &["projects", "*", "agent-transcripts", "*.jsonl"],
        &["projects", "*", "sdk-agent-store", "*", "agents", "*", "store.db"],
        &["globalStorage", "state.vscdb"],
    ],
    keeps_plan_mode: true,
    memory: memory::MEMORY,
    placement: Some(Placement::OwnFile { file: ".cursor/rules/resumed-session.mdc", front_matter: FRONT_MATTER }),
    evidence: Evidence::ReverseEngineered,
    versions_seen: ("3.16.0", "3.17.8"),
    windows: &[
        ModelWindow { prefix: "claude-", tokens: 200_000 },
        ModelWindow { prefix: "composer", tokens: 200_000 },
        ModelWindow { prefix: "gpt-5", tokens: 272_000 },
    ],
    windows_checked_on: "2026-11-15",
    resume_budget: EDITOR_BUDGET_TOKENS,
    hooks: Some(&hooks::HOOKS),
    usual_modes: &["agent"],
    ..Facts::USUAL
};

impl Agent for Cursor {
    fn facts(&self) -> &'static Facts {
        &FACTS
    }

    fn resume_command(&self, source: &Source, id: &SessionId, project: &Path) -> Option<ResumeCommand> {
        // The command line client goes on with what it keeps for a project itself.
        let is_chat = source.path.components().rev().nth(3).is_some_and(|folder| folder.as_os_str() == "chats");
        (is_chat && is_plain_name(&id.0)).then(|| FACTS.resume.command(&id.0, project))
    }

    fn unreadable_sessions(&self, store: &Store) -> Option<UnreadableSessions> {
        discover::count_plain_transcripts(&store.root)
    }

    fn writer(&self) -> Option<&dyn Writer> {
        Some(&write::plan_session)
    }

    fn editor_writer(&self) -> Option<&dyn EditorWriter> {
        Some(&editor::CursorEditor)
    }
}
