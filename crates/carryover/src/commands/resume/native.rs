//! Going on natively: a session in the target's own store.

use std::path::Path;

use carryover_agents::{Agent, Loss, Target};
use carryover_core::plain::one_line;
use carryover_engine::carry::earlier::EarlierCopy;
use carryover_engine::carry::own::is_own;
use carryover_engine::carry::resume::{self, Options, Report, ResumeError};
use carryover_engine::context::Context;
use carryover_engine::sessions::copies::CopyState;
use carryover_engine::sessions::list::ListedSession;
use carryover_engine::sessions::unread::Unread;
use serde::Serialize;

use super::ResumeArgs;
use super::conversation::ResumedConversation;
use crate::error::CommandError;
use crate::launch::{launch_client, write_command};
use crate::process_env::resolve_path;
use crate::quantity;
use crate::relative_time::format_ago;
use crate::session_row::abbreviate_home;
use crate::shell;
use crate::told_words::count_lost;
use crate::ui::{DIM, DOUBTFUL, GOOD, Ui};

/// The report, as `--json` tells it.
#[derive(Serialize)]
pub(crate) struct ResumeDocument<'a> {
    schema: &'static str,
    source: &'static str,
    source_session_id: &'a str,
    target: &'static str,
    session_id: &'a str,
    command: &'a [String],
    cwd: String,
    carried: usize,
    translated: usize,
    clipped: usize,
    lost: Vec<LossRow>,
    unread: &'a Unread,
    tokens: u64,
    window: u64,
    files: Vec<String>,
    undo_id: Option<&'a str>,
    dry_run: bool,
    superseded: Option<&'a str>,
    earlier: Option<EarlierRow<'a>>,
    left_out: usize,
    warnings: &'a [String],
    steps: &'a [String],
}

#[derive(Serialize)]
struct LossRow {
    what: &'static str,
    count: usize,
    reason: &'static str,
}

/// A copy that was made before.
#[derive(Serialize)]
struct EarlierRow<'a> {
    session_id: &'a str,
    undo_id: &'a str,
    at: String,
    cwd: String,
    /// Whether somebody went on in it.
    used: bool,
    /// How its client goes on with it.
    command: Option<&'a [String]>,
}

impl<'a> EarlierRow<'a> {
    fn new(earlier: &'a EarlierCopy) -> Self {
        Self {
            session_id: &earlier.copy.target.session.0,
            undo_id: &earlier.copy.undo_id,
            at: earlier.copy.at.to_string(),
            cwd: earlier.copy.project.display().to_string(),
            used: earlier.state == CopyState::GoneOnWith,
            command: earlier.command.as_ref().map(|command| &*command.argv),
        }
    }
}

/// Writes the session and tells about it.
pub(super) fn resume_natively(
    ui: &mut Ui,
    context: &Context,
    session: &ListedSession,
    target: &'static dyn Agent,
    args: &ResumeArgs,
    conversation: Option<&ResumedConversation>,
) -> Result<(), NotNative> {
    let options = Options {
        target,
        project: args.project.as_deref().map(resolve_path).or_else(|| conversation?.kept_project()),
        tokens: args.tokens.or(context.config.resume.tokens),
        dry_run: args.dry_run,
        sub_agents: Vec::new(),
        opening: conversation.map(|conversation| conversation.opening(context, target.facts().id)),
        whole: None,
        into_editor: args.goes_into_editor(context, target),
    };
    let mut report = ui.while_reading(session, || resume::resume_session(context, session, &options))?;
    if let (Some(conversation), Some(id)) = (conversation, &report.undo_id) {
        conversation.note_active(context, id)?;
    }
    let changes = conversation.map(|one| one.changes(context, &Target::from_facts(target.facts())));
    report.warnings.extend(changes.unwrap_or_default());
    if !args.fork && args.project.is_none() && is_own(context, session, target) {
        report
            .warnings
            .push(format!("{} does not go on with that session itself: this is a copy", target.facts().name));
    }
    if ui.is_json() {
        ui.write_json(&report_document(&report, args.dry_run)).map_err(CommandError::from)?;
        return Ok(());
    }
    // That it is open was said before anything was written.
    let open = resume::open_warning(session);
    report.warnings.retain(|warning| Some(warning) != open.as_ref());
    write_report(ui, context, &report)?;
    show_next_steps(ui, context, &report, args.dry_run)?;
    if let Some(editor) = target.editor_writer().filter(|_| options.into_editor) {
        ui.hint(editor.opening_advice()).map_err(CommandError::from)?;
    }
    if args.launches(ui, context, target.facts()) {
        launch_client(ui, context, report.target, &report.command)?;
    } else if args.could_launch(context, target.facts()) {
        ui.hint("`--launch` starts it").map_err(CommandError::from)?;
    }
    Ok(())
}

/// Why a session was not written.
pub(super) enum NotNative {
    /// The target cannot take it; there are other ways.
    CannotHold(ResumeError),
    Failed(CommandError),
}

impl From<ResumeError> for NotNative {
    fn from(error: ResumeError) -> Self {
        match error {
            ResumeError::NoWriter(_) | ResumeError::Agent(carryover_agents::AgentError::CannotHold { .. }) => {
                Self::CannotHold(error)
            }
            error => Self::Failed(error.into()),
        }
    }
}

impl From<CommandError> for NotNative {
    fn from(error: CommandError) -> Self {
        Self::Failed(error)
    }
}

pub(in crate::commands) fn report_document(report: &Report, dry_run: bool) -> ResumeDocument<'_> {
    ResumeDocument {
        schema: "carryover.resume/1",
        source: report.source,
        source_session_id: &report.source_session.0,
        target: report.target,
        session_id: &report.session.0,
        command: &report.command.argv,
        cwd: report.command.cwd.display().to_string(),
        carried: report.carried,
        translated: report.translated,
        clipped: report.clipped,
        lost: report.lost.iter().map(|Loss { what, count, reason }| LossRow { what, count: *count, reason }).collect(),
        unread: &report.unread,
        tokens: report.tokens,
        window: report.window,
        files: report.files.iter().map(|path| path.display().to_string()).collect(),
        undo_id: report.undo_id.as_deref(),
        dry_run,
        superseded: report.superseded.as_deref(),
        earlier: report.earlier.as_ref().map(EarlierRow::new),
        left_out: report.left_out,
        warnings: &report.warnings,
        steps: &report.steps,
    }
}

/// The report for people.
pub(in crate::commands) fn write_report(ui: &mut Ui, context: &Context, report: &Report) -> Result<(), CommandError> {
    let done = if report.undo_id.is_some() { "carried over" } else { "would carry over" };
    let names =
        [report.source, report.target].map(|id| carryover_agents::agent_by_name(id).map_or(id, |a| a.facts().name));
    // All is well only where nothing that was said had to give way.
    let (paint, part) = if report.left_out == 0 { (GOOD, "") } else { (DOUBTFUL, " in part:") };
    ui.status(format_args!("{paint}{done}{part}{paint:#} {} → {}", names[0], names[1]))?;
    let calls = |count| quantity::format_count(count, "tool call", "tool calls");
    let messages = quantity::format_count(report.messages, "message", "messages");
    let and_calls = if report.calls > 0 { format!(", {}", calls(report.calls)) } else { String::new() };
    ui.status(format_args!("  carried     {messages}{and_calls}"))?;
    if report.translated > 0 {
        ui.status(format_args!("  translated  {}", calls(report.translated)))?;
    }
    if report.clipped > 0 {
        ui.status(format_args!("  clipped     {}", quantity::format_count(report.clipped, "long text", "long texts")))?;
    }
    write_losses(ui, &report.lost)?;
    let (tokens, window) = (quantity::format_tokens(report.tokens), quantity::format_tokens(report.window));
    let (bar, percent) =
        (quantity::format_bar(report.tokens, report.window), quantity::format_percent(report.tokens, report.window));
    ui.status(format_args!("  tokens      {bar} about {tokens} of {window} ({percent} %)"))?;
    for step in &report.steps {
        ui.status(format_args!("  {DIM}{}{DIM:#}", tell_step(context, step, report.undo_id.is_some())))?;
    }
    write_earlier(ui, context, report)?;
    for warning in &report.warnings {
        ui.warning(warning)?;
    }
    Ok(())
}

/// What did not come along, and what did as words: the latter is not lost.
fn write_losses(ui: &mut Ui, losses: &[Loss]) -> Result<(), CommandError> {
    let (told, lost): (Vec<&Loss>, Vec<&Loss>) = losses.iter().partition(|loss| loss.reason.ends_with(TOLD_IN_WORDS));
    for (label, losses) in [("in words", told), ("lost", lost)] {
        if label == "lost" && losses.is_empty() {
            ui.status("  lost        nothing")?;
        }
        for (index, loss) in losses.into_iter().enumerate() {
            let label = if index == 0 { label } else { "" };
            let reason = loss.reason.trim_end_matches(TOLD_IN_WORDS);
            ui.status(format_args!("  {label:<11} {}: {reason}", count_lost(loss)))?;
        }
    }
    Ok(())
}

/// How the reason ends where something is there still, though not as what it was.
const TOLD_IN_WORDS: &str = ": they are told in words";

/// Names the copy that was made before.
fn write_earlier(ui: &mut Ui, context: &Context, report: &Report) -> Result<(), CommandError> {
    if let Some(superseded) = &report.superseded {
        let replaces = if report.undo_id.is_some() { "replaces" } else { "would replace" };
        ui.status(format_args!("  {replaces} the copy {superseded}, which nobody had used"))?;
        return Ok(());
    }
    let Some(EarlierCopy { copy, state, .. }) = &report.earlier else { return Ok(()) };
    let id = one_line(copy.target.session.0.get(..13).unwrap_or(&copy.target.session.0), 13);
    let ago = format_ago(copy.at, context.env.now);
    let used = if *state == CopyState::GoneOnWith { "gone on with since" } else { "not used since" };
    ui.status(format_args!("  earlier     {id}, carried there {ago}, {used}"))?;
    Ok(())
}

/// Verbs of steps: as they are planned, and as they were done.
const STEP_VERBS: [(&str, &str); 5] = [
    ("create ", "created "),
    ("add a line to ", "added a line to "),
    ("add an entry to ", "added an entry to "),
    ("add entries to ", "added entries to "),
    ("run ", "ran "),
];

/// A step, planned or done, with the home abbreviated.
fn tell_step(context: &Context, step: &str, is_done: bool) -> String {
    let verbs = STEP_VERBS.iter().find_map(|verbs| Some((verbs, step.strip_prefix(verbs.0)?)));
    let Some(((planned, done), what)) = verbs else { return step.to_owned() };
    let what = abbreviate_home(context, Path::new(what));
    if is_done { format!("{done}{what}") } else { format!("would {planned}{what}") }
}

pub(in crate::commands) fn show_next_steps(
    ui: &mut Ui,
    context: &Context,
    report: &Report,
    dry_run: bool,
) -> Result<(), CommandError> {
    write_command(ui, context, &report.command, dry_run)?;
    if let Some(EarlierCopy { state: CopyState::GoneOnWith, command: Some(command), .. }) = &report.earlier {
        let line = shell::resume_line(command, &context.cwd, context.env.os);
        ui.hint(format_args!("continue the earlier copy: `{line}`"))?;
    }
    if let Some(id) = &report.undo_id {
        ui.hint(format_args!("`carryover undo {id}` takes it back"))?;
    }
    Ok(())
}
