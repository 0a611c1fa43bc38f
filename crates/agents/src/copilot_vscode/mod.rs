//! Copilot in VS Code. Its sessions are not read; it takes a brief in its file of instructions.

use crate::target::EDITOR_BUDGET_TOKENS;
use crate::{Editor, Facts, Placement};

pub(crate) static EDITOR: Editor = Editor {
    facts: &FACTS,
    placement: Placement::Block { file: ".github/copilot-instructions.md", follows_pointers: false },
};

static FACTS: Facts =
    Facts { id: "copilot-vscode", name: "Copilot in VS Code", resume_budget: EDITOR_BUDGET_TOKENS, ..Facts::USUAL };
