//! `carryover open`.

use std::path::PathBuf;

use carryover_engine::capsule::Capsule;
use carryover_engine::context::Context;
use carryover_engine::share::sealed::{is_locked_by_passphrase, open_share};
use clap::Args;

use super::import::{ImportHow, import_opened};
use crate::args::Globals;
use crate::error::{CommandError, ErrorKind};
use crate::key_args::choose_key;
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
    let key = choose_key(context, is_locked_by_passphrase(&path)?, &args.identity, args.passphrase_file.as_deref())?;
    let opened = ui.while_doing("decrypting…", || open_share(context, &path, &key))?;
    let capsule = Capsule::open(&opened.capsule)?;
    import_opened(ui, context, globals, &args.how, &path, capsule)
}
