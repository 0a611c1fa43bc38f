//! Copilot in VS Code. Its sessions are not read; it calls us by hooks and takes a brief in its file of instructions.

mod hooks;
mod memory;

use crate::target::EDITOR_BUDGET_TOKENS;
use crate::{Evidence, Facts, Os, PathBase, PathRule, Placement};

/// The editor's own folder for the extension: the editor alone says nothing of it.
const EXTENSION_FOLDER: &str = "github.copilot-chat";

pub(crate) static FACTS: Facts = Facts {
    id: "copilot-vscode",
    name: "Copilot in VS Code",
    binaries: &["code"],
    stores: &[
        PathRule {
            on: &[Os::MacOs],
            base: PathBase::Home,
            path: &["Library", "Application Support", "Code", "User", "globalStorage", EXTENSION_FOLDER],
        },
        PathRule {
            on: &[Os::Linux],
            base: PathBase::Home,
            path: &[".config", "Code", "User", "globalStorage", EXTENSION_FOLDER],
        },
        PathRule {
            on: &[Os::Windows],
            base: PathBase::Variable("APPDATA"),
            path: &["Code", "User", "globalStorage", EXTENSION_FOLDER],
        },
    ],
    memory: memory::MEMORY,
    placement: Some(Placement::Block { file: ".github/copilot-instructions.md", follows_pointers: false }),
    evidence: Evidence::Documented,
    versions_seen: ("1.109.0", "1.131.0"),
    resume_budget: EDITOR_BUDGET_TOKENS,
    hooks: Some(&hooks::HOOKS),
    ..Facts::USUAL
};
