//! `carryover` alone: the picker on a terminal, elsewhere the list.

use std::io::{self, IsTerminal};

use carryover_engine::context::Context;
use clap::Parser;

use crate::args::{Cli, Globals};
use crate::error::{CommandError, ErrorKind};
use crate::picker::{self, LedgerText, PickerOptions, PickerOutcome};
use crate::process_env;
use crate::ui::{self, Ui};

pub(super) fn cmd_front(ui: &mut Ui, globals: Globals, print: bool) -> Result<(), CommandError> {
    let context = process_env::open_context()?;
    if globals.json || !has_screen(&context, print) {
        return run_words(ui, globals, &["list".to_owned()]);
    }
    // The command that is printed may be for a shell to read.
    let on_stderr = !io::stdout().is_terminal();
    let options = PickerOptions {
        has_colors: ui::has_colors(globals.color, on_stderr),
        // Who picks a session wants to go on with it, unless the settings say otherwise.
        launch: !print && context.config.resume.launch != Some(false),
        on_stderr,
        full_text: Some(Box::new(LedgerText::new(&context))),
    };
    match outcome_words(&picker::pick(&context, options)?) {
        Some(words) => run_words(ui, globals, &words),
        None => Ok(()),
    }
}

/// Whether there is a terminal that a picker can be shown on.
fn has_screen(context: &Context, print: bool) -> bool {
    let is_shown = io::stdout().is_terminal() || (print && io::stderr().is_terminal());
    io::stdin().is_terminal() && is_shown && context.env.var("TERM") != Some("dumb")
}

/// Runs a command as it would be typed, in surroundings that are looked at anew: a picker may have been open for hours.
pub(super) fn run_words(ui: &mut Ui, globals: Globals, words: &[String]) -> Result<(), CommandError> {
    let line = std::iter::once("carryover").chain(words.iter().map(String::as_str));
    let cli = Cli::try_parse_from(line).map_err(|error| CommandError::new(ErrorKind::Bug, error))?;
    super::run(ui, &Cli { globals, ..cli })
}

/// The command that does what was decided; none for leaving.
fn outcome_words(outcome: &PickerOutcome) -> Option<Vec<String>> {
    let mut words = Vec::new();
    // With its flag in one word, as an id may begin with anything.
    let mut add_session = |command: &str, session: &picker::RowKey| {
        words.extend([command.to_owned(), format!("--session={}", session.id), format!("--source={}", session.agent)]);
    };
    match outcome {
        PickerOutcome::Leave => return None,
        PickerOutcome::Resume { session, target, fork, launch } => {
            add_session("resume", session);
            words.push(format!("--target={target}"));
            words.extend(fork.then(|| "--fork".to_owned()));
            words.push(if *launch { "--launch" } else { "--print" }.to_owned());
        }
        PickerOutcome::Handoff { session, target, launch } => {
            add_session("handoff", session);
            words.extend(target.map(|target| format!("--target={target}")));
            words.extend((*launch && target.is_some()).then(|| "--launch".to_owned()));
        }
        PickerOutcome::Show { session } => add_session("show", session),
        PickerOutcome::Undo { id } => words.extend(["undo".to_owned(), "--".to_owned(), id.clone()]),
    }
    Some(words)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_outcome_is_a_command_that_is_understood() {
        let session = picker::RowKey { agent: "codex", id: "--hostile id".to_owned() };
        let outcomes = [
            PickerOutcome::Resume { session: session.clone(), target: "claude-code", fork: true, launch: true },
            PickerOutcome::Resume { session: session.clone(), target: "codex", fork: false, launch: false },
            PickerOutcome::Handoff { session: session.clone(), target: Some("pi"), launch: true },
            PickerOutcome::Handoff { session: session.clone(), target: None, launch: false },
            PickerOutcome::Show { session },
            PickerOutcome::Undo { id: "-f".to_owned() },
        ];
        for outcome in outcomes {
            let words = outcome_words(&outcome).unwrap();
            let parsed = Cli::try_parse_from(std::iter::once("carryover".to_owned()).chain(words.clone()));
            assert!(parsed.is_ok(), "{words:?}: {}", parsed.err().unwrap());
        }
        assert_eq!(outcome_words(&PickerOutcome::Leave), None);
    }
}
