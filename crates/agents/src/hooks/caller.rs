//! Who calls: some agents run other agents' hooks, and some run with nobody before them.

use std::collections::BTreeMap;
use std::path::Path;

use super::RunMode;

/// By what an agent is known whose call came through another agent's hook.
#[derive(Debug, Clone, Copy)]
pub enum CallerMark {
    /// What it sends has this key.
    PayloadKey(&'static str),
    /// Its hooks are in one file with those of this agent, and what it sends has this key, which that one does not send.
    SharedFile { with: &'static str, key: &'static str },
    /// The path of the session's file has this in it.
    TranscriptPart(&'static str),
}

/// A process above a call of a hook.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CallerProcess {
    /// Its command line.
    pub words: Vec<String>,
    /// Whether it reads from a terminal, where the system tells.
    pub reads_terminal: Option<bool>,
}

/// By what a run without a person is known.
#[derive(Debug, Clone, Copy)]
pub struct HeadlessMarks {
    pub variable: Option<VariableMark>,
    /// Arguments of the agent's program that mean none.
    pub arguments: &'static [&'static str],
    /// Whether it takes what it is asked from its input, and asks nobody, where that is no terminal.
    pub takes_piped_prompt: bool,
    /// How it runs where nothing is found that tells.
    pub otherwise: RunMode,
}

/// A variable that an agent sets for its hooks and that tells how it runs.
#[derive(Debug, Clone, Copy)]
pub struct VariableMark {
    pub name: &'static str,
    /// Its values where a person sits before the agent.
    pub interactive: &'static [&'static str],
}

impl HeadlessMarks {
    /// Nothing tells.
    pub const NONE: Self = Self::arguments(&[]);

    /// A window with a person before it.
    pub const EDITOR: Self = Self { otherwise: RunMode::Interactive, ..Self::NONE };

    pub const fn arguments(arguments: &'static [&'static str]) -> Self {
        Self { variable: None, arguments, takes_piped_prompt: false, otherwise: RunMode::Unknown }
    }

    /// Looks at the variables of the call and at the processes above it, the nearest first.
    pub(super) fn run_mode(
        &self,
        binaries: &[&str],
        vars: &BTreeMap<String, String>,
        ancestors: &[CallerProcess],
    ) -> RunMode {
        let is_mark = |word: &String| self.arguments.iter().any(|mark| is_argument(word, mark));
        let client = ancestors.iter().find_map(|process| Some((process, arguments_of(binaries, &process.words)?)));
        let by_arguments = client.map(|(process, arguments)| {
            let is_piped = self.takes_piped_prompt && process.reads_terminal == Some(false);
            !is_piped && !arguments.iter().any(is_mark)
        });
        let variable = self.variable.and_then(|mark| Some((mark, vars.get(mark.name)?)));
        let by_variable = variable.map(|(mark, value)| mark.interactive.contains(&value.as_str()));
        // Each may be wrong in one way only: a variable is inherited, and a command line may be overwritten.
        match (by_arguments, by_variable) {
            (Some(false), _) | (_, Some(false)) => RunMode::Headless,
            (Some(true), _) | (_, Some(true)) => RunMode::Interactive,
            (None, None) => self.otherwise,
        }
    }
}

/// The arguments behind the agent's program in a command line: it may be run by an interpreter.
fn arguments_of<'a>(binaries: &[&str], words: &'a [String]) -> Option<&'a [String]> {
    let is_program = |word: &String| {
        let name = Path::new(word).file_stem().and_then(|name| name.to_str()).unwrap_or_default();
        binaries.contains(&name)
    };
    let at = words.iter().take(3).position(is_program)?;
    Some(&words[at + 1..])
}

fn is_argument(word: &str, mark: &str) -> bool {
    word == mark || (mark.starts_with("--") && word.strip_prefix(mark).is_some_and(|rest| rest.starts_with('=')))
}
