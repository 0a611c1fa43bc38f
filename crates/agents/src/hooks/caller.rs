//! Who calls: some agents run other agents' hooks, and some run with nobody before them.

use std::collections::BTreeMap;
use std::path::Path;

use super::RunMode;

/// By what an agent is known whose call came through another agent's hook.
#[derive(Debug, Clone, Copy)]
pub enum CallerMark {
    /// What it sends has this key.
    PayloadKey(&'static str),
    /// The path of the session's file has this in it.
    TranscriptPart(&'static str),
}

/// By what a run without a person is known.
#[derive(Debug, Clone, Copy)]
pub struct HeadlessMarks {
    pub variable: Option<VariableMark>,
    /// Arguments of the agent's program that mean none.
    pub arguments: &'static [&'static str],
}

/// A variable that an agent sets for its hooks and that tells how it runs.
#[derive(Debug, Clone, Copy)]
pub struct VariableMark {
    pub name: &'static str,
    /// Its values where a person sits before the agent.
    pub interactive: &'static [&'static str],
}

impl HeadlessMarks {
    pub const NONE: Self = Self { variable: None, arguments: &[] };

    /// Looks at the variables of the call and at the command lines of the processes above it, the nearest first.
    pub(super) fn run_mode(
        &self,
        binaries: &[&str],
        vars: &BTreeMap<String, String>,
        ancestors: &[Vec<String>],
    ) -> RunMode {
        if let Some((mark, value)) = self.variable.and_then(|mark| Some((mark, vars.get(mark.name)?))) {
            let is_interactive = mark.interactive.contains(&value.as_str());
            return if is_interactive { RunMode::Interactive } else { RunMode::Headless };
        }
        let Some(arguments) = ancestors.iter().find_map(|words| arguments_of(binaries, words)) else {
            return RunMode::Unknown;
        };
        let is_mark = |word: &String| self.arguments.iter().any(|mark| is_argument(word, mark));
        if arguments.iter().any(is_mark) { RunMode::Headless } else { RunMode::Interactive }
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
