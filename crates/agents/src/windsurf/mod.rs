//! Windsurf. Its sessions are not read; it calls us by hooks and takes a brief as a rule of the project.

mod hooks;

use crate::target::EDITOR_BUDGET_TOKENS;
use crate::{Editor, Facts, Os, PathBase, PathRule, Placement};

/// Front matter by which a rule holds for every request.
const FRONT_MATTER: &str =
    "---\ntrigger: always_on\ndescription: Where an earlier session in another agent stopped\n---\n\n";

pub(crate) static EDITOR: Editor = Editor {
    facts: &FACTS,
    placement: Placement::OwnFile { file: ".windsurf/rules/resumed-session.md", front_matter: FRONT_MATTER },
};

static FACTS: Facts = Facts {
    id: "windsurf",
    name: "Windsurf",
    binaries: &["windsurf"],
    stores: &[
        PathRule {
            on: &[Os::MacOs],
            base: PathBase::Home,
            path: &["Library", "Application Support", "Windsurf", "User"],
        },
        PathRule { on: &[Os::Linux], base: PathBase::Home, path: &[".config", "Windsurf", "User"] },
        PathRule { on: &[Os::Windows], base: PathBase::Variable("APPDATA"), path: &["Windsurf", "User"] },
        PathRule { on: &[], base: PathBase::Home, path: &[".codeium", "windsurf"] },
    ],
    instruction_files: &["AGENTS.md"],
    resume_budget: EDITOR_BUDGET_TOKENS,
    hooks: Some(&hooks::HOOKS),
    ..Facts::USUAL
};
