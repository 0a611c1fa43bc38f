//! Who takes a brief: every agent, and editors whose sessions are not read.

use crate::{AGENTS, Facts};

/// How a brief reaches a taker in a project.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Takes {
    /// A block in a file of instructions, which holds other people's words as well. An agent that follows pointers
    /// reads a file that the block names.
    Block { file: &'static str, follows: bool },
    /// A file of its own, which begins with this.
    Own { file: &'static str, front_matter: &'static str },
    /// A file that is named when it is started.
    Named,
}

/// Somebody who can be handed a brief.
#[derive(Debug, Clone, Copy)]
pub struct Taker {
    pub id: &'static str,
    pub name: &'static str,
    pub aliases: &'static [&'static str],
    pub takes: Takes,
    /// How it is started; empty where a person opens it.
    pub start: &'static [&'static str],
    /// The tokens that a resume prompt for it may have.
    pub budget: u64,
}

/// Front matter by which an editor's rule holds for every request.
const ALWAYS: &str = "---\ndescription: Where an earlier session in another agent stopped\nalwaysApply: true\n---\n\n";
const ALWAYS_ON: &str =
    "---\ntrigger: always_on\ndescription: Where an earlier session in another agent stopped\n---\n\n";

/// Editors show a part of the window to their model.
const EDITOR_BUDGET: u64 = 38_000;

/// Editors that take a brief, and whose sessions are not read.
pub const EDITORS: &[Taker] = &[
    Taker {
        id: "cursor",
        name: "Cursor",
        aliases: &[],
        takes: Takes::Own { file: ".cursor/rules/resumed-session.mdc", front_matter: ALWAYS },
        start: &[],
        budget: EDITOR_BUDGET,
    },
    Taker {
        id: "windsurf",
        name: "Windsurf",
        aliases: &[],
        takes: Takes::Own { file: ".windsurf/rules/resumed-session.md", front_matter: ALWAYS_ON },
        start: &[],
        budget: EDITOR_BUDGET,
    },
    Taker {
        id: "copilot-vscode",
        name: "Copilot in VS Code",
        aliases: &[],
        takes: Takes::Block { file: ".github/copilot-instructions.md", follows: false },
        start: &[],
        budget: EDITOR_BUDGET,
    },
];

impl Taker {
    /// Everybody, agents first.
    pub fn all() -> impl Iterator<Item = Self> {
        AGENTS.iter().map(|agent| Self::of(agent.facts())).chain(EDITORS.iter().copied())
    }

    pub fn by_name(name: &str) -> Option<Self> {
        Self::all().find(|taker| taker.id == name || taker.aliases.contains(&name))
    }

    /// An agent as a taker: the first of its instruction files is the one that it reads before all others.
    pub fn of(facts: &'static Facts) -> Self {
        let takes = match facts.instruction_files.first() {
            Some(file) => Takes::Block { file, follows: true },
            None => Takes::Named,
        };
        Self {
            id: facts.id,
            name: facts.name,
            aliases: facts.aliases,
            takes,
            start: facts.start,
            budget: facts.resume_budget,
        }
    }

    /// The command that starts it on a prompt or a file; none for an editor.
    pub fn command(&self, prompt: &str, file: &str) -> Option<Vec<String>> {
        let filled = |word: &&str| word.replace("{prompt}", prompt).replace("{file}", file);
        (!self.start.is_empty()).then(|| self.start.iter().map(filled).collect())
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn nobody_has_the_name_of_another() {
        let mut names = BTreeSet::new();
        for taker in Taker::all() {
            assert!(std::iter::once(&taker.id).chain(taker.aliases).all(|name| names.insert(*name)), "{}", taker.id);
        }
    }

    #[test]
    fn every_agent_is_started_on_something() {
        for agent in AGENTS {
            let taker = Taker::of(agent.facts());
            let command = taker.command("go on", "R.md").unwrap();
            assert!(agent.facts().binaries.contains(&command[0].as_str()), "{}", taker.id);
            assert!(command.iter().any(|word| word == "go on" || word == "R.md"), "{}", taker.id);
            assert!(taker.takes != Takes::Named || command.iter().any(|word| word == "R.md"), "{}", taker.id);
        }
    }
}
