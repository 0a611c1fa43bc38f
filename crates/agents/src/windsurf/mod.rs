//! Windsurf.
//!
//! Its own conversations are encrypted. What is read are the transcripts that it writes, one file of steps each, once a hook
//! asks for them. What is known of them, and from where, is in `README.md` beside this file.

mod dialect;
mod discover;
mod hooks;
mod memory;
mod project;
mod read;
mod record;
#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "tests make their own files")]
mod tests;
mod wire;

use crate::target::EDITOR_BUDGET_TOKENS;
use crate::{Agent, Evidence, Facts, Os, PathBase, PathRule, Placement, Store, UnreadableSessions};

/// Windsurf, by the transcripts of its hook.
pub(crate) struct Windsurf;

/// Front matter by which a rule holds for every request.
const FRONT_MATTER: &str =
    "---\ntrigger: always_on\ndescription: Where an earlier session in another agent stopped\n---\n\n";

static FACTS: Facts = Facts {
    id: "windsurf",
    name: "Windsurf",
    binaries: &["windsurf"],
    stores: &[
        // The only one with something to read; the others tell that the editor is here.
        PathRule { on: &[], base: PathBase::Home, path: &[".windsurf"] },
        PathRule { on: &[], base: PathBase::Home, path: &[".codeium", "windsurf"] },
        PathRule {
            on: &[Os::MacOs],
            base: PathBase::Home,
            path: &["Library", "Application Support", "Windsurf", "User"],
        },
        PathRule { on: &[Os::Linux], base: PathBase::Home, path: &[".config", "Windsurf", "User"] },
        PathRule { on: &[Os::Windows], base: PathBase::Variable("APPDATA"), path: &["Windsurf", "User"] },
    ],
    session_patterns: &[&["transcripts", "*.jsonl"]],
    memory: memory::MEMORY,
    placement: Some(Placement::OwnFile { file: ".windsurf/rules/resumed-session.md", front_matter: FRONT_MATTER }),
    evidence: Evidence::Documented,
    resume_budget: EDITOR_BUDGET_TOKENS,
    hooks: Some(&hooks::HOOKS),
    ..Facts::USUAL
};

impl Agent for Windsurf {
    fn facts(&self) -> &'static Facts {
        &FACTS
    }

    fn unreadable_sessions(&self, store: &Store) -> Option<UnreadableSessions> {
        discover::count_encrypted(&store.root)
    }
}
