//! `carryover open`.

use std::path::{Path, PathBuf};

use carryover_engine::capsule::Capsule;
use carryover_engine::context::Context;
use carryover_engine::share::sealed::{StagedShare, is_locked_by_passphrase, open_share, receive_share};
use clap::Args;

use super::import::{ImportHow, import_opened};
use crate::args::Globals;
use crate::bucket::{Address, download_link, hide_secrets, open_bucket, split_object};
use crate::error::{CommandError, ErrorKind};
use crate::key_args::choose_key;
use crate::ui::Ui;

/// A share is files of a project: what is larger than this is none.
const MAX_DOWNLOAD_BYTES: u64 = 16 << 30;

/// Decrypt what somebody shared, and go on with it
///
/// It is fetched and decrypted into carryover's own folder and verified as a whole before anything is written; then it goes on
/// as `carryover import` does, in the agent that you choose. Nothing is started. The passphrase is asked for, or taken from a
/// file or from `CARRYOVER_PASSPHRASE`. A link is what `carryover share` printed.
#[derive(Args)]
#[command(after_long_help = "\
Examples:
  carryover open fix.carryover --project ~/work/fix
  carryover open s3://bucket/shares/fix.carryover
  carryover open 'https://…?X-Amz-…'
  carryover open fix.carryover --target codex --passphrase-file words.txt
  carryover open fix.carryover --identity ~/.ssh/id_ed25519")]
pub(crate) struct OpenArgs {
    /// A file that `carryover share` made, or the link to it
    #[arg(value_name = "LINK|FILE", value_hint = clap::ValueHint::FilePath)]
    share: String,
    /// Your private key, of ssh or age
    ///
    /// Can be given several times.
    #[arg(long, short, value_name = "FILE", value_hint = clap::ValueHint::FilePath)]
    identity: Vec<PathBuf>,
    /// The passphrase is the first line of a file; `-` is standard input
    #[arg(long, value_name = "FILE", value_hint = clap::ValueHint::FilePath, hide_short_help = true)]
    passphrase_file: Option<PathBuf>,
    #[command(flatten)]
    how: ImportHow,
}

pub(crate) fn cmd_open(ui: &mut Ui, context: &Context, globals: Globals, args: &OpenArgs) -> Result<(), CommandError> {
    let found = find_share(ui, context, &args.share)?;
    let path = found.path();
    let key = choose_key(context, is_locked_by_passphrase(path)?, &args.identity, args.passphrase_file.as_deref())?;
    let open = || open_share(context, path, &key);
    // A key may ask for its own passphrase, and nothing is to stand over the question.
    let opened = if args.identity.is_empty() { ui.while_doing("decrypting…", open) } else { open() }?;
    let capsule = Capsule::open(&opened.capsule)?;
    import_opened(ui, context, globals, &args.how, &found.shown_path(), capsule)
}

/// Where a share is now.
enum FoundShare {
    File(PathBuf),
    Fetched { share: StagedShare, link: String },
}

impl FoundShare {
    fn path(&self) -> &Path {
        match self {
            Self::File(path) => path,
            Self::Fetched { share, .. } => &share.path,
        }
    }

    /// What people know it by.
    fn shown_path(&self) -> PathBuf {
        match self {
            Self::File(path) => path.clone(),
            Self::Fetched { link, .. } => PathBuf::from(hide_secrets(link)),
        }
    }
}

fn find_share(ui: &Ui, context: &Context, share: &str) -> Result<FoundShare, CommandError> {
    let Ok(Address::Folder(path)) = Address::parse(context, share) else { return fetch_link(ui, context, share) };
    if path.is_file() {
        return Ok(FoundShare::File(path));
    }
    Err(CommandError::new(ErrorKind::NotFound, format!("{share} is no file"))
        .with_hint("name the file or link that somebody sent you"))
}

/// Takes what a link names into our own folder, before anything is known of it.
fn fetch_link(ui: &Ui, context: &Context, link: &str) -> Result<FoundShare, CommandError> {
    let share = ui.while_doing("downloading…", || {
        if is_web_link(context, link) {
            return receive_share(context, |into| {
                download_link(&context.env, link, into, MAX_DOWNLOAD_BYTES).map_err(CommandError::from)
            });
        }
        let (place, key) = split_object(link).map_err(CommandError::from_address)?;
        let bucket = open_bucket(context, place)?;
        receive_share(context, |into| bucket.fetch(key, into, MAX_DOWNLOAD_BYTES).map_err(CommandError::from))
    })?;
    Ok(FoundShare::Fetched { share, link: link.to_owned() })
}

/// Whether anybody can fetch it who has the address. That of an object of a service has no query, and needs keys.
fn is_web_link(context: &Context, link: &str) -> bool {
    let is_web = link.starts_with("https://") || link.starts_with("http://");
    is_web && !matches!(Address::parse(context, link), Ok(Address::Service(_)))
}
