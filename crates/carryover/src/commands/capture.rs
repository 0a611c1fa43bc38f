//! `carryover capture`.

use std::path::PathBuf;

use carryover_core::plain::{escaped_json, one_line};
use carryover_core::render::session_json;
use carryover_engine::context::Context;
use carryover_engine::handoff::gitignore;
use carryover_engine::handoff::project_dir;
use carryover_engine::handoff::{Options, distil_session};
use carryover_engine::sessions::unread::Unread;
use clap::Args;
use serde::Serialize;

use crate::args::{Globals, SessionArgs};
use crate::choice;
use crate::error::{CommandError, ErrorKind};
use crate::process_env::resolve_path;
use crate::quantity;
use crate::session_row::abbreviate_home;
use crate::shell::quote_word;
use crate::ui::{DIM, GOOD, Ui};

const SESSION_FILE: &str = "session.json";

/// Keep a session as one portable file
///
/// Writes `.carryover/session.json`: the conversation, the files that were changed, what was decided and what is left to
/// do, in the Portable Session Format 1.0. `carryover resume --file` makes a prompt of it, also on another machine. The
/// format holds no inputs of tool calls.
#[derive(Args)]
#[command(after_long_help = "\
Examples:
  carryover capture            the newest session here
  carryover capture 8f3c21aa
  carryover resume --file .carryover/session.json -t codex")]
pub(crate) struct CaptureArgs {
    #[command(flatten)]
    session: SessionArgs,
    /// The folder to write to [default: the session's own]
    #[arg(long, alias = "workspace", value_name = "FOLDER", value_hint = clap::ValueHint::DirPath)]
    project: Option<PathBuf>,
    /// Write keys, tokens and passwords as they are
    #[arg(long)]
    no_redact: bool,
}

/// The capture, as `--json` tells it.
#[derive(Serialize)]
struct CaptureDocument<'a> {
    schema: &'static str,
    source: &'static str,
    session_id: &'a str,
    file: String,
    messages: usize,
    tokens: u64,
    files_changed: usize,
    unread: &'a Unread,
    warnings: &'a [String],
}

pub(crate) fn cmd_capture(
    ui: &mut Ui,
    context: &Context,
    globals: Globals,
    args: &CaptureArgs,
) -> Result<(), CommandError> {
    let project = args.project.as_deref().map(resolve_path);
    let session = choice::choose_session(ui, context, globals, &args.session, project.clone())?;
    let options = Options { project: project.as_deref(), redact: !args.no_redact };
    let mut distilled = ui.while_reading(&session, || distil_session(context, &session, options))?;
    let captured = session_json(&distilled.brief, &distilled.history, &distilled.workspace, distilled.quoting);
    let text = serde_json::to_string_pretty(&captured).map_err(|error| CommandError::new(ErrorKind::Io, error))?;
    let (agent, id) = (session.agent.facts().id, &session.found.id.0);
    project_dir::check_private(context, &distilled.project, SESSION_FILE)?;
    distilled.warnings.extend(gitignore::ignore_folder(context, &distilled.project, agent, id, false));
    let bytes = escaped_json(&text);
    distilled.warnings.extend(project_dir::write_over(context, &distilled.project, SESSION_FILE, bytes.as_bytes())?);
    let file = distilled.project.join(project_dir::FOLDER).join(SESSION_FILE);
    if ui.is_json() {
        ui.write_json(&CaptureDocument {
            schema: "carryover.capture/1",
            source: agent,
            session_id: id,
            file: file.display().to_string(),
            messages: captured.conversation.message_count,
            tokens: captured.conversation.estimated_tokens,
            files_changed: captured.files_changed.len(),
            unread: &distilled.unread,
            warnings: &distilled.warnings,
        })?;
        return Ok(());
    }
    for warning in &distilled.warnings {
        ui.warning(warning)?;
    }
    ui.status(format_args!("{GOOD}captured{GOOD:#}"))?;
    ui.status(format_args!("  wrote     {DIM}{}{DIM:#}", abbreviate_home(context, &file)))?;
    ui.status(format_args!("  messages  {}", captured.conversation.message_count))?;
    ui.status(format_args!("  tokens    about {}", quantity::format_tokens(captured.conversation.estimated_tokens)))?;
    ui.status(format_args!("  files     {} changed", captured.files_changed.len()))?;
    let file = file.strip_prefix(&context.cwd).unwrap_or(&file).display().to_string();
    let file = quote_word(&one_line(&file, 400), context.env.os);
    ui.hint(format_args!("`carryover resume --file {file} --target AGENT` makes a prompt of it"))?;
    Ok(())
}
