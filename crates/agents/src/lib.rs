//! Every coding agent that carryover knows: one folder each, and one line in `AGENTS`.
//!
//! Rule of this crate: it is the only place where a vendor's name occurs. It reads stores and *plans* writes; it never
//! writes, prints, starts a process, or looks at the environment or the clock.

mod agent;
mod aider;
pub mod captured;
mod claude_code;
mod cleanup;
mod codex;
mod command_files;
mod copilot_cli;
mod copilot_vscode;
mod cursor;
mod env;
mod error;
mod facts;
#[cfg(test)]
mod fixtures;
pub mod formats;
mod gemini_cli;
mod hooks;
mod memory;
mod openclaw;
mod opencode;
#[cfg(test)]
mod own_session_tests;
mod permission_rules;
mod pi;
mod plan;
mod pointer_file;
mod qwen_code;
mod recording;
pub mod saved;
mod settings;
mod target;
mod version;
mod windsurf;
#[cfg(test)]
mod write_fixtures;

pub use agent::{
    Agent, Bookmark, Dialect, Discovery, EditorWriter, ExportedSession, FileState, FoundCallback, FoundSession,
    Liveness, OwnSession, Reader, Sink, Source, Store, UnreadableSessions, Writer,
};
pub use cleanup::{AgeClock, Cleanup};
pub use command_files::{CalledCommand, CommandFiles, CommandForm, CommandText};
pub use env::{Env, Os};
pub use error::AgentError;
pub use facts::{
    Evidence, Facts, LimitForm, ModelWindow, PORTIONS_READING_ADVICE, PathBase, PathRule, ReadList, ResumeForm,
    SessionPattern, UNKNOWN_RESUME_BUDGET, USUAL_READING_ADVICE, matches_pattern,
};
pub use hooks::{
    CallerMark, CallerProcess, EntryShape, HeadlessMarks, HookBinding, HookCall, HookError, HookEvent, HookKind,
    HookPlace, HookSet, HookTable, Injection, OwnHookFile, ResolvedHooks, RunMode, StartReason, VariableMark,
    prompt_text, read_call,
};
pub use memory::{FrontMatter, ImportPlaces, Memory, MemoryFile, MemoryPlace, Reach, split_front_matter};
pub use permission_rules::{RuleFiles, RuleForm};
pub use plan::{
    CarriedEntry, CellValue, Inverse, JsonHolder, JsonMember, JsonReferrer, LifeSign, Loss, NOT_CONVERSATION, NewRow,
    Origins, OwnerRow, ResumeCommand, RowCells, RowContent, SessionLines, SessionRows, SubAgentLink, TEMPORARY_FOLDER,
    TargetView, VendorCommand, WriteOp, WritePlan, WriteRequest, WrittenEntry,
};
pub use pointer_file::{POINTER_FILES, PointerFile, PointerReaders};
pub use recording::{AddressForm, FindServices, LaunchChanges, LaunchModule, LaunchView, ModelService};
pub use settings::SettingsView;
pub use target::{Placement, Target};
pub use version::Version;

/// Every agent, in the order in which it is shown.
pub const AGENTS: &[&dyn Agent] = &[
    &claude_code::ClaudeCode,
    &codex::Codex,
    &gemini_cli::GeminiCli,
    &opencode::OpenCode,
    &qwen_code::QwenCode,
    &pi::Pi,
    &copilot_cli::CopilotCli,
    &aider::Aider,
    &openclaw::OpenClaw,
    &windsurf::Windsurf,
    &cursor::Cursor,
    &copilot_vscode::CopilotVscode,
];

/// The agent with that id or alias.
pub fn agent_by_name(name: &str) -> Option<&'static dyn Agent> {
    AGENTS.iter().copied().find(|agent| {
        let facts = agent.facts();
        facts.id == name || facts.aliases.contains(&name)
    })
}

/// The facts of everybody.
pub fn all_facts() -> impl Iterator<Item = &'static Facts> {
    AGENTS.iter().map(|agent| agent.facts())
}

/// Everybody who calls us by hooks.
pub fn hooked_agents() -> impl Iterator<Item = &'static Facts> {
    all_facts().filter(|facts| facts.hooks.is_some())
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use carryover_core::transcript::SessionId;

    use super::*;

    #[test]
    fn every_folder_is_an_agent() {
        let source = concat!(env!("CARGO_MANIFEST_DIR"), "/src");
        let mut folders = BTreeSet::new();
        for entry in fs_err::read_dir(source).unwrap() {
            let entry = entry.unwrap();
            if entry.file_type().unwrap().is_dir()
                && !["command_files", "formats", "hooks", "memory"].contains(&&*entry.file_name().to_string_lossy())
            {
                folders.insert(entry.file_name().to_string_lossy().replace('_', "-"));
            }
        }
        let listed: BTreeSet<String> = all_facts().map(|facts| facts.id.to_owned()).collect();
        assert_eq!(folders, listed);
    }

    #[test]
    fn every_client_goes_on_with_a_session_by_its_name() {
        for agent in AGENTS.iter().filter(|agent| !agent.facts().resume.argv.is_empty()) {
            let facts = agent.facts();
            let command = facts.resume.command("NAME", "/p".as_ref());
            assert!(facts.binaries.contains(&command.argv[0].as_str()), "{}", facts.id);
            assert_eq!(command.argv.iter().filter(|word| word.contains("NAME")).count(), 1, "{}", facts.id);
        }
    }

    #[test]
    fn a_name_that_a_client_would_take_for_an_option_is_no_command() {
        let source = Source::file("/store/a.jsonl".as_ref());
        for agent in AGENTS {
            for name in ["--yolo", "", "a b", "$(touch x)", "../x"] {
                let command = agent.resume_command(&source, &SessionId(name.to_owned()), "/p".as_ref());
                assert_eq!(command, None, "{} {name}", agent.facts().id);
            }
        }
    }

    #[test]
    fn names_are_unique_and_lower_case() {
        let mut names = BTreeSet::new();
        for agent in AGENTS {
            let facts = agent.facts();
            for name in std::iter::once(&facts.id).chain(facts.aliases) {
                assert!(names.insert(*name), "{name} twice");
                assert!(name.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-'), "{name}");
            }
        }
    }
}
