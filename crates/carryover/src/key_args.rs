//! Keys and passphrases, as command lines name them.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use carryover_engine::context::Context;
use carryover_engine::share::crypt::{CryptError, Key};
use carryover_engine::share::keys::{AskPassphrase, Identity, Recipient};
use clap::Args;

use crate::error::CommandError;
use crate::passphrase;

/// How something sealed is opened.
#[derive(Args)]
pub(crate) struct UnsealArgs {
    /// Your private key, of ssh or age, for a conversation that is sealed; can be given several times
    #[arg(long, value_name = "FILE", value_hint = clap::ValueHint::FilePath, hide_short_help = true)]
    identity: Vec<PathBuf>,
    /// The passphrase of a conversation that is sealed is the first line of a file; `-` is standard input
    #[arg(long, value_name = "FILE", value_hint = clap::ValueHint::FilePath, hide_short_help = true)]
    passphrase_file: Option<PathBuf>,
}

impl UnsealArgs {
    /// Whether a key was named.
    pub(crate) fn is_given(&self) -> bool {
        !self.identity.is_empty() || self.passphrase_file.is_some()
    }

    pub(crate) fn choose_key(&self, context: &Context, by_passphrase: bool) -> Result<Key, CommandError> {
        choose_key(context, by_passphrase, &self.identity, self.passphrase_file.as_deref())
    }
}

/// The passphrase that was given or is asked for; where keys open it, those that were named.
pub(crate) fn choose_key(
    context: &Context,
    by_passphrase: bool,
    identities: &[PathBuf],
    passphrase_file: Option<&Path>,
) -> Result<Key, CommandError> {
    if !by_passphrase {
        return read_identities(context, identities, passphrase_file);
    }
    let given = passphrase::read_given(context, passphrase_file)?;
    let words = given.map_or_else(|| passphrase::ask_hidden("passphrase:"), |words| Ok(Some(words)))?;
    Ok(Key::Passphrase(words.ok_or(CryptError::NeedsPassphrase)?))
}

/// The public keys that were named, each as itself or as a file of them.
pub(crate) fn read_recipients(context: &Context, given: &[String]) -> Result<Vec<Recipient>, CommandError> {
    let mut recipients = Vec::new();
    for text in given {
        let path = context.cwd.join(text);
        let found = if path.is_file() { Recipient::read_file(&path)? } else { vec![Recipient::parse(text)?] };
        recipients.extend(found);
    }
    Ok(recipients)
}

/// The passphrase of a key is that of the file, else it is asked for; the variable counts where nobody can be asked.
fn read_identities(context: &Context, files: &[PathBuf], passphrase_file: Option<&Path>) -> Result<Key, CommandError> {
    let from_file = passphrase_file.map(|file| passphrase::read_given(context, Some(file))).transpose()?.flatten();
    let from_variable = passphrase::read_given(context, None)?;
    let ask: AskPassphrase = Arc::new(move |name| {
        let typed = || passphrase::ask_hidden(&format!("passphrase of {name}:")).ok().flatten();
        from_file.clone().or_else(typed).or_else(|| from_variable.clone())
    });
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
