//! Going on from a file that holds a session, without the agent that made it.

use std::path::{Path, PathBuf};

use carryover_core::distill::Quoting;
use carryover_core::render::{SessionJson, Uasf};
use carryover_engine::context::Context;
use carryover_engine::sessions::unread::Unread;

use super::ResumeArgs;
use crate::delivery::{Delivery, Prompt};
use crate::error::{CommandError, ErrorKind};
use crate::surroundings::resolved;
use crate::ui::Ui;

/// A session of a gigabyte is not one that somebody captured.
const MAX_BYTES: u64 = 1 << 30;

/// Either of the formats that are read.
enum Captured {
    Portable(Box<SessionJson>),
    Uasf(Box<Uasf>),
}

/// The file that the session's words name, where it holds a captured session: that is seen without a flag.
pub(super) fn named(context: &Context, args: &ResumeArgs) -> Result<Option<PathBuf>, CommandError> {
    let Some(words) = args.session.words() else { return Ok(None) };
    let file = context.cwd.join(words);
    let is_json = file.extension().is_some_and(|end| end.eq_ignore_ascii_case("json"));
    if !is_json || args.session.source.is_some() || !file.is_file() || read(&file).is_err() {
        return Ok(None);
    }
    if args.native || args.context_only {
        let message = format!("{} is a captured session: it goes on from a prompt", file.display());
        return Err(CommandError::usage(message).hint("leave out `--native` and `--context-only`"));
    }
    Ok(Some(file))
}

/// Makes a prompt of a captured session.
pub(super) fn go_on(ui: &mut Ui, context: &Context, args: &ResumeArgs, file: &Path) -> Result<(), CommandError> {
    let captured = read(file)?;
    let captured = if args.no_redact { captured } else { captured.redacted() };
    let (source, session) = captured.names();
    let name = carryover_agents::by_name(source).map_or(source, |agent| agent.facts().name).to_owned();
    let made_at = context.env.now.to_string();
    let quoting = if args.no_redact { Quoting::AsIs } else { Quoting::Masked };
    let material = match &captured {
        Captured::Portable(session) => session.material(&name, quoting),
        Captured::Uasf(session) => session.material(&name, &made_at, quoting),
    };
    let target = args.target.or_else(|| configured(context));
    let prompt = Prompt::of(context, &material, session, target.as_ref(), args.tokens)?;
    let project = args.project.as_deref().map_or_else(|| context.cwd.clone(), resolved);
    let delivery = Delivery {
        source: source.to_owned(),
        session: session.to_owned(),
        project,
        taker: target,
        copy: !args.launch,
        launch: args.launch,
        dry_run: args.dry_run,
        more: Vec::new(),
        unread: Unread::default(),
        warnings: Vec::new(),
    };
    delivery.deliver(ui, context, &prompt)
}

fn configured(context: &Context) -> Option<carryover_agents::Taker> {
    context.config.resume.target.as_deref().and_then(carryover_agents::Taker::by_name)
}

fn read(file: &Path) -> Result<Captured, CommandError> {
    let bytes = carryover_agents::formats::file::read(file, MAX_BYTES)?;
    if let Ok(session) = serde_json::from_slice(&bytes) {
        return Ok(Captured::Portable(Box::new(session)));
    }
    match serde_json::from_slice(&bytes) {
        Ok(session) => Ok(Captured::Uasf(Box::new(session))),
        Err(_) => Err(CommandError::new(ErrorKind::Io, format!("{} is no captured session", file.display()))
            .hint("`carryover capture` writes one, and so does `carryover show --format uasf`")
            .hint("a session file of an agent is named without --file: `carryover resume FILE --target AGENT`")),
    }
}

impl Captured {
    /// The same session with its secrets masked, wherever they stand: it may have been captured with them.
    fn redacted(self) -> Self {
        match self {
            Self::Portable(session) => Self::Portable(Box::new(session.redacted())),
            Self::Uasf(session) => Self::Uasf(Box::new(session.redacted())),
        }
    }

    /// Whose session it is, and its id.
    fn names(&self) -> (&str, &str) {
        match self {
            Self::Portable(session) => (&session.source, &session.session_id),
            Self::Uasf(session) => (&session.session.agent, &session.session.id),
        }
    }
}
