//! `carryover share`.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use carryover_core::time::Timestamp;
use carryover_engine::capsule::{SealedCapsule, seal};
use carryover_engine::context::Context;
use carryover_engine::share::crypt::{Lock, Passphrase};
use carryover_engine::share::keys::Recipient;
use carryover_engine::share::sealed::{FILE_END, write_share};
use clap::Args;
use serde::Serialize;

use super::capsule::{PackArgs, tell_left_out};
use crate::args::{Globals, SessionArgs};
use crate::choice;
use crate::error::{CommandError, ErrorKind};
use crate::key_args::read_recipients;
use crate::moment::{Moment, parse_moment};
use crate::passphrase;
use crate::process_env::resolve_path;
use crate::quantity::{format_bytes, format_count};
use crate::shell::quote_word;
use crate::ui::{DIM, GOOD, Ui};

/// So many masks are shown before something is shared.
const MAX_SHOWN_MASKS: usize = 5;

/// Encrypt a session with its workspace, for somebody else
///
/// The session is packed as `capsule export` packs it, with secrets masked, and encrypted in age's format before it is written.
/// Without a key or a passphrase of yours, a passphrase is made and shown once: send it another way than the file. `carryover
/// open` goes on with it, in any agent.
#[derive(Args)]
#[command(after_long_help = "\
Examples:
  carryover share                                       the newest session here, into this folder
  carryover share 8f3c21aa --dest /mnt/team --expires 7d
  carryover share --recipient \"$(cat ada.pub)\"          for a key of ssh or age
  carryover share --passphrase-file words.txt --dest fix.carryover")]
pub(crate) struct ShareArgs {
    #[command(flatten)]
    session: SessionArgs,
    /// A file or a folder [default: a file in this folder]
    #[arg(long, value_name = "FILE|DIR", value_hint = clap::ValueHint::AnyPath)]
    dest: Option<PathBuf>,
    /// Ask for the passphrase that locks it
    #[arg(long, conflicts_with = "recipient")]
    passphrase: bool,
    /// Lock it with the first line of a file; `-` is standard input
    #[arg(long, value_name = "FILE", value_hint = clap::ValueHint::FilePath, conflicts_with_all = ["recipient", "passphrase"])]
    passphrase_file: Option<PathBuf>,
    /// Lock it for a key (age1…, ssh-ed25519 …) or a file of them; can be given several times
    #[arg(long, value_name = "KEY|FILE")]
    recipient: Vec<String>,
    /// When carryover stops opening it: a time, or how long from now, such as 7d
    #[arg(long, value_name = "T", value_parser = parse_moment)]
    expires: Option<Moment>,
    #[command(flatten)]
    pack: PackArgs,
}

/// A share, as `--json` tells it.
#[derive(Serialize)]
struct ShareDocument<'a> {
    schema: &'static str,
    path: String,
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
    masked: BTreeMap<String, usize>,
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
    if let Some(dest) = &args.dest {
        refuse_address(dest)?;
    }
    let expires_at = args.expires.map(|moment| moment.resolve_ahead(context));
    if expires_at.is_some_and(|at| at <= context.env.now) {
        return Err(CommandError::usage("`--expires` is in the past"));
    }
    let recipients = read_recipients(context, &args.recipient)?;
    let session = choice::choose_session(ui, context, globals, &args.session, None)?;
    let mut warnings = choice::announce_open(ui, &session)?;
    let sealed =
        ui.while_doing("packing the session and its files…", || seal(context, &session, &args.pack.options()))?;
    warnings.extend(sealed.warnings.iter().cloned());
    let path = settle_path(context, args.dest.as_deref(), &sealed)?;
    if !ui.is_json() {
        warnings.iter().try_for_each(|warning| ui.warning(warning))?;
        preview_share(ui, &sealed)?;
        confirm(ui, globals)?;
    }
    let ChosenLock { lock, generated } = choose_lock(context, args, recipients)?;
    let bytes = ui.while_doing("encrypting…", || write_share(&sealed, &lock, expires_at, &path))?;
    let passphrase = generated.as_ref().map(Passphrase::expose);
    if ui.is_json() {
        let manifest = &sealed.manifest;
        return Ok(ui.write_json(&ShareDocument {
            schema: "carryover.share/1",
            path: path.display().to_string(),
            bytes,
            capsule_id: &manifest.id,
            source: &manifest.source.agent,
            session_id: &manifest.source.session_id,
            locked_by: if matches!(lock, Lock::Recipients(_)) { "recipients" } else { "passphrase" },
            passphrase,
            expires_at: expires_at.map(|at| at.to_string()),
            masked: sealed.count_masks(),
            redacted: manifest.redacted,
            warnings: &warnings,
        })?);
    }
    ui.status(format_args!("{GOOD}shared{GOOD:#} as a file of {}", format_bytes(bytes)))?;
    if let Some(words) = passphrase {
        // Whatever is silenced, nobody can open it without this.
        ui.write_line(format_args!("passphrase: {words}"))?;
    }
    tell_rest(ui, context, &path, expires_at)
}

/// The file for the receiver, and what `--expires` means there.
fn tell_rest(ui: &mut Ui, context: &Context, path: &Path, expires_at: Option<Timestamp>) -> Result<(), CommandError> {
    if let Some(at) = expires_at {
        ui.status(format_args!("  expires     {at}; carryover keeps to it, a file cannot"))?;
    }
    writeln!(ui.out(), "{}", path.display())?;
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let name = quote_word(&name, context.env.os);
    ui.hint(format_args!("`carryover open {name}` goes on with it; send the passphrase another way than the file"))?;
    Ok(())
}

/// An address of a service is none of the places that are known.
fn refuse_address(dest: &Path) -> Result<(), CommandError> {
    let text = dest.to_string_lossy();
    if text.contains("://") {
        return Err(CommandError::usage(format!("{text} is an address, and sessions are shared as files"))
            .with_hint("share into a file or folder, and put that there"));
    }
    Ok(())
}

/// The file that is written; what is there is not written over.
fn settle_path(context: &Context, dest: Option<&Path>, sealed: &SealedCapsule) -> Result<PathBuf, CommandError> {
    let name = format!("{}-{}{FILE_END}", sealed.manifest.source.agent, sealed.manifest.id);
    let path = dest.map_or_else(|| context.cwd.join(&name), |dest| context.cwd.join(dest));
    let path = if path.is_dir() { path.join(&name) } else { path };
    if path.symlink_metadata().is_ok() {
        return Err(CommandError::new(ErrorKind::Io, format!("{} is there already", path.display()))
            .with_hint("remove it, or name another with `--dest`"));
    }
    match (path.parent().filter(|above| above.is_dir()), path.file_name()) {
        (Some(above), Some(name)) => Ok(resolve_path(above).join(name)),
        _ => Err(CommandError::usage(format!("the folder of {} does not exist", path.display()))),
    }
}

/// Tells what will be in it, and what was masked or left out, before anything is written.
fn preview_share(ui: &mut Ui, sealed: &SealedCapsule) -> Result<(), CommandError> {
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
    } else {
        ui.warning("secrets are in it as they are: whoever opens it has them")?;
    }
    tell_left_out(ui, &workspace.left_out)
}

fn confirm(ui: &mut Ui, globals: Globals) -> Result<(), CommandError> {
    if globals.yes || !ui.is_interactive() {
        return Ok(());
    }
    let answer = ui.ask("share it? [y/N]")?;
    if matches!(answer.to_lowercase().as_str(), "y" | "yes") { Ok(()) } else { Err(CommandError::left()) }
}

/// Keys that were named, else a passphrase that was given, else one that is made.
fn choose_lock(context: &Context, args: &ShareArgs, recipients: Vec<Recipient>) -> Result<ChosenLock, CommandError> {
    if !recipients.is_empty() {
        return Ok(ChosenLock { lock: Lock::Recipients(recipients), generated: None });
    }
    let mut given = passphrase::read_given(context, args.passphrase_file.as_deref())?;
    if given.is_none() && args.passphrase {
        given = Some(passphrase::ask_twice()?);
    }
    if let Some(words) = given {
        return Ok(ChosenLock { lock: Lock::with_passphrase(words), generated: None });
    }
    let words = passphrase::generate().ok_or_else(|| CommandError::bug("choose_lock"))?;
    Ok(ChosenLock { lock: Lock::with_passphrase(words.clone()), generated: Some(words) })
}
