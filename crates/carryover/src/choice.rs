//! Which session is meant, with a question where several fit.

use std::path::PathBuf;

use carryover_core::redact::redact_title;
use carryover_engine::context::Context;
use carryover_engine::sessions::list::Listed;
use carryover_engine::sessions::select::{self, Query, SelectError};

use crate::args::{Globals, SessionArgs};
use crate::error::CommandError;
use crate::session_row::SessionTable;
use crate::short_id::ShortIds;
use crate::ui::{DIM, Ui};

/// How many candidates an error or a question lists.
const SHOWN: usize = 20;

/// Finds the session that is meant, and says which it is where the choice was ours.
pub(crate) fn select(
    ui: &mut Ui,
    context: &Context,
    globals: Globals,
    args: &SessionArgs,
    project: Option<PathBuf>,
) -> Result<Listed, CommandError> {
    let query = Query { words: args.words(), agent: args.source, project };
    let selected = match select::select(context, &query) {
        Err(SelectError::Ambiguous { words, candidates }) => {
            return among(ui, context, globals, words, candidates);
        }
        other => other?,
    };
    if let Some(why) = selected.why {
        for (agent, error) in &selected.failures {
            ui.warning(format_args!("{}: {error}", agent.facts().name))?;
        }
        announce(ui, context, &selected.session, why)?;
    }
    Ok(selected.session)
}

fn announce(ui: &mut Ui, context: &Context, session: &Listed, why: &str) -> Result<(), CommandError> {
    let shown = [masked(session)];
    let ids = ShortIds::of(&shown);
    let table = SessionTable::new(context, &shown, &ids, ui.width());
    ui.status(format_args!("{why}:"))?;
    for line in table.lines() {
        ui.status(format_args!("{DIM}{line}{DIM:#}"))?;
    }
    Ok(())
}

/// A session as it may be told beside what is written or handed over: its title is most often the first prompt.
fn masked(session: &Listed) -> Listed {
    let mut session = session.clone();
    session.found.title = session.found.title.map(|title| redact_title(&title, &[]));
    session
}

/// Asks where somebody can answer.
fn among(
    ui: &mut Ui,
    context: &Context,
    globals: Globals,
    words: String,
    mut candidates: Vec<Listed>,
) -> Result<Listed, CommandError> {
    let ids = ShortIds::of(&candidates);
    let shown: Vec<Listed> = candidates.iter().take(SHOWN).map(masked).collect();
    let lines: Vec<String> = SessionTable::new(context, &shown, &ids, ui.width().saturating_sub(4)).lines().collect();
    if globals.yes && !candidates.is_empty() {
        // As a list has them: this project's first.
        let rank = |(_, session): &(usize, &Listed)| (session.here, session.found.updated_at);
        let newest = candidates.iter().enumerate().max_by_key(rank).map_or(0, |(index, _)| index);
        let here = if candidates[newest].here { " in this project" } else { "" };
        announce(ui, context, &candidates[newest], &format!("newest of several that fit{here}"))?;
        return Ok(candidates.swap_remove(newest));
    }
    if !ui.interactive() {
        return Err(CommandError::from(SelectError::Ambiguous { words, candidates }).details(lines));
    }
    for (index, line) in lines.iter().enumerate() {
        ui.say(format_args!("{:>2}  {line}", index + 1))?;
    }
    let answer = ui.ask("which one? (number, or nothing to leave)")?;
    match answer.parse::<usize>() {
        Ok(number) if (1..=lines.len()).contains(&number) => Ok(candidates.swap_remove(number - 1)),
        _ => Err(SelectError::Ambiguous { words, candidates }.into()),
    }
}
