//! `carryover remote add`.

use std::path::PathBuf;

use carryover_engine::context::Context;
use carryover_engine::own::config;
use carryover_engine::share::crypt::{CryptError, Passphrase, WORK_FACTOR};
use carryover_engine::share::remote::{self, AddOutcome, find_locked, is_remote_name};
use clap::Args;
use serde::Serialize;

use crate::bucket::{hide_secrets, open_bucket};
use crate::error::CommandError;
use crate::passphrase;
use crate::process_env::resolve_path;
use crate::ui::{GOOD, Ui};

/// What stands before an address that git takes.
const GIT_PREFIX: &str = "git+";

/// Add a remote, with the passphrase that locks it
///
/// Where the place holds no remote yet, a key is made and locked with the passphrase; whoever comes later needs the same one.
/// The key is then kept on this machine, for you alone, so that you are not asked again. A passphrase protects all that is
/// ever pushed there: take a long one, and send it another way than the address.
#[derive(Args)]
pub(super) struct AddArgs {
    /// A name of your own: small letters, digits, - and _
    name: String,
    /// A folder, or an address without passwords in it
    #[arg(value_name = "URL", value_hint = clap::ValueHint::DirPath)]
    url: String,
    /// The passphrase is the first line of a file; `-` is standard input
    #[arg(long, value_name = "FILE", value_hint = clap::ValueHint::FilePath)]
    passphrase_file: Option<PathBuf>,
}

/// What was added, as `--json` tells it.
#[derive(Serialize)]
struct AddDocument<'a> {
    schema: &'static str,
    name: &'a str,
    url: String,
    place: String,
    outcome: &'static str,
}

pub(super) fn add_remote(ui: &mut Ui, context: &Context, args: &AddArgs) -> Result<(), CommandError> {
    let name = &args.name;
    if !is_remote_name(name) {
        return Err(CommandError::usage(format!("`{name}` is no name for a remote"))
            .with_hint("a name is small letters, digits, - and _, such as origin"));
    }
    let url = settle_url(context, &args.url)?;
    if let Some(there) = context.config.remotes.get(name).filter(|there| there.url != url) {
        let shown = hide_secrets(&there.url);
        return Err(CommandError::usage(format!("{name} is there already, at {shown}"))
            .with_hint(format!("take another name, or forget that one: `carryover remote remove {name}`")));
    }
    let bucket = open_bucket(context, &url)?;
    let is_begun = ui.while_doing("asking the place…", || find_locked(bucket.as_ref()))?.is_some();
    let words = ask_passphrase(context, args, is_begun)?;
    if !is_begun {
        passphrase::warn_if_weak(ui, &words)?;
    }
    let outcome = ui.while_doing("unlocking its key…", || {
        remote::add_remote(context, name, bucket.as_ref(), &words, WORK_FACTOR)
    })?;
    config::set(&context.home, &format!("remotes.{name}.url"), &url)?;
    let place = bucket.place();
    if ui.is_json() {
        let outcome = if outcome == AddOutcome::Begun { "begun" } else { "joined" };
        let document = AddDocument { schema: "carryover.remote-add/1", name, url: hide_secrets(&url), place, outcome };
        return Ok(ui.write_json(&document)?);
    }
    match outcome {
        AddOutcome::Begun => {
            ui.status(format_args!("{GOOD}begun{GOOD:#} remote {name} in {place}"))?;
            ui.hint("whoever else is to use it adds it with the same passphrase; nobody can tell you a lost one")?;
        }
        AddOutcome::Joined => {
            ui.status(format_args!("{GOOD}joined{GOOD:#} remote {name} in {place}"))?;
            ui.hint(format_args!("`carryover remote show {name}` tells what is there"))?;
        }
    }
    Ok(())
}

/// The address as it is kept: a folder's is whole, wherever a command is given.
fn settle_url(context: &Context, given: &str) -> Result<String, CommandError> {
    if !config::is_address(given) {
        return Err(CommandError::usage(format!("{} is no address to be kept", hide_secrets(given)))
            .with_hint("leave passwords out of it; they belong where the service looks for them"));
    }
    let (prefix, place) = given.strip_prefix(GIT_PREFIX).map_or(("", given), |remote| (GIT_PREFIX, remote));
    // What git takes may be another machine's path.
    if place.contains("://") || (!prefix.is_empty() && place.contains(':')) {
        return Ok(given.to_owned());
    }
    let path = match place.strip_prefix("~/") {
        Some(below) => context.env.home.join(below),
        None => context.cwd.join(place),
    };
    Ok(format!("{prefix}{}", resolve_path(&path).display()))
}

fn ask_passphrase(context: &Context, args: &AddArgs, is_begun: bool) -> Result<Passphrase, CommandError> {
    if let Some(given) = passphrase::read_given(context, args.passphrase_file.as_deref())? {
        return Ok(given);
    }
    if is_begun {
        return Ok(passphrase::ask_hidden("passphrase:")?.ok_or(CryptError::NeedsPassphrase)?);
    }
    passphrase::ask_twice()
}
