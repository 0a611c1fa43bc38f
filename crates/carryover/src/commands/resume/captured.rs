//! Going on from a file that holds a session, without the agent that made it.
//!
//! A canonical transcript (UASF) is a session like any other. The Portable Session Format does not hold what tools were
//! asked for, so it goes on from a prompt.

use std::path::{Path, PathBuf};

use carryover_agents::captured::describe_cause;
use carryover_agents::formats::file::{self, MAX_DOCUMENT_BYTES};
use carryover_core::distill::Quoting;
use carryover_core::render::SessionJson;
use carryover_engine::context::Context;
use carryover_engine::sessions::list::ListedSession;
use carryover_engine::sessions::select::{SelectError, session_in_file};
use carryover_engine::sessions::unread::Unread;

use super::ResumeArgs;
use crate::delivery::{Delivery, Prompt};
use crate::error::{CommandError, ErrorKind};
use crate::process_env::resolve_path;
use crate::ui::Ui;

const PROMPT_REASON: &str =
    "the Portable Session Format holds no inputs of tool calls, so no session can be written from it";
const UASF_HINT: &str = "`carryover show SESSION --format uasf > FILE` writes a file that goes on natively";

/// The portable session in the file that the command line names, with --file or without; `None` where it names another.
pub(super) fn find_portable(context: &Context, args: &ResumeArgs) -> Result<Option<SessionJson>, CommandError> {
    let file = match &args.file {
        Some(file) => context.cwd.join(file),
        None => match named_file(context, args) {
            Some(file) => file,
            None => return Ok(None),
        },
    };
    let Some(session) = read_portable(&file, args.file.as_deref().unwrap_or(&file))? else { return Ok(None) };
    if args.native || args.context_only {
        let message = format!("{} goes on from a prompt: {PROMPT_REASON}", file.display());
        return Err(CommandError::usage(message)
            .with_hint("leave out `--native` and `--context-only`")
            .with_hint(UASF_HINT));
    }
    Ok(Some(session))
}

/// The file that the session's words name, where it may hold a captured session: that is seen without a flag.
fn named_file(context: &Context, args: &ResumeArgs) -> Option<PathBuf> {
    let file = context.cwd.join(args.session.session_words()?);
    let is_json = file.extension().is_some_and(|end| end.eq_ignore_ascii_case("json"));
    (is_json && args.session.source.is_none() && file.is_file()).then_some(file)
}

/// The session in a file that --file names.
pub(super) fn find_session(context: &Context, file: &Path) -> Result<ListedSession, CommandError> {
    session_in_file(context, &context.cwd.join(file)).map_err(|error| match error {
        SelectError::NotRecognised(path) => {
            CommandError::new(ErrorKind::Io, format!("{} is no captured session", path.display()))
                .with_hint("`carryover show --format uasf` writes one, and so does `carryover capture`")
        }
        error => error.into(),
    })
}

/// Makes a prompt of a portable session.
pub(super) fn resume_portable(
    ui: &mut Ui,
    context: &Context,
    args: &ResumeArgs,
    captured: SessionJson,
) -> Result<(), CommandError> {
    let captured = if args.no_redact { captured } else { captured.redacted() };
    let source = captured.source.as_str();
    let name = carryover_agents::agent_by_name(source).map_or(source, |agent| agent.facts().name).to_owned();
    let quoting = if args.no_redact { Quoting::AsIs } else { Quoting::Masked };
    let material = captured.to_material(&name, quoting);
    let target = args.target.or_else(|| super::configured_target(context));
    let prompt = Prompt::from_material(context, &material, &captured.session_id, target.as_ref(), args.tokens)?;
    let project = args.project.as_deref().map_or_else(|| context.cwd.clone(), resolve_path);
    let is_native = target.is_some_and(|target| is_writable(target.id)) && !args.prompt;
    let launch = target.map_or(args.launch, |target| args.launches_target(ui, context, &target));
    let delivery = Delivery {
        source: source.to_owned(),
        session: captured.session_id.clone(),
        project,
        target,
        copy: !launch,
        launch,
        dry_run: args.dry_run,
        extra_files: Vec::new(),
        unread: Unread::default(),
        warnings: is_native.then(|| format!("{PROMPT_REASON}: it gets a prompt instead")).into_iter().collect(),
    };
    delivery.deliver(ui, context, &prompt)?;
    if is_native {
        ui.hint(UASF_HINT)?;
    }
    Ok(())
}

fn is_writable(target: &str) -> bool {
    carryover_agents::agent_by_name(target).is_some_and(|agent| agent.writer().is_some())
}

/// Reads a file if it holds the portable format; one that is broken is an error only where it can be nothing else.
fn read_portable(file: &Path, shown: &Path) -> Result<Option<SessionJson>, CommandError> {
    let head = carryover_agents::formats::jsonl::read_head(shown, 4 << 10)?;
    let begins = String::from_utf8_lossy(&head);
    if !begins.trim_start_matches('\u{feff}').trim_start().starts_with('{') {
        return Ok(None);
    }
    let bytes = file::read_bytes(file, MAX_DOCUMENT_BYTES)?;
    match serde_json::from_slice(bytes.strip_prefix("\u{feff}".as_bytes()).unwrap_or(&bytes)) {
        Ok(session) => Ok(Some(session)),
        Err(error) if ["\"capturedAt\"", "\"sessionId\"", "\"source\""].iter().all(|key| begins.contains(key)) => {
            let message =
                format!("{} holds a captured session that cannot be read: {}", shown.display(), describe_cause(&error));
            Err(CommandError::new(ErrorKind::Io, message).with_hint("`carryover capture` writes it anew"))
        }
        Err(_) => Ok(None),
    }
}
