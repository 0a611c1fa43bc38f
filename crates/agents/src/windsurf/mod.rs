//! Windsurf. Its sessions are not read; it takes a brief as a rule of the project.

use crate::target::EDITOR_BUDGET_TOKENS;
use crate::{Editor, Facts, Placement};

/// Front matter by which a rule holds for every request.
const FRONT_MATTER: &str =
    "---\ntrigger: always_on\ndescription: Where an earlier session in another agent stopped\n---\n\n";

pub(crate) static EDITOR: Editor = Editor {
    facts: &FACTS,
    placement: Placement::OwnFile { file: ".windsurf/rules/resumed-session.md", front_matter: FRONT_MATTER },
};

static FACTS: Facts = Facts { id: "windsurf", name: "Windsurf", resume_budget: EDITOR_BUDGET_TOKENS, ..Facts::USUAL };
