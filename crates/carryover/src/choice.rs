//! Which session is meant, with a question where several fit.

use std::path::PathBuf;

use carryover_core::redact::redact_title;
use carryover_engine::carry::resume::open_warning;
use carryover_engine::context::Context;
use carryover_engine::sessions::glance::fill_messages;
use carryover_engine::sessions::list::ListedSession;
use carryover_engine::sessions::select::{self, Query, SelectError};

use crate::args::{Globals, SessionArgs};
use crate::error::CommandError;
use crate::session_row::SessionTable;
use crate::short_id::ShortIds;
use crate::ui::{DIM, Ui};

/// How many candidates an error or a question lists.
const MAX_SHOWN: usize = 20;

/// Finds the session that is meant, and says which it is where the choice was ours.
pub(crate) fn choose_session(
    ui: &mut Ui,
    context: &Context,
    globals: Globals,
    args: &SessionArgs,
    project: Option<PathBuf>,
) -> Result<ListedSession, CommandError> {
    choose_session_avoiding(ui, context, globals, args, project, None)
}

/// The same; where none is named, one of another agent than the avoided one, if there is any.
pub(crate) fn choose_session_avoiding(
    ui: &mut Ui,
    context: &Context,
    globals: Globals,
    args: &SessionArgs,
    project: Option<PathBuf>,
    avoided: Option<&'static str>,
) -> Result<ListedSession, CommandError> {
    let query = Query { words: args.session_words(), agent: args.source, project, avoided };
    let selected = match select::select_session(context, &query) {
        Err(SelectError::Ambiguous { words, candidates }) => {
            return choose_among(ui, context, globals, words, candidates);
        }
        other => other?,
    };
    if let Some(why) = selected.why {
        for (agent, error) in &selected.failures {
            ui.warning(format_args!("{}: {error}", agent.facts().name))?;
        }
        announce_session(ui, context, &selected.session, why)?;
    }
    Ok(selected.session)
}

fn announce_session(ui: &mut Ui, context: &Context, session: &ListedSession, why: &str) -> Result<(), CommandError> {
    let mut shown = [mask_title(session)];
    fill_messages(context, &mut shown);
    let ids = ShortIds::from_sessions(&shown);
    let table = SessionTable::new(context, &shown, &ids, ui.width());
    ui.status(format_args!("{why}:"))?;
    for line in table.lines() {
        ui.status(format_args!("{DIM}{line}{DIM:#}"))?;
    }
    Ok(())
}

/// Says that a session is open before anything is written; where data is asked for, it is among the warnings.
pub(crate) fn announce_open(ui: &mut Ui, session: &ListedSession) -> Result<Vec<String>, CommandError> {
    let open = open_warning(session);
    if ui.is_json() {
        return Ok(open.into_iter().collect());
    }
    if let Some(open) = open {
        ui.warning(open)?;
    }
    Ok(Vec::new())
}

/// A session as it may be told beside what is written or handed over: its title is most often the first prompt.
fn mask_title(session: &ListedSession) -> ListedSession {
    let mut session = session.clone();
    session.found.title = session.found.title.map(|title| redact_title(&title, &[]));
    session
}

/// Asks where somebody can answer.
fn choose_among(
    ui: &mut Ui,
    context: &Context,
    globals: Globals,
    words: String,
    mut candidates: Vec<ListedSession>,
) -> Result<ListedSession, CommandError> {
    let ids = ShortIds::from_sessions(&candidates);
    let mut shown: Vec<ListedSession> = candidates.iter().take(MAX_SHOWN).map(mask_title).collect();
    fill_messages(context, &mut shown);
    let lines: Vec<String> = SessionTable::new(context, &shown, &ids, ui.width().saturating_sub(4)).lines().collect();
    if globals.yes && !candidates.is_empty() {
        // As a list has them: this project's first.
        let rank = |(_, session): &(usize, &ListedSession)| (session.here, session.found.updated_at);
        let newest = candidates.iter().enumerate().max_by_key(rank).map_or(0, |(index, _)| index);
        let here = if candidates[newest].here { " in this project" } else { "" };
        announce_session(ui, context, &candidates[newest], &format!("newest of several that fit{here}"))?;
        return Ok(candidates.swap_remove(newest));
    }
    if !ui.is_interactive() {
        return Err(CommandError::from(SelectError::Ambiguous { words, candidates }).with_details(lines));
    }
    for (index, line) in lines.iter().enumerate() {
        ui.write_line(format_args!("{:>2}  {line}", index + 1))?;
    }
    let answer = ui.ask_choice("which one? (number, or q to leave)")?.ok_or_else(CommandError::left)?;
    match answer.parse::<usize>() {
        Ok(number) if (1..=lines.len()).contains(&number) => Ok(candidates.swap_remove(number - 1)),
        _ => Err(SelectError::Ambiguous { words, candidates }.into()),
    }
}
