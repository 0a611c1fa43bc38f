//! Who takes a brief: every agent.

use crate::{Facts, all_facts};

/// How a brief reaches a taker in a project.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Placement {
    /// A block in a file of instructions, which holds other people's words as well. An agent that follows pointers
    /// reads a file that the block names.
    Block { file: &'static str, follows_pointers: bool },
    /// A file of its own, which begins with this.
    OwnFile { file: &'static str, front_matter: &'static str },
    /// A file that is named when it is started.
    StartFile,
}

/// Somebody who can be handed a brief.
#[derive(Debug, Clone, Copy)]
pub struct Target {
    pub id: &'static str,
    pub name: &'static str,
    pub aliases: &'static [&'static str],
    pub placement: Placement,
    /// How it is started; empty where a person opens it.
    pub start: &'static [&'static str],
    /// The tokens that a resume prompt for it may have.
    pub budget: u64,
    /// How it gets all of a long file that git ignores, in words for its prompt.
    pub reading_advice: &'static str,
}

/// Editors show a part of the window to their model.
pub(crate) const EDITOR_BUDGET_TOKENS: u64 = 38_000;

impl Target {
    /// Everybody, in the order in which they are shown.
    pub fn all() -> impl Iterator<Item = Self> {
        all_facts().map(Self::from_facts)
    }

    pub fn by_name(name: &str) -> Option<Self> {
        Self::all().find(|taker| taker.id == name || taker.aliases.contains(&name))
    }

    /// An agent as a taker: where nothing else is said, the first of its instruction files is the one that it reads before
    /// all others.
    pub fn from_facts(facts: &'static Facts) -> Self {
        let first_file = facts.instruction_files().next();
        let usual = first_file.map(|file| Placement::Block { file, follows_pointers: true });
        Self {
            id: facts.id,
            name: facts.name,
            aliases: facts.aliases,
            placement: facts.placement.or(usual).unwrap_or(Placement::StartFile),
            start: facts.start,
            budget: facts.resume_budget,
            reading_advice: facts.reading_advice,
        }
    }

    /// The command that starts it on a prompt or a file; none for an editor.
    pub fn start_command(&self, prompt: &str, file: &str) -> Option<Vec<String>> {
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
        for taker in Target::all() {
            assert!(std::iter::once(&taker.id).chain(taker.aliases).all(|name| names.insert(*name)), "{}", taker.id);
        }
    }

    #[test]
    fn every_agent_is_started_on_something() {
        for facts in all_facts() {
            let taker = Target::from_facts(facts);
            // Editors are opened by a person; a brief is where they find it.
            let Some(command) = taker.start_command("go on", "R.md") else {
                assert!(facts.placement.is_some(), "{}", taker.id);
                continue;
            };
            assert!(facts.binaries.contains(&command[0].as_str()), "{}", taker.id);
            assert!(command.iter().any(|word| word == "go on" || word == "R.md"), "{}", taker.id);
            assert!(
                taker.placement != Placement::StartFile || command.iter().any(|word| word == "R.md"),
                "{}",
                taker.id
            );
        }
    }
}
