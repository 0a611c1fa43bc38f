//! Copilot in VS Code.
//!
//! A session is one object, kept as a document or as a log of its changes. What is known of it, and from where, is in
//! `README.md` beside this file.

mod attachments;
mod conversation;
mod dialect;
mod discover;
mod failure;
mod hook_transcript;
mod hooks;
mod index;
mod memory;
mod mutation_log;
mod read;
mod request_writer;
mod session_file;
mod shown_parts;
mod shown_request;
#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "tests make their own files")]
mod tests;
mod tool_result;
mod turn;
mod uri;
mod wire;
mod workspace;
mod write;

use std::path::PathBuf;

use crate::target::EDITOR_BUDGET_TOKENS;
use crate::{Agent, EditorWriter, Env, Evidence, Facts, LimitForm, Os, PathBase, PathRule, Placement, Store};

/// Copilot in VS Code, by the sessions that the editor keeps.
pub(crate) struct CopilotVscode;

/// The extension's own folder in a workspace's; among those that all workspaces share, it is in small letters.
const EXTENSION_FOLDER: &str = "GitHub.copilot-chat";

static FACTS: Facts = Facts {
    id: "copilot-vscode",
    name: "Copilot in VS Code",
    binaries: &["code"],
    stores: &[
        PathRule { on: &[Os::MacOs], base: PathBase::Home, path: &["Library", "Application Support", "Code", "User"] },
        PathRule { on: &[Os::Linux], base: PathBase::Home, path: &[".config", "Code", "User"] },
        PathRule { on: &[Os::Windows], base: PathBase::Home, path: &["AppData", "Roaming", "Code", "User"] },
        PathRule {
            on: &[Os::MacOs],
            base: PathBase::Home,
            path: &["Library", "Application Support", "Code - Insiders", "User"],
        },
        PathRule { on: &[Os::Linux], base: PathBase::Home, path: &[".config", "Code - Insiders", "User"] },
        PathRule { on: &[Os::Windows], base: PathBase::Home, path: &["AppData", "Roaming", "Code - Insiders", "User"] },
        PathRule {
            on: &[Os::MacOs],
            base: PathBase::Home,
            path: &["Library", "Application Support", "VSCodium", "User"],
        },
        PathRule { on: &[Os::Linux], base: PathBase::Home, path: &[".config", "VSCodium", "User"] },
        PathRule { on: &[Os::Windows], base: PathBase::Home, path: &["AppData", "Roaming", "VSCodium", "User"] },
        PathRule {
            on: &[Os::MacOs],
            base: PathBase::Home,
            path: &["Library", "Application Support", "Code - OSS", "User"],
        },
        PathRule { on: &[Os::Linux], base: PathBase::Home, path: &[".config", "Code - OSS", "User"] },
        PathRule { on: &[Os::Windows], base: PathBase::Home, path: &["AppData", "Roaming", "Code - OSS", "User"] },
        PathRule {
            on: &[Os::Linux],
            base: PathBase::Home,
            path: &[".var", "app", "com.visualstudio.code", "config", "Code", "User"],
        },
        PathRule {
            on: &[Os::Linux],
            base: PathBase::Home,
            path: &[".var", "app", "com.visualstudio.code-oss", "config", "Code - OSS", "User"],
        },
        PathRule {
            on: &[Os::Linux],
            base: PathBase::Home,
            path: &[".var", "app", "com.vscodium.codium", "config", "VSCodium", "User"],
        },
        PathRule { on: &[], base: PathBase::Home, path: &[".vscode-server", "data", "User"] },
        PathRule { on: &[], base: PathBase::Home, path: &[".vscode-server-insiders", "data", "User"] },
        PathRule { on: &[], base: PathBase::Home, path: &[".vscodium-server", "data", "User"] },
        PathRule { on: &[], base: PathBase::Home, path: &[".local", "share", "code-server", "User"] },
    ],
    session_patterns: &[
        &["workspaceStorage", "*", "chatSessions", "*.jsonl"],
        &["workspaceStorage", "*", "chatSessions", "*.json"],
        &["workspaceStorage", "*", EXTENSION_FOLDER, "transcripts", "*.jsonl"],
        &["globalStorage", "emptyWindowChatSessions", "*.jsonl"],
        &["globalStorage", "emptyWindowChatSessions", "*.json"],
        &["globalStorage", "transferredChatSessions", "*.json"],
    ],
    limits: LimitForm::Recorded,
    memory: memory::MEMORY,
    placement: Some(Placement::Block { file: ".github/copilot-instructions.md", follows_pointers: false }),
    evidence: Evidence::VendorCode,
    versions_seen: ("1.139.1", "1.139.1"),
    resume_budget: EDITOR_BUDGET_TOKENS,
    hooks: Some(&hooks::HOOKS),
    usual_modes: &["agent"],
    ..Facts::USUAL
};

impl Agent for CopilotVscode {
    fn facts(&self) -> &'static Facts {
        &FACTS
    }

    /// Folders of the editor's in which the extension was used. One that the configuration names may be the folder above, as
    /// `--user-data-dir` takes it.
    fn stores(&self, env: &Env) -> Vec<Store> {
        let inner = |root: PathBuf| Some(root.join("User")).filter(|inner| inner.is_dir()).unwrap_or(root);
        let roots = FACTS.store_candidates(env).into_iter().map(inner);
        roots.filter(|root| discover::has_sessions(root)).map(|root| Store { root }).collect()
    }

    fn editor_writer(&self) -> Option<&dyn EditorWriter> {
        Some(self)
    }
}
