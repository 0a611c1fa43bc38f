//! Cursor. Its sessions are not read; it takes a brief as a rule of the project.

use crate::target::EDITOR_BUDGET_TOKENS;
use crate::{Editor, Facts, Placement};

/// Front matter by which a rule holds for every request.
const FRONT_MATTER: &str =
    "---\ndescription: Where an earlier session in another agent stopped\nalwaysApply: true\n---\n\n";

pub(crate) static EDITOR: Editor = Editor {
    facts: &FACTS,
    placement: Placement::OwnFile { file: ".cursor/rules/resumed-session.mdc", front_matter: FRONT_MATTER },
};

static FACTS: Facts = Facts { id: "cursor", name: "Cursor", resume_budget: EDITOR_BUDGET_TOKENS, ..Facts::USUAL };
