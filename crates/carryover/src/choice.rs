//! Which session is meant, with a question where several fit.

use std::path::PathBuf;

use carryover_agents::Facts;
use carryover_core::plain::one_line;
use carryover_core::redact::redact_title;
use carryover_engine::carry::resume::open_warning;
use carryover_engine::context::Context;
use carryover_engine::sessions::caller::{Caller, FRESH_FOR_MINUTES, find_caller, list_fresh};
use carryover_engine::sessions::glance::{fill_messages, look_at_sessions};
use carryover_engine::sessions::list::ListedSession;
use carryover_engine::sessions::select::{self, Query, SelectError};

use crate::args::{Globals, SessionArgs};
use crate::error::{CommandError, ErrorKind};
use crate::relative_time::format_ago;
use crate::session_row::SessionTable;
use crate::short_id::ShortIds;
use crate::ui::{DIM, Ui};

/// How many candidates an error or a question lists.
const MAX_SHOWN: usize = 20;
/// How much of a prompt tells its session from others.
const PROMPT_CHARS: usize = 100;

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

/// The session that is meant by a command that an agent runs for its user: where none is named, the one that it is run in.
pub(crate) fn choose_calling_session(
    ui: &mut Ui,
    context: &Context,
    globals: Globals,
    args: &SessionArgs,
) -> Result<ListedSession, CommandError> {
    match find_calling_session(ui, context, args)? {
        Some(session) => Ok(session),
        None => choose_session(ui, context, globals, args, None),
    }
}

/// The same, and no guess where nobody can be asked: of several sessions that somebody may be in now, one must be named.
pub(crate) fn choose_calling_session_or_refuse(
    ui: &mut Ui,
    context: &Context,
    globals: Globals,
    args: &SessionArgs,
) -> Result<ListedSession, CommandError> {
    if let Some(session) = find_calling_session(ui, context, args)? {
        return Ok(session);
    }
    if args.session_words().is_none() && !ui.is_interactive() && !globals.yes {
        let fresh = list_fresh(context, args.source);
        if fresh.len() > 1 {
            return Err(unsure_caller(context, fresh));
        }
    }
    choose_session(ui, context, globals, args, None)
}

fn find_calling_session(
    ui: &mut Ui,
    context: &Context,
    args: &SessionArgs,
) -> Result<Option<ListedSession>, CommandError> {
    // A shell that a person works in may have been begun by an agent long ago.
    let is_asked = args.source.is_some() || !ui.is_interactive();
    if args.session_words().is_some() || !is_asked {
        return Ok(None);
    }
    match find_caller(context, args.source)? {
        Caller::Session(session) => {
            announce_session(ui, context, &session, "the session that this is run in")?;
            Ok(Some(*session))
        }
        Caller::Unkept { agent, id } if !ui.is_interactive() => Err(unkept_caller(agent.facts(), &id)),
        Caller::Unkept { .. } | Caller::Unknown => Ok(None),
    }
}

fn unkept_caller(agent: &Facts, id: &str) -> CommandError {
    let message = format!("the session that this is run in was not found: {} of {}", one_line(id, 80), agent.name);
    CommandError::new(ErrorKind::NotFound, message)
        .with_hint("name the one that is meant: `carryover list` shows their ids")
}

/// Tells the sessions that may be meant by what their users said first and last.
fn unsure_caller(context: &Context, mut fresh: Vec<ListedSession>) -> CommandError {
    let glances = look_at_sessions(context, &mut fresh, &|| false);
    let ids = ShortIds::from_sessions(&fresh);
    let details = fresh.iter().zip(glances).take(MAX_SHOWN).flat_map(|(session, glance)| {
        let when = session.found.updated_at.map(|at| format_ago(at, context.env.now)).unwrap_or_default();
        let head = format!("{}  {}  {when}", ids.shorten(&session.found.id.0), session.agent.facts().name);
        let glance = glance.unwrap_or_default();
        let quote =
            |words: &str, prompt: &str| format!("    {words} {:?}", one_line(&redact_title(prompt, &[]), PROMPT_CHARS));
        let last = glance.last_prompt.filter(|last| glance.first_prompt.as_ref() != Some(last));
        let first = glance.first_prompt.map(|first| quote("began", &first));
        std::iter::once(head).chain(first).chain(last.map(|last| quote("last ", &last))).collect::<Vec<_>>()
    });
    let details: Vec<String> = details.collect();
    CommandError::new(
        ErrorKind::NotFound,
        format!(
            "{} sessions of this project were used within the last {FRESH_FOR_MINUTES} minutes, and none is named",
            fresh.len()
        ),
    )
    .with_details(details)
    .with_hint("name the one that is meant by its id: `carryover save ID`")
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
