//! Turns that work on the files of a project, for a session that goes on where the files are others: what its tools
//! give back tells what is there.

use std::path::Path;

use fs_err as fs;

use super::dialect::Dialect;
use super::{Action, ActionKind, Source, make_png};
use crate::client::ClientError;
use crate::model::Turn;

/// The answers of the first turn, each a list of things to do; what stands together is called at once.
const FIRST_ANSWERS: &[&[ActionKind]] = &[
    &[ActionKind::Think, ActionKind::Say, ActionKind::Read],
    &[ActionKind::SayUnicode, ActionKind::Plan],
    &[ActionKind::Run, ActionKind::ViewImage],
    &[ActionKind::Edit],
    &[ActionKind::RunFailing],
    &[ActionKind::Search],
    &[ActionKind::Unknown],
    &[ActionKind::Write],
];

/// The answers of each turn after it.
const FURTHER_ANSWERS: &[&[ActionKind]] =
    &[&[ActionKind::Think, ActionKind::Say, ActionKind::Read], &[ActionKind::Edit], &[ActionKind::Write]];

/// Shows where the client is, and what git and the folder say of the files.
const LOOK_AROUND: &str = "pwd; git status --short --untracked-files=all; cat data/link.txt; ./tool.sh";

/// A prompt, and what the model does about it.
#[derive(Clone, Debug)]
pub struct WorkTurn {
    pub prompt: String,
    pub turns: Vec<Turn>,
}

impl WorkTurn {
    /// The turn with this number, counted from 0: the first does a little of everything.
    pub fn new(source: &Source, project: &Path, number: usize) -> Self {
        let dialect = Dialect { source, project };
        let answers = if number == 0 { FIRST_ANSWERS } else { FURTHER_ANSWERS };
        let answers: Vec<Vec<Action>> = answers
            .iter()
            .map(|kinds| {
                kinds.iter().filter(|what| dialect.has_tool(**what)).map(|what| make_action(*what, number)).collect()
            })
            .filter(|actions: &Vec<Action>| !actions.is_empty())
            .collect();
        let mut turns: Vec<Turn> = dialect
            .group_by_request(&answers)
            .iter()
            .map(|actions| Turn::from_blocks(actions.iter().map(|action| dialect.action_block(action)).collect()))
            .collect();
        if dialect.has_tool(ActionKind::Run) {
            let look = dialect.command_block(&format!("look{number}"), LOOK_AROUND);
            turns.push(Turn::from_blocks(vec![look]));
        }
        if turns.len() > 1 {
            turns.push(Turn::from_text(format!("Turn {number} is done.")));
        }
        Self { prompt: format!("Work on the files, turn {number}."), turns }
    }

    /// Writes the files that turns with numbers below this read, edit and show.
    pub fn write_files(project: &Path, n_turns: usize) -> Result<(), ClientError> {
        fs::create_dir_all(project.join("data"))?;
        for number in 0..n_turns {
            for what in [ActionKind::Read, ActionKind::Run, ActionKind::RunFailing, ActionKind::Search] {
                let action = make_action(what, number);
                let words = action.words.join("\n");
                fs::write(
                    project.join(action.file_path()),
                    format!("first line\n{words}\nold line of {}\n", action.key),
                )?;
            }
            let picture = make_action(ActionKind::ViewImage, number);
            fs::write(project.join(picture.file_path()), make_png(30, 30, 200))?;
        }
        Ok(())
    }
}

/// An action whose words, file and call bear its name and its number.
fn make_action(what: ActionKind, number: usize) -> Action {
    // An edit is one of the file that was read.
    let name = if what == ActionKind::Edit { ActionKind::Read } else { what };
    let key = format!("{name:?}{number}").to_lowercase();
    Action { what, words: vec![format!("{name:?}{number}Word"), format!("Shown{number}Word")], key }
}
