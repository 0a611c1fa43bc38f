//! `carryover share`.

mod destination;

use std::collections::BTreeMap;
use std::path::PathBuf;

use carryover_core::time::Timestamp;
use carryover_engine::capsule::workspace::LeftOut;
use carryover_engine::capsule::{SealedCapsule, seal};
use carryover_engine::context::Context;
use carryover_engine::share::crypt::{Lock, Passphrase};
use carryover_engine::share::keys::Recipient;
use clap::Args;
use serde::Serialize;

use self::destination::{Destination, ExpiryKind, SharedLink};
use super::capsule::{PackArgs, tell_left_out};
use crate::args::{Globals, SessionArgs};
use crate::choice;
use crate::error::CommandError;
use crate::key_args::read_recipients;
use crate::moment::{Moment, parse_moment};
use crate::passphrase;
use crate::quantity::{format_bytes, format_count};
use crate::shell::quote_word;
use crate::ui::{DIM, GOOD, Ui};

/// So many masks are shown before something is shared.
const MAX_SHOWN_MASKS: usize = 5;

/// Encrypt a session with its workspace, for somebody else
///
/// The session is packed as `capsule export` packs it, with secrets masked, and encrypted in age's format before it is written.
/// Without a key or a passphrase of yours, a passphrase is made and shown once: send it another way than the link. `carryover
/// open` goes on with it, in any agent. Keys of services come from the environment; docs/capsules.md names the variables.
#[derive(Args)]
#[command(after_long_help = "\
Examples:
  carryover share                                       the newest session here, into this folder
  carryover share 8f3c21aa --dest /mnt/team
  carryover share --dest s3://bucket/shares --expires 7d
  carryover share --dest git+ssh://git@host/team.git
  carryover share --recipient \"$(cat ada.pub)\"          for a key of ssh or age
  carryover share --passphrase-file words.txt --dest fix.carryover")]
pub(crate) struct ShareArgs {
    #[command(flatten)]
    session: SessionArgs,
    /// A file, folder, s3://…, gs://…, az://… or git+… [default: this folder]
    #[arg(long, value_name = "PLACE", value_hint = clap::ValueHint::AnyPath)]
    dest: Option<String>,
    /// Ask for the passphrase that locks it
    #[arg(long, conflicts_with = "recipient")]
    passphrase: bool,
    /// Lock it with the first line of a file; `-` is standard input
    #[arg(long, value_name = "FILE", hide_short_help = true, value_hint = clap::ValueHint::FilePath, conflicts_with_all = ["recipient", "passphrase"])]
    passphrase_file: Option<PathBuf>,
    /// Lock it for a key (age1…, ssh-ed25519 …) or a file of such keys
    ///
    /// Can be given several times.
    #[arg(long, value_name = "KEY|FILE")]
    recipient: Vec<String>,
    /// Until when it opens: a time, or how long from now, such as 7d
    #[arg(long, value_name = "T", value_parser = parse_moment)]
    expires: Option<Moment>,
    #[command(flatten)]
    pack: PackArgs,
}

/// A share, as `--json` tells it.
#[derive(Serialize)]
struct ShareDocument<'a> {
    schema: &'static str,
    link: &'a str,
    /// Only where it is a file.
    #[serde(skip_serializing_if = "Option::is_none")]
    path: Option<String>,
    bytes: u64,
    capsule_id: &'a str,
    source: &'a str,
    session_id: &'a str,
    locked_by: &'static str,
    /// Only where it was made here, and is nowhere else.
    #[serde(skip_serializing_if = "Option::is_none")]
    passphrase: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    expires_at: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    expires: Option<&'static str>,
    masked: BTreeMap<String, usize>,
    left_out: &'a [LeftOut],
    redacted: bool,
    warnings: &'a [String],
}

/// How a share is locked, and with which words where they are new.
struct ChosenLock {
    lock: Lock,
    generated: Option<Passphrase>,
}

pub(crate) fn cmd_share(
    ui: &mut Ui,
    context: &Context,
    globals: Globals,
    args: &ShareArgs,
) -> Result<(), CommandError> {
    let expires_at = args.expires.map(|moment| moment.resolve_ahead(context));
    if expires_at.is_some_and(|at| at <= context.env.now) {
        return Err(CommandError::usage("`--expires` is in the past"));
    }
    let destination = Destination::open(context, args.dest.as_deref(), expires_at)?;
    let recipients = read_recipients(context, &args.recipient)?;
    let session = choice::choose_session(ui, context, globals, &args.session, None)?;
    let mut warnings = choice::announce_open(ui, &session)?;
    let sealed =
        ui.while_doing("packing the session and its files…", || seal(context, &session, &args.pack.options()))?;
    warnings.extend(sealed.warnings.iter().cloned());
    let destination = destination.settle(&sealed)?;
    if !ui.is_json() {
        warnings.iter().try_for_each(|warning| ui.warning(warning))?;
        preview_share(ui, &sealed)?;
        let title = carryover_core::plain::one_line(session.found.title.as_deref().unwrap_or("the session"), 60);
        confirm(ui, globals, &format!("share `{title}`?"))?;
    }
    let ChosenLock { lock, generated } = choose_lock(ui, context, args, recipients)?;
    let shared = destination.send(ui, context, &sealed, &lock, expires_at)?;
    let passphrase = generated.as_ref().map(Passphrase::expose);
    if ui.is_json() {
        let manifest = &sealed.manifest;
        return Ok(ui.write_json(&ShareDocument {
            schema: "carryover.share/1",
            link: &shared.link,
            path: shared.file.as_ref().map(|path| path.display().to_string()),
            bytes: shared.bytes,
            capsule_id: &manifest.id,
            source: &manifest.source.agent,
            session_id: &manifest.source.session_id,
            locked_by: if matches!(lock, Lock::Recipients(_)) { "recipients" } else { "passphrase" },
            passphrase,
            expires_at: expires_at.map(|at| at.to_string()),
            expires: shared.expiry.map(ExpiryKind::word),
            masked: sealed.count_masks(),
            left_out: &sealed.workspace.left_out,
            redacted: manifest.redacted,
            warnings: &warnings,
        })?);
    }
    let form = if shared.file.is_some() { "a file" } else { "an object" };
    ui.status(format_args!("{GOOD}shared{GOOD:#} as {form} of {}", format_bytes(shared.bytes)))?;
    if let Some(words) = passphrase {
        // Whatever is silenced, nobody can open it without this.
        ui.write_line(format_args!("passphrase: {words}"))?;
    }
    tell_rest(ui, context, &shared, expires_at, matches!(lock, Lock::Recipients(_)))
}

/// The link for the receiver, and what `--expires` means there.
fn tell_rest(
    ui: &mut Ui,
    context: &Context,
    shared: &SharedLink,
    expires_at: Option<Timestamp>,
    is_for_keys: bool,
) -> Result<(), CommandError> {
    if let (Some(at), Some(kind)) = (expires_at, shared.expiry) {
        ui.status(format_args!("  expires     {at}; {}", kind.describe()))?;
    }
    writeln!(ui.out(), "{}", shared.link)?;
    // A signed address is a secret, which is shown once.
    let name = match &shared.file {
        Some(path) => quote_word(&path.file_name().unwrap_or_default().to_string_lossy(), context.env.os),
        None if shared.expiry == Some(ExpiryKind::Presigned) => "LINK".to_owned(),
        None => quote_word(&shared.link, context.env.os),
    };
    let how = if is_for_keys {
        format!("`carryover open {name} --identity KEYFILE` goes on with it, with one of the keys")
    } else {
        format!("`carryover open {name}` goes on with it; send the passphrase another way")
    };
    ui.hint(how)?;
    Ok(())
}

/// Tells what will be in it, and what was masked or left out, before anything is written.
pub(super) fn preview_share(ui: &mut Ui, sealed: &SealedCapsule) -> Result<(), CommandError> {
    let to_count = |count: u64| usize::try_from(count).unwrap_or(usize::MAX);
    let (manifest, workspace) = (&sealed.manifest, &sealed.workspace);
    let messages = format_count(to_count(manifest.source.messages), "message", "messages");
    let files = format_count(to_count(workspace.files), "file", "files");
    ui.status(format_args!("  session     {messages} of {}", manifest.source.agent))?;
    ui.status(format_args!("  files       {files}, {}", format_bytes(workspace.bytes)))?;
    if manifest.redacted {
        let masks = sealed.count_masks();
        let counts: Vec<String> = masks.iter().map(|(kind, count)| format!("{kind} ({count})")).collect();
        ui.status(format_args!(
            "  masked      {}",
            if counts.is_empty() { "nothing".to_owned() } else { counts.join(", ") }
        ))?;
        for masked in sealed.show_masks(MAX_SHOWN_MASKS) {
            let excerpt = carryover_core::plain::one_line(&masked.excerpt, 100);
            ui.status(format_args!("    {DIM}{}{DIM:#} …{excerpt}", masked.member))?;
        }
        let more = masks.values().sum::<usize>().saturating_sub(MAX_SHOWN_MASKS);
        if more > 0 {
            ui.status(format_args!("    {DIM}… and {more} more{DIM:#}"))?;
        }
    } else {
        ui.warning("secrets are in it as they are: whoever opens it has them")?;
    }
    tell_left_out(ui, workspace)
}

/// Asks before something leaves this machine, where somebody is there to answer.
pub(super) fn confirm(ui: &mut Ui, globals: Globals, question: &str) -> Result<(), CommandError> {
    if globals.yes || !ui.is_interactive() {
        return Ok(());
    }
    let answer = ui.ask(&format!("{question} (y/N)"))?;
    if matches!(answer.to_lowercase().as_str(), "y" | "yes") { Ok(()) } else { Err(CommandError::left()) }
}

/// Keys that were named, else a passphrase that was given, else one that is made.
fn choose_lock(
    ui: &mut Ui,
    context: &Context,
    args: &ShareArgs,
    recipients: Vec<Recipient>,
) -> Result<ChosenLock, CommandError> {
    if !recipients.is_empty() {
        return Ok(ChosenLock { lock: Lock::Recipients(recipients), generated: None });
    }
    let mut given = passphrase::read_given(context, args.passphrase_file.as_deref())?;
    if given.is_none() && args.passphrase {
        given = Some(passphrase::ask_twice()?);
    }
    if let Some(words) = given {
        passphrase::warn_if_weak(ui, &words)?;
        return Ok(ChosenLock { lock: Lock::with_passphrase(words), generated: None });
    }
    let words = passphrase::generate().ok_or_else(|| CommandError::bug("choose_lock"))?;
    Ok(ChosenLock { lock: Lock::with_passphrase(words.clone()), generated: Some(words) })
}
