//! How a conversation is sealed: with which keys or words, and what of it can be read all the same.

use std::path::PathBuf;

use carryover_engine::context::Context;
use carryover_engine::conversations::save::{SavePlan, Sealing};
use carryover_engine::conversations::sealing::{LockBefore, NewLock};
use carryover_engine::share::crypt::{CryptError, Lock, Passphrase};
use carryover_engine::share::keys::Recipient;
use clap::Args;

use crate::error::{CommandError, ErrorKind};
use crate::key_args::read_recipients;
use crate::passphrase;
use crate::ui::Ui;

/// Sealing.
#[derive(Args)]
pub(super) struct SealArgs {
    /// Seal what was said, with a passphrase that is asked for, or for keys
    #[arg(long)]
    pub(super) encrypt: bool,
    /// Seal it for a key (age1…, ssh-ed25519 …) or a file of such keys
    ///
    /// Can be given several times.
    #[arg(long, value_name = "KEY|FILE", requires = "encrypt", conflicts_with = "passphrase_file")]
    recipient: Vec<String>,
    /// The passphrase is the first line of a file; `-` is standard input
    #[arg(long, value_name = "FILE", value_hint = clap::ValueHint::FilePath, hide_short_help = true)]
    passphrase_file: Option<PathBuf>,
}

impl SealArgs {
    /// Whether it is sealed anew, whatever it was sealed with before.
    fn is_new_lock(&self) -> bool {
        self.encrypt && (!self.recipient.is_empty() || self.passphrase_file.is_some())
    }
}

/// Seals the messages of a save that is to be written.
pub(super) fn seal_plan(
    ui: &mut Ui,
    context: &Context,
    args: &SealArgs,
    plan: &mut SavePlan,
) -> Result<(), CommandError> {
    let lock = match plan.sealing() {
        None => return Ok(()),
        Some(Sealing::Unchanged) if !args.is_new_lock() => return Ok(()),
        Some(Sealing::Needed { before: Some(before) }) if !args.is_new_lock() => keep_lock(context, args, before)?,
        Some(_) => choose_lock(ui, context, args)?,
    };
    Ok(ui.while_doing("encrypting…", || plan.seal(&lock))?)
}

/// The lock that it has.
fn keep_lock(context: &Context, args: &SealArgs, before: &LockBefore) -> Result<NewLock, CommandError> {
    match before {
        LockBefore::Passphrase(path) => {
            let given = passphrase::read_given(context, args.passphrase_file.as_deref())?;
            let words = given.map_or_else(|| passphrase::ask_hidden("passphrase:"), |words| Ok(Some(words)))?;
            let words = words.ok_or(CryptError::NeedsPassphrase)?;
            let opens = Some((path.clone(), words.clone()));
            Ok(NewLock { lock: Lock::with_passphrase(words), recipients: Vec::new(), opens })
        }
        LockBefore::Recipients(keys) => Ok(lock_for(parse_keys(keys)?)),
        LockBefore::Unknown if !context.config.conversations.recipients.is_empty() => {
            Ok(lock_for(parse_keys(&context.config.conversations.recipients)?))
        }
        LockBefore::Unknown => {
            let message = "it is sealed for keys that are not known on this machine, and stays sealed";
            Err(CommandError::new(ErrorKind::Usage, message)
                .with_hint("name them: `carryover save --encrypt --recipient KEY`")
                .with_hint("`carryover config set conversations.recipients KEY` names them for good"))
        }
    }
}

/// Keys or words that were given, else those of the configuration, else words that are asked for.
fn choose_lock(ui: &mut Ui, context: &Context, args: &SealArgs) -> Result<NewLock, CommandError> {
    let recipients = read_recipients(context, &args.recipient)?;
    if !recipients.is_empty() {
        return Ok(lock_for(recipients));
    }
    if let Some(words) = passphrase::read_given(context, args.passphrase_file.as_deref())? {
        passphrase::warn_if_weak(ui, &words)?;
        return Ok(lock_with(words));
    }
    let configured = &context.config.conversations.recipients;
    if !configured.is_empty() {
        return Ok(lock_for(parse_keys(configured)?));
    }
    let words = passphrase::ask_twice()?;
    passphrase::warn_if_weak(ui, &words)?;
    Ok(lock_with(words))
}

fn lock_with(words: Passphrase) -> NewLock {
    NewLock { lock: Lock::with_passphrase(words), recipients: Vec::new(), opens: None }
}

fn lock_for(recipients: Vec<Recipient>) -> NewLock {
    let texts = recipients.iter().map(|recipient| recipient.text.clone()).collect();
    NewLock { lock: Lock::Recipients(recipients), recipients: texts, opens: None }
}

fn parse_keys(keys: &[String]) -> Result<Vec<Recipient>, CryptError> {
    keys.iter().map(|key| Recipient::parse(key)).collect()
}

/// Says what is sealed, and what can be read without a key.
pub(super) fn tell_sealed(ui: &mut Ui, plan: &SavePlan, is_written: bool) -> Result<(), CommandError> {
    let Some(sealing) = plan.sealing() else { return Ok(()) };
    let state = match sealing {
        Sealing::Unchanged => "as before: nothing new was said",
        Sealing::Needed { .. } if is_written => "what was said, the last request and the title of the session",
        Sealing::Needed { .. } => "would be what was said, the last request and the title of the session",
    };
    ui.status(format_args!("  sealed    {state}"))?;
    ui.status("  readable  topic, type, status, times, counts, agent, model, tools, branch and folder")?;
    Ok(())
}

/// The file of the messages, as it is told.
pub(super) fn messages_file(plan: &SavePlan) -> PathBuf {
    let conversation = &plan.conversation;
    if plan.sealing().is_some() { conversation.sealed_file() } else { conversation.messages_file() }
}
