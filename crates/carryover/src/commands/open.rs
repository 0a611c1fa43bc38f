//! `carryover open`.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use carryover_engine::capsule::Capsule;
use carryover_engine::context::Context;
use carryover_engine::share::crypt::{CryptError, Key};
use carryover_engine::share::keys::{AskPassphrase, Identity};
use carryover_engine::share::sealed::{is_locked_by_passphrase, open_share};
use clap::Args;

use super::import::{ImportHow, import_opened};
use crate::args::Globals;
use crate::error::{CommandError, ErrorKind};
use crate::passphrase;
use crate::ui::Ui;

/// Decrypt what somebody shared, and go on with it
///
/// It is decrypted into carryover's own folder and verified as a whole before anything is written; then it goes on as `carryover
/// import` does, in the agent that you choose. Nothing is started. The passphrase is asked for, or taken from a file or from
/// `CARRYOVER_PASSPHRASE`.
#[derive(Args)]
#[command(after_long_help = "\
Examples:
  carryover open fix.carryover --project ~/work/fix
  carryover open fix.carryover --target codex --passphrase-file words.txt
  carryover open fix.carryover --identity ~/.ssh/id_ed25519")]
pub(crate) struct OpenArgs {
    /// A file that `carryover share` made
    #[arg(value_name = "FILE", value_hint = clap::ValueHint::FilePath)]
    share: PathBuf,
    /// Your private key, of ssh or age; can be given several times
    #[arg(long, short, value_name = "FILE", value_hint = clap::ValueHint::FilePath)]
    identity: Vec<PathBuf>,
    /// The passphrase is the first line of a file; `-` is standard input
    #[arg(long, value_name = "FILE", value_hint = clap::ValueHint::FilePath)]
    passphrase_file: Option<PathBuf>,
    #[command(flatten)]
    how: ImportHow,
}

pub(crate) fn cmd_open(ui: &mut Ui, context: &Context, globals: Globals, args: &OpenArgs) -> Result<(), CommandError> {
    let path = context.cwd.join(&args.share);
    if !path.is_file() {
        return Err(CommandError::new(ErrorKind::NotFound, format!("{} is no file", args.share.display()))
            .with_hint("name the file that somebody sent you"));
    }
    let key = if is_locked_by_passphrase(&path)? {
        let given = passphrase::read_given(context, args.passphrase_file.as_deref())?;
        let words = given.map_or_else(|| passphrase::ask_hidden("passphrase:"), |words| Ok(Some(words)))?;
        Key::Passphrase(words.ok_or(CryptError::NeedsPassphrase)?)
    } else {
        read_identities(context, &args.identity)?
    };
    let opened = ui.while_doing("decrypting…", || open_share(context, &path, &key))?;
    let capsule = Capsule::open(&opened.capsule)?;
    import_opened(ui, context, globals, &args.how, &path, capsule)
}

fn read_identities(context: &Context, files: &[PathBuf]) -> Result<Key, CommandError> {
    let ask: AskPassphrase = Arc::new(|name| passphrase::ask_hidden(&format!("passphrase of {name}:")).ok().flatten());
    let mut identities = Vec::new();
    for file in files {
        identities.extend(Identity::read_file(&context.cwd.join(expand(context, file)), &ask)?);
    }
    if identities.is_empty() { Err(CryptError::NeedsKey.into()) } else { Ok(Key::Identities(identities)) }
}

/// `~/…` where no shell has done it, as behind `--identity=`.
fn expand(context: &Context, file: &Path) -> PathBuf {
    file.strip_prefix("~").map_or_else(|_| file.to_owned(), |below| context.env.home.join(below))
}
