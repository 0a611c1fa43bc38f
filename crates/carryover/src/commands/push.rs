//! `carryover push`.

use std::collections::BTreeMap;

use carryover_engine::capsule::workspace::LeftOut;
use carryover_engine::capsule::{Options, SealedCapsule, seal};
use carryover_engine::context::Context;
use carryover_engine::sessions::glance::fill_messages;
use carryover_engine::sessions::list::{Filter, ListedSession, list_sessions};
use carryover_engine::share::remote::{Catalog, Outgoing, Pushed, Remote, choose_outgoing, has_grown};
use clap::Args;
use serde::Serialize;

use super::capsule::PackArgs;
use super::remote::access::{choose_remote, connect, read_catalog};
use super::share::{confirm, preview_share};
use crate::args::{Globals, SessionArgs};
use crate::choice;
use crate::error::CommandError;
use crate::quantity::{format_bytes, format_count};
use crate::session_row::SessionTable;
use crate::short_id::ShortIds;
use crate::ui::{DIM, GOOD, Ui};

/// Push a session to a remote, encrypted
///
/// It is packed with its workspace as `capsule export` does, with secrets masked, cut into pieces, and encrypted. Pieces that
/// are there are not sent again, so a session that has grown costs little, and a push that was interrupted goes on. What
/// is masked and left out is shown first. Nothing that is there is changed or deleted.
#[derive(Args)]
#[command(after_long_help = "\
Examples:
  carryover push                      the newest session of this project
  carryover push 8f3c21aa --remote team
  carryover push --all                all of this project that are not there, or have grown since
  carryover push --files none         the conversation alone")]
pub(crate) struct PushArgs {
    #[command(flatten)]
    session: SessionArgs,
    /// The remote [default: the only one, else origin]
    #[arg(long, value_name = "NAME")]
    remote: Option<String>,
    /// All sessions of this project that are not there, or have grown since
    #[arg(long, conflicts_with_all = ["session", "session_flag"])]
    all: bool,
    #[command(flatten)]
    pack: PackArgs,
}

/// What was pushed, as `--json` tells it.
#[derive(Serialize)]
struct PushDocument<'a> {
    schema: &'static str,
    remote: &'a str,
    sessions: Vec<PushedSession>,
    total: usize,
    warnings: Vec<String>,
}

/// A session that is there now.
#[derive(Serialize)]
pub(super) struct PushedSession {
    capsule_id: String,
    source: String,
    session_id: String,
    title: Option<String>,
    /// False where that very capsule was there already.
    is_new: bool,
    bytes: u64,
    pieces: usize,
    sent_pieces: usize,
    sent_bytes: u64,
    masked: BTreeMap<String, usize>,
    left_out: Vec<LeftOut>,
    redacted: bool,
}

pub(crate) fn cmd_push(ui: &mut Ui, context: &Context, globals: Globals, args: &PushArgs) -> Result<(), CommandError> {
    // Before a session is packed for nothing.
    choose_remote(context, args.remote.as_deref())?;
    let mut warnings = Vec::new();
    let (remote, sessions) = if args.all {
        let remote = connect(ui, context, args.remote.as_deref())?;
        let catalog = read_catalog(ui, &remote, &mut warnings)?;
        let listing = list_sessions(context, &Filter { agent: args.session.source, ..Filter::default() });
        let chosen = choose_outgoing(context, &catalog, listing.sessions, Outgoing::All);
        name_sessions(ui, context, &chosen)?;
        let pushed =
            push_sessions(ui, context, globals, &remote, &catalog, &chosen, &args.pack.options(), &mut warnings)?;
        (remote, pushed)
    } else {
        push_one(ui, context, globals, args, &mut warnings)?
    };
    if ui.is_json() {
        let total = sessions.len();
        let remote = &remote.name;
        return Ok(ui.write_json(&PushDocument { schema: "carryover.push/1", remote, sessions, total, warnings })?);
    }
    if sessions.is_empty() {
        ui.status(format_args!("all sessions of this project are in {} as they are", remote.name))?;
    }
    Ok(())
}

fn push_one(
    ui: &mut Ui,
    context: &Context,
    globals: Globals,
    args: &PushArgs,
    warnings: &mut Vec<String>,
) -> Result<(Remote, Vec<PushedSession>), CommandError> {
    let session = choice::choose_session(ui, context, globals, &args.session, None)?;
    warnings.extend(choice::announce_open(ui, &session)?);
    let remote = connect(ui, context, args.remote.as_deref())?;
    let mut unread = Vec::new();
    let catalog = read_catalog(ui, &remote, &mut unread)?;
    warnings.extend(unread);
    let sealed =
        ui.while_doing("packing the session and its files…", || seal(context, &session, &args.pack.options()))?;
    warnings.extend(sealed.warnings.iter().cloned());
    if !ui.is_json() {
        sealed.warnings.iter().try_for_each(|warning| ui.warning(warning))?;
        if catalog.find_capsule(&sealed.manifest.id).is_none() {
            preview_share(ui, &sealed)?;
            confirm(ui, globals, &format!("push it to {}?", remote.name))?;
        }
    }
    let pushed = push_sealed(ui, context, &remote, &catalog, &sealed)?;
    Ok((remote, vec![pushed]))
}

/// Names what is about to be pushed.
pub(super) fn name_sessions(ui: &mut Ui, context: &Context, sessions: &[ListedSession]) -> Result<(), CommandError> {
    if sessions.is_empty() {
        return Ok(());
    }
    let mut shown = sessions.to_vec();
    fill_messages(context, &mut shown);
    let table = SessionTable::new(context, &shown, &ShortIds::from_sessions(sessions), ui.width());
    for line in table.lines() {
        ui.status(format_args!("{DIM}{line}{DIM:#}"))?;
    }
    Ok(())
}

/// Packs and pushes one session after another, each shown before it goes. One that cannot be packed is told, and the others go
/// on.
#[expect(clippy::too_many_arguments, reason = "who pushes, what, where to and how")]
pub(super) fn push_sessions(
    ui: &mut Ui,
    context: &Context,
    mut globals: Globals,
    remote: &Remote,
    catalog: &Catalog,
    sessions: &[ListedSession],
    options: &Options,
    warnings: &mut Vec<String>,
) -> Result<Vec<PushedSession>, CommandError> {
    let mut pushed = Vec::new();
    for session in sessions {
        let sealed = match ui.while_doing("packing a session and its files…", || seal(context, session, options)) {
            Ok(sealed) => sealed,
            Err(error) => {
                let warning = format!("session {} is not pushed: {error}", session.found.id.short());
                if !ui.is_json() {
                    ui.warning(&warning)?;
                }
                warnings.push(warning);
                continue;
            }
        };
        if !has_grown(catalog, &sealed.manifest) {
            continue;
        }
        for warning in &sealed.warnings {
            if !ui.is_json() {
                ui.warning(warning)?;
            }
            warnings.push(warning.clone());
        }
        if !ui.is_json() {
            preview_share(ui, &sealed)?;
            match ask_for_one(ui, globals, remote)? {
                Consent::One => {}
                Consent::All => globals.yes = true,
                Consent::None => continue,
            }
        }
        pushed.push(push_sealed(ui, context, remote, catalog, &sealed)?);
    }
    Ok(pushed)
}

/// What somebody says of a session among several.
enum Consent {
    One,
    All,
    None,
}

fn ask_for_one(ui: &mut Ui, globals: Globals, remote: &Remote) -> Result<Consent, CommandError> {
    if globals.yes || !ui.is_interactive() {
        return Ok(Consent::All);
    }
    let answer = ui.ask(&format!("push it to {}? (y/N/all)", remote.name))?;
    Ok(match answer.to_lowercase().as_str() {
        "y" | "yes" => Consent::One,
        "a" | "all" => Consent::All,
        _ => Consent::None,
    })
}

fn push_sealed(
    ui: &mut Ui,
    context: &Context,
    remote: &Remote,
    catalog: &Catalog,
    sealed: &SealedCapsule,
) -> Result<PushedSession, CommandError> {
    let pushed = ui.while_counting("pushing…", |counter| {
        remote.push(context, catalog, sealed, &|done, total| counter.set(done, total))
    })?;
    let masked = sealed.count_masks();
    tell_pushed(ui, remote, &pushed, &masked)?;
    let Pushed { capsule, is_new, sent_pieces, sent_bytes } = pushed;
    Ok(PushedSession {
        pieces: capsule.n_pieces(),
        capsule_id: capsule.capsule,
        source: capsule.agent,
        session_id: capsule.session_id,
        title: capsule.title,
        is_new,
        bytes: capsule.bytes,
        sent_pieces,
        sent_bytes,
        masked,
        left_out: sealed.workspace.left_out.clone(),
        redacted: capsule.redacted,
    })
}

fn tell_pushed(
    ui: &mut Ui,
    remote: &Remote,
    pushed: &Pushed,
    masked: &BTreeMap<String, usize>,
) -> Result<(), CommandError> {
    let (capsule, name) = (&pushed.capsule, &remote.name);
    if !pushed.is_new && pushed.sent_pieces > 0 {
        let missing = format_count(pushed.sent_pieces, "piece that was missing", "pieces that were missing");
        return Ok(ui.status(format_args!("{GOOD}mended{GOOD:#} {} in {name}: sent {missing}", capsule.capsule))?);
    }
    if !pushed.is_new {
        return Ok(ui.status(format_args!("{} is in {name} already, as it is", capsule.capsule))?);
    }
    let sent = format!("{} of {} sent", format_bytes(pushed.sent_bytes), format_bytes(capsule.bytes));
    let masks: usize = masked.values().sum();
    let masks =
        if masks == 0 { String::new() } else { format!(", {} masked", format_count(masks, "secret", "secrets")) };
    ui.status(format_args!("{GOOD}pushed{GOOD:#} {} to {name}: {sent}{masks}", capsule.capsule))?;
    Ok(())
}
