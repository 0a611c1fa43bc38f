//! Cursor. Its sessions are not read; it calls us by hooks and takes a brief as a rule of the project.

mod hooks;
mod memory;

use crate::target::EDITOR_BUDGET_TOKENS;
use crate::{Evidence, Facts, Os, PathBase, PathRule, Placement};

/// Front matter by which a rule holds for every request.
const FRONT_MATTER: &str =
    "---\ndescription: Where an earlier session in another agent stopped\nalwaysApply: true\n---\n\n";

pub(crate) static FACTS: Facts = Facts {
    id: "cursor",
    name: "Cursor",
    binaries: &["cursor", "cursor-agent"],
    stores: &[
        PathRule {
            on: &[Os::MacOs],
            base: PathBase::Home,
            path: &["Library", "Application Support", "Cursor", "User"],
        },
        PathRule { on: &[Os::Linux], base: PathBase::Home, path: &[".config", "Cursor", "User"] },
        PathRule { on: &[Os::Windows], base: PathBase::Variable("APPDATA"), path: &["Cursor", "User"] },
        // Where its command line client alone is installed.
        PathRule { on: &[], base: PathBase::Home, path: &[".cursor", "chats"] },
    ],
    memory: memory::MEMORY,
    placement: Some(Placement::OwnFile { file: ".cursor/rules/resumed-session.mdc", front_matter: FRONT_MATTER }),
    evidence: Evidence::ReverseEngineered,
    versions_seen: ("3.16.0", "3.17.8"),
    resume_budget: EDITOR_BUDGET_TOKENS,
    hooks: Some(&hooks::HOOKS),
    ..Facts::USUAL
};
