//! Opening the ledger for a command, up to date, with what its user should know about that.

use std::ops::ControlFlow;
use std::time::{Duration, Instant};

use carryover_core::redact::redact_title;
use carryover_engine::context::Context;
use carryover_engine::ledger::sync::{Progress, SyncReport};
use carryover_engine::ledger::{KeptSession, Ledger, LedgerError, LookupError, OpenedLedger};

use crate::daemon;
use crate::error::{CommandError, ErrorKind};
use crate::quantity::format_count;
use crate::relative_time::format_ago;
use crate::session_row::{abbreviate_home, cut_to_width};
use crate::ui::Ui;

/// Waiting for so long is not worth a word.
const QUIET_TIME: Duration = Duration::from_secs(1);

/// Opens the ledger and takes in what is new, where it is switched on and nobody else does that.
pub(crate) fn open_updated(ui: &mut Ui, context: &Context) -> Result<Ledger, CommandError> {
    if !context.config.ledger.is_enabled() {
        let hint = "`carryover config set ledger.enabled true` switches it on";
        let there = Ledger::open_for_reading(context)?;
        let off = || CommandError::new(ErrorKind::NotFound, "the ledger is switched off").with_hint(hint);
        let ledger = there.ok_or_else(off)?;
        ui.warning("the ledger is switched off: what is new is not in it")?;
        return Ok(ledger);
    }
    if daemon::client::is_keeping_ledger(context)
        && let Some(ledger) = Ledger::open_for_reading(context)?
    {
        return Ok(ledger);
    }
    if let Some(opened) = Ledger::try_open(context)? {
        return update(ui, context, opened);
    }
    ui.status("another carryover is at the ledger: what it has so far is used")?;
    let busy = || CommandError::new(ErrorKind::Io, "the ledger is being made by another carryover");
    Ledger::open_for_reading(context)?.ok_or_else(busy)
}

/// Opens the ledger for whoever has to write or to be alone with it; waits for others.
pub(crate) fn open_alone(ui: &mut Ui, context: &Context) -> Result<Ledger, CommandError> {
    let opened = Ledger::open(context)?;
    if context.config.ledger.is_enabled() {
        return update(ui, context, opened);
    }
    tell_set_aside(ui, &opened)?;
    Ok(opened.ledger)
}

fn update(ui: &mut Ui, context: &Context, opened: OpenedLedger) -> Result<Ledger, CommandError> {
    tell_set_aside(ui, &opened)?;
    let mut ledger = opened.ledger;
    let report = match run_update(ui, context, &mut ledger) {
        // What is broken inside shows only when it is met.
        Err(error) if error.is_corrupt() => {
            let anew = ledger.begin_anew(context)?;
            tell_set_aside(ui, &anew)?;
            ledger = anew.ledger;
            run_update(ui, context, &mut ledger)?
        }
        report => report?,
    };
    for (agent, error) in &report.failures {
        ui.warning(format_args!("{}: {error}", agent.facts().name))?;
    }
    Ok(ledger)
}

pub(crate) fn tell_set_aside(ui: &mut Ui, opened: &OpenedLedger) -> Result<(), CommandError> {
    if let Some(path) = &opened.set_aside {
        let path = path.display();
        ui.warning(format_args!(
            "the ledger could not be read: it was set aside as {path}, and a new one begun from the stores"
        ))?;
    }
    Ok(())
}

/// Tells how far it is where somebody waits for it, ever more seldom.
fn run_update(ui: &mut Ui, context: &Context, ledger: &mut Ledger) -> Result<SyncReport, LedgerError> {
    let start = Instant::now();
    let mut next = QUIET_TIME;
    let is_watched = ui.is_interactive();
    ledger.bring_up_to_date(context, &mut |Progress { done, total }| {
        if is_watched && start.elapsed() > next {
            next = start.elapsed() * 2;
            // Words that cannot be shown are no reason to stop.
            ui.status(format_args!("bringing the ledger up to date: {done} of {total} sessions")).ok();
        }
        ControlFlow::Continue(())
    })
}

/// The session that is meant; where several fit, they are told.
pub(crate) fn find_session(
    context: &Context,
    ledger: &Ledger,
    words: &str,
    agent: Option<&str>,
    takes_newest: bool,
) -> Result<KeptSession, CommandError> {
    match ledger.find_session(words, agent) {
        Err(LookupError::Ambiguous { mut candidates, .. }) if takes_newest => Ok(candidates.remove(0)),
        Err(LookupError::Ambiguous { words, candidates }) => {
            let lines: Vec<String> = candidates.iter().take(20).map(|one| session_line(context, one, 110)).collect();
            Err(CommandError::from(LookupError::Ambiguous { words, candidates }).with_details(lines))
        }
        found => Ok(found?),
    }
}

/// A session of the ledger on one line. Its title is most often a prompt, so it is masked.
pub(crate) fn session_line(context: &Context, session: &KeptSession, width: usize) -> String {
    let when = session.updated_at.map_or_else(|| "–".to_owned(), |at| format_ago(at, context.env.now));
    let title = session.title.as_deref().map_or_else(|| "(no title)".to_owned(), |title| redact_title(title, &[]));
    let project = session.project.as_deref().map(|project| format!("{}: ", abbreviate_home(context, project)));
    let line = format!("{}  {}  {when}  {}{title}", session.agent, session.id.short(), project.unwrap_or_default());
    cut_to_width(&line, width)
}

/// How many sessions there are, as a sentence says it.
pub(crate) fn count_sessions(count: usize) -> String {
    format_count(count, "session", "sessions")
}
